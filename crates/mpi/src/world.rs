//! All ranks of a job, and messages between them.

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

/// How long a wait sleeps between two looks, unless the caller says: what a look costs is nothing
/// beside it.
const PAUSE: Duration = Duration::from_millis(1);
/// Whoever receives must get away from a peer that never stops to send.
const MESSAGES_PER_STEP_MAX: usize = 64;

/// A message that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The sender's rank.
    pub from: usize,
    /// What it sent.
    pub bytes: Vec<u8>,
}

/// All ranks of a job, as one of them sees it.
///
/// Messages between two ranks keep their order. They get on only while both ranks call any of
/// [`World::try_receive`], [`World::receive_within`], [`World::unsent_count`] and
/// [`World::flush_within`], all of which both send and receive: ranks that send large messages to
/// each other at once do not wait for each other. None of them waits in MPI, so a peer that is
/// stopped stops nobody else. A message that was begun to be received and is not asked for is kept.
///
/// The thread that opened it is the only one that MPI allows to use it, so it can neither be sent
/// to nor shared with another. A world that is dropped without [`World::finalize`] is left as it
/// is, as waiting for others then is what would keep a failed job from ending: the process must
/// end with a code other than 0, by which launchers end the other ranks.
pub struct World {
    bindings: Bindings,
    library: MpiLibrary,
    rank: usize,
    size: usize,
    outgoing: Vec<NonblockingTransfer>,
    /// In the order in which they were sent, as far as one sender is concerned.
    incoming: VecDeque<(Envelope, NonblockingTransfer)>,
    assembly: Assembly,
    /// Not `Send`, not `Sync`: `MPI_THREAD_FUNNELED`.
    _thread: PhantomData<*const ()>,
}

