use plan::program::{
    Act, Call, CallPosition, FileNames, FileOperation, FilePath, FilesetSharing, Group, Law,
    MovedBytes, PhaseEndAction, Program, ProgramPhase,
};
use results::{RoundFigures, RunRecord, Status, WorkerTimes, WorkerWindow};

use super::score::{Score, ScoreUnit, score};
use super::*;
use crate::tests::{record, round};
use crate::{FileAccess, FrontOrigin, VirtualFiles, find};

const GIB: u64 = 1 << 30;
const SECOND_NS: u64 = 1_000_000_000;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str) -> Result<Io500Options, String> {
    Io500Options::read(&words(line))
}

fn program(line: &str) -> Program {
    super::program::program(&read(line).unwrap())
}

fn phase<'a>(program: &'a Program, name: &str) -> &'a ProgramPhase {
    let mut phases = program.phases().into_iter();
    phases.rfind(|it| it.name == name).unwrap()
}

fn group<'a>(program: &'a Program, name: &str) -> &'a Group {
    &phase(program, name).groups[0]
}

fn fixed(bytes: u64) -> MovedBytes {
    MovedBytes::Law(Law::fixed(bytes))
}

fn calls(group: &Group) -> Vec<FileOperation> {
    group.calls().iter().map(|it| it.operation).collect()
}

/// The figures of the list of June 2024 that was first there.
#[test]
fn the_score_matches_a_published_run() {
    let bandwidths = [56.762400, 5.720233, 101.205338, 41.834659];
    let rates = [
        264.172069,
        98.762359,
        7679.507504,
        398.178476,
        399.883893,
        239.061113,
        258.517104,
        120.498449,
    ];
    let of = |unit, values: &[f64]| -> Vec<(ScoreUnit, f64)> {
        values.iter().map(|value| (unit, *value)).collect()
    };
    let mut figures = of(ScoreUnit::Bandwidth, &bandwidths);
    figures.extend(of(ScoreUnit::Rate, &rates));
    let Score {
        bandwidth,
        rate,
        total,
    } = score(&figures);
    let near = |one: f64, other: f64| (one - other).abs() < 2e-6;
    assert!(near(bandwidth, 34.241559), "{bandwidth}");
    assert!(near(rate, 352.350901), "{rate}");
    assert!(near(total, 109.840995), "{total}");
    // What came to nothing is left out.
    figures.push((ScoreUnit::Rate, 0.0));
    assert!(near(score(&figures).rate, 352.350901));
    assert_eq!(score(&[]).total, 0.0);
}

#[test]
fn every_kind_of_run_becomes_a_program_that_several_processes_can_run() {
    for line in ["", "--small", "--ranks 4 --files 5", "-d /mnt/x --ranks 3"] {
        let arguments = words(line);
        let front = find("io500").unwrap();
        let work = front.work(&CommandLine::of(&arguments)).unwrap();
        let program = &work.cells[0].built.as_ref().unwrap().program;
        assert_eq!(program.check(), Ok(()), "{line}");
        assert_eq!(program.shared_flaw(false), None, "{line}");
    }
}

#[test]
fn phases_come_in_the_order_of_the_original() {
    let program = program("--ranks 4");
    let names: Vec<&str> = program.phases().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "ior-easy-write",
            "mdtest-easy-write",
            "ior-hard-write",
            "mdtest-hard-write",
            "find",
            "find in common",
            "ior-easy-read",
            "mdtest-easy-stat",
            "ior-hard-read",
            "mdtest-hard-stat",
            "mdtest-easy-delete",
            "mdtest-hard-read",
            "mdtest-hard-delete",
            "ior-rnd4K-easy-read",
        ]
    );
    let timed = program.phases().into_iter();
    let timed = timed.filter(|it| it.time_ns == Some(300 * SECOND_NS));
    let timed: Vec<&ProgramPhase> = timed.collect();
    assert_eq!(timed.len(), 5);
    assert!(timed.iter().all(|it| it.time_up == PhaseEndAction::Level));
    let shifts = program.groups().map(|it| it.shift).collect::<Vec<_>>();
    assert_eq!(shifts, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 3, 2, 3, 2]);
}

#[test]
fn files_have_the_mode_of_ior_and_mdtest() {
    let open_modes = program("--ranks 4").ways;
    assert!(
        open_modes.iter().all(|it| it.permissions == 0o664),
        "{open_modes:?}"
    );
}

