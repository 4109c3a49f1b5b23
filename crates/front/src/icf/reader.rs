//! Reads keys and values, and collects warnings, for all sections.

use super::Strictness;
use super::text::{IcfLine, IcfLines};
use plan::Diagnostic;

/// Longest line that Iometer reads, in bytes.
// Iometer reads into a buffer of 200 bytes; after a longer line it reads nothing more.
const IOMETER_LINE_BYTES: usize = 199;
/// Longest line that pgmeter reads, in bytes.
const MAX_LINE_BYTES: usize = 64 << 10;
/// Number of warnings that are kept; more are only counted.
const MAX_WARNINGS: usize = 100;

/// Keys of a block with their meanings. A key that ends in `*` matches by prefix.
pub(super) type Keys<K> = [(&'static str, K)];

/// Name and last line of a section or block, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct IcfBlock {
    /// The name in messages.
    pub name: &'static str,
    /// The last line.
    pub end: &'static str,
}

/// Reads a configuration line by line and collects warnings.
pub(super) struct IcfReader<'a> {
    pub lines: IcfLines<'a>,
    pub mode: Strictness,
    pub file: &'a str,
    /// Lines that assign an access specification by name. The names are checked at the end.
    pub assigned: Vec<IcfLine<'a>>,
    warnings: Vec<Diagnostic>,
    hidden_count: usize,
    long_line: Option<IcfLine<'a>>,
}

impl<'a> IcfReader<'a> {
    pub fn new(text: &'a str, file: &'a str, mode: Strictness) -> Self {
        Self {
            lines: IcfLines::new(text),
            mode,
            file,
            assigned: Vec::new(),
            warnings: Vec::new(),
            hidden_count: 0,
            long_line: None,
        }
    }

    /// A finding at a line. The caller decides whether it is an error or a warning.
    pub fn at(&self, line: IcfLine<'_>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.file, message)
            .at_line(line.number)
            .snippet(line.text)
    }

    /// A finding at a byte of a line.
    pub fn at_byte(
        &self,
        line: IcfLine<'_>,
        byte: usize,
        message: impl Into<String>,
    ) -> Diagnostic {
        let column = line.column(byte);
        Diagnostic::error(self.file, message)
            .at(line.number, column)
            .snippet(line.text)
    }

    /// Adds a warning, in both modes.
    pub fn warn(&mut self, mut finding: Diagnostic) {
        if self.warnings.len() >= MAX_WARNINGS {
            self.hidden_count += 1;
            return;
        }
        finding.severity = plan::Severity::Warning;
        self.warnings.push(finding);
    }

    /// Adds a warning, or returns the finding as an error in strict mode.
    pub fn warn_or_fail(&mut self, finding: Diagnostic) -> Result<(), Diagnostic> {
        match self.mode {
            Strictness::Strict => Err(finding),
            Strictness::Tolerant => {
                self.warn(finding);
                Ok(())
            }
        }
    }

