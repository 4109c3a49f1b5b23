//! Puts events in the order of time and joins completions to their requests.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use foldhash::HashMap;

use crate::event::{TraceLayer, TraceRequest, TracedCall, TracedKind};
use crate::names::NameId;
use crate::notice::DecodeContext;

/// Limits of memory. The window of time is narrower if it has more events than this.
const WINDOW_EVENTS_MAX: usize = 1 << 16;
const OPEN_REQUESTS_MAX: usize = 1 << 16;
/// Number of events after which the layer is chosen.
const UNDECIDED_MAX: usize = 1 << 16;
/// A gap is reported if it is this many times the span so far, and longer than a day.
const GAP_FACTOR: i64 = 100;
const DAY_NS: i64 = 86_400 * 1_000_000_000;

/// An event with a time.
pub(crate) trait Timed {
    fn time_ns(&self) -> i64;
    fn row(&self) -> u64;
}

impl Timed for TraceRequest {
    fn time_ns(&self) -> i64 {
        self.time_ns
    }

    fn row(&self) -> u64 {
        self.row
    }
}

impl Timed for TracedCall {
    fn time_ns(&self) -> i64 {
        self.time_ns
    }

    fn row(&self) -> u64 {
        self.row
    }
}

/// An event that came after a later one.
struct LateEvent<T> {
    time_ns: i64,
    sequence: u64,
    event: T,
}

impl<T> PartialEq for LateEvent<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for LateEvent<T> {}

impl<T> PartialOrd for LateEvent<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for LateEvent<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time_ns, self.sequence).cmp(&(other.time_ns, other.sequence))
    }
}

/// Place of an event in a window.
#[derive(Debug, Clone, Copy)]
enum WindowPlace {
    /// Number of the event among those in order.
    InOrder(u64),
    Late,
}

/// Sorts events within a window of time. Events in order, nearly all, cost a push and a pop.
pub(crate) struct SortWindow<T> {
    window_ns: i64,
    /// In order of time.
    queue: VecDeque<T>,
    late: BinaryHeap<Reverse<LateEvent<T>>>,
    /// Number of events that left the queue.
    left: u64,
    sequence: u64,
    /// Time and span of the events so far, in the order of the file.
    previous: Option<i64>,
    first_ns: i64,
    latest_ns: i64,
    /// How often time ran backward in the file.
    backward_count: u64,
}

impl<T: Timed> SortWindow<T> {
    pub(crate) fn new(window_ns: i64) -> Self {
        Self {
            window_ns,
            queue: VecDeque::new(),
            late: BinaryHeap::new(),
            left: 0,
            sequence: 0,
            previous: None,
            first_ns: 0,
            latest_ns: 0,
            backward_count: 0,
        }
    }

    pub(crate) fn backward_count(&self) -> u64 {
        self.backward_count
    }

    fn push(&mut self, event: T, context: &mut DecodeContext) -> WindowPlace {
        let time_ns = event.time_ns();
        self.follow(time_ns, event.row(), context);
        self.sequence += 1;
        if self
            .queue
            .back()
            .is_none_or(|last| last.time_ns() <= time_ns)
        {
            self.queue.push_back(event);
            return WindowPlace::InOrder(self.left + self.queue.len() as u64 - 1);
        }
        self.late.push(Reverse(LateEvent {
            time_ns,
            sequence: self.sequence,
            event,
        }));
        WindowPlace::Late
    }

