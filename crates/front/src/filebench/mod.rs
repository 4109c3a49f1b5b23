//! filebench's workload model language: scripts as programs.

mod attributes;
mod calls;
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
mod writer;

use std::collections::BTreeMap;
use std::path::Path;

use workload::{Diagnostic, printable};

use crate::{ArgumentError, CommandLine, FileFront, Front, FrontFile, FrontWork};
use commands::parse;
use script::DEFINED;

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
        words.next() == Some("define") && words.next().is_some_and(|it| DEFINED.contains(&it))
    })
}

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let mut variables = BTreeMap::new();
    let mut script = None;
    let mut words = line.arguments.iter();
    while let Some(word) = words.next() {
        let mut value = || {
            let next = words.next();
            next.ok_or_else(|| format!("option `{word}` lacks its value"))
        };
        match word.as_str() {
            "-f" => script = Some(value()?),
            "--set" => variables.extend([set(value()?)?]),
            _ => return Err(format!("there is no option `{word}`").into()),
        }
    }
    let Some(name) = script else {
        return Err("`-f` names the script".to_owned().into());
    };
    let bytes = (line.read)(name)?;
    let file = FrontFile::new(name, &bytes);
    Ok(work(&file, &variables)?)
}

fn set(word: &str) -> Result<(String, String), String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let name = name.trim_start_matches('$');
    if name.is_empty() || value.is_empty() {
        return Err(format!("`--set {word}` is not of the form NAME=VALUE"));
    }
    Ok((name.to_owned(), value.to_owned()))
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
    let work = parse(&text, variables).and_then(|script| program::work(&script, &name));
    work.map_err(|error| {
        let line = error.line.map(|line| text.lines().nth(line as usize - 1));
        Diagnostic {
            file: file.name.to_owned(),
            snippet: line.map(|line| printable(line.unwrap_or_default())),
            ..error
        }
    })
}
