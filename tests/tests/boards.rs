//! Boards in other commands: `serve --board`, and `paper run` and `lab run` with `--board`.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;

use end_to_end::{ScratchTarget, Server};
use serde_json::Value;

const READS: &str = "size = \"4m\"\ncache = \"buffered\"\nrun_time = \"100ms\"\nramp_time = 0\n\
    iodepth = 1\n[[access_spec]]\nname = \"Reads\"\nline = [{ size = \"4k\", random = 100 }]\n";
const TEXTS: [&str; 6] = [
    "--title",
    "Mine",
    "--submitter",
    "Ann",
    "--license",
    "CC0-1.0",
];

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

/// Names of the submissions.
fn submissions(bed: &ScratchTarget) -> Vec<String> {
    let directory = bed.path().join("board/submissions");
    let names = fs::read_dir(directory).into_iter().flatten();
    let names = names.map(|it| it.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn file_of(bed: &ScratchTarget, submission: &str, name: &str) -> String {
    let directory = bed.path().join("board/submissions").join(submission);
    fs::read_to_string(directory.join(name)).unwrap()
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

#[test]
fn a_lab_adds_a_submission_per_file_system_with_all_repetitions() {
    let bed = bed();
    fs::create_dir_all(bed.path().join("other")).unwrap();
    let [one, other] = [bed.target().to_owned(), bed.path().join("other")];
    let choices = format!("path:{},path:{}", one.display(), other.display());
    let measure = [
        "lab",
        "run",
        "reads.toml",
        "--fs",
        &choices,
        "--repetitions",
        "3",
    ];
    let board = ["--board", "board", "--new-table", "reads"];
    let finished = bed.run(&[&measure, &board[..], &TEXTS].concat());
    assert_eq!(finished.code, 0, "{}", finished.text());
    assert_eq!(submissions(&bed).len(), 2, "{}", finished.text());
    let stderr = &finished.stderr;
    assert!(stderr.contains("replaced path `"), "{stderr}");
    assert_eq!(stderr.matches("added submissions/").count(), 2, "{stderr}");
    let mut titles = Vec::new();
    for name in submissions(&bed) {
        let about = file_of(&bed, &name, "submission.toml");
        titles.extend(about.lines().nth(1).map(str::to_owned));
        assert!(about.contains("title = \"Mine, "), "{about}");
        assert!(about.contains("Joined from 3 runs"), "{about}");
        let record = file_of(&bed, &name, "record.json");
        assert!(!record.contains(one.to_str().unwrap()), "{record}");
        assert!(!record.contains(other.to_str().unwrap()), "{record}");
        let record: Value = serde_json::from_str(&record).unwrap();
        let cells = record["cells"].as_array().unwrap();
        let repetitions: Vec<u64> = cells
            .iter()
            .map(|it| it["repetition"].as_u64().unwrap())
            .collect();
        assert_eq!(repetitions, [0, 1, 2]);
    }
    assert_ne!(titles[0], titles[1]);
    let lint = bed.run(&["board", "lint", "board"]);
    assert_eq!(lint.code, 0, "{}", lint.text());
    output(&bed, &["board", "build", "board", "-o", "site"]);
    let site = fs::read_to_string(bed.path().join("site/board.json")).unwrap();
    let site: Value = serde_json::from_str(&site).unwrap();
    let places = site["tables"][0]["places"].as_array().unwrap();
    assert_eq!(places.len(), 2);
    assert_eq!(places[0]["value"]["n"], 3);
}

#[test]
fn a_result_that_no_table_ranks_is_measured_and_stored_but_not_added() {
    let bed = bed();
    let target = format!("path:{}", bed.target().display());
    let measure = [
        "lab",
        "run",
        "reads.toml",
        "--fs",
        &target,
        "--repetitions",
        "1",
    ];
    let finished = bed.run(&[&measure[..], &["--board", "board"], &TEXTS].concat());
    assert_eq!(finished.code, 1, "{}", finished.text());
    assert!(finished.stderr.contains("E13"), "{}", finished.stderr);
    assert!(finished.stdout.contains("reads"), "{}", finished.stdout);
    assert_eq!(submissions(&bed), [""; 0]);
    assert_eq!(bed.listed(&[]).len(), 1);
}

#[test]
fn missing_boards_texts_and_tables_are_refused_before_measuring() {
    let bed = bed();
    output(&bed, &["board", "init", "papers"]);
    let target = bed.target().to_str().unwrap();
    let path = format!("path:{target}");
    let lab = ["lab", "run", "reads.toml", "--fs", &path];
    let paper = ["paper", "run", "netapp-postmark-1", "--target", target];
    let board = ["--board", "board"];
    let papers = ["--board", "papers"];
    let scaled = ["--scale", "0.01"];
    let cases: [[&[&str]; 4]; 8] = [
        [
            &lab,
            &["--board", "nowhere"],
            &TEXTS,
            &["nowhere/board.toml"],
        ],
        [
            &paper,
            &["--board", "nowhere"],
            &TEXTS,
            &["nowhere/board.toml"],
        ],
        [&lab, &board, &TEXTS[..2], &["needs `--submitter`"]],
        [&paper, &papers, &TEXTS[..4], &["needs `--license`"]],
        [&lab, &[], &TEXTS, &["`--title`", "add `--board DIR`"]],
        [&paper, &board, &TEXTS, &["no table of the board ranks"]],
        [
            &[&paper, &scaled[..]].concat(),
            &papers,
            &TEXTS,
            &["only its full size", "`--scale`"],
        ],
        [
            &lab,
            &["--board", "papers", "--new-table", "lfs-postmark"],
            &TEXTS,
            &["already has a table `lfs-postmark`"],
        ],
    ];
    for [command, named, texts, phrases] in cases {
        let refused = bed.run(&[command, named, texts].concat());
        refused.assert_refused(2, phrases);
    }
    assert_eq!(bed.listed(&[]).len(), 0);
}
