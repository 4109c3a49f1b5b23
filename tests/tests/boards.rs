//! Boards in other commands: `serve --board`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use end_to_end::{ScratchTarget, Server};
use serde_json::Value;

const READS: &str = "size = \"4m\"\ncache = \"buffered\"\nrun_time = \"100ms\"\nramp_time = 0\n\
    iodepth = 1\n[[access_spec]]\nname = \"Reads\"\nline = [{ size = \"4k\", random = 100 }]\n";
/// A directory with an empty board and a workload.
fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("reads.toml", READS);
    output(&bed, &["board", "init", "board", "--empty"]);
    bed
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn output(bed: &ScratchTarget, arguments: &[&str]) -> String {
    let output = bed.run(arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

/// Measures the reads, and returns the id of the run.
fn measured(bed: &ScratchTarget) -> String {
    let (finished, record) = bed.record(&["reads.toml"]);
    assert_eq!(finished.code, 0, "{}", finished.text());
    record["id"].as_str().unwrap().to_owned()
}

/// Adds a run to the board.
fn add(bed: &ScratchTarget, run: &str, title: &str, more: &[&str]) {
    let texts = ["--title", title, "--submitter", "Ann", "--license", "CC0"];
    output(
        bed,
        &[&["board", "add", run, "--board", "board"], &texts[..], more].concat(),
    );
}

#[test]
fn a_server_without_a_board_has_none() {
    let bed = bed();
    let run = measured(&bed);
    let server = Server::start(&bed, &[]);
    assert_eq!(server.get("/api").json()["board"], Value::Null);
    for path in ["/board/index.html", &format!("/api/runs/{run}/standings")] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        let error = answer.json();
        assert_eq!(error["error"], "this server shows no board");
        assert_eq!(error["help"], "start `pgmeter serve` with `--board DIR`");
    }
    let nowhere = bed.run(&["serve", "--board", "nowhere", "--listen", "127.0.0.1:0"]);
    nowhere.assert_refused(2, &["nowhere/board.toml", "pgmeter board init"]);
}

#[test]
fn a_server_shows_its_board_as_it_is_now() {
    let bed = bed();
    let first = measured(&bed);
    add(&bed, &first, "First <b>", &["--new-table", "reads"]);
    let server = Server::start(&bed, &["--board", "board"]);
    let facts = server.get("/api").json();
    let board = bed.path().join("board").canonicalize().unwrap();
    assert_eq!(facts["board"].as_str(), board.to_str());
    let page = server.get("/board/index.html");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(
        page.body.contains("First &lt;b&gt;") && !page.body.contains("Second"),
        "{}",
        page.body
    );
    assert_eq!(
        server.ask_bare("GET /board/index.html", &[], "").status,
        401
    );
    let policy = page.header("content-security-policy").unwrap();
    assert!(
        policy.contains("frame-ancestors 'none'") && policy.contains("script-src 'sha256-"),
        "{policy}"
    );
    for (path, kind) in [
        ("tables/reads.html", "text/html; charset=utf-8"),
        ("submissions/first-b.html", "text/html; charset=utf-8"),
        (
            "submissions/first-b-report.html",
            "text/html; charset=utf-8",
        ),
        ("submissions/first-b-record.json", "application/json"),
        ("board.json", "application/json"),
        ("tables/reads.csv", "text/csv; charset=utf-8"),
        ("feed.xml", "application/atom+xml; charset=utf-8"),
    ] {
        let answer = server.get(&format!("/board/{path}"));
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(kind), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        // Each page has a policy of its own, which the header must not contradict.
        if let Some((_, rest)) = answer.body.split_once("script-src ") {
            let own = rest.split(';').next().unwrap();
            assert!(policy.contains(own), "{path}: {own} {policy}");
        }
    }
    only_files_of_the_site_are_served(&server);
    add(&bed, &measured(&bed), "Second", &[]);
    let page = server.get("/board/index.html");
    assert!(page.body.contains("Second"), "{}", page.body);
    fs::remove_dir_all(bed.path().join("board/submissions/second")).unwrap();
    let page = server.get("/board/index.html");
    assert!(!page.body.contains("Second"), "{}", page.body);
    bed.file("board/board.toml", "format = 1\n");
    let broken = server.get("/board/index.html");
    assert_eq!(broken.status, 400, "{}", broken.body);
    assert!(broken.body.contains("board.toml:1"), "{}", broken.body);
}

fn only_files_of_the_site_are_served(server: &Server) {
    for path in [
        "board.toml",
        "../board.toml",
        "%2e%2e/board.toml",
        "..%2fboard.toml",
        "tables",
        "tables/other.html",
        "%2fetc%2fhosts.html",
        "a%00.html",
    ] {
        assert_eq!(server.get(&format!("/board/{path}")).status, 404, "{path}");
    }
}

#[test]
fn a_server_says_where_a_run_stands_on_its_board() {
    let bed = bed();
    add(&bed, &measured(&bed), "First", &["--new-table", "reads"]);
    let second = measured(&bed);
    let server = Server::start(&bed, &["--board", "board"]);
    let standings = server.get(&format!("/api/runs/{second}/standings"));
    assert_eq!(standings.status, 200, "{}", standings.body);
    let ranked = output(
        &bed,
        &["board", "rank", &second, "--board", "board", "--json"],
    );
    let ranked: Value = serde_json::from_str(&ranked).unwrap();
    assert_eq!(standings.json(), ranked);
    let standing = ranked["standings"][0]["standing"].as_str().unwrap();
    assert!(standing.contains(" of 2 by IOPS ("), "{standing}");
    bed.file("other.toml", READS.replace("4k", "8k"));
    let (_, other) = bed.record(&["other.toml"]);
    let other = server.get(&format!(
        "/api/runs/{}/standings",
        other["id"].as_str().unwrap()
    ));
    assert_eq!(other.status, 200, "{}", other.body);
    assert_eq!(other.json()["standings"], serde_json::json!([]));
    bed.run(&["board", "rank", "last", "--board", "board"])
        .assert_refused(2, &["no table of the board ranks the work of this run"]);
}