    /// All warnings, sorted by line.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        let mut warnings = std::mem::take(&mut self.warnings);
        // Names of specifications are checked last, so these warnings are out of order.
        warnings.sort_by_key(|warning| warning.line);
        if self.hidden_count > 0 {
            let message = format!("{} more warnings are not shown", self.hidden_count);
            warnings.push(Diagnostic::warning(self.file, message));
        }
        warnings
    }

    /// The next line, without taking it.
    pub fn peek(&self) -> Option<IcfLine<'a>> {
        self.lines.clone().next()
    }

    /// Takes the next line.
    pub fn take(&mut self) -> Result<Option<IcfLine<'a>>, Diagnostic> {
        let Some(line) = self.lines.next() else {
            return Ok(None);
        };
        if line.text.len() > MAX_LINE_BYTES {
            let message = format!(
                "line of {} bytes is too long, at most {MAX_LINE_BYTES} are read",
                line.text.len()
            );
            return Err(self.at(line, message).help("break or shorten the line"));
        }
        if line.text.len() > IOMETER_LINE_BYTES {
            self.warn_or_fail(self.long(line))?;
        }
        Ok(Some(line))
    }

    /// Takes the next line outside of sections. A long line is only reported if a section follows,
    /// since Iometer does not read past it.
    pub fn take_between_sections(&mut self) -> Option<IcfLine<'a>> {
        let line = self.lines.next()?;
        if line.text.len() > IOMETER_LINE_BYTES && self.long_line.is_none() {
            self.long_line = Some(line);
        }
        Some(line)
    }

    /// Reports a long line before a section that begins now.
    pub fn begin_section(&mut self) -> Result<(), Diagnostic> {
        match self.long_line.take() {
            Some(line) => self.warn_or_fail(self.long(line)),
            None => Ok(()),
        }
    }

    fn long(&self, line: IcfLine<'_>) -> Diagnostic {
        let message = format!(
            "line of {} bytes; Iometer reads nothing after a line of more than \
             {IOMETER_LINE_BYTES}",
            line.text.len()
        );
        self.at(line, message).help("shorten the line")
    }

    /// Takes the next line; an error at the end of the file.
    pub fn need(&mut self, block: IcfBlock) -> Result<IcfLine<'a>, Diagnostic> {
        match self.take()? {
            Some(line) => Ok(line),
            None => Err(self.truncated(block, block.end)),
        }
    }

    /// The error that the file ends inside a block.
    pub fn truncated(&self, block: IcfBlock, wanted: &str) -> Diagnostic {
        let message = format!("file ends inside `{}`, wanted `{wanted}`", block.name);
        Diagnostic::error(self.file, message)
            .at_line(self.lines.number())
            .help("get the complete file; this one was cut off")
    }

    /// Takes the next key; an error if the line is something else.
    pub fn key(&mut self, block: IcfBlock) -> Result<IcfLine<'a>, Diagnostic> {
        let mut after_blank = false;
        loop {
            let line = self.need(block)?;
            if line.is_mark() {
                return Ok(line);
            }
            // One warning is enough for several empty lines in a row.
            if line.is_blank() && after_blank {
                continue;
            }
            if line.is_blank() {
                after_blank = true;
                let message = format!("empty line inside `{}`, wanted a key", block.name);
                self.warn_or_fail(self.at(line, message).help("remove the line"))?;
            } else if line.trimmed().starts_with('\'') {
                let message = "key does not start in the first column";
                self.warn_or_fail(self.at(line, message).help("remove the blanks before it"))?;
                return Ok(line);
            } else {
                let message = format!(
                    "`{}` inside `{}`, wanted a key that starts with an apostrophe",
                    plan::printable(line.trimmed()),
                    block.name
                );
                return Err(self.at(line, message).help("remove the line"));
            }
        }
    }

    /// Finds a key among the block's; `None` if it is unknown.
    pub fn lookup<K: Copy>(
        &mut self,
        line: IcfLine<'a>,
        keys: &Keys<K>,
    ) -> Result<Option<K>, Diagnostic> {
        let Some((wanted, key)) = find(line.trimmed(), keys) else {
            return Ok(None);
        };
        if !matches_spelling(line.trimmed(), wanted) {
            let message = format!(
                "key `{}`, wanted `{wanted}`",
                plan::printable(line.trimmed())
            );
            self.warn_or_fail(self.at(line, message).help("write the key as Iometer does"))?;
        }
        Ok(Some(key))
    }

    /// Finds a key among the block's; an error if it is unknown.
    pub fn known<K: Copy>(
        &mut self,
        line: IcfLine<'a>,
        block: IcfBlock,
        keys: &Keys<K>,
    ) -> Result<K, Diagnostic> {
        match self.lookup(line, keys)? {
            Some(key) => Ok(key),
            None => Err(self.unknown(line, block, keys)),
        }
    }

    /// The error that a key is unknown, which suggests a similar one.
    pub fn unknown<K>(&self, line: IcfLine<'_>, block: IcfBlock, keys: &Keys<K>) -> Diagnostic {
        let key = line.trimmed();
        let message = format!(
            "unknown key `{}` inside `{}`",
            plan::printable(key),
            block.name
        );
        let head: String = folded(key).take(SUGGESTION_CHARS_MAX).collect();
        let likeness = |name: &str| strsim::jaro_winkler(&head, &folded(name).collect::<String>());
        let nearest = keys
            .iter()
            .map(|(name, _)| (likeness(name), *name))
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(likeness, _)| *likeness > 0.85);
        self.at(line, message).help(match nearest {
            Some((_, name)) => format!("write `{}`", name.trim_end_matches('*')),
            None => format!("end the block with `{}`, or remove the line", block.end),
        })
    }

    /// Takes a key's value: the next line that is not a heading. Empty if there is none.
    pub fn value<K: Copy>(
        &mut self,
        key: IcfLine<'a>,
        block: IcfBlock,
        keys: &Keys<K>,
    ) -> Result<IcfLine<'a>, Diagnostic> {
        loop {
            let Some(line) = self.peek() else {
                return Err(self.truncated(block, "a value"));
            };
            // Lines with an apostrophe between a key and its value are column headings.
            if !line.is_mark() {
                return self.need(block);
            }
            // A known key is not a heading, so the value before it is missing.
            if ends_values(line.text) || find(line.trimmed(), keys).is_some() {
                let message = format!("key `{}` has no value", plan::printable(key.trimmed()));
                self.warn_or_fail(
                    self.at(key, message)
                        .help("put the value on a line below the key"),
                )?;
                return Ok(IcfLine {
                    text: "",
                    number: key.number,
                });
            }
            self.need(block)?;
        }
    }
}

/// Number of characters of an unknown key that are compared with known ones.
const SUGGESTION_CHARS_MAX: usize = 120;

/// `true` if a line with an apostrophe cannot be a column heading between key and value.
fn ends_values(text: &str) -> bool {
    starts_with_ignoring_case(text, "'End") || starts_with_ignoring_case(text, "'Version")
}

/// `true` if `text` starts with `prefix`, regardless of ASCII case.
pub(super) fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// The entry of a key, regardless of blanks and case.
fn find<K: Copy>(key: &str, keys: &Keys<K>) -> Option<(&'static str, K)> {
    keys.iter().copied().find(|(wanted, _)| {
        let mut chars = folded(key);
        match wanted.strip_suffix('*') {
            Some(prefix) => folded(prefix).all(|c| chars.next() == Some(c)),
            None => chars.eq(folded(wanted)),
        }
    })
}

/// `true` if the key is spelled as Iometer requires: case may differ, blanks may not.
fn matches_spelling(key: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => starts_with_ignoring_case(key, prefix),
        None => key.eq_ignore_ascii_case(wanted),
    }
}

/// The characters in lower case without blanks, so that variants of spelling compare equal.
fn folded(key: &str) -> impl Iterator<Item = char> {
    key.chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
}
