//! Replayed traces, recorded next to achieved.

use maud::{Markup, html};

use super::run::Run;
use crate::html::table;

/// Returns the tables of replays; nothing without any.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let Some(replays) = &run.model.replays else {
        return html! {};
    };
    html! {
        section #(run.id("replay")) {
            h2 { (run.heading("Replay")) }
            (table(replays, "The trace, and its replay", |_| None))
            @if let Some(responses) = &run.model.open_loop {
                (table(responses, "Response times, from when requests were due", |_| None))
            }
        }
    }
}
