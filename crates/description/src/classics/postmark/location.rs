//! Locations: directories with weights, below the target.

use plan::program::PoolLocation;

/// Longest name of one directory, in bytes (`NAME_MAX`).
const NAME_BYTES_MAX: usize = 255;

/// The location without trailing slashes; `None` for the target itself, which is written `.`. An
/// error if it cannot be a directory below the target.
///
/// # Errors
/// The reason, in a form that follows the name.
pub fn beneath(name: &str) -> Result<Option<&str>, &'static str> {
    if name.starts_with('/') {
        return Err("is an absolute path, not a directory beneath the target");
    }
    let bare = name.trim_end_matches('/');
    if bare == "." {
        return Ok(None);
    }
    if bare.is_empty() {
        return Err("is empty, not a directory beneath the target");
    }
    // pgmeter writes only below the target, so every part must be a plain name.
    for component in bare.split('/') {
        match component {
            ".." => return Err("leads out of the target"),
            "." | "" => return Err("has a part that names no directory"),
            _ if component.contains(char::is_control) => return Err("has control characters"),
            _ if component.len() > NAME_BYTES_MAX => return Err("has a part that is too long"),
            _ => {}
        }
    }
    Ok(Some(bare))
}

/// The form in a workload file: the name, followed by the weight unless it is 1. Invalid text is
/// shown with replacement characters.
#[must_use]
pub fn location_text(location: &PoolLocation) -> String {
    let name = String::from_utf8_lossy(&location.directory);
    // A blank in the name would be mistaken for the separator of a weight.
    match location.weight {
        1 if !name.contains(' ') => name.into_owned(),
        weight => format!("{name} {weight}"),
    }
}

#[cfg(test)]
mod tests {
    use super::beneath;

    #[test]
    fn names_below_the_target_lose_trailing_slashes() {
        assert_eq!(beneath("a"), Ok(Some("a")));
        assert_eq!(beneath("a/b//"), Ok(Some("a/b")));
        assert_eq!(beneath("..a/.b"), Ok(Some("..a/.b")));
        assert_eq!((beneath("."), beneath("./")), (Ok(None), Ok(None)));
    }

    #[test]
    fn paths_that_leave_the_target_or_are_invalid_are_refused() {
        let long = "x".repeat(256);
        for name in [
            "", "/", "/a", "..", "../a", "a/..", "a/../b", "./a", "a/./b", "a//b", "a\0b", "a\nb",
            &long,
        ] {
            assert!(beneath(name).is_err(), "{name:?}");
        }
    }
}
