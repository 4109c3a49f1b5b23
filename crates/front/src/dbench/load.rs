//! Load files: a line is a call.

use std::borrow::Cow;
use std::collections::HashMap;

use workload::Diagnostic;
use workload::program::{
    PIECE_BYTES_MAX, REGISTERS_MAX, Trace, TraceCall, TraceEnd, TraceOperation as Op, TraceWay,
};

use super::line::Line;
use super::words::{Texts, beneath};
use crate::{Difference, DifferenceKind};

/// Calls of a file at most, those that it repeats among them.
const CALLS_MAX: usize = 8_000_000;
/// Lines that are passed over and told of each.
const SKIPPED_MAX: usize = 20;

/// What a load file comes to.
pub(super) struct Load {
    pub trace: Trace,
    pub has_times: bool,
    /// Lines that are passed over, as by the original.
    pub skipped: Vec<Difference>,
}

/// What keeps a load file from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    pub line: Option<u32>,
    pub message: String,
}

impl Mistake {
    /// With the file's name.
    pub(super) fn at(self, file: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(file, self.message);
        self.line.into_iter().fold(diagnostic, Diagnostic::at_line)
    }
}

/// Whether it is a load file: the first line that says something is a call.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(16 << 10)];
    let text = String::from_utf8_lossy(start);
    let mut lines = text.lines().filter_map(|line| match Line::read(line) {
        Ok(Some(line)) => Some(operation(line.verb).is_some() && line.end().is_some()),
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

/// What a verb stands for, and its label.
fn operation(verb: &str) -> Option<(Op, u8)> {
    let mut known = (0..).zip(OPERATIONS);
    let (label, (_, _, operation)) =
        known.find(|(_, (_, name, _))| verb.eq_ignore_ascii_case(name))?;
    Some((operation, label))
}

/// A call of a line; what it says besides is still to be read.
const fn blank(line: u32, operation: Op, label: u8) -> TraceCall {
    TraceCall {
        due_ns: 0,
        place_bytes: 0,
        bytes: 0,
        name: 0,
        second: 0,
        line,
        operation,
        handle: 0,
        label,
        expected: TraceEnd::Any,
    }
}

/// What a handle of the file stands for.
#[derive(Clone, Copy)]
struct Opened {
    register: u8,
    name: u32,
}

/// What is read, and what is known so far.
#[derive(Default)]
struct Reader<'a> {
    calls: Vec<TraceCall>,
    /// By what the file calls them.
    numbers: HashMap<Cow<'a, str>, u32>,
    /// With names, and the largest buffer.
    trace: Trace,
    /// How far each name is written.
    sizes: Vec<u64>,
    opened: HashMap<u64, Opened>,
    is_taken: Vec<bool>,
    /// How often the next line is done.
    repeat: usize,
    /// Where loops begin, and how often they are done.
    loops: Vec<(usize, u64)>,
    texts: Texts,
    has_times: bool,
    skipped: Vec<Difference>,
    skipped_count: usize,
}

impl Load {
    /// Reads a file.
    ///
    /// # Errors
    /// The first line that cannot be carried out.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, Mistake> {
        let whole = |message: &str| Mistake {
            line: None,
            message: message.to_owned(),
        };
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return Err(whole(
                "the load file is compressed; unpack it with `gunzip`",
            ));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| whole("the load file is no text"))?;
        let mut reader = Reader {
            repeat: 1,
            // Lines are about 57 bytes long.
            calls: Vec::with_capacity((bytes.len() / 48).min(CALLS_MAX)),
            ..Reader::default()
        };
        for (line, text) in (1..).zip(text.lines()) {
            reader.line(text, line).map_err(|message| Mistake {
                line: Some(line),
                message,
            })?;
        }
        if !reader.loops.is_empty() {
            return Err(whole("a `LOOP` has no `ENDLOOP`"));
        }
        if reader.calls.is_empty() {
            return Err(whole("there is no call in the load file"));
        }
        Ok(reader.load(bytes))
    }
}

