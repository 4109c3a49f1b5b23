//! File systems that a killed run left unmounted.

use std::path::Path;

use target::{NotPutBack, PutBack, put_back_mounts};

use crate::failure::{Exit, Failure};

/// Mounts again what killed runs left unmounted, and says so.
///
/// Fails where one of the targets lies on what cannot be mounted: something else would be measured,
/// or cleaned, instead.
pub(crate) fn put_back<'a>(targets: impl Iterator<Item = &'a Path>) -> Result<(), Failure> {
    let done = put_back_mounts();
    let targets: Vec<_> = targets
        .filter_map(|it| std::path::absolute(it).ok())
        .collect();
    for PutBack {
        point,
        command,
        outcome,
    } in done
    {
        let shown = point.display();
        let Err(reason) = outcome else {
            tell!("mounted `{shown}` again, which a killed run had left unmounted");
            continue;
        };
        let message =
            format!("`{shown}`, left unmounted by a killed run, cannot be mounted again: {reason}");
        let is_target = targets.iter().any(|target| target.starts_with(&point));
        if is_target && matches!(reason, NotPutBack::Refused(_)) {
            let help = format!("run `{command}`");
            return Err(Failure::new(Exit::System, message, Some(help)));
        }
        tell!("warning: {message}");
    }
    Ok(())
}
