//! `serve`: who may ask, what is answered, and that no run depends on it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use end_to_end::{
    HttpAnswer, LabSite, ScratchTarget, Server, StreamEvent, need, run_tool, token_file, wait_for,
};
use serde_json::{Value, json};

mod schemas;

use schemas::complaints;

/// A workload that touches nothing, of cells that take as long as is said.
fn null(cell_count: u32, run_time: &str) -> String {
    let depths: Vec<String> = (1..=cell_count).map(|depth| depth.to_string()).collect();
    format!(
        "engine = \"null\"\nsize = \"1m\"\nrun_time = \"{run_time}\"\nramp_time = 0\n\
         iodepth = [{}]\n[[access_spec]]\nname = \"Nothing\"\n\
         line = [{{ size = \"4k\", random = 100 }}]\n",
        depths.join(", ")
    )
}

/// A request for a run of that text on the bed's target.
fn run_request(bed: &ScratchTarget, text: &str) -> Value {
    json!({"workload": {"text": text, "name": "null.toml"}, "targets": [bed.target()]})
}

/// An answer with the document that it should be.
#[track_caller]
fn fits(bed: &ScratchTarget, schema: &str, status: u16, answer: &HttpAnswer) -> Value {
    assert_eq!(answer.status, status, "{}\n{}", answer.head, answer.body);
    let document = answer.json();
    let format = document["format"].as_str().unwrap_or_default();
    assert_eq!(format, format!("pgmeter-{schema}/1"));
    assert_eq!(complaints(bed, schema, &document), [""; 0]);
    document
}

/// Asks for a run, and waits until it is in the store.
fn begun(bed: &ScratchTarget, server: &Server, request: &Value) -> String {
    let entry = fits(
        bed,
        "serve-entry",
        202,
        &server.change("POST /api/runs", request),
    );
    let mut run = Value::Null;
    wait_for("a run in the store", || {
        let queue = server.get("/api/queue").json();
        let entries = queue["entries"].as_array().unwrap();
        let found = entries.iter().find(|it| it["id"] == entry["id"]).unwrap();
        run = found["run_id"].clone();
        let is_over = found["state"] == "ended";
        assert!(!run.is_null() || !is_over, "{found:#}");
        !run.is_null()
    });
    run.as_str().unwrap().to_owned()
}

/// The requested runs.
fn queued(server: &Server) -> Vec<Value> {
    let queue = server.get("/api/queue").json();
    queue["entries"].as_array().unwrap().clone()
}

fn status(server: &Server, run: &str) -> String {
    let view = server.get(&format!("/api/runs/{run}")).json();
    view["run"]["status"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn wait_for_status(server: &Server, run: &str, wanted: &str) {
    wait_for("the end of a run", || status(server, run) == wanted);
}

fn names(events: &[StreamEvent]) -> Vec<&str> {
    events.iter().map(|event| event.name.as_str()).collect()
}

#[test]
fn requests_with_another_host_header_are_always_refused() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let port = server.address.port();
    let with = |host: &str, path: &str| server.ask_with(&format!("GET {path}"), &[host], "").status;
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST:1",
        "localhost.",
        "[::1]:80",
    ] {
        assert_eq!(with(&format!("Host: {host}"), "/api"), 200, "{host}");
    }
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        "evil.localhost".to_owned(),
        "10.0.0.1".to_owned(),
        "[::ffff:10.0.0.1]".to_owned(),
        "127.0.0.1:99999".to_owned(),
        "localhost:x".to_owned(),
        String::new(),
    ] {
        for path in ["/api", "/", "/assets/page.css", "/enter", "/nothing"] {
            assert_eq!(with(&format!("Host: {host}"), path), 403, "{host} {path}");
        }
    }
    let head = format!("Authorization: Bearer {}\r\n", server.token);
    let raw = |text: String| server.raw(text.as_bytes()).status;
    let close = "Connection: close\r\n\r\n";
    assert_eq!(raw(format!("GET /api HTTP/1.1\r\n{head}{close}")), 403);
    let twice = "Host: localhost\r\nHost: evil.example\r\n";
    assert_eq!(
        raw(format!("GET /api HTTP/1.1\r\n{twice}{head}{close}")),
        400
    );
    let line = "GET http://evil.example/api HTTP/1.1\r\nHost: localhost\r\n";
    assert_eq!(raw(format!("{line}{head}{close}")), 403);
}

#[test]
fn nothing_is_answered_without_the_token() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    assert!(server.token.len() >= 32);
    let half = &server.token[..server.token.len() / 2];
    let long = format!("{}0", server.token);
    let referer = format!("Referer: http://{}/?token={}", server.address, server.token);
    for path in ["/api", "/", "/assets/page.js", "/api/runs", "/api/nothing"] {
        let line = format!("GET {path}");
        for headers in [
            vec![],
            vec!["Authorization: Bearer ".to_owned()],
            vec![format!("Authorization: Bearer {half}")],
            vec![format!("Authorization: Bearer {long}")],
            vec![format!("Authorization: Basic {}", server.token)],
            vec![format!(
                "Cookie: pgmeter-{}={}",
                server.address.port(),
                server.token
            )],
            vec!["Cookie: pgmeter=1".to_owned()],
            vec![referer.clone()],
        ] {
            let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
            let answer = server.ask_bare(&line, &headers, "");
            assert_eq!(answer.status, 401, "{path} {headers:?}");
            assert!(!answer.body.contains(&server.token) && !answer.head.contains(&server.token));
        }
    }
    let query = format!("GET /api?token={}", server.token);
    assert_eq!(server.ask_bare(&query, &[], "").status, 401);
}

#[test]
fn the_token_becomes_a_cookie_by_one_redirect() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let refused = server.ask_bare("GET /?token=wrong", &[], "");
    assert_eq!((refused.status, refused.header("set-cookie")), (401, None));
    let answer = server.ask_bare(&format!("GET /?token={}", server.token), &[], "");
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    let location = answer.header("location").unwrap();
    assert!(!location.contains("token"), "{location}");
    let cookie = answer.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains(&server.token));
    let pair = cookie.split(';').next().unwrap();
    assert!(pair.starts_with(&format!("pgmeter-{}=", server.address.port())));
    let cookie = format!("Cookie: other=1; {pair}");
    let page = server.ask_bare("GET /", &[&cookie], "");
    assert_eq!(page.status, 200);
    assert_eq!(server.ask_bare("GET /api", &[&cookie], "").status, 200);
    assert_eq!(
        server.ask_bare(&format!("GET {location}"), &[], "").status,
        200
    );
}

#[test]
fn every_response_blocks_pages_of_other_origins() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    for (line, token) in [
        ("GET /", true),
        ("GET /", false),
        ("GET /api", true),
        ("GET /api", false),
        ("GET /assets/page.js", true),
        ("GET /nothing", true),
        ("PATCH /api", true),
    ] {
        let answer = match token {
            true => server.ask_with(line, &["Origin: http://evil.example"], ""),
            false => server.ask_bare(line, &["Origin: http://evil.example"], ""),
        };
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        ] {
            assert!(policy.contains(part), "{line}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{line}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    assert_eq!(server.get("/api").header("cache-control"), Some("no-store"));
    let preflight = [
        "Origin: http://evil.example",
        "Access-Control-Request-Method: POST",
    ];
    let answer = server.ask_with("OPTIONS /api/runs", &preflight, "");
    assert!(answer.status >= 400 && answer.header("access-control-allow-methods").is_none());
}

#[test]
fn requests_that_change_something_must_be_same_origin_json() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let body = run_request(&bed, &null(1, "1s")).to_string();
    let own = format!("Origin: http://{}", server.address);
    let json = "Content-Type: application/json";
    let send = |headers: &[&str]| server.ask_with("POST /api/check", headers, &body).status;
    assert_eq!(send(&[json]), 200);
    assert_eq!(send(&[json, &own, "Sec-Fetch-Site: same-origin"]), 200);
    assert_eq!(
        send(&["Content-Type: application/json; charset=utf-8"]),
        200
    );
    for kind in [
        "Content-Type: text/plain",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Type: text/plain; application/json",
        "X-None: 1",
    ] {
        assert_eq!(send(&[kind]), 415, "{kind}");
    }
    for header in [
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: https://127.0.0.1",
        "Origin: http://127.0.0.1:1",
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
    ] {
        assert_eq!(send(&[json, header]), 403, "{header}");
    }
    // A figure of elsewhere's page cannot be made of an answer, either.
    let cross = ["Sec-Fetch-Site: cross-site"];
    assert_eq!(server.ask_with("GET /api/runs", &cross, "").status, 403);
    for line in [
        "GET /api/runs/last/stop",
        "GET /api/queue/pause",
        "POST /api/queue",
        "GET /api/check",
    ] {
        let status = server.change(line, &json!({})).status;
        assert!(status == 405 || status == 404, "{line}: {status}");
    }
    assert_eq!(queued(&server), [Value::Null; 0]);
}

