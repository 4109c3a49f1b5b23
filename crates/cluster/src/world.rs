//! Messages between the ranks of an MPI job.
//!
//! Only the thread that opened MPI uses it, and it never waits inside MPI. It polls for messages,
//! more often while some arrive. A message from this process wakes it.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

use mpi::{Launch, MpiError, World};

use crate::leader_links::{LeaderLinks, LinkEvent, MessageSender, channel_sender};
use crate::message::KEEPALIVE;
use crate::order_inbox::OrderInbox;
use crate::worker::ClusterWorker;

/// Interval of signs of life from a rank with no other message.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(1);
/// Time of polling for the next message without pauses, enough for an immediate answer. If there is
/// a rank on each CPU, polling takes CPU time from the ranks that work.
const SPIN_TIME: Duration = Duration::from_micros(100);
/// After that, each pause is 1/`PAUSE_SHARE` of the time without messages. Short phases are then
/// not delayed, and long ones are not disturbed.
const PAUSE_SHARE: u32 = 8;
/// Maximum pause.
const PAUSE_MAX: Duration = Duration::from_millis(5);
/// Time limit for the last messages to leave.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(5);

/// Role of this process in its job.
pub enum MpiRole {
    /// The first rank, which leads and also works.
    First(FirstRank),
    /// Another rank, which has finished its work and can exit.
    Done,
}

/// State with which the first rank leads.
pub struct FirstRank {
    /// Links to all ranks, including the first one's own worker.
    pub links: LeaderLinks,
    /// MPI library and its version.
    pub carrier: String,
    /// The job, to be ended last.
    pub job: MpiJob,
}

/// An MPI job from the point of view of one rank.
pub struct MpiJob {
    shutdown: Arc<MpiShutdown>,
    thread: JoinHandle<Result<(), MpiError>>,
}

/// Tells the thread that opened MPI how to end.
#[derive(Default)]
struct MpiShutdown {
    /// No messages follow.
    is_over: AtomicBool,
    /// Some ranks will not finalize MPI.
    skips_finalize: AtomicBool,
}

impl MpiJob {
    /// Ends MPI after all ranks know that nothing follows, and waits until all do the same.
    ///
    /// # Errors
    /// MPI was not ended. The process must then exit with a code other than 0, and the launcher
    /// ends the ranks that wait for it.
    pub fn end(self) -> Result<(), MpiError> {
        // `Release` makes all messages sent before visible to the MPI thread.
        self.shutdown.is_over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        match self.thread.join() {
            Ok(ended) => ended,
            // The panic has printed its message.
            Err(_) => Err(MpiError::Initialized),
        }
    }

    /// Sends the remaining messages and does not end MPI: a rank was lost, and waiting for it has
    /// no limit. The launcher ends the other ranks after this process has exited.
    pub fn leave(self) {
        // Set first, because the thread reads it after it has seen `is_over`.
        self.shutdown.skips_finalize.store(true, Ordering::Release);
        let _ = self.end();
    }
}

/// Facts that the MPI thread reports after opening MPI.
struct MpiWorld {
    rank: usize,
    size: usize,
    library: String,
}

/// Joins the job of a launcher. The first rank returns to lead; the others return after they have
/// carried out its orders. Call it early and once. It calls `stop` after opening MPI, because
/// libraries set their own signal handlers.
///
/// # Errors
/// No library fits the launcher, or MPI failed in a rank other than the first.
pub fn join(launch: Launch, stop: impl FnOnce() -> Arc<AtomicBool>) -> Result<MpiRole, MpiError> {
    let (opened, found) = channel();
    let (to_world, from_here) = channel::<Vec<Channel>>();
    let end = Arc::<MpiShutdown>::default();
    let until = Arc::clone(&end);
    let thread = thread::spawn(move || carry(&launch, &opened, &from_here, &until));
    let carrier_thread = thread.thread().clone();
    let job = MpiJob {
        shutdown: end,
        thread,
    };
    let opened = match found.recv() {
        Ok(opened) => opened?,
        // The library ended the thread after printing its own message.
        Err(_) => return Err(MpiError::Initialized),
    };
    let stop = stop();
    let carrier = format!("mpi: {}", opened.library);
    match opened.rank {
        0 => {
            let hub = first(opened.size, &to_world, &carrier_thread, stop);
            Ok(MpiRole::First(FirstRank {
                links: hub,
                carrier,
                job,
            }))
        }
        _ => {
            work(&to_world, carrier_thread, stop);
            job.end().map(|()| MpiRole::Done)
        }
    }
}

/// Messages to a rank, and the handler of its messages.
struct Channel {
    rank: usize,
    messages: Receiver<Vec<u8>>,
    on_message: Box<dyn FnMut(Vec<u8>) + Send>,
}

