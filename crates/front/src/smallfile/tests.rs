use crate::file_access::{FileAccess, VirtualFiles};
use plan::program::{Act, FileNames, PhaseEndAction, ProgramPhase};
use results::{CallTimes, RoundFigures, WorkerAtStonewall};

use super::done::records_of_first;
use super::program::program;
use super::*;
use crate::acts::rounds;
use crate::tests::{record, round};
use crate::{FrontOrigin, find};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_operation_becomes_a_valid_program() {
    for operation in [
        "create",
        "append",
        "overwrite",
        "truncate-overwrite",
        "read",
        "stat",
        "chmod",
        "rename",
        "delete",
        "delete-renamed",
        "symlink",
        "mkdir",
        "rmdir",
        "cleanup",
        "readdir",
        "ls-l",
    ] {
        let line = format!(
            "--operation {operation} --files 250 --file-size-distribution exponential --pause 5"
        );
        let front = find("smallfile").unwrap();
        let work = front.work(&CommandLine::of(&words(&line))).unwrap();
        let built = work.cells[0].built.as_ref().unwrap();
        assert_eq!(built.program.check(), Ok(()), "{operation}");
    }
}

#[test]
fn a_hash_can_select_the_directories() {
    let line = "--hash-into-dirs Y --files-per-dir 5 --dirs-per-dir 3 --prefix p --suffix s";
    let options = SmallfileOptions::read(&words(line)).unwrap();
    let program = program(&options, "vm");
    assert_eq!(program.check(), Ok(()));
    let FileNames::Hashed(names) = &program.filesets[0].names else {
        panic!("{:?}", program.filesets);
    };
    assert_eq!((names.first, names.each, names.fan), (1, 5, 3));
    assert_eq!(
        (names.before.as_str(), names.after.as_str()),
        ("p_vm_{worker:02}_", "_s")
    );
}

#[test]
fn unsupported_options_are_refused_by_name() {
    for (line, part) in [
        ("--operation swift-put", "`swift-put` is not supported"),
        (
            "--operation setxattr --xattr-count 999",
            "not a number from 0 to 254",
        ),
        ("--operation fly", "no operation `fly`"),
        ("--files", "needs a value"),
        ("--files x", "not a number"),
        ("--files 0", "at least 1"),
        (
            "--launch-by-daemon Y",
            "`--launch-by-daemon` is not supported",
        ),
        ("--hash-into-dirs Y --operation ls-l", "cannot be listed"),
        ("--stonewall maybe", "not Y or N"),
        ("--auto-pause foo", "not Y or N"),
        ("--host-count -5", "not a number from 1"),
        ("--xattr-size -1", "not a number"),
        ("--record-size 9 --file-size 8", "record size"),
        ("-x 5", "no option `-x`"),
    ] {
        let refused = SmallfileOptions::read(&words(line)).unwrap_err();
        assert!(refused.contains(part), "{line}: {refused}");
    }
    let options = SmallfileOptions::read(&words(
        "--files=5 --finish=n --verbose y --launch-by-daemon N",
    ))
    .unwrap();
    assert_eq!((options.files, options.is_finish_forced), (5, true));
}

#[test]
fn the_top_of_a_file_system_is_refused() {
    let work = |top: &str| {
        find("smallfile")
            .unwrap()
            .work(&CommandLine::of(&words(&format!("--top {top}"))))
    };
    for top in ["/", "/mnt", "/mnt/x/..", "/mnt/x/../..", "/mnt/target,/"] {
        let Err(ArgumentError::Arguments(message)) = work(top) else {
            panic!("{top}");
        };
        assert!(message.contains("fewer than 6 characters"), "{message}");
    }
    for top in ["/mnt/x", "target", "."] {
        assert!(work(top).is_ok(), "{top}");
    }
}

