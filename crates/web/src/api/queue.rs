//! The queue of runs.

use axum::extract::Path;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, document};
use crate::body::Body;
use crate::shared::State;

/// New order of the waiting runs.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderRequest {
    /// Ids of waiting entries, the first to be run first; the others follow in their current order.
    pub ids: Vec<String>,
}

/// Request to pause or resume the queue.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PauseRequest {
    /// `true` if no waiting run is started.
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
