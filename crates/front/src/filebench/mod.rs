//! filebench's workload model language: scripts as programs.

mod commands;
mod flowops;
mod laws;
mod parser;
mod program;
mod script;
mod sets;
#[cfg(test)]
mod tests;
mod text;
mod waits;

use std::collections::BTreeMap;
use std::path::Path;

use workload::{Diagnostic, printable};

use crate::options::{Grammar, OptionRow, read, text};
use crate::{ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork};
use commands::{DEFINED, parse};

/// filebench.
pub const FRONT: Front = Front {
    name: "filebench",
    title: "Scripts of processes, threads and flowops on filesets",
    version: "filebench 1.5-alpha3",
    usage: include_str!("usage.txt"),
    arguments,
    file: Some(FileFront {
        kind: "filebench workload",
        detect,
        endings: &[],
        read: |file| work(file, &BTreeMap::new()),
    }),
    text: text::of,
};

/// Bytes of a file that are looked at to tell what it is.
const DETECTED_BYTES_MAX: usize = 1 << 20;

/// Whether a line begins as a definition does.
fn detect(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(DETECTED_BYTES_MAX)];
    String::from_utf8_lossy(bytes).lines().any(|line| {
        let mut words = line.split_whitespace();
        let is_known = |word| DEFINED.split(' ').any(|it| it == word);
        words.next() == Some("define") && words.next().is_some_and(is_known)
    })
}

/// What is asked for: a script, and what variables are set to whatever it says.
#[derive(Default)]
struct Options {
    script: String,
    variables: BTreeMap<String, String>,
    ignored: Vec<String>,
}

const GRAMMAR: Grammar<Options> = Grammar::new(OPTIONS, |it| &mut it.ignored);

const OPTIONS: &[OptionRow<Options>] = &[
    text("-f", |it| &mut it.script),
    read("--set", |it, value| {
        let (name, text) = value.text.split_once('=').unwrap_or((value.text, ""));
        let name = name.trim_start_matches('$');
        if name.is_empty() || text.is_empty() {
            return Err(value.not("of the form NAME=VALUE"));
        }
        it.variables.insert(name.to_owned(), text.to_owned());
        Ok(())
    }),
];

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = GRAMMAR.read(line.arguments, Options::default())?;
    if options.script.is_empty() {
        return Err("`-f` names the script".to_owned().into());
    }
    let bytes = (line.read)(&options.script)?;
    let file = FrontFile::new(&options.script, &bytes);
    Ok(work(&file, &options.variables)?)
}

/// What a script stands for.
fn work(
    file: &FrontFile<'_>,
    variables: &BTreeMap<String, String>,
) -> Result<FrontWork, Diagnostic> {
    // Comments may be in any encoding.
    let text = String::from_utf8_lossy(file.bytes);
    let name = Path::new(file.name).file_stem();
    let name = name.map_or_else(|| "filebench".into(), |it| it.to_string_lossy());
    let work = parse(&text, variables).and_then(|script| program::work(script, &name));
    work.map_err(|error| {
        let line = error.line.map(|line| text.lines().nth(line as usize - 1));
        Diagnostic {
            file: file.name.to_owned(),
            snippet: line.map(|line| printable(line.unwrap_or_default())),
            ..error
        }
    })
}