/// offset(i, r) = (i * N + r) * 47008, as `Blocks` is followed by each worker.
#[test]
fn ranks_interleave_their_pieces_of_the_shared_file() {
    let program = program("--ranks 4");
    for name in ["ior-hard-write", "ior-hard-read"] {
        let group = group(&program, name);
        let calls = group.calls().into_iter();
        let moving: Vec<&Call> = calls.filter(|it| it.operation.moves()).collect();
        let [moving] = moving[..] else {
            panic!("{name}");
        };
        assert_eq!(moving.bytes, fixed(47_008));
        let CallPosition::Along(FilePath::Blocks {
            block_bytes,
            stride_bytes,
            each_bytes,
            block_count: 0,
        }) = moving.place
        else {
            panic!("{name}");
        };
        assert_eq!(
            (block_bytes, stride_bytes, each_bytes),
            (47_008, 4 * 47_008, 47_008)
        );
    }
    use FileOperation::{Close, Create, Fsync, Write};
    for name in ["ior-hard-write", "ior-easy-write"] {
        let group = group(&program, name);
        assert_eq!(calls(group), [Create, Write, Fsync, Close], "{name}");
    }
}

#[test]
fn files_are_named_as_in_the_original() {
    let program = program("--ranks 4 --easy-files 7 --hard-files 9");
    let filesets = program.filesets.iter().map(|set| {
        let (before, digits, after) = set.names.parts();
        assert!(matches!(set.names, FileNames::Number { .. }) && after.is_empty());
        (set.path.as_str(), before, digits, set.count, set.copies)
    });
    let filesets: Vec<_> = filesets.collect();
    let own = "mdtest-easy/test-dir.0-0/mdtest_tree.{worker}.0";
    let common = "mdtest-hard/test-dir.0-0/mdtest_tree.0";
    let name = "file.mdtest.{worker}.";
    assert_eq!(
        filesets,
        [
            ("ior-easy", "ior_file_easy.", 8, 4, FilesetSharing::One),
            ("ior-hard", "file", 0, 1, FilesetSharing::One),
            (own, name, 0, 7, FilesetSharing::PerWorker),
            (common, name, 0, 9, FilesetSharing::PerWorker),
        ]
    );
    use FileOperation::{Close, Create, List, Open, Read, Stat, Sync, Unlink, Write};
    for (phase, wanted) in [
        ("mdtest-easy-write", &[Create, Close, Sync][..]),
        ("mdtest-hard-write", &[Create, Write, Close]),
        ("find", &[List, Stat]),
        ("find in common", &[List, List, List]),
        ("mdtest-easy-stat", &[Stat]),
        ("mdtest-hard-stat", &[Stat]),
        ("mdtest-hard-read", &[Open, Read, Close]),
        ("mdtest-easy-delete", &[Unlink]),
        ("mdtest-hard-delete", &[Unlink]),
    ] {
        assert_eq!(calls(group(&program, phase)), wanted, "{phase}");
    }
    let is_3901 = |act: &Act| match act {
        Act::Call(call) => call.bytes == fixed(3901),
        _ => false,
    };
    assert!(group(&program, "mdtest-hard-write").any_act(&is_3901));
    assert!(group(&program, "mdtest-hard-read").any_act(&is_3901));
}

#[test]
fn unsupported_options_are_refused_by_name() {
    for (line, part) in [
        ("-h", ""),
        ("--quick", "no option `--quick`"),
        ("--ranks 0", "`--ranks` is 0"),
        ("--time 0", "`--time` is 0"),
        ("--time x", "`--time x` is not a number"),
        ("--files", "`--files` needs a value"),
        ("--easy-block 3m", "must be a multiple"),
        ("one.ini two.ini", "`two.ini` would be a second file"),
    ] {
        let refused = read(line).unwrap_err();
        assert!(refused.contains(part), "{line}: {refused}");
    }
}

fn configured(text: &str, arguments: &str) -> Result<FrontWork, ArgumentError> {
    let arguments = words(arguments);
    let script = VirtualFiles {
        read: &|name| match name {
            "config.ini" => Ok(text.as_bytes().to_vec()),
            _ => Err("it is not there".to_owned()),
        },
        ..VirtualFiles::EMPTY
    };
    let line = CommandLine {
        files: FileAccess::scripted(script),
        ..CommandLine::of(&arguments)
    };
    find("io500").unwrap().work(&line)
}

