//! Load files: a line is a call.

use workload::Diagnostic;
use workload::program::{Trace, TraceCall, TraceEnd, TraceOperation as Op, TraceWay, WORKER_MARK};

use super::line::Line;
use super::words::Texts;
use crate::recording::Recording;
use crate::{Difference, DifferenceKind};

/// Lines that are passed over and told of each.
const SKIPPED_MAX: usize = 20;

/// What a load file comes to.
pub(super) struct Load {
    /// It goes by the times of its calls if they have any.
    pub trace: Trace,
    /// Lines that are passed over, as by the original.
    pub skipped: Vec<Difference>,
}

/// Whether it is a load file: the first line that says something is a call.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(16 << 10)];
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().filter_map(|line| match Line::read(line) {
        Ok(Some(line)) => Some(call(line.verb).is_some() && line.end().is_some()),
        _ => None,
    });
    lines.next() == Some(true)
}

/// The operations in the order of the table: what they are called there, in load files, and what
/// they do. Labels are their numbers.
pub(super) const OPERATIONS: [(&str, &str, Op); 17] = [
    ("NTCreateX", "NTCreateX", Op::Open(TraceWay::Existing)),
    ("Close", "Close", Op::Close),
    ("Rename", "Rename", Op::Rename),
    ("Unlink", "Unlink", Op::Unlink),
    ("Deltree", "Deltree", Op::EmptyTree),
    ("Rmdir", "Rmdir", Op::Rmdir),
    ("Mkdir", "Mkdir", Op::Mkdir),
    ("Qpathinfo", "QUERY_PATH_INFORMATION", Op::LookUp),
    ("Qfileinfo", "QUERY_FILE_INFORMATION", Op::StatOpen),
    ("Qfsinfo", "QUERY_FS_INFORMATION", Op::Statfs),
    ("Sfileinfo", "SET_FILE_INFORMATION", Op::SetTimes),
    ("Find", "FIND_FIRST", Op::List),
    ("WriteX", "WriteX", Op::Write),
    ("ReadX", "ReadX", Op::Read),
    ("LockX", "LockX", Op::Lock),
    ("UnlockX", "UnlockX", Op::Unlock),
    ("Flush", "Flush", Op::Fsync),
];

/// What a verb stands for, under its label; what the line says besides is still to be read.
fn call(verb: &str) -> Option<TraceCall> {
    let mut known = (0..).zip(OPERATIONS);
    let (label, (.., operation)) =
        known.find(|(_, (_, name, _))| verb.eq_ignore_ascii_case(name))?;
    Some(TraceCall {
        label,
        ..TraceCall::new(operation)
    })
}

/// What is read, and what is known so far.
#[derive(Default)]
struct Reader {
    recording: Recording,
    /// The number of the line.
    line: u32,
    /// How often the next line is done.
    repeat: u64,
    /// Where loops begin, and how often they are done.
    loops: Vec<(usize, u64)>,
    texts: Texts,
    has_times: bool,
    skipped: Vec<Difference>,
    skipped_count: usize,
}

impl Load {
    /// Reads a file of that name.
    ///
    /// # Errors
    /// The first line that cannot be carried out.
    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, Diagnostic> {
        let whole = |message| Err(Diagnostic::error(file, message));
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return whole("the load file is compressed; unpack it with `gunzip`");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return whole("the load file is no text");
        };
        let mut reader = Reader {
            // Lines are about 57 bytes long.
            recording: Recording::with_room(bytes.len() / 48),
            repeat: 1,
            ..Reader::default()
        };
        for text in text.lines() {
            reader.line += 1;
            reader.line(text).map_err(|message| {
                let mistake = Diagnostic::error(file, message);
                mistake.at_line(reader.line).snippet(text)
            })?;
        }
        if !reader.loops.is_empty() {
            return whole("a `LOOP` has no `ENDLOOP`");
        }
        if reader.recording.count() == 0 {
            return whole("there is no call in the load file");
        }
        Ok(reader.load(bytes))
    }
}

impl Reader {
    fn load(mut self, bytes: &[u8]) -> Load {
        let more = self.skipped_count - self.skipped.len();
        if more > 0 {
            self.skipped
                .push(passed_over(&format!("{more} more lines")));
        }
        let mut trace = self.recording.trace(bytes);
        trace.is_timed = self.has_times;
        // Each client has its own number in names.
        let own = format!("client{WORKER_MARK}");
        for name in &mut trace.names {
            *name = name.replace("client1", &own);
        }
        Load {
            trace,
            skipped: self.skipped,
        }
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let Some(line) = Line::read(text)? else {
            return Ok(());
        };
        if line.verb.starts_with("SMB") {
            return Err("this is a load file of dbench 1".to_owned());
        }
        let Some(blank) = call(line.verb) else {
            return self.directive(&line);
        };
        let Some(expected) = line.end() else {
            self.skip("a line without a status");
            return Ok(());
        };
        self.has_times |= line.due_ns > 0;
        for _ in 0..std::mem::replace(&mut self.repeat, 1) {
            let mut call = TraceCall {
                due_ns: line.due_ns,
                line: self.line,
                expected,
                ..blank
            };
            match self.fill(&line, &mut call)? {
                true => self.recording.push(call)?,
                false => self.skip("a handle that is not open"),
            }
        }
        Ok(())
    }

