//! JSON documents of published experiments and comparisons.

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
    /// All experiments.
    pub papers: Vec<ListedPaper>,
}

/// Summary of a published experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedPaper {
    /// Name on the command line.
    pub name: String,
    /// Title of the experiment.
    pub title: String,
    /// Place of publication.
    pub source: String,
    /// Description of the full size.
    pub full_size: String,
    /// `true` if pgmeter has the published results.
    pub has_figures: bool,
}

impl JsonDocument for PaperList {
    const FORMAT: &'static str = "pgmeter-paper-list/1";
}

impl PaperList {
    /// Lists the experiments of this version.
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

/// Comparisons as a document.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct ComparisonDocument<'a> {
    /// Comparison of each side after the first with the first.
    pub comparisons: &'a [Comparison],
    /// Published results next to the runs.
    pub published: &'a [PublishedComparison],
}

impl JsonDocument for ComparisonDocument<'_> {
    const FORMAT: &'static str = "pgmeter-compare/1";
}

/// A published experiment, with the runs that repeat it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PaperDocument<'a> {
    /// Published results, with the results of the runs.
    #[serde(flatten)]
    published: PublishedComparison,
    /// Known facts about the published systems.
    systems: Vec<KnownSystem>,
    /// Workload at full size, as a TOML file.
    workload: &'a str,
    /// General conditions of the runs, such as the scale and the mount options.
    remarks: &'a [String],
    /// Failures.
    alarms: &'a [String],
    /// File systems, with the ids of their runs.
    file_systems: Vec<PaperColumn<'a>>,
    /// Costs in addition to the workload, each with samples for every file system.
    costs: &'a [Extra],
    /// `true` if times among the costs were measured in guests, so they are not comparable.
    is_of_guests: bool,
    /// The same work on the bare device under the file systems, if measured.
    peak: Option<&'a RunRecord>,
    /// Records of the runs.
    runs: Vec<&'a RunRecord>,
}

/// A file system with repetitions of the experiment.
#[derive(Debug, Serialize, JsonSchema)]
struct PaperColumn<'a> {
    /// Short name.
    name: &'a str,
    /// Id of the run with the peak that percentages refer to; null if there is none.
    peak: Option<&'a str>,
    /// Ids of the runs, one per repetition.
    runs: Vec<&'a str>,
}

impl JsonDocument for PaperDocument<'_> {
    const FORMAT: &'static str = "pgmeter-paper/3";
}

impl PaperTable<'_> {
    /// Converts the table to a document.
    #[must_use]
    pub fn document(&self) -> PaperDocument<'_> {
        let runs = self.sides.iter().flat_map(|side| side.records);
        let runs: Vec<&RunRecord> = runs.collect();
        let reference = Reference {
            paper: *self.paper,
            systems: systems(self.paper),
        };
        PaperDocument {
            published: reference.compare_with_known(&runs),
            systems: self.paper.systems(),
            workload: self.paper.workload,
            remarks: &self.remarks,
            alarms: &self.failures,
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
