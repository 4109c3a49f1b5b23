//! Whole runs against a model of a file system, in the originals' order and out of order.

mod model;
mod on_files;

use engine::Operation as Primitive;
use plan::program::{FileChoice, PoolLocation};
use proptest::prelude::*;

use super::*;
use crate::open_loop::tests::{START, run_to_end};
use crate::pool::tests::{sample, settings, trace};
use model::{CompletedRequest, Disk, Loop};

fn options(slot_count: u32) -> PlayOptions {
    PlayOptions {
        slot_count,
        stdio_buffer_bytes: 4096,
        has_file_offsets: false,
        reads_whole: false,
        kept_open_max: 0,
        fsync: Fsync::None,
        choice: FileChoice::Uniform,
        is_endless: false,
        makes_subdirectories: true,
        unit: TransactionUnit::Declared,
    }
}

fn play(settings: &FilePool, options: &PlayOptions) -> PoolRun {
    PoolRun::new(settings, options).unwrap().0
}

/// Plays all phases on a disk that never fails.
fn played(settings: &FilePool, options: &PlayOptions, seed: u64) -> (PoolRun, Loop) {
    let mut play = play(settings, options);
    let mut driver = Loop::new(options, seed);
    while play.begin_next_phase().is_some() {
        driver.run(&mut play);
    }
    assert!(driver.disk.is_empty());
    (play, driver)
}

fn expected(settings: &FilePool) -> Totals {
    let mut stream = PoolStream::new(settings).unwrap();
    while stream.next(OperationOutcome::Done).is_some() {}
    *stream.totals()
}

fn with_directories(number: u32, transactions: u32) -> FilePool {
    let location = PoolLocation::beneath;
    FilePool {
        subdirectories: 7,
        locations: vec![location("L0", 1), location("L1", 3), location("L2", 1)],
        ..settings(number, transactions)
    }
}

/// A chain of requests as a line of the recorded traces.
fn line(chain: &[CompletedRequest], settings: &FilePool) -> Option<String> {
    let first = chain[0].request;
    let directory = first.length_bytes;
    let per_location = settings.subdirectories_count();
    let (location, subdirectory) = match per_location {
        0 => (directory, String::new()),
        count => (directory / count, format!("s{}/", directory % count)),
    };
    let location = settings.locations.get(location as usize);
    let location = location.map_or(String::new(), |it| {
        format!("{}/", String::from_utf8_lossy(&it.directory))
    });
    let name = format!("{location}{subdirectory}{}", first.file_index);
    let moved: i32 = chain
        .iter()
        .filter(|entry| entry.request.operation.moves_bytes())
        .map(|entry| entry.result)
        .sum();
    match (first.operation, first.offset_bytes) {
        (Primitive::Create, _) => Some(format!("create {name} {moved}")),
        (Primitive::Open, 0) => Some(format!("read {name} {moved}")),
        (Primitive::Open, _) => Some(format!("append {name} {moved}")),
        (Primitive::Unlink, _) => Some(format!("delete {name}")),
        _ => None,
    }
}

/// Transactions that begin when they are due, 500 a second, on a file system that stalls.
fn due(settings: &FilePool, transactions_max: Option<u64>) -> (PoolRun, crate::DueCounts) {
    let options = PlayOptions {
        unit: TransactionUnit::DueRound,
        is_endless: transactions_max.is_none(),
        ..options(1)
    };
    let mut play = play(settings, &options);
    let mut driver = Loop::new(&options, 1);
    while play.begin_next_phase() != Some(PoolPart::Transact) {
        driver.run(&mut play);
    }
    assert_eq!(play.transaction_kinds(), ["response"]);
    let due = crate::DueTimes::Own(crate::Arrivals::uniform(500.0, 0, 1).unwrap());
    play.set_due_queue(crate::DueQueue::new(due, START, 1));
    let counts = run_to_end(&mut play, 5_000_000_000);
    (play, counts)
}

