//! The README is right: its examples run as they are written, and every column that it shows of the
//! output is explained.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod documents;

use documents::{DocumentShell, blocks, commands, document, root};

fn readme() -> String {
    document("README.md")
}

#[test]
fn every_example_runs_as_written() {
    let text = readme();
    let examples: Vec<String> = blocks(&text, "sh")
        .iter()
        .flat_map(|block| commands(&format!("```sh\n{block}\n```")))
        .collect();
    assert!(examples.len() >= 20, "{examples:?}");
    DocumentShell::new().run(&examples);
}

#[test]
fn the_workload_file_in_the_readme_matches_the_example() {
    let shown = blocks(&readme(), "toml");
    let file = std::fs::read_to_string(root().join("examples/mixed.toml")).unwrap();
    assert_eq!(shown.len(), 1);
    assert!(file.contains(&shown[0]), "{}", shown[0]);
}

/// The words of lines that name columns.
fn headings(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| line.starts_with("workload "));
    lines.flat_map(str::split_whitespace).collect()
}

#[test]
fn every_column_of_the_sample_is_explained() {
    let text = readme();
    let samples = blocks(&text, "text");
    let sample = headings(&samples[0]);
    assert!(sample.len() > 20, "{sample:?}");
    let (_, explained) = text.split_once("### How to read it").unwrap();
    let explained = explained.split("\n## ").next().unwrap();
    for word in sample {
        assert!(explained.contains(word), "`{word}` is not explained");
    }
}
