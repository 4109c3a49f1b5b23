//! Every figure with a unit that a reader sees is one of the record's, rounded as it is shown.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::ScratchTarget;
use serde_json::Value;

const MIB: f64 = 1_048_576.0;

/// Files that are made, read and removed.
const PHASES: &str = r#"
[[fileset]]
name = "data"
count = 300
size = "6k"
[[phase]]
name = "create"
[[phase.group]]
body = [ { create = "data" }, { write = "size", piece = "4k" }, "close" ]
[[phase]]
name = "read"
[[phase.group]]
body = [ { open = "data", pick = "shuffled" }, { read = "rest", piece = "4k" }, "close" ]
[[phase]]
name = "remove"
[[phase.group]]
body = [ { unlink = "data", pick = "back" } ]
"#;

/// A shown figure in base units, and by how much its rounding may have changed it.
#[derive(Debug)]
struct ShownFigure {
    text: String,
    value: f64,
    error: f64,
}

/// All numbers of a record, and half the width of each interval, which tables show.
fn numbers(value: &Value, found: &mut Vec<f64>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64()),
        Value::Array(values) => values.iter().for_each(|value| numbers(value, found)),
        Value::Object(fields) => {
            fields.values().for_each(|value| numbers(value, found));
            let end = |name: &str| fields.get(name).and_then(Value::as_f64);
            if let (Some(low), Some(high)) = (end("ci95_low"), end("ci95_high")) {
                found.push((high - low) / 2.0);
            }
        }
        _ => {}
    }
}

/// `12.34k` with the factor of its unit; none where it is not a number.
fn figure(word: &str, factor: f64) -> Option<ShownFigure> {
    let (digits, letter) = match word.strip_suffix(['k', 'M', 'G']) {
        Some(digits) => (digits, word.chars().last()),
        None => (word, None),
    };
    let scale = match letter {
        Some('k') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        _ => 1.0,
    };
    let value: f64 = digits.parse().ok()?;
    let decimals = digits.split_once('.').map_or(0, |(_, part)| part.len());
    let unit = scale * factor;
    Some(ShownFigure {
        text: word.to_owned(),
        value: value * unit,
        error: 0.501 * 10_f64.powi(-(decimals as i32)) * unit,
    })
}

/// The factor of a unit that a figure or a column's head may have.
fn factor(unit: &str) -> Option<f64> {
    Some(match unit {
        "IOPS" | "op/s" | "per s" | "trans/s" | "transactions/s" => 1.0,
        "KiB/s" => 1024.0,
        "MiB/s" => MIB,
        "GiB/s" => 1024.0 * MIB,
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        _ => return None,
    })
}

fn is_found(shown: &ShownFigure, known: &[f64]) -> bool {
    known
        .iter()
        .any(|it| (it - shown.value).abs() <= shown.error)
}

/// The figures in the columns of Markdown tables whose heads have a unit.
fn of_tables(text: &str) -> Vec<ShownFigure> {
    let mut factors: Vec<Option<f64>> = Vec::new();
    let mut figures = Vec::new();
    for line in text.lines() {
        if !line.starts_with('|') {
            factors.clear();
            continue;
        }
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        if factors.is_empty() {
            let head_factor = |head: &&str| {
                let unit = head.rsplit(' ').next().unwrap_or(head);
                factor(head).or_else(|| factor(unit))
            };
            factors = cells.iter().map(head_factor).collect();
            continue;
        }
        for (cell, factor) in cells.iter().zip(&factors) {
            let Some(factor) = factor else { continue };
            let words = cell.split([' ', '(', ')']);
            figures.extend(words.filter_map(|word| figure(word, *factor)));
        }
    }
    figures
}

/// The words of a page that people see.
fn words_of(page: &str) -> Vec<String> {
    let mut text = String::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let hidden = ["script", "style"].into_iter().find(|name| {
            let tag = rest[1..].get(..name.len());
            tag == Some(name)
        });
        let end = match hidden {
            Some(name) => rest.find(&format!("</{name}>")).unwrap_or(0),
            None => 0,
        };
        let close = rest[end..].find('>').unwrap_or(rest.len() - end - 1);
        rest = &rest[end + close + 1..];
        text.push(' ');
    }
    text.push_str(rest);
    text.split_whitespace().map(str::to_owned).collect()
}

/// The figures of words that a unit follows.
fn figures_before_units(words: &[String]) -> Vec<ShownFigure> {
    let mut figures = Vec::new();
    for pair in words.windows(2) {
        let unit = pair[1].trim_end_matches([',', '.', ';', ':', ')']);
        if let Some(factor) = factor(unit) {
            let word = pair[0].trim_start_matches(['(', '±']);
            figures.extend(figure(word, factor));
        }
    }
    figures
}

/// The figure that follows these words; `None` if they do not occur.
fn behind(words: &[String], name: &str) -> Option<ShownFigure> {
    let name: Vec<&str> = name.split(' ').collect();
    let at = words.windows(name.len()).position(|it| it == name)?;
    figure(words.get(at + name.len())?, 1.0)
}

