//! Rates, curves, searches, depths, numbers of operations and steady states of work on many files:
//! of pools, phases, recorded calls and the classics alike.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use end_to_end::{DBENCH_CALLS, READING_FILEBENCH, ScratchTarget, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PHASES: &str = "run_time = 1\n[[fileset]]\nname = \"mail\"\ncount = 20\npresent = \"100%\"\n\
                      size = \"16k\"\n[[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
                      { open = \"mail\", pick = \"around\" },\n\
                      { read = \"rest\", piece = \"64k\" }, \"close\",\n]\n";
const POOL: &str = "[postmark]\nnumber = 50\ntransactions = 300\nmin_size = 512\nmax_size = 4096\n";
const CREATE: &str = "[create_remove]\ncount = 300\nsizes = 4096\n";
const MARK: &str = "[fs_mark]\nfiles = 300\nsize = 4096\n";
const LAT: &str = "[lat_fs]\ncompat = \"1.6\"\nfiles = 300\nsizes = 4096\nbudget = \"10ms\"\n";

/// By name: the file, what is in it, and the phases that rounds are counted in.
const KINDS: [(&str, &str, &[&str]); 7] = [
    ("mail.f", READING_FILEBENCH, &["run"]),
    ("pool.toml", POOL, &["transactions"]),
    ("phases.toml", PHASES, &["read"]),
    ("create.toml", CREATE, &["create 4KiB", "remove 4KiB"]),
    ("mark.toml", MARK, &["create", "remove"]),
    ("lat.toml", LAT, &["create 4KiB", "remove 4KiB"]),
    ("client.txt", DBENCH_CALLS, &["execute"]),
];

/// The record of a run in memory, which must leave no files.
fn record(file: &str, text: &str, options: &[&str]) -> Value {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file(file, text);
    let target = bed.target().to_str().unwrap().to_owned();
    let fixed = ["run", file, "--target", &target, "--json", "-", "--quiet"];
    let output = bed.run(&[&fixed[..], options].concat());
    assert_eq!(output.code, 0, "{file} {options:?}: {}", output.text());
    let left = fs::read_dir(bed.target()).unwrap().count();
    assert_eq!(left, 0, "{file} {options:?}");
    serde_json::from_str(&output.stdout).unwrap()
}

/// The cells of such a run.
fn cells((file, text, _): (&str, &str, &[&str]), options: &[&str]) -> Vec<Value> {
    record(file, text, options)["cells"]
        .as_array()
        .unwrap()
        .clone()
}

fn count(cell: &Value) -> u64 {
    cell["total"]["count"].as_u64().unwrap()
}

/// Those that are of these phases.
fn of_phases<'a>(cells: &'a [Value], phases: &[&str]) -> Vec<&'a Value> {
    let is_of = |cell: &&Value| phases.contains(&cell["phase"].as_str().unwrap());
    cells.iter().filter(is_of).collect()
}

#[test]
fn an_operation_count_is_exact_for_every_workload_kind() {
    for kind in KINDS {
        for options in [
            &[][..],
            &["--workers", "3"],
            &["--engine", "io_uring", "--iodepth", "4"],
        ] {
            let cells = cells(kind, &[&["--operations", "1001"], options].concat());
            let counted = of_phases(&cells, kind.2);
            assert_eq!(counted.len(), kind.2.len(), "{} {options:?}", kind.0);
            for cell in counted {
                // Of a pool each operation of a transaction counts, of which it has up to two.
                let done = match kind.0 {
                    "pool.toml" => cell["phase_figures"]["pool"]["transactions_count"].as_u64(),
                    _ => Some(count(cell)),
                };
                assert_eq!(done, Some(1001), "{} {options:?}", kind.0);
                assert_eq!(cell["total"]["errors"], 0, "{}", kind.0);
            }
        }
    }
}

#[test]
fn rounds_are_due_at_the_requested_rate() {
    for kind in KINDS {
        for arrivals in ["uniform", "poisson"] {
            let cells = cells(
                kind,
                &[
                    "--rate",
                    "300/s",
                    "--arrivals",
                    arrivals,
                    "--operations",
                    "300",
                ],
            );
            for cell in of_phases(&cells, kind.2) {
                let open = &cell["open_loop"];
                assert_eq!(open["asked_per_second"], 300.0, "{}", kind.0);
                assert_eq!(open["response"]["count"], 300, "{} {arrivals}", kind.0);
                assert_eq!(count(cell), 300, "{} {arrivals}", kind.0);
                // 300 of them are due within a second, or nearly so; machines may be slower.
                let taken_ns = cell["run_time_ns"].as_u64().unwrap();
                let least_ns = if arrivals == "uniform" { 990 } else { 700 } * 1_000_000;
                assert!(taken_ns > least_ns, "{} {arrivals}: {taken_ns}", kind.0);
            }
        }
    }
}

