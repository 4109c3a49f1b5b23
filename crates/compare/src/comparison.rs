//! The comparison of two runs.

use plan::{CacheMode, EngineKind, Plan};
use results::{CellRecord, RunRecord, Timestamp, Warning, WarningCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::asked::{self, Question};
use crate::difference::{self, Difference};
use crate::error::CompareError;
use crate::group::{self, Group};
use crate::judge::{self, FigureComparison, Pair, Verdict};

/// How to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComparisonOptions {
    /// Compare even where different things were measured.
    pub force: bool,
    /// The i-th repetitions of both sides were measured one after the other, as in A B B A, so
    /// that what disturbed both is no difference. Cells of which the sides have unequal numbers
    /// are compared without pairs.
    pub paired: bool,
}

/// Two sides, each of one run or of several that are taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The first side, against which the second is held.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// What was planned otherwise; first what changes what is measured.
    pub plan_differences: Vec<Difference>,
    /// What is otherwise about machine, system and program.
    pub environment_differences: Vec<Difference>,
    /// Whether the sides measure different things and are compared nevertheless.
    pub forced: bool,
    /// The cells that both sides have, in the order of the first.
    pub cells: Vec<CellComparison>,
    /// Cells that only the first side has.
    pub only_a: Vec<CellName>,
    /// Cells that only the second side has.
    pub only_b: Vec<CellName>,
    /// How many tests the p-values are corrected for.
    pub test_count: u64,
}

/// A side of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The ids of its runs.
    pub runs: Vec<String>,
    /// When its first run began.
    pub started_at: Option<Timestamp>,
    /// The targets' paths.
    pub targets: Vec<String>,
    /// Cells that were not measured to their end and are left out.
    pub incomplete_count: u64,
    /// The largest share of their time for which workers of a cell waited for a processor; none
    /// where no cell has a warning of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
}

/// What was asked of a cell, in a few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    /// Name of the workload.
    pub workload: String,
    /// Which of the side's cells of this name it is, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub number: u32,
    /// Name of the access specification, when all workers used the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// What the cell belongs to, such as `measure`.
    pub phase: String,
    /// Which engine issued the I/O.
    pub engine: EngineKind,
    /// How the page cache was used.
    pub cache: CacheMode,
    /// Requests each worker kept in flight on each of its targets.
    pub iodepth: u32,
    /// How many workers took part.
    pub workers: u32,
    /// How many processes took part.
    pub ranks: u32,
}

/// One cell on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// What was asked of the cell, as the first side says it.
    #[serde(flatten)]
    pub name: CellName,
    /// What the second side says, where it was asked something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_b: Option<CellName>,
    /// The first side's target; several are separated by `, `.
    pub target_a: String,
    /// The second side's target; several are separated by `, `.
    pub target_b: String,
    /// Whether it was to be compared by pairs, of which the sides have unequal numbers: it is
    /// compared without pairs then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unpaired: bool,
    /// Whether the second side was measured for too short a time, once at least.
    #[serde(skip)]
    pub is_short_b: bool,
    /// Failed operations of the first side.
    pub errors_a: u64,
    /// Failed operations of the second side.
    pub errors_b: u64,
    /// Every figure that both sides have.
    pub figures: Vec<FigureComparison>,
}

impl Comparison {
    /// All figures of all cells.
    pub fn figures(&self) -> impl Iterator<Item = &FigureComparison> {
        self.cells.iter().flat_map(|cell| &cell.figures)
    }

    /// The figures that are worse by more than chance and by more than `percent` of the first
    /// side's.
    pub fn regressions(
        &self,
        percent: f64,
    ) -> impl Iterator<Item = (&CellComparison, &FigureComparison)> {
        self.cells
            .iter()
            .flat_map(|cell| cell.figures.iter().map(move |figure| (cell, figure)))
            .filter(move |(_, figure)| {
                figure.verdict == Verdict::Worse && figure.loss() * 100.0 > percent
            })
    }

    /// Whether any figure is worse by more than chance and by more than `percent`.
    #[must_use]
    pub fn fail_on_regression(&self, percent: f64) -> bool {
        self.regressions(percent).next().is_some()
    }
}

impl CellName {
    fn of(question: &Question, number: u32) -> Self {
        Self {
            number,
            workload: question.workload.clone(),
            access_spec: question.access_spec.clone(),
            phase: question.phase.clone(),
            engine: question.engine,
            cache: question.cache,
            iodepth: question.iodepth,
            workers: question.workers,
            ranks: question.ranks,
        }
    }
}

fn first() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_first(number: &u32) -> bool {
    *number == 1
}

