//! Groups cells that did the same work, and matches the groups of two sides.

use plan::CurvePart;
use results::{CellRecord, ImportRecord, RunRecord, Status};

use crate::cell_work::{FIRST_SIMILAR, PlannedCellWork, RunWork, SIMILARITY_LEVELS};
use crate::measurement::Measurement;

/// All complete cells of a side that did the same work.
#[derive(Debug)]
pub(crate) struct SideGroup<'a> {
    pub planned: PlannedCellWork,
    /// In the order of execution.
    pub cells: Vec<Measurement<'a>>,
}

/// Pairs of groups, as indexes into the lists of both sides.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// Groups with identical work.
    pub identical: Vec<(usize, usize)>,
    /// Groups with the same description but different details.
    pub different: Vec<(usize, usize)>,
    /// Groups that are only similar.
    pub similar: Vec<(usize, usize)>,
}

/// Groups the comparable cells of all runs of a side.
pub(crate) fn gather(runs: &[RunRecord]) -> Vec<SideGroup<'_>> {
    let mut groups: Vec<SideGroup> = Vec::new();
    for run in runs {
        let plans = RunWork::of(run);
        let mut seen = Vec::new();
        for cell in run.cells.iter().filter(|cell| is_comparable(cell)) {
            // Several records of one repetition, such as repeated phases, are no repetitions of
            // each other.
            let cell_id = (cell.key(), cell.repetition);
            let mut work = plans.planned_work(cell);
            work.record_index = seen.iter().filter(|it| **it == cell_id).count();
            seen.push(cell_id);
            add(&mut groups, work, Measurement::Cell(cell));
        }
        run.import
            .iter()
            .for_each(|import| add_imported(&mut groups, import));
    }
    groups
}

/// Returns the number of each group among the side's groups of the same description, from 1.
pub(crate) fn numbers(groups: &[SideGroup]) -> Vec<u32> {
    let number = |(index, group): (usize, &SideGroup)| {
        let before = groups[..index].iter();
        let same = before.filter(|it| it.planned.properties == group.planned.properties);
        u32::try_from(same.count() + 1).unwrap_or(u32::MAX)
    };
    groups.iter().enumerate().map(number).collect()
}

/// Returns `true` if the cell completed, at a load that other runs can repeat. Points of a
/// response-time curve and trials of a search are excluded, because their rates depend on the peak
/// of the same run.
fn is_comparable(cell: &CellRecord) -> bool {
    let is_point = cell.curve.is_some_and(CurvePart::depends_on_peak);
    cell.status == Status::Complete && !is_point
}

/// Adds the results of another program.
fn add_imported<'a>(groups: &mut Vec<SideGroup<'a>>, import: &'a ImportRecord) {
    let mut seen = Vec::new();
    for result in &import.results {
        let mut work = PlannedCellWork::imported(result);
        let id = (&result.name, &result.settings, result.repetition);
        work.record_index = seen.iter().filter(|it| **it == id).count();
        seen.push(id);
        add(groups, work, Measurement::Imported(result));
    }
}

fn add<'a>(groups: &mut Vec<SideGroup<'a>>, work: PlannedCellWork, cell: Measurement<'a>) {
    match groups.iter_mut().find(|group| group.planned == work) {
        Some(group) => group.cells.push(cell),
        None => groups.push(SideGroup {
            planned: work,
            cells: vec![cell],
        }),
    }
}

/// Matches the groups of two sides, the most similar first. Groups of the same description are
/// matched in order. A group that is only similar to several others stays unmatched.
pub(crate) fn matches(a: &[SideGroup], b: &[SideGroup]) -> Matches {
    let mut matches = Matches::default();
    let mut free_a: Vec<usize> = (0..a.len()).collect();
    let mut free_b: Vec<usize> = (0..b.len()).collect();
    // Strictest first, so that a group never loses its exact counterpart to a similar group.
    for (level, is_like) in SIMILARITY_LEVELS.iter().enumerate() {
        let pairs: Vec<(usize, usize)> = free_a
            .iter()
            .filter_map(|&i| {
                let same_b = free_b.iter().copied();
                let same_b: Vec<usize> = same_b
                    .filter(|&j| is_like(&a[i].planned, &b[j].planned))
                    .collect();
                // Each likeness compares equal properties, so the first group stands for all that
                // are alike.
                let like_a = |&&other: &&usize| {
                    same_b
                        .first()
                        .is_some_and(|&j| is_like(&a[other].planned, &b[j].planned))
                };
                let same_a: Vec<usize> = free_a.iter().filter(like_a).copied().collect();
                // Among several similar groups, any choice would be a guess.
                if level >= FIRST_SIMILAR && (same_a.len() > 1 || same_b.len() > 1) {
                    return None;
                }
                let position = same_a.iter().position(|it| *it == i)?;
                Some((i, *same_b.get(position)?))
            })
            .collect();
        free_a.retain(|i| pairs.iter().all(|pair| pair.0 != *i));
        free_b.retain(|j| pairs.iter().all(|pair| pair.1 != *j));
        match level {
            0 => matches.identical = pairs,
            1 => matches.different = pairs,
            _ => matches.similar.extend(pairs),
        }
    }
    matches
}
