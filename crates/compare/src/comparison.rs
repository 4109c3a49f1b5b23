//! The comparison of two runs.

use plan::{CacheMode, EngineKind, Plan};
use results::RunRecord;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cell_work::{self, CellWork};
use crate::difference::{self, Difference};
use crate::error::CompareError;
use crate::group::{self, SideGroup};
use crate::judge::{self, FigureComparison, Pair, Verdict};
use crate::measurement::Measurement;
use crate::mixed;
use crate::side::Side;

/// Options that decide how runs are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComparisonOptions {
    /// Compare even if the sides measured different things.
    pub force: bool,
    /// The i-th repetitions of both sides were measured one after the other, as in A B B A.
    /// Disturbances of both are then no difference. Cells with unequal numbers of repetitions are
    /// compared without pairs.
    pub paired: bool,
}

/// A comparison of two sides. Each side is one run, or several runs taken together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The first side, the reference of the comparison.
    pub a: Side,
    /// The second side.
    pub b: Side,
    /// Differences between the plans, first those that change the work itself.
    pub plan_differences: Vec<Difference>,
    /// Differences between machine, system and program versions.
    pub environment_differences: Vec<Difference>,
    /// `true` if the sides measured different things but were compared anyway.
    pub forced: bool,
    /// Cells of both sides, in the order of the first side.
    pub cells: Vec<CellComparison>,
    /// Cells that only the first side has.
    pub only_a: Vec<CellName>,
    /// Cells that only the second side has.
    pub only_b: Vec<CellName>,
    /// Number of tests that the p-values are corrected for.
    pub test_count: u64,
}

/// Short description of a cell's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CellName {
    /// Name of the workload.
    pub workload: String,
    /// Number of the cell among the side's cells of the same description, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub number: u32,
    /// Name of the access specification, if all workers used the same one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_spec: Option<String>,
    /// Phase, such as `measure`.
    pub phase: String,
    /// Engine that issued the I/O; null for imported results.
    pub engine: Option<EngineKind>,
    /// Use of the page cache; null for imported results.
    pub cache: Option<CacheMode>,
    /// Queue depth: requests in flight per worker and target; null if the source of imported
    /// results does not state it.
    pub iodepth: Option<u32>,
    /// Number of workers; null if the source of imported results does not state it.
    pub workers: Option<u32>,
    /// Number of processes; null for imported results.
    pub ranks: Option<u32>,
}

/// One cell on both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CellComparison {
    /// Description of the cell on the first side.
    #[serde(flatten)]
    pub name: CellName,
    /// Description of the cell on the second side, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name_b: Option<CellName>,
    /// Target of the first side; several targets are separated by `, `. Empty if it is unknown.
    pub target_a: String,
    /// Target of the second side; several targets are separated by `, `. Empty if it is unknown.
    pub target_b: String,
    /// `true` if a comparison in pairs was requested, but the sides have unequal numbers of
    /// repetitions, so the cell was compared without pairs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unpaired: bool,
    /// `true` if at least one measurement of the second side was too short.
    #[serde(skip)]
    pub is_short_b: bool,
    /// Failed operations of the first side; null if their number is unknown.
    pub errors_a: Option<u64>,
    /// Failed operations of the second side; null if their number is unknown.
    pub errors_b: Option<u64>,
    /// All metrics that both sides have.
    pub figures: Vec<FigureComparison>,
}

impl Comparison {
    /// Returns all metrics of all cells.
    pub fn figures(&self) -> impl Iterator<Item = &FigureComparison> {
        self.cells.iter().flat_map(|cell| &cell.figures)
    }

    /// Returns the metrics that are significantly worse, and by more than `percent` of the first
    /// side's value.
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

    /// Returns `true` if any metric is significantly worse, and by more than `percent`.
    #[must_use]
    pub fn fail_on_regression(&self, percent: f64) -> bool {
        self.regressions(percent).next().is_some()
    }
}

