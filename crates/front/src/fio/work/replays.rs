//! Jobs that replay a log.

use plan::Diagnostic;
use plan::job::{JobFile, JobFiles, RecordedKind, RecordedPlan, StreamPlan};

use super::super::iolog::{IologRecording, recording};
use super::super::jobs::{FioJob, JobSet};
use super::files::{FileTable, JobFilePart};
use crate::FileAccess;
use replay::{recorded_lengths, recorded_stream};

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
        let lengths = recorded_lengths(&self.recording.requests);
        let largest = lengths.map(u64::from).max().unwrap_or(0).max(1);
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

    /// Replaces the job's stream with the requests of the log.
    pub fn attach(self, stream: &mut StreamPlan) -> RecordedPlan {
        let plan = RecordedPlan::new(self.log, self.recording.requests.into());
        // The log has its own syncs, except for the one at the end of the job.
        let fsync_at_end = stream.sync.fsync_at_end && plan.has(RecordedKind::Write);
        let mut recorded = recorded_stream(&plan);
        recorded.end.loops = stream.end.loops;
        recorded.sync.fsync_at_end = fsync_at_end;
        *stream = recorded;
        plan
    }
}
