//! Options of the command line, each of which sets a key of the workload file.

mod jobs;
mod tables;
#[cfg(test)]
mod tests;
mod variants;
mod written;

use std::collections::HashSet;

use toml::Value;

use crate::check::{check, inapplicable_key, strip};
use crate::iometer::with_network_workers;
use crate::model::{OneOrMany, Workload, WorkloadTable};
use crate::native::parse;
use crate::overlay::overlay;
use plan::EngineKind;
use plan::TcpAddress;
use plan::{Diagnostic, Severity};
use tables::{SIZE, TableOption};
use variants::VariedKey;

/// Keys that define the amount of data, each replacing the others.
const AMOUNT_KEYS: [&str; 3] = ["size", "times_memory", "total_size"];

/// Values that replace keys of workloads.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// Keys of workloads that are set.
    keys: Vec<String>,
    values: Workload,
    /// Options for the tables of file workloads, in the order given.
    table_options: Vec<TableOption>,
    /// Keys with several values, in the order given.
    varied: Vec<VariedKey>,
    /// See [`Self::set_ranks`].
    ranks: Option<Ranks>,
    /// See [`Self::allow_peers`].
    allowed_peers: Option<Vec<String>>,
}

/// Number of processes that share the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranks {
    /// This number of processes, each with as many workers as a run by one process.
    Replicated(u32),
    /// This number of processes, among which the workers are divided.
    Divided(u32),
    /// One process for each of these groups of workers.
    Groups(Vec<String>),
}

impl Ranks {
    /// Number of processes.
    pub const fn count(&self) -> u32 {
        match self {
            Self::Replicated(count) | Self::Divided(count) => *count,
            // A plan has fewer workers than that.
            Self::Groups(names) => names.len() as u32,
        }
    }
}

/// Workloads with the options applied.
pub struct AppliedOverrides {
    /// The changed workloads.
    pub workloads: Vec<Workload>,
    /// Warnings about options that have no effect on some of them.
    pub warnings: Vec<Diagnostic>,
}

