//! What is printed of jobs when they have ended, and which files are written.

use results::{RunEvent, RunRecord};

use super::output::{self, OutputOptions};
use super::{JobSet, OutputFormat};
use crate::text::ClassicText;

/// fio's results of jobs, all at the end.
struct FioText {
    set: JobSet,
    options: OutputOptions,
}

/// What is printed of these jobs.
#[must_use]
pub fn text(set: JobSet, options: OutputOptions) -> Box<dyn ClassicText> {
    Box::new(FioText { set, options })
}

impl FioText {
    /// All forms that were asked for, those for programs first. JSON by itself is one document and
    /// nothing else.
    fn results(&self, record: &RunRecord) -> String {
        let has = |format| self.options.formats.contains(&format);
        let is_normal = has(OutputFormat::Normal);
        let has_bins = has(OutputFormat::JsonPlus);
        let mut text = String::new();
        if is_normal {
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
    fn complaint(&mut self, event: &RunEvent) -> String {
        let mut jobs = self.set.jobs.iter();
        let is_asked = jobs.any(|job| job.settings.logs.latency.is_some());
        match event {
            RunEvent::CellDone { record } => output::complaints(&self.set, record),
            RunEvent::Finished { .. } if is_asked => {
                "note: submission latency is not measured: there is no slat log, and values of \
                 the others are medians\n"
                    .to_owned()
            }
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        match self.options.output {
            Some(_) => String::new(),
            None => self.results(record),
        }
    }

    fn exit_code(&self) -> Option<u8> {
        // Where jobs failed, pgmeter ends as fio does: with 1.
        Some(0)
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let output = self.options.output.clone();
        let output = output.map(|name| (name, self.results(record)));
        let logs = output::logs(&self.set, record, &self.options);
        output.into_iter().chain(logs).collect()
    }
}
