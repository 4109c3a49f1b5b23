//! fio's request logs, versions 2 and 3: one line per operation on a file.

use std::collections::HashMap;

use plan::job::{LoggedRequest, RecordedKind, RecordedRequest};
use plan::{Diagnostic, printable};

use super::settings::Replay;

/// Upper limit of request lengths in bytes, exclusive.
const REQUEST_BYTES_END: u64 = 1 << 31;

/// The same for trims, which need no buffer. The number above stands for failed requests.
const TRIM_BYTES_END: u64 = u32::MAX as u64;

/// Magic number of binary blktrace files, in either byte order.
const TRACE_MAGIC: [&[u8]; 2] = [&[0x07, 0x74, 0x61, 0x65], &[0x65, 0x61, 0x74, 0x07]];

const RECORD_HELP: &str =
    "record one with fio's `write_iolog`, or with `as fio --write_iolog=FILE`";

/// Contents of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct IologRecording {
    /// In order of first use.
    pub files: Vec<RecordedFile>,
    /// In log order.
    pub requests: Vec<RecordedRequest>,
}

/// A file of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedFile {
    /// Name in the log, or its replacement (`replay_redirect`).
    pub name: String,
    /// Largest end of a request; 0 if there are only syncs.
    pub size_bytes: u64,
    pub is_read: bool,
}

/// The fields of a line.
struct IologLine<'a> {
    at_us: Option<u64>,
    file: &'a str,
    action: &'a str,
    /// Offset and length, or the time of a `wait`.
    numbers: Vec<u64>,
}

/// An error message about a line, and its help.
type LogLineError = (String, &'static str);

/// Reads a log according to the job's rules: scaled, aligned, and without skipped requests.
///
/// # Errors
/// An invalid line, or a log without requests to replay.
pub(super) fn recording(
    name: &str,
    bytes: &[u8],
    rules: &Replay,
) -> Result<IologRecording, Diagnostic> {
    if TRACE_MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
        let error = Diagnostic::error(name, "binary blktrace files cannot be replayed");
        return Err(error.help(RECORD_HELP));
    }
    let text = String::from_utf8_lossy(bytes);
    let mut lines = (1..).zip(text.lines());
    let first = lines.next().map_or("", |(_, line)| line.trim());
    let has_times = match first.trim_start_matches('\u{feff}') {
        "fio version 2 iolog" => false,
        "fio version 3 iolog" => true,
        _ => {
            let message = "a request log begins with `fio version 2 iolog` or \
                           `fio version 3 iolog`";
            let error = Diagnostic::error(name, message).at(1, 1).snippet(first);
            return Err(error.help(RECORD_HELP));
        }
    };
    let mut log = LogReader {
        rules,
        recording: IologRecording::default(),
        file_indexes: HashMap::new(),
        stamp_us: 0,
        paused_us: 0,
        waited_ms: 0,
        due_ns: 0,
    };
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        // fio appends to an existing log, so a second run or clone adds another header.
        if line.starts_with("fio version ") {
            let error =
                Diagnostic::error(name, "the log contains several jobs, one after the other");
            let error = error.at(number, 1).snippet(line);
            return Err(
                error.help("record each job in its own log, and separate the names with colons")
            );
        }
        let read = entry(line, has_times).and_then(|entry| log.take(&entry));
        read.map_err(|(message, help)| {
            let error = Diagnostic::error(name, message).at(number, 1);
            error.snippet(line).help(help)
        })?;
    }
    if log.recording.requests.is_empty() {
        let error = Diagnostic::error(name, "the log has no requests to replay");
        return Err(error.help("use another log, or leave `replay_skip` out"));
    }
    Ok(log.recording)
}

