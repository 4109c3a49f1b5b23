//! Rates, curves, searches, depths, numbers of operations and steady states of work on many files:
//! of pools, phases, recorded calls and the classics alike.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use end_to_end::{Bed, wait_for};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

const PHASES: &str = "run_time = 1\n[[fileset]]\nname = \"mail\"\ncount = 20\npresent = \"100%\"\n\
                      size = \"16k\"\n[[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
                      { open = \"mail\", pick = \"around\" },\n\
                      { read = \"rest\", piece = \"64k\" }, \"close\",\n]\n";
const FILEBENCH: &str = "set $dir=/tmp\n\
     define fileset name=files,path=$dir,size=16k,entries=20,prealloc=100\n\
     define process name=p,instances=1 {\n thread name=t,memsize=1m,instances=1 {\n  \
     flowop openfile name=open,filesetname=files,fd=1\n  \
     flowop readwholefile name=read,fd=1,iosize=1m\n  flowop closefile name=close,fd=1\n }\n}\n\
     run 1\n";
const POOL: &str = "[postmark]\nnumber = 50\ntransactions = 300\nmin_size = 512\nmax_size = 4096\n";
const CREATE: &str = "[create_remove]\ncount = 300\nsizes = 4096\n";
const MARK: &str = "[fs_mark]\nfiles = 300\nsize = 4096\n";
const LAT: &str = "[lat_fs]\ncompat = \"1.6\"\nfiles = 300\nsizes = 4096\nbudget = \"10ms\"\n";
const CLIENT: &str = "Deltree \"\\clients\\client1\" NT_STATUS_OK\n\
     Mkdir \"\\clients\" NT_STATUS_OK\n\
     NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n\
     NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 2 NT_STATUS_OK\n\
     WriteX 2 0 4096 4096 NT_STATUS_OK\nReadX 2 0 4096 4096 NT_STATUS_OK\n\
     Close 2 NT_STATUS_OK\n";

/// By name: the file, what is in it, and the phases that rounds are counted in.
const KINDS: [(&str, &str, &[&str]); 7] = [
    ("mail.f", FILEBENCH, &["run"]),
    ("pool.toml", POOL, &["transactions"]),
    ("phases.toml", PHASES, &["read"]),
    ("create.toml", CREATE, &["create 4KiB", "remove 4KiB"]),
    ("mark.toml", MARK, &["create", "remove"]),
    ("lat.toml", LAT, &["create 4KiB", "remove 4KiB"]),
    ("client.txt", CLIENT, &["execute"]),
];

/// The record of a run in memory; nothing is left behind.
fn record(file: &str, text: &str, options: &[&str]) -> Value {
    let bed = Bed::in_memory().unwrap();
    bed.file(file, text);
    let target = bed.target().to_str().unwrap().to_owned();
    let fixed = ["run", file, "--target", &target, "--json", "-", "--quiet"];
    let seen = bed.run(&[&fixed[..], options].concat());
    assert_eq!(seen.code, 0, "{file} {options:?}: {}", seen.text());
    let left = fs::read_dir(bed.target()).unwrap().count();
    assert_eq!(left, 0, "{file} {options:?}");
    serde_json::from_str(&seen.stdout).unwrap()
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
fn a_number_of_operations_is_exact_whatever_the_work() {
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
                    "pool.toml" => cell["phase_figures"]["totals"]["transactions"]
                        .as_u64()
                        .unwrap_or(1001),
                    _ => count(cell),
                };
                assert_eq!(done, 1001, "{} {options:?}", kind.0);
                assert_eq!(cell["total"]["errors"], 0, "{}", kind.0);
            }
        }
    }
}

