//! `lab list`: the supported file systems, and what each one needs.

use std::fmt::Write as _;

use lab::vm::Kernel;
use lab::{Availability, FileSystemList, LabError, availability, probe_guests};

use crate::args::LabListArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;

/// Prints whether each file system can be created on this machine, and whether guests work.
pub(crate) fn list(args: &LabListArgs, on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    let guests = match probe_guests(&*stop_flag(on_second_interrupt)?) {
        Err(LabError::Stopped) => return Ok(Exit::Interrupted),
        guests => guests,
    };
    let found = availability();
    let list = FileSystemList::of(&found, &guests);
    output.give(&list, || OutputText::prose(text(&found, &guests)))?;
    Ok(Exit::Success)
}

fn text(found: &[Availability], guests: &Result<Kernel, LabError>) -> String {
    let mut text = String::new();
    for found in found {
        append_entry(&mut text, found, guests.as_ref().ok());
    }
    let description = "a directory on a mounted file system, used as it is";
    line(&mut text, "path:DIR", "yes", description);
    match guests {
        Ok(kernel) => {
            let title = format!(
                "guests of User-mode Linux {}; a test guest started",
                kernel.release
            );
            line(&mut text, "--vm uml", "yes", &title);
        }
        Err(error) => {
            line(&mut text, "--vm uml", "no", "guests of User-mode Linux");
            missing(&mut text, &reason(error));
        }
    }
    text
}

fn append_entry(text: &mut String, found: &Availability, guests: Option<&Kernel>) {
    let entry = found.entry;
    let can = match found.missing.is_empty() {
        true => "yes",
        false => "no",
    };
    let title = format!("{}; {}", entry.title, entry.features());
    line(text, entry.name, can, &title);
    if found.missing.is_empty() {
        return;
    }
    missing(text, &found.missing.join(", "));
    if guests.is_some_and(|kernel| lab::vm::can_run_in_guest(entry, kernel)) {
        line(
            text,
            "",
            "",
            "possible with `--vm uml`, which needs none of these",
        );
    }
}

/// Explains why guests do not work, with the package to install if the program is missing.
fn reason(error: &LabError) -> String {
    match error {
        LabError::MissingProgram {
            program, package, ..
        } => format!("`{program}` (package `{package}`)"),
        error => error.to_string(),
    }
}

/// Appends what is missing, which may take several lines.
fn missing(text: &mut String, items: &str) {
    for (number, part) in items.lines().enumerate() {
        let begin = if number == 0 { "missing: " } else { "" };
        line(text, "", "", &format!("{begin}{part}"));
    }
}

fn line(text: &mut String, name: &str, can: &str, title: &str) {
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "{name:<9} {can:<4} {title}");
}
