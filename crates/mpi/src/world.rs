//! All ranks of a job, and the messages between them.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use crate::bindings::{Bindings, Envelope};
use crate::error::MpiError;
use crate::launch::Launch;
use crate::library::{self, MpiLibrary};
use crate::pieces::{Assembly, TAG_LAST, TAG_MORE};
use crate::transfer::NonblockingTransfer;

/// Sleep between two polls where the caller sets none. The cost of a poll is negligible compared
/// with it.
const PAUSE: Duration = Duration::from_millis(1);
/// Lets a receiver continue even if a peer never stops sending.
const MESSAGES_PER_STEP_MAX: usize = 64;

/// A message that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The sender's rank.
    pub from: usize,
    /// Content of the message.
    pub bytes: Vec<u8>,
}

/// All ranks of a job, from the point of view of one of them.
///
/// Messages between two ranks keep their order. They advance only while both ranks call any of
/// [`World::try_receive`], [`World::receive_within`], [`World::unsent_count`] and
/// [`World::flush_within`]. Each of these both sends and receives, so ranks that send each other
/// large messages at the same time do not deadlock. None of them waits inside MPI, so a stopped
/// peer stops no other rank. A message that arrives is kept until the caller requests it.
///
/// MPI allows only the thread that opened the world to use it, so it is neither `Send` nor `Sync`.
/// Dropping a world without [`World::finalize`] does not end MPI: waiting for other ranks would
/// keep a failed job from ending. The process must then exit with a code other than 0, which makes
/// launchers end the other ranks.
pub struct World {
    bindings: Bindings,
    library: MpiLibrary,
    rank: usize,
    size: usize,
    outgoing: Vec<NonblockingTransfer>,
    /// Messages of one sender are in the order in which they were sent.
    incoming: VecDeque<(Envelope, NonblockingTransfer)>,
    assembly: Assembly,
    /// Neither `Send` nor `Sync`, because of `MPI_THREAD_FUNNELED`.
    _thread: PhantomData<*const ()>,
}

impl World {
    /// Opens the library of the launch and initializes MPI.
    ///
    /// Call it once per process, and early. Libraries change the environment, which no other thread
    /// may read meanwhile, so call it before any thread starts. They also set signal handlers (Open
    /// MPI for SIGABRT and SIGFPE, MPICH for SIGHUP, SIGUSR1 and more), so call it before setting
    /// your own, and do not use SIGUSR1. Under Open MPI, SIGTERM is the only signal that ranks
    /// receive before SIGKILL, which follows after 200 ms.
    ///
    /// # Errors
    /// No library is found, it cannot be used, or it does not belong to the launcher; then each
    /// process is alone in a world of size 1. A library may also end the process with its own
    /// message.
    pub fn open(launch: &Launch) -> Result<World, MpiError> {
        let (object, library) = library::open(launch)?;
        let bindings = Bindings::find(&object, &library.path, library.abi)?;
        bindings.initialize()?;
        let (rank, size) = bindings.rank_and_size()?;
        if let Err(error) = check_size(launch, &library, size) {
            if size == 1 {
                // In a world of one, this waits for no other rank. Its failure would hide the error
                // that matters.
                let _ = bindings.finalize();
            }
            return Err(error);
        }
        Ok(World {
            bindings,
            library,
            rank,
            size,
            outgoing: Vec::new(),
            incoming: VecDeque::new(),
            assembly: Assembly::default(),
            _thread: PhantomData,
        })
    }

    /// This process's rank, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Library in use.
    #[must_use]
    pub fn library(&self) -> &MpiLibrary {
        &self.library
    }

    /// Host name as reported by the library, with printable characters only.
    ///
    /// # Errors
    /// The library returned an error.
    pub fn processor_name(&self) -> Result<String, MpiError> {
        self.bindings.processor_name()
    }

