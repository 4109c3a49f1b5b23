//! fio's language: no job file and no command line makes reading panic, and what is told of jobs is
//! bounded. The first byte says which of both; behind a byte of 1, an included file begins.

#![no_main]

use front::fio::{JobSet, Surroundings, files_touched, picture, verdicts};
use front::fio::{read_arguments, read_file};
use libfuzzer_sys::fuzz_target;

/// Characters of what is told of sections and files, at most.
const TOLD_MAX: usize = 1 << 16;

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let mut parts = rest.splitn(2, |byte| *byte == 1);
    let file = parts.next().unwrap_or_default();
    let included = parts.next().unwrap_or_default();
    let around = Surroundings {
        read: &|_| Ok(included.to_vec()),
        variable: &|name| (name.len() > 2).then(|| name.to_owned()),
        ..Surroundings::EMPTY
    };
    let read = match which % 2 {
        0 => read_file("fuzz.fio", file, &around),
        _ => {
            let line = String::from_utf8_lossy(file).into_owned();
            let words: Vec<String> = line.lines().map(str::to_owned).collect();
            read_arguments(&words, &around).map(|(_, set)| set)
        }
    };
    match read {
        Ok(set) => told(&set),
        Err(error) => assert!(error.help.is_some(), "{error}"),
    }
});

fn told(set: &JobSet) {
    let _ = verdicts(set, 80);
    assert!(picture(set, 80).len() < TOLD_MAX);
    assert!(files_touched(set).len() < TOLD_MAX);
    for job in set.jobs.iter().take(8) {
        let last = job.file_count().saturating_sub(1);
        let path = job.file(last);
        assert_eq!(path.is_absolute, path.text.starts_with('/'));
        let _ = (job.bytes_to_move(), job.offset_bytes());
    }
}
