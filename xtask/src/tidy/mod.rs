//! House rules that no compiler checks, run as a test.
//!
//! A limit is raised only for a named place with its reason, in `exceptions`. Nothing here
//! changes a file.

mod calls;
mod classics;
mod cycles;
mod exceptions;
mod fronts;
mod graph;
mod manifest;
mod modules;
mod opens;
mod shape;
mod source;
mod spelling;
mod streams;

use std::fmt;
use std::path::Path;

use crate::error::Failure;
use crate::workspace;
use source::SourceFile;

/// One place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule's name, as `exceptions` uses it.
    pub rule: &'static str,
    /// The file, relative to the workspace root.
    pub path: String,
    /// 1-based; 0 for the whole file.
    pub line: usize,
    /// What was seen and what is wanted.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "error: {}\n  --> {}:{} ({})",
            self.message, self.path, self.line, self.rule
        )
    }
}

/// What a tidy run saw.
#[derive(Debug, Default)]
pub struct Verdict {
    /// Broken rules without an exception.
    pub findings: Vec<Finding>,
    /// How many rules were looked at.
    pub rules_count: usize,
    /// Figures that have a target but no limit, as lines to print.
    pub figures: Vec<String>,
}

/// Checks the whole workspace and prints every finding.
pub fn run() -> Result<(), Failure> {
    let verdict = check(&workspace::root())?;
    for finding in &verdict.findings {
        println!("{finding}\n");
    }
    for figure in &verdict.figures {
        println!("{figure}");
    }
    match verdict.findings.len() {
        0 => {
            println!("tidy: {} rules hold", verdict.rules_count);
            Ok(())
        }
        count => Err(Failure::Found(format!("tidy: {count} places break a rule"))),
    }
}

/// Checks the workspace at `root`.
pub fn check(root: &Path) -> Result<Verdict, Failure> {
    let sources = source::load(root)?;
    let mut findings = Vec::new();
    for file in &sources {
        check_source(file, &mut findings);
    }
    shape::check_loop_file(&sources, &mut findings);
    calls::check_expect_share(&sources, &mut findings);
    cycles::check(&sources, &mut findings);
    spelling::check_texts(root, &mut findings)?;
    classics::check(&sources, &mut findings);
    fronts::check(&sources, &mut findings);
    manifest::check(root, &mut findings)?;
    graph::check(root, &mut findings)?;
    let (findings, used) = exceptions::apply(findings);
    let mut figures = shape::figures(&sources);
    figures.extend(used);
    Ok(Verdict {
        findings,
        rules_count: exceptions::RULES.len(),
        figures,
    })
}

fn check_source(file: &SourceFile, findings: &mut Vec<Finding>) {
    shape::check(file, findings);
    calls::check(file, findings);
    streams::check(file, findings);
    opens::check(file, findings);
    spelling::check_names(file, findings);
}
