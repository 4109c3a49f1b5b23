//! Submissions of boards: honest records of all kinds of work pass the rules, results of other
//! programs are ranked next to runs, and forged records are refused.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use end_to_end::{ScratchTarget, finish};
use serde_json::{Value, json};

/// A workload of each kind, with few and small files.
const KINDS: [(&str, &str); 9] = [
    (
        "access.toml",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n",
    ),
    (
        "mixed.toml",
        "size = \"4m\"\n[[access_spec]]\nline = [{ size = \"4k\", random = 100, read = 50, \
         of_size = 80 }, { size = \"64k\", of_size = 20 }]\n",
    ),
    (
        "jobs.fio",
        "[global]\nsize=4m\nioengine=psync\nruntime=200ms\ntime_based\n[look]\nrw=randread\n\
         bs=4k\n[fill]\nrw=write\nbs=64k\n",
    ),
    (
        "mail.f",
        "set $dir=/tmp\ndefine fileset name=files,path=$dir,size=16k,entries=10,prealloc=100\n\
         define process name=p,instances=1 {\n thread name=t,memsize=1m,instances=1 {\n  \
         flowop openfile name=open,filesetname=files,fd=1\n  \
         flowop readwholefile name=read,fd=1,iosize=1m\n  flowop closefile name=close,fd=1\n \
         }\n}\nrun 1\n",
    ),
    ("pool.toml", "[postmark]\nnumber = 40\ntransactions = 100\n"),
    (
        "phases.toml",
        "[[fileset]]\nname = \"mail\"\ncount = 10\npresent = \"100%\"\nsize = \"16k\"\n\
         [[phase]]\nname = \"read\"\n[[phase.group]]\nbody = [\n{ open = \"mail\" }, \
         { read = \"rest\", piece = \"64k\" }, \"close\",\n]\n",
    ),
    ("create.toml", "[create_remove]\ncount = 40\nsizes = 4096\n"),
    ("mark.toml", "[fs_mark]\nfiles = 40\nsize = 4096\n"),
    (
        "client.txt",
        "Deltree \"\\clients\\client1\" NT_STATUS_OK\nMkdir \"\\clients\" NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 2 NT_STATUS_OK\n\
         WriteX 2 0 65536 65536 NT_STATUS_OK\nClose 2 NT_STATUS_OK\n",
    ),
];

/// Options for every kind of work.
const OPTIONS: [&[&str]; 6] = [
    &[],
    &["--workers", "2"],
    &["--repetitions", "2"],
    &["--rate", "200/s"],
    &["--cache", "buffered", "--seed", "7"],
    &["--seed", "8"],
];

/// Options for access specifications only.
const ACCESS_OPTIONS: [&[&str]; 9] = [
    &["--engine", "null"],
    &["--engine", "null", "--iodepth", "1,8"],
    &["--engine", "psync", "--verify"],
    &["--operations", "100"],
    &["--set", "warm=true"],
    &["--set", "batch=4", "--iodepth", "8"],
    &["--curve"],
    &["--engine", "mmap"],
    &["--arrivals", "poisson", "--rate", "500/s"],
];

/// Returns the findings of a report of `board lint --json` that refuse, as text.
fn refusing(lint: &Value) -> Vec<String> {
    let submissions = lint["submissions"].as_array().unwrap().iter();
    let findings = submissions.flat_map(|it| {
        let findings = it["findings"].as_array().unwrap().iter();
        findings.map(move |found| (it["slug"].as_str().unwrap(), found))
    });
    let errors = findings.filter(|(_, found)| found["level"] == "error");
    errors
        .map(|(slug, found)| format!("{slug}: {found}"))
        .collect()
}

#[test]
fn fifty_honest_records_of_all_kinds_of_work_pass() {
    let bed = ScratchTarget::in_memory().unwrap();
    let times = ["--run-time", "100ms", "--ramp-time", "0s"];
    let mut count = 0;
    let mut measure = |file: &str, options: &[&str]| {
        // These end when their work is done.
        let times = match file {
            "create.toml" | "mark.toml" => &[][..],
            _ => &times,
        };
        let output = bed.measure(&[&[file][..], times, options, &["--quiet"]].concat());
        // Not every kind of work has every option, which is refused before anything is measured.
        count += usize::from(output.code == 0);
        assert!(
            [0, 2].contains(&output.code),
            "{file} {options:?}: {}",
            output.text()
        );
    };
    for (file, text) in KINDS {
        bed.file(file, text);
        for options in OPTIONS {
            measure(file, options);
        }
    }
    for options in ACCESS_OPTIONS {
        measure("access.toml", options);
    }
    assert!(count >= 50, "only {count} runs were measured");
    let ids = bed.listed(&[]);
    let ids: Vec<&str> = ids.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert!(ids.len() >= 50);
    let output = bed.run(&[&["board", "lint", "--json"][..], &ids].concat());
    let lint: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(refusing(&lint), Vec::<String>::new());
    assert_eq!(output.code, 0);
}

