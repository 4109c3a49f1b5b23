//! Splits job files into sections of options.

use std::borrow::Cow;
use std::sync::Arc;

use plan::{Diagnostic, printable};

use super::ParserEnvironment;
use super::source_line::SourceLine;
use super::variables::{TEXT_BYTES_MAX, Variables};

/// Maximum nesting depth of `include`.
const DEPTH_MAX: u32 = 16;
/// Maximum number of files that one job file includes, directly or not.
const INCLUDES_MAX: u32 = 256;
/// Maximum number of characters of a line that messages show.
const SHOWN_CHARS_MAX: usize = 200;
/// Maximum length of a section name in characters; longer names are truncated.
const NAME_CHARS_MAX: usize = 254;

/// An option as written, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub name: String,
    pub value: Option<String>,
    pub position: SourceLine,
}

/// A section with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobSection {
    pub name: String,
    pub position: SourceLine,
    pub items: Vec<Item>,
}

impl JobSection {
    /// `true` if the section applies to all jobs below it.
    pub(super) fn is_global(&self) -> bool {
        is_global(&self.name)
    }
}

/// `true` if a section of this name applies to all jobs below it: the name begins with `global`.
pub(super) fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

/// Reads a job file and all files that it includes.
pub(super) fn sections(
    file: &str,
    bytes: &[u8],
    surroundings: &ParserEnvironment<'_>,
    notes: &mut Vec<Diagnostic>,
) -> Result<Vec<JobSection>, Diagnostic> {
    let mut lexer = Lexer {
        variables: Variables::new(surroundings),
        environment: surroundings,
        notes,
        sections: Vec::new(),
        depth: 0,
        include_count: 0,
    };
    lexer.read(file, bytes)?;
    Ok(lexer.sections)
}

struct Lexer<'a, 'b> {
    variables: Variables<'a>,
    environment: &'a ParserEnvironment<'a>,
    notes: &'b mut Vec<Diagnostic>,
    sections: Vec<JobSection>,
    depth: u32,
    include_count: u32,
}

