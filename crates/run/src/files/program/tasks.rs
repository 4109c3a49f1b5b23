//! What a worker of a phase is given.

use target::Tree;
use workload::plan::WorkerPlan;

use super::ProgramCourse;
use super::trace::PlayerPlace;
use crate::RunError;
use crate::files::requests::FileRequests;
use crate::files::task::{Field, FileContents, FileTask};

impl ProgramCourse {
    pub(super) fn task(
        &self,
        worker: &WorkerPlan,
        buffer_bytes: u32,
        requests: FileRequests,
        field: Option<Field>,
    ) -> FileTask {
        let content = self.contents[worker.worker_index as usize].clone();
        FileTask {
            requests,
            field,
            contents: FileContents::Plain(content),
            buffer_bytes,
        }
    }

    /// The task of a worker that plays recorded calls.
    pub(super) fn player(
        &self,
        place: &PlayerPlace<'_>,
        worker: &WorkerPlan,
        tree: Option<&Tree>,
    ) -> Result<FileTask, RunError> {
        let player = place.player(self.program.labels.len(), tree.is_some())?;
        let field = tree.map(|tree| place.field(tree, self.options(tree)));
        let bytes = player.buffer_bytes();
        Ok(self.task(worker, bytes, player.into(), field.transpose()?))
    }
}
