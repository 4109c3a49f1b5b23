//! filebench's workload model language: converts scripts to programs.

mod flowops;
mod laws;
mod parser;
mod program;
mod script;
#[cfg(test)]
mod tests;
mod text;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;

use plan::{Diagnostic, printable};

use crate::options::{Grammar, OptionRow, read, text};
use crate::rows::rows;
use crate::tokens::number;
use crate::{
    ArgumentError, CommandLine, DifferenceKind, FileFront, Front, FrontFile, FrontWork,
    OriginalDifference,
};
use parser::{DEFINE_WORDS, parse};
use script::Read;

/// Front of filebench 1.5-alpha3.
pub const FRONT: Front = Front {
    name: "filebench",
    aliases: &[],
    title: "Runs scripts of processes, threads and flowops on filesets",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "filebench 1.5-alpha3",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences,
    file: Some(FileFront {
        name: "filebench",
        kind: "filebench workload",
        detect,
        extensions: &[],
        read: |file| work(file, &BTreeMap::new()),
    }),
    ranks: None,
    without_direct: "leave `directio` out",
    text: text::of,
};

/// `true` if a line begins with a definition, such as `define fileset`.
fn detect(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().take(2).collect();
        matches!(words[..], ["define", word] if DEFINE_WORDS.split(' ').any(|it| it == word))
    })
}

/// Parsed options: the script, and values of variables that override the script's own.
#[derive(Default)]
struct FilebenchOptions {
    script: String,
    variables: BTreeMap<String, String>,
    ignored: Vec<String>,
}

const GRAMMAR: Grammar<FilebenchOptions> = Grammar {
    operand: Some(|_, word| {
        let word = plan::printable(word);
        Err(format!("`{word}` is not an option; write `-f {word}`"))
    }),
    ..Grammar::new(OPTIONS, |it| &mut it.ignored)
};

const OPTIONS: &[OptionRow<FilebenchOptions>] = &[
    text("-f", |it| &mut it.script),
    read("--set", |it, value| {
        let (name, text) = value.text.split_once('=').unwrap_or((value.text, ""));
        let name = name.trim_start_matches('$');
        if name.is_empty() || text.is_empty() {
            return Err(value.not("of the form NAME=VALUE"));
        }
        // Sizes such as `8k` become plain numbers, as in a script.
        let text = number(text).map_or_else(|| text.to_owned(), |it| it.to_string());
        it.variables.insert(name.to_owned(), text);
        Ok(())
    }),
];

fn general_differences() -> Vec<OriginalDifference> {
    let refused = rows(include_str!("refused.txt")).map(|[word, reason, _]| {
        OriginalDifference::new(DifferenceKind::Refused, format!("`{word}`"), reason)
    });
    let known = OriginalDifference::listed(include_str!("differences.txt"));
    known.chain(refused).collect()
}

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = GRAMMAR.read(line.arguments, FilebenchOptions::default())?;
    if options.script.is_empty() {
        return Err("name the script with `-f FILE`".to_owned().into());
    }
    let bytes = line.files.read(&options.script)?;
    let file = FrontFile::new(&options.script, &bytes);
    Ok(work(&file, &options.variables)?)
}

/// Converts a script to work.
fn work(file: &FrontFile<'_>, variables: &BTreeMap<String, String>) -> Read<FrontWork> {
    // Comments may be in any encoding, so invalid UTF-8 is replaced.
    let text = String::from_utf8_lossy(file.bytes);
    let name = Path::new(file.name).file_stem();
    let name = name.map_or_else(|| "filebench".into(), |it| it.to_string_lossy());
    let work = parse(&text, variables).and_then(|script| program::work(script, &name));
    work.map_err(|error| located(error, file.name, &text))
}

/// The error and those after it, each with the file's name and its line.
fn located(error: Diagnostic, name: &str, text: &str) -> Diagnostic {
    let snippet = |line| printable(text.lines().nth(line as usize - 1).unwrap_or_default()).into();
    Diagnostic {
        file: name.to_owned(),
        snippet: error.line.map(snippet),
        next: error.next.map(|it| Box::new(located(*it, name, text))),
        ..error
    }
}
