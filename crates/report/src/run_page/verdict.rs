//! The verdict on a run, at the top of its page.

use maud::{Markup, html};

use super::headline::value;
use super::run::Run;
use crate::html::sentence;
use crate::verdict::{KnownFigure, RunVerdict};

/// Returns the conclusions about a run, in words.
#[must_use]
pub fn section(run: &Run) -> Markup {
    html! {
        @for verdict in &run.model.verdicts { (one(verdict)) }
    }
}

fn one(verdict: &RunVerdict) -> Markup {
    html! {
        @if let Some(of) = &verdict.subject { p.where { (sentence(of)) } }
        @if !verdict.figures.is_empty() {
            dl.tiles {
                @for figure in &verdict.figures {
                    div.tile {
                        dt { (label(figure)) }
                        dd { (value(&figure.value)) span.interval { (figure.uncertainty) } }
                    }
                }
            }
        }
        dl.facts.verdict {
            @for (name, text) in &verdict.sentences {
                div { dt { (name) } dd { (sentence(text)) } }
            }
        }
    }
}

fn label(figure: &KnownFigure) -> String {
    format!("{}, depth {}", figure.name, figure.depth)
}
