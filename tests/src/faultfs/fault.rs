//! Which request goes wrong, and how.

use std::str::FromStr;
use std::time::Duration;

use crate::FixtureError;

/// Which requests a fault counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Reads of file content.
    Read,
    /// Writes of file content.
    Write,
    /// Making files.
    Create,
    /// Opening files that are there.
    Open,
    /// Removing files.
    Unlink,
    /// Making files or directories durable.
    Fsync,
    /// Making directories.
    Mkdir,
    /// Removing directories.
    Rmdir,
}

impl Call {
    /// All that change something.
    pub const CHANGING: [Call; 5] = [
        Call::Write,
        Call::Create,
        Call::Unlink,
        Call::Mkdir,
        Call::Rmdir,
    ];

    const NAMES: [(&'static str, Call); 8] = [
        ("read", Call::Read),
        ("write", Call::Write),
        ("create", Call::Create),
        ("open", Call::Open),
        ("unlink", Call::Unlink),
        ("fsync", Call::Fsync),
        ("mkdir", Call::Mkdir),
        ("rmdir", Call::Rmdir),
    ];
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It fails with this errno.
    Errno(i32),
    /// It moves half of its bytes; for reads and writes only.
    Short,
    /// One bit of what it reads is inverted; what is stored stays right.
    FlipBit,
    /// It takes this long, once.
    Stall(Duration),
}

/// A fault: from the n-th request of a kind, for so many requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which requests are counted.
    pub call: Call,
    /// The first request that goes wrong, 1-based, counted since the fault was armed.
    pub from_nth: u64,
    /// How many requests go wrong; `u64::MAX` for all that follow.
    pub request_count: u64,
    /// What happens to them.
    pub effect: Effect,
}

/// Error number: no space left.
pub const ENOSPC: i32 = 28;
/// Error number: I/O error.
pub const EIO: i32 = 5;
/// Error number: too many open files in the system.
pub const ENFILE: i32 = 23;
/// Error number: too many open files in the process.
pub const EMFILE: i32 = 24;
/// Error number: read-only file system.
pub const EROFS: i32 = 30;

impl Fault {
    /// A fault of a single request.
    pub fn once(call: Call, nth: u64, effect: Effect) -> Fault {
        Fault {
            call,
            from_nth: nth,
            request_count: 1,
            effect,
        }
    }

    /// A fault of every request from the n-th.
    pub fn from(call: Call, nth: u64, effect: Effect) -> Fault {
        Fault {
            call,
            from_nth: nth,
            request_count: u64::MAX,
            effect,
        }
    }

    fn hits(&self, call: Call, nth: u64) -> bool {
        self.call == call && nth >= self.from_nth && nth - self.from_nth < self.request_count
    }
}

impl FromStr for Fault {
    type Err = FixtureError;

    /// Reads `CALL:N[+]:eio|enospc|emfile|enfile|erofs|short|flip|stall=SECONDS`, where the call
    /// is named as in [`Call`]; `+` means all from the n-th.
    fn from_str(text: &str) -> Result<Fault, FixtureError> {
        let invalid = || FixtureError::Syntax(format!("`{text}` is no fault"));
        let mut parts = text.split(':');
        let (Some(call), Some(nth), Some(effect), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(invalid());
        };
        let mut names = Call::NAMES.into_iter();
        let (_, call) = names.find(|(name, _)| *name == call).ok_or_else(invalid)?;
        let (nth, requests_count) = match nth.strip_suffix('+') {
            Some(nth) => (nth, u64::MAX),
            None => (nth, 1),
        };
        let from_nth = nth
            .parse()
            .ok()
            .filter(|nth| *nth > 0)
            .ok_or_else(invalid)?;
        let effect = match effect.split_once('=') {
            None => match effect {
                "eio" => Effect::Errno(EIO),
                "enospc" => Effect::Errno(ENOSPC),
                "emfile" => Effect::Errno(EMFILE),
                "enfile" => Effect::Errno(ENFILE),
                "erofs" => Effect::Errno(EROFS),
                "short" => Effect::Short,
                "flip" => Effect::FlipBit,
                _ => return Err(invalid()),
            },
            Some(("stall", seconds)) => {
                Effect::Stall(Duration::from_secs(seconds.parse().map_err(|_| invalid())?))
            }
            _ => return Err(invalid()),
        };
        Ok(Fault {
            call,
            from_nth,
            request_count: requests_count,
            effect,
        })
    }
}

/// Armed faults with the requests counted since.
#[derive(Debug, Default)]
pub struct Armed {
    faults: Vec<Fault>,
    /// Requests of each kind, in the order of [`Call`].
    request_counts: [u64; Call::NAMES.len()],
    hit_count: u64,
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
    pub fn next(&mut self, call: Call) -> Option<Effect> {
        let count = &mut self.request_counts[call as usize];
        *count += 1;
        let nth = *count;
        let fault = self.faults.iter().find(|fault| fault.hits(call, nth))?;
        self.hit_count += 1;
        Some(fault.effect)
    }

    /// How many requests went wrong since the faults were armed.
    pub fn hits_count(&self) -> u64 {
        self.hit_count
    }

    /// Requests of a kind counted since the faults were armed.
    pub fn calls_count(&self, call: Call) -> u64 {
        self.request_counts[call as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_text() {
        let read = |text: &str| text.parse::<Fault>().unwrap();
        let once = Fault::once(Call::Read, 5, Effect::Errno(EIO));
        assert_eq!(read("read:5:eio"), once);
        let full = Fault::from(Call::Write, 100, Effect::Errno(ENOSPC));
        assert_eq!(read("write:100+:enospc"), full);
        assert_eq!(
            read("write:3:stall=2").effect,
            Effect::Stall(Duration::from_secs(2))
        );
        assert_eq!(read("read:1:flip").effect, Effect::FlipBit);
        let refused = Fault::from(Call::Create, 7, Effect::Errno(EROFS));
        assert_eq!(read("create:7+:erofs"), refused);
    }

    #[test]
    fn malformed_fault_descriptions_are_refused() {
        let malformed = [
            "",
            "read",
            "read:0:eio",
            "read:x:eio",
            "read:1:what",
            "stat:1:eio",
            "read:1:eio:2",
        ];
        for text in malformed {
            assert!(text.parse::<Fault>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_selected_requests_fail() {
        let mut armed = Armed::default();
        armed.arm(&[Fault::once(Call::Read, 2, Effect::Short)]);
        assert_eq!(armed.next(Call::Write), None);
        assert_eq!(armed.next(Call::Read), None);
        assert_eq!(armed.next(Call::Read), Some(Effect::Short));
        assert_eq!(armed.next(Call::Read), None);
        assert_eq!(armed.hits_count(), 1);
        assert_eq!(armed.calls_count(Call::Read), 3);
        assert_eq!(armed.calls_count(Call::Write), 1);
        assert_eq!(armed.calls_count(Call::Unlink), 0);
    }

    #[test]
    fn a_persistent_fault_hits_every_later_request() {
        let mut armed = Armed::default();
        armed.arm(&[Fault::from(Call::Write, 2, Effect::Errno(ENOSPC))]);
        let hits: Vec<bool> = (0..4).map(|_| armed.next(Call::Write).is_some()).collect();
        assert_eq!(hits, [false, true, true, true]);
    }
}
