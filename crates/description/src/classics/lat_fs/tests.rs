//! Settings, passes and samples.

use proptest::prelude::*;

use super::*;
use crate::classics::read_stored;
use plan::program::{self, Calibration, CallObject, FileNames, ProgramPart, RoundsEnd, TimedFiles};

fn resolve(text: &str) -> Result<LatFsPlan, ClassicError> {
    toml::from_str::<LatFs>(text).unwrap().resolve()
}

#[test]
fn version_1_6_creates_a_thousand_files_of_four_sizes() {
    let plan = resolve("").unwrap();
    assert_eq!(plan.sizes_bytes, [0, 1024, 4096, 10_240]);
    let form = LatFsForm::Best {
        file_count: 1000,
        budget_ns: 5_000_000_000,
    };
    assert_eq!((plan.form, plan.order), (form, Order::Forward));
}

#[test]
fn version_3_works_backwards() {
    let plan = resolve("compat = \"3\"").unwrap();
    let form = LatFsForm::Median {
        files_per_directory: 100,
        repetitions: 11,
        sample_ns: 50_000_000,
    };
    assert_eq!((plan.form, plan.order), (form, Order::Reverse));
    assert_eq!(plan.order, Order::Reverse);
}

/// The phases of a program, each with its calls, how much is written and in which order.
fn phases(plan: &LatFsPlan) -> Vec<(String, bool, String)> {
    let program = plan.program();
    program.check().unwrap();
    let phases = program.phases().into_iter();
    let words = phases.map(|phase| {
        let calls = phase.groups[0].calls().into_iter();
        let calls = calls.map(|call| match (&call.on, &call.bytes) {
            (CallObject::Name(pick), _) => format!("{} {:?}", call.operation.name(), pick.order),
            (_, program::MovedBytes::Law(law)) if call.operation.moves() => {
                let bytes = law.always().unwrap();
                format!("{} {bytes} by {}", call.operation.name(), call.piece_bytes)
            }
            _ => call.operation.name().to_owned(),
        });
        let calls: Vec<String> = calls.collect();
        (phase.name.clone(), phase.is_hidden, calls.join(", "))
    });
    words.collect()
}

#[test]
fn version_1_6_repeats_creation_and_removal_until_the_budget_is_spent() {
    let plan = resolve("sizes = [0, \"1KiB\"]\nbudget = 0\nsync = \"fsync\"").unwrap();
    let row = |name: &str, calls: &str| (name.to_owned(), false, calls.to_owned());
    let wanted = [
        row("create empty", "create Next, write 0 by 0, fsync, close"),
        row("remove empty", "unlink Next"),
        row(
            "create 1KiB",
            "create Next, write 1024 by 1024, fsync, close",
        ),
        row("remove 1KiB", "unlink Next"),
    ];
    assert_eq!(phases(&plan), wanted);
    let program = plan.program();
    let ProgramPart::Rounds { until, .. } = &program.parts[0] else {
        panic!("passes are rounds");
    };
    assert_eq!(*until, RoundsEnd::Spent { ns: 1 });
    assert_eq!(program.filesets[0].names, FileNames::Words);
    assert!(program.has_representative_rounds() && !program.ends_with_its_files());
    assert_eq!(program.space_needed().bytes, 1000 * 4096);
}

#[test]
fn version_3_samples_creation_and_then_removal() {
    let plan = resolve("compat = \"3\"\nsizes = \"1m\"").unwrap();
    let create = "create Back, write 1048576 by 131072, close";
    let phase = |name: &str, is_hidden, calls: &str| (name.to_owned(), is_hidden, calls.to_owned());
    let wanted = [
        phase("create 1MiB", false, create),
        phase("remove 1MiB", true, "unlink Back"),
        phase("create 1MiB", true, create),
        phase("remove 1MiB", false, "unlink Back"),
    ];
    assert_eq!(phases(&plan), wanted);
    // 16 GB/s for 50 ms, and one file.
    assert_eq!(plan.program().space_needed().bytes, 800_000_000 + (1 << 20));
}

