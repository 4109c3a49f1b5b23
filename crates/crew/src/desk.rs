//! Where orders come in while a process that does not lead is at work, and its answers go out.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use engine::TscClock;
use engine::clock::Clock;
use run::{FileNews, HearRounds, Meeting};

use crate::hub::Outlet;
use crate::message::{Order, Report, decode, encode};

/// Who hears nothing of the leader for so long ends by itself.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// Who is to end ends what is at hand at once. For so long it still does what the leader says, who
/// has heard the same from a launcher and waits for figures and for answers.
const ENDING_MAX: Duration = Duration::from_secs(5);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Takes orders as they come, whatever the process does meanwhile.
pub struct Desk {
    orders: Mutex<Sender<Order>>,
    to: Mutex<Outlet>,
    /// Set from outside when this process is to end.
    outside: Arc<AtomicBool>,
    /// Ends everything.
    stop: Arc<AtomicBool>,
    /// Ends the cell at hand.
    skip: Arc<AtomicBool>,
    clock: OnceLock<TscClock>,
    start: Mutex<Option<u64>>,
    news: Mutex<Option<Vec<FileNews>>>,
    level: Mutex<Leveling>,
    /// Operations a second of all, by round.
    rounds: Mutex<Vec<f64>>,
    told: Condvar,
    heard: Mutex<Instant>,
}

impl Desk {
    /// A desk whose answers go there, with the orders that are left to be carried out; `outside`
    /// also ends it. It is only read: what the leader wants is not what a signal says, the second
    /// of which ends the process at once.
    pub(crate) fn new(to: Outlet, outside: Arc<AtomicBool>) -> (Arc<Self>, Receiver<Order>) {
        let (orders, left) = channel();
        let desk = Self {
            orders: Mutex::new(orders),
            to: Mutex::new(to),
            outside,
            stop: Arc::default(),
            skip: Arc::default(),
            clock: OnceLock::new(),
            start: Mutex::new(None),
            news: Mutex::new(None),
            level: Mutex::default(),
            rounds: Mutex::default(),
            told: Condvar::new(),
            heard: Mutex::new(Instant::now()),
        };
        (Arc::new(desk), left)
    }

    /// Takes a message of the leader; what need not wait is done at once.
    pub fn take(&self, message: &[u8]) {
        *lock(&self.heard) = Instant::now();
        let order = match decode(message) {
            Ok(Some(order)) => order,
            Ok(None) => return,
            Err(_) => return self.leader_is_gone(),
        };
        match order {
            Order::Ping { number } => {
                let at_ns = self.clock.get().map_or(0, Clock::now_ns);
                self.send(&Report::Pong { number, at_ns });
            }
            Order::Start { at_ns } => {
                *lock(&self.start) = Some(at_ns);
                self.told.notify_all();
            }
            Order::News { news } => {
                *lock(&self.news) = Some(news);
                self.told.notify_all();
            }
            Order::Round { per_second } => lock(&self.rounds).push(per_second),
            Order::Level { rounds } => {
                let hear = lock(&self.level).0.take();
                hear.into_iter().for_each(|hear| hear(rounds));
            }
            Order::Skip => self.skip.store(true, Ordering::Relaxed),
            Order::Stop => self.stop.store(true, Ordering::Relaxed),
            order => {
                match order {
                    // What was wanted of another cell or plan is over, and what is wanted of this
                    // one may follow before it begins.
                    Order::Cell { .. } => {
                        self.skip.store(false, Ordering::Relaxed);
                        lock(&self.rounds).clear();
                    }
                    Order::Plan { .. } => self.stop.store(false, Ordering::Relaxed),
                    _ => {}
                }
                let _ = lock(&self.orders).send(order);
            }
        }
    }

    /// Nothing will come any more: everything ends, and what was made is removed.
    pub fn leader_is_gone(&self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = lock(&self.orders).send(Order::Bye);
    }

    /// Whether the leader has been silent for too long.
    fn is_deserted(&self) -> bool {
        lock(&self.heard).elapsed() > SILENCE_MAX
    }

    /// The next order; [`Order::Bye`] where the leader is silent.
    pub(crate) fn next(&self, orders: &Receiver<Order>) -> Order {
        loop {
            match orders.recv_timeout(LOOK) {
                Ok(order) => return order,
                Err(_) if self.is_deserted() => {
                    self.stop.store(true, Ordering::Relaxed);
                    return Order::Bye;
                }
                Err(_) => {}
            }
        }
    }

    pub(crate) fn send(&self, report: &Report) {
        let message = encode(report);
        lock(&self.to)(message);
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

    /// Waits for what the leader has to say; none where nobody goes on.
    fn wait_for<T>(&self, place: &Mutex<Option<T>>, stop: &AtomicBool) -> Option<T> {
        let is_cut = || stop.load(Ordering::Relaxed) || self.skip.load(Ordering::Relaxed);
        let mut told = lock(place);
        while told.is_none() && !is_cut() {
            let waited = self.told.wait_timeout(told, LOOK);
            told = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        told.take()
    }

    /// Ends everything when the leader is silent or somebody outside wants it, also while a cell is
    /// measured.
    pub(crate) fn watch_leader(self: &Arc<Self>) {
        let desk = Arc::downgrade(self);
        std::thread::spawn(move || {
            let mut wanted: Option<Instant> = None;
            while let Some(desk) = desk.upgrade() {
                if desk.outside.load(Ordering::Relaxed) {
                    // A plan may have come since.
                    desk.stop.store(true, Ordering::Relaxed);
                    wanted.get_or_insert_with(Instant::now);
                }
                let is_late = wanted.is_some_and(|it| it.elapsed() > ENDING_MAX);
                if is_late || desk.is_deserted() {
                    return desk.leader_is_gone();
                }
                drop(desk);
                std::thread::sleep(LOOK);
            }
        });
    }
}

/// Who waits to hear how many rounds were done.
#[derive(Default)]
struct Leveling(Option<HearRounds>);

impl fmt::Debug for Desk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Desk")
    }
}

impl Meeting for Desk {
    fn level(&self, rounds: u64, then: HearRounds) {
        lock(&self.level).0 = Some(then);
        self.send(&Report::Level { rounds });
    }

    fn start(&self, stop: &AtomicBool) -> Option<u64> {
        *lock(&self.start) = None;
        self.send(&Report::Armed);
        self.wait_for(&self.start, stop)
    }

    fn exchange(&self, news: Vec<FileNews>) -> Option<Vec<FileNews>> {
        *lock(&self.news) = None;
        self.send(&Report::News { news });
        self.wait_for(&self.news, &self.stop)
    }

    fn round(&self, per_second: f64) {
        self.send(&Report::Round { per_second });
    }

    fn round_of_all(&self, index: usize) -> Option<f64> {
        lock(&self.rounds).get(index).copied()
    }

    fn begun(&self, phase: Option<&str>, begin_ns: u64) {
        let phase = phase.map(str::to_owned);
        self.send(&Report::Begun {
            phase,
            at_ns: begin_ns,
        });
    }
}

fn lock<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
