//! Position of a line's request in a span; everything but the draw itself is prepared in advance.

mod draw;
mod order;
mod zipf;

use plan::{LinePlan, Sequence, SpanPlan};

use crate::arithmetic::Divisor;
use crate::{Cursor, GenerateError, LastRequest, Rng};
pub(crate) use draw::{Draw, Seeds};
pub(crate) use order::Permutation;
pub(crate) use zipf::Zipf;

/// Possible starts of requests with one length and alignment in a span, and the rule that selects
/// the next one.
///
/// Starts are multiples of the alignment from the beginning of the target, between `first_bytes`
/// and `last_bytes`; a request at any of them ends within the span.
#[derive(Debug, Clone)]
pub(crate) struct Placement {
    first_bytes: u64,
    last_bytes: u64,
    grid: Divisor,
    length_bytes: u32,
    kind: u16,
    sequence: Sequence,
    draw: Draw,
}

/// Requests for which a placement is prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestKind {
    /// Twice the line's number, plus one for its reply.
    pub(crate) number: u16,
    /// Length of the request in bytes.
    pub(crate) length_bytes: u32,
    /// Seed of the order without repetition.
    pub(crate) order_seed: u64,
}

impl Placement {
    /// Prepares requests of `kind` by the rules of `line` in `span`.
    pub(crate) fn new(
        line: &LinePlan,
        span: &SpanPlan,
        kind: RequestKind,
    ) -> Result<Self, GenerateError> {
        let align_bytes = effective_align(line, span)?;
        let grid = Divisor::new(align_bytes.into());
        let first_bytes = grid.round_up(span.start_bytes);
        let end_bytes = span.start_bytes + span.size_bytes;
        let room_bytes = end_bytes.checked_sub(kind.length_bytes.into());
        let last_bytes = room_bytes.map(|room_bytes| grid.round_down(room_bytes));
        let Some(last_bytes) = last_bytes.filter(|&last_bytes| last_bytes >= first_bytes) else {
            return Err(GenerateError::DoesNotFit {
                length_bytes: kind.length_bytes,
                align_bytes,
                start_bytes: span.start_bytes,
                size_bytes: span.size_bytes,
            });
        };
        let seeds = Seeds {
            order: kind.order_seed,
            // Depends only on the target, so that all workers have the same hot spots.
            scatter: span.target_index.into(),
        };
        let start_count = grid.divide(last_bytes - first_bytes).0 + 1;
        Ok(Self {
            first_bytes,
            last_bytes,
            grid,
            length_bytes: kind.length_bytes,
            kind: kind.number,
            sequence: line.sequence,
            draw: Draw::new(&line.distribution, start_count, seeds)?,
        })
    }

    /// Length of a request in bytes.
    #[inline]
    pub(crate) const fn length_bytes(&self) -> u32 {
        self.length_bytes
    }

    /// A start drawn by the line's distribution.
    #[inline]
    pub(crate) fn random<C: Cursor>(&self, rng: &mut Rng, cursor: &mut C) -> u64 {
        let Draw::Uniform { start_count } = &self.draw else {
            return self.draw_skewed_start(rng, cursor);
        };
        cursor.move_to(self.kind, self.length_bytes, |_| {
            self.start(rng.below(*start_count))
        })
    }

    #[inline(never)]
    fn draw_skewed_start<C: Cursor>(&self, rng: &mut Rng, cursor: &mut C) -> u64 {
        if let Draw::NoRepeat(order) = &self.draw {
            // Drawn only once: drawing again after losing a race would skip this start.
            let start_bytes = self.start(order.index(cursor.turn(self.kind)));
            return cursor.move_to(self.kind, self.length_bytes, |_| start_bytes);
        }
        cursor.move_to(self.kind, self.length_bytes, |_| {
            self.start(self.draw.index(rng))
        })
    }

    /// The start that follows the last request on the target.
    #[inline]
    pub(crate) fn sequential<C: Cursor>(&self, cursor: &mut C) -> u64 {
        cursor.move_to(self.kind, self.length_bytes, |last| match self.sequence {
            Sequence::Forward => {
                self.at_or_first(last, |last| last.start_bytes + last.length_bytes)
            }
            Sequence::Backward => self.before_or_last(last),
            Sequence::Strided { stride_bytes } => {
                self.at_or_first(last, |last| last.start_bytes.saturating_add(stride_bytes))
            }
        })
    }

    #[inline]
    fn start(&self, index: u64) -> u64 {
        self.first_bytes + index * self.grid.value()
    }

    /// The next aligned start at or after a position, or the first start if that does not fit.
    #[inline]
    fn at_or_first(&self, last: Option<LastRequest>, position: impl Fn(LastRequest) -> u64) -> u64 {
        last.map(position)
            .filter(|position| (self.first_bytes..=self.last_bytes).contains(position))
            .map(|position| self.grid.round_up(position))
            .filter(|start_bytes| *start_bytes <= self.last_bytes)
            .unwrap_or(self.first_bytes)
    }

    /// The aligned start of a request that ends where the last one began, or the last start.
    #[inline]
    fn before_or_last(&self, last: Option<LastRequest>) -> u64 {
        last.and_then(|last| last.start_bytes.checked_sub(self.length_bytes.into()))
            .map(|position| self.grid.round_down(position))
            .filter(|start_bytes| (self.first_bytes..=self.last_bytes).contains(start_bytes))
            .unwrap_or(self.last_bytes)
    }
}

/// Alignment of the line, or the sector size if the line has none.
pub(crate) fn effective_align(line: &LinePlan, span: &SpanPlan) -> Result<u32, GenerateError> {
    match (line.align_bytes, span.sector_bytes) {
        (0, 0) => Err(GenerateError::ZeroSector {
            target_index: span.target_index,
        }),
        (0, sector_bytes) => Ok(sector_bytes),
        (align_bytes, _) => Ok(align_bytes),
    }
}

#[cfg(test)]
mod tests;