/// Compares the printed figures of the newest run with its record.
fn held(bed: &ScratchTarget, name: &str) -> Value {
    let record = bed.run(&["runs", "export", "last"]).stdout;
    let record: Value = serde_json::from_str(&record).unwrap();
    let mut known = Vec::new();
    numbers(&record, &mut known);
    // PostMark's total time is the sum of its phases.
    let times = record["cells"].as_array().unwrap().iter();
    known.push(times.filter_map(|cell| cell["run_time_ns"].as_f64()).sum());
    let report = |format: &str| bed.run(&["report", "last", "--format", format]).stdout;
    let markdown = of_tables(&report("markdown"));
    assert!(markdown.len() > 4, "{name}: {markdown:?}");
    let page = words_of(&report("html"));
    let on_page = figures_before_units(&page);
    let list = bed.run(&["runs", "--limit", "1"]).stdout;
    let words: Vec<String> = list.split_whitespace().map(str::to_owned).collect();
    let listed = figures_before_units(&words);
    assert_eq!(listed.len(), 1, "{name}: {list}");
    let rates = ["transactions per second", "operations per second"];
    let tiles = rates.iter().filter_map(|rate| behind(&page, rate));
    for shown in markdown.iter().chain(&on_page).chain(&listed) {
        assert!(is_found(shown, &known), "{name}: {shown:?} in no record");
    }
    for shown in tiles {
        assert!(is_found(&shown, &known), "{name}: {shown:?} in no record");
    }
    let text = report("text");
    if record["estimates"] != Value::Array(Vec::new()) {
        // Of repetitions, the text has the estimates alone.
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        for shown in figures_before_units(&words) {
            assert!(is_found(&shown, &known), "{name}: {shown:?} in no record");
        }
        return record;
    }
    // The text has the numbers of the same tables, rounded alike.
    let in_text: Vec<&str> = text.split_whitespace().collect();
    for shown in markdown.iter().filter(|it| it.text.contains('.')) {
        let is_printed = in_text
            .iter()
            .any(|word| word.trim_matches(['(', ')']) == shown.text);
        assert!(is_printed, "{name}: {shown:?} not in\n{text}");
    }
    record
}

#[test]
fn every_printed_figure_with_a_unit_is_in_the_record() {
    let bed = ScratchTarget::new().unwrap();
    let target = bed.target().to_string_lossy().into_owned();
    let line = "line = [{ size = \"4k\", read = 70, random = 100 }]\n";
    let access = format!("size = \"4m\"\ncache = \"buffered\"\n[[access_spec]]\n{line}");
    bed.file("access.toml", &access);
    bed.file(
        "job.fio",
        "[global]\nsize=1m\nbs=4k\n[a]\nrw=randread\n[b]\nrw=write\nbs=64k\n",
    );
    bed.file(
        "script.f",
        format!(
            "define fileset name=\"set\",path=\"{target}\",size=4k,entries=50,dirwidth=10,\
             prealloc=100\n\
             define process name=\"p\",instances=1\n{{\n  thread name=\"t\",instances=1\n  {{\n    \
             flowop openfile name=\"open\",filesetname=\"set\",fd=1\n    \
             flowop readwholefile name=\"read\",fd=1,iosize=4k\n    \
             flowop closefile name=\"close\",fd=1\n  }}\n}}\nrun 1\n"
        ),
    );
    bed.file(
        "pool.pm",
        "set number 200\nset transactions 2000\nrun\nquit\n",
    );
    bed.file("phases.toml", PHASES);
    for (name, more) in [
        ("access.toml", &["--run-time", "500ms"][..]),
        ("job.fio", &[]),
        ("script.f", &[]),
        ("pool.pm", &[]),
        ("phases.toml", &[]),
        (
            "access.toml",
            &[
                "--run-time",
                "300ms",
                "--iodepth",
                "1,4",
                "--repetitions",
                "3",
            ],
        ),
    ] {
        let arguments = [&["run", name, "--target", &target, "--quiet"], more].concat();
        let output = bed.run(&arguments);
        assert_eq!(output.code, 0, "{name}: {}", output.text());
        let record = held(&bed, name);
        if name == "pool.pm" {
            assert_matches_postmark(&bed, &record);
        }
    }
}

/// A transaction of PostMark is a pair of operations in every output.
fn assert_matches_postmark(bed: &ScratchTarget, record: &Value) {
    let cells = record["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["phase"] == "transactions");
    let pool = &cell.unwrap()["phase_figures"]["pool"];
    let count = pool["transactions_count"].as_f64().unwrap();
    let rate = count * 1e9 / pool["transactions_ns"].as_f64().unwrap();
    assert_eq!(count, 2000.0);
    let reported = pool["transactions_per_second"].as_f64().unwrap();
    assert!((reported / rate - 1.0).abs() < 1e-9, "{reported} {rate}");
    let headline = &bed.listed(&["--limit", "1"])[0]["headline"];
    assert_eq!(headline["of"], "transactions");
    assert_eq!(headline["per_second"].as_f64(), Some(reported));
    let page = words_of(&bed.run(&["report", "last", "--format", "html"]).stdout);
    let shown = behind(&page, "transactions per second").unwrap();
    assert!(
        (shown.value - rate).abs() <= shown.error,
        "{shown:?} {rate}"
    );
    let twice = cell.unwrap()["total"]["per_second"].as_f64().unwrap();
    assert!(twice > 1.5 * rate, "{twice} {rate}");
}
