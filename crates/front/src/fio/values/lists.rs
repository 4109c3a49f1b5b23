//! Parses lists: shares of block sizes, CPUs, file names, fractions, patterns.

use std::collections::BTreeSet;

use super::super::settings::ByDirection;
use super::{NumberUnit, number};

/// Maximum number of block sizes of a direction.
const SIZES_MAX: usize = 64;

/// A block size and its share of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    /// Block size in bytes.
    pub size: u64,
    /// Share of the requests; the shares of a direction add up to 100.
    pub percent: u32,
}

/// Splits `a/b:c/d` into pairs; the part after the slash may be missing.
pub(super) fn shares(text: &str, most: usize) -> Result<Vec<(&str, Option<&str>)>, String> {
    let mut pairs = Vec::new();
    // As in fio, an empty entry ends the list.
    for part in text.split(':').take_while(|it| !it.is_empty()) {
        // fio ignores further entries, which would silently change the shares.
        if pairs.len() == most {
            return Err(format!("use at most {most} entries"));
        }
        let (first, second) = match part.split_once('/') {
            Some((first, second)) => (first, Some(second).filter(|it| !it.is_empty())),
            None => (part, None),
        };
        pairs.push((first, second));
    }
    Ok(pairs)
}

/// Reads one list for all directions, or one per direction separated by commas. Missing lists for
/// trims default to the one for writes.
pub(in crate::fio) fn shares_by_direction<T: Clone>(
    text: &str,
    one: impl Fn(&str) -> Result<T, String>,
) -> Result<ByDirection<T>, String> {
    let mut parts = text.splitn(3, ',');
    let read = one(parts.next().unwrap_or_default())?;
    let write = parts.next().map_or_else(|| Ok(read.clone()), &one)?;
    let trim = parts.next().map_or_else(|| Ok(write.clone()), &one)?;
    Ok(ByDirection { read, write, trim })
}

/// Reads `4k/60:64k/40`. Sizes without a share divide the rest equally. If the sum is not 100, the
/// largest shares are adjusted.
pub(in crate::fio) fn block_shares(text: &str, kilo: u64) -> Result<Vec<BlockShare>, String> {
    let mut sizes = Vec::new();
    for (size, share) in shares(text.trim(), SIZES_MAX)? {
        let size = number(size, NumberUnit::Bytes { kilo })?.plain()?;
        let size = u64::try_from(size).ok().filter(|it| *it > 0);
        let size = size.ok_or("a block size is at least 1")?;
        // fio reads the share with atoi(3), which ignores everything after the digits.
        let digits = share.map(|it| it.trim_start().split(|it: char| !it.is_ascii_digit()));
        let share = digits.and_then(|mut it| it.next()?.parse::<u64>().ok());
        // As in fio, a share of 0 counts as not given.
        let share = share.filter(|it| *it > 0).map(|it| it.min(100) as u32);
        sizes.push((size, share));
    }
    let known: u32 = sizes.iter().filter_map(|it| it.1).sum();
    let missing = sizes.iter().filter(|it| it.1.is_none()).count() as u32;
    if known > 100 && missing > 1 {
        return Err("the shares exceed 100 % in total".to_owned());
    }
    // If the known shares exceed 100, a single missing share gets nothing.
    let equal_share = 100_u32.saturating_sub(known) / missing.max(1);
    let mut shares: Vec<BlockShare> = Vec::with_capacity(sizes.len());
    for (size, percent) in sizes {
        let percent = percent.unwrap_or(equal_share);
        shares.push(BlockShare { size, percent });
    }
    // fio looks up a size in ascending order of shares, until the sum reaches a random number.
    shares.sort_by_key(|it| it.percent);
    let mut left = 100;
    for share in &mut shares {
        // fio accepts a sum above 100 and cuts the last shares.
        share.percent = share.percent.min(left);
        left -= share.percent;
    }
    // If the sum is below 100, the last share takes the rest, as in fio.
    if let Some(last) = shares.last_mut() {
        last.percent += left;
    }
    Ok(shares)
}

/// Upper limit of CPU numbers, exclusive.
const CPUS_MAX: u32 = 4096;

/// Reads `0-3,8`.
pub(in crate::fio) fn cpus(text: &str) -> Result<Vec<u32>, String> {
    let cpu = |text: &str| {
        let cpu = text.trim().parse::<u32>().ok();
        cpu.filter(|it| *it < CPUS_MAX)
            .ok_or_else(|| "use a list of CPUs such as `0-3,8`".to_owned())
    };
    // fio keeps a bit mask, so order and repetition do not matter.
    let mut cpus = BTreeSet::new();
    for part in text.split(',').filter(|it| !it.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(cpu(first)?..=cpu(last)?);
    }
    match cpus.is_empty() {
        true => Err("use a list of CPUs such as `0-3,8`".to_owned()),
        false => Ok(cpus.into_iter().collect()),
    }
}

