//! IOzone replaced by pgmeter, on real files.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use end_to_end::{Mount, ScratchTarget, finish, need, run_tool, traced, wait_for};

/// The tests of the original as it is shipped.
const TESTS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];

/// Runs the program in the bed's target, with these options.
fn run(bed: &ScratchTarget, options: &str) -> String {
    let words: Vec<&str> = options.split_whitespace().collect();
    let mut command = bed.command(&[&["as", "iozone"], &words[..]].concat());
    let finished = finish(command.current_dir(bed.target()));
    finished.assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    finished.stdout
}

#[test]
fn each_size_has_a_row_of_rates() {
    let bed = need!(ScratchTarget::in_memory());
    let text = run(&bed, "-a -g 128");
    let rest = text.split("freread\n").nth(1).unwrap();
    let table = rest.split("\n\n").next().unwrap();
    let rows: Vec<Vec<u64>> = table
        .lines()
        .map(|line| {
            line.split_whitespace()
                .map(|it| it.parse().unwrap())
                .collect()
        })
        .collect();
    let sizes: Vec<(u64, u64)> = rows.iter().map(|row| (row[0], row[1])).collect();
    let wanted = [
        (64, [4, 8, 16, 32, 64].as_slice()),
        (128, &[4, 8, 16, 32, 64, 128]),
    ];
    let wanted = wanted
        .iter()
        .flat_map(|(file, all)| all.iter().map(|it| (*file, *it)));
    assert_eq!(sizes, wanted.collect::<Vec<_>>());
    assert!(
        rows.iter()
            .all(|row| row.len() == 15 && row.iter().all(|it| *it > 0))
    );
    assert!(text.ends_with("\niozone test complete.\n"));
}

#[test]
fn several_processes_are_reported_test_by_test() {
    let bed = need!(ScratchTarget::in_memory());
    let text = run(&bed, "-t 2 -s 1m -r 64k -i 0 -i 8 -C -x -R");
    for title in ["initial writers", "rewriters", "mixed workload"] {
        assert!(text.contains(&format!("2 {title} ")), "{text}");
    }
    let children = text.lines().filter(|line| line.starts_with("\tChild["));
    // Without a stonewall each does all.
    let counts: Vec<bool> = children
        .map(|line| line.contains("=    1024.00 kB,"))
        .collect();
    assert_eq!(counts, [true; 6]);
    assert!(text.contains("\"Record size = 64 kBytes \""));
}

#[test]
fn files_are_created_in_the_directories_of_their_paths() {
    let bed = need!(ScratchTarget::in_memory());
    for name in ["a", "b"] {
        std::fs::create_dir(bed.target().join(name)).unwrap();
    }
    let measured = |options: &str| {
        let words: Vec<&str> = options.split_whitespace().collect();
        let words = [&["as", "iozone", "-s", "64k", "-i", "0"], &words[..]].concat();
        let finished = finish(bed.command(&words).current_dir(bed.target()));
        finished.assert_says(0, &[]);
        let record = bed.run(&["report", "last", "--format", "json"]).stdout;
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        let targets = record["plan"]["targets"].as_array().unwrap();
        let path = |it: &serde_json::Value| it["path"].as_str().unwrap().to_owned();
        targets.iter().map(path).collect::<Vec<String>>()
    };
    assert_eq!(measured("-f a/file"), ["a"]);
    assert_eq!(measured("-t 2 -F b/one b/two"), ["b"]);
    assert_eq!(measured("-t 2 -F a/one b/two -r 4"), ["a", "b"]);
    let refused = bed.run(&["as", "iozone", "-l", "1", "-u", "2", "-F", "a/one", "b/two"]);
    let message = "`-F` names files in 2 directories for 1 children; run each number separately";
    refused.assert_refused(1, &[message]);
}

