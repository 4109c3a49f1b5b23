//! Selection of the next file.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plan::program::{FileFilter, PickOrder};

use super::sampler::Sampler;
use super::states::{ClaimResult, FileClaim, FileStates};
use crate::Rng;
use crate::position::{Draw, Permutation};

/// Number of random draws, before the next file that qualifies is used.
const DRAWS_MAX: usize = 64;

/// Result of a pick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Picked {
    /// This file; it is now claimed.
    File(u32),
    /// Other workers use all files that qualify.
    Busy,
    /// No file qualifies, or all have had their turn.
    None,
}

/// A prepared pick.
#[derive(Debug)]
pub(super) struct Picker {
    pub fileset: u8,
    pub candidates: Candidates,
    pub turns: PickSequence,
}

/// Files of a fileset that may be picked.
#[derive(Debug)]
pub(super) struct Candidates {
    pub filter: FileFilter,
    pub claim: FileClaim,
    /// The files that take turns.
    pub files: Range<u32>,
}

/// Order of the turns.
#[derive(Debug)]
pub(super) enum PickSequence {
    /// Each file once, in some order.
    Once {
        order: IndexOrder,
        turn: TurnCounter,
    },
    Other(OtherTurns),
}

/// Less frequent kinds of turns, not inlined.
#[derive(Debug)]
pub(super) enum OtherTurns {
    /// Each file repeatedly, in numerical order.
    RoundRobin {
        turn: u32,
    },
    /// Like `RoundRobin`, with one position shared by all workers on the fileset.
    SharedRoundRobin,
    Drawn {
        draw: Box<Draw>,
        /// Turn in an order without repetition.
        turn: u64,
    },
    Sampled(Box<Sampler>),
    Index(u32),
    /// Each file once that exists before the first phase.
    Initial {
        permille: u32,
        turn: u32,
    },
}

/// An order of `0..count`.
#[derive(Debug)]
pub(super) enum IndexOrder {
    Forward,
    Backward,
    Shuffled(Permutation),
    Listed(Arc<[u32]>),
}

/// Number of turns taken.
#[derive(Debug)]
pub(super) enum TurnCounter {
    Own(u32),
    /// Shared by all workers of the group.
    Shared(Arc<AtomicU32>),
}

impl TurnCounter {
    #[inline]
    pub(super) fn next(&mut self, end: u32) -> Option<u32> {
        let turn = match self {
            Self::Own(turn) => {
                let now = *turn;
                // Never wraps around to the first turn.
                *turn = now.saturating_add(1);
                now
            }
            // Checked first, so that the counter never overflows.
            Self::Shared(turn) if turn.load(Ordering::Relaxed) >= end => return None,
            Self::Shared(turn) => turn.fetch_add(1, Ordering::Relaxed),
        };
        (turn < end).then_some(turn)
    }
}

impl IndexOrder {
    #[inline]
    fn at(&self, turn: u32, count: u32) -> u32 {
        match self {
            Self::Forward => turn,
            Self::Backward => count - 1 - turn,
            // Below the count, which has 32 bits.
            Self::Shuffled(order) => order.apply(turn.into()) as u32,
            // Turns beyond the list use their own number.
            Self::Listed(files) => match files.get(turn as usize) {
                Some(file) if *file < count => *file,
                _ => turn,
            },
        }
    }
}

/// The files `0..count`, each once, in the order of a pick that ends; in numerical order for any
/// other pick.
pub fn each_once(order: &PickOrder, count: u32, seed: u64) -> impl Iterator<Item = u32> + use<> {
    let passage = match order {
        PickOrder::Back => IndexOrder::Backward,
        PickOrder::Shuffled => IndexOrder::Shuffled(Permutation::new(count.into(), seed)),
        _ => IndexOrder::Forward,
    };
    (0..count).map(move |turn| passage.at(turn, count))
}

/// `true` if a file exists before the first phase: `permille` of 1000 files, evenly distributed
/// over the numbers.
pub(super) fn is_initial(file: u32, permille: u32) -> bool {
    let before = |file: u64| file * u64::from(permille) / 1000;
    before(u64::from(file) + 1) > before(file.into())
}

impl Picker {
    #[inline(always)]
    pub(super) fn next(&mut self, states: &FileStates, rng: &mut Rng) -> Picked {
        let (order, turn) = match &mut self.turns {
            PickSequence::Once { order, turn } => (order, turn),
            PickSequence::Other(turns) => return turns.next(&self.candidates, states, rng),
        };
        let count = self.candidates.count();
        while let Some(turn) = turn.next(count) {
            let file = self.candidates.files.start + order.at(turn, count);
            if self.candidates.claim(file, states) == ClaimResult::Claimed {
                return Picked::File(file);
            }
        }
        Picked::None
    }
}

impl OtherTurns {
    fn next(&mut self, of: &Candidates, states: &FileStates, rng: &mut Rng) -> Picked {
        let (count, start) = (of.count(), of.files.start);
        match self {
            Self::Initial { permille, turn } => {
                while *turn < count {
                    let file = start + *turn;
                    *turn += 1;
                    if is_initial(file, *permille) && of.claim(file, states) == ClaimResult::Claimed
                    {
                        return Picked::File(file);
                    }
                }
                Picked::None
            }
            Self::Index(file) => match of.claim(*file, states) {
                ClaimResult::Claimed => Picked::File(*file),
                ClaimResult::Busy => Picked::Busy,
                ClaimResult::Ineligible => Picked::None,
            },
            Self::RoundRobin { turn } => {
                let picked = of.from(states, *turn);
                if let Picked::File(file) = picked {
                    *turn = file - start + 1;
                }
                picked
            }
            Self::SharedRoundRobin => {
                let picked = of.from(states, states.rotor(of.filter));
                if let Picked::File(file) = picked {
                    // filebench's rotor also moves to the place after the picked file.
                    states.advance_rotor(of.filter, file);
                }
                picked
            }
            Self::Sampled(sampler) => {
                let number = sampler.amount(rng.next_u64());
                // Below the count, which has 32 bits.
                of.from(states, (number % u64::from(count.max(1))) as u32)
            }
            Self::Drawn { draw, turn } => {
                let mut drawn = 0;
                // A popular file may be in use, or of the wrong kind, for many draws in a row.
                for _ in 0..DRAWS_MAX {
                    // Below the count, which has 32 bits.
                    drawn = draw.index_in_turn(turn, rng) as u32;
                    if of.claim(start + drawn, states) == ClaimResult::Claimed {
                        return Picked::File(start + drawn);
                    }
                }
                of.from(states, drawn)
            }
        }
    }
}

