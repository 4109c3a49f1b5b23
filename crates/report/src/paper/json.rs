//! Published experiments and comparisons for other programs.

use ::compare::Comparison;
use results::RunRecord;
use schemars::JsonSchema;
use serde::Serialize;
use units::JsonDocument;

use super::catalog::KnownSystem;
use super::comparison::PublishedComparison;
use super::reference::{Reference, systems};
use super::{PAPERS, Paper, PaperSide, PaperTable};
use crate::side_by_side::Extra;

/// The published experiments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaperList {
    /// All of them.
    pub papers: Vec<ListedPaper>,
}

/// A published experiment in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedPaper {
    /// Its name on the command line.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Where it was published.
    pub source: String,
    /// The full size, in words.
    pub full_size: String,
    /// Whether pgmeter has the published figures.
    pub has_figures: bool,
}

impl JsonDocument for PaperList {
    const FORMAT: &'static str = "pgmeter-paper-list/1";
}

impl PaperList {
    /// All that come with this version.
    #[must_use]
    pub fn current() -> Self {
        let listed = |paper: &Paper| {
            let [title, source] = paper.heading();
            ListedPaper {
                name: paper.name.to_owned(),
                title,
                source,
                full_size: paper.size.to_owned(),
                has_figures: paper.published.is_some(),
            }
        };
        Self {
            papers: PAPERS.iter().map(listed).collect(),
        }
    }
}

/// Comparisons for other programs.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ComparisonDocument<'a> {
    /// Each side after the first, compared with the first.
    pub comparisons: &'a [Comparison],
    /// Published figures beside the runs.
    pub published: &'a [PublishedComparison],
}

impl JsonDocument for ComparisonDocument<'_> {
    const FORMAT: &'static str = "pgmeter-compare/1";
}

/// A published experiment, with the runs that repeated it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaperDocument<'a> {
    /// The published figures, with those of the runs beside them.
    #[serde(flatten)]
    published: PublishedComparison,
    /// What the published systems were, as far as it is known.
    systems: Vec<KnownSystem>,
    /// The workload at its full size, as a file in TOML.
    workload: &'a str,
    /// What holds for the runs, such as the scale and what was mounted how.
    remarks: &'a [String],
    /// What failed.
    alarms: &'a [String],
    /// The file systems, with the ids of their runs.
    file_systems: Vec<PaperColumn<'a>>,
    /// What the runs cost beside, each with its samples of every file system.
    costs: &'a [Extra],
    /// Whether times among the costs are those of guests, which cannot be compared.
    is_of_guests: bool,
    /// The same work on the bare device under the file systems, where it was measured.
    peak: Option<&'a RunRecord>,
    /// The records of the runs.
    runs: Vec<&'a RunRecord>,
}

/// A file system on which an experiment was repeated.
#[derive(Debug, Serialize, JsonSchema)]
struct PaperColumn<'a> {
    /// A short name.
    name: &'a str,
    /// The id of the run that its shares of a peak are of, where there is one.
    peak: Option<&'a str>,
    /// The ids of its runs, one a repetition.
    runs: Vec<&'a str>,
}

impl JsonDocument for PaperDocument<'_> {
    const FORMAT: &'static str = "pgmeter-paper/3";
}

impl PaperTable<'_> {
    /// The same for other programs.
    #[must_use]
    pub fn document(&self) -> PaperDocument<'_> {
        let runs = self.sides.iter().flat_map(|side| side.records);
        let runs: Vec<&RunRecord> = runs.collect();
        let reference = Reference {
            paper: *self.paper,
            systems: systems(self.paper),
        };
        PaperDocument {
            published: reference.compared_with_known(&runs),
            systems: self.paper.systems(),
            workload: self.paper.workload,
            remarks: &self.remarks,
            alarms: &self.alarms,
            file_systems: self.sides.iter().map(PaperColumn::of).collect(),
            costs: &self.costs,
            is_of_guests: self.is_of_guests,
            peak: self.peak,
            runs,
        }
    }
}

impl<'a> PaperColumn<'a> {
    fn of(side: &'a PaperSide) -> Self {
        let ids = side.records.iter().map(|run| run.id.as_str());
        Self {
            name: &side.name,
            peak: side.peak.map(|it| it.id.as_str()),
            runs: ids.collect(),
        }
    }
}
