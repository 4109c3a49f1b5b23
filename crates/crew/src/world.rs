//! Messages between the ranks of an MPI job.
//!
//! MPI is used by one thread alone, which opened it, and nobody waits in it: that thread looks for
//! messages now and then, more often while there are some. A message of this process wakes it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use mpi::{Launch, MpiError, World};

use crate::desk::Desk;
use crate::hub::{Arrival, Hub, Outlet, outlet};
use crate::message::ALIVE;
use crate::worker::Worker;

/// Who has nothing to say shows this often that it is there.
const SIGN: Duration = Duration::from_secs(1);
/// How long to poll for the next message without a pause: the time that an immediate answer takes.
/// With a rank on each processor, polling takes processor time from the ranks that are working.
const BUSY: Duration = Duration::from_micros(100);
/// Then after pauses of this share of the time without messages, so that a short phase ends no
/// later for it and a long one is not disturbed.
const REST_SHARE: u32 = 8;
/// The longest pause.
const REST_MAX: Duration = Duration::from_millis(5);
/// What was said last has so long to leave.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// This process among the ranks of its job.
pub enum Ranked {
    /// The first, which leads and works.
    First(FirstRank),
    /// Another, which has done what it was told, and ends.
    Done,
}

/// What the first rank leads with.
pub struct FirstRank {
    /// To speak with all, itself included.
    pub hub: Hub,
    /// The library and its version.
    pub carrier: String,
    /// To be ended at last.
    pub job: Job,
}

/// A job of MPI, as one of its ranks has it.
pub struct Job {
    end: Arc<End>,
    thread: JoinHandle<Result<(), MpiError>>,
}

/// How the thread that opened MPI is to end.
#[derive(Default)]
struct End {
    /// Nothing more will be said.
    is_over: AtomicBool,
    /// Not all come to the end.
    is_alone: AtomicBool,
}

impl Job {
    /// Ends MPI, once all have been told that nothing follows, and waits until all do the same.
    ///
    /// # Errors
    /// When MPI was not ended: the launcher ends those who wait for it once this process, whose
    /// code must not be 0, has ended.
    pub fn end(self) -> Result<(), MpiError> {
        // Released with all that was said before.
        self.end.is_over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        match self.thread.join() {
            Ok(ended) => ended,
            // A panic has said what it is.
            Err(_) => Err(MpiError::Initialized),
        }
    }

    /// Says what is left to be said, and does not end MPI: somebody was lost, who would be waited
    /// for without limit. The launcher ends the others once this process has ended.
    pub fn leave(self) {
        self.end.is_alone.store(true, Ordering::Release);
        let _ = self.end();
    }
}

/// What the thread that opened MPI says of it.
struct Opened {
    rank: usize,
    size: usize,
    library: String,
}

/// Takes part in the job of a launcher. The first rank comes back to lead, the others once they
/// have done what it says. To be called early, and once; `stop` is set up behind it, as libraries
/// set handlers of signals of their own.
///
/// # Errors
/// When there is no library that fits the launcher, or it has failed another than the first.
pub fn join(launch: Launch, stop: impl FnOnce() -> Arc<AtomicBool>) -> Result<Ranked, MpiError> {
    let (opened, found) = channel();
    let (to_world, from_here) = channel::<Vec<Channel>>();
    let end = Arc::<End>::default();
    let until = Arc::clone(&end);
    let thread = thread::spawn(move || carry(&launch, &opened, &from_here, &until));
    let carrier_thread = thread.thread().clone();
    let job = Job { end, thread };
    let opened = match found.recv() {
        Ok(opened) => opened?,
        // The library has ended the thread; what it had to say it has said.
        Err(_) => return Err(MpiError::Initialized),
    };
    let stop = stop();
    let carrier = format!("mpi: {}", opened.library);
    match opened.rank {
        0 => {
            let hub = first(opened.size, &to_world, &carrier_thread, stop);
            Ok(Ranked::First(FirstRank { hub, carrier, job }))
        }
        _ => {
            work(&to_world, carrier_thread, stop);
            job.end().map(|()| Ranked::Done)
        }
    }
}

/// What goes to a rank, and where what it says goes.
struct Channel {
    rank: usize,
    messages: Receiver<Vec<u8>>,
    heard: Box<dyn FnMut(Vec<u8>) + Send>,
}

/// Channels to all ranks; the first one's own lead to a worker in this process.
fn first(
    size: usize,
    to_world: &Sender<Vec<Channel>>,
    carrier: &Thread,
    stop: Arc<AtomicBool>,
) -> Hub {
    let (arrivals, from) = channel();
    let mut to = vec![own_worker(&arrivals, carrier.clone(), stop)];
    let mut channels = Vec::new();
    for rank in 1..size {
        let (sender, messages) = channel();
        to.push(waking(sender, carrier.clone()));
        let arrivals = arrivals.clone();
        let heard = move |message| {
            let rank = u32::try_from(rank).unwrap_or(u32::MAX);
            let _ = arrivals.send((rank, Arrival::Message(message)));
        };
        channels.push(Channel {
            rank,
            messages,
            heard: Box::new(heard),
        });
    }
    let _ = to_world.send(channels);
    Hub { to, from }
}