/// A session of PostMark 1.51, with the times of a run.
fn session(bed: &ScratchTarget) -> String {
    bed.file(
        "commands",
        "set number 1000\nset transactions 50000\nset location target\nshow\nrun\n",
    );
    let mut command = bed.command(&["as", "postmark", "commands"]);
    command.stdin(std::process::Stdio::null());
    let output = finish(&mut command);
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

/// Runs a command that must succeed, and returns its output.
#[track_caller]
fn output(bed: &ScratchTarget, arguments: &[&str]) -> String {
    let output = bed.run(arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    output.stdout
}

const SUBMITTER: [&str; 6] = [
    "--submitter",
    "Ann",
    "--license",
    "CC0-1.0",
    "--board",
    "board",
];

/// Adds a run or a file to the board.
fn add(bed: &ScratchTarget, run: &str, title: &str, more: &[&str]) -> end_to_end::Finished {
    bed.run(
        &[
            &["board", "add", run, "--title", title][..],
            &SUBMITTER,
            more,
        ]
        .concat(),
    )
}

#[test]
fn a_text_of_postmark_and_a_run_are_ranked_on_one_site() {
    let bed = ScratchTarget::in_memory().unwrap();
    let text = session(&bed);
    bed.file("postmark.txt", &text);
    output(&bed, &["board", "init", "board"]);
    // Their 5000000 transactions take a debug build long, in every command.
    for entry in fs::read_dir(bed.path().join("board/submissions")).unwrap() {
        let path = entry.unwrap().path();
        if path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .starts_with("lfs")
        {
            fs::remove_dir_all(path).unwrap();
        }
    }
    let added = add(&bed, "postmark.txt", "Sun of 2001", &["--year", "2001"]);
    assert_eq!(added.code, 0, "{}", added.text());
    let rank = output(&bed, &["board", "rank", "postmark.txt", "--board", "board"]);
    assert!(rank.contains(" of 22 by transactions/s"), "{rank}");
    let again = add(&bed, "postmark.txt", "Another name", &[]);
    again.assert_refused(1, &["E12", "sun-of-2001"]);
    let forged = text.replacen("24868 read", "24869 read", 1);
    assert_ne!(text, forged);
    bed.file("forged.txt", forged);
    add(&bed, "forged.txt", "Forged", &[]).assert_refused(1, &["P1", "24868"]);
    output(&bed, &["board", "build", "board", "-o", "site"]);
    let page = |name: &str| fs::read_to_string(bed.path().join("site").join(name)).unwrap();
    let submission = page("submissions/sun-of-2001.html");
    for text in [
        "record of PostMark 1.51",
        "Original text",
        "24868 read",
        "2001",
        "Unknown",
    ] {
        assert!(submission.contains(text), "no `{text}` in {submission}");
    }
    assert!(page("tables/netapp-postmark-1.html").contains("Sun of 2001"));
    assert!(page("submissions/sun-of-2001-report.html").contains("24868 read"));
}

const FIO: &str = r#"{
  "fio version" : "fio-3.36",
  "timestamp_ms" : 1700000010250,
  "jobs" : [
    {
      "jobname" : "<script>alert(1)</script>",
      "error" : 0,
      "job options" : { "rw" : "randread", "bs" : "4k", "iodepth" : "1", "numjobs" : "1" },
      "read" : {
        "io_bytes" : 8192000, "bw_bytes" : 819200, "iops" : 200.0, "runtime" : 10000,
        "total_ios" : 2000,
        "lat_ns" : { "min" : 120, "max" : 9100, "mean" : 530.25, "stddev" : 3.5, "N" : 2000 }
      }
    }
  ]
}
"#;

#[test]
fn results_of_fio_are_ranked_in_a_table_of_runs_whose_owner_says_so() {
    let bed = ScratchTarget::in_memory().unwrap();
    let (file, text) = KINDS[0];
    bed.file(file, text);
    bed.file("fio.json", FIO);
    let run = bed.measure(&[file, "--engine", "null"]);
    assert_eq!(run.code, 0, "{}", run.text());
    output(&bed, &["board", "init", "board", "--empty"]);
    let added = add(&bed, "last", "Run", &["--new-table", "reads"]);
    assert_eq!(added.code, 0, "{}", added.text());
    add(&bed, "fio.json", "fio", &[]).assert_refused(1, &["E13", "--same-work-as"]);
    add(&bed, "fio.json", "fio", &["--same-work-as", "read"]).assert_refused(2, &["`read`"]);
    let added = add(&bed, "fio.json", "fio", &["--same-work-as", "reads"]);
    assert_eq!(added.code, 0, "{}", added.text());
    let rank = output(&bed, &["board", "rank", "last", "--board", "board"]);
    assert!(rank.contains("1st of 2 by IOPS"), "{rank}");
    output(&bed, &["board", "build", "board", "-o", "site"]);
    let page = fs::read_to_string(bed.path().join("site/submissions/fio.html")).unwrap();
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;"));
}

/// Changes a submission on the board, and returns the rules that refuse it then.
fn forged(bed: &ScratchTarget, change: impl Fn(&mut Value)) -> Vec<String> {
    let path = bed.path().join("board/submissions/run/record.json");
    let honest = fs::read_to_string(&path).unwrap();
    let mut record: Value = serde_json::from_str(&honest).unwrap();
    change(&mut record);
    fs::write(&path, record.to_string()).unwrap();
    let output = bed.run(&["board", "lint", "board/submissions/run", "--json"]);
    fs::write(&path, honest).unwrap();
    let lint: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(output.code, 1, "{lint}");
    refusing(&lint)
}

#[test]
fn a_changed_record_on_a_board_no_longer_has_its_hash() {
    let bed = ScratchTarget::in_memory().unwrap();
    let (file, text) = KINDS[0];
    bed.file(file, text);
    let run = bed.measure(&[file, "--engine", "null"]);
    assert_eq!(run.code, 0, "{}", run.text());
    output(&bed, &["board", "init", "board", "--empty"]);
    let added = add(&bed, "last", "Run", &["--new-table", "reads"]);
    assert_eq!(added.code, 0, "{}", added.text());
    let rules = forged(&bed, |it| {
        it["environment"]["cpu"]["model"] = json!("Faster")
    });
    assert!(rules.iter().any(|it| it.contains("E10")), "{rules:?}");
    let rules = forged(&bed, |it| it["format"] = json!("pgmeter-record/99"));
    assert!(rules.iter().any(|it| it.contains("E01")), "{rules:?}");
}

const TABLE: &str = "\n[[table]]\nname = \"reads\"\ntitle = \"Reads\"\ncommand = \"pgmeter run\"\n\
    work = \"0\"\nrank_by = \"IOPS\"\n[[table.column]]\nname = \"IOPS\"\nbetter = \"higher\"\n";

/// Writes a board of this many submissions of figures.
fn board_of(bed: &ScratchTarget, count: u32) {
    output(bed, &["board", "init", "board", "--empty"]);
    let board = bed.path().join("board");
    let config = fs::read_to_string(board.join("board.toml")).unwrap();
    fs::write(board.join("board.toml"), config + TABLE).unwrap();
    for number in 0..count {
        let directory = board.join(format!("submissions/system-{number}"));
        fs::create_dir_all(&directory).unwrap();
        let year = 1997 + number % 30;
        let texts = format!(
            "format = \"pgmeter-submission/1\"\ntitle = \"System {number}\"\nsubmitter = \"Ann\"\n\
             license = \"CC0-1.0\"\nyear = \"{year}\"\nkind = \"local\"\nsource = \"made up\"\n"
        );
        let rate = (number * 7919) % 100_003;
        let figures = format!(
            "format = \"pgmeter-figures/1\"\n[[row]]\ntable = \"reads\"\n\
             values = {{ IOPS = \"{rate}\" }}\n"
        );
        fs::write(directory.join("submission.toml"), texts).unwrap();
        fs::write(directory.join("figures.toml"), figures).unwrap();
    }
}

/// Returns all files below a directory, with their paths below it.
fn files_below(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(at) = directories.pop() {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => directories.push(path),
                false => {
                    let name = path.strip_prefix(directory).unwrap();
                    files.insert(name.to_str().unwrap().to_owned(), fs::read(&path).unwrap());
                }
            }
        }
    }
    files
}

