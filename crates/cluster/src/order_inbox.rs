//! Receives a worker process's orders while it measures, and sends its reports.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use engine::TscClock;
use engine::clock::Clock;
use run::{FileNews, MaxRoundsCallback, MeetingCallback, MeetingId, PeerAgreement};

use crate::leader_links::MessageSender;
use crate::message::{LeaderMessage, MemberMessage, decode, encode};

/// A process ends if it receives nothing from the leader for this time.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(10);
/// After its own stop signal, a process ends its cell immediately but still obeys the leader for
/// this time. The leader often received the same signal from a launcher and waits for results and
/// answers.
// When ranks left immediately, Ctrl-C took 19 s under MPICH's launcher.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval at which both are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Takes orders as they arrive, even while the process measures.
pub struct OrderInbox {
    orders: Mutex<Sender<LeaderMessage>>,
    sender: Mutex<MessageSender>,
    /// Set by a signal handler when this process should end.
    external_stop: Arc<AtomicBool>,
    /// Set to end the cell and everything after it.
    stop: Arc<AtomicBool>,
    /// Set to end only the current cell.
    skip: Arc<AtomicBool>,
    clock: OnceLock<TscClock>,
    start: Mutex<Option<u64>>,
    news: Mutex<Option<Vec<FileNews>>>,
    max_rounds: Mutex<MaxRoundsWaiter>,
    meetings: Mutex<MeetingWaiters>,
    /// Operations per second of all processes, by round.
    rounds: Mutex<Vec<f64>>,
    changed: Condvar,
    last_received: Mutex<Instant>,
}

impl OrderInbox {
    /// Creates an inbox that sends reports to `to`, and the channel of orders for
    /// [`ClusterWorker`](crate::ClusterWorker). A set `outside` flag also ends the process. The
    /// inbox only reads that flag: a second signal ends the process immediately, and a stop order
    /// of the leader must not count as the first signal.
    pub(crate) fn new(
        to: MessageSender,
        outside: Arc<AtomicBool>,
    ) -> (Arc<Self>, Receiver<LeaderMessage>) {
        let (orders, left) = channel();
        let inbox = Self {
            orders: Mutex::new(orders),
            sender: Mutex::new(to),
            external_stop: outside,
            stop: Arc::default(),
            skip: Arc::default(),
            clock: OnceLock::new(),
            start: Mutex::new(None),
            news: Mutex::new(None),
            max_rounds: Mutex::default(),
            meetings: Mutex::default(),
            rounds: Mutex::default(),
            changed: Condvar::new(),
            last_received: Mutex::new(Instant::now()),
        };
        (Arc::new(inbox), left)
    }

    /// Takes a message from the leader, and handles it immediately if it need not wait.
    pub fn take(&self, message: &[u8]) {
        *lock(&self.last_received) = Instant::now();
        let order = match decode(message) {
            Ok(Some(order)) => order,
            Ok(None) => return,
            Err(_) => return self.on_leader_lost(),
        };
        match order {
            // Answered immediately: the length of the round trip limits the precision of the
            // leader's reading. The leader compares clocks only in cells, when the clock is set.
            LeaderMessage::Ping { number } => {
                let at_ns = self.clock.get().map_or(0, Clock::now_ns);
                self.send(&MemberMessage::Pong { number, at_ns });
            }
            LeaderMessage::Start { at_ns } => {
                *lock(&self.start) = Some(at_ns);
                self.changed.notify_all();
            }
            LeaderMessage::News { news } => {
                *lock(&self.news) = Some(news);
                self.changed.notify_all();
            }
            LeaderMessage::Round { per_second } => lock(&self.rounds).push(per_second),
            LeaderMessage::Level { rounds } => {
                let listener = lock(&self.max_rounds).0.take();
                listener.into_iter().for_each(|on_order| on_order(rounds));
            }
            LeaderMessage::Met { meeting } => {
                let listener = lock(&self.meetings).0.remove(&meeting);
                listener.into_iter().for_each(|on_order| on_order());
            }
            // The worker's thread reads no orders while it measures, so these orders are flags.
            LeaderMessage::Skip => self.skip.store(true, Ordering::Relaxed),
            LeaderMessage::Stop => self.stop.store(true, Ordering::Relaxed),
            order => {
                match order {
                    // Requests for an earlier cell or plan are obsolete. Requests for this one may
                    // arrive before it starts.
                    LeaderMessage::Cell { .. } => {
                        self.skip.store(false, Ordering::Relaxed);
                        lock(&self.rounds).clear();
                        lock(&self.meetings).0.clear();
                    }
                    LeaderMessage::Plan { .. } => self.stop.store(false, Ordering::Relaxed),
                    _ => {}
                }
                let _ = lock(&self.orders).send(order);
            }
        }
    }

