//! One pass: the same chain of operations for each file, as many files at once as there are slots.

use engine::{Access, Aim, Completion, Operation, OperationSet, Request};
use workload::classics::{Chain, FileSync, PassPlan};

use super::order::Turns;
use crate::{Flow, Generator, Step, named};

/// The negated number of the error (`EIO`) of a write that wrote nothing and said nothing.
const NOTHING_WRITTEN: i32 = -5;

/// One worker's pass over its files; it ends when every file had its turn.
///
/// A file is a flow of kind 0. A file of which an operation failed is closed and has failed, by
/// the first error; its other operations are left out. That its directory is there already is no
/// failure, nor is a short write, whose rest is written; a write that writes nothing is one.
#[derive(Debug, Clone)]
pub struct Pass {
    chain: Chain,
    turns: Turns,
    next_turn: u32,
    slots: Vec<Slot>,
    failed_count: u64,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    stage: Stage,
    file_index: u32,
    written_bytes: u64,
    /// The negated number of the first error, 0 if there was none.
    errno: i32,
}

/// What the slot does next, or has in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The next file.
    Idle,
    MakeDirectory,
    Create,
    Write,
    Open,
    Sync(Operation),
    Close,
    /// The only operation of the file.
    Only(Operation),
}

impl Pass {
    /// The pass of a plan.
    #[must_use]
    pub fn new(plan: &PassPlan) -> Self {
        let slot = Slot {
            stage: Stage::Idle,
            file_index: 0,
            written_bytes: 0,
            errno: 0,
        };
        Self {
            chain: plan.chain,
            turns: Turns::new(plan.files.clone(), plan.order, plan.seed),
            next_turn: 0,
            slots: vec![slot; plan.iodepth.max(1) as usize],
            failed_count: 0,
        }
    }

    /// Files of which an operation failed.
    #[must_use]
    pub const fn failed_count(&self) -> u64 {
        self.failed_count
    }

    /// The first stage of a file.
    fn first_stage(&self) -> Stage {
        match self.chain {
            Chain::Create {
                is_directory_made: true,
                ..
            } => Stage::MakeDirectory,
            Chain::Create { .. } => Stage::Create,
            Chain::Sync => Stage::Open,
            Chain::Stat => Stage::Only(Operation::Stat),
            Chain::Remove => Stage::Only(Operation::Unlink),
        }
    }

    /// What follows a stage that went well.
    #[inline]
    fn stage_after(&self, slot: &Slot) -> Stage {
        match slot.stage {
            Stage::MakeDirectory => Stage::Create,
            Stage::Create if self.is_written() => Stage::Write,
            Stage::Write if slot.written_bytes < self.size_bytes() => Stage::Write,
            Stage::Create | Stage::Write => self.sync_stage(),
            Stage::Open => Stage::Sync(Operation::Fsync),
            Stage::Sync(_) => Stage::Close,
            Stage::Idle | Stage::Close | Stage::Only(_) => Stage::Idle,
        }
    }

    const fn size_bytes(&self) -> u64 {
        match self.chain {
            Chain::Create { size_bytes, .. } => size_bytes,
            Chain::Sync | Chain::Stat | Chain::Remove => 0,
        }
    }

    const fn is_written(&self) -> bool {
        match self.chain {
            Chain::Create {
                size_bytes,
                is_empty_written,
                ..
            } => size_bytes > 0 || is_empty_written,
            Chain::Sync | Chain::Stat | Chain::Remove => false,
        }
    }

    const fn sync_stage(&self) -> Stage {
        match self.chain {
            Chain::Create {
                sync: FileSync::Fsync,
                ..
            } => Stage::Sync(Operation::Fsync),
            Chain::Create {
                sync: FileSync::Fdatasync,
                ..
            } => Stage::Sync(Operation::Fdatasync),
            _ => Stage::Close,
        }
    }

