//! Keys, values and findings: what all sections share.

use super::Mode;
use super::text::{Line, Lines};
use plan::Diagnostic;

/// Longest line that Iometer reads, in bytes.
const IOMETER_LINE_BYTES: usize = 199;
/// Longest line that is read here, in bytes.
const MAX_LINE_BYTES: usize = 64 << 10;
/// So many warnings are kept; the rest is counted.
const MAX_WARNINGS: usize = 100;

/// Keys of a block, each with its meaning. A key that ends in `*` is compared by prefix.
pub(super) type Keys<K> = [(&'static str, K)];

/// A section or block and how it ends, for messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// The name in messages.
    pub name: &'static str,
    /// The line that ends it.
    pub end: &'static str,
}

/// Reads a configuration line by line and collects what there is to say about it.
pub(super) struct Reader<'a> {
    pub lines: Lines<'a>,
    pub mode: Mode,
    pub file: &'a str,
    /// Lines that assign an access specification by name; looked up at the end.
    pub assigned: Vec<Line<'a>>,
    warnings: Vec<Diagnostic>,
    unsaid: usize,
    long_line: Option<Line<'a>>,
}

impl<'a> Reader<'a> {
    pub fn new(text: &'a str, file: &'a str, mode: Mode) -> Self {
        Self {
            lines: Lines::new(text),
            mode,
            file,
            assigned: Vec::new(),
            warnings: Vec::new(),
            unsaid: 0,
            long_line: None,
        }
    }

    /// A finding at a line; its severity is settled by who takes it.
    pub fn at(&self, line: Line<'_>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.file, message)
            .at_line(line.number)
            .snippet(line.text)
    }

    /// A finding at a byte of a line.
    pub fn at_byte(&self, line: Line<'_>, byte: usize, message: impl Into<String>) -> Diagnostic {
        let column = line.column(byte);
        Diagnostic::error(self.file, message)
            .at(line.number, column)
            .snippet(line.text)
    }

    /// Keeps a warning; both modes go on.
    pub fn warn(&mut self, mut finding: Diagnostic) {
        if self.warnings.len() >= MAX_WARNINGS {
            self.unsaid += 1;
            return;
        }
        finding.severity = plan::Severity::Warning;
        self.warnings.push(finding);
    }

    /// Keeps a warning, or refuses the file where Iometer would.
    pub fn forgive(&mut self, finding: Diagnostic) -> Result<(), Diagnostic> {
        match self.mode {
            Mode::Strict => Err(finding),
            Mode::Tolerant => {
                self.warn(finding);
                Ok(())
            }
        }
    }

