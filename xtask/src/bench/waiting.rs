//! Targets that let the program wait: a disk with direct I/O, and FUSE.

use std::path::{Path, PathBuf};
use std::time::Duration;

use end_to_end::faultfs::{FaultFs, Settings};
use end_to_end::{FixtureError, Scratch, available};
use rustix::fs::{Mode, OFlags};

use super::contest::{ComparedProgram, ProgramComparison, Requirement};
use super::programs::{Pgmeter, fio, fio_measure};
use super::{BenchEffort, Interrupt};
use crate::error::Failure;

const FILE_BYTES: u64 = 256 << 20;
const DISK_DEPTHS: [(u32, &str); 4] = [
    (1, "direct disk, random reads, 4 KiB, depth 1"),
    (8, "direct disk, random reads, 4 KiB, depth 8"),
    (32, "direct disk, random reads, 4 KiB, depth 32"),
    (128, "direct disk, random reads, 4 KiB, depth 128"),
];
const FUSE_DEPTHS: [(u32, &str); 3] = [
    (1, "fuse 1 ms, direct random reads, 4 KiB, depth 1"),
    (16, "fuse 1 ms, direct random reads, 4 KiB, depth 16"),
    (32, "fuse 1 ms, direct random reads, 4 KiB, depth 32"),
];
const FUSE_DELAY: Duration = Duration::from_millis(1);
/// More than the largest queue depth, so that no request waits for another.
const FUSE_THREADS: usize = 64;
const TMPFS_MAGIC: i64 = 0x0102_1994;

/// Runs all comparisons and returns the number of missed requirements.
pub fn run(
    pgmeter: &Pgmeter,
    effort: &BenchEffort,
    interrupt: &Interrupt,
) -> Result<usize, Failure> {
    let wanted = |depths: &[(u32, &str)]| depths.iter().any(|(_, title)| effort.wants(title));
    let mut missed_count = 0;
    if wanted(&DISK_DEPTHS) {
        match available(disk()) {
            Ok(scratch) => {
                let field = WaitingBench::new(pgmeter, scratch.path(), effort)?;
                missed_count += field.hold(&DISK_DEPTHS, effort, interrupt)?;
            }
            Err(reason) => println!("\nskipped: direct disk: {reason}"),
        }
    }
    if wanted(&FUSE_DEPTHS) {
        match available(slow_fuse()) {
            Ok(faultfs) => {
                let field = WaitingBench::new(pgmeter, &faultfs.path(), effort)?;
                missed_count += field.hold(&FUSE_DEPTHS, effort, interrupt)?;
            }
            Err(reason) => println!("\nskipped: fuse 1 ms: {reason}"),
        }
    }
    Ok(missed_count)
}

/// A directory on a disk that supports direct I/O.
fn disk() -> Result<Scratch, FixtureError> {
    let scratch = Scratch::new()?;
    let file = scratch.join("trial");
    let flags = OFlags::CREATE | OFlags::RDWR | OFlags::DIRECT;
    let opened = rustix::fs::open(&file, flags, Mode::RUSR | Mode::WUSR);
    let refused = |errno| {
        FixtureError::Unavailable(format!("`{}` takes no O_DIRECT: {errno}", file.display()))
    };
    let system = rustix::fs::fstatfs(opened.map_err(refused)?).map_err(refused)?;
    // Since Linux 6.6, tmpfs accepts the flag, so that opening the file is not enough.
    if system.f_type as i64 == TMPFS_MAGIC {
        let why = format!("`{}` is on tmpfs; set TMPDIR", scratch.path().display());
        return Err(FixtureError::Unavailable(why));
    }
    Ok(scratch)
}

/// A file system that answers each read after a millisecond, regardless of their number.
fn slow_fuse() -> Result<FaultFs, FixtureError> {
    FaultFs::new(Settings {
        read_delay: FUSE_DELAY,
        thread_count: FUSE_THREADS,
        // Threads that poll the clock would take CPUs from the measured programs.
        polls_clock: false,
        async_direct: true,
        ..Settings::default()
    })
}

/// A directory with the single file that both programs read.
struct WaitingBench<'a> {
    pgmeter: &'a Pgmeter,
    directory: PathBuf,
    seconds: u64,
}

impl<'a> WaitingBench<'a> {
    fn new(pgmeter: &'a Pgmeter, directory: &Path, effort: &BenchEffort) -> Result<Self, Failure> {
        let directory = directory.to_path_buf();
        let prepare = workload("operations = 1\nramp_time = 0", 1);
        pgmeter.measure(&prepare, Some(&directory))?;
        Ok(WaitingBench {
            pgmeter,
            directory,
            seconds: effort.seconds_or(3),
        })
    }

    fn hold(
        &self,
        depths: &[(u32, &'static str)],
        effort: &BenchEffort,
        interrupt: &Interrupt,
    ) -> Result<usize, Failure> {
        let mut missed_count = 0;
        for (iodepth, title) in depths.iter().filter(|(_, title)| effort.wants(title)) {
            let contest = ProgramComparison {
                title,
                unit: "IOPS",
                contestants: vec![self.ours(*iodepth), self.fio(*iodepth)],
                requirements: vec![Requirement {
                    against: "fio",
                    ratio_min: 1.0,
                }],
            };
            missed_count += contest.hold(effort.rounds_or(7), interrupt)?;
        }
        Ok(missed_count)
    }

    fn ours(&self, iodepth: u32) -> ComparedProgram<'_> {
        let times = format!("run_time = {}\nramp_time = \"500ms\"", self.seconds);
        let text = workload(&times, iodepth);
        ComparedProgram {
            name: "pgmeter",
            measure: Box::new(move || Ok(self.pgmeter.measure(&text, Some(&self.directory))?.iops)),
        }
    }

    fn fio(&self, iodepth: u32) -> ComparedProgram<'_> {
        // The same file, so that both programs read the same blocks of the disk.
        let file = self.directory.join("pgmeter.work/test-0.dat");
        let options = [
            "--ioengine=io_uring --direct=1 --rw=randread --bs=4k --readonly --thread".to_owned(),
            format!("--iodepth={iodepth} --size={FILE_BYTES} --ramp_time=500ms"),
            format!("--runtime={}", self.seconds),
        ];
        let options = options.join(" ");
        let mut all: Vec<String> = options.split(' ').map(str::to_owned).collect();
        all.push(format!("--filename={}", file.display()));
        ComparedProgram {
            name: "fio",
            measure: Box::new(move || Ok(fio_measure(&mut fio(&all))?.iops)),
        }
    }
}

fn workload(times: &str, iodepth: u32) -> String {
    format!(
        "{times}\nsize = {FILE_BYTES}\nengine = \"io_uring\"\ncache = \"direct\"\n\
         iodepth = {iodepth}\n[[access_spec]]\n\
         line = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
    )
}