#[test]
fn the_number_of_due_requests_follows_from_rate_and_run_time() {
    for kind in [KINDS[0], KINDS[1], KINDS[2], KINDS[6]] {
        let cells = cells(kind, &["--rate", "400/s", "--run-time", "1s"]);
        let cell = of_phases(&cells, kind.2)[0];
        let open = &cell["open_loop"];
        let unanswered = open["censored_count"].as_u64().unwrap_or(0);
        let due = open["response"]["count"].as_u64().unwrap();
        // What was due before a thread was there is left out; no more is due than that.
        assert!(
            due <= 402 && due > 200,
            "{}: {due}, {unanswered} of them open",
            kind.0
        );
    }
}

#[test]
fn a_curve_has_a_peak_and_ten_points_of_its_slowest_phase() {
    for kind in [KINDS[0], KINDS[1], KINDS[3]] {
        let options: &[&str] = match kind.0 {
            "mail.f" => &["--curve", "--run-time", "200ms"],
            _ => &["--curve"],
        };
        let cells = cells(kind, options);
        let counted = of_phases(&cells, kind.2);
        assert_eq!(counted.len(), 11 * kind.2.len(), "{}", kind.0);
        let requested = |cell: &Value| cell["open_loop"]["asked_per_second"].as_f64();
        let peaks = counted.iter().filter(|it| requested(it).is_none());
        let peaks: Vec<f64> = peaks
            .map(|it| it["total"]["per_second"].as_f64().unwrap())
            .collect();
        assert_eq!(peaks.len(), kind.2.len(), "{}", kind.0);
        let slowest = peaks.into_iter().reduce(f64::min).unwrap();
        let rates: Vec<f64> = counted.iter().filter_map(|it| requested(it)).collect();
        let highest = rates.into_iter().reduce(f64::max).unwrap();
        assert!(
            (highest / slowest - 1.0).abs() < 0.01,
            "{highest} of {slowest}"
        );
        // What is not counted in rounds is no point of a curve.
        let others = cells
            .iter()
            .filter(|it| !kind.2.contains(&it["phase"].as_str().unwrap()));
        assert!(others.clone().all(|it| it["curve"].is_null()), "{}", kind.0);
    }
}

#[test]
fn a_search_ends_with_rates_that_hold_and_do_not() {
    let options = ["--find-rate", "p99<=1s", "--run-time", "200ms"];
    let cells = cells(KINDS[0], &options);
    assert_eq!(cells[0]["curve"]["part"], "peak");
    let rates = cells[1..]
        .iter()
        .map(|it| it["open_loop"]["asked_per_second"].as_f64());
    let rates: Vec<f64> = rates.map(Option::unwrap).collect();
    let peak = cells[0]["total"]["per_second"].as_f64().unwrap();
    // From half of the peak.
    assert!((rates[0] / peak - 0.5).abs() < 0.01, "{rates:?} of {peak}");
    assert!(rates.len() > 1, "{rates:?}");
}

#[test]
fn flows_of_a_worker_share_its_work() {
    for kind in KINDS {
        let eight = cells(kind, &["--operations", "400", "--workers", "8"]);
        let deep = cells(kind, &["--operations", "400", "--iodepth", "8"]);
        let (eight, deep) = (of_phases(&eight, kind.2), of_phases(&deep, kind.2));
        for (one, other) in eight.into_iter().zip(deep) {
            assert_eq!(other["iodepth"], 8, "{}", kind.0);
            assert_eq!(other["workers"], 1, "{}", kind.0);
            assert_eq!(count(one), count(other), "{}", kind.0);
        }
    }
}

#[test]
fn space_is_preconditioned_before_files_are_created() {
    for kind in KINDS {
        let record = record(
            kind.0,
            kind.1,
            &["--precondition", "2x", "--operations", "50"],
        );
        let done = &record["preconditions"][0];
        assert_eq!(done["errors"], 0, "{}", kind.0);
        assert!(
            done["bytes"].as_u64().unwrap() >= 8192,
            "{}: {done}",
            kind.0
        );
    }
}