impl Overrides {
    /// No options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key to a value in the form of the workload file. A key in a table is dotted. Texts
    /// need no quotes and lists no brackets.
    ///
    /// A key of a file workload's table needs no dot; it is set in the table that the workload has.
    /// If the workload itself has a key of the same name, that one is set, except for `size`.
    ///
    /// Several values for a key that takes one are separated by commas: each workload is then
    /// measured with each of them.
    ///
    /// # Errors
    /// If the key is unknown, or the value has the wrong type or is out of range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let (key, value) = (key.trim(), value.trim());
        // The later of two options for a key counts.
        self.varied.retain(|it| it.key != key);
        self.refuse_second_amount(key)?;
        let varied = VariedKey::read(key, value);
        // As one value first, because a list of CPUs also has commas.
        let as_one = match &varied {
            // As PostMark's range of sizes, it would have no effect on any other workload.
            Some(_) if key == SIZE => self.clone().set_own(key, value),
            _ => self.set_one(key, value),
        };
        match (as_one, varied) {
            (Err(error), Some(varied)) => self.set_each(varied, &error),
            (as_one, _) => as_one,
        }
    }

    /// Refuses a second key for the amount of data if the first has several values: these are
    /// applied after all other options, so the second key would have no effect.
    fn refuse_second_amount(&self, key: &str) -> Result<(), Diagnostic> {
        let is_amount = |key: &str| AMOUNT_KEYS.contains(&key);
        let varied = self.varied.iter().find(|it| is_amount(&it.key));
        match varied.filter(|_| is_amount(key)) {
            None => Ok(()),
            Some(VariedKey { key: varied, .. }) => {
                let message = format!("`{key}` replaces `{varied}`, which has several values");
                Err(Diagnostic::error("", message).help("leave one of them out"))
            }
        }
    }

    /// Sets a key to a single value, as [`Self::set`].
    fn set_one(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let first = key.split('.').next().unwrap_or_default();
        let table_option = TableOption::read(key, value);
        let Some(mut option) = table_option else {
            return self.set_own(key, value);
        };
        if option.is_also_own() {
            option.own_error = self.set_own(first, value).err();
        }
        option.checked()?;
        self.table_options.push(option);
        Ok(())
    }

    /// Sets the number of processes, on one or several machines, that share the work. Each has as
    /// many workers as a run by one process.
    pub fn set_ranks(&mut self, ranks: u32) {
        self.ranks = (ranks > 1).then_some(Ranks::Replicated(ranks));
    }

    /// Sets the number of processes among which the workers are divided.
    pub fn set_ranks_of_all(&mut self, ranks: u32) {
        self.ranks = (ranks > 1).then_some(Ranks::Divided(ranks));
    }

    /// Runs one process for each of these groups of workers, in this order.
    pub fn set_ranks_of_groups(&mut self, groups: Vec<String>) {
        self.ranks = Some(Ranks::Groups(groups));
    }

    /// The processes that share the work, if there are several.
    pub const fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref()
    }

    /// Sets a key of the workloads themselves.
    fn set_own(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let over = read(key, value).map_err(tables::with_nearest)?;
        if over.base.is_some() {
            let message = "`use` cannot be set by an option: it takes effect when the file is read";
            let help = "name that workload instead of the file";
            return Err(Diagnostic::error("", message).help(help));
        }
        check(&over).map_err(|flaw| flaw.diagnostic(""))?;
        self.values = overlay(std::mem::take(&mut self.values), over);
        let key = key.split('.').next().unwrap_or_default().to_owned();
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        Ok(())
    }

    /// Sets a key from `key=value`, the form of `--set`.
    ///
    /// # Errors
    /// As for [`Self::set`], and if there is no `=`.
    pub fn set_pair(&mut self, pair: &str) -> Result<(), Diagnostic> {
        match pair.split_once('=') {
            Some((key, value)) => self
                .set(key, value)
                .map_err(|error| with_pair_in_help(error, key)),
            None => Err(
                Diagnostic::error("", format!("`{}` has no `=`", plan::printable(pair)))
                    .help("write `--set key=value`"),
            ),
        }
    }

    /// Refuses all other TCP peers as targets, wherever they are named, for callers that may not
    /// use this machine's network.
    pub fn allow_peers(&mut self, peers: Vec<String>) {
        self.allowed_peers = Some(peers);
    }

    /// The only TCP peers that are allowed as targets; `None` if all are.
    #[must_use]
    pub fn allowed_peers(&self) -> Option<&[String]> {
        self.allowed_peers.as_deref()
    }

    /// Replaces the targets of the workloads.
    pub fn set_targets(&mut self, targets: Vec<String>) {
        self.values.targets = Some(OneOrMany::from(targets));
        if !self.has("targets") {
            self.keys.push("targets".to_owned());
        }
    }

    /// `true` if an option sets this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// `true` if an option sets this key of the table.
    pub fn has_in(&self, table: WorkloadTable, key: &str) -> bool {
        let mut options = self.table_options.iter();
        options.any(|option| option.sets(table, key))
    }

    /// Targets from options; empty if there are none.
    #[must_use]
    pub fn targets(&self) -> &[String] {
        self.values
            .targets
            .as_ref()
            .map_or(&[], OneOrMany::as_slice)
    }

    /// `true` if options set the targets, or select an engine that accesses none.
    #[must_use]
    pub fn determines_targets(&self) -> bool {
        let is_untouched = self.values.engine == Some(EngineKind::Null);
        is_untouched || self.location().is_some() || !self.targets().is_empty()
    }

    /// Targets from options for this workload; empty if there are none.
    pub fn targets_of(&self, workload: &Workload) -> Vec<String> {
        match self
            .location()
            .filter(|_| workload.table().is_some_and(WorkloadTable::has_pool))
        {
            Some(location) => vec![location.to_owned()],
            None => self.targets().to_vec(),
        }
    }

    /// The path that an option gave as a pool's location: a target, because it is not below one.
    fn location(&self) -> Option<&str> {
        // The last of several options counts.
        let options = self.table_options.iter().rev();
        let pools = || {
            WorkloadTable::ALL
                .into_iter()
                .filter(|table| table.has_pool())
        };
        let mut locations = options.filter(|it| pools().any(|table| it.sets(table, "locations")));
        locations.next()?.target()
    }

    /// Applies the options to the workloads. If keys have several values, each workload becomes
    /// one for each combination.
    ///
    /// # Errors
    /// An option that has no effect on any workload, or that a workload does not accept.
    pub fn applied(&self, workloads: &[Workload]) -> Result<AppliedOverrides, Diagnostic> {
        if let (Some(location), Some(target)) = (self.location(), self.targets().first()) {
            let message = format!("`{target}` and the location `{location}` are both targets");
            return Err(Diagnostic::error("", message).help("name one of them"));
        }
        let combinations = self.combinations()?;
        let mut unused = UnusedOptions::default();
        let mut applied = Vec::with_capacity(workloads.len());
        let mut warnings = Vec::new();
        for (index, workload) in workloads.iter().enumerate() {
            unused.workload_index = index;
            let (workload, said) = with_network_workers(workload);
            // A user who names peers needs no warnings about them.
            let mut targets = self.targets().iter();
            let names_peers = targets.any(|target| TcpAddress::is_tcp_name(target));
            warnings.extend(said.into_iter().filter(|_| !names_peers));
            let mut seen = HashSet::new();
            for combination in &combinations {
                let mut one = combination.overrides.applied_to(&workload, &mut unused)?;
                combination.forget_replaced(&mut one);
                let variant = combination.variant(&one, &unused);
                // Combinations that differ only in keys without effect are measured once.
                if seen.insert(variant.clone()) {
                    variant.into_iter().for_each(|it| one.mark(it));
                    applied.push(one);
                }
            }
        }
        warnings.extend(unused.warnings(workloads.len())?);
        Ok(AppliedOverrides {
            workloads: applied,
            warnings,
        })
    }

    /// Applies the options to a workload. Options apply to every worker, so the workers' own values
    /// of these keys are removed. Their targets stay, for planning to replace.
    fn applied_to(
        &self,
        workload: &Workload,
        unused: &mut UnusedOptions,
    ) -> Result<Workload, Diagnostic> {
        let mut over = self.values.clone();
        // Planning takes them from `targets_of`, because it may replace names one by one.
        over.targets = None;
        if let Some(table) = workload.table() {
            for key in strip(&mut over, table) {
                if !self.table_options.iter().any(|it| it.takes(table, key)) {
                    unused.add(key, inapplicable_key(table, key).diagnostic(""), false);
                }
            }
        }
        let mut workload = overlay(jobs::convert_for_keys(&self.keys, workload)?, over);
        if let (Some(count), Some(built)) = (self.values.workers, &mut workload.built) {
            built.set_workers(count)?;
        }
        for option in &self.table_options {
            option.apply(&mut workload, unused)?;
        }
        for worker in &mut workload.worker {
            // An option for the whole list brings the values of its workers.
            if self.has("worker") {
                break;
            }
            drop_if(self.has("iodepth"), &mut worker.iodepth);
            drop_if(
                AMOUNT_KEYS.iter().any(|key| self.has(key)),
                &mut worker.size,
            );
            drop_if(self.has("start"), &mut worker.start);
            drop_if(self.has("seed"), &mut worker.seed);
            drop_if(self.has("content"), &mut worker.content);
            let per_connection = &mut worker.transactions_per_connection;
            drop_if(self.has("transactions_per_connection"), per_connection);
        }
        for job in &mut workload.job {
            jobs::drop_own(job, &|key| self.has(key));
        }
        Ok(workload)
    }
}