#[test]
fn large_and_slow_requests_are_cut_off_while_others_are_served() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let json = "Content-Type: application/json";
    let head = format!(
        "POST /api/check HTTP/1.1\r\nHost: localhost\r\n{json}\r\nAuthorization: Bearer {}\r\n",
        server.token
    );
    let announced = format!("{head}Content-Length: 104857600\r\n\r\n");
    assert_eq!(server.raw(announced.as_bytes()).status, 413);
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n200000\r\n");
    let body = [chunked.as_bytes(), &vec![b' '; 0x20_0000]].concat();
    assert_eq!(server.raw(&body).status, 413);
    let wide = format!("X-Wide: {}", "x".repeat(20_000));
    assert_eq!(server.ask_with("GET /api", &[&wide], "").status, 431);
    let many: Vec<String> = (0..200).map(|number| format!("X-{number}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(server.ask_with("GET /api", &many, "").status, 431);
    // 40 connections wait for the rest of their requests. One more request is served immediately or
    // refused for lack of room, and the waiting connections time out.
    let mut slow: Vec<_> = (0..40).map(|_| server.connect()).collect();
    for stream in &mut slow {
        stream.write_all(b"GET /api HTTP/1.1\r\nHost: loc").unwrap();
    }
    let mut late = server.connect();
    late.write_all(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes())
        .unwrap();
    assert_eq!(server.get("/api").status, 200);
    assert_eq!(end_to_end::read_all(&mut late).status, 408);
    for stream in &mut slow {
        let status = end_to_end::read_all(stream).status;
        assert!(status == 0 || status == 408, "{status}");
    }
}

#[test]
fn a_thousand_idle_streams_are_served_or_refused() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", null(1, "100ms"));
    assert_eq!(bed.measure(&["null.toml", "--no-html"]).code, 0);
    bed.file("long.toml", null(1, "60s"));
    let target = bed.target().to_string_lossy().into_owned();
    let mut run = bed.start(&["run", "long.toml", "--target", &target, "--no-html"]);
    bed.wait_for_intervals(1);
    let server = Server::start(&bed, &[]);
    let request = format!(
        "GET /api/runs/last/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        server.token
    );
    let mut streams = Vec::new();
    let (mut served, mut refused) = (0, 0);
    for _ in 0..1000 {
        let mut stream = server.connect();
        let _ = stream.write_all(request.as_bytes());
        let mut beginning = [0; 12];
        match stream.read_exact(&mut beginning) {
            Ok(()) if beginning.ends_with(b"200") => {
                served += 1;
                streams.push(stream);
            }
            _ => refused += 1,
        }
    }
    assert!(
        served >= 10 && served + refused == 1000,
        "{served} {refused}"
    );
    drop(streams);
    wait_for("room", || server.get("/api").status == 200);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for_status(&server, "last", "interrupted");
}

#[test]
fn paths_outside_the_roots_or_the_folder_are_refused() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let target = bed.target().to_string_lossy().into_owned();
    let outside = bed.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, bed.target().join("link")).unwrap();
    for path in [
        outside.to_string_lossy().into_owned(),
        format!("{target}/../outside"),
        format!("{target}/link"),
        format!("{target}/none"),
        "/".to_owned(),
        "/dev/vda".to_owned(),
        format!("{target}\u{0}"),
        "target".to_owned(),
    ] {
        let mut request = run_request(&bed, &null(1, "1s"));
        request["targets"] = json!([path]);
        let status = server.change("POST /api/runs", &request).status;
        assert!(status == 403 || status == 400, "{path}: {status}");
        let query = path.replace('\u{0}', "%00");
        let status = server.get(&format!("/api/doctor?target={query}")).status;
        assert!(status == 403 || status == 400, "{path}: {status}");
    }
    let in_file = "size = \"1m\"\nrun_time = \"1s\"\n[[access_spec]]\nname = \"x\"\n\
        line = [{ size = \"4k\", random = 100 }]\n";
    let mut request = run_request(&bed, in_file);
    request["targets"] = json!([]);
    request["settings"] = json!({ "target": outside });
    let status = server.change("POST /api/runs", &request).status;
    assert!((400..500).contains(&status), "{status}");
    let mut request = run_request(&bed, in_file);
    request["overwrite_devices"] = json!(["/dev/vda"]);
    let answer = server.change("POST /api/runs", &request);
    assert!(fits(&bed, "serve-error", 403, &answer)["help"].is_string());
}

#[test]
fn no_name_or_run_id_reaches_a_foreign_file() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    for name in [
        "..%2f..%2fetc%2fpasswd",
        "%2fetc%2fpasswd",
        "..",
        ".hidden",
        "-x",
        "a%00b",
        "%0a",
    ] {
        for (line, body) in [
            (format!("GET /api/workloads/own/{name}"), json!({})),
            (
                format!("PUT /api/workloads/own/{name}"),
                json!({"text": "x"}),
            ),
            (format!("DELETE /api/workloads/own/{name}"), json!({})),
        ] {
            let status = server.change(&line, &body).status;
            assert!((400..500).contains(&status), "{line}: {status}");
        }
    }
    for choice in [
        json!({"own": "../x"}),
        json!({"builtin": "/etc/passwd"}),
        json!({"builtin": "-h"}),
        json!({"text": "x", "name": "../x"}),
        json!({"text": "x", "kind": "--db=/x"}),
        json!({}),
    ] {
        let answer = server.change("POST /api/show", &choice);
        assert!(
            (400..500).contains(&answer.status),
            "{choice}: {}",
            answer.body
        );
    }
    for selector in [
        "..%2f..%2fx",
        "%2fetc%2fpasswd",
        "-x",
        "last%00",
        "%3Cscript%3E",
    ] {
        for path in ["", "/page", "/record", "/csv", "/intervals", "/events"] {
            let status = server.get(&format!("/api/runs/{selector}{path}")).status;
            assert!((400..500).contains(&status), "{selector}{path}: {status}");
        }
        let status = server
            .get(&format!("/api/compare?runs={selector},last"))
            .status;
        assert!((400..500).contains(&status), "{selector}: {status}");
    }
    assert_eq!(queued(&server), [Value::Null; 0]);
}

#[test]
fn user_workloads_are_saved_and_links_are_not_followed() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let text = null(1, "1s");
    let put = |name: &str, replace: bool| {
        let line = format!("PUT /api/workloads/own/{name}");
        server.change(&line, &json!({"text": text, "replace": replace}))
    };
    let list = fits(&bed, "serve-own", 200, &put("My%20load.toml", false));
    assert_eq!(list["files"][0]["name"], "My load.toml");
    assert_eq!(put("My%20load.toml", false).status, 409);
    assert_eq!(put("My%20load.toml", true).status, 200);
    let got = server.get("/api/workloads/own/My%20load.toml");
    assert_eq!(fits(&bed, "serve-text", 200, &got)["text"], text.as_str());
    let folder = std::path::PathBuf::from(list["folder"].as_str().unwrap());
    let secret = bed.file("secret", "s");
    std::os::unix::fs::symlink(&secret, folder.join("link.toml")).unwrap();
    assert!(server.get("/api/workloads/own/link.toml").status >= 400);
    assert_eq!(put("link.toml", true).status, 409);
    let check = json!({"workload": {"own": "My load.toml"}, "targets": [bed.target()]});
    let checked = fits(
        &bed,
        "serve-check",
        200,
        &server.change("POST /api/check", &check),
    );
    assert_eq!(
        (&checked["is_understood"], &checked["may_start"]),
        (&json!(true), &json!(true))
    );
    let removed = server.change("DELETE /api/workloads/own/My%20load.toml", &json!({}));
    assert_eq!(fits(&bed, "serve-own", 200, &removed)["files"], json!([]));
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "s");
}

#[test]
fn a_workload_is_checked_by_line_converted_and_shown() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let invalid = format!("{}nothing = 1\n", null(1, "1s"));
    let answer = server.change("POST /api/check", &run_request(&bed, &invalid));
    let checked = fits(&bed, "serve-check", 200, &answer);
    assert_eq!(checked["is_understood"], false);
    let verdict = &checked["verdicts"][0];
    assert_eq!(
        (&verdict["severity"], &verdict["file"]),
        (&json!("error"), &json!("null.toml"))
    );
    assert_eq!(verdict["line"], invalid.lines().count());
    let answer = server.change("POST /api/check", &run_request(&bed, &null(2, "3s")));
    let checked = fits(&bed, "serve-check", 200, &answer);
    assert_eq!(checked["planned_ns"], 6_000_000_000_u64);
    assert_eq!(checked["plan"]["cells"].as_array().unwrap().len(), 2);
    let convert = json!({"workload": {"builtin": "file-server"}, "to": "icf"});
    let converted = fits(
        &bed,
        "serve-convert",
        200,
        &server.change("POST /api/convert", &convert),
    );
    assert!(
        converted["text"]
            .as_str()
            .unwrap()
            .contains("'ACCESS SPECIFICATIONS")
    );
    let shown = server.change("POST /api/show", &json!({"builtin": "file-server"}));
    let shown = fits(&bed, "show", 200, &shown);
    assert!(shown["toml"].as_str().unwrap().contains("access_spec"));
    fits(&bed, "list", 200, &server.get("/api/workloads"));
    fits(&bed, "keys", 200, &server.get("/api/keys"));
    fits(&bed, "paper-list", 200, &server.get("/api/papers"));
    let facts = fits(&bed, "serve", 200, &server.get("/api"));
    let root = facts["roots"][0]["path"].as_str().unwrap();
    assert_eq!(root, bed.target().canonicalize().unwrap().to_str().unwrap());
    for missing in [
        json!({"workload": {"builtin": "nothing"}}),
        json!({"unknown": 1}),
        json!([]),
    ] {
        let answer = server.change("POST /api/check", &missing);
        assert!(
            answer.status == 404 || answer.status == 400,
            "{}",
            answer.body
        );
        fits(&bed, "serve-error", answer.status, &answer);
    }
}

