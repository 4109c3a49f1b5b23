//! Selection of the next direction, and syncs after writes.

use engine::{Operation, OperationSet, Request};
use plan::job::{
    JobPlan, MetadataWork, RangeSync, ReadWriteMix, RecordedKind, StreamPlan, SyncRule,
};

use super::access::JobAccess;
use super::sides::RequestDirection;
use super::walk::WalkPosition;
use crate::GenerateError;
use crate::arithmetic::threshold;

/// Selection rule for directions.
#[derive(Debug, Clone, Copy)]
pub(super) enum MixRule {
    Always(RequestDirection),
    /// Number of reads per 2^32 draws.
    Drawn(u64),
}

/// Syncs after writes.
#[derive(Debug, Clone)]
pub(super) struct SyncState {
    pub(super) rule: SyncRule,
    /// Writes since the last sync of each kind.
    since_fsync: u32,
    since_fdatasync: u32,
    ranges: Option<RangeSyncState>,
    pub(super) due: Option<DueSync>,
}

/// A sync that is issued before the next request.
#[derive(Debug, Clone, Copy)]
pub(super) struct DueSync {
    pub(super) operation: Operation,
    pub(super) file_index: u32,
    /// Range to sync; 0 and 0 for a whole file.
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u32,
    /// Flags for syncing a range, as in requests.
    pub(super) flags: u8,
}

/// Ranges that are written out after writes.
#[derive(Debug, Clone)]
struct RangeSyncState {
    write_count: u32,
    flags: u8,
    /// Writes since the last range was synced.
    since_sync: u32,
    /// Start and end of the data written since the last sync, by file.
    written: Box<[(u64, u64)]>,
}

/// Range of a file without writes.
const UNWRITTEN: (u64, u64) = (u64::MAX, 0);

impl MixRule {
    pub(super) fn new(mix: ReadWriteMix) -> Result<Self, GenerateError> {
        Ok(match mix {
            ReadWriteMix::Read => Self::Always(RequestDirection::Read),
            ReadWriteMix::Write | ReadWriteMix::Trim | ReadWriteMix::TrimAndWrite => {
                Self::Always(RequestDirection::Write)
            }
            ReadWriteMix::Both { read_percent } => {
                Self::Drawn(threshold("the share of reads", read_percent)?)
            }
        })
    }

    #[inline]
    pub(super) fn draw(self, position: &mut WalkPosition) -> RequestDirection {
        match self {
            Self::Always(side) => side,
            Self::Drawn(read) if position.rng.next_u64() >> 32 < read => RequestDirection::Read,
            Self::Drawn(_) => RequestDirection::Write,
        }
    }
}

impl DueSync {
    /// A sync of a whole file.
    pub(super) const fn of_file(operation: Operation, file_index: u32) -> Self {
        Self {
            operation,
            file_index,
            offset_bytes: 0,
            length_bytes: 0,
            flags: 0,
        }
    }
}

impl RangeSyncState {
    fn new(rule: RangeSync, file_count: usize) -> Self {
        let parts = [
            (rule.waits_before, Request::WAIT_BEFORE),
            (rule.writes, Request::WRITE_OUT),
            (rule.waits_after, Request::WAIT_AFTER),
        ];
        let chosen = parts.into_iter().filter(|(is_asked, _)| *is_asked);
        Self {
            write_count: rule.write_count,
            flags: chosen.fold(0, |how, (_, part)| how | part),
            since_sync: 0,
            written: vec![UNWRITTEN; file_count].into(),
        }
    }