fn entry(line: &str, has_times: bool) -> Result<IologLine<'_>, LogLineError> {
    let wanted = match has_times {
        true => "write `TIME FILE ACTION` or `TIME FILE ACTION OFFSET LENGTH`",
        false => "write `FILE ACTION` or `FILE ACTION OFFSET LENGTH`",
    };
    let number = |word: &str| {
        let invalid = |_| (format!("`{}` is not a number", printable(word)), wanted);
        word.parse::<u64>().map_err(invalid)
    };
    let mut words = line.split_ascii_whitespace();
    let mut word = || {
        let missing = || ("the line has too few words".to_owned(), wanted);
        words.next().ok_or_else(missing)
    };
    let at_us = match has_times {
        true => Some(number(word()?)?),
        false => None,
    };
    let (file, action) = (word()?, word()?);
    let numbers: Vec<u64> = words.map(number).collect::<Result<_, _>>()?;
    if numbers.len() > 2 {
        return Err(("the line has too many words".to_owned(), wanted));
    }
    Ok(IologLine {
        at_us,
        file,
        action,
        numbers,
    })
}

struct LogReader<'a> {
    rules: &'a Replay,
    recording: IologRecording,
    file_indexes: HashMap<String, u32>,
    /// Time of the last line of version 3; 0 before the first line with a time.
    stamp_us: u64,
    /// Sum of the pauses of version 3 so far.
    paused_us: u64,
    /// End of the longest wait of version 2 so far, from the start of the job.
    waited_ms: u64,
    /// When the last request is due.
    due_ns: u64,
}

impl LogReader<'_> {
    fn take(&mut self, entry: &IologLine<'_>) -> Result<(), LogLineError> {
        if let Some(at_us) = entry.at_us {
            self.pass(at_us);
        }
        let rules = self.rules;
        let (kind, is_left_out) = match entry.action {
            // The job opens all of its files before it starts.
            "add" | "open" | "close" => return Ok(()),
            // Version 3 has times instead of waits.
            "wait" if entry.at_us.is_none() => {
                let wanted = "write `FILE wait MILLISECONDS 0`";
                let missing = || ("`wait` has no time".to_owned(), wanted);
                let until_ms = entry.numbers.first().ok_or_else(missing)?;
                // fio waits until this time of the job, so an earlier time has already passed.
                self.waited_ms = self.waited_ms.max(*until_ms);
                return Ok(());
            }
            "trim" => (RecordedKind::Trim, rules.skips_trims),
            "read" => (RecordedKind::Read, rules.skips_reads),
            "write" => (RecordedKind::Write, rules.skips_writes),
            "sync" => (RecordedKind::Fsync, rules.skips_syncs),
            "datasync" => (RecordedKind::Fdatasync, rules.skips_syncs),
            other => {
                return Err((
                    format!("`{}` is not an action of a log", printable(other)),
                    "write add, open, close, read, write, trim, sync, datasync or wait (version 2)",
                ));
            }
        };
        if is_left_out {
            return Ok(());
        }
        self.push(kind, entry)
    }

    /// Adds the pause before a line of version 3. As in fio, a pause is the time since the previous
    /// line: a log may begin at any time, and a previous time of 0 does not count.
    fn pass(&mut self, at_us: u64) {
        if self.stamp_us > 0 {
            let pause_us = at_us.saturating_sub(self.stamp_us);
            self.paused_us = self.paused_us.saturating_add(pause_us);
        }
        self.stamp_us = at_us;
    }

    fn push(&mut self, kind: RecordedKind, entry: &IologLine<'_>) -> Result<(), LogLineError> {
        let is_sync = matches!(kind, RecordedKind::Fsync | RecordedKind::Fdatasync);
        let end_bytes = match kind {
            RecordedKind::Trim => TRIM_BYTES_END,
            _ => REQUEST_BYTES_END,
        };
        let (offset_bytes, length_bytes) = match (is_sync, &entry.numbers[..]) {
            // fio writes an offset and a length after a sync, too, but they have no meaning.
            (true, _) => (0, 0),
            (false, [offset, length]) if (1..end_bytes).contains(length) => {
                (self.placed(*offset), *length)
            }
            (false, [_, _]) => {
                let help = match kind {
                    RecordedKind::Trim => "write a length from 1 byte to below 4 GiB",
                    _ => "write a length from 1 byte to below 2 GiB",
                };
                return Err(("a request cannot have this length".to_owned(), help));
            }
            (false, _) => {
                let help = "write the offset and the length in bytes after the action";
                return Err(("the request has no offset or no length".to_owned(), help));
            }
        };
        let end = offset_bytes.saturating_add(length_bytes);
        if i64::try_from(end).is_err() {
            let help = "use a smaller offset, or `replay_scale`";
            return Err((
                "the request ends beyond the largest possible file".to_owned(),
                help,
            ));
        }
        let part_index = self.file(entry.file);
        let file = &mut self.recording.files[part_index as usize];
        file.size_bytes = file.size_bytes.max(end);
        file.is_read |= kind == RecordedKind::Read;
        // Requests keep the order of the log, so none is due before the one above it.
        self.due_ns = self.due_ns.max(self.current_due_ns());
        self.recording.requests.push(RecordedRequest {
            due_ns: self.due_ns,
            kind,
            part_index,
            length_bytes: length_bytes as u32,
            offset_bytes,
        });
        Ok(())
    }

    /// The offset, scaled and aligned.
    fn placed(&self, offset: u64) -> u64 {
        let scaled = offset / self.rules.offset_divisor.max(1);
        // fio rounds after it has scaled, and always down (`ipo_bytes_align`).
        match self.rules.offset_align {
            0 => scaled,
            align => scaled - scaled % align,
        }
    }

    fn current_due_ns(&self) -> u64 {
        if self.rules.ignores_timing {
            return 0;
        }
        let percent = u128::from(self.rules.time_percent.max(1));
        // `replay_time_scale` affects only pauses. fio's manual says that waits are microseconds
        // since the previous line, but fio waits until this millisecond of the job (`iolog.c`).
        let paused_ns = u128::from(self.paused_us) * 1000 * 100 / percent;
        let waited_ns = u128::from(self.waited_ms) * 1_000_000;
        u64::try_from(paused_ns.max(waited_ns)).unwrap_or(u64::MAX)
    }

    fn file(&mut self, name: &str) -> u32 {
        let name = self.rules.redirect.as_deref().unwrap_or(name);
        if let Some(index) = self.file_indexes.get(name) {
            return *index;
        }
        // A log that fits in memory has fewer lines than a `u32` can count.
        let index = self.recording.files.len() as u32;
        self.file_indexes.insert(name.to_owned(), index);
        self.recording.files.push(RecordedFile {
            name: name.to_owned(),
            size_bytes: 0,
            is_read: false,
        });
        index
    }
}