#[test]
fn a_run_is_started_watched_kept_compared_and_removed() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let mut request = run_request(&bed, &null(2, "1500ms"));
    request["note"] = json!("<script>alert(1)</script>");
    request["tags"] = json!(["first"]);
    let first = begun(&bed, &server, &request);
    let events = server.events(&format!("/api/runs/{first}/events"), None, "run-end");
    let received = names(&events);
    assert_eq!(
        (received[0], *received.last().unwrap()),
        ("hello", "run-end")
    );
    let count = |name: &str| received.iter().filter(|it| **it == name).count();
    assert_eq!(
        (count("cell-start"), count("cell-end")),
        (2, 2),
        "{received:?}"
    );
    assert_eq!(events.last().unwrap().data["status"], "complete");
    let view = fits(
        &bed,
        "serve-run",
        200,
        &server.get(&format!("/api/runs/{first}")),
    );
    assert_eq!(view["run"]["note"], "<script>alert(1)</script>");
    assert_eq!(view["run"]["tags"], json!(["first"]));
    assert_eq!(view["planned"].as_array().unwrap().len(), 2);
    assert_eq!(view["cells"].as_array().unwrap().len(), 2);
    let path = format!("/api/runs/{first}/intervals");
    let intervals = fits(&bed, "serve-intervals", 200, &server.get(&path));
    assert!(intervals["cells"][1]["is_complete"].as_bool().unwrap());
    assert!(intervals["interval_count"].as_u64().unwrap() > 10);
    let few = server.get(&format!("{path}?cell=1&points=4")).json();
    assert!(few["cells"][0]["intervals"].as_array().unwrap().len() <= 4);
    let page = server.get(&format!("/api/runs/{first}/page"));
    assert_eq!(page.status, 200);
    assert!(!page.body.contains("<script>alert(1)"));
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'sha256-") && !policy.contains("connect-src"));
    let record = server.get(&format!("/api/runs/{first}/record"));
    assert_eq!(record.json()["id"], first.as_str());
    assert!(
        record
            .header("content-disposition")
            .unwrap()
            .contains("attachment")
    );
    assert!(
        server
            .get(&format!("/api/runs/{first}/csv"))
            .body
            .contains(',')
    );
    let second = begun(&bed, &server, &run_request(&bed, &null(2, "300ms")));
    wait_for_status(&server, &second, "complete");
    let answer = server.get(&format!("/api/compare?runs={first},{second}"));
    fits(&bed, "compare", 200, &answer);
    let page = server.get(&format!("/api/compare/page?runs={first},{second}"));
    assert!(page.status == 200 && page.body.contains("<html"));
}

#[test]
fn intervals_are_sent_while_a_run_measures() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    // On a slow machine, a short run could be over before the stream begins.
    let run = begun(&bed, &server, &run_request(&bed, &null(1, "30m")));
    let events = server.events(&format!("/api/runs/{run}/events"), None, "interval");
    assert_eq!(names(&events).last(), Some(&"interval"));
    let answer = server.change(&format!("POST /api/runs/{run}/stop"), &json!({}));
    fits(&bed, "serve-told", 202, &answer);
    wait_for_status(&server, &run, "interrupted");
}

#[test]
fn runs_can_be_annotated_found_and_removed() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let first = begun(&bed, &server, &run_request(&bed, &null(1, "100ms")));
    wait_for_status(&server, &first, "complete");
    let second = begun(&bed, &server, &run_request(&bed, &null(1, "100ms")));
    wait_for_status(&server, &second, "complete");
    let notes = json!({"tags": ["second", "third"], "note": ""});
    let line = format!("PUT /api/runs/{first}/notes");
    let view = fits(&bed, "serve-run", 200, &server.change(&line, &notes));
    assert_eq!(
        (&view["run"]["tags"], &view["run"]["note"]),
        (&json!(["second", "third"]), &json!(""))
    );
    let matching_count = |query: &str| {
        let list = fits(
            &bed,
            "serve-runs",
            200,
            &server.get(&format!("/api/runs?{query}")),
        );
        list["matching_count"].as_u64().unwrap()
    };
    for (query, count) in [
        ("", 2),
        ("search=third", 1),
        ("search=NOTHING+null", 0),
        ("tags=second,third", 1),
        ("status=complete", 2),
        ("status=running", 0),
        ("workload=null&sort=rate&rising=true", 2),
        ("search=%27%22%25_%5C", 0),
        ("since=2020-01-01T00:00:00Z&until=2020-01-02T00:00:00Z", 0),
    ] {
        assert_eq!(matching_count(query), count, "{query}");
    }
    assert_eq!(server.get("/api/runs?status=done").status, 400);
    let short = view["run"]["short_id"].as_str().unwrap();
    assert_eq!(
        server
            .change(&format!("DELETE /api/runs/{short}"), &json!({}))
            .status,
        400
    );
    let removed = server.change(&format!("DELETE /api/runs/{first}"), &json!({}));
    assert_eq!(
        fits(&bed, "serve-removed", 200, &removed)["removed"],
        first.as_str()
    );
    assert_eq!(matching_count(""), 1);
    assert_eq!(server.get(&format!("/api/runs/{first}")).status, 404);
}

#[test]
fn a_stream_resumes_where_it_stopped() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let run = begun(&bed, &server, &run_request(&bed, &null(3, "1200ms")));
    let path = format!("/api/runs/{run}/events");
    let first = server.events(&path, None, "cell-end");
    let last = first.last().unwrap();
    assert!(last.id.starts_with(&format!("{run}:")), "{}", last.id);
    let rest = server.events(&path, Some(&last.id), "run-end");
    let starts = rest.iter().filter(|event| event.name == "cell-start");
    let positions: Vec<_> = starts.map(|event| event.data["position"].clone()).collect();
    assert_eq!(positions, [1, 2]);
    // Two who read the same see the same, also afterwards.
    let again = server.events(&path, Some(&last.id), "run-end");
    let of = |events: &[StreamEvent]| {
        let cells = events.iter().filter(|event| event.name.starts_with("cell"));
        cells
            .map(|event| (event.name.clone(), event.data.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(of(&rest), of(&again));
    for id in [
        "x",
        "1.2.3",
        &format!("{run}:x"),
        &format!("other:{}", "0.0.0"),
    ] {
        let header = format!("Last-Event-ID: {id}");
        let answer = server.ask_with(&format!("GET {path}"), &[&header], "");
        assert_eq!(answer.status, 400, "{id}");
    }
}

#[test]
fn a_run_survives_a_server_restart_and_its_stream_resumes() {
    let bed = ScratchTarget::new().unwrap();
    let token = token_file(&bed);
    let target = bed.target().to_string_lossy().into_owned();
    // Not the default one, which the servers of other tests take as soon as it is free.
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = free.local_addr().unwrap().to_string();
    drop(free);
    let arguments = ["--target", target.as_str(), "--listen", &listen];
    let server = Server::with(&bed, &arguments, Some(&token));
    assert_eq!(server.token, "0123456789abcdef0123456789abcdef-test");
    let run = begun(&bed, &server, &run_request(&bed, &null(2, "3s")));
    let waiting = server.change("POST /api/runs", &run_request(&bed, &null(1, "100ms")));
    assert_eq!(waiting.status, 202);
    let path = format!("/api/runs/{run}/events");
    let before = server.events(&path, None, "interval");
    let port = server.address.port();
    server.kill();
    let server = Server::with(&bed, &arguments, Some(&token));
    // The port is free again, so that a page that is open finds it.
    assert_eq!(server.address.port(), port);
    assert_eq!(status(&server, &run), "running");
    let queue = fits(&bed, "serve-queue", 200, &server.get("/api/queue"));
    assert_eq!(queue["is_paused"], true);
    let states = [0, 1].map(|index| &queue["entries"][index]["state"]);
    assert_eq!(states, ["running", "waiting"]);
    assert_eq!(queue["entries"][0]["run_id"], run);
    let resumed = server.change("PUT /api/queue/pause", &json!({"is_paused": false}));
    fits(&bed, "serve-queue", 200, &resumed);
    let after = server.events(&path, Some(&before.last().unwrap().id), "run-end");
    assert_eq!(after.last().unwrap().data["status"], "complete");
    assert_eq!(
        names(&after)
            .iter()
            .filter(|name| **name == "cell-end")
            .count(),
        2
    );
    // What waited begins once the run of the other server is over.
    wait_for("the next run", || {
        let entries = queued(&server);
        entries.iter().all(|entry| entry["state"] == "ended") && entries[1]["exit_code"] == 0
    });
    assert_eq!(bed.listed(&[]).len(), 2);
}

#[test]
fn a_run_that_is_killed_is_shown_as_interrupted() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let run = begun(&bed, &server, &run_request(&bed, &null(1, "60s")));
    let entry = server.get("/api/queue").json()["entries"][0].clone();
    let path = format!("/api/runs/{run}/events");
    assert_eq!(
        server.events(&path, None, "interval").last().unwrap().name,
        "interval"
    );
    run_tool("kill", &["-KILL", &entry["pid"].to_string()]).unwrap();
    let events = server.events(&path, None, "run-end");
    assert_eq!(events.last().unwrap().data["status"], "interrupted");
    wait_for("the end of its process", || {
        server.get("/api/queue").json()["entries"][0]["state"] == "ended"
    });
}

#[test]
fn stopping_a_run_keeps_its_results_and_aborting_does_not() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let text = "size = \"16m\"\nrun_time = 60\nramp_time = 0\ncache = \"buffered\"\n\
        [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";
    let run = begun(&bed, &server, &run_request(&bed, text));
    let path = format!("/api/runs/{run}/events");
    assert_eq!(
        server.events(&path, None, "interval").last().unwrap().name,
        "interval"
    );
    // Requested twice, as by an impatient user: the second request must not end it immediately.
    for _ in 0..2 {
        let answer = server.change(&format!("POST /api/runs/{run}/stop"), &json!({}));
        assert!(
            answer.status == 202 || answer.status == 409,
            "{}",
            answer.body
        );
    }
    wait_for_status(&server, &run, "interrupted");
    wait_for("removed files", || bed.left_in_target().is_empty());
    let view = server.get(&format!("/api/runs/{run}")).json();
    assert!(view["cells"][0]["total"]["count"].as_u64().unwrap() > 0);
    let again = server.change(&format!("POST /api/runs/{run}/stop"), &json!({}));
    fits(&bed, "serve-error", 409, &again);
    let run = begun(&bed, &server, &run_request(&bed, text));
    let aborted = server.change(&format!("POST /api/runs/{run}/abort"), &json!({}));
    fits(&bed, "serve-told", 202, &aborted);
    wait_for("a removed run", || {
        server.get(&format!("/api/runs/{run}")).status == 404
    });
    wait_for("removed files", || bed.left_in_target().is_empty());
}

