//! Options of the command line: each is a key of the workload file.

mod jobs;
mod tables;
#[cfg(test)]
mod tests;
mod written;

use toml::Value;

use crate::check::{check, meaningless, strip};
use crate::icf::with_network_workers;
use crate::model::{OneOrMany, Table, Workload};
use crate::native::parse;
use crate::overlay::overlay;
use plan::EngineKind;
use plan::TcpAddress;
use plan::{Diagnostic, Severity};
use tables::TableOption;

/// Keys that say how much data there is, each in place of the others.
const AMOUNTS: [&str; 3] = ["size", "times_memory", "total_size"];

/// Values that replace what workloads say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// The keys of workloads that are set.
    keys: Vec<String>,
    over: Workload,
    /// What is said to the tables of file workloads, in the order in which it was.
    table_options: Vec<TableOption>,
    /// See [`Self::set_ranks`].
    ranks: Option<Ranks>,
    /// Whether targets that are TCP peers are refused.
    refuses_peers: bool,
}

/// How many processes share the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ranks {
    /// So many, each with as many workers as one alone would have.
    Each(u32),
    /// So many, which have the workers together.
    OfAll(u32),
    /// One for each of these groups of workers.
    OfGroups(Vec<String>),
}

impl Ranks {
    /// How many there are.
    pub const fn count(&self) -> u32 {
        match self {
            Self::Each(count) | Self::OfAll(count) => *count,
            // A plan has fewer workers than that.
            Self::OfGroups(names) => names.len() as u32,
        }
    }
}

/// Workloads with the options in place.
pub struct Applied {
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// Options that change nothing for some of them.
    pub warnings: Vec<Diagnostic>,
}

