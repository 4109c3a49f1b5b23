//! Programs that run instead of workers' acts.

use std::path::PathBuf;

use plan::program::FileCommand;
use results::{PhaseFigures, RoundFigures, StepFigures, WorkerTimes, WorkerWindow};

use crate::exec::ExecResult;

/// Name of the step of programs that do nothing.
const BASELINE: &str = "baseline";

/// Programs that do the work of a phase, one per file.
pub(super) struct Programs {
    pub command: FileCommand,
    pub directory: PathBuf,
    /// Files in their order, relative to the directory.
    pub names: Box<dyn Iterator<Item = PathBuf>>,
    /// Number of files.
    pub count: u64,
}

#[derive(Clone)]
pub(super) struct ProgramTimes {
    pub executed: ExecResult,
    /// Times of at most as many starts of a program that does nothing.
    pub baseline: ExecResult,
}

impl ProgramTimes {
    /// Results as a step, with a step of the programs that did nothing. The step is also a round of
    /// one worker with the CPU time of the programs.
    pub(super) fn figures(&self, label: &str) -> PhaseFigures {
        let step = |label: &str, of: &ExecResult| StepFigures {
            label: label.to_owned(),
            count: of.done_count,
            errors: of.failed_count,
            time_ns: of.real_ns,
            user_ns: of.user_ns,
            system_ns: of.system_ns,
        };
        let done = &self.executed;
        let window = WorkerWindow {
            body_end_ns: done.real_ns,
            end_ns: done.real_ns,
            rounds: done.done_count + done.failed_count,
            user_ns: done.user_ns,
            system_ns: done.system_ns,
            ..WorkerWindow::default()
        };
        PhaseFigures {
            steps: vec![step(label, done), step(BASELINE, &self.baseline)],
            rounds: vec![RoundFigures {
                file_count: done.done_count,
                time_ns: done.real_ns,
                workers: vec![WorkerTimes {
                    time_ns: done.real_ns,
                    window: Some(window),
                    ..WorkerTimes::default()
                }],
                ..RoundFigures::default()
            }],
            ..PhaseFigures::default()
        }
    }
}
