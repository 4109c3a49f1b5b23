//! Reports what this machine can measure, and why not. Changes nothing.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use engine::{IoUring, TscClock, UringOptions};
use mpi::{Launch, MpiLibrary};
use rustix::process::{Resource, geteuid, getrlimit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cpu::MachineCounters;
use crate::doubt::{DirectDoubt, cause_of};
use crate::environment::{clock_source, load, memory_available_bytes};
use crate::limits::limits;
use crate::null_device::null_device;
use crate::path::parent_of;
use crate::probe::{PathKind, probe};
use crate::sizes::size;
use crate::space;
use crate::sysfs::{active, word};

/// Name of the finding about MPI.
const MPI: &str = "MPI";

/// State of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// As good as possible.
    Ok,
    /// Works, but affects results.
    Limited,
    /// Does not work.
    Missing,
}

impl Health {
    /// The word in messages and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// Name of the check.
    pub name: &'static str,
    /// State of the feature.
    pub status: Health,
    /// What was found.
    pub detail: String,
    /// Advice, if there is any.
    pub help: Option<String>,
}

impl Finding {
    fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self {
            name,
            status: Health::Ok,
            detail: detail.into(),
            help: None,
        }
    }

    fn limited(name: &'static str, detail: impl Into<String>, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self {
            name,
            status: Health::Limited,
            detail: detail.into(),
            help,
        }
    }

    fn missing(name: &'static str, detail: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            status: Health::Missing,
            ..Self::limited(name, detail, help)
        }
    }
}

/// Checks the machine, and the path as a target. Takes about a second to measure how evenly the
/// machine runs.
#[must_use]
pub fn doctor(path: &Path) -> Vec<Finding> {
    vec![
        check_io_uring(),
        direct(path),
        free_space(path),
        clock(),
        cores(),
        memory(),
        locked_memory(),
        huge_pages(),
        group_limits(),
        noise(Duration::from_secs(1)),
        check_mpi(),
    ]
}

/// Checks whether this process can use io_uring, and with which features.
#[must_use]
pub fn check_io_uring() -> Finding {
    const NAME: &str = "io_uring";
    let Ok(null) = null_device() else {
        let detail = "no file can be opened for a test";
        return Finding::missing(NAME, detail, "raise `ulimit -n`");
    };
    match IoUring::new(vec![null.into()], 8, 4096, UringOptions::default()) {
        Ok(ring) => {
            let setup = ring.setup();
            let flags = setup.granted.join(", ");
            match setup.notes().as_slice() {
                [] => Finding::ok(NAME, format!("works with {flags}")),
                notes => {
                    let detail = format!("works with {flags}; {}", notes.join("; "));
                    Finding::limited(NAME, detail, "a newer kernel has less overhead")
                }
            }
        }
        Err(error) => Finding {
            name: NAME,
            status: Health::Missing,
            detail: error.to_string(),
            help: error
                .help()
                .or_else(|| Some("choose `--engine psync`".to_owned())),
        },
    }
}

fn direct(path: &Path) -> Finding {
    const NAME: &str = "direct I/O";
    let facts = match probe(path) {
        Ok(facts) => facts,
        Err(error) => return Finding::missing(NAME, error.to_string(), error.help()),
    };
    let at = format!("{} at `{}`", facts.file_system, path.display());
    if facts.direct.offset_bytes == 0 {
        return Finding::missing(NAME, format!("none on {at}"), "choose `--cache buffered`");
    }
    let source = if facts.direct.reported {
        "reported by the kernel"
    } else {
        "from its device"
    };
    let detail = format!(
        "{at}, in multiples of {} bytes ({source})",
        facts.direct.offset_bytes
    );
    match cause_of(&facts.file_system, facts.mount.as_ref()) {
        None => Finding::ok(NAME, detail),
        Some(cause) => {
            let doubt = DirectDoubt {
                cause,
                file_system: facts.file_system,
            };
            Finding::limited(
                NAME,
                format!("{detail}; {doubt}"),
                "choose another target for cold I/O",
            )
        }
    }
}

fn free_space(path: &Path) -> Finding {
    const NAME: &str = "free space";
    let facts = match probe(path) {
        Ok(facts) => facts,
        Err(error) => return Finding::missing(NAME, error.to_string(), error.help()),
    };
    if facts.kind == PathKind::Device {
        return Finding::ok(NAME, format!("a device of {}", size(facts.size_bytes)));
    }
    let on = if facts.kind == PathKind::Missing {
        parent_of(&facts.path)
    } else {
        &facts.path
    };
    if facts.total_bytes == 0 {
        let detail = format!("`{}` does not report it", on.display());
        return Finding::limited(
            NAME,
            detail,
            "name a directory of the file system to measure",
        );
    }
    let largest = space::largest(facts.free_bytes, facts.total_bytes);
    let detail = format!(
        "{} of {} at `{}`; test files of up to {}",
        size(facts.free_bytes),
        size(facts.total_bytes),
        on.display(),
        size(largest)
    );
    let read_only = facts.read_only.then_some("it is mounted read-only");
    match (largest, read_only) {
        (_, Some(reason)) => Finding::missing(
            NAME,
            format!("{detail}, but {reason}"),
            "choose another target",
        ),
        (0, _) => Finding::missing(NAME, detail, "free some space or choose another target"),
        _ => Finding::ok(NAME, detail),
    }
}

