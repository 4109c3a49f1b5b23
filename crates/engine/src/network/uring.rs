//! One ring per worker, one connection per slot.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;

use io_uring::{opcode, squeue, types};
use network::{HEADER_BYTES, Peer, SILENCE_TIMEOUT};

use super::{MessageBuffers, Sockets, begins};
use crate::uring::{Queue, RingGrants, UringOptions, build_ring};
use crate::{Completion, Engine, EngineError, Operation, Request, Wait};

/// A receive is preceded by the send of its header.
const ENTRIES_PER_SLOT: u32 = 2;
/// Set in the user data of a header that is sent separately.
// Above the slot's number, which has 32 bits.
const HEADER: u64 = 1 << 32;
/// Interval of the check for silence while nothing completes.
const POLL_INTERVAL_NS: u64 = 1_000_000_000;
/// Maximum number of reaps when the engine is dropped; requests on a connection that was shut down
/// end immediately.
const REAPS_MAX: u32 = 100_000;

/// `SEND` and `RECV` on a ring of the thread that creates the engine.
///
/// Opening and closing block, because the ring only handles transfers. If nothing completes for
/// [`network::SILENCE_TIMEOUT`], all requests in flight fail with `ETIMEDOUT`.
pub struct UringNetwork {
    queue: Queue,
    sockets: Sockets,
    /// Dropped only when nothing is in flight: the kernel would otherwise write to freed memory.
    messages: ManuallyDrop<MessageBuffers>,
    flights: Vec<SlotFlight>,
    /// Slots with a partly completed transfer, and slots with a failed connection.
    unfinished: Vec<u32>,
    broken: Vec<u32>,
    silent_since: Option<Instant>,
    setup: RingGrants,
    thread_bound: PhantomData<*const ()>,
}

/// State of a slot's request.
#[derive(Debug, Clone, Copy)]
struct SlotFlight {
    request: Request,
    is_in_flight: bool,
    /// Number of bytes transferred. For a write this includes the header.
    moved_bytes: u32,
    /// Negated errno of a failed header send; 0 if there was no error.
    errno: i32,
}

impl UringNetwork {
    /// An engine for this thread, with one slot per peer and a buffer of `buffer_bytes` per slot.
    /// With `connects` it connects all slots immediately; otherwise each slot connects by
    /// [`Operation::Open`].
    ///
    /// # Errors
    /// If the system has no io_uring or forbids it, there is not enough memory for the buffers, or
    /// a connection fails.
    pub fn new(
        peers: Vec<Arc<Peer>>,
        buffer_bytes: u32,
        options: UringOptions,
        connects: bool,
    ) -> Result<Self, EngineError> {
        let slot_count = peers.len() as u32;
        let (ring, mut setup) = build_ring(slot_count, ENTRIES_PER_SLOT, options)?;
        let messages = MessageBuffers::new(slot_count, buffer_bytes)?;
        let sockets = Sockets::new(peers, connects)?;
        // -1 leaves the place empty for a connection that is opened later.
        let descriptor = |slot| sockets.get(slot).map_or(-1, AsRawFd::as_raw_fd);
        let descriptors: Vec<i32> = (0..slot_count).map(descriptor).collect();
        let registered = ring.submitter().register_files(&descriptors);
        registered.map_err(|source| EngineError::system("io_uring_register", source))?;
        let idle = SlotFlight {
            request: Request::EMPTY,
            is_in_flight: false,
            moved_bytes: 0,
            errno: 0,
        };
        Ok(Self {
            // Each queue has room for what every slot may have in flight.
            queue: Queue::new(ring, slot_count, &mut setup),
            sockets,
            messages: ManuallyDrop::new(messages),
            flights: vec![idle; slot_count as usize],
            unfinished: Vec::with_capacity(slot_count as usize),
            broken: Vec::with_capacity(slot_count as usize),
            silent_since: None,
            setup,
            thread_bound: PhantomData,
        })
    }

    /// Ring features that the kernel granted, for the record.
    #[must_use]
    pub fn setup(&self) -> &RingGrants {
        &self.setup
    }

    /// Executes requests that do not go through the ring, immediately.
    #[cold]
    fn answer(&mut self, request: &Request) {
        let slot = request.slot;
        let result = match request.operation {
            Operation::Open => self.open(slot),
            Operation::Close => self.close(slot),
            Operation::Read | Operation::Write => -libc::ENOTCONN,
            _ => -libc::EOPNOTSUPP,
        };
        self.queue.answer(Completion { slot, result });
    }