/// Creates links to all ranks. The first rank's own link leads to a worker in this process.
fn first(
    size: usize,
    to_world: &Sender<Vec<Channel>>,
    carrier: &Thread,
    stop: Arc<AtomicBool>,
) -> LeaderLinks {
    let (arrivals, from) = channel();
    let mut to = vec![start_own_worker(&arrivals, carrier.clone(), stop)];
    let mut channels = Vec::new();
    for rank in 1..size {
        let (sender, messages) = channel();
        to.push(waking_sender(sender, carrier.clone()));
        let arrivals = arrivals.clone();
        let deliver = move |message| {
            let rank = u32::try_from(rank).unwrap_or(u32::MAX);
            let _ = arrivals.send((rank, LinkEvent::Message(message)));
        };
        channels.push(Channel {
            rank,
            messages,
            on_message: Box::new(deliver),
        });
    }
    let _ = to_world.send(channels);
    LeaderLinks {
        senders: to,
        events: from,
    }
}

/// Creates a sender that also wakes the thread that carries the messages.
fn waking_sender(to: Sender<Vec<u8>>, carrier: Thread) -> MessageSender {
    let to = channel_sender(to);
    Box::new(move |message| {
        to(message);
        // The message must be in the queue first; otherwise the thread could find nothing and sleep
        // again.
        carrier.unpark();
    })
}

/// Starts a worker in this process. Its reports also wake the carrier, because the other ranks are
/// about to send theirs.
fn start_own_worker(
    arrivals: &Sender<(u32, LinkEvent)>,
    carrier: Thread,
    stop: Arc<AtomicBool>,
) -> MessageSender {
    let (reports, signs) = (arrivals.clone(), arrivals.clone());
    let to = Box::new(move |report| {
        let _ = reports.send((0, LinkEvent::Message(report)));
        carrier.unpark();
    });
    let worker = ClusterWorker::new(to, stop);
    let led = LocalWorker(worker.inbox());
    // This worker has no carrier that sends signs of life for it.
    thread::spawn(move || {
        let sign = || (0, LinkEvent::Message(KEEPALIVE.to_vec()));
        while signs.send(sign()).is_ok() {
            thread::sleep(KEEPALIVE_INTERVAL);
        }
    });
    thread::spawn(move || worker.work());
    Box::new(move |order| led.0.take(&order))
}

/// Inbox of the worker in the leader's process.
struct LocalWorker(Arc<OrderInbox>);

impl Drop for LocalWorker {
    fn drop(&mut self) {
        self.0.on_leader_lost();
    }
}

/// Works for the first rank until it sends [`LeaderMessage::Bye`](crate::message::LeaderMessage).
fn work(to_world: &Sender<Vec<Channel>>, carrier: Thread, stop: Arc<AtomicBool>) {
    let (to, messages) = channel();
    let worker = ClusterWorker::new(waking_sender(to, carrier), stop);
    let inbox = worker.inbox();
    let deliver = Box::new(move |message: Vec<u8>| inbox.take(&message));
    let _ = to_world.send(vec![Channel {
        rank: 0,
        messages,
        on_message: deliver,
    }]);
    worker.work();
}

/// Opens MPI and carries messages until the end.
fn carry(
    launch: &Launch,
    opened: &Sender<Result<MpiWorld, MpiError>>,
    channels: &Receiver<Vec<Channel>>,
    end: &MpiShutdown,
) -> Result<(), MpiError> {
    let mut world = match World::open(launch) {
        Ok(world) => world,
        Err(error) => {
            let _ = opened.send(Err(error));
            return Ok(());
        }
    };
    // The default timer slack would make short pauses 50 µs longer. If it cannot be set, they are.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let library = world.library();
    let _ = opened.send(Ok(MpiWorld {
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
        match receive_messages(&mut world, &mut channels)? | is_sent {
            true => last = Instant::now(),
            false if rest(last.elapsed()) => last = Instant::now(),
            false => {}
        }
    }
    // Messages that were queued before `is_over` was set must still leave.
    send_all(&mut world, &channels, &mut signs)?;
    match end.skips_finalize.load(Ordering::Acquire) {
        true => world.flush_within(FLUSH_TIMEOUT),
        false => world.finalize(FLUSH_TIMEOUT),
    }
}

/// Pauses; returns `true` if a message from this process ended the pause, because answers will
/// follow.
fn rest(quiet: Duration) -> bool {
    if quiet < SPIN_TIME {
        thread::yield_now();
        return false;
    }
    let (begun, pause) = (Instant::now(), (quiet / PAUSE_SHARE).min(PAUSE_MAX));
    thread::park_timeout(pause);
    begun.elapsed() < pause
}

/// Sends the queued messages; `true` if there were any.
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
                Err(TryRecvError::Empty) if sign.elapsed() > KEEPALIVE_INTERVAL => {
                    world.send(channel.rank, KEEPALIVE.to_vec())?;
                    *sign = Instant::now();
                    break;
                }
                Err(_) => break,
            }
        }
    }
    Ok(is_sent)
}

/// Delivers the messages that have arrived; `true` if there were any.
fn receive_messages(world: &mut World, channels: &mut [Channel]) -> Result<bool, MpiError> {
    let mut has_received = false;
    while let Some(message) = world.try_receive()? {
        // Signs of life need no answer, so they do not make this thread poll more often.
        has_received |= message.bytes != KEEPALIVE;
        if let Some(channel) = channels.iter_mut().find(|it| it.rank == message.from) {
            (channel.on_message)(message.bytes);
        }
    }
    Ok(has_received)
}