#[test]
fn no_system_file_is_read_between_two_tests() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let bed = need!(ScratchTarget::in_memory());
    let program = bed.command(&[]);
    let program = Path::new(program.get_program());
    let looked = |tests: &str| {
        let line = format!("as iozone --no-db -s 64k {tests}");
        let words: Vec<&str> = line.split(' ').collect();
        let log = traced(program, bed.target(), &words, Duration::from_secs(60)).unwrap();
        let opened = log.iter().filter(|line| line.contains("openat("));
        let system = ["mountinfo", "/sys/", "/proc/self/cgroup"];
        opened
            .filter(|line| system.iter().any(|it| line.contains(it)))
            .count()
    };
    assert_eq!(looked("-i 0 -i 1 -i 2 -i 3"), looked("-i 0"));
}

#[test]
fn tests_without_a_file_are_refused() {
    let bed = need!(ScratchTarget::in_memory());
    let refused = bed.run(&["as", "iozone", "-i", "1"]);
    refused.assert_refused(
        1,
        &["there is no file for these tests; add `-i 0`, which creates it"],
    );
}

#[test]
fn every_test_stops_on_a_full_file_system_and_leaves_nothing() {
    let bed = ScratchTarget::new().unwrap();
    let mount = need!(Mount::tmpfs(bed.target(), 1 << 20));
    for together in ["", " -t 2"] {
        for test in TESTS {
            let line = format!("as iozone --no-db -E -i 0 -i {test} -s 4m -r 64k{together}");
            let words: Vec<&str> = line.split(' ').collect();
            let finished = finish(bed.command(&words).current_dir(mount.path()));
            assert!(matches!(finished.code, 1..=3), "{line}: {finished:?}");
            assert_eq!(bed.left_in_target(), Vec::<String>::new(), "{line}");
        }
    }
}

#[test]
fn ctrl_c_ends_every_test_and_leaves_nothing() {
    for turn in 0..TESTS.len() as u64 {
        let bed = need!(ScratchTarget::in_memory());
        // Rows enough that no machine is through with them before the last turn.
        let line = "as iozone -E -a -n 128m -g 1g -y 1k -q 512k";
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = bed.command(&words);
        let mut child = command.current_dir(bed.target()).spawn().unwrap();
        wait_for("the file", || !bed.left_in_target().is_empty());
        std::thread::sleep(Duration::from_millis(300 * turn));
        run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
        let mut code = None;
        wait_for("the end", || {
            code = child.try_wait().unwrap();
            code.is_some()
        });
        assert_eq!(code.unwrap().code(), Some(130), "{turn}");
        assert_eq!(bed.left_in_target(), Vec::<String>::new(), "{turn}");
    }
}

/// The calls on the file, in the words of the table of the original's tests.
fn calls(log: &[String]) -> Vec<String> {
    let call = |line: &String| {
        let (name, rest) = line.split_once(' ')?.1.split_once('(')?;
        let (arguments, result) = rest.rsplit_once(" = ")?;
        let result = result.split(' ').next()?;
        let offset = || arguments.trim_end().strip_suffix(')')?.rsplit(", ").next();
        Some(match name {
            "openat" | "openat2" if !arguments.contains("iozone.DUMMY") => return None,
            "openat" | "openat2" if arguments.contains("O_CREAT") => "create".to_owned(),
            "openat" | "openat2" if arguments.contains("O_RDWR") => "open".to_owned(),
            "openat" | "openat2" => "open to read".to_owned(),
            "read" | "write" if result == "4096" => name.to_owned(),
            "pread64" | "pwrite64" => format!("{name} {}", offset()?),
            "lseek" => format!("to {result}"),
            _ => return None,
        })
    };
    let id = |line: &String| line.split(' ').next().map(str::to_owned);
    let works = |line: &&String| line.contains("openat") && line.contains("\"iozone.DUMMY");
    let workers: BTreeSet<Option<String>> = log.iter().filter(works).map(id).collect();
    let own = log.iter().filter(|line| workers.contains(&id(line)));
    own.filter_map(call).collect()
}

