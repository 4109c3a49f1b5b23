//! Parses load files, in which each line is a call.

use std::collections::HashMap;

use plan::Diagnostic;
use plan::program::{
    Trace, TraceCall, TraceOpenMode, TraceOperation as Op, TraceResult, WORKER_MARK,
};

use crate::random::GlibcRandom;
use crate::scanning::{number, split};
use crate::tokens::Language;
use crate::{DifferenceKind, OriginalDifference};
use replay::Recording;

const LANGUAGE: Language = Language {
    marks: "",
    begins_word: |_| true,
    is_in_word: |it| !it.is_ascii_whitespace(),
    is_script: false,
};

/// Number of skipped lines that are reported one by one.
const SKIPPED_MAX: usize = 20;

/// Operations of dbench 5's NFS back-end.
const NFS: &str = "ACCESS3 COMMIT3 CREATE3 FSINFO3 FSSTAT3 GETATTR3 LINK3 LOCK4 LOOKUP3 MKDIR3 \
                   MKNOD3 PATHCONF3 READ3 READDIR3 READDIRPLUS3 READLINK3 REMOVE3 RENAME3 RMDIR3 \
                   SETATTR3 SYMLINK3 TEST4 UNLOCK4 WRITE3";
/// Operations of dbench 5's SCSI and iSCSI back-ends.
const SCSI: &str = "PREFETCH10 PREFETCH16 PRIN PROUT READ6 READ10 READ12 READ16 READCAPACITY10 \
                    READCAPACITY16 STARTSTOPUNIT SYNCHRONIZECACHE10 SYNCHRONIZECACHE16 \
                    TESTUNITREADY WRITE6 WRITE10 WRITE12 WRITE16";

/// The parsed load file, and the parser's state.
#[derive(Default)]
pub(super) struct DbenchLoad {
    /// The calls. It is timed if any call has a time.
    pub trace: Trace,
    /// Lines that are skipped, as in the original.
    pub skipped: Vec<OriginalDifference>,
    skipped_count: usize,
    recording: Recording,
    /// Number of the current line, from 1.
    line: u32,
    /// Extra repetitions of the next line.
    repeat: u64,
    /// Open loops: index of the first call, and number of repetitions.
    loops: Vec<(usize, u64)>,
    /// Texts of `RANDOMSTRING`, by their numbers.
    texts: HashMap<u64, String>,
    last_offset: u64,
    /// Random choices, which are the same each time a file is read.
    random: GlibcRandom,
}

/// `true` for a load file: the first line that is not empty or a comment is a call.
pub(super) fn detect(bytes: &[u8]) -> bool {
    // The cut may split a character, which must not hide the calls before it.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(16 << 10)]);
    let first = text.lines().find_map(|line| LoadLine::read(line).ok()?);
    first.is_some_and(|it| call(it.verb).is_some() && it.end().is_some())
}