/// Collects options that have no effect on some workloads.
#[derive(Default)]
struct UnusedOptions {
    /// Index of the current workload.
    workload_index: usize,
    found: Vec<UnusedOption>,
}

/// An option that has no effect on a workload.
struct UnusedOption {
    workload_index: usize,
    option: String,
    reason: Diagnostic,
    /// `true` if the option names the workloads for which it is meant.
    is_expected: bool,
}

impl UnusedOptions {
    fn add(&mut self, option: &str, why: Diagnostic, is_expected: bool) {
        let workload_index = self.workload_index;
        let is_known =
            |it: &UnusedOption| it.workload_index == workload_index && it.option == option;
        if !self.found.iter().any(is_known) {
            self.found.push(UnusedOption {
                workload_index,
                option: option.to_owned(),
                reason: why,
                is_expected,
            });
        }
    }

    /// `true` if the option has no effect on the current workload.
    fn is_here(&self, option: &str) -> bool {
        let mut found = self.found.iter();
        found.any(|it| it.workload_index == self.workload_index && it.option == option)
    }

    /// Warnings about options that have an effect on some of the workloads only.
    ///
    /// # Errors
    /// The first option without effect on any of the `workload_count` workloads.
    fn warnings(self, workload_count: usize) -> Result<Vec<Diagnostic>, Diagnostic> {
        let is_useless = |option: &str| {
            let leftovers = self.found.iter().filter(|it| it.option == option);
            leftovers.count() >= workload_count
        };
        if let Some(useless) = self.found.iter().find(|it| is_useless(&it.option)) {
            return Err(useless.reason.clone());
        }
        let doubtful = self.found.into_iter().filter(|it| !it.is_expected);
        let warnings = doubtful.map(|it| Diagnostic {
            severity: Severity::Warning,
            ..it.reason
        });
        Ok(warnings.collect())
    }
}

