use plan::Diagnostic;
use plan::job::{LoggedRequest, RecordedKind, RecordedRequest};
use proptest::prelude::*;

use super::super::iolog::{IologRecording, recording, written};
use super::super::settings::Replay;

fn parsed(text: &str) -> Result<IologRecording, Diagnostic> {
    recording("log", text.as_bytes(), &Replay::default())
}

fn with(text: &str, change: impl FnOnce(&mut Replay)) -> Vec<(u64, RecordedKind, u64, u32)> {
    let mut rules = Replay::default();
    change(&mut rules);
    let read = recording("log", text.as_bytes(), &rules).unwrap();
    let acts = read.requests.iter();
    acts.map(|it| (it.due_ns, it.kind, it.offset_bytes, it.length_bytes))
        .collect()
}

const VERSION_3_LOG: &str = "fio version 3 iolog\n\
    24 a add\n162 a open\n165 a write 10240 4096\n170 b sync\n200 b read 512 512\n300 a close\n";

#[test]
fn both_versions_are_read() {
    // Waits are until that time, in milliseconds, and one that is over changes nothing.
    let two = "fio version 2 iolog\na add\na open\na wait 100 0\na write 10240 4096\n\
        a wait 250 0\nb datasync 0 0\na wait 30 0\nb read 512 512\na close\n";
    let three = parsed(VERSION_3_LOG).unwrap();
    let files: Vec<(&str, u64, bool)> = three
        .files
        .iter()
        .map(|it| (it.name.as_str(), it.size_bytes, it.is_read))
        .collect();
    assert_eq!(files, [("a", 14_336, false), ("b", 1024, true)]);
    let times: Vec<u64> = three.requests.iter().map(|it| it.due_ns).collect();
    assert_eq!(times, [141_000, 146_000, 176_000]);
    let double = with(two, |it| it.time_percent = 200);
    let fast = with(two, |it| it.ignores_timing = true);
    let two = parsed(two).unwrap();
    let times: Vec<u64> = two.requests.iter().map(|it| it.due_ns).collect();
    assert_eq!(times, [100_000_000, 250_000_000, 250_000_000]);
    assert_eq!(double.iter().map(|it| it.0).collect::<Vec<_>>(), times);
    assert!(fast.iter().all(|it| it.0 == 0));
    assert_eq!(two.requests[1].kind, RecordedKind::Fdatasync);
}

#[test]
fn a_log_is_replayed_with_the_options_of_the_job() {
    use RecordedKind::{Fsync, Read, Write};
    let fast = with(VERSION_3_LOG, |it| it.ignores_timing = true);
    assert!(fast.iter().all(|it| it.0 == 0));
    let scaled = with(VERSION_3_LOG, |it| {
        it.time_percent = 200;
        it.offset_divisor = 2;
        it.offset_align = 4096;
    });
    let wanted = [
        (70_500, Write, 4096, 4096),
        (73_000, Fsync, 0, 0),
        (88_000, Read, 0, 512),
    ];
    assert_eq!(scaled, wanted);
    let skipped = with(VERSION_3_LOG, |it| {
        it.skips_reads = true;
        it.skips_syncs = true;
    });
    assert_eq!(skipped, [(141_000, Write, 10_240, 4096)]);
    let rules = Replay {
        redirect: Some("c".to_owned()),
        ..Replay::default()
    };
    let read = recording("log", VERSION_3_LOG.as_bytes(), &rules).unwrap();
    assert_eq!((read.files.len(), &*read.files[0].name), (1, "c"));
    // Nothing is before what stands above it, and nothing overflows.
    let back =
        "fio version 3 iolog\n9000 a read 0 1\n5 a read 0 1\n18446744073709551615 a read 0 1\n";
    let times: Vec<u64> = with(back, |_| {}).iter().map(|it| it.0).collect();
    assert_eq!(times, [0, 0, u64::MAX]);
    // A log may begin at any time.
    let late = "fio version 3 iolog\n0 a add\n7000000 a read 0 1\n7000250 a read 0 1\n";
    let times: Vec<u64> = with(late, |_| {}).iter().map(|it| it.0).collect();
    assert_eq!(times, [0, 250_000]);
}

#[test]
fn log_errors_are_reported_with_their_line() {
    let three = |line: &str| format!("fio version 3 iolog\n1 a add\n{line}\n");
    let invalid = [
        ("a read 0 4096".to_owned(), Some(1)),
        (String::new(), Some(1)),
        (three("2 a trim 0 4294967295"), Some(3)),
        (three("2 a read 0 0"), Some(3)),
        (three("2 a read 0 2147483648"), Some(3)),
        (three("2 a read 9223372036854775807 1"), Some(3)),
        (three("2 a read 4096"), Some(3)),
        (three("2 a read 4096 1 1"), Some(3)),
        (three("2 a wait 4096"), Some(3)),
        (three("2 a eat 0 1"), Some(3)),
        (three("two a read 0 1"), Some(3)),
        (three("2 a read -1 1"), Some(3)),
        (three("2"), Some(3)),
        (three("fio version 3 iolog"), Some(3)),
        (three(""), None),
        ("\u{7}tae\u{0}".to_owned(), None),
    ];
    for (text, line) in invalid {
        let error = parsed(&text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.help.is_some(), "{text}");
    }
}

fn act() -> impl Strategy<Value = RecordedRequest> {
    (0..3_u32, 0..5_usize, 0..1_u64 << 40, 1..1_u32 << 31).prop_map(
        |(part_index, kind, offset_bytes, length_bytes)| {
            use RecordedKind::{Fdatasync, Fsync, Read, Trim, Write};
            let kind = [Read, Write, Fsync, Fdatasync, Trim][kind];
            let is_sync = matches!(kind, Fsync | Fdatasync);
            RecordedRequest {
                due_ns: 0,
                kind,
                part_index,
                length_bytes: if is_sync { 0 } else { length_bytes },
                offset_bytes: if is_sync { 0 } else { offset_bytes },
            }
        },
    )
}

proptest! {
    #[test]
    fn a_written_log_reads_back_unchanged(
        acts in prop::collection::vec(act(), 1..50),
        gaps in prop::collection::vec(0..1_000_000_u64, 50),
    ) {
        let mut acts = acts;
        let mut at_us = 0;
        for (act, gap_us) in acts.iter_mut().zip(gaps) {
            at_us += gap_us;
            act.due_ns = at_us * 1000;
        }
        // The last one completes first.
        let noted = acts.iter().enumerate().rev().map(|(index, act)| LoggedRequest {
            request: *act,
            index: index as u32,
            moved_bytes: act.length_bytes,
            submitted_ns: 0,
            done_ns: 0,
        });
        let text = written(&noted.collect::<Vec<_>>(), &|part| format!("dir/f{part}"));
        let read = parsed(&text).unwrap();
        let rows = |acts: &[RecordedRequest], name: &dyn Fn(u32) -> String| -> Vec<_> {
            let one = |it: &RecordedRequest| {
                (it.due_ns, it.kind, name(it.part_index), it.offset_bytes, it.length_bytes)
            };
            acts.iter().map(one).collect()
        };
        let name_of = |index: u32| read.files[index as usize].name.clone();
        prop_assert_eq!(rows(&read.requests, &name_of), rows(&acts, &|it| format!("dir/f{it}")));
    }

    #[test]
    fn invalid_logs_get_help(text in "(fio version [23] iolog\n)?([0-9a-z ./-]{0,30}\n){0,8}") {
        if let Err(error) = parsed(&text) {
            prop_assert!(error.help.is_some());
        }
    }
}
