//! The first screen: target, results and warnings.

use std::collections::BTreeSet;

use maud::{Markup, html};
use results::Status;

use super::comparison::ComparisonResult;
use super::headline::headline;
use super::run::Run;
use super::verdict;
use crate::html::{command_line, sentence};
use crate::imported;
use crate::names::{capital, status_name};
use crate::warnings::ModelWarning;
use crate::wrap::printable;
use crate::write::page;

/// Number of warnings shown before the reader opens the others.
const WARNINGS_SHOWN: usize = 6;
/// Maximum number of characters of a command among the facts; the part `Repeat` has longer ones.
const COMMAND_LENGTH_MAX: usize = 100;

/// Returns the title of the page.
#[must_use]
pub fn title(runs: &[Run]) -> String {
    match runs {
        [] => "pgmeter".to_owned(),
        [run] => format!("{} · pgmeter {}", run.title(), printable(&run.record.id)),
        several => format!("{} runs compared · pgmeter", several.len()),
    }
}

/// Returns the links to the parts of the page.
#[must_use]
pub fn navigation(runs: &[Run]) -> Markup {
    html! {
        @match runs {
            [run] => {
                @for (name, anchor, _) in sections(run).iter().filter(|(_, _, exists)| *exists) {
                    a href={ "#" (run.id(anchor)) } { (name) }
                }
            }
            several => {
                a href="#differences" { "What differs" }
                a href="#compared" { "Compared" }
                @for run in several {
                    a href={ "#" (run.id("results")) } { (run.heading("Results")) }
                }
            }
        }
    }
}

/// Returns the sections of a run with their anchors, and whether the page has them.
fn sections(run: &Run) -> [(&'static str, &'static str, bool); 6] {
    let has_cells = !run.record.cells.is_empty();
    let has_usage = run.model.usage.is_some();
    let has_command = !run.record.command.is_empty();
    [
        ("Results", "results", true),
        ("Cells", "cells", has_cells),
        ("Processor and device", "usage", has_usage),
        ("Plan", "plan", true),
        ("Environment", "environment", true),
        ("Repeat", "repeat", has_command),
    ]
}

/// Returns the first screen.
#[must_use]
pub fn header(runs: &[Run], compared: Option<&ComparisonResult>) -> Markup {
    html! {
        header {
            @match runs {
                [run] => {
                    (status(run))
                    h1 { (sentence(&run.title())) }
                    (of_run(run))
                }
                several => {
                    h1 { (several.len()) " runs compared" }
                    ul.runs {
                        @for run in several {
                            li {
                                span.letter { (run.letter.as_deref().unwrap_or_default()) }
                                " " strong { (sentence(&run.title())) } " on " (run.targets()) ", "
                                (run.time()) " " (status(run))
                            }
                        }
                    }
                    @match compared {
                        Some(Ok(document)) => {
                            p.where { strong { (sentence(&document.title)) } }
                            (page::head(&document.head))
                        }
                        Some(Err(why)) => { p role="alert" { strong { (sentence(why)) } } }
                        None => {}
                    }
                    @for run in several { (warnings(run)) }
                }
            }
            noscript { p { "Charts need JavaScript. The tables contain all values." } }
        }
    }
}

/// Returns the first screen of a single run, below its title.
pub fn of_run(run: &Run) -> Markup {
    let command = Some(command_line(&run.record.command));
    let command = command.filter(|it| it.len() <= COMMAND_LENGTH_MAX);
    html! {
        p.where { "on " (sentence(&run.targets())) }
        (verdict::section(run))
        (facts(run, &command.unwrap_or_default()))
        @if run.model.verdicts.iter().any(|it| it.is_of_device) { (headline(run)) }
        (warnings(run))
    }
}