impl Lexer<'_, '_> {
    fn read(&mut self, file: &str, bytes: &[u8]) -> Result<(), Diagnostic> {
        let file: Arc<str> = Arc::from(file);
        // Some editors on Windows write a byte order mark, which fio rejects as text outside of a
        // section.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        for (at, raw) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
            let mut source_line = SourceLine {
                file: Arc::clone(&file),
                line,
                column: 1,
                text: Arc::from(""),
            };
            let text = text_of(raw, &mut source_line)?;
            let text = &*text;
            let kept = without_comment(text);
            if kept.is_empty() {
                continue;
            }
            let before = text.len() - text.trim_start().len();
            source_line.column = u32::try_from(before + 1).unwrap_or(u32::MAX);
            source_line.text = shown(text).into();
            self.line(kept, source_line)?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str, source_line: SourceLine) -> Result<(), Diagnostic> {
        if text.starts_with('[') {
            return self.header(text, source_line);
        }
        if let Some(file) = parse_include(text) {
            return self.include(file, &source_line);
        }
        let Some(section) = self.sections.last_mut() else {
            let message = format!("option `{}` precedes the first section", printable(text));
            return Err(source_line.error(message).help("put `[global]` above it"));
        };
        // fio reads lines into a buffer of 8192 bytes (`OPT_LEN_MAX`), so a longer line would
        // become two options.
        if text.len() >= TEXT_BYTES_MAX {
            let message = format!("an option has {} bytes", text.len());
            return Err(source_line
                .error(message)
                .help("keep it below 8192, as in fio"));
        }
        let text = self.variables.replaced(text, &source_line, self.notes);
        // fio keeps a blank after the equals sign, so a word with one is wrong (`values::choice`).
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end(), Some(value.to_owned())),
            None => (text.as_str(), None),
        };
        section.items.push(Item {
            name: name.to_owned(),
            value,
            position: source_line,
        });
        Ok(())
    }

    fn header(&mut self, text: &str, source_line: SourceLine) -> Result<(), Diagnostic> {
        if self.depth > 0 {
            let message = "an included file contains a section";
            return Err(source_line
                .error(message)
                .help("put only options into included files"));
        }
        // Like fio, drop the last character as the bracket, whatever it is.
        let mut chars = text.chars();
        let last = chars.next_back();
        // A line with a lone `[` has no character left here.
        let name = chars.as_str().strip_prefix('[').unwrap_or_default();
        let end = name.char_indices().nth(NAME_CHARS_MAX);
        let name = &name[..end.map_or(name.len(), |(at, _)| at)];
        if last != Some(']') {
            let name = printable(name);
            let message = format!("nothing may follow `]`: the section is `{name}`");
            self.notes.push(source_line.warning(message));
        }
        self.sections.push(JobSection {
            name: name.to_owned(),
            position: source_line,
            items: Vec::new(),
        });
        Ok(())
    }

    /// Looks for the file relative to the current directory, then next to the including file.
    fn include(&mut self, name: &str, source_line: &SourceLine) -> Result<(), Diagnostic> {
        self.include_count += 1;
        // A file may include itself, directly or through other files.
        if self.depth >= DEPTH_MAX || self.include_count > INCLUDES_MAX {
            let message = "too many files include each other";
            return Err(source_line.error(message).help("put the options here"));
        }
        let sibling = source_line.file.rsplit_once('/');
        let sibling = sibling.filter(|_| !name.starts_with('/'));
        let sibling = sibling.map(|(directory, _)| format!("{directory}/{name}"));
        let read = self.environment.read;
        let found = read(name).map(|bytes| (name.to_owned(), bytes));
        let found = found.or_else(|why| {
            let sibling = sibling.ok_or_else(|| why.clone())?;
            // The reason for the name as written helps more than that of the second attempt.
            read(&sibling)
                .map(|bytes| (sibling, bytes))
                .map_err(|_| why)
        });
        let (file, bytes) = found.map_err(|why| {
            let name = printable(name);
            let message = format!("cannot include `{name}`: {}", printable(&why));
            source_line.error(message).help("put it next to this file")
        })?;
        self.depth += 1;
        let read = self.read(&file, &bytes);
        self.depth -= 1;
        read
    }
}

/// The text of a line as UTF-8; comments may use any encoding.
fn text_of<'a>(raw: &'a [u8], source_line: &mut SourceLine) -> Result<Cow<'a, str>, Diagnostic> {
    let column = |at: usize| u32::try_from(at + 1).unwrap_or(u32::MAX);
    let end = raw.iter().position(|byte| matches!(byte, b';' | b'#'));
    let content = &raw[..end.unwrap_or(raw.len())];
    let problem = match std::str::from_utf8(content) {
        // fio would end the line there, because its texts are C strings.
        _ if raw.contains(&0) => {
            let at = raw.iter().position(|byte| *byte == 0).unwrap_or_default();
            (at, "a NUL byte", "is this a job file?")
        }
        Ok(_) => return Ok(String::from_utf8_lossy(raw)),
        Err(error) => (
            error.valid_up_to(),
            "bytes that are not UTF-8",
            "save the file as UTF-8",
        ),
    };
    let (at, message, help) = problem;
    source_line.column = column(at);
    source_line.text = shown(&String::from_utf8_lossy(raw)).into();
    Err(source_line.error(message).help(help))
}

/// The beginning of a line, as messages show it.
fn shown(text: &str) -> String {
    let end = text.char_indices().nth(SHOWN_CHARS_MAX);
    printable(&text[..end.map_or(text.len(), |(at, _)| at)])
}

/// Cuts the line at the first `;` or `#`, even inside quotation marks.
fn without_comment(text: &str) -> &str {
    let end = text.find([';', '#']).unwrap_or(text.len());
    text[..end].trim()
}

fn parse_include(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("include")?;
    // fio skips exactly one character after the word, so `include=FILE` works, too.
    let name = rest.strip_prefix(['=', ' ', '\t'])?.trim();
    Some(name.trim_start_matches('=').trim_start())
}
