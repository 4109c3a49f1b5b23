//! Processes and hosts of a run.

use maud::{Markup, html};
use results::CellRecord;

use super::run::Run;
use crate::html::{sentence, table};
use crate::model::{cluster_part, unit};
use crate::names::capital;

/// Returns the processes of a cell; empty for a single process.
#[must_use]
pub fn part(run: &Run, cell: &CellRecord) -> Markup {
    let part = cluster_part(run.record, cell, unit(run.record));
    // In the order of `ClusterPart::tables`.
    let captions = ["Processes", "Hosts"];
    html! {
        @if let Some(part) = part {
            @for (one, caption) in part.tables.iter().zip(captions) {
                (table(one, caption, |_| None))
            }
            @for one in &part.sentences {
                p.within { (sentence(&capital(one))) "." }
            }
        }
    }
}

/// Returns the hosts of the run; empty for a single process.
#[must_use]
pub fn hosts(run: &Run) -> Markup {
    html! {
        @if let Some(cluster) = &run.model.cluster {
            div { (table(&cluster.hosts, "Hosts", |_| None)) }
        }
    }
}

/// Returns the caption of the table of the machine.
#[must_use]
pub fn system_caption(run: &Run) -> &'static str {
    match &run.record.cluster {
        Some(cluster) if cluster.hosts.len() > 1 => "System of the first host",
        _ => "System",
    }
}