    /// All warnings, by line.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.sort_by_key(|warning| warning.line);
        if self.unsaid > 0 {
            let message = format!("{} more warnings are not shown", self.unsaid);
            warnings.push(Diagnostic::warning(self.file, message));
        }
        warnings
    }

    /// The next line, not taken.
    pub fn peek(&self) -> Option<Line<'a>> {
        self.lines.clone().next()
    }

    /// Takes the next line.
    pub fn take(&mut self) -> Result<Option<Line<'a>>, Diagnostic> {
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
            self.forgive(self.long(line))?;
        }
        Ok(Some(line))
    }

    /// Takes the next line outside of sections, where a long line does harm only if a section
    /// follows.
    pub fn take_outside(&mut self) -> Option<Line<'a>> {
        let line = self.lines.next()?;
        if line.text.len() > IOMETER_LINE_BYTES && self.long_line.is_none() {
            self.long_line = Some(line);
        }
        Some(line)
    }

    /// A section begins: a long line before it counts now.
    pub fn section_begins(&mut self) -> Result<(), Diagnostic> {
        match self.long_line.take() {
            Some(line) => self.forgive(self.long(line)),
            None => Ok(()),
        }
    }

    fn long(&self, line: Line<'_>) -> Diagnostic {
        let message = format!(
            "line of {} bytes; Iometer reads nothing after a line of more than \
             {IOMETER_LINE_BYTES}",
            line.text.len()
        );
        self.at(line, message).help("shorten the line")
    }

    /// Takes a line that must be there.
    pub fn need(&mut self, block: Block) -> Result<Line<'a>, Diagnostic> {
        match self.take()? {
            Some(line) => Ok(line),
            None => Err(self.truncated(block, block.end)),
        }
    }

    /// The file ends too early.
    pub fn truncated(&self, block: Block, wanted: &str) -> Diagnostic {
        let message = format!("file ends inside `{}`, wanted `{wanted}`", block.name);
        Diagnostic::error(self.file, message)
            .at_line(self.lines.number())
            .help("get the complete file; this one was cut off")
    }

    /// Takes a line that must be a key.
    pub fn key(&mut self, block: Block) -> Result<Line<'a>, Diagnostic> {
        let mut after_blank = false;
        loop {
            let line = self.need(block)?;
            if line.is_mark() {
                return Ok(line);
            }
            if line.is_blank() && after_blank {
                continue;
            }
            if line.is_blank() {
                after_blank = true;
                let message = format!("empty line inside `{}`, wanted a key", block.name);
                self.forgive(self.at(line, message).help("remove the line"))?;
            } else if line.trimmed().starts_with('\'') {
                let message = "key does not start in the first column";
                self.forgive(self.at(line, message).help("remove the blanks before it"))?;
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

    /// Looks a key up; `None` if the block has no such key.
    pub fn lookup<K: Copy>(
        &mut self,
        line: Line<'a>,
        keys: &Keys<K>,
    ) -> Result<Option<K>, Diagnostic> {
        let Some((wanted, key)) = find(line.trimmed(), keys) else {
            return Ok(None);
        };
        if !spelled(line.trimmed(), wanted) {
            let message = format!(
                "key `{}`, wanted `{wanted}`",
                plan::printable(line.trimmed())
            );
            self.forgive(self.at(line, message).help("write the key as Iometer does"))?;
        }
        Ok(Some(key))
    }

    /// Looks a key up that must be one of the block's.
    pub fn known<K: Copy>(
        &mut self,
        line: Line<'a>,
        block: Block,
        keys: &Keys<K>,
    ) -> Result<K, Diagnostic> {
        match self.lookup(line, keys)? {
            Some(key) => Ok(key),
            None => Err(self.unknown(line, block, keys)),
        }
    }

    /// A key that the block does not have.
    pub fn unknown<K>(&self, line: Line<'_>, block: Block, keys: &Keys<K>) -> Diagnostic {
        let seen = line.trimmed();
        let message = format!(
            "unknown key `{}` inside `{}`",
            plan::printable(seen),
            block.name
        );
        let head: String = folded(seen).take(SUGGEST_CHARS).collect();
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

    /// Takes the value of a key: the next line that is not a heading. Empty if there is none.
    pub fn value<K: Copy>(
        &mut self,
        key: Line<'a>,
        block: Block,
        keys: &Keys<K>,
    ) -> Result<Line<'a>, Diagnostic> {
        loop {
            let Some(line) = self.peek() else {
                return Err(self.truncated(block, "a value"));
            };
            if !line.is_mark() {
                return self.need(block);
            }
            if ends_values(line.text) || find(line.trimmed(), keys).is_some() {
                let message = format!("key `{}` has no value", plan::printable(key.trimmed()));
                self.forgive(
                    self.at(key, message)
                        .help("put the value on a line below the key"),
                )?;
                return Ok(Line {
                    text: "",
                    number: key.number,
                });
            }
            self.need(block)?;
        }
    }
}

/// So much of an unknown key is compared with the known ones.
const SUGGEST_CHARS: usize = 120;

/// Whether a marked line cannot be a column heading between key and value.
fn ends_values(text: &str) -> bool {
    starts_with_ignoring_case(text, "'End") || starts_with_ignoring_case(text, "'Version")
}

/// Whether `text` starts with `prefix`, ASCII case ignored.
pub(super) fn starts_with_ignoring_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// The entry for a key, with blanks and case ignored.
fn find<K: Copy>(seen: &str, keys: &Keys<K>) -> Option<(&'static str, K)> {
    keys.iter().copied().find(|(wanted, _)| {
        let mut seen = folded(seen);
        match wanted.strip_suffix('*') {
            Some(prefix) => folded(prefix).all(|c| seen.next() == Some(c)),
            None => seen.eq(folded(wanted)),
        }
    })
}

/// Whether a key is spelled as Iometer wants it: case ignored, blanks not.
fn spelled(seen: &str, wanted: &str) -> bool {
    match wanted.strip_suffix('*') {
        Some(prefix) => starts_with_ignoring_case(seen, prefix),
        None => seen.eq_ignore_ascii_case(wanted),
    }
}

/// Lower case without blanks, so that spelling variants compare equal.
fn folded(key: &str) -> impl Iterator<Item = char> {
    key.chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
}
