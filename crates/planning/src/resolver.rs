//! Resolves values from the file, an option or the default, and notes them as settings.

use description::Overrides;
use plan::{Setting, Source};
use units::text_of;

/// Resolves values and notes their sources.
pub(super) struct Resolver<'a> {
    pub name: &'a str,
    pub overrides: &'a Overrides,
    pub settings: &'a mut Vec<Setting>,
}

impl Resolver<'_> {
    /// Notes a value as a setting; `written` is `true` if the workload sets it.
    pub fn note(&mut self, key: &str, value: String, written: bool) {
        let source = Source::of(self.overrides.has(key), written);
        let (workload, key) = (self.name.to_owned(), key.to_owned());
        self.settings.push(Setting {
            workload,
            key,
            value,
            source,
        });
    }

    /// Resolves a value that is noted in its `Display` form.
    pub fn shown<T: std::fmt::Display>(&mut self, key: &str, written: Option<T>, default: T) -> T {
        let is_written = written.is_some();
        let value = written.unwrap_or(default);
        self.note(key, value.to_string(), is_written);
        value
    }

    /// Resolves a value that is noted in the form of a workload file.
    pub fn word<T: serde::Serialize>(&mut self, key: &str, written: Option<T>, default: T) -> T {
        let is_written = written.is_some();
        let value = written.unwrap_or(default);
        self.note(key, text_of(&value), is_written);
        value
    }

    /// Resolves a value without a default; it is noted only if it is written.
    pub fn optional<T: Copy>(
        &mut self,
        key: &str,
        written: Option<T>,
        show: impl Fn(T) -> String,
    ) -> Option<T> {
        if let Some(value) = written {
            self.note(key, show(value), true);
        }
        written
    }
}
