//! Several processes do what as many workers of one process would.

use std::collections::{BTreeMap, BTreeSet};

use crate::site::RelayHosts;
use end_to_end::{DBENCH_CALLS, READING_FILEBENCH};
use serde_json::Value;

/// Operations by their names.
type Counts = BTreeMap<String, u64>;

fn counts_of(operations: &Value) -> Counts {
    let operations = operations.as_object().unwrap().iter();
    let counts = operations.map(|(name, it)| (name.clone(), it["count"].as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Operations of each worker in each phase.
fn counts(record: &Value) -> Vec<Vec<Counts>> {
    let cells = record["cells"].as_array().unwrap().iter();
    let cell_counts = |cell: &Value| {
        let workers = cell["worker_figures"].as_array().unwrap();
        let operations = workers.iter().map(|it| counts_of(&it["operations"]));
        operations.collect()
    };
    cells.map(cell_counts).collect()
}

/// Measures a workload with four processes of one worker each, and with one process of four
/// workers.
fn both(name: &str, text: &str, four: &[&str]) -> [Value; 2] {
    let site = RelayHosts::new(&[]);
    site.bed.file(name, text);
    let shared = site.record("a,b,c,d", &[name]);
    assert!(site.bed.left_in_target().is_empty());
    let target = site.bed.target().to_string_lossy().into_owned();
    let run = [&["run", name, "--target", &target], four].concat();
    let output = site
        .bed
        .run(&[&run[..], &["--json", "-", "--quiet"]].concat());
    let alone =
        serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{}", output.text()));
    [shared, alone]
}

fn assert_alike(name: &str, text: &str, four: &[&str]) {
    let [shared, alone] = both(name, text, four);
    let (of_ranks, of_workers) = (counts(&shared), counts(&alone));
    assert!(of_workers.iter().flatten().any(|it| !it.is_empty()));
    assert_eq!(of_ranks, of_workers, "{name}");
    for (cell, workers) in shared["cells"].as_array().unwrap().iter().zip(&of_ranks) {
        let ranks = cell["crew"]["ranks"].as_array().unwrap();
        let rank_counts = ranks.iter().map(|it| it["count"].as_u64().unwrap());
        assert_eq!(
            rank_counts.sum::<u64>(),
            cell["total"]["count"].as_u64().unwrap()
        );
        assert_eq!(ranks.len(), workers.len());
    }
}

#[test]
fn postmark_with_four_processes_counts_the_same_as_with_four_workers() {
    let text = "[postmark]\nnumber = 200\ntransactions = 400\n";
    assert_alike("postmark.toml", text, &["--workers", "4"]);
}

#[test]
fn creating_files_with_four_processes_counts_the_same_as_with_four_workers() {
    let text = "[fs_mark]\nfiles = 100\nsize = \"4KiB\"\n";
    assert_alike("mark.toml", text, &["--set", "fs_mark.threads=4"]);
}

#[test]
fn processes_share_the_files_of_one_directory_like_workers() {
    let text = "[create_remove]\ncount = 300\nsizes = [0, 4096]\n";
    assert_alike("remove.toml", text, &["--workers", "4"]);
}

#[test]
fn each_phase_records_when_its_processes_started() {
    let site = RelayHosts::new(&[]);
    site.bed.file(
        "remove.toml",
        "[create_remove]\ncount = 300\nsizes = [0, 4096]\n",
    );
    let record = site.record("a,b", &["remove.toml"]);
    let cells = record["cells"].as_array().unwrap().iter();
    let begins = cells.map(|cell| {
        let ranks = cell["crew"]["ranks"].as_array().unwrap().iter();
        let begins: Vec<i64> = ranks.map(|it| it["begin_ns"].as_i64().unwrap()).collect();
        let spread_ns = begins[0].abs_diff(begins[1]);
        assert_eq!(cell["crew"]["start_spread_ns"].as_u64(), Some(spread_ns));
        begins
    });
    let begins: Vec<Vec<i64>> = begins.collect();
    let distinct: BTreeSet<&Vec<i64>> = begins.iter().collect();
    assert!(begins.len() > 1, "{begins:?}");
    assert_eq!(distinct.len(), begins.len(), "{begins:?}");
}

#[test]
fn workloads_that_need_a_single_process_are_refused_early() {
    for (name, text, why) in [
        ("lat.toml", "[lat_fs]\n", "one process measures"),
        (
            "files.f",
            READING_FILEBENCH,
            "its own keys set the number of workers",
        ),
        (
            "calls.txt",
            DBENCH_CALLS,
            "its recorded calls are not part of the plan",
        ),
    ] {
        let site = RelayHosts::new(&[]);
        site.bed.file(name, text);
        let (output, _) = site.run("a,b,c,d", &[name]);
        output.assert_refused(2, &["cannot be shared by 4 processes", why]);
        site.wait_for_workers();
        assert!(site.bed.left_in_target().is_empty());
    }
}

#[test]
fn processes_share_operations_like_workers() {
    let text = "engine = \"null\"\nsize = \"16m\"\noperations = 40003\nramp_time = 0\nseed = 5\n\
        [[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 70 }]\n";
    assert_alike("null.toml", text, &["--workers", "4"]);
}

const PHASES: &str = "[[fileset]]\nname = \"mail\"\ncopies = \"per-worker\"\ncount = 20\n\
    present = \"100%\"\n\
    size = \"16k\"\n\
    [[phase]]\nname = \"read\"\n[[phase.group]]\nrounds = 50\nbody = [\n\
    { open = \"mail\", pick = \"around\", turn = \"own\" },\n\
    { read = \"rest\", piece = \"4k\" }, \"close\" ]\n";
const JOBS: &str = "[global]\nsize=1m\nioengine=psync\n[fill]\nrw=write\nbs=64k\n\
    [look]\nstonewall\nrw=randread\nbs=4k\n";

#[test]
fn phases_with_four_processes_count_the_same_as_with_four_workers() {
    assert_alike("phases.toml", PHASES, &["--workers", "4"]);
}

#[test]
fn each_process_runs_all_jobs_on_its_own_files() {
    let [shared, alone] = both("jobs.fio", JOBS, &["--workers", "4"]);
    for record in [shared, alone] {
        let cells = record["cells"].as_array().unwrap().iter();
        let counts: Vec<u64> = cells
            .map(|it| it["total"]["count"].as_u64().unwrap())
            .collect();
        assert_eq!(counts, [4 * 16, 4 * 256]);
    }
    let text = JOBS.replace("stonewall\n", "startdelay=1\n");
    let ends = text.replace("[fill]\n", "[fill]\nexitall\nwait_for=look\n");
    for text in [
        text,
        ends.replace("[look]\n", "[last]\n")
            .replace("wait_for=look\n", ""),
    ] {
        let [shared, _] = both("beside.fio", &text, &["--workers", "4"]);
        let total = shared["cells"][0]["total"]["count"].as_u64().unwrap();
        assert!(total >= 4 * 16, "{total}");
    }
}

#[test]
fn an_operation_count_is_the_total_of_all_processes_for_every_kind() {
    for (name, text) in [
        ("phases.toml", PHASES),
        ("jobs.fio", JOBS),
        ("pool.toml", "[postmark]\nnumber = 2000\n"),
        ("create.toml", "[create_remove]\nsizes = 4096\n"),
        ("mark.toml", "[fs_mark]\nfiles = 20\nsize = \"4KiB\"\n"),
    ] {
        let site = RelayHosts::new(&[]);
        site.bed.file(name, text);
        let record = site.record("a,b,c,d", &[name, "--operations", "1001"]);
        let cells = record["cells"].as_array().unwrap().iter();
        // For a pool, only transactions count, not the phases before and after them.
        let counts = cells.filter_map(|cell| match name {
            "pool.toml" => cell["phase_figures"]["pool"]["transactions_count"].as_u64(),
            _ => cell["total"]["count"].as_u64(),
        });
        let counts: Vec<u64> = counts.collect();
        let are_exact = !counts.is_empty() && counts.iter().all(|count| *count == 1001);
        assert!(are_exact, "{name}: {counts:?}");
    }
}

#[test]
fn a_rate_is_the_total_of_all_processes_for_every_kind() {
    for (name, text) in [
        ("phases.toml", PHASES),
        ("jobs.fio", JOBS),
        ("pool.toml", "[postmark]\nnumber = 5000\n"),
    ] {
        let site = RelayHosts::new(&[]);
        site.bed.file(name, text);
        // After a ramp, a busy machine first does the requests that it still owes from the ramp.
        let rate = ["--rate", "400/s", "--operations", "400", "--ramp-time", "0"];
        let record = site.record("a,b", &[&[name], &rate[..]].concat());
        let cells = record["cells"].as_array().unwrap().iter();
        for cell in cells.filter(|cell| !cell["open_loop"].is_null()) {
            assert_eq!(cell["total"]["count"], 400, "{name}");
            let seconds = cell["run_time_ns"].as_u64().unwrap() as f64 / 1e9;
            // The first request is due immediately; a busy machine issues the last one later than
            // it is due.
            assert!(seconds > 0.99, "{name}: {seconds}");
        }
    }
}

#[test]
fn each_process_preconditions_its_own_files() {
    let access = "engine = \"psync\"\ncache = \"buffered\"\nsize = \"1m\"\noperations = 100\n\
        ramp_time = 0\n[[access_spec]]\nline = [{ size = \"4k\" }]\n";
    let pool = "[postmark]\nnumber = 20\n";
    for (name, text) in [
        ("access.toml", access),
        ("jobs.fio", JOBS),
        ("pool.toml", pool),
    ] {
        let [_, alone] = both(name, text, &["--precondition", "2x"]);
        let written = |record: &Value| {
            assert_eq!(record["preconditions"][0]["errors"], 0, "{name}");
            record["preconditions"][0]["bytes"].as_u64().unwrap()
        };
        let site = RelayHosts::new(&[]);
        site.bed.file(name, text);
        let shared = site.record("a,b", &[name, "--precondition", "2x"]);
        assert_eq!(written(&shared), 2 * written(&alone), "{name}");
    }
}

#[test]
fn ranks_write_and_verify_the_same_as_workers() {
    let text = "engine = \"psync\"\ncache = \"buffered\"\nsize = \"4m\"\noperations = 4000\n\
        ramp_time = 0\n\
        verify = true\nseed = 5\n\
        [[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 50 }]\n";
    let [shared, alone] = both("verify.toml", text, &["--workers", "4"]);
    assert_eq!(counts(&shared), counts(&alone));
    for record in [shared, alone] {
        assert!(!record["warnings"].to_string().contains("verify-mismatch"));
    }
}

#[test]
fn each_cell_runs_its_own_workload_even_with_identical_workers() {
    let site = RelayHosts::new(&[]);
    for (name, transactions) in [("few.toml", 30), ("many.toml", 70)] {
        let text = format!("[postmark]\nnumber = 2000\ntransactions = {transactions}\n");
        site.bed.file(name, text);
    }
    let record = site.record("a,b", &["few.toml", "many.toml"]);
    let cells = record["cells"].as_array().unwrap().iter();
    let pools = cells.filter_map(|it| it["phase_figures"]["pool"]["transactions_count"].as_u64());
    assert_eq!(pools.collect::<Vec<u64>>(), [60, 140]);
}