#[test]
fn a_skipped_cell_is_followed_by_the_next_one() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let text = null(2, "60s");
    let run = begun(&bed, &server, &run_request(&bed, &text));
    let path = format!("/api/runs/{run}/events");
    let events = server.events(&path, None, "interval");
    let interval = &events.last().unwrap().data["interval"];
    let latencies = &interval["latencies"]["read"];
    let counts = latencies["counts"].as_array().unwrap();
    let counted: u64 = counts.iter().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(counted, interval["operations"]["read"]["count"]);
    assert!(interval["ran_ns"].as_u64().unwrap() > 0, "{interval}");
    let answer = server.change(&format!("POST /api/runs/{run}/skip"), &json!({}));
    fits(&bed, "serve-told", 202, &answer);
    let events = server.events(&path, Some(&events.last().unwrap().id), "interval");
    assert!(names(&events).contains(&"cell-end"), "{:?}", names(&events));
    assert_eq!(events.last().unwrap().data["position"], 1);
    let answer = server.change(&format!("POST /api/runs/{run}/stop"), &json!({}));
    assert_eq!(answer.status, 202);
    wait_for_status(&server, &run, "interrupted");
}

#[test]
fn the_live_page_of_a_run_ends_with_it() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", null(1, "4s"));
    let mut command = bed.command(&["run", "null.toml", "--web", "--quiet", "--no-html"]);
    command.args(["--target".as_ref(), bed.target().as_os_str()]);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut run = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let url = lines.find_map(|line| Some(line.unwrap().strip_prefix("page: ")?.to_owned()));
    let server = Server::at(&url.unwrap());
    let facts = fits(&bed, "serve", 200, &server.get("/api"));
    let id = facts["beside_run"].as_str().unwrap();
    let events = server.events(&format!("/api/runs/{id}/events"), None, "run-end");
    assert_eq!(events.last().unwrap().data["status"], "complete");
    assert!(run.wait().unwrap().success());
    wait_for("the end of the server", || {
        std::net::TcpStream::connect(server.address).is_err()
    });
}

