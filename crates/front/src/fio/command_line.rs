//! Parses fio's command line.

use plan::{Diagnostic, printable};

use super::builder::Builder;
use super::checks::JobLimits;
use super::compressed_log;
use super::jobs::{JobSet, WrittenOption};
use super::lexer::{self, Item, JobSection, is_global};
use super::source_line::SourceLine;
use super::table::FioOption;
use super::trace::{self, Traces};
use super::values::OptionValue;
use super::{ParserEnvironment, show};
use crate::others::not_a_job;

/// Maximum number of options that an error lists for an ambiguous abbreviation.
const AMBIGUOUS_MAX: usize = 6;

choices! {
    /// Output format of results.
    OutputFormat {
        /// Text for people.
        #[default]
        Normal = "normal",
        /// Lines of fields, separated by semicolons.
        Terse = "terse" | "minimal",
        /// JSON.
        Json = "json",
        /// JSON with latency histograms.
        JsonPlus = "json+",
    }
}

choices! {
    /// When progress is shown.
    Progress {
        /// Only on a terminal.
        #[default]
        Auto = "auto",
        /// Always.
        Always = "always",
        /// Never.
        Never = "never",
    }
}

/// What to do with the jobs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Action {
    /// Run them.
    #[default]
    Run,
    /// Parse them and exit.
    ParseOnly,
    /// Print this text instead.
    Print(String),
}

/// Options of the command line that belong to no job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FioInvocation {
    /// What to do with the jobs.
    pub action: Action,
    /// Output formats; at least one if the jobs run.
    pub formats: Vec<OutputFormat>,
    /// Version of the terse format.
    pub terse_version: u32,
    /// `true` if terse lines follow the normal output.
    pub appends_terse: bool,
    /// File for the results; `None` for standard output.
    pub output: Option<String>,
    /// When progress is shown.
    pub progress: Progress,
    /// Interval after which progress starts a new line, in microseconds; 0 for never.
    pub progress_line_us: u64,
    /// Interval of progress updates in microseconds; 0 for one second.
    pub progress_interval_us: u64,
    /// Interval of intermediate results in microseconds; 0 for results only at the end.
    pub status_interval_us: u64,
    /// `true` if the total bandwidth of all jobs is logged.
    pub logs_bandwidth: bool,
    /// Lines of the traces that `--debug` requests.
    pub trace: String,
}

/// Reads a command line, without the program name.
///
/// # Errors
/// Everything that fio rejects too, and options of the command line that pgmeter refuses.
pub fn read_arguments(
    arguments: &[String],
    surroundings: &ParserEnvironment<'_>,
) -> Result<(FioInvocation, JobSet), Diagnostic> {
    let mut reader = CommandLineReader {
        builder: Builder::new(JobLimits::default(), surroundings.random_seed),
        invocation: FioInvocation {
            terse_version: 3,
            ..FioInvocation::default()
        },
        globals: Vec::new(),
        job: None,
        files: Vec::new(),
        shows_commands: false,
        inflated_log: None,
        traces: Traces::default(),
    };
    if let Err(error) = reader.read(arguments) {
        // The next argument may be the value of the unknown option, so stop reading here.
        reader.builder.fail(error);
        reader.builder.take_errors()?;
    }
    reader.finish(surroundings)
}

/// The lines of a compressed log.
fn inflated(log: &str, surroundings: &ParserEnvironment<'_>) -> Result<String, Diagnostic> {
    let help = "name a log that `log_store_compressed` compressed";
    let failed = |why: String| error(printable(&why), help);
    let bytes = (surroundings.read)(log).map_err(failed)?;
    let lines = compressed_log::inflated(&bytes);
    lines.map_err(|why| failed(format!("`{log}` cannot be read: {why}")))
}

struct CommandLineReader {
    builder: Builder,
    invocation: FioInvocation,
    /// Options before the first job.
    globals: Vec<Item>,
    /// The job that the following options belong to; `None` before the first one.
    job: Option<JobSection>,
    files: Vec<String>,
    shows_commands: bool,
    /// Compressed log to print instead of running jobs (`--inflate-log`).
    inflated_log: Option<String>,
    traces: Traces,
}

fn error(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    Diagnostic::error("", message).help(help)
}