/// Operations in the order of the table: their name in the table, their name in load files, and the
/// operation. Labels are their indexes.
pub(super) const OPERATIONS: [(&str, &str, Op); 17] = [
    ("NTCreateX", "NTCreateX", Op::Open(TraceOpenMode::Existing)),
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

/// A blank call for a verb, with its label; the line's other words are still to be parsed.
fn call(verb: &str) -> Option<TraceCall> {
    let is_it = |(_, name, _): &(_, &str, _)| verb.eq_ignore_ascii_case(name);
    let label = OPERATIONS.iter().position(is_it)?;
    Some(TraceCall {
        label: label as u8,
        ..TraceCall::new(OPERATIONS[label].2)
    })
}

impl DbenchLoad {
    /// Parses a load file. The error is the first line that cannot be replayed.
    pub(super) fn read(bytes: &[u8], file: &str) -> Result<Self, Diagnostic> {
        let fail = |message| Err(Diagnostic::error(file, message));
        // The magic number of gzip, whose files dbench 5 reads.
        if bytes.starts_with(&[0x1f, 0x8b]) {
            return fail("the load file is compressed; unpack it with `gunzip`");
        }
        let Ok(text) = std::str::from_utf8(bytes) else {
            return fail("the load file is not UTF-8 text");
        };
        let mut load = Self {
            // Lines are about 57 bytes long.
            recording: Recording::with_capacity(bytes.len() / 48),
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
            return fail("a `LOOP` has no `ENDLOOP`");
        }
        if load.recording.count() == 0 {
            return fail("the load file contains no calls");
        }
        let more = load.skipped_count - load.skipped.len();
        let remark = (more > 0).then(|| skipped_difference(&format!("{more} more lines")));
        load.skipped.extend(remark);
        load.trace = Trace {
            is_timed: load.trace.is_timed,
            ..std::mem::take(&mut load.recording).trace(bytes)
        };
        // Each client gets a directory with its own number.
        let own = format!("client{WORKER_MARK}");
        for name in &mut load.trace.names {
            *name = name.replace("client1", &own);
        }
        Ok(load)
    }

    fn line(&mut self, text: &str) -> Result<(), String> {
        let Some(line) = LoadLine::read(text)? else {
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
        // Each repetition is filled in separately: its position may be random or relative to the
        // last one.
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

    /// Records a line that the original skips with a message.
    fn skip(&mut self, subject: &str) {
        self.skipped_count += 1;
        if self.skipped.len() < SKIPPED_MAX {
            self.skipped.push(skipped_difference(subject).at(self.line));
        }
    }

    /// Handles lines that are not calls.
    fn directive(&mut self, line: &LoadLine<'_>) -> Result<(), String> {
        let verb = line.verb;
        let times = || {
            let times = Some(line.number(0)?).filter(|it| (1..=1_000_000).contains(it));
            times.ok_or_else(|| format!("`{verb}` takes 1 to 1000000 repetitions"))
        };
        match verb.to_ascii_uppercase().as_str() {
            "REPEAT" => self.repeat = times()? - 1,
            "LOOP" => self.loops.push((self.recording.count(), times()?)),
            "ENDLOOP" => {
                let (begin, times) = self.loops.pop().ok_or("`ENDLOOP` without a `LOOP`")?;
                self.recording.repeat(begin, times)?;
            }
            "SLEEP" => {
                let mut pause = TraceCall::new(Op::Pause);
                pause.due_ns = line.number(0)?.saturating_mul(1000).min(1 << 50);
                pause.line = self.line;
                self.recording.push(pause)?;
            }
            "RANDOMSTRING" => self.keep(line.number(0)?, line.word(1)?)?,
            // It sets the bytes to write, but pgmeter writes zeros, as dbench 4 does.
            "WRITEPATTERN" => {}
            "SETSP" | "WAITSP" => {
                return Err(format!(
                    "`{verb}` is not supported: clients do not wait for each other"
                ));
            }
            _ => self.skip("a line of an unknown operation"),
        }
        Ok(())
    }

    /// Fills a call from the line's words; `false` if its handle is not open.
    fn fill(&mut self, line: &LoadLine<'_>, call: &mut TraceCall) -> Result<bool, String> {
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
                    // The first bit of the options requests a directory, whatever the disposition.
                    _ if options & 1 != 0 => TraceOpenMode::Directory,
                    2 => TraceOpenMode::Created,
                    4 | 5 => TraceOpenMode::Truncated,
                    _ => TraceOpenMode::Existing,
                });
                let goes_well = call.expected != TraceResult::Failure;
                call.handle = self.recording.open(line.number(3)?, call.name, goes_well)?;
            }
            Op::List => {
                // A pattern lists its directory; a plain name is only looked up.
                let last = line.word(0)?.rsplit(['\\', '/']).next().unwrap_or("");
                call.offset_bytes = line.number(2)?;
                if call.offset_bytes == 0 || !last.contains(['<', '>', '*', '?', '"']) {
                    (call.operation, call.offset_bytes) = (Op::LookUp, 0);
                }
            }
            Op::Rename => call.second = self.name(line.word(1)?)?,
            // The call already has its register, so the handle can be released.
            Op::Close => self.recording.close(line.number(0)?),
            Op::Read | Op::Write => {
                let offset_bytes = self.place(line.word(1)?)?;
                let bytes = line.number(2)?;
                self.recording.transfer(call, offset_bytes, bytes)?;
                // `transfer` limits the bytes to 64 MiB, so they fit.
                call.second = line.number(3)?.min(bytes) as u32;
            }
            Op::Lock | Op::Unlock => {
                // The end of a lock must fit into the signed offset of fcntl.
                call.offset_bytes = line.number(1)?.min(i64::MAX as u64 / 2);
                call.bytes = line.number(2)?.min(u64::from(u32::MAX)) as u32;
            }
            _ => {}
        }
        Ok(true)
    }

    /// Number of a name, after its texts are inserted.
    fn name(&mut self, text: &str) -> Result<u32, String> {
        match text.contains('$') {
            true => self.recording.name(&self.substitute_texts(text)),
            false => self.recording.name(text),
        }
    }

    /// Stores a text under its number. One random character of the set replaces each `[...]`.
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

    /// A name with `$1` and so on replaced by the stored texts.
    fn substitute_texts(&self, text: &str) -> String {
        let mut parts = text.split('$');
        let mut expanded = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // All digits are part of the number: `$10` is not `$1` with a zero after it.
            let rest = part.trim_start_matches(|it: char| it.is_ascii_digit());
            let number = part[..part.len() - rest.len()].parse();
            match number.ok().and_then(|it: u64| self.texts.get(&it)) {
                Some(drawn) => expanded.extend([drawn.as_str(), rest]),
                None => expanded.extend(["$", part]),
            }
        }
        expanded
    }

    /// Position in a file: a number, `+` and the distance from the last position, or `*` for a
    /// random one. After `*`, `/y` aligns, `%y` limits, and `+y` adds.
    fn place(&mut self, word: &str) -> Result<u64, String> {
        let invalid = || format!("`{word}` is not a position in a file");
        let (mut place, mut rest) = match word.strip_prefix('*') {
            Some(rest) => (self.random.next().into(), rest),
            None => {
                let step = word.strip_prefix('+');
                let begin = step.map_or(0, |_| self.last_offset);
                let number = number(step.unwrap_or(word)).ok_or_else(invalid)?;
                (begin.wrapping_add(number), "")
            }
        };
        while let Some(sign) = rest.chars().next() {
            let tail = rest.get(1..).unwrap_or("");
            let (by, behind) = split(tail, |it| !"/%+".contains(it));
            let by = number(by).ok_or_else(invalid)?;
            place = match sign {
                '/' => place / by.max(1) * by.max(1),
                '%' => place % by.max(1),
                '+' => place.saturating_add(by),
                _ => return Err(invalid()),
            };
            rest = behind;
        }
        self.last_offset = place;
        Ok(place)
    }
}