#[test]
fn due_transactions_are_complete_with_stalls_in_their_response_times() {
    let settings = settings(500, 2500);
    let (play, counts) = due(&settings, Some(2500));
    assert_eq!(counts.responses.count(), 2500);
    assert_eq!(play.totals().transactions_count, 2500);
    // From 1 s to 3 s no request completes. The transactions due in that time follow immediately.
    let max_ns = counts.responses.latency().max_ns().unwrap();
    assert!((1_990_000_000..2_010_000_000).contains(&max_ns), "{max_ns}");
    assert_eq!(counts.left_count, 0);
    // The same transactions as without due times: files and bytes depend only on the seed.
    let mut totals = *play.totals();
    let (other, _) = played(&settings, &options(1), 1);
    totals.deleted_count = other.totals().deleted_count;
    totals.deleted_after_count = other.totals().deleted_after_count;
    assert_eq!(totals, *other.totals());
}

#[test]
fn transactions_without_a_count_end_with_the_last_due_one() {
    let (play, counts) = due(&settings(500, 1), None);
    assert_eq!(counts.responses.count(), 2500);
    assert_eq!(play.totals().transactions_count, 2500);
    assert_eq!(play.end(), Some(PoolMark::Stopped));
}

#[test]
fn chains_match_the_recorded_operations() {
    let subdirectories = FilePool {
        subdirectories: 3,
        ..settings(20, 60)
    };
    let seeded = FilePool {
        seed: 7,
        ..settings(50, 300)
    };
    for (name, settings) in [
        ("20_60", settings(20, 60)),
        ("20_60_subdirs3", subdirectories),
        ("30_200_weights_1_3_1_subdirs7", with_directories(30, 200)),
        ("500_500_default", settings(500, 500)),
        ("50_300_seed7", seeded),
    ] {
        for is_buffered in [true, false] {
            let settings = FilePool {
                is_buffered,
                ..settings.clone()
            };
            let (_, driver) = played(&settings, &options(1), 1);
            let chains = driver
                .completed
                .split_inclusive(|entry| entry.flow != Flow::Continues);
            let lines: Vec<String> = chains.filter_map(|it| line(it, &settings)).collect();
            let actual = lines.join("\n") + "\n";
            assert_eq!(actual, trace(&settings), "{name}");
            if let Some(recorded) = sample(&format!("golden/trace_{name}.ops")) {
                assert_eq!(actual.as_bytes(), recorded, "{name}");
            }
        }
    }
}

/// Call of a traced line on a file or directory of the pool, with the requested length.
fn traced_call(line: &str) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    let (_, path) = rest.split_once("w/")?;
    let path = path.split(['"', '>']).next()?;
    let name = match name {
        "openat" => "open",
        "unlink" | "mkdir" | "rmdir" | "close" => name,
        "read" | "write" => {
            let (arguments, _) = rest.rsplit_once(") ")?;
            let length = arguments.rsplit(", ").next()?;
            return Some(format!("{name} {path} {}", length.trim_end_matches(')')));
        }
        _ => return None,
    };
    Some(format!("{name} {path}"))
}

/// A request in the same form; files of the last chain keep their directory.
fn requested_call(request: &Request, directory: &mut u32, has_directories: bool) -> String {
    let moves_bytes = request.operation.moves_bytes();
    if !moves_bytes {
        *directory = request.length_bytes;
    }
    let name = match request.operation {
        Primitive::Create => "open",
        operation => operation.name(),
    };
    let path = match request.operation {
        Primitive::Mkdir | Primitive::Rmdir => format!("s{directory}"),
        _ if has_directories => format!("s{directory}/{}", request.file_index),
        _ => request.file_index.to_string(),
    };
    if moves_bytes {
        return format!("{name} {path} {}", request.length_bytes);
    }
    format!("{name} {path}")
}