#[test]
fn each_test_makes_the_calls_of_the_original_in_order() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let bed = need!(ScratchTarget::in_memory());
    let program = bed.command(&[]);
    let program = Path::new(program.get_program());
    let line = "as iozone --no-db -E -s 64k -r 4k -j 3";
    let words: Vec<&str> = line.split(' ').collect();
    let log = traced(program, bed.target(), &words, Duration::from_secs(60)).unwrap();
    let records: Vec<u32> = (0..16).collect();
    let all = |call: &str| vec![call.to_owned(); 16];
    let open = |call: &str| vec![call.to_owned()];
    let sought = |call: &str, order: &[u32]| {
        let calls = |record: &u32| [format!("to {}", record * 4096), call.to_owned()];
        order.iter().flat_map(calls).collect::<Vec<_>>()
    };
    let placed = |call: &str| {
        let calls = records
            .iter()
            .map(|record| format!("{call} {}", record * 4096));
        calls.collect::<Vec<_>>()
    };
    let [update, read] = ["open", "open to read"].map(open);
    let primed = [read.clone(), open("read"), open("to 0"), all("read")].concat();
    // By the generator of the original.
    let shuffled = [1, 5, 7, 13, 10, 6, 0, 8, 14, 3, 11, 2, 4, 12, 9, 15];
    let backward: Vec<u32> = records.iter().rev().copied().collect();
    let strides = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 4];
    let wanted = [
        [open("create"), update.clone(), all("write")].concat(),
        [update.clone(), all("write")].concat(),
        primed.clone(),
        primed,
        [update.clone(), sought("read", &shuffled)].concat(),
        [update.clone(), sought("write", &shuffled)].concat(),
        [read.clone(), sought("read", &backward)].concat(),
        [read.clone(), sought("read", &backward)].concat(),
        [update.clone(), open("write"), sought("write", &[0; 16])].concat(),
        [read.clone(), sought("read", &strides)[1..].to_vec()].concat(),
        [update.clone(), all("write"), update.clone(), all("write")].concat(),
        [read.clone(), all("read"), read.clone(), all("read")].concat(),
        [
            update.clone(),
            placed("pwrite64"),
            update,
            placed("pwrite64"),
        ]
        .concat(),
        [read.clone(), placed("pread64"), read, placed("pread64")].concat(),
    ];
    assert_eq!(calls(&log), wanted.concat());
}

/// Runs the program in the bed's directory, on a file in its target.
fn run_beside(bed: &ScratchTarget, options: &str) -> String {
    let file = bed.target().join("file");
    let file = file.to_string_lossy();
    let words: Vec<&str> = options.split_whitespace().collect();
    let line = [&["as", "iozone", "--no-db", "-f", &file], &words[..]].concat();
    let finished = finish(bed.command(&line).current_dir(bed.path()));
    finished.assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    finished.stdout
}

#[test]
fn each_record_has_a_line_with_its_latency() {
    let bed = need!(ScratchTarget::in_memory());
    run_beside(&bed, "-s 256 -r 64k -i 0 -i 1 -i 2 -Q");
    for name in ["wol.dat", "rwol.dat", "rol.dat", "rrol.dat"] {
        let text = std::fs::read_to_string(bed.path().join(name)).unwrap();
        let (head, rest) = text.split_once('\n').unwrap();
        assert_eq!(
            head,
            "Offset in kBytes   Latency in microseconds  Transfer size in bytes"
        );
        let (rows, times) = rest.split_once("\n\n").unwrap();
        let rows = rows.lines().map(|line| {
            let mut words = line.split_whitespace();
            [(); 3].map(|()| words.next().unwrap().parse::<u64>().unwrap())
        });
        let rows: Vec<_> = rows.map(|[offset, _, size]| (offset, size)).collect();
        assert_eq!(rows, [0, 64, 128, 192].map(|kib| (kib, 65_536)), "{name}");
        assert!(times.starts_with("System time "), "{times}");
    }
}