#[test]
fn rounds_are_due_at_the_rate_that_is_asked_for() {
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
fn what_is_due_in_a_time_is_what_the_rate_says() {
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
        let asked = |cell: &Value| cell["open_loop"]["asked_per_second"].as_f64();
        let peaks = counted.iter().filter(|it| asked(it).is_none());
        let peaks: Vec<f64> = peaks
            .map(|it| it["total"]["per_second"].as_f64().unwrap())
            .collect();
        assert_eq!(peaks.len(), kind.2.len(), "{}", kind.0);
        let slowest = peaks.into_iter().reduce(f64::min).unwrap();
        let rates: Vec<f64> = counted.iter().filter_map(|it| asked(it)).collect();
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
fn flows_of_a_worker_have_a_part_of_the_work_each() {
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
fn space_is_written_before_files_lie_in_it() {
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
fn phases_that_have_a_time_go_on_until_they_are_steady() {
    for kind in [KINDS[0], KINDS[2], KINDS[6]] {
        let set = ["--set", "steady.range=100", "--set", "steady.excursion=100"];
        let rounds = ["--until", "steady", "--run-time", "200ms"];
        let cells = cells(kind, &[&rounds[..], &set].concat());
        let cell = of_phases(&cells, kind.2)[0];
        // On a busy machine no rounds are alike.
        assert_ne!(cell["steady"]["verdict"], "not-yet", "{}", kind.0);
        assert_eq!(cell["status"], "complete", "{}", kind.0);
    }
    let bed = Bed::in_memory().unwrap();
    bed.file(
        "untimed.toml",
        PHASES
            .replace("run_time = 1\n", "")
            .replace("body", "rounds = 3\nbody"),
    );
    let seen = bed.run(&["check", "untimed.toml", "--until", "steady"]);
    seen.assert_refused(2, &["no phase of `untimed` ends by time", "help: "]);
}

#[test]
fn files_that_are_there_are_read_before_they_are_worked_on() {
    let warm = cells(KINDS[2], &["--set", "warm=true", "--operations", "10"]);
    assert_eq!(warm.len(), 1, "what reads them is not in the record");
    let bed = Bed::in_memory().unwrap();
    bed.file("client.txt", CLIENT);
    let seen = bed.run(&["check", "client.txt", "--set", "warm=true"]);
    seen.assert_refused(2, &["its files are made as a part of the work", "help: "]);
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
fn what_was_written_is_read_again_however_files_are_worked_on() {
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
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(it) if it.is_dir() => found.extend(files_of(size_bytes, &path)),
            Ok(it) if it.len() == size_bytes => found.push(path),
            _ => {}
        }
    }
    found
}

#[test]
fn every_block_that_was_changed_meanwhile_is_found() {
    const BLOCK: usize = 4096;
    const FILE: u64 = 1 << 20;
    let text = "[[fileset]]\nname = \"a\"\ncount = 4\nsize = \"1MiB\"\n\
         [[phase]]\nname = \"write\"\n[[phase.group]]\nbody = [\n\
         { create = \"a\" }, { write = \"size\", piece = \"64KiB\" }, \"close\" ]\n\
         [[phase]]\nname = \"hold\"\n[[phase.group]]\nrounds = 1\nbody = [\n\
         { stat = \"a\" }, { think = \"20s\" } ]\n\
         [[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n\
         { open = \"a\" }, { read = \"rest\", piece = \"4KiB\" }, \"close\" ]\n";
    let bed = Bed::in_memory().unwrap();
    bed.file("blocks.toml", text);
    let target = bed.target().to_str().unwrap().to_owned();
    let mut command = bed.command(&["run", "blocks.toml", "--target", &target, "--verify"]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for("all files", || files_of(FILE, bed.target()).len() == 4);
    let id = Pid::from_raw(child.id().cast_signed()).unwrap();
    kill_process(id, Signal::STOP).unwrap();
    let mut left = 1000;
    for path in files_of(FILE, bed.target()) {
        let file = fs::File::options()
            .read(true)
            .write(true)
            .open(path)
            .unwrap();
        for at in (0..FILE).step_by(BLOCK).take(left) {
            let mut block = [0; BLOCK];
            file.read_exact_at(&mut block, at).unwrap();
            block.iter_mut().for_each(|byte| *byte = !*byte);
            file.write_all_at(&block, at).unwrap();
            left -= 1;
        }
    }
    kill_process(id, Signal::CONT).unwrap();
    let seen = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&seen.stderr) + String::from_utf8_lossy(&seen.stdout);
    assert!(
        text.contains("1000 reads did not return what was written"),
        "{text}"
    );
}
