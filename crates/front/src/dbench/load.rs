//! Load files: a line is a call.

use std::collections::HashMap;

use plan::Diagnostic;
use plan::program::{Trace, TraceCall, TraceEnd, TraceOperation as Op, TraceWay, WORKER_MARK};

use crate::random::LibraryRandom;
use crate::recording::Recording;
use crate::scanning::{number, split};
use crate::tokens::Language;
use crate::{Difference, DifferenceKind};

const LANGUAGE: Language = Language {
    marks: "",
    begins_word: |_| true,
    is_in_word: |it| !it.is_ascii_whitespace(),
    is_script: false,
};

/// Lines that are passed over and told of each.
const SKIPPED_MAX: usize = 20;

/// Operations of dbench 5 on NFS.
const NFS: &str = "ACCESS3 COMMIT3 CREATE3 FSINFO3 FSSTAT3 GETATTR3 LINK3 LOCK4 LOOKUP3 MKDIR3 \
                   MKNOD3 PATHCONF3 READ3 READDIR3 READDIRPLUS3 READLINK3 REMOVE3 RENAME3 RMDIR3 \
                   SETATTR3 SYMLINK3 TEST4 UNLOCK4 WRITE3";
/// Those on SCSI devices, local ones or by iSCSI.
const SCSI: &str = "PREFETCH10 PREFETCH16 PRIN PROUT READ6 READ10 READ12 READ16 READCAPACITY10 \
                    READCAPACITY16 STARTSTOPUNIT SYNCHRONIZECACHE10 SYNCHRONIZECACHE16 \
                    TESTUNITREADY WRITE6 WRITE10 WRITE12 WRITE16";

/// What a load file comes to, and what is known of it so far.
#[derive(Default)]
pub(super) struct Load {
    /// It goes by the times of its calls if they have any.
    pub trace: Trace,
    /// Lines that are passed over, as by the original.
    pub skipped: Vec<Difference>,
    skipped_count: usize,
    recording: Recording,
    /// The number of the line.
    line: u32,
    /// How often the next line is done besides.
    repeat: u64,
    /// Where loops begin, and how often they are done.
    loops: Vec<(usize, u64)>,
    /// Texts by their numbers.
    texts: HashMap<u64, String>,
    last_place: u64,
    /// What is drawn is the same in each reading.
    random: LibraryRandom,
}

/// Whether it is a load file: the first line that says something is a call.
pub(super) fn detect(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]);
    let first = text.lines().find_map(|line| Line::read(line).ok()?);
    first.is_some_and(|it| call(it.verb).is_some() && it.end().is_some())
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
    let is_it = |(_, name, _): &(_, &str, _)| verb.eq_ignore_ascii_case(name);
    let label = OPERATIONS.iter().position(is_it)?;
    Some(TraceCall {
        label: label as u8,
        ..TraceCall::new(OPERATIONS[label].2)
    })
}

impl Load {
    /// Reads a file of that name; an error is the first line that cannot be carried out.
    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, Diagnostic> {
        let whole = |message| Err(Diagnostic::error(file, message));
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return whole("the load file is compressed; unpack it with `gunzip`");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return whole("the load file is no text");
        };
        let mut load = Self {
            // Lines are about 57 bytes long.
            recording: Recording::with_room(bytes.len() / 48),
            ..Self::default()
        };
        for text in text.lines() {
            load.line += 1;
            load.line(text).map_err(|message| {
                let mistake = Diagnostic::error(file, message);
                mistake.at_line(load.line).snippet(text)
            })?;
        }
        if !load.loops.is_empty() {
            return whole("a `LOOP` has no `ENDLOOP`");
        }
        if load.recording.count() == 0 {
            return whole("there is no call in the load file");
        }
        let more = load.skipped_count - load.skipped.len();
        let told = (more > 0).then(|| passed_over(&format!("{more} more lines")));
        load.skipped.extend(told);
        load.trace = Trace {
            is_timed: load.trace.is_timed,
            ..std::mem::take(&mut load.recording).trace(bytes)
        };
        // Each client has its own number in names.
        let own = format!("client{WORKER_MARK}");
        for name in &mut load.trace.names {
            *name = name.replace("client1", &own);
        }
        Ok(load)
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let Some(line) = Line::read(text)? else {
            return Ok(());
        };
        if line.verb.starts_with("SMB") {
            return Err("this is a load file of dbench 1".to_owned());
        }
        if let Some(back_end) = line.other_back_end() {
            return Err(format!(
                "`{}` is of dbench's {back_end} back-end; only load files of the file back-end \
                 are done here",
                line.verb
            ));
        }
        let Some(blank) = call(line.verb) else {
            return self.directive(&line);
        };
        let Some(expected) = line.end() else {
            self.skip("a line without a status");
            return Ok(());
        };
        self.trace.is_timed |= line.due_ns > 0;
        for _ in 0..=std::mem::take(&mut self.repeat) {
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
        let verb = line.verb;
        let times = || {
            let times = Some(line.number(0)?).filter(|it| (1..=1_000_000).contains(it));
            times.ok_or_else(|| format!("`{verb}` is for 1 to 1000000 times"))
        };
        match verb.to_ascii_uppercase().as_str() {
            "REPEAT" => self.repeat = times()? - 1,
            "LOOP" => self.loops.push((self.recording.count(), times()?)),
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
            "RANDOMSTRING" => self.keep(line.number(0)?, line.word(1)?)?,
            "WRITEPATTERN" => {}
            "SETSP" | "WAITSP" => {
                return Err(format!("`{verb}`: clients do not wait for others here"));
            }
            _ => self.skip("a line of an unknown operation"),
        }
        Ok(())
    }

