//! Every option that fio knows, and what becomes of it here: one row each, in `options.txt`.
//!
//! A row is `names@engines|kind|verdict|sentence`. The first name is the one that results tell; a
//! `!` behind the names marks options of the command line alone. Rows `name=value` speak of one
//! value. The verdict is `D` (done), `~` (differs), `R` (reporting), `X` (refused, with what to use
//! behind ` > `).

mod kind;

pub(super) use kind::{Bounds, Kind};

use description::nearest;

const ROWS: &str = include_str!("options.txt");

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Done as fio does it; the sentence says what it is.
    Done,
    /// Done otherwise; the sentence says how.
    Differs,
    /// Concerns what is printed, or nothing.
    Reporting,
    /// Not done.
    Refused {
        /// What to write instead.
        instead: &'static str,
    },
}

/// What to do instead of what is refused, as an order.
#[must_use]
pub fn advice(instead: &str) -> String {
    const ORDERS: [&str; 6] = ["leave", "start", "merge", "write", "run", "read"];
    let first = instead.split(' ').next().unwrap_or_default();
    match ORDERS.contains(&first) {
        true => instead.to_owned(),
        false => format!("use {instead}"),
    }
}

impl Verdict {
    /// As tables print it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Differs => "differs",
            Self::Reporting => "reporting",
            Self::Refused { .. } => "refused",
        }
    }
}

/// An option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionRow {
    names: &'static str,
    engines: &'static str,
    kind: &'static str,
    /// Whether it stands on command lines only.
    pub is_of_command_line: bool,
    /// What becomes of it.
    pub verdict: Verdict,
    /// What that means, in one sentence; why, without a full stop, where it is refused.
    pub sentence: &'static str,
}

impl OptionRow {
    /// The name that results tell.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.names().next().unwrap_or_default()
    }

    /// The name and its aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + Clone + use<> {
        self.names.split(',')
    }

    /// The engines that know it; none for options of all.
    pub fn engines(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.engines.split(',').filter(|it| !it.is_empty())
    }

    /// What its values are.
    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.kind)
    }

    fn read(line: &'static str) -> Option<Self> {
        let mut columns = line.splitn(4, '|');
        let (names, kind) = (columns.next()?, columns.next()?);
        let (verdict, said) = (columns.next()?, columns.next()?);
        let (names, engines) = names.split_once('@').unwrap_or((names, ""));
        let (why, instead) = said.split_once(" > ").unwrap_or((said, ""));
        let (verdict, sentence) = match verdict {
            "D" => (Verdict::Done, said),
            "~" => (Verdict::Differs, said),
            "R" => (Verdict::Reporting, said),
            _ => (Verdict::Refused { instead }, why),
        };
        Some(Self {
            names: names.trim_end_matches('!'),
            engines,
            kind,
            is_of_command_line: names.ends_with('!'),
            verdict,
            sentence,
        })
    }

    /// Whether it speaks of one value.
    #[must_use]
    pub fn is_of_value(&self) -> bool {
        self.names.contains('=')
    }
}

/// The whole table.
#[derive(Debug, Clone)]
pub struct Table {
    rows: Vec<OptionRow>,
    /// Names with the rows that have them, in order of the names.
    index: Vec<(&'static str, u16)>,
}

impl Default for Table {
    fn default() -> Self {
        Self::new()
    }
}

impl Table {
    /// Reads the table.
    #[must_use]
    pub fn new() -> Self {
        let rows: Vec<OptionRow> = ROWS.lines().filter_map(OptionRow::read).collect();
        let names = |(at, row): (usize, &OptionRow)| row.names().map(move |it| (it, at as u16));
        let rows_with_places = rows.iter().enumerate();
        let mut index: Vec<_> = rows_with_places
            .flat_map(|it| names(it).collect::<Vec<_>>())
            .collect();
        index.sort_unstable();
        Self { rows, index }
    }

    /// All rows with the headings above them.
    pub fn groups() -> impl Iterator<Item = (&'static str, Vec<OptionRow>)> {
        let groups = ROWS.split("= ").filter(|group| !group.is_empty());
        // A heading begins its line, and no sentence has an equals sign before a blank.
        groups.map(|group| {
            let mut lines = group.lines();
            let heading = lines.next().unwrap_or_default();
            (heading, lines.filter_map(OptionRow::read).collect())
        })
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &[OptionRow] {
        &self.rows
    }

    /// The option of that name, exactly.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&OptionRow> {
        let at = self
            .index
            .binary_search_by(|(it, _)| (*it).cmp(name))
            .ok()?;
        self.rows.get(usize::from(self.index[at].1))
    }

    /// What is said of one value, or of the option where nothing is.
    #[must_use]
    pub fn of_value<'a>(&'a self, row: &'a OptionRow, value: &str) -> &'a OptionRow {
        let end = value.find(':').unwrap_or(value.len());
        self.find(&format!("{}={}", row.name(), &value[..end]))
            .unwrap_or(row)
    }

    /// The only option whose name begins so, as on command lines; none where there are several.
    #[must_use]
    pub fn find_by_start(&self, start: &str) -> Option<&OptionRow> {
        if let Some(row) = self.find(start) {
            return Some(row);
        }
        let from = self.index.partition_point(|(name, _)| *name < start);
        let rest = self.index[from..].iter();
        let mut alike = rest.take_while(|(name, _)| name.starts_with(start));
        let of_options = |it: &&(&str, u16)| !it.0.contains('=');
        let first = alike.find(of_options)?.1;
        alike
            .filter(of_options)
            .all(|(_, row)| *row == first)
            .then(|| &self.rows[usize::from(first)])
    }

    /// The values that have rows of their own.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'static str> {
        let names = self.rows.iter().map(OptionRow::name);
        names.filter_map(move |it| it.strip_prefix(name)?.strip_prefix('='))
    }

    /// The options whose names begin so.
    pub fn beginning_with(&self, start: &str) -> impl Iterator<Item = &'static str> {
        let from = self.index.partition_point(|(name, _)| *name < start);
        let rest = self.index[from..].iter().map(|(name, _)| *name);
        let alike = rest.take_while(move |name| name.starts_with(start));
        alike.filter(|name| !name.contains('='))
    }

    /// The name that may have been meant.
    #[must_use]
    pub fn nearest(&self, name: &str) -> Option<&'static str> {
        let names = self.rows.iter().filter(|it| !it.is_of_value());
        // Names of one letter are near to everything short.
        let names = names.flat_map(OptionRow::names).filter(|it| it.len() > 1);
        nearest(name, names)
    }
}

#[cfg(test)]
mod tests;
