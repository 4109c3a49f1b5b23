//! What a ring for file operations does otherwise than its name says.

use super::UringFiles;
use crate::{Operation, OperationSet};

impl UringFiles {
    /// One line for each thing that is not as the engine's name says where these operations are
    /// asked for, for the record.
    #[must_use]
    pub fn notes(&self, asked: OperationSet) -> Vec<String> {
        let mut notes = self.setup.notes();
        let is_lacking = |it: &Operation| it.is_by_call() || self.lacks.contains(it);
        let lacking: Vec<&str> = asked
            .iter()
            .filter(is_lacking)
            .map(Operation::name)
            .collect();
        if !lacking.is_empty() {
            notes.push(format!(
                "io_uring has no {} here: done by system call",
                lacking.join(", ")
            ));
        }
        notes.push(
            "io_uring hands operations on names and buffered writes to threads of the kernel"
                .to_owned(),
        );
        if asked.contains(Operation::ReadWhole) {
            notes.push(
                "small files are opened, read and closed by linked requests; `read_whole` is the \
                 time of all three"
                    .to_owned(),
            );
        }
        if asked.contains(Operation::Close) {
            notes.push(
                "files are direct descriptors: closing one reports no error of the file system"
                    .to_owned(),
            );
        }
        notes
    }
}
