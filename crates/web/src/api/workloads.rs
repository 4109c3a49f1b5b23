//! Built-in workloads and the user's workloads.

use axum::extract::Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::JsonDocument;

use crate::answer::{Answer, document, json};
use crate::blocking::blocking;
use crate::body::Body;
use crate::choice::WorkloadChoice;
use crate::own_workloads::{OwnFile, OwnFolder};
use crate::program::{ask, words};
use crate::shared::State;

/// Files in the folder with the user's workloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnWorkloads {
    /// Path of the folder.
    pub folder: String,
    /// The files, sorted by name.
    pub files: Vec<OwnWorkload>,
}

/// A file of the user's workloads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnWorkload {
    /// Name of the file.
    pub name: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Time of the last change, in seconds since 1970.
    pub modified_s: i64,
}

impl JsonDocument for OwnWorkloads {
    const FORMAT: &'static str = "pgmeter-serve-own/1";
}

/// A workload file with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnText {
    /// Name of the file.
    pub name: String,
    /// Content of the file.
    pub text: String,
}

impl JsonDocument for OwnText {
    const FORMAT: &'static str = "pgmeter-serve-text/1";
}

/// Request to save a workload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveRequest {
    /// Content of the file.
    pub text: String,
    /// `true` to replace an existing file; otherwise the answer is 409 if the file exists.
    #[serde(default)]
    pub replace: bool,
}

/// `GET /api/workloads`
pub(crate) async fn builtin(shared: State) -> Answer {
    Ok(json(
        ask(&shared, words(["list", "--json"]), None)
            .await?
            .checked()?,
    ))
}

/// `POST /api/show`
pub(crate) async fn show(shared: State, Body(choice): Body<WorkloadChoice>) -> Answer {
    let folder = OwnFolder::next_to(&shared.options.store);
    let options = choice.options()?;
    let (word, given) = blocking(move || choice.resolve(&folder)).await?;
    let mut arguments = words(["show", "--json"]);
    // `pgmeter show` has no such option.
    arguments.extend(options.into_iter().filter(|it| it != "--strict"));
    arguments.push(word.into());
    Ok(json(ask(&shared, arguments, given).await?.checked()?))
}

/// `GET /api/workloads/own`
pub(crate) async fn list(shared: State) -> Answer {
    let folder = OwnFolder::next_to(&shared.options.store);
    let path = folder.path().to_string_lossy().into_owned();
    let files = blocking(move || folder.list()).await?;
    let listed = |it: OwnFile| OwnWorkload {
        name: it.name,
        size_bytes: it.size_bytes,
        modified_s: it.modified_s,
    };
    document(&OwnWorkloads {
        folder: path,
        files: files.into_iter().map(listed).collect(),
    })
}

/// `GET /api/workloads/own/{name}`
pub(crate) async fn load(shared: State, Path(name): Path<String>) -> Answer {
    let folder = OwnFolder::next_to(&shared.options.store);
    let text = blocking(move || {
        let text = folder.load(&name)?;
        Ok(OwnText { name, text })
    });
    document(&text.await?)
}

/// `PUT /api/workloads/own/{name}`
pub(crate) async fn save(
    shared: State,
    Path(name): Path<String>,
    Body(asked): Body<SaveRequest>,
) -> Answer {
    let folder = OwnFolder::next_to(&shared.options.store);
    blocking(move || folder.save(&name, &asked.text, asked.replace)).await?;
    list(shared).await
}

/// `DELETE /api/workloads/own/{name}`
pub(crate) async fn delete(shared: State, Path(name): Path<String>) -> Answer {
    let folder = OwnFolder::next_to(&shared.options.store);
    blocking(move || folder.delete(&name)).await?;
    list(shared).await
}