/// Splits names at colons. A backslash escapes a colon in a name, and nothing else. As in fio,
/// empty names are skipped.
pub(in crate::fio) fn file_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if chars.peek() == Some(&':') => name.extend(chars.next()),
            ':' => names.push(std::mem::take(&mut name)),
            _ => name.push(char),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// Maximum number of fractions in a list.
const FLOATS_MAX: usize = 20;

/// Reads `50:99:99.9`.
pub(in crate::fio) fn floats(text: &str, min: f64, max: f64) -> Result<Vec<f64>, String> {
    let mut floats = Vec::new();
    for part in text.split(':') {
        let float = part.trim().parse::<f64>().ok();
        let float = float.filter(|it| (min..=max).contains(it));
        floats.push(float.ok_or_else(|| format!("use numbers from {min} to {max}"))?);
        // This is fio's limit, and the number of percentile fields in a terse line.
        if floats.len() > FLOATS_MAX {
            return Err(format!("use at most {FLOATS_MAX} numbers"));
        }
    }
    Ok(floats)
}

/// A pattern that is repeated to fill blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BytePattern(
    /// Parts in order.
    pub Vec<PatternPart>,
);

/// A part of a pattern of bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// Literal bytes.
    Bytes(Vec<u8>),
    /// Offset of the block as 8 bytes, little-endian.
    Offset,
    /// Contents of the file with this name.
    File(String),
}

/// Maximum length of a pattern in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Reads a sequence of `0xdeadbeef`, `-12`, `"text"`, `'file'` and `%o`.
///
/// # Errors
/// An invalid, empty or too long pattern.
pub(in crate::fio) fn pattern(text: &str) -> Result<BytePattern, String> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    if rest.len() > PATTERN_BYTES_MAX {
        return Err(format!("use at most {PATTERN_BYTES_MAX} bytes"));
    }
    while let Some(first) = rest.chars().next() {
        let part;
        (part, rest) = match first {
            '"' => quoted(&rest[1..], '"').map(|(it, rest)| (escaped(it), rest))?,
            '\'' => quoted(&rest[1..], '\'').map(|(it, rest)| {
                let part = PatternPart::File(it.to_owned());
                (part, rest)
            })?,
            '%' if rest.starts_with("%o") => (PatternPart::Offset, &rest[2..]),
            _ => of_number(rest)?,
        };
        parts.push(part);
    }
    match parts.is_empty() {
        true => Err("it needs a pattern".to_owned()),
        false => Ok(BytePattern(parts)),
    }
}

fn quoted(text: &str, mark: char) -> Result<(&str, &str), String> {
    text.split_once(mark)
        // fio aborts at an empty text, by an assertion in `lib/pattern.c`.
        .filter(|(inner, _)| !inner.is_empty())
        .ok_or_else(|| format!("the text after {mark} is empty or not terminated"))
}

/// The bytes of a text; fio has no escapes such as `\n`.
fn escaped(text: &str) -> PatternPart {
    PatternPart::Bytes(text.as_bytes().to_vec())
}

/// Reads hexadecimal digits as bytes in their order, or a decimal number as little-endian bytes.
fn of_number(text: &str) -> Result<(PatternPart, &str), String> {
    let wanted = || "use `0x` digits, numbers, \"texts\", 'files' and `%o`".to_owned();
    if let Some(hex) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let end = hex.find(|it: char| !it.is_ascii_hexdigit());
        let (digits, rest) = hex.split_at(before_hex(hex, end.unwrap_or(hex.len())));
        let padded = match digits.len() % 2 {
            0 => digits.to_owned(),
            _ => format!("0{digits}"),
        };
        let pairs = padded.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = pairs.map(byte).collect();
        let bytes = bytes.filter(|it| !it.is_empty()).ok_or_else(wanted)?;
        return Ok((PatternPart::Bytes(bytes), rest));
    }
    let unsigned = text.trim_start_matches('-');
    let sign = text.len() - unsigned.len();
    let end = unsigned.find(|it: char| !it.is_ascii_digit());
    let (digits, rest) = text.split_at(before_hex(text, sign + end.unwrap_or(unsigned.len())));
    // fio also rejects numbers of more than 32 bits.
    let number: i32 = digits.parse().map_err(|_| wanted())?;
    // fio keeps only as many bytes as the number needs.
    let length = 4 - number.leading_zeros() as usize / 8;
    let bytes = number.to_le_bytes();
    Ok((PatternPart::Bytes(bytes[..length.max(1)].to_vec()), rest))
}

/// The end of the digits before `end`: the zero of a following `0x` belongs to the next number.
fn before_hex(text: &str, end: usize) -> usize {
    let is_hex_next = text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']);
    end - usize::from(is_hex_next)
}
