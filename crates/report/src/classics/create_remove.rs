//! The text of create/remove, in the published page's form.

use results::StepFigures;
use workload::classics::create_remove::{Act, Between, Step};

/// A step, for how many files it was asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDone<'a> {
    /// The step.
    pub step: Step,
    /// Files that it was asked for.
    pub asked_count: u64,
    /// What it came to.
    pub figures: &'a StepFigures,
}

/// The steps as the original script printed them.
#[must_use]
pub fn page(steps: &[StepDone]) -> String {
    steps.iter().map(step_text).collect()
}

fn step_text(done: &StepDone) -> String {
    let Step {
        act,
        size_bytes,
        then,
    } = done.step;
    let count = done.asked_count;
    let head = match (act, size_bytes) {
        (Act::Create, 0) => format!("Creating {count} empty files"),
        (Act::Create, _) => format!("Creating {count} files of size {size_bytes} bytes"),
        (Act::Stat, _) => format!("Statting {count} files of size {size_bytes} bytes"),
        (Act::Remove, _) => format!("Deleting {count} files of size {size_bytes} bytes"),
    };
    let between = match then {
        Between::Remount => "Remounting\n\n",
        Between::DropCaches => "Dropping caches\n\n",
        Between::Nothing => "",
    };
    let times = [
        ("real", done.figures.time_ns),
        ("user", done.figures.user_ns),
        ("sys", done.figures.system_ns),
    ];
    let times = times.map(|(name, time_ns)| format!("{name}\t{}\n", shell_time(time_ns)));
    format!("{head}\n\n{}Done\n\n{between}", times.concat())
}

/// A time as the shell prints it, cut to milliseconds.
fn shell_time(time_ns: u64) -> String {
    let milliseconds = time_ns / 1_000_000;
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    format!("{minutes}m{}.{:03}s", rest / 1000, rest % 1000)
}

#[cfg(test)]
mod tests;
