//! Recorded runs against ours, and the arithmetic of threads.

use std::path::{Path, PathBuf};

use description::classics::fs_mark::FsMarkPlan;
use results::{CallTimes, FreeSpace, RoundFigures, RunEvent, WorkerTimes};

use super::figures::{CallTimeSummary, Iteration, ThreadFigures};
use super::of_table::has_rate;
use super::rows::{Banner, Rows, no_space_message, row, usage_percent};
use super::*;

/// The recorded runs; `FS_MARK_RECORDINGS` names another place with such files.
fn recordings() -> Vec<(PathBuf, String)> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/samples/misc");
    let folder = std::env::var_os("FS_MARK_RECORDINGS").map_or(samples, PathBuf::from);
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_recording = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("fs_mark_run"))
    };
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.filter(is_recording).map(read).collect()
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(String::from).collect()
}

fn plan(options: &str) -> FsMarkPlan {
    let invocation = parse(&words(options)).unwrap();
    let directory_count = invocation.directories.len() as u32;
    invocation.settings.resolve(directory_count).unwrap()
}

/// An iteration that prints these fields of a row, the first three left out.
fn iteration(fields: &[&str]) -> Iteration {
    let number = |index: usize| fields[index].parse::<u64>().unwrap();
    let mut thread = ThreadFigures {
        files_per_second: fields[3].parse().unwrap(),
        overhead_us: number(4),
        ..ThreadFigures::default()
    };
    if fields.len() > 5 {
        let spread = |call: usize| CallTimeSummary {
            min_us: number(5 + 3 * call),
            average_us: number(6 + 3 * call),
            max_us: number(7 + 3 * call),
        };
        thread.create = spread(0);
        thread.write = spread(1);
        thread.fsync = spread(2);
        thread.sync = spread(3);
        thread.close = spread(4);
        thread.unlink = spread(5);
    }
    Iteration::new(&[thread])
}

fn reprint_recording(recorded: &str) -> String {
    let is_verbose = recorded.contains("CREAT (Min");
    let mut lines = recorded.lines().skip(1);
    let command = lines
        .next()
        .unwrap()
        .trim_start_matches('#')
        .split_whitespace();
    let command: Vec<String> = command.map(str::to_owned).collect();
    let (_, started_at) = lines.next().unwrap().split_once("starting at ").unwrap();
    let invocation = parse(&words(&command[1..].join(" "))).unwrap();
    assert_eq!(invocation.is_verbose, is_verbose);
    let directory_count = invocation.directories.len() as u32;
    let plan = invocation.settings.resolve(directory_count).unwrap();
    let banner = Banner {
        command: &command,
        started_at,
        plan: &plan,
        is_verbose,
    };
    let mut text = banner.text();
    for line in lines.skip_while(|line| !line.starts_with("FSUse%")).skip(1) {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (usage, count) = (fields[0].parse().unwrap(), fields[1].parse().unwrap());
        text += &row(&plan, &iteration(&fields), usage, count, is_verbose);
    }
    text
}

#[test]
fn recorded_runs_are_reproduced_byte_for_byte() {
    let recordings = recordings();
    if recordings.is_empty() {
        println!("skipped: the recorded runs of fs_mark are not here");
    }
    for (path, recorded) in recordings {
        assert_eq!(reprint_recording(&recorded), recorded, "{}", path.display());
    }
}

/// The text of these arguments.
fn text(arguments: &str) -> Box<dyn crate::ClassicText> {
    let arguments = arguments.split_whitespace().map(str::to_owned).collect();
    (FRONT.text)(&crate::FrontOrigin {
        name: NAME.to_owned(),
        arguments,
    })
}

#[test]
fn the_log_has_one_character_more() {
    let plan = plan("-d a");
    let command = ["fs_mark", "-d", "a"].map(str::to_owned);
    for is_verbose in [false, true] {
        let banner = Banner {
            command: &command,
            started_at: "Sat Nov 21 01:26:06 2026",
            plan: &plan,
            is_verbose,
        };
        let output = banner.text();
        let log = text("-d a").logged(&output);
        assert!(output.starts_with("\n#  fs_mark  -d  a \n#\tVersion 3.3, 1 thread(s)"));
        assert_eq!(log.len(), output.len() + 1);
        let wanted = if is_verbose {
            "calls.\n##\tAll system"
        } else {
            "calls.\n#\nFSUse%"
        };
        assert!(log.contains(wanted), "{log}");
    }
}

