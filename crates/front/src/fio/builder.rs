//! Builds jobs from sections: defaults, options, clones, waves, groups.

use std::collections::HashSet;
use std::sync::Arc;

use plan::{Diagnostic, printable};

use super::apply::apply;
use super::checks::{self, JobLimits};
use super::jobs::{FioJob, JobGroup, JobSet, WrittenOption};
use super::lexer::{Item, JobSection, is_global};
use super::settings::{Engine, FioSettings};
use super::source_line::SourceLine;
use super::table::{FioOption, OptionSupport, OptionTable};
use super::trace;
use super::values::OptionValue;

/// Maximum number of notes; more would only repeat.
const NOTES_MAX: usize = 200;
/// Maximum number of errors listed.
const ERRORS_MAX: usize = 50;
/// Maximum number of section names that an error about a missing section lists.
const SECTIONS_LISTED_MAX: usize = 10;

/// Jobs built so far, and the state needed to build the next one.
pub(super) struct Builder {
    pub table: OptionTable,
    pub set: JobSet,
    pub limits: JobLimits,
    /// Errors so far, collected so that one run lists all of them.
    pub errors: Vec<Diagnostic>,
    /// Sections selected with `--section`; empty for all.
    pub selected: Vec<String>,
    /// The first few sections that were not selected.
    pub skipped: Vec<String>,
    /// Names of the jobs so far, which `wait_for` may name.
    names: HashSet<String>,
    defaults: FioSettings,
    /// Engine options in global sections.
    engine_options: Vec<(FioOption, SourceLine)>,
    /// Seed of jobs with `randrepeat=0`; `None` for the same order in every run.
    random_seed: Option<u64>,
    /// Lines about options for `--debug=parse`.
    pub parsed: String,
}

/// Main name of an option, and its value.
type NamedValue = (String, Option<String>);

impl Builder {
    pub(super) fn new(limits: JobLimits, random_seed: Option<u64>) -> Self {
        Self {
            table: OptionTable::new(),
            set: JobSet::default(),
            limits,
            errors: Vec::new(),
            selected: Vec::new(),
            skipped: Vec::new(),
            names: HashSet::new(),
            defaults: FioSettings::default(),
            engine_options: Vec::new(),
            random_seed,
            parsed: String::new(),
        }
    }

    /// Takes the sections of a job file. Unless the file is the first, its first job waits for all
    /// earlier jobs, and earlier global options do not apply.
    pub(super) fn take_file(
        &mut self,
        sections: Vec<JobSection>,
        is_first: bool,
    ) -> Result<(), Diagnostic> {
        let mut waits = !is_first;
        if !is_first {
            // As in fio, results show only the global options of the last file.
            self.set.options.clear();
            self.defaults = FioSettings::default();
            self.engine_options.clear();
        }
        for mut section in sections {
            // The sort is stable, so of two equal options the later one still wins.
            section.items.sort_by_key(|item| self.rank(&item.name));
            if section.is_global() {
                self.take_global(&section.name, &section.items)?;
            } else if self.wants(&section.name) {
                self.take_job(&section, waits)?;
                // As in fio, sections that `--section` leaves out do not use up the wait.
                waits = false;
            }
        }
        Ok(())
    }

    /// `true` if a section is selected.
    pub(super) fn is_wanted(&self, name: &str) -> bool {
        self.selected.is_empty() || is_global(name) || self.selected.iter().any(|it| it == name)
    }

    /// `true` if a section is selected; remembers the first few that are not.
    pub(super) fn wants(&mut self, name: &str) -> bool {
        let is_wanted = self.is_wanted(name);
        if !is_wanted && self.skipped.len() < SECTIONS_LISTED_MAX {
            self.skipped.push(name.to_owned());
        }
        is_wanted
    }

