//! Flowops that wait for other threads, or for events.

use workload::printable;
use workload::program::{Act, Due, Measure, Refill, Tokens, Whose};

use super::program::Writer;
use super::script::{Entity, Read};
use crate::acts::byte;
use crate::tokens::error;

/// The generator puts so many events at once.
const EVENTS_AT_ONCE: u32 = 10;
/// It lets no more lie there than it makes in so many seconds.
const SECONDS_OF_EVENTS: u64 = 5;
/// Bytes of the event that `bwlimit` takes.
const EVENT_BYTES: u64 = 1 << 20;
/// What is taken or put at once, at most.
const TOKENS_MAX: u64 = 1 << 30;

impl Writer {
    /// The number of the tokens of a name.
    fn tokens(&mut self, name: &str) -> usize {
        let tokens = &mut self.program.tokens;
        let known = tokens.iter().position(|it| it.name == name);
        known.unwrap_or_else(|| {
            tokens.push(Tokens {
                name: name.to_owned(),
                counters: 1,
                start: 0,
                room: None,
                refill: None,
            });
            tokens.len() - 1
        })
    }

    /// Makes room for what is put, once all flowops are known.
    pub(super) fn make_room(&mut self) -> Read<()> {
        for (number, (place, is_blocking)) in &self.put {
            let tokens = &mut self.program.tokens[*number];
            let Some(highwater) = self.taken.get(number) else {
                let message = format!("no flowop `{}` waits", printable(&tokens.name));
                return Err(error(*place, message, "name a `block` or a `semblock`"));
            };
            tokens.room = is_blocking.then_some(*highwater);
        }
        Ok(())
    }

    /// What waits, or ends a wait; nothing where it would wait for events that nobody makes.
    pub(super) fn waits(&mut self, op: &Entity) -> Read<Option<Act>> {
        // At most 2^30.
        let number = |name: &str| Ok(op.number(name, TOKENS_MAX, 1)? as u32);
        let value = number("value")?.max(1);
        let act = match op.word.as_str() {
            "block" => self.taken(1, 1),
            "semblock" => self.taken(value, number("highwater")?),
            // Who wakes others does not wait for them, but a wake-up that nobody has seen is one.
            "wakeup" => self.put(op, 1, true)?,
            "sempost" => self.put(op, value, op.flag("blocking")?)?,
            _ if self.event_rate == 0 => return Ok(None),
            _ => self.limited(op)?,
        };
        Ok(self.step(vec![act]))
    }

    fn taken(&mut self, value: u32, highwater: u32) -> Act {
        let name = self.program.labels[usize::from(self.thread.label)].clone();
        let number = self.tokens(&name);
        self.program.tokens[number].counters = self.thread.group.workers.unwrap_or(1);
        self.taken.insert(number, highwater);
        take(number, Due::Fixed(value))
    }

    fn put(&mut self, op: &Entity, count: u32, is_blocking: bool) -> Read<Act> {
        let target = op.text("target")?;
        let target = target.ok_or_else(|| op.lacks("target", "name the flowop that waits"))?;
        let number = self.tokens(&target);
        let place = op.place;
        let put = self.put.entry(number).or_insert((place, false));
        *put = (place, put.1 || is_blocking);
        Ok(Act::Put {
            tokens: byte(number),
            count,
            whose: Whose::Each,
        })
    }

    /// Takes events for what was done since the last time.
    fn limited(&mut self, op: &Entity) -> Read<Act> {
        let target = self.target(op)?;
        let (what, each) = match (op.word.as_str(), target) {
            ("bwlimit", Some(label)) => (Measure::StepBytes(label), EVENT_BYTES),
            ("bwlimit", None) => (Measure::Bytes, EVENT_BYTES),
            (_, Some(label)) => (Measure::Steps(label), 1),
            (_, None) => (Measure::Calls, 1),
        };
        let due = match op.word.as_str() {
            "eventlimit" => Due::Fixed(1),
            _ => Due::Since { what, each },
        };
        let rate = self.event_rate;
        if op.word == "iopslimit" && target.is_none() {
            self.differs(op, "`iopslimit` without a target");
        }
        let number = self.tokens("events");
        self.program.tokens[number].refill = Some(Refill {
            per_second: rate as f64,
            at_once: EVENTS_AT_ONCE,
            // A rate is at most 10^6.
            most: (rate * SECONDS_OF_EVENTS).max(EVENTS_AT_ONCE.into()) as u32,
        });
        Ok(take(number, due))
    }
}

fn take(number: usize, count: Due) -> Act {
    Act::Take {
        tokens: byte(number),
        count,
        whose: Whose::Mine,
    }
}