    /// Reads what a call is about; false where that is a handle that is not open.
    fn fill(&mut self, line: &Line<'_>, call: &mut TraceCall) -> Result<bool, String> {
        match call.operation {
            Op::Statfs => return Ok(true),
            Op::Open(_)
            | Op::List
            | Op::Unlink
            | Op::EmptyTree
            | Op::Rmdir
            | Op::Mkdir
            | Op::LookUp
            | Op::Rename => call.name = self.name(line.word(0)?)?,
            _ => {
                let Some(opened) = self.recording.find(line.number(0)?) else {
                    return Ok(false);
                };
                (call.handle, call.name) = (opened.register, opened.name);
            }
        }
        match call.operation {
            Op::Open(_) => {
                let (options, disposition) = (line.number(1)?, line.number(2)?);
                call.operation = Op::Open(match disposition {
                    _ if options & 1 != 0 => TraceWay::Directory,
                    2 => TraceWay::Made,
                    4 | 5 => TraceWay::Emptied,
                    _ => TraceWay::Existing,
                });
                let goes_well = call.expected != TraceEnd::Ill;
                call.handle = self.recording.open(line.number(3)?, call.name, goes_well)?;
            }
            Op::List => {
                // A pattern lists the directory that it stands in, a name is looked up.
                let last = line.word(0)?.rsplit(['\\', '/']).next().unwrap_or("");
                call.place_bytes = line.number(2)?;
                if call.place_bytes == 0 || !last.contains(['<', '>', '*', '?', '"']) {
                    (call.operation, call.place_bytes) = (Op::LookUp, 0);
                }
            }
            Op::Rename => call.second = self.name(line.word(1)?)?,
            Op::Close => self.recording.close(line.number(0)?),
            Op::Read | Op::Write => {
                let place = self.place(line.word(1)?)?;
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
        Ok(true)
    }

    /// The number of a name.
    fn name(&mut self, text: &str) -> Result<u32, String> {
        match text.contains('$') {
            true => self.recording.name(&self.with_texts(text)),
            false => self.recording.name(text),
        }
    }

    /// Keeps a text under its number, each `[...]` in it replaced by one of its characters.
    fn keep(&mut self, index: u64, pattern: &str) -> Result<(), String> {
        let mut drawn = String::new();
        let mut rest = pattern;
        while let Some((before, behind)) = rest.split_once('[') {
            let (set, behind) = behind.split_once(']').ok_or("`[` has no `]`")?;
            drawn.push_str(before);
            let count = set.chars().count().max(1);
            drawn.extend(set.chars().nth(self.random.next() as usize % count));
            rest = behind;
        }
        self.texts.insert(index, drawn + rest);
        Ok(())
    }

    /// A text with `$1` and the like replaced.
    fn with_texts(&self, text: &str) -> String {
        let texts = self.texts.iter();
        texts.fold(text.to_owned(), |text, (index, drawn)| {
            text.replace(&format!("${index}"), drawn)
        })
    }

    /// Where in a file: a number, `+` for so much behind the last, or `*` for anywhere, with
    /// `/y`, `%y` and `+y` behind it to align, to limit and to add.
    fn place(&mut self, word: &str) -> Result<u64, String> {
        let wrong = || format!("`{word}` is no place in a file");
        let (mut place, mut rest) = match word.strip_prefix('*') {
            Some(rest) => (self.random.next().into(), rest),
            None => {
                let step = word.strip_prefix('+');
                let begin = step.map_or(0, |_| self.last_place);
                let number = number(step.unwrap_or(word)).ok_or_else(wrong)?;
                (begin.wrapping_add(number), "")
            }
        };
        while let Some(sign) = rest.chars().next() {
            let behind = rest.get(1..).unwrap_or("");
            let (by, behind) = split(behind, |it| !"/%+".contains(it));
            let by = number(by).ok_or_else(wrong)?;
            place = match sign {
                '/' => place / by.max(1) * by.max(1),
                '%' => place % by.max(1),
                '+' => place.saturating_add(by),
                _ => return Err(wrong()),
            };
            rest = behind;
        }
        self.last_place = place;
        Ok(place)
    }
}

/// A line in its words.
struct Line<'a> {
    /// When the call was made, in nanoseconds.
    due_ns: u64,
    /// What is done.
    verb: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// The words of a line; none where there is nothing in it, or a comment. An error is a text
    /// without its end, or a time that is none.
    fn read(text: &'a str) -> Result<Option<Self>, String> {
        if text.trim_ascii_start().starts_with('#') {
            return Ok(None);
        }
        let mut words = LANGUAGE.words(text)?;
        let mut due_ns = 0;
        let is_time = |it: &&&str| it.starts_with(|it: char| it.is_ascii_digit());
        if let Some(time) = words.first().filter(is_time) {
            let seconds = time.parse().ok().filter(|it| (0.0..=1e9).contains(it));
            let seconds: f64 = seconds.ok_or_else(|| format!("`{time}` is no time in seconds"))?;
            due_ns = (seconds * 1e9) as u64;
            words.remove(0);
        }
        // The verb, and 19 words at most.
        words.truncate(20);
        Ok((!words.is_empty()).then(|| Self {
            due_ns,
            verb: words.remove(0),
            words,
        }))
    }

    /// The back-end of an operation that does not work on files.
    fn other_back_end(&self) -> Option<&'static str> {
        let has = |names: &str| {
            names
                .split(' ')
                .any(|it| it.eq_ignore_ascii_case(self.verb))
        };
        let path = |it: &&str| it.starts_with(['/', '\\', '$']);
        match () {
            () if has(NFS) => Some("nfs"),
            () if has(SCSI) => Some("scsi"),
            () if has("OPEN READDIR") => Some("smb"),
            () if has("READ WRITE") => match self.words.first().is_some_and(path) {
                true => Some("smb"),
                false => Some("block"),
            },
            () => None,
        }
    }

