use plan::program::{Act, CallPosition, FileOperation, FilePath, Law, PhaseEndAction};
use results::{RoundFigures, WorkerAtStonewall, WorkerTimes, WorkerWindow};

use super::*;
use crate::file_access::VirtualFiles;
use crate::tests::record;
use crate::{FrontOrigin, find};

const MIB: u64 = 1 << 20;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str) -> Result<IorOptions, String> {
    IorOptions::parse(&words(line))?.complete()
}

fn program_of(line: &str) -> plan::program::Program {
    super::program::program(&read(line).unwrap(), FoundFiles::default())
}

#[test]
fn every_kind_of_run_becomes_a_valid_program() {
    for line in [
        "",
        "-w",
        "-r -F -N 3 -Q 2 -C",
        "-b 16m -t 1m -s 16 -N 4 -F -C -e -g -i 3 -d 1",
        "-z -F -b 1m -t 4k -Y -B -u",
        "-w -D 30 -O stoneWallingWearOut=1,fsync=1 -s 10000 -t 47008 -b 47008 -N 2",
        "-a POSIX -v -k -o /mnt/x/file",
        "-w -r -k -i 3 -F -u -N 2",
        "-w -r -W -R -t 64k",
        "-w -r -W -R -t 64k -F -N 2 -C",
        "-z -N 3 -b 300k -t 100k",
        "-z -z -N 3 -b 300k -t 100k",
        "-Z -F -N 3",
        "-Z -Z -F -N 3",
        "-w -C -k -e -i1 -m -N 2 -t 100k -b 200k",
        "-r -k -e -i1 -m -N 2 -t 100k -b 200k -F",
        "-O summaryFormat=CSV -O summaryFile=out.csv",
        "-w -r -Z -N 3 -X -13",
        "-N 4 -w -r -F -N 2",
        "-N 2 -w -r -N 1",
        "-O allocateBufferOnGPU=0,GPUid=-1,dualMount=0,minTimeDuration=0",
        "-w -k -m -i 2 -F -N 2 -d 0.1",
        "-w -k -m -i 2 -N 2",
        "-a DUMMY -D 1 -i 2 -k -B -w -R --dummy.delay-create=5 --dummy.delay-xfer 5",
        "-a dummy -r -i 2",
        "-r -D 1 -N 2",
        "-r -z-k",
        "-w -k -G 27 -N 2",
        "-r -R -G 27 -F -N 2",
        "-W -G 27",
        "-w -r -O interIODelay=10,fsyncPerWrite=1",
        "-W -a DUMMY",
        "-D 5 -w -r -W -R -N 2",
        "-D 5 -w -r -F -N 2 -C -g",
    ] {
        let arguments = words(line);
        let front = find("ior").unwrap();
        let work = front.work(&CommandLine::of(&arguments)).unwrap();
        let built = work.cells[0].built.as_ref().unwrap();
        assert_eq!(built.program.check(), Ok(()), "{line}");
        assert_eq!(work.cells.len(), 1);
    }
}

#[test]
fn under_a_time_limit_one_transfer_of_each_rank_must_fit() {
    let space = |line: &str| {
        let line = format!("-w -t 4k {line}");
        let (mut program, ranks) = (program_of(&line), read(&line).unwrap().ranks);
        for phase in program.phases_mut() {
            for group in &mut phase.groups {
                group.workers.get_or_insert(ranks);
            }
        }
        program.space_needed()
    };
    for line in [
        "-b 100g",
        "-b 50g -s 2",
        "-b 60g -s 2 -N 2",
        "-b 100g -z",
        "-b 100g -z -z",
        "-b 100g -F",
        "-b 100g -F -z",
        "-b 100g -F -z -z",
    ] {
        let timed = space(&format!("{line} -D 1"));
        assert!(timed.firm_bytes <= 8 << 10, "{line}: {timed:?}");
        assert!(timed.max_bytes >= 100 << 30, "{line}: {timed:?}");
        let untimed = space(line);
        assert!(untimed.firm_bytes >= 100 << 30, "{line}: {untimed:?}");
    }
}