impl CellName {
    fn of(question: &CellWork, number: u32) -> Self {
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

/// Compares two sides. Each side is one run, or several runs taken together.
///
/// # Errors
/// If a side has no complete cell, if the sides have nothing in common, or if they measured
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
    let is_mixed = has_import(a) != has_import(b);
    let matched = match is_mixed {
        true => match_mixed(&groups_a, &groups_b, options.force),
        false => match_groups(&groups_a, &groups_b, options.force),
    };
    let pairs = matched.map_err(|unlike| {
        let (a, b) = (ids(a), ids(b));
        if unlike.is_empty() {
            return CompareError::NothingInCommon { a, b };
        }
        let differences = match is_mixed {
            true => mixed_differences(&groups_a, &groups_b, &unlike),
            false => reasons(&plan_differences, &groups_a, &groups_b, &unlike),
        };
        CompareError::DifferentWork { a, b, differences }
    })?;
    let (numbers_a, numbers_b) = (group::numbers(&groups_a), group::numbers(&groups_b));
    let is_alike = |&(i, j): &(usize, usize)| match is_mixed {
        true => mixed::differences(&groups_a[i], &groups_b[j]).is_empty(),
        false => groups_a[i].planned == groups_b[j].planned,
    };
    let unlike = pairs.iter().copied().filter(|pair| !is_alike(pair));
    let unlike: GroupPairs = unlike.collect();
    plan_differences.extend(match is_mixed {
        true => mixed_differences(&groups_a, &groups_b, &unlike),
        false => line_differences(&groups_a, &groups_b, &unlike),
    });
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
        a: Side::of(a, &groups_a),
        b: Side::of(b, &groups_b),
        plan_differences,
        environment_differences: environment_differences(a, b),
        forced: !unlike.is_empty(),
        only_a: uncompared(&groups_a, &numbers_a, |i| {
            pairs.iter().any(|pair| pair.0 == i)
        }),
        only_b: uncompared(&groups_b, &numbers_b, |j| {
            pairs.iter().any(|pair| pair.1 == j)
        }),
        cells,
        test_count,
    })
}

/// Returns the differences that prevent a comparison of two plans: settings that change the work,
/// or else details of the cells. Empty if both plans do the same work.
#[must_use]
pub fn planned_differences(a: &Plan, b: &Plan) -> Vec<Difference> {
    let ask = |plan: &Plan| -> Vec<Value> { plan.cells.iter().map(cell_work::work).collect() };
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
        // Many cells differ in the same detail, such as the size of requests. It is shown once.
        differences.sort();
        differences.dedup();
    }
    differences
}

/// Compares each side after the first with the first. P-values are corrected within each
/// comparison.
///
/// # Errors
/// As for [`compare`], for the first pair that cannot be compared.
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

/// Pairs of indexes into the groups of both sides.
type GroupPairs = Vec<(usize, usize)>;

/// Returns the groups to compare, in the order of the first side. As an error, returns the groups
/// that prevent a comparison; empty if nothing is similar.
fn match_groups(a: &[SideGroup], b: &[SideGroup], force: bool) -> Result<GroupPairs, GroupPairs> {
    let matches = group::matches(a, b);
    let mut pairs = matches.identical;
    if force {
        pairs.extend(matches.different);
        pairs.extend(matches.similar);
    } else if !matches.different.is_empty() {
        // Equal names for different work would mislead the reader, even if other cells match.
        return Err(matches.different);
    } else if pairs.is_empty() {
        // Only if nothing matches. Otherwise, similar cells are listed as cells of one side.
        return Err(matches.similar);
    }
    // In the order of the first side, not in the order of the levels of similarity.
    pairs.sort_unstable();
    if pairs.is_empty() {
        Err(pairs)
    } else {
        Ok(pairs)
    }
}

/// Like [`match_groups`], for a side of pgmeter and a side of another program.
fn match_mixed(a: &[SideGroup], b: &[SideGroup], force: bool) -> Result<GroupPairs, GroupPairs> {
    let pairs = mixed::pairs(a, b);
    let is_unlike = |&(i, j): &(usize, usize)| !mixed::differences(&a[i], &b[j]).is_empty();
    let unlike: GroupPairs = pairs.iter().copied().filter(is_unlike).collect();
    match (pairs.is_empty(), unlike.is_empty() || force) {
        (false, true) => Ok(pairs),
        _ => Err(unlike),
    }
}

fn mixed_differences(
    a: &[SideGroup],
    b: &[SideGroup],
    unlike: &[(usize, usize)],
) -> Vec<Difference> {
    let pairs = unlike.iter();
    let mut found: Vec<Difference> = pairs
        .flat_map(|&(i, j)| mixed::differences(&a[i], &b[j]))
        .collect();
    found.sort();
    found.dedup();
    found
}

