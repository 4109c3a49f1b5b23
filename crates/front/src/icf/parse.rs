//! Finds the sections of a file; a separate module reads each section.

use super::document::{IcfAccessSpec, IcfDocument, Version};
use super::reader::{IcfReader, starts_with_ignoring_case};
use super::specs::SpecList;
use super::text::{Encoding, IcfLine, decode};
use super::{Parsed, Strictness, display, managers, old_specs, setup, specs};
use plan::Diagnostic;

/// Access specifications have names since this version.
const NAMED_SPECS_SINCE: u64 = 19_980_521;
/// `TEST SETUP` has a last line since this version.
const SETUP_END_SINCE: u64 = 19_990_217;
/// Iometer 1.1.0 warns about versions before this one.
const OLDEST_VERSION: u64 = 19_980_105;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IcfSection {
    Setup,
    Display,
    Specs,
    Managers,
}

const SECTIONS: [(&str, IcfSection); 4] = [
    ("'TEST SETUP", IcfSection::Setup),
    ("'RESULTS DISPLAY", IcfSection::Display),
    ("'ACCESS SPECIFICATIONS", IcfSection::Specs),
    ("'MANAGER LIST", IcfSection::Managers),
];

/// Reads an Iometer configuration of any version.
///
/// `file_name` is only used in messages. Both modes return the same document, but they reject
/// different files.
///
/// # Errors
/// The first fault that makes the file unusable. In [`Strictness::Tolerant`]: shares that do not
/// add up to 100, an unknown structure, values that are not numbers, or a truncated file. In
/// [`Strictness::Strict`]: also everything that Iometer 1.1.0 rejects.
pub fn parse(bytes: &[u8], file_name: &str, mode: Strictness) -> Result<Parsed, Diagnostic> {
    let decoded = decode(bytes, file_name)?;
    let mut reader = IcfReader::new(&decoded.text, file_name, mode);
    if decoded.encoding == Encoding::Utf16 {
        let finding = Diagnostic::error(file_name, "file is UTF-16, which Iometer cannot read");
        reader.warn_or_fail(finding.at_line(1).help("save it as plain text"))?;
    }
    let version = version(&mut reader)?;
    let mut document = IcfDocument {
        version,
        setup: None,
        display: None,
        specs: None,
        managers: None,
    };
    let specs = read_sections(&mut reader, &mut document)?;
    warn_about_unknown_specs(&mut reader, &specs);
    document.specs = specs.map(|list| list.specs);
    Ok(Parsed {
        document,
        warnings: reader.take_warnings(),
    })
}

/// Parses the first three numbers of the first line, regardless of the text around them.
fn version(reader: &mut IcfReader<'_>) -> Result<Version, Diagnostic> {
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
    if version.order() < OLDEST_VERSION {
        let finding = reader.at(
            line,
            format!("version {version} is older than any known one"),
        );
        reader.warn(finding.help("check that the file was understood"));
    }
    Ok(version)
}

fn read_sections(
    reader: &mut IcfReader<'_>,
    document: &mut IcfDocument,
) -> Result<Option<SpecList>, Diagnostic> {
    let order = document.version.order();
    let mut specs = None;
    let mut section_count = 0;
    let mut stray: Option<IcfLine<'_>> = None;
    while let Some(line) = reader.take_between_sections() {
        let Some(section) = section_of(line) else {
            note_stray(reader, line, &mut stray);
            continue;
        };
        let again = match section {
            IcfSection::Setup => document.setup.is_some(),
            IcfSection::Display => document.display.is_some(),
            IcfSection::Specs => specs.is_some(),
            IcfSection::Managers => document.managers.is_some(),
        };
        // Iometer searches the file from its start for each kind of section, so it only finds the
        // first.
        if again {
            let finding = reader.at(line, "second section of this kind is ignored");
            reader.warn(finding.help("remove it"));
            // The lines of the ignored section need no further warning.
            stray = Some(line);
            continue;
        }
        stray = None;
        section_count += 1;
        reader.begin_section()?;
        match section {
            IcfSection::Setup => {
                document.setup = Some(setup::read(reader, order < SETUP_END_SINCE)?)
            }
            IcfSection::Display => document.display = Some(display::read(reader)?),
            IcfSection::Specs if order < NAMED_SPECS_SINCE => {
                specs = Some(old_specs::read(reader)?)
            }
            IcfSection::Specs => specs = Some(specs::read(reader)?),
            IcfSection::Managers => document.managers = Some(managers::read(reader)?),
        }
    }
    if section_count == 0 {
        let message = "no section of an Iometer configuration found";
        let help = "wanted a line that starts with `'TEST SETUP` or `'ACCESS SPECIFICATIONS`";
        return Err(Diagnostic::error(reader.file, message).help(help));
    }
    Ok(specs)
}

fn section_of(line: IcfLine<'_>) -> Option<IcfSection> {
    let text = line.trimmed();
    SECTIONS
        .iter()
        .find(|(start, _)| starts_with_ignoring_case(text, start))
        .map(|(_, section)| *section)
}

/// Ignores text between sections like Iometer, with a warning for the first line of it.
fn note_stray<'a>(reader: &mut IcfReader<'a>, line: IcfLine<'a>, stray: &mut Option<IcfLine<'a>>) {
    let text = line.trimmed().trim_start_matches('\'');
    // Iometer's manual shows the version after an apostrophe, but real files have none.
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

/// Warns about unknown specifications and continues, like Iometer.
fn warn_about_unknown_specs(reader: &mut IcfReader<'_>, specs: &Option<SpecList>) {
    for line in std::mem::take(&mut reader.assigned) {
        let name = line.trimmed();
        let is_known = specs.as_ref().is_some_and(|list| list.contains(name));
        if !is_known && !IcfAccessSpec::is_idle_name(name) {
            let message = format!(
                "access specification `{}` is unknown, skipped",
                plan::printable(name)
            );
            let finding = reader.at(line, message);
            reader.warn(finding.help("add the specification, or remove the line"));
        }
    }
}