#[test]
fn requests_match_the_recorded_system_calls() {
    let unbuffered = FilePool {
        is_buffered: false,
        subdirectories: 3,
        ..settings(20, 60)
    };
    for (name, settings) in [
        ("strace_buffered.txt", settings(20, 60)),
        ("strace_unbuffered_subdirs.txt", unbuffered),
    ] {
        let Some(recorded) = sample(&format!("golden/{name}")) else {
            return;
        };
        let recorded = String::from_utf8_lossy(&recorded).into_owned();
        let recorded: Vec<String> = recorded.lines().filter_map(traced_call).collect();
        let (_, driver) = played(&settings, &options(1), 1);
        let mut directory = 0;
        let has_directories = settings.subdirectories > 0;
        let actual: Vec<String> = driver
            .completed
            .iter()
            .map(|entry| requested_call(&entry.request, &mut directory, has_directories))
            .collect();
        assert!(recorded.len() > 400, "{name}: {}", recorded.len());
        assert_eq!(actual, recorded, "{name}");
    }
}

/// One word a request.
fn words(entries: &[CompletedRequest]) -> String {
    let word = |entry: &CompletedRequest| {
        let request = &entry.request;
        let name = request.operation.name();
        if request.operation.moves_bytes() {
            format!("{name}@{}+{}", request.offset_bytes, request.length_bytes)
        } else {
            format!("{name}{}", request.file_index)
        }
    };
    entries.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// The requests of the first chain that opens so.
fn chain_of(settings: &FilePool, options: &PlayOptions, first: Primitive, code: u64) -> String {
    let (_, driver) = played(settings, options, 1);
    let mut chains = driver
        .completed
        .split_inclusive(|entry| entry.flow != Flow::Continues);
    let chain = chains.find(|chain| {
        let request = chain[0].request;
        request.operation == first && request.offset_bytes == code
    });
    words(chain.unwrap())
}

fn fixed(size_bytes: u32) -> FilePool {
    FilePool {
        size_low_bytes: size_bytes,
        size_high_bytes: size_bytes,
        ..settings(5, 50)
    }
}

#[test]
fn streams_and_blocks_make_the_calls_of_the_original() {
    let buffered = fixed(9640);
    let blocks = FilePool {
        is_buffered: false,
        read_block_bytes: 4820,
        write_block_bytes: 4000,
        ..fixed(9640)
    };
    for (settings, code, wanted) in [
        (
            &buffered,
            9,
            "create1 write@0+4096 write@4096+4096 write@8192+1448 close1",
        ),
        (
            &buffered,
            0,
            "open2 read@0+4096 read@4096+4096 read@8192+4096 close2",
        ),
        (
            &blocks,
            9,
            "create1 write@0+4000 write@4000+4000 write@8000+1640 close1",
        ),
        (
            &blocks,
            0,
            "open2 read@0+4820 read@4820+4820 read@9640+0 close2",
        ),
    ] {
        let (first, code) = match code {
            9 => (Primitive::Create, 0),
            code => (Primitive::Open, code),
        };
        assert_eq!(chain_of(settings, &options(1), first, code), wanted);
    }
}

#[test]
fn appends_write_the_text_from_its_start_or_from_the_file_offset() {
    let settings = FilePool {
        size_low_bytes: 100,
        size_high_bytes: 5000,
        ..settings(5, 50)
    };
    let appended = |has_file_offsets| {
        let options = PlayOptions {
            has_file_offsets,
            ..options(1)
        };
        chain_of(&settings, &options, Primitive::Open, 3)
    };
    let (by_text, by_file) = (appended(false), appended(true));
    assert!(by_text.contains(" write@0+"), "{by_text}");
    assert_ne!(by_text, by_file);
    assert_eq!(
        by_text.len() - by_text.find('+').unwrap(),
        by_file.len() - by_file.find('+').unwrap()
    );
}

#[test]
fn files_and_directories_are_synced_on_request() {
    let settings = fixed(10);
    let calls = |fsync, first| {
        let options = PlayOptions {
            fsync,
            ..options(1)
        };
        chain_of(&settings, &options, first, 0)
    };
    let per_file = Fsync::PerFile;
    assert_eq!(
        calls(per_file, Primitive::Create),
        "create1 write@0+10 fsync1 close1"
    );
    assert_eq!(calls(per_file, Primitive::Unlink), "unlink2");
    let per_transaction = Fsync::PerTransaction;
    assert_eq!(
        calls(per_transaction, Primitive::Create),
        "create1 write@0+10 fsync1 close1 fsync1"
    );
    assert_eq!(calls(per_transaction, Primitive::Unlink), "unlink2 fsync2");
    assert_eq!(
        calls(per_transaction, Primitive::Open),
        "open4 read@0+4096 close4"
    );
}

#[test]
fn each_phase_has_its_own_operations() {
    let settings = with_directories(10, 40);
    let mut play = play(&settings, &options(1));
    let mut driver = Loop::new(&options(1), 1);
    assert_eq!(play.next(0, 0), Step::Finished);
    let mut phases = Vec::new();
    while let Some(phase) = play.begin_next_phase() {
        let before = driver.completed.len();
        driver.run(&mut play);
        let count = |primitive: Primitive| {
            let entry = driver.completed[before..].iter();
            entry
                .filter(|completed| completed.request.operation == primitive)
                .count()
        };
        let totals = *play.totals();
        phases.push((
            phase.phase_name(),
            count(Primitive::Mkdir),
            count(Primitive::Rmdir),
        ));
        match phase {
            PoolPart::MakeDirectories => assert_eq!(count(Primitive::Create), 0),
            PoolPart::Fill => assert_eq!(count(Primitive::Create), 10),
            PoolPart::Transact => {
                assert_eq!(totals.transactions_count, 40);
                assert_eq!(play.end(), Some(PoolMark::TransactionsDone));
                assert_eq!(
                    count(Primitive::Open) as u64,
                    totals.read_count + totals.appended_count
                );
            }
            PoolPart::Empty => {
                assert_eq!(count(Primitive::Unlink) as u64, totals.deleted_after_count);
            }
        }
    }
    assert_eq!(
        phases,
        [
            ("create", 21, 0),
            ("create", 0, 0),
            ("transactions", 0, 0),
            ("delete", 0, 21)
        ]
    );
    assert_eq!(play.begin_next_phase(), None);
    assert_eq!(play.next(0, 0), Step::Finished);
}

#[test]
fn subdirectories_can_be_left_to_someone_else() {
    let settings = with_directories(10, 40);
    let options = PlayOptions {
        makes_subdirectories: false,
        ..options(2)
    };
    let mut play = play(&settings, &options);
    let mut driver = Loop::new(&options, 1);
    driver.disk = Disk::with_directories(21);
    while play.begin_next_phase().is_some() {
        driver.run(&mut play);
    }
    assert!(!play.operations().contains(Primitive::Mkdir));
    assert!(
        driver
            .completed
            .iter()
            .all(|entry| play.operations().contains(entry.request.operation))
    );
}

#[test]
fn every_operation_is_a_flow_of_its_kind() {
    let (play, driver) = played(&settings(50, 500), &options(1), 1);
    let count = |kind| {
        let flows = driver.completed.iter().map(|entry| entry.flow);
        flows.filter(|flow| *flow == Flow::Done(kind)).count() as u64
    };
    let totals = play.totals();
    assert_eq!(
        play.transaction_kinds(),
        ["create", "read", "append", "delete"]
    );
    assert_eq!(
        [0, 1, 2, 3].map(count),
        [
            totals.created_count,
            totals.read_count,
            totals.appended_count,
            totals.deleted_count
        ]
    );
}

#[test]
fn reads_at_the_end_of_a_file_are_expected_to_be_short() {
    let (_, driver) = played(&fixed(5000), &options(1), 1);
    let mut reads = driver
        .completed
        .iter()
        .filter(|entry| entry.request.operation == Primitive::Read);
    assert!(
        reads
            .clone()
            .any(|entry| entry.request.length_bytes != entry.expected_bytes)
    );
    assert!(reads.all(|entry| entry.result as u32 == entry.expected_bytes));
}

#[test]
fn a_deadline_ends_endless_transactions_after_a_complete_one() {
    for slot_count in [1, 4] {
        let options = PlayOptions {
            is_endless: true,
            ..options(slot_count)
        };
        let mut play = play(&settings(20, 1), &options);
        let mut driver = Loop::new(&options, 7);
        while let Some(phase) = play.begin_next_phase() {
            if phase == PoolPart::Transact {
                play.stop_after(3000);
            }
            driver.run(&mut play);
        }
        assert!(driver.disk.is_empty());
        assert_eq!(play.end(), Some(PoolMark::Stopped));
        assert_eq!(play.transactions_count(), None);
        let totals = play.totals();
        assert!(totals.transactions_count > 100, "{totals:?}");
        assert_eq!(totals.created_count, totals.deleted_count);
    }
}

#[test]
fn endless_transactions_that_do_nothing_wait_and_can_be_stopped() {
    let nothing = FilePool {
        read_bias: None,
        create_bias: None,
        ..settings(3, 10)
    };
    let options = PlayOptions {
        is_endless: true,
        ..options(1)
    };
    let mut play = play(&nothing, &options);
    let mut driver = Loop::new(&options, 7);
    play.begin_next_phase();
    driver.run(&mut play);
    play.begin_next_phase();
    assert_eq!(play.next(0, 10), Step::Wait { until_ns: 11 });
    assert_eq!(play.next(0, 11), Step::Wait { until_ns: 12 });
    play.stop();
    assert_eq!(play.next(0, 12), Step::Finished);
    assert!(play.has_ended_early());
    play.begin_next_phase();
    driver.run(&mut play);
    assert!(driver.disk.is_empty());
}

#[test]
fn transactions_without_operations_are_skipped() {
    // The table is full after one more file, and no file has room for more.
    let full = FilePool {
        read_bias: Some(0),
        create_bias: Some(10),
        size_low_bytes: 700,
        size_high_bytes: 700,
        ..settings(1, 12)
    };
    for slot_count in [1, 3] {
        let (play, _) = played(&full, &options(slot_count), 1);
        assert_eq!(*play.totals(), expected(&full));
        assert_eq!(play.totals().transactions_count, 12);
        assert_eq!(play.totals().created_count, 2);
        assert_eq!(play.end(), Some(PoolMark::TransactionsDone));
    }
}

#[test]
fn an_exhausted_pool_ends_the_transactions() {
    let mut settings = settings(50, 1000);
    settings.create_bias = Some(0);
    for slot_count in [1, 3] {
        let (play, _) = played(&settings, &options(slot_count), 1);
        assert_eq!(play.end(), Some(PoolMark::OutOfFiles));
        assert!(play.has_ended_early());
        assert_eq!(play.totals().transactions_count, 50);
    }
}

#[test]
fn failures_with_one_slot_match_the_original() {
    let settings = settings(3, 20);
    let mut stream = PoolStream::new(&settings).unwrap();
    while stream.next(OperationOutcome::Failed).is_some() {}
    let options = options(1);
    let mut play = play(&settings, &options);
    let mut driver = Loop::new(&options, 1);
    driver.fail = Some(|request| {
        matches!(
            request.operation,
            Primitive::Create | Primitive::Open | Primitive::Unlink
        )
        .then_some(-28)
    });
    while play.begin_next_phase().is_some() {
        driver.run(&mut play);
    }
    assert_eq!(play.totals(), stream.totals());
    assert!(
        driver
            .completed
            .iter()
            .all(|entry| matches!(entry.flow, Flow::Done(_)))
    );
}

#[test]
fn failures_with_more_slots_are_subtracted_from_the_totals() {
    let settings = settings(30, 300);
    let options = options(4);
    let mut play = play(&settings, &options);
    let mut driver = Loop::new(&options, 5);
    driver.is_strict = false;
    // Every file whose number ends in 7 cannot be created.
    driver.fail = Some(|request| {
        let is_bad = request.operation == Primitive::Create && request.file_index % 10 == 7;
        is_bad.then_some(-28)
    });
    while play.begin_next_phase().is_some() {
        driver.run(&mut play);
    }
    let totals = play.totals();
    let done = |kind, well| {
        let ends = driver.ends.iter();
        let ends = ends.filter(|(ended, errno)| *ended == kind && (*errno == 0) == well);
        ends.count() as u64
    };
    assert!(totals.create_failed_count > 10);
    assert_eq!(totals.create_failed_count, done(0, false));
    assert_eq!(totals.created_count, done(0, true) + done(0, false));
    assert_eq!(
        (totals.read_count, totals.read_failed_count),
        (done(1, true), done(1, false))
    );
    assert_eq!(
        (totals.appended_count, totals.append_failed_count),
        (done(2, true), done(2, false))
    );
    assert_eq!(
        (totals.deleted_count, totals.delete_failed_count),
        (done(3, true), done(3, false))
    );
    assert_eq!(
        totals.created_count,
        totals.deleted_count + totals.delete_failed_count
    );
    assert_eq!(totals.written_bytes, driver.disk.written_bytes);
    assert!(driver.disk.is_empty());
}

#[test]
fn files_that_stay_open_are_opened_once() {
    let unbuffered = FilePool {
        is_buffered: false,
        ..settings(20, 300)
    };
    let options = PlayOptions {
        kept_open_max: 1000,
        ..options(1)
    };
    let mut play = play(&unbuffered, &options);
    let mut driver = Loop::new(&options, 1);
    let mut entries = Vec::new();
    while let Some(phase) = play.begin_next_phase() {
        driver.run(&mut play);
        let requests = std::mem::take(&mut driver.completed);
        if phase == PoolPart::Transact {
            entries = requests;
        }
    }
    let count = |operation| {
        entries
            .iter()
            .filter(|it| it.request.operation == operation)
            .count()
    };
    let (opened, created) = (count(Primitive::Open), count(Primitive::Create));
    // Files of the pool that the transactions used; each is opened once.
    assert!((1..=20).contains(&opened), "{opened}");
    let (closed, removed) = (count(Primitive::Close), count(Primitive::Unlink));
    assert!((1..=removed).contains(&closed) && closed <= opened + created);
    assert_eq!(*play.totals(), expected(&unbuffered));
}

#[test]
fn names_that_already_exist_are_left_alone() {
    for slot_count in [1, 4] {
        let options = options(slot_count);
        let mut play = play(&settings(10, 200), &options);
        let mut driver = Loop::new(&options, 1);
        driver.fail = Some(|request| {
            assert!(request.operation == Primitive::Create || request.file_index != 3);
            (request.file_index == 3).then_some(-17)
        });
        while play.begin_next_phase().is_some() {
            driver.run(&mut play);
        }
        assert_eq!(play.taken_count(), 1);
        assert!(play.totals().delete_failed_count > 0);
        assert!(driver.disk.is_empty());
    }
}

#[test]
fn failed_and_short_transfers_change_only_their_own_chain() {
    let settings = settings(30, 300);
    for is_buffered in [true, false] {
        let settings = FilePool {
            is_buffered,
            ..settings.clone()
        };
        let mut play = play(&settings, &options(1));
        let mut driver = Loop::new(&options(1), 1);
        driver.is_strict = false;
        driver.fail = Some(|request| match request.operation {
            Primitive::Write if request.file_index % 3 == 0 => Some(-28),
            Primitive::Read if request.file_index % 3 == 1 => Some(-5),
            Primitive::Fsync | Primitive::Close if request.file_index % 5 == 0 => Some(-5),
            _ => None,
        });
        while play.begin_next_phase().is_some() {
            driver.run(&mut play);
        }
        assert_eq!(*play.totals(), expected(&settings));
        assert!(driver.disk.is_empty());
    }
}

#[test]
fn a_loop_cut_off_in_the_middle_leaves_no_files_behind() {
    for slot_count in [1, 5] {
        for cut_at in [1, 2, 3, 10, 57, 99, 300] {
            let options = options(slot_count);
            let mut play = play(&settings(20, 200), &options);
            let mut driver = Loop::new(&options, cut_at);
            while let Some(phase) = play.begin_next_phase() {
                driver.cut_at = (phase != PoolPart::Empty).then_some(cut_at);
                driver.run(&mut play);
            }
            assert!(driver.disk.is_empty(), "{slot_count} {cut_at}");
            assert!(play.has_ended_early());
        }
    }
}

/// A loop in which the third file and a directory are somebody else's.
fn with_others(options: &PlayOptions) -> Loop {
    let mut driver = Loop::new(options, 1);
    driver.fail = Some(|request| {
        let is_taken = match request.operation {
            Primitive::Mkdir => request.length_bytes == 2,
            Primitive::Create => request.file_index == 3,
            _ => false,
        };
        is_taken.then_some(-17)
    });
    driver
}

#[test]
fn only_the_leftovers_of_a_cut_off_run_are_removed() {
    let options = options(1);
    for cut_phase in 0..4 {
        for cut_at in [0, 1, 2, 3, 10, 57, 99, 300] {
            let mut play = play(&with_directories(20, 200), &options);
            let mut driver = with_others(&options);
            for phase in 0..=cut_phase {
                driver.cut_at = (phase == cut_phase).then_some(cut_at);
                assert!(play.begin_next_phase().is_some());
                driver.run(&mut play);
            }
            while let Some(operation) = play.next_leftover() {
                match operation {
                    PoolStep::Delete { file } => {
                        let directory = play.directory_number(file.directory);
                        driver.disk.remove((directory, file.number));
                    }
                    PoolStep::RemoveDirectory(directory) => {
                        let number = play.directory_number(directory);
                        driver.disk.remove_directory(number);
                    }
                    other => panic!("{other:?}"),
                }
            }
            assert!(driver.disk.is_empty(), "{cut_phase} {cut_at}");
        }
    }
}

#[test]
fn failures_are_reported_including_files_that_are_left_alone() {
    let options = options(1);
    let mut play = play(&with_directories(20, 200), &options);
    let mut driver = with_others(&options);
    while play.begin_next_phase().is_some() {
        driver.run(&mut play);
    }
    assert!(driver.disk.is_empty());
    assert_eq!(play.taken_count(), 2);
    let totals = play.totals();
    let failed = totals.create_failed_count + totals.read_failed_count;
    let failed = failed + totals.append_failed_count + totals.delete_failed_count;
    let failures = play.take_failures();
    assert_eq!(
        (failures.count, failures.first.len()),
        (failed, failed as usize)
    );
    let number = |it: &PoolStep| it.file().map(|file| file.number);
    assert!(failures.first.iter().all(|it| number(it) == Some(3)));
    assert!(play.take_failures().first.is_empty() && play.emptied_ns().is_some());
}

proptest! {
    #[test]
    fn operations_out_of_order_never_overlap_on_a_file(
        slot_count in 1_u32..12,
        seed: u64,
        number in 1_u32..40,
        transactions in 1_u32..300,
        subdirectories in 0_u32..4,
        is_buffered: bool,
        has_file_offsets: bool,
        fsync in 0_usize..3,
        theta in proptest::option::of(0.5_f64..2.0),
        create_bias in 0_u8..11,
        kept_open_max in proptest::option::of(1_u32..60),
    ) {
        // What stays open is not a stream.
        let is_buffered = is_buffered && kept_open_max.is_none();
        let settings = FilePool {
            subdirectories,
            is_buffered,
            create_bias: Some(create_bias),
            seed: (seed >> 40) as u32 + 1,
            ..settings(number, transactions)
        };
        let options = PlayOptions {
            has_file_offsets,
            kept_open_max: kept_open_max.unwrap_or(0),
            fsync: [Fsync::None, Fsync::PerFile, Fsync::PerTransaction][fsync],
            choice: theta.map_or(FileChoice::Uniform, |theta| FileChoice::Zipf { theta }),
            ..options(slot_count)
        };
        // The disk panics at any request that cannot be carried out.
        let (play, driver) = played(&settings, &options, seed);
        if theta.is_none() {
            prop_assert_eq!(*play.totals(), expected(&settings));
        }
        prop_assert_eq!(driver.disk.written_bytes, play.totals().written_bytes);
        prop_assert_eq!(driver.disk.read_bytes, play.totals().read_bytes);
    }
}

/// Plays the next phase; every request completes immediately. Returns the number of requests;
/// `None` after the last phase.
fn play_null_phase(play: &mut PoolRun) -> Option<u64> {
    play.begin_next_phase()?;
    let mut requests_count = 0;
    while let Step::Issue(request) = play.next(0, 0) {
        let moved = request.operation.moves_bytes();
        let completion = Completion {
            slot: 0,
            result: if moved {
                request.length_bytes as i32
            } else {
                0
            },
        };
        play.complete(completion, 0);
        requests_count += 1;
    }
    Some(requests_count)
}

#[test]
fn five_million_transactions_have_the_published_counts_as_requests_too() {
    let mut play = play(&settings(9999, 5_000_000), &options(1));
    let start = std::time::Instant::now();
    let requests_count: u64 = std::iter::from_fn(|| play_null_phase(&mut play)).sum();
    println!("{requests_count} requests in {:?}", start.elapsed());
    let totals = play.totals();
    let counts = [
        totals.created_count,
        totals.created_mixed_count(),
        totals.read_count,
        totals.appended_count,
        totals.deleted_after_count,
        totals.deleted_mixed_count(),
    ];
    let published = [
        2_510_496, 2_500_497, 2_499_695, 2_472_080, 10_993, 2_499_503,
    ];
    assert_eq!(counts, published);
    assert_eq!(totals.read_bytes, 17_059_010_124);
    assert_eq!(totals.written_bytes, 17_139_576_700);
}

/// `true` if this process runs only this test, and the process's memory is therefore the test's
/// memory. Otherwise starts such a process, which must succeed.
fn is_alone(test: &str) -> bool {
    const CHILD_VARIABLE: &str = "GENERATE_TEST_ALONE";
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        return true;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    let (_, module) = module_path!().split_once("::").unwrap();
    command.args(["--exact", &format!("{module}::{test}")]);
    let output = command.env(CHILD_VARIABLE, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    false
}

#[test]
fn ten_million_files_take_less_than_a_gigabyte() {
    if !is_alone("ten_million_files_take_less_than_a_gigabyte") {
        return;
    }
    let settings = FilePool {
        subdirectories: 100,
        ..settings(10_000_000, 100_000)
    };
    let options = PlayOptions {
        is_endless: true,
        ..options(1)
    };
    let mut play = play(&settings, &options);
    assert_eq!(play_null_phase(&mut play), Some(100));
    assert!(play_null_phase(&mut play).unwrap() > 30_000_000);
    let memory = std::fs::read_to_string("/proc/self/status").unwrap();
    let most = memory.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let most_kib: u64 = most
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    println!("at most {} MiB", most_kib >> 10);
    assert!(most_kib < 1 << 20);
}
