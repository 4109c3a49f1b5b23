//! Which direction is next, and when syncs follow writes.

use engine::{Operation, OperationSet};
use workload::job::{JobPlan, NameWork, RecordedKind, SyncRule};

use super::sides::JobSide;
use super::walk::WalkPosition;

/// How directions are chosen.
#[derive(Debug, Clone, Copy)]
pub(super) enum MixRule {
    Always(JobSide),
    /// Of 2^32 draws, how many are reads.
    Drawn(u64),
}

/// Syncs behind writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct SyncTurns {
    pub(super) rule: SyncRule,
    /// Writes since the last of each.
    since_fsync: u32,
    since_fdatasync: u32,
    pub(super) due: Option<(Operation, u32)>,
}

impl MixRule {
    #[inline]
    pub(super) fn draw(self, position: &mut WalkPosition) -> JobSide {
        match self {
            Self::Always(side) => side,
            Self::Drawn(read) if position.rng.next_u64() >> 32 < read => JobSide::Read,
            Self::Drawn(_) => JobSide::Write,
        }
    }
}

impl SyncTurns {
    pub(super) const fn new(rule: SyncRule) -> Self {
        Self {
            rule,
            since_fsync: 0,
            since_fdatasync: 0,
            due: None,
        }
    }

    #[inline]
    pub(super) fn wrote(&mut self, file_index: u32) {
        if self.rule.fsync_each > 0 {
            self.since_fsync += 1;
            if self.since_fsync == self.rule.fsync_each {
                self.since_fsync = 0;
                self.due = Some((Operation::Fsync, file_index));
            }
        }
        if self.rule.fdatasync_each > 0 {
            self.since_fdatasync += 1;
            if self.since_fdatasync == self.rule.fdatasync_each {
                self.since_fdatasync = 0;
                self.due.get_or_insert((Operation::Fdatasync, file_index));
            }
        }
    }
}

pub(super) fn operations(plan: &JobPlan, reads_back: bool) -> OperationSet {
    if let Some(work) = plan.names {
        return match work {
            NameWork::Create => OperationSet::EMPTY
                .with(Operation::Create)
                .with(Operation::Close),
            NameWork::Stat => OperationSet::EMPTY.with(Operation::Stat),
            NameWork::Delete => OperationSet::EMPTY.with(Operation::Unlink),
        };
    }
    let stream = &plan.stream;
    let sync = &stream.sync;
    let has = |kind| plan.recorded.as_ref().is_some_and(|it| it.has(kind));
    let syncs = sync.fsync_each > 0 || sync.fsync_at_end || has(RecordedKind::Fsync);
    let syncs_data = sync.fdatasync_each > 0 || has(RecordedKind::Fdatasync);
    let cases = [
        (stream.mix.reads() || reads_back, Operation::Read),
        (stream.mix.writes(), Operation::Write),
        (syncs, Operation::Fsync),
        (syncs_data, Operation::Fdatasync),
    ];
    let used = cases.into_iter().filter(|(is_used, _)| *is_used);
    used.fold(OperationSet::EMPTY, |set, (_, operation)| {
        set.with(operation)
    })
}
