//! In the place of Bonnie++ and Bonnie, on real files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::io::Write;
use std::process::{Command, Stdio};

use end_to_end::{Bed, need, skip};

/// Runs the program on the bed's target, with these options besides.
fn run(bed: &Bed, name: &str, options: &[&str]) -> String {
    let target = bed.target().to_str().unwrap().to_owned();
    let line = [&["as", name, "-d", &target], options].concat();
    let finished = bed.run(&line);
    finished.assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    finished.stdout
}

const SMALL: [&str; 10] = [
    "-r",
    "0",
    "-s",
    "1m:4k:100:2",
    "-f",
    "-n",
    "1:4096:1024:2",
    "-z7",
    "-m",
    "host",
];

#[test]
fn a_run_has_tables_and_a_line_that_other_programs_read() {
    let bed = need!(Bed::in_memory());
    let text = run(&bed, "bonnie++", &SMALL);
    let line = text.lines().last().unwrap();
    let fields: Vec<&str> = line.split(',').collect();
    assert_eq!(fields.len(), 50, "{line}");
    assert_eq!(
        fields[..9],
        ["1.98", "2.00a", "host", "1", "7", "1M", "", "100", "2"]
    );
    assert_eq!(fields[21..26], ["1", "4096", "1024", "", "2"]);
    // Nothing was done byte by byte.
    assert_eq!((fields[9], fields[38], fields[11]), ("", "", "+++++"));
    assert_eq!(text.lines().count(), 11, "{text}");
    let page = Command::new("bon_csv2html")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut page) = page else {
        skip!("there is no bon_csv2html");
    };
    let input = page.stdin.take();
    input.unwrap().write_all(line.as_bytes()).unwrap();
    let page = page.wait_with_output().unwrap();
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("host") && page.contains("1M"), "{page}");
}

#[test]
fn runs_follow_each_other_as_lines() {
    let bed = need!(Bed::in_memory());
    let text = run(
        &bed,
        "bonnie++",
        &["-r", "0", "-s", "0", "-n", "1:-1", "-x", "2"],
    );
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(lines[0].starts_with("format_version,"));
    assert!(lines[1..].iter().all(|line| line.contains(",1,link,")));
}

#[test]
fn the_first_of_its_name_prints_one_row() {
    let bed = need!(Bed::in_memory());
    let text = run(&bed, "bonnie", &["-s", "2", "-m", "me"]);
    let row: Vec<&str> = text.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((row.len(), row[0], row[1]), (14, "me", "2"));
}

#[test]
fn options_that_nobody_knows_are_refused() {
    let bed = need!(Bed::in_memory());
    let refused = bed.run(&["as", "bonnie++", "-k"]);
    refused.assert_refused(1, &["there is no option `-k`"]);
}
