//! Prints the results of jobs in fio's formats and lists the files to write.

use results::{RunEvent, RunRecord};

use super::output::{self, OutputOptions};
use super::{JobSet, OutputFormat};
use crate::text::ClassicText;

/// fio's results of a run: at the end, and also during the run with `--status-interval`.
struct FioText {
    set: JobSet,
    options: OutputOptions,
    /// The record so far, while the run is in progress; `None` without `--status-interval`.
    partial_record: Option<Box<RunRecord>>,
    /// Intermediate results for the file of `--output`.
    status_text: String,
}

/// Printer of the results of these jobs.
#[must_use]
pub fn text(set: JobSet, options: OutputOptions) -> Box<dyn ClassicText> {
    Box::new(FioText {
        set,
        options,
        partial_record: None,
        status_text: String::new(),
    })
}

impl FioText {
    /// Results in all requested formats, the machine-readable ones first. JSON alone yields exactly
    /// one document. The introductory lines appear only in the final results.
    fn results(&self, record: &RunRecord, is_over: bool) -> String {
        let has = |format| self.options.formats.contains(&format);
        let is_normal = has(OutputFormat::Normal);
        let has_bins = has(OutputFormat::JsonPlus);
        let mut text = match is_over {
            true => self.options.trace.clone(),
            false => String::new(),
        };
        if is_normal && is_over {
            text.push_str(&output::beginning(&self.set));
        }
        // fio prints its formats in this order (`FIO_OUTPUT_NR`), whatever order was requested.
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
        match (event, &mut self.partial_record) {
            (RunEvent::Started { record }, known) if self.options.prints_status => {
                *known = Some(record.clone());
            }
            (RunEvent::CellDone { record }, Some(known)) => known.cells.push((**record).clone()),
            (RunEvent::SoFar { record, at }, Some(known)) => {
                // A copy, since the complete results of this cell follow at its end.
                let mut so_far = known.clone();
                // The documents show the end of the run as their time.
                so_far.finished_at = Some(*at);
                so_far.cells.push((**record).clone());
                let results = self.results(&so_far, false);
                match self.options.output {
                    // `documents` writes the file only once, at the end of the run.
                    Some(_) => self.status_text.push_str(&results),
                    None => return results,
                }
            }
            _ => {}
        }
        String::new()
    }

    fn error_text(&mut self, event: &RunEvent) -> String {
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
        // For failed jobs pgmeter itself exits with 1, as fio does (`FrontWork::error_code`).
        Some(0)
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let output = self.options.output.clone();
        let output = output.map(|name| {
            (
                name,
                format!("{}{}", self.status_text, self.results(record, true)),
            )
        });
        let logs = output::logs(&self.set, record, &self.options);
        output.into_iter().chain(logs).collect()
    }

    fn binary_documents(&mut self, record: &RunRecord) -> Vec<(String, Vec<u8>)> {
        output::compressed_logs(&self.set, record, &self.options)
    }
}