#[test]
fn the_command_line_overrides_the_settings_file_of_the_original() {
    let text = "[global]\ndatadir = /mnt/x\nresultdir = ./results # ours are stored\n\n[debug]\n\
                stonewall-time = 30\n[ior-easy]\ntransferSize = 1m\nblockSize = 102400m\n\
                API = POSIX\n[mdtest-easy]\nn = 500\nrun = TRUE\n[mdtest-hard]\nn =\n\
                [ior-hard]\nsegmentCount = 400\n";
    let work = configured(text, "--ranks 3 config.ini --time 40").unwrap();
    assert_eq!(work.directories, [std::path::PathBuf::from("/mnt/x")]);
    let options = Io500Options::read(&work.text_input).unwrap();
    let sizes = (options.easy_transfer_bytes, options.easy_block_bytes);
    assert_eq!(sizes, (1 << 20, Some(100 * GIB)));
    assert_eq!((options.stonewall_seconds, options.ranks), (40, 3));
    assert_eq!((options.easy_files, options.hard_files), (500, 1_000_000));
    assert_eq!(options.hard_segments, Some(400));
}

#[test]
fn unsupported_settings_are_refused_with_their_line() {
    for (text, wanted, part) in [
        (
            "[find]\nnproc = 4\n",
            2,
            "`nproc = 4` of `[find]` is not supported",
        ),
        ("[ior-easy]\n\nAPI = MPIIO\n", 3, "POSIX is the only"),
        ("[find]\nrun = FALSE\n", 2, "all phases run"),
        ("[ior-easy]\nuniqueDir = TRUE\n", 2, "in one directory"),
        ("[global]\ndrop-caches = 7\n", 2, "neither TRUE nor FALSE"),
        (
            "[global]\nspeed = 7\n",
            2,
            "`[global]` of IO500 has no key `speed`",
        ),
        ("[ior]\napi = POSIX\n", 2, "IO500 has no section `[ior]`"),
        ("[global]\nhello\n", 2, "`hello` is not a setting"),
    ] {
        let error = configured(text, "config.ini").unwrap_err();
        let ArgumentError::File(diagnostic) = error else {
            panic!("{error:?}");
        };
        assert_eq!(diagnostic.line, Some(wanted));
        assert!(diagnostic.message.contains(part), "{diagnostic:?}");
    }
    let error = configured("", "other.ini").unwrap_err();
    assert!(matches!(error, ArgumentError::Arguments(_)), "{error:?}");
}

/// All lines of the file for the student contest ask for what is done.
const STUDENT_CONFIG: &str = "[global]\ndatadir = ./data\ntimestamp-datadir = TRUE\n\
    resultdir = ./results\ntimestamp-resultdir = TRUE\napi = POSIX\ndrop-caches = FALSE\n\
    drop-caches-cmd = sudo -n bash -c \"echo 3 > /proc/sys/vm/drop_caches\"\n\
    io-buffers-on-gpu = FALSE\nverbosity = 1\nscc = TRUE\ndataPacketType = timestamp\n\
    [debug]\nstonewall-time = 30\npause-dir =\n[ior-easy]\nAPI = \ntransferSize = 2m\n\
    blockSize = 9920000m\nfilePerProc = TRUE\nuniqueDir = FALSE\nrun = TRUE\nverbosity = \n\
    [mdtest-easy]\nn = 1000000\nrun = TRUE\n[timestamp]\n[find-easy]\nnproc =\nrun = TRUE\n\
    pfind-queue-length = 10000\n[ior-hard]\nsegmentCount = 10000000\ncollective =\nrun = TRUE\n\
    [ior-hard-write]\ncollective = FALSE\n[mdtest-hard]\nn = 1000000\nfiles-per-dir =\n[find]\n\
    external-script =\nexternal-mpi-args =\npfind-queue-length = 10000\npfind-steal-next = FALSE\n\
    pfind-parallelize-single-dir-access-using-hashing = FALSE\n[find-hard]\nrun = FALSE\n\
    [mdworkbench-bench]\nrun = FALSE\n[ior-rnd4K-easy-read]\nAPI = \nrun = TRUE\n\
    [global]\nscc = TRUE\n";

#[test]
fn settings_that_match_the_supported_behavior_are_accepted() {
    let work = configured(STUDENT_CONFIG, "config.ini").unwrap();
    let options = Io500Options::read(&work.text_input).unwrap();
    assert_eq!(
        (options.stonewall_seconds, options.write_seconds()),
        (30, 30)
    );
    assert_eq!(options.easy_block_bytes, Some(9_920_000 << 20));
    assert!(!options.drops_caches);
    // Also the list that is printed, which has each key.
    let list = words("--list");
    let printed = find("io500").unwrap().work(&CommandLine::of(&list));
    let Err(ArgumentError::PrintOnly(list)) = printed else {
        panic!("{printed:?}");
    };
    assert!(list.contains("[find]\nexternal-script =\n"), "{list}");
    assert!(configured(&list, "config.ini").is_ok());
}

