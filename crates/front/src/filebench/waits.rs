//! Flowops that wait for other threads or for events.

use plan::printable;
use plan::program::{Act, CounterSelection, Measure, Refill, TakeAmount, Tokens};

use super::program::ProgramWriter;
use super::script::{Entity, Read};
use crate::acts::byte;
use crate::tokens::error;

/// Number of events that the generator adds at a time.
// The original's generator sleeps for the time of 10 events.
const EVENT_BATCH: u32 = 10;
/// Limit on pending events, in seconds of the generator's rate.
// The original adds no events while its queue holds this amount.
const PENDING_SECONDS_MAX: u32 = 5;
/// Bytes per event of `bwlimit`.
const EVENT_BYTES: u64 = 1 << 20;
/// Largest number of tokens taken or put at a time.
const TOKENS_MAX: u32 = 1 << 30;

impl ProgramWriter {
    /// Index of the tokens with this name, which are added if they are new.
    fn tokens(&mut self, name: &str) -> usize {
        let tokens = &mut self.program.tokens;
        let known = tokens.iter().position(|it| it.name == name);
        known.unwrap_or_else(|| {
            tokens.push(Tokens {
                name: name.to_owned(),
                counters: 1,
                ..Tokens::default()
            });
            tokens.len() - 1
        })
    }

    /// Removes the limit on tokens whose puts never block, once all flowops are known.
    pub(super) fn make_room(&mut self) -> Read<()> {
        for (number, tokens) in self.program.tokens.iter_mut().enumerate() {
            let put = self.put_tokens.get(&number);
            if let (Some((position, _)), None) = (put, tokens.room) {
                let message = format!("no flowop `{}` waits", printable(&tokens.name));
                return Err(error(*position, message, "name a `block` or a `semblock`"));
            }
            tokens.room = tokens.room.filter(|_| put.is_some_and(|it| it.1));
        }
        Ok(())
    }

    /// A flowop that waits or ends a wait; `None` if it limits by events and there is no generator.
    pub(super) fn waits(&mut self, op: &Entity) -> Read<Option<Act>> {
        let value = op.number("value", TOKENS_MAX, 1)?.max(1);
        let act = match op.operation.as_str() {
            "block" => self.taken(1, 1),
            "semblock" => self.taken(value, op.number("highwater", TOKENS_MAX, 1)?),
            // One wake-up may be pending without a waiting thread; `put` only blocks on a second
            // one.
            "wakeup" => self.put(op, 1, true)?,
            "sempost" => self.put(op, value, op.flag("blocking")?)?,
            // Without a generator, the original's limits return immediately.
            _ if self.event_rate == 0 => return Ok(None),
            _ => self.limited(op)?,
        };
        Ok(self.step(vec![act]))
    }

    /// Takes tokens that other threads put; `highwater` is the room for them.
    fn taken(&mut self, value: u32, highwater: u32) -> Act {
        let name = self.program.labels[usize::from(self.thread.label)].clone();
        let number = self.tokens(&name);
        let tokens = &mut self.program.tokens[number];
        // In the original, each instance of the waiting flowop has a separate semaphore.
        tokens.counters = self.thread.group.workers.unwrap_or(1);
        tokens.room = Some(highwater);
        take(number, TakeAmount::Fixed(value))
    }

    fn put(&mut self, op: &Entity, count: u32, is_blocking: bool) -> Read<Act> {
        let target = op.text("target")?;
        let target = target.ok_or_else(|| op.lacks("target", "name the flowop that waits"))?;
        let number = self.tokens(&target);
        let put = self.put_tokens.entry(number).or_default();
        *put = (op.position, put.1 || is_blocking);
        Ok(Act::Put {
            tokens: byte(number),
            count,
            // The original posts to every instance of the target.
            whose: CounterSelection::Each,
        })
    }

    /// Takes events for the work since the last call.
    fn limited(&mut self, op: &Entity) -> Read<Act> {
        let is_of_bytes = op.operation == "bwlimit";
        let (what, _) = self.counted(op, is_of_bytes)?;
        let per_event = if is_of_bytes { EVENT_BYTES } else { 1 };
        let due = match op.operation.as_str() {
            "eventlimit" => TakeAmount::Fixed(1),
            _ => TakeAmount::Since {
                what,
                each: per_event,
            },
        };
        if op.operation == "iopslimit" && what == Measure::Calls {
            self.script
                .note(op.position, "`iopslimit` without a target");
        }
        let (number, rate) = (self.tokens("events"), self.event_rate);
        self.program.tokens[number].refill = Some(Refill {
            per_second: rate.into(),
            at_once: EVENT_BATCH,
            // Even at a low rate, there must be room for the events that are added at a time.
            most: (rate * PENDING_SECONDS_MAX).max(EVENT_BATCH),
        });
        Ok(take(number, due))
    }
}

fn take(number: usize, count: TakeAmount) -> Act {
    Act::Take {
        tokens: byte(number),
        count,
        whose: CounterSelection::Mine,
    }
}