/// Returns the final status of the run.
pub fn status(run: &Run) -> Markup {
    if run.record.import.is_some() {
        return html! { span.status { "imported" } };
    }
    let status = run.record.status;
    let doubts = run.model.warnings.iter().filter(|it| !it.is_note).count();
    let is_doubtful = status == Status::Complete && doubts > 0;
    let sign = match status {
        Status::Complete if is_doubtful => "▲",
        Status::Complete => "✓",
        Status::Interrupted => "▲",
        Status::Failed => "✕",
    };
    let words = run.model.outcome.clone().unwrap_or_else(|| {
        // A cell of a classic program has one record per phase.
        let cells = run.record.cells.iter().map(|cell| cell.index);
        let count = cells.collect::<BTreeSet<u32>>().len();
        let noun = if count == 1 { "cell" } else { "cells" };
        format!("complete, {count} {noun}")
    });
    html! {
        // The words contain the status, so a screen reader must not read the sign as well.
        span.status.(status_name(status)).doubtful[is_doubtful] {
            span aria-hidden="true" { (sign) } " " (words)
            @if is_doubtful {
                ", " (doubts) @if doubts == 1 { " reason" } @else { " reasons" } " to doubt"
            }
        }
    }
}

/// Returns a command that breaks only between words: a break after a hyphen looks like a space.
fn words(command: &str) -> Markup {
    html! {
        code { @for word in command.split_inclusive(' ') { span.word { (word) } } }
    }
}

/// Returns the facts about the run, with the `command` that repeats it unless that is empty.
#[must_use]
pub fn facts(run: &Run, command: &str) -> Markup {
    if let Some(import) = &run.record.import {
        let facts = imported::facts(run.record, import);
        return html! {
            dl.facts {
                @for (name, text) in facts {
                    div { dt { (capital(name)) } dd { (sentence(&text)) } }
                }
            }
        };
    }
    let host = printable(&run.record.environment.host);
    let host = match &run.record.cluster {
        None if !host.is_empty() => format!("{host}: "),
        // With several processes, the line itself names the hosts.
        _ => String::new(),
    };
    let facts = [
        ("System", format!("{host}{}", run.model.environment)),
        ("How", run.model.settings.clone()),
        ("When", run.time()),
        (
            "Run",
            format!(
                "{}, pgmeter {}",
                printable(&run.record.id),
                printable(&run.record.pgmeter.version)
            ),
        ),
    ];
    html! {
        dl.facts {
            @for (name, text) in facts.iter().filter(|(_, text)| !text.is_empty()) {
                div { dt { (name) } dd { (sentence(text)) } }
            }
            @if !command.is_empty() { div { dt { "Repeat" } dd { (words(command)) } } }
        }
    }
}

fn warnings(run: &Run) -> Markup {
    let all = run.model.warnings.iter();
    let (notes, warnings): (Vec<_>, Vec<_>) = all.partition(|it| it.is_note);
    let (shown, rest) = warnings.split_at(warnings.len().min(WARNINGS_SHOWN));
    let measured = !run.record.cells.is_empty();
    html! {
        @if warnings.is_empty() && measured {
            p.no-warning { "Nothing casts doubt on " (run.heading("the figures")) "." }
        } @else if !warnings.is_empty() {
            section.warnings aria-label=(run.heading("Warnings")) {
                h2 { (run.heading("Reasons to doubt")) }
                ul { @for one in shown { (warning(one)) } }
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more" }
                        ul { @for one in rest { (warning(one)) } }
                    }
                }
            }
        }
        @if !notes.is_empty() {
            section.warnings.notes aria-label=(run.heading("Notes")) {
                h2 { (run.heading("Worth knowing")) }
                ul { @for one in &notes { (warning(one)) } }
            }
        }
    }
}

fn warning(warning: &ModelWarning) -> Markup {
    html! {
        li.severe[warning.is_severe] {
            (sentence(&warning.message)) " " code.kind { (warning.code) }
        }
    }
}

/// Returns notes on reading the page, for its end.
#[must_use]
pub fn footer(runs: &[Run]) -> Markup {
    let notes = runs.iter().flat_map(|run| &run.model.notes);
    let mut distinct: Vec<&String> = Vec::new();
    for note in notes {
        if !distinct.contains(&note) {
            distinct.push(note);
        }
    }
    html! {
        footer {
            h2 { "How to read this" }
            ul {
                li {
                    "Rates are completions of the measured time; the ramp before it is not \
                     counted."
                }
                li {
                    "Latency runs from queued to reaped, at the queue depth shown. p99 is the \
                     latency that 1 in 100 operations exceeded. MiB is 1,048,576 bytes."
                }
                li {
                    "Drag across a chart to zoom in; double-click to zoom out."
                }
                @for note in distinct { li { (sentence(note)) } }
            }
        }
    }
}
