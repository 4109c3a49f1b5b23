//! Jobs that replay a log.

use plan::Diagnostic;
use plan::job::{
    BlockRule, JobFile, JobFiles, ReadWriteMix, RecordedKind, RecordedPlan, RecordedRequest,
    SizeRule, StreamEnd, StreamPlan, SyncRule,
};

use super::super::iolog::{IologRecording, recording};
use super::super::jobs::{FioJob, JobSet};
use super::files::{FileTable, JobFilePart};
use crate::FileAccess;

/// The log that a job replays.
pub(super) struct JobRecording {
    /// Name of the log as written.
    log: String,
    recording: IologRecording,
}

/// Reads the log that the job replays; `None` if it replays none. Clones take the logs of a list
/// in turn.
///
/// # Errors
/// A log that cannot be read, or an invalid line in it.
pub(super) fn of(
    job: &FioJob,
    set: &JobSet,
    access: FileAccess<'_>,
) -> Result<Option<JobRecording>, Diagnostic> {
    let replay = &job.settings.replay;
    let Some(names) = &replay.read else {
        return Ok(None);
    };
    let location = set.place_of(job, "read_iolog");
    let names: Vec<&str> = names.split(':').filter(|it| !it.is_empty()).collect();
    let Some(log) = names.get(job.clone_index as usize % names.len().max(1)) else {
        let error = location.error("`read_iolog` names no log");
        return Err(error.help("write the name of a log of requests"));
    };
    let bytes = access.read(log).map_err(|reason| {
        let error = location.error(format!("the log cannot be read: {reason}"));
        let mut writes = set
            .jobs
            .iter()
            .map(|it| it.settings.replay.write.as_deref());
        error.help(match writes.any(|name| name == Some(*log)) {
            true => "first run the job that writes it alone: all logs are read at the start",
            false => "check the name of `read_iolog`",
        })
    })?;
    Ok(Some(JobRecording {
        log: (*log).to_owned(),
        recording: recording(log, &bytes, replay)?,
    }))
}

impl JobRecording {
    /// Adds the files of the log as files of the job.
    pub fn parts(
        &self,
        job: &FioJob,
        table: &mut FileTable<'_>,
        files: &mut JobFiles,
    ) -> Result<Vec<JobFile>, Diagnostic> {
        let largest = self.lengths().map(u64::from).max().unwrap_or(0).max(1);
        let wishes = self.recording.files.iter().map(|file| JobFilePart {
            path: file.name.clone(),
            start_bytes: 0,
            // A file that is only synced still needs a size: use the largest request.
            size_bytes: match file.size_bytes {
                0 => largest,
                size => size,
            },
            is_read: file.is_read,
        });
        table.take(job, files, wishes.collect())
    }

    /// Reads and writes, which need buffers, and syncs. A trim may be far larger.
    fn transfers(&self) -> impl Iterator<Item = &RecordedRequest> {
        let requests = self.recording.requests.iter();
        requests.filter(|it| it.kind != RecordedKind::Trim)
    }

    /// Lengths of reads and writes, in bytes.
    fn lengths(&self) -> impl Iterator<Item = u32> {
        let lengths = self.transfers().map(|it| it.length_bytes);
        lengths.filter(|it| *it > 0)
    }

    /// Replaces the job's stream with the requests of the log.
    pub fn attach(self, stream: &mut StreamPlan) -> RecordedPlan {
        let blocks = self.blocks();
        let plan = RecordedPlan::new(self.log, self.recording.requests.into());
        let changes = plan.has(RecordedKind::Write) || plan.has(RecordedKind::Trim);
        let mix = match (plan.has(RecordedKind::Read), changes) {
            // The log gives the kind of each request, so the share is only a placeholder.
            (true, true) => ReadWriteMix::Both { read_percent: 50.0 },
            (false, true) => ReadWriteMix::Write,
            (_, false) => ReadWriteMix::Read,
        };
        let end = StreamEnd {
            // A log of syncs alone moves no bytes, and planning replaces 0 with the size of the
            // files.
            bytes: plan.bytes.max(1),
            requests: None,
            loops: stream.end.loops,
            starts_over: false,
        };
        *stream = StreamPlan {
            sync: SyncRule {
                // The log has its own syncs, except for the one at the end of the job.
                fsync_at_end: stream.sync.fsync_at_end && plan.has(RecordedKind::Write),
                ..SyncRule::default()
            },
            ..StreamPlan::sequential(mix, blocks, end)
        };
        plan
    }

    /// The range of request sizes in the log, and the greatest common divisor of sizes and offsets.
    fn blocks(&self) -> BlockRule {
        let numbers = self
            .transfers()
            .flat_map(|it| [u64::from(it.length_bytes), it.offset_bytes]);
        // Planning compares this unit with the alignment that direct I/O needs.
        let unit = numbers.fold(0, common_divisor).max(1) as u32;
        let min_bytes = self.lengths().min().unwrap_or(unit);
        BlockRule {
            sizes: SizeRule::Range {
                min_bytes,
                max_bytes: self.lengths().max().unwrap_or(unit),
                unit_bytes: unit,
            },
            align_bytes: unit,
        }
    }
}

/// The greatest common divisor of both numbers.
pub(super) const fn common_divisor(mut first: u64, mut second: u64) -> u64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}