    /// Counts steps back and reports jumps ahead.
    fn follow(&mut self, time_ns: i64, row: u64, context: &mut DecodeContext) {
        let Some(previous) = self.previous.replace(time_ns) else {
            (self.first_ns, self.latest_ns) = (time_ns, time_ns);
            return;
        };
        if time_ns < previous {
            self.backward_count += 1;
        }
        let span_ns = self.latest_ns.saturating_sub(self.first_ns);
        let gap_ns = time_ns.saturating_sub(self.latest_ns);
        if gap_ns > DAY_NS && gap_ns / GAP_FACTOR > span_ns {
            let days = gap_ns / DAY_NS;
            context.notice(format!("row {row}: the time jumps ahead by {days} days"));
        }
        self.first_ns = self.first_ns.min(time_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
    }

    /// The next event in order, if none before it can follow within the window. `now_ns` is the
    /// time of the last event of the file, not the latest time: after a jump ahead and back, the
    /// window would otherwise be empty forever.
    fn pop_before(&mut self, now_ns: Option<i64>) -> Option<T> {
        let in_order = self.queue.front().map(Timed::time_ns);
        let late = self.late.peek().map(|Reverse(late)| late.time_ns);
        let next_ns = match (in_order, late) {
            (Some(a), Some(b)) => a.min(b),
            (a, b) => a.or(b)?,
        };
        let is_full = self.queue.len() + self.late.len() > WINDOW_EVENTS_MAX;
        let is_due = now_ns.is_none_or(|now| next_ns < now.saturating_sub(self.window_ns));
        if !is_due && !is_full {
            return None;
        }
        if late == Some(next_ns) && in_order != Some(next_ns) {
            return self.late.pop().map(|Reverse(late)| late.event);
        }
        self.left += 1;
        self.queue.pop_front()
    }

    fn in_order(&mut self, number: u64) -> Option<&mut T> {
        let index = number.checked_sub(self.left)?;
        self.queue.get_mut(usize::try_from(index).ok()?)
    }

    /// Adds an event and passes on those that are in order.
    pub(crate) fn add(&mut self, event: T, context: &mut DecodeContext, out: &mut Vec<T>) {
        let now_ns = event.time_ns();
        self.push(event, context);
        self.pass_on(Some(now_ns), out);
    }

    /// Passes on the events before the window, or all without a time.
    pub(crate) fn pass_on(&mut self, now_ns: Option<i64>, out: &mut Vec<T>) {
        while let Some(event) = self.pop_before(now_ns) {
            out.push(event);
        }
    }
}

/// What identifies a request between its issue and its completion.
type RequestKey = (NameId, u64, u64, TracedKind);

/// Issued requests of one key, oldest first. Nearly always there is one.
struct OpenIssues {
    first: OpenIssue,
    more: VecDeque<OpenIssue>,
    /// Number of requests that the driver returned.
    requeued: u32,
}

#[derive(Clone, Copy)]
struct OpenIssue {
    place: WindowPlace,
    time_ns: i64,
}

/// Selects the requests of one layer, in order, with the latencies that completions give.
pub(crate) struct RequestOrder {
    window: SortWindow<TraceRequest>,
    layer: Option<TraceLayer>,
    /// Events before the layer was chosen.
    undecided: Vec<TraceRequest>,
    /// Number of events by layer.
    layer_counts: [u64; TraceLayer::COUNT],
    open: HashMap<RequestKey, OpenIssues>,
    /// Number of issues in `open`.
    open_count: usize,
    /// Completions without a request, such as the second one of a flushing write.
    unmatched_count: u64,
}

impl RequestOrder {
    /// `layer` is chosen from the trace if it is `None`.
    pub(crate) fn new(window_ns: i64, layer: Option<TraceLayer>) -> Self {
        Self {
            window: SortWindow::new(window_ns),
            layer,
            undecided: Vec::new(),
            layer_counts: [0; TraceLayer::COUNT],
            open: HashMap::default(),
            open_count: 0,
            unmatched_count: 0,
        }
    }

    pub(crate) fn backward_count(&self) -> u64 {
        self.window.backward_count()
    }

    pub(crate) fn layer(&self) -> Option<TraceLayer> {
        self.layer
    }

    pub(crate) fn layer_counts(&self) -> &[u64; TraceLayer::COUNT] {
        &self.layer_counts
    }

    pub(crate) fn unmatched_count(&self) -> u64 {
        self.unmatched_count
    }