#[test]
fn queued_runs_wait_and_can_be_moved_and_removed() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let run = begun(&bed, &server, &run_request(&bed, &null(1, "60s")));
    let ids: Vec<String> = (0..3)
        .map(|_| {
            let answer = server.change("POST /api/runs", &run_request(&bed, &null(1, "100ms")));
            answer.json()["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let order = json!({"ids": [ids[2], ids[0]]});
    let queue = fits(
        &bed,
        "serve-queue",
        200,
        &server.change("PUT /api/queue/order", &order),
    );
    let entries: Vec<_> = queue["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(entries[1..], [json!(ids[2]), json!(ids[0]), json!(ids[1])]);
    assert_eq!(
        server
            .change("PUT /api/queue/order", &json!({"ids": ["x"]}))
            .status,
        404
    );
    let line = format!("DELETE /api/queue/{}", ids[0]);
    fits(&bed, "serve-queue", 200, &server.change(&line, &json!({})));
    let first = entries[0].as_str().unwrap();
    assert_eq!(
        server
            .change(&format!("DELETE /api/queue/{first}"), &json!({}))
            .status,
        409
    );
    let cleared = fits(
        &bed,
        "serve-queue",
        200,
        &server.change("DELETE /api/queue", &json!({})),
    );
    assert_eq!(cleared["entries"].as_array().unwrap().len(), 1);
    let stopped = server.change(&format!("POST /api/runs/{run}/stop"), &json!({}));
    assert_eq!(stopped.status, 202);
    wait_for_status(&server, &run, "interrupted");
    assert_eq!(bed.listed(&[]).len(), 1);
}

#[test]
fn the_server_prints_one_url_takes_the_next_port_and_ends_at_ctrl_c() {
    let bed = ScratchTarget::new().unwrap();
    let mut first = Server::start(&bed, &[]);
    let second = Server::start(&bed, &[]);
    assert_ne!(first.address.port(), second.address.port());
    assert_ne!(first.token, second.token);
    assert!(first.url.starts_with("http://127.0.0.1:"));
    let taken = first.address.to_string();
    let refused = bed.run(&["serve", "--listen", &taken]);
    refused.assert_refused(3, &["cannot listen on", &taken, "--listen"]);
    let begin = Instant::now();
    run_tool("kill", &["-INT", &first.id().to_string()]).unwrap();
    assert_eq!(first.wait(), Some(0));
    assert!(begin.elapsed() < Duration::from_secs(60));
    assert_eq!(second.get("/api").status, 200);
}

#[test]
fn exposing_the_server_requires_explicit_options() {
    let bed = ScratchTarget::new().unwrap();
    let refused = bed.run(&["serve", "--listen", "0.0.0.0:0"]);
    refused.assert_refused(2, &["0.0.0.0:0", "--allow-host", "ssh -L"]);
    let refused = bed.run(&["serve", "--allow-host", "http://x"]);
    refused.assert_refused(2, &["`http://x`", "without scheme"]);
    let refused = bed.run(&["serve", "--target", "nothing"]);
    refused.assert_refused(2, &["`nothing`"]);
    let refused = bed.run(&["serve", "--overwrite-device", "."]);
    refused.assert_refused(2, &["not a block device"]);
    let mut command = bed.command(&["serve"]);
    command.env("PGMETER_TOKEN_FILE", bed.file("open-token", "0".repeat(40)));
    end_to_end::finish(&mut command).assert_refused(2, &["open-token", "others can read it"]);
    let server = Server::with(
        &bed,
        &["--listen", "0.0.0.0:0", "--allow-host", "Lab.Example"],
        None,
    );
    assert!(
        server.url.starts_with("http://Lab.Example:"),
        "{}",
        server.url
    );
    let ask = |host: &str| server.ask_with("GET /api", &[host], "").status;
    assert_eq!((ask("Host: lab.example"), ask("Host: example")), (200, 403));
    // Without a target, nothing can be started.
    let answer = server.change("POST /api/runs", &run_request(&bed, &null(1, "1s")));
    let refused = fits(&bed, "serve-error", 403, &answer);
    assert!(refused["help"].as_str().unwrap().contains("--target"));
}

#[test]
fn intervals_separate_workers_and_targets() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let other = bed.target().join("other");
    std::fs::create_dir(&other).unwrap();
    let text = format!(
        "workers = 3\n{}",
        null(1, "2s").replace("\"null\"", "\"psync\"")
    );
    let mut request = run_request(&bed, &text);
    request["targets"] = json!([bed.target(), other]);
    let run = begun(&bed, &server, &request);
    let events = server.events(&format!("/api/runs/{run}/events"), None, "interval");
    let live = events.last().unwrap().data["interval"].clone();
    wait_for_status(&server, &run, "complete");
    let view = server.get(&format!("/api/runs/{run}"));
    let view = fits(&bed, "serve-run", 200, &view);
    let names = view["planned"][0]["worker_names"].as_array().unwrap();
    let paths = view["planned"][0]["target_paths"].as_array().unwrap();
    assert_eq!((names.len(), paths.len()), (3, 2));
    let stored = server.get(&format!("/api/runs/{run}/intervals")).json();
    let stored = stored["cells"][0]["intervals"].as_array().unwrap().clone();
    for interval in stored.iter().chain([&live]) {
        let all = interval["operations"].as_object().unwrap().values();
        let all: u64 = all.map(|it| it["count"].as_u64().unwrap()).sum();
        for (key, count) in [("workers", 3), ("targets", 2)] {
            let parts = interval[key].as_array().unwrap();
            let counts = parts.iter().map(|it| it["count"].as_u64().unwrap());
            assert_eq!(
                (parts.len(), counts.sum::<u64>()),
                (count, all),
                "{interval}"
            );
        }
    }
    // With a single worker, the interval itself has its figures.
    let run = begun(&bed, &server, &run_request(&bed, &null(1, "300ms")));
    wait_for_status(&server, &run, "complete");
    let stored = server.get(&format!("/api/runs/{run}/intervals")).json();
    assert_eq!(stored["cells"][0]["intervals"][0]["workers"], Value::Null);
}

#[test]
fn a_run_of_a_file_can_be_repeated_from_its_stored_text() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(2, "100ms"));
    assert_eq!(bed.measure(&["mine.toml", "--iodepth", "3"]).code, 0);
    let server = Server::start(&bed, &[]);
    let stored = server.get("/api/runs/last/workload");
    let stored = fits(&bed, "serve-text", 200, &stored);
    assert_eq!(stored["name"], "mine.toml");
    let text = stored["text"].as_str().unwrap();
    assert!(text.contains("iodepth = [3]"), "{text}");
    let again = begun(&bed, &server, &run_request(&bed, text));
    wait_for_status(&server, &again, "complete");
    let view = server.get(&format!("/api/runs/{again}")).json();
    assert_eq!(view["run"]["workloads"], json!(["mine"]));
    assert_eq!(view["planned"].as_array().unwrap().len(), 1);
    let trend = server.get("/api/trend?workload=mine");
    let trend = fits(&bed, "serve-trend", 200, &trend);
    let runs = trend["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &trend["changes"]), (2, &json!([])));
    assert_eq!(runs[1]["id"], again.as_str());
    assert!(runs[0]["per_second"].as_f64().unwrap() > 0.0);
    let none = fits(
        &bed,
        "serve-trend",
        200,
        &server.get("/api/trend?workload=min"),
    );
    assert_eq!(none["runs"], json!([]));
}

/// Asks for a lab, and waits until it is over.
fn lab(bed: &ScratchTarget, server: &Server, request: &Value) -> Value {
    let entry = server.change("POST /api/labs", request);
    let entry = fits(bed, "serve-entry", 202, &entry);
    let mut found = Value::Null;
    wait_for("the end of a lab", || {
        let all = queued(server);
        found = all
            .iter()
            .find(|it| it["id"] == entry["id"])
            .unwrap()
            .clone();
        found["state"] == "ended"
    });
    assert_eq!(found["exit_code"], 0, "{found:#}");
    found
}

#[test]
fn a_published_experiment_is_repeated_and_shown_next_to_its_figures() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let paper = server.get("/api/papers/lfs-postmark");
    assert_eq!(
        (paper.status, &paper.json()["experiment"]),
        (200, &json!("lfs-postmark"))
    );
    let page = server.get("/api/papers/lfs-postmark/page");
    assert!(page.status == 200 && page.body.contains("<html"));
    for name in ["none", "..%2fx", "-h"] {
        let status = server.get(&format!("/api/papers/{name}")).status;
        assert!((400..500).contains(&status), "{name}: {status}");
    }
    let request = json!({"paper": "lfs-postmark", "target": bed.target(), "scale": "0.0001"});
    let entry = lab(&bed, &server, &request);
    let runs = entry["run_ids"].as_array().unwrap();
    assert_eq!(runs.len(), 1, "{entry:#}");
    let run = runs[0].as_str().unwrap();
    let comparison = server.get(&format!("/api/compare?runs={run}&published=lfs-postmark"));
    let comparison = fits(&bed, "compare", 200, &comparison);
    assert_eq!(comparison["published"].as_array().unwrap().len(), 1);
    wait_for("removed files", || bed.left_in_target().is_empty());
}

#[test]
fn a_lab_survives_a_server_restart_with_its_result() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let request = json!({"paper": "lfs-postmark", "target": bed.target(), "scale": "0.0001",
        "repetitions": 20});
    let entry = server.change("POST /api/labs", &request);
    let entry = fits(&bed, "serve-entry", 202, &entry);
    wait_for("its first run", || !queued(&server)[0]["run_id"].is_null());
    server.kill();
    let server = Server::start(&bed, &[]);
    let mut found = queued(&server)[0].clone();
    assert_eq!(
        (&found["id"], &found["lab"]),
        (&entry["id"], &entry["lab"]),
        "it goes on, or has just ended"
    );
    wait_for("the end of the lab", || {
        found = queued(&server)[0].clone();
        found["state"] == "ended"
    });
    assert_eq!(found["run_ids"].as_array().unwrap().len(), 20, "{found:#}");
}

#[test]
fn a_lab_is_requested_by_plain_names_and_stored() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let labs = fits(&bed, "serve-labs", 200, &server.get("/api/labs"));
    assert_eq!(labs["labs"], json!([]));
    let plain = json!({"workloads": ["postmark"], "file_systems": ["tmpfs"],
        "target": bed.target(), "image_size": "64MiB", "repetitions": 1, "scale": "0.1"});
    for (key, value) in [
        ("workloads", json!([])),
        ("workloads", json!(["./x.toml"])),
        ("workloads", json!(["--db=/x"])),
        ("file_systems", json!([])),
        ("file_systems", json!(["path:/etc"])),
        ("file_systems", json!(["ext4:-d /etc"])),
        ("target", json!("/")),
        ("target", json!(format!("{}/..", bed.target().display()))),
        ("image_size", json!("x")),
        ("scale", json!("2")),
        ("overwrite_device", json!("/dev/vda")),
        // What a key of a workload names could lie anywhere.
        ("settings", json!({"targets": "/"})),
    ] {
        let mut request = plain.clone();
        request[key] = value;
        let answer = server.change("POST /api/labs", &request);
        assert!(
            (400..500).contains(&answer.status),
            "{request}: {}",
            answer.body
        );
        fits(&bed, "serve-error", answer.status, &answer);
    }
    assert_eq!(queued(&server), [Value::Null; 0]);
    for path in ["/api/labs/none/page", "/api/labs/..%2fx/record"] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    drop(need!(LabSite::new()));
    let entry = lab(&bed, &server, &plain);
    let id = entry["lab_id"].as_str().unwrap();
    assert_eq!(entry["run_ids"].as_array().unwrap().len(), 1);
    assert_eq!(bed.left_in_target(), [""; 0]);
    let labs = fits(&bed, "serve-labs", 200, &server.get("/api/labs"));
    assert_eq!(labs["labs"][0]["id"], id);
    let page = server.get(&format!("/api/labs/{id}/page"));
    assert!(page.status == 200 && page.body.contains("tmpfs"));
    let record = server.get(&format!("/api/labs/{id}/record")).json();
    assert_eq!(record["id"], id);
    let removed = server.change(&format!("DELETE /api/labs/{id}"), &json!({}));
    assert_eq!(fits(&bed, "serve-removed", 200, &removed)["removed"], id);
    assert_eq!(bed.listed(&[]).len(), 1);
}