#[test]
fn timed_phases_repeat_until_steady() {
    for kind in [KINDS[0], KINDS[1], KINDS[2], KINDS[5], KINDS[6]] {
        let set = ["--set", "steady.range=100", "--set", "steady.excursion=100"];
        let rounds = ["--until", "steady", "--run-time", "200ms"];
        // A small pool may come to be empty.
        let files: &[&str] = match kind.0 {
            "pool.toml" => &["--set", "postmark.number=5000"],
            _ => &[],
        };
        let options = [&rounds[..], &set, files].concat();
        // On a busy machine no rounds are alike, and a single attempt may not come to an end.
        let is_judged = (0..5).any(|_| {
            let cells = cells(kind, &options);
            let cell = of_phases(&cells, kind.2)[0];
            assert_eq!(cell["status"], "complete", "{}", kind.0);
            cell["steady"]["verdict"] != "not-yet"
        });
        assert!(is_judged, "{}", kind.0);
    }
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file(
        "untimed.toml",
        PHASES
            .replace("run_time = 1\n", "")
            .replace("body", "rounds = 3\nbody"),
    );
    let output = bed.run(&["check", "untimed.toml", "--until", "steady"]);
    output.assert_refused(2, &["no phase of `untimed` ends by time", "help: "]);
}

#[test]
fn best_of_rounds_repeat_until_steady() {
    let at_most = ["--set", "steady.rounds=7", "--set", "steady.window=3"];
    // Nothing is as steady as that.
    let never = ["--set", "steady.range=0.0001", "--until", "steady"];
    let document = record("lat.toml", LAT, &[&at_most[..], &never].concat());
    for cell in of_phases(document["cells"].as_array().unwrap(), KINDS[5].2) {
        let steady = &cell["steady"];
        let rounds = steady["rounds"].as_array().unwrap();
        assert_eq!(
            (rounds.len(), &steady["verdict"]),
            (7, &"not-steady".into())
        );
        // Creations and removals of the window are what the phase's figures are of.
        let last = rounds[4..].iter().map(count_of_round).sum::<u64>();
        assert_eq!(2 * count(cell), last, "{cell}");
        let reported = &cell["phase_figures"]["told_round"];
        assert_eq!(300 * reported["round_count"].as_u64().unwrap(), count(cell));
        let long = rounds
            .iter()
            .all(|it| it["length_ns"].as_u64().unwrap() > 10_000_000);
        assert!(long, "{steady}");
    }
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("lat.toml", LAT);
    let output = bed.run(&["check", "lat.toml", "--until", "steady"]);
    assert!(
        output.stdout.contains("until steady, 25 rounds at most"),
        "{}",
        output.text()
    );
    bed.file("samples.toml", "[lat_fs]\ncompat = \"3\"\nsizes = 1024\n");
    let output = bed.run(&["check", "samples.toml", "--until", "steady"]);
    output.assert_refused(2, &["none can run until it is steady", "compat = \"1.6\""]);
}

fn count_of_round(round: &Value) -> u64 {
    round["count"].as_u64().unwrap()
}

