//! fio's language: no job file and no command line makes the parser panic, the output about jobs is
//! bounded, and jobs that can run stay in their files. The first byte selects a job file or a
//! command line. After a byte of 1 comes the content of an included file, or a log of requests.

#![no_main]

use front::fio::{JobSet, ParserEnvironment, files_touched, picture, verdicts};
use front::fio::{read_arguments, read_file};
use front::{CommandLine, FileAccess, VirtualFiles, find};
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::{planned, reads_back, stays_below, streams_stay_inside};

/// Maximum number of characters printed about sections and files.
const OUTPUT_LENGTH_MAX: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let mut parts = rest.splitn(2, |byte| *byte == 1);
    let file = parts.next().unwrap_or_default();
    let included = parts.next().unwrap_or_default();
    let surroundings = ParserEnvironment {
        read: &|_| Ok(included.to_vec()),
        variable: &|name| (name.len() > 2).then(|| name.to_owned()),
        ..ParserEnvironment::EMPTY
    };
    let (read, words) = match which % 2 {
        0 => {
            let set = read_file(FILE, file, &surroundings);
            (set, vec![FILE.to_owned()])
        }
        _ => {
            let line = String::from_utf8_lossy(file).into_owned();
            let words: Vec<String> = line.lines().map(str::to_owned).collect();
            let set = read_arguments(&words, &surroundings).map(|(_, set)| set);
            (set, words)
        }
    };
    match read {
        Ok(set) => check_output(&set),
        Err(error) => assert!(error.help.is_some(), "{error}"),
    }
    let script = VirtualFiles {
        read: &|name| match name {
            FILE => Ok(file.to_vec()),
            _ => Ok(included.to_vec()),
        },
        ..VirtualFiles::EMPTY
    };
    let line = CommandLine {
        files: FileAccess::scripted(script),
        memory_bytes: 1 << 30,
        ..CommandLine::of(&words)
    };
    if let Some(Ok(work)) = find("fio").map(|front| front.work(&line)) {
        stays_below(&work.cells);
        planned(&work.cells);
        streams_stay_inside(&work.cells);
        reads_back(&work.cells);
    }
});

/// The name of the job file.
const FILE: &str = "fuzz.fio";

fn check_output(set: &JobSet) {
    let _ = verdicts(set, 80);
    assert!(picture(set, 80).len() < OUTPUT_LENGTH_MAX);
    assert!(files_touched(set).len() < OUTPUT_LENGTH_MAX);
    for job in set.jobs.iter().take(8) {
        let last = job.file_count().saturating_sub(1);
        let path = job.file(last);
        assert_eq!(path.is_absolute, path.text.starts_with('/'));
        let _ = (job.bytes_to_move(), job.offset_bytes());
    }
}
