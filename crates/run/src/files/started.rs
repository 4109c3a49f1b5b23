//! Programs that are started in the place of workers' acts.

use std::path::PathBuf;

use plan::program::FileCommand;
use results::{PhaseFigures, RoundFigures, StepFigures, WorkerTimes, WorkerWindow};

use crate::exec::Executed;

/// What the programs that do nothing are called as a step.
const BASELINE: &str = "baseline";

/// Programs that do a phase, one a file.
pub(super) struct Programs {
    pub command: FileCommand,
    pub directory: PathBuf,
    /// The files in their order, relative to the directory.
    pub names: Box<dyn Iterator<Item = PathBuf>>,
    /// How many they are.
    pub count: u64,
}

/// What programs took.
#[derive(Clone)]
pub(super) struct ProgramTimes {
    pub executed: Executed,
    /// Of as many starts of a program that does nothing, or fewer.
    pub baseline: Executed,
}

impl ProgramTimes {
    /// The step, the programs that did nothing, and the step as a round of one worker, whose
    /// processor time is that of the programs.
    pub(super) fn figures(&self, label: &str) -> PhaseFigures {
        let step = |label: &str, of: &Executed| StepFigures {
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
