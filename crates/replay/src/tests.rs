use plan::job::{JobPlan, RecordedRequest};
use proptest::prelude::*;
use trace::TracedKind;

use super::*;

const MIB: u64 = 1 << 20;

/// A trace of MSR Cambridge's form, with a time unit of 100 ns: µs, device, kind, offset, length.
fn trace(rows: &[(u64, u32, &str, u64, u64)]) -> String {
    let row = |(us, device, kind, offset, length): &(u64, u32, &str, u64, u64)| {
        let time = 128_166_385_295_514_663 + us * 10;
        format!("{time},srv,{device},{kind},{offset},{length},100\n")
    };
    rows.iter().map(row).collect()
}

fn null() -> ReplayOptions {
    ReplayOptions {
        speed: Some(1.0),
        is_unaligned: true,
        is_null: true,
        ..ReplayOptions::default()
    }
}

const fn file(alignment_bytes: u32) -> ReplayTarget {
    ReplayTarget {
        alignment_bytes,
        fixed_bytes: None,
    }
}

const fn device(fixed_bytes: u64) -> ReplayTarget {
    ReplayTarget {
        alignment_bytes: 512,
        fixed_bytes: Some(fixed_bytes),
    }
}

fn replayed(
    text: &str,
    options: &ReplayOptions,
    targets: &[ReplayTarget],
) -> Result<(JobPlan, Vec<String>), Diagnostic> {
    let source = TraceSource {
        name: "a.csv",
        inputs: vec![Box::new(text.as_bytes())],
    };
    let (workload, warnings) = replay(source, options, targets)?;
    let built = workload.jobs.unwrap();
    let texts = warnings.into_iter().map(|it| it.message).collect();
    Ok((built.jobs[0].plan.clone(), texts))
}

fn requests(job: &JobPlan) -> &[RecordedRequest] {
    &job.recorded.as_ref().unwrap().acts
}

/// Due time in µs, offset and length of each request.
fn places(job: &JobPlan) -> Vec<(u64, u64, u32)> {
    let place = |it: &RecordedRequest| (it.due_ns / 1000, it.offset_bytes, it.length_bytes);
    requests(job).iter().map(place).collect()
}

#[test]
fn requests_keep_their_times_kinds_and_order() {
    let text = trace(&[
        (0, 0, "Write", 0, 4096),
        (1500, 0, "Read", 8192, 512),
        (1500, 0, "Read", 4096, 512),
        (900_000, 0, "Write", 512, 512),
    ]);
    let (job, warnings) = replayed(&text, &null(), &[]).unwrap();
    assert_eq!(
        places(&job),
        [
            (0, 0, 4096),
            (1500, 8192, 512),
            (1500, 4096, 512),
            (900_000, 512, 512)
        ]
    );
    let kinds: Vec<RecordedKind> = requests(&job).iter().map(|it| it.kind).collect();
    use RecordedKind::{Read, Write};
    assert_eq!(kinds, [Write, Read, Read, Write]);
    assert_eq!(warnings, Vec::<String>::new());
    let twice = ReplayOptions {
        speed: Some(2.0),
        ..null()
    };
    let (job, _) = replayed(&text, &twice, &[]).unwrap();
    assert_eq!(places(&job)[3].0, 450_000);
    let as_fast = ReplayOptions {
        speed: None,
        ..null()
    };
    let (job, _) = replayed(&text, &as_fast, &[]).unwrap();
    assert!(!job.recorded.unwrap().is_paced());
}

#[test]
fn compact_keeps_neighbors_and_leaves_no_gaps() {
    let far = 1 << 40;
    let text = trace(&[
        (0, 0, "Read", far, 4096),
        (1, 0, "Read", far + 4096, 4096),
        (2, 0, "Read", 3 * far, 4096),
        (3, 0, "Write", 512, 4096),
    ]);
    let (job, _) = replayed(&text, &null(), &[]).unwrap();
    let offsets: Vec<u64> = requests(&job).iter().map(|it| it.offset_bytes).collect();
    assert_eq!(offsets, [MIB, MIB + 4096, 2 * MIB, 512]);
    assert_eq!(job.files[0].size_bytes, 3 * MIB);
    let trace = job.trace().unwrap();
    assert_eq!((trace.successor_count, trace.kept_successor_count), (1, 1));
    assert_eq!(trace.touched_bytes, 4 * 4096);
    assert_eq!(trace.map, AddressMap::Compact);
}

#[test]
fn a_terabyte_on_a_gibibyte_keeps_nearly_all_successors() {
    // Runs of 50 requests all over 1 TiB.
    let mut rows = Vec::new();
    for index in 0..10_000_u64 {
        let (run, step) = (index / 50, index % 50);
        let start = run * 7919 % 200 * (5 << 30);
        rows.push((index, 0, "Read", start + step * 65_536, 65_536));
    }
    let size = ReplayOptions {
        size_bytes: Some(1 << 30),
        map: Some(AddressMap::Compact),
        ..null()
    };
    let (job, _) = replayed(&trace(&rows), &size, &[]).unwrap();
    let trace = job.trace().unwrap();
    assert!(trace.end_bytes > 900 << 30, "{}", trace.end_bytes);
    assert!(job.files[0].size_bytes <= 1 << 30);
    let kept = trace.kept_successor_count as f64 / trace.successor_count as f64;
    assert!(kept >= 0.99, "{kept}");
}