#[test]
fn a_run_that_does_not_fit_says_so_outside_of_its_log_and_exits_with_1() {
    let mut text = text("-d a -d b -n 7 -l my.log");
    assert_eq!((text.log_file(), text.exit_code()), (Some("my.log"), None));
    let message = text.event(&RunEvent::Full {
        cell: 0,
        targets: vec!["a".to_owned()],
    });
    assert_eq!(message, no_space_message("a", 7));
    assert_eq!(
        (text.logged(&message), text.exit_code()),
        (String::new(), Some(1))
    );
}

#[test]
fn threads_take_the_directories_in_turn_and_put_their_files_there() {
    let arguments = [
        "-d", "a", "-d", "b/c", "-t", "4", "-D", "3", "x", "-s", "1k",
    ];
    let arguments = arguments.map(str::to_owned);
    let work = FRONT.work(&CommandLine::of(&arguments)).unwrap();
    assert_eq!(work.directories, ["a", "b/c"].map(PathBuf::from));
    assert_eq!(work.warnings.len(), 2, "{:?}", work.warnings);
    let names = NamesInPlace::Marks {
        name_length: 40,
        random_length: 24,
        subdirectory_count: 3,
    };
    let wanted = FilePlacement::InPlace {
        names,
        makes_directories: true,
    };
    assert_eq!(work.placement, wanted);
    let program = &work.cells[0].built.as_ref().unwrap().program;
    assert_eq!(program.workers_max(), 4);
    let twice = ["-d", "a", "-d", "b", "-d", "a", "-d", "b"].map(str::to_owned);
    let work = FRONT.work(&CommandLine::of(&twice)).unwrap();
    assert_eq!(work.directories, ["a", "b"].map(PathBuf::from));
    assert_eq!(
        work.cells[0].built.as_ref().unwrap().program.workers_max(),
        4
    );
    let uneven = ["-d", "a", "-d", "a", "-d", "b"].map(str::to_owned);
    assert!(FRONT.work(&CommandLine::of(&uneven)).is_err());
    let nobody = FRONT.work(&CommandLine::of(&[]));
    assert!(matches!(nobody, Err(ArgumentError::Refused(_))));
}

#[test]
fn every_sync_method_and_spread_has_a_description() {
    let banner_text = |options: &str| {
        let plan = plan(options);
        let banner = Banner {
            command: &[],
            started_at: "",
            plan: &plan,
            is_verbose: false,
        };
        banner.text()
    };
    for (number, start) in [
        "NO SYNC:",
        "INBAND FSYNC:",
        "SYSTEM SYNC/SINGLE FSYNC:",
        "POST REVERSE:",
        "SYNC POST REVERSE:",
        "POST:",
        "SYNC POST:",
    ]
    .into_iter()
    .enumerate()
    {
        let text = banner_text(&format!("-d a -S {number}"));
        assert!(
            text.contains(&format!("#\tSync method: {start} ")),
            "{text}"
        );
    }
    assert!(banner_text("-d a -D 7").contains(
        "#\tDirectories:  Time based hash between directories across 7 subdirectories with 180 \
         seconds per subdirectory.\n"
    ));
    assert!(banner_text("-d a -p 5").contains("names: 5 bytes long, (-19 initial bytes"));
}

fn times() -> WorkerTimes {
    let call = |min_ns, sum_ns, max_ns| CallTimes {
        count: 1,
        sum_ns,
        min_ns,
        max_ns,
    };
    let calls = [
        ("create", call(4_900, 30_000, 11_999)),
        ("write", call(1_000, 60_000, 20_000)),
        ("fsync", call(50_000, 450_000, 450_000)),
        ("sync", call(100_500, 100_500, 100_500)),
        ("close", call(0, 2_000, 1_000)),
        ("unlink", call(5_000, 15_000, 5_000)),
    ];
    WorkerTimes {
        time_ns: 1_000_000,
        calls: calls.map(|(kind, times)| (kind.to_owned(), times)).into(),
        window: None,
    }
}

/// Three files of two writes each.
const THREE: &str = "-d a -n 3 -s 20000";

/// What a thread reports of the times.
fn thread(options: &str, times: &WorkerTimes) -> ThreadFigures {
    let plan = plan(options);
    ThreadFigures::of(&plan, times, None)
}

