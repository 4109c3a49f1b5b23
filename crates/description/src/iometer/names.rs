//! Converts names of managers and workers.

use std::collections::HashMap;

use super::values::IdName;

/// The text in a form for titles and names: one line; `None` if it is empty.
#[must_use]
pub fn one_line(text: &str) -> Option<String> {
    let text = text.replace(char::is_control, " ");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A different name for each manager, with its number if several have the same name.
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
    let mut counts: HashMap<String, u32> = HashMap::new();
    let unique = |name: String| {
        let count = counts.entry(name.clone()).or_insert(0);
        *count += 1;
        match count {
            1 => name,
            count => format!("{name} ({count})"),
        }
    };
    managers.map(name).map(unique).collect()
}
