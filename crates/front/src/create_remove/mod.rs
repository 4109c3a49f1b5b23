//! Create/remove: output as on the published page, for runs of its table.

use plan::program::{PhasePreparation, Program};
use results::{CellRecord, RunRecord, StepFigures};

use crate::TableText;

/// Output of the original script.
pub const TEXT: TableText = TableText {
    title: "create-remove",
    text: page,
};

/// The steps that ran, as the original script printed them.
fn page(_: &RunRecord, program: &Program, cells: &[&CellRecord]) -> Option<String> {
    let phases = program.phases();
    // Each step has a phase, up to the phase in which the run was stopped.
    let texts = cells.iter().enumerate().map(|(index, cell)| {
        let figures = cell.phase_figures.as_ref()?;
        // The original remounts after a step. Here, that is an action before the next phase.
        let next = phases.get(index + 1);
        let between = next.and_then(|phase| phase.before.first());
        let files = figures.fileset()?;
        let files = (files.file_count, files.file_bytes);
        Some(step_text(figures.step()?, files, between.copied()))
    });
    texts.collect()
}

fn step_text(step: &StepFigures, files: (u64, u64), between: Option<PhasePreparation>) -> String {
    let (count, size_bytes) = files;
    let head = match (step.label.as_str(), size_bytes) {
        ("create", 0) => format!("Creating {count} empty files"),
        ("create", _) => format!("Creating {count} files of size {size_bytes} bytes"),
        ("stat", _) => format!("Statting {count} files of size {size_bytes} bytes"),
        _ => format!("Deleting {count} files of size {size_bytes} bytes"),
    };
    let between = match between {
        Some(PhasePreparation::Remount) => "Remounting\n\n",
        Some(PhasePreparation::DropCaches) => "Dropping caches\n\n",
        _ => "",
    };
    let times = [
        ("real", step.time_ns),
        ("user", step.user_ns),
        ("sys", step.system_ns),
    ];
    let times = times.map(|(name, time_ns)| format!("{name}\t{}\n", shell_time(time_ns)));
    format!("{head}\n\n{}Done\n\n{between}", times.concat())
}

/// A duration as the shell prints it, truncated to milliseconds.
fn shell_time(time_ns: u64) -> String {
    let milliseconds = time_ns / 1_000_000;
    let (minutes, rest) = (milliseconds / 60_000, milliseconds % 60_000);
    format!("{minutes}m{}.{:03}s", rest / 1000, rest % 1000)
}

#[cfg(test)]
mod tests;
