//! What stands for something else in job files: the environment's variables, and the machine's
//! numbers.

use plan::{Diagnostic, printable};

use super::Surroundings;
use super::place::Place;
use super::values::evaluate_plain;

/// An option with its variables replaced, in bytes at most.
pub(super) const TEXT_BYTES_MAX: usize = 8192;

/// What variables stand for.
pub(super) struct Variables<'a> {
    surroundings: &'a Surroundings<'a>,
    keywords: [(&'static str, String); 3],
}

impl<'a> Variables<'a> {
    pub(super) fn new(surroundings: &'a Surroundings<'a>) -> Self {
        let megabytes = surroundings.memory_bytes >> 20;
        Self {
            surroundings,
            keywords: [
                ("$pagesize", surroundings.page_bytes.to_string()),
                ("$mb_memory", megabytes.to_string()),
                ("$ncpus", surroundings.cpu_count.to_string()),
            ],
        }
    }

    /// The text with all of them replaced; numbers of the machine are counted with at once.
    pub(super) fn replaced(
        &self,
        text: &str,
        place: &Place,
        notes: &mut Vec<Diagnostic>,
    ) -> String {
        if !text.contains('$') {
            return text.to_owned();
        }
        let text = self.with_environment(text, place, notes);
        let mut counted = text.clone();
        for (keyword, value) in &self.keywords {
            if counted.contains(keyword) && counted.len() < TEXT_BYTES_MAX {
                counted = counted.replace(keyword, value);
            }
        }
        match counted.split_once('=') {
            Some((name, value)) if counted != text => match evaluate_plain(value) {
                Some(number) => format!("{name}={number}"),
                None => counted,
            },
            _ => counted,
        }
    }

    fn with_environment(&self, text: &str, place: &Place, notes: &mut Vec<Diagnostic>) -> String {
        let mut whole = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("${") {
            let Some((name, behind)) = behind.split_once('}') else {
                break;
            };
            whole.push_str(before);
            match (self.surroundings.variable)(name) {
                Some(value) if whole.len() + value.len() < TEXT_BYTES_MAX => {
                    whole.push_str(&value);
                }
                Some(_) => {}
                None => {
                    let message = format!("`${{{}}}` is not set, so it is empty", printable(name));
                    notes.push(place.warning(message));
                }
            }
            rest = behind;
        }
        whole.push_str(rest);
        whole
    }
}
