//! Matrices on directories that are there, with a runner that measures nothing.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};

use description::Overrides;
use description::load_builtin;
use plan::Plan;
use results::{Environment, RunEvent, RunRecord, Status, Warning, WarningCode};

use super::*;
use crate::{
    FileSystemChoice, JobOrder, LabError, LabEvent, LabFailure, LabMeasurement, LabMedium, LabNote,
    LabScale, LabStep, LabVerdict, LabWatcher, schedule,
};

/// Record of a complete run without cells.
pub(super) fn record() -> RunRecord {
    let mut record = RunRecord::new(Plan::default(), Environment::default(), Vec::new());
    record.finish(Status::Complete);
    record
}

/// Measures nothing, and records the events.
#[derive(Default)]
struct Scripted {
    /// File systems whose runs fail, by label.
    failing: Vec<String>,
    /// Ends each run as interrupted, and requests the end of all runs.
    interrupts: bool,
    stop: AtomicBool,
    events: RefCell<Vec<String>>,
    measured_on: RefCell<Vec<String>>,
}

impl LabWatcher for Scripted {
    type Error = LabError;

    fn on_event(&self, event: LabEvent<'_>) {
        let entry = match event {
            LabEvent::Jobs(jobs) => format!("{} jobs", jobs.len()),
            LabEvent::Begin(index) => format!("begin {index}"),
            LabEvent::Failure(_) => "alarm".to_owned(),
            LabEvent::Measured(_) => "measured".to_owned(),
            LabEvent::End => "end".to_owned(),
            LabEvent::Step(LabStep::Sync) => "sync".to_owned(),
            _ => return,
        };
        self.events.borrow_mut().push(entry);
    }
}

impl LabRunner for Scripted {
    fn measure(
        &self,
        order: LabRunRequest<'_>,
        on_event: &mut dyn FnMut(&RunEvent),
    ) -> Result<RunRecord, LabError> {
        let RunSubject::FileSystem { choice, .. } = order.subject else {
            panic!("no device is measured here");
        };
        let target = order.planned.plan.targets[0].path.clone();
        self.measured_on
            .borrow_mut()
            .push(target.display().to_string());
        if self.failing.contains(&choice.label) {
            return Err(LabError::UnsupportedByKernel {
                name: choice.label.clone(),
            });
        }
        on_event(&RunEvent::Prepare {
            target: target.display().to_string(),
            done_bytes: 7,
            total_bytes: 7,
        });
        let mut record = record();
        if self.interrupts {
            self.stop.store(true, Ordering::Relaxed);
            record.finish(Status::Interrupted);
        }
        Ok(record)
    }

    fn keep(&self, _: &mut RunRecord, _: RunSubject<'_>, _: &str) -> Result<(), LabError> {
        panic!("there are no guests here")
    }
}