    fn record_write(&mut self, access: &JobAccess) -> Option<DueSync> {
        let written = &mut self.written[access.file_index as usize];
        let end_bytes = access.offset_bytes + u64::from(access.length_bytes);
        *written = (written.0.min(access.offset_bytes), written.1.max(end_bytes));
        // As in fio, the writes to all files count, but only the range of this file is synced.
        self.since_sync += 1;
        if self.since_sync < self.write_count {
            return None;
        }
        self.since_sync = 0;
        let (first_bytes, end_bytes) = std::mem::replace(written, UNWRITTEN);
        Some(DueSync {
            offset_bytes: first_bytes,
            // A range that is too long for a request becomes 0, which means up to the end.
            length_bytes: u32::try_from(end_bytes - first_bytes).unwrap_or(0),
            flags: self.flags,
            ..DueSync::of_file(Operation::SyncFileRange, access.file_index)
        })
    }
}

impl SyncState {
    pub(super) fn of(stream: &StreamPlan, file_count: usize) -> Self {
        let rule = match stream.mix {
            // Writes that are only counted are not synced.
            _ if stream.skips_writes() => SyncRule::default(),
            // There are no writes after which a sync could be due.
            ReadWriteMix::Trim => SyncRule {
                fsync_at_end: stream.sync.fsync_at_end,
                ..SyncRule::default()
            },
            _ => stream.sync,
        };
        Self {
            rule,
            since_fsync: 0,
            since_fdatasync: 0,
            ranges: rule.range.map(|it| RangeSyncState::new(it, file_count)),
            due: None,
        }
    }

    #[inline]
    pub(super) fn record_write(&mut self, access: &JobAccess) {
        let file_index = access.file_index;
        if self.rule.fsync_each > 0 {
            self.since_fsync += 1;
            if self.since_fsync == self.rule.fsync_each {
                self.since_fsync = 0;
                self.due = Some(DueSync::of_file(Operation::Fsync, file_index));
            }
        }
        if self.rule.fdatasync_each > 0 {
            self.since_fdatasync += 1;
            if self.since_fdatasync == self.rule.fdatasync_each {
                self.since_fdatasync = 0;
                // A sync of the whole file already includes the other kinds, so one sync is enough.
                self.due
                    .get_or_insert(DueSync::of_file(Operation::Fdatasync, file_index));
            }
        }
        if let Some(due) = self.ranges.as_mut().and_then(|it| it.record_write(access)) {
            self.due.get_or_insert(due);
        }
    }
}

pub(super) fn operations(plan: &JobPlan, reads_back: bool) -> OperationSet {
    if let Some(work) = plan.names {
        return match work {
            MetadataWork::Create => OperationSet::EMPTY
                .with(Operation::Create)
                .with(Operation::Close),
            MetadataWork::Stat | MetadataWork::StatDirectory => {
                OperationSet::EMPTY.with(Operation::Stat)
            }
            MetadataWork::Delete => OperationSet::EMPTY.with(Operation::Unlink),
            MetadataWork::Mkdir => OperationSet::EMPTY.with(Operation::Mkdir),
            MetadataWork::Rmdir => OperationSet::EMPTY.with(Operation::Rmdir),
        };
    }
    let stream = &plan.stream;
    if stream.skips_writes() {
        return OperationSet::EMPTY.with(Operation::Read);
    }
    let sync = &stream.sync;
    let has = |kind| plan.recorded.as_ref().is_some_and(|it| it.has(kind));
    let syncs = sync.fsync_each > 0 || sync.fsync_at_end || has(RecordedKind::Fsync);
    let syncs_data = sync.fdatasync_each > 0 || has(RecordedKind::Fdatasync);
    let cases = [
        (stream.mix.reads() || reads_back, Operation::Read),
        (stream.mix.writes(), Operation::Write),
        (
            stream.mix.trims() || has(RecordedKind::Trim),
            Operation::Trim,
        ),
        (syncs, Operation::Fsync),
        (syncs_data, Operation::Fdatasync),
        (sync.range.is_some(), Operation::SyncFileRange),
    ];
    let used = cases.into_iter().filter(|(is_used, _)| *is_used);
    used.fold(OperationSet::EMPTY, |set, (_, operation)| {
        set.with(operation)
    })
}
