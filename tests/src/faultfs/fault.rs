//! Which request goes wrong, and how.

use std::str::FromStr;
use std::time::Duration;

use crate::FixtureError;

/// Which requests a fault counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Reads of file content.
    Read,
    /// Writes of file content.
    Write,
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It fails with this errno.
    Errno(i32),
    /// It moves half of its bytes.
    Short,
    /// One bit of what it reads is inverted; what is stored stays right.
    FlipBit,
    /// It takes this long, once.
    Stall(Duration),
}

/// A fault: from the n-th request in one direction, for so many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which requests are counted.
    pub direction: Direction,
    /// The first request that goes wrong, 1-based, counted since the fault was armed.
    pub from_nth: u64,
    /// How many requests go wrong; `u64::MAX` for all that follow.
    pub requests_count: u64,
    /// What happens to them.
    pub effect: Effect,
}

/// `ENOSPC`.
pub const ENOSPC: i32 = 28;
/// `EIO`.
pub const EIO: i32 = 5;

impl Fault {
    /// A fault of a single request.
    pub fn once(direction: Direction, nth: u64, effect: Effect) -> Fault {
        Fault {
            direction,
            from_nth: nth,
            requests_count: 1,
            effect,
        }
    }

    /// A fault of every request from the n-th.
    pub fn from(direction: Direction, nth: u64, effect: Effect) -> Fault {
        Fault {
            direction,
            from_nth: nth,
            requests_count: u64::MAX,
            effect,
        }
    }

    fn hits(&self, direction: Direction, nth: u64) -> bool {
        self.direction == direction
            && nth >= self.from_nth
            && nth - self.from_nth < self.requests_count
    }
}

impl FromStr for Fault {
    type Err = FixtureError;

    /// Reads `read|write:N[+]:eio|enospc|short|flip|stall=SECONDS`; `+` means all from the n-th.
    fn from_str(text: &str) -> Result<Fault, FixtureError> {
        let wrong = || FixtureError::Syntax(format!("`{text}` is no fault"));
        let mut parts = text.split(':');
        let (Some(direction), Some(nth), Some(effect), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(wrong());
        };
        let direction = match direction {
            "read" => Direction::Read,
            "write" => Direction::Write,
            _ => return Err(wrong()),
        };
        let (nth, requests_count) = match nth.strip_suffix('+') {
            Some(nth) => (nth, u64::MAX),
            None => (nth, 1),
        };
        let from_nth = nth.parse().ok().filter(|nth| *nth > 0).ok_or_else(wrong)?;
        let effect = match effect.split_once('=') {
            None if effect == "eio" => Effect::Errno(EIO),
            None if effect == "enospc" => Effect::Errno(ENOSPC),
            None if effect == "short" => Effect::Short,
            None if effect == "flip" => Effect::FlipBit,
            Some(("stall", seconds)) => {
                Effect::Stall(Duration::from_secs(seconds.parse().map_err(|_| wrong())?))
            }
            _ => return Err(wrong()),
        };
        Ok(Fault {
            direction,
            from_nth,
            requests_count,
            effect,
        })
    }
}

/// Armed faults with the requests counted since.
#[derive(Debug, Default)]
pub struct Armed {
    faults: Vec<Fault>,
    reads_count: u64,
    writes_count: u64,
    hits_count: u64,
}

impl Armed {
    /// Replaces all faults and starts counting at 0.
    pub fn arm(&mut self, faults: &[Fault]) {
        *self = Armed {
            faults: faults.to_vec(),
            ..Armed::default()
        };
    }

    /// Counts one request and says what happens to it.
    pub fn next(&mut self, direction: Direction) -> Option<Effect> {
        let count = match direction {
            Direction::Read => &mut self.reads_count,
            Direction::Write => &mut self.writes_count,
        };
        *count += 1;
        let nth = *count;
        let fault = self
            .faults
            .iter()
            .find(|fault| fault.hits(direction, nth))?;
        self.hits_count += 1;
        Some(fault.effect)
    }

    /// How many requests went wrong since the faults were armed.
    pub fn hits_count(&self) -> u64 {
        self.hits_count
    }

    /// Reads and writes counted since the faults were armed.
    pub fn requests_count(&self) -> (u64, u64) {
        (self.reads_count, self.writes_count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_text() {
        let read = |text: &str| text.parse::<Fault>().unwrap();
        let once = Fault::once(Direction::Read, 5, Effect::Errno(EIO));
        assert_eq!(read("read:5:eio"), once);
        let full = Fault::from(Direction::Write, 100, Effect::Errno(ENOSPC));
        assert_eq!(read("write:100+:enospc"), full);
        assert_eq!(
            read("write:3:stall=2").effect,
            Effect::Stall(Duration::from_secs(2))
        );
        assert_eq!(read("read:1:flip").effect, Effect::FlipBit);
    }

    #[test]
    fn wrong_texts_are_refused() {
        let wrong = [
            "",
            "read",
            "read:0:eio",
            "read:x:eio",
            "read:1:what",
            "stat:1:eio",
            "read:1:eio:2",
        ];
        for text in wrong {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_named_requests_go_wrong() {
        let mut armed = Armed::default();
        armed.arm(&[Fault::once(Direction::Read, 2, Effect::Short)]);
        assert_eq!(armed.next(Direction::Write), None);
        assert_eq!(armed.next(Direction::Read), None);
        assert_eq!(armed.next(Direction::Read), Some(Effect::Short));
        assert_eq!(armed.next(Direction::Read), None);
        assert_eq!(armed.hits_count(), 1);
        assert_eq!(armed.requests_count(), (3, 1));
    }

    #[test]
    fn a_lasting_fault_stays() {
        let mut armed = Armed::default();
        armed.arm(&[Fault::from(Direction::Write, 2, Effect::Errno(ENOSPC))]);
        let seen: Vec<bool> = (0..4)
            .map(|_| armed.next(Direction::Write).is_some())
            .collect();
        assert_eq!(seen, [false, true, true, true]);
    }
}