    fn open(&mut self, slot: u32) -> i32 {
        let result = self.sockets.open(slot);
        let Some(stream) = self.sockets.get(slot).filter(|_| result == 0) else {
            return result;
        };
        let registered = self.register(slot, stream.as_raw_fd());
        if registered < 0 {
            self.sockets.close(slot);
        }
        registered
    }

    /// Unregisters the connection before closing it, or the ring would keep it open.
    fn close(&mut self, slot: u32) -> i32 {
        if self.sockets.get(slot).is_some() {
            let forgotten = self.register(slot, -1);
            if forgotten < 0 {
                return forgotten;
            }
        }
        self.sockets.close(slot)
    }

    /// Sets the slot's entry in the ring's file table to a descriptor, or to none (-1).
    fn register(&self, slot: u32, descriptor: i32) -> i32 {
        let submitter = self.queue.submitter();
        match submitter.register_files_update(slot, &[descriptor]) {
            Ok(_) => 0,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }

    /// Queue entry for the rest of the slot's request.
    #[inline]
    fn rest(&self, slot: u32) -> squeue::Entry {
        let SlotFlight {
            request,
            moved_bytes,
            ..
        } = self.flights[slot as usize];
        let moved = moved_bytes as usize;
        let length = request.length_bytes as usize;
        let (file, bytes) = (types::Fixed(slot), self.messages.pointer(slot));
        let entry = if request.operation == Operation::Read {
            let left = (length - moved) as u32;
            opcode::Recv::new(file, bytes.wrapping_add(moved), left)
                .flags(libc::MSG_WAITALL)
                .build()
        } else {
            let header = if begins(&request) { HEADER_BYTES } else { 0 };
            let left = (header + length - moved) as u32;
            opcode::Send::new(file, bytes.wrapping_sub(header).wrapping_add(moved), left)
                .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
                .build()
        };
        entry.user_data(u64::from(slot))
    }

    /// Queue entry that sends a header separately; the linked receive starts after it.
    #[inline]
    fn header(&self, slot: u32) -> squeue::Entry {
        let header = self.messages.pointer(slot).wrapping_sub(HEADER_BYTES);
        opcode::Send::new(types::Fixed(slot), header, HEADER_BYTES as u32)
            // With `MSG_WAITALL`, the kernel treats a short send as failed and cancels the linked
            // receive.
            .flags(libc::MSG_WAITALL | libc::MSG_NOSIGNAL)
            .build()
            .flags(squeue::Flags::IO_LINK)
            .user_data(u64::from(slot) | HEADER)
    }

    #[inline]
    fn push_rest(&mut self, slot: u32) {
        let entry = self.rest(slot);
        // SAFETY: the entry refers to the slot's buffer, which nothing else accesses before the
        // completion is returned, and which outlives the ring; a slot has at most two entries.
        unsafe { self.queue.push(&entry) };
    }

    /// Continues partly completed transfers and closes failed connections.
    #[cold]
    fn settle(&mut self) {
        while let Some(slot) = self.unfinished.pop() {
            self.push_rest(slot);
        }
        while let Some(slot) = self.broken.pop() {
            // If it cannot be unregistered, the connection stays open and broken.
            let _ = self.close(slot);
        }
    }

    /// Aborts requests in flight if nothing has completed for too long.
    #[cold]
    fn abort_silent_requests(&mut self) {
        let since = self.silent_since.get_or_insert_with(Instant::now);
        if since.elapsed() < SILENCE_TIMEOUT {
            return;
        }
        for (slot, flight) in (0..).zip(&mut self.flights) {
            if flight.is_in_flight
                && let Some(stream) = self.sockets.get(slot)
            {
                flight.errno = -libc::ETIMEDOUT;
                // If it fails, the connection is gone, which ends the wait as well.
                let _ = stream.shutdown(Shutdown::Both);
            }
        }
    }
}

/// Interprets a completion of the ring: returns the result of the slot's request, or `None` if part
/// of the request is left.
#[inline]
fn judge(flight: &mut SlotFlight, user_data: u64, result: i32) -> Option<i32> {
    if user_data & HEADER != 0 {
        if result != HEADER_BYTES as i32 {
            // A short send of the header is a failure, too, although its result is positive.
            flight.errno = match result {
                ..0 => result.max(-4095),
                _ => -libc::EIO,
            };
        }
        return None;
    }
    if result <= 0 {
        return Some(match (flight.errno, result) {
            // The peer has closed the connection.
            (0, 0) => -libc::ECONNRESET,
            // Nothing was transferred, and the request may be retried.
            (0, result) => result,
            // The kernel canceled the receive; the cause is the failed header before it.
            (errno, _) => errno,
        });
    }
    flight.moved_bytes += result as u32;
    let request = &flight.request;
    let with_header = request.operation != Operation::Read && begins(request);
    let header = if with_header { HEADER_BYTES as u32 } else { 0 };
    (flight.moved_bytes == header + request.length_bytes).then_some(request.length_bytes as i32)
}

impl Drop for UringNetwork {
    /// Aborts and reaps requests in flight. If that fails, the buffers are leaked.
    fn drop(&mut self) {
        // A transfer that waits for its peer ends only when its connection is shut down.
        let streams = self.sockets.streams.iter().flatten();
        streams.for_each(|stream| {
            let _ = stream.shutdown(Shutdown::Both);
        });
        let wait = Wait::One {
            timeout_ns: POLL_INTERVAL_NS,
        };
        let mut dropped = Vec::new();
        for _ in 0..REAPS_MAX {
            let in_flight_count = self.queue.in_flight_count();
            if in_flight_count == 0 || self.queue.reap_by(wait, &mut dropped, |_, _| None).is_err()
            {
                break;
            }
        }
        if self.queue.in_flight_count() == 0 {
            // SAFETY: dropped only here, and not used afterwards.
            unsafe { ManuallyDrop::drop(&mut self.messages) };
        }
    }
}

impl fmt::Debug for UringNetwork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("UringNetwork")
            .field("setup", &self.setup)
            .field("slot_count", &self.messages.slot_count())
            .finish_non_exhaustive()
    }
}