/// Compares two sides, each of one run or of several taken together.
///
/// # Errors
/// When a side has no complete cell, when the sides have nothing in common, or when they measure
/// different things and `options.force` is not set.
pub fn compare(
    a: &[RunRecord],
    b: &[RunRecord],
    options: ComparisonOptions,
) -> Result<Comparison, CompareError> {
    let (groups_a, groups_b) = (group::gather(a), group::gather(b));
    for (runs, groups) in [(a, &groups_a), (b, &groups_b)] {
        if groups.is_empty() {
            return Err(CompareError::NothingMeasured { side: ids(runs) });
        }
    }
    let mut plan_differences = plan_differences(a, b);
    let pairs = matched(&groups_a, &groups_b, options.force).map_err(|unlike| {
        if unlike.is_empty() {
            return CompareError::NothingInCommon {
                a: ids(a),
                b: ids(b),
            };
        }
        CompareError::DifferentThings {
            a: ids(a),
            b: ids(b),
            differences: reasons(&plan_differences, &groups_a, &groups_b, &unlike),
        }
    })?;
    let (numbers_a, numbers_b) = (group::numbers(&groups_a), group::numbers(&groups_b));
    let is_alike = |&(i, j): &(usize, usize)| groups_a[i].asked == groups_b[j].asked;
    let unlike = pairs.iter().copied().filter(|pair| !is_alike(pair));
    let unlike: Places = unlike.collect();
    plan_differences.extend(untold(&groups_a, &groups_b, &unlike));
    let mut cells: Vec<CellComparison> = pairs
        .iter()
        .map(|&(i, j)| {
            let numbers = [numbers_a[i], numbers_b[j]];
            cell(&groups_a[i], &groups_b[j], numbers, options.paired)
        })
        .collect();
    let mut figures: Vec<&mut FigureComparison> = cells
        .iter_mut()
        .flat_map(|cell| &mut cell.figures)
        .collect();
    let test_count = judge::judge(&mut figures) as u64;
    Ok(Comparison {
        a: side(a, &groups_a),
        b: side(b, &groups_b),
        plan_differences,
        environment_differences: match (a.first(), b.first()) {
            (Some(a), Some(b)) => difference::of_environments(a, b),
            _ => Vec::new(),
        },
        forced: !unlike.is_empty(),
        only_a: left(&groups_a, &numbers_a, |i| {
            pairs.iter().any(|pair| pair.0 == i)
        }),
        only_b: left(&groups_b, &numbers_b, |j| {
            pairs.iter().any(|pair| pair.1 == j)
        }),
        cells,
        test_count,
    })
}

/// What would keep the runs of two plans from being compared: settings that change what is
/// measured, or else details of the cells; empty where they ask the same.
#[must_use]
pub fn planned_differences(a: &Plan, b: &Plan) -> Vec<Difference> {
    let ask = |plan: &Plan| -> Vec<Value> { plan.cells.iter().map(asked::work).collect() };
    let (work_a, work_b) = (ask(a), ask(b));
    if work_a == work_b {
        return Vec::new();
    }
    let settings = difference::of_settings(a, b).into_iter();
    let mut differences: Vec<Difference> = settings.filter(|it| !it.is_circumstance()).collect();
    if differences.is_empty() {
        let cells = work_a.iter().zip(&work_b);
        differences = cells
            .flat_map(|(a, b)| difference::of_values(a, b))
            .collect();
        differences.sort();
        differences.dedup();
    }
    differences
}

/// Compares each side after the first with the first; p-values are corrected within each
/// comparison.
///
/// # Errors
/// As [`compare`], for the first pair that cannot be compared.
pub fn compare_with_first(
    sides: &[&[RunRecord]],
    options: ComparisonOptions,
) -> Result<Vec<Comparison>, CompareError> {
    let Some((first, others)) = sides.split_first() else {
        return Ok(Vec::new());
    };
    others
        .iter()
        .map(|other| compare(first, other, options))
        .collect()
}

/// Places of two groups in the sides' lists.
type Places = Vec<(usize, usize)>;

/// The groups to compare, in the order of the first side; or those that stand in the way, none
/// when nothing resembles anything.
fn matched(a: &[Group], b: &[Group], force: bool) -> Result<Places, Places> {
    let matches = group::matches(a, b);
    let mut pairs = matches.alike;
    if force {
        pairs.extend(matches.unlike);
        pairs.extend(matches.akin);
    } else if !matches.unlike.is_empty() {
        return Err(matches.unlike);
    } else if pairs.is_empty() {
        return Err(matches.akin);
    }
    pairs.sort_unstable();
    if pairs.is_empty() {
        Err(pairs)
    } else {
        Ok(pairs)
    }
}