#[test]
fn a_device_of_the_same_size_keeps_all_addresses() {
    let text = trace(&[
        (0, 0, "Read", 100 * MIB, 4096),
        (1, 0, "Write", 5 * MIB, 512),
    ]);
    let (job, _) = replayed(&text, &null(), &[device(200 * MIB)]).unwrap();
    assert_eq!(places(&job)[0].1, 100 * MIB);
    assert_eq!(job.trace().unwrap().map, AddressMap::OneToOne);
    // A smaller device gets the used ranges only.
    let (job, _) = replayed(&text, &null(), &[device(50 * MIB)]).unwrap();
    assert_eq!(job.trace().unwrap().map, AddressMap::Compact);
    let same = ReplayOptions {
        map: Some(AddressMap::OneToOne),
        ..null()
    };
    let error = replayed(&text, &same, &[device(50 * MIB)]).unwrap_err();
    assert!(error.message.contains("the target has 50 MiB"), "{error:?}");
}

#[test]
fn other_maps_follow_their_definitions() {
    let text = trace(&[
        (0, 0, "Read", 10 * MIB, 4096),
        (1, 0, "Read", 10 * MIB + 4096, 4096),
        (2, 0, "Write", 19 * MIB, 4096),
    ]);
    let offsets = |map, size_bytes| {
        let options = ReplayOptions {
            map: Some(map),
            size_bytes,
            ..null()
        };
        let (job, _) = replayed(&text, &options, &[file(512)]).unwrap();
        places(&job).iter().map(|it| it.1).collect::<Vec<u64>>()
    };
    let shifted = offsets(AddressMap::Shift, None);
    assert_eq!(shifted, [0, 4096, 9 * MIB]);
    let wrapped = offsets(AddressMap::Wrap, Some(4 * MIB));
    assert_eq!(wrapped, [2 * MIB, 2 * MIB + 4096, 3 * MIB]);
    let scaled = offsets(AddressMap::Scale, Some(MIB));
    assert!(scaled[0] < scaled[2] && scaled[2] < MIB, "{scaled:?}");
    assert!(scaled.iter().all(|it| it % 512 == 0) || scaled[0] > 0);
    let options = ReplayOptions {
        map: Some(AddressMap::Wrap),
        ..null()
    };
    let error = replayed(&text, &options, &[file(512)]).unwrap_err();
    assert!(error.help.unwrap().contains("--size"));
}

#[test]
fn several_devices_never_overlap_on_one_target() {
    let text = trace(&[
        (0, 0, "Write", 0, 4096),
        (1, 1, "Write", 0, 4096),
        (2, 2, "Write", 0, 4096),
    ]);
    let (job, _) = replayed(&text, &null(), &[file(512)]).unwrap();
    let mut offsets: Vec<u64> = places(&job).iter().map(|it| it.1).collect();
    offsets.dedup();
    assert_eq!(offsets.len(), 3);
    let (job, _) = replayed(&text, &null(), &[file(512), file(512)]).unwrap();
    assert_eq!(job.files.len(), 2);
    let files: Vec<u32> = requests(&job).iter().map(|it| it.part_index).collect();
    assert_eq!(files, [0, 1, 0]);
}

#[test]
fn requests_are_rounded_outward_for_direct_io() {
    let text = trace(&[(0, 0, "Read", 512, 1024), (1, 0, "Write", 4096, 4096)]);
    let direct = ReplayOptions {
        is_unaligned: false,
        is_null: false,
        ..null()
    };
    let (job, warnings) = replayed(&text, &direct, &[file(4096)]).unwrap();
    assert_eq!(places(&job), [(0, 0, 4096), (1, 4096, 4096)]);
    assert!(
        warnings[0].contains("1 of 2 requests are rounded outward"),
        "{warnings:?}"
    );
    let (job, _) = replayed(&text, &direct, &[file(512)]).unwrap();
    assert_eq!(places(&job)[0], (0, 512, 1024));
}

