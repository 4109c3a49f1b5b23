//! What a cell of jobs has done so far, for whoever asks while it goes on.

use plan::{Cell, Plan};
use results::{CellRecord, EngineNotes};

use crate::collect::Collection;
use crate::figures::cell_record;
use crate::lane::Lane;
use crate::measured::{Measured, MeasuredLane};

/// How often that is told.
#[derive(Clone, Copy)]
pub(crate) struct StatusWish<'a> {
    pub interval_ns: u64,
    pub plan: &'a Plan,
}

/// The cell that figures are of, and its threads.
#[derive(Clone, Copy)]
pub(crate) struct StatusLanes<'a> {
    pub cell: &'a Cell,
    pub lanes: &'a [Lane],
    pub transaction_kinds: &'a [String],
}

/// The record as if the cell ended now: with what workers have handed over, which is whole
/// intervals of them.
pub(crate) fn so_far(
    plan: &Plan,
    of: StatusLanes<'_>,
    collection: &Collection,
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
    let measured = Measured {
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