#[test]
fn a_trend_joins_only_cells_that_measured_the_same() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(1, "100ms"));
    for depths in ["1", "1", "1,8,32"] {
        let output = bed.measure(&["mine.toml", "--iodepth", depths]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let server = Server::start(&bed, &[]);
    let trend = server.get("/api/trend?workload=mine");
    let trend = fits(&bed, "serve-trend", 200, &trend);
    assert_eq!(trend["cell"]["iodepth"], 1, "{trend:#}");
    let runs = trend["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "{trend:#}");
    let newest = server.get("/api/runs/last").json();
    let cells = newest["cells"].as_array().unwrap();
    let shallow = cells.iter().find(|cell| cell["iodepth"] == 1).unwrap();
    assert_eq!(runs[2]["per_second"], shallow["total"]["per_second"]);
}

#[test]
fn a_run_of_other_work_does_not_hide_a_trend() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(1, "100ms"));
    for size in ["1m", "1m", "2m"] {
        let output = bed.measure(&["mine.toml", "--size", size]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let server = Server::start(&bed, &[]);
    let count = |more: &str| {
        let trend = server.get(&format!("/api/trend?workload=mine{more}"));
        let trend = fits(&bed, "serve-trend", 200, &trend);
        let others = trend["others"].as_array().unwrap();
        assert_eq!(others.len(), 1, "{trend:#}");
        let runs = trend["runs"].as_array().unwrap().len();
        (
            runs,
            others[0]["run_count"].as_u64().unwrap(),
            others[0]["newest_id"].as_str().unwrap().to_owned(),
        )
    };
    let (runs, others, newest_id) = count("");
    assert_eq!((runs, others), (2, 1));
    let (runs, others, _) = count(&format!("&like={newest_id}"));
    assert_eq!((runs, others), (1, 2));
}

#[test]
fn a_series_has_the_runs_of_one_cell_on_the_same_targets_and_host() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(1, "100ms"));
    for depths in ["1", "1,8"] {
        let output = bed.measure(&["mine.toml", "--iodepth", depths]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let server = Server::start(&bed, &[]);
    let trends = fits(&bed, "serve-trends", 200, &server.get("/api/trends"));
    let series = trends["series"].as_array().unwrap();
    let counts: Vec<(u64, u64)> = series
        .iter()
        .map(|it| {
            let count = |value: &Value| value.as_u64().unwrap();
            (count(&it["cell"]["iodepth"]), count(&it["run_count"]))
        })
        .collect();
    assert_eq!(counts, [(1, 2), (8, 1)], "{trends:#}");
    let runs = |one: &Value, host: &str| {
        let mut path = format!("/api/trend?workload=mine&host={host}");
        for key in ["cell", "targets", "file_systems"] {
            path.push_str(&format!("&{key}={}", encoded(&one[key].to_string())));
        }
        let trend = fits(&bed, "serve-trend", 200, &server.get(&path));
        trend["runs"].as_array().unwrap().len()
    };
    for (one, (_, count)) in series.iter().zip(&counts) {
        let host = one["host"].as_str().unwrap();
        assert_eq!(runs(one, host) as u64, *count);
        assert_eq!(runs(one, "another-host"), 0);
    }
    let refused = server.get("/api/trend?workload=mine&cell=x");
    fits(&bed, "serve-error", 400, &refused);
}

/// A text as a value of a query.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[test]
fn a_lab_is_one_row_of_the_list_and_tags_are_sides_of_a_comparison() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(1, "100ms"));
    for _ in 0..4 {
        assert_eq!(bed.measure(&["mine.toml"]).code, 0);
    }
    for (run, tag) in [
        ("@-4", "lab-20261121-1"),
        ("@-3", "lab-20261121-1"),
        ("@-2", "new"),
        ("@-1", "old"),
    ] {
        bed.run(&["runs", "tag", run, tag]).assert_says(0, &[]);
    }
    let server = Server::start(&bed, &[]);
    let all = fits(&bed, "serve-runs", 200, &server.get("/api/runs"));
    assert_eq!((&all["total_count"], &all["labs"]), (&json!(4), &json!([])));
    let folded = server.get("/api/runs?fold=true");
    let folded = fits(&bed, "serve-runs", 200, &folded);
    assert_eq!(folded["runs"].as_array().unwrap().len(), 3, "{folded:#}");
    let lab = &folded["labs"][0];
    assert_eq!(
        (&lab["tag"], &lab["run_count"]),
        (&json!("lab-20261121-1"), &json!(2))
    );
    assert_eq!(
        (&lab["id"], &folded["running_lab"]),
        (&Value::Null, &Value::Null)
    );
    let tags = fits(&bed, "serve-tags", 200, &server.get("/api/tags"));
    let tags: Vec<_> = tags["tags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["tag"])
        .collect();
    assert_eq!(tags, ["old", "new"]);
    let compared = server.get("/api/compare?runs=tag:lab-20261121-1,tag:new");
    let compared = fits(&bed, "compare", 200, &compared);
    let side = |side: &str| {
        let side = &compared["comparisons"][0][side];
        (side["name"].clone(), side["runs"].as_array().unwrap().len())
    };
    assert_eq!(side("a"), (json!("lab-20261121-1"), 2));
    assert_eq!(side("b"), (json!("new"), 1));
    let missing = server.get("/api/compare?runs=tag:none,tag:new");
    fits(&bed, "serve-error", 404, &missing);
}

#[test]
fn a_trend_marks_where_its_level_changes() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mine.toml", null(1, "1s"));
    let (_, record) = bed.record(&["mine.toml", "--no-db"]);
    for day in 1..=12 {
        let mut copy = record.clone();
        copy["id"] = json!(format!("202611{day:02}-120000-000-{day:x}"));
        copy["started_at"] = json!(format!("2026-11-{day:02}T12:00:00Z"));
        copy["finished_at"] = json!(format!("2026-11-{day:02}T12:00:01Z"));
        let level = if day <= 7 { 1000.0 } else { 900.0 };
        let rate = level + f64::from(day % 3);
        copy["cells"][0]["total"]["per_second"] = json!(rate);
        copy["cells"][0]["total"]["bytes_per_second"] = json!(rate * 4096.0);
        let file = bed.file("made.json", copy.to_string());
        let imported = bed.run(&["runs", "import", file.to_str().unwrap()]);
        imported.assert_says(0, &[]);
    }
    let server = Server::start(&bed, &[]);
    let trend = server.get("/api/trend?workload=mine");
    let trend = fits(&bed, "serve-trend", 200, &trend);
    assert_eq!(trend["runs"].as_array().unwrap().len(), 12);
    let changes = trend["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{trend:#}");
    assert_eq!(changes[0]["index"], 7);
    assert_eq!(
        (&changes[0]["before"], &changes[0]["after"]),
        (&json!(1001.0), &json!(901.0))
    );
    let run = &trend["runs"][0];
    let (low, high) = (run["ci95_low"].as_f64(), run["ci95_high"].as_f64());
    assert!(
        low.is_none_or(|low| low < 1001.0 && high.unwrap() > 1001.0),
        "{run}"
    );
}

/// A workload that reads a small file below that target, which the text itself names.
fn naming(target: &Path) -> String {
    format!(
        "targets = [\"{}\"]\nengine = \"psync\"\ncache = \"buffered\"\nsize = \"64k\"\n\
         run_time = \"100ms\"\nramp_time = 0\n[[access_spec]]\nname = \"Reads\"\n\
         line = [{{ size = \"4k\", random = 100 }}]\n",
        target.display()
    )
}

/// A directory with this name next to the offered target.
fn outside(bed: &ScratchTarget) -> PathBuf {
    let outside = bed.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    outside
}

/// A directory with this name below the offered target.
fn inside(bed: &ScratchTarget) -> PathBuf {
    let inside = bed.target().join("inside");
    std::fs::create_dir(&inside).unwrap();
    inside
}

fn pause(server: &Server, is_paused: bool) {
    let answer = server.change("PUT /api/queue/pause", &json!({ "is_paused": is_paused }));
    assert_eq!(answer.status, 200, "{}", answer.body);
}

/// Waits until the only entry of the queue is over.
fn ended(server: &Server) -> Value {
    wait_for("the end of the entry", || {
        queued(server)[0]["state"] == "ended"
    });
    queued(server)[0].clone()
}

#[test]
fn a_queued_run_measures_the_text_that_was_checked() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let (inside, outside) = (inside(&bed), outside(&bed));
    let put = |target: &Path| {
        let body = json!({"text": naming(target), "replace": true});
        let answer = server.change("PUT /api/workloads/own/w.toml", &body);
        assert_eq!(answer.status, 200, "{}", answer.body);
    };
    let request = json!({"workload": {"own": "w.toml"}});
    put(&outside);
    assert_eq!(server.change("POST /api/runs", &request).status, 403);
    put(&inside);
    pause(&server, true);
    let added = server.change("POST /api/runs", &request);
    fits(&bed, "serve-entry", 202, &added);
    put(&outside);
    pause(&server, false);
    let entry = ended(&server);
    assert_eq!(entry["exit_code"], 0, "{entry:#}");
    let view = server.get("/api/runs/last").json();
    assert_eq!(view["run"]["targets"], json!([inside]));
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_queued_run_is_refused_if_its_target_is_no_longer_offered() {
    let bed = ScratchTarget::new().unwrap();
    let (inside, outside) = (inside(&bed), outside(&bed));
    let server = Server::start(&bed, &[]);
    let request = json!({"workload": {"text": naming(&inside)}});
    pause(&server, true);
    assert_eq!(server.change("POST /api/runs", &request).status, 202);
    server.kill();
    // The next server offers another directory.
    let server = Server::with(&bed, &["--target", outside.to_str().unwrap()], None);
    pause(&server, false);
    let entry = ended(&server);
    let remarks = entry["remarks"].as_str().unwrap();
    assert!(remarks.contains("below the offered roots"), "{remarks}");
    assert_eq!(
        (&entry["exit_code"], &entry["run_id"]),
        (&Value::Null, &Value::Null)
    );
    assert!(bed.listed(&[]).is_empty());
    assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 0);
}

