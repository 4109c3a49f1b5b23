//! The program instead of mdtest, smallfile, IOR and IO500: outputs, counts, stored runs and
//! leftover files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use end_to_end::{Finished, ScratchTarget, finish, names_in, need, run_on_terminal, traced};
use serde_json::Value;

/// As the program with that name, in a target in memory.
fn stand_in(bed: &ScratchTarget, name: &str, arguments: &[&str]) -> Finished {
    bed.run(&[&["as", name], arguments].concat())
}

/// The first figure of a row of mdtest's table.
fn rate(text: &str, row: &str) -> f64 {
    let line = text.lines().find(|line| line.trim_start().starts_with(row));
    let figures = line.unwrap().trim_start().strip_prefix(row).unwrap();
    figures.split_whitespace().next().unwrap().parse().unwrap()
}

/// As the sample of the original, on two ranks.
#[test]
fn mdtest_prints_its_summary_and_the_run_is_stored() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let arguments = ["-u", "-z", "2", "-b", "3", "-I", "20", "-w", "3901"];
    let more = ["-e", "3901", "--ranks", "2", "-i", "2", "-d", target];
    let output = stand_in(&bed, "mdtest", &[&arguments[..], &more].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("\n2 tasks, 520 files/directories\n"));
    assert_eq!(output.stderr, "");
    for row in [
        "Directory creation",
        "Directory stat",
        "Directory rename",
        "Directory removal",
        "File creation",
        "File stat",
        "File read",
        "File removal",
        "Tree creation",
        "Tree removal",
    ] {
        assert!(rate(&output.stdout, row) > 0.0, "{row}");
    }
    assert!(bed.left_in_target().is_empty());
    let again = bed.run(&["report", "last", "--format", "classic"]);
    assert_eq!(again.stdout, output.stdout);
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let warnings = record["warnings"].as_array().unwrap();
    let code = "differs-from-original";
    assert!(warnings.iter().any(|it| it["code"] == code));
    // For each rank and iteration: 260 items, and a tree of 13 directories.
    let counts = record["cells"].as_array().unwrap().iter().map(|cell| {
        let phase = cell["phase"].as_str().unwrap();
        let count = cell["total"]["count"].as_u64().unwrap();
        (
            phase.starts_with("tree"),
            count,
            cell["total"]["errors"].clone(),
        )
    });
    for (is_tree, count, errors) in counts {
        assert_eq!(count, if is_tree { 52 } else { 1040 });
        assert_eq!(errors, 0);
    }
}

#[test]
fn mdtest_lists_differences_and_refuses_unsupported_options() {
    let bed = ScratchTarget::in_memory().unwrap();
    let output = stand_in(&bed, "mdtest", &["--differences", "-n", "5", "-C"]);
    assert_eq!(output.code, 0);
    assert!(
        output
            .stdout
            .contains("ranks differs: they are threads of one process\n")
    );
    assert!(output.stdout.contains("moved to their names at the end"));
    assert!(
        output
            .stdout
            .contains("`-g` is refused: it sets layouts of Lustre\n")
    );
    let output = stand_in(&bed, "mdtest", &["-n", "5", "-g"]);
    output.assert_refused(1, &["`-g` sets layouts of Lustre, which is not supported"]);
    let output = stand_in(&bed, "smallfile", &["--operation", "swift-put"]);
    output.assert_refused(1, &["the operation `swift-put` is not supported"]);
    assert!(bed.left_in_target().is_empty());
}

