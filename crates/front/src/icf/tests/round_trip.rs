//! Whatever is written reads back as it was.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use description::iometer::*;
use description::model::{Seed, StepKind, TestType};

use super::super::document::*;
use super::super::keywords::Keyword;
use super::super::{Strictness, from_workload, parse, to_workload, write};
use super::texts::{NETWORK, SPECS, file, full};
use super::{clean, tolerant};

/// A name that fits on a line of Iometer's and is no end of a block.
fn name() -> impl Strategy<Value = String> {
    "[A-Za-z0-9#/\\[\"._:]([A-Za-z0-9 ;%()/_.:\"\\[\\]-]{0,18}[A-Za-z0-9;%)\\]])?"
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![0..10_u32, 0..=i32::MAX as u32]
}

fn id_name() -> impl Strategy<Value = IdName> {
    (any::<i32>(), prop_oneof![Just(String::new()), name()])
        .prop_map(|(id, name)| IdName { id, name })
}

fn word<T: Keyword + std::fmt::Debug>() -> impl Strategy<Value = T> {
    let values: Vec<T> = T::KEYWORDS.iter().map(|(value, _)| *value).collect();
    prop::sample::select(values)
}

fn worker_count() -> impl Strategy<Value = WorkerCount> {
    prop_oneof![
        Just(WorkerCount::PerCpu),
        number().prop_map(WorkerCount::Count)
    ]
}

fn cycling() -> impl Strategy<Value = IcfCycling> {
    (number(), number(), word::<StepKind>()).prop_map(|(start, step, step_type)| IcfCycling {
        start,
        step,
        step_type,
    })
}

fn setup() -> impl Strategy<Value = TestSetup> {
    let depth = (number(), number(), number(), word::<StepKind>());
    let first = (
        prop_oneof![Just(String::new()), name()],
        (number(), number(), number()),
        number(),
        worker_count(),
        worker_count(),
    );
    let second = (
        word::<RecordResults>(),
        cycling(),
        cycling(),
        depth,
        word::<TestType>(),
    );
    (first, second).prop_map(|(first, second)| TestSetup {
        description: first.0,
        run_time: RunTime {
            hours: first.1.0,
            minutes: first.1.1,
            seconds: first.1.2,
        },
        ramp_up_seconds: first.2,
        disk_workers: first.3,
        network_workers: first.4,
        record_results: second.0,
        worker_cycling: second.1,
        disk_cycling: second.2,
        queue_depth_cycling: QueueDepthCycling {
            start: second.3.0,
            end: second.3.1,
            step: second.3.2,
            step_type: second.3.3,
        },
        test_type: second.4,
    })
}

fn display() -> impl Strategy<Value = ResultsDisplay> {
    let line = prop_oneof![
        name().prop_map(BarLine::Statistic),
        id_name().prop_map(BarLine::Manager),
        id_name().prop_map(BarLine::Worker),
    ];
    let bar = (1..7_u32, line).prop_map(|(chart, shows)| Bar { chart, shows });
    let seconds = prop::sample::select(vec![0, 1, 5, 60]);
    (any::<bool>(), seconds, word::<UpdateType>(), vec(bar, 0..4)).prop_map(
        |(record_last_update, update_frequency_seconds, update_type, bars)| ResultsDisplay {
            record_last_update,
            update_frequency_seconds,
            update_type,
            bars,
        },
    )
}

fn access_line() -> impl Strategy<Value = IcfAccessLine> {
    let sizes = (1..=i32::MAX as u32, number(), number());
    (sizes, 0..=100_u8, 0..=100_u8, number(), number()).prop_map(
        |((size, align, reply), reads, random, delay_ms, burst)| IcfAccessLine {
            size,
            of_size: 0,
            reads,
            random,
            delay_ms,
            burst,
            align,
            reply,
        },
    )
}

/// Lines whose shares add up to 100, some of them 0.
fn access_lines() -> impl Strategy<Value = Vec<IcfAccessLine>> {
    (vec((access_line(), 0..60_u8), 0..6), access_line()).prop_map(|(lines, last)| {
        let mut left = 100;
        let mut all: Vec<IcfAccessLine> = Vec::new();
        for (line, share) in lines {
            let of_size = share.min(left);
            left -= of_size;
            all.push(IcfAccessLine { of_size, ..line });
        }
        all.push(IcfAccessLine {
            of_size: left,
            ..last
        });
        all
    })
}

fn specs() -> impl Strategy<Value = Vec<IcfAccessSpec>> {
    vec((name(), word::<Assignment>(), access_lines()), 0..5).prop_map(|specs| {
        let spec = |(index, (name, assignment, lines)): (usize, (String, _, _))| IcfAccessSpec {
            name: format!("{index} {name}"),
            assignment,
            lines,
        };
        specs.into_iter().enumerate().map(spec).collect()
    })
}

fn kind() -> impl Strategy<Value = WorkerKind> {
    prop_oneof![
        4 => Just(WorkerKind::Disk),
        1 => Just(WorkerKind::NetworkTcp),
        1 => Just(WorkerKind::NetworkVi),
    ]
}

