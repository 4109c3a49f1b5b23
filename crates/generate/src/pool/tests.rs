use std::path::PathBuf;

use plan::program::{FileChoice, FilePool, PoolGenerator, PoolLocation};

use super::*;

/// A file of the samples next to the project directory. If it is missing, prints that and returns
/// `None`.
pub(super) fn sample(name: &str) -> Option<Vec<u8>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/postmark");
    let sample = std::fs::read(root.join(name));
    if sample.is_err() {
        println!("skipped: the sample `{name}` is not here");
    }
    sample.ok()
}

pub(super) fn settings(number: u32, transactions: u32) -> FilePool {
    FilePool {
        number,
        transactions,
        ..FilePool::default()
    }
}

/// Runs a stream to its end with every operation done.
fn played(settings: &FilePool) -> Totals {
    let mut stream = PoolStream::new(settings).unwrap();
    while stream.next(OperationOutcome::Done).is_some() {}
    *stream.totals()
}

/// A run as lines, in the form of the recorded traces.
pub(super) fn trace(settings: &FilePool) -> String {
    let names = PoolNames::new(settings);
    let mut stream = PoolStream::new(settings).unwrap();
    let mut text = String::new();
    let mut name = Vec::new();
    while let Some(operation) = stream.next(OperationOutcome::Done) {
        let (verb, file, bytes) = match operation {
            PoolStep::Create { file, size_bytes } => ("create", file, Some(size_bytes)),
            PoolStep::Read { file, size_bytes } => ("read", file, Some(size_bytes)),
            PoolStep::Append {
                file,
                appended_bytes,
                ..
            } => ("append", file, Some(appended_bytes)),
            PoolStep::Delete { file } => ("delete", file, None),
            _ => continue,
        };
        names.file(file, &mut name);
        let bytes = bytes.map_or(String::new(), |bytes| format!(" {bytes}"));
        let name = String::from_utf8_lossy(&name);
        text.push_str(&format!("{verb} {name}{bytes}\n"));
    }
    text
}

fn locations(entries: &[(&str, u32)]) -> Vec<PoolLocation> {
    let entries = entries.iter();
    let entries = entries.map(|(directory, weight)| PoolLocation::beneath(*directory, *weight));
    entries.collect()
}

#[test]
fn numbers_predicted_ahead_are_drawn_later() {
    let mut numbers = PoolRandom::new(PoolGenerator::Twister1999, 42);
    let mut predicted_count = 0;
    for _ in 0..2000 {
        let predicted = numbers.ahead(2);
        let mut after = numbers.clone();
        let drawn = [(); 3].map(|()| after.draw());
        predicted_count += u32::from(predicted == Some(drawn[2]));
        assert!(predicted.is_none() || predicted == Some(drawn[2]));
        numbers.draw();
    }
    assert!(predicted_count > 1900, "{predicted_count}");
    assert_eq!(
        PoolRandom::new(PoolGenerator::Congruential15, 42).ahead(1),
        None
    );
}

#[test]
fn both_generators_start_like_the_originals() {
    let mut twister = Mt19937::new(42);
    let drawn = [(); 5].map(|()| twister.draw());
    let known = [
        4_179_544_424,
        615_236_124,
        4_165_290_828,
        3_119_652_344,
        1_623_863_471,
    ];
    assert_eq!(drawn, known);
    let mut twister = Mt19937::new(4357);
    let drawn = [(); 3].map(|()| twister.draw());
    assert_eq!(drawn, [2_867_219_139, 1_585_203_162, 3_113_124_129]);
    let mut congruential = Congruential::new(42);
    let drawn = [(); 5].map(|()| congruential.draw());
    assert_eq!(drawn, [19_081, 17_033, 15_269, 25_461, 13_856]);
}

#[test]
fn the_first_thousand_numbers_match_the_recorded_ones() {
    let Some(recorded) = sample("golden/mt19937_seed42_first1000.txt") else {
        return;
    };
    let recorded = String::from_utf8(recorded).unwrap();
    let mut twister = Mt19937::new(42);
    let mut count = 0;
    for number in recorded.split_whitespace() {
        assert_eq!(twister.draw().to_string(), number, "number {count}");
        count += 1;
    }
    assert_eq!(count, 1000);
}

