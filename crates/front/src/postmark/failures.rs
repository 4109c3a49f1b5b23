//! Messages about failures in the original's words, and about failures that the original ignores.

use generate::pool::{PoolDirectory, PoolFile, PoolNames, PoolStep};
use plan::program::FilePool;
use results::{CellRecord, PoolFailure, PoolFailures, PoolFigures};

/// Failures that are only reported at the end.
#[derive(Debug, Default)]
pub struct DeferredFailures {
    reads: u64,
    writes: u64,
    /// Message of the first failed read or write.
    reason: Option<String>,
    taken_count: u64,
}

impl DeferredFailures {
    /// Adds the failures of a phase.
    pub fn add(&mut self, phase: &CellRecord) {
        // The original ignores failed and short reads and writes; it only reports failed opens and
        // deletions.
        let of = |name: &str| {
            let figures = phase.operations.get(name);
            figures.map_or(0, |it| it.errors + it.short_count)
        };
        self.reads += of("read");
        self.writes += of("write");
        let mut causes = phase.errors.iter();
        let cause = causes.find(|it| ["read", "write"].contains(&it.operation.as_str()));
        let reason = cause.map(|it| it.message.clone());
        // The first reason of the run is kept, since later failures often follow from it.
        self.reason = self.reason.take().or(reason);
    }

    /// Stores the number of names that existed before.
    pub const fn set_taken_count(&mut self, figures: &PoolFigures) {
        self.taken_count = figures.taken_count;
    }

    /// The warnings, one per line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.reads + self.writes > 0 {
            let reason = match &self.reason {
                Some(reason) => format!(", the first with: {reason}"),
                None => String::new(),
            };
            text += &format!(
                "warning: {} reads of files and {} writes failed or were short{reason}\n",
                self.reads, self.writes
            );
        }
        if self.taken_count > 0 {
            text += &format!(
                "warning: {} names already existed; those files and directories were not changed\n",
                self.taken_count
            );
        }
        text
    }
}

/// The original's messages on standard error about files that it could not use.
pub fn failures_text(failures: &PoolFailures, pool: &FilePool) -> String {
    let names = PoolNames::new(pool);
    let lines = failures.listed.iter().map(|it| failure_line(it, &names));
    let mut text: String = lines.collect();
    let unlisted = failures.count.saturating_sub(failures.listed.len() as u64);
    if unlisted > 0 {
        text += &format!("warning: {unlisted} more failures are not listed\n");
    }
    text
}

fn failure_line(failure: &PoolFailure, names: &PoolNames) -> String {
    let file = PoolFile {
        slot_index: 0,
        number: failure.number,
        directory: PoolDirectory {
            location_index: failure.location,
            subdirectory_index: failure.subdirectory,
        },
    };
    // The failure does not contain the sizes, and the messages do not use them.
    let (size_bytes, appended_bytes) = (0, 0);
    let operation = match failure.kind.as_str() {
        "create" => PoolStep::Create { file, size_bytes },
        "read" => PoolStep::Read { file, size_bytes },
        "append" => PoolStep::Append {
            file,
            size_bytes,
            appended_bytes,
        },
        _ => PoolStep::Delete { file },
    };
    let mut name = Vec::new();
    names.file(file, &mut name);
    let line = operation.failure_text(&name).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}
