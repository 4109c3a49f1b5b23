//! Places in files, prepared.

use engine::Operation;
use plan::Distribution;
use plan::program::{FilePath, Where};

use super::{Compiler, taken_place};
use crate::GenerateError;
use crate::position::Draw;
use crate::program::code::{FileSpan, Place};
use crate::program::trail::Trail;

/// The most starting positions that a random place is drawn from; a small file has fewer.
const STARTS: u64 = 1 << 32;

impl Compiler<'_> {
    pub(super) fn place(
        &self,
        place: &Where,
        operation: Operation,
    ) -> Result<Place, GenerateError> {
        Ok(match place {
            Where::Here => Place::Here,
            Where::Same => Place::Same,
            Where::End => match self.seat.is_checked {
                true => Place::KnownEnd,
                false => Place::End,
            },
            Where::At(offset_bytes) => Place::At(*offset_bytes),
            Where::Dealt { step_bytes } => Place::Dealt(*step_bytes),
            Where::Random {
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
            Where::Along(path) => {
                let worker = u64::from(taken_place(self.seat));
                let trail = Trail::new(*path, worker, self.seeds().order);
                Place::Along(trail, FileSpan::of(operation))
            }
        })
    }

    fn random(
        &self,
        distribution: &Distribution,
        align_bytes: u32,
        span: FileSpan,
    ) -> Result<Place, GenerateError> {
        let seeds = self.seeds();
        let draw = Draw::new(distribution, STARTS, seeds)?;
        Ok(match distribution {
            Distribution::Zipf { .. } | Distribution::Pareto { .. } => Place::Ranked {
                draw,
                scatter_seed: seeds.scatter,
                align_bytes,
                span,
            },
            Distribution::NoRepeat => {
                let path = FilePath::Shuffled {
                    step_bytes: align_bytes,
                };
                Place::Along(Trail::new(path, 0, seeds.order), span)
            }
            _ => Place::Random {
                draw,
                starts: STARTS,
                align_bytes,
                span,
            },
        })
    }
}
