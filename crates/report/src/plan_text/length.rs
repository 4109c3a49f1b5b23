//! Estimates the duration of the cells of a plan.

use units::Span;

use plan::{Cell, Plan};

/// Duration of a cell, in nanoseconds, including its ramp time.
#[derive(Clone, Copy)]
pub(super) enum CellTime {
    /// Exactly this time.
    Known(u64),
    /// At most this time: its jobs may finish earlier.
    AtMost(u64),
    /// Until its operations or files are done.
    Unknown,
}

impl CellTime {
    pub fn of(cell: &Cell) -> Self {
        if cell.run_time_ns > 0 {
            return Self::Known(cell.ramp_time_ns.saturating_add(cell.run_time_ns));
        }
        let jobs = cell.workers.iter().map(|worker| worker.job.as_ref());
        let ends = jobs.map(|job| {
            // A job that waits for another one begins at an unknown time.
            let job = job.filter(|job| job.run_time_ns > 0 && job.after.is_none())?;
            let begin_ns = job.start_delay_ns.saturating_add(job.ramp_time_ns);
            Some(begin_ns.saturating_add(job.run_time_ns))
        });
        // One job without a known end leaves the whole cell without one.
        let ends: Option<Vec<u64>> = ends.collect();
        match ends.and_then(|ends| ends.into_iter().max()) {
            Some(end_ns) => Self::AtMost(end_ns),
            None => Self::Unknown,
        }
    }
}

/// Describes the duration of a cell without a run time and a number of operations.
pub(crate) fn until_done(cell: &Cell) -> String {
    match CellTime::of(cell) {
        CellTime::AtMost(ns) => format!("up to {}", Span(ns)),
        CellTime::Known(_) | CellTime::Unknown => "until done".to_owned(),
    }
}

/// Describes the number of cells and, as far as known, their total duration.
pub(super) fn length(plan: &Plan) -> String {
    let count = plan.cells.len();
    let noun = if count == 1 { "cell" } else { "cells" };
    let least = match plan.repetition_rule {
        Some(_) => "at least ",
        None => "",
    };
    let (mut total_ns, mut unknown, mut is_most) = (0_u64, 0, false);
    for cell in &plan.cells {
        match CellTime::of(cell) {
            CellTime::Known(ns) => total_ns = total_ns.saturating_add(ns),
            CellTime::AtMost(ns) => {
                total_ns = total_ns.saturating_add(ns);
                is_most = true;
            }
            CellTime::Unknown => unknown += 1,
        }
    }
    let work = match plan.cells.iter().all(|cell| cell.work.is_acts()) {
        true => "files",
        false => "operations",
    };
    let until = match (unknown, count) {
        (1, _) => format!("ends when its {work} are done"),
        _ => format!("end when their {work} are done"),
    };
    if count > 0 && unknown == count {
        return format!("{least}{count} {noun}, which {until}");
    }
    let bound = match (is_most, least) {
        (true, "") => "up to ",
        (true, _) => "about ",
        (false, least) => least,
    };
    let time = Span(total_ns);
    match unknown {
        0 => format!("{least}{count} {noun}, {bound}{time} in all"),
        _ => format!("{least}{count} {noun}, {bound}{time} plus {unknown} that {until}"),
    }
}
