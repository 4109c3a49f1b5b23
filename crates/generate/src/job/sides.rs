//! Reads and writes, with the rules for each. Trims use the rules for writes.

use engine::Operation;
use plan::job::{BlockRule, StreamPlan};

use super::size_draw::SizeDraw;
use crate::GenerateError;
use crate::arithmetic::threshold;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestDirection {
    Read = 0,
    Write = 1,
}

impl RequestDirection {
    #[inline]
    pub(super) const fn operation(self, write_operation: Operation) -> Operation {
        match self {
            Self::Read => Operation::Read,
            Self::Write => write_operation,
        }
    }
}

/// Both directions, at the indexes of their numbers.
pub(super) const DIRECTIONS: [RequestDirection; 2] =
    [RequestDirection::Read, RequestDirection::Write];

/// Rules of one direction.
#[derive(Debug, Clone)]
pub(super) struct DirectionRule {
    pub(super) sizes: SizeDraw,
    /// Number of random positions per 2^32 draws.
    pub(super) random: u64,
}

/// The block rules of the directions that are used.
pub(super) fn used_blocks(stream: &StreamPlan) -> Vec<&BlockRule> {
    let read = stream.mix.reads().then_some(&stream.blocks.read);
    let write = stream.mix.modifies().then_some(&stream.blocks.write);
    read.into_iter().chain(write).collect()
}

pub(super) fn side(
    stream: &StreamPlan,
    side: RequestDirection,
) -> Result<DirectionRule, GenerateError> {
    let (blocks, percent) = match side {
        RequestDirection::Read => (&stream.blocks.read, stream.random_percent.read),
        RequestDirection::Write => (&stream.blocks.write, stream.random_percent.write),
    };
    Ok(DirectionRule {
        sizes: SizeDraw::new(&blocks.sizes)?,
        random: threshold("the share of random requests", percent)?,
    })
}