impl Candidates {
    #[inline]
    fn count(&self) -> u32 {
        self.files.end - self.files.start
    }

    #[inline]
    fn claim(&self, file: u32, states: &FileStates) -> ClaimResult {
        states.claim(file, self.filter, self.claim)
    }

    /// The first file that qualifies from a position on, wrapping around.
    fn from(&self, states: &FileStates, from: u32) -> Picked {
        // Spares a search of the whole fileset.
        if states.has_no_candidate(self.filter) {
            return Picked::None;
        }
        let count = self.count();
        let mut is_busy = false;
        for places in [from.min(count)..count, 0..from.min(count)] {
            for place in places {
                let file = self.files.start + place;
                match self.claim(file, states) {
                    ClaimResult::Claimed => return Picked::File(file),
                    ClaimResult::Busy => is_busy = true,
                    ClaimResult::Ineligible => {}
                }
            }
        }
        match is_busy {
            true => Picked::Busy,
            false => Picked::None,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Rng;

    fn picker(filter: FileFilter, turns: PickSequence, count: u32) -> Picker {
        let claim = match filter {
            FileFilter::Absent => FileClaim::Exclusive,
            _ => FileClaim::Shared,
        };
        Picker {
            fileset: 0,
            candidates: Candidates {
                filter,
                claim,
                files: 0..count,
            },
            turns,
        }
    }

    fn once(order: IndexOrder) -> PickSequence {
        PickSequence::Once {
            order,
            turn: TurnCounter::Own(0),
        }
    }

    fn all(mut picker: Picker, states: &FileStates) -> Vec<u32> {
        let mut rng = Rng::new(1);
        let mut files = Vec::new();
        while let Picked::File(file) = picker.next(states, &mut rng) {
            files.push(file);
        }
        files
    }

    #[test]
    fn each_file_is_picked_once_in_order() {
        let states = FileStates::new(4, false);
        let any = |order| picker(FileFilter::Any, once(order), 4);
        assert_eq!(all(any(IndexOrder::Forward), &states), [0, 1, 2, 3]);
        assert_eq!(all(any(IndexOrder::Backward), &states), [3, 2, 1, 0]);
        let mut shuffled = all(any(IndexOrder::Shuffled(Permutation::new(4, 9))), &states);
        shuffled.sort_unstable();
        assert_eq!(shuffled, [0, 1, 2, 3]);
    }

    #[test]
    fn an_incomplete_listed_order_still_picks_each_file_once() {
        let states = FileStates::new(4, false);
        let any = |order| picker(FileFilter::Any, once(order), 4);
        let listed = |files: &[u32]| all(any(IndexOrder::Listed(files.into())), &states);
        assert_eq!(listed(&[2, 0, 3, 1]), [2, 0, 3, 1]);
        assert_eq!(listed(&[1, 0]), [1, 0, 2, 3]);
        assert_eq!(listed(&[9, 9, 9, 9]), [0, 1, 2, 3]);
    }

    #[test]
    fn workers_with_a_shared_turn_never_pick_the_same_file() {
        let states = FileStates::new(100, true);
        let turn = Arc::new(AtomicU32::new(0));
        let mut files = Vec::new();
        for _ in 0..2 {
            let turns = PickSequence::Once {
                order: IndexOrder::Forward,
                turn: TurnCounter::Shared(turn.clone()),
            };
            files.extend(all(picker(FileFilter::Absent, turns, 100), &states));
        }
        assert_eq!(files, (0..100).collect::<Vec<u32>>());
        assert_eq!(turn.load(Ordering::Relaxed), 100);
    }

    #[test]
    fn round_robin_picks_skip_unfit_files_and_wait_for_claimed_ones() {
        let states = FileStates::new(3, false);
        for file in [0, 2] {
            states.claim(file, FileFilter::Absent, FileClaim::Exclusive);
            states.mark_present(file, false);
        }
        let mut around = picker(
            FileFilter::Present,
            PickSequence::Other(OtherTurns::RoundRobin { turn: 0 }),
            3,
        );
        let mut rng = Rng::new(1);
        let picked: Vec<Picked> = (0..4).map(|_| around.next(&states, &mut rng)).collect();
        assert_eq!(picked, [0, 2, 0, 2].map(Picked::File));
        around.candidates.claim = FileClaim::Exclusive;
        assert_eq!(around.next(&states, &mut rng), Picked::Busy);
        states.release_all();
        states.mark_absent(0);
        states.mark_absent(2);
        assert_eq!(around.next(&states, &mut rng), Picked::None);
    }

    proptest! {
        #[test]
        fn initial_files_match_the_permille(count in 0_u32..5000, permille in 0_u32..=1000) {
            let initial = (0..count).filter(|file| is_initial(*file, permille)).count() as u64;
            prop_assert_eq!(initial, u64::from(count) * u64::from(permille) / 1000);
        }
    }
}
