//! Runs as they go on: one reader of the store for each run that somebody looks at, who publishes
//! to all of them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use results::Warning;
use schemars::JsonSchema;
use serde::Serialize;
use store::{CellView, Cursor, RunStatus, Store, StoredEvent};
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::answer::Refusal;
use crate::blocking::blocking;

/// Events that a slow reader may be behind before it loses its place.
const RING: usize = 64;
/// How often the store is looked at; it is written every 400 ms.
const PERIOD: Duration = Duration::from_millis(250);
/// So many events are read at once.
pub(crate) const EVENTS_MAX: usize = 256;
/// So many browsers and scripts may look on at once.
pub(crate) const STREAMS_MAX: usize = 128;

/// What is sent of a run, with the place behind it.
#[derive(Debug, Clone)]
pub(crate) struct Published {
    pub place: Cursor,
    /// `event:` and `data:` lines.
    pub text: Bytes,
    /// Whether it is the last.
    pub is_end: bool,
}

/// An interval of a cell is complete.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IntervalEvent {
    /// Of the cell, 0-based in the order of running.
    pub position: u32,
    /// The cell's number in the plan.
    pub index: u32,
    /// 0-based within the cell.
    pub number: u32,
    /// Its figures, as in records.
    pub interval: results::IntervalRecord,
}

/// A cell begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CellStartEvent {
    /// 0-based in the order of running.
    pub position: u32,
    /// The cell's number in the plan.
    pub index: u32,
}

/// The run is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RunEndEvent {
    /// How it ended: `interrupted` also when its process was killed.
    pub status: RunStatus,
}

/// Events were lost, since they were not read in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GapEvent {
    /// How many.
    pub lost_count: u64,
    /// The place before them: `GET .../intervals?from=` it brings what was missed.
    pub from: String,
}

/// Who looks at which runs.
#[derive(Debug, Default)]
pub(crate) struct Hub {
    runs: Mutex<HashMap<String, Sender<Published>>>,
    streams: AtomicUsize,
}

/// A stream that is open, until it is dropped.
#[derive(Debug)]
pub(crate) struct StreamTicket(Arc<Hub>);

impl Drop for StreamTicket {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Hub {
    /// Room for one more stream; none where there are too many.
    pub fn ticket(self: &Arc<Self>) -> Option<StreamTicket> {
        let before = self.streams.fetch_add(1, Ordering::Relaxed);
        let ticket = StreamTicket(Arc::clone(self));
        (before < STREAMS_MAX).then_some(ticket)
    }

    /// How many streams are open.
    pub fn stream_count(&self) -> usize {
        self.streams.load(Ordering::Relaxed)
    }

    /// What is published of a run from now on.
    ///
    /// Whoever subscribes reads the store up to its end afterwards, and misses nothing.
    pub async fn subscribe(
        self: &Arc<Self>,
        id: &str,
        store: std::path::PathBuf,
    ) -> Result<Receiver<Published>, Refusal> {
        if let Some(sender) = self.lock().get(id) {
            return Ok(sender.subscribe());
        }
        let owned = id.to_owned();
        let (reader, place) = blocking(move || {
            let reader = Store::open(&store)?;
            let place = reader.end_place(&owned)?;
            Ok((reader, place))
        })
        .await?;
        let mut runs = self.lock();
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
            (reader, place),
        ));
        Ok(receiver)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Sender<Published>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a run that nobody looks at; whether somebody does.
    fn is_watched(&self, id: &str, sender: &Sender<Published>) -> bool {
        let mut runs = self.lock();
        let is_watched = sender.receiver_count() > 0;
        if !is_watched {
            runs.remove(id);
        }
        is_watched
    }
}

/// Publishes what is new of a run until it is over or nobody looks.
async fn follow(hub: Arc<Hub>, id: String, sender: Sender<Published>, begin: (Store, Cursor)) {
    let (mut store, mut place) = begin;
    let mut seen = None;
    while hub.is_watched(&id, &sender) {
        let run = id.clone();
        let read = tokio::task::spawn_blocking(move || {
            let looked = look(&store, &run, place, seen);
            (store, looked)
        });
        let Ok((back, looked)) = read.await else {
            break;
        };
        store = back;
        match looked {
            Ok(Some(looked)) => {
                seen = looked.number;
                for published in looked.published {
                    place = published.place;
                    // Nobody may look any more, which is seen next time.
                    let _ = sender.send(published);
                }
                if looked.is_over {
                    break;
                }
            }
            Ok(None) => {}
            // The run was removed, or the store cannot be read: streams end, and ask again.
            Err(_) => break,
        }
        tokio::time::sleep(PERIOD).await;
    }
    hub.lock().remove(&id);
}

/// What was seen at once.
struct Looked {
    published: Vec<Published>,
    /// Of the store, as it was.
    number: Option<i64>,
    is_over: bool,
}

/// What is new of a run; none where nothing is.
fn look(
    store: &Store,
    id: &str,
    place: Cursor,
    seen: Option<i64>,
) -> Result<Option<Looked>, Refusal> {
    let number = store.change_number()?;
    let is_live = store.is_live(id)?;
    if seen == Some(number) && is_live {
        return Ok(None);
    }
    let told = store.since(id, place, EVENTS_MAX)?;
    let end = told.events.last().map_or(place, |(place, _)| *place);
    let is_over = told.status != RunStatus::Running && !told.is_cut;
    let mut published = publish(told.events);
    if is_over {
        published.push(run_end(end, told.status));
    }
    Ok(Some(Looked {
        published,
        number: (!told.is_cut).then_some(number),
        is_over,
    }))
}

/// Stored events as they are sent.
pub(crate) fn publish(events: Vec<(Cursor, StoredEvent)>) -> Vec<Published> {
    let published = |(place, event)| Published {
        place,
        text: told(event),
        is_end: false,
    };
    events.into_iter().map(published).collect()
}

/// The last event of a run.
pub(crate) fn run_end(place: Cursor, status: RunStatus) -> Published {
    Published {
        place,
        text: event("run-end", &RunEndEvent { status }),
        is_end: true,
    }
}

fn told(stored: StoredEvent) -> Bytes {
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

/// The lines of an event without its id. JSON has no line breaks of its own.
pub(crate) fn event<T: Serialize>(name: &str, what: &T) -> Bytes {
    let data = units::json_line(what).unwrap_or_else(|_| "null".to_owned());
    Bytes::from(format!("event: {name}\ndata: {data}\n"))
}
