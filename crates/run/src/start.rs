//! Part of a lane's thread in the start of a cell.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use engine::TscClock;
use engine::clock::Clock;
use results::EngineNotes;

use crate::batch::Batch;
use crate::gate::{Gate, JobEnd, StartSignal};
use crate::recorder::{Counting, Recorder};
use crate::sample::{Outbox, Sample};
use crate::schedule::Schedule;
use crate::thread::thread_id;

/// Interval at which a waiting thread checks whether it is to end, in nanoseconds.
const POLL_INTERVAL_NS: u64 = 50_000_000;
/// Time before an agreed start during which threads spin instead of sleeping, in nanoseconds.
const SPIN_NS: u64 = 2_000_000;

/// Message of a lane's thread that is ready to start.
pub(crate) struct Ready {
    pub notes: EngineNotes,
    pub thread_id: i32,
}

/// Part of a lane's thread in the start of a cell.
pub(crate) struct Start<'a> {
    pub sample: Box<Sample>,
    pub outbox: Outbox,
    /// Schedule without the start time, which the gate sets.
    pub schedule: Schedule,
    pub clock: TscClock,
    pub batch: Batch,
    pub gate: &'a Gate,
    pub stop: Arc<AtomicBool>,
    /// Used once, when the thread is ready; dropped unused if it cannot start.
    pub ready: Sender<Ready>,
}

impl Start<'_> {
    /// Waits for the other threads. `None` if the gate's signal was to abandon the cell.
    pub fn begin(self, notes: EngineNotes, counting: Counting) -> Option<Recorder> {
        self.begin_after(0, &[], notes, counting)
    }

    /// Waits for the other threads to be ready, then for `delay_ns`, and then for the end of the
    /// jobs in `before`. `None` if the gate's signal was to abandon the cell.
    pub fn begin_after(
        mut self,
        delay_ns: u64,
        before: &[Arc<JobEnd>],
        notes: EngineNotes,
        counting: Counting,
    ) -> Option<Recorder> {
        let thread_id = thread_id();
        // After a failure of another thread, the receiver is gone and the gate's signal is to
        // abandon.
        let _ = self.ready.send(Ready { notes, thread_id });
        drop(self.ready);
        let StartSignal::Start { start_ns } = self.gate.wait() else {
            return None;
        };
        wait_until(start_ns, &self.clock, &self.stop);
        self.gate.note_begin(self.clock.now_ns());
        let mut start_ns = start_ns.saturating_add(delay_ns);
        while !self.stop.load(Ordering::Relaxed) {
            let left_ns = start_ns.saturating_sub(self.clock.now_ns());
            // Without a delay, the start has been reached already.
            if left_ns == 0 || delay_ns == 0 {
                break;
            }
            std::thread::sleep(Duration::from_nanos(left_ns.min(POLL_INTERVAL_NS)));
        }
        for end in before {
            end.wait(&self.stop);
            // The job's times count from its own start.
            start_ns = start_ns.max(self.clock.now_ns());
        }
        self.schedule.start_ns = start_ns;
        let recorder = Recorder::new(self.sample, self.outbox, self.schedule, self.stop, counting);
        Some(recorder)
    }
}

/// Sleeps until shortly before a start agreed with other processes, then spins, because sleeping
/// threads wake up late. Without other processes, the start is already reached.
fn wait_until(start_ns: u64, clock: &TscClock, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left_ns = start_ns.saturating_sub(clock.now_ns());
        match left_ns.saturating_sub(SPIN_NS) {
            _ if left_ns == 0 => break,
            0 => std::hint::spin_loop(),
            sleep_ns => std::thread::sleep(Duration::from_nanos(sleep_ns.min(POLL_INTERVAL_NS))),
        }
    }
}

pub(crate) fn ring_notes(setup: &engine::RingGrants) -> EngineNotes {
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