    /// Starts to send a message of any length to a rank, which may be this one.
    ///
    /// # Errors
    /// The rank does not exist, or the library returned an error.
    pub fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), MpiError> {
        let to = check_rank(to, self.size)?;
        let transfer = NonblockingTransfer::send(&self.bindings, to, message)?;
        self.outgoing.push(transfer);
        Ok(())
    }

    /// Takes the next complete message; `None` if there is none now.
    ///
    /// # Errors
    /// The library returned an error.
    pub fn try_receive(&mut self) -> Result<Option<Message>, MpiError> {
        self.step()?;
        while let Some((envelope, bytes)) = self.take_complete() {
            // `begin_receiving` rejects negative ranks.
            let from = usize::try_from(envelope.from).unwrap_or_default();
            if let Some(bytes) = self.assembly.add(from, envelope.tag, bytes) {
                return Ok(Some(Message { from, bytes }));
            }
        }
        Ok(None)
    }

    /// Waits at most `limit` for a message, and sleeps for `pause` between two polls. With a
    /// `pause` of 0, as for a ping, it keeps a core busy.
    ///
    /// # Errors
    /// The library returned an error.
    pub fn receive_within(
        &mut self,
        limit: Duration,
        pause: Duration,
    ) -> Result<Option<Message>, MpiError> {
        let start = Instant::now();
        loop {
            if let Some(message) = self.try_receive()? {
                return Ok(Some(message));
            }
            if start.elapsed() >= limit {
                return Ok(None);
            }
            rest(pause);
        }
    }

    /// Number of messages that have not left. A message that has left may not have arrived yet.
    ///
    /// # Errors
    /// The library returned an error.
    pub fn unsent_count(&mut self) -> Result<usize, MpiError> {
        self.step()?;
        Ok(self.outgoing.len())
    }

    /// Waits at most `limit` until all messages have left. Messages that arrive meanwhile are kept.
    ///
    /// # Errors
    /// [`MpiError::Unsent`] if messages are left, after which the caller may try again; or an error
    /// of the library.
    pub fn flush_within(&mut self, limit: Duration) -> Result<(), MpiError> {
        let start = Instant::now();
        loop {
            let count = self.unsent_count()?;
            if count == 0 {
                return Ok(());
            }
            let waited = start.elapsed();
            if waited >= limit {
                let waited_ms = waited.as_millis();
                return Err(MpiError::Unsent { count, waited_ms });
            }
            rest(PAUSE);
        }
    }

    /// Ends MPI in this process after all messages have left, which may take at most `limit`. Then
    /// it waits inside MPI, without limit, until all ranks do the same. Ranks must have exchanged
    /// all their messages before.
    ///
    /// # Errors
    /// [`MpiError::Unsent`], and MPI is not ended; or an error of the library.
    pub fn finalize(mut self, limit: Duration) -> Result<(), MpiError> {
        self.flush_within(limit)?;
        let start = Instant::now();
        // MPI requires that all requests are complete before it ends.
        while !self.incoming.iter().all(|(_, transfer)| transfer.is_done()) {
            let waited = start.elapsed();
            if waited >= limit {
                return Err(MpiError::Unsent {
                    count: self.incoming.len(),
                    waited_ms: waited.as_millis(),
                });
            }
            rest(PAUSE);
            self.step()?;
        }
        self.bindings.finalize()
    }

    /// Ends all ranks; the launcher exits with `exit_code`. A library may return before the process
    /// has ended. The caller must then exit with the same code.
    pub fn abort(&self, exit_code: u8) {
        self.bindings.abort(c_int::from(exit_code));
    }

    /// Advances all transfers, and starts to receive the messages that have arrived.
    fn step(&mut self) -> Result<(), MpiError> {
        for _ in 0..MESSAGES_PER_STEP_MAX {
            let Some(envelope) = self.bindings.probe()? else {
                break;
            };
            self.begin_receiving(envelope)?;
        }
        for (_, transfer) in &mut self.incoming {
            transfer.poll(&self.bindings)?;
        }
        let mut index = 0;
        while index < self.outgoing.len() {
            if self.outgoing[index].poll(&self.bindings)? {
                self.outgoing.remove(index);
            } else {
                index += 1;
            }
        }
        Ok(())
    }

    fn begin_receiving(&mut self, envelope: Envelope) -> Result<(), MpiError> {
        check_envelope(envelope, self.size)?;
        let transfer = NonblockingTransfer::receive(&self.bindings, envelope)?;
        self.incoming.push_back((envelope, transfer));
        Ok(())
    }

    /// Takes the first complete piece that has no incomplete piece of the same sender before it.
    fn take_complete(&mut self) -> Option<(Envelope, Vec<u8>)> {
        let pieces = self.incoming.iter();
        let index = first_in_order(pieces.map(|(it, transfer)| (it.from, transfer.is_done())))?;
        let (envelope, mut transfer) = self.incoming.remove(index)?;
        Some((envelope, transfer.take()))
    }
}

