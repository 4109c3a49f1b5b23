//! Applies `set location` to the list of locations.

use super::number::leading_number;
use plan::program::PoolLocation;

/// Applies `set location` with its parameter; returns the text of an error.
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

/// Appends a location. The text after the last blank is its weight.
fn add(list: &mut Vec<PoolLocation>, text: &[u8]) -> Option<Vec<u8>> {
    // The original splits at the last blank, so a name cannot contain one.
    let Some(blank) = text.iter().rposition(|byte| *byte == b' ') else {
        list.push(PoolLocation::beneath(text, 1));
        return None;
    };
    let weight_text = &text[blank + 1..];
    let weight = u32::try_from(leading_number(weight_text))
        .ok()
        .filter(|weight| *weight > 0);
    // The original reports an invalid weight, but still adds the location, with weight 1.
    list.push(PoolLocation::beneath(&text[..blank], weight.unwrap_or(1)));
    weight
        .is_none()
        .then(|| [b"ignoring invalid weight '", weight_text, b"'"].concat())
}

/// Removes the first location with exactly this name.
fn remove(list: &mut Vec<PoolLocation>, name: &[u8]) -> Option<Vec<u8>> {
    // The original compares the whole rest of the line and does not split off a weight.
    let found = list.iter().position(|location| location.directory == name);
    match found {
        Some(index) => {
            list.remove(index);
            None
        }
        None => Some([b"cannot find location '", name, b"'"].concat()),
    }
}
