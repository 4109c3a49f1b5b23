//! Names of managers and workers as ours.

use std::collections::HashMap;

use super::document::IdName;

/// Text as it can stand in a title or a name: one line; nothing if it is empty.
pub(super) fn one_line(text: &str) -> Option<String> {
    let text = text.replace(char::is_control, " ");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A name for each manager, with its number where the name alone is not enough.
pub fn group_names<'a>(managers: impl Iterator<Item = &'a IdName> + Clone) -> Vec<String> {
    let mut counts = HashMap::new();
    for manager in managers.clone() {
        *counts.entry(&manager.name).or_insert(0_u32) += 1;
    }
    let name = |manager: &IdName| {
        let name = one_line(&manager.name).unwrap_or_else(|| "manager".to_owned());
        match counts.get(&manager.name) {
            Some(2..) => format!("{name} {}", manager.id),
            _ => name,
        }
    };
    managers.map(name).collect()
}