#[test]
fn an_undone_number_is_drawn_again() {
    for kind in [PoolGenerator::Congruential15, PoolGenerator::Twister1999] {
        let mut numbers = PoolRandom::new(kind, 7);
        for index in 0..2000 {
            let mut clean = numbers.clone();
            let drawn = numbers.draw();
            numbers.undo();
            assert_eq!(clean.draw(), drawn, "number {index}");
            assert_eq!(numbers.draw(), drawn, "number {index}");
        }
    }
}

#[test]
fn a_limit_of_zero_draws_no_number_but_a_limit_of_one_does() {
    let mut numbers = PoolRandom::new(PoolGenerator::Twister1999, 42);
    assert_eq!(numbers.below(0), 0);
    assert_eq!(numbers.below(1000), 4_179_544_424 % 1000);
    assert_eq!(numbers.below(1), 0, "one number is drawn here");
    assert_eq!(numbers.draw(), 4_165_290_828);
}

#[test]
fn the_text_is_drawn_before_the_first_file() {
    let (_, text) = PoolStream::with_text(&settings(10, 10)).unwrap();
    assert_eq!(text.len(), 20_000);
    assert!(text.starts_with(b"LeZebJ6S5~qPv$C$py}hmKd "));
    if let Some(recorded) = sample("golden/pool_seed42_high10000.bin") {
        assert!(text == recorded);
    }
}

#[test]
fn traces_match_the_recorded_ones() {
    let subdirectories = FilePool {
        subdirectories: 3,
        ..settings(20, 60)
    };
    let weighted = FilePool {
        subdirectories: 7,
        locations: locations(&[("L0", 1), ("L1", 3), ("L2", 1)]),
        ..settings(30, 200)
    };
    let seeded = FilePool {
        seed: 7,
        ..settings(50, 300)
    };
    for (name, settings) in [
        ("20_60", settings(20, 60)),
        ("20_60_subdirs3", subdirectories),
        ("30_200_weights_1_3_1_subdirs7", weighted),
        ("500_500_default", settings(500, 500)),
        ("50_300_seed7", seeded),
    ] {
        if let Some(recorded) = sample(&format!("golden/trace_{name}.ops")) {
            let actual = trace(&settings);
            for (ours, recorded) in actual
                .lines()
                .zip(String::from_utf8_lossy(&recorded).lines())
            {
                assert_eq!(ours, recorded, "{name}");
            }
            assert_eq!(actual.as_bytes(), recorded, "{name}");
        }
    }
}

/// Numbers of files: created, created by transactions, read, appended to, deleted, deleted after
/// the transactions, deleted by transactions.
fn counts(totals: &Totals) -> [u64; 7] {
    [
        totals.created_count,
        totals.created_mixed_count(),
        totals.read_count,
        totals.appended_count,
        totals.deleted_count,
        totals.deleted_after_count,
        totals.deleted_mixed_count(),
    ]
}

#[test]
fn the_default_run_has_its_known_counts() {
    let totals = played(&settings(500, 500));
    let counts = counts(&totals);
    assert_eq!(counts, [764, 264, 243, 257, 764, 528, 236]);
    assert_eq!(totals.transactions_count, 500);
    assert_eq!(totals.read_bytes, 1_430_770);
    assert_eq!(totals.written_bytes, 4_662_068);
}

/// Number, transactions, subdirectories; created, read, appended, deleted before and after the
/// end; bytes read and written, exact and as 32-bit sums.
type OldCounts = ([u32; 3], [u64; 5], [u64; 2], [f32; 2]);

const OLD_COUNTS: [OldCounts; 4] = [
    (
        [500, 500, 0],
        [740, 237, 262, 260, 480],
        [1_337_821, 4_302_954],
        [1_337_821.0, 4_302_954.0],
    ),
    (
        [1000, 10_000, 0],
        [5997, 4997, 4970, 5003, 994],
        [31_326_948, 38_074_662],
        [31_326_956.0, 38_074_644.0],
    ),
    (
        [20_000, 20_000, 0],
        [30_060, 9978, 10_018, 9940, 20_120],
        [54_026_908, 170_610_745],
        [54_026_880.0, 170_609_808.0],
    ),
    (
        [20_000, 100_000, 100],
        [69_820, 49_894, 49_890, 50_180, 19_640],
        [312_718_914, 432_268_900],
        [312_716_064.0, 432_265_504.0],
    ),
];

