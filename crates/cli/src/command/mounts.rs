//! Remounts file systems that a killed run left unmounted.

use std::path::Path;

use storage::{RestoreFailure, RestoredMount, restore_mounts};

use crate::failure::{CliError, Exit};

/// Remounts what killed runs left unmounted, and reports it.
///
/// Fails if a target is on a file system that cannot be remounted. Otherwise pgmeter would measure
/// or clean something else.
pub(crate) fn restore_unmounted<'a>(
    targets: impl Iterator<Item = &'a Path>,
) -> Result<(), CliError> {
    let done = restore_mounts();
    let targets: Vec<_> = targets
        // `canonicalize` would fail: below an unmounted file system, the path may not exist.
        .filter_map(|it| std::path::absolute(it).ok())
        .collect();
    for RestoredMount {
        point,
        command,
        outcome,
    } in done
    {
        let shown = point.display();
        let Err(reason) = outcome else {
            tell!("remounted `{shown}`, which a killed run had left unmounted");
            continue;
        };
        let message =
            format!("`{shown}`, left unmounted by a killed run, cannot be remounted: {reason}");
        let is_target = targets.iter().any(|target| target.starts_with(&point));
        if is_target && matches!(reason, RestoreFailure::Refused(_)) {
            let help = format!("run `{command}`");
            return Err(CliError::new(Exit::System, message, Some(help)));
        }
        tell!("warning: {message}");
    }
    Ok(())
}
