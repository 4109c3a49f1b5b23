//! Prepared positions in files.

use engine::Operation;
use plan::Distribution;
use plan::program::{CallPosition, FilePath};

use super::{Compiler, source_worker};
use crate::position::Draw;
use crate::program::code::{CallOffset, FileSpan};
use crate::program::file_cursor::FileCursor;
use crate::{GenerateError, mix};

/// Maximum number of starts from which a random position is drawn; a small file has fewer.
const STARTS_MAX: u64 = 1 << 32;

impl Compiler<'_> {
    pub(super) fn place(
        &self,
        position: &CallPosition,
        operation: Operation,
    ) -> Result<CallOffset, GenerateError> {
        Ok(match position {
            CallPosition::Here => CallOffset::Here,
            CallPosition::Same => CallOffset::Same,
            // Checked content follows from the offset, so the end must be a number.
            CallPosition::End => match self.context.is_checked {
                true => CallOffset::KnownEnd,
                false => CallOffset::End,
            },
            CallPosition::At(offset_bytes) => CallOffset::At(*offset_bytes),
            CallPosition::Dealt { step_bytes } => CallOffset::Dealt(*step_bytes),
            CallPosition::Random {
                distribution,
                align_bytes,
                is_nominal,
            } => {
                let span = match is_nominal {
                    true => FileSpan::Nominal,
                    false => FileSpan::of(operation),
                };
                self.random(distribution, (*align_bytes).max(1), span)?
            }
            CallPosition::Along(path) => {
                let worker = u64::from(source_worker(self.context));
                let workers = u64::from(self.context.worker_count.max(1));
                // Workers that share an order draw it from the program's seed.
                let order_seed = match path {
                    FilePath::Dealt { .. } => mix(self.context.program_seed),
                    _ => self.seeds().order,
                };
                let cursor = FileCursor::new(*path, worker, workers, order_seed);
                CallOffset::Cursor(cursor, FileSpan::of(operation))
            }
        })
    }

    fn random(
        &self,
        distribution: &Distribution,
        align_bytes: u32,
        span: FileSpan,
    ) -> Result<CallOffset, GenerateError> {
        let seeds = self.seeds();
        let draw = Draw::new(distribution, STARTS_MAX, seeds)?;
        Ok(match distribution {
            Distribution::Zipf { .. } | Distribution::Pareto { .. } => CallOffset::Ranked {
                draw,
                scatter_seed: seeds.scatter,
                align_bytes,
                span,
            },
            Distribution::NoRepeat => {
                let path = FilePath::Shuffled {
                    step_bytes: align_bytes,
                };
                CallOffset::Cursor(FileCursor::new(path, 0, 1, seeds.order), span)
            }
            _ => CallOffset::Random {
                draw,
                starts: STARTS_MAX,
                align_bytes,
                span,
            },
        })
    }
}
