//! Published columns, as selected by the user.

use super::figure::groups;
use super::{PAPERS, Paper};

/// Published systems of an experiment, for comparison with runs.
#[derive(Debug, Clone)]
pub struct Reference {
    pub(super) paper: Paper,
    /// Names in the order of the publication.
    pub(super) systems: Vec<String>,
}

/// Reason why published columns cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReferenceError {
    /// There is no experiment of that name.
    #[error("there is no published experiment `{name}`")]
    NoSuchPaper {
        /// The requested name.
        name: String,
        /// The name that is meant by it, if any is similar.
        nearest: Option<&'static str>,
    },
    /// The experiment has no published results.
    #[error("pgmeter does not have published figures of `{name}`")]
    NothingPublished {
        /// Name of the experiment.
        name: &'static str,
    },
    /// There is no system of that name, or the abbreviation is ambiguous.
    #[error("`{name}` has {} published column `{column}`", many(*.is_ambiguous))]
    NoSuchColumn {
        /// Name of the experiment.
        name: &'static str,
        /// The requested column.
        column: String,
        /// `true` if the abbreviation fits several columns.
        is_ambiguous: bool,
        /// The existing columns.
        columns: Vec<String>,
    },
    /// The run has no result of the experiment.
    #[error("the run `{run}` has no figure of `{name}`")]
    NothingMeasured {
        /// Id of the run.
        run: String,
        /// Name of the experiment.
        name: &'static str,
    },
}

fn many(is_ambiguous: bool) -> &'static str {
    if is_ambiguous { "more than one" } else { "no" }
}

impl ReferenceError {
    /// Returns one action that resolves the error.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NoSuchPaper {
                nearest: Some(near),
                ..
            } => format!("did you mean `{near}`?"),
            Self::NoSuchPaper { .. } | Self::NothingPublished { .. } => {
                let papers = PAPERS.iter().filter(|paper| paper.published.is_some());
                let names: Vec<&str> = papers.map(|paper| paper.name).collect();
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
    /// Finds the columns of a text: all with `lfs-postmark`, or some with `lfs-postmark:LFS,ext3`.
    /// Names of columns may be abbreviated to an unambiguous prefix.
    ///
    /// # Errors
    /// If the experiment or a column does not exist, or is ambiguous.
    pub fn find(text: &str) -> Result<Self, ReferenceError> {
        let (name, columns) = match text.split_once(':') {
            Some((name, columns)) => (name, Some(columns)),
            None => (text, None),
        };
        let paper = Paper::find(name).ok_or_else(|| ReferenceError::NoSuchPaper {
            name: plan::printable(name),
            nearest: Paper::nearest(name),
        })?;
        let published = systems(paper);
        if published.is_empty() {
            return Err(ReferenceError::NothingPublished { name: paper.name });
        }
        let Some(columns) = columns else {
            let systems = published;
            return Ok(Self {
                paper: *paper,
                systems,
            });
        };
        let mut systems: Vec<String> = Vec::new();
        for asked in columns.split(',').map(str::trim) {
            let found = find(paper, &published, asked)?;
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

/// Returns all systems of the experiment, in the order of the publication.
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

/// Finds a column by name, or else by an unambiguous prefix.
fn find<'a>(
    paper: &'static Paper,
    columns: &'a [String],
    requested: &str,
) -> Result<&'a String, ReferenceError> {
    let plain = requested.to_lowercase();
    let begins = |system: &&String| !plain.is_empty() && system.to_lowercase().starts_with(&plain);
    let mut beginning = columns.iter().filter(begins);
    let (first, is_ambiguous) = (beginning.next(), beginning.next().is_some());
    columns
        .iter()
        // An exact name takes precedence, because it may be the prefix of another one.
        .find(|system| system.to_lowercase() == plain)
        .or(first.filter(|_| !is_ambiguous))
        .ok_or_else(|| ReferenceError::NoSuchColumn {
            name: paper.name,
            column: plan::printable(requested),
            is_ambiguous,
            columns: columns.to_vec(),
        })
}