/// The original writes over a file that an earlier command kept, and removes it.
#[test]
fn a_write_replaces_kept_files_of_the_same_name() {
    let files = FileAccess::scripted(VirtualFiles {
        size_bytes: &|name| (name == "/x/f").then_some(MIB),
        ..VirtualFiles::EMPTY
    });
    let role = |line: &str| {
        let options = read(line).unwrap();
        let program = super::program::program(&options, found(&options, files));
        assert_eq!(program.check(), Ok(()), "{line}");
        program.lasting.map(|it| (it.role, it.names))
    };
    let names = vec!["f".to_owned()];
    assert_eq!(
        role("-w -o /x/f"),
        Some((PersistentRole::Replaces, names.clone()))
    );
    assert_eq!(role("-w -k -o /x/f"), Some((PersistentRole::Leaves, names)));
    for line in [
        "-w -o /x/g",
        "-w -F -o /x/f",
        "-w -F -u -o /x/f",
        "-w -a DUMMY -o /x/f",
    ] {
        assert_eq!(role(line), None, "{line}");
    }
}

#[test]
fn more_processes_than_ranks_have_no_work() {
    let options = read("-N 4 -w -r -N 2").unwrap();
    assert_eq!((options.ranks, options.processes), (2, 4));
    let program = program_of("-N 4 -w -r -N 2");
    let workers: Vec<_> = program.groups().map(|it| it.workers).collect();
    assert_eq!(workers, [None, Some(2), Some(2), Some(1)]);
}

#[test]
fn option_values_are_joined_separate_or_directives() {
    let options = read("-wFe -t=4k -b1m -O segmentCount=8,useo_direct=1 -o /mnt/x/f").unwrap();
    assert!(options.writes && !options.reads && options.has_file_per_rank);
    assert!(options.is_synced && options.is_direct);
    assert_eq!((options.transfer_bytes, options.block_bytes), (4096, MIB));
    assert_eq!(options.bytes_of_rank(), 8 * MIB);
    assert_eq!(options.file_name(), "f");
    assert_eq!(options.directory(), std::path::Path::new("/mnt/x"));
    let options = read("-C -Q 5 -N 4 -vv -k").unwrap();
    assert_eq!(options.shift(), 1);
    assert_eq!(options.without_effect, ["-v", "-v"]);
    assert!(options.keeps_files);
}

#[test]
fn unsupported_options_are_refused_by_name() {
    for (line, part) in [
        ("-h", ""),
        (
            "-b 5 -t 4",
            "block size must be a multiple of transfer size",
        ),
        ("-t 0", "`-t` is 0"),
        ("-N x", "`-N x` is not a number"),
        ("-b", "`-b` needs a value"),
        ("-y", "no option `-y`"),
        ("--quick", "no option `--quick`"),
        ("file", "no option `file`"),
        ("-a MPIIO", "MPIIO"),
        ("-P", "`-P` is for MPI-IO, which is not supported"),
        ("-z -C", "leave `-C` and `-Z` out"),
        ("-F -C -Z", "leave one out"),
        ("-d -1", "`-d -1` is not a number of seconds"),
        ("-a MMAP", "the interface `MMAP` is not POSIX or DUMMY"),
        ("-O minTimeDuration=1 -D 2", "use only one of them"),
        ("-D 5 -z", "use `-w` without `-r`"),
        ("-w -r -D 5 -zz -F", "use `-w` without `-r`"),
        ("-R", "give both commands the same number, such as `-G 27`"),
        ("-W -r", "wrote with `-G` can be compared"),
        ("-G x", "`-G x` is not a number"),
        ("-O x", "is not `KEY=VALUE`"),
        ("-O x=1", "no directive `x=1`"),
        (
            "-O summaryFormat=XML",
            "`summaryFormat=XML` is not `default`, `JSON` or `CSV`",
        ),
        ("-o a@b", "is not one file"),
        ("-o a@b/c", "is not one file"),
        ("-o /mnt/", "is not one file"),
        ("-b 99999999t", "`-b 99999999t`"),
        ("-b 4000000t -N 9", "63 bits"),
    ] {
        let refused = read(line).unwrap_err();
        assert!(refused.contains(part), "{line}: {refused}");
    }
}