impl Overrides {
    /// No option is given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, dotted for one inside a table, to a value as the workload file has it; texts
    /// need no quotes and lists no brackets.
    ///
    /// A key of file workloads' tables needs not be dotted: it goes to the table that a workload
    /// has. Where a workload has a key of the same name, that one is meant, but for `size`.
    ///
    /// # Errors
    /// When the key is unknown, or the value is not of the key's type or range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let (key, value) = (key.trim(), value.trim());
        let first = key.split('.').next().unwrap_or_default();
        let of_tables = TableOption::read(key, value);
        let Some(mut option) = of_tables else {
            return self.set_own(key, value);
        };
        if option.is_also_own() {
            option.elsewhere = self.set_own(first, value).err();
        }
        option.checked()?;
        self.table_options.push(option);
        Ok(())
    }

    /// Tells how many processes, on one machine or many, share the work: each has as many workers
    /// as a run by one would have.
    pub fn set_ranks(&mut self, ranks: u32) {
        self.ranks = (ranks > 1).then_some(Ranks::Each(ranks));
    }

    /// Tells how many processes share the work, each of which has its part of the workers.
    pub fn set_ranks_of_all(&mut self, ranks: u32) {
        self.ranks = (ranks > 1).then_some(Ranks::OfAll(ranks));
    }

    /// Tells that there is a process for each of these groups of workers, in this order.
    pub fn set_ranks_of_groups(&mut self, groups: Vec<String>) {
        self.ranks = Some(Ranks::OfGroups(groups));
    }

    /// How many processes share the work, where there are several.
    pub const fn ranks(&self) -> Option<&Ranks> {
        self.ranks.as_ref()
    }

    /// Sets a key of workloads themselves.
    fn set_own(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let over = read(key, value).map_err(tables::with_nearest)?;
        if over.base.is_some() {
            let message = "`use` cannot be set by an option: it counts when the file is read";
            let help = "name that workload in place of the file";
            return Err(Diagnostic::error("", message).help(help));
        }
        check(&over).map_err(|flaw| flaw.diagnostic(""))?;
        self.over = overlay(std::mem::take(&mut self.over), over);
        let key = key.split('.').next().unwrap_or_default().to_owned();
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        Ok(())
    }

    /// Sets a key from `key=value`, the form of `--set`.
    ///
    /// # Errors
    /// As [`Self::set`], and when there is no `=`.
    pub fn set_pair(&mut self, pair: &str) -> Result<(), Diagnostic> {
        match pair.split_once('=') {
            Some((key, value)) => self.set(key, value).map_err(|error| in_a_pair(error, key)),
            None => Err(
                Diagnostic::error("", format!("`{}` has no `=`", plan::printable(pair)))
                    .help("write `--set key=value`"),
            ),
        }
    }

    /// Refuses targets that are TCP peers, wherever they are named: whoever asks may use this
    /// machine's paths and not its network.
    pub fn refuse_peers(&mut self) {
        self.refuses_peers = true;
    }

    /// Whether targets that are TCP peers are refused.
    #[must_use]
    pub const fn refuses_peers(&self) -> bool {
        self.refuses_peers
    }

    /// Replaces the targets that workloads name.
    pub fn set_targets(&mut self, targets: Vec<String>) {
        self.over.targets = Some(OneOrMany::from(targets));
        if !self.has("targets") {
            self.keys.push("targets".to_owned());
        }
    }

    /// Whether an option says something about this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// Whether an option says something about this key of the table.
    pub fn has_in(&self, table: Table, key: &str) -> bool {
        let mut options = self.table_options.iter();
        options.any(|option| option.sets(table, key))
    }

    /// The targets that options name; empty when none does.
    #[must_use]
    pub fn targets(&self) -> &[String] {
        self.over.targets.as_ref().map_or(&[], OneOrMany::as_slice)
    }

    /// Whether options say where to work, or that nothing is touched at all.
    #[must_use]
    pub fn settle_targets(&self) -> bool {
        let is_untouched = self.over.engine == Some(EngineKind::Null);
        is_untouched || self.location().is_some() || !self.targets().is_empty()
    }

    /// The targets that options name for this workload; empty when none does.
    pub fn targets_of(&self, workload: &Workload) -> Vec<String> {
        match self
            .location()
            .filter(|_| workload.table().is_some_and(Table::has_pool))
        {
            Some(location) => vec![location.to_owned()],
            None => self.targets().to_vec(),
        }
    }

    /// The path that an option gave as a pool's location: a target, as it is not beneath one.
    fn location(&self) -> Option<&str> {
        let options = self.table_options.iter().rev();
        let pools = || Table::ALL.into_iter().filter(|table| table.has_pool());
        let mut locations = options.filter(|it| pools().any(|table| it.sets(table, "locations")));
        locations.next()?.target()
    }

    /// The workloads with the options in place.
    ///
    /// # Errors
    /// An option that changes nothing for any workload, or that the workload it is for refuses.
    pub fn applied(&self, workloads: &[Workload]) -> Result<Applied, Diagnostic> {
        if let (Some(location), Some(target)) = (self.location(), self.targets().first()) {
            let message = format!("`{target}` and the location `{location}` are both targets");
            return Err(Diagnostic::error("", message).help("name one of them"));
        }
        let mut unused = Unused::default();
        let mut applied = Vec::with_capacity(workloads.len());
        let mut warnings = Vec::new();
        for (index, workload) in workloads.iter().enumerate() {
            unused.workload_index = index;
            let (workload, said) = with_network_workers(workload);
            // Whoever names peers does not need to hear of them.
            let mut targets = self.targets().iter();
            let names_peers = targets.any(|target| TcpAddress::is_meant(target));
            warnings.extend(said.into_iter().filter(|_| !names_peers));
            applied.push(self.applied_to(&workload, &mut unused)?);
        }
        warnings.extend(unused.warnings(workloads.len())?);
        Ok(Applied {
            workloads: applied,
            warnings,
        })
    }

    /// The workload with the options in place. What options say holds for each worker, so the
    /// workers' own values of those keys go; their targets stay, for planning to replace.
    fn applied_to(&self, workload: &Workload, unused: &mut Unused) -> Result<Workload, Diagnostic> {
        let mut over = self.over.clone();
        over.targets = None;
        if let Some(table) = workload.table() {
            for key in strip(&mut over, table) {
                if !self.table_options.iter().any(|it| it.takes(table, key)) {
                    unused.add(key, meaningless(table, key).diagnostic(""), false);
                }
            }
        }
        let mut workload = overlay(jobs::open_to(&self.keys, workload)?, over);
        for option in &self.table_options {
            option.apply(&mut workload, unused)?;
        }
        for worker in &mut workload.worker {
            if self.has("worker") {
                break;
            }
            drop_if(self.has("iodepth"), &mut worker.iodepth);
            drop_if(AMOUNTS.iter().any(|key| self.has(key)), &mut worker.size);
            drop_if(self.has("start"), &mut worker.start);
            drop_if(self.has("seed"), &mut worker.seed);
            drop_if(self.has("content"), &mut worker.content);
            let each = &mut worker.transactions_per_connection;
            drop_if(self.has("transactions_per_connection"), each);
        }
        for job in &mut workload.job {
            jobs::drop_own(job, &|key| self.has(key));
        }
        Ok(workload)
    }
}