fn settings() -> impl Strategy<Value = TargetSettings> {
    let io = (
        1..=i32::MAX as u32,
        any::<bool>(),
        number(),
        any::<bool>(),
        any::<u64>(),
    );
    let disk = (0..=i64::MAX as u64, 0..=i64::MAX as u64, 0..3_u8);
    (io, disk, option::of(name()), option::of(number())).prop_map(
        |(io, disk, network_interface, vi_outstanding_ios)| TargetSettings {
            outstanding_ios: io.0,
            test_connection_rate: io.1,
            transactions_per_connection: io.2,
            use_fixed_seed: io.3,
            fixed_seed: Seed(io.4),
            max_size_sectors: disk.0,
            starting_sector: disk.1,
            data_pattern: disk.2,
            network_interface,
            vi_outstanding_ios,
        },
    )
}

fn targets() -> impl Strategy<Value = Vec<Target>> {
    vec((name(), kind(), option::of(id_name())), 0..4).prop_map(|targets| {
        let target = |(index, (name, kind, manager)): (usize, (String, _, _))| Target {
            name: format!("{name}{index}"),
            kind,
            manager,
        };
        targets.into_iter().enumerate().map(target).collect()
    })
}

fn worker() -> impl Strategy<Value = IometerWorker> {
    let blocks = (
        option::of(settings()),
        option::of(vec(name(), 0..4)),
        option::of(targets()),
    );
    (prop_oneof![Just(String::new()), name()], kind(), blocks).prop_map(
        |(name, kind, (settings, assigned, targets))| IometerWorker {
            name,
            kind,
            settings,
            assigned,
            targets,
        },
    )
}

fn managers() -> impl Strategy<Value = Vec<Manager>> {
    let address = prop_oneof![Just(String::new()), name()];
    let manager =
        (id_name(), address, vec(worker(), 0..4)).prop_map(|(identity, address, workers)| {
            Manager {
                identity,
                address,
                workers,
            }
        });
    vec(manager, 0..3)
}

fn document() -> impl Strategy<Value = IcfDocument> {
    (
        option::of(setup()),
        option::of(display()),
        option::of(specs()),
        option::of(managers()),
    )
        .prop_filter("a section", |it| {
            it.0.is_some() || it.1.is_some() || it.2.is_some() || it.3.is_some()
        })
        .prop_map(|(setup, display, specs, managers)| IcfDocument {
            version: Version::CURRENT,
            setup,
            display,
            specs,
            managers,
        })
}

proptest! {
    #[test]
    fn a_written_document_reads_back_in_both_modes(document in document()) {
        let bytes = write(&document);
        for mode in [Strictness::Strict, Strictness::Tolerant] {
            let parsed = parse(&bytes, "a.icf", mode);
            prop_assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
            prop_assert_eq!(&parsed.unwrap().document, &document);
        }
    }
}

proptest! {
    #[test]
    fn a_workload_round_trips_through_a_written_file(document in document()) {
        let (workload, _) = to_workload(&document, "sample");
        let again = from_workload(&workload);
        prop_assert!(again.is_ok(), "{}", again.unwrap_err());
        let parsed = parse(&write(&again.unwrap().0), "a.icf", Strictness::Strict);
        prop_assert!(parsed.is_ok(), "{}", parsed.unwrap_err());
        prop_assert_eq!(to_workload(&parsed.unwrap().document, "sample").0, workload);
    }
}

#[test]
fn a_file_is_written_as_iometer_1_1_0_writes_it() {
    let document = clean(&full());
    let text = String::from_utf8(write(&document)).unwrap();
    assert!(text.starts_with("Version 1.1.0 \r\n'TEST SETUP ====="));
    assert!(text.ends_with("'END manager list\r\nVersion 1.1.0 \r\n"));
    assert!(text.contains("\r\n\t4          64         4          EXPONENTIAL\r\n"));
    assert!(text.contains("\r\n\t0          5          30\r\n"));
    assert!(text.lines().all(|line| line.len() < 110));
    assert_eq!(text.lines().nth(1).unwrap().len(), 80);
    assert_eq!(clean(&text), document);
}

#[test]
fn network_workers_are_written_back_unchanged() {
    let (document, _) = tolerant(&file(&[SPECS, NETWORK]));
    let text = String::from_utf8(write(&document)).unwrap();
    assert_eq!(tolerant(&text).0.managers, document.managers);
}

#[test]
fn names_that_do_not_fit_on_a_line_are_adjusted() {
    let mut document = clean(&full());
    document.specs.as_mut().unwrap()[1].name = "a,b\n'END access specifications".into();
    document.setup.as_mut().unwrap().description = "two\r\nlines".into();
    let text = String::from_utf8(write(&document)).unwrap();
    let (again, _) = tolerant(&text);
    assert_eq!(
        again.specs.unwrap()[1].name,
        "a-b 'END access specifications"
    );
    assert_eq!(again.setup.unwrap().description, "two  lines");
}
