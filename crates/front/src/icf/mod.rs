//! Iometer's configuration files (`.icf`): reads all versions, writes version 1.1.0.

mod cluster;
mod display;
mod document;
mod export;
mod import;
mod keywords;
mod managers;
mod old_specs;
mod parse;
mod reader;
mod refusal;
mod scan;
mod settings;
mod setup;
mod specs;
mod text;
mod worker;
mod write;

pub use document::{
    IcfAccessLine, IcfAccessSpec, IcfCycling, IcfDocument, Manager, QueueDepthCycling, RunTime,
    TestSetup, Version,
};
pub use export::from_workload;
pub use import::to_workload;
pub use parse::parse;
pub use text::MAX_FILE_BYTES;
pub use write::write;

use description::check::check;
use description::{file_stem, name_after};
use plan::Diagnostic;

use crate::file::{FileFront, FrontFile};
use crate::work::FrontWork;

/// Iometer's configurations as a kind of workload file.
pub(crate) const FILE: FileFront = FileFront {
    name: "icf",
    kind: "Iometer configuration",
    detect,
    extensions: &[],
    read,
};

/// Tolerance of mistakes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// Accept everything whose meaning is clear, with a warning.
    Tolerant,
    /// Accept only what Iometer 1.1.0 accepts.
    Strict,
}

/// A parsed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The configuration.
    pub document: IcfDocument,
    /// Warnings about the file, sorted by line.
    pub warnings: Vec<Diagnostic>,
}

/// `true` if the file begins with a version, or a line begins with an apostrophe and a section's
/// title.
fn detect(bytes: &[u8]) -> bool {
    const TITLES: [&[u8]; 4] = [
        b"'TEST SETUP",
        b"'ACCESS SPECIFICATIONS",
        b"'MANAGER LIST",
        b"'RESULTS DISPLAY",
    ];
    // Iometer also accepts a byte order mark, since it only looks for the numbers in the first
    // line.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let starts = |line: &[u8], title: &[u8]| {
        line.get(..title.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(title))
    };
    starts(bytes, b"Version ")
        || bytes
            .split(|byte| *byte == b'\n')
            .any(|line| TITLES.iter().any(|title| starts(line, title)))
}

/// Reads a file, and checks for values that Iometer accepts but pgmeter cannot run, such as a queue
/// depth of 0.
fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    file.refuse_empty()?;
    let mode = match file.options.strict {
        true => Strictness::Strict,
        false => Strictness::Tolerant,
    };
    let Parsed {
        document,
        warnings: mut findings,
    } = parse(file.bytes, file.name, mode)?;
    let (mut workload, mut found) = to_workload(&document, &file_stem(file.name));
    for warning in found.iter_mut().filter(|warning| warning.file.is_empty()) {
        file.name.clone_into(&mut warning.file);
    }
    findings.append(&mut found);
    check(&workload).map_err(|flaw| flaw.diagnostic(file.name))?;
    name_after(&mut workload, file.name);
    Ok(FrontWork {
        findings,
        ..FrontWork::new(vec![workload])
    })
}

#[cfg(test)]
mod tests;
