//! The verdict on a run, at the top of its page.

use maud::{Markup, html};

use super::headline::{headline, is_long, tile};
use super::run::Run;
use crate::html::sentence;
use crate::names::capital;
use crate::verdict::RunVerdict;

/// Returns the main results of a run with the conclusions from them, in words.
#[must_use]
pub fn section(run: &Run) -> Markup {
    html! {
        @for verdict in &run.model.verdicts { (one(run, verdict)) }
    }
}

fn one(run: &Run, verdict: &RunVerdict) -> Markup {
    let sentences = verdict.sentences.iter();
    let sentences = facts(sentences.map(|(topic, text)| (*topic, text.as_str())));
    html! {
        @if let Some(of) = &verdict.subject { p.where { (sentence(of)) } }
        @if verdict.is_of_device {
            dl.tiles {
                @for it in &verdict.figures { (tile(&it.label(), &it.value, &it.uncertainty)) }
            }
            (sentences)
        } @else if is_long(run) {
            (sentences)
            (headline(run))
        } @else {
            (headline(run))
            (sentences)
        }
    }
}

/// Returns sentences with their topics.
pub(super) fn facts<'a>(sentences: impl Iterator<Item = (&'a str, &'a str)>) -> Markup {
    html! {
        dl.facts.verdict {
            @for (topic, text) in sentences {
                div { dt { (capital(topic)) } dd { (sentence(text)) } }
            }
        }
    }
}
