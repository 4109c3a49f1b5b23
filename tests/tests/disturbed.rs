//! Runs that something befalls: their files are removed, their process stands still.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;
use std::process::Child;

use end_to_end::{Bed, run_tool, wait_for};
use serde_json::Value;

const READS: &str = "size = \"4m\"\nrun_time = 60\nramp_time = 0\ncache = \"buffered\"\n\
    [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

fn signal(child: &Child, name: &str) {
    run_tool("kill", &[&format!("-{name}"), &child.id().to_string()]).unwrap();
}

/// Whether a thread of the process has a name that begins so.
fn has_thread(child: &Child, begin: &str) -> bool {
    let tasks = fs::read_dir(Path::new("/proc").join(child.id().to_string()).join("task"));
    let mut names = tasks
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("comm")).ok());
    names.any(|name| name.starts_with(begin))
}

/// Starts a run that is at work: its files are open.
fn at_work(bed: &Bed, arguments: &[&str]) -> Child {
    let target = bed.target().to_string_lossy().into_owned();
    let common = ["run", "--target", &target, "--json", "saved.json"];
    let child = bed.start(&[&common, arguments].concat());
    wait_for("a worker", || has_thread(&child, "worker-"));
    child
}

/// The record that a run has saved.
fn saved(bed: &Bed) -> Value {
    let text = fs::read_to_string(bed.path().join("saved.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The messages of a record's warnings with that code.
fn warnings(record: &Value, code: &str) -> Vec<String> {
    let all = record["warnings"].as_array().unwrap().iter();
    let of_code = all.filter(|warning| warning["code"] == code);
    of_code
        .map(|warning| warning["message"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_target_that_is_removed_in_mid_run_is_told() {
    for workload in ["reads.toml", "postmark"] {
        let bed = Bed::new().unwrap();
        bed.file("reads.toml", READS);
        let more = ["--set", "transactions=1000000000"];
        let more: &[&str] = if workload == "postmark" { &more } else { &[] };
        let mut child = at_work(&bed, &[&[workload], more].concat());
        // Files may be made in it meanwhile.
        wait_for("its removal", || fs::remove_dir_all(bed.target()).is_ok());
        signal(&child, "INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let told = warnings(&saved(&bed), "target-lost");
        let lost = bed.target().join("pgmeter.work");
        let wanted = format!("`{}` was removed during the run", lost.display());
        assert_eq!(told.len(), 1, "{workload}: {told:?}");
        assert!(told[0].starts_with(&wanted), "{told:?}");
    }
}