impl<'a> Reader<'a> {
    fn load(mut self, bytes: &[u8]) -> Load {
        let more = self.skipped_count - self.skipped.len();
        if more > 0 {
            self.skipped.push(passed_over(format!("{more} more lines")));
        }
        Load {
            trace: Trace {
                file_bytes: bytes.len() as u64,
                file_hash: fnv_1a(bytes),
                calls_count: self.calls.len() as u64,
                register_count: self.is_taken.len() as u8,
                space_bytes: self.sizes.iter().sum(),
                calls: self.calls.into(),
                ..self.trace
            },
            has_times: self.has_times,
            skipped: self.skipped,
        }
    }

    fn line(&mut self, text: &'a str, number: u32) -> Result<(), String> {
        let Some(line) = Line::read(text)? else {
            return Ok(());
        };
        if line.verb.starts_with("SMB") {
            return Err("this is a load file of dbench 1".to_owned());
        }
        let Some((operation, label)) = operation(line.verb) else {
            return self.directive(&line, number);
        };
        let Some(expected) = line.end() else {
            self.skip(number, "a line without a status");
            return Ok(());
        };
        let blank = TraceCall {
            due_ns: line.due_ns.unwrap_or(0),
            expected,
            ..blank(number, operation, label)
        };
        self.has_times |= blank.due_ns > 0;
        for _ in 0..std::mem::replace(&mut self.repeat, 1) {
            let mut call = blank;
            match self.fill(&line, &mut call)? {
                true => self.push(call)?,
                false => self.skip(number, "a handle that is not open"),
            }
        }
        Ok(())
    }

    fn push(&mut self, call: TraceCall) -> Result<(), String> {
        if self.calls.len() >= CALLS_MAX {
            return Err(format!("there are more than {CALLS_MAX} calls"));
        }
        self.calls.push(call);
        Ok(())
    }

