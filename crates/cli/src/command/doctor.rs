//! `doctor`: reports what this machine can and cannot measure.

use std::fmt::Write as _;

use lab::vm::Kernel;
use lab::{LabError, probe_guests};
use storage::{Diagnosis, Finding, Health};

use crate::args::DoctorArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::signals::stop_flag;
use crate::terminal::one_line;

/// Prints all findings, each with a remedy.
pub(crate) fn doctor(args: &DoctorArgs, on_second_interrupt: fn() -> !) -> Result<Exit, CliError> {
    if let Err(error) = std::fs::metadata(&args.path) {
        let message = format!("cannot access `{}`: {error}", args.path.display());
        let help = Some("give the directory that you want to measure".to_owned());
        return Err(CliError::new(Exit::Usage, message, help));
    }
    let output = args.json.open()?;
    let stop = stop_flag(on_second_interrupt)?;
    let mut findings = storage::doctor(&args.path);
    match probe_guests(&stop) {
        Err(LabError::Stopped) => return Ok(Exit::Interrupted),
        guests => findings.push(of_guests(guests)),
    }
    let diagnosis = Diagnosis {
        path: args.path.clone(),
        findings,
    };
    output.give(&diagnosis, || OutputText::prose(text(&diagnosis.findings)))?;
    Ok(Exit::Success)
}

fn text(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let health = finding.status.name();
        // Writing to a `String` cannot fail.
        let _ = writeln!(
            text,
            "{health:8}{:18}{}",
            finding.name,
            one_line(&finding.detail)
        );
        if let Some(help) = &finding.help {
            let _ = writeln!(text, "{:26}help: {}", "", one_line(help));
        }
    }
    text
}

/// Reports the result of starting an empty guest.
fn of_guests(guests: Result<Kernel, LabError>) -> Finding {
    let name = "guests";
    match guests {
        Ok(kernel) => Finding {
            name,
            status: Health::Ok,
            detail: format!("User-mode Linux {}; a test guest started", kernel.release),
            help: None,
        },
        Err(error) => {
            let message = error.to_string();
            let message: Vec<&str> = message.lines().map(str::trim).collect();
            let none = "without guests, `--vm uml` and `lab recover` do not work; everything else \
                        does";
            Finding {
                name,
                status: Health::Missing,
                detail: message.join("; "),
                help: Some(match error {
                    LabError::NoGuests { .. } => none.to_owned(),
                    error => error.help().unwrap_or_else(|| none.to_owned()),
                }),
            }
        }
    }
}