/// Index of the first piece that is done and follows no unfinished piece of the same sender. Items
/// are the sender and whether the piece is done.
fn first_in_order(pieces: impl Iterator<Item = (c_int, bool)>) -> Option<usize> {
    let mut waiting = Vec::new();
    for (index, (from, is_done)) in pieces.enumerate() {
        if waiting.contains(&from) {
            continue;
        }
        if is_done {
            return Some(index);
        }
        waiting.push(from);
    }
    None
}

fn rest(pause: Duration) {
    if pause.is_zero() {
        // If there are more ranks than cores, the peer may need this core.
        std::thread::yield_now();
    } else {
        std::thread::sleep(pause);
    }
}

fn check_size(launch: &Launch, library: &MpiLibrary, size: usize) -> Result<(), MpiError> {
    match launch.rank_count() {
        // With the library of another launcher, each process is alone in its own world.
        Some(launched_count) if launched_count != size => Err(MpiError::WorldSize {
            launcher: launch.launcher(),
            launched_count,
            path: library.path.clone(),
            version: library.version.clone(),
            size,
        }),
        _ => Ok(()),
    }
}

fn check_rank(rank: usize, size: usize) -> Result<c_int, MpiError> {
    match c_int::try_from(rank) {
        Ok(number) if rank < size => Ok(number),
        _ => Err(MpiError::NoRank { rank, size }),
    }
}

/// Only this program sends between ranks, so any other envelope means that the constants are wrong.
fn check_envelope(envelope: Envelope, size: usize) -> Result<(), MpiError> {
    let Envelope { from, tag, length } = envelope;
    let is_rank = usize::try_from(from).is_ok_and(|from| from < size);
    if is_rank && [TAG_MORE, TAG_LAST].contains(&tag) && length >= 0 {
        return Ok(());
    }
    Err(MpiError::UnexpectedMessage { from, tag, length })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Abi;

    fn launch(count: &str) -> Launch {
        Launch::from_variables(|name| (name == "PMI_SIZE").then(|| count.into())).unwrap()
    }

    fn library() -> MpiLibrary {
        MpiLibrary {
            path: "libmpi.so.12".into(),
            version: "MPICH Version: 4.0.2".to_owned(),
            abi: Abi::Mpich,
        }
    }

    #[test]
    fn the_world_must_have_the_size_that_the_launcher_gives() {
        assert!(check_size(&launch("4"), &library(), 4).is_ok());
        let error = check_size(&launch("4"), &library(), 1).unwrap_err();
        assert!(error.to_string().contains("world of 1"), "{error}");
        assert!(check_size(&launch("unknown"), &library(), 1).is_ok());
    }

    #[test]
    fn only_ranks_of_the_world_can_be_sent_to() {
        assert_eq!(check_rank(3, 4).unwrap(), 3);
        for rank in [4, usize::MAX] {
            assert!(check_rank(rank, 4).is_err());
        }
    }

    #[test]
    fn foreign_messages_are_not_received() {
        let check = |from, tag, length| check_envelope(Envelope { from, tag, length }, 4);
        assert!(check(3, TAG_LAST, 0).is_ok());
        assert!(check(0, TAG_MORE, 1 << 30).is_ok());
        for (from, tag, length) in [(4, TAG_LAST, 0), (-2, TAG_LAST, 0), (0, 9, 0), (0, 1, -1)] {
            assert!(check(from, tag, length).is_err());
        }
    }

    #[test]
    fn pieces_of_a_sender_keep_their_order_and_do_not_block_others() {
        let first = |pieces: &[(c_int, bool)]| first_in_order(pieces.iter().copied());
        assert_eq!(first(&[]), None);
        assert_eq!(first(&[(1, false), (1, true)]), None);
        assert_eq!(first(&[(1, false), (1, true), (2, true)]), Some(2));
        assert_eq!(first(&[(1, true), (1, true)]), Some(0));
    }
}
