//! What fio does, as jobs.

mod command_line;
mod iolog;
mod language;
mod laws;
mod properties;
mod there;
mod traps;
mod verdicts;
mod verification;
mod wild;

use super::*;

/// What a file says, of which nothing is wrong.
fn read(text: &str) -> JobSet {
    read_file("test.fio", text.as_bytes(), &ParserEnvironment::EMPTY)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is wrong with a file.
fn refused(text: &str) -> Diagnostic {
    read_file("test.fio", text.as_bytes(), &ParserEnvironment::EMPTY)
        .expect_err("the file should not be taken")
}

/// The only job of a section with these options.
fn job(options: &str) -> FioJob {
    let mut set = read(&format!("[j]\n{options}\n"));
    assert_eq!(set.jobs.len(), 1, "{options}");
    set.jobs.remove(0)
}

/// What is wrong with options.
fn wrong(options: &str) -> Diagnostic {
    refused(&format!("[j]\n{options}\n"))
}

/// What a command line says.
fn parse_line(line: &str) -> Result<(FioInvocation, JobSet), Diagnostic> {
    parse_with_surroundings(line, &ParserEnvironment::EMPTY)
}

fn parse_with_surroundings(
    line: &str,
    surroundings: &ParserEnvironment<'_>,
) -> Result<(FioInvocation, JobSet), Diagnostic> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
    read_arguments(&words, surroundings)
}

const SIZES: &str = "size=4m\nbs=4k\n";

/// Notes in one text.
fn notes(set: &JobSet) -> String {
    let notes: Vec<&str> = set.notes.iter().map(|it| it.message.as_str()).collect();
    notes.join("\n")
}
