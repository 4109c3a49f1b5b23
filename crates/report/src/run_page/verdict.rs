//! The verdict on a run, at the top of its page.

use maud::{Markup, html};

use super::headline::{GROUPS_MAX, headline, value};
use super::run::Run;
use crate::group::best_of_each_workload;
use crate::html::sentence;
use crate::names::capital;
use crate::verdict::{RunVerdict, VerdictFigure};

/// Returns the main results of a run with the conclusions from them, in words.
#[must_use]
pub fn section(run: &Run) -> Markup {
    html! {
        @for verdict in &run.model.verdicts { (one(run, verdict)) }
    }
}

/// Number of results that fit on the first screen above the sentences.
const RESULTS_MAX: usize = 4;

fn one(run: &Run, verdict: &RunVerdict) -> Markup {
    let is_long = best_of_each_workload(&run.groups, GROUPS_MAX).len() > RESULTS_MAX;
    html! {
        @if let Some(of) = &verdict.subject { p.where { (sentence(of)) } }
        @if verdict.is_of_device {
            (tiles(verdict))
            (sentences(verdict))
        } @else if is_long {
            (sentences(verdict))
            (headline(run))
        } @else {
            (headline(run))
            (sentences(verdict))
        }
    }
}

fn tiles(verdict: &RunVerdict) -> Markup {
    html! {
        dl.tiles {
            @for figure in &verdict.figures {
                div.tile {
                    dt { (label(figure)) }
                    dd { (value(&figure.value)) span.interval { (figure.uncertainty) } }
                }
            }
        }
    }
}

fn sentences(verdict: &RunVerdict) -> Markup {
    html! {
        dl.facts.verdict {
            @for (name, text) in &verdict.sentences {
                div { dt { (capital(name)) } dd { (sentence(text)) } }
            }
        }
    }
}

/// Returns the name of a result with its depth.
pub(super) fn label(figure: &VerdictFigure) -> String {
    match figure.depth {
        Some(depth) => format!("{}, depth {depth}", figure.name),
        None => figure.name.clone(),
    }
}