    /// Notes a line that the original passes over with a message.
    fn skip(&mut self, what: &str) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(passed_over(what).at(self.line));
        }
    }

    /// What a line says besides calls.
    fn directive(&mut self, line: &Line<'_>) -> Result<(), String> {
        match line.verb.to_ascii_uppercase().as_str() {
            "REPEAT" => self.repeat = line.times()?,
            "LOOP" => self.loops.push((self.recording.count(), line.times()?)),
            "ENDLOOP" => {
                let (begin, times) = self.loops.pop().ok_or("`ENDLOOP` ends no `LOOP`")?;
                self.recording.repeat(begin, times)?;
            }
            "SLEEP" => {
                let mut pause = TraceCall::new(Op::Pause);
                pause.due_ns = line.number(0)?.saturating_mul(1000).min(1 << 50);
                pause.line = self.line;
                self.recording.push(pause)?;
            }
            "RANDOMSTRING" => self.texts.keep(line.number(0)?, line.word(1)?)?,
            "WRITEPATTERN" => {}
            "SETSP" | "WAITSP" => {
                let verb = line.verb;
                return Err(format!("`{verb}`: clients do not wait for others here"));
            }
            _ => self.skip("a line of an unknown operation"),
        }
        Ok(())
    }

    /// Reads what a call is about; false where that is a handle that is not open.
    fn fill(&mut self, line: &Line<'_>, call: &mut TraceCall) -> Result<bool, String> {
        match call.operation {
            Op::Statfs => {}
            Op::Open(_) => self.open(line, call)?,
            Op::List => self.list(line, call)?,
            Op::Unlink | Op::EmptyTree | Op::Rmdir | Op::Mkdir | Op::LookUp => {
                call.name = self.name(line.word(0)?)?;
            }
            Op::Rename => {
                call.name = self.name(line.word(0)?)?;
                call.second = self.name(line.word(1)?)?;
            }
            _ => match self.recording.find(line.number(0)?) {
                Some(opened) => {
                    (call.handle, call.name) = (opened.register, opened.name);
                    self.on_open(line, call)?;
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn open(&mut self, line: &Line<'_>, call: &mut TraceCall) -> Result<(), String> {
        call.name = self.name(line.word(0)?)?;
        let (options, disposition) = (line.number(1)?, line.number(2)?);
        call.operation = Op::Open(match disposition {
            _ if options & 1 != 0 => TraceWay::Directory,
            2 => TraceWay::Made,
            4 | 5 => TraceWay::Emptied,
            _ => TraceWay::Existing,
        });
        let goes_well = call.expected != TraceEnd::Ill;
        call.handle = self.recording.open(line.number(3)?, call.name, goes_well)?;
        Ok(())
    }

    /// What works on what is open.
    fn on_open(&mut self, line: &Line<'_>, call: &mut TraceCall) -> Result<(), String> {
        match call.operation {
            Op::Close => self.recording.close(line.number(0)?),
            Op::Read | Op::Write => {
                let place = self.texts.place(line.word(1)?)?;
                let bytes = line.number(2)?;
                self.recording.transfer(call, place, bytes)?;
                call.second = line.number(3)?.min(bytes) as u32;
            }
            Op::Lock | Op::Unlock => {
                call.place_bytes = line.number(1)?.min(i64::MAX as u64 / 2);
                call.bytes = line.number(2)?.min(u64::from(u32::MAX)) as u32;
            }
            _ => {}
        }
        Ok(())
    }

    /// A pattern lists the directory that it stands in, a name is looked up.
    fn list(&mut self, line: &Line<'_>, call: &mut TraceCall) -> Result<(), String> {
        let pattern = line.word(0)?;
        let most = line.number(2)?;
        let last = pattern.rsplit(['\\', '/']).next().unwrap_or("");
        let is_pattern = last.contains(['<', '>', '*', '?', '"']) && most > 0;
        call.name = self.name(pattern)?;
        match is_pattern {
            true => call.place_bytes = most,
            false => call.operation = Op::LookUp,
        }
        Ok(())
    }

    /// The number of a name.
    fn name(&mut self, text: &str) -> Result<u32, String> {
        match text.contains('$') {
            true => self.recording.name(&self.texts.with_strings(text)),
            false => self.recording.name(text),
        }
    }
}

/// What the original says no more of either.
fn passed_over(what: &str) -> Difference {
    let note = "passed over, as in the original";
    Difference::new(DifferenceKind::NoEffect, what, note)
}
