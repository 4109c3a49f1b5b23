//! Prepared selection of files.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use plan::Distribution;
use plan::program::{FileSharing, Pick, PickOrder};

use super::{Compiler, source_worker};
use crate::position::{Draw, Permutation, Seeds};
use crate::program::pick::{Candidates, IndexOrder, OtherTurns, PickSequence, Picker, TurnCounter};
use crate::program::sampler::Sampler;
use crate::program::states::FileClaim;
use crate::program::{SharedTurnCounters, WorkerContext};
use crate::{GenerateError, mix};

impl Compiler<'_> {
    pub(super) fn picker(&mut self, pick: &Pick, claim: FileClaim) -> Result<u16, GenerateError> {
        let context = self.context;
        let number = self.pickers.len();
        let count = context.states[usize::from(pick.fileset)].count();
        let files = match pick.turn {
            FileSharing::Slice => slice(count, context),
            FileSharing::Own | FileSharing::Shared => 0..count,
        };
        let length = u64::from(files.end - files.start);
        let turn = match pick.turn {
            FileSharing::Shared => TurnCounter::Shared(context.shared.turn(number)),
            FileSharing::Own | FileSharing::Slice => TurnCounter::Own(0),
        };
        // Workers that share turns must also share the order.
        let order_seed = match pick.turn {
            FileSharing::Shared => mix(context.program_seed ^ number as u64),
            FileSharing::Own | FileSharing::Slice => self.seeds().order,
        };
        let once = |order| PickSequence::Once { order, turn };
        let turns = match (&pick.order, context.is_initial) {
            (PickOrder::Next, true) => PickSequence::Other(OtherTurns::Initial {
                permille: context.program.filesets[usize::from(pick.fileset)].present_permille,
                turn: 0,
            }),
            (PickOrder::Next, false) => once(IndexOrder::Forward),
            (PickOrder::Back, _) => once(IndexOrder::Backward),
            (PickOrder::Shuffled, _) => {
                once(IndexOrder::Shuffled(Permutation::new(length, order_seed)))
            }
            (PickOrder::Listed(order), _) => once(IndexOrder::Listed(order.files.clone())),
            (PickOrder::Around, _) => PickSequence::Other(match pick.turn {
                FileSharing::Shared => OtherTurns::SharedRoundRobin,
                FileSharing::Own | FileSharing::Slice => OtherTurns::RoundRobin { turn: 0 },
            }),
            (PickOrder::Index(file), _) => {
                PickSequence::Other(OtherTurns::Index((*file).min(count.saturating_sub(1))))
            }
            (PickOrder::ByLaw(law), _) => {
                PickSequence::Other(OtherTurns::Sampled(Box::new(Sampler::new(law)?)))
            }
            (PickOrder::Drawn(distribution), _) => {
                let draw = self.draw(distribution, length.max(1), pick.fileset)?;
                PickSequence::Other(OtherTurns::Drawn {
                    draw: Box::new(draw),
                    turn: 0,
                })
            }
        };
        self.pickers.push(Picker {
            fileset: pick.fileset,
            candidates: Candidates {
                filter: pick.which,
                claim,
                files,
            },
            turns,
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
            // Depends only on the fileset: the same files are popular with all calls and workers.
            scatter: fileset.into(),
        };
        Draw::new(distribution, count, seeds)
    }
}

/// A worker's slice of a fileset.
fn slice(count: u32, context: &WorkerContext<'_>) -> Range<u32> {
    share(count, source_worker(context), context.worker_count)
}

impl SharedTurnCounters {
    /// Turns of a pick, by its number, that all workers of a group share.
    fn turn(&self, number: usize) -> Arc<AtomicU32> {
        self.turns_of((false, number))
    }

    /// Turns of a deck, by its number, that all workers of a group share.
    pub(super) fn deck(&self, number: usize) -> Arc<AtomicU32> {
        self.turns_of((true, number))
    }

    fn turns_of(&self, key: (bool, usize)) -> Arc<AtomicU32> {
        let turns = self.turns.lock();
        // The map is complete at any time, even if a thread panicked while it held the lock.
        let mut turns = turns.unwrap_or_else(std::sync::PoisonError::into_inner);
        turns.entry(key).or_default().clone()
    }
}

/// Files of one of `worker_count` workers. Shares are consecutive and differ by at most one file. A
/// worker beyond the last has none.
fn share(file_count: u32, worker_index: u32, worker_count: u32) -> Range<u32> {
    let start = |index: u32| {
        let worker_count = u64::from(worker_count.max(1));
        let index = u64::from(index).min(worker_count);
        // At most `file_count`, because the index is at most the number of workers.
        (u64::from(file_count) * index / worker_count) as u32
    };
    start(worker_index)..start(worker_index.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::share;

    proptest! {
        #[test]
        fn shares_cover_all_files_and_differ_by_one_at_most(
            file_count: u32,
            worker_count in 1_u32..200,
        ) {
            let mut end = 0;
            for worker_index in 0..worker_count {
                let files = share(file_count, worker_index, worker_count);
                prop_assert_eq!(files.start, end);
                let length = files.len() as u32;
                prop_assert!((file_count / worker_count..=file_count / worker_count + 1)
                    .contains(&length));
                end = files.end;
            }
            prop_assert_eq!(end, file_count);
            prop_assert!(share(file_count, worker_count, worker_count).is_empty());
        }
    }
}
