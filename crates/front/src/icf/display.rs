//! The section `RESULTS DISPLAY`, which is read and written but has no effect.

use description::iometer::{Bar, BarLine, IdName, ResultsDisplay, UpdateType};

use super::keywords::Keyword;
use super::reader::{IcfBlock, IcfReader, Keys};
use super::scan::Scanner;
use super::text::IcfLine;
use plan::Diagnostic;

const BLOCK: IcfBlock = IcfBlock {
    name: "RESULTS DISPLAY",
    end: "'END results display",
};

#[derive(Debug, Clone, Copy)]
enum DisplayKey {
    Update,
    OldUpdate,
    Bar,
    End,
}

const KEYS: &Keys<DisplayKey> = &[
    (
        "'Record Last Update Results,Update Frequency,Update Type",
        DisplayKey::Update,
    ),
    ("'Update Frequency,Update Type", DisplayKey::OldUpdate),
    // The key contains the number of the chart, so only its beginning is fixed.
    ("'Bar chart*", DisplayKey::Bar),
    (BLOCK.end, DisplayKey::End),
];

/// Update frequencies that Iometer's window offers, in seconds.
const FREQUENCIES: [u32; 11] = [0, 1, 2, 3, 4, 5, 10, 15, 30, 45, 60];

/// Reads the section after its first line.
pub(super) fn read(reader: &mut IcfReader<'_>) -> Result<ResultsDisplay, Diagnostic> {
    let mut display = ResultsDisplay::default();
    loop {
        let line = reader.key(BLOCK)?;
        let key = reader.known(line, BLOCK, KEYS)?;
        if matches!(key, DisplayKey::End) {
            return Ok(display);
        }
        let value = reader.value(line, BLOCK, KEYS)?;
        match key {
            DisplayKey::Update => update(reader, value, true, &mut display)?,
            DisplayKey::OldUpdate => {
                warn_about_old_update(reader, line);
                update(reader, value, false, &mut display)?;
            }
            DisplayKey::Bar => display.bars.extend(bar(reader, line, value)?),
            DisplayKey::End => {}
        }
    }
}

/// Warns in strict mode: Iometer 1.1.0 reports an error here, but only after all other sections.
fn warn_about_old_update(reader: &mut IcfReader<'_>, line: IcfLine<'_>) {
    if reader.mode == super::Strictness::Strict {
        let finding = reader.at(
            line,
            "Iometer 1.1.0 ignores this section, its first key is old",
        );
        reader.warn(finding.help("save the file with Iometer 1.1.0, or ignore this"));
    }
}

fn update<'a>(
    reader: &mut IcfReader<'a>,
    value: IcfLine<'a>,
    with_record: bool,
    display: &mut ResultsDisplay,
) -> Result<(), Diagnostic> {
    let mut scan = Scanner::new(value);
    if with_record {
        display.record_last_update = reader.switch(&mut scan, "record last update results")?;
    }
    let at = scan.at();
    let seconds = reader.unsigned(&mut scan, "update frequency")?;
    if FREQUENCIES.contains(&seconds) {
        display.update_frequency_seconds = seconds;
    } else {
        let message = format!("update frequency of {seconds} s is none of Iometer's, 0 is used");
        let finding = reader.at_byte(value, at, message);
        reader.warn(finding.help("write 0, 1, 2, 3, 4, 5, 10, 15, 30, 45 or 60"));
    }
    let at = scan.at();
    let word = scan.word();
    match UpdateType::from_word(word) {
        Some(update_type) => display.update_type = update_type,
        None => {
            let message = format!("`{}` is not an update type", plan::printable(word));
            let finding = reader.at_byte(value, at, message);
            reader.warn_or_fail(finding.help(format!("write one of {}", UpdateType::choices())))?;
        }
    }
    reader.warn_about_trailing_text(scan);
    Ok(())
}

/// Reads a line about a bar chart, whose number is in the key.
fn bar<'a>(
    reader: &mut IcfReader<'a>,
    key: IcfLine<'a>,
    value: IcfLine<'a>,
) -> Result<Option<Bar>, Diagnostic> {
    let rest = key
        .trimmed()
        .get("'Bar chart".len()..)
        .unwrap_or_default()
        .trim();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (number, what) = rest.split_at(digits);
    let label = what.trim().to_ascii_lowercase();
    let chart = number.parse().ok().filter(|chart| *chart > 0);
    let shows = match label.as_str() {
        "statistic" => Some(BarLine::Statistic(value.trimmed().to_owned())),
        "manager id, manager name" => Some(BarLine::Manager(id_name(reader, value)?)),
        "worker id, worker name" => Some(BarLine::Worker(id_name(reader, value)?)),
        _ => None,
    };
    let (Some(chart), Some(shows)) = (chart, shows) else {
        let message = format!(
            "unknown key `{}` is ignored",
            plan::printable(key.trimmed())
        );
        let finding = reader.at(key, message);
        reader.warn(finding.help("write `'Bar chart 1 statistic`"));
        return Ok(None);
    };
    Ok(Some(Bar { chart, shows }))
}

/// Reads a number, a comma, and a name that extends to the end of the line.
pub(super) fn id_name<'a>(
    reader: &mut IcfReader<'a>,
    value: IcfLine<'a>,
) -> Result<IdName, Diagnostic> {
    let mut scan = Scanner::new(value);
    let starts_as_number = value
        .trimmed()
        .starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let id = if starts_as_number {
        reader.signed(&mut scan, "ID")?
    } else {
        let finding = reader.at(value, "ID is missing, 0 is used");
        reader.warn_or_fail(finding.help("write a number and a comma before the name"))?;
        0
    };
    Ok(IdName {
        id,
        name: scan.rest().trim_start_matches(',').trim().to_owned(),
    })
}
