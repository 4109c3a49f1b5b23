//! One run of the lab, as `run` does it, into the store.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use display::Parts;
use results::{CellRecord, RunEvent, RunRecord, Warning, WarningCode};
use run::RunOptions;
use workload::Planned;
use workload::plan::Cell;

use crate::command::run::of_plan;
use crate::failure::Failure;
use crate::keep::Keeper;
use crate::rescue::rescue;
use crate::signals::Continued;
use crate::stored::Place;
use crate::terminal::StandardOutput;

/// What is to be measured.
pub(crate) struct Assignment<'a> {
    pub planned: Planned,
    /// What the record says of where it was made.
    pub notes: Vec<String>,
    pub tags: Vec<String>,
    /// Devices that were made for it, or that the user named.
    pub overwrite_devices: Vec<PathBuf>,
    pub is_stored: bool,
    /// What standard output is for.
    pub stdout: StandardOutput,
    /// What it is a part of.
    pub progress: &'a RefCell<Parts>,
    pub stop: Arc<AtomicBool>,
}

/// Measures, as a part of what goes on, and keeps the run; how many bytes were written, where
/// all of them were counted.
pub(crate) fn measure(
    assignment: Assignment<'_>,
    place: &Place,
) -> Result<(RunRecord, Option<u64>), Failure> {
    let Assignment {
        planned,
        notes,
        tags,
        overwrite_devices,
        is_stored,
        stdout,
        progress,
        stop,
    } = assignment;
    if let Some(refusal) = planned.refusals.into_iter().next() {
        return Err(refusal.into());
    }
    let mut keeper = Keeper::open(place, is_stored);
    let of_lab = |note: &String| Warning::of_run(WarningCode::Lab, note.clone());
    let of_lab = notes.iter().map(of_lab);
    let of_plan = planned.warnings.into_iter().map(of_plan);
    let warnings = of_lab.chain(of_plan).chain(keeper.doubts()).collect();
    let continued = Continued::watch()?;
    let options = RunOptions {
        overwrite_devices,
        command: std::env::args().collect(),
        stop,
        continued: continued.flag(),
        // What each file system lies on is said beside its column.
        memory_is_meant: true,
        ..RunOptions::default()
    };
    let mut prepared = Prepared::default();
    let mut finished = run::run(&planned.plan, warnings, &options, &mut |event| {
        keeper.hear(event);
        prepared.hear(event);
        progress.borrow_mut().hear(event);
    });
    // A run that was refused before it began is not in the store.
    let began = finished.error.is_none() || !finished.record.cells.is_empty();
    let not_stored = keeper.finish(&mut finished.record).filter(|_| began);
    if let Some(not_stored) = &not_stored {
        not_stored.tell();
        rescue(&finished.record, Vec::new(), stdout);
        progress.borrow().aside(|| {
            not_stored.tell();
            rescue(&finished.record, Vec::new(), StandardOutput::Free);
        });
    } else if is_stored && began {
        mark(&finished.record, &notes, &tags, place)?;
    }
    match finished.error {
        Some(error) => Err(error.into()),
        None => {
            let written_bytes = written_bytes(&finished.record, &prepared);
            Ok((finished.record, written_bytes))
        }
    }
}

/// How many bytes of test files were written before anything was measured.
#[derive(Debug, Default)]
struct Prepared {
    ended_bytes: u64,
    /// Of the target that is being prepared.
    current_bytes: u64,
}

impl Prepared {
    fn hear(&mut self, event: &RunEvent) {
        if let RunEvent::Prepare { done_bytes, .. } = event {
            if *done_bytes < self.current_bytes {
                self.ended_bytes += self.current_bytes;
            }
            self.current_bytes = *done_bytes;
        }
    }
}

/// All bytes that a run wrote; none where it also wrote unmeasured, as in ramps.
fn written_bytes(record: &RunRecord, prepared: &Prepared) -> Option<u64> {
    let is_measured = |cell: &Cell| cell.ramp_time_ns == 0 && cell.precondition.is_none();
    if !record.plan.cells.iter().all(is_measured) {
        return None;
    }
    let written = |cell: &CellRecord| cell.operation("write").map_or(0, |it| it.bytes);
    let measured: u64 = record.cells.iter().map(written).sum();
    Some(measured + prepared.ended_bytes + prepared.current_bytes)
}

/// Keeps a run that was measured elsewhere, with notes and tags.
pub(crate) fn keep(
    record: &mut RunRecord,
    notes: &[String],
    tags: &[String],
    place: &Place,
) -> Result<(), Failure> {
    place.open()?.import(record.to_json().as_bytes())?;
    mark(record, notes, tags, place)
}

/// Puts note and tags on a stored run.
fn mark(
    record: &RunRecord,
    notes: &[String],
    tags: &[String],
    place: &Place,
) -> Result<(), Failure> {
    let mut store = place.open()?;
    store.set_note(&record.id, &notes.join("; "))?;
    for tag in tags {
        store.add_tag(&record.id, tag)?;
    }
    Ok(())
}

/// What finds the runs of a lab in the store.
pub(super) fn tags(lab_name: String) -> Vec<String> {
    vec!["lab".to_owned(), lab_name]
}
