//! Sections of a job file, and values in fio's notation.

use std::fmt::Display;

use plan::{Diagnostic, printable};
use units::{Bytes, Percent, Span};

/// A section of a job file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WrittenSection {
    pub name: String,
    /// `true` if the section starts after all sections above it have ended.
    pub waits: bool,
    pub options: Vec<(&'static str, String)>,
    /// Differences between fio and pgmeter.
    pub warnings: Vec<Diagnostic>,
}

impl WrittenSection {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            waits: false,
            options: Vec::new(),
            warnings: Vec::new(),
        }
    }

    pub fn put(&mut self, option: &'static str, value: impl Display) {
        self.options.push((option, value.to_string()));
    }

    /// Adds the option if there is a value.
    pub fn put_some(&mut self, option: &'static str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.put(option, value);
        }
    }

    /// Adds the option with the value 1 if it is on.
    pub fn flag(&mut self, option: &'static str, is_on: bool) {
        if is_on {
            self.put(option, 1);
        }
    }

    /// Adds a warning about what fio does differently with a key, in the same number of requests.
    pub fn warn(&mut self, key: &str, remark: &str) {
        let name = printable(&self.name);
        let message = format!("`{key}` of `{name}`: {remark}");
        self.warnings.push(Diagnostic::warning("", message));
    }

    /// The error for a key without an equivalent in fio.
    pub fn refuse(&self, key: &str, reason: &str, help: &str) -> Diagnostic {
        refusal((key, &self.name), reason, help)
    }

    /// The percentage as a whole number.
    ///
    /// # Errors
    /// A fraction of a percent, or a negative percentage.
    pub fn percent(&self, key: &str, percent: Percent) -> Result<u64, Diagnostic> {
        if percent.0.fract() == 0.0 && percent.0 >= 0.0 {
            return Ok(percent.0 as u64);
        }
        let reason = format!("it is {percent}, and fio takes whole percents");
        Err(self.refuse(key, &reason, "round the shares to whole percents"))
    }

    /// The requests per second as a whole number.
    ///
    /// # Errors
    /// A fraction, or a rate below 1.
    pub fn rate(&self, key: &str, per_second: f64) -> Result<u64, Diagnostic> {
        if per_second.fract() == 0.0 && per_second >= 1.0 {
            return Ok(per_second as u64);
        }
        let reason = format!(
            "each direction of a clone would have {per_second} requests per second, and fio takes \
             whole numbers"
        );
        Err(self.refuse(key, &reason, "choose a rate that divides evenly"))
    }

    /// The time with the largest unit that gives a whole number.
    ///
    /// # Errors
    /// A fraction of a microsecond.
    pub fn time(&self, key: &str, span: Span) -> Result<String, Diagnostic> {
        let units = [(1_000_000_000, "s"), (1_000_000, "ms"), (1000, "us")];
        match units.iter().find(|(ns, _)| span.0.is_multiple_of(*ns)) {
            Some((ns, unit)) => Ok(format!("{}{unit}", span.0 / ns)),
            None => {
                let reason = format!("it is {span}, and fio takes whole microseconds");
                Err(self.refuse(key, &reason, "round the time"))
            }
        }
    }

    /// A list of paths separated by colons; colons in paths are escaped with backslashes.
    ///
    /// # Errors
    /// A path that a job file cannot contain.
    pub fn paths(&self, key: &str, paths: &[String]) -> Result<String, Diagnostic> {
        for path in paths {
            let is_trimmed = path.trim() != path || path.is_empty();
            if is_trimmed || path.contains(|it: char| "$;#".contains(it) || it.is_control()) {
                let reason = format!(
                    "a job file cannot name `{}`, because `;`, `#` and `$` are not kept there",
                    printable(path)
                );
                return Err(self.refuse(key, &reason, "use a path of other characters"));
            }
        }
        // fio takes a colon after a backslash for a part of the path, and has no escape for the
        // backslash.
        let before_last = &paths[..paths.len().saturating_sub(1)];
        if let Some(path) = before_last.iter().find(|path| path.ends_with('\\')) {
            let reason = format!(
                "a job file cannot name another path after `{}`, which ends with a backslash",
                printable(path)
            );
            return Err(self.refuse(key, &reason, "use a path of other characters"));
        }
        let escaped = paths.iter().map(|it| it.replace(':', "\\:"));
        Ok(escaped.collect::<Vec<_>>().join(":"))
    }
}

/// A size in fio's notation, with the largest unit that gives a whole number.
pub(super) fn size(bytes: Bytes) -> String {
    // fio's units are powers of 1024 by default.
    let units = [(40, "t"), (30, "g"), (20, "m"), (10, "k")];
    // 0 has 64 trailing zero bits, so it would get the largest unit.
    let is_whole = |shift: u32| bytes.0 > 0 && bytes.0.trailing_zeros() >= shift;
    match units.iter().find(|(shift, _)| is_whole(*shift)) {
        Some((shift, unit)) => format!("{}{unit}", bytes.0 >> shift),
        None => bytes.0.to_string(),
    }
}

/// The error for a key without an equivalent in fio, in the job or access specification `name`.
pub(super) fn refusal((key, name): (&str, &str), reason: &str, help: &str) -> Diagnostic {
    let message = format!("fio cannot do `{key}` of `{}`: {reason}", printable(name));
    Diagnostic::error("", message).help(help)
}

/// Values for reads and writes, separated by a comma; a single value if they are equal or only one
/// direction is used.
pub(super) fn pair(reads: Option<String>, writes: Option<String>) -> Option<String> {
    match (reads, writes) {
        (Some(read), Some(write)) if read == write => Some(read),
        (Some(read), Some(write)) => Some(format!("{read},{write}")),
        (read, write) => read.or(write),
    }
}