#[test]
fn parts_of_a_trace_keep_their_due_times() {
    let rows: Vec<(u64, u32, &str, u64, u64)> = (0..100)
        .map(|index| {
            let kind = if index % 2 == 0 { "Read" } else { "Write" };
            (
                index * 1000,
                (index % 4 / 2) as u32,
                kind,
                index * 4096,
                4096,
            )
        })
        .collect();
    let text = trace(&rows);
    let count = |selection: TraceSelection| {
        let options = ReplayOptions {
            selection,
            ..null()
        };
        let (job, _) = replayed(&text, &options, &[]).unwrap();
        let requests = places(&job);
        (requests.len(), requests[0].0, requests.last().unwrap().0)
    };
    let part = TraceSelection {
        from_ns: 10_000_000,
        to_ns: Some(20_000_000),
        ..TraceSelection::default()
    };
    assert_eq!(count(part), (10, 0, 9000));
    let first = TraceSelection {
        first: Some(7),
        ..TraceSelection::default()
    };
    assert_eq!(count(first), (7, 0, 6000));
    let reads = TraceSelection {
        kinds: vec![TracedKind::Read],
        ..TraceSelection::default()
    };
    assert_eq!(count(reads), (50, 0, 98_000));
    let device = TraceSelection {
        devices: vec!["srv/1".to_owned()],
        ..TraceSelection::default()
    };
    assert_eq!(count(device), (50, 2000, 99_000));
}

#[test]
fn a_sample_takes_whole_regions() {
    let rows: Vec<(u64, u32, &str, u64, u64)> = (0..4000)
        .map(|index| {
            (
                index,
                0,
                "Read",
                index % 1000 * MIB + index / 1000 * 4096,
                4096,
            )
        })
        .collect();
    let selection = TraceSelection {
        sample_percent: Some(25.0),
        ..TraceSelection::default()
    };
    let options = ReplayOptions {
        selection,
        ..null()
    };
    let (job, _) = replayed(&trace(&rows), &options, &[]).unwrap();
    let count = requests(&job).len();
    assert_eq!(count % 4, 0);
    assert!((600..1400).contains(&count), "{count}");
}

#[test]
fn a_hostile_trace_is_refused_by_row_or_bounded() {
    let forty_years_us = 40 * 365 * 86_400 * 1_000_000;
    let gap = trace(&[(0, 0, "Read", 0, 512), (forty_years_us, 0, "Read", 0, 512)]);
    let error = replayed(&gap, &null(), &[]).unwrap_err();
    assert!(error.message.starts_with("row 2 comes"), "{error:?}");
    let as_fast = ReplayOptions {
        speed: None,
        ..null()
    };
    assert!(replayed(&gap, &as_fast, &[]).is_ok());
    // No target has this size, but the used range fits anywhere.
    let far = trace(&[(0, 0, "Read", (1 << 62) + 512, 4096)]);
    let (job, _) = replayed(&far, &null(), &[]).unwrap();
    assert_eq!(job.files[0].size_bytes, MIB);
    let beyond = trace(&[(0, 0, "Read", u64::MAX - 511, 4096)]);
    let error = replayed(&beyond, &null(), &[]).unwrap_err();
    assert!(error.message.contains("line 1"), "{error:?}");
    // A request beyond what a buffer holds is split.
    let long = trace(&[(0, 0, "Write", 0, 1 << 30)]);
    let (job, _) = replayed(&long, &null(), &[]).unwrap();
    assert_eq!(requests(&job).len(), 64);
    let none = trace(&[(0, 0, "Read", 0, 0)]);
    let error = replayed(&none, &null(), &[]).unwrap_err();
    assert!(
        error.message.contains("none of the 1 requests"),
        "{error:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn every_request_is_within_its_file(
        rows in prop::collection::vec(
            (0..5_000_u64, 0..3_u32, any::<bool>(), 0..1_u64 << 36, 1..200_000_u64),
            1..60,
        ),
        map in prop::sample::select(vec![
            AddressMap::Compact, AddressMap::OneToOne, AddressMap::Wrap, AddressMap::Scale,
            AddressMap::Shift,
        ]),
        unit in prop::sample::select(vec![1_u32, 512, 4096]),
        target_count in 1..4_usize,
    ) {
        let mut rows: Vec<(u64, u32, &str, u64, u64)> = rows
            .iter()
            .map(|it| (it.0, it.1, if it.2 { "Read" } else { "Write" }, it.3, it.4))
            .collect();
        rows.sort_unstable();
        let options = ReplayOptions {
            map: Some(map),
            size_bytes: matches!(map, AddressMap::Wrap | AddressMap::Scale).then_some(MIB),
            is_unaligned: unit == 1,
            is_null: false,
            ..null()
        };
        let targets = vec![file(unit); target_count];
        let (job, _) = replayed(&trace(&rows), &options, &targets).unwrap();
        prop_assert_eq!(requests(&job).len(), rows.len());
        for request in requests(&job) {
            let size = job.files[request.part_index as usize].size_bytes;
            prop_assert!(request.length_bytes > 0);
            prop_assert!(request.offset_bytes + u64::from(request.length_bytes) <= size);
            prop_assert_eq!(request.offset_bytes % u64::from(unit), 0);
            prop_assert_eq!(request.length_bytes % unit, 0);
        }
        prop_assert!(requests(&job).is_sorted_by_key(|it| it.due_ns));
    }
}
