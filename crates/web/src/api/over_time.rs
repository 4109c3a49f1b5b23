//! Figures of a run over time.

use axum::extract::{Path, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{Cursor, StoredIntervals};
use units::JsonDocument;

use crate::answer::{Answer, Refusal, document};
use crate::shared::State;
use crate::thin::thinned;

/// Points of a chart unless it is said how many.
const POINTS: usize = 2000;
/// No more points are sent at once.
const POINTS_MAX: usize = 20_000;
/// Which figures over time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IntervalsQuery {
    /// Only what is behind this place, such as `next` of an earlier answer.
    pub from: Option<String>,
    /// Only the cell of this position.
    pub cell: Option<u32>,
    /// No more than so many intervals; 2000 by default.
    pub points: Option<usize>,
}

/// Figures over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IntervalsAnswer {
    /// The run's id.
    pub run_id: String,
    /// Cells with intervals, in the order of running.
    pub cells: Vec<CellIntervals>,
    /// The place behind all this: where to begin with events.
    pub next: String,
    /// How many intervals there are; where more than asked for, only some of each stretch are
    /// here: those with the lowest and with the highest rate.
    pub interval_count: usize,
}

impl JsonDocument for IntervalsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-intervals/1";
}

/// Figures over time of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellIntervals {
    /// 0-based in the order of running.
    pub position: u32,
    /// The cell's number in the plan.
    pub index: u32,
    /// Whether the cell is complete: these are then all its intervals, which replace those that
    /// came while it was measured.
    pub is_complete: bool,
    /// In the order of time, as in records.
    pub intervals: Vec<results::IntervalRecord>,
}

impl From<StoredIntervals> for CellIntervals {
    fn from(stored: StoredIntervals) -> Self {
        Self {
            position: stored.position,
            index: stored.index,
            is_complete: stored.is_complete,
            intervals: stored.intervals,
        }
    }
}

/// `GET /api/runs/{id}/intervals`
pub(crate) async fn intervals(
    shared: State,
    Path(id): Path<String>,
    Query(query): Query<IntervalsQuery>,
) -> Answer {
    let from = match &query.from {
        Some(from) => from
            .parse()
            .map_err(|()| Refusal::bad("`from` is no place of a run"))?,
        None => Cursor::default(),
    };
    let points = query.points.unwrap_or(POINTS).clamp(2, POINTS_MAX);
    let only = query.cell;
    let answer = shared.with_store(move |store| {
        let run_id = store.resolve(&id)?;
        let (stored, next) = store.intervals(&run_id, from, only)?;
        let mut cells: Vec<CellIntervals> = stored.into_iter().map(CellIntervals::from).collect();
        let interval_count = cells.iter().map(|cell| cell.intervals.len()).sum();
        for cell in &mut cells {
            let share = points.saturating_mul(cell.intervals.len()) / usize::max(interval_count, 1);
            if interval_count > points {
                cell.intervals = thinned(std::mem::take(&mut cell.intervals), share);
            }
        }
        Ok(IntervalsAnswer {
            run_id,
            cells,
            next: next.to_string(),
            interval_count,
        })
    });
    document(&answer.await?)
}