/// An outlet that wakes the thread that carries the messages.
fn waking(to: Sender<Vec<u8>>, carrier: Thread) -> Outlet {
    let to = outlet(to);
    Box::new(move |message| {
        to(message);
        carrier.unpark();
    })
}

/// A worker in this process. What it says also wakes the carrier: the others are about to say the
/// same.
fn own_worker(arrivals: &Sender<(u32, Arrival)>, carrier: Thread, stop: Arc<AtomicBool>) -> Outlet {
    let (reports, signs) = (arrivals.clone(), arrivals.clone());
    let to = Box::new(move |report| {
        let _ = reports.send((0, Arrival::Message(report)));
        carrier.unpark();
    });
    let worker = Worker::new(to, stop);
    let led = Led(worker.desk());
    thread::spawn(move || {
        let sign = || (0, Arrival::Message(ALIVE.to_vec()));
        while signs.send(sign()).is_ok() {
            thread::sleep(SIGN);
        }
    });
    thread::spawn(move || worker.work());
    Box::new(move |order| led.0.take(&order))
}

/// The desk of a worker in the process that leads.
struct Led(Arc<Desk>);

impl Drop for Led {
    fn drop(&mut self) {
        self.0.leader_is_gone();
    }
}

/// Works for the first rank until it has no more to say.
fn work(to_world: &Sender<Vec<Channel>>, carrier: Thread, stop: Arc<AtomicBool>) {
    let (to, messages) = channel();
    let worker = Worker::new(waking(to, carrier), stop);
    let desk = worker.desk();
    let heard = Box::new(move |message: Vec<u8>| desk.take(&message));
    let _ = to_world.send(vec![Channel {
        rank: 0,
        messages,
        heard,
    }]);
    worker.work();
}

/// Opens MPI and carries messages until the end.
fn carry(
    launch: &Launch,
    opened: &Sender<Result<Opened, MpiError>>,
    channels: &Receiver<Vec<Channel>>,
    end: &End,
) -> Result<(), MpiError> {
    let mut world = match World::open(launch) {
        Ok(world) => world,
        Err(error) => {
            let _ = opened.send(Err(error));
            return Ok(());
        }
    };
    // Short pauses otherwise last 50 us longer. Where it cannot be set, they do.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let library = world.library();
    let _ = opened.send(Ok(Opened {
        rank: world.rank(),
        size: world.size(),
        library: format!("{} ({})", library.version, library.path.display()),
    }));
    let Ok(mut channels) = channels.recv() else {
        return Ok(());
    };
    let mut last = Instant::now();
    let mut signs = vec![Instant::now(); channels.len()];
    while !end.is_over.load(Ordering::Acquire) {
        let is_sent = send_all(&mut world, &channels, &mut signs)?;
        match hear_all(&mut world, &mut channels)? | is_sent {
            true => last = Instant::now(),
            false if rest(last.elapsed()) => last = Instant::now(),
            false => {}
        }
    }
    send_all(&mut world, &channels, &mut signs)?;
    match end.is_alone.load(Ordering::Acquire) {
        true => world.flush_within(LAST_WORDS),
        false => world.finalize(LAST_WORDS),
    }
}

/// Rests; whether this process had something to say meanwhile, to which answers will come.
fn rest(quiet: Duration) -> bool {
    if quiet < BUSY {
        thread::yield_now();
        return false;
    }
    let (begun, pause) = (Instant::now(), (quiet / REST_SHARE).min(REST_MAX));
    thread::park_timeout(pause);
    begun.elapsed() < pause
}

/// Sends what is to be sent; whether anything was.
fn send_all(
    world: &mut World,
    channels: &[Channel],
    signs: &mut [Instant],
) -> Result<bool, MpiError> {
    let mut is_sent = false;
    for (channel, sign) in channels.iter().zip(signs) {
        loop {
            match channel.messages.try_recv() {
                Ok(message) => {
                    world.send(channel.rank, message)?;
                    (*sign, is_sent) = (Instant::now(), true);
                }
                Err(TryRecvError::Empty) if sign.elapsed() > SIGN => {
                    world.send(channel.rank, ALIVE.to_vec())?;
                    *sign = Instant::now();
                    break;
                }
                Err(_) => break,
            }
        }
    }
    Ok(is_sent)
}

/// Hands on what has come; whether anything has.
fn hear_all(world: &mut World, channels: &mut [Channel]) -> Result<bool, MpiError> {
    let mut is_heard = false;
    while let Some(message) = world.try_receive()? {
        is_heard |= message.bytes != ALIVE;
        if let Some(channel) = channels.iter_mut().find(|it| it.rank == message.from) {
            (channel.heard)(message.bytes);
        }
    }
    Ok(is_heard)
}
