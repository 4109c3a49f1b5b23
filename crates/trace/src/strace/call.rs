//! A call: name, arguments and result.

use crate::event::CallKind;
use crate::fields::first_word;
use crate::number::{self, NS_PER_S};

/// Maximum number of arguments that are looked at; system calls have six.
const ARGUMENTS_MAX: usize = 8;

/// The text of a call that ended.
pub(super) struct CallText<'a> {
    pub(super) name: &'a [u8],
    arguments: [&'a [u8]; ARGUMENTS_MAX],
    argument_count: usize,
    /// `None` for `?`.
    pub(super) result: Option<i64>,
    /// Path of a returned descriptor (`-y`).
    pub(super) result_path: Option<&'a [u8]>,
    pub(super) duration_ns: Option<u64>,
}

impl<'a> CallText<'a> {
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let open = memchr::memchr(b'(', text)?;
        let mut call = Self {
            name: &text[..open],
            arguments: [b""; ARGUMENTS_MAX],
            argument_count: 0,
            result: None,
            result_path: None,
            duration_ns: None,
        };
        let close = call.split_arguments(text, open + 1)?;
        let rest = text[close + 1..].trim_ascii_start().strip_prefix(b"=")?;
        call.read_result(rest.trim_ascii());
        Some(call)
    }

    pub(super) fn argument(&self, index: usize) -> &'a [u8] {
        self.arguments[..self.argument_count]
            .get(index)
            .copied()
            .unwrap_or(b"")
    }

    pub(super) fn has_flag(&self, flag: &[u8]) -> bool {
        let arguments = &self.arguments[..self.argument_count];
        arguments
            .iter()
            .any(|argument| memchr::memmem::find(argument, flag).is_some())
    }

    /// Splits at commas outside of brackets, strings and paths; returns the place of the closing
    /// parenthesis.
    fn split_arguments(&mut self, text: &'a [u8], start: usize) -> Option<usize> {
        let (mut at, mut from, mut depth) = (start, start, 0_u32);
        while let Some(byte) = text.get(at) {
            match byte {
                b'"' => at = string_end(text, at)?,
                b'<' if is_path(text, at) => at = path_end(text, at)?,
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' if depth > 0 => depth -= 1,
                b')' => {
                    self.push(&text[from..at]);
                    return Some(at);
                }
                b',' if depth == 0 => {
                    self.push(&text[from..at]);
                    from = at + 1;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn push(&mut self, argument: &'a [u8]) {
        let argument = argument.trim_ascii();
        if let Some(place) = self.arguments.get_mut(self.argument_count) {
            *place = argument;
            self.argument_count += usize::from(!argument.is_empty());
        }
    }

    /// `3</path> <0.000163>`, `-1 ENOENT (No such file) <0.000011>`, `0x7f00`, `?`.
    fn read_result(&mut self, text: &'a [u8]) {
        let end = text.iter().position(|byte| matches!(byte, b' ' | b'<'));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        self.result = signed(word);
        if rest.starts_with(b"<")
            && let Some(end) = path_end(rest, 0)
        {
            self.result_path = Some(&rest[1..end]);
        }
        let last = memchr::memrchr(b'<', rest).map_or(&b""[..], |at| &rest[at + 1..]);
        let seconds = last.strip_suffix(b">");
        let ns = seconds.and_then(|text| number::nanoseconds(text, NS_PER_S));
        self.duration_ns = ns.and_then(|ns| u64::try_from(ns).ok());
    }
}

/// The last byte of a string that begins at `at`; its bytes are escaped with backslashes.
fn string_end(text: &[u8], at: usize) -> Option<usize> {
    let mut at = at + 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        match text[at] {
            b'"' => return Some(at),
            _ => at += 2,
        }
    }
}

/// `true` if a path of `-y` begins: after a number or `AT_FDCWD`, and no shift such as `1<<3`.
fn is_path(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|before| text.get(before));
    let is_descriptor = before.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'D');
    is_descriptor && text.get(at + 1) != Some(&b'<')
}

/// The closing bracket of a path. strace escapes brackets in paths, but sockets contain `->`, and
/// devices a second pair.
fn path_end(text: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0_u32;
    for (index, byte) in text.iter().enumerate().skip(at) {
        match byte {
            b'<' => depth += 1,
            b'>' if text[index - 1] == b'-' => {}
            b'>' if depth == 1 => return Some(index),
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// A number, decimal or hexadecimal, with an optional sign.
pub(super) fn signed(word: &[u8]) -> Option<i64> {
    if word.starts_with(b"0x") {
        return number::hexadecimal(word).map(u64::cast_signed);
    }
    match word.strip_prefix(b"-") {
        Some(digits) => number::whole(digits)
            .and_then(|it| i64::try_from(it).ok())
            .map(|it| -it),
        None => number::whole(word).and_then(|it| i64::try_from(it).ok()),
    }
}

/// A descriptor and its path: `3`, `3</path>`, `AT_FDCWD</path>`.
pub(super) fn descriptor(argument: &[u8]) -> (Option<i64>, Option<&[u8]>) {
    let (number, path) = match memchr::memchr(b'<', argument) {
        Some(at) => (&argument[..at], Some(&argument[at + 1..])),
        None => (first_word(argument).0, None),
    };
    let path = path.map(|path| path.strip_suffix(b">").unwrap_or(path));
    (signed(number), path)
}

/// The bytes of a string argument, with its escapes.
pub(super) fn string(argument: &[u8]) -> Option<&[u8]> {
    let inner = argument.strip_prefix(b"\"")?;
    let end = memchr::memrchr(b'"', inner)?;
    Some(&inner[..end])
}

/// Meaning of a call.
pub(crate) fn kind(name: &[u8]) -> CallKind {
    match name {
        b"open" | b"openat" | b"openat2" | b"creat" => CallKind::Open,
        b"close" => CallKind::Close,
        b"read" | b"pread" | b"pread64" | b"readv" | b"preadv" | b"preadv2" => CallKind::Read,
        b"write" | b"pwrite" | b"pwrite64" | b"writev" | b"pwritev" | b"pwritev2" => {
            CallKind::Write
        }
        b"fsync" => CallKind::Fsync,
        b"fdatasync" => CallKind::Fdatasync,
        b"lseek" | b"_llseek" => CallKind::Seek,
        b"truncate" | b"ftruncate" | b"truncate64" | b"ftruncate64" | b"fallocate" => {
            CallKind::Resize
        }
        b"rename" | b"renameat" | b"renameat2" | b"link" | b"linkat" => CallKind::Rename,
        b"unlink" | b"unlinkat" | b"rmdir" => CallKind::Remove,
        b"mkdir" | b"mkdirat" => CallKind::MakeDirectory,
        b"stat" | b"fstat" | b"lstat" | b"stat64" | b"fstat64" | b"lstat64" | b"newfstatat"
        | b"statx" => CallKind::Stat,
        _ => CallKind::Other,
    }
}
