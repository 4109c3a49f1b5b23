//! File systems brought to an age before the workload, and what is said of that.

use std::time::{Duration, Instant};

use lab::{AgeProgress, Aged, Aging, Built, age};
use workload::Diagnostic;

use super::contest::{Contest, PLACE};
use crate::failure::{Exit, Failure};

/// So often is told how far it is.
const TOLD_EVERY: Duration = Duration::from_millis(500);
/// Nearer to the fullness that was asked for than so many percent is near enough.
const NEAR_PERCENT: f64 = 1.0;

impl Contest<'_> {
    /// Ages what was built, where that is asked for.
    pub(super) fn age(&self, built: &Built) -> Result<Option<Aged>, Failure> {
        let Some(aging) = &self.asked.aging else {
            return Ok(None);
        };
        self.step("aging");
        let mut told = Instant::now();
        let mut progress = |progress: AgeProgress| {
            if told.elapsed() >= TOLD_EVERY {
                told = Instant::now();
                let share = progress.written_bytes as f64 / progress.wanted_bytes.max(1) as f64;
                self.step(&format!("aging {:.0} %", share.min(1.0) * 100.0));
            }
        };
        let aged = age(&built.directory, aging, &self.stop, &mut progress)?;
        self.say(&format!("  aged in {:.1} s: {aged}", aged.elapsed_s));
        Ok(Some(aged))
    }
}

/// A workload that would have room on a file system that is not aged.
pub(super) fn too_full(aging: &Aging, refused: &Diagnostic) -> Failure {
    let reason = refused.message.replace(&format!(" on `{PLACE}`"), "");
    let message = format!(
        "aged to {}, it has too little room: {reason}",
        aging.fullness
    );
    let help = "use a lower `--age`, a larger `--image-size`, or a smaller `--scale` or `--size`";
    Failure::new(Exit::Usage, message, Some(help.to_owned()))
}

/// What a run's note says of it.
pub(super) fn in_note((aging, aged): (Aging, &Aged)) -> String {
    format!("aged (`--age {aging} --seed {}`): {aged}", aging.seed)
}

/// What was asked for and not reached.
pub(super) fn shortfalls(label: &str, aging: &Aging, aged: &Aged) -> Vec<String> {
    let mut notes = Vec::new();
    if (aged.full_percent - aging.fullness.0).abs() > NEAR_PERCENT {
        notes.push(format!(
            "{label}: {} full was requested but not reached: {}",
            aging.fullness,
            match (aged.file_count, aged.counts.refusals) {
                (0, _) => "it is fuller than that when new",
                (_, 0) => "its own count of free space does not settle",
                _ => "there was no room for more",
            }
        ));
    }
    if let Some(wanted) = aging.extents {
        let found = aged.layout.map(|layout| layout.extents_per_file());
        match found {
            None => notes.push(format!("{label}: does not report the extents of its files")),
            Some(found) if found < wanted => notes.push(format!(
                "{label}: {wanted} extents per file could not be reached"
            )),
            Some(_) => {}
        }
    }
    notes
}
