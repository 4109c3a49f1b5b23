//! The section `ACCESS SPECIFICATIONS` in the new format, with named specifications.

use std::collections::HashMap;

use description::iometer::Assignment;

use super::Strictness;
use super::document::{IcfAccessLine, IcfAccessSpec};
use super::keywords::Keyword;
use super::reader::{IcfBlock, IcfReader, Keys};
use super::text::IcfLine;
use plan::Diagnostic;

pub(super) const BLOCK: IcfBlock = IcfBlock {
    name: "ACCESS SPECIFICATIONS",
    end: "'END access specifications",
};

#[derive(Debug, Clone, Copy)]
enum SpecKey {
    Name,
    Lines,
    End,
}

const NAME_KEY: &str = "'Access specification name,default assignment";
const LINES_KEY: &str = "'size,% of size,% reads,% random,delay,burst,align,reply";
const KEYS: &Keys<SpecKey> = &[
    (NAME_KEY, SpecKey::Name),
    (LINES_KEY, SpecKey::Lines),
    (BLOCK.end, SpecKey::End),
];

/// Number of access lines that Iometer's table can hold.
const IOMETER_LINES: usize = 100;
/// Longest name that Iometer can store, in bytes.
const IOMETER_NAME_BYTES: usize = 128;

/// Specifications with unique names. A later one replaces an earlier one with the same name.
#[derive(Default)]
pub(super) struct SpecList {
    pub specs: Vec<IcfAccessSpec>,
    indexes: HashMap<String, usize>,
}

impl SpecList {
    /// `true` if there is a specification with this name, regardless of case.
    pub fn contains(&self, name: &str) -> bool {
        self.indexes.contains_key(&name.to_lowercase())
    }

    /// Adds a specification; `true` if it replaced another.
    pub fn insert(&mut self, spec: IcfAccessSpec) -> bool {
        match self.indexes.get(&spec.name.to_lowercase()) {
            Some(place) => {
                // In Iometer, a duplicate also takes over the position of the earlier one.
                self.specs[*place] = spec;
                true
            }
            None => {
                self.indexes
                    .insert(spec.name.to_lowercase(), self.specs.len());
                self.specs.push(spec);
                false
            }
        }
    }
}

/// Reads the section after its first line.
pub(super) fn read(reader: &mut IcfReader<'_>) -> Result<SpecList, Diagnostic> {
    let mut list = SpecList::default();
    loop {
        let line = reader.key(BLOCK)?;
        match reader.known(line, BLOCK, KEYS)? {
            SpecKey::End => return Ok(list),
            SpecKey::Lines => return Err(reader.unknown(line, BLOCK, KEYS)),
            SpecKey::Name => {}
        }
        let value = reader.value(line, BLOCK, KEYS)?;
        let (name, assignment) = name_and_assignment(reader, value)?;
        let heading = reader.key(BLOCK)?;
        // Iometer requires a heading here but does not check its text.
        if matches!(
            reader.lookup(heading, KEYS)?,
            Some(SpecKey::Name | SpecKey::End)
        ) {
            let message = format!("access specification `{name}` has no access lines");
            return Err(reader
                .at(heading, message)
                .help(format!("write `{LINES_KEY}`")));
        }
        let spec = IcfAccessSpec {
            lines: access_lines(reader, value, &name)?,
            name,
            assignment,
        };
        if list.insert(spec) {
            let message = "access specification replaces an earlier one of the same name";
            let finding = reader.at(value, message);
            reader.warn(finding.help("give each access specification its own name"));
        }
    }
}

