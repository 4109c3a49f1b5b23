//! Values as workload files have them.

/// The text that a workload file has for the value, without quotes.
pub(crate) fn text_of<T: serde::Serialize>(value: &T) -> String {
    match units::json_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
