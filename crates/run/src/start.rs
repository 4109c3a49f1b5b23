//! How a lane's thread takes part in the start.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use engine::TscClock;
use engine::clock::Clock;
use results::EngineNotes;

use crate::batch::Batch;
use crate::gate::{Gate, JobEnd, Signal};
use crate::recorder::{Counting, Recorder, Schedule};
use crate::sample::{Outbox, Sample};
use crate::thread::thread_id;

/// How often who waits looks whether it is to end, in nanoseconds.
const LOOK_NS: u64 = 50_000_000;
/// How long before an agreed start nobody sleeps any more, in nanoseconds.
const SPIN_NS: u64 = 2_000_000;

/// What a lane's thread says when it can begin.
pub(crate) struct Ready {
    pub notes: EngineNotes,
    pub thread_id: i32,
}

/// How a thread takes part in the start.
pub(crate) struct Start<'a> {
    pub sample: Box<Sample>,
    pub outbox: Outbox,
    /// Without the start, which the gate tells.
    pub schedule: Schedule,
    pub clock: TscClock,
    pub batch: Batch,
    pub gate: &'a Gate,
    pub stop: Arc<AtomicBool>,
    /// Told once, when the thread can begin; dropped without a word when it cannot.
    pub ready: Sender<Ready>,
}

impl Start<'_> {
    /// Waits for the others. `None` when the gate said to abandon.
    pub fn begin(self, notes: EngineNotes, counting: Counting) -> Option<Recorder> {
        self.begin_after(0, &[], notes, counting)
    }

    /// Waits for the others to be ready, then so long by itself, and until those jobs have ended.
    /// `None` when the gate said to abandon.
    pub fn begin_after(
        mut self,
        delay_ns: u64,
        before: &[Arc<JobEnd>],
        notes: EngineNotes,
        counting: Counting,
    ) -> Option<Recorder> {
        let thread_id = thread_id();
        // Nobody listens any more once another thread has failed; the gate tells.
        let _ = self.ready.send(Ready { notes, thread_id });
        drop(self.ready);
        let Signal::Start { start_ns } = self.gate.wait() else {
            return None;
        };
        wait_until(start_ns, &self.clock, &self.stop);
        self.gate.note_begin(self.clock.now_ns());
        let mut start_ns = start_ns.saturating_add(delay_ns);
        while !self.stop.load(Ordering::Relaxed) {
            let left_ns = start_ns.saturating_sub(self.clock.now_ns());
            if left_ns == 0 || delay_ns == 0 {
                break;
            }
            std::thread::sleep(Duration::from_nanos(left_ns.min(LOOK_NS)));
        }
        for end in before {
            end.wait(&self.stop);
            start_ns = start_ns.max(self.clock.now_ns());
        }
        self.schedule.start_ns = start_ns;
        let recorder = Recorder::new(self.sample, self.outbox, self.schedule, self.stop, counting);
        Some(recorder)
    }
}

/// Sleeps until shortly before a time that was agreed on with other processes, then looks at the
/// clock again and again: who sleeps is woken late. Alone, the time has come already.
fn wait_until(start_ns: u64, clock: &TscClock, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left_ns = start_ns.saturating_sub(clock.now_ns());
        match left_ns.saturating_sub(SPIN_NS) {
            _ if left_ns == 0 => break,
            0 => std::hint::spin_loop(),
            sleep_ns => std::thread::sleep(Duration::from_nanos(sleep_ns.min(LOOK_NS))),
        }
    }
}

/// How the ring of an engine was set up.
pub(crate) fn ring_notes(setup: &engine::RingSetup) -> EngineNotes {
    let names = |flags: &[&str]| flags.iter().map(|flag| (*flag).to_owned()).collect();
    EngineNotes {
        ring: Some(results::RingSetup {
            flags: names(&setup.granted),
            missing: names(&setup.refused),
            registered_ring: setup.registered_ring,
            registered_files: true,
            registered_buffers: true,
        }),
        notes: setup.notes(),
    }
}
