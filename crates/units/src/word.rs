//! Values as workload files write them.

/// The text that a workload file has for the value, without quotes.
pub fn text_of<T: serde::Serialize>(value: &T) -> String {
    match crate::json_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => String::new(),
    }
}
