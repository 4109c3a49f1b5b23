//! Labs and published experiments: what they came to, and starting others.

use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use results::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use store::LabRow;
use units::JsonDocument;

use crate::answer::{Answer, Refusal, as_file, document, document_with, json, report_page};
use crate::api::runs::RemovedRun;
use crate::body::Body;
use crate::lab::LabRequest;
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// The labs of the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabsAnswer {
    /// Newest first.
    pub labs: Vec<ListedLab>,
}

impl JsonDocument for LabsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-labs/1";
}

/// A lab in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedLab {
    /// The lab's id.
    pub id: String,
    /// The shortest beginning of it that is that of no other lab or run.
    pub short_id: String,
    /// When it began.
    pub started_at: Timestamp,
    /// What it is, in a line.
    pub title: String,
    /// The workloads, or what was looked at.
    pub sections: Vec<String>,
    /// The file systems.
    pub columns: Vec<String>,
    /// The runs that it was made of; some may have been removed.
    pub run_ids: Vec<String>,
    /// Release of the kernel.
    pub kernel: String,
    /// The machine.
    pub host: String,
}

impl From<LabRow> for ListedLab {
    fn from(row: LabRow) -> Self {
        Self {
            id: row.id,
            short_id: row.short_id,
            started_at: row.started_at,
            title: row.title,
            sections: row.sections,
            columns: row.columns,
            run_ids: row.run_ids,
            kernel: row.kernel,
            host: row.host,
        }
    }
}

/// `GET /api/labs`
pub(crate) async fn list(shared: State) -> Answer {
    let labs = shared.with_store(|store| Ok(store.labs()?)).await?;
    let labs = labs.into_iter().map(ListedLab::from).collect();
    document(&LabsAnswer { labs })
}

/// `GET /api/labs/{id}/page`
pub(crate) async fn page(shared: State, Path(id): Path<String>) -> Answer {
    let (_, text) = rendered(&shared.0, id, "html").await?;
    Ok(report_page(text, &shared.options.report_policy))
}

/// `GET /api/labs/{id}/record`
pub(crate) async fn record(shared: State, Path(id): Path<String>) -> Answer {
    let (id, text) = rendered(&shared.0, id, "json").await?;
    Ok(as_file(json(text), &format!("pgmeter-lab-{id}.json")))
}

async fn rendered(
    shared: &Arc<Shared>,
    id: String,
    format: &str,
) -> Result<(String, Vec<u8>), Refusal> {
    // Only stored labs: a name of a file is none.
    let id = shared.with_store(move |store| Ok(store.lab(&id)?.id));
    let id = id.await?;
    let arguments = words(["lab", "report", &id, "--format", format]);
    let text = ask(shared, arguments, None).await?.checked()?;
    Ok((id, text))
}

/// `DELETE /api/labs/{id}`
pub(crate) async fn remove(shared: State, Path(id): Path<String>) -> Answer {
    let removed = id.clone();
    shared
        .with_store(move |store| Ok(store.remove_lab(&id)?))
        .await?;
    document(&RemovedRun { removed })
}

/// `POST /api/labs`
pub(crate) async fn start(shared: State, Body(asked): Body<LabRequest>) -> Answer {
    asked.command_line(&shared)?;
    let entry = shared.queue.add_lab(asked)?;
    document_with(StatusCode::ACCEPTED, &entry)
}

/// `GET /api/papers/{name}`
pub(crate) async fn paper(shared: State, Path(name): Path<String>) -> Answer {
    Ok(json(shown(&shared.0, &name, "json").await?))
}

/// `GET /api/papers/{name}/page`
pub(crate) async fn paper_page(shared: State, Path(name): Path<String>) -> Answer {
    let text = shown(&shared.0, &name, "html").await?;
    Ok(report_page(text, &shared.options.report_policy))
}

async fn shown(shared: &Arc<Shared>, name: &str, format: &str) -> Result<Vec<u8>, Refusal> {
    if !crate::lab::is_name(name) {
        return Err(Refusal::missing("there is no such published experiment"));
    }
    let arguments = words(["paper", "show", name, "--format", format]);
    ask(shared, arguments, None).await?.checked()
}