impl World {
    /// Opens the library of the launch and initializes MPI.
    ///
    /// To be called once in a process and early: libraries change the environment, which nobody
    /// may read meanwhile, so before other threads begin; and they set signal handlers of their
    /// own (Open MPI for SIGABRT and SIGFPE, MPICH for SIGHUP, SIGUSR1 and more), so before the
    /// caller sets its own, which must then use no SIGUSR1. Below Open MPI, SIGTERM is the only
    /// signal that ranks get before SIGKILL, which comes in 200 ms.
    ///
    /// # Errors
    /// There is no library, it cannot be used, or it is not the launcher's own: then each process
    /// is a world of one, which its size shows. A library may also end the process with a message
    /// of its own.
    pub fn open(launch: &Launch) -> Result<World, MpiError> {
        let (object, library) = library::open(launch)?;
        let bindings = Bindings::find(&object, &library.path, library.abi)?;
        bindings.initialize()?;
        let (rank, size) = bindings.rank_and_size()?;
        if let Err(error) = check_size(launch, &library, size) {
            if size == 1 {
                // Nobody is waited for; a failure would only hide the error that matters.
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

    /// How many ranks there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The library that is used.
    #[must_use]
    pub fn library(&self) -> &MpiLibrary {
        &self.library
    }

    /// The name of the machine, as the library has it; printable.
    ///
    /// # Errors
    /// The library does not say.
    pub fn processor_name(&self) -> Result<String, MpiError> {
        self.bindings.processor_name()
    }

    /// Begins to send a message, of any length, to a rank, which may be this one.
    ///
    /// # Errors
    /// There is no such rank, or the library refuses.
    pub fn send(&mut self, to: usize, message: Vec<u8>) -> Result<(), MpiError> {
        let to = check_rank(to, self.size)?;
        let transfer = NonblockingTransfer::send(&self.bindings, to, message)?;
        self.outgoing.push(transfer);
        Ok(())
    }

    /// The next message that is complete; none if there is none now.
    ///
    /// # Errors
    /// The library failed.
    pub fn try_receive(&mut self) -> Result<Option<Message>, MpiError> {
        self.step()?;
        while let Some((envelope, bytes)) = self.take_complete() {
            // `begin_receiving` takes none from a negative rank.
            let from = usize::try_from(envelope.from).unwrap_or_default();
            if let Some(bytes) = self.assembly.add(from, envelope.tag, bytes) {
                return Ok(Some(Message { from, bytes }));
            }
        }
        Ok(None)
    }

    /// Waits for a message, at most for `limit`, with a sleep of `pause` between two looks; without
    /// sleep where that is zero, as for a ping, which keeps a core busy.
    ///
    /// # Errors
    /// The library failed.
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

    /// How many messages have not left. That one has left does not mean that it has arrived.
    ///
    /// # Errors
    /// The library failed.
    pub fn unsent_count(&mut self) -> Result<usize, MpiError> {
        self.step()?;
        Ok(self.outgoing.len())
    }

    /// Waits until all messages have left, at most for `limit`. What comes meanwhile is kept.
    ///
    /// # Errors
    /// [`MpiError::Unsent`] if that was not enough, after which it can be called again; or the
    /// library failed.
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

    /// Ends MPI in this process, once all messages have left, which takes at most `limit`. Then it
    /// waits, within MPI and without limit, until all ranks do the same: what they have to tell
    /// each other must be told before.
    ///
    /// # Errors
    /// [`MpiError::Unsent`], and MPI is not ended; or the library failed.
    pub fn finalize(mut self, limit: Duration) -> Result<(), MpiError> {
        self.flush_within(limit)?;
        let start = Instant::now();
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

    /// Ends all ranks; the launcher ends with `exit_code`. A library may return from this before
    /// the process is ended: the caller then ends it with the same code.
    pub fn abort(&self, exit_code: u8) {
        self.bindings.abort(c_int::from(exit_code));
    }

    /// Lets all that is under way get on, and begins to receive what can be received.
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

    /// Takes the first piece that is complete and before which nothing of its sender is incomplete.
    fn take_complete(&mut self) -> Option<(Envelope, Vec<u8>)> {
        let pieces = self.incoming.iter();
        let index = first_in_order(pieces.map(|(it, transfer)| (it.from, transfer.is_done())))?;
        let (envelope, mut transfer) = self.incoming.remove(index)?;
        Some((envelope, transfer.take()))
    }
}

/// The index of the first that is done and has none before it that is of the same sender; given
/// who sent each and whether it is done.
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
        // Where ranks are more than cores, the peer may need this one.
        std::thread::yield_now();
    } else {
        std::thread::sleep(pause);
    }
}

fn check_size(launch: &Launch, library: &MpiLibrary, size: usize) -> Result<(), MpiError> {
    match launch.ranks_count() {
        Some(launched_count) if launched_count != size => Err(MpiError::Size {
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

/// Ranks send by this program alone, so what it does not send is a mistake in the constants.
fn check_envelope(envelope: Envelope, size: usize) -> Result<(), MpiError> {
    let Envelope { from, tag, length } = envelope;
    let is_rank = usize::try_from(from).is_ok_and(|from| from < size);
    if is_rank && [TAG_MORE, TAG_LAST].contains(&tag) && length >= 0 {
        return Ok(());
    }
    Err(MpiError::Foreign { from, tag, length })
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
    fn a_world_is_as_large_as_the_launcher_says() {
        assert!(check_size(&launch("4"), &library(), 4).is_ok());
        let error = check_size(&launch("4"), &library(), 1).unwrap_err();
        assert!(error.to_string().contains("world of 1"), "{error}");
        assert!(check_size(&launch("unknown"), &library(), 1).is_ok());
    }

    #[test]
    fn only_ranks_of_the_world_are_sent_to() {
        assert_eq!(check_rank(3, 4).unwrap(), 3);
        for rank in [4, usize::MAX] {
            assert!(check_rank(rank, 4).is_err());
        }
    }

    #[test]
    fn what_this_program_does_not_send_is_not_received() {
        let check = |from, tag, length| check_envelope(Envelope { from, tag, length }, 4);
        assert!(check(3, TAG_LAST, 0).is_ok());
        assert!(check(0, TAG_MORE, 1 << 30).is_ok());
        for (from, tag, length) in [(4, TAG_LAST, 0), (-2, TAG_LAST, 0), (0, 9, 0), (0, 1, -1)] {
            assert!(check(from, tag, length).is_err());
        }
    }

    #[test]
    fn pieces_of_one_sender_keep_their_order_and_hold_up_nobody_else() {
        let first = |pieces: &[(c_int, bool)]| first_in_order(pieces.iter().copied());
        assert_eq!(first(&[]), None);
        assert_eq!(first(&[(1, false), (1, true)]), None);
        assert_eq!(first(&[(1, false), (1, true), (2, true)]), Some(2));
        assert_eq!(first(&[(1, true), (1, true)]), Some(0));
    }
}