fn name_and_assignment<'a>(
    reader: &mut IcfReader<'a>,
    value: IcfLine<'a>,
) -> Result<(String, Assignment), Diagnostic> {
    let (name, rest) = value.text.split_once(',').unwrap_or((value.text, ""));
    let name = name.trim();
    if name.is_empty() {
        let finding = reader.at(value, "access specification has no name");
        return Err(finding.help("write a name before the comma"));
    }
    let cut = name.find(|c: char| c == '|' || !c.is_ascii());
    if let Some(cut) = cut {
        let message = format!("Iometer cuts the name to `{}`", name[..cut].trim_end());
        let finding = reader.at(value, message);
        reader.warn(finding.help("use ASCII letters without `|` in names"));
    }
    if name.len() > IOMETER_NAME_BYTES {
        let message = format!(
            "name of {} bytes, Iometer holds {IOMETER_NAME_BYTES}",
            name.len()
        );
        let finding = reader.at(value, message);
        reader.warn_or_fail(finding.help("shorten the name"))?;
    }
    let word = rest
        .split([',', ' ', '\t'])
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let assignment = match Assignment::from_word(word) {
        Some(assignment) => assignment,
        None => {
            let message = format!(
                "default assignment is `{}`, NONE is used",
                plan::printable(word)
            );
            let finding = reader.at(value, message);
            reader.warn_or_fail(finding.help(format!("write one of {}", Assignment::choices())))?;
            Assignment::None
        }
    };
    Ok((name.to_owned(), assignment))
}

fn access_lines<'a>(
    reader: &mut IcfReader<'a>,
    head: IcfLine<'a>,
    name: &str,
) -> Result<Vec<IcfAccessLine>, Diagnostic> {
    let mut lines = Vec::new();
    let mut last = head;
    let mut unused = None;
    while let Some(line) = reader.peek().filter(|line| !line.is_mark()) {
        // Indented keys are tolerated, so this is one, not an access line.
        if reader.mode == Strictness::Tolerant && line.trimmed().starts_with('\'') {
            break;
        }
        let line = reader.take()?.unwrap_or(line);
        if line.is_blank() {
            let finding = reader.at(line, "empty line among access lines");
            reader.warn_or_fail(finding.help("remove the line"))?;
            continue;
        }
        let access = access_line(reader, line, name)?;
        if access.of_size == 0 {
            unused = Some(line);
        }
        last = line;
        lines.push(access);
        // Reported once, at the first line too many.
        if lines.len() == IOMETER_LINES + 1 {
            let message = format!("`{name}` has more than {IOMETER_LINES} access lines");
            let finding = reader.at(line, message);
            reader.warn_or_fail(finding.help("merge lines that are alike"))?;
        }
    }
    // Before the check of the sum, which is wrong in a file that was cut off.
    if reader.peek().is_none() {
        return Err(reader.truncated(BLOCK, BLOCK.end));
    }
    check_sum(reader, name, &lines, last, unused)?;
    check_idle(reader, name, &lines, head);
    Ok(lines)
}

/// Checks that the shares add up to 100; otherwise the intended shares are unknown.
pub(super) fn check_sum(
    reader: &IcfReader<'_>,
    name: &str,
    lines: &[IcfAccessLine],
    last: IcfLine<'_>,
    unused: Option<IcfLine<'_>>,
) -> Result<(), Diagnostic> {
    let sum: u64 = lines.iter().map(|line| u64::from(line.of_size)).sum();
    if sum == 100 {
        return Ok(());
    }
    let shown = plan::printable(name);
    let message = format!("access lines of `{shown}` add up to {sum} %, not 100 %");
    let (line, help) = match unused {
        _ if lines.is_empty() => (last, "add an access line with 100 %".to_owned()),
        _ if sum > 100 => (last, format!("reduce a line by {} %", sum - 100)),
        Some(line) if sum > 0 => {
            let text = plan::printable(line.trimmed());
            (
                line,
                format!(
                    "the line `{text}` has 0 %; give it the missing {} %",
                    100 - sum
                ),
            )
        }
        _ => (last, format!("give a line {} % more", 100 - sum)),
    };
    Err(reader.at(line, message).help(help))
}

/// Warns about access lines in `Idle`: this built-in name means no I/O.
fn check_idle(reader: &mut IcfReader<'_>, name: &str, lines: &[IcfAccessLine], head: IcfLine<'_>) {
    let asks = lines.iter().any(|line| line.of_size > 0 && line.size > 0);
    if IcfAccessSpec::is_idle_name(name) && asks {
        let message = "access specification `Idle` does nothing, its lines are not run";
        let finding = reader.at(head, message);
        reader.warn(finding.help("give it another name"));
    }
}

const FIELDS: [&str; 8] = [
    "size",
    "% of size",
    "% reads",
    "% random",
    "delay",
    "burst",
    "align",
    "reply",
];