#[test]
fn a_queued_run_is_refused_if_its_target_has_become_a_link() {
    let bed = ScratchTarget::new().unwrap();
    let (inside, outside) = (inside(&bed), outside(&bed));
    let server = Server::start(&bed, &[]);
    pause(&server, true);
    let request = json!({"workload": {"text": naming(&inside)}});
    assert_eq!(server.change("POST /api/runs", &request).status, 202);
    std::fs::remove_dir(&inside).unwrap();
    std::os::unix::fs::symlink(&outside, &inside).unwrap();
    pause(&server, false);
    let entry = ended(&server);
    assert!(
        entry["remarks"].as_str().unwrap().starts_with("error: "),
        "{entry:#}"
    );
    assert!(bed.listed(&[]).is_empty());
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn a_process_started_by_serve_itself_refuses_paths_not_offered() {
    let bed = ScratchTarget::new().unwrap();
    let (inside, outside) = (inside(&bed), outside(&bed));
    let text = bed.file("w.toml", naming(&outside));
    let hash = run_tool("sha256sum", &[text.to_str().unwrap()]).unwrap();
    let hash = hash.split(' ').next().unwrap();
    let run = |roots: Value, hash: &str, more: &[&str]| {
        let bounds = json!({"roots": roots, "devices": [], "peers": [], "is_question": false,
                            "text_sha256": hash});
        let mut command = bed.command(&[&["run", "--quiet", "--no-html"], more].concat());
        let output = command
            .env("PGMETER_BOUNDS", bounds.to_string())
            .arg(&text)
            .output();
        let output = output.unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), message)
    };
    let (code, said) = run(json!([inside]), hash, &[]);
    assert!(
        code == Some(2) && said.contains("is outside the targets of `serve`"),
        "{said}"
    );
    let options = ["--target", outside.to_str().unwrap()];
    let (code, said) = run(json!([inside]), hash, &options);
    assert!(
        code == Some(2) && said.contains("is outside the targets of `serve`"),
        "{said}"
    );
    let (code, said) = run(json!([]), hash, &[]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = run(json!([outside]), &"0".repeat(64), &[]);
    assert!(
        code == Some(2) && said.contains("is not the file that was checked"),
        "{said}"
    );
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    let (code, said) = run(json!([outside]), hash, &[]);
    assert_eq!(code, Some(0), "{said}");
    let mut command = bed.command(&["check"]);
    let output = command
        .env("PGMETER_BOUNDS", "{}")
        .arg(&text)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn only_offered_peers_are_measured() {
    let bed = ScratchTarget::new().unwrap();
    let root = bed.target().to_string_lossy().into_owned();
    // With port 0, the run starts the peer itself.
    let (offered, other) = ("tcp://127.0.0.1:0", "tcp://127.0.0.1:7765");
    let server = Server::with(&bed, &["--target", &root, "--target", offered], None);
    let text = |peer: &str| {
        format!(
            "run_time = \"1s\"\nramp_time = 0\n[[access_spec]]\nname = \"ping\"\n\
             line = [{{ size = 1, read = 0, reply = 1 }}]\n\
             [[worker]]\ntargets = \"{peer}\"\n"
        )
    };
    let request = |peer: &str, targets: Value| {
        let workload = json!({"text": text(peer), "name": "ping.toml"});
        json!({"workload": workload, "targets": targets})
    };
    let checked = |peer: &str| {
        let answer = server.change("POST /api/check", &request(peer, json!([])));
        fits(&bed, "serve-check", 200, &answer)
    };
    assert_eq!(checked(offered)["may_start"], true);
    let refused = checked(other);
    assert_eq!(refused["may_start"], false);
    let message = refused["verdicts"][0]["message"].as_str().unwrap();
    assert!(
        message.contains("that the page may not measure"),
        "{message}"
    );
    let answer = server.change("POST /api/runs", &request(offered, json!([other])));
    let refused = fits(&bed, "serve-error", 403, &answer);
    let help = refused["help"].as_str().unwrap();
    assert!(help.contains("--target tcp://127.0.0.1:7765"), "{help}");
    let run = begun(&bed, &server, &request(offered, json!([])));
    wait_for_status(&server, &run, "complete");
}

#[test]
fn the_disk_list_begins_with_what_is_offered() {
    let bed = ScratchTarget::new().unwrap();
    let root = bed.target().canonicalize().unwrap();
    let root = root.to_str().unwrap();
    let file = bed.file("data", "x".repeat(4096));
    let peer = "tcp://127.0.0.1:7765";
    let options = [
        "--target",
        root,
        "--target",
        file.to_str().unwrap(),
        "--target",
        peer,
    ];
    let server = Server::with(&bed, &options, None);
    let list = fits(&bed, "serve-disks", 200, &server.get("/api/disks"));
    let disks = list["disks"].as_array().unwrap();
    let shown = |disk: &Value| {
        let text = |key: &str| disk[key].as_str().unwrap_or_default().to_owned();
        (text("kind"), text("may_write"))
    };
    let pair = |kind: &str, may: &str| (kind.to_owned(), may.to_owned());
    assert_eq!(disks[0]["path"], root);
    assert_eq!(shown(&disks[0]), pair("directory", "files"));
    assert!(disks[0]["free_bytes"].is_u64() && disks[0]["file_system"].is_string());
    assert_eq!(shown(&disks[1]), pair("file", "nothing"));
    assert_eq!(disks[1]["size_bytes"], 4096);
    assert_eq!(
        (&disks[2]["path"], shown(&disks[2])),
        (&json!(peer), pair("peer", "messages"))
    );
    // The machine's own disks depend on the machine.
    for disk in &disks[3..] {
        assert_eq!(disk["is_offered"], false, "{disk}");
        assert!(disk["size_bytes"].as_u64() > Some(0), "{disk}");
    }
    let facts = server.get("/api").json();
    assert_eq!(facts["peers"], json!([peer]));
}

/// Texts that name a file by each way that a front has, with the kind that they are read as.
fn texts_that_name(file: &str) -> Vec<(&'static str, String)> {
    let job = |line: &str| format!("[global]\nsize=64k\nbs=4k\n[a]\nrw=read\n{line}\n");
    vec![
        ("fio", job(&format!("include {file}"))),
        ("fio", job(&format!("include={file}"))),
        ("fio", format!("include {file}\n[a]\nrw=read\nsize=4k\n")),
        ("fio", job(&format!("read_iolog={file}"))),
        ("fio", job(&format!("filename={file}\nsize=4"))),
        ("fio", job(&format!("buffer_pattern='{file}'"))),
        ("fio", job(&format!("mem=mmaphuge:{file}"))),
        ("fio", job(&format!("write_iolog={file}"))),
        ("fio", job(&format!("opendir={file}"))),
        ("filebench", format!("load {file}\nrun 1\n")),
        (
            "filebench",
            format!("define fileset name=a,path=\"{file}\",entries=1\n"),
        ),
        ("postmark", format!("load {file}\nrun {file}\n")),
        ("postmark", format!("set location {file}\nrun\n")),
        ("toml", format!("use = \"{file}\"\n")),
        ("pack", format!("[[part]]\nuse = \"{file}\"\n")),
    ]
}

#[test]
fn text_from_a_page_reads_no_file_that_was_not_offered() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let secret = bed.file("secret", "hunter2=hunter2\nhunter2:x:0:0\n");
    let pipe = bed.path().join("pipe");
    let offered_pipe = bed.target().join("pipe");
    for pipe in [&pipe, &offered_pipe] {
        run_tool("mkfifo", &[pipe.to_str().unwrap()]).unwrap();
    }
    let link = bed.target().join("link");
    std::os::unix::fs::symlink(&secret, &link).unwrap();
    let up = bed.target().join("../secret");
    let paths = [&secret, &pipe, &offered_pipe, &link, &up].map(|it| it.display().to_string());
    let more = [
        "/proc/self/environ",
        "/dev/zero",
        "../../../../../etc/passwd",
    ];
    for path in paths.iter().map(String::as_str).chain(more) {
        for (kind, text) in texts_that_name(path) {
            let choice = json!({"text": text, "name": "x.txt", "kind": kind});
            let run = json!({"workload": choice, "targets": [bed.target()]});
            let named = json!({"workload": choice});
            let convert = json!({"workload": choice, "to": "toml"});
            for (line, body) in [
                ("POST /api/check", &run),
                ("POST /api/check", &named),
                ("POST /api/show", &choice),
                ("POST /api/convert", &convert),
            ] {
                let begin = Instant::now();
                let answer = server.change(line, body);
                assert!(answer.status < 500, "{line} {text}: {}", answer.body);
                assert!(
                    !answer.body.contains("hunter2"),
                    "{line} {text}: {}",
                    answer.body
                );
                assert!(
                    !answer.body.contains("root:"),
                    "{line} {text}: {}",
                    answer.body
                );
                assert!(begin.elapsed() < Duration::from_secs(20), "{line} {text}");
            }
        }
    }
    assert_eq!(
        std::fs::read_to_string(&secret).unwrap(),
        "hunter2=hunter2\nhunter2:x:0:0\n"
    );
}

