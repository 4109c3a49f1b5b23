//! Several processes do what as many workers of one process would.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod crew;

use std::collections::BTreeMap;

use crew::Site;
use serde_json::Value;

/// Operations by their names.
type Counts = BTreeMap<String, u64>;

fn counts_of(operations: &Value) -> Counts {
    let operations = operations.as_object().unwrap().iter();
    let counts = operations.map(|(name, it)| (name.clone(), it["count"].as_u64().unwrap()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// What each worker did in each phase.
fn counts(record: &Value) -> Vec<Vec<Counts>> {
    let cells = record["cells"].as_array().unwrap().iter();
    let of_cell = |cell: &Value| {
        let workers = cell["worker_figures"].as_array().unwrap();
        let operations = workers.iter().map(|it| counts_of(&it["operations"]));
        operations.collect()
    };
    cells.map(of_cell).collect()
}

/// Measures a workload by four processes of a worker each and by one of four workers.
fn both(name: &str, text: &str) -> [Value; 2] {
    let site = Site::new(&[]);
    site.bed.file(name, text);
    let shared = site.record("a,b,c,d", &[name]);
    assert!(site.bed.left_in_target().is_empty());
    let (_, alone) = site.bed.record(&[name, "--workers", "4"]);
    [shared, alone]
}

fn assert_alike(name: &str, text: &str) {
    let [shared, alone] = both(name, text);
    let (of_ranks, of_workers) = (counts(&shared), counts(&alone));
    assert!(of_workers.iter().flatten().any(|it| !it.is_empty()));
    assert_eq!(of_ranks, of_workers, "{name}");
    for (cell, workers) in shared["cells"].as_array().unwrap().iter().zip(&of_ranks) {
        let ranks = cell["crew"]["ranks"].as_array().unwrap();
        let each = ranks.iter().map(|it| it["count"].as_u64().unwrap());
        assert_eq!(each.sum::<u64>(), cell["total"]["count"].as_u64().unwrap());
        assert_eq!(ranks.len(), workers.len());
    }
}

#[test]
fn postmark_by_four_processes_counts_what_four_workers_count() {
    let text = "[postmark]\nnumber = 200\ntransactions = 400\n";
    assert_alike("postmark.toml", text);
}

#[test]
fn creating_and_removing_by_four_processes_counts_what_four_workers_count() {
    assert_alike(
        "remove.toml",
        "[create_remove]\ncount = 300\nsizes = [0, 4096]\n",
    );
}

#[test]
fn operations_are_shared_out_as_among_workers() {
    let text = "engine = \"null\"\nsize = \"16m\"\noperations = 40003\nseed = 5\n\
        [[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 70 }]\n";
    assert_alike("null.toml", text);
}

#[test]
fn what_ranks_wrote_and_verified_is_what_workers_would() {
    let text = "engine = \"psync\"\ncache = \"buffered\"\nsize = \"4m\"\noperations = 4000\n\
        verify = true\nseed = 5\n\
        [[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 50 }]\n";
    let [shared, alone] = both("verify.toml", text);
    assert_eq!(counts(&shared), counts(&alone));
    for record in [shared, alone] {
        assert!(!record["warnings"].to_string().contains("verify-mismatch"));
    }
}
