//! Live runs. For each watched run, one task reads the store and publishes the events to all
//! clients.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use results::Warning;
use schemars::JsonSchema;
use serde::Serialize;
use store::{CellView, RunCursor, RunStatus, Store, StoredEvent};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::answer::RefusedAnswer;
use crate::blocking::blocking;

/// Number of events by which a slow client may lag before it loses some.
const RING: usize = 64;
/// Interval between two reads of the store. A run writes to it every 400 ms.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// Maximum number of events per read.
pub(crate) const EVENTS_MAX: usize = 256;
/// Maximum number of open streams.
pub(crate) const STREAMS_MAX: usize = 128;

/// A published event, with the place after it.
#[derive(Debug, Clone)]
pub(crate) struct PublishedEvent {
    pub cursor: RunCursor,
    /// `event:` and `data:` lines.
    pub text: Bytes,
    /// `true` for the last event of a run.
    pub is_end: bool,
}

/// An interval of a cell is complete.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IntervalEvent {
    /// Position of the cell in the order in which cells ran, 0-based.
    pub position: u32,
    /// Index of the cell in the plan.
    pub index: u32,
    /// Number of the interval within the cell, 0-based.
    pub number: u32,
    /// The interval, as in records.
    pub interval: results::IntervalRecord,
}

/// A cell begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CellStartEvent {
    /// Position in the order in which cells ran, 0-based.
    pub position: u32,
    /// Index of the cell in the plan.
    pub index: u32,
}

/// The run has ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunEndEvent {
    /// Status of the run; `interrupted` also if its process was killed.
    pub status: RunStatus,
}

/// Events were lost because the client did not read them in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GapEvent {
    /// Number of lost events.
    pub lost_count: u64,
    /// Place before the lost events; `GET .../intervals?from=` this place returns the missing data.
    pub from: String,
}

/// Publishers by run, and the number of open streams.
#[derive(Debug, Default)]
pub(crate) struct RunFollowers {
    runs: Mutex<HashMap<String, Sender<PublishedEvent>>>,
    streams: AtomicUsize,
}

/// Permission for one open stream, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamTicket(Arc<RunFollowers>);

impl Drop for StreamTicket {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RunFollowers {
    /// Reserves a stream; `None` if the limit is reached.
    pub fn ticket(self: &Arc<Self>) -> Option<StreamTicket> {
        // If the limit is reached, dropping the ticket takes this one back.
        let before = self.streams.fetch_add(1, Ordering::Relaxed);
        let ticket = StreamTicket(Arc::clone(self));
        (before < STREAMS_MAX).then_some(ticket)
    }

