//! Splits a file's bytes into lines, and handles its size limit, encoding and line ends.

use plan::Diagnostic;

/// Largest file that is read, in bytes. Real files have a few hundred lines.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// A file's text and its encoding.
pub(super) struct Decoded {
    pub text: String,
    pub encoding: Encoding,
}

/// Encoding of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// ASCII or UTF-8, with or without a byte order mark.
    Utf8,
    /// One byte per character in Windows code page 1252, the default in western Europe.
    Ansi,
    /// Two bytes per character, which Iometer cannot read.
    Utf16,
}

/// Decodes a file; an error if it cannot be a configuration.
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
    // This must precede the search for zero bytes, which UTF-16 text contains.
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

/// Decodes UTF-16 with a byte order mark; `None` if the file is something else.
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

/// Windows code page 1252 from 0x80 to 0x9f; the five unassigned bytes keep their values.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Character of a byte in Windows code page 1252.
fn ansi(byte: u8) -> char {
    match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

/// A line without its line end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IcfLine<'a> {
    /// The text, including its indentation.
    pub text: &'a str,
    /// Number of the line, from 1.
    pub number: u32,
}

impl<'a> IcfLine<'a> {
    /// The text without surrounding blanks.
    pub fn trimmed(self) -> &'a str {
        self.text.trim()
    }

    /// `true` for a key or a heading, which begins with an apostrophe.
    pub fn is_mark(self) -> bool {
        self.text.starts_with('\'')
    }

    /// `true` if the line has only blanks.
    pub fn is_blank(self) -> bool {
        self.trimmed().is_empty()
    }

    /// Column of a byte position in the text, from 1.
    pub fn column(self, byte: usize) -> u32 {
        let before = self.text.get(..byte).unwrap_or(self.text);
        u32::try_from(before.chars().count() + 1).unwrap_or(u32::MAX)
    }
}

/// Iterator over the lines of a text; copies of it are used to look ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct IcfLines<'a> {
    rest: &'a str,
    number: u32,
}

impl<'a> IcfLines<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            number: 0,
        }
    }

    /// Number of the last line returned; 0 at the start.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl<'a> Iterator for IcfLines<'a> {
    type Item = IcfLine<'a>;

    fn next(&mut self) -> Option<IcfLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        self.number += 1;
        Some(IcfLine {
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
        let lines: Vec<_> = IcfLines::new("a\r\nb\n\nc")
            .map(|line| (line.number, line.text))
            .collect();
        assert_eq!(lines, [(1, "a"), (2, "b"), (3, ""), (4, "c")]);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_decoded_as_windows_text() {
        let decoded = decode(b"s\xe9quence \x96 \x80", "a.icf").unwrap();
        assert_eq!(
            (decoded.text.as_str(), decoded.encoding),
            ("séquence – €", Encoding::Ansi)
        );
    }

    #[test]
    fn a_byte_order_mark_is_removed() {
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
        let line = IcfLine {
            text: "\té,x",
            number: 1,
        };
        assert_eq!(line.column(line.text.find('x').unwrap()), 4);
    }
}