#[test]
fn the_ramp_is_left_out_of_the_measurement() {
    // Of a pool, transactions of the ramp are in its own figures alone.
    let large = ["--set", "postmark.number=5000"];
    let timed = ["--run-time", "300ms", "--ramp-time", "300ms"];
    let many = "postmark.transactions=100000";
    let counted = ["--set", many, "--ramp-time", "50ms"];
    for options in [timed, counted] {
        let cells = cells(KINDS[1], &[&options[..], &large].concat());
        let cell = of_phases(&cells, KINDS[1].2)[0];
        let pool = &cell["phase_figures"]["pool"];
        let all = pool["transactions_count"].as_u64().unwrap();
        let spent_ns = pool["transactions_ns"].as_u64().unwrap();
        let measured_ns = cell["run_time_ns"].as_u64().unwrap();
        assert!(
            count(cell) > 0 && count(cell) < 2 * all,
            "{options:?}: {cell}"
        );
        assert!(
            measured_ns < spent_ns,
            "{options:?}: {measured_ns} of {spent_ns}"
        );
        if options[0] == "--run-time" {
            assert!(spent_ns >= 600_000_000, "{spent_ns}");
        }
    }
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("lat.toml", LAT);
    let target = bed.target().to_str().unwrap().to_owned();
    let long = ["--ramp-time", "700ms", "--target", &target];
    let begin = Instant::now();
    let output = bed.run(&[&["run", "lat.toml", "--quiet"], &long[..]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(begin.elapsed() >= Duration::from_millis(700));
    let output = bed.run(&[&["check", "lat.toml"], &long[..]].concat());
    assert!(
        output.stdout.contains("as a ramp, repeated for 700ms:"),
        "{}",
        output.text()
    );
}

#[test]
fn warm_reads_existing_files_before_the_measurement() {
    let warm = cells(KINDS[2], &["--set", "warm=true", "--operations", "10"]);
    assert_eq!(warm.len(), 1, "what reads them is not in the record");
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("client.txt", DBENCH_CALLS);
    let output = bed.run(&["check", "client.txt", "--set", "warm=true"]);
    output.assert_refused(2, &["its files are created as part of the work", "help: "]);
}

/// Files are made, appended to, removed and read by several workers.
const MIXED: &str = "run_time = \"500ms\"\n[[fileset]]\nname = \"a\"\ncount = 30\n\
     present = \"50%\"\nsize = { uniform = [1, 40000] }\n[[way]]\nname = \"log\"\nappend = true\n\
     [[phase]]\nname = \"work\"\n[[phase.group]]\nworkers = 3\nwhen_out = \"skip\"\nbody = [\n\
     { mix = [\n\
     { share = 1, do = [{ create = \"a\" },\n\
     { write = \"size\", piece = \"10000\" }, \"close\"] },\n\
     { share = 3, do = [{ open = \"a\", pick = \"uniform\", way = \"log\" },\n\
     { write = 1000, at = \"end\" }, \"close\"] },\n\
     { share = 1, do = [{ unlink = \"a\", pick = \"uniform\" }] },\n\
     { share = 3, do = [{ open = \"a\", pick = \"uniform\" },\n\
     { read = \"rest\", piece = 7000 }, \"close\"] },\n] },\n]\n";

/// Files get other names, and are written at places with nothing before them.
const HOLES: &str = "run_time = \"500ms\"\n[[fileset]]\nname = \"a\"\ncount = 30\n\
     present = \"50%\"\nsize = \"64k\"\n[[phase]]\nname = \"work\"\n[[phase.group]]\n\
     workers = 2\nwhen_out = \"skip\"\nbody = [\n{ mix = [\n\
     { share = 1, do = [{ create = \"a\" }, { write = 3000, at = \"random\" }, \"close\"] },\n\
     { share = 1, do = [{ rename = \"a\", pick = \"uniform\", to = \"a\" }] },\n\
     { share = 1, do = [{ unlink = \"a\", pick = \"uniform\" }] },\n\
     { share = 3, do = [{ open = \"a\", pick = \"uniform\" },\n\
     { read = \"rest\", piece = 7000 }, \"close\"] },\n] },\n]\n";

#[test]
fn every_workload_kind_verifies_its_writes() {
    let (mixed, holes) = (
        ("mixed.toml", MIXED, &[][..]),
        ("holes.toml", HOLES, &[][..]),
    );
    let in_ring = ["--engine", "io_uring", "--iodepth", "4"];
    for (kind, options) in [
        (KINDS[0], &["--operations", "200"][..]),
        (KINDS[2], &["--operations", "200", "--workers", "2"]),
        (KINDS[6], &["--operations", "2000", "--workers", "2"]),
        (mixed, &[]),
        (mixed, &in_ring),
        (mixed, &["--rate", "2000/s"]),
        (holes, &[]),
        (holes, &in_ring),
    ] {
        let record = record(kind.0, kind.1, &[options, &["--verify"]].concat());
        let mut warnings = record["warnings"].as_array().into_iter().flatten();
        let found = warnings.find(|it| it["code"] == "verify-mismatch");
        assert_eq!(found, None, "{} {options:?}", kind.0);
        assert!(count(&record["cells"][0]) > 0, "{} {options:?}", kind.0);
    }
}

/// Files of this size anywhere in a directory.
fn files_of(size_bytes: u64, directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(it) if it.is_dir() => files.extend(files_of(size_bytes, &path)),
            Ok(it) if it.len() == size_bytes => files.push(path),
            _ => {}
        }
    }
    files
}

