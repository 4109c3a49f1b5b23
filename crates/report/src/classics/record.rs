//! What the classic programs themselves would have printed of a record's cells.

use std::ffi::OsString;

use results::{CellRecord, FilesetFigures, PhaseFigures, RoundRule, RunRecord};
use workload::classics::create_remove::CreateRemovePlan;
use workload::classics::fs_mark::FsMarkPlan;
use workload::classics::lat_fs::{Best, Sample};
use workload::plan::{Cell, FilePlan, PostmarkPlan};

use super::create_remove::StepDone;
use super::fs_mark::{Banner, CTIME, Destination, Rows};
use super::{create_remove, lat_fs};
use crate::postmark;
use crate::wrap::printable;

/// The texts of all cells that repeat a classic program, in their order; none where there is no
/// such cell, or its program's text has figures that were not measured.
#[must_use]
pub fn text(record: &RunRecord) -> Option<String> {
    let mut texts = Vec::new();
    for cell in &record.plan.cells {
        let phases: Vec<&CellRecord> = record
            .cells
            .iter()
            .filter(|done| done.index == cell.index)
            .collect();
        texts.extend(of_cell(record, cell, &phases));
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn of_cell(record: &RunRecord, cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    match cell.files.as_ref()? {
        FilePlan::Postmark(plan) => of_postmark(plan, phases),
        FilePlan::CreateRemove(plan) => of_create_remove(plan, phases),
        FilePlan::LatFs(_) => of_lat_fs(phases),
        FilePlan::FsMark(plan) => of_fs_mark(record, plan, phases),
        FilePlan::Program(_) => None,
    }
}

/// The phase that the cell is measured for, and its figures.
fn principal<'a>(phases: &[&'a CellRecord]) -> Option<(&'a CellRecord, &'a PhaseFigures)> {
    let mut told = phases.iter();
    told.find_map(|cell| Some((*cell, cell.phase_figures.as_ref()?)))
}

fn of_postmark(plan: &PostmarkPlan, phases: &[&CellRecord]) -> Option<String> {
    let pool = principal(phases)?.1.pool.as_ref()?;
    let micros = |time_ns: u64| i64::try_from(time_ns / 1000).ok();
    let transactions_start_us = micros(pool.creation_ns)?;
    let transactions_end_us = transactions_start_us.saturating_add(micros(pool.transactions_ns)?);
    let times = postmark::Times {
        start_us: 0,
        transactions_start_us,
        transactions_end_us,
        end_us: transactions_end_us.saturating_add(micros(pool.deletion_ns)?),
    };
    let settings = &plan.settings;
    Some(postmark::report(
        settings.report,
        settings.compat,
        pool,
        &times,
    ))
}

fn of_create_remove(plan: &CreateRemovePlan, phases: &[&CellRecord]) -> Option<String> {
    // Each step has a phase, up to the one in which the run was stopped.
    let steps = plan.steps().into_iter().zip(phases);
    let steps: Option<Vec<StepDone>> = steps
        .map(|(step, cell)| {
            let figures = cell.phase_figures.as_ref()?;
            Some(StepDone {
                step,
                asked_count: figures.fileset()?.file_count,
                figures: figures.step()?,
            })
        })
        .collect();
    steps.map(|steps| create_remove::page(&steps))
}

fn of_lat_fs(phases: &[&CellRecord]) -> Option<String> {
    let mut lines = String::new();
    for pair in phases.chunks(2) {
        // A size that was not measured to its end has no row.
        let [create, remove] = pair else { continue };
        let (Some(create), Some(remove)) = (&create.phase_figures, &remove.phase_figures) else {
            continue;
        };
        lines += &lat_fs_line(create, remove)?;
    }
    (!lines.is_empty()).then_some(lines)
}

fn lat_fs_line(create: &PhaseFigures, remove: &PhaseFigures) -> Option<String> {
    let FilesetFigures {
        file_count,
        file_bytes,
    } = *create.fileset()?;
    let told = |figures: &PhaseFigures, rule: RoundRule| {
        let round = figures.told_round.filter(|round| round.rule == rule)?;
        Some(round.time_ns)
    };
    let best = |figures| told(figures, RoundRule::Best);
    if let (Some(create_ns), Some(remove_ns)) = (best(create), best(remove)) {
        let best = Best {
            file_count: u32::try_from(file_count).ok()?,
            create_ns,
            remove_ns,
        };
        return Some(lat_fs::best_line(file_bytes, &best));
    }
    let median = |figures: &PhaseFigures| {
        Some(Sample {
            file_count: u32::try_from(figures.fileset()?.file_count).ok()?,
            time_ns: told(figures, RoundRule::Median)?,
        })
    };
    let (create, remove) = (median(create), median(remove));
    Some(lat_fs::median_line(file_bytes, create, remove))
}

/// With the columns of each kind of call, as the original has them where it is asked for them.
fn of_fs_mark(record: &RunRecord, plan: &FsMarkPlan, phases: &[&CellRecord]) -> Option<String> {
    let (cell, figures) = principal(phases)?;
    let rounds = &figures.rounds;
    // Records of format 1 lack the times of the threads.
    if rounds.is_empty() || rounds.iter().any(|round| round.workers.is_empty()) {
        return None;
    }
    let command: Vec<OsString> = record
        .command
        .iter()
        .map(|word| printable(word).into())
        .collect();
    let started_at = cell.started_at.unwrap_or(record.started_at);
    let banner = Banner {
        command: &command,
        // In UTC: a record does not say where it was made.
        started_at: &started_at.strftime(CTIME).to_string(),
        plan,
        is_verbose: true,
    };
    let head = banner.text(Destination::Output);
    let mut rows = Rows::new(plan, banner.is_verbose);
    let rows: String = rounds.iter().map(|round| rows.next(round)).collect();
    Some(String::from_utf8_lossy(&head).into_owned() + &rows)
}