#[test]
fn a_plan_of_an_earlier_version_becomes_the_same_program() {
    let stored = r#"{"kind":"lat-fs","sizes_bytes":[0,1024],"order":"reverse","sync":"none",
        "form":{"compat":"median","files_per_directory":7,"repetitions":3,"sample_ns":1000000}}"#;
    let earlier = read_stored(stored);
    let text = "compat = \"3\"\nsizes = [0, 1024]\nfiles_per_directory = 7\nrepetitions = 3\n\
                sample_time = \"1ms\"";
    assert_eq!(earlier, resolve(text).unwrap().program());
}

#[test]
fn keys_of_the_other_version_and_bad_values_are_refused() {
    for (text, message) in [
        (
            "repetitions = 3",
            "`lat_fs.repetitions` needs `compat = \"3\"`",
        ),
        (
            "compat = \"3\"\nfiles = 3",
            "`lat_fs.files` needs `compat = \"1.6\"`",
        ),
        ("files = 0", "`lat_fs.files` is `0`, not 1 to 100000000"),
        ("sizes = []", "`lat_fs.sizes` is empty"),
        (
            "compat = \"3\"\nfiles_per_directory = 1",
            "`lat_fs.files_per_directory` is `1`, not 2 to 1000000",
        ),
    ] {
        assert_eq!(resolve(text).unwrap_err().to_string(), message);
    }
    assert!(toml::from_str::<LatFs>("compat = \"2\"").is_err());
    assert!(toml::from_str::<LatFs>("size = 0").is_err());
}

/// Runs a test in which each file takes the same time.
fn calibrated(repetitions: u32, sample_ns: u64, file_ns: u64) -> (Vec<u32>, Option<TimedFiles>) {
    let mut calibration = Calibration::new(repetitions, sample_ns);
    let mut counts = Vec::new();
    while let Some(count) = calibration.next_count() {
        counts.push(count);
        calibration.add(&[u64::from(count) * file_ns]);
        assert!(counts.len() < 10_100, "{:?}", &counts[..50]);
    }
    (counts, calibration.median())
}

#[test]
fn the_file_count_grows_eightfold_and_then_to_ten_percent_above_the_goal() {
    let (counts, median) = calibrated(2, 50_000_000, 10_000);
    assert_eq!(counts, [1, 8, 64, 5501, 5501]);
    let sample = TimedFiles {
        file_count: 5501,
        time_ns: 55_010_000,
    };
    assert_eq!(median, Some(sample));
}

#[test]
fn the_shortest_sample_of_all_workers_must_be_long_enough() {
    let mut calibration = Calibration::new(2, 1_000_000);
    calibration.add(&[2_000_000, 900_000]);
    assert_eq!(
        (calibration.next_count(), calibration.median()),
        (Some(2), None)
    );
    calibration.add(&[2_000_000, 960_000]);
    calibration.add(&[1_500_000, 970_000]);
    assert_eq!(
        (calibration.next_count(), calibration.samples().len()),
        (None, 4)
    );
    assert_eq!(calibration.median().map(|it| it.time_ns), Some(970_000));
}

#[test]
fn the_median_is_by_time_per_file() {
    let mut calibration = Calibration::new(3, 10);
    for time_ns in [30, 10, 20] {
        calibration.add(&[time_ns]);
    }
    assert_eq!(calibration.next_count(), None);
    assert_eq!(calibration.median().map(|it| it.time_ns), Some(20));
    assert_eq!(Calibration::new(1, 1).median(), None);
}

proptest! {
    #[test]
    fn calibration_always_ends(
        repetitions in 1_u32..20,
        sample_ns in 0_u64..1 << 40,
        file_ns in 0_u64..1 << 34,
    ) {
        let (counts, median) = calibrated(repetitions, sample_ns, file_ns);
        prop_assert!(counts.len() < repetitions as usize + 40);
        prop_assert!(median.is_some());
    }
}