/// Writes a job's requests as a log of version 3, in the order in which they were issued.
/// `name_of` returns the name of a file from its index.
pub(super) fn written(noted: &[LoggedRequest], name_of: &dyn Fn(u32) -> String) -> String {
    let mut noted: Vec<&LoggedRequest> = noted.iter().collect();
    // Requests complete in another order than they were issued, and a replay follows the lines.
    noted.sort_by_key(|it| it.index);
    let acts: Vec<&RecordedRequest> = noted.iter().map(|it| &it.request).collect();
    let mut text = String::from("fio version 3 iolog\n");
    let files = acts.iter().map(|it| it.part_index).max();
    let names: Vec<String> = files.map_or_else(Vec::new, |last| (0..=last).map(name_of).collect());
    let all = |text: &mut String, at_us: u64, action: &str| {
        for name in &names {
            text.push_str(&format!("{at_us} {name} {action}\n"));
        }
    };
    // A replay counts pauses from the first nonzero time, so times start at 1.
    let at_us = |act: &RecordedRequest| (act.due_ns / 1000).saturating_add(1);
    // When it replays a log, fio knows only the files that the log has added.
    all(&mut text, 1, "add");
    all(&mut text, 1, "open");
    for act in &acts {
        let action = match act.kind {
            RecordedKind::Read => "read",
            RecordedKind::Write => "write",
            RecordedKind::Fsync => "sync",
            RecordedKind::Fdatasync => "datasync",
            RecordedKind::Trim => "trim",
            RecordedKind::Other => continue,
        };
        let (at_us, name) = (at_us(act), &names[act.part_index as usize]);
        let (offset, length) = (act.offset_bytes, act.length_bytes);
        text.push_str(&format!("{at_us} {name} {action} {offset} {length}\n"));
    }
    let last = acts.last().map_or(1, |act| at_us(act));
    all(&mut text, last, "close");
    text
}
