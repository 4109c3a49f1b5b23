//! Results of a run over time.

use axum::extract::Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{RunCursor, StoredIntervals};
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, document};
use crate::body::Parameters;
use crate::shared::State;
use crate::thin::thinned;

/// Default number of points.
const POINTS_DEFAULT: usize = 2000;
/// Maximum number of points in one answer.
const POINTS_MAX: usize = 20_000;
/// Selection of intervals.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IntervalsQuery {
    /// Only intervals after this place, such as `next` of an earlier answer.
    pub from: Option<String>,
    /// Only the cell at this position.
    pub cell: Option<u32>,
    /// Maximum number of intervals; 2000 by default.
    pub points: Option<usize>,
}

/// Results over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IntervalsAnswer {
    /// The run's id.
    pub run_id: String,
    /// Cells with intervals, in the order in which they ran.
    pub cells: Vec<CellIntervals>,
    /// Place after these intervals, from which to start the events.
    pub next: String,
    /// Number of intervals before thinning. If it exceeds `points`, only the intervals with the
    /// lowest and the highest rate of each section are included.
    pub interval_count: usize,
}

impl JsonDocument for IntervalsAnswer {
    const FORMAT: &'static str = "pgmeter-serve-intervals/1";
}

/// Intervals of a cell.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CellIntervals {
    /// Position in the order in which cells ran, 0-based.
    pub position: u32,
    /// Index of the cell in the plan.
    pub index: u32,
    /// `true` if the cell is complete. These are then all its intervals; they replace the ones sent
    /// while it was measured.
    pub is_complete: bool,
    /// Intervals in order of time, as in records.
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
    Parameters(query): Parameters<IntervalsQuery>,
) -> Answer {
    let from = match &query.from {
        Some(from) => from
            .parse()
            .map_err(|()| RefusedAnswer::bad("`from` is not a place in a run"))?,
        None => RunCursor::default(),
    };
    // A section of a thinned series keeps two intervals, its lowest and its highest.
    let points = query.points.unwrap_or(POINTS_DEFAULT).clamp(2, POINTS_MAX);
    let only = query.cell;
    let answer = shared.with_store(move |store| {
        let run_id = store.resolve(&id)?;
        let (stored, next) = store.intervals(&run_id, from, only)?;
        let mut cells: Vec<CellIntervals> = stored.into_iter().map(CellIntervals::from).collect();
        let interval_count = cells.iter().map(|cell| cell.intervals.len()).sum();
        for cell in &mut cells {
            // In proportion to its intervals, so that all cells of a run are thinned alike.
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