#[test]
fn a_thousand_submissions_give_the_same_site_twice() {
    let bed = ScratchTarget::in_memory().unwrap();
    board_of(&bed, 1000);
    for site in ["one", "two"] {
        output(&bed, &["board", "build", "board", "-o", site]);
    }
    let [one, two] = ["one", "two"].map(|site| files_below(&bed.path().join(site)));
    assert!(one.len() > 1000, "{} files", one.len());
    assert!(one == two, "two builds differ");
    let table = String::from_utf8(one["tables/reads.csv"].clone()).unwrap();
    assert_eq!(table.lines().count(), 1001);
}

/// Returns the values of an attribute in a page.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let start = format!(" {name}=\"");
    let pieces = page.split(start.as_str()).skip(1);
    pieces.map(|it| it.split('"').next().unwrap()).collect()
}

/// Checks that each element ends in the element that it begins in.
fn assert_nested(name: &str, page: &str) {
    const VOID: [&str; 7] = ["meta", "link", "br", "input", "img", "hr", "col"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        let end = rest.find('>').unwrap();
        let (tag, after) = rest.split_at(end);
        rest = after;
        let element = tag
            .trim_start_matches('/')
            .split([' ', '/', '\n'])
            .next()
            .unwrap();
        let is_void = VOID.contains(&element) || tag.ends_with('/') || tag.starts_with('!');
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(element), "{name}");
        } else if !is_void {
            open.push(element.to_owned());
        }
        // Their text is no markup.
        if ["script", "style"].contains(&element) && !tag.starts_with('/') {
            rest = &rest[rest.find(&format!("</{element}")).unwrap()..];
        }
    }
    assert_eq!(open, Vec::<String>::new(), "{name}");
}