    /// Takes options that apply to all later jobs.
    pub(super) fn take_global(&mut self, section: &str, items: &[Item]) -> Result<(), Diagnostic> {
        // Taken out, because `take_items` needs the whole builder.
        let mut settings = std::mem::take(&mut self.defaults);
        let mut engine_options = std::mem::take(&mut self.engine_options);
        let options = self.take_items(section, items, &mut settings, &mut engine_options)?;
        self.defaults = settings;
        self.engine_options = engine_options;
        self.set.options.extend(options);
        Ok(())
    }

    /// Takes a job and creates its clones.
    pub(super) fn take_job(&mut self, section: &JobSection, waits: bool) -> Result<(), Diagnostic> {
        let mut settings = self.defaults.clone();
        settings.grouping.waits_for_all |= waits;
        let mut engine_options = self.engine_options.clone();
        if has_other_engine(&settings, &section.items) {
            // Options of the global engine do not apply to another engine.
            engine_options.clear();
            settings.engine.forget_own_options();
        }
        let name = &section.name;
        let error_count = self.errors.len();
        let options = self.take_items(name, &section.items, &mut settings, &mut engine_options)?;
        if self.errors.len() > error_count {
            // Skip the checks of the incomplete settings, but create the job: later ones may wait
            // for it.
            return self.clones(section, name.clone(), settings, options);
        }
        let mut notes = Vec::new();
        let checked = [
            check_engines(&settings, &engine_options),
            checks::resolve(&mut settings, section, self.limits, &mut notes),
            checks::wait_for(&settings, section, &self.names),
        ];
        let errors = checked.into_iter().filter_map(Result::err);
        errors.for_each(|error| self.fail(error));
        for note in notes {
            self.note(note)?;
        }
        if !settings.order.is_repeatable {
            settings.order.seed = settings.order.seed.or(self.random_seed);
        }
        if self.set.run_errors.len() < NOTES_MAX {
            let obstacle = checks::find_run_error(&settings, section);
            self.set.run_errors.extend(obstacle);
        }
        // `name` renames the job in results; its files keep the name of the section.
        let given = options.iter().rev().find(|(option, _)| option == "name");
        let given = given.and_then(|(_, value)| value.as_deref());
        let name = given.unwrap_or(name).trim().to_owned();
        self.clones(section, name, settings, options)
    }

    fn clones(
        &mut self,
        section: &JobSection,
        name: String,
        settings: FioSettings,
        options: Vec<NamedValue>,
    ) -> Result<(), Diagnostic> {
        let first = self.set.jobs.len();
        let clone_count = settings.process.clone_count;
        let has_room = first as u64 + u64::from(clone_count) <= u64::from(self.limits.jobs_max);
        if clone_count == 0 || !has_room {
            let most = self.limits.jobs_max;
            return Err(match clone_count {
                0 => {
                    let error = section.position.error("the section has no clones");
                    error.help("change `numjobs`")
                }
                _ => {
                    let error = section.position.error(format!("more than {most} jobs"));
                    error.help("use fewer sections or clones, or `--max-jobs` of `pgmeter as fio`")
                }
            });
        }
        let grouping = &settings.grouping;
        let (waits, opens) = (grouping.waits_for_all, grouping.opens_group);
        let end = first + clone_count as usize;
        extend(&mut self.set.waves, first..end, waits);
        // As in fio, `stonewall` also opens a group.
        extend(&mut self.set.groups, first..end, waits || opens);
        let section_name: Arc<str> = Arc::from(section.name.as_str());
        // `JobSet::sections` recognizes the clones of a section by this pointer.
        let settings = Arc::new(settings);
        let options: Arc<[NamedValue]> = options.into();
        // As in fio, `wait_for` refers to the name in results, not to the section.
        self.names.insert(name.clone());
        for made in 0..clone_count {
            self.set.jobs.push(FioJob {
                name: name.clone(),
                section: Arc::clone(&section_name),
                position: section.position.clone(),
                number: (first as u32) + made + 1,
                // fio creates clone 0 first, then the others from the last down to 1.
                clone_index: (clone_count - made) % clone_count,
                clone_count,
                wave_index: self.set.waves.len() - 1,
                group_index: self.set.groups.len() - 1,
                settings: Arc::clone(&settings),
                options: Arc::clone(&options),
            });
        }
        Ok(())
    }

