//! PostMark's operations, carried out one after the other by the system calls of the original.
//!
//! Nothing is measured here but the whole: this is what stands behind `as postmark`, where the
//! caller reads the clock at each [`Mark`].

mod calls;
mod pool;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use generate::pool::{Mark, Names, Operation, Outcome, Stream, StreamError, Totals};
use rustix::io::Errno;
use target::ClassicManifest;
use workload::postmark::Settings;
use workload::program::NamesInPlace;

use calls::Calls;

/// Who looks on while the operations are carried out.
pub trait Spectator {
    /// A phase begins or ends, or a tenth of the transactions is done.
    fn mark(&mut self, mark: Mark);

    /// An operation failed; the text is what the original prints to standard error.
    fn failed(&mut self, text: &[u8]);

    /// Whether to end the run; its files are still deleted. Asked before each operation.
    fn wants_to_stop(&self) -> bool;
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Played {
    /// The counts.
    pub totals: Totals,
    /// Whether files ran out or the run was stopped; there is no report then.
    pub has_ended_early: bool,
    /// What the original does not look at.
    pub overlooked: Overlooked,
}

/// What went wrong in ways that the original passes over in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Overlooked {
    /// Reads that failed or met the end of a file too early.
    pub read_count: u64,
    /// Writes that failed or wrote less than they should.
    pub write_count: u64,
    /// The first error of a read or write, none if they were short only.
    pub first_error: Option<Errno>,
    /// Files and subdirectories that were there before; they are left as they are.
    pub foreign_count: u64,
}

/// Plays a whole run on real files.
///
/// Locations are opened as they are given, and files are looked up relative to them. Nothing is
/// written to, or removed, that the run did not make: a name that is taken counts as a file that
/// cannot be opened.
///
/// # Errors
/// When the table of files or the text do not fit into memory; nothing was touched then.
pub fn play(settings: &Settings, spectator: &mut impl Spectator) -> Result<Played, StreamError> {
    let (mut stream, text) = Stream::with_text(&settings.pool())?;
    let _manifests = manifests(settings);
    let names = Names::new(&settings.pool());
    let mut calls = Calls::new(settings, text);
    let mut name = Vec::new();
    let mut outcome = Outcome::Done;
    loop {
        if spectator.wants_to_stop() {
            stream.stop();
        }
        let Some(operation) = stream.next(outcome) else {
            break;
        };
        if let Operation::Mark(mark) = operation {
            spectator.mark(mark);
            continue;
        }
        outcome = calls.carry_out(&operation);
        if outcome == Outcome::Failed {
            report_failure(&operation, &names, &mut name, spectator);
        }
    }
    Ok(Played {
        totals: *stream.totals(),
        has_ended_early: stream.has_ended_early(),
        overlooked: calls.overlooked(),
    })
}

/// What `clean` is told in each location, as long as the run goes on.
fn manifests(settings: &Settings) -> Vec<ClassicManifest> {
    let names = NamesInPlace::Numbers {
        subdirectory_count: settings.subdirectories,
    };
    let locations = settings.locations.iter();
    let mut directories: Vec<&Path> = locations
        .map(|location| Path::new(OsStr::from_bytes(&location.directory)))
        .collect();
    if directories.is_empty() {
        directories.push(Path::new("."));
    }
    let begin = |directory| ClassicManifest::begin(directory, "postmark", names.clone());
    directories.into_iter().filter_map(begin).collect()
}

#[cold]
fn report_failure(
    operation: &Operation,
    names: &Names,
    name: &mut Vec<u8>,
    spectator: &mut impl Spectator,
) {
    match *operation {
        Operation::Create { file, .. }
        | Operation::Read { file, .. }
        | Operation::Append { file, .. }
        | Operation::Delete { file } => names.file(file, name),
        Operation::Mark(_) | Operation::MakeDirectory(_) | Operation::RemoveDirectory(_) => return,
    }
    if let Some(text) = operation.failure_text(name) {
        spectator.failed(&text);
    }
}