/// Returns the file that a link of a page leads to.
fn target_of(page: &str, link: &str) -> String {
    let (directory, _) = page.rsplit_once('/').unwrap_or_default();
    match link.strip_prefix("../") {
        _ if link.is_empty() => page.to_owned(),
        Some(rest) => rest.to_owned(),
        None if directory.is_empty() => link.to_owned(),
        None => format!("{directory}/{link}"),
    }
}

#[test]
fn every_page_is_well_formed_and_every_link_and_anchor_exists() {
    let bed = ScratchTarget::in_memory().unwrap();
    bed.file("fio.json", FIO);
    board_of(&bed, 3);
    let added = add(&bed, "fio.json", "fio", &["--new-table", "fio"]);
    assert_eq!(added.code, 0, "{}", added.text());
    let config = bed.path().join("board/board.toml");
    let pairs = "\n[[pair]]\nfirst = \"system-0\"\nsecond = \"system-1\"\nnote = \"<b>\"\n\
                 [[pair]]\nfirst = \"system-0\"\nsecond = \"gone\"\n";
    fs::write(&config, fs::read_to_string(&config).unwrap() + pairs).unwrap();
    output(&bed, &["board", "build", "board", "-o", "site"]);
    let files = files_below(&bed.path().join("site"));
    assert!(files.contains_key("compare/system-0--system-1.html"));
    let text = |name: &str| String::from_utf8(files[name].clone()).unwrap();
    for name in files.keys().filter(|it| it.ends_with(".html")) {
        let page = text(name);
        assert_nested(name, &page);
        let mut ids = attributes(&page, "id");
        ids.sort_unstable();
        assert!(
            ids.windows(2).all(|pair| pair[0] != pair[1]),
            "{name} {ids:?}"
        );
        for link in attributes(&page, "href") {
            if link.starts_with("data:") || link.starts_with("https:") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = target_of(name, path);
            assert!(files.contains_key(&target), "{name}: {link}");
            let is_anchor = anchor.is_empty() || attributes(&text(&target), "id").contains(&anchor);
            assert!(is_anchor, "{name}: {link}");
        }
    }
}

#[test]
fn two_submissions_are_compared_on_the_command_line() {
    let bed = ScratchTarget::in_memory().unwrap();
    board_of(&bed, 3);
    let compare =
        |second: &str| bed.run(&["board", "compare", "system-1", second, "--board", "board"]);
    let output = compare("system-2");
    assert_eq!(output.code, 0, "{}", output.text());
    let line = "reads, IOPS: 7919 and 15838 (× 2.000); better: System 2";
    assert!(output.stdout.contains(line), "{}", output.text());
    compare("system-22").assert_refused(2, &["`system-22`", "did you mean `system-2`?"]);
}
