//! Values as they were written, given as an option, or their default, noted as settings.

use description::Overrides;
use plan::{Setting, Source};
use units::text_of;

/// Picks values and notes where they came from.
pub(super) struct Resolver<'a> {
    pub name: &'a str,
    pub overrides: &'a Overrides,
    pub settings: &'a mut Vec<Setting>,
}

impl Resolver<'_> {
    /// Notes a value as a setting; `written` says whether the workload has it.
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

    /// A value whose text is its `Display`.
    pub fn shown<T: std::fmt::Display>(&mut self, key: &str, written: Option<T>, default: T) -> T {
        let is_written = written.is_some();
        let value = written.unwrap_or(default);
        self.note(key, value.to_string(), is_written);
        value
    }

    /// A value whose text is what a workload file has.
    pub fn word<T: serde::Serialize>(&mut self, key: &str, written: Option<T>, default: T) -> T {
        let is_written = written.is_some();
        let value = written.unwrap_or(default);
        self.note(key, text_of(&value), is_written);
        value
    }

    /// A value that is noted only where it is written.
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
