//! The process that serves the delayed file.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fuser::{Config, ReplyData, Session, SessionACL};

use super::files::Files;
use super::{Log, Order, Served, Stall};
use crate::store::Store;

/// What all files together may hold.
const CAPACITY_BYTES: u64 = 64 << 20;

/// Serves the delayed file on the device that is standard input, with orders and answers on the
/// socket that is standard output, until that is closed.
///
/// # Errors
/// When either is something else.
pub fn serve() -> io::Result<()> {
    let device = io::stdin().as_fd().try_clone_to_owned()?;
    let orders = UnixStream::from(io::stdout().as_fd().try_clone_to_owned()?);
    // Nothing may be written to a terminal or a file.
    orders.peer_addr()?;
    let shared = Arc::new(Shared::new());
    let (answering, serving) = (Arc::clone(&shared), Arc::clone(&shared));
    thread::spawn(move || answering.answer());
    let session = Session::from_fd(
        Files::new(Store::new(CAPACITY_BYTES), serving),
        device,
        SessionACL::All,
        Config::default(),
    )?;
    thread::spawn(move || session.run());
    let mut answers = orders.try_clone()?;
    for line in BufReader::new(orders).lines() {
        let told = match serde_json::from_str(&line?)? {
            Order::Begin { delay, stall } => {
                shared.begin(delay, stall);
                String::new()
            }
            Order::Tell => serde_json::to_string(&shared.state().log)?,
        };
        writeln!(answers, "{told}")?;
    }
    Ok(())
}

/// A read that waits for its answer.
struct Waiting {
    arrived: Instant,
    due: Instant,
    bytes: Vec<u8>,
    reply: ReplyData,
}

struct State {
    /// When the log began.
    began: Instant,
    delay: Duration,
    stall: Option<Stall>,
    first: Option<Instant>,
    /// In the order of arrival, in which they are answered.
    waiting: VecDeque<Waiting>,
    log: Log,
}

/// What waits for an answer, and what was answered.
pub(super) struct Shared {
    state: Mutex<State>,
    arrived: Condvar,
}

impl Shared {
    fn new() -> Self {
        let state = State {
            began: Instant::now(),
            delay: Duration::ZERO,
            stall: None,
            first: None,
            waiting: VecDeque::new(),
            log: Log::default(),
        };
        Self {
            state: Mutex::new(state),
            arrived: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, delay: Duration, stall: Option<Stall>) {
        let mut state = self.state();
        (state.delay, state.stall, state.first) = (delay, stall, None);
        state.began = Instant::now();
        state.log = Log::default();
    }

    /// Takes a read that is to be answered when its time has come.
    pub fn arrive(&self, arrived: Instant, bytes: Vec<u8>, reply: ReplyData) {
        let mut state = self.state();
        let first = *state.first.get_or_insert(arrived);
        let mut due = arrived + state.delay;
        if let Some(stall) = state.stall {
            let (from, until) = (first + stall.after, first + stall.after + stall.length);
            if (from..until).contains(&due) {
                due = until;
            }
        }
        state.waiting.push_back(Waiting {
            arrived,
            due,
            bytes,
            reply,
        });
        self.arrived.notify_one();
    }

    /// Answers each read when it is due, for ever.
    fn answer(&self) {
        // Else a sleep ends 50 µs late.
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        let mut state = self.state();
        loop {
            let now = Instant::now();
            let due = state.waiting.front().map(|it| it.due);
            state = match due {
                Some(due) if due > now => {
                    let waited = self.arrived.wait_timeout(state, due - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => {
                    let answered = state.answer_first(now);
                    drop(state);
                    if let Some(Waiting { bytes, reply, .. }) = answered {
                        reply.data(&bytes);
                    }
                    self.state()
                }
                None => {
                    let waited = self.arrived.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }
}

impl State {
    /// Takes the first read that waits and writes it down before its answer is sent, after which
    /// the log may be asked for.
    fn answer_first(&mut self, now: Instant) -> Option<Waiting> {
        let waiting = self.waiting.pop_front()?;
        let since_ns = |at: Instant| u64::try_from((at - self.began).as_nanos()).ok();
        // What came before the log began does not belong there.
        if waiting.arrived >= self.began
            && let (Some(arrived_ns), Some(answered_ns)) =
                (since_ns(waiting.arrived), since_ns(now))
        {
            self.log.reads.push(Served {
                arrived_ns,
                answered_ns,
            });
        }
        Some(waiting)
    }
}
