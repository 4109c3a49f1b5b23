//! Access specifications as written before 1998-05-21: six numbers per line and no names.

use std::collections::HashMap;

use description::iometer::Assignment;

use super::document::{IcfAccessLine, IcfAccessSpec};
use super::reader::{IcfReader, starts_with_ignoring_case};
use super::scan::Scanner;
use super::specs::{SpecList, check_sum};
use super::text::IcfLine;
use plan::Diagnostic;

/// Alignment that Iometer 1.1.0 uses for old lines, which have none, in bytes.
const OLD_ALIGN_BYTES: u32 = 2048;

/// Reads the section after its first line. It ends before a key or at the end of the file. A
/// specification ends when its shares add up to 100.
pub(super) fn read(reader: &mut IcfReader<'_>) -> Result<SpecList, Diagnostic> {
    let mut list = SpecList::default();
    let mut numbers = NextNumbers::new();
    let mut open = Vec::new();
    let mut last = None;
    // A comment line comes before the access lines.
    if reader.peek().is_some_and(IcfLine::is_mark) {
        reader.take()?;
    }
    while let Some(line) = reader.peek().filter(|line| !line.is_mark()) {
        // `take` also checks the length of the line, which `peek` does not.
        let line = reader.take()?.unwrap_or(line);
        if line.is_blank() {
            continue;
        }
        if is_version(line, reader) {
            break;
        }
        let access = read_old_line(reader, line)?;
        if access.of_size == 0 {
            let finding = reader.at(line, "access line with 0 % is dropped");
            reader.warn(finding.help("remove the line"));
            continue;
        }
        open.push(access);
        last = Some(line);
        let sum: u32 = open.iter().map(|line| u32::from(line.of_size)).sum();
        // A sum above 100 fails the check, since no later line can lower it.
        if sum >= 100 {
            let name = free_name(&list, &mut numbers, &open);
            check_sum(reader, &name, &open, line, None)?;
            list.insert(IcfAccessSpec {
                name,
                // Iometer assigns specifications of this format to all new workers.
                assignment: Assignment::All,
                lines: std::mem::take(&mut open),
            });
        }
    }
    // The sum of these lines is below 100, so this always fails.
    if let Some(line) = last.filter(|_| !open.is_empty()) {
        check_sum(
            reader,
            &free_name(&list, &mut numbers, &open),
            &open,
            line,
            None,
        )?;
    }
    end(reader)?;
    Ok(list)
}

/// `true` for the version at the end of the file, which is not an access line.
fn is_version(line: IcfLine<'_>, reader: &IcfReader<'_>) -> bool {
    starts_with_ignoring_case(line.trimmed(), "version")
        && reader.lines.clone().all(IcfLine::is_blank)
}

/// Takes the line that ends the section, which only some old files have.
fn end(reader: &mut IcfReader<'_>) -> Result<(), Diagnostic> {
    let ends = reader
        .peek()
        .is_some_and(|line| line.trimmed().eq_ignore_ascii_case(super::specs::BLOCK.end));
    if ends {
        reader.take()?;
    }
    Ok(())
}

fn read_old_line<'a>(
    reader: &mut IcfReader<'a>,
    line: IcfLine<'a>,
) -> Result<IcfAccessLine, Diagnostic> {
    let mut scan = Scanner::new(line);
    let access = IcfAccessLine {
        size: reader.unsigned(&mut scan, "size")?,
        of_size: percent(reader, &mut scan, "% of size")?,
        reads: percent(reader, &mut scan, "% reads")?,
        random: percent(reader, &mut scan, "% random")?,
        delay_ms: reader.unsigned(&mut scan, "delay")?,
        burst: reader.unsigned(&mut scan, "burst")?,
        align: OLD_ALIGN_BYTES,
        reply: 0,
    };
    reader.warn_about_trailing_text(scan);
    if access.size == 0 && access.of_size > 0 {
        let message = format!("size is 0 in a line with {} %", access.of_size);
        return Err(reader.at(line, message).help("write a size"));
    }
    Ok(access)
}

fn percent<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
    name: &str,
) -> Result<u8, Diagnostic> {
    let at = scan.at();
    let value = reader.signed(scan, name)?;
    u8::try_from(value)
        .ok()
        .filter(|value| *value <= 100)
        .ok_or_else(|| {
            let message = format!("{name} is {value}, wanted 0 to 100");
            reader
                .at_byte(scan.line(), at, message)
                .help("write a percentage")
        })
}

/// Next number to try for each name, so that a search for a free name does not start at 1 each
/// time.
type NextNumbers = HashMap<String, u32>;

/// Name that Iometer gives a specification: a description of its only line, or a number.
fn free_name(list: &SpecList, numbers: &mut NextNumbers, lines: &[IcfAccessLine]) -> String {
    let base = match lines {
        [line] => {
            let base = single_line_name(line);
            if !list.contains(&base) {
                return base;
            }
            base
        }
        _ => "Untitled".to_owned(),
    };
    // Iometer appends 2 to a second description, but numbers `Untitled` from 1.
    let first = if lines.len() == 1 { 2 } else { 1 };
    let number = numbers.entry(base.clone()).or_insert(first);
    while list.contains(&format!("{base} {number}")) {
        *number += 1;
    }
    format!("{base} {number}")
}

fn single_line_name(line: &IcfAccessLine) -> String {
    let size = match line.size {
        size if size % (1 << 20) == 0 => format!("{} MiB", size >> 20),
        size if size % (1 << 10) == 0 => format!("{} KiB", size >> 10),
        size => format!("{size} B"),
    };
    let random = match line.random {
        0 => "sequential".to_owned(),
        100 => "random".to_owned(),
        random => format!("{random}% random"),
    };
    let reads = match line.reads {
        0 => "writes".to_owned(),
        100 => "reads".to_owned(),
        reads => format!("{reads}% reads"),
    };
    format!("{size} {random} {reads}")
}