impl Engine for UringNetwork {
    fn slot_count(&self) -> u32 {
        self.messages.slot_count()
    }

    #[inline]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        assert!(
            !self.flights[slot as usize].is_in_flight,
            "a slot's buffer is the kernel's while in flight"
        );
        self.messages.payload(slot)
    }

    #[inline]
    fn push(&mut self, request: Request) {
        let slot = request.slot;
        let flight = &mut self.flights[slot as usize];
        assert!(
            !flight.is_in_flight,
            "a slot has one request in flight at most"
        );
        assert!(
            request.length_bytes as usize <= self.messages.length_max(),
            "a request fits in its slot's buffer"
        );
        *flight = SlotFlight {
            request,
            is_in_flight: true,
            moved_bytes: 0,
            errno: 0,
        };
        let moves = matches!(request.operation, Operation::Read | Operation::Write);
        if !moves || self.sockets.get(slot).is_none() {
            return self.answer(&request);
        }
        if begins(&request) {
            self.messages.write_header(&request);
            if request.operation == Operation::Read {
                let entry = self.header(slot);
                // SAFETY: as in `push_rest`, for the header before the slot's bytes.
                unsafe { self.queue.push(&entry) };
            }
        }
        self.push_rest(slot);
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        let wait = match wait {
            // Without a limit, nothing would check for silence.
            Wait::One { timeout_ns: 0 } => Wait::One {
                timeout_ns: POLL_INTERVAL_NS,
            },
            Wait::One { timeout_ns } => Wait::One {
                timeout_ns: timeout_ns.min(POLL_INTERVAL_NS),
            },
            Wait::Poll => Wait::Poll,
        };
        let done_before = done.len();
        let (flights, unfinished, broken) =
            (&mut self.flights, &mut self.unfinished, &mut self.broken);
        self.queue.reap_by(wait, done, |user_data, result| {
            let slot = user_data as u32;
            let flight = &mut flights[slot as usize];
            match judge(flight, user_data, result) {
                Some(result) => {
                    if result < 0 {
                        broken.push(slot);
                    }
                    Some(Completion { slot, result })
                }
                None => {
                    // Only the receive is left after a header, and it is in the ring already.
                    if user_data & HEADER == 0 {
                        unfinished.push(slot);
                    }
                    None
                }
            }
        })?;
        for completion in &done[done_before..] {
            self.flights[completion.slot as usize].is_in_flight = false;
        }
        if !self.unfinished.is_empty() || !self.broken.is_empty() {
            self.settle();
            // A partial transfer shows that the peer is alive.
            self.silent_since = None;
        }
        if done.len() > done_before {
            self.silent_since = None;
        } else if matches!(wait, Wait::One { .. }) && self.queue.in_flight_count() > 0 {
            self.abort_silent_requests();
        }
        Ok(())
    }
}
