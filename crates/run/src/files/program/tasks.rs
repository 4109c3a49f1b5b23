//! Tasks of a phase's workers.

use generate::FileStamp;
use plan::WorkerPlan;
use storage::Tree;

use super::ProgramRun;
use super::trace::ReplayWorker;
use crate::RunError;
use crate::file_requests::FileRequests;
use crate::file_task::{FileContents, FileTask};
use crate::open_fileset::OpenFileset;

impl ProgramRun {
    pub(super) fn task(
        &self,
        worker: &WorkerPlan,
        buffer_bytes: u32,
        requests: FileRequests,
        field: Option<OpenFileset>,
    ) -> FileTask {
        let content = self.contents[worker.worker_index as usize].clone();
        FileTask {
            requests,
            contents: match worker.verify && field.is_some() {
                // All workers have the same stamp, because each may read files that another one
                // wrote.
                true => FileContents::Stamp(self.stamp()),
                false => FileContents::Plain(content),
            },
            open_fileset: field,
            buffer_bytes,
            logs_calls: self.program.logs_calls,
        }
    }

    fn stamp(&self) -> FileStamp {
        let seed = self.cell.workers.first().map_or(0, |it| it.seed);
        let mut stamp = FileStamp::new(seed);
        if self.program.renames_files() {
            // A renamed file keeps its content, so the content must not depend on the file.
            stamp = stamp.of_place();
        }
        if self.program.may_leave_holes() {
            // Parts that were never written read as zeros.
            stamp = stamp.with_holes();
        }
        stamp
    }

    /// Task of a worker that replays recorded calls.
    pub(super) fn player(
        &self,
        replay: &ReplayWorker<'_>,
        worker: &WorkerPlan,
        tree: Option<&Tree>,
        calls_count: Option<u64>,
    ) -> Result<FileTask, RunError> {
        let is_due = self.cell.rate.is_some();
        let labels_count = self.program.labels.len();
        // On the `null` engine, calls do not end as recorded, so nothing judges them.
        let player = replay.player(labels_count, tree.is_some(), is_due, calls_count)?;
        let field = tree.map(|tree| replay.field(tree, self.options(tree)));
        let bytes = player.buffer_bytes();
        Ok(self.task(worker, bytes, player.into(), field.transpose()?))
    }
}
