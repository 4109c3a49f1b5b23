//! Finds the sections of a file and has each read by its own module.

use super::document::{AccessSpec, Document, Version};
use super::reader::{Reader, starts_with_ignoring_case};
use super::specs::SpecList;
use super::text::{Encoding, Line, decode};
use super::{Mode, Parsed, display, managers, old_specs, setup, specs};
use plan::Diagnostic;

/// Before this version access specifications had no names.
const NAMED_SPECS: u64 = 19_980_521;
/// Before this version `TEST SETUP` had no last line.
const ENDED_SETUP: u64 = 19_990_217;
/// Iometer 1.1.0 complains about versions before this one.
const OLDEST: u64 = 19_980_105;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Setup,
    Display,
    Specs,
    Managers,
}

const SECTIONS: [(&str, Section); 4] = [
    ("'TEST SETUP", Section::Setup),
    ("'RESULTS DISPLAY", Section::Display),
    ("'ACCESS SPECIFICATIONS", Section::Specs),
    ("'MANAGER LIST", Section::Managers),
];

/// Reads an Iometer configuration of any version.
///
/// `file_name` appears in messages only. Both modes give the same document; they differ in what
/// they refuse.
///
/// # Errors
/// The first thing that makes the file useless: in [`Mode::Tolerant`] shares that do not add up to
/// 100, structure that no Iometer knows, numbers that are none, or a file that was cut off; in
/// [`Mode::Strict`] everything that Iometer 1.1.0 refuses as well.
pub fn parse(bytes: &[u8], file_name: &str, mode: Mode) -> Result<Parsed, Diagnostic> {
    let decoded = decode(bytes, file_name)?;
    let mut reader = Reader::new(&decoded.text, file_name, mode);
    if decoded.encoding == Encoding::Utf16 {
        let finding = Diagnostic::error(file_name, "file is UTF-16, which Iometer cannot read");
        reader.forgive(finding.at_line(1).help("save it as plain text"))?;
    }
    let version = version(&mut reader)?;
    let mut document = Document {
        version,
        setup: None,
        display: None,
        specs: None,
        managers: None,
    };
    let specs = read_sections(&mut reader, &mut document)?;
    warn_of_unknown_specs(&mut reader, &specs);
    document.specs = specs.map(|list| list.specs);
    Ok(Parsed {
        document,
        warnings: reader.take_warnings(),
    })
}

/// The three first numbers of the first line, whatever stands around them.
fn version(reader: &mut Reader<'_>) -> Result<Version, Diagnostic> {
    let wanted = "the first line must name the version, such as `Version 1.1.0`";
    let Some(line) = reader.take()? else {
        return Err(Diagnostic::error(reader.file, "file is empty").help(wanted));
    };
    if line.is_blank() {
        return Err(reader
            .at(line, "first line is empty, wanted a version")
            .help(wanted));
    }
    let mut numbers = line
        .text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(str::parse::<u32>);
    let (Some(Ok(major)), Some(Ok(middle)), Some(Ok(minor))) =
        (numbers.next(), numbers.next(), numbers.next())
    else {
        let shown: String = plan::printable(line.trimmed()).chars().take(40).collect();
        let message = format!(
            "`{shown}` is not a version, so this is not an Iometer \
                               configuration"
        );
        return Err(Diagnostic::error(reader.file, message)
            .at_line(1)
            .help(wanted));
    };
    let version = Version {
        major,
        middle,
        minor,
    };
    if version.order() < OLDEST {
        let finding = reader.at(
            line,
            format!("version {version} is older than any known one"),
        );
        reader.warn(finding.help("check that the file was understood"));
    }
    Ok(version)
}

fn read_sections(
    reader: &mut Reader<'_>,
    document: &mut Document,
) -> Result<Option<SpecList>, Diagnostic> {
    let order = document.version.order();
    let mut specs = None;
    let mut found = 0;
    let mut stray: Option<Line<'_>> = None;
    while let Some(line) = reader.take_outside() {
        let Some(section) = section_of(line) else {
            note_stray(reader, line, &mut stray);
            continue;
        };
        let again = match section {
            Section::Setup => document.setup.is_some(),
            Section::Display => document.display.is_some(),
            Section::Specs => specs.is_some(),
            Section::Managers => document.managers.is_some(),
        };
        if again {
            let finding = reader.at(line, "second section of this kind is ignored");
            reader.warn(finding.help("remove it"));
            stray = Some(line);
            continue;
        }
        stray = None;
        found += 1;
        reader.section_begins()?;
        match section {
            Section::Setup => document.setup = Some(setup::read(reader, order < ENDED_SETUP)?),
            Section::Display => document.display = Some(display::read(reader)?),
            Section::Specs if order < NAMED_SPECS => specs = Some(old_specs::read(reader)?),
            Section::Specs => specs = Some(specs::read(reader)?),
            Section::Managers => document.managers = Some(managers::read(reader)?),
        }
    }
    if found == 0 {
        let message = "no section of an Iometer configuration found";
        let help = "wanted a line that starts with `'TEST SETUP` or `'ACCESS SPECIFICATIONS`";
        return Err(Diagnostic::error(reader.file, message).help(help));
    }
    Ok(specs)
}

fn section_of(line: Line<'_>) -> Option<Section> {
    let text = line.trimmed();
    SECTIONS
        .iter()
        .find(|(start, _)| starts_with_ignoring_case(text, start))
        .map(|(_, section)| *section)
}

/// Text between sections is ignored as Iometer does, but the first line of it is worth a warning.
fn note_stray<'a>(reader: &mut Reader<'a>, line: Line<'a>, stray: &mut Option<Line<'a>>) {
    let text = line.trimmed().trim_start_matches('\'');
    let is_version = starts_with_ignoring_case(text, "Version")
        || (!text.is_empty()
            && text
                .bytes()
                .all(|byte| byte == b'.' || byte.is_ascii_digit()));
    if line.is_blank() || is_version || stray.is_some() {
        return;
    }
    let finding = reader.at(line, "text outside of sections is ignored");
    reader.warn(finding.help("remove it"));
    *stray = Some(line);
}

/// Iometer says so and goes on; so do we.
fn warn_of_unknown_specs(reader: &mut Reader<'_>, specs: &Option<SpecList>) {
    for line in std::mem::take(&mut reader.assigned) {
        let name = line.trimmed();
        let known = specs.as_ref().is_some_and(|list| list.contains(name));
        if !known && !AccessSpec::is_idle_name(name) {
            let message = format!(
                "access specification `{}` is unknown, skipped",
                plan::printable(name)
            );
            let finding = reader.at(line, message);
            reader.warn(finding.help("add the specification, or remove the line"));
        }
    }
}
