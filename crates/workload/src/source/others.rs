//! Files of programs whose files are not read yet: recognized, so that they can be named.

use crate::diagnostic::{Diagnostic, printable};
use crate::one_line::BlockSizes;

/// Lines that are looked at; what a file is shows early.
const LINES_MAX: usize = 10_000;

/// A program's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Other {
    FioJob,
    Vdbench,
}

impl Other {
    const fn name(self) -> &'static str {
        match self {
            Self::FioJob => "fio job file",
            Self::Vdbench => "vdbench parameter file",
        }
    }
}

/// The error that names what the file is; nothing for what no other program writes.
pub(super) fn recognized(file: &str, bytes: &[u8]) -> Option<Diagnostic> {
    let text = std::str::from_utf8(bytes).ok()?;
    let other = kind(text)?;
    let message = format!(
        "`{}` is a {}, which pgmeter does not read yet",
        printable(file),
        other.name()
    );
    let help = match other {
        Other::FioJob => match one_line(text) {
            Some(options) => format!("write `pgmeter run {options}` instead"),
            None => "write each job as `pgmeter run --rw randread --bs 4k --iodepth 32`".to_owned(),
        },
        Other::Vdbench => {
            "write a workload definition as `pgmeter run --read 70 --random 100 --bs 4k`".to_owned()
        }
    };
    Some(Diagnostic::error(file, message).help(help))
}

fn kind(text: &str) -> Option<Other> {
    let lines = || text.lines().map(str::trim).take(LINES_MAX);
    let count = |is: fn(&str) -> bool| lines().filter(|line| is(line)).count();
    if count(is_definition_of_vdbench) >= 1 {
        return Some(Other::Vdbench);
    }
    let has_section = lines().any(|line| section(line).is_some());
    (has_section && lines().any(is_of_fio)).then_some(Other::FioJob)
}

/// `sd=sd1,lun=...`: a name is given, then parameters follow.
fn is_definition_of_vdbench(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let begins = ["sd=", "wd=", "rd=", "fsd=", "fwd="];
    let parameters = [
        "lun=",
        "sd=",
        "wd=",
        "xfersize=",
        "rdpct=",
        "seekpct=",
        "iorate=",
        "elapsed=",
        "anchor=",
        "fsd=",
        "fwd=",
        "fwdrate=",
        "threads=",
        "operation=",
    ];
    let Some((head, rest)) = line.split_once(',') else {
        return false;
    };
    begins.iter().any(|it| head.starts_with(it))
        && rest
            .split(',')
            .any(|rest| parameters.iter().any(|it| rest.trim().starts_with(it)))
}

/// The name of an INI file's section.
fn section(line: &str) -> Option<&str> {
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    // Two brackets begin a table of TOML.
    (!name.starts_with('[')).then_some(name)
}

fn is_of_fio(line: &str) -> bool {
    let keys = [
        "rw",
        "readwrite",
        "ioengine",
        "bs",
        "blocksize",
        "bssplit",
        "numjobs",
        "filename",
        "directory",
        "runtime",
        "time_based",
        "group_reporting",
        "stonewall",
        "rwmixread",
        "nrfiles",
    ];
    let (key, value) = key_and_value(line);
    // A text in quotes is TOML's.
    keys.contains(&key) && !value.starts_with(['"', '\''])
}

fn key_and_value(line: &str) -> (&str, &str) {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    (key.trim(), value.trim())
}

/// Our options for a job file with one job, as far as one line has them.
fn one_line(text: &str) -> Option<String> {
    let sections = text.lines().filter_map(|line| section(line.trim()));
    if sections.filter(|name| *name != "global").count() > 1 {
        return None;
    }
    let value = |names: [&str; 2]| {
        let lines = text.lines().map(str::trim);
        let mut pairs = lines
            .map(key_and_value)
            .filter(|(key, _)| names.contains(key));
        // Anybody's text: only plain words go into a command that is offered.
        let is_plain = |it: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
            !it.is_empty() && it.chars().all(plain)
        };
        pairs
            .next_back()
            .map(|(_, value)| value)
            .filter(|it| is_plain(it))
    };
    let known = [
        "read",
        "write",
        "rw",
        "readwrite",
        "randread",
        "randwrite",
        "randrw",
    ];
    let rw = value(["rw", "readwrite"]).filter(|rw| known.contains(rw))?;
    let mut options = format!("--rw {rw}");
    let is_size = |it: &&str| it.parse::<BlockSizes>().is_ok();
    let found = [
        (
            "--rwmix",
            value(["rwmixread", "rwmixread"]).filter(|_| rw.ends_with("rw")),
        ),
        ("--bs", value(["bs", "blocksize"]).filter(is_size)),
        ("--iodepth", value(["iodepth", "iodepth"])),
        ("--workers", value(["numjobs", "numjobs"])),
        ("--size", value(["size", "filesize"]).filter(is_size)),
        ("--run-time", value(["runtime", "runtime"])),
        ("-t", value(["directory", "filename"])),
    ];
    for (option, value) in found {
        if let Some(value) = value {
            options.push_str(&format!(" {option} {value}"));
        }
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use crate::source::load;

    fn refusal(file: &str, text: &str) -> String {
        load(file, text.as_bytes(), None, false)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_job_file_of_fio_is_named_and_said_in_one_line() {
        let text = "; a job\n[global]\nioengine=libaio\ndirect=1\nbs=4k\n\n[job1]\nrw=randread\n\
                    iodepth=32\nsize=1g\ndirectory=/mnt/x\n";
        assert_eq!(
            refusal("x.fio", text),
            "error: `x.fio` is a fio job file, which pgmeter does not read yet\n  --> x.fio\n\
             help: write `pgmeter run --rw randread --bs 4k --iodepth 32 --size 1g -t /mnt/x` \
             instead"
        );
        let two = format!("{text}[job2]\nstonewall\nrw=randwrite\n");
        assert!(refusal("x.fio", &two).contains("help: write each job as"));
        let odd = "[job]\nrw=randread\nbs=4k`;reboot\ndirectory=$(reboot)\n";
        assert!(!refusal("x.fio", odd).contains("reboot"));
    }

    #[test]
    fn files_of_vdbench_are_named() {
        let vdbench = "* comment\nsd=sd1,lun=/dev/sdx,openflags=o_direct\nwd=wd1,sd=sd1,\
                       xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=max,elapsed=60\n";
        let said = refusal("x.txt", vdbench);
        assert!(
            said.contains("`x.txt` is a vdbench parameter file, which"),
            "{said}"
        );
    }

    #[test]
    fn our_own_mistakes_and_forced_kinds_are_told_as_ever() {
        for text in [
            "size = \"1m\"\nio_depth = 4\n",
            "[access_spec]\n",
            "name = run\n[[access_spec]]\n",
            "set number 100\nset size\nrun\n",
        ] {
            let said = refusal("x.toml", text);
            assert!(!said.contains("does not read yet"), "{said}");
        }
        let forced = load(
            "x.fio",
            b"[global]\nrw=randread\n",
            Some(crate::source::SourceKind::Toml),
            false,
        );
        let said = forced.unwrap_err().to_string();
        assert!(!said.contains("fio job file"), "{said}");
    }
}
