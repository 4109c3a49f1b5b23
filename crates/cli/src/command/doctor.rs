//! `doctor`: what this machine can and cannot measure.

use std::fmt::Write as _;

use crate::args::DoctorArgs;
use crate::failure::{Exit, Failure};
use crate::output::print;

/// Prints every finding, with what to do about it.
pub(crate) fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if let Err(error) = std::fs::metadata(&args.path) {
        let message = format!("cannot look at `{}`: {error}", args.path.display());
        let help = Some("name the directory that would be measured".to_owned());
        return Err(Failure::new(Exit::Usage, message, help));
    }
    let mut text = String::new();
    for finding in target::doctor(&args.path) {
        let health = finding.status.name();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{health:8}{:18}{}", finding.name, finding.detail);
        if let Some(help) = finding.help {
            let _ = writeln!(text, "{:26}help: {help}", "");
        }
    }
    print(&text)?;
    Ok(Exit::Measured)
}
