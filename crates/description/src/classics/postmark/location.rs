//! Locations: directories with weights, and which of them lie beneath a target.

use super::number::leading_number;
use plan::program::PoolLocation;

/// Carries out `set location` with its parameter; the error texts come back.
pub(super) fn set_location(list: &mut Vec<PoolLocation>, parameter: &[u8]) -> Option<Vec<u8>> {
    match parameter.split_first() {
        Some((b'+', added)) => add(list, added),
        Some((b'-', removed)) => remove(list, removed),
        _ => {
            list.clear();
            add(list, parameter)
        }
    }
}

/// Appends a location; what follows the last blank is its weight.
fn add(list: &mut Vec<PoolLocation>, text: &[u8]) -> Option<Vec<u8>> {
    let Some(blank) = text.iter().rposition(|byte| *byte == b' ') else {
        list.push(PoolLocation::beneath(text, 1));
        return None;
    };
    let weight_text = &text[blank + 1..];
    let weight = u32::try_from(leading_number(weight_text))
        .ok()
        .filter(|weight| *weight > 0);
    list.push(PoolLocation::beneath(&text[..blank], weight.unwrap_or(1)));
    weight
        .is_none()
        .then(|| [b"ignoring invalid weight '", weight_text, b"'"].concat())
}

/// Removes the first location of exactly that name.
fn remove(list: &mut Vec<PoolLocation>, name: &[u8]) -> Option<Vec<u8>> {
    let found = list.iter().position(|location| location.directory == name);
    match found {
        Some(index) => {
            list.remove(index);
            None
        }
        None => Some([b"cannot find location '", name, b"'"].concat()),
    }
}

/// Longest name of one directory, in bytes (`NAME_MAX`).
const NAME_BYTES_MAX: usize = 255;

/// The location without slashes at its end, none if it is the target itself, written `.`; or why
/// it cannot be a directory beneath the target.
pub(crate) fn beneath(name: &str) -> Result<Option<&str>, &'static str> {
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

/// As a workload file has it: the name, and the weight behind it unless it is 1; what is not text
/// is shown as such.
pub(super) fn location_text(location: &PoolLocation) -> String {
    let name = String::from_utf8_lossy(&location.directory);
    // A blank in the name would be taken for the one before a weight.
    match location.weight {
        1 if !name.contains(' ') => name.into_owned(),
        weight => format!("{name} {weight}"),
    }
}

#[cfg(test)]
mod tests {
    use super::beneath;

    #[test]
    fn names_beneath_the_target_are_taken_without_slashes_at_their_end() {
        assert_eq!(beneath("a"), Ok(Some("a")));
        assert_eq!(beneath("a/b//"), Ok(Some("a/b")));
        assert_eq!(beneath("..a/.b"), Ok(Some("..a/.b")));
        assert_eq!((beneath("."), beneath("./")), (Ok(None), Ok(None)));
    }

    #[test]
    fn what_leads_elsewhere_or_nowhere_is_refused() {
        let long = "x".repeat(256);
        for name in [
            "", "/", "/a", "..", "../a", "a/..", "a/../b", "./a", "a/./b", "a//b", "a\0b", "a\nb",
            &long,
        ] {
            assert!(beneath(name).is_err(), "{name:?}");
        }
    }
}
