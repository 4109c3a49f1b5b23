//! `pgmeter selftest` of a program that was built with one bucket of its histograms broken.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{ScratchTarget, finish};
use serde_json::Value;

/// Compiles what belongs to this workspace with a bucket broken.
const COMPILER: &str = "#!/bin/sh\nexec \"$@\" --cfg broken_bucket\n";

/// Builds the program with one bucket of its histograms broken, and an example: with one, other
/// people's crates have the features that they have for tests, and are not built again. The program
/// goes elsewhere, so that no other test meets it.
fn broken_build() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    // This test's own path is `<target>/debug/deps/<name>`.
    let own = std::env::current_exe().unwrap();
    let shared = own.ancestors().nth(3).unwrap();
    let broken = shared.join("broken-bucket");
    std::fs::create_dir_all(&broken).unwrap();
    let compiler = broken.join("compiler");
    std::fs::write(&compiler, COMPILER).unwrap();
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build
        .args(["build", "--quiet", "--workspace"])
        .args(["--bin", "pgmeter", "--example", "reference"])
        .current_dir(workspace)
        .env("RUSTC_WORKSPACE_WRAPPER", &compiler)
        .env("CARGO_BUILD_BUILD_DIR", shared)
        .env("CARGO_TARGET_DIR", &broken);
    assert!(build.status().unwrap().success());
    broken.join("debug/pgmeter")
}

#[test]
fn selftest_finds_a_build_with_a_broken_bucket() {
    let bed = ScratchTarget::new().unwrap();
    let intact = bed.command(&["selftest", "--engine", "null", "--json", "found.json"]);
    let mut broken = Command::new(broken_build());
    let given = intact.get_envs();
    broken
        .args(intact.get_args())
        .current_dir(bed.path())
        .envs(given.filter_map(|(name, value)| Some((name, value?))));
    let finished = finish(&mut broken);
    // Wrong, where a busy machine alone would be 3.
    assert_eq!(finished.code, 1, "{}", finished.text());
    let text = std::fs::read_to_string(bed.path().join("found.json")).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap();
    let checks = report["checks"].as_array().unwrap().iter();
    let wrong = checks.filter(|check| check["outcomes"][0]["verdict"] == "wrong");
    let wrong: Vec<&Value> = wrong.map(|check| &check["name"]).collect();
    assert_eq!(wrong, ["histogram"], "{}", finished.text());
    assert!(
        finished.stdout.contains("percentiles are wrong"),
        "{}",
        finished.text()
    );
}
