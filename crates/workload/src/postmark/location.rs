//! `set location`: a list of directories with weights.

use super::number::leading_number;
use super::settings::Location;

/// Carries out `set location` with its parameter; the error texts come back.
pub(super) fn set_location(list: &mut Vec<Location>, parameter: &[u8]) -> Option<Vec<u8>> {
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
fn add(list: &mut Vec<Location>, text: &[u8]) -> Option<Vec<u8>> {
    let Some(blank) = text.iter().rposition(|byte| *byte == b' ') else {
        list.push(Location {
            directory: text.to_vec(),
            weight: 1,
        });
        return None;
    };
    let weight_text = &text[blank + 1..];
    let weight = u32::try_from(leading_number(weight_text))
        .ok()
        .filter(|weight| *weight > 0);
    list.push(Location {
        directory: text[..blank].to_vec(),
        weight: weight.unwrap_or(1),
    });
    weight
        .is_none()
        .then(|| [b"ignoring invalid weight '", weight_text, b"'"].concat())
}

/// Removes the first location of exactly that name.
fn remove(list: &mut Vec<Location>, name: &[u8]) -> Option<Vec<u8>> {
    let found = list.iter().position(|location| location.directory == name);
    match found {
        Some(index) => {
            list.remove(index);
            None
        }
        None => Some([b"cannot find location '", name, b"'"].concat()),
    }
}
