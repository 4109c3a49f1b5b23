//! `board.toml`: the tables of a board and the rules for its submissions.

use std::collections::BTreeMap;

use description::nearest;
use report::{PAPERS, Paper};
use results::BetterDirection;
use serde::{Deserialize, Serialize};
use units::printable;

use crate::toml_text;
use crate::{BoardError, is_slug};

/// Format of `board.toml`.
pub const BOARD_FORMAT: &str = "pgmeter-board/1";
/// Edition of the rules that this version checks. It changes only if a rule changes numbers or
/// their validity.
pub const RULES_EDITION: u32 = 1;

/// The contents of `board.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardConfig {
    /// [`BOARD_FORMAT`].
    pub format: String,
    /// Title of the site.
    pub title: String,
    /// One paragraph about the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// Edition of the rules that submissions must follow.
    pub rules_edition: u32,
    /// Accepted versions of pgmeter, as beginnings such as `0.1`; empty for all versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub program_versions: Vec<String>,
    /// Pairs of submissions with a page that compares them.
    #[serde(rename = "pair", default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<SubmissionPair>,
    /// The tables, in the order of the site.
    // An empty list would be a second definition of the first table that somebody adds.
    #[serde(rename = "table", default, skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<BoardTable>,
}

/// Two submissions with a page that compares them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SubmissionPair {
    /// Name of the directory of the first one.
    pub first: String,
    /// Name of the directory of the second one.
    pub second: String,
    /// Reason to compare them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl SubmissionPair {
    /// Returns the path of its page below the site's directory.
    pub(crate) fn path(&self) -> String {
        format!("compare/{}--{}.html", self.first, self.second)
    }
}

/// A table of a board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardTable {
    /// Name in file names and addresses.
    pub name: String,
    /// Title, with the size of the work.
    pub title: String,
    /// Publication of the workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Command that measures a system for this table.
    pub command: String,
    /// Published experiment whose work this table ranks: a name from `pgmeter paper list`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<String>,
    /// Heading of the table in that publication, if it has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Hash of the work of the cells that this table ranks, if no publication describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<String>,
    /// Column that ranks the submissions.
    pub rank_by: String,
    /// Size of the work, for tables of PostMark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSize>,
    /// Results of other programs that do the same work.
    #[serde(rename = "import", default, skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<ImportedWork>,
    /// The columns, in order.
    #[serde(rename = "column")]
    pub columns: Vec<BoardColumn>,
}

/// Work of another program, as its output states it. The board's owner decides that it is the work
/// of a table, because nothing can compute that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportedWork {
    /// Name of the program, such as `fio`.
    pub program: String,
    /// Name of the result, such as `put block`; none for any name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Operation whose figures count, such as `read`; none for the total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// All settings of the result that change its work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
}

/// Size of PostMark's work. All other settings have their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSize {
    /// Files created before the transactions.
    pub number: u32,
    /// Number of transactions.
    pub transactions: u32,
    /// Number of subdirectories.
    pub subdirectories: u32,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoardColumn {
    /// Name of the value, with its unit.
    pub name: String,
    /// Direction of better values; `neither` for values that do not rank.
    pub better: BetterDirection,
}

impl BoardConfig {
    /// Reads `board.toml`.
    ///
    /// # Errors
    /// If the text is not TOML, lacks a key, has an unknown one, or contradicts itself.
    pub fn read(file: &str, text: &str) -> Result<Self, BoardError> {
        let config: Self = toml_text::read(file, text)?;
        config.check(file)?;
        Ok(config)
    }

    /// Returns the table of this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&BoardTable> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Serializes to the text of `board.toml`.
    #[must_use]
    pub fn text(&self) -> String {
        toml_text::write(self)
    }

    fn check(&self, file: &str) -> Result<(), BoardError> {
        if self.format != BOARD_FORMAT {
            let message = format!(
                "`format` is `{}`, but this version reads `{BOARD_FORMAT}`",
                printable(&self.format)
            );
            return Err(BoardError::in_file(
                file,
                message,
                "use a version that reads it",
            ));
        }
        for (index, table) in self.tables.iter().enumerate() {
            if self.tables[..index].iter().any(|it| it.name == table.name) {
                let message = format!("two tables have the name `{}`", printable(&table.name));
                return Err(BoardError::in_file(file, message, "rename one of them"));
            }
            table.check(file)?;
        }
        for (index, pair) in self.pairs.iter().enumerate() {
            let is_double = self.pairs[..index]
                .iter()
                .any(|it| it.path() == pair.path());
            if is_double
                || [&pair.first, &pair.second]
                    .into_iter()
                    .any(|it| !is_slug(it))
            {
                let [first, second] = [&pair.first, &pair.second].map(|it| printable(it));
                let message = match is_double {
                    true => format!("two pairs have `{first}` and `{second}`"),
                    false => format!("the pair `{first}` and `{second}` has no such directories"),
                };
                let help = "write the names of two directories of `submissions`, once per pair";
                return Err(BoardError::in_file(file, message, help));
            }
        }
        Ok(())
    }
}

impl BoardTable {
    /// Returns the direction of better values in the column that ranks.
    #[must_use]
    pub fn better(&self) -> BetterDirection {
        self.column(&self.rank_by)
            .map_or(BetterDirection::Neither, |column| column.better)
    }

    /// Returns the column of this name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&BoardColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    fn check(&self, file: &str) -> Result<(), BoardError> {
        let name = printable(&self.name);
        let refused = |message: String, help: &str| Err(BoardError::in_file(file, message, help));
        if !is_slug(&self.name) {
            let message = format!("`{name}` cannot name a table");
            return refused(message, "use small letters, digits and single hyphens");
        }
        if self.better() == BetterDirection::Neither {
            let message = format!(
                "`rank_by` of table `{name}` is `{}`, which is no column with a better direction",
                printable(&self.rank_by)
            );
            return refused(
                message,
                "name a column whose `better` is `higher` or `lower`",
            );
        }
        let program = |it: &&ImportedWork| !import::programs().any(|known| known == it.program);
        if let Some(unknown) = self.imports.iter().find(program) {
            let program = printable(&unknown.program);
            let message = format!("table `{name}` has results of `{program}`, an unknown program");
            let help = match nearest(&unknown.program, import::programs()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use {}", import::programs().collect::<Vec<_>>().join(", ")),
            };
            return refused(message, &help);
        }
        match (&self.paper, &self.work) {
            (Some(paper), None) if Paper::find(paper).is_none() => {
                let names = PAPERS.iter().map(|it| it.name);
                let help = match nearest(paper, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "use a name from `pgmeter paper list`".to_owned(),
                };
                let paper = printable(paper);
                refused(format!("table `{name}` names no paper `{paper}`"), &help)
            }
            (Some(_), None) | (None, Some(_)) => Ok(()),
            (None, None) if !self.imports.is_empty() => Ok(()),
            _ => refused(
                format!("table `{name}` needs either `paper` or `work`"),
                "make the table from a run with `pgmeter board add RUN --new-table NAME`",
            ),
        }
    }
}