    /// Adds an event and passes on the requests that are in order.
    pub(crate) fn add(
        &mut self,
        event: TraceRequest,
        context: &mut DecodeContext,
        out: &mut Vec<TraceRequest>,
    ) {
        self.layer_counts[event.layer as usize] += 1;
        if self.layer.is_some() {
            return self.select(event, context, out);
        }
        self.undecided.push(event);
        // Issues are the work of the device. Without any so far, the start of the trace decides.
        let is_decided = matches!(event.layer, TraceLayer::Issue | TraceLayer::Request);
        if is_decided || self.undecided.len() >= UNDECIDED_MAX {
            self.decide(context, out);
        }
    }

    /// Passes on the rest.
    pub(crate) fn finish(&mut self, context: &mut DecodeContext, out: &mut Vec<TraceRequest>) {
        self.decide(context, out);
        self.window.pass_on(None, out);
        if self.layer == Some(TraceLayer::Complete) {
            context.notice("only completions were recorded: times are completion times".into());
        }
    }

    fn decide(&mut self, context: &mut DecodeContext, out: &mut Vec<TraceRequest>) {
        if self.layer.is_none() {
            let order = [
                TraceLayer::Request,
                TraceLayer::Issue,
                TraceLayer::Queue,
                TraceLayer::Complete,
            ];
            let has = |layer: &TraceLayer| self.layer_counts[*layer as usize] > 0;
            self.layer = order.into_iter().find(has);
        }
        for event in std::mem::take(&mut self.undecided) {
            self.select(event, context, out);
        }
    }

    fn select(
        &mut self,
        event: TraceRequest,
        context: &mut DecodeContext,
        out: &mut Vec<TraceRequest>,
    ) {
        let is_issue = event.layer == TraceLayer::Issue;
        let key = (
            event.device,
            event.offset_bytes,
            event.length_bytes,
            event.kind,
        );
        if Some(event.layer) == self.layer {
            // The driver returned the request, which is therefore issued a second time.
            if is_issue && self.take_requeued(&key) {
                return;
            }
            let now_ns = event.time_ns;
            let place = self.window.push(event, context);
            if is_issue {
                self.open(
                    key,
                    OpenIssue {
                        place,
                        time_ns: now_ns,
                    },
                );
            }
            self.window.pass_on(Some(now_ns), out);
        } else if self.layer == Some(TraceLayer::Issue) {
            match event.layer {
                TraceLayer::Complete => self.complete(key, event.time_ns),
                TraceLayer::Requeue => {
                    if let Some(open) = self.open.get_mut(&key) {
                        open.requeued += 1;
                    }
                }
                _ => {}
            }
        }
    }

    fn take_requeued(&mut self, key: &RequestKey) -> bool {
        match self.open.get_mut(key) {
            Some(open) if open.requeued > 0 => {
                open.requeued -= 1;
                true
            }
            _ => false,
        }
    }

    fn open(&mut self, key: RequestKey, issue: OpenIssue) {
        if self.open_count >= OPEN_REQUESTS_MAX {
            // Their completions were lost, so their latencies stay unknown.
            self.open.clear();
            self.open_count = 0;
        }
        self.open_count += 1;
        let new = OpenIssues {
            first: issue,
            more: VecDeque::new(),
            requeued: 0,
        };
        self.open
            .entry(key)
            .and_modify(|open| open.more.push_back(issue))
            .or_insert(new);
    }

    fn complete(&mut self, key: RequestKey, time_ns: i64) {
        let Some(open) = self.open.get_mut(&key) else {
            self.unmatched_count += 1;
            return;
        };
        self.open_count -= 1;
        let issue = open.first;
        match open.more.pop_front() {
            Some(next) => open.first = next,
            None => drop(self.open.remove(&key)),
        }
        // A request that left the window, or that is out of order, stays without latency.
        let latency_ns = time_ns.checked_sub(issue.time_ns);
        let latency_ns = latency_ns.and_then(|ns| u64::try_from(ns).ok());
        if let WindowPlace::InOrder(number) = issue.place
            && let Some(request) = self.window.in_order(number)
        {
            request.latency_ns = latency_ns;
        }
    }
}