/// These programs need arguments for a run, but not for the list.
#[test]
fn differences_of_all_runs_are_listed_without_arguments() {
    let bed = ScratchTarget::in_memory().unwrap();
    for (name, part) in [
        (
            "dbench",
            "latency differs: latency of a call, not the gap between two calls\n",
        ),
        (
            "dbench",
            "`-x` is refused: it sets and reads extended attributes of each file\n",
        ),
        (
            "filebench",
            "`aiowrite` differs: pgmeter waits for each write\n",
        ),
        ("filebench", "`system` is refused: "),
        ("smallfile", "`--host-set` with another host is refused: "),
        ("iozone", "`-H` is refused: it uses asynchronous I/O\n"),
    ] {
        let output = stand_in(&bed, name, &["--differences"]);
        assert_eq!(output.code, 0, "{name}: {}", output.stderr);
        assert!(output.stdout.contains(part), "{name}: {}", output.stdout);
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn smallfile_counts_files_and_writes_its_document() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let json = bed.path().join("results.json");
    for operation in [
        "create", "append", "read", "stat", "rename", "delete", "mkdir", "rmdir", "readdir", "ls-l",
    ] {
        let arguments = [
            "--no-db",
            "--operation",
            operation,
            "--files",
            "250",
            "--file-size",
            "16",
            "--stonewall",
            "N",
            "--output-json",
            json.to_str().unwrap(),
            "--top",
            target,
        ];
        let output = stand_in(&bed, "smallfile", &arguments);
        assert_eq!(output.code, 0, "{operation}: {}", output.stderr);
        let lines: Vec<&str> = output.stdout.lines().collect();
        assert!(lines.contains(&"total files = 500"), "{}", output.stdout);
        let threads = lines.iter().filter(|line| line.contains(",files = 250,"));
        assert_eq!(threads.count(), 2, "{operation}");
        let document: Value = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
        assert_eq!(document["params"]["operation"], operation);
        assert_eq!(document["results"]["files"], 500);
    }
    assert!(bed.left_in_target().is_empty());
}

/// As in scripts that write, drop caches and read: each command by itself.
#[test]
fn ior_keeps_a_file_for_the_next_command_and_reads_existing_files() {
    let bed = ScratchTarget::in_memory().unwrap();
    let name = |file: &str| bed.target().join(file).to_str().unwrap().to_owned();
    let ior = |line: &str, file: &str| {
        let path = name(file);
        let words = line.split_whitespace().chain(["-o", &path]);
        stand_in(&bed, "ior", &words.collect::<Vec<_>>())
    };
    let output = ior("-r", "missing");
    assert_eq!(output.code, 255, "{}", output.text());
    let expected = format!("error: cannot use `{}`: No such file", name("missing"));
    assert!(output.stderr.contains(&expected), "{}", output.stderr);
    assert!(bed.left_in_target().is_empty());
    for (more, files) in [
        ("-N 2 -i 2", &["f"][..]),
        ("-N 2 -F", &["f.00000000", "f.00000001"]),
        ("-N 2 -F -u", &["0/f.00000000", "1/f.00000001"]),
    ] {
        let output = ior(&format!("-w -k -b 256k {more}"), "f");
        assert_eq!(output.code, 0, "{}", output.text());
        let contents = || files.iter().map(|file| fs::read(name(file)).unwrap());
        let written: Vec<Vec<u8>> = contents().collect();
        let bytes: usize = written.iter().map(Vec::len).sum();
        assert_eq!(bytes, 512 << 10);
        for line in ["-r -k", "-r", "-r -C -i 2"] {
            let output = ior(&format!("{line} -b 256k {more}"), "f");
            assert_eq!(output.code, 0, "{}", output.text());
            assert!(output.stdout.contains("\nread "), "{}", output.stdout);
            assert!(!output.stdout.contains("\nwrite "), "{}", output.stdout);
        }
        // Nothing is read after the end, and files that pgmeter did not write are not replaced.
        fs::write(name(files[0]), &written[0]).unwrap();
        for line in ["-r -b 512k", "-w -k -b 256k"] {
            let output = ior(&format!("{line} {more}"), "f");
            assert_eq!(output.code, 255, "{}", output.text());
        }
        assert_eq!(contents().collect::<Vec<_>>(), written);
        for left in bed.left_in_target() {
            let entry = bed.target().join(left);
            let removed = match entry.is_dir() {
                true => fs::remove_dir_all(entry),
                false => fs::remove_file(entry),
            };
            removed.unwrap();
        }
    }
}

#[test]
fn ior_replaces_the_files_of_an_earlier_command() {
    let bed = ScratchTarget::in_memory().unwrap();
    let path = |file: &str| bed.target().join(file);
    let ior = |line: &str| {
        let words = line.split_whitespace();
        let file = path("f");
        let words = words.chain(["-b", "64k", "-t", "64k", "-o", file.to_str().unwrap()]);
        stand_in(&bed, "ior", &words.collect::<Vec<_>>())
    };
    const LINE: &str = "-w -k -N 2 -F -m -i 2";
    let names = [
        "f.00000000.0",
        "f.00000000.1",
        "f.00000001.0",
        "f.00000001.1",
    ];
    let inodes = || names.map(|it| fs::metadata(path(it)).unwrap().ino());
    let mut earlier = None;
    for _ in 0..2 {
        let output = ior(LINE);
        assert_eq!(output.code, 0, "{}", output.text());
        let now = inodes();
        assert_ne!(earlier.replace(now), Some(now));
    }
    fs::write(path(names[3]), "mine").unwrap();
    let output = ior(LINE);
    assert_eq!(output.code, 255, "{}", output.text());
    assert_eq!(
        Some(inodes()[..3].to_vec()),
        earlier.map(|it| it[..3].to_vec())
    );
    assert_eq!(fs::read(path(names[3])).unwrap(), b"mine");
}

#[test]
fn ior_runs_the_tests_of_a_script() {
    let bed = ScratchTarget::in_memory().unwrap();
    let script = bed.file(
        "tests.ior",
        "IOR START\nblockSize=64k\ntransferSize=32k\nkeepFile=1\nwriteFile=1\nRUN\n\
         writeFile=0\nreadFile=1\nRUN\napi=DUMMY\nrepetitions=3\nIOR STOP\n",
    );
    let file = bed.target().join("f");
    let words = ["-f", script.to_str().unwrap(), "-o", file.to_str().unwrap()];
    let output = stand_in(&bed, "ior", &words);
    assert_eq!(output.code, 0, "{}", output.text());
    // A row for each repetition, and one in the summary.
    let rows = |start: &str| {
        output
            .stdout
            .lines()
            .filter(|it| it.starts_with(start))
            .count()
    };
    assert_eq!(
        (rows("write "), rows("read "), rows("TestID ")),
        (2, 1 + 3 + 2, 3)
    );
    assert_eq!(fs::metadata(&file).unwrap().len(), 64 << 10);
    assert_eq!(bed.left_in_target(), ["f"]);
    // The stored run knows the script.
    fs::remove_file(&script).unwrap();
    let again = bed.run(&["report", "last", "--format", "classic"]);
    assert_eq!(again.stdout, output.stdout);
}

/// Calls without I/O need no file, and leave none.
#[test]
fn ior_and_mdtest_count_calls_without_io() {
    let bed = ScratchTarget::in_memory().unwrap();
    let (file, directory) = (bed.target().join("f"), bed.target().join("t"));
    let status = bed.path().join("wall");
    let status = status.to_str().unwrap();
    let stated = format!("stoneWallingStatusFile={status}");
    let file = file.to_str().unwrap();
    let ior = [
        "-a", "DUMMY", "-t", "1k", "-b", "1k", "-s", "15", "-k", "-o", file,
    ];
    for more in [
        &[
            "-w",
            "-D",
            "1",
            "-O",
            "stoneWallingWearOut=1",
            "-O",
            &stated,
        ][..],
        &["-r", "-s", "30", "-O", &stated],
        &["-w", "-r", "-F", "-N", "2", "-i", "2"],
    ] {
        let output = stand_in(&bed, "ior", &[&ior[..], more].concat());
        assert_eq!(output.code, 0, "{more:?}: {}", output.text());
        assert!(output.stdout.contains("api                 : DUMMY\n"));
    }
    assert_eq!(fs::read_to_string(status).unwrap(), "15");
    let directory = directory.to_str().unwrap();
    let mdtest = ["-a", "DUMMY", "-I", "20", "--ranks", "2", "-d", directory];
    for more in [
        &["-C", "-W", "1", "-x", status][..],
        &["-T", "-x", status],
        &[],
    ] {
        let output = stand_in(&bed, "mdtest", &[&mdtest[..], more].concat());
        assert_eq!(output.code, 0, "{more:?}: {}", output.text());
        assert!(rate(&output.stdout, "File stat") > 0.0 || more.contains(&"-C"));
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn mdtest_supports_rank_ranges_shared_files_and_no_items() {
    let bed = ScratchTarget::in_memory().unwrap();
    let directory = bed.target().join("t");
    let line = [
        "--ranks", "3", "-f", "1", "-l", "3", "-s", "2", "-n", "4", "-N", "1", "-d",
    ];
    let output = stand_in(
        &bed,
        "mdtest",
        &[&line[..], &[directory.to_str().unwrap()]].concat(),
    );
    assert_eq!(output.code, 0, "{}", output.text());
    for tasks in [
        "1 tasks, 4 files/directories",
        "3 tasks, 12 files/directories",
    ] {
        assert!(output.stdout.contains(tasks), "{}", output.stdout);
    }
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let cells = record["cells"].as_array().unwrap();
    let cell = cells
        .iter()
        .find(|cell| cell["phase"] == "file stat")
        .unwrap();
    assert_eq!(cell["operations"]["stat"]["count"], 16);
    // All ranks create and read the same files.
    let line = ["--ranks", "3", "-S", "-n", "4", "-w", "9", "-e", "9", "-d"];
    let output = stand_in(
        &bed,
        "mdtest",
        &[&line[..], &[directory.to_str().unwrap()]].concat(),
    );
    assert_eq!(output.code, 0, "{}", output.text());
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    for (phase, operation, count) in [
        ("file creation", "write", 12),
        ("file read", "read", 12),
        ("file removal", "unlink", 4),
    ] {
        let cells = record["cells"].as_array().unwrap();
        let cell = cells.iter().find(|cell| cell["phase"] == phase).unwrap();
        assert_eq!(cell["operations"][operation]["count"], count, "{phase}");
    }
    // Without items, there is a tree to create and to remove.
    let output = stand_in(&bed, "mdtest", &["-d", directory.to_str().unwrap()]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        rate(&output.stdout, "Tree creation") > 0.0,
        "{}",
        output.stdout
    );
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn mdtest_leaves_its_trees_for_the_next_command() {
    let bed = ScratchTarget::in_memory().unwrap();
    let directory = bed.target().join("t");
    let mdtest = |line: &str| {
        let words = line.split_whitespace();
        let words = words.chain(["-d", directory.to_str().unwrap()]);
        stand_in(&bed, "mdtest", &words.collect::<Vec<_>>())
    };
    let shape = "-n 6 -z 1 -b 2 -i 2 -e 10 --ranks 2";
    // Nothing is made by who is to find it.
    assert_ne!(mdtest(&format!("-T {shape}")).code, 0);
    assert!(bed.left_in_target().is_empty());
    let output = mdtest(&format!("-C -w 10 {shape}"));
    assert_eq!(output.code, 0, "{}", output.text());
    let file = directory.join("test-dir.1-0/mdtest_tree.0/mdtest_tree.2/file.mdtest.1.5");
    assert_eq!(fs::read(&file).unwrap().len(), 10);
    assert_ne!(
        mdtest(&format!("-C {shape}")).code,
        0,
        "it is there already"
    );
    for phases in ["-T", "-E", "-T -E"] {
        let output = mdtest(&format!("{phases} {shape}"));
        assert_eq!(output.code, 0, "{}", output.text());
    }
    assert_eq!(fs::read(&file).unwrap().len(), 10);
    // What somebody else put there stays, with the directories that it is in.
    let other = directory.join("test-dir.0-0/mdtest_tree.0/file.mdtest.0");
    fs::write(&other, "mine").unwrap();
    let output = mdtest(&format!("-r {shape}"));
    assert_eq!(output.code, 1, "{}", output.text());
    assert_eq!(fs::read(&other).unwrap(), b"mine");
    let entries = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!(entries(&directory), 1);
    assert_eq!(entries(other.parent().unwrap()), 1);
}

/// Of one file that ranks share, of files of their own, and of ranks that wait for each other.
#[test]
fn ior_moves_every_block_once_and_prints_its_summary() {
    let bed = ScratchTarget::in_memory().unwrap();
    let file = bed.target().join("testFile");
    for more in [
        &["-C", "-g"][..],
        &["-F", "-e", "-u", "-z"],
        &["-F", "-i", "2"],
        &["-z"],
        &["-z", "-z", "-m"],
        &["-F", "-Z"],
        &["-F", "-Z", "-Z", "-i", "2"],
    ] {
        let size = ["-b", "64k", "-t", "4k", "-s", "4", "-N", "3", "-o"];
        let arguments = [&size[..], &[file.to_str().unwrap()], more].concat();
        let output = stand_in(&bed, "ior", &arguments);
        assert_eq!(output.code, 0, "{}", output.stderr);
        let lines: Vec<&str> = output.stdout.lines().collect();
        assert!(lines.contains(&"aggregate filesize  : 786432 bytes"));
        let reads = lines.iter().filter(|line| line.starts_with("read "));
        let repetitions = if more.contains(&"-i") { 2 } else { 1 };
        assert_eq!(reads.count(), repetitions + 1, "{}", output.stdout);
        assert!(bed.left_in_target().is_empty());
        let again = bed.run(&["report", "last", "--format", "classic"]);
        assert_eq!(again.stdout, output.stdout);
        let record = bed.run(&["report", "last", "--format", "json"]);
        let record: Value = serde_json::from_str(&record.stdout).unwrap();
        for phase in ["write", "read"] {
            let cells = record["cells"].as_array().unwrap();
            let cell = cells.iter().find(|cell| cell["phase"] == phase).unwrap();
            let figures = &cell["operations"][phase];
            assert_eq!(figures["count"], 192 * repetitions, "{phase} of {more:?}");
            assert_eq!(figures["bytes"], 786_432 * repetitions);
            assert_eq!(figures["errors"], 0);
        }
    }
}

/// Calls of one client on one file.
const LOAD: &str = "\
Deltree \"\\clients\\client1\" NT_STATUS_OK
Mkdir \"\\clients\" NT_STATUS_OK
NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK
Close 1 NT_STATUS_OK
NTCreateX \"\\clients\\client1\\one\" 0x40 0x2 2 NT_STATUS_OK
WriteX 2 0 10000 10000 NT_STATUS_OK
Close 2 NT_STATUS_OK
Unlink \"\\clients\\client1\\one\" 0x6 NT_STATUS_OK
";

const SCRIPT: &str = "\
set $dir=target
define fileset name=box,path=$dir,size=4k,entries=8,prealloc
define process name=reader,instances=1 { thread name=t,instances=1 {
  flowop openfile name=open,filesetname=box,fd=1
  flowop readwholefile name=read,fd=1
  flowop closefile name=close,fd=1
  flowop finishoncount name=end,value=50
} }
run 1
";

/// A short command line of every stand-in, which succeeds and is not as its original in all.
const SHORT: [(&str, &str); 14] = [
    (
        "fio",
        "--directory=target --name=a --rw=write --size=64k --iodepth=32 --write_lat_log=a",
    ),
    (
        "fio",
        "--directory=target --name=a --rw=write --size=64k --output-format=json",
    ),
    ("iozone", "-s 64k -r 4k -i 0 -i 1 -f target/a"),
    ("dbench", "-D target --run-once -c load.txt 1"),
    ("bonnie++", "-u root -d target -r 0 -s 1m -n 1"),
    ("bonnie", "-d target -s 1"),
    ("ior", "-o target/a -b 64k -t 4k"),
    ("mdtest", "-d target -n 5"),
    (
        "io500",
        "--small --time 60 --ranks 2 --files 4 --hard-segments 4 -d target",
    ),
    ("smallfile", "--top target --operation create --files 20"),
    ("filebench", "-f script.f"),
    ("fs_mark", "-d target -n 10 -s 1k"),
    ("postmark", "post.pmrc"),
    ("lat_fs", "-N 1 -s 1k target"),
];

fn bed_of_short_lines() -> ScratchTarget {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("load.txt", LOAD);
    bed.file("script.f", SCRIPT);
    bed.file(
        "post.pmrc",
        "set number 10\nset transactions 20\nset location target\nrun\nquit\n",
    );
    bed
}

/// Scripts take any text there for an error.
#[test]
fn successful_stand_ins_print_nothing_to_standard_error() {
    let bed = bed_of_short_lines();
    assert_eq!(bed.target(), bed.path().join("target"));
    let every = front::FRONTS.iter().map(|it| it.name);
    for name in every.chain(front::CONSOLES.iter().map(|it| it.name)) {
        assert!(SHORT.iter().any(|(short, _)| *short == name), "{name}");
    }
    for (name, line) in SHORT {
        let words: Vec<&str> = line.split(' ').collect();
        let link = bed.path().join(name);
        if !link.exists() {
            symlink(bed.command(&[]).get_program(), &link).unwrap();
        }
        let output = finish(bed.command(&[]).args(["as", name]).args(&words));
        assert_eq!(output.code, 0, "{name}: {}", output.text());
        let uses_stderr = name == "lat_fs";
        let again = bed.run(&["report", "last", "--format", "classic"]).stdout;
        let wanted = if uses_stderr { again.as_str() } else { "" };
        assert_eq!(output.stderr, wanted, "{name}");
        if line.contains("json") {
            serde_json::from_str::<Value>(&output.stdout).unwrap();
        }
        let mut linked = Command::new(&link);
        let linked = finish(linked.args(&words).arg("--no-db").current_dir(bed.path()));
        assert_eq!(linked.code, 0, "{name}: {}", linked.text());
        assert!(uses_stderr || linked.stderr.is_empty(), "{}", linked.stderr);
    }
}

#[test]
fn differences_are_listed_wherever_the_option_is_placed() {
    let bed = bed_of_short_lines();
    for (name, line) in SHORT {
        let words: Vec<&str> = line.split(' ').collect();
        let last = stand_in(&bed, name, &[&words, &["--differences"][..]].concat());
        let first = stand_in(&bed, name, &[&["--differences"], &words[..]].concat());
        assert_eq!((first.code, &first.stderr[..]), (0, ""), "{name}");
        assert_eq!((last.code, &last.stderr[..]), (0, ""), "{name}");
        assert_eq!(last.stdout, first.stdout, "{name}");
        if line.contains("write_lat_log") {
            assert!(last.stdout.contains("no submission latency"));
        }
        assert!(bed.left_in_target().is_empty(), "{name}");
    }
    assert!(bed.listed(&[]).is_empty());
}

/// The record has what standard error leaves out, and a terminal shows it.
#[test]
fn notes_go_to_the_record_and_to_terminals() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let words = ["-d", target, "-n", "3", "-s", "1k"];
    let output = stand_in(&bed, "fs_mark", &words);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let note = "`-s 1k` is taken as `1`";
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let warnings = record["warnings"].as_array().unwrap();
    let says = |it: &Value| it["message"].as_str().is_some_and(|it| it.contains(note));
    assert!(warnings.iter().any(says), "{warnings:?}");
    let listed = stand_in(&bed, "fs_mark", &[&words[..], &["--differences"]].concat());
    assert!(listed.stdout.contains(note), "{}", listed.text());
    let screen = run_on_terminal(
        &bed.command(&[&["as", "fs_mark"], &words[..]].concat()),
        200,
    );
    let screen = need!(screen).stdout;
    assert!(screen.contains(note), "{screen}");
}

/// What a record says of a phase: how many of an operation, bytes of it, and errors.
fn counted(record: &Value, phase: &str, operation: &str) -> [u64; 3] {
    let mut cells = record["cells"].as_array().unwrap().iter();
    let cell = cells.find(|cell| cell["phase"] == phase).unwrap();
    let figures = &cell["operations"][operation];
    ["count", "bytes", "errors"].map(|key| figures[key].as_u64().unwrap_or(0))
}

#[test]
fn io500_runs_all_phases_and_prints_its_score() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    // The time is long enough for all of it.
    let arguments = ["--small", "--time", "60", "--ranks", "4", "-d", target];
    let output = stand_in(&bed, "io500", &arguments);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(bed.left_in_target().is_empty());
    let lines: Vec<&str> = output.stdout.lines().collect();
    let results = lines.iter().filter(|line| line.starts_with("[RESULT]"));
    let values = results.map(|line| line.split_whitespace().nth(2).unwrap().parse::<f64>());
    let values: Vec<f64> = values.collect::<Result<_, _>>().unwrap();
    assert_eq!(values.len(), 12, "{}", output.stdout);
    assert!(values.iter().all(|value| *value > 0.0), "{}", output.stdout);
    let score = lines.last().unwrap();
    assert!(score.starts_with("[SCORE ] Bandwidth ") && score.ends_with(" [INVALID]"));
    let again = bed.run(&["report", "last", "--format", "classic"]);
    assert_eq!(again.stdout, output.stdout);
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    for (phase, operation, count, bytes) in [
        ("ior-easy-write", "write", 32, 4 << 24),
        ("mdtest-easy-write", "create", 4000, 0),
        ("ior-hard-write", "write", 2000, 2000 * 47_008),
        ("mdtest-hard-write", "write", 4000, 4000 * 3901),
        ("find", "stat", 4000, 0),
        ("ior-hard-read", "read", 2000, 2000 * 47_008),
        ("mdtest-easy-stat", "stat", 4000, 0),
        ("mdtest-hard-read", "read", 4000, 4000 * 3901),
        ("mdtest-hard-delete", "unlink", 4000, 0),
    ] {
        assert_eq!(
            counted(&record, phase, operation),
            [count, bytes, 0],
            "{phase}"
        );
    }
    assert_eq!(counted(&record, "ior-easy-read", "read")[1], 4 << 24);
    let link = ["--small", "--quick"];
    stand_in(&bed, "io500", &link).assert_refused(1, &["there is no option `--quick`"]);
}

/// Of two ranks: where they write in the common file, and what their files are called.
#[test]
fn io500_uses_the_names_and_offsets_of_the_original() {
    let bed = ScratchTarget::in_memory().unwrap();
    let program = bed.command(&[]);
    let program = Path::new(program.get_program());
    let line = "as io500 --no-db --small --ranks 2 --files 2 --hard-segments 4 --time 60";
    let words: Vec<&str> = line.split(' ').collect();
    let log = traced(program, bed.target(), &words, Duration::from_secs(100)).unwrap();
    let offsets = log.iter().filter_map(|line| {
        let (_, behind) = line.split_once("pwrite64(")?;
        let (_, place) = behind.split_once(", 47008, ")?;
        place.split(')').next()?.parse().ok()
    });
    let mut offsets: Vec<u64> = offsets.collect();
    offsets.sort_unstable();
    let wanted: Vec<u64> = (0..8).map(|piece| piece * 47_008).collect();
    assert_eq!(offsets, wanted);
    let created = log.iter().filter(|line| line.contains("O_CREAT"));
    let names = created.filter_map(|line| line.split('"').nth(1));
    let is_file = |name: &&str| name.starts_with("file") || name.starts_with("ior_");
    let mut names: Vec<&str> = names.filter(is_file).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names,
        [
            "file.mdtest.0.0",
            "file.mdtest.0.1",
            "file.mdtest.1.0",
            "file.mdtest.1.1",
            "file0",
            "ior_file_easy.00000000",
            "ior_file_easy.00000001",
        ]
    );
    assert_eq!(bed.left_in_target(), ["trace"]);
}

/// mdtest makes the last directory of its path and removes it, IO500 and filebench make all of it.
#[test]
fn directories_of_the_original_are_created_and_removed() {
    let bed = ScratchTarget::in_memory().unwrap();
    let new = bed.target().join("new");
    let new = new.to_str().unwrap();
    let mdtest = ["--no-db", "-n", "5", "-F", "-d", new];
    let output = stand_in(&bed, "mdtest", &mdtest);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(names_in(bed.target()).is_empty());
    let deep = format!("{new}/er");
    let output = stand_in(&bed, "mdtest", &["--no-db", "-n", "5", "-F", "-d", &deep]);
    assert_ne!(output.code, 0);
    let output = stand_in(&bed, "io500", &["--no-db", "--small", "-d", &deep]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(names_in(bed.target()).is_empty());
    // What somebody else puts there stays, and so does the directory.
    fs::create_dir(new).unwrap();
    fs::write(format!("{new}/other"), "x").unwrap();
    let output = stand_in(&bed, "mdtest", &mdtest);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(names_in(Path::new(new)), ["other"]);
    // IOR makes none.
    let file = format!("{deep}/f");
    let output = stand_in(&bed, "ior", &["--no-db", "-w", "-o", &file]);
    assert_ne!(output.code, 0);
}

#[test]
fn mdtest_creates_parallel_trees_and_prints_the_number_of_files() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let arguments = ["-d", target, "-F", "-n", "100", "-I", "10"];
    let output = stand_in(&bed, "mdtest", &arguments);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(
        output.stdout.contains("\n1 tasks, 100 files\n"),
        "{}",
        output.stdout
    );
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let count = |phase: &str| {
        let mut cells = record["cells"].as_array().unwrap().iter();
        let cell = cells.find(|it| it["phase"] == phase).unwrap();
        cell["total"]["count"].as_u64().unwrap()
    };
    assert_eq!(count("tree creation"), 10);
    assert_eq!(count("file stat"), 100);
    let wall = bed.path().join("wall");
    let more = ["-W", "30", "-x", wall.to_str().unwrap()];
    let line = ["--no-db", "-d", target, "-F", "-n", "50", "--ranks", "2"];
    let output = stand_in(&bed, "mdtest", &[&line[..], &more].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert_eq!(fs::read_to_string(wall).unwrap().trim(), "50");
    assert!(bed.left_in_target().is_empty());
}

/// A size that is only a limit is not refused for lack of space.
#[test]
fn a_size_limited_by_a_deadline_may_exceed_the_target() {
    let bed = ScratchTarget::in_memory().unwrap();
    let file = bed.target().join("f");
    let file = file.to_str().unwrap();
    let line = [
        "--no-db", "-o", file, "-D", "1", "-w", "-t", "4k", "-b", "900000g", "-F",
    ];
    let output = stand_in(&bed, "ior", &line);
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("\nwrite "), "{}", output.stdout);
    // Without a deadline it is more than there is.
    let line = [
        "--no-db", "-o", file, "-w", "-t", "4k", "-b", "900000g", "-F",
    ];
    let output = stand_in(&bed, "ior", &line);
    assert_eq!(output.code, 255, "{}", output.stderr);
    let directory = format!("--directory={}", bed.target().display());
    let job = [
        "--name=a",
        "--rw=write",
        "--bs=4k",
        "--size=900000g",
        "--rate=1m",
    ];
    let times = ["--time_based", "--runtime=1", &directory];
    let output = stand_in(&bed, "fio", &[&["--no-db"], &job[..], &times].concat());
    assert_eq!(output.code, 0, "{}", output.stderr);
    let read = ["--name=a", "--rw=read", "--bs=4k", "--size=900000g"];
    let output = stand_in(&bed, "fio", &[&["--no-db"], &read[..], &times].concat());
    assert_ne!(
        output.code, 0,
        "what is read has to be there: {}",
        output.stderr
    );
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn ior_verifies_its_writes_and_reads() {
    let bed = ScratchTarget::in_memory().unwrap();
    let file = bed.target().join("f");
    let file = file.to_str().unwrap();
    for more in [&["-N", "2"][..], &["-N", "2", "-F", "-C"]] {
        let line = [
            "--no-db", "-o", file, "-w", "-r", "-W", "-R", "-t", "64k", "-b", "1m",
        ];
        let output = stand_in(&bed, "ior", &[&line[..], more].concat());
        assert_eq!(output.code, 0, "{}", output.stderr);
        for row in ["\nwrite ", "\nread "] {
            assert_eq!(output.stdout.matches(row).count(), 2, "{}", output.stdout);
        }
    }
    assert!(bed.left_in_target().is_empty());
}

/// With the same number for `-G`, each command knows the data that another one wrote.
#[test]
fn ior_compares_the_data_of_an_earlier_command() {
    let bed = ScratchTarget::in_memory().unwrap();
    let file = bed.target().join("f");
    let ior = |line: &str| {
        let words = line.split_whitespace();
        let words = words.chain(["-N", "2", "-t", "64k", "-b", "256k", "-o"]);
        let words = words.chain([file.to_str().unwrap()]);
        stand_in(&bed, "ior", &words.collect::<Vec<_>>())
    };
    for (more, name) in [("", "f"), ("-F", "f.00000001")] {
        let own = |line: &str| ior(&format!("{line} {more}"));
        let output = own("-w -k -G 27");
        assert_eq!(output.code, 0, "{}", output.text());
        for line in [
            "-r -R -G 27",
            "-W -G 27",
            "-r -R -C -z -G 27",
            "-W -r -G 27",
        ] {
            // Ranks of a random shared file have their own shares already.
            let line = if more.is_empty() {
                line.replace("-C -z", "-z")
            } else {
                line.to_owned()
            };
            let output = own(&line);
            assert_eq!(output.code, 0, "{line}: {}", output.text());
            assert_eq!(output.stderr, "", "{line}");
        }
        // Another number stands for other data, and damage is found.
        assert_ne!(own("-r -R -G 28").code, 0);
        let path = bed.target().join(name);
        let mut content = fs::read(&path).unwrap();
        content[100_000] ^= 1;
        fs::write(&path, content).unwrap();
        for line in ["-r -R -G 27", "-W -G 27"] {
            let output = own(line);
            assert_ne!(output.code, 0, "{line}: {}", output.text());
        }
        assert_eq!(own("-r").code, 0);
        // The changed file is somebody's own now.
        assert_eq!(own("-w -k -G 27").code, 255);
        let unknown = own("-r -R");
        assert_eq!(unknown.code, 1);
        assert!(
            unknown.stderr.contains("such as `-G 27`"),
            "{}",
            unknown.stderr
        );
        for left in bed.left_in_target() {
            fs::remove_file(bed.target().join(left)).unwrap();
        }
    }
}

/// The time ends the write, so the read finds a part of the data.
#[test]
fn ior_reads_what_it_wrote_until_the_stonewall() {
    let bed = ScratchTarget::in_memory().unwrap();
    let file = bed.target().join("f");
    for more in ["", "-F", "-F -C", "-O stoneWallingWearOut=1"] {
        let line = format!(
            "as ior --no-db -w -r -R -D 1 -N 2 -t 64k -b 64k -s 100000 -O interIODelay=2000 \
             {more} -o"
        );
        let words = line.split_whitespace().chain([file.to_str().unwrap()]);
        let output = bed.run(&words.collect::<Vec<_>>());
        assert_eq!(output.code, 0, "{more}: {}", output.text());
        assert_eq!(output.stderr, "", "{more}");
        for row in ["\nwrite ", "\nread "] {
            assert_eq!(output.stdout.matches(row).count(), 2, "{}", output.stdout);
        }
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn mdtest_compares_the_data_of_an_earlier_command() {
    let bed = ScratchTarget::in_memory().unwrap();
    let mdtest = |line: &str| {
        let words = line.split_whitespace();
        let words = words.chain(["-n", "6", "-F", "--ranks", "2", "-d"]);
        let words = words.chain([bed.target().to_str().unwrap()]);
        stand_in(&bed, "mdtest", &words.collect::<Vec<_>>())
    };
    let output = mdtest("-C -w 3901 -G 27");
    assert_eq!(output.code, 0, "{}", output.text());
    for line in ["-E -X -e 3901 -G 27", "-E -X -e 100 -N 1 -G 27"] {
        let output = mdtest(line);
        assert_eq!(output.code, 0, "{line}: {}", output.text());
        assert_eq!(output.stderr, "", "{line}");
    }
    assert_ne!(mdtest("-E -X -e 3901 -G 28").code, 0);
    let path = bed
        .target()
        .join("test-dir.0-0/mdtest_tree.0/file.mdtest.1.4");
    fs::write(path, vec![7; 3901]).unwrap();
    assert_ne!(mdtest("-E -X -e 3901 -G 27").code, 0);
    assert_eq!(mdtest("-r").code, 0);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn mdtest_spreads_its_trees_over_several_directories() {
    let bed = ScratchTarget::in_memory().unwrap();
    let directories = ["a", "b"].map(|it| bed.target().join(it));
    let both = directories
        .each_ref()
        .map(|it| it.to_str().unwrap())
        .join("@");
    let line = ["-n", "20", "-u", "--ranks", "3", "-d", &both];
    let output = stand_in(&bed, "mdtest", &line);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(output.stdout.contains("\n3 tasks, 60 files/directories\n"));
    assert!(bed.left_in_target().is_empty());
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    assert_eq!(record["plan"]["targets"].as_array().unwrap().len(), 2);
    assert_eq!(counted(&record, "file creation", "create"), [60, 0, 0]);
}

#[test]
fn smallfile_writes_the_response_time_of_each_file() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    let shared = bed.path().join("shared");
    for (operation, wanted) in [
        ("create", &["create", "create", "create"][..]),
        ("append", &["append", "append", "append"]),
        ("rename", &["rename", "rename", "rename"]),
        (
            "ls-l",
            &["ls-l-readdir", "ls-l-stat", "ls-l-stat", "ls-l-stat"],
        ),
    ] {
        let line = format!(
            "--no-db --operation {operation} --files 3 --file-size 16 --record-size 4 --fsync Y \
             --response-times Y --host-set localhost --top {target} --network-sync-dir {}",
            shared.display()
        );
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = stand_in(&bed, "smallfile", &words);
        assert_eq!(output.code, 0, "{operation}: {}", output.stderr);
        let text = &output.stdout;
        assert!(text.contains("measure response times? : Y\n"), "{text}");
        assert!(text.contains("hosts in test : ['localhost']\n"), "{text}");
        let files = fs::read_dir(&shared).unwrap().map(|it| it.unwrap().path());
        let mut files: Vec<_> = files.collect();
        files.sort();
        assert_eq!(files.len(), 2, "{files:?}");
        for (thread, file) in files.iter().enumerate() {
            let name = file.file_name().unwrap().to_str().unwrap();
            let begin = format!("rsptimes_{thread:02}_");
            let middle = format!("_{operation}_");
            assert!(name.starts_with(&begin) && name.contains(&middle), "{name}");
            let text = fs::read_to_string(file).unwrap();
            let rows = text.lines().map(|line| {
                let cells: Vec<&str> = line.split(',').map(str::trim).collect();
                let [name, start, time] = cells[..] else {
                    panic!("{line}");
                };
                let [start, time] = [start, time].map(|it| it.parse::<f64>().unwrap());
                assert!(start >= 0.0 && time >= 0.0, "{line}");
                name
            });
            assert_eq!(rows.collect::<Vec<&str>>(), wanted);
        }
        fs::remove_dir_all(&shared).unwrap();
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn smallfile_lists_each_directory_once() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    for (operation, calls) in [
        ("readdir", [("readdir", 6), ("stat", 0)]),
        ("ls-l", [("readdir", 6), ("stat", 50)]),
    ] {
        let arguments = [
            "--operation",
            operation,
            "--files",
            "25",
            "--files-per-dir",
            "10",
        ];
        let output = stand_in(
            &bed,
            "smallfile",
            &[&arguments[..], &["--top", target]].concat(),
        );
        assert_eq!(output.code, 0, "{}", output.text());
        assert!(
            output.stdout.contains("total files = 50\n"),
            "{}",
            output.stdout
        );
        let record = bed.run(&["report", "last", "--format", "json"]);
        let record: Value = serde_json::from_str(&record.stdout).unwrap();
        for (call, count) in calls {
            assert_eq!(
                counted(&record, operation, call)[0],
                count,
                "{operation}: {call}"
            );
        }
    }
    assert!(bed.left_in_target().is_empty());
}

/// Each operation on files that a hash of their numbers puts in directories.
#[test]
fn smallfile_hashes_files_into_directories() {
    let bed = ScratchTarget::in_memory().unwrap();
    let target = bed.target().to_str().unwrap();
    for operation in [
        "create",
        "read",
        "rename",
        "mkdir",
        "symlink",
        "delete-renamed",
    ] {
        let arguments = [
            "--operation",
            operation,
            "--files",
            "60",
            "--file-size",
            "4",
        ];
        let more = [
            "--hash-into-dirs",
            "Y",
            "--files-per-dir",
            "5",
            "--dirs-per-dir",
            "3",
        ];
        let line = [&arguments[..], &more, &["--top", target]].concat();
        let output = stand_in(&bed, "smallfile", &line);
        assert_eq!(output.code, 0, "{operation}: {}", output.text());
        assert_eq!(output.stderr, "", "{operation}");
        let hashed = "hash file number into dir.? : Y\n";
        assert!(output.stdout.contains(hashed), "{}", output.stdout);
        assert!(
            output.stdout.contains("total files = 120\n"),
            "{}",
            output.stdout
        );
    }
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn io500_leaves_result_files_that_verify() {
    let bed = ScratchTarget::in_memory().unwrap();
    let results = bed.path().join("new/results");
    let settings = format!(
        "[global]\ndatadir = {}\nresultdir = {}\n[debug]\nstonewall-time = 1\n",
        bed.target().display(),
        results.display()
    );
    let settings = bed.file("config.ini", &settings);
    let settings = settings.to_str().unwrap();
    let line = [
        "--no-db",
        "--small",
        "--time",
        "60",
        settings,
        "--timestamp",
        "now",
    ];
    let output = stand_in(&bed, "io500", &line);
    assert_eq!(output.code, 0, "{}", output.text());
    let path = results.join("now");
    let names = ["config.ini", "result.txt", "result_summary.txt"];
    assert_eq!(names_in(&path), names);
    let summary = fs::read_to_string(path.join("result_summary.txt")).unwrap();
    assert!(output.stdout.starts_with(&summary), "{}", output.stdout);
    let stored = fs::read_to_string(path.join("result.txt")).unwrap();
    assert_eq!(stored.matches("\nscore  ").count(), 13, "{stored}");
    assert_eq!(stored.matches("\nt_end  ").count(), 13, "{stored}");
    // Everything is right but the time of the writes.
    let stored_path = path.join("result.txt");
    let verify = || stand_in(&bed, "io500", &["--verify", stored_path.to_str().unwrap()]);
    let output = verify();
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(
        output.stderr.contains("the run breaks the rules"),
        "{}",
        output.stderr
    );
    let changed = stored.replacen("\nBW              = ", "\nBW              = 9", 1);
    fs::write(&stored_path, changed).unwrap();
    let output = verify();
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(
        output.stderr.contains("but the phases yield"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_link_named_like_the_program_runs_its_stand_in() {
    let bed = ScratchTarget::in_memory().unwrap();
    let link = bed.path().join("mdtest");
    symlink(bed.command(&[]).get_program(), &link).unwrap();
    let mut command = Command::new(&link);
    command.args(["--no-db", "-n", "5", "-F", "-C", "-d"]);
    let output = finish(command.arg(bed.target()));
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stdout.contains("\n1 tasks, 5 files\n"));
    // What it creates stays, as nothing was to be removed.
    assert_eq!(names_in(bed.target()), ["test-dir.0-0"]);
}
