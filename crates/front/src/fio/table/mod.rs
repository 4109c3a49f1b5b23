//! Every option of fio and how pgmeter handles it: one row each, in `options.txt`.
//!
//! A row is `names@engines|kind|verdict|sentence`. Results use the first name. A `!` after the
//! names marks options of the command line. A row `name=value` describes a single value. The
//! verdict is `D` (done), `~` (differs), `R` (reporting) or `X` (refused); for `X`, the alternative
//! follows ` > `.

mod kind;

pub(super) use kind::{NumberBounds, ValueKind};

use description::nearest;

const ROWS: &str = include_str!("options.txt");

/// How pgmeter handles an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionSupport {
    /// Works as in fio; the sentence describes the option.
    Supported,
    /// Works differently; the sentence describes the difference.
    Differs,
    /// Affects only fio's output, or nothing.
    OutputOnly,
    /// Not supported.
    Refused {
        /// What to use instead.
        instead: &'static str,
    },
}

/// The alternative to a refused option as an imperative sentence.
#[must_use]
pub fn advice(instead: &str) -> String {
    const IMPERATIVES: [&str; 6] = ["leave", "start", "merge", "write", "run", "read"];
    let first = instead.split(' ').next().unwrap_or_default();
    match IMPERATIVES.contains(&first) {
        true => instead.to_owned(),
        false => format!("use {instead}"),
    }
}

impl OptionSupport {
    /// The word that tables print.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Supported => "done",
            Self::Differs => "differs",
            Self::OutputOnly => "reporting",
            Self::Refused { .. } => "refused",
        }
    }
}

/// A row of the table: an option, or one of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioOption {
    names: &'static str,
    engines: &'static str,
    kind: &'static str,
    /// `true` if the option belongs on the command line, not in a job.
    pub is_command_line: bool,
    /// How pgmeter handles it.
    pub support: OptionSupport,
    /// One sentence: the effect of the option, or, without a period, the reason for the refusal.
    pub explanation: &'static str,
}

impl FioOption {
    /// The main name, which results use.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.names().next().unwrap_or_default()
    }

    /// The name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.names.split(',')
    }

    /// The engines that have the option; empty if it applies to all.
    pub fn engines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.engines.split(',').filter(|it| !it.is_empty())
    }

    pub(super) fn kind(&self) -> ValueKind {
        ValueKind::of(self.kind)
    }

    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.splitn(4, '|');
        let (names, kind) = (columns.next()?, columns.next()?);
        let (verdict, said) = (columns.next()?, columns.next()?);
        let (names, engines) = names.split_once('@').unwrap_or((names, ""));
        let (why, instead) = said.split_once(" > ").unwrap_or((said, ""));
        let (verdict, sentence) = match verdict {
            "D" => (OptionSupport::Supported, said),
            "~" => (OptionSupport::Differs, said),
            "R" => (OptionSupport::OutputOnly, said),
            _ => (OptionSupport::Refused { instead }, why),
        };
        Some(Self {
            names: names.trim_end_matches('!'),
            engines,
            kind,
            is_command_line: names.ends_with('!'),
            support: verdict,
            explanation: sentence,
        })
    }

    /// `true` if the row describes a single value.
    #[must_use]
    pub fn is_value_row(&self) -> bool {
        self.names.contains('=')
    }
}

/// The table of all options.
#[derive(Debug, Clone)]
pub struct OptionTable {
    rows: Vec<FioOption>,
    /// Names with the indices of their rows, sorted by name.
    index: Vec<(&'static str, u16)>,
}

impl Default for OptionTable {
    fn default() -> Self {
        Self::new()
    }
}

impl OptionTable {
    /// Reads the table.
    #[must_use]
    pub fn new() -> Self {
        let rows: Vec<FioOption> = ROWS.lines().filter_map(FioOption::read).collect();
        let names = |(at, row): (usize, &FioOption)| row.names().map(move |it| (it, at as u16));
        let rows_with_places = rows.iter().enumerate();
        let mut index: Vec<_> = rows_with_places
            .flat_map(|it| names(it).collect::<Vec<_>>())
            .collect();
        index.sort_unstable();
        Self { rows, index }
    }

    /// All rows, grouped by heading.
    pub fn groups() -> impl Iterator<Item = (&'static str, Vec<FioOption>)> {
        let groups = ROWS.split("= ").filter(|group| !group.is_empty());
        // Headings start with `= `, which occurs nowhere else: no sentence contains it.
        groups.map(|group| {
            let mut lines = group.lines();
            let heading = lines.next().unwrap_or_default();
            (heading, lines.filter_map(FioOption::read).collect())
        })
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[FioOption] {
        &self.rows
    }

    /// The option with exactly this name; `None` if there is none.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&FioOption> {
        let at = self
            .index
            .binary_search_by(|(it, _)| (*it).cmp(name))
            .ok()?;
        self.rows.get(usize::from(self.index[at].1))
    }

    /// The row of this value, or the row of the option if the value has none.
    #[must_use]
    pub fn of_value<'a>(&'a self, row: &'a FioOption, value: &str) -> &'a FioOption {
        // `randread:4` has the row of `rw=randread`.
        let end = value.find(':').unwrap_or(value.len());
        self.find(&format!("{}={}", row.name(), &value[..end]))
            .unwrap_or(row)
    }

    /// The option with this name or unambiguous abbreviation, as on command lines; `None` if there
    /// is no such option or more than one.
    #[must_use]
    pub fn find_by_start(&self, start: &str) -> Option<&FioOption> {
        if let Some(row) = self.find(start) {
            return Some(row);
        }
        let from = self.index.partition_point(|(name, _)| *name < start);
        let rest = self.index[from..].iter();
        let matching = rest.take_while(|(name, _)| name.starts_with(start));
        let matching = matching.filter(|(name, _)| !name.contains('='));
        let row = |row: &u16| &self.rows[usize::from(*row)];
        let (own, of_engines): (Vec<u16>, Vec<u16>) = matching
            .map(|(_, index)| *index)
            .partition(|index| row(index).engines().next().is_none());
        // fio's list has no options of engines until the engine is loaded.
        let candidates = if own.is_empty() { of_engines } else { own };
        let (first, others) = candidates.split_first()?;
        // An option and its aliases have the same row, so they are not ambiguous.
        others.iter().all(|it| it == first).then(|| row(first))
    }

    /// The values of an option that have their own rows.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let names = self.rows.iter().map(FioOption::name);
        names.filter_map(move |it| it.strip_prefix(name)?.strip_prefix('='))
    }

    /// The names of options that begin with this text.
    pub fn beginning_with(&self, start: &str) -> impl Iterator<Item = &'static str> {
        let from = self.index.partition_point(|(name, _)| *name < start);
        let rest = self.index[from..].iter().map(|(name, _)| *name);
        let candidates = rest.take_while(move |name| name.starts_with(start));
        candidates.filter(|name| !name.contains('='))
    }

    /// The name that the user probably meant; `None` if no name is similar.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        let names = self.rows.iter().filter(|it| !it.is_value_row());
        // Names of one letter are similar to every short word.
        let names = names.flat_map(FioOption::names).filter(|it| it.len() > 1);
        nearest(name, names)
    }
}

#[cfg(test)]
mod tests;
