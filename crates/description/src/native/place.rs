//! Positions in the text of a workload file.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::flaw::{PathStep, ValueError};
use plan::Diagnostic;

/// Text of a workload file, to find the positions of errors.
pub(crate) struct WorkloadText<'a> {
    /// The file's name as the user gave it.
    pub file: &'a str,
    pub text: &'a str,
}

impl<'a> WorkloadText<'a> {
    /// Adds the line, the column and the text of the line at a byte offset.
    pub fn place(&self, diagnostic: Diagnostic, offset: usize) -> Diagnostic {
        let offset = self.text.floor_char_boundary(offset);
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        // Editors count characters, and a line may have more bytes than characters.
        let column = before[line_start..].chars().count() + 1;
        let snippet = self.text[line_start..].lines().next().unwrap_or_default();
        diagnostic
            .at(counted(line), counted(column))
            .snippet(snippet)
    }

    /// The text of a span, short enough for a message.
    pub fn excerpt(&self, span: &Range<usize>) -> String {
        const CHARS_MAX: usize = 40;
        let text = self.text.get(span.clone()).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default();
        let mut shown: String = plan::printable(line).chars().take(CHARS_MAX).collect();
        if line.chars().count() > CHARS_MAX || text.lines().nth(1).is_some() {
            shown.push('…');
        }
        shown
    }

    /// `true` if the text is valid TOML, whatever its content.
    pub fn is_toml(&self) -> bool {
        DeTable::parse(self.text).is_ok()
    }

    /// The dotted key, without list indices, whose value contains the span.
    pub fn key_at(&self, span: &Range<usize>) -> Option<String> {
        let document = DeTable::parse(self.text).ok()?;
        let mut keys = Vec::new();
        keys_to(document.get_ref(), span, &mut keys);
        (!keys.is_empty()).then(|| keys.join("."))
    }

    /// Converts an error in a value to one with its position, as precisely as the text allows.
    pub fn flaw(&self, flaw: &ValueError) -> Diagnostic {
        let diagnostic = flaw.diagnostic(self.file);
        match self.offset_of(&flaw.path) {
            Some(offset) => self.place(diagnostic, offset),
            None => diagnostic,
        }
    }

    /// Offset of the deepest element of the path that exists in the text.
    fn offset_of(&self, path: &[PathStep]) -> Option<usize> {
        // Only an error needs positions, so the text is parsed a second time instead of keeping
        // them.
        let document = DeTable::parse(self.text).ok()?;
        let mut offset = None;
        let mut table = Some(document.get_ref());
        let mut value: Option<&Spanned<DeValue>> = None;
        for step in path {
            let next = match step {
                PathStep::Key(key) => table.and_then(|table| table.get(*key)),
                PathStep::Index(index) => value
                    .and_then(|value| value.get_ref().as_array())
                    .and_then(|array| array.get(*index)),
            };
            // The rest of the path has a default, or it is in the base of the workload.
            let Some(next) = next else { break };
            offset = Some(next.span().start);
            table = next.get_ref().as_table();
            value = Some(next);
        }
        offset
    }
}

/// Reading refuses files long before they have 2^32 lines.
fn counted(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Collects the keys on the path to the innermost value that contains the span.
fn keys_to(table: &DeTable, span: &Range<usize>, keys: &mut Vec<String>) {
    for (key, value) in table {
        let holds = holds(value, span);
        // For an unknown key, the reader reports the span of the key itself.
        if holds || key.span() == *span {
            keys.push(key.get_ref().to_string());
            if holds {
                keys_below(value, span, keys);
            }
            return;
        }
    }
}

fn keys_below(value: &Spanned<DeValue>, span: &Range<usize>, keys: &mut Vec<String>) {
    match value.get_ref() {
        DeValue::Table(table) => keys_to(table, span, keys),
        DeValue::Array(values) => {
            if let Some(value) = values.iter().find(|value| holds(value, span)) {
                keys_below(value, span, keys);
            }
        }
        _ => {}
    }
}

/// Whether the value or anything in it contains the span; a table's own span covers only its
/// header.
fn holds(value: &Spanned<DeValue>, span: &Range<usize>) -> bool {
    let own = value.span();
    if own.start <= span.start && span.end <= own.end {
        return true;
    }
    match value.get_ref() {
        DeValue::Table(table) => table
            .iter()
            .any(|(key, value)| key.span() == *span || holds(value, span)),
        DeValue::Array(values) => values.iter().any(|value| holds(value, span)),
        _ => false,
    }
}
