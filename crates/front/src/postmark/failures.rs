//! What went wrong, in the original's words; and what it passes over in silence.

use generate::pool::{Names, Operation, PoolDirectory, PoolFile};
use plan::program::FilePool;
use results::{CellRecord, PoolFailure, PoolFailures, PoolFigures};

/// What is not told until the end.
#[derive(Debug, Default)]
pub struct Overlooked {
    reads: u64,
    writes: u64,
    /// What the system said first.
    reason: Option<String>,
    taken: u64,
}

impl Overlooked {
    /// Takes note of a phase.
    pub fn add(&mut self, phase: &CellRecord) {
        let of = |name: &str| {
            let figures = phase.operations.get(name);
            figures.map_or(0, |it| it.errors + it.short_count)
        };
        self.reads += of("read");
        self.writes += of("write");
        let mut causes = phase.errors.iter();
        let cause = causes.find(|it| ["read", "write"].contains(&it.operation.as_str()));
        let reason = cause.map(|it| it.message.clone());
        self.reason = self.reason.take().or(reason);
    }

    /// Takes note of names that were taken.
    pub const fn note_taken(&mut self, figures: &PoolFigures) {
        self.taken = figures.taken_count;
    }

    /// What is said of it.
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
        if self.taken > 0 {
            text += &format!(
                "warning: {} names were taken; those files and directories were left as they are\n",
                self.taken
            );
        }
        text
    }
}

/// What the original prints to standard error of each file that it could not work on.
pub fn failures_text(failures: &PoolFailures, pool: &FilePool) -> String {
    let names = Names::new(pool);
    let lines = failures.told.iter().map(|it| failure_line(it, &names));
    let mut text: String = lines.collect();
    let untold = failures.count.saturating_sub(failures.told.len() as u64);
    if untold > 0 {
        text += &format!("warning: {untold} failures more are not told one by one\n");
    }
    text
}

fn failure_line(failure: &PoolFailure, names: &Names) -> String {
    let file = PoolFile {
        slot_index: 0,
        number: failure.number,
        directory: PoolDirectory {
            location_index: failure.location,
            subdirectory_index: failure.subdirectory,
        },
    };
    // How much was to be moved is not told.
    let (size_bytes, appended_bytes) = (0, 0);
    let operation = match failure.kind.as_str() {
        "create" => Operation::Create { file, size_bytes },
        "read" => Operation::Read { file, size_bytes },
        "append" => Operation::Append {
            file,
            size_bytes,
            appended_bytes,
        },
        _ => Operation::Delete { file },
    };
    let mut name = Vec::new();
    names.file(file, &mut name);
    let line = operation.failure_text(&name).unwrap_or_default();
    String::from_utf8_lossy(&line).into_owned()
}