fn clock() -> Finding {
    const NAME: &str = "clock";
    let source = clock_source();
    match source.as_str() {
        // pgmeter then does not use the kernel's clock source, so it does not matter that it may be
        // slow.
        _ if !source.is_empty() && TscClock::uses_processor_counter() => Finding::ok(
            NAME,
            format!("`{source}`; times are read from the processor's own counter"),
        ),
        "tsc" | "arch_sys_counter" | "timebase" | "kvm-clock" | "hyperv_clocksource_tsc_page" => {
            Finding::ok(NAME, format!("`{source}`, read without a system call"))
        }
        "" => Finding::limited(NAME, "the clock source is not known", "mount `/sys`"),
        _ => Finding::limited(
            NAME,
            format!("`{source}`, slow to read"),
            "the kernel log says why `tsc` was rejected; each reading adds to the latencies",
        ),
    }
}

fn cores() -> Finding {
    const NAME: &str = "cores";
    let usable = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let governor = word(Path::new(
        "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    ));
    let detail = match &governor {
        Some(governor) => format!("{usable} usable, frequency governor `{governor}`"),
        None => format!("{usable} usable"),
    };
    match governor.as_deref() {
        Some("powersave" | "conservative" | "ondemand") => Finding::limited(
            NAME,
            detail,
            "run `cpupower frequency-set -g performance` for stable results",
        ),
        _ if usable < 2 => {
            Finding::limited(NAME, detail, "expect other programs to disturb the results")
        }
        _ => Finding::ok(NAME, detail),
    }
}

fn memory() -> Finding {
    const NAME: &str = "memory";
    const LITTLE_BYTES: u64 = 256 << 20;
    let (total, available) = (crate::facts::memory_bytes(), memory_available_bytes());
    let detail = format!(
        "{}, {} available; buffered runs need test files larger than that",
        size(total),
        size(available)
    );
    if available < LITTLE_BYTES {
        return Finding::limited(NAME, detail, "stop other programs first");
    }
    Finding::ok(NAME, detail)
}

fn locked_memory() -> Finding {
    const NAME: &str = "locked memory";
    const ENOUGH_BYTES: u64 = 64 << 20;
    match getrlimit(Resource::Memlock).current {
        None => Finding::ok(NAME, "no limit"),
        Some(limit) if geteuid().is_root() => Finding::ok(
            NAME,
            format!("limit of {}, which does not apply to root", size(limit)),
        ),
        Some(limit) if limit >= ENOUGH_BYTES => {
            Finding::ok(NAME, format!("up to {} of I/O buffers", size(limit)))
        }
        Some(limit) => Finding::limited(
            NAME,
            format!("only {} of I/O buffers (RLIMIT_MEMLOCK)", size(limit)),
            format!("run `ulimit -l {}` before", ENOUGH_BYTES / 1024),
        ),
    }
}

fn huge_pages() -> Finding {
    const NAME: &str = "huge pages";
    match word(Path::new("/sys/kernel/mm/transparent_hugepage/enabled")).map(|list| active(&list)) {
        Some(mode) if mode != "never" => Finding::ok(NAME, format!("transparent: `{mode}`")),
        Some(_) => Finding::limited(
            NAME,
            "transparent huge pages are off",
            "run `echo madvise > /sys/kernel/mm/transparent_hugepage/enabled` as root",
        ),
        None => Finding::limited(
            NAME,
            "this kernel has no transparent huge pages",
            "nothing to do; large buffers cost slightly more",
        ),
    }
}

fn group_limits() -> Finding {
    const NAME: &str = "limits";
    let describe = |limit: results::Limit| format!("{limit} (`{}`)", limit.group);
    let limits: Vec<String> = limits().into_iter().map(describe).collect();
    if limits.is_empty() {
        return Finding::ok(NAME, "no control group limits this process");
    }
    let detail = format!("control groups allow {}", limits.join(", "));
    Finding::limited(
        NAME,
        detail,
        "run outside of those control groups, or expect their limits",
    )
}

/// Reads the clock continuously. A gap between two readings also lengthens latencies.
fn noise(length: Duration) -> Finding {
    const NAME: &str = "noise";
    const GAP: Duration = Duration::from_micros(50);
    // Opened before the loop, because opening it in the loop would appear as a gap.
    let machine = MachineCounters::open().ok();
    let sample = || machine.as_ref().and_then(|counters| counters.sample().ok());
    let before = sample();
    let start = Instant::now();
    let (mut last, mut longest, mut lost) = (start, Duration::ZERO, Duration::ZERO);
    while last.duration_since(start) < length {
        let now = Instant::now();
        let gap = now.duration_since(last);
        if gap > GAP {
            lost += gap;
            longest = longest.max(gap);
        }
        last = now;
    }
    let steal = before.zip(sample()).map_or(0.0, |(before, after)| {
        let passed = after.since(&before).all;
        passed.share(passed.steal)
    });
    let lost = lost.as_secs_f64() / last.duration_since(start).as_secs_f64();
    let detail = format!(
        "interrupted for {:.2} % of a second, at most {:.0} µs at a time; {:.1} % stolen; \
         load {:.1}",
        lost * 100.0,
        longest.as_secs_f64() * 1e6,
        steal * 100.0,
        load().one_minute
    );
    let quiet = lost < 0.01 && longest < Duration::from_millis(5) && steal < 0.01;
    if quiet {
        return Finding::ok(NAME, detail);
    }
    Finding::limited(
        NAME,
        detail,
        "stop other programs, and use `--repetitions` to see the spread",
    )
}

/// Checks for an MPI library to measure from several machines. In a process started by an MPI
/// launcher, the launcher's library is opened; otherwise files are searched but not opened.
#[must_use]
pub fn check_mpi() -> Finding {
    match Launch::from_environment() {
        Some(launch) => mpi_of(&launch),
        None => find_installed_mpi(),
    }
}

fn mpi_of(launch: &Launch) -> Finding {
    match mpi::look(launch) {
        Ok(library) => {
            let MpiLibrary { path, version, abi } = library;
            let (path, abi, launcher) = (path.display(), abi.name(), launch.launcher());
            let detail = format!("`{path}` ({version}; ABI of {abi}) for ranks of {launcher}");
            Finding::ok(MPI, detail)
        }
        Err(error) => {
            let help = error.help();
            let help = help.unwrap_or_else(|| "install the launcher's own library".to_owned());
            Finding::missing(MPI, error.to_string(), help)
        }
    }
}

fn find_installed_mpi() -> Finding {
    const NAMES: [&str; 5] = [
        "libmpi_abi.so.1",
        "libmpi.so",
        "libmpi.so.40",
        "libmpi.so.12",
        "libmpich.so.12",
    ];
    let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let usual = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/lib"].map(PathBuf::from);
    let arch = format!("{}-linux-gnu", std::env::consts::ARCH);
    let multi = [
        Path::new("/usr/lib").join(&arch),
        Path::new("/lib").join(&arch),
    ];
    let directories = std::env::split_paths(&named).chain(usual).chain(multi);
    let found = directories
        .flat_map(|directory| NAMES.map(|name| directory.join(name)))
        .find(|path| path.exists());
    match found {
        Some(path) => Finding::ok(MPI, format!("`{}`", path.display())),
        None => Finding::missing(
            MPI,
            "no library found; needed only to measure from several machines at once",
            "install Open MPI or MPICH",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finding_that_is_not_ok_has_advice() {
        let directory = tempfile::tempdir().expect("a directory");
        let findings = doctor(directory.path());
        assert_eq!(findings.len(), 11);
        for finding in &findings {
            assert!(!finding.detail.is_empty(), "{finding:?}");
            assert_eq!(
                finding.help.is_some(),
                finding.status != Health::Ok,
                "{finding:?}"
            );
        }
        assert_eq!(
            std::fs::read_dir(directory.path())
                .expect("a listing")
                .count(),
            0
        );
    }

    #[test]
    fn under_a_launcher_doctor_names_the_mpi_library_it_would_open() {
        let launch = Launch::from_variables(|name| match name {
            "PMI_SIZE" => Some("4".into()),
            mpi::LIBRARY_VARIABLE => Some("/no/libmpi.so.12".into()),
            _ => None,
        });
        let finding = mpi_of(&launch.expect("a launch"));
        assert_eq!(finding.status, Health::Missing);
        let expected = "MPI library `/no/libmpi.so.12` cannot be opened";
        assert!(finding.detail.starts_with(expected), "{}", finding.detail);
    }

    #[test]
    fn a_missing_path_is_reported_and_the_other_checks_still_run() {
        let findings = doctor(Path::new("/no/such/place"));
        let direct = findings
            .iter()
            .find(|it| it.name == "direct I/O")
            .expect("a finding");
        assert_eq!(direct.status, Health::Missing);
    }

    #[test]
    fn doctor_reports_limited_direct_io_on_memory() {
        if probe(Path::new("/dev/shm")).is_ok_and(|facts| facts.file_system == "tmpfs") {
            let finding = direct(Path::new("/dev/shm"));
            assert_eq!(finding.status, Health::Limited);
            assert!(
                finding.detail.contains("tmpfs is memory"),
                "{}",
                finding.detail
            );
        } else {
            println!("skipped: /dev/shm is not a tmpfs");
        }
    }
}
