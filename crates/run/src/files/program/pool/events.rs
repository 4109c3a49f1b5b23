//! Events of pools.

use generate::pool::{PoolRun, PoolStep};
use plan::program::PoolPart;
use results::{PoolFailure, PoolFailures, RunEvent};

use super::FilePools;
use crate::measured::MeasuredLane;

impl FilePools {
    /// Takes the events since the last call.
    pub fn pending_events(&mut self) -> Vec<RunEvent> {
        std::mem::take(&mut self.unreported_events)
    }

    pub(super) fn report_begin(&mut self, part: PoolPart) {
        let cell = self.cell.index;
        self.unreported_events
            .push(RunEvent::PoolPartBegun { cell, part });
    }

    pub(super) fn report_end(&mut self) {
        let Some(part) = self.part else { return };
        let mut failures = PoolFailures::default();
        for play in self
            .worker_pools
            .iter_mut()
            .filter_map(|it| it.run.as_mut())
        {
            let failed = play.take_failures();
            failures.count += failed.count;
            failures
                .listed
                .extend(failed.first.iter().filter_map(failure));
        }
        self.unreported_events.push(RunEvent::PoolPartDone {
            cell: self.cell.index,
            part,
            figures: Box::new(self.sum()),
            failures: Box::new(failures),
        });
    }

    /// Records the time that the removal of directories took.
    pub(super) fn note_removal(&mut self, lanes: &[MeasuredLane]) {
        let spans = self
            .worker_pools
            .iter()
            .zip(lanes)
            .filter_map(|(player, lane)| {
                let emptied_ns = player.run.as_ref().and_then(PoolRun::emptied_ns)?;
                Some(lane.outcome.finish_ns.saturating_sub(emptied_ns))
            });
        let longest_ns = spans.max().unwrap_or(0);
        if self.part == Some(PoolPart::Empty) && self.settings.subdirectories_count() > 0 {
            self.directories_removed_ns = longest_ns;
        }
    }
}

/// Description of a failed operation; `None` if it involves no file.
fn failure(operation: &PoolStep) -> Option<PoolFailure> {
    let file = operation.file()?;
    let kind = match operation {
        PoolStep::Create { .. } => "create",
        PoolStep::Read { .. } => "read",
        PoolStep::Append { .. } => "append",
        _ => "delete",
    };
    Some(PoolFailure {
        kind: kind.to_owned(),
        location: file.directory.location_index,
        subdirectory: file.directory.subdirectory_index,
        number: file.number,
    })
}