#[test]
fn all_refused_options_are_listed_together() {
    let refused = read("-P -S --quick 5 -O summaryFormat=XML,memoryPerTask=3 -t x").unwrap_err();
    let lines: Vec<&str> = refused.lines().collect();
    let parts = [
        "`-P`",
        "`-S`",
        "`--quick`",
        "`summaryFormat=XML`",
        "`memoryPerTask`",
        "`-t x`",
    ];
    assert_eq!(lines.len(), parts.len(), "{refused}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.contains(part), "{refused}");
    }
    let refused = read("-b 5 -t 4 -F -C -Z").unwrap_err();
    assert_eq!(refused.lines().count(), 2, "{refused}");
}

#[test]
fn check_phases_are_not_measured_but_read_phases_are() {
    let options = read("-w -r -W -R -t 64k").unwrap();
    let program = super::program::program(&options, FoundFiles::default());
    let names: Vec<(&str, bool)> = program
        .phases()
        .iter()
        .map(|it| (it.name.as_str(), it.is_hidden))
        .collect();
    let wanted = [
        ("write", false),
        ("write check", true),
        ("read", false),
        ("remove", false),
    ];
    assert_eq!(names, wanted);
    assert!(options.checks());
    // It asks for the work that it checks.
    let options = read("-R -w").unwrap();
    assert!(options.reads && options.writes);
}

#[test]
fn a_signature_makes_kept_data_known_to_later_commands() {
    let work = |line: &str| {
        let arguments = words(line);
        let work = find("ior").unwrap().work(&CommandLine::of(&arguments));
        let cell = work.unwrap().cells.remove(0);
        (cell.built.unwrap().is_checked, cell.seed)
    };
    let known = Some(Seed(27));
    for line in [
        "-w -k -G 27",
        "-r -R -G 27",
        "-W -O setTimeStampSignature=27",
    ] {
        assert_eq!(work(line), (true, known), "{line}");
    }
    // Nobody can compare the data of files that do not stay.
    assert_eq!(work("-w -G 27"), (false, known));
    assert_eq!(work("-w -k"), (false, None));
    assert_eq!(work("-w -k -a DUMMY -G 27"), (false, known));
}

#[test]
fn ranks_pause_after_each_transfer() {
    let program = program_of("-w -r -Y -O interIODelay=10");
    for (phase, operations) in [("write", 2), ("read", 1)] {
        let phases = program.phases();
        let phase = phases.iter().find(|it| it.name == phase).unwrap();
        let Act::Times(_, transfers) = &phase.groups[0].body[0] else {
            panic!("{phase:?}");
        };
        let Act::Transaction(_, acts) = &transfers[0] else {
            panic!("{transfers:?}");
        };
        assert_eq!(acts.len(), operations + 1);
        assert_eq!(acts.last(), Some(&Act::Think(Law::fixed(10_000))));
    }
}

#[test]
fn reads_after_a_stonewall_stop_at_the_end_of_the_data() {
    let place = |line: &str| {
        let program = program_of(line);
        let phases = program.phases();
        let phase = phases.iter().find(|it| it.name == "read").unwrap();
        let mut calls = phase.groups[0].calls().into_iter();
        let read = calls.rfind(|it| it.operation == FileOperation::Read);
        (read.unwrap().place.clone(), phase.time_ns)
    };
    let own = FilePath::Blocks {
        block_bytes: MIB,
        stride_bytes: MIB,
        each_bytes: 0,
        block_count: 0,
    };
    let second = Some(1_000_000_000);
    let cut = place("-w -r -F -D 1 -N 2");
    assert_eq!(cut, (CallPosition::Along(own), second));
    assert_eq!(place("-w -r -F -N 2"), (CallPosition::Here, None));
    assert_eq!(place("-r -F -D 1 -N 2"), (CallPosition::Here, second));
}