#[test]
fn files_can_be_mapped_and_locked() {
    need!(run_tool("strace", &["-o", "/dev/null", "true"]));
    let bed = need!(ScratchTarget::in_memory());
    let program = bed.command(&[]);
    let program = Path::new(program.get_program());
    let counts = |options: &str, parts: &[&str]| {
        let line = format!("as iozone --no-db -s 256 -r 64k -i 0 -i 1 -+n {options}");
        let words: Vec<&str> = line.split(' ').collect();
        let log = traced(program, bed.target(), &words, Duration::from_secs(60)).unwrap();
        let count = |part: &&str| log.iter().filter(|line| line.contains(part)).count();
        parts.iter().map(count).collect::<Vec<usize>>()
    };
    assert_eq!(counts("-B -G", &["65536, MS_SYNC"]), [4]);
    assert_eq!(counts("-B -D", &["65536, MS_ASYNC"]), [4]);
    let locks = ["F_WRLCK", "F_RDLCK", "F_UNLCK"].map(|it| format!("F_SETLKW, {{l_type={it}"));
    let locks: Vec<&str> = locks.iter().map(String::as_str).collect();
    assert_eq!(counts("-W", &locks), [1, 1, 2]);
}

#[test]
fn children_can_share_a_file() {
    let bed = need!(ScratchTarget::in_memory());
    let name = bed.target().join("shared").display().to_string();
    let line = format!("as iozone --no-db -t 2 -+V -T -F {name} unused -s 256 -r 64k -i 0 -i 1");
    let words: Vec<&str> = line.split(' ').collect();
    let finished = bed.run(&words);
    finished.assert_says(0, &[]);
    let text = finished.stdout;
    assert!(text.contains(">>> Shared file mode enabled. <<<"), "{text}");
    assert!(text.contains("Throughput test with 2 threads"), "{text}");
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
}

#[test]
fn telemetry_files_give_the_requests() {
    let bed = need!(ScratchTarget::in_memory());
    let at = |name: &str| bed.path().join(name).display().to_string();
    std::fs::write(at("writes"), "# offset size delay\n0 4096 1\n4096 8192 0\n").unwrap();
    std::fs::write(at("reads"), "8192 4096 0\n").unwrap();
    let options = format!("-i 0 -i 1 -Q -X {} -Y {}", at("writes"), at("reads"));
    let text = run_beside(&bed, &options);
    assert!(text.ends_with("\niozone test complete.\n"), "{text}");
    let rows = |name: &str| {
        let text = std::fs::read_to_string(bed.path().join(name)).unwrap();
        let lines = text.lines().skip(1).take_while(|line| !line.is_empty());
        let places = lines.map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            format!("{} {}", words[0], words[2])
        });
        places.collect::<Vec<String>>()
    };
    assert_eq!(rows("wol.dat"), ["0 4096", "4 8192"]);
    assert_eq!(rows("rol.dat"), ["8 4096"]);
    std::fs::write(at("writes"), "0 4096\n").unwrap();
    let refused = bed.run(&["as", "iozone", "-i", "0", "-X", &at("writes")]);
    refused.assert_refused(2, &["the line has 2 fields, not 3"]);
}

#[test]
fn the_tables_can_go_to_a_worksheet() {
    let bed = need!(ScratchTarget::in_memory());
    run_beside(&bed, "-s 256 -r 64k -i 0 -b table.xls");
    let sheet = std::fs::read(bed.path().join("table.xls")).unwrap();
    assert!(sheet.starts_with(&[9, 0, 4, 0]) && sheet.ends_with(&[10, 0, 0, 0]));
    let has = |text: &str| sheet.windows(text.len()).any(|it| it == text.as_bytes());
    assert!(has("Writer Report") && has("Re-writer Report") && !has("Reader Report"));
}