#[test]
fn versions_before_1_5_have_their_known_counts() {
    for ([number, transactions, subdirectories], counts, bytes, floats) in OLD_COUNTS {
        let totals = played(&FilePool {
            draws: PoolGenerator::Congruential15,
            subdirectories,
            ..settings(number, transactions)
        });
        let actual = [
            totals.created_count,
            totals.read_count,
            totals.appended_count,
            totals.deleted_mixed_count(),
            totals.deleted_after_count,
        ];
        assert_eq!(actual, counts, "{number}/{transactions}/{subdirectories}");
        assert_eq!([totals.read_bytes, totals.written_bytes], bytes);
        assert_eq!(
            [totals.read_bytes_float, totals.written_bytes_float],
            floats
        );
    }
}

#[test]
fn five_million_transactions_have_the_published_counts() {
    let totals = played(&settings(9999, 5_000_000));
    let counts = counts(&totals);
    let published = [
        2_510_496, 2_500_497, 2_499_695, 2_472_080, 2_510_496, 10_993, 2_499_503,
    ];
    assert_eq!(counts, published);
    let megabytes = |bytes: f32| format!("{:.2}", bytes / 1_048_576.0);
    assert_eq!(megabytes(totals.read_bytes_float), "16307.03");
    assert_eq!(megabytes(totals.written_bytes_float), "16302.64");
    assert_eq!(totals.read_bytes, 17_059_010_124);
    assert_eq!(totals.written_bytes, 17_139_576_700);
}

#[test]
fn ten_million_files_are_streamed() {
    let totals = played(&settings(10_000_000, 100_000));
    assert_eq!(totals.created_count, totals.deleted_count);
    assert_eq!(totals.transactions_count, 100_000);
}

fn with_choice(settings: &FilePool, theta: f64) -> PoolStream {
    let options = StreamOptions {
        choice: FileChoice::Zipf { theta },
        ..StreamOptions::default()
    };
    PoolStream::with_options(settings, options).unwrap().0
}

/// How often each file was read, the most first.
fn reads_of_files(mut stream: PoolStream) -> Vec<u32> {
    let mut counts = std::collections::HashMap::new();
    while let Some(operation) = stream.next(OperationOutcome::Done) {
        if let PoolStep::Read { file, .. } = operation {
            *counts.entry(file.number).or_insert(0) += 1;
        }
    }
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable_by(|one, other| other.cmp(one));
    counts
}

#[test]
fn zipf_reads_some_files_much_more_often_than_others() {
    let settings = FilePool {
        read_bias: Some(10),
        create_bias: None,
        ..settings(1000, 200_000)
    };
    let uniform = reads_of_files(PoolStream::new(&settings).unwrap());
    assert!(uniform[0] < 300 && uniform[999] > 100);
    let zipf = reads_of_files(with_choice(&settings, 1.0));
    // Every other slot is empty: of ranks 1 to 2000 a half is drawn, with shares of 1/r each.
    assert!(zipf[0] > 5_000, "{}", zipf[0]);
    let (first, tenth, hundredth) = (zipf[0], zipf[9], zipf[99]);
    assert!(
        first > 3 * tenth && tenth > 5 * hundredth,
        "{first} {tenth} {hundredth}"
    );
    assert_eq!(zipf, reads_of_files(with_choice(&settings, 1.0)));
    let seeded = FilePool {
        seed: 43,
        ..settings
    };
    assert_ne!(zipf, reads_of_files(with_choice(&seeded, 1.0)));
}

#[test]
fn zipf_finds_the_last_file_of_a_pool_without_drawing_forever() {
    // The original of 1.14 would never reach the last 1000 slots.
    for (theta, number) in [(0.1, 500), (1.0, 33_768), (3.0, 500), (100.0, 500)] {
        let settings = FilePool {
            draws: PoolGenerator::Congruential15,
            create_bias: Some(0),
            ..settings(number, 100_000)
        };
        let mut stream = with_choice(&settings, theta);
        while stream.next(OperationOutcome::Done).is_some() {}
        assert_eq!(stream.totals().deleted_count, u64::from(number));
        assert_eq!(stream.totals().deleted_after_count, 0);
    }
}

