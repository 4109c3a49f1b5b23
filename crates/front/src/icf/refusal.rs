//! Errors about workloads that an Iometer configuration cannot express.

use plan::Diagnostic;

/// The error that an Iometer configuration cannot express something.
pub(super) fn refuse(message: impl Into<String>, help: &str) -> Diagnostic {
    Diagnostic::error("", message).help(help)
}

/// Rejects names that would not be read back as they were written.
pub(super) fn check_name(noun: &str, name: &str) -> Result<(), Diagnostic> {
    let bad = name.is_empty()
        || name.trim() != name
        || name.contains(|c: char| c == ',' || c.is_control())
        || name
            .get(..4)
            .is_some_and(|head| head.eq_ignore_ascii_case("'end"));
    if bad {
        let message = format!(
            "`{}` cannot be the name of an {noun}",
            plan::printable(name)
        );
        return Err(refuse(message, "choose a name without commas"));
    }
    Ok(())
}
