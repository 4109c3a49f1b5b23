//! Lists: shares of block sizes, CPUs, names of files, fractions, patterns.

use std::collections::BTreeSet;

use super::super::settings::ByDirection;
use super::{Unit, number};

/// Block sizes of a direction, at most.
const SIZES_MAX: usize = 64;

/// A block size and its share of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockShare {
    /// Bytes.
    pub size: u64,
    /// Of the requests; all of a direction add up to 100.
    pub percent: u32,
}

/// The pairs of `a/b:c/d`; what stands behind the stroke may be missing.
pub(super) fn shares(text: &str, most: usize) -> Result<Vec<(&str, Option<&str>)>, String> {
    let mut pairs = Vec::new();
    for part in text.split(':').take_while(|it| !it.is_empty()) {
        if pairs.len() == most {
            return Err(format!("it has more than {most} entries"));
        }
        let (first, second) = match part.split_once('/') {
            Some((first, second)) => (first, Some(second).filter(|it| !it.is_empty())),
            None => (part, None),
        };
        pairs.push((first, second));
    }
    Ok(pairs)
}

/// One list for all directions, or one each with commas between; writes stand for trims.
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

/// Reads `4k/60:64k/40`. Sizes without a share divide what is left; what is missing to 100 is the
/// last one's, and what is above is cut from behind.
pub(in crate::fio) fn block_shares(text: &str, kilo: u64) -> Result<Vec<BlockShare>, String> {
    let mut sizes = Vec::new();
    for (size, share) in shares(text.trim(), SIZES_MAX)? {
        let size = number(size, Unit::Bytes { kilo })?.plain()?;
        let size = u64::try_from(size).ok().filter(|it| *it > 0);
        let size = size.ok_or("a block size is at least 1")?;
        let digits = share.map(|it| it.trim_start().split(|it: char| !it.is_ascii_digit()));
        let share = digits.and_then(|mut it| it.next()?.parse::<u64>().ok());
        // A share of nothing is none that is said, as in fio.
        let share = share.filter(|it| *it > 0).map(|it| it.min(100) as u32);
        sizes.push((size, share));
    }
    let known: u32 = sizes.iter().filter_map(|it| it.1).sum();
    let missing = sizes.iter().filter(|it| it.1.is_none()).count() as u32;
    if known > 100 && missing > 1 {
        return Err("its shares are more than 100 % together".to_owned());
    }
    let each = 100_u32.saturating_sub(known) / missing.max(1);
    let mut shares: Vec<BlockShare> = Vec::with_capacity(sizes.len());
    for (size, percent) in sizes {
        let percent = percent.unwrap_or(each);
        shares.push(BlockShare { size, percent });
    }
    // As fio looks sizes up: in the order of their shares, until the sum reaches a number drawn.
    shares.sort_by_key(|it| it.percent);
    let mut left = 100;
    for share in &mut shares {
        share.percent = share.percent.min(left);
        left -= share.percent;
    }
    if let Some(last) = shares.last_mut() {
        last.percent += left;
    }
    Ok(shares)
}

/// CPUs at most.
const CPUS_MAX: u32 = 4096;

/// Reads `0-3,8`.
pub(in crate::fio) fn cpus(text: &str) -> Result<Vec<u32>, String> {
    let cpu = |text: &str| {
        let cpu = text.trim().parse::<u32>().ok();
        cpu.filter(|it| *it < CPUS_MAX)
            .ok_or_else(|| "it is a list of CPUs such as `0-3,8`".to_owned())
    };
    let mut cpus = BTreeSet::new();
    for part in text.split(',').filter(|it| !it.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cpus.extend(cpu(first)?..=cpu(last)?);
    }
    match cpus.is_empty() {
        true => Err("it is a list of CPUs such as `0-3,8`".to_owned()),
        false => Ok(cpus.into_iter().collect()),
    }
}

/// The names between colons; a backslash keeps a colon in a name.
pub(in crate::fio) fn file_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\\' if matches!(chars.peek(), Some(':' | '\\')) => name.extend(chars.next()),
            ':' => names.push(std::mem::take(&mut name)),
            _ => name.push(char),
        }
    }
    names.push(name);
    // An empty name ends the list, as in fio.
    let end = names.iter().position(String::is_empty);
    names.truncate(end.unwrap_or(names.len()));
    names
}

/// Fractions, at most.
const FLOATS_MAX: usize = 20;

/// Reads `50:99:99.9`.
pub(in crate::fio) fn floats(text: &str, min: f64, max: f64) -> Result<Vec<f64>, String> {
    let mut floats = Vec::new();
    for part in text.split(':') {
        let float = part.trim().parse::<f64>().ok();
        let float = float.filter(|it| (min..=max).contains(it));
        floats.push(float.ok_or_else(|| format!("its numbers are from {min} to {max}"))?);
        if floats.len() > FLOATS_MAX {
            return Err(format!("it has more than {FLOATS_MAX} numbers"));
        }
    }
    Ok(floats)
}

/// Content that is repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(
    /// One after the other.
    pub Vec<PatternPart>,
);

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatternPart {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The offset of the block as 8 bytes, the least first.
    Offset,
    /// What a file holds.
    File(String),
}

/// Bytes of a pattern, at most.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Reads `0xdeadbeef`, `-12`, `"text"`, `'file'`, `%o`, one behind the other.
///
/// # Errors
/// What cannot be read.
pub(in crate::fio) fn pattern(text: &str) -> Result<Pattern, String> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    if rest.len() > PATTERN_BYTES_MAX {
        return Err(format!("it is longer than {PATTERN_BYTES_MAX} bytes"));
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
        false => Ok(Pattern(parts)),
    }
}

fn quoted(text: &str, mark: char) -> Result<(&str, &str), String> {
    text.split_once(mark)
        .filter(|(inner, _)| !inner.is_empty())
        .ok_or_else(|| format!("a text behind {mark} is empty or has no end"))
}

/// The bytes of a text; `\n` and its like are not known to fio.
fn escaped(text: &str) -> PatternPart {
    PatternPart::Bytes(text.as_bytes().to_vec())
}

/// Hexadecimal digits as bytes in their order; a decimal number as bytes, the least first.
fn of_number(text: &str) -> Result<(PatternPart, &str), String> {
    let wanted = || "it is made of `0x` digits, numbers, \"texts\", 'files' and `%o`".to_owned();
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
    // fio refuses numbers beyond 32 bits, too.
    let number: i32 = digits.parse().map_err(|_| wanted())?;
    let length = 4 - number.leading_zeros() as usize / 8;
    let bytes = number.to_le_bytes();
    Ok((PatternPart::Bytes(bytes[..length.max(1)].to_vec()), rest))
}

/// The end of digits that end at `end`: the zero of a `0x` after them belongs to the next number.
fn before_hex(text: &str, end: usize) -> usize {
    let is_hex_next = text[..end].ends_with('0') && text[end..].starts_with(['x', 'X']);
    end - usize::from(is_hex_next)
}