#[test]
fn an_invalid_skew_is_refused() {
    for theta in [0.0, -1.0, f64::NAN, f64::INFINITY, 101.0] {
        let options = StreamOptions {
            choice: FileChoice::Zipf { theta },
            ..StreamOptions::default()
        };
        let error = PoolStream::with_options(&settings(1, 1), options)
            .err()
            .unwrap();
        assert!(matches!(error, StreamError::Zipf { .. }));
        assert_eq!(error.help(), "choose a `theta` above 0 and at most 100");
    }
}

#[test]
fn endless_transactions_start_like_limited_ones() {
    let settings = settings(50, 400);
    let options = StreamOptions {
        is_endless: true,
        ..StreamOptions::default()
    };
    let mut stream = PoolStream::new(&settings).unwrap();
    let mut endless = PoolStream::with_options(&settings, options).unwrap().0;
    let next = |stream: &mut PoolStream| loop {
        match stream.next(OperationOutcome::Done).unwrap() {
            PoolStep::Mark(PoolMark::Dot) => {}
            operation => return operation,
        }
    };
    loop {
        let operation = next(&mut stream);
        if operation == PoolStep::Mark(PoolMark::TransactionsDone) {
            break;
        }
        assert_eq!(next(&mut endless), operation);
    }
    for _ in 0..10_000 {
        assert!(!matches!(next(&mut endless), PoolStep::Mark(_)));
    }
    endless.stop();
    while endless.next(OperationOutcome::Done).is_some() {}
    assert!(endless.has_ended_early());
    assert_eq!(
        endless.totals().created_count,
        endless.totals().deleted_count
    );
}

#[test]
fn subdirectories_are_made_in_every_location_and_removed_again() {
    let settings = FilePool {
        subdirectories: 2,
        locations: locations(&[("a", 1), ("b", 1)]),
        ..settings(2, 10)
    };
    let names = PoolNames::new(&settings);
    let mut stream = PoolStream::new(&settings).unwrap();
    let (mut made, mut removed, mut name) = (Vec::new(), Vec::new(), Vec::new());
    while let Some(operation) = stream.next(OperationOutcome::Done) {
        let (list, directory) = match operation {
            PoolStep::MakeDirectory(directory) => (&mut made, directory),
            PoolStep::RemoveDirectory(directory) => (&mut removed, directory),
            _ => continue,
        };
        names.directory(directory, &mut name);
        list.push(String::from_utf8(name.clone()).unwrap());
    }
    assert_eq!(made, ["a/s0", "a/s1", "b/s0", "b/s1"]);
    assert_eq!(removed, made);
}

fn marks(settings: &FilePool) -> String {
    let mut stream = PoolStream::new(settings).unwrap();
    let mut text = String::new();
    while let Some(operation) = stream.next(OperationOutcome::Done) {
        if let PoolStep::Mark(mark) = operation {
            text.push_str(mark.text());
        }
    }
    text
}

#[test]
fn there_is_a_dot_per_tenth_or_per_transaction_below_ten() {
    let dots = |transactions| {
        let text = marks(&settings(20, transactions));
        text.matches('.').count() - 2 * "...".len()
    };
    assert_eq!([dots(500), dots(15), dots(25)], [10, 15, 13]);
    assert_eq!([dots(10), dots(9), dots(1)], [10, 9, 1]);
}

#[test]
fn a_depleted_pool_ends_the_transactions() {
    let mut settings = settings(50, 1000);
    settings.create_bias = Some(0);
    let text = marks(&settings);
    let end = "transactions.out of files!\nFor this workload, either increase the number of files \
               or\ndecrease the number of transactions.\nDeleting files...Done\n";
    assert!(text.ends_with(end), "{text}");
    let totals = played(&settings);
    assert_eq!(totals.transactions_count, 50);
    assert_eq!(totals.deleted_after_count, 0);
}

#[test]
fn slots_that_15_bits_cannot_reach_do_not_hang_a_run() {
    let settings = FilePool {
        draws: PoolGenerator::Congruential15,
        create_bias: Some(0),
        ..settings(33_000, 100_000)
    };
    let totals = played(&settings);
    assert_eq!(totals.deleted_mixed_count(), 32_768);
    assert_eq!(totals.deleted_after_count, 33_000 - 32_768);
}