    /// Reads options into settings; returns them under their main names.
    fn take_items(
        &mut self,
        section: &str,
        items: &[Item],
        settings: &mut FioSettings,
        engine_options: &mut Vec<(FioOption, SourceLine)>,
    ) -> Result<Vec<NamedValue>, Diagnostic> {
        let section: Arc<str> = Arc::from(section);
        let mut options = Vec::with_capacity(items.len());
        for item in items {
            let row = match self.row(item) {
                Ok(row) => row,
                Err(error) => {
                    self.fail(error);
                    continue;
                }
            };
            if let Err(error) = self.take_item(row, item, settings) {
                self.fail(error);
                continue;
            }
            if row.engines().next().is_some() {
                engine_options.push((row, item.position.clone()));
            }
            if let ("steadystate", Some(steady)) = (row.name(), &settings.steady_state) {
                self.parsed.push_str(&trace::steady_state(steady));
            }
            // fio's JSON has the main name, even if the job file has an alias.
            options.push((row.name().to_owned(), item.value.clone()));
            let (verdict, sentence) = self.verdict(&row, item.value.as_deref());
            self.set.written.push(WrittenOption {
                position: item.position.clone(),
                section: Arc::clone(&section),
                name: item.name.clone(),
                value: item.value.clone(),
                support: verdict,
                explanation: sentence,
            });
        }
        Ok(options)
    }

    fn row(&self, item: &Item) -> Result<FioOption, Diagnostic> {
        // fio accepts abbreviations only on the command line, where `getopt_long_only` resolves
        // them.
        let row = self.table.find(&item.name);
        let row = row.filter(|it| !it.is_value_row());
        let shown = printable(&item.name);
        match row {
            Some(row) if row.is_command_line => {
                let message = format!("`{shown}` belongs on the command line, not in a job");
                let help = format!("put `--{}` on the command line", row.name());
                Err(item.position.error(message).help(help))
            }
            Some(row) => Ok(*row),
            None => {
                let error = item.position.error(format!("there is no option `{shown}`"));
                Err(match self.table.nearest(&item.name) {
                    Some(near) => error.help(format!("did you mean `{near}`?")),
                    None => error.help(self.suggest_equals_sign(&item.name)),
                })
            }
        }
    }

    /// Help for a line that is not an option: it may lack the `=`.
    fn suggest_equals_sign(&self, line: &str) -> String {
        let words = line.split_once(char::is_whitespace);
        let known = words.filter(|(name, _)| self.table.find(name).is_some());
        match known {
            Some((name, value)) => format!("write `{name}={}`", printable(value.trim())),
            None => "see docs/fio.md for all options".to_owned(),
        }
    }

    fn take_item(
        &mut self,
        row: FioOption,
        item: &Item,
        settings: &mut FioSettings,
    ) -> Result<(), Diagnostic> {
        let kilo = settings.kilo.0;
        let invalid = |why: String| {
            let text = match &item.value {
                Some(value) => format!("{}={value}", item.name),
                None => item.name.clone(),
            };
            let message = format!("`{}` cannot be read", printable(&text));
            item.position.error(message).help(why)
        };
        self.check_engine(&row, item)?;
        let read = OptionValue::read(row.kind(), item.value.as_deref(), kilo).map_err(invalid)?;
        apply(settings, row.name(), &read.value).map_err(invalid)?;
        match read.remark {
            Some(remark) => self.note(item.position.warning(remark)),
            None => Ok(()),
        }
    }

    /// Rejects an `ioengine` that fio does not know.
    fn check_engine(&self, row: &FioOption, item: &Item) -> Result<(), Diagnostic> {
        let value = item.value.as_deref().unwrap_or_default().trim();
        let is_known = || self.table.of_value(row, value) != row || Engine::of(value).is_some();
        // `OptionValue::read` reports an empty value.
        if row.name() != "ioengine" || value.is_empty() || is_known() {
            return Ok(());
        }
        let message = format!("there is no engine `{}`", printable(value));
        let near = description::nearest(value, self.table.values("ioengine"));
        Err(item.position.error(message).help(match near {
            Some(near) => format!("did you mean `ioengine={near}`?"),
            None => "`pgmeter as fio --enghelp` lists the engines".to_owned(),
        }))
    }

