//! Values of any shape as names with values.

use serde_json::Value;

use crate::wrap::printable;

/// The value's parts by their path, such as `settings.seed`; short lists of plain values stay
/// together.
#[must_use]
pub fn flat(value: &Value) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    push(String::new(), value, &mut rows);
    rows
}

fn push(path: String, value: &Value, rows: &mut Vec<(String, String)>) {
    let below = |name: &str| match path.is_empty() {
        true => printable(name),
        false => format!("{path}.{}", printable(name)),
    };
    match value {
        Value::Object(parts) => {
            for (name, part) in parts {
                push(below(name), part, rows);
            }
        }
        Value::Array(parts) if parts.iter().any(|part| part.is_object() || part.is_array()) => {
            for (index, part) in parts.iter().enumerate() {
                push(below(&(index + 1).to_string()), part, rows);
            }
        }
        Value::Array(parts) if parts.is_empty() => rows.push((path, "none".to_owned())),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(plain).collect();
            rows.push((path, parts.join(", ")));
        }
        other => rows.push((path, plain(other))),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text),
        Value::Null => "–".to_owned(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_named_by_their_path() {
        let value = json!({
            "a": 1, "b": {"c": "x\n", "d": [1, 2]}, "e": [{"f": null}, {"f": true}], "g": [],
        });
        let wanted = [
            ("a", "1"),
            ("b.c", "x\\n"),
            ("b.d", "1, 2"),
            ("e.1.f", "–"),
            ("e.2.f", "yes"),
            ("g", "none"),
        ];
        let wanted = wanted.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(flat(&value), wanted);
    }
}