#[test]
fn a_minimum_time_repeats_whole_passes_from_the_beginning() {
    for (line, stride_bytes, each_bytes) in [
        ("-w -r -N 2 -b 1m -s 3 -t 256k", 2 * MIB, MIB),
        ("-w -r -F -N 2 -b 1m -s 3 -t 256k", MIB, 0),
    ] {
        let program = program_of(&format!("{line} -O minTimeDuration=2"));
        for name in ["write", "read"] {
            let phases = program.phases();
            let phase = phases.iter().find(|it| it.name == name).unwrap();
            let group = &phase.groups[0];
            let [Act::Times(count, _)] = &group.body[..] else {
                panic!("{name}: {:?}", group.body);
            };
            assert_eq!((count, group.quotas.len()), (&Law::fixed(12), 0));
            assert_eq!(phase.time_ns, Some(2_000_000_000));
            assert_eq!(phase.time_up, PhaseEndAction::Level);
            let mut places = group.calls().into_iter().map(|it| it.place.clone());
            let blocks = CallPosition::Along(FilePath::Blocks {
                block_bytes: MIB,
                stride_bytes,
                each_bytes,
                block_count: 3,
            });
            assert!(places.any(|it| it == blocks), "{line}: {name}");
        }
    }
    // A check after the write reads once.
    let program = program_of("-w -W -O minTimeDuration=2");
    let phases = program.phases();
    let check = phases.iter().find(|it| it.name == "write check").unwrap();
    assert_eq!((check.time_ns, check.groups[0].quotas.len()), (None, 1));
}

/// A rank's window, in milliseconds.
fn rank(stamps: [u64; 4], bytes: u64, wall: Option<(u64, u64)>) -> WorkerTimes {
    let [begin_ns, body_ns, body_end_ns, end_ns] = stamps.map(|ms| ms * 1_000_000);
    WorkerTimes {
        window: Some(WorkerWindow {
            begin_ns,
            body_ns,
            body_end_ns,
            end_ns,
            written_bytes: bytes,
            wall: wall.map(|(ms, written_bytes)| WorkerAtStonewall {
                at_ns: ms * 1_000_000,
                written_bytes,
                ..WorkerAtStonewall::default()
            }),
            ..WorkerWindow::default()
        }),
        ..WorkerTimes::default()
    }
}

fn text(line: &str, workers: Vec<WorkerTimes>) -> String {
    let origin = FrontOrigin {
        name: "ior".to_owned(),
        arguments: words(line),
    };
    let round = RoundFigures {
        workers,
        ..RoundFigures::default()
    };
    crate::text(&record(&origin, &[("write", vec![round])])).unwrap()
}

fn line<'a>(text: &'a str, start: &str, number: usize) -> &'a str {
    let mut lines = text.lines().filter(|line| line.starts_with(start));
    lines.nth(number).unwrap()
}

#[test]
fn rows_are_formatted_as_in_the_original() {
    // 8 MiB in 2 s: opened from 0 to 10 ms, moved until 1.9 s, closed from 1.8 s.
    let ranks = vec![
        rank([0, 10, 1800, 1850], 4 * MIB, None),
        rank([0, 5, 1900, 2000], 4 * MIB, None),
    ];
    let page = text("-w -F -N 2 -b 2m -t 1m -s 2", ranks);
    assert_eq!(
        line(&page, "write ", 0),
        "write     4.00       4.22       0.895000    2048.00    1024.00    0.010000   1.90       \
         0.200000   2.00       0   "
    );
    assert_eq!(
        line(&page, "write ", 1),
        "write           4.00       4.00       4.00       0.00       4.00       4.00       \
         4.00       0.00    2.00000         NA            NA     0      2   2    1   1     \
         0        1         0    0      2  2097152  1048576       8.0 POSIX      0"
    );
    let head = line(&page, "aggregate", 0);
    assert_eq!(head, "aggregate filesize  : 8 MiB");
    assert!(page.contains("\nFS                  : 23.5 GiB   Used FS: 4.3%"));
    assert!(page.ends_with("Finished            : Sat Nov 21 01:36:55 2026\n"));
}

