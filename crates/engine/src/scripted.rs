//! The test double: a script determines every delay and every result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Buffers, Clock, Completion, Engine, EngineError, Request, StepClock, Wait};

/// Scripted outcome of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptedOutcome {
    /// Nanoseconds from `push` to completion.
    pub delay_ns: u64,
    /// The completion's result: bytes, or a negated errno.
    pub result: i32,
}

/// Completes each request according to a script, at the time of a [`StepClock`]. Waiting moves the
/// clock, so a whole run takes no time and always has the same result.
///
/// Completions are ordered by time, and by request if times are equal.
#[derive(Debug)]
pub struct Scripted<S> {
    script: S,
    clock: StepClock,
    buffers: Buffers,
    pending: BinaryHeap<Reverse<DueResult>>,
    pushed_count: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DueResult {
    // The order of the fields is the order of completions.
    due_ns: u64,
    sequence: u64,
    slot: u32,
    result: i32,
}

impl<S: FnMut(&Request, &mut [u8]) -> ScriptedOutcome> Scripted<S> {
    /// An engine that calls `script` once per request, in order. The script gets the slot's buffer
    /// and may fill it like a read.
    ///
    /// # Errors
    /// If there is not enough memory for the buffers.
    pub fn new(
        slot_count: u32,
        buffer_bytes: u32,
        clock: StepClock,
        script: S,
    ) -> Result<Self, EngineError> {
        let buffers = Buffers::new(slot_count, buffer_bytes)?;
        let pending = BinaryHeap::with_capacity(buffers.slot_count() as usize);
        Ok(Self {
            script,
            clock,
            buffers,
            pending,
            pushed_count: 0,
        })
    }

    /// End of a wait: when the next completion is due or the timeout ends, whichever is earlier.
    fn wait_until(&self, wait: Wait) -> Option<u64> {
        let Wait::One { timeout_ns } = wait else {
            return None;
        };
        let due_ns = self.pending.peek().map(|Reverse(due)| due.due_ns);
        let patience_ns = (timeout_ns > 0).then(|| self.clock.now_ns().saturating_add(timeout_ns));
        match (due_ns, patience_ns) {
            (Some(due_ns), Some(patience_ns)) => Some(due_ns.min(patience_ns)),
            (one, other) => one.or(other),
        }
    }
}

impl<S: FnMut(&Request, &mut [u8]) -> ScriptedOutcome> Engine for Scripted<S> {
    fn slot_count(&self) -> u32 {
        self.buffers.slot_count()
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    fn push(&mut self, request: Request) {
        let buffer = self.buffers.slot(request.slot);
        let outcome = (self.script)(&request, buffer);
        self.pending.push(Reverse(DueResult {
            due_ns: self.clock.now_ns().saturating_add(outcome.delay_ns),
            sequence: self.pushed_count,
            slot: request.slot,
            result: outcome.result,
        }));
        self.pushed_count += 1;
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), EngineError> {
        if let Some(until_ns) = self.wait_until(wait) {
            self.clock.advance_to(until_ns);
        }
        let now_ns = self.clock.now_ns();
        while let Some(Reverse(due)) = self.pending.peek().filter(|due| due.0.due_ns <= now_ns) {
            done.push(Completion {
                slot: due.slot,
                result: due.result,
            });
            self.pending.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn read(slot: u32) -> Request {
        let (file_index, length_bytes) = (0, 512);
        Request {
            operation: Operation::Read,
            fileset: 0,
            handle: 0,
            slot,
            file_index,
            length_bytes,
            offset_bytes: 0,
        }
    }

    fn engine_with_delays(
        clock: &StepClock,
        delays_ns: &'static [u64],
    ) -> Scripted<impl FnMut(&Request, &mut [u8]) -> ScriptedOutcome> {
        let mut delays_ns = delays_ns.iter();
        Scripted::new(8, 512, clock.clone(), move |request, _| ScriptedOutcome {
            delay_ns: *delays_ns.next().expect("the script is long enough"),
            result: request.length_bytes as i32,
        })
        .unwrap()
    }

    fn reaped(engine: &mut impl Engine, wait: Wait) -> Vec<u32> {
        let mut done = Vec::with_capacity(8);
        engine.reap(wait, &mut done).unwrap();
        done.into_iter().map(|completion| completion.slot).collect()
    }

    #[test]
    fn completions_come_when_they_are_due_and_waiting_moves_the_clock() {
        let clock = StepClock::new();
        let mut engine = engine_with_delays(&clock, &[300, 100, 100]);
        (0..3).for_each(|slot| engine.push(read(slot)));
        assert!(reaped(&mut engine, Wait::Poll).is_empty());
        assert_eq!(reaped(&mut engine, Wait::One { timeout_ns: 0 }), [1, 2]);
        assert_eq!(clock.now_ns(), 100);
        assert_eq!(reaped(&mut engine, Wait::One { timeout_ns: 0 }), [0]);
        assert_eq!(clock.now_ns(), 300);
    }

    #[test]
    fn a_wait_times_out_before_a_later_completion() {
        let clock = StepClock::new();
        let mut engine = engine_with_delays(&clock, &[300]);
        engine.push(read(0));
        assert!(reaped(&mut engine, Wait::One { timeout_ns: 50 }).is_empty());
        assert_eq!(clock.now_ns(), 50);
        assert_eq!(reaped(&mut engine, Wait::One { timeout_ns: 250 }), [0]);
    }

    #[test]
    fn with_nothing_in_flight_a_wait_is_a_pause() {
        let clock = StepClock::new();
        let mut engine = engine_with_delays(&clock, &[]);
        assert!(reaped(&mut engine, Wait::One { timeout_ns: 70 }).is_empty());
        assert_eq!(clock.now_ns(), 70);
        assert!(reaped(&mut engine, Wait::One { timeout_ns: 0 }).is_empty());
        assert_eq!(clock.now_ns(), 70);
    }

    #[test]
    fn the_script_may_fill_the_buffer_as_a_read_would() {
        let script = |_: &Request, buffer: &mut [u8]| {
            buffer.fill(7);
            ScriptedOutcome {
                delay_ns: 0,
                result: 512,
            }
        };
        let mut engine = Scripted::new(1, 512, StepClock::new(), script).unwrap();
        engine.push(read(0));
        assert_eq!(reaped(&mut engine, Wait::Poll), [0]);
        assert!(engine.buffer(0).iter().all(|byte| *byte == 7));
    }
}