    /// Notes a line that the original passes over with a message.
    fn skip(&mut self, line: u32, what: &str) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(passed_over(what.to_owned()).at(line));
        }
    }

    /// What a line says besides calls.
    fn directive(&mut self, line: &Line<'a>, number: u32) -> Result<(), String> {
        match line.verb.to_ascii_uppercase().as_str() {
            "REPEAT" => self.repeat = count(line)?,
            "LOOP" => {
                let times = count(line)? as u64;
                self.loops.push((self.calls.len(), times));
            }
            "ENDLOOP" => self.end_loop()?,
            "SLEEP" => {
                let due_ns = line.number(0)?.saturating_mul(1000).min(1 << 50);
                let pause = blank(number, Op::Pause, 0);
                self.push(TraceCall { due_ns, ..pause })?;
            }
            "RANDOMSTRING" => {
                let (index, pattern) = (line.number(0)?, line.word(1)?);
                let drawn = self.texts.random(pattern)?;
                self.texts.keep(index, drawn);
            }
            "WRITEPATTERN" => {}
            "SETSP" | "WAITSP" => {
                let verb = line.verb;
                return Err(format!("`{verb}`: clients do not wait for others here"));
            }
            _ => self.skip(number, "a line of an unknown operation"),
        }
        Ok(())
    }

    fn end_loop(&mut self) -> Result<(), String> {
        let (begin, times) = self.loops.pop().ok_or("`ENDLOOP` ends no `LOOP`")?;
        let once = self.calls[begin..].to_vec();
        let all = (once.len() as u64).saturating_mul(times);
        if begin as u64 + all > CALLS_MAX as u64 {
            return Err(format!("the loop makes more than {CALLS_MAX} calls"));
        }
        for _ in 1..times {
            self.calls.extend_from_slice(&once);
        }
        Ok(())
    }

    /// Reads what a call is about; false where that is a handle that is not open.
    fn fill(&mut self, line: &Line<'a>, call: &mut TraceCall) -> Result<bool, String> {
        match call.operation {
            Op::Statfs | Op::Pause => {}
            Op::Open(_) => self.open(line, call)?,
            Op::List => self.list(line, call)?,
            Op::Unlink | Op::EmptyTree | Op::Rmdir | Op::Mkdir | Op::LookUp => {
                call.name = self.name(line.word(0)?)?;
            }
            Op::Rename => {
                call.name = self.name(line.word(0)?)?;
                call.second = self.name(line.word(1)?)?;
            }
            _ => match self.opened.get(&line.number(0)?) {
                Some(opened) => {
                    (call.handle, call.name) = (opened.register, opened.name);
                    self.on_open(line, call)?;
                }
                None => return Ok(false),
            },
        }
        Ok(true)
    }

    fn open(&mut self, line: &Line<'a>, call: &mut TraceCall) -> Result<(), String> {
        call.name = self.name(line.word(0)?)?;
        let (options, disposition) = (line.number(1)?, line.number(2)?);
        let handle = line.number(3)?;
        call.operation = Op::Open(match disposition {
            _ if options & 1 != 0 => TraceWay::Directory,
            2 => TraceWay::Made,
            4 | 5 => TraceWay::Emptied,
            _ => TraceWay::Existing,
        });
        let opens = call.expected != TraceEnd::Ill;
        let known = self.opened.get(&handle).filter(|_| opens);
        call.handle = match known.map(|opened| opened.register) {
            Some(register) => register,
            None => self.free_register()?,
        };
        if opens {
            let (register, name) = (call.handle, call.name);
            self.is_taken[usize::from(register)] = true;
            self.opened.insert(handle, Opened { register, name });
        }
        Ok(())
    }

    fn free_register(&mut self) -> Result<u8, String> {
        let free = self.is_taken.iter().position(|taken| !taken);
        let register = free.unwrap_or_else(|| {
            self.is_taken.push(false);
            self.is_taken.len() - 1
        });
        match register < REGISTERS_MAX {
            true => Ok(register as u8),
            false => Err(format!("more than {REGISTERS_MAX} files are open at once")),
        }
    }

    /// What works on what is open.
    fn on_open(&mut self, line: &Line<'a>, call: &mut TraceCall) -> Result<(), String> {
        match call.operation {
            Op::Close => {
                self.opened.remove(&line.number(0)?);
                self.is_taken[usize::from(call.handle)] = false;
            }
            Op::Read | Op::Write => {
                let place_bytes = self.texts.place(line.word(1)?)?;
                let bytes = line.number(2)?;
                if bytes > PIECE_BYTES_MAX || place_bytes > i64::MAX as u64 - PIECE_BYTES_MAX {
                    return Err(format!("{bytes} bytes at {place_bytes} are too many"));
                }
                call.place_bytes = place_bytes;
                call.bytes = bytes as u32;
                call.second = line.number(3)?.min(bytes) as u32;
                let buffer_bytes = &mut self.trace.buffer_bytes;
                *buffer_bytes = call.bytes.max(*buffer_bytes);
                if call.operation == Op::Write {
                    let size = &mut self.sizes[call.name as usize];
                    *size = (*size).max(place_bytes + bytes);
                }
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
    fn list(&mut self, line: &Line<'a>, call: &mut TraceCall) -> Result<(), String> {
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
    fn name(&mut self, text: &'a str) -> Result<u32, String> {
        let text = match text.contains('$') {
            true => Cow::Owned(self.texts.with_strings(text)),
            false => Cow::Borrowed(text),
        };
        if let Some(number) = self.numbers.get(&text) {
            return Ok(*number);
        }
        let number = self.trace.names.len() as u32;
        self.trace.names.push(beneath(&text)?);
        self.sizes.push(0);
        self.numbers.insert(text, number);
        Ok(number)
    }
}

/// What the original says no more of either.
fn passed_over(what: String) -> Difference {
    let note = "passed over, as in the original";
    Difference::new(DifferenceKind::NoEffect, what, note)
}

fn count(line: &Line<'_>) -> Result<usize, String> {
    let count = line.number(0)?;
    match count {
        1..=1_000_000 => Ok(count as usize),
        _ => Err(format!("`{}` is for 1 to 1000000 times", line.verb)),
    }
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}