#[test]
fn a_page_cannot_learn_whether_a_file_elsewhere_exists() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let secret = bed.file("secret", "x".repeat(8192)).display().to_string();
    let checked = |path: &str, text: &str| {
        let text = text.replace("FILE", path);
        let body = json!({"workload": {"text": text, "name": "x.fio", "kind": "fio"}});
        let answer = server.change("POST /api/check", &body);
        let name = Path::new(path).file_name().unwrap().to_str().unwrap();
        answer.body.replace(path, "FILE").replace(name, "NAME")
    };
    for text in [
        "[a]\nrw=read\ninclude FILE\nsize=4k\n",
        "[a]\nrw=read\nread_iolog=FILE\nsize=4k\n",
        "[a]\nrw=read\nfilename=FILE\nsize=4k\n",
        "[a]\nrw=read\nfilename=FILE\n",
    ] {
        let absent = secret.replace("secret", "absent");
        assert_eq!(checked(&secret, text), checked(&absent, text), "{text}");
    }
}

#[test]
fn text_from_a_page_reads_no_environment_variable() {
    let bed = ScratchTarget::new().unwrap();
    let token = token_file(&bed);
    let target = bed.target().to_string_lossy().into_owned();
    let server = Server::with(&bed, &["--target", &target], Some(&token));
    for name in [
        "PGMETER_TOKEN_FILE",
        "PATH",
        "HOME",
        "PGMETER_BOUNDS",
        "TMPDIR",
    ] {
        let text =
            format!("[${{{name}}}]\nrw=read\nsize=64k\ndescription=${{{name}}}\nrw=${{{name}}}\n");
        let choice = json!({"text": text, "name": "x.fio", "kind": "fio"});
        for (line, body) in [
            (
                "POST /api/check",
                json!({"workload": choice, "targets": [target]}),
            ),
            ("POST /api/show", choice.clone()),
        ] {
            let answer = server.change(line, &body);
            let value = std::env::var(name).unwrap_or_else(|_| "0123456789abcdef".to_owned());
            let shown = answer.body.replace(bed.path().to_str().unwrap(), "");
            assert!(
                !shown.contains(&value) && !shown.contains("/token"),
                "{name}: {shown}"
            );
        }
    }
}

#[test]
fn text_from_a_page_may_include_offered_files_but_never_quotes_them() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let check = |included: &str| {
        let path = bed.target().join("common.fio");
        std::fs::write(&path, included).unwrap();
        let text = format!("[a]\nrw=read\nsize=64k\ninclude {}\n", path.display());
        let choice = json!({"text": text, "name": "x.fio", "kind": "fio"});
        let body = json!({"workload": choice, "targets": [bed.target()]});
        fits(
            &bed,
            "serve-check",
            200,
            &server.change("POST /api/check", &body),
        )
    };
    let good = check("bs=8k\n");
    assert_eq!(good["is_understood"], true, "{good:#}");
    for content in [
        "hunter2=1\n",
        "bs=hunter2\n",
        "include hunter2\n",
        "[hunter2]\n",
        "\u{0}hunter2",
    ] {
        let bad = check(content);
        assert_eq!(bad["is_understood"], false, "{bad:#}");
        assert!(!bad.to_string().contains("hunter2"), "{bad:#}");
        assert!(bad["verdicts"][0]["message"].is_string());
    }
    // One that includes itself ends.
    let path = bed.target().join("common.fio").display().to_string();
    assert_eq!(check(&format!("include {path}\n"))["is_understood"], false);
}

#[test]
fn only_one_of_two_servers_of_a_store_starts_its_runs() {
    let bed = ScratchTarget::new().unwrap();
    let first = Server::start(&bed, &[]);
    let second = Server::start(&bed, &[]);
    assert_eq!(first.get("/api/queue").json()["starts_none"], Value::Null);
    let queue = fits(&bed, "serve-queue", 200, &second.get("/api/queue"));
    let reason = "another `pgmeter serve` starts the runs of this store";
    assert_eq!(queue["starts_none"], reason);
    let refused = second.change("POST /api/runs", &run_request(&bed, &null(1, "1s")));
    assert_eq!(fits(&bed, "serve-error", 409, &refused)["error"], reason);
    pause(&first, true);
    let added = first.change("POST /api/runs", &run_request(&bed, &null(1, "100ms")));
    assert_eq!(added.status, 202);
    first.kill();
    wait_for("the second server to take over", || {
        !queued(&second).is_empty()
    });
    pause(&second, false);
    assert_eq!(ended(&second)["exit_code"], 0);
    assert_eq!(bed.listed(&[]).len(), 1);
}

#[test]
fn a_plan_too_large_for_a_page_is_refused_without_delaying_others() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let text = null(1, "1s").replace("engine", "workers = 1024\nrepetitions = 150\nengine");
    let many = null(6, "1s").replace("engine", "workers = 1024\nrepetitions = 150\nengine");
    std::thread::scope(|scope| {
        let checks = [&text, &many].map(|text| {
            let (server, bed) = (&server, &bed);
            scope.spawn(move || server.change("POST /api/check", &run_request(bed, text)))
        });
        let begin = Instant::now();
        while !checks.iter().all(|it| it.is_finished()) {
            let start = Instant::now();
            assert_eq!(server.get("/api/queue").status, 200);
            assert!(
                start.elapsed() < Duration::from_secs(3),
                "{:?}",
                start.elapsed()
            );
            assert!(begin.elapsed() < Duration::from_secs(100));
            std::thread::sleep(Duration::from_millis(50));
        }
        for check in checks {
            let answer = check.join().unwrap();
            assert!(answer.body.contains("\"plan\": null"), "{}", answer.body);
            assert!(answer.body.len() < 10_000, "{}", answer.body.len());
        }
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak_kib: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    assert!(peak_kib < 300 << 10, "{peak_kib} KiB");
}

#[test]
fn a_query_with_too_many_words_or_tags_is_refused_with_a_message() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let many = "t,".repeat(4000);
    let refused = server.get(&format!("/api/runs?tags={many}"));
    let error = fits(&bed, "serve-error", 400, &refused)["error"].clone();
    assert_eq!(error, "there are 4000 tags, but at most 16 are allowed");
    let words = "w+".repeat(17);
    assert_eq!(server.get(&format!("/api/runs?search={words}")).status, 400);
    let mut request = run_request(&bed, &null(1, "1s"));
    request["tags"] = json!(vec!["t"; 65]);
    assert_eq!(server.change("POST /api/runs", &request).status, 400);
    let ids = vec!["x"; 4000].join(",");
    assert_eq!(server.get(&format!("/api/compare?runs={ids}")).status, 400);
    // What cannot be read is refused with a document, too.
    for query in ["offset=-1", "sort=bogus"] {
        let refused = server.get(&format!("/api/runs?{query}"));
        fits(&bed, "serve-error", 400, &refused);
    }
    let mut request = run_request(&bed, &null(1, "1s"));
    request["settings"] = json!({"iodepth": "1,".repeat(400_000)});
    let refused = server.change("POST /api/check", &request);
    fits(&bed, "serve-error", 413, &refused);
}

#[test]
fn an_error_quotes_only_a_short_part_of_a_long_value() {
    let bed = ScratchTarget::new().unwrap();
    let server = Server::start(&bed, &[]);
    let long = "x".repeat(900_000);
    let text = |line: &str| format!("{}{line}\n", null(1, "1s"));
    for request in [
        run_request(&bed, &text(&format!("{long} = 1"))),
        run_request(&bed, &text(&format!("cache = \"{long}\""))),
        json!({"workload": {"builtin": long}}),
        json!({"workload": {"own": long}}),
        json!({"workload": {"text": "", "name": long}}),
        json!({"workload": {"builtin": "postmark"}, "settings": {"size": long}}),
        json!({"workload": {"builtin": "postmark"}, "targets": [format!("/{long}")]}),
        json!({ "workload": { long.clone(): 1 } }),
        json!({"workload": {"text": format!("[{long}]\nrw={long}\n"), "kind": "fio"}}),
    ] {
        let answer = server.change("POST /api/check", &request);
        assert!(answer.body.len() < 20_000, "{} bytes", answer.body.len());
    }
    let name = bed.file("long.toml", text(&format!("cache = \"{long}\"")));
    let arguments = ["check", name.to_str().unwrap()];
    let output = bed.run(&arguments);
    assert!(
        output.code == 2 && output.stderr.len() < 5000,
        "{} bytes",
        output.stderr.len()
    );
    let word = "y".repeat(100_000);
    for arguments in [
        vec!["run", word.as_str()],
        vec!["run", "--size", &word],
        vec!["run", "--set", &word],
        vec!["check", "postmark", "--cache", &word],
        vec!["as", "fio", &word],
        vec!["as", "ior", "-b", &word],
        vec!["as", &word],
        vec!["show", &word],
        vec![word.as_str()],
    ] {
        let output = bed.run(&arguments);
        let length = output.stderr.len() + output.stdout.len();
        assert!(
            output.code != 0 && length < 10_000,
            "{}: {length}",
            arguments[0].len()
        );
    }
}
