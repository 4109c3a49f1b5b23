//! The runs of a lab, each as `run` does it, into the store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lab::{
    Aging, LabEvent, LabMatrix, LabRunner, LabWatcher, PEAK_DEPTHS, RunOrder, RunSubject, Scale,
};
use results::{RunEvent, RunRecord, Warning, WarningCode};
use run::{RunOptions, RunSpec};

use super::progress::LabProgress;
use super::remarks::{aged_to, built_as};
use crate::args::FileSystemArgs;
use crate::command::planned::kept_toml;
use crate::failure::Failure;
use crate::finished::saved;
use crate::signals::Continued;
use crate::stored::Place;
use crate::terminal::StandardOutput;

/// Measures the runs of a lab, shows them, and keeps them where runs are to be kept.
pub(crate) struct StoringRunner<'a> {
    progress: LabProgress<'a>,
    place: &'a Place,
    is_stored: bool,
    /// What standard output is for.
    stdout: StandardOutput,
    stop: Arc<AtomicBool>,
    scale: Scale,
    aging: Option<Aging>,
}

impl<'a> StoringRunner<'a> {
    /// For a matrix, as its arguments say it.
    pub fn new(
        matrix: &'a LabMatrix,
        args: &FileSystemArgs,
        place: &'a Place,
        is_stored: bool,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let choices = &matrix.request.choices;
        Self {
            progress: LabProgress::new(args.table.quiet, choices, &matrix.workloads),
            place,
            is_stored,
            stdout: args.table.json.stdout(),
            stop: Arc::clone(stop),
            scale: matrix.request.scale,
            aging: matrix.request.aging,
        }
    }

    /// What each record says of what it was measured on.
    fn notes_on(&self, subject: RunSubject<'_>) -> Vec<String> {
        let (choice, built, aged) = match subject {
            RunSubject::BareDevice(medium) => return vec![peak_of(medium)],
            RunSubject::PeakOf(label) => return vec![own_peak_of(label)],
            RunSubject::FileSystem {
                choice,
                built_as,
                aged,
            } => (choice, built_as, aged),
        };
        let scale = (!self.scale.is_full()).then(|| format!("scale {}", self.scale));
        let made = format!("{}: {}", choice.label, built_as(built));
        let aged = self.aging.as_ref().zip(aged);
        let aged = aged.map(|(aging, aged)| aged_to(aging, aged));
        scale.into_iter().chain([made]).chain(aged).collect()
    }

    /// Puts note and tags on a stored run.
    fn mark(&self, record: &RunRecord, notes: &[String], lab_name: &str) -> Result<(), Failure> {
        let mut store = self.place.open()?;
        store.set_note(&record.id, &notes.join("; "))?;
        for tag in ["lab", lab_name] {
            store.add_tag(&record.id, tag)?;
        }
        Ok(())
    }
}

/// What was measured as a workload file; without the place where that is gone with the lab.
fn workload_file(order: &RunOrder<'_>) -> Option<String> {
    let mut overrides = order.overrides.clone();
    let is_made = match order.subject {
        RunSubject::FileSystem { choice, .. } => choice.entry().is_some(),
        RunSubject::BareDevice(_) => true,
        RunSubject::PeakOf(_) => false,
    };
    if is_made {
        overrides.set_targets(Vec::new());
    }
    kept_toml(order.workloads, &overrides)
}

/// What the peak of file systems is that lie on this medium.
pub(crate) fn peak_of(medium: &str) -> String {
    format!(
        "the peak is that of the bare device ({medium}), measured before any file system was made: \
         direct I/O in the same chunks, the better of queue depths {} and {}",
        PEAK_DEPTHS[0], PEAK_DEPTHS[1]
    )
}

/// What the peak of a directory is that was there.
pub(crate) fn own_peak_of(label: &str) -> String {
    format!(
        "the peak of {label} is its own: direct I/O in the same chunks on a file there, the better \
         of queue depths {} and {}",
        PEAK_DEPTHS[0], PEAK_DEPTHS[1]
    )
}

impl LabWatcher for StoringRunner<'_> {
    type Error = Failure;

    fn hear(&self, event: LabEvent<'_>) {
        self.progress.hear(event);
    }
}

impl LabRunner for StoringRunner<'_> {
    fn measure(
        &self,
        order: RunOrder<'_>,
        hear: &mut dyn FnMut(&RunEvent),
    ) -> Result<RunRecord, Failure> {
        let notes = self.notes_on(order.subject);
        let workload_file = workload_file(&order);
        let of_lab = |note: &String| Warning::of_run(WarningCode::Lab, note.clone());
        let of_plan = order.planned.warnings.into_iter().map(Warning::from);
        let continued = Continued::watch()?;
        let options = RunOptions {
            overwrite_devices: order.overwrite_devices,
            stop: Arc::clone(&self.stop),
            continued: continued.flag(),
            // What each file system lies on is said beside its column.
            memory_is_meant: true,
            ..RunOptions::default()
        };
        let spec = RunSpec {
            plan: &order.planned.plan,
            warnings: notes.iter().map(of_lab).chain(of_plan).collect(),
            workload_file,
            store: self.is_stored.then(|| self.place.open()),
            listener: &mut |event| {
                hear(event);
                self.progress.hear_run(event);
            },
        };
        let finished = run::measure(spec, &options, None);
        // A run that was refused before it began is not in the store.
        if self.is_stored && finished.has_begun() && finished.not_stored.is_none() {
            self.mark(&finished.record, &notes, order.lab_name)?;
        }
        let (record, _) = self.progress.aside(|| saved(finished, self.stdout))?;
        Ok(record)
    }

    fn keep(
        &self,
        record: &mut RunRecord,
        subject: RunSubject<'_>,
        lab_name: &str,
    ) -> Result<(), Failure> {
        if !self.is_stored {
            return Ok(());
        }
        self.place.open()?.import(record.to_json().as_bytes())?;
        self.mark(record, &self.notes_on(subject), lab_name)
    }
}
