//! Recorded calls: where their names lie, and what became of them.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use engine::{FileOptions, Fileset, OpenMode};
use generate::program::PhaseEnd;
use generate::trace::{BrokenCall, Player, PlayerSeat};
use plan::program::{ProgramPhase, Trace};
use results::{Warning, WarningCode};
use rustix::fs::OFlags;
use target::Tree;

use crate::RunError;
use crate::files::field;
use crate::files::field::OpenFileset;
use crate::files::requests::FileRequests;

/// A worker that plays recorded calls.
pub(super) struct PlayerPlace<'a> {
    trace: &'a Trace,
    phase: &'a ProgramPhase,
    worker_index: u32,
    phase_end: &'a Arc<PhaseEnd>,
}

impl<'a> PlayerPlace<'a> {
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
    /// A plan without its calls.
    pub fn player(
        &self,
        labels_count: usize,
        is_judged: bool,
        is_due: bool,
        calls_count: Option<u64>,
    ) -> Result<Player, RunError> {
        let trace = self.trace;
        if trace.calls.len() as u64 != trace.calls_count {
            return Err(RunError::File {
                verb: "carry out the calls of",
                path: trace.file.clone().into(),
                source: std::io::Error::other("a stored plan is without them"),
            });
        }
        Ok(Player::new(&PlayerSeat {
            trace,
            labels_count,
            ramp_ns: self.phase.ramp_ns,
            time_ns: self.phase.time_ns,
            begun_s: now_s(),
            is_judged,
            phase_end: self.phase_end,
            is_due,
            calls_count,
        }))
    }

    /// Where its files lie.
    ///
    /// # Errors
    /// A name that leads out of the tree.
    pub fn field(&self, tree: &Tree, options: FileOptions) -> Result<OpenFileset, RunError> {
        let names = self.trace.names_of(self.worker_index);
        let fileset = Fileset::paths(field::location(tree, None)?, &names)?;
        let options = FileOptions {
            ways: ways(self.trace.is_sync),
            ..options
        };
        Ok(OpenFileset::of(Arc::new(fileset), options))
    }
}

/// How files are opened, in the order of `TraceWay`.
fn ways(is_sync: bool) -> Vec<OpenMode> {
    let made = OFlags::RDWR | OFlags::CREATE;
    let all = [
        OFlags::RDWR,
        made,
        made | OFlags::TRUNC,
        OFlags::RDONLY | OFlags::DIRECTORY,
    ];
    let way = |flags: OFlags| {
        let sync = match is_sync {
            true => OFlags::SYNC,
            false => OFlags::empty(),
        };
        OpenMode::new((flags | sync).bits().cast_signed(), 0o600)
    };
    all.map(way).to_vec()
}

fn now_s() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// What recorded calls ended with, where that is not as recorded.
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
    let warning = |(worker, broken): (usize, BrokenCall)| {
        let why = match broken.errno {
            Some(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
            None => "it ended otherwise than recorded".to_owned(),
        };
        let line = broken.line;
        let message =
            format!("worker {worker} failed at line {line} of {file}, which ended all: {why}");
        Warning::of_cell(WarningCode::TraceBroken, cell_index, message)
    };
    players.map(warning).collect()
}