impl CommandLineReader {
    fn read(&mut self, arguments: &[String]) -> Result<(), Diagnostic> {
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--" {
                self.files.extend(rest.by_ref().cloned());
                break;
            }
            let option = argument.strip_prefix('-').filter(|it| !it.is_empty());
            let Some(option) = option else {
                self.files.push(argument.clone());
                continue;
            };
            // fio parses with `getopt_long_only`, so one dash is enough for long options.
            let option = option.strip_prefix('-').unwrap_or(option);
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (option, None),
            };
            let (row, value) = self.option(argument, name, value)?;
            let value = match value {
                None if !row.kind().has_optional_value() => {
                    // Like `getopt_long_only`, take the next argument even if it begins with a
                    // dash.
                    let next = rest.next().cloned();
                    Some(next.ok_or_else(|| {
                        let message = format!("option `--{}` lacks its value", row.name());
                        error(message, format!("write `--{}=VALUE`", row.name()))
                    })?)
                }
                value => value,
            };
            if let Err(error) = self.take(row, value, argument) {
                self.builder.fail(error);
            }
        }
        Ok(())
    }

    /// Finds an option by its name, by an unambiguous abbreviation, or by its letter with the value
    /// attached (`-nVALUE`).
    fn option(
        &self,
        argument: &str,
        name: &str,
        value: Option<String>,
    ) -> Result<(FioOption, Option<String>), Diagnostic> {
        let table = &self.builder.table;
        let found = table.find_by_start(name);
        // `include` is a line of job files. fio has no option of this name.
        if let Some(row) = found.filter(|it| !it.is_value_row() && it.name() != "include") {
            return Ok((*row, value));
        }
        let letter = name.get(..1).filter(|_| !argument.starts_with("--"));
        let by_letter = letter.and_then(|letter| table.find(letter));
        if let Some(row) = by_letter {
            let joined = argument.get(2..).unwrap_or_default();
            return Ok((*row, Some(joined.to_owned())));
        }
        let shown = printable(argument);
        let candidates: Vec<&str> = table.beginning_with(name).take(AMBIGUOUS_MAX).collect();
        if candidates.len() > 1 {
            let message = format!("`{shown}` is ambiguous: {}", candidates.join(", "));
            let shortest = candidates.iter().min_by_key(|it| it.len()).unwrap_or(&"");
            let example = match argument.split_once('=') {
                Some((_, value)) => format!("--{shortest}={}", printable(value)),
                None => format!("--{shortest}"),
            };
            let help = format!("write its name in full, such as `{example}`");
            return Err(error(message, help));
        }
        let message = format!("there is no option `{shown}`");
        if name == "overwrite-device" {
            let help = "fio's command line cannot overwrite a device; save the jobs as a file, and \
                        write `pgmeter run FILE --overwrite-device DEVICE`";
            return Err(error(message, help));
        }
        Err(match table.nearest(name) {
            Some(near) => error(message, format!("did you mean `--{near}`?")),
            None => error(message, "`pgmeter as fio --cmdhelp` lists the options"),
        })
    }

    fn take(
        &mut self,
        row: FioOption,
        value: Option<String>,
        argument: &str,
    ) -> Result<(), Diagnostic> {
        let source_line = SourceLine::of_command_line(argument);
        if row.is_command_line {
            return self.take_program_option(row, value, source_line);
        }
        let item = Item {
            name: row.name().to_owned(),
            value,
            position: source_line,
        };
        if item.name == "name" {
            return self.begin(item);
        }
        match &mut self.job {
            Some(job) => job.items.push(item),
            None => self.globals.push(item),
        }
        Ok(())
    }

    /// `--name` begins a job; `--name=global` begins options for all jobs that follow.
    fn begin(&mut self, item: Item) -> Result<(), Diagnostic> {
        self.end_job()?;
        let name = item.value.unwrap_or_default();
        let name = printable(&name);
        if !is_global(&name) {
            self.job = Some(JobSection {
                name,
                position: item.position,
                items: Vec::new(),
            });
        }
        Ok(())
    }

    fn end_job(&mut self) -> Result<(), Diagnostic> {
        let globals = std::mem::take(&mut self.globals);
        self.builder.take_global("", &globals)?;
        match self.job.take() {
            Some(job) if self.builder.wants(&job.name) => self.builder.take_job(&job, false),
            _ => Ok(()),
        }
    }

    /// Handles an option that belongs to no job.
    fn take_program_option(
        &mut self,
        row: FioOption,
        value: Option<String>,
        source_line: SourceLine,
    ) -> Result<(), Diagnostic> {
        let written = WrittenOption {
            position: source_line,
            section: "".into(),
            name: format!("--{}", row.name()),
            value: value.clone(),
            support: row.support,
            explanation: row.explanation,
        };
        if let Some(refusal) = written.refusal() {
            return Err(refusal);
        }
        let invalid = |why: String| {
            let message = format!("`{}` cannot be read", printable(&written.text()));
            error(message, why)
        };
        // `kb_base` is an option of jobs, so it does not apply here.
        let read = OptionValue::read(row.kind(), value.as_deref(), 1024).map_err(invalid)?;
        let done = self.set(row.name(), &read.value).map_err(invalid);
        self.builder.set.written.push(written.clone());
        if let Some(remark) = &read.remark {
            self.builder.note(written.position.warning(remark))?;
        }
        done
    }

    fn set(&mut self, name: &str, value: &OptionValue) -> Result<(), String> {
        let invocation = &mut self.invocation;
        let print = |text: String| Action::Print(text);
        match name {
            "output" => invocation.output = Some(value.text().to_owned()),
            "output-format" => {
                for word in value.text().split(',') {
                    let format = OutputFormat::of(word);
                    let format = format.ok_or("use normal, terse, json, json+")?;
                    if !invocation.formats.contains(&format) {
                        invocation.formats.push(format);
                    }
                }
            }
            // As in fio, this replaces the formats named before it.
            "minimal" => invocation.formats = vec![OutputFormat::Terse],
            "terse-version" => invocation.terse_version = value.count(),
            "append-terse" => invocation.appends_terse = true,
            "eta" => invocation.progress = Progress::of(value.text()).unwrap_or_default(),
            "eta-newline" => invocation.progress_line_us = value.number(),
            "eta-interval" => invocation.progress_interval_us = value.number(),
            "status-interval" => invocation.status_interval_us = value.number(),
            "bandwidth-log" => invocation.logs_bandwidth = true,
            "section" => self.builder.selected.push(value.text().to_owned()),
            "parse-only" => invocation.action = Action::ParseOnly,
            "showcmd" => self.shows_commands = true,
            "inflate-log" => self.inflated_log = Some(value.text().to_owned()),
            "readonly" => self.builder.limits.is_read_only = true,
            "warnings-fatal" => self.builder.limits.are_notes_fatal = true,
            // fio 3.42 ignores this option. Here it bounds the memory that one line of a job file
            // can request.
            "max-jobs" => self.builder.limits.jobs_max = value.count().clamp(1, 1 << 16),
            "debug" if value.text() == "help" => invocation.action = print(trace::HELP.to_owned()),
            "debug" => self.traces.add(value.text()),
            "version" => invocation.action = print(show::VERSION.to_owned()),
            "help" => invocation.action = print(show::usage(&self.builder.table)),
            "cmdhelp" => {
                invocation.action = print(show::option(&self.builder.table, value.text())?);
            }
            "enghelp" => {
                invocation.action = print(show::engine(&self.builder.table, value.text())?);
            }
            _ => {}
        }
        Ok(())
    }

    fn finish(
        mut self,
        surroundings: &ParserEnvironment<'_>,
    ) -> Result<(FioInvocation, JobSet), Diagnostic> {
        let has_errors = !self.builder.errors.is_empty();
        if let Some(log) = self.inflated_log.as_deref().filter(|_| !has_errors) {
            self.invocation.action = Action::Print(inflated(log, surroundings)?);
        }
        // As in fio, `--help` and similar options work without any job.
        if matches!(self.invocation.action, Action::Print(_)) && !has_errors {
            return Ok((self.invocation, JobSet::default()));
        }
        let shown = match self.sections(surroundings) {
            Ok(shown) => shown,
            Err(error) => {
                self.builder.fail(error);
                String::new()
            }
        };
        self.builder.take_errors()?;
        if self.shows_commands {
            self.invocation.action = Action::Print(shown);
            return Ok((self.invocation, self.builder.set));
        }
        // With `--parse-only`, fio accepts options without a job, but not a missing section.
        let only_parses = self.invocation.action == Action::ParseOnly;
        let is_without_job = only_parses && self.builder.selected.is_empty();
        if self.builder.set.jobs.is_empty() && !is_without_job {
            return Err(self.no_job_error());
        }
        let (parsed, set) = (&self.builder.parsed, &self.builder.set);
        self.invocation.trace = self.traces.text(parsed, set);
        if self.invocation.formats.is_empty() {
            self.invocation.formats.push(OutputFormat::Normal);
        }
        Ok((self.invocation, self.builder.set))
    }

    /// Takes the last job of the command line and the sections of all files. Returns the equivalent
    /// command lines with `--showcmd`, else an empty text.
    fn sections(&mut self, surroundings: &ParserEnvironment<'_>) -> Result<String, Diagnostic> {
        self.end_job()?;
        let mut shown = String::new();
        for (at, file) in std::mem::take(&mut self.files).iter().enumerate() {
            let bytes = (surroundings.read)(file)
                .map_err(|why| error(printable(&why), "name a job file of fio"))?;
            let mut notes = Vec::new();
            let sections = lexer::sections(file, &bytes, surroundings, &mut notes);
            let sections = sections.map_err(|error| not_a_job(file, &bytes).unwrap_or(error))?;
            for note in notes {
                self.builder.note(note)?;
            }
            // As in fio, only jobs of files are shown. The others are a command line already.
            if self.shows_commands {
                shown.push_str(&show::command(&self.builder, &sections));
            }
            // A later job file waits for the earlier ones; the first does not wait for jobs of the
            // command line.
            self.builder.take_file(sections, at == 0)?;
        }
        Ok(shown)
    }

    /// Error for input without any job.
    fn no_job_error(&self) -> Diagnostic {
        let Builder {
            selected: wanted,
            skipped: passed,
            ..
        } = &self.builder;
        match (&wanted[..], &passed[..]) {
            ([wanted, ..], [_, ..]) => {
                let passed: Vec<String> = passed.iter().map(|it| printable(it)).collect();
                let message = format!("there is no section `{}`", printable(wanted));
                error(message, format!("name one of {}", passed.join(", ")))
            }
            _ => error(
                "there are no jobs",
                "name a job file, or start a job with `--name=job`",
            ),
        }
    }
}
