//! Status of a cell of jobs while it is in progress.

use plan::{Cell, Plan};
use results::{CellRecord, EngineNotes};

use crate::collect::CollectedCounts;
use crate::figures::cell_record;
use crate::lane::Lane;
use crate::measured::{MeasuredCell, MeasuredLane};

/// Request for status reports.
#[derive(Clone, Copy)]
pub(crate) struct StatusRequest<'a> {
    pub interval_ns: u64,
    pub plan: &'a Plan,
}

/// Cell of a status report, and its lanes.
#[derive(Clone, Copy)]
pub(crate) struct StatusLanes<'a> {
    pub cell: &'a Cell,
    pub lanes: &'a [Lane],
    pub transaction_kinds: &'a [String],
}

/// Record as if the cell ended now. It contains the whole intervals that workers have handed over.
pub(crate) fn so_far(
    plan: &Plan,
    of: StatusLanes<'_>,
    collection: &CollectedCounts,
    measure_ns: u64,
) -> CellRecord {
    let lanes = of.lanes.iter().enumerate();
    let lanes = lanes.map(|(index, lane)| MeasuredLane {
        lane: lane.clone(),
        spans: collection.lanes[index].clone(),
        outcome: collection.outcome_so_far(index),
        series: Vec::new(),
        goals: None,
    });
    let measured = MeasuredCell {
        lanes: lanes.collect(),
        intervals: Vec::new(),
        engine_notes: EngineNotes::default(),
        transaction_kinds: of.transaction_kinds.to_vec(),
        measure_ns,
        standstills: Vec::new(),
        steady: None,
    };
    cell_record(plan, of.cell, &measured)
}