    /// How the call ended, which the last word says.
    fn end(&self) -> Option<TraceEnd> {
        use TraceEnd::{Any, Ill, Well};
        let last = self.words.last()?;
        let by = |is_well| if is_well { Well } else { Ill };
        match (last.strip_prefix("NT_STATUS_"), last.strip_prefix("0x")) {
            (Some(name), _) => Some(by(name == "OK")),
            (_, Some(digits)) => Some(by(digits.bytes().all(|digit| digit == b'0'))),
            _ if *last == "*" => Some(Any),
            _ if last.eq_ignore_ascii_case("SUCCESS") => Some(Well),
            _ => last.eq_ignore_ascii_case("ERROR").then_some(Ill),
        }
    }

    /// A word behind the verb, from 0; an error where there are not so many.
    fn word(&self, index: usize) -> Result<&'a str, String> {
        let word = self.words.get(index).copied();
        word.ok_or_else(|| format!("`{}` lacks its word number {}", self.verb, index + 1))
    }

    /// A number behind the verb, decimal, or hexadecimal behind `0x`; an error where it is none.
    fn number(&self, index: usize) -> Result<u64, String> {
        let word = self.word(index)?;
        number(word).ok_or_else(|| format!("`{word}` is no number"))
    }
}

/// What the original says no more of either.
fn passed_over(what: &str) -> Difference {
    let note = "passed over, as in the original";
    Difference::new(DifferenceKind::NoEffect, what, note)
}
