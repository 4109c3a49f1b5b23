//! fio's language on files of other projects, in their place, and compared with fio itself.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{installed, need, samples};
use front::fio::{Action, ParserEnvironment, read_arguments, read_file};

/// Files that fio does not take either: slips, templates, a missing file to include, and an option
/// of a patched fio.
const INVALID: [&str; 7] = ["09", "10", "22", "23", "24", "46", "58"];

/// Files whose engine is refused.
const REFUSED: [&str; 7] = ["14", "15", "26", "36", "42", "44", "60"];

/// Files that lack a size, which their users give on the command line.
const WITHOUT_SIZE: [&str; 3] = ["28", "37", "41"];

/// Values of the variables in the files.
const VARIABLES: [(&str, &str); 27] = [
    ("BLOCK_SIZE", "4k"),
    ("BS", "4k"),
    ("COMPCHUNK", "4096"),
    ("COMPPERCENT", "50"),
    ("DIR", "."),
    ("DIRECT", "0"),
    ("DIRECTORY", "."),
    ("DISTRIB", "random"),
    ("ENG", "rbd"),
    ("FILE", "file"),
    ("FILE_SIZE", "1m"),
    ("IODEPTH", "4"),
    ("MODE", "randread"),
    ("MOUNT_POINT", "."),
    ("NRFILES", "4"),
    ("NUMJOBS", "2"),
    ("POOL", "tmp"),
    ("RANDSEED", "7"),
    ("RATIO", "50"),
    ("READJOBS", "2"),
    ("READ_TYPE", "read"),
    ("RUNTIME", "1"),
    ("SIZE", "1m"),
    ("SYNC_TYPE", "0"),
    ("TESTNAME", "log"),
    ("WRITEJOBS", "2"),
    ("directory", "."),
];

fn variable(name: &str) -> Option<String> {
    let lower = match name {
        "readwrite" => Some("randread"),
        "size" => Some("4k"),
        _ => None,
    };
    let found = VARIABLES.iter().find(|(known, _)| *known == name);
    let found = found.map(|(_, value)| *value).or(lower);
    found.map(str::to_owned)
}

fn job_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "fio"))
        .collect();
    files.sort();
    assert!(files.len() > 30, "only {} files", files.len());
    files
}

/// The number that a file's name begins with.
fn number(path: &Path) -> String {
    let name = path.file_name().unwrap().to_string_lossy();
    name.chars().take(2).collect()
}

const ENVIRONMENT: ParserEnvironment<'_> = ParserEnvironment {
    variable: &variable,
    ..ParserEnvironment::EMPTY
};

#[test]
fn job_files_are_accepted_or_refused_as_documented() {
    let folder = need!(samples("fio"));
    let mut unexpected = Vec::new();
    for path in job_files(&folder) {
        let name = path.to_string_lossy().into_owned();
        let number = number(&path);
        let is_among = |list: &[&str]| list.contains(&number.as_str());
        let actual = match read_file(&name, &std::fs::read(&path).unwrap(), &ENVIRONMENT) {
            Err(error) => {
                assert!(error.line.is_some() && error.help.is_some(), "{error}");
                ("wrong", error.to_string())
            }
            Ok(set) => match set.refusal() {
                Some(refusal) if set.run_errors.contains(&refusal) => {
                    ("without size", refusal.to_string())
                }
                Some(refusal) => ("refused", refusal.to_string()),
                None => ("runs", String::new()),
            },
        };
        let wanted = match () {
            () if is_among(&INVALID) => "wrong",
            () if is_among(&REFUSED) => "refused",
            () if is_among(&WITHOUT_SIZE) => "without size",
            () => "runs",
        };
        if actual.0 != wanted {
            unexpected.push(format!(
                "{name}: wanted {wanted}, seen {}: {}",
                actual.0, actual.1
            ));
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

/// What fio prints of a file by `--showcmd`, if it takes the file.
fn run_fio_showcmd(path: &Path) -> Option<String> {
    let mut command = Command::new("fio");
    command.arg("--showcmd").arg(path).current_dir("/tmp");
    for (name, value) in VARIABLES {
        command.env(name, value);
    }
    command.env("readwrite", "randread").env("size", "4k");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.starts_with("fio "));
    let is_whole = output.status.success() && !text.contains("dropped");
    // Became an alias of another option after Debian's version.
    let renamed = |line: &str| line.trim_end().replace("--allrandrepeat=", "--randrepeat=");
    line.filter(|_| is_whole).map(renamed)
}

#[test]
fn job_files_print_as_the_command_lines_that_fio_prints() {
    let folder = need!(samples("fio"));
    need!(installed("fio"));
    let read = |name: &str| std::fs::read(name).map_err(|error| error.to_string());
    let around = ParserEnvironment {
        read: &read,
        ..ENVIRONMENT
    };
    let (mut compared, mut unequal) = (0, Vec::new());
    for path in job_files(&folder) {
        let Some(wanted) = run_fio_showcmd(&path) else {
            continue;
        };
        let name = path.to_string_lossy().into_owned();
        let arguments = ["--showcmd".to_owned(), name.clone()];
        match read_arguments(&arguments, &around) {
            Ok((invocation, _)) => {
                let Action::Print(printed) = invocation.action else {
                    panic!("{name}: nothing is printed");
                };
                compared += 1;
                if printed.trim_end() != wanted {
                    unequal.push(format!(
                        "{name}\n  fio  {wanted}\n  here {}",
                        printed.trim_end()
                    ));
                }
            }
            Err(error) => unequal.push(format!("{name}: {error}")),
        }
    }
    assert!(unequal.is_empty(), "{}", unequal.join("\n"));
    assert!(compared > 20, "only {compared} files");
}
