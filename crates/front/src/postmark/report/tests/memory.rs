//! A PostMark program in memory, with a clock whose readings are set in advance.

use std::collections::{BTreeMap, HashMap, HashSet};

use description::classics::postmark::PostmarkSettings;

use crate::postmark::language::{SessionConsole, next_line, output_file_error};
use generate::pool::{OperationOutcome, PoolMark, PoolNames, PoolStep, PoolStream};
use results::PoolFigures;

use crate::postmark::report::{SessionTimes, report};

/// Files, directories, standard streams and clock of a program.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) scripts: BTreeMap<Vec<u8>, Vec<u8>>,
    pub(super) input: std::io::Cursor<Vec<u8>>,
    pub(super) output: Vec<u8>,
    pub(super) errors: Vec<u8>,
    /// Output that reports and listings were appended to.
    pub(super) written: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The files of the pools with their sizes.
    pub(super) pool: HashMap<Vec<u8>, u32>,
    pub(super) directories: HashSet<Vec<u8>>,
    /// Readings of the clock, in seconds; the last reading is repeated.
    pub(super) readings: Vec<i64>,
    pub(super) readings_count: usize,
}

/// A relative name without redundant components, so that equal files have equal names.
fn plain(name: &[u8]) -> Vec<u8> {
    let is_rooted = name.starts_with(b"/");
    let parts = name.split(|byte| *byte == b'/');
    let kept: Vec<&[u8]> = parts
        .filter(|part| !part.is_empty() && part != b".")
        .collect();
    let root: &[u8] = if is_rooted { b"/" } else { b"" };
    [root, &kept.join(&b'/')].concat()
}

impl Memory {
    fn read_clock(&mut self) -> i64 {
        let index = self.readings_count.min(self.readings.len() - 1);
        self.readings_count += 1;
        self.readings[index]
    }

    /// Whether the directory of a plain name is there.
    fn has_parent(&self, name: &[u8]) -> bool {
        let slash = name.iter().rposition(|byte| *byte == b'/');
        slash.is_none_or(|at| self.directories.contains(&name[..at]))
    }

    fn carry_out(&mut self, operation: &PoolStep, names: &PoolNames) -> OperationOutcome {
        let mut name = Vec::new();
        match *operation {
            PoolStep::Mark(_) => return OperationOutcome::Done,
            PoolStep::MakeDirectory(directory) | PoolStep::RemoveDirectory(directory) => {
                names.directory(directory, &mut name);
            }
            PoolStep::Create { file, .. }
            | PoolStep::Read { file, .. }
            | PoolStep::Append { file, .. }
            | PoolStep::Delete { file } => names.file(file, &mut name),
        }
        if self.is_done(operation, plain(&name)) {
            return OperationOutcome::Done;
        }
        if let Some(text) = operation.failure_text(&name) {
            self.print_error(&text);
        }
        OperationOutcome::Failed
    }

    fn is_done(&mut self, operation: &PoolStep, name: Vec<u8>) -> bool {
        let has_parent = self.has_parent(&name);
        match *operation {
            PoolStep::Mark(_) => true,
            PoolStep::MakeDirectory(_) => has_parent && self.directories.insert(name),
            PoolStep::RemoveDirectory(_) => self.directories.remove(&name),
            PoolStep::Create { size_bytes, .. } => {
                if has_parent {
                    let before = self.pool.insert(name, size_bytes);
                    assert_eq!(before, None, "a name was used twice");
                }
                has_parent
            }
            PoolStep::Read { size_bytes, .. } => {
                let size = self.pool.get(&name).copied();
                assert!(size.is_none_or(|size| size == size_bytes));
                size.is_some()
            }
            PoolStep::Append {
                size_bytes,
                appended_bytes,
                ..
            } => {
                if has_parent {
                    let size = self.pool.entry(name).or_default();
                    assert_eq!(*size, size_bytes);
                    *size += appended_bytes;
                }
                has_parent
            }
            PoolStep::Delete { .. } => self.pool.remove(&name).is_some(),
        }
    }
}

impl SessionConsole for Memory {
    type Lines = std::io::Cursor<Vec<u8>>;

    fn print(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
    }

    fn print_error(&mut self, text: &[u8]) {
        self.errors.extend_from_slice(text);
    }

    fn open(&mut self, file: &[u8]) -> Option<Self::Lines> {
        self.scripts.get(file).cloned().map(std::io::Cursor::new)
    }

    fn read_line(&mut self) -> Option<Vec<u8>> {
        next_line(&mut self.input).unwrap()
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        if file.is_empty() || !self.has_parent(file) {
            return false;
        }
        self.written
            .entry(file.to_vec())
            .or_default()
            .extend_from_slice(text);
        true
    }

    fn working_directory(&mut self) -> Vec<u8> {
        b"/tmp/pm".to_vec()
    }

    fn shell(&mut self, _: Option<&[u8]>) {}

    fn run(&mut self, settings: &PostmarkSettings, file: Option<&[u8]>) {
        let mut stream = match PoolStream::new(&settings.pool()) {
            Ok(stream) => stream,
            Err(error) => {
                let text = error.original_text().unwrap_or_default();
                return self.print_error(text.as_bytes());
            }
        };
        let names = PoolNames::new(&settings.pool());
        let mut readings = [0; 4];
        let mut outcome = OperationOutcome::Done;
        while let Some(operation) = stream.next(outcome) {
            if let PoolStep::Mark(mark) = operation {
                self.print(mark.text().as_bytes());
                match mark {
                    PoolMark::Creating => readings[0] = self.read_clock(),
                    PoolMark::Transactions => readings[1] = self.read_clock(),
                    PoolMark::TransactionsDone | PoolMark::OutOfFiles => {
                        readings[2] = self.read_clock()
                    }
                    PoolMark::Deleted => readings[3] = self.read_clock(),
                    _ => {}
                }
            }
            outcome = self.carry_out(&operation, &names);
        }
        let text = if stream.has_ended_early() {
            String::new()
        } else {
            let times = SessionTimes::from_seconds(readings);
            report(
                settings.report,
                settings.compat,
                &figures(settings, &stream),
                &times,
            )
        };
        match file {
            Some(file) if self.append(file, text.as_bytes()) => {}
            Some(file) => {
                self.print_error(&output_file_error(file));
                self.print(text.as_bytes());
            }
            None => self.print(text.as_bytes()),
        }
    }
}

fn figures(settings: &PostmarkSettings, stream: &PoolStream) -> PoolFigures {
    let totals = stream.totals();
    PoolFigures {
        transactions_count: u64::from(settings.transactions),
        created_before_count: u64::from(settings.number),
        created_count: totals.created_count,
        read_count: totals.read_count,
        appended_count: totals.appended_count,
        deleted_count: totals.deleted_count,
        deleted_after_count: totals.deleted_after_count,
        read_bytes_float: totals.read_bytes_float.into(),
        written_bytes_float: totals.written_bytes_float.into(),
        read_bytes: totals.read_bytes,
        written_bytes: totals.written_bytes,
        ..PoolFigures::default()
    }
}
