//! Flowops that wait for other threads, or for events.

use workload::Diagnostic;
use workload::program::{Act, Due, Measure, Refill, Whose};

use super::flowops::ThreadWriter;
use super::op::Op;

/// The generator puts so many events at once.
const EVENTS_AT_ONCE: u32 = 10;
/// It lets no more lie there than it makes in so many seconds.
const SECONDS_OF_EVENTS: u64 = 5;
/// Bytes of the event that `bwlimit` takes.
const EVENT_BYTES: u64 = 1 << 20;
/// What is taken or put at once, at most.
const TOKENS_MAX: u64 = 1 << 30;

impl ThreadWriter<'_, '_> {
    /// What waits, or ends a wait.
    pub(super) fn waits(&mut self, op: &Op<'_>) -> Result<Vec<Act>, Diagnostic> {
        let value = op.number("value", TOKENS_MAX)?.unwrap_or(1).max(1);
        // At most 2^30.
        let value = value as u32;
        let act = match op.kind() {
            "block" => self.taken(op, 1, 1),
            "semblock" => {
                let highwater = op.number("highwater", TOKENS_MAX)?.unwrap_or(1);
                self.taken(op, value, highwater as u32)
            }
            // Who wakes others does not wait for them, but a wake-up that nobody has seen is one.
            "wakeup" => self.put(op, 1, true)?,
            "sempost" => {
                let is_blocking = op.flag("blocking")?;
                self.put(op, value, is_blocking)?
            }
            _ if self.common.event_rate == 0 => return Ok(Vec::new()),
            _ => self.limited(op)?,
        };
        Ok(op.repeated(vec![Act::Step(op.label, vec![act])]))
    }

    fn taken(&mut self, op: &Op<'_>, value: u32, highwater: u32) -> Act {
        let name = self.common.labels[usize::from(op.label)].clone();
        let waited = &mut self.common.waited;
        let number = waited.number(&name);
        waited.tokens[number].counters = self.workers;
        waited.known[number].is_taken = true;
        waited.known[number].highwater = highwater;
        Act::Take {
            // More than there may be are refused when the program is checked.
            tokens: number.min(usize::from(u8::MAX)) as u8,
            count: Due::Fixed(value),
            whose: Whose::Mine,
        }
    }

    fn put(&mut self, op: &Op<'_>, value: u32, is_blocking: bool) -> Result<Act, Diagnostic> {
        let Some(target) = op.text("target")? else {
            let message = format!("`{}` has no `target`", op.kind());
            return Err(op.error(message).help("name the flowop that waits"));
        };
        let waited = &mut self.common.waited;
        let number = waited.number(&target);
        let known = &mut waited.known[number];
        known.is_blocking |= is_blocking;
        known.put_at = Some(op.place());
        Ok(Act::Put {
            tokens: number.min(usize::from(u8::MAX)) as u8,
            count: value,
            whose: Whose::Each,
        })
    }

    /// Takes events for what was done since the last time.
    fn limited(&mut self, op: &Op<'_>) -> Result<Act, Diagnostic> {
        let target = self.target(op)?;
        let (what, each) = match (op.kind(), target) {
            ("bwlimit", Some(label)) => (Measure::StepBytes(label), EVENT_BYTES),
            ("bwlimit", None) => (Measure::Bytes, EVENT_BYTES),
            (_, Some(label)) => (Measure::Steps(label), 1),
            (_, None) => (Measure::Calls, 1),
        };
        if op.kind() == "iopslimit" && target.is_none() {
            self.differs(
                op,
                "`iopslimit`",
                "all calls count, not reads and writes alone",
            );
        }
        let rate = self.common.event_rate;
        let most = (rate * SECONDS_OF_EVENTS).max(EVENTS_AT_ONCE.into());
        let waited = &mut self.common.waited;
        let number = waited.number("events");
        waited.tokens[number].refill = Some(Refill {
            per_second: rate as f64,
            at_once: EVENTS_AT_ONCE,
            // A rate is at most 10^6.
            most: most as u32,
        });
        Ok(Act::Take {
            tokens: number.min(usize::from(u8::MAX)) as u8,
            count: match op.kind() {
                "eventlimit" => Due::Fixed(1),
                _ => Due::Since { what, each },
            },
            whose: Whose::Mine,
        })
    }
}
