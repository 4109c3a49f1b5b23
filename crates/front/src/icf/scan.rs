//! Parses numbers and words of a value line like Iometer.

use super::Strictness;
use super::reader::IcfReader;
use super::text::IcfLine;
use plan::Diagnostic;

/// A position in a value line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scanner<'a> {
    line: IcfLine<'a>,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub fn new(line: IcfLine<'a>) -> Self {
        let indent = line.text.len() - line.text.trim_start().len();
        Self { line, at: indent }
    }

    /// The line that is being scanned.
    pub fn line(&self) -> IcfLine<'a> {
        self.line
    }

    /// The rest of the line, without surrounding blanks.
    pub fn rest(&self) -> &'a str {
        self.line.text[self.at..].trim()
    }

    /// Byte position in the line, for findings.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Takes a word: the next run of characters other than commas and blanks.
    pub fn word(&mut self) -> &'a str {
        let rest = &self.line.text[self.at..];
        let word = rest.trim_start_matches(|c: char| c == ',' || c.is_whitespace());
        self.at += rest.len() - word.len();
        let rest = word;
        let end = rest
            .find(|c: char| c == ',' || c.is_whitespace())
            .unwrap_or(rest.len());
        self.at += end;
        self.eat_separator();
        &rest[..end]
    }

    /// Skips blanks, at most one comma, and blanks.
    fn eat_separator(&mut self) {
        let rest = &self.line.text[self.at..];
        let trimmed = rest.trim_start();
        let after = trimmed.strip_prefix(',').unwrap_or(trimmed).trim_start();
        self.at += rest.len() - after.len();
    }

    /// Takes the digits and the sign of the next number.
    fn digits(&mut self) -> Option<Digits<'a>> {
        let rest = &self.line.text[self.at..];
        let start = rest.find(|c: char| c == '-' || c.is_ascii_digit())?;
        let negative = rest[start..].starts_with('-');
        let first = start + usize::from(negative);
        let length = rest[first..].bytes().take_while(u8::is_ascii_digit).count();
        let end = first + length;
        let found = Digits {
            at: self.at + start,
            skipped: rest[..start].trim(),
            negative,
            digits: &rest[first..end],
            // Iometer takes digits and minus signs as one run, and refuses a minus sign inside it.
            dash: rest[end..].starts_with('-'),
        };
        self.at += end;
        self.eat_separator();
        (length > 0).then_some(found)
    }
}

/// A number as written, with its surroundings.
struct Digits<'a> {
    at: usize,
    skipped: &'a str,
    negative: bool,
    digits: &'a str,
    dash: bool,
}

impl Digits<'_> {
    /// The value, limited to the range of the type.
    fn value(&self) -> i128 {
        let value = self.digits.bytes().fold(0_i128, |value, digit| {
            value
                .saturating_mul(10)
                .saturating_add(i128::from(digit - b'0'))
        });
        if self.negative { -value } else { value }
    }
}

impl<'a> IcfReader<'a> {
    /// Takes a signed number that Iometer stores in 32 bits.
    pub fn signed(&mut self, scan: &mut Scanner<'a>, name: &str) -> Result<i32, Diagnostic> {
        let (value, at) = self.number(scan, name)?;
        // Iometer's `atoi` wraps larger numbers.
        let wrapped = value as i32;
        if i128::from(wrapped) == value {
            return Ok(wrapped);
        }
        let used = match self.mode {
            Strictness::Strict => wrapped,
            Strictness::Tolerant => value.clamp(i32::MIN.into(), i32::MAX.into()) as i32,
        };
        self.out_of_range(scan.line(), at, name, i128::from(used));
        Ok(used)
    }

    /// Takes a number that is never negative and that Iometer stores in 32 bits.
    pub fn unsigned(&mut self, scan: &mut Scanner<'a>, name: &str) -> Result<u32, Diagnostic> {
        let (value, at) = self.number(scan, name)?;
        Ok(self.fit_u32(scan.line(), at, name, value))
    }

    /// Takes a number that is never negative and that Iometer stores in 64 bits.
    pub fn wide(&mut self, scan: &mut Scanner<'a>, name: &str) -> Result<u64, Diagnostic> {
        let (value, at) = self.number(scan, name)?;
        let used = value.clamp(0, i128::from(u64::MAX)) as u64;
        if i128::from(used) != value {
            self.out_of_range(scan.line(), at, name, i128::from(used));
        }
        Ok(used)
    }

    /// Limits a number to the range of a field, with a warning. Strict mode wraps like Iometer.
    pub fn fit_u32(&mut self, line: IcfLine<'a>, at: usize, name: &str, value: i128) -> u32 {
        // Iometer parses with `atoi`, so its range ends at the largest signed number.
        let fits = u32::try_from(value)
            .ok()
            .filter(|value| i32::try_from(*value).is_ok());
        if let Some(value) = fits {
            return value;
        }
        let used = match self.mode {
            Strictness::Strict => (value as i32).max(0) as u32,
            Strictness::Tolerant => value.clamp(0, i128::from(u32::MAX)) as u32,
        };
        self.out_of_range(line, at, name, i128::from(used));
        used
    }

    fn out_of_range(&mut self, line: IcfLine<'a>, at: usize, name: &str, used: i128) {
        let message = format!("{name} is outside of Iometer's range; {used} is used");
        let finding = self.at_byte(line, at, message);
        self.warn(finding.help(format!("write a {name} from 0 to {}", i32::MAX)));
    }

    fn number(&mut self, scan: &mut Scanner<'a>, name: &str) -> Result<(i128, usize), Diagnostic> {
        let from = scan.at();
        let Some(digits) = scan.digits() else {
            let message = format!("{name} is missing, wanted a whole number");
            let finding = self.at_byte(scan.line(), from, message);
            return Err(finding.help(format!("write the {name}")));
        };
        if !digits.skipped.is_empty() {
            let message = format!("`{}` before the {name} is ignored", digits.skipped);
            let finding = self.at_byte(scan.line(), from, message);
            self.warn(finding.help("write numbers only"));
        }
        if digits.dash {
            let message = format!("`-` inside the {name}");
            let finding = self.at_byte(scan.line(), digits.at, message);
            self.warn_or_fail(finding.help("separate numbers with a comma"))?;
        }
        Ok((digits.value(), digits.at))
    }

    /// Warns that text after the last value is ignored.
    pub fn warn_about_trailing_text(&mut self, scan: Scanner<'a>) {
        if !scan.rest().is_empty() {
            let message = format!("`{}` is ignored", plan::printable(scan.rest()));
            let finding = self.at_byte(scan.line(), scan.at(), message);
            self.warn(finding.help("remove it"));
        }
    }

    /// Takes `ENABLED` or `DISABLED`.
    pub fn switch(&mut self, scan: &mut Scanner<'a>, name: &str) -> Result<bool, Diagnostic> {
        let at = scan.at();
        let word = scan.word();
        if word.eq_ignore_ascii_case("ENABLED") || word == "1" {
            return Ok(true);
        }
        if word.eq_ignore_ascii_case("DISABLED") || word == "0" {
            return Ok(false);
        }
        let message = format!(
            "{name} is `{}`, wanted ENABLED or DISABLED",
            plan::printable(word)
        );
        Err(self
            .at_byte(scan.line(), at, message)
            .help("write ENABLED or DISABLED"))
    }
}
