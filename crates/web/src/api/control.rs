//! Starts runs, and stops, skips or aborts running ones.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::Path;
use axum::http::StatusCode;
use rustix::process::Signal;
use schemars::JsonSchema;
use serde::Serialize;
use store::{LiveRun, StoreError};
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, document_with};
use crate::api::checks::{admitted, resolved};
use crate::api::runs::{TAGS_MAX, at_most};
use crate::body::Body;
use crate::queue::RunRequest;
use crate::shared::{Shared, State};
use crate::signal;

/// After this time, a run that does not end is killed by a second signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(20);

/// `POST /api/runs`
pub(crate) async fn start(shared: State, Body(asked): Body<RunRequest>) -> Answer {
    // Before the run is queued: its tags are set much later, when nobody sees a refusal.
    check_tags(&asked.tags)?;
    for device in &asked.what.overwrite_devices {
        shared.roots.admit_overwriting(device)?;
    }
    let line = resolved(&shared, asked.what.clone()).await?;
    // Run exactly the text that was checked, even if the file changes until then.
    let text = line.1.clone().filter(|_| asked.what.workload.own.is_some());
    admitted(&shared, line).await?;
    let title = asked.what.workload.title();
    let entry = shared.queue.add(title, asked, text)?;
    document_with(StatusCode::ACCEPTED, &entry)
}

fn check_tags(tags: &[String]) -> Result<(), RefusedAnswer> {
    at_most(tags.len(), TAGS_MAX, "tags")?;
    let is_tag = |tag: &String| {
        let is_odd = |letter: char| letter.is_whitespace() || letter.is_control() || letter == ',';
        !tag.is_empty() && tag.chars().count() <= 64 && !tag.contains(is_odd)
    };
    match tags.iter().find(|tag| !is_tag(tag)) {
        Some(_) => Err(RefusedAnswer::bad(
            "a tag has at most 64 characters, without spaces and commas",
        )),
        None => Ok(()),
    }
}

/// Confirmation of a request to a running run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ControlAnswer {
    /// The run's id.
    pub run_id: String,
    /// The requested action: `stop`, `skip` or `abort`.
    #[serde(rename = "told")]
    pub action: String,
}

impl JsonDocument for ControlAnswer {
    const FORMAT: &'static str = "pgmeter-serve-told/1";
}

/// `POST /api/runs/{id}/stop`
pub(crate) async fn stop(shared: State, Path(id): Path<String>) -> Answer {
    let run = live(&shared.0, id).await?;
    interrupt(&shared.0, &run)?;
    accepted(run, "stop")
}

/// `POST /api/runs/{id}/skip`
pub(crate) async fn skip(shared: State, Path(id): Path<String>) -> Answer {
    let run = live(&shared.0, id).await?;
    if !signal::catches_signal(&run.owner, Signal::USR1) {
        return Err(RefusedAnswer::conflict("this run cannot skip a cell"));
    }
    signal::send(&run.owner, Signal::USR1)?;
    accepted(run, "skip")
}

/// `POST /api/runs/{id}/abort`
pub(crate) async fn abort(shared: State, Path(id): Path<String>) -> Answer {
    let run = live(&shared.0, id).await?;
    interrupt(&shared.0, &run)?;
    // Not awaited, because a run can take some time to end.
    tokio::spawn(discard(shared.0, run.clone()));
    accepted(run, "abort")
}

/// The answer to a request that was passed on to a run.
fn accepted(run: LiveRun, action: &str) -> Answer {
    let answer = ControlAnswer {
        run_id: run.id,
        action: action.to_owned(),
    };
    document_with(StatusCode::ACCEPTED, &answer)
}

/// Finds a run by its id; refuses if it is not running.
async fn live(shared: &Arc<Shared>, id: String) -> Result<LiveRun, RefusedAnswer> {
    shared
        .with_store(move |store| {
            let id = store.resolve(&id)?;
            let mut live = store.live_runs()?.into_iter();
            live.find(|run| run.id == id)
                .ok_or_else(|| RefusedAnswer::conflict("the run has ended"))
        })
        .await
}

/// Asks a run to stop. A second signal would kill it, so the signal is sent only once.
fn interrupt(shared: &Shared, run: &LiveRun) -> Result<(), RefusedAnswer> {
    let ask = || signal::send(&run.owner, Signal::INT);
    shared.stopped.once(&run.id, ask)
}

/// Removes a run from the store once it has ended.
async fn discard(shared: Arc<Shared>, run: LiveRun) {
    let begin = std::time::Instant::now();
    let mut is_forced = false;
    // The process may not be a child of this server, so it cannot be waited for.
    while run.owner.may_run() {
        if begin.elapsed() > EXIT_TIMEOUT && !is_forced {
            is_forced = true;
            // The second signal kills it.
            let _ = signal::send(&run.owner, Signal::INT);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let removed = shared.with_store(move |store| match store.remove(&run.id, false) {
        Ok(_) | Err(StoreError::NoSuchRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    });
    // If the removal fails, the run stays in the store as interrupted.
    let _ = removed.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_must_be_single_words() {
        assert!(check_tags(&["a".to_owned(), "lab:b".to_owned()]).is_ok());
        for tag in ["", "a b", "a,b", "a\n", &"x".repeat(65)] {
            assert!(check_tags(&[tag.to_owned()]).is_err());
        }
    }
}