fn drop_if<T>(drop: bool, value: &mut Option<T>) {
    if drop {
        *value = None;
    }
}

/// Parses the value in the forms a user may write; the first one that fits the key's type counts.
fn read(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !key.chars().all(bare) || key.split('.').any(str::is_empty) {
        let message = format!("`{}` is not a key", plan::printable(key));
        return Err(Diagnostic::error("", message).help("write `--set key=value`"));
    }
    let quoted = Value::String(value.to_owned()).to_string();
    // Only a complete TOML value is inserted; after a line break, a text could set other keys.
    let is_toml = |text: &str| text.parse::<Value>().is_ok();
    let listed = [format!("[{value}]"), listed(value)];
    let as_written = is_toml(value).then(|| one(key, value));
    // In this order, `8` is a number, and a path needs no quotes.
    let attempts = [
        as_written.clone().and_then(Result::ok),
        one(key, &quoted).ok(),
    ];
    let mut attempts = attempts.into_iter().chain(
        listed
            .iter()
            .filter(|list| value.contains(',') && is_toml(list))
            .map(|list| one(key, list).ok()),
    );
    if let Some(over) = attempts.find_map(|attempt| attempt) {
        return Ok(over);
    }
    // If a word or a text is expected, the text itself was meant.
    let is_text = |error: &Diagnostic| {
        let wanted = [", not a word", ", not a text"];
        wanted.iter().any(|it| error.message.ends_with(it))
    };
    match as_written {
        Some(Err(error)) if !is_text(&error) => Err(error),
        _ => one(key, &quoted).map_err(|error| remove_quotes(error, &quoted, value)),
    }
}

/// Adapts an error to `--set`: its help shows a pair instead of a line of a file.
fn with_pair_in_help(mut error: Diagnostic, key: &str) -> Diagnostic {
    if error.message.ends_with(", not a list of tables") {
        error.message = format!("`{key}` is in a list of tables, which `--set` cannot change");
        error.help = Some("`--print toml` prints a file in which you can change it".to_owned());
        return error;
    }
    let name = key.rsplit('.').next().unwrap_or_default();
    let line = format!("write `{name} = ");
    let pair = format!("write `--set {key}=");
    error.help = error.help.map(|help| help.replace(&line, &pair));
    error
}

/// Removes the quotes that the user did not write from an error.
fn remove_quotes(mut error: Diagnostic, quoted: &str, value: &str) -> Diagnostic {
    let shown = match value {
        "" => "empty".to_owned(),
        value => format!("`{}`", plan::printable(value)),
    };
    error.message = error.message.replace(&format!("`{quoted}`"), &shown);
    error.help = error.help.map(|help| help.replace(" without quotes", ""));
    error
}

/// Converts comma-separated parts to a list; parts that are not numbers become texts.
fn listed(value: &str) -> String {
    let parts = value.split(',').map(|part| {
        let part = part.trim();
        match part.parse::<Value>() {
            Ok(known) => known.to_string(),
            Err(_) => Value::String(part.to_owned()).to_string(),
        }
    });
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}

/// Parses a file with only this key; positions of errors are removed, because the user does not see
/// this file.
fn one(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    parse("", &format!("{key} = {value}")).map_err(|mut error| {
        error.line = None;
        error.column = None;
        error.snippet = None;
        error
    })
}
