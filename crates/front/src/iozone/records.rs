//! The acts on the records of a test: one round for each record.

use std::sync::Arc;

use plan::program::{Act, Call, CallPosition, Card, Deck, FileOperation, Law};

use super::TestSizes;
use super::options::IozoneOptions;
use super::shuffle::shuffled;
use crate::acts::{moving, opened};

/// Numbers of tests for `-i`.
pub(super) const WRITE: u8 = 0;
pub(super) const READ_TEST: u8 = 1;
/// With `-K`, a worker jumps to the beginning before the first of this many records.
const RECORDS_BETWEEN_JUMPS: u64 = 100;
/// Tests of several children in which they jump. A single stream jumps only in the read test.
const JUMPING_TESTS: [u8; 4] = [READ_TEST, 3, 5, 10];
const PAGE_BYTES: u64 = 4096;
const NS_PER_MS: u64 = 1_000_000;

/// The acts of a test on its records.
pub(super) struct RecordActs<'a> {
    pub options: &'a IozoneOptions,
    pub size: TestSizes,
    /// Number for `-i`.
    pub test: u8,
}

/// A call that moves one record.
pub(super) fn record(operation: FileOperation, place: CallPosition, bytes: u64) -> Act {
    Act::Call(Call {
        place,
        ..moving(operation, bytes)
    })
}

impl RecordActs<'_> {
    /// The acts of a round, and the number of rounds.
    pub(super) fn body(&self, operation: FileOperation, place: CallPosition) -> (Vec<Act>, u64) {
        let [writes, reads] = &self.options.telemetry;
        match self.test {
            WRITE if !writes.is_empty() => return (writes.acts(operation), 1),
            READ_TEST if !reads.is_empty() => return (reads.acts(operation), 1),
            _ => {}
        }
        let records = self.size.records();
        let is_dealt = matches!(place, CallPosition::Dealt { .. });
        let compute_ns = u64::from(self.options.compute_ms) * NS_PER_MS;
        let compute = (compute_ns > 0).then(|| Act::Burn(Law::fixed(compute_ns)));
        let move_record = record(operation, place, self.size.record_kib << 10);
        let acts: Vec<Act> = compute.into_iter().chain([move_record]).collect();
        let body = match (is_dealt, operation) {
            // At most `SHUFFLED_MAX` records, so the number fits.
            (true, _) => vec![deal(shuffled(records as u32), vec![acts])],
            (false, FileOperation::Write) if self.test == WRITE => self.in_bursts(acts),
            (false, FileOperation::Read) if self.jumps() => {
                let first = [self.jump(), acts.clone()].concat();
                vec![one_of(RECORDS_BETWEEN_JUMPS, 0, first, acts)]
            }
            _ => acts,
        };
        (body, records)
    }

    fn jumps(&self) -> bool {
        let jumps = match self.options.is_together() {
            true => JUMPING_TESTS.contains(&self.test),
            false => self.test == READ_TEST,
        };
        self.options.has_jitter && jumps
    }

    /// Reads at the beginning of the file and one page later; direct reads need whole pages.
    fn jump(&self) -> Vec<Act> {
        let bytes = if self.options.is_direct {
            PAGE_BYTES
        } else {
            1
        };
        let read = |at| record(FileOperation::Read, CallPosition::At(at), bytes);
        vec![read(0), read(PAGE_BYTES)]
    }

    /// Syncs and sleeps after each burst of writes.
    fn in_bursts(&self, acts: Vec<Act>) -> Vec<Act> {
        let Some(burst) = self.options.burst else {
            return acts;
        };
        let pause = Act::Think(Law::fixed(u64::from(burst.pause_ms) * NS_PER_MS));
        let rest = vec![opened(FileOperation::Fsync), pause];
        let last = [acts.clone(), rest].concat();
        let count = burst
            .kib
            .div_ceil(self.size.record_kib)
            .min(self.size.records());
        vec![one_of(count, count - 1, last, acts)]
    }
}

/// Does `special` in one of every `count` rounds and `usual` in the others.
fn one_of(count: u64, special_round: u64, special: Vec<Act>, usual: Vec<Act>) -> Act {
    let card = |round| Card {
        choice: u8::from(round != special_round),
        number: 0,
    };
    deal((0..count).map(card).collect(), vec![special, usual])
}

fn deal(cards: Arc<[Card]>, choices: Vec<Vec<Act>>) -> Act {
    Act::Deal(Deck {
        cards,
        is_shared: false,
        choices,
    })
}
