//! From bytes to lines: size limit, encoding, line ends.

use plan::Diagnostic;

/// Largest file that is read, in bytes; real ones have a few hundred lines.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// A file's text and how its bytes had to be understood.
pub(super) struct Decoded {
    pub text: String,
    pub encoding: Encoding,
}

/// How bytes became text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// ASCII or UTF-8, with or without a mark.
    Utf8,
    /// One byte a character, as Windows wrote it in western Europe.
    Ansi,
    /// Two bytes a character, which Iometer cannot read.
    Utf16,
}

/// Decodes a file, or says why it cannot be a configuration.
pub(super) fn decode(bytes: &[u8], file: &str) -> Result<Decoded, Diagnostic> {
    let wanted = "name a file that Iometer or a script wrote as its configuration";
    if bytes.len() > MAX_FILE_BYTES {
        let message = format!(
            "file of {} bytes is too large for an Iometer configuration, at most {MAX_FILE_BYTES} \
             are read",
            bytes.len()
        );
        return Err(Diagnostic::error(file, message).help(wanted));
    }
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(Diagnostic::error(file, "file is empty").help(wanted));
    }
    if let Some(text) = decode_utf16(bytes) {
        return Ok(Decoded {
            text,
            encoding: Encoding::Utf16,
        });
    }
    if let Some(offset) = bytes.iter().position(|byte| *byte == 0) {
        let message = format!("file is binary: a zero byte at offset {offset}");
        return Err(Diagnostic::error(file, message).help(wanted));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    Ok(match std::str::from_utf8(bytes) {
        Ok(text) => Decoded {
            text: text.to_owned(),
            encoding: Encoding::Utf8,
        },
        Err(_) => Decoded {
            text: bytes.iter().map(|byte| ansi(*byte)).collect(),
            encoding: Encoding::Ansi,
        },
    })
}

/// Text with a UTF-16 byte order mark, if it is that.
fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (is_little, rest) = match bytes {
        [0xff, 0xfe, rest @ ..] => (true, rest),
        [0xfe, 0xff, rest @ ..] => (false, rest),
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|pair| match is_little {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    });
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    (!text.contains('\0')).then_some(text)
}

/// The characters of Windows code page 1252 from 0x80 to 0x9f; the five holes stay as they are.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// A byte of Latin-1 with Windows' additions.
fn ansi(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// One line without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// The text with its indentation.
    pub text: &'a str,
    /// From 1.
    pub number: u32,
}

impl<'a> Line<'a> {
    /// The text without blanks around it.
    pub fn trimmed(self) -> &'a str {
        self.text.trim()
    }

    /// Whether the line is a key or a heading: its first character is an apostrophe.
    pub fn is_mark(self) -> bool {
        self.text.starts_with('\'')
    }

    /// Whether there is nothing on the line.
    pub fn is_blank(self) -> bool {
        self.trimmed().is_empty()
    }

    /// The column, from 1, of a byte position in the text.
    pub fn column(self, byte: usize) -> u32 {
        let before = self.text.get(..byte).unwrap_or(self.text);
        u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX)
    }
}

/// A position in a text that hands out lines; copied to look ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lines<'a> {
    rest: &'a str,
    number: u32,
}

impl<'a> Lines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            number: 0,
        }
    }

    /// Number of the line handed out last.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(Line {
            text: line.strip_suffix('\r').unwrap_or(line),
            number: self.number,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_may_be_mixed_and_the_last_may_be_missing() {
        let lines: Vec<_> = Lines::new("a\r\nb\n\nc")
            .map(|line| (line.number, line.text))
            .collect();
        assert_eq!(lines, [(1, "a"), (2, "b"), (3, ""), (4, "c")]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_windows_text() {
        let decoded = decode(b"s\xe9quence \x96 \x80", "a.icf").unwrap();
        assert_eq!(
            (decoded.text.as_str(), decoded.encoding),
            ("séquence – €", Encoding::Ansi)
        );
    }

    #[test]
    fn a_byte_order_mark_is_taken_off() {
        let decoded = decode(b"\xef\xbb\xbfVersion", "a.icf").unwrap();
        assert_eq!(
            (decoded.text.as_str(), decoded.encoding),
            ("Version", Encoding::Utf8)
        );
        let decoded = decode(b"\xff\xfeV\0e\0", "a.icf").unwrap();
        assert_eq!(
            (decoded.text.as_str(), decoded.encoding),
            ("Ve", Encoding::Utf16)
        );
        let decoded = decode(b"\xfe\xff\0V\0e", "a.icf").unwrap();
        assert_eq!(decoded.text, "Ve");
    }

    #[test]
    fn columns_count_characters() {
        let line = Line {
            text: "\té,x",
            number: 1,
        };
        assert_eq!(line.column(line.text.find('x').unwrap()), 4);
    }
}