#[test]
fn all_refused_settings_are_listed_together() {
    let text = "[find]\nnproc = 4\nrun = FALSE\n[global]\nspeed = 7\nhello\n";
    let error = configured(text, "config.ini").unwrap_err();
    let ArgumentError::File(diagnostic) = error else {
        panic!("{error:?}");
    };
    let lines: Vec<&str> = diagnostic.message.split("; ").collect();
    assert_eq!(lines.len(), 4, "{diagnostic:?}");
    for (line, part) in lines[1..].iter().zip(["line 3: ", "line 5: ", "line 6: "]) {
        assert!(line.starts_with(part), "{diagnostic:?}");
    }
}

#[test]
fn options_are_accepted_in_the_syntax_of_the_original() {
    for line in [
        "--timestamp=a",
        "--timestamp a",
        "-v --verbose=3",
        "--mode=standard",
    ] {
        assert!(read(line).is_ok(), "{line}");
    }
    let refused = read("--mode=extended --cleanup --config-hash").unwrap_err();
    assert_eq!(refused.lines().count(), 3, "{refused}");
    let dry = words("--dry-run --small");
    let printed = find("io500").unwrap().work(&CommandLine::of(&dry));
    let Err(ArgumentError::PrintOnly(text)) = printed else {
        panic!("{printed:?}");
    };
    assert!(text.contains("ior-easy-write"), "{text}");
}

#[test]
fn the_page_cache_is_dropped_before_each_phase_on_request() {
    let work = configured("[global]\ndrop-caches = TRUE\n", "config.ini").unwrap();
    let options = Io500Options::read(&work.text_input).unwrap();
    let program = super::program::program(&options);
    let drops = |it: &&&ProgramPhase| {
        it.before
            .contains(&plan::program::PhasePreparation::DropCaches)
    };
    assert_eq!(program.phases().iter().filter(drops).count(), 13);
}

/// Two ranks that move as much, the second of which ends last.
fn moved(bytes: u64, seconds: u64) -> Vec<RoundFigures> {
    let rank = |end_ns| WorkerTimes {
        window: Some(WorkerWindow {
            end_ns,
            written_bytes: bytes / 2,
            ..WorkerWindow::default()
        }),
        ..WorkerTimes::default()
    };
    vec![RoundFigures {
        workers: vec![rank(SECOND_NS), rank(seconds * SECOND_NS)],
        ..RoundFigures::default()
    }]
}

/// Two ranks with so many files together, in seconds.
fn done(files: u64, seconds: u64) -> Vec<RoundFigures> {
    let ns = seconds * SECOND_NS;
    vec![round(&[(files / 2, ns / 2), (files / 2, ns)])]
}

fn text(line: &str, change: impl FnOnce(&mut Vec<(&str, Vec<RoundFigures>)>)) -> String {
    crate::text(&recorded(line, change)).unwrap()
}

fn recorded(line: &str, change: impl FnOnce(&mut Vec<(&str, Vec<RoundFigures>)>)) -> RunRecord {
    let mut phases = vec![
        ("ior-easy-write", moved(600 * GIB, 300)),
        ("mdtest-easy-write", done(620_000, 310)),
        ("ior-hard-write", moved(150 * GIB, 300)),
        ("mdtest-hard-write", done(379_996, 400)),
        ("find", done(379_996, 2)),
        ("find in common", done(1, 2)),
        ("ior-easy-read", moved(600 * GIB, 100)),
        ("mdtest-easy-stat", done(620_000, 62)),
        ("ior-hard-read", moved(150 * GIB, 50)),
        ("mdtest-hard-stat", done(379_996, 40)),
        ("mdtest-easy-delete", done(620_000, 62)),
        ("mdtest-hard-read", done(379_996, 40)),
        ("mdtest-hard-delete", done(379_996, 40)),
        ("ior-rnd4K-easy-read", moved(30 * GIB, 300)),
    ];
    change(&mut phases);
    let origin = FrontOrigin {
        name: "io500".to_owned(),
        arguments: words(line),
    };
    record(&origin, &phases)
}

