//! Cells gathered by what was asked of them, and the groups of two sides brought together.

use plan::CurvePart;
use results::{CellRecord, RunRecord, Status};

use crate::asked::{AKIN, Asked, LIKENESSES, Plans};

/// All complete cells of a side of which the same was asked.
#[derive(Debug)]
pub(crate) struct Group<'a> {
    pub asked: Asked,
    /// In the order of running.
    pub cells: Vec<&'a CellRecord>,
}

/// Groups of both sides, by their places in the sides' lists.
#[derive(Debug, Default)]
pub(crate) struct Matches {
    /// The very same was asked of both.
    pub alike: Vec<(usize, usize)>,
    /// The same question, yet other work behind it.
    pub unlike: Vec<(usize, usize)>,
    /// The nearest thing that the other side has.
    pub akin: Vec<(usize, usize)>,
}

/// Gathers the comparable cells of all runs of a side.
pub(crate) fn gather(runs: &[RunRecord]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    for run in runs {
        let plans = Plans::of(run);
        let mut seen = Vec::new();
        for cell in run.cells.iter().filter(|cell| is_comparable(cell)) {
            let place = (cell.key(), cell.repetition);
            let mut asked = plans.asked(cell);
            asked.record = seen.iter().filter(|it| **it == place).count();
            seen.push(place);
            add(&mut groups, asked, cell);
        }
    }
    groups
}

/// Which of the side's groups of the same question each is, from 1.
pub(crate) fn numbers(groups: &[Group]) -> Vec<u32> {
    let number = |(place, group): (usize, &Group)| {
        let before = groups[..place].iter();
        let same = before.filter(|it| it.asked.question == group.asked.question);
        u32::try_from(same.count() + 1).unwrap_or(u32::MAX)
    };
    groups.iter().enumerate().map(number).collect()
}

/// Whether the cell was measured to its end, and at a load that another run may have had: points
/// of a response-time curve and trials of a search are at rates that follow from their own run's
/// peak.
fn is_comparable(cell: &CellRecord) -> bool {
    let is_point = cell.curve.is_some_and(CurvePart::follows_a_peak);
    cell.status == Status::Complete && !is_point
}

fn add<'a>(groups: &mut Vec<Group<'a>>, asked: Asked, cell: &'a CellRecord) {
    match groups.iter_mut().find(|group| group.asked == asked) {
        Some(group) => group.cells.push(cell),
        None => groups.push(Group {
            asked,
            cells: vec![cell],
        }),
    }
}

/// Brings the groups of two sides together, the likest first. Several of one question are taken in
/// their order; what only resembles several stays alone.
pub(crate) fn matches(a: &[Group], b: &[Group]) -> Matches {
    let mut matches = Matches::default();
    let mut free_a: Vec<usize> = (0..a.len()).collect();
    let mut free_b: Vec<usize> = (0..b.len()).collect();
    for (level, is_like) in LIKENESSES.iter().enumerate() {
        let pairs: Vec<(usize, usize)> = free_a
            .iter()
            .filter_map(|&i| {
                let same_b = free_b.iter().copied();
                let same_b: Vec<usize> = same_b
                    .filter(|&j| is_like(&a[i].asked, &b[j].asked))
                    .collect();
                let like_a = |&&other: &&usize| {
                    same_b
                        .first()
                        .is_some_and(|&j| is_like(&a[other].asked, &b[j].asked))
                };
                let same_a: Vec<usize> = free_a.iter().filter(like_a).copied().collect();
                if level >= AKIN && (same_a.len() > 1 || same_b.len() > 1) {
                    return None;
                }
                let place = same_a.iter().position(|it| *it == i)?;
                Some((i, *same_b.get(place)?))
            })
            .collect();
        free_a.retain(|i| pairs.iter().all(|pair| pair.0 != *i));
        free_b.retain(|j| pairs.iter().all(|pair| pair.1 != *j));
        match level {
            0 => matches.alike = pairs,
            1 => matches.unlike = pairs,
            _ => matches.akin.extend(pairs),
        }
    }
    matches
}