/// Directories of one file system, and a directory for labs.
struct Directories {
    directory: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Directories {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["a", "b", "labs"] {
            std::fs::create_dir(directory.path().join(name)).unwrap();
        }
        Self {
            directory,
            _turn: crate::TEST_LOCK
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn matrix(&self) -> LabMatrix {
        let mut overrides = Overrides::default();
        overrides.set("count", "100").unwrap();
        let choice = |name: &str| FileSystemChoice {
            label: name.to_owned(),
            ..FileSystemChoice::of_path(&self.path(name))
        };
        LabMatrix {
            request: MatrixRequest {
                choices: ["a", "b"].map(choice).into(),
                medium: LabMedium::default(),
                directory: self.path("labs"),
                scale: LabScale::FULL,
                host: None,
                aging: None,
            },
            workloads: vec![LabWorkload {
                name: "create-remove".to_owned(),
                workloads: load_builtin("create-remove").unwrap(),
                overrides,
                remarks: Vec::new(),
                misaligned_block_bytes: None,
            }],
            is_cold: false,
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn measure(&self, runner: &Scripted) -> MatrixOutcome {
        let matrix = self.matrix();
        let jobs = schedule(2, 1, 2, JobOrder::Turns, 1);
        let outcome = matrix.measure(&jobs, runner, &runner.stop).unwrap();
        let left = std::fs::read_dir(self.path("labs")).unwrap().count();
        assert_eq!(left, 0, "the lab is gone");
        outcome
    }
}

#[test]
fn every_job_is_measured_in_order_on_its_own_target() {
    let directories = Directories::new();
    let runner = Scripted::default();
    let outcome = directories.measure(&runner);
    let wanted = ["a", "b", "b", "a"].map(|name| directories.path(name));
    let measured = runner.measured_on.borrow();
    assert!(measured.iter().map(Path::new).eq(&wanted), "{measured:?}");
    assert_eq!(outcome.measured.len(), 4);
    assert_eq!(outcome.of_job(0, 1).count(), 2);
    for job in &outcome.measured {
        assert!(job.costs.sync.is_some(), "what was written is durable");
        assert_eq!(job.costs.user_written_bytes, Some(7));
        let costs = (job.costs.mkfs, job.costs.unmount);
        assert_eq!(costs, (None, None), "nothing was made");
    }
    assert!(outcome.setups.iter().all(Option::is_some));
    assert_eq!(outcome.verdict(false), LabVerdict::Complete);
    let events = runner.events.borrow();
    assert_eq!(events[..4], ["4 jobs", "begin 0", "sync", "measured"]);
    assert_eq!(events.last().map(String::as_str), Some("end"));
}

#[test]
fn a_failed_file_system_is_skipped_and_the_others_continue() {
    let runner = Scripted {
        failing: vec!["a".to_owned()],
        ..Scripted::default()
    };
    let outcome = Directories::new().measure(&runner);
    assert_eq!(
        (outcome.of_job(0, 0).count(), outcome.of_job(0, 1).count()),
        (0, 2)
    );
    let alarm = LabFailure::FileSystem {
        choice_index: 0,
        reason: "this kernel does not support a".to_owned(),
    };
    assert_eq!(outcome.failures, [alarm]);
    assert_eq!(outcome.verdict(true), LabVerdict::System);
    assert_eq!(runner.measured_on.borrow().len(), 3);
}

#[test]
fn an_interrupted_job_is_dropped_and_no_other_follows() {
    let runner = Scripted {
        interrupts: true,
        ..Scripted::default()
    };
    let outcome = Directories::new().measure(&runner);
    assert!(outcome.measured.is_empty() && outcome.failures.is_empty());
    assert_eq!(outcome.notes, [LabNote::Interrupted(job(0))]);
    assert_eq!(outcome.verdict(true), LabVerdict::Interrupted);
    assert_eq!(runner.measured_on.borrow().len(), 1);
}

fn job(choice_index: usize) -> LabMeasurement {
    LabMeasurement {
        choice_index,
        workload_index: 0,
        repetition: 0,
    }
}

fn outcome(warnings: &[&[WarningCode]]) -> MatrixOutcome {
    let measured = warnings.iter().enumerate().map(|(index, codes)| {
        let mut record = record();
        let warnings = codes
            .iter()
            .map(|code| Warning::of_cell(code.clone(), 0, "why"));
        record.warnings = warnings.collect();
        MeasuredJob {
            job: job(index),
            record,
            costs: JobCosts::default(),
        }
    });
    MatrixOutcome {
        measured: measured.collect(),
        ..MatrixOutcome::default()
    }
}

#[test]
fn a_lab_whose_target_went_away_has_failed() {
    assert_eq!(outcome(&[&[]]).verdict(false), LabVerdict::Complete);
    let lost = outcome(&[&[], &[WarningCode::TargetLost]]);
    assert_eq!(lost.verdict(false), LabVerdict::Failed);
}

#[test]
fn a_job_whose_files_ran_out_has_a_shortfall() {
    let depleted = outcome(&[&[], &[WarningCode::PoolDepleted]]);
    let shortfall = JobShortfall::Depleted("why".to_owned());
    assert_eq!(depleted.shortfalls(), [(job(1), shortfall)]);
}