#[test]
fn an_interrupted_search_has_no_rate() {
    for phase_count in [5, 6] {
        let mut record = recorded("--ranks 2", |phases| phases.truncate(phase_count));
        record.cells.last_mut().unwrap().status = Status::Interrupted;
        let page = crate::text(&record).unwrap();
        let line = page.lines().find(|line| line.contains(" find ")).unwrap();
        assert!(line.contains(" find        0.000000 kIOPS"), "{line}");
        assert!(line.ends_with("[INVALID]"), "{line}");
    }
}

#[test]
fn repeated_data_is_listed_as_a_difference() {
    let differences = find("io500")
        .unwrap()
        .work(&CommandLine::of(&[]))
        .unwrap()
        .differences;
    let data = differences
        .iter()
        .find(|it| it.subject == "the data")
        .unwrap();
    assert!(
        data.note.starts_with("one buffer of random bytes"),
        "{}",
        data.note
    );
}

#[test]
fn lines_have_the_format_that_other_programs_parse() {
    let page = text("--ranks 2", |_| {});
    let lines: Vec<&str> = page.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "[RESULT]       ior-easy-write        2.000000 GiB/s : time 300.000 seconds",
            "[RESULT]    mdtest-easy-write        2.000000 kIOPS : time 310.000 seconds",
            "[      ]            timestamp        0.000000 kIOPS : time 0.000 seconds",
            "[RESULT]       ior-hard-write        0.500000 GiB/s : time 300.000 seconds",
            "[RESULT]    mdtest-hard-write        0.949990 kIOPS : time 400.000 seconds",
            "[RESULT]                 find      249.999750 kIOPS : time 4.000 seconds",
            "[RESULT]        ior-easy-read        6.000000 GiB/s : time 100.000 seconds",
            "[RESULT]     mdtest-easy-stat       10.000000 kIOPS : time 62.000 seconds",
            "[RESULT]        ior-hard-read        3.000000 GiB/s : time 50.000 seconds",
            "[RESULT]     mdtest-hard-stat        9.499900 kIOPS : time 40.000 seconds",
            "[RESULT]   mdtest-easy-delete       10.000000 kIOPS : time 62.000 seconds",
            "[RESULT]     mdtest-hard-read        9.499900 kIOPS : time 40.000 seconds",
            "[RESULT]   mdtest-hard-delete        9.499900 kIOPS : time 40.000 seconds",
            "[      ]  ior-rnd4K-easy-read        0.100000 GiB/s : time 300.000 seconds",
            "[SCORE ] Bandwidth 2.059767 GiB/s : IOPS 8.937802 kiops : TOTAL 4.290663",
        ]
    );
    assert!(page.starts_with("IO500 version io500-isc26 (standard)\nmeasured by pgmeter 0, "));
}

#[test]
fn short_or_empty_phases_make_the_score_invalid() {
    let invalid = |page: &str| -> Vec<String> {
        let lines = page.lines().filter(|line| line.ends_with(" [INVALID]"));
        let name = |line: &str| line[8..].split_whitespace().next().unwrap().to_owned();
        lines.map(name).collect()
    };
    let score = "Bandwidth";
    let page = text("--ranks 2", |_| {});
    assert!(invalid(&page).is_empty());
    let page = text("--ranks 2 --time 299", |_| {});
    assert_eq!(invalid(&page), [score]);
    let page = text("--ranks 2 --time 299 --scc", |_| {});
    assert!(invalid(&page).is_empty());
    let page = text("--ranks 2 --pause-dir x", |_| {});
    assert_eq!(invalid(&page), [score]);
    let page = text("--ranks 2", |phases| phases[2].1 = moved(149 * GIB, 298));
    assert_eq!(invalid(&page), ["ior-hard-write", score]);
    let page = text("--ranks 2", |phases| phases.truncate(13));
    assert_eq!(invalid(&page), ["ior-rnd4K-easy-read", score]);
    let page = text("", |phases| phases.clear());
    assert_eq!(invalid(&page).len(), 14);
    assert!(page.contains("Bandwidth 0.000000 GiB/s : IOPS 0.000000 kiops : TOTAL 0.000000"));
}

/// The text and the result files of a run of the recorded phases.
fn outputs(line: &str) -> (String, Vec<(String, String)>) {
    let record = recorded(line, |_| {});
    let origin = FrontOrigin {
        name: "io500".to_owned(),
        arguments: words(line),
    };
    let mut text = (find("io500").unwrap().text)(&origin);
    assert!(text.makes_directories());
    (text.end(&record), text.documents(&record))
}

