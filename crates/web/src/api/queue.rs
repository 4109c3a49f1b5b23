//! The runs that wait.

use axum::extract::Path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, document};
use crate::body::Body;
use crate::shared::State;

/// In which order those that wait are run.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    /// Names of entries that wait, the first to be run first; others follow as they were.
    pub ids: Vec<String>,
}

/// Whether those that wait are held.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    /// Whether no run that waits is started.
    pub is_paused: bool,
}

/// `GET /api/queue`
pub(crate) async fn list(shared: State) -> Answer {
    document(&shared.queue.document())
}

/// `PUT /api/queue/order`
pub(crate) async fn order(shared: State, Body(asked): Body<OrderRequest>) -> Answer {
    shared.queue.order(&asked.ids)?;
    list(shared).await
}

/// `PUT /api/queue/pause`
pub(crate) async fn pause(shared: State, Body(asked): Body<PauseRequest>) -> Answer {
    shared.queue.pause(asked.is_paused);
    list(shared).await
}

/// `DELETE /api/queue`
pub(crate) async fn clear(shared: State) -> Answer {
    shared.queue.clear();
    list(shared).await
}

/// `DELETE /api/queue/{id}`
pub(crate) async fn remove(shared: State, Path(id): Path<String>) -> Answer {
    shared.queue.remove(&id)?;
    list(shared).await
}
