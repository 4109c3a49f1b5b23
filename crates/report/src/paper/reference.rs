//! Published columns as the user names them.

use super::figure::groups;
use super::{PAPERS, Paper};

/// Published systems of an experiment, to stand beside runs.
#[derive(Debug, Clone)]
pub struct Reference {
    pub(super) paper: Paper,
    /// In the publication's order.
    pub(super) systems: Vec<String>,
}

/// Why there are no such columns.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// No experiment has that name.
    #[error("there is no published experiment `{name}`")]
    NoSuchPaper {
        /// The name asked for.
        name: String,
    },
    /// An experiment without figures.
    #[error("pgmeter does not have published figures of `{name}`")]
    NothingPublished {
        /// The experiment.
        name: &'static str,
    },
    /// No system has that name, or several begin so.
    #[error("`{name}` has {} published column `{column}`", many(*.is_ambiguous))]
    NoSuchColumn {
        /// The experiment.
        name: &'static str,
        /// The column asked for.
        column: String,
        /// Whether several columns begin so.
        is_ambiguous: bool,
        /// The columns that there are.
        columns: Vec<String>,
    },
    /// A run without any figure of the experiment.
    #[error("the run `{run}` has no figure of `{name}`")]
    NothingMeasured {
        /// The run's id.
        run: String,
        /// The experiment.
        name: &'static str,
    },
}

fn many(is_ambiguous: bool) -> &'static str {
    if is_ambiguous { "more than one" } else { "no" }
}

impl ReferenceError {
    /// One action that helps.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoSuchPaper { .. } | Self::NothingPublished { .. } => {
                let known = PAPERS.iter().filter(|paper| paper.published.is_some());
                let names: Vec<&str> = known.map(|paper| paper.name).collect();
                format!("use one of {}", names.join(", "))
            }
            Self::NoSuchColumn { columns, .. } => {
                format!(
                    "use one of {}; without a column all are meant",
                    columns.join(", ")
                )
            }
            Self::NothingMeasured { name, .. } => {
                format!("measure them with `pgmeter paper run {name}`")
            }
        }
    }
}

impl Reference {
    /// The columns of a text such as `lfs-postmark` for all of them, or `lfs-postmark:LFS,ext3`;
    /// as much of a name as tells it from the others will do.
    ///
    /// # Errors
    /// When there is no such experiment or column.
    pub fn find(text: &str) -> Result<Self, ReferenceError> {
        let (name, columns) = match text.split_once(':') {
            Some((name, columns)) => (name, Some(columns)),
            None => (text, None),
        };
        let paper = Paper::find(name).ok_or_else(|| ReferenceError::NoSuchPaper {
            name: plan::printable(name),
        })?;
        let known = systems(paper);
        if known.is_empty() {
            return Err(ReferenceError::NothingPublished { name: paper.name });
        }
        let Some(columns) = columns else {
            let systems = known;
            return Ok(Self {
                paper: *paper,
                systems,
            });
        };
        let mut systems: Vec<String> = Vec::new();
        for asked in columns.split(',').map(str::trim) {
            let found = find(paper, &known, asked)?;
            if !systems.contains(found) {
                systems.push(found.clone());
            }
        }
        Ok(Self {
            paper: *paper,
            systems,
        })
    }
}

/// Every system of the experiment, in the publication's order.
pub(super) fn systems(paper: &Paper) -> Vec<String> {
    let mut systems: Vec<String> = Vec::new();
    for group in groups(paper) {
        for value in group.figures.iter().flat_map(|it| &it.published) {
            if !systems.contains(&value.system) {
                systems.push(value.system.clone());
            }
        }
    }
    systems
}

/// The column of that name, else the only one that begins so.
fn find<'a>(
    paper: &'static Paper,
    known: &'a [String],
    asked: &str,
) -> Result<&'a String, ReferenceError> {
    let plain = asked.to_lowercase();
    let begins = |system: &&String| !plain.is_empty() && system.to_lowercase().starts_with(&plain);
    let mut beginning = known.iter().filter(begins);
    let (first, is_ambiguous) = (beginning.next(), beginning.next().is_some());
    known
        .iter()
        .find(|system| system.to_lowercase() == plain)
        .or(first.filter(|_| !is_ambiguous))
        .ok_or_else(|| ReferenceError::NoSuchColumn {
            name: paper.name,
            column: plan::printable(asked),
            is_ambiguous,
            columns: known.to_vec(),
        })
}
