//! Rules about PostMark: its random numbers determine all counts, so most results can be verified.

use std::collections::HashMap;

use generate::pool::{OperationOutcome, PoolStream, Totals};
use plan::program::{FilePool, PoolGenerator};
use results::{CellRecord, PoolFigures, RunRecord};
use schemars::JsonSchema;
use serde::Serialize;

use super::rule::FindingList;
use super::{BoardRule, place};
use crate::PoolSize;

/// Transactions and files above which a run is not computed again: about 10 s on a slow machine.
const STEPS_MAX: u64 = 100_000_000;

/// Random numbers of a version of PostMark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PoolGeneration {
    /// Versions before 1.5: the example generator of ANSI C.
    Congruential,
    /// Versions from 1.5 on: the Mersenne Twister.
    Twister,
}

impl PoolGeneration {
    /// Both generations.
    pub const ALL: [Self; 2] = [Self::Congruential, Self::Twister];

    const fn draws(self) -> PoolGenerator {
        match self {
            Self::Congruential => PoolGenerator::Congruential15,
            Self::Twister => PoolGenerator::Twister1999,
        }
    }

    /// Returns the versions in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Congruential => "before 1.5",
            Self::Twister => "1.5 or later",
        }
    }
}

/// Verdict on figures of PostMark.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PoolVerdict {
    /// Name of the table.
    pub table: String,
    /// Generation of PostMark; none if the figures fit neither.
    pub generation: Option<PoolGeneration>,
    /// Whole number of seconds that gives both rates; none if there is none.
    pub seconds: Option<u64>,
    /// Shortest and longest time that gives both rates, in seconds; none if there is none.
    pub seconds_range: Option<[f64; 2]>,
}

/// Totals of runs of PostMark, each computed once.
#[derive(Debug, Default)]
pub(crate) struct PoolModel {
    known: HashMap<String, Option<Totals>>,
}

impl PoolModel {
    /// Returns the totals of a run with default settings; `None` if it is too long.
    pub fn of_size(&mut self, size: PoolSize, generation: PoolGeneration) -> Option<Totals> {
        self.totals(&FilePool {
            number: size.number,
            transactions: size.transactions,
            subdirectories: size.subdirectories,
            draws: generation.draws(),
            ..FilePool::default()
        })
    }

    /// Returns the totals of a run; `None` if it is too long or cannot be computed.
    pub fn totals(&mut self, settings: &FilePool) -> Option<Totals> {
        let key = format!("{settings:?}");
        let compute = || {
            let steps = u64::from(settings.number) + u64::from(settings.transactions);
            let mut stream = PoolStream::new(settings)
                .ok()
                .filter(|_| steps <= STEPS_MAX)?;
            while stream.next(OperationOutcome::Done).is_some() {}
            Some(*stream.totals())
        };
        *self.known.entry(key).or_insert_with(compute)
    }
}

/// Compares the counts of a cell with those that its seed determines.
pub(super) fn check(
    cell: &CellRecord,
    record: &RunRecord,
    model: &mut PoolModel,
    found: &mut FindingList,
) {
    let planned = record.plan.cell(cell.index);
    let settings = planned.and_then(|it| it.program()?.pool.as_ref());
    let figures = cell.phase_figures.as_ref().and_then(|it| it.pool.as_ref());
    let (Some(settings), Some(figures), 1) = (settings, figures, cell.workers) else {
        return;
    };
    // Runs of a fixed time do as many transactions as the storage allows.
    if figures.transactions_count != u64::from(settings.transactions) || figures.taken_count > 0 {
        return;
    }
    let Some(totals) = model.totals(settings) else {
        return;
    };
    for (what, expected, actual) in compared(&totals, figures) {
        if expected != actual {
            let at = format!("{}, {what}", place(cell));
            found.add(
                BoardRule::PoolCounts,
                &at,
                expected.to_string(),
                actual.to_string(),
            );
        }
    }
    if is_float_only(&totals, figures) {
        let at = format!("{}, bytes", place(cell));
        let expected = format!(
            "{} bytes read, {} written",
            totals.read_bytes, totals.written_bytes
        );
        let actual = "sums of 32-bit floats".to_owned();
        found.add(BoardRule::PoolFloats, &at, expected, actual);
    }
}

/// Returns `true` if the bytes are the sums that PostMark's 32-bit floats give.
fn is_float_only(totals: &Totals, figures: &PoolFigures) -> bool {
    figures.read_bytes != totals.read_bytes
        && (figures.read_bytes as f64 - f64::from(totals.read_bytes_float)).abs() < 1.0
}

fn compared(totals: &Totals, figures: &PoolFigures) -> Vec<(&'static str, u64, u64)> {
    let mut compared = vec![
        ("created", totals.created_count, figures.created_count),
        (
            "created alone",
            totals.created_before_count,
            figures.created_before_count,
        ),
        ("read", totals.read_count, figures.read_count),
        ("appended", totals.appended_count, figures.appended_count),
        ("deleted", totals.deleted_count, figures.deleted_count),
        (
            "deleted alone",
            totals.deleted_after_count,
            figures.deleted_after_count,
        ),
    ];
    // Text of the original has only rounded totals of bytes.
    if !is_float_only(totals, figures) && figures.read_bytes > 0 {
        compared.push(("bytes read", totals.read_bytes, figures.read_bytes));
        compared.push(("bytes written", totals.written_bytes, figures.written_bytes));
    }
    compared
}
