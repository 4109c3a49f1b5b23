//! Limit of the process on open descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::EngineError;

/// Descriptors for all other purposes: files in progress, rings, the store.
const RESERVED_COUNT: u64 = 128;

/// Ensures that this process can hold `count` directories and files open in addition to its other
/// files. Raises its limit as far as needed, if the system allows it. Opens nothing.
///
/// # Errors
/// [`EngineError::OpenFiles`] if the hard limit is too low.
pub fn make_room_for_open(count: u64) -> Result<(), EngineError> {
    let needed_count = count.saturating_add(RESERVED_COUNT);
    let limit = getrlimit(Resource::Nofile);
    // `None` means unlimited.
    if count == 0 || limit.current.is_none_or(|current| current >= needed_count) {
        return Ok(());
    }
    if limit.maximum.is_some_and(|maximum| maximum < needed_count) {
        return Err(EngineError::OpenFiles {
            count,
            limit_count: limit.maximum.unwrap_or(u64::MAX),
        });
    }
    let raised = Rlimit {
        current: Some(needed_count),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).map_err(|errno| EngineError::system("setrlimit", errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_open_files_than_allowed_are_refused_with_the_limit() {
        let Some(maximum) = getrlimit(Resource::Nofile).maximum else {
            println!("skipped: there is no limit here");
            return;
        };
        let error = make_room_for_open(maximum).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("{maximum} directories and files cannot be held open: the limit is {maximum}")
        );
        assert!(error.help().is_some_and(|help| help.contains("ulimit -n")));
    }

    #[test]
    fn the_open_file_limit_is_raised_only_as_far_as_needed() {
        let limit = getrlimit(Resource::Nofile);
        let (Some(current), true) = (limit.current, limit.maximum != limit.current) else {
            println!("skipped: the limit cannot be raised");
            return;
        };
        assert!(make_room_for_open(0).is_ok());
        assert_eq!(getrlimit(Resource::Nofile).current, Some(current));
        if make_room_for_open(current).is_ok() {
            let raised = getrlimit(Resource::Nofile).current;
            assert_eq!(raised, Some(current + RESERVED_COUNT));
        }
    }
}