/// Options that change nothing for some workloads.
#[derive(Default)]
struct Unused {
    /// The workload that is looked at.
    workload_index: usize,
    found: Vec<Leftover>,
}

/// An option that changes nothing for a workload.
struct Leftover {
    workload_index: usize,
    option: String,
    why: Diagnostic,
    /// Whether the option names which workloads it is for.
    is_expected: bool,
}

impl Unused {
    fn add(&mut self, option: &str, why: Diagnostic, is_expected: bool) {
        let workload_index = self.workload_index;
        let is_known = |it: &Leftover| it.workload_index == workload_index && it.option == option;
        if !self.found.iter().any(is_known) {
            self.found.push(Leftover {
                workload_index,
                option: option.to_owned(),
                why,
                is_expected,
            });
        }
    }

    /// What the reader should know of options that some workload uses.
    ///
    /// # Errors
    /// The first option that none of so many workloads uses.
    fn warnings(self, workload_count: usize) -> Result<Vec<Diagnostic>, Diagnostic> {
        let is_useless = |option: &str| {
            let leftovers = self.found.iter().filter(|it| it.option == option);
            leftovers.count() >= workload_count
        };
        if let Some(useless) = self.found.iter().find(|it| is_useless(&it.option)) {
            return Err(useless.why.clone());
        }
        let doubtful = self.found.into_iter().filter(|it| !it.is_expected);
        let warnings = doubtful.map(|it| Diagnostic {
            severity: Severity::Warning,
            ..it.why
        });
        Ok(warnings.collect())
    }
}

fn drop_if<T>(drop: bool, value: &mut Option<T>) {
    if drop {
        *value = None;
    }
}

/// Reads the value in the ways a person may write it; the first that fits the key's type counts.
fn read(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !key.chars().all(bare) || key.split('.').any(str::is_empty) {
        let message = format!("`{}` is not a key", plan::printable(key));
        return Err(Diagnostic::error("", message).help("write `--set key=value`"));
    }
    let quoted = Value::String(value.to_owned()).to_string();
    let is_toml = |text: &str| text.parse::<Value>().is_ok();
    let listed = [format!("[{value}]"), listed(value)];
    let as_written = is_toml(value).then(|| one(key, value));
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
    // Where a word is wanted, the text is what was meant.
    match as_written {
        Some(Err(error)) if !error.message.ends_with(", not a word") => Err(error),
        _ => one(key, &quoted).map_err(|error| unquoted(error, &quoted, value)),
    }
}

/// The error of `--set`, whose help writes a pair and not a line of a file.
fn in_a_pair(mut error: Diagnostic, key: &str) -> Diagnostic {
    if error.message.ends_with(", not a list of tables") {
        error.message = format!("`{key}` is in a list of tables, which `--set` cannot change");
        error.help = Some("`--print toml` makes a file to change it in".to_owned());
        return error;
    }
    let name = key.rsplit('.').next().unwrap_or_default();
    let line = format!("write `{name} = ");
    let pair = format!("write `--set {key}=");
    error.help = error.help.map(|help| help.replace(&line, &pair));
    error
}

/// The error without the quotes that the user did not write.
fn unquoted(mut error: Diagnostic, quoted: &str, value: &str) -> Diagnostic {
    let shown = match value {
        "" => "empty".to_owned(),
        value => format!("`{}`", plan::printable(value)),
    };
    error.message = error.message.replace(&format!("`{quoted}`"), &shown);
    error.help = error.help.map(|help| help.replace(" without quotes", ""));
    error
}

/// The parts between commas as a list, each without quotes a text unless it is a number.
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

/// A file with this key alone; its mistakes have no place that the user knows.
fn one(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    parse("", &format!("{key} = {value}")).map_err(|mut error| {
        error.line = None;
        error.column = None;
        error.snippet = None;
        error
    })
}
