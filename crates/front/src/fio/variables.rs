//! Variables in job files: environment variables, and numbers of the machine.

use plan::{Diagnostic, printable};

use super::ParserEnvironment;
use super::source_line::SourceLine;
use super::values::evaluate_plain;

/// Maximum length of an option in bytes, before and after variables are replaced.
pub(super) const TEXT_BYTES_MAX: usize = 8192;

/// Values of the variables.
pub(super) struct Variables<'a> {
    environment: &'a ParserEnvironment<'a>,
    keywords: [(&'static str, String); 3],
}

impl<'a> Variables<'a> {
    pub(super) fn new(surroundings: &'a ParserEnvironment<'a>) -> Self {
        let megabytes = surroundings.memory_bytes >> 20;
        Self {
            environment: surroundings,
            keywords: [
                ("$pagesize", surroundings.page_bytes.to_string()),
                ("$mb_memory", megabytes.to_string()),
                ("$ncpus", surroundings.cpu_count.to_string()),
            ],
        }
    }

    /// Replaces all variables in the text. If a number of the machine occurs, the whole value is
    /// evaluated as arithmetic when possible.
    pub(super) fn replaced(
        &self,
        text: &str,
        source_line: &SourceLine,
        notes: &mut Vec<Diagnostic>,
    ) -> String {
        if !text.contains('$') {
            return text.to_owned();
        }
        let text = self.expand_environment(text, source_line, notes);
        let mut counted = text.clone();
        for (keyword, value) in &self.keywords {
            // Without the limit, a text of many keywords could grow very long.
            if counted.contains(keyword) && counted.len() < TEXT_BYTES_MAX {
                counted = counted.replace(keyword, value);
            }
        }
        // fio passes values with keywords and operators to the program `bc`. Other values stay as
        // written.
        match counted.split_once('=') {
            Some((name, value)) if counted != text => match evaluate_plain(value) {
                Some(number) => format!("{name}={number}"),
                None => counted,
            },
            _ => counted,
        }
    }

    fn expand_environment(
        &self,
        text: &str,
        source_line: &SourceLine,
        notes: &mut Vec<Diagnostic>,
    ) -> String {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            // As in fio, an opening brace without a closing one is ordinary text.
            let Some((name, behind)) = behind.split_once('}') else {
                break;
            };
            expanded.push_str(before);
            match (self.environment.variable)(name) {
                Some(value) if expanded.len() + value.len() < TEXT_BYTES_MAX => {
                    expanded.push_str(&value);
                }
                // fio also drops a value that does not fit into its buffer.
                Some(_) => {}
                None => {
                    let message = format!("`${{{}}}` is not set, so it is empty", printable(name));
                    notes.push(source_line.warning(message));
                }
            }
            rest = behind;
        }
        expanded.push_str(rest);
        expanded
    }
}
