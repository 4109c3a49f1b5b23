//! fio's verification, as checks of blocks.

use super::*;
use crate::{CommandLine, FileAccess, FrontWork, VirtualFiles};
use plan::job::{BlockCheckKind, ContentPattern, JobPlan, NamedFile};

/// The work of a command line where `old` (1 MiB) and the pattern `p` are the only files.
fn work_of(line: &str) -> Result<FrontWork, String> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
    let script = VirtualFiles {
        size_bytes: &|name| match name {
            "old" | "./old" => Some(1 << 20),
            "local-a-0-verify.state" => Some(100),
            _ => None,
        },
        read: &|name| match name {
            "p" => Ok(b"pq".to_vec()),
            _ => Err("it does not exist".to_owned()),
        },
        ..VirtualFiles::EMPTY
    };
    let line = CommandLine {
        files: FileAccess::scripted(script),
        ..CommandLine::of(&words)
    };
    FRONT.work(&line).map_err(|error| match error {
        crate::ArgumentError::FileWithCode(diagnostic, 1) => diagnostic.to_string(),
        other => format!("{other:?}"),
    })
}

/// The plan and the first file of each job.
fn jobs(line: &str) -> Vec<(JobPlan, NamedFile)> {
    let work = work_of(&format!("--name=a --size=1m {line}")).unwrap();
    let waves = work.cells.into_iter().filter_map(|cell| cell.jobs);
    let all = waves.flat_map(|wave| {
        let files = wave.files.files.clone();
        let job = move |job: plan::job::UnplannedJob| {
            assert_eq!(job.verify, job.plan.check.is_some());
            let file = files[job.plan.files[0].file_index as usize].clone();
            (job.plan, file)
        };
        wave.jobs.into_iter().map(job).collect::<Vec<_>>()
    });
    all.collect()
}

fn refused_work(line: &str) -> String {
    work_of(&format!("--name=a --size=1m {line}")).unwrap_err()
}

#[test]
fn headers_cover_the_interval_that_fio_chooses() {
    for (line, wanted) in [
        ("--rw=write --verify=md5", 4096),
        ("--rw=write --verify=md5 --bs=64k", 65_536),
        (
            "--rw=write --verify=md5 --bs=64k --verify_interval=4k",
            4096,
        ),
        ("--rw=write --verify=md5 --verify_interval=2222", 4096),
        ("--rw=write --verify=md5 --bssplit=512/50:64k/50", 512),
        ("--rw=write --verify=md5 --bsrange=1k-16k", 1024),
        (
            "--rw=write --verify=md5 --bs=4k --verify_interval=64k",
            4096,
        ),
        (
            "--rw=randwrite --verify=md5 --bs=8k --ba=4k --norandommap",
            4096,
        ),
    ] {
        let check = jobs(line)[0].0.check.unwrap();
        assert_eq!(
            (check.kind, check.interval_bytes),
            (BlockCheckKind::Md5, wanted),
            "{line}"
        );
    }
    for (line, part) in [
        ("--rw=write --verify=sha512 --bs=128", "no room for data"),
        (
            "--rw=write --verify=md5 --verify_offset=48",
            "overlaps its own place",
        ),
        (
            "--rw=write --verify=md5 --verify_offset=4090",
            "does not fit",
        ),
        (
            "--rw=write --verify=md5 --bsrange=1k-16k --bs_unaligned",
            "leave `bs_unaligned` out",
        ),
        ("--rw=write --verify=pattern", "add `verify_pattern`"),
        ("--rw=write --verify_only", "add `verify=crc32c`"),
        (
            "--rw=write --verify=md5 --verify_pattern='none'",
            "the pattern `none` cannot be read",
        ),
        (
            "--rw=write --verify=md5 --verify_state_load=1",
            "the state in `local-a-0-verify.state` is not supported",
        ),
    ] {
        let error = refused_work(line);
        assert!(error.contains(part), "{line}: {error}");
    }
}

#[test]
fn patterns_are_written_with_and_without_verification() {
    for (line, text, interval_bytes) in [
        ("--buffer_pattern=0xdeadbeef", "deadbeef", 0),
        (
            "--verify_pattern=%o\"ab\"-1 --verify_pattern_interval=512",
            "%o6162ffffffff",
            512,
        ),
        ("--verify=md5 --verify_pattern='p'7", "707107", 0),
    ] {
        let plan = jobs(&format!("--rw=write {line}")).remove(0).0;
        let wanted = ContentPattern {
            text: text.to_owned(),
            interval_bytes,
        };
        assert_eq!(plan.pattern, Some(wanted), "{line}");
    }
    let implied = jobs("--rw=write --verify_pattern=0x00")[0].0.check.unwrap();
    assert_eq!(implied.kind, BlockCheckKind::Pattern);
    // A job that only reads writes no pattern.
    assert_eq!(jobs("--rw=read --buffer_pattern=0x00")[0].0.pattern, None);
}

#[test]
fn files_that_a_later_run_can_verify_are_left() {
    let is_left = |line: &str| jobs(line)[0].1.is_left;
    assert!(is_left("--rw=write --verify=md5"));
    assert!(is_left(
        "--rw=randrw --verify=pattern --verify_pattern=0x00"
    ));
    assert!(!is_left("--rw=write --verify=md5 --unlink=1"));
    assert!(!is_left("--rw=write"));
    let existing = jobs("--rw=read --filename=old --verify=md5");
    assert_eq!((&existing[0].1.name, existing[0].1.is_left), (&None, false));
    // A job that writes needs a file of its own.
    let both = jobs(
        "--rw=read --filename=old --verify=md5 --name=b --rw=write --size=1m \
                     --filename=old --verify=md5",
    );
    assert_eq!(both[0].1.name.as_deref(), Some("old"));
    assert!(both[0].1.is_left);
}

#[test]
fn a_job_that_only_verifies_issues_no_writes() {
    let plan = &jobs("--rw=randrw --filename=old --verify=md5 --verify_only")[0].0;
    assert!(!plan.writes() && plan.stream.skips_writes());
    assert_eq!(plan.stream.end.loops, Some(1));
    // It has no effect on a job that reads.
    let plan = &jobs("--rw=read --filename=old --verify=md5 --verify_only")[0].0;
    assert!(plan.stream.read_back.is_none());
}