/// A file of 4 MiB is written in the first phase, and read in pieces of 4 KiB in the last.
const HELD_PHASES: &str = "[[fileset]]\nname = \"a\"\nsize = \"4MiB\"\n\
     [[phase]]\nname = \"write\"\n[[phase.group]]\nbody = [\n\
     { create = \"a\" }, { write = \"size\", piece = \"64KiB\" }, \"close\" ]\n\
     [[phase]]\nname = \"hold\"\n[[phase.group]]\nrounds = 1\nbody = [\n\
     { stat = \"a\" }, { think = \"20s\" } ]\n\
     [[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
     { open = \"a\" }, { read = \"rest\", piece = \"4KiB\" }, \"close\" ]\n";
const HELD_FILEBENCH: &str = "set $dir=/tmp\n\
     define fileset name=a,path=$dir,size=4m,entries=1\n\
     define process name=p,instances=1 {\n thread name=t,memsize=1m,instances=1 {\n  \
     flowop createfile name=make,filesetname=a,fd=1\n  \
     flowop writewholefile name=write,fd=1,iosize=64k\n  flowop closefile name=made,fd=1\n  \
     flowop delay name=hold,value=20\n  flowop openfile name=open,filesetname=a,fd=1\n  \
     flowop readwholefile name=read,fd=1,iosize=4k\n  flowop closefile name=close,fd=1\n  \
     flowop finishoncount name=end,value=1,target=close\n }\n}\nrun 60\n";
const HELD_JOBS: &str = "[global]\nsize=4m\nfilename=a\nioengine=psync\n\
     [write]\nrw=write\nbs=64k\n[read]\nstonewall\nstartdelay=20\nrw=read\nbs=4k\n";

/// Recorded calls that do the same.
fn recorded_calls() -> String {
    let path = "\\clients\\client1\\a";
    let mut calls = String::from(
        "0.0 Deltree \"\\clients\\client1\" NT_STATUS_OK\n\
         0.0 Mkdir \"\\clients\" NT_STATUS_OK\n\
         0.0 NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\n0.0 Close 1 NT_STATUS_OK\n",
    );
    calls += &format!("0.0 NTCreateX \"{path}\" 0x40 0x2 2 NT_STATUS_OK\n");
    for piece in 0..64 {
        calls += &format!("0.0 WriteX 2 {} 65536 65536 NT_STATUS_OK\n", piece << 16);
    }
    for block in 0..1024 {
        calls += &format!("20.0 ReadX 2 {} 4096 4096 NT_STATUS_OK\n", block << 12);
    }
    calls + "20.0 Close 2 NT_STATUS_OK\n"
}

/// What is said where 1,000 blocks are changed between writing and reading.
fn output_on_changed_blocks(name: &str, text: &str, options: &[&str]) -> String {
    const BLOCK: usize = 4096;
    const FILE: u64 = 4 << 20;
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file(name, text);
    let target = bed.target().to_str().unwrap().to_owned();
    let fixed = ["run", name, "--target", &target, "--verify"];
    let mut command = bed.command(&[&fixed[..], options].concat());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let last = |path: &Path| {
        let mut block = [0; BLOCK];
        let file = fs::File::open(path).unwrap();
        file.read_exact_at(&mut block, FILE - BLOCK as u64).unwrap();
        block
    };
    wait_for("the file", || {
        let files = files_of(FILE, bed.target());
        files.iter().any(|path| last(path) != [0; BLOCK])
    });
    let id = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(id, Signal::STOP).unwrap();
    let files = files_of(FILE, bed.target());
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&files[0])
        .unwrap();
    for at in (0..FILE).step_by(BLOCK).take(1000) {
        let mut block = [0; BLOCK];
        file.read_exact_at(&mut block, at).unwrap();
        block.iter_mut().for_each(|byte| *byte = !*byte);
        file.write_all_at(&block, at).unwrap();
    }
    kill_process(id, Signal::CONT).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    text.into_owned()
}

#[test]
fn every_block_changed_during_the_run_is_found() {
    let calls = recorded_calls();
    let all = calls.lines().count().to_string();
    let once = ["--operations", &all];
    let kinds = [
        ("held.toml", HELD_PHASES, &[][..]),
        ("held.f", HELD_FILEBENCH, &[]),
        ("held.fio", HELD_JOBS, &[]),
        ("held.txt", &calls, &once),
    ];
    // In parallel, since each of them waits for most of its time.
    std::thread::scope(|scope| {
        let threads = kinds.map(|(name, text, options)| {
            let thread = scope.spawn(move || output_on_changed_blocks(name, text, options));
            (name, thread)
        });
        for (name, said) in threads {
            let text = said.join().unwrap();
            let is_found = text.contains("1000 reads did not return the data written");
            assert!(is_found, "{name}: {text}");
        }
    });
}