/// A line split into words.
struct LoadLine<'a> {
    /// Time of the call, in nanoseconds; 0 if the line has none.
    due_ns: u64,
    /// The operation or directive.
    verb: &'a str,
    words: Vec<&'a str>,
}

impl<'a> LoadLine<'a> {
    /// Splits a line into words; `None` if it is empty or a comment. The error is an unterminated
    /// text or an invalid time.
    fn read(text: &'a str) -> Result<Option<Self>, String> {
        if text.trim_ascii_start().starts_with('#') {
            return Ok(None);
        }
        let mut words = LANGUAGE.words(text)?;
        let mut due_ns = 0;
        let is_time = |it: &&&str| it.starts_with(|it: char| it.is_ascii_digit());
        if let Some(time) = words.first().filter(is_time) {
            let seconds = time.parse().ok().filter(|it| (0.0..=1e9).contains(it));
            let seconds: f64 =
                seconds.ok_or_else(|| format!("`{time}` is not a time in seconds"))?;
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

    /// Back-end of an operation that does not work on files.
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
            // Both back-ends have these operations, but only SMB's begin with a path.
            () if has("READ WRITE") => match self.words.first().is_some_and(path) {
                true => Some("smb"),
                false => Some("block"),
            },
            () => None,
        }
    }

    /// Expected result of the call, from the last word; `None` if that is not a status.
    fn end(&self) -> Option<TraceResult> {
        use TraceResult::{Any, Failure, Success};
        let last = self.words.last()?;
        let by = |is_well| if is_well { Success } else { Failure };
        match (last.strip_prefix("NT_STATUS_"), last.strip_prefix("0x")) {
            (Some(name), _) => Some(by(name == "OK")),
            (_, Some(digits)) => Some(by(digits.bytes().all(|digit| digit == b'0'))),
            // The statuses from here on belong to dbench 5.
            _ if *last == "*" => Some(Any),
            _ if last.eq_ignore_ascii_case("SUCCESS") => Some(Success),
            _ => last.eq_ignore_ascii_case("ERROR").then_some(Failure),
        }
    }

    /// The word at this index after the verb; an error if there are fewer words.
    fn word(&self, index: usize) -> Result<&'a str, String> {
        let word = self.words.get(index).copied();
        word.ok_or_else(|| format!("`{}` lacks argument {}", self.verb, index + 1))
    }

    /// The number at this index after the verb, in decimal or after `0x` in hexadecimal.
    fn number(&self, index: usize) -> Result<u64, String> {
        let word = self.word(index)?;
        number(word).ok_or_else(|| format!("`{word}` is not a number"))
    }
}

/// The remark about a skipped line.
fn skipped_difference(subject: &str) -> OriginalDifference {
    let note = "skipped, as in the original";
    OriginalDifference::new(DifferenceKind::NoEffect, subject, note)
}
