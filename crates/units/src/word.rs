//! Values in the form of workload files.

/// The text of the value in a workload file, without quotes.
pub fn text_of<T: serde::Serialize>(value: &T) -> String {
    match crate::json_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(other) => other.to_string(),
        // Not reached: JSON can hold every value of a workload file.
        Err(_) => String::new(),
    }
}
