//! Which files come next, prepared.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use workload::plan::Distribution;
use workload::program::{Order, Pick, Turn};

use super::{Compiler, taken_place};
use crate::position::{Draw, Permutation, Seeds};
use crate::program::pick::{Counter, Passage, Picker, Turns};
use crate::program::sampler::Sampler;
use crate::program::states::Claim;
use crate::program::{Seat, SharedTurns};
use crate::{GenerateError, mix};

impl Compiler<'_> {
    pub(super) fn picker(&mut self, pick: &Pick, claim: Claim) -> Result<u16, GenerateError> {
        let seat = self.seat;
        let number = self.pickers.len();
        let count = seat.states[usize::from(pick.fileset)].count();
        let files = match pick.turn {
            Turn::Slice => slice(count, seat),
            Turn::Own | Turn::Shared => 0..count,
        };
        let length = u64::from(files.end - files.start);
        let turn = match pick.turn {
            Turn::Shared => Counter::Shared(seat.shared.turn(number)),
            Turn::Own | Turn::Slice => Counter::Own(0),
        };
        // Workers that share their turns must share their order.
        let order_seed = match pick.turn {
            Turn::Shared => mix(seat.program_seed ^ number as u64),
            Turn::Own | Turn::Slice => self.seeds().order,
        };
        let once = |order| Turns::Once { order, turn };
        let turns = match (&pick.order, seat.initial) {
            (Order::Next, true) => Turns::Initial {
                permille: seat.program.filesets[usize::from(pick.fileset)].present_permille,
                turn: 0,
            },
            (Order::Next, false) => once(Passage::Forward),
            (Order::Back, _) => once(Passage::Backward),
            (Order::Shuffled, _) => once(Passage::Shuffled(Permutation::new(length, order_seed))),
            (Order::Listed(order), _) => once(Passage::Listed(order.files.clone())),
            (Order::Around, _) if pick.turn == Turn::Shared => Turns::AroundTogether,
            (Order::Around, _) => Turns::Around { turn: 0 },
            (Order::Index(file), _) => Turns::Index((*file).min(count.saturating_sub(1))),
            (Order::ByLaw(law), _) => Turns::ByLaw(Box::new(Sampler::new(law)?)),
            (Order::Drawn(distribution), _) => Turns::Drawn(Box::new(self.draw(
                distribution,
                length.max(1),
                pick.fileset,
            )?)),
        };
        self.pickers.push(Picker {
            fileset: pick.fileset,
            which: pick.which,
            claim,
            turns,
            files,
        });
        Ok(number as u16)
    }

    fn draw(
        &self,
        distribution: &Distribution,
        count: u64,
        fileset: u8,
    ) -> Result<Draw, GenerateError> {
        let seeds = Seeds {
            order: self.seeds().order,
            // By the fileset alone: what is popular with one call and one worker is with all.
            scatter: fileset.into(),
        };
        Draw::new(distribution, count, seeds)
    }
}

/// A worker's share of a fileset.
fn slice(count: u32, seat: &Seat<'_>) -> Range<u32> {
    workload::classics::share(count, taken_place(seat), seat.worker_count)
}

impl SharedTurns {
    /// The turns that all workers of a group take together in a pick, by its number.
    fn turn(&self, number: usize) -> Arc<AtomicU32> {
        self.turns_of((false, number))
    }

    /// The same of a deck.
    pub(super) fn deck(&self, number: usize) -> Arc<AtomicU32> {
        self.turns_of((true, number))
    }

    fn turns_of(&self, key: (bool, usize)) -> Arc<AtomicU32> {
        let turns = self.turns.lock();
        let mut turns = turns.unwrap_or_else(std::sync::PoisonError::into_inner);
        turns.entry(key).or_default().clone()
    }
}