#[test]
fn result_files_are_in_a_directory_of_the_run() {
    let path = |line: &str| {
        let (page, files) = outputs(line);
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        let [summary, results, rest @ ..] = &names[..] else {
            assert!(names.is_empty() && !page.contains("result files"), "{page}");
            return String::new();
        };
        let path = summary.strip_suffix("/result_summary.txt").unwrap();
        assert_eq!(results.strip_suffix("/result.txt"), Some(path));
        let settings = rest.iter().map(|it| it.strip_suffix("/config.ini"));
        let expected: &[_] = if line.contains("common") {
            &[]
        } else {
            &[Some(path)]
        };
        assert!(settings.eq(expected.iter().copied()), "{names:?}");
        let end = format!("\nThe result files are stored in the directory: {path}\n");
        assert!(page.ends_with(&end), "{page}");
        assert_eq!(page.strip_suffix(&end).unwrap(), files[0].1);
        path.to_owned()
    };
    assert_eq!(path("--ranks 2"), "");
    assert_eq!(path("config.ini"), "./results/2026.11.21-01.36.54");
    assert_eq!(path("--result-dir /r --timestamp now"), "/r/now");
    assert_eq!(path("x.ini --result-dir /r --common-results"), "/r");
    let words = configured(
        "[global]\nresultdir = /r\ntimestamp-resultdir = no\n",
        "config.ini",
    );
    assert_eq!(path(&words.unwrap().text_input.join(" ")), "/r");
    for name in ["a/b", "..", ""] {
        let line = ["--timestamp".to_owned(), name.to_owned()];
        let refused = Io500Options::read(&line).unwrap_err();
        assert!(refused.contains("the name of one directory"), "{refused}");
    }
}

/// Another run with the settings of the first one does the same.
#[test]
fn the_settings_of_a_run_are_read_back() {
    let line = "--ranks 2 -d /data --result-dir /r --time 7 --small --hard-files 9 --scc";
    let (_, files) = outputs(line);
    let (_, settings) = &files[2];
    assert!(
        settings.contains("[ior-hard]\nAPI = POSIX\nsegmentCount = 500\n"),
        "{settings}"
    );
    let mut again = config::words("config.ini", settings.as_bytes()).unwrap();
    again.extend(words("--ranks 2"));
    let again = Io500Options::read(&again).unwrap();
    assert_eq!(again, Io500Options::read(&words(line)).unwrap());
    let (_, files) = outputs("--ranks 2 --result-dir /r");
    let open = config::words("config.ini", files[2].1.as_bytes()).unwrap();
    assert!(!open.contains(&"--easy-block".to_owned()), "{open:?}");
}

/// The check sums are those of the original's own functions for these results.
#[test]
fn a_result_file_has_all_results_and_verifies() {
    let results = |line: &str| outputs(line).1.remove(1).1;
    let valid = results("--ranks 2 --result-dir r");
    for part in [
        "[run]\nprocs           = 2\nversion         = io500-isc26\n",
        "\n[ior-easy-write]\nscore           = 2.000000\n",
        "\n[timestamp]\n\n[ior-hard-write]\n",
        "\n[SCORE]\nMD              = 8.937802\nBW              = 2.059767\n\
         SCORE           = 4.290663\nhash            = 9598ADEA\n",
    ] {
        assert!(valid.contains(part), "{valid}");
    }
    let verified = |text: &str| verify::verify("result.txt", text.as_bytes());
    let report = verified(&valid).unwrap();
    assert!(
        report.ends_with("score-hash      = 9598ADEA\n\n[OK]\n"),
        "{report}"
    );
    let invalid = results("--ranks 2 --result-dir r --time 5");
    let end = "SCORE           = 4.290663 [INVALID]\nhash            = 9591DFED\n";
    assert!(invalid.contains(end), "{invalid}");
    for (text, part) in [
        (invalid.as_str(), "the run breaks the rules"),
        (
            &valid.replace("= 6.0", "= 7.0"),
            "`BW` is 2.059767, but the phases yield 2.14",
        ),
        (
            &valid.replace("9598ADEA", "9598ADEB"),
            "`hash` is 9598ADEB, but the results yield 9598",
        ),
        (
            &valid.replace("SCORE  ", "SCORES "),
            "`[SCORE]` has no `SCORE`",
        ),
        (
            &valid.replace("= 6.0", "= six"),
            "`score = six00000` is not a number",
        ),
        ("[SCORE]\nMD = 1\n", "not a result file of IO500"),
    ] {
        let flaw = verified(text).unwrap_err();
        assert!(flaw.message.contains(part), "{flaw:?}");
    }
}