#[test]
fn data_moved_before_the_stonewall_is_reported() {
    let ranks = vec![
        rank([0, 0, 1500, 1500], 4 * MIB, Some((1000, 3 * MIB))),
        rank([0, 0, 1200, 1200], 4 * MIB, Some((1001, 4 * MIB))),
    ];
    let page = text("-w -D 1 -O stonewallingwearout=1 -s 100 -N 2", ranks);
    let row = line(&page, "write ", 1);
    assert!(
        row.contains("    1.50000       1.00          7.00     0 "),
        "{row}"
    );
    assert!(page.contains("stoneWallingWearOut : 1\n"));
}

#[test]
fn files_of_a_repetition_end_in_its_number() {
    let names = |line: &str| program_of(line).lasting.unwrap().names;
    assert_eq!(names("-w -k -m"), ["testFile.0"]);
    assert_eq!(names("-w -k -m -i 2"), ["testFile.0", "testFile.1"]);
    let own = ["f.00000000.0", "f.00000001.0"];
    assert_eq!(names("-r -m -F -N 2 -o /x/f"), own);
}

#[test]
fn random_reads_of_a_shared_file_are_divided_among_the_ranks() {
    let read_body = |line: &str| {
        let program = program_of(line);
        let phases = program.phases();
        let phase = phases.iter().find(|it| it.name == "read").unwrap();
        format!("{:?}", phase.groups[0].body)
    };
    assert!(read_body("-z -N 2").contains("Dealt { step_bytes: 262144 }"));
    assert!(read_body("-z -N 2 -F").contains("Shuffled { step_bytes: 262144 }"));
    assert!(read_body("-zz -N 2").contains("Random { distribution: Uniform"));
}

/// The text and the files of a run of two ranks.
fn outputs(line: &str) -> (String, Vec<(String, String)>) {
    let origin = FrontOrigin {
        name: "ior".to_owned(),
        arguments: words(line),
    };
    let round = RoundFigures {
        workers: vec![
            rank([0, 10, 1800, 1850], 4 * MIB, None),
            rank([0, 5, 1900, 2000], 4 * MIB, None),
        ],
        ..RoundFigures::default()
    };
    let record = record(&origin, &[("write", vec![round])]);
    let front = find("ior").unwrap();
    let mut text = (front.text)(&origin);
    (text.end(&record), text.documents(&record))
}

#[test]
fn times_of_each_rank_go_to_a_file() {
    let (page, files) =
        outputs("-w -F -N 2 -b 4m -t 1m -O saveRankPerformanceDetailsCSV=ranks.csv");
    assert!(!page.is_empty());
    let rows = "write,0,1.8500000000e+00,1.7900000000e+00,2.2671913514e+06,2.3431865922e+06\n\
                write,1,2.0000000000e+00,1.8950000000e+00,2.0971520000e+06,2.2133530343e+06\n";
    assert_eq!(files, [("ranks.csv".to_owned(), rows.to_owned())]);
}

#[test]
fn the_number_of_transfers_can_be_limited() {
    let program = program_of("-w -r -b 1m -t 64k -O stoneWallingWearOutIterations=5");
    for phase in program.phases().iter().take(2) {
        let Act::Times(count, _) = &phase.groups[0].body[0] else {
            panic!("{phase:?}");
        };
        assert_eq!(count, &Law::fixed(5));
    }
}

