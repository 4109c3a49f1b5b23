//! Runs the measurements of a lab like `run` does, and stores them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use lab::{
    AgingOptions, LabEvent, LabMatrix, LabRunRequest, LabRunner, LabScale, LabWatcher, PEAK_DEPTHS,
    RunSubject,
};
use results::{RunEvent, RunRecord, Warning, WarningCode};
use run::{RunOptions, RunSpec};

use super::progress::LabProgress;
use super::remarks::{aging_note, built_as};
use crate::args::FileSystemArgs;
use crate::command::planned::toml_for_record;
use crate::failure::CliError;
use crate::finished::saved;
use crate::signals::ResumeFlag;
use crate::stored::StoreLocation;
use crate::terminal::StandardOutput;

/// Measures the runs of a lab, shows them, and stores them unless `is_stored` is `false`.
pub(crate) struct StoringRunner<'a> {
    progress: LabProgress<'a>,
    location: &'a StoreLocation,
    is_stored: bool,
    /// Use of standard output.
    stdout: StandardOutput,
    stop: Arc<AtomicBool>,
    scale: LabScale,
    aging: Option<AgingOptions>,
}

impl<'a> StoringRunner<'a> {
    /// Creates the runner for a matrix, with the options of its arguments.
    pub fn new(
        matrix: &'a LabMatrix,
        args: &FileSystemArgs,
        location: &'a StoreLocation,
        is_stored: bool,
        stop: &Arc<AtomicBool>,
    ) -> Self {
        let choices = &matrix.request.choices;
        Self {
            progress: LabProgress::new(args.table.quiet, choices, &matrix.workloads),
            location,
            is_stored,
            stdout: args.table.json.stdout(),
            stop: Arc::clone(stop),
            scale: matrix.request.scale,
            aging: matrix.request.aging,
        }
    }

    /// Returns the notes of a record about the file system under test.
    fn notes_on(&self, subject: RunSubject<'_>) -> Vec<String> {
        let (choice, built, aged) = match subject {
            RunSubject::BareDevice(medium) => return vec![peak_of(medium)],
            RunSubject::Peak(label) => return vec![own_peak_of(label)],
            RunSubject::FileSystem {
                choice,
                built_as,
                aged,
            } => (choice, built_as, aged),
        };
        let scale = (!self.scale.is_full()).then(|| format!("scale {}", self.scale));
        let setup = format!("{}: {}", choice.label, built_as(built));
        let aged = self.aging.as_ref().zip(aged);
        let aged = aged.map(|(aging, aged)| aging_note(aging, aged));
        scale.into_iter().chain([setup]).chain(aged).collect()
    }

    /// Sets the note and the tags of a stored run. A failure is only a warning, because the run is
    /// stored and the lab has its results.
    fn mark(&self, record: &RunRecord, notes: &[String], lab_name: &str) {
        let marked = self.location.open().and_then(|mut store| {
            store.set_note(&record.id, &notes.join("; "))?;
            for tag in ["lab", lab_name] {
                store.add_tag(&record.id, tag)?;
            }
            Ok(())
        });
        if let Err(error) = marked {
            let id = &record.id;
            self.progress
                .aside(|| tell!("warning: run {id} has no note and no tags: {error}"));
        }
    }
}

/// Returns the workload as a file; without targets that are removed together with the lab.
fn workload_file(order: &LabRunRequest<'_>) -> Option<String> {
    let mut overrides = order.overrides.clone();
    let is_made = match order.subject {
        RunSubject::FileSystem { choice, .. } => choice.entry().is_some(),
        RunSubject::BareDevice(_) => true,
        RunSubject::Peak(_) => false,
    };
    if is_made {
        overrides.set_targets(Vec::new());
    }
    toml_for_record(order.workloads, &overrides)
}

/// Explains the peak of file systems on this medium.
pub(crate) fn peak_of(medium: &str) -> String {
    format!(
        "the peak is that of the bare device ({medium}), measured before any file system was made: \
         direct I/O in the same chunks, the better of queue depths {} and {}",
        PEAK_DEPTHS[0], PEAK_DEPTHS[1]
    )
}

/// Explains the peak of an existing directory.
pub(crate) fn own_peak_of(label: &str) -> String {
    format!(
        "the peak of {label} is its own: direct I/O in the same chunks on a file there, the better \
         of queue depths {} and {}",
        PEAK_DEPTHS[0], PEAK_DEPTHS[1]
    )
}

impl LabWatcher for StoringRunner<'_> {
    type Error = CliError;

    fn on_event(&self, event: LabEvent<'_>) {
        self.progress.on_event(event);
    }
}

impl LabRunner for StoringRunner<'_> {
    fn measure(
        &self,
        order: LabRunRequest<'_>,
        listener: &mut dyn FnMut(&RunEvent),
    ) -> Result<RunRecord, CliError> {
        let notes = self.notes_on(order.subject);
        let lab_name = order.lab_name;
        let workload_file = workload_file(&order);
        let lab_warning = |note: &String| Warning::of_run(WarningCode::Lab, note.clone());
        let plan_warnings = order.planned.warnings.into_iter().map(Warning::from);
        let continued = ResumeFlag::watch()?;
        let options = RunOptions {
            overwrite_devices: order.overwrite_devices,
            stop: Arc::clone(&self.stop),
            continued: continued.flag(),
            // The table already shows the storage under each file system.
            is_memory_intended: true,
            ..RunOptions::default()
        };
        let spec = RunSpec {
            plan: &order.planned.plan,
            warnings: notes.iter().map(lab_warning).chain(plan_warnings).collect(),
            workload_file,
            store: self.is_stored.then(|| self.location.open()),
            listener: &mut |event| {
                // At its start, so that lists show it as part of its lab while it is measured.
                if let RunEvent::Started { record } = event
                    && self.is_stored
                {
                    self.mark(record, &notes, lab_name);
                }
                listener(event);
                self.progress.on_run_event(event);
            },
        };
        let finished = run::measure(spec, &options, None);
        let (record, _) = self.progress.aside(|| saved(finished, self.stdout))?;
        Ok(record)
    }

    fn keep(
        &self,
        record: &mut RunRecord,
        subject: RunSubject<'_>,
        lab_name: &str,
    ) -> Result<(), CliError> {
        if !self.is_stored {
            return Ok(());
        }
        // The record was made in a guest, which has no access to this store.
        self.location.open()?.import(record.to_json().as_bytes())?;
        self.mark(record, &self.notes_on(subject), lab_name);
        Ok(())
    }
}
