//! Recorded calls: the location of their files, and their results.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{FileEngineOptions, Fileset, OpenMode};
use generate::program::PhaseEnd;
use generate::trace::{DivergedCall, ReplayContext, TracePlayer};
use plan::program::{ProgramPhase, Trace};
use results::{Warning, WarningCode};
use rustix::fs::OFlags;
use storage::Tree;

use crate::RunError;
use crate::file_requests::FileRequests;
use crate::open_fileset;
use crate::open_fileset::OpenFileset;

/// A worker that replays recorded calls.
pub(super) struct ReplayWorker<'a> {
    trace: &'a Trace,
    phase: &'a ProgramPhase,
    worker_index: u32,
    phase_end: &'a Arc<PhaseEnd>,
}

impl<'a> ReplayWorker<'a> {
    pub fn new(
        trace: &'a Trace,
        phase: &'a ProgramPhase,
        worker_index: u32,
        phase_end: &'a Arc<PhaseEnd>,
    ) -> Self {
        Self {
            trace,
            phase,
            worker_index,
            phase_end,
        }
    }

    /// # Errors
    /// A stored plan lacks the recorded calls.
    pub fn player(
        &self,
        labels_count: usize,
        is_judged: bool,
        is_due: bool,
        calls_count: Option<u64>,
    ) -> Result<TracePlayer, RunError> {
        let trace = self.trace;
        if trace.calls.len() as u64 != trace.calls_count {
            return Err(RunError::File {
                verb: "carry out the calls of",
                path: trace.file.clone().into(),
                source: std::io::Error::other("a stored plan does not contain them"),
            });
        }
        Ok(TracePlayer::new(&ReplayContext {
            trace,
            label_count: labels_count,
            ramp_ns: self.phase.ramp_ns,
            time_ns: self.phase.time_ns,
            start_s: now_s(),
            checks_results: is_judged,
            phase_end: self.phase_end,
            is_open_loop: is_due,
            call_count: calls_count,
        }))
    }

    /// Fileset of the recorded names.
    ///
    /// # Errors
    /// A name leads out of the tree.
    pub fn field(&self, tree: &Tree, options: FileEngineOptions) -> Result<OpenFileset, RunError> {
        let names = self.trace.names_of(self.worker_index);
        let fileset = Fileset::paths(open_fileset::location(tree, None)?, &names)?;
        let options = FileEngineOptions {
            open_modes: ways(self.trace.is_sync),
            ..options
        };
        Ok(OpenFileset::of(Arc::new(fileset), options))
    }
}

/// Open modes, in the order of `TraceOpenMode`.
fn ways(is_sync: bool) -> Vec<OpenMode> {
    let create = OFlags::RDWR | OFlags::CREATE;
    let all = [
        OFlags::RDWR,
        create,
        create | OFlags::TRUNC,
        OFlags::RDONLY | OFlags::DIRECTORY,
    ];
    let mode = |flags: OFlags| {
        let sync = match is_sync {
            true => OFlags::SYNC,
            false => OFlags::empty(),
        };
        // dbench creates its files with these permissions.
        OpenMode::new((flags | sync).bits().cast_signed(), 0o600)
    };
    all.map(mode).to_vec()
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Warnings about calls that did not end as recorded.
pub(super) fn broken(
    cell_index: u32,
    phase: &ProgramPhase,
    requests: &[FileRequests],
) -> Vec<Warning> {
    let trace = phase.groups.iter().find_map(|group| group.trace.as_ref());
    let file = trace.map_or("", |trace| &trace.file);
    let players = requests
        .iter()
        .enumerate()
        .filter_map(|(worker, it)| match it {
            FileRequests::Trace(player) => Some((worker, player.broken()?)),
            _ => None,
        });
    let warning = |(worker, broken): (usize, DivergedCall)| {
        let why = match broken.errno {
            Some(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
            None => "it did not end as recorded".to_owned(),
        };
        let line = broken.line;
        let message =
            format!("worker {worker} failed at line {line} of {file}; all workers ended: {why}");
        Warning::of_cell(WarningCode::TraceBroken, cell_index, message)
    };
    players.map(warning).collect()
}
