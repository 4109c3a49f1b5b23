//! Prints the output of fs_mark during a run and at its end.

use std::path::Path;

use description::classics::fs_mark::FsMarkPlan;
use jiff::tz::TimeZone;
use plan::FrontOrigin;
use results::{CellRecord, RoundFigures, RunEvent, RunRecord};

use super::NAME;
use super::arguments::parse;
use super::of_table::iterations;
use super::rows::{Banner, CTIME, Rows, no_space_message};
use crate::ClassicText;

/// Exit code of the original if files would not fit.
const EXIT_FULL: u8 = 1;
/// End of the banner's last sentence; the log has an additional `#` after it.
const BANNER_END: &str = "related system calls.\n";

struct FsMarkText {
    plan: FsMarkPlan,
    is_verbose: bool,
    log_file: String,
    arguments: Vec<String>,
    rows: Rows,
    has_banner: bool,
    /// Number of rounds whose rows are printed.
    printed_count: usize,
    is_full: bool,
}

/// The text of a run with these arguments.
pub(super) fn classic(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    match FsMarkText::new(origin) {
        Some(text) => Box::new(text),
        None => Box::new(UnparsedText),
    }
}

/// The text of arguments that can no longer be parsed.
struct UnparsedText;

impl ClassicText for UnparsedText {
    fn end(&mut self, _: &RunRecord) -> String {
        String::new()
    }
}

impl FsMarkText {
    fn new(origin: &FrontOrigin) -> Option<Self> {
        let invocation = parse(&origin.arguments).ok()?;
        let directory_count = u32::try_from(invocation.directories.len()).ok()?;
        let plan = invocation.settings.resolve(directory_count).ok()?;
        Some(Self {
            rows: Rows::new(plan.clone(), invocation.is_verbose),
            plan,
            is_verbose: invocation.is_verbose,
            log_file: invocation.log_file.to_string_lossy().into_owned(),
            arguments: origin.arguments.clone(),
            has_banner: false,
            printed_count: 0,
            is_full: false,
        })
    }

    fn banner(&mut self, record: &RunRecord) -> String {
        self.has_banner = true;
        let words = std::iter::once(own_name(&record.command)).chain(self.arguments.clone());
        let command: Vec<String> = words.map(|word| on_one_line(&word)).collect();
        // The original's `ctime` prints local time.
        let started_at = record.started_at.to_zoned(TimeZone::system());
        let banner = Banner {
            command: &command,
            started_at: &started_at.strftime(CTIME).to_string(),
            plan: &self.plan,
            is_verbose: self.is_verbose,
        };
        banner.text()
    }

    fn row(&mut self, round: &RoundFigures) -> String {
        self.printed_count += 1;
        self.rows.next(round)
    }
}

impl ClassicText for FsMarkText {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { record } => self.banner(record),
            RunEvent::RoundDone { figures, .. } => self.row(figures),
            RunEvent::Full { targets, .. } => {
                self.is_full = true;
                let count = self.plan.file_count;
                let lines = targets.iter().map(|target| no_space_message(target, count));
                lines.collect()
            }
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        // A stored run has no events, so the banner is still missing.
        let mut text = match self.has_banner {
            true => String::new(),
            false => self.banner(record),
        };
        let phases: Vec<&CellRecord> = record.cells.iter().collect();
        let rounds = iterations(&self.plan, &phases);
        for round in rounds.iter().skip(self.printed_count) {
            text += &self.row(round);
        }
        text
    }

    fn log_file(&self) -> Option<&str> {
        Some(&self.log_file)
    }

    fn logged(&self, printed: &str) -> String {
        match self.is_full {
            // The original prints this message on standard output only.
            true => String::new(),
            false => printed.replacen(BANNER_END, &format!("{BANNER_END}#"), 1),
        }
    }

    fn exit_code(&self) -> Option<u8> {
        self.is_full.then_some(EXIT_FULL)
    }
}

/// The name that started the program if it is fs_mark's, else the usual name.
fn own_name(command: &[String]) -> String {
    let started_as = command.first().map(String::as_str).unwrap_or_default();
    // With `pgmeter as fs_mark`, the first word is pgmeter, which the original never prints.
    match Path::new(started_as).file_name() {
        Some(name) if name == NAME => started_as.to_owned(),
        _ => NAME.to_owned(),
    }
}

/// A word of the command line without line breaks, so that the banner stays on one line.
fn on_one_line(word: &str) -> String {
    word.replace('\n', "\\n")
}
