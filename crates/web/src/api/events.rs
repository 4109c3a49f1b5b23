//! Live results of a run, as server-sent events.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Path;
use axum::http::header::{HeaderName, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::IntoResponse;
use http_body::Frame;
use results::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{RunCursor, RunRow, RunStatus};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;

use crate::answer::{Answer, RefusedAnswer, typed};
use crate::api::facts::PROTOCOL;
use crate::body::Parameters;
use crate::live::{
    EVENTS_MAX, GapEvent, PublishedEvent, STREAMS_MAX, StreamTicket, event, run_end, to_published,
};
use crate::shared::{Shared, State};

/// Time without events after which a comment is sent to keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Maximum number of parts of a stream that wait for the network.
// Few, because a slow client should lag in the publisher's ring, which counts lost events, instead
// of filling memory.
const QUEUED_PARTS_MAX: usize = 2;
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Start of a stream of events.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EventsQuery {
    /// Place to start after, such as `next` of the intervals; the beginning by default. The header
    /// `Last-Event-ID` takes precedence.
    pub from: Option<String>,
}

/// The first event of a stream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct HelloEvent {
    /// Version number of the API.
    pub protocol: u32,
    /// The run, as in the list.
    pub run: RunRow,
    /// Current time of the server.
    pub server_time: Timestamp,
    /// Place after which the events start.
    pub from: String,
}

/// `GET /api/runs/{id}/events`
pub(crate) async fn events(
    shared: State,
    Path(id): Path<String>,
    Parameters(query): Parameters<EventsQuery>,
    headers: HeaderMap,
) -> Answer {
    let shared = shared.0;
    let row = shared.with_store(move |store| Ok(store.row(&id)?)).await?;
    let cursor = start_cursor(&row.id, &query, &headers)?;
    let Some(ticket) = shared.followers.ticket() else {
        return Ok(too_many());
    };
    // Subscribe before reading the store, so that no event in between is lost.
    let store = shared.options.store.clone();
    let receiver = shared.followers.subscribe(&row.id, store).await?;
    let (sender, parts) = mpsc::channel(QUEUED_PARTS_MAX);
    let hello = HelloEvent {
        protocol: PROTOCOL,
        server_time: Timestamp::now(),
        from: cursor.to_string(),
        run: row.clone(),
    };
    let stream = EventStream {
        _ticket: ticket,
        shared,
        reader: EventReader {
            id: row.id,
            cursor,
            sender,
        },
    };
    // The task ends when the client disconnects, because that drops the body and its channel.
    tokio::spawn(stream.serve(hello, receiver));
    let mut answer = typed("text/event-stream", Body::new(BodyStream(parts)));
    // nginx would otherwise hold events back until its buffer is full.
    let buffering = HeaderName::from_static("x-accel-buffering");
    answer
        .headers_mut()
        .insert(buffering, HeaderValue::from_static("no"));
    Ok(answer)
}

fn too_many() -> axum::response::Response {
    let error = format!("all {STREAMS_MAX} streams of events are in use");
    let refusal = RefusedAnswer::new(StatusCode::SERVICE_UNAVAILABLE, error);
    let mut answer = refusal.help("close other pages").into_response();
    answer
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("10"));
    answer
}

/// Position after which the stream starts.
fn start_cursor(
    id: &str,
    query: &EventsQuery,
    headers: &HeaderMap,
) -> Result<RunCursor, RefusedAnswer> {
    let bad = |text: &str| {
        let shown: String = text.chars().take(80).collect();
        RefusedAnswer::bad(format!("`{shown}` is not a place in a stream of this run"))
    };
    // When a browser reconnects, it sends this header to the same URL, with the old `from`.
    if let Some(last) = headers.get(&LAST_EVENT_ID) {
        let last = last.to_str().unwrap_or_default();
        // The URL may say `last`, which can be another run by now.
        let cursor = last.strip_prefix(id).and_then(|it| it.strip_prefix(':'));
        return cursor
            .and_then(|cursor| cursor.parse().ok())
            .ok_or_else(|| bad(last));
    }
    match &query.from {
        Some(from) => from.parse().map_err(|()| bad(from)),
        None => Ok(RunCursor::default()),
    }
}

/// A stream of events to one client.
struct EventStream {
    _ticket: StreamTicket,
    shared: Arc<Shared>,
    reader: EventReader,
}

/// A client and its place in the stream.
struct EventReader {
    id: String,
    cursor: RunCursor,
    sender: mpsc::Sender<Bytes>,
}

/// The client has disconnected, or all events are sent.
struct StreamEnded;

impl EventStream {
    async fn serve(mut self, hello: HelloEvent, receiver: Receiver<PublishedEvent>) {
        let mut text = event("hello", &hello).to_vec();
        // Browsers then reconnect after 1 s instead of their longer default.
        text.extend_from_slice(b"retry: 1000\n\n");
        let has_begun = self.reader.send(Bytes::from(text)).await.is_ok();
        if has_begun && self.catch_up().await.is_ok() {
            // The result does not matter: dropping the sender ends the body.
            let _ = self.reader.forward(receiver).await;
        }
    }

