//! Notes on how a ring for file operations differs from what its name suggests.

use super::UringFiles;
use crate::{Operation, OperationSet};

impl UringFiles {
    /// One line per difference that affects the operations in `operations`, for the record.
    #[must_use]
    pub fn notes(&self, operations: OperationSet) -> Vec<String> {
        let mut notes = self.setup.notes();
        let is_lacking = |it: &Operation| it.needs_system_call() || self.unsupported.contains(it);
        let lacking: Vec<&str> = operations
            .iter()
            .filter(is_lacking)
            .map(Operation::name)
            .collect();
        if !lacking.is_empty() {
            notes.push(format!(
                "io_uring has no {} here: system calls are used instead",
                lacking.join(", ")
            ));
        }
        notes.push(
            "io_uring runs operations on names and buffered writes on kernel threads".to_owned(),
        );
        if operations.contains(Operation::ReadWhole) {
            notes.push(
                "linked requests open, read and close small files; `read_whole` is the time of all \
                 three"
                    .to_owned(),
            );
        }
        if operations.contains(Operation::Close) {
            notes.push(
                "files are direct descriptors: closing one does not report file system errors"
                    .to_owned(),
            );
        }
        notes
    }
}