#[test]
fn results_are_json_or_csv_on_demand() {
    const RUN: &str = "-w -F -N 2 -b 2m -t 1m -s 2 -O summaryFormat=";
    let (csv, files) = outputs(&format!("{RUN}CSV"));
    assert_eq!(
        csv,
        "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),total(s),\
         numTasks,iter\n\
         write,4.0000,4.2216,0.8950,2048.0000,1024.0000,0.0100,1.8950,0.2000,2.0000,2,0\n"
    );
    assert!(files.is_empty());
    let (json, _) = outputs(&format!("{RUN}JSON"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let result = &json["tests"][0]["Results"][0];
    assert_eq!(result["access"], "write");
    assert_eq!(
        (&result["bwMiB"], &result["totalTime"]),
        (&4.0.into(), &2.0.into())
    );
    assert_eq!(json["tests"][0]["Options"]["tasks"], 2);
    assert_eq!(json["tests"][0]["Parameters"]["filePerProc"], 1);
    assert_eq!(json["summary"][0]["bwMaxMIB"], 4.0);
    assert_eq!(json["summary"][0]["operation"], "write");
    let (text, files) = outputs(&format!("{RUN}json -O summaryFile=out.json"));
    assert_eq!(text, "");
    assert_eq!(files[0].0, "out.json");
    assert!(files[0].1.contains("\"Began\""));
}

/// The work of arguments, with one file that they may name.
fn with_file(line: &str, name: &str, text: &str) -> Result<FrontWork, String> {
    let read = |path: &str| match path == name {
        true => Ok(text.as_bytes().to_vec()),
        false => Err("it does not exist".to_owned()),
    };
    let size_bytes = |path: &str| (path == name).then_some(text.len() as u64);
    let script = VirtualFiles {
        read: &read,
        size_bytes: &size_bytes,
        ..VirtualFiles::EMPTY
    };
    let arguments = words(line);
    let line = CommandLine {
        files: FileAccess::scripted(script),
        ..CommandLine::of(&arguments)
    };
    let work = find("ior").unwrap().work(&line);
    work.map_err(|error| format!("{error:?}"))
}

const SCRIPT: &str = "A comment.
 ior start
api = posix, blockSize=2m
\twriteFile=1   # always
filePerProc=1
# useSharedFilePointer=1
useSharedFilePointer=0
preallocate=0
RUN
run
--dummy.delay-create=1000
api=dummy
 IOR STOP
blockSize=x
";

#[test]
fn each_test_of_a_script_inherits_the_values_of_the_previous_one() {
    let work = with_file("-f s -t 1m -N 2 -o /x/f", "s", SCRIPT).unwrap();
    let cells = work.cells.iter();
    let cells = cells.map(|it| (it.name.as_deref().unwrap(), it.engine));
    let null = Some(EngineKind::Null);
    assert_eq!(
        cells.collect::<Vec<_>>(),
        [("ior", None), ("ior-2", None), ("ior-3", null)]
    );
    // The record contains the lines, because the file may change.
    let IorTests { tests, arguments } = IorTests::read(&work.text_input).unwrap();
    assert_eq!(arguments, words("-f s -t 1m -N 2 -o /x/f"));
    assert_eq!(tests[0], tests[1]);
    for test in &tests {
        assert!(test.writes && test.has_file_per_rank && !test.reads);
        assert_eq!((test.block_bytes, test.transfer_bytes), (2 * MIB, MIB));
        assert!(test.without_effect.is_empty());
    }
    assert_eq!(tests[2].dummy_create_us, 1000);
}

#[test]
fn mistakes_in_a_script_are_reported() {
    let refused = |text: &str| with_file("-f s", "s", text).unwrap_err();
    assert!(refused("RUN\n").contains("has no line `IOR START`"));
    let unknown = refused("IOR START\n# speed=2\nspeed=1\nuseSharedFilePointer=1\n");
    for line in [
        "s, line 3: there is no directive `speed=1`",
        "s, line 4: `useSharedFilePointer` is for MPI-IO",
    ] {
        assert!(unknown.contains(line), "{unknown}");
    }
    // The values of a test are judged where it ends.
    for text in [
        "IOR START\nRUN\n\ntransferSize=3\n",
        "IOR START\n\ntransferSize=3\nRUN\ntransferSize=1k\n",
        "\n\nIOR START\ntransferSize=3\nIOR STOP\nRUN\n",
    ] {
        let uneven = refused(text);
        assert!(uneven.contains("s, line 4: block size must be"), "{uneven}");
        assert!(!uneven.contains("line 5"), "{uneven}");
    }
    let two = refused("IOR START\nRUN\ntestFile=/x/f\n");
    assert!(two.contains("in one directory"), "{two}");
    let missing = with_file("-f t", "s", "").unwrap_err();
    assert!(missing.contains("cannot read `-f t`"), "{missing}");
}

#[test]
fn each_test_of_a_script_has_its_results() {
    let words = ["-w", "-b", "2m", "-t", "1m", "IOR START", "RUN", "refNum=7"];
    let parsed = IorTests::read(&words.map(str::to_owned)).unwrap();
    let origin = FrontOrigin {
        name: "ior".to_owned(),
        arguments: Vec::new(),
    };
    let round = |ms: u64| RoundFigures {
        workers: vec![rank([0, 0, ms, ms], 2 * MIB, None)],
        ..RoundFigures::default()
    };
    let mut record = record(
        &origin,
        &[("write", vec![round(1000)]), ("write", vec![round(2000)])],
    );
    record.cells[1].workload = "ior-2".to_owned();
    let page = super::text::page(&parsed, &record);
    assert!(page.contains("Command line        : ior -w -b 2m -t 1m\n"));
    let rates = |number| line(&page, "write ", number).split_whitespace().nth(1);
    assert_eq!((rates(0), rates(1)), (Some("2.00"), Some("1.00")));
    assert!(page.contains("TestID              : 1\n"));
    assert!(line(&page, "write ", 3).ends_with("POSIX      7"), "{page}");
}

#[test]
fn random_offsets_that_may_repeat_stay_within_the_existing_file() {
    let bytes = |line: &str| {
        let work = with_file(line, "./f", &"x".repeat(4096)).unwrap();
        let program = &work.cells[0].built.as_ref().unwrap().program;
        program.lasting.as_ref().unwrap().file_bytes
    };
    assert_eq!(bytes("-r -zz -t 1k -b 4k -s 10 -o f"), Some(4096));
    assert_eq!(bytes("-r -z -t 1k -b 4k -s 10 -o f"), Some(40_960));
}

#[test]
fn a_status_file_has_the_transfers_of_a_rank() {
    const LINE: &str = "-w -k -t 1m -b 1m -s 9 -D 1 -N 2 -O stoneWallingWearOut=1 -O \
                        stoneWallingStatusFile=s";
    let (_, files) = outputs(LINE);
    assert_eq!(files, [("s".to_owned(), "4".to_owned())]);
    let limits = |text: &str| {
        let line = "-a DUMMY -r -t 1m -b 1m -s 9 -D 1 -O stoneWallingStatusFile=s";
        let work = with_file(line, "s", text).unwrap();
        let program = &work.cells[0].built.as_ref().unwrap().program;
        program.phases()[0].groups[0].quotas[0].count
    };
    assert_eq!((limits("4"), limits("40"), limits("?")), (4, 9, 9));
}

#[test]
fn ranks_read_the_data_of_a_rank_at_one_random_distance() {
    let shift = |line: &str| {
        let program = program_of(line);
        let phases = program.phases();
        let phase = phases.iter().find(|it| it.name == "read").unwrap();
        phase.groups[0].shift
    };
    for seed in -20..20 {
        let drawn = shift(&format!("-Z -N 3 -X {seed}"));
        assert!((1..3).contains(&drawn));
        assert_eq!(drawn, shift(&format!("-Z -Z -F -N 3 -X {seed}")));
    }
    assert_eq!((shift("-Z -N 1"), shift("-Z -F -N 3")), (0, 0));
}