fn access_line<'a>(
    reader: &mut IcfReader<'a>,
    line: IcfLine<'a>,
    spec: &str,
) -> Result<IcfAccessLine, Diagnostic> {
    let mut values = [0_u32; 8];
    let fields = split_fields(line);
    if fields.len() < FIELDS.len() {
        let message = format!(
            "access line has {} fields, wanted {}: {}",
            fields.len(),
            FIELDS.len(),
            FIELDS.join(",")
        );
        return Err(reader
            .at(line, message)
            .help("write all fields, with commas between"));
    }
    if !line.text.contains(',') {
        let finding = reader.at(line, "access line without commas");
        reader.warn_or_fail(finding.help("write commas between the fields"))?;
    }
    for (index, (byte, text)) in fields.into_iter().take(FIELDS.len()).enumerate() {
        let last = index + 1 == FIELDS.len();
        values[index] = field(reader, line, byte, text, (FIELDS[index], last))?;
    }
    // `field` has checked that percentages are at most 100.
    let percent = |index: usize| u8::try_from(values[index]).unwrap_or(u8::MAX);
    let access = IcfAccessLine {
        size: values[0],
        of_size: percent(1),
        reads: percent(2),
        random: percent(3),
        delay_ms: values[4],
        burst: values[5],
        align: values[6],
        reply: values[7],
    };
    // Published files describe `Idle` by a line of size 0.
    if access.size == 0 && access.of_size > 0 && !IcfAccessSpec::is_idle_name(spec) {
        let message = format!("size is 0 in a line of `{spec}` with {} %", access.of_size);
        let help = format!(
            "write a size, or name the specification `{}`",
            IcfAccessSpec::IDLE
        );
        return Err(reader
            .at_byte(line, line.text.find('0').unwrap_or(0), message)
            .help(help));
    }
    Ok(access)
}

/// The fields with their byte positions, separated by commas or else by blanks. At most one more
/// than needed.
fn split_fields(line: IcfLine<'_>) -> Vec<(usize, &str)> {
    // Parts are slices of the line, so their addresses give their positions.
    let offset_of = |part: &str| part.as_ptr() as usize - line.text.as_ptr() as usize;
    let field = |part: &'_ str| {
        let text = part.trim();
        (
            offset_of(part) + (part.len() - part.trim_start().len()),
            text.len(),
        )
    };
    let parts: Vec<(usize, usize)> = if line.text.contains(',') {
        line.text.splitn(FIELDS.len() + 1, ',').map(field).collect()
    } else {
        line.text
            .split_whitespace()
            .take(FIELDS.len() + 1)
            .map(field)
            .collect()
    };
    parts
        .into_iter()
        .map(|(at, length)| (at, &line.text[at..at + length]))
        .collect()
}

fn field<'a>(
    reader: &mut IcfReader<'a>,
    line: IcfLine<'a>,
    byte: usize,
    text: &str,
    (what, last): (&str, bool),
) -> Result<u32, Diagnostic> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let rest = digits[length..].trim();
    // Since 2010, Iometer reads the rest of the line as the last field and ignores what follows its
    // digits.
    if length == 0 || (!rest.is_empty() && !last) {
        let message = format!("{what} is `{}`, not a whole number", plan::printable(text));
        let finding = reader.at_byte(line, byte, message);
        return Err(finding.help("write digits only; sizes are in bytes"));
    }
    if !rest.is_empty() {
        let message = format!(
            "`{}` after the last field is ignored",
            plan::printable(rest)
        );
        let finding = reader.at_byte(line, byte, message);
        reader.warn(finding.help("remove it"));
    }
    let magnitude = digits[..length].bytes().fold(0_i128, |value, digit| {
        value
            .saturating_mul(10)
            .saturating_add(i128::from(digit - b'0'))
    });
    let value = if text.starts_with('-') {
        -magnitude
    } else {
        magnitude
    };
    if what.starts_with('%') && !(0..=100).contains(&value) {
        let message = format!("{what} is {text}, wanted 0 to 100");
        return Err(reader
            .at_byte(line, byte, message)
            .help("write a percentage"));
    }
    Ok(reader.fit_u32(line, byte, what, value))
}