fn environment_differences(a: &[RunRecord], b: &[RunRecord]) -> Vec<Difference> {
    match (a.first(), b.first()) {
        (Some(a), Some(b)) if a.import.is_none() && b.import.is_none() => {
            difference::of_environments(a, b)
        }
        // The environment of imported results is unknown, which is no difference.
        _ => Vec::new(),
    }
}

fn has_import(runs: &[RunRecord]) -> bool {
    runs.iter().any(|run| run.import.is_some())
}

fn cell(a: &SideGroup, b: &SideGroup, numbers: [u32; 2], paired: bool) -> CellComparison {
    let pair = Pair {
        a: &a.cells,
        b: &b.cells,
        paired,
    };
    let name = CellName::of(&a.planned.properties, numbers[0]);
    let is_other = a.planned.properties != b.planned.properties;
    let name_b = CellName::of(&b.planned.properties, numbers[1]);
    // Targets belong to the question but not to the name, so both names may be equal.
    let name_b = Some(name_b).filter(|it| is_other && *it != name);
    CellComparison {
        name_b,
        name,
        target_a: target(&a.cells),
        target_b: target(&b.cells),
        is_unpaired: paired && a.cells.len() != b.cells.len(),
        is_short_b: b
            .cells
            .iter()
            .filter_map(|it| it.cell())
            .any(|cell| cell.is_too_short()),
        errors_a: a.cells.iter().map(|cell| cell.errors()).sum(),
        errors_b: b.cells.iter().map(|cell| cell.errors()).sum(),
        figures: pair.figures(),
    }
}

fn target(cells: &[Measurement]) -> String {
    let first = cells.first();
    first.map_or_else(String::new, |cell| cell.target().to_owned())
}

/// Returns the differences between the plans, first those that change the work itself.
fn plan_differences(a: &[RunRecord], b: &[RunRecord]) -> Vec<Difference> {
    let (Some(a), Some(b)) = (a.first(), b.first()) else {
        return Vec::new();
    };
    let mut differences = difference::of_settings(&a.plan, &b.plan);
    // `false` sorts before `true`, so differences that can explain a refusal come first.
    differences.sort_by_key(Difference::is_circumstance);
    differences
}

/// Returns the differences in the work: settings if any explain it, or else details of the plan.
fn reasons(
    plan_differences: &[Difference],
    a: &[SideGroup],
    b: &[SideGroup],
    unlike: &[(usize, usize)],
) -> Vec<Difference> {
    let settings = plan_differences.iter().filter(|d| !d.is_circumstance());
    let mut reasons: Vec<Difference> = settings.cloned().collect();
    if reasons.is_empty() {
        reasons = details(a, b, unlike);
    }
    reasons
}

/// Returns the differences between the plans of cells, by their paths in the plan.
fn details(a: &[SideGroup], b: &[SideGroup], unlike: &[(usize, usize)]) -> Vec<Difference> {
    let work = |&(i, j): &(usize, usize)| {
        let (a, b) = (&a[i].planned, &b[j].planned);
        difference::of_values(&a.work, &b.work)
    };
    let mut details: Vec<Difference> = unlike.iter().flat_map(work).collect();
    details.sort();
    details.dedup();
    details
}

/// Returns differences in access lines. Settings do not show them, because access lines are part of
/// each worker's plan.
fn line_differences(
    a: &[SideGroup],
    b: &[SideGroup],
    unlike: &[(usize, usize)],
) -> Vec<Difference> {
    // Workers with one specification have equal lines, so the first worker is enough.
    let is_line = |it: &Difference| it.what.starts_with("workers[0].lines");
    let details = details(a, b, unlike).into_iter();
    details.filter(is_line).collect()
}

fn uncompared(
    groups: &[SideGroup],
    numbers: &[u32],
    is_compared: impl Fn(usize) -> bool,
) -> Vec<CellName> {
    let groups = groups.iter().zip(numbers).enumerate();
    groups
        .filter(|(index, _)| !is_compared(*index))
        .map(|(_, (group, number))| CellName::of(&group.planned.properties, *number))
        .collect()
}

fn ids(runs: &[RunRecord]) -> String {
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    ids.join(", ")
}