    /// No message will follow: ends everything and removes the files made here.
    pub fn on_leader_lost(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = lock(&self.orders).send(LeaderMessage::Bye);
    }

    /// `true` if the leader has been silent for more than [`SILENCE_TIMEOUT`].
    fn is_leader_silent(&self) -> bool {
        lock(&self.last_received).elapsed() > SILENCE_TIMEOUT
    }

    /// Waits for the next order; [`LeaderMessage::Bye`] if the leader is silent.
    pub(crate) fn next(&self, orders: &Receiver<LeaderMessage>) -> LeaderMessage {
        loop {
            match orders.recv_timeout(POLL_INTERVAL) {
                Ok(order) => return order,
                Err(_) if self.is_leader_silent() => {
                    self.stop.store(true, Ordering::Relaxed);
                    return LeaderMessage::Bye;
                }
                Err(_) => {}
            }
        }
    }

    pub(crate) fn send(&self, report: &MemberMessage) {
        let message = encode(report);
        lock(&self.sender)(message);
    }

    pub(crate) fn set_clock(&self, clock: TscClock) {
        let _ = self.clock.set(clock);
    }

    pub(crate) fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    pub(crate) fn skip_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.skip)
    }

    /// Waits for the leader's answer; `None` if the cell or the run is to end.
    fn wait_for<T>(&self, slot: &Mutex<Option<T>>, stop: &AtomicBool) -> Option<T> {
        let is_cut = || stop.load(Ordering::Relaxed) || self.skip.load(Ordering::Relaxed);
        let mut answer = lock(slot);
        while answer.is_none() && !is_cut() {
            // Setting `stop` or `skip` does not wake this thread, so the wait is short.
            let waited = self.changed.wait_timeout(answer, POLL_INTERVAL);
            answer = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        answer.take()
    }

    /// Starts a thread that ends everything when the leader is silent or the process should end,
    /// even during a cell.
    pub(crate) fn watch_leader(self: &Arc<Self>) {
        // A strong reference would keep the inbox, and therefore this thread, alive forever.
        let inbox = Arc::downgrade(self);
        std::thread::spawn(move || {
            let mut wanted: Option<Instant> = None;
            while let Some(inbox) = inbox.upgrade() {
                if inbox.external_stop.load(Ordering::Relaxed) {
                    // A new plan may have cleared the flag.
                    inbox.stop.store(true, Ordering::Relaxed);
                    wanted.get_or_insert_with(Instant::now);
                }
                let is_late = wanted.is_some_and(|it| it.elapsed() > SHUTDOWN_TIMEOUT);
                if is_late || inbox.is_leader_silent() {
                    return inbox.on_leader_lost();
                }
                drop(inbox);
                std::thread::sleep(POLL_INTERVAL);
            }
        });
    }
}

/// Callback that waits for the highest number of rounds.
#[derive(Default)]
struct MaxRoundsWaiter(Option<MaxRoundsCallback>);

/// Callbacks that wait for the ends of meetings.
#[derive(Default)]
struct MeetingWaiters(BTreeMap<MeetingId, MeetingCallback>);

impl fmt::Debug for OrderInbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OrderInbox")
    }
}

impl PeerAgreement for OrderInbox {
    fn level(&self, rounds: u64, then: MaxRoundsCallback) {
        // Stored before the report, because the answer may arrive immediately.
        lock(&self.max_rounds).0 = Some(then);
        self.send(&MemberMessage::Level { rounds });
    }

    fn meet(&self, meeting: MeetingId, then: MeetingCallback) {
        // Stored before the report for the same reason.
        lock(&self.meetings).0.insert(meeting, then);
        self.send(&MemberMessage::Meet { meeting });
    }

    fn leave_meeting(&self, meeting: MeetingId) {
        self.send(&MemberMessage::LeaveMeeting { meeting });
    }

    fn start(&self, stop: &AtomicBool) -> Option<u64> {
        // Cleared before the report, because the answer may arrive before this thread waits for it.
        *lock(&self.start) = None;
        self.send(&MemberMessage::Armed);
        self.wait_for(&self.start, stop)
    }

    fn exchange(&self, news: Vec<FileNews>) -> Option<Vec<FileNews>> {
        // Cleared before the report for the same reason.
        *lock(&self.news) = None;
        self.send(&MemberMessage::News { news });
        self.wait_for(&self.news, &self.stop)
    }

    fn round(&self, per_second: f64) {
        self.send(&MemberMessage::Round { per_second });
    }

    fn round_of_all(&self, index: usize) -> Option<f64> {
        lock(&self.rounds).get(index).copied()
    }

    fn begun(&self, phase: Option<&str>, begin_ns: u64) {
        let phase = phase.map(str::to_owned);
        self.send(&MemberMessage::Begun {
            phase,
            at_ns: begin_ns,
        });
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