    /// Order in which the options of a section apply, as in fio: units, most options, file names,
    /// engine options.
    pub(super) fn rank(&self, name: &str) -> u8 {
        let Some(row) = self.table.find(name) else {
            return 1;
        };
        match row.name() {
            "kb_base" | "unit_base" | "lockfile" | "cpus_allowed_policy" => 0,
            // fio joins directory and name while it reads `filename`, so `directory` must precede
            // it.
            "filename" | "filename_format" => 2,
            // fio reads these in a second pass, after it has loaded the engine.
            _ if row.engines().next().is_some() => 3,
            _ => 1,
        }
    }

    /// How pgmeter handles the option with this value.
    fn verdict(&self, row: &FioOption, value: Option<&str>) -> (OptionSupport, &'static str) {
        let value_row = self.table.of_value(row, value.unwrap_or_default().trim());
        let is_refused = matches!(value_row.support, OptionSupport::Refused { .. });
        match (is_refused, value.map(str::trim)) {
            // pgmeter behaves as if a refused option were 0.
            (true, Some("0")) => (OptionSupport::Supported, "Off, as always in pgmeter."),
            _ => (value_row.support, value_row.explanation),
        }
    }

    /// Records an error; parsing continues.
    pub(super) fn fail(&mut self, error: Diagnostic) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(error);
        }
    }

    /// Returns all errors and refusals together, if there are any errors.
    pub(super) fn take_errors(&mut self) -> Result<(), Diagnostic> {
        if self.errors.is_empty() {
            return Ok(());
        }
        // Refused options alone are not an error here, but the user should see them in the same
        // list.
        let refused = self.set.written.iter().filter_map(WrittenOption::refusal);
        self.errors.extend(refused.take(ERRORS_MAX));
        Diagnostic::all(std::mem::take(&mut self.errors)).map_or(Ok(()), Err)
    }

    pub(super) fn note(&mut self, note: Diagnostic) -> Result<(), Diagnostic> {
        if self.limits.are_notes_fatal {
            return Err(Diagnostic {
                severity: plan::Severity::Error,
                ..note
            });
        }
        if self.set.notes.len() < NOTES_MAX {
            self.set.notes.push(note);
        }
        Ok(())
    }
}

/// Adds jobs to the last group, or opens a new one.
fn extend(groups: &mut Vec<JobGroup>, jobs: std::ops::Range<usize>, opens: bool) {
    match groups.last_mut() {
        Some(last) if !opens => last.jobs.end = jobs.end,
        _ => groups.push(JobGroup { jobs }),
    }
}

/// `true` if a section names another engine than the global options.
fn has_other_engine(globals: &FioSettings, items: &[Item]) -> bool {
    let named = items.iter().rev().find(|item| item.name == "ioengine");
    let named = named.and_then(|item| item.value.as_deref());
    named.is_some_and(|name| name.trim() != globals.engine.name)
}

/// Rejects options of other engines than the one selected.
fn check_engines(
    settings: &FioSettings,
    engine_options: &[(FioOption, SourceLine)],
) -> Result<(), Diagnostic> {
    let engine = settings.engine.name.split(':').next().unwrap_or_default();
    // The engine itself is refused, so its options need no further error.
    if settings.engine.engine == Engine::Refused {
        return Ok(());
    }
    let inapplicable = engine_options
        .iter()
        .find(|(row, _)| row.engines().all(|it| it != engine));
    let Some((row, place)) = inapplicable else {
        return Ok(());
    };
    let engines: Vec<&str> = row.engines().collect();
    let message = format!(
        "the engine `{}` has no option `{}`",
        printable(engine),
        row.name()
    );
    Err(place
        .error(message)
        .help(format!("use it only with {}", engines.join(", "))))
}
