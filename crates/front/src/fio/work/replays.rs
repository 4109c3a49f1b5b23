//! Jobs that replay a log.

use plan::Diagnostic;
use plan::job::{
    BlockRule, JobFile, JobFiles, Mix, RecordedKind, RecordedPlan, SizeRule, StreamEnd, StreamPlan,
    SyncRule,
};

use super::super::iolog::{Recording, recording};
use super::super::jobs::{Job, JobSet};
use super::files::{FileTable, FileWish};
use crate::FileAccess;

/// A log that was read for a job.
pub(super) struct JobRecording {
    /// As it was named.
    log: String,
    recording: Recording,
}

/// The log that the job replays, if it does; of several the one of its clone.
///
/// # Errors
/// When it cannot be read, with the line where there is one.
pub(super) fn of(
    job: &Job,
    set: &JobSet,
    access: FileAccess<'_>,
) -> Result<Option<JobRecording>, Diagnostic> {
    let replay = &job.settings.replay;
    let Some(names) = &replay.read else {
        return Ok(None);
    };
    let place = set.place_of(job, "read_iolog");
    let names: Vec<&str> = names.split(':').filter(|it| !it.is_empty()).collect();
    let Some(log) = names.get(job.clone_index as usize % names.len().max(1)) else {
        let error = place.error("`read_iolog` names no log");
        return Err(error.help("write the name of a log of requests"));
    };
    let bytes = access.read(log).map_err(|reason| {
        let error = place.error(format!("the log cannot be read: {reason}"));
        let mut writes = set
            .jobs
            .iter()
            .map(|it| it.settings.replay.write.as_deref());
        error.help(match writes.any(|name| name == Some(*log)) {
            true => "run the job that writes it by itself before: logs are read first of all",
            false => "check the name of `read_iolog`",
        })
    })?;
    Ok(Some(JobRecording {
        log: (*log).to_owned(),
        recording: recording(log, &bytes, replay)?,
    }))
}

impl JobRecording {
    /// The log's files as the job's.
    pub fn parts(
        &self,
        job: &Job,
        table: &mut FileTable<'_>,
        files: &mut JobFiles,
    ) -> Result<Vec<JobFile>, Diagnostic> {
        let largest = self.lengths().map(u64::from).max().unwrap_or(0).max(1);
        let wishes = self.recording.files.iter().map(|file| FileWish {
            written: file.name.clone(),
            start_bytes: 0,
            // A file of which only syncs are known has room for a request all the same.
            size_bytes: match file.size_bytes {
                0 => largest,
                size => size,
            },
            is_read: file.is_read,
        });
        table.take(job, files, wishes.collect())
    }

    /// Lengths of reads and writes.
    fn lengths(&self) -> impl Iterator<Item = u32> {
        let lengths = self.recording.acts.iter().map(|it| it.length_bytes);
        lengths.filter(|it| *it > 0)
    }

    /// Makes the job's stream one of the log's requests.
    pub fn attach(self, stream: &mut StreamPlan) -> RecordedPlan {
        let blocks = self.blocks();
        let plan = RecordedPlan::new(self.log, self.recording.acts.into());
        let mix = match (plan.has(RecordedKind::Read), plan.has(RecordedKind::Write)) {
            (true, true) => Mix::Both { read_percent: 50.0 },
            (false, true) => Mix::Write,
            (_, false) => Mix::Read,
        };
        let end = StreamEnd {
            bytes: plan.bytes.max(1),
            requests: None,
            loops: stream.end.loops,
            starts_over: false,
        };
        *stream = StreamPlan {
            sync: SyncRule {
                fsync_at_end: stream.sync.fsync_at_end && plan.has(RecordedKind::Write),
                ..SyncRule::default()
            },
            ..StreamPlan::sequential(mix, blocks, end)
        };
        plan
    }

    /// The sizes of the log, and what all of them and all places are multiples of.
    fn blocks(&self) -> BlockRule {
        let acts = self.recording.acts.iter();
        let numbers = acts.flat_map(|it| [u64::from(it.length_bytes), it.offset_bytes]);
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

/// The greatest number that divides both.
const fn common_divisor(mut first: u64, mut second: u64) -> u64 {
    while second != 0 {
        (first, second) = (second, first % second);
    }
    first
}
