//! What is printed of jobs when they have ended, and which files are written.

use results::{RunEvent, RunRecord};

use super::output::{self, OutputOptions};
use super::{JobSet, OutputFormat};
use crate::text::ClassicText;

/// fio's results of jobs: at the end, and in between where that is asked for.
struct FioText {
    set: JobSet,
    options: OutputOptions,
    /// The record as far as it is known while the run goes on.
    known: Option<Box<RunRecord>>,
    /// What was told while it went on, for a file.
    told: String,
}

/// What is printed of these jobs.
#[must_use]
pub fn text(set: JobSet, options: OutputOptions) -> Box<dyn ClassicText> {
    Box::new(FioText {
        set,
        options,
        known: None,
        told: String::new(),
    })
}

impl FioText {
    /// All forms that were asked for, those for programs first. JSON by itself is one document and
    /// nothing else. What comes before the jobs is told once.
    fn results(&self, record: &RunRecord, is_over: bool) -> String {
        let has = |format| self.options.formats.contains(&format);
        let is_normal = has(OutputFormat::Normal);
        let has_bins = has(OutputFormat::JsonPlus);
        let mut text = String::new();
        if is_normal && is_over {
            text.push_str(&output::beginning(&self.set));
        }
        if has(OutputFormat::Terse) {
            let version = self.options.terse_version;
            text.push_str(&output::terse(&self.set, record, version));
        }
        if has_bins || has(OutputFormat::Json) {
            text.push_str(&output::json(&self.set, record, has_bins));
        }
        if is_normal {
            text.push_str(&output::end(&self.set, record));
        }
        text
    }
}

impl ClassicText for FioText {
    fn event(&mut self, event: &RunEvent) -> String {
        match (event, &mut self.known) {
            (RunEvent::Started { record }, known) if self.options.is_told_between => {
                *known = Some(record.clone());
            }
            (RunEvent::CellDone { record }, Some(known)) => known.cells.push((**record).clone()),
            (RunEvent::SoFar { record, at }, Some(known)) => {
                let mut known = known.clone();
                known.finished_at = Some(*at);
                known.cells.push((**record).clone());
                let results = self.results(&known, false);
                match self.options.output {
                    Some(_) => self.told.push_str(&results),
                    None => return results,
                }
            }
            _ => {}
        }
        String::new()
    }

    fn complaint(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::CellDone { record } => output::complaints(&self.set, record),
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        match self.options.output {
            Some(_) => String::new(),
            None => self.results(record, true),
        }
    }

    fn exit_code(&self) -> Option<u8> {
        // Where jobs failed, pgmeter ends as fio does: with 1.
        Some(0)
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let output = self.options.output.clone();
        let output =
            output.map(|name| (name, format!("{}{}", self.told, self.results(record, true))));
        let logs = output::logs(&self.set, record, &self.options);
        output.into_iter().chain(logs).collect()
    }
}