    /// Sends the events that are already in the store.
    async fn catch_up(&mut self) -> Result<(), StreamEnded> {
        loop {
            let (id, cursor) = (self.reader.id.clone(), self.reader.cursor);
            let read = self
                .shared
                .with_store(move |store| Ok(store.since(&id, cursor, EVENTS_MAX)?));
            let Ok(stored) = read.await else {
                return Err(StreamEnded);
            };
            let (is_cut, status) = (stored.is_truncated, stored.status);
            for published in to_published(stored.events) {
                self.reader.pass_on(published).await?;
            }
            if !is_cut && status != RunStatus::Running {
                let end = run_end(self.reader.cursor, status);
                self.reader.pass_on(end).await?;
            }
            if !is_cut {
                return Ok(());
            }
        }
    }
}

impl EventReader {
    /// Sends events as they are published.
    async fn forward(&mut self, mut receiver: Receiver<PublishedEvent>) -> Result<(), StreamEnded> {
        loop {
            let received = tokio::select! {
                received = tokio::time::timeout(KEEP_ALIVE, receiver.recv()) => received,
                // A client that has left is noticed here even if no event arrives.
                () = self.sender.closed() => return Err(StreamEnded),
            };
            match received {
                Err(_) => self.send(Bytes::from_static(b": keep-alive\n\n")).await?,
                Ok(Ok(published)) => self.pass_on(published).await?,
                Ok(Err(RecvError::Lagged(lost_count))) => {
                    let from = self.cursor.to_string();
                    let gap = event("gap", &GapEvent { lost_count, from });
                    self.send_at(gap).await?;
                }
                Ok(Err(RecvError::Closed)) => return Err(StreamEnded),
            }
        }
    }

    /// Sends an event unless the client already has it.
    async fn pass_on(&mut self, published: PublishedEvent) -> Result<(), StreamEnded> {
        let PublishedEvent {
            cursor: place,
            text,
            ..
        } = published;
        // The subscription is older than the read of the store, so an event can arrive twice.
        let is_new = (place.cell, place.step) > (self.cursor.cell, self.cursor.step)
            || place.warnings > self.cursor.warnings;
        if !is_new && !published.is_end {
            return Ok(());
        }
        if (place.cell, place.step) > (self.cursor.cell, self.cursor.step) {
            (self.cursor.cell, self.cursor.step) = (place.cell, place.step);
        }
        self.cursor.warnings = self.cursor.warnings.max(place.warnings);
        self.send_at(text).await?;
        match published.is_end {
            true => Err(StreamEnded),
            false => Ok(()),
        }
    }

    /// Sends an event, followed by its place as the id.
    async fn send_at(&self, text: Bytes) -> Result<(), StreamEnded> {
        let mut bytes = text.to_vec();
        let id = format!("id: {}:{}\n\n", self.id, self.cursor);
        bytes.extend_from_slice(id.as_bytes());
        self.send(Bytes::from(bytes)).await
    }

    async fn send(&self, text: Bytes) -> Result<(), StreamEnded> {
        self.sender.send(text).await.map_err(|_| StreamEnded)
    }
}

/// A response body that yields parts as they arrive.
struct BodyStream(mpsc::Receiver<Bytes>);

impl http_body::Body for BodyStream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let received = self.0.poll_recv(context);
        received.map(|part| part.map(|part| Ok(Frame::data(part))))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::broadcast::channel;

    use super::*;

    fn at(step: u32) -> RunCursor {
        RunCursor {
            cell: 0,
            step,
            warnings: 0,
        }
    }

    fn published(step: u32) -> PublishedEvent {
        PublishedEvent {
            cursor: at(step),
            text: event("interval", &step),
            is_end: false,
        }
    }

    /// Events sent to a client that reads only after `count` events were published.
    fn read_late(count: u32) -> Vec<String> {
        let (publisher, receiver) = channel(4);
        for step in 1..=count {
            assert!(publisher.send(published(step)).is_ok());
        }
        assert!(
            publisher
                .send(run_end(at(count), RunStatus::Complete))
                .is_ok()
        );
        let (sender, mut parts) = mpsc::channel(100);
        let mut reader = EventReader {
            id: "r".to_owned(),
            cursor: RunCursor::default(),
            sender,
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        assert!(runtime.block_on(reader.forward(receiver)).is_err());
        let mut texts = Vec::new();
        while let Ok(part) = parts.try_recv() {
            texts.push(String::from_utf8(part.to_vec()).unwrap());
        }
        texts
    }

    #[test]
    fn a_slow_reader_gets_a_gap_event_and_continues_after_it() {
        let texts = read_late(10);
        assert_eq!(
            texts[0],
            "event: gap\ndata: {\"lost_count\":7,\"from\":\"0.0.0\"}\nid: r:0.0.0\n\n"
        );
        assert!(texts[1].contains("data: 8\nid: r:0.8.0"), "{}", texts[1]);
        assert_eq!(texts.len(), 5);
        assert!(texts[4].starts_with("event: run-end"));
    }

    #[test]
    fn a_reader_that_keeps_up_misses_nothing() {
        let texts = read_late(3);
        assert_eq!(texts.len(), 4);
        assert!(texts.iter().all(|text| !text.contains("gap")));
    }
}
