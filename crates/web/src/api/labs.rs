//! Labs and published experiments: their results, and starting new ones.

use std::ffi::OsString;
use std::sync::Arc;

use axum::extract::Path;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use store::LabRow;
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, as_file, document, document_with, json, report_page};
use crate::api::runs::RemovedRun;
use crate::blocking::blocking;
use crate::body::Body;
use crate::lab::{LabRequest, is_name};
use crate::program::{ask, words};
use crate::shared::{Shared, State};

/// Directory below the target in which labs create their files.
const LAB_DIRECTORY: &str = "pgmeter-lab";

/// The labs in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabsAnswer {
    /// The labs, newest first.
    pub labs: Vec<LabRow>,
}

impl JsonDocument for LabsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-labs/1";
}

/// `GET /api/labs`
pub(crate) async fn list(shared: State) -> Answer {
    let labs = shared.with_store(|store| Ok(store.labs()?)).await?;
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
) -> Result<(String, Vec<u8>), RefusedAnswer> {
    // Resolve the name in the store, because `lab report` would also accept the name of a file.
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
    let (checking, lab) = (Arc::clone(&shared), asked.clone());
    blocking(move || command_line(&checking, &lab)).await?;
    let entry = shared.queue.add_lab(asked)?;
    document_with(StatusCode::ACCEPTED, &entry)
}

/// Arguments of the command that runs a lab.
pub(crate) fn command_line(
    shared: &Shared,
    lab: &LabRequest,
) -> Result<Vec<OsString>, RefusedAnswer> {
    lab.check()?;
    let mut arguments = match &lab.paper {
        Some(_) => words(["paper", "run"]),
        None => words(["lab", "run"]),
    };
    // Progress would fill the part of standard error that the queue keeps. The server renders
    // pages on request.
    arguments.extend(words(["--quiet", "--no-html"]));
    let target = shared.roots.admit(&lab.target)?;
    if !target.is_dir() {
        let error = format!("`{}` is not a directory", target.display());
        return Err(RefusedAnswer::bad(error));
    }
    match lab.file_systems.is_empty() {
        true => arguments.extend(["--target".into(), target.into()]),
        false => {
            arguments.push(format!("--fs={}", lab.file_systems.join(",")).into());
            let folder = target.join(LAB_DIRECTORY);
            // An existing folder may be a symbolic link to a place outside the roots.
            if folder.symlink_metadata().is_ok() {
                shared.roots.admit(&folder.to_string_lossy())?;
            }
            arguments.extend(["--dir".into(), folder.into()]);
        }
    }
    let given = [
        ("image-size", lab.image_size.clone()),
        ("repetitions", lab.repetitions().map(|it| it.to_string())),
        ("scale", lab.scale.clone()),
    ];
    for (option, value) in given {
        arguments.extend(value.map(|value| format!("--{option}={value}").into()));
    }
    if lab.cold {
        arguments.push("--cold".into());
    }
    arguments.extend(lab.workloads.iter().map(OsString::from));
    arguments.extend(lab.paper.iter().map(OsString::from));
    Ok(arguments)
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

async fn shown(shared: &Arc<Shared>, name: &str, format: &str) -> Result<Vec<u8>, RefusedAnswer> {
    if !is_name(name) {
        return Err(RefusedAnswer::missing(
            "there is no such published experiment",
        ));
    }
    let arguments = words(["paper", "show", name, "--format", format]);
    ask(shared, arguments, None).await?.checked()
}