#[test]
fn thread_averages_are_per_file_and_write_in_whole_microseconds() {
    let figures = thread(THREE, &times());
    let spread = |min_us, average_us, max_us| CallTimeSummary {
        min_us,
        average_us,
        max_us,
    };
    assert_eq!(figures.create, spread(4, 10, 11));
    assert_eq!(figures.write, spread(1, 10, 20));
    assert_eq!(figures.fsync, spread(50, 150, 450));
    assert_eq!(figures.sync, spread(0, 100, 0));
    assert_eq!(figures.close, spread(0, 0, 1));
    assert_eq!(figures.unlink, spread(5, 5, 5));
    assert_eq!(figures.files_per_second, 3000.0);
    assert_eq!(figures.overhead_us, 357);
    let first = thread(&format!("{THREE} -S 2"), &times());
    assert_eq!(first.fsync, spread(0, 150, 0));
    let with_sync = ThreadFigures::of(&plan(THREE), &times(), Some(7_900));
    assert_eq!((with_sync.sync.average_us, with_sync.overhead_us), (7, 450));
}

#[test]
fn totals_add_rounded_thread_rates_and_average_the_averages() {
    let one = ThreadFigures {
        files_per_second: 10.1,
        ..thread(THREE, &times())
    };
    let other = ThreadFigures {
        create: CallTimeSummary {
            min_us: 2,
            average_us: 21,
            max_us: 9,
        },
        close: CallTimeSummary {
            min_us: 3,
            average_us: 3,
            max_us: 3,
        },
        ..one
    };
    let iteration = Iteration::new(&[one, other]);
    assert_eq!(iteration.file_count, 6);
    assert_eq!(format!("{:.1}", iteration.files_per_second), "20.2");
    assert_eq!(iteration.overhead_us, 714);
    let [create, _, _, _, close, _] = iteration.spreads();
    assert_eq!(
        (create.min_us, create.average_us, create.max_us),
        (2, 15, 11)
    );
    assert_eq!(close.min_us, 3, "0 counts as not known");
    assert_eq!(
        Iteration::new(&[]).spreads(),
        [CallTimeSummary::default(); 6]
    );
}

#[test]
fn a_thread_without_files_or_time_does_not_divide_by_zero() {
    let none = FsMarkPlan {
        file_count: 0,
        ..plan(THREE)
    };
    let nothing = WorkerTimes::default();
    let figures = ThreadFigures::of(&none, &nothing, None);
    assert_eq!(figures, ThreadFigures::default());
    assert!(thread(THREE, &nothing).files_per_second.is_finite());
}

#[test]
fn usage_is_a_percentage_of_the_usable_space() {
    assert_eq!(usage_percent(0, 0), 0);
    assert_eq!(usage_percent(100, 100), 0);
    assert_eq!(usage_percent(1000, 239), 76);
    assert_eq!(usage_percent(100, 0), 100);
    assert_eq!(usage_percent(10, 20), 0);
}

#[test]
fn a_full_file_system_is_reported_by_name() {
    let text = "Insufficient free space in a to create 1000 new files, exiting\n";
    assert_eq!(no_space_message("a", 1000), text);
}

#[test]
fn rows_accumulate_the_file_count_and_show_the_usage() {
    let mut rows = Rows::new(plan(THREE), false);
    let round = RoundFigures {
        space: Some(FreeSpace {
            free_bytes: 239 << 20,
            total_bytes: 1000 << 20,
        }),
        workers: vec![times(); 2],
        ..RoundFigures::default()
    };
    let fields = |row: String| -> Vec<String> {
        let words = row.split_whitespace();
        words.map(str::to_owned).collect()
    };
    let first = ["76", "6", "20000", "6000.0", "714"];
    assert_eq!(fields(rows.next(&round)), first);
    let unknown = RoundFigures {
        space: None,
        ..round
    };
    let second = ["0", "12", "20000", "6000.0", "714"];
    assert_eq!(fields(rows.next(&unknown)), second);
}

#[test]
fn an_incomplete_iteration_has_no_rate() {
    let plan = plan("-d a -t 2 -n 30 -L 2");
    let round = |file_count: u64| RoundFigures {
        file_count,
        ..RoundFigures::default()
    };
    assert_eq!(
        [59, 60].map(|count| has_rate(&plan, &round(count))),
        [false, true]
    );
}