fn cell(a: &Group, b: &Group, numbers: [u32; 2], paired: bool) -> CellComparison {
    let pair = Pair {
        a: &a.cells,
        b: &b.cells,
        paired,
    };
    let name = CellName::of(&a.asked.question, numbers[0]);
    let is_other = a.asked.question != b.asked.question;
    let name_b = CellName::of(&b.asked.question, numbers[1]);
    let name_b = Some(name_b).filter(|it| is_other && *it != name);
    CellComparison {
        name_b,
        name,
        target_a: target(&a.cells),
        target_b: target(&b.cells),
        is_unpaired: paired && a.cells.len() != b.cells.len(),
        is_short_b: b.cells.iter().any(|cell| cell.is_too_short()),
        errors_a: a.cells.iter().map(|cell| cell.total.errors).sum(),
        errors_b: b.cells.iter().map(|cell| cell.total.errors).sum(),
        figures: pair.figures(),
    }
}

fn target(cells: &[&CellRecord]) -> String {
    cells
        .first()
        .map_or_else(String::new, |cell| cell.target.clone())
}

/// What was planned otherwise, what changes what is measured first.
fn plan_differences(a: &[RunRecord], b: &[RunRecord]) -> Vec<Difference> {
    let (Some(a), Some(b)) = (a.first(), b.first()) else {
        return Vec::new();
    };
    let mut differences = difference::of_settings(&a.plan, &b.plan);
    differences.sort_by_key(Difference::is_circumstance);
    differences
}

/// What was asked otherwise: settings where they tell, else the plan's own details.
fn reasons(
    plan_differences: &[Difference],
    a: &[Group],
    b: &[Group],
    unlike: &[(usize, usize)],
) -> Vec<Difference> {
    let settings = plan_differences.iter().filter(|d| !d.is_circumstance());
    let mut reasons: Vec<Difference> = settings.cloned().collect();
    if reasons.is_empty() {
        reasons = details(a, b, unlike);
    }
    reasons
}

/// What differs between the plans of cells, by its place there.
fn details(a: &[Group], b: &[Group], unlike: &[(usize, usize)]) -> Vec<Difference> {
    let work = |&(i, j): &(usize, usize)| {
        let (a, b) = (&a[i].asked, &b[j].asked);
        difference::of_values(&a.work, &b.work)
    };
    let mut details: Vec<Difference> = unlike.iter().flat_map(work).collect();
    details.sort();
    details.dedup();
    details
}

/// What no setting tells: the access lines, which stand in the plan of each worker.
fn untold(a: &[Group], b: &[Group], unlike: &[(usize, usize)]) -> Vec<Difference> {
    let is_line = |it: &Difference| it.what.starts_with("workers[0].lines");
    let details = details(a, b, unlike).into_iter();
    details.filter(is_line).collect()
}

fn left(groups: &[Group], numbers: &[u32], is_compared: impl Fn(usize) -> bool) -> Vec<CellName> {
    let groups = groups.iter().zip(numbers).enumerate();
    groups
        .filter(|(place, _)| !is_compared(*place))
        .map(|(_, (group, number))| CellName::of(&group.asked.question, *number))
        .collect()
}

fn side(runs: &[RunRecord], groups: &[Group]) -> Side {
    let cells: usize = runs.iter().map(|run| run.cells.len()).sum();
    let complete: usize = groups.iter().map(|group| group.cells.len()).sum();
    let mut targets: Vec<String> = runs
        .iter()
        .flat_map(|run| &run.plan.targets)
        .map(|target| target.path.to_string_lossy().into_owned())
        .collect();
    let mut seen = Vec::new();
    targets.retain(|target| {
        let is_new = !seen.contains(target);
        seen.push(target.clone());
        is_new
    });
    Side {
        runs: runs.iter().map(|run| run.id.clone()).collect(),
        started_at: runs.iter().map(|run| run.started_at).min(),
        targets,
        incomplete_count: (cells - complete) as u64,
        waiting: runs.iter().filter_map(waiting).reduce(f64::max),
    }
}

fn waiting(run: &RunRecord) -> Option<f64> {
    let of_cell = |warning: &Warning| {
        let is_of_it = warning.code == WarningCode::WaitedForProcessor;
        warning.cell.filter(|_| is_of_it)
    };
    let warned: Vec<u32> = run.warnings.iter().filter_map(of_cell).collect();
    let cells = run.cells.iter().filter(|it| warned.contains(&it.index));
    cells.filter_map(|cell| cell.cpu.waiting).reduce(f64::max)
}

fn ids(runs: &[RunRecord]) -> String {
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    ids.join(", ")
}