/// The options of `--yaml-input-file x.yaml` with this text, after other arguments.
fn with_yaml(line: &str, text: &str) -> Result<SmallfileOptions, String> {
    let read = |path: &str| match path {
        "x.yaml" => Ok(text.as_bytes().to_vec()),
        _ => Err("it does not exist".to_owned()),
    };
    let files = VirtualFiles {
        read: &read,
        ..VirtualFiles::EMPTY
    };
    let arguments = words(&format!("{line} --yaml-input-file x.yaml"));
    let line = CommandLine {
        files: FileAccess::scripted(files),
        ..CommandLine::of(&arguments)
    };
    let work = find("smallfile").unwrap().work(&line);
    match work {
        // The record has the parameters of the file, so that its output needs no file.
        Ok(work) => {
            let built = work.cells[0].built.as_ref().unwrap();
            SmallfileOptions::read(&built.origin.arguments)
        }
        Err(ArgumentError::Arguments(message)) => Err(message),
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn a_yaml_file_overrides_the_command_line() {
    let text = "---\n# A comment.\noperation: read\nfiles: 30 # each\nfsync: off\ntop: '/mnt/a'\n";
    let options = with_yaml("--files 5 --fsync Y --threads 3 --top /mnt/b", text).unwrap();
    assert_eq!(options.operation.name(), "read");
    assert_eq!((options.files, options.threads), (30, 3));
    assert!(!options.is_synced);
    assert_eq!(options.top, "/mnt/a");
    // Only both together have to fit.
    let options = with_yaml("--record-size 128", "file-size: 256\n").unwrap();
    assert_eq!((options.record_kib, options.file_kib), (128, 256));
}

#[test]
fn wrong_parameters_of_a_yaml_file_are_all_named_with_their_lines() {
    let text = "file: 3\nfiles: 5\n\nfiles: 6\nyaml-input-file: y\ntop: [a, b]\n";
    let refused = with_yaml("", text).unwrap_err();
    let wanted = [
        "x.yaml, line 1: there is no parameter `file`",
        "x.yaml, line 4: `files` is repeated",
        "x.yaml, line 5: `yaml-input-file` is not allowed",
        "x.yaml, line 6: `[a, b]` is not a plain or quoted value",
    ];
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines.len(), wanted.len(), "{refused}");
    for (line, wanted) in lines.into_iter().zip(wanted) {
        assert!(line.starts_with(wanted), "{line}");
    }
    let refused = with_yaml("", "files: -3\n").unwrap_err();
    assert!(refused.contains("-3"), "{refused}");
    let text = "operation: swift-get\nfoo: 1\nfiles: -3\n";
    let refused = with_yaml("", text).unwrap_err();
    let lines: Vec<&str> = refused.lines().collect();
    assert_eq!(lines.len(), 3, "{refused}");
    for (line, wanted) in lines.iter().zip([
        "x.yaml, line 1: the operation `swift-get` is not supported",
        "x.yaml, line 2: there is no parameter `foo`",
        "x.yaml, line 3: `--files -3` is not a number",
    ]) {
        assert!(line.starts_with(wanted), "{line}");
    }
}

#[test]
fn only_this_host_can_be_in_the_set() {
    let check = |hosts: &str| {
        let options = SmallfileOptions::read(&words(&format!("--host-set {hosts}"))).unwrap();
        options.check_hosts("vm")
    };
    assert_eq!(check("localhost"), Ok(()));
    assert_eq!(check("vm,127.0.0.1"), Ok(()));
    let refused = check("vm,other").unwrap_err();
    let wanted = "`--host-set` names `other`, but all threads run on this host";
    assert!(refused.starts_with(wanted), "{refused}");
}

fn text(line: &str, round: RoundFigures) -> String {
    let origin = FrontOrigin {
        name: "smallfile".to_owned(),
        arguments: words(line),
    };
    let operation = SmallfileOptions::read(&words(line)).unwrap().operation;
    crate::text(&record(&origin, &[(operation.name(), vec![round])])).unwrap()
}

/// The layout is that of a run of the original.
const WANTED: &[&str] = &[
    "changing --finish to true for op type create",
    "                                 version : 3.2",
    "                           hosts in test : None",
    "                        launch by daemon : False",
    "                   top test directory(s) : ['/tmp/smf']",
    "                               operation : create",
    "                            files/thread : 250",
    "                                 threads : 2",
    "           record size (KB, 0 = maximum) : 0",
    "                          file size (KB) : 16",
    "                  file size distribution : fixed",
    "                           files per dir : 100",
    "                            dirs per dir : 10",
    "              threads share directories? : N",
    "                         filename prefix : ",
    "                         filename suffix : ",
    "             hash file number into dir.? : N",
    "                     fsync after modify? : N",
    "                         incompressible? : N",
    "          pause between files (microsec) : 0",
    "                             auto-pause? : N",
    " delay after cleanup per file (microsec) : 0",
    "             minimum directories per sec : 50",
    "                             total hosts : 1",
    "                    finish all requests? : Y",
    "                              stonewall? : Y",
    "                 measure response times? : N",
    "                            verify read? : Y",
    "                                verbose? : N",
    "                          log to stderr? : N",
    "host = vm,thr = 00,elapsed = 0.0112,files = 98,records = 98,status = ok",
    "host = vm,thr = 01,elapsed = 0.011181354,files = 250,records = 250,status = ok",
    "total threads = 2",
    "total files = 348",
    "total IOPS = 31108",
    "total data =     0.005 GiB",
    " 69.60% of requested files processed, warning threshold is  70.00%",
    "elapsed time =     0.011",
    "files/sec = 31108.651734",
    "IOPS = 31108.651734",
    "MiB/sec = 486.072683",
    "WARNING: not enough total files processed before 1st thread finished, change test parameters",
];

/// As in a sample of the original: the second thread is done first.
#[test]
fn a_report_is_formatted_as_in_the_original() {
    let mut done = round(&[(250, 13_354_540), (250, 11_181_354)]);
    for (worker, wall) in done.workers.iter_mut().zip([Some(99), None]) {
        let close = CallTimes {
            count: 250,
            ..CallTimes::default()
        };
        worker.calls.insert("close".to_owned(), close);
        worker.calls.insert("write".to_owned(), close);
        let window = worker.window.as_mut().unwrap();
        window.written_bytes = 250 * 16_384;
        window.wall = wall.map(|rounds| WorkerAtStonewall {
            at_ns: 11_200_000,
            rounds,
            written_bytes: 98 * 16_384,
            ..WorkerAtStonewall::default()
        });
    }
    let page = text("--top /tmp/smf --files 250 --file-size 16", done);
    let lines: Vec<&str> = page.lines().collect();
    assert_eq!(lines, WANTED);
}

fn create(line: &str, threads: &[(u64, u64, Option<WorkerAtStonewall>)]) -> String {
    let windows: Vec<(u64, u64)> = threads.iter().map(|it| (it.0, 10_000_000)).collect();
    let mut done = round(&windows);
    for (worker, (files, writes, wall)) in done.workers.iter_mut().zip(threads) {
        for (name, count) in [("close", *files), ("write", *writes)] {
            let times = CallTimes {
                count,
                ..CallTimes::default()
            };
            worker.calls.insert(name.to_owned(), times);
        }
        worker.window.as_mut().unwrap().wall = *wall;
    }
    text(line, done)
}

#[test]
fn the_record_count_is_the_number_of_writes() {
    let page = create("--threads 1 --file-size 0 --files 500", &[(500, 0, None)]);
    assert!(page.contains("files = 500,records = 0,status"), "{page}");
    assert!(
        !page.contains("IOPS") && !page.contains("MiB/sec"),
        "{page}"
    );
    let line = "--threads 1 --files 500 --file-size-distribution exponential --record-size 16";
    let page = create(line, &[(500, 3165, None)]);
    assert!(page.contains("files = 500,records = 3165,status"), "{page}");
    // State when the others were done: 300 files were finished, and another one was begun.
    let wall = WorkerAtStonewall {
        at_ns: 9_000_000,
        rounds: 301,
        ..WorkerAtStonewall::default()
    };
    let page = create(line, &[(500, 3165, Some(wall))]);
    let options = SmallfileOptions::read(&words(line)).unwrap();
    let records = records_of_first(&options, 0, 300);
    assert!(records > 1000, "{records}");
    let wanted = format!("files = 300,records = {records},status");
    assert!(page.contains(&wanted), "{page}");
}

#[test]
fn records_of_files_of_random_sizes_are_those_that_runs_wrote() {
    let line = "--file-size 64 --record-size 4 --file-size-distribution exponential --files 300";
    let options = SmallfileOptions::read(&words(line)).unwrap();
    // The seed of the first worker and the number of writes of a run.
    let seed = 10_451_216_379_200_822_465;
    assert_eq!(records_of_first(&options, seed, 300), 5125);
}

#[test]
fn each_record_that_is_read_counts() {
    let line = "--top /tmp/smf --operation read --file-size 64 --record-size 4 --files 50";
    let program = program(&SmallfileOptions::read(&words(line)).unwrap(), "vm");
    // A label would replace the call of the same name.
    assert_eq!(program.labels, ["read whole file"]);
}

#[test]
fn files_finished_before_the_next_check_all_count() {
    let wall = |rounds| {
        Some(WorkerAtStonewall {
            at_ns: 5_000_000,
            rounds,
            ..WorkerAtStonewall::default()
        })
    };
    let page = create("--files 10", &[(10, 10, wall(3)), (10, 10, None)]);
    assert!(page.contains("total files = 20\n"), "{page}");
    assert!(page.contains("100.00% of requested files"), "{page}");
    let page = create("--files 250", &[(250, 250, wall(99)), (250, 250, None)]);
    assert!(page.contains("total files = 348"), "{page}");
    let page = create("--files 250", &[(250, 250, wall(200)), (250, 250, None)]);
    assert!(page.contains("total files = 500"), "{page}");
}

#[test]
fn threads_without_a_check_finish_all_of_their_files() {
    let ending = |line: &str| {
        let options = SmallfileOptions::read(&words(line)).unwrap();
        let program = program(&options, "vm");
        program.phases().last().unwrap().first_done
    };
    // Files of 64 KiB are checked every 99 files.
    let (finish, stop) = (Some(PhaseEndAction::Finish), Some(PhaseEndAction::Stop));
    assert_eq!(ending("--operation stat --files 98"), finish);
    assert_eq!(ending("--operation stat --files 99"), stop);
    assert_eq!(ending("--operation stat --files 99 --finish Y"), finish);
    assert_eq!(ending("--operation stat --files 5 --stonewall N"), None);
}

#[test]
fn options_are_parsed_as_by_argparse() {
    let options = SmallfileOptions::read(&words("--oper stat --thr 3 --top a,b --pre x")).unwrap();
    assert_eq!((options.operation.name(), options.threads), ("stat", 3));
    assert_eq!(options.prefix, "x");
    let front = find("smallfile").unwrap();
    let work = front.work(&CommandLine::of(&words("--top a,b"))).unwrap();
    assert_eq!(work.directories, ["a", "b"].map(std::path::PathBuf::from));
    let refused = SmallfileOptions::read(&words("--file 3")).unwrap_err();
    assert!(refused.contains("short for several options"), "{refused}");
}

#[test]
fn times_are_printed_as_in_python() {
    let mut done = round(&[(5, 95_000)]);
    let stat = CallTimes {
        count: 5,
        ..CallTimes::default()
    };
    done.workers[0].calls.insert("stat".to_owned(), stat);
    let page = text("--operation stat --threads 1 --files 5", done);
    assert!(
        page.contains("elapsed = 9.5e-05,files = 5,records = 0"),
        "{page}"
    );
    assert!(page.contains("WARNING: test must run longer than a millisecond\n"));
    assert!(!page.contains("IOPS") && !page.contains("changing"));
}

#[test]
fn directories_are_listed_once_before_their_files() {
    let files = |line: &str| {
        let options = SmallfileOptions::read(&words(line)).unwrap();
        options.first_files().collect::<Vec<_>>()
    };
    // The first file has the number 1, so the first directory has one file less.
    assert_eq!(files("--files 25 --files-per-dir 10"), [0, 9, 19]);
    assert_eq!(files("--files 3 --files-per-dir 1"), [0, 1, 2]);
    let line = "--operation ls-l --files 25 --files-per-dir 10";
    let program = program(&SmallfileOptions::read(&words(line)).unwrap(), "vm");
    let phases = program.phases();
    let [Act::Deal(deck), Act::Transaction(_, acts)] = &phases[0].groups[0].body[..] else {
        panic!("{phases:?}");
    };
    let listing = deck.cards.iter().map(|card| card.choice == 0);
    let listing = listing.enumerate().filter(|(_, lists)| *lists);
    let listing: Vec<usize> = listing.map(|(file, _)| file).collect();
    assert_eq!((listing, deck.cards.len()), (vec![0, 9, 19], 25));
    assert_eq!(acts.len(), 1);
    assert_eq!(phases[0].groups[0].quotas, rounds(25));
    let line = "--operation readdir --files 25 --files-per-dir 10";
    let program = super::program::program(&SmallfileOptions::read(&words(line)).unwrap(), "vm");
    assert_eq!(program.phases()[0].groups[0].quotas, rounds(3));
}

#[test]
fn files_of_listed_directories_count() {
    let page = |directories: u64| {
        let mut done = round(&[(directories, 9_000_000)]);
        let listed = CallTimes {
            count: directories,
            ..CallTimes::default()
        };
        done.workers[0].calls.insert("readdir".to_owned(), listed);
        let line = "--operation readdir --threads 1 --files 25 --files-per-dir 10";
        text(line, done)
    };
    for (directories, files) in [(3, 25), (2, 19), (1, 9), (0, 0)] {
        let page = page(directories);
        assert!(page.contains(&format!("total files = {files}\n")), "{page}");
    }
}

#[test]
fn attributes_are_set_before_they_are_read() {
    let line = "--operation getxattr --xattr-count 2 --xattr-size 64 --files 5";
    let options = SmallfileOptions::read(&words(line)).unwrap();
    let program = program(&options, "vm");
    assert_eq!(program.attributes, ["user.smallfile-0", "user.smallfile-1"]);
    let calls = |phase: &ProgramPhase| {
        let calls = phase.groups[0].calls().into_iter();
        let calls = calls.map(|call| (call.operation.name(), call.attribute));
        calls.collect::<Vec<_>>()
    };
    let phases = program.phases();
    let around = |name| [("open", 0), (name, 0), (name, 1), ("close", 0)].to_vec();
    assert_eq!(calls(phases[0]), around("setxattr"));
    assert_eq!(calls(phases[1]), around("getxattr"));
}