    /// Number of open streams.
    pub fn stream_count(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    /// Subscribes to events of a run from now on.
    ///
    /// The subscriber must then read the store up to its current end to miss no event.
    pub async fn subscribe(
        self: &Arc<Self>,
        id: &str,
        store: std::path::PathBuf,
    ) -> Result<Receiver<PublishedEvent>, RefusedAnswer> {
        if let Some(sender) = self.lock().get(id) {
            return Ok(sender.subscribe());
        }
        let owned = id.to_owned();
        let (reader, cursor) = blocking(move || {
            let reader = Store::open(&store)?;
            let cursor = reader.end_cursor(&owned)?;
            Ok((reader, cursor))
        })
        .await?;
        let mut runs = self.lock();
        // Another client may have subscribed while the store was opened.
        if let Some(sender) = runs.get(id) {
            return Ok(sender.subscribe());
        }
        let (sender, receiver) = channel(RING);
        runs.insert(id.to_owned(), sender.clone());
        drop(runs);
        tokio::spawn(follow(
            Arc::clone(self),
            id.to_owned(),
            sender,
            (reader, cursor),
        ));
        Ok(receiver)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Sender<PublishedEvent>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the run if no client watches it. Returns `true` if a client does.
    fn is_watched(&self, id: &str, sender: &Sender<PublishedEvent>) -> bool {
        // Under the lock of `subscribe`, so that no client joins a publisher that is about to end.
        let mut runs = self.lock();
        let is_watched = sender.receiver_count() > 0;
        if !is_watched {
            runs.remove(id);
        }
        is_watched
    }

    /// Removes the run's publisher, unless a newer one has replaced it.
    fn end(&self, id: &str, sender: &Sender<PublishedEvent>) {
        let mut runs = self.lock();
        if runs.get(id).is_some_and(|it| it.same_channel(sender)) {
            runs.remove(id);
        }
    }
}

/// Publishes new events of a run until it ends or no client watches it.
async fn follow(
    hub: Arc<RunFollowers>,
    id: String,
    sender: Sender<PublishedEvent>,
    begin: (Store, RunCursor),
) {
    let (mut store, mut place) = begin;
    let mut last_number = None;
    while hub.is_watched(&id, &sender) {
        let run = id.clone();
        let read = tokio::task::spawn_blocking(move || {
            let looked = look(&store, &run, place, last_number);
            (store, looked)
        });
        let Ok((back, looked)) = read.await else {
            break;
        };
        store = back;
        match looked {
            Ok(Some(looked)) => {
                last_number = looked.change_number;
                for published in looked.published {
                    place = published.cursor;
                    // If no client is left, the next loop notices it.
                    let _ = sender.send(published);
                }
                if looked.is_over {
                    break;
                }
            }
            Ok(None) => {}
            // The run was removed, or the store is unreadable: streams end, and clients ask again.
            Err(_) => break,
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    hub.end(&id, &sender);
}

/// Result of one read of the store.
struct PolledEvents {
    published: Vec<PublishedEvent>,
    /// Change number of the store at the time of the read; `None` if more events are waiting.
    change_number: Option<i64>,
    is_over: bool,
}

/// New events of a run; `None` if there are none.
fn look(
    store: &Store,
    id: &str,
    cursor: RunCursor,
    last_number: Option<i64>,
) -> Result<Option<PolledEvents>, RefusedAnswer> {
    // Read before the events: a change in between shows at the next look.
    let number = store.data_version()?;
    let is_live = store.is_live(id)?;
    // A killed run changes nothing in the store; only its lock shows that it has ended.
    if last_number == Some(number) && is_live {
        return Ok(None);
    }
    let stored = store.since(id, cursor, EVENTS_MAX)?;
    let end = stored.events.last().map_or(cursor, |(cursor, _)| *cursor);
    let is_over = stored.status != RunStatus::Running && !stored.is_truncated;
    let mut published = to_published(stored.events);
    if is_over {
        published.push(run_end(end, stored.status));
    }
    Ok(Some(PolledEvents {
        published,
        change_number: (!stored.is_truncated).then_some(number),
        is_over,
    }))
}

/// Converts stored events into the form in which they are sent.
pub(crate) fn to_published(events: Vec<(RunCursor, StoredEvent)>) -> Vec<PublishedEvent> {
    let published = |(cursor, event)| PublishedEvent {
        cursor,
        text: encoded(event),
        is_end: false,
    };
    events.into_iter().map(published).collect()
}

/// The last event of a run.
pub(crate) fn run_end(cursor: RunCursor, status: RunStatus) -> PublishedEvent {
    PublishedEvent {
        cursor,
        text: event("run-end", &RunEndEvent { status }),
        is_end: true,
    }
}

fn encoded(stored: StoredEvent) -> Bytes {
    match stored {
        StoredEvent::CellStarted { position, index } => {
            event("cell-start", &CellStartEvent { position, index })
        }
        StoredEvent::Interval {
            position,
            index,
            number,
            interval,
        } => event(
            "interval",
            &IntervalEvent {
                position,
                index,
                number,
                interval,
            },
        ),
        StoredEvent::CellDone(view) => event::<CellView>("cell-end", &view),
        StoredEvent::Warning(warning) => event::<Warning>("warning", &warning),
    }
}

/// The lines of an event without its id. The JSON contains no line breaks.
pub(crate) fn event<T: Serialize>(name: &str, payload: &T) -> Bytes {
    let data = units::json_line(payload).unwrap_or_else(|_| "null".to_owned());
    Bytes::from(format!("event: {name}\ndata: {data}\n"))
}