#[test]
fn failed_operations_change_the_same_state_as_in_the_original() {
    let settings = settings(3, 20);
    let mut stream = PoolStream::new(&settings).unwrap();
    let names = PoolNames::new(&settings);
    let (mut errors, mut name) = (Vec::new(), Vec::new());
    while let Some(operation) = stream.next(OperationOutcome::Failed) {
        let file = match operation {
            PoolStep::Create { file, .. }
            | PoolStep::Read { file, .. }
            | PoolStep::Append { file, .. }
            | PoolStep::Delete { file } => file,
            _ => continue,
        };
        names.file(file, &mut name);
        errors.extend(operation.failure_text(&name).unwrap());
    }
    // The recorded run's location was a directory that did not exist.
    if let Some(recorded) = sample("golden/27_unwritable.err") {
        let recorded = String::from_utf8(recorded).unwrap().replace("nodir/", "");
        assert_eq!(String::from_utf8(errors).unwrap(), recorded);
    }
    let totals = stream.totals();
    assert_eq!((totals.created_count, totals.create_failed_count), (6, 6));
    assert_eq!(
        totals.deleted_count + totals.read_count + totals.appended_count,
        0
    );
    assert_eq!(totals.written_bytes, 0);
}

#[test]
fn a_stopped_run_removes_its_files() {
    for stop_at in [0, 5, 60, 400] {
        let mut stream = PoolStream::new(&settings(50, 1000)).unwrap();
        let mut count = 0;
        while stream.next(OperationOutcome::Done).is_some() {
            count += 1;
            if count > stop_at {
                stream.stop();
            }
        }
        assert!(stream.has_ended_early());
        let totals = stream.totals();
        assert_eq!(totals.created_count, totals.deleted_count);
        assert!(totals.transactions_count <= 200);
    }
}

#[test]
fn the_table_never_holds_more_than_twice_the_initial_files() {
    let settings = FilePool {
        create_bias: Some(10),
        ..settings(10, 100)
    };
    let totals = played(&settings);
    assert_eq!(totals.created_count, 20);
    assert_eq!((totals.read_count, totals.appended_count), (49, 51));
}

#[test]
fn sizes_stay_between_their_bounds() {
    let settings = FilePool {
        size_low_bytes: 1,
        size_high_bytes: 3,
        ..settings(5, 500)
    };
    let mut stream = PoolStream::new(&settings).unwrap();
    while let Some(operation) = stream.next(OperationOutcome::Done) {
        match operation {
            PoolStep::Create { size_bytes, .. } => assert!((1..=2).contains(&size_bytes)),
            PoolStep::Read { size_bytes, .. } => assert!((1..=3).contains(&size_bytes)),
            PoolStep::Append {
                size_bytes,
                appended_bytes,
                ..
            } => assert!(appended_bytes > 0 && size_bytes + appended_bytes <= 3),
            _ => {}
        }
    }
    let fixed = FilePool {
        size_low_bytes: 4096,
        size_high_bytes: 4096,
        ..super::tests::settings(500, 3000)
    };
    assert_eq!(played(&fixed).appended_count, 0);
}

#[test]
fn pools_that_do_not_fit_are_refused_with_the_original_message() {
    let error = PoolStream::new(&settings(2_000_000_000, 1)).err().unwrap();
    assert_eq!(
        error.to_string(),
        "a table for 4000000000 files does not fit into memory"
    );
    let text = error.original_text().unwrap();
    assert_eq!(
        text,
        "Error: Failed to allocate table for -294967296 files\n"
    );
    let large = FilePool {
        size_high_bytes: 2_000_000_000,
        ..settings(1, 1)
    };
    let error = PoolStream::new(&large).err().unwrap();
    assert!(matches!(
        error,
        StreamError::Text {
            text_bytes: 4_000_000_000
        }
    ));
    assert_eq!(error.help(), "lower the upper bound of `set size`");
    let many = FilePool {
        subdirectories: 2_000_000_000,
        locations: locations(&[("a", 1), ("b", 1), ("c", 1)]),
        ..settings(1, 1)
    };
    assert!(matches!(
        PoolStream::new(&many),
        Err(StreamError::Directories { .. })
    ));
}
