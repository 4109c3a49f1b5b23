//! House rules that the compiler does not check, run as a test.
//!
//! Exceptions are limited to named places with a reason, in `exceptions`. Nothing here changes a
//! file.

mod calls;
mod classics;
mod cycles;
mod exceptions;
mod fronts;
mod graph;
mod guides;
mod links;
mod manifest;
mod misspelling;
mod modules;
mod opens;
mod shape;
mod source;
mod spelling;
mod streams;
mod types;
mod wording;

use std::fmt;
use std::path::Path;

use crate::error::Failure;
use crate::workspace;
use source::SourceFile;

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TidyFinding {
    /// Name of the rule, as in `exceptions`.
    pub rule: &'static str,
    /// Path of the file, relative to the workspace root.
    pub path: String,
    /// Line number from 1; 0 for the whole file.
    pub line: usize,
    /// The problem, and what is expected.
    pub message: String,
}

impl fmt::Display for TidyFinding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "error: {}\n  --> {}:{} ({})",
            self.message, self.path, self.line, self.rule
        )
    }
}

/// Results of all checks.
#[derive(Debug, Default)]
pub struct TidyReport {
    /// Broken rules without an exception.
    pub findings: Vec<TidyFinding>,
    /// Number of rules checked.
    pub rule_count: usize,
    /// Values that have a target but no limit, as lines to print.
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
            println!("tidy: {} rules hold", verdict.rule_count);
            Ok(())
        }
        count => Err(Failure::ChecksFailed(format!(
            "tidy: {count} places break a rule"
        ))),
    }
}

/// Checks the workspace at `root`.
pub fn check(root: &Path) -> Result<TidyReport, Failure> {
    let sources = source::load(root)?;
    let mut findings = Vec::new();
    for file in &sources {
        check_source(file, &mut findings);
    }
    shape::check_loop_file(&sources, &mut findings);
    calls::check_expect_share(&sources, &mut findings);
    cycles::check(&sources, &mut findings);
    types::check(&sources, &mut findings);
    wording::check(&sources, &mut findings);
    spelling::check_texts(root, &mut findings)?;
    misspelling::check(root, &sources, &mut findings)?;
    classics::check(&sources, &mut findings);
    fronts::check(&sources, &mut findings);
    guides::check(root, &mut findings)?;
    links::check(root, &mut findings)?;
    manifest::check(root, &mut findings)?;
    graph::check(root, &mut findings)?;
    // All checks precede this, because an exception without a finding is reported, too.
    let (findings, used) = exceptions::apply(findings);
    let mut figures = shape::figures(&sources);
    figures.extend(used);
    Ok(TidyReport {
        findings,
        rule_count: exceptions::RULES.len(),
        figures,
    })
}

fn check_source(file: &SourceFile, findings: &mut Vec<TidyFinding>) {
    shape::check(file, findings);
    calls::check(file, findings);
    streams::check(file, findings);
    opens::check(file, findings);
    spelling::check_names(file, findings);
}