    #[inline]
    fn request(&self, slot_index: u32, slot: &Slot) -> Request {
        let (operation, offset_bytes) = match slot.stage {
            Stage::MakeDirectory => (Operation::Mkdir, Aim::Directory.code()),
            Stage::Create => (Operation::Create, 0),
            Stage::Write => (Operation::Write, slot.written_bytes),
            Stage::Open => (Operation::Open, Access::Read.code()),
            Stage::Sync(operation) => (operation, 0),
            Stage::Close => (Operation::Close, 0),
            Stage::Only(operation) => (operation, Aim::Name.code()),
            Stage::Idle => unreachable!("an idle slot has been given its file"),
        };
        let length_bytes = match (slot.stage, self.chain) {
            (
                Stage::Write,
                Chain::Create {
                    size_bytes,
                    write_bytes,
                    ..
                },
            ) => {
                let rest_bytes = size_bytes - slot.written_bytes;
                // No more than a write's bytes, which are 32 bits.
                rest_bytes.min(write_bytes.max(1).into()) as u32
            }
            _ => 0,
        };
        Request {
            operation,
            fileset: 0,
            handle: 0,
            slot: slot_index,
            file_index: slot.file_index,
            length_bytes,
            offset_bytes,
        }
    }
}

impl Slot {
    /// Whether the operation in flight went well; a write is counted.
    #[inline]
    fn settle(&mut self, result: i32, size_bytes: u64) -> bool {
        match self.stage {
            // Whatever is wrong with the directory is wrong with creating the file, too.
            Stage::MakeDirectory => true,
            Stage::Write if result > 0 => {
                self.written_bytes = self
                    .written_bytes
                    .saturating_add(u64::from(result.unsigned_abs()))
                    .min(size_bytes);
                true
            }
            // Only a write of nothing may write nothing; another would be repeated forever.
            Stage::Write => result == 0 && size_bytes == 0,
            _ => result >= 0,
        }
    }

    /// Where a failure leads: a file that is open is closed.
    const fn stage_after_failure(self) -> Stage {
        match self.stage {
            Stage::Write | Stage::Sync(_) => Stage::Close,
            _ => Stage::Idle,
        }
    }
}

impl Generator for Pass {
    fn operations(&self) -> OperationSet {
        let mut operations = OperationSet::EMPTY;
        let mut add = |operation| operations = operations.with(operation);
        match self.chain {
            Chain::Create {
                is_directory_made, ..
            } => {
                if is_directory_made {
                    add(Operation::Mkdir);
                }
                add(Operation::Create);
                if self.is_written() {
                    add(Operation::Write);
                }
                if let Stage::Sync(operation) = self.sync_stage() {
                    add(operation);
                }
                add(Operation::Close);
            }
            Chain::Sync => {
                add(Operation::Open);
                add(Operation::Fsync);
                add(Operation::Close);
            }
            Chain::Stat => add(Operation::Stat),
            Chain::Remove => add(Operation::Unlink),
        }
        operations
    }

    fn transaction_kinds(&self) -> Vec<String> {
        named(&[self.chain.name()])
    }

    #[inline]
    fn next(&mut self, slot_index: u32, _: u64) -> Step {
        let index = slot_index as usize;
        if self.slots[index].stage == Stage::Idle {
            let Some(file_index) = self.turns.file(self.next_turn) else {
                return Step::Finished;
            };
            self.next_turn += 1;
            self.slots[index] = Slot {
                stage: self.first_stage(),
                file_index,
                written_bytes: 0,
                errno: 0,
            };
        }
        Step::Issue(self.request(slot_index, &self.slots[index]))
    }

    #[inline]
    fn complete(&mut self, completion: Completion, _: u64) -> Flow {
        let mut slot = self.slots[completion.slot as usize];
        if slot.settle(completion.result, self.size_bytes()) {
            slot.stage = self.stage_after(&slot);
        } else {
            if slot.errno == 0 {
                slot.errno = match completion.result {
                    0.. => NOTHING_WRITTEN,
                    errno => errno,
                };
            }
            slot.stage = slot.stage_after_failure();
        }
        self.slots[completion.slot as usize] = slot;
        if slot.stage != Stage::Idle {
            return Flow::Continues;
        }
        self.failed_count += u64::from(slot.errno < 0);
        Flow::Judged {
            kind: 0,
            errno: slot.errno,
        }
    }
}
