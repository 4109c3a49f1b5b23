//! Cells gathered by what was asked of them, and the groups of two sides brought together.

use results::{CellRecord, RunRecord, Status};
use workload::plan::CurvePart;

use crate::asked::{Asked, LIKENESSES};

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
        let mut seen: Vec<(u32, Asked)> = Vec::new();
        for cell in run.cells.iter().filter(|cell| is_comparable(cell)) {
            let mut asked = Asked::of(cell, run);
            let is_like = |(repetition, other): &&(u32, Asked)| {
                *repetition == cell.repetition && *other == asked
            };
            let occurrence = seen.iter().filter(is_like).count();
            seen.push((cell.repetition, asked.clone()));
            asked.question.occurrence = occurrence;
            add(&mut groups, asked, cell);
        }
    }
    groups
}

/// Whether the cell was measured to its end, and at a load that another run may have had: points
/// of a response-time curve are at shares of their own run's peak.
fn is_comparable(cell: &CellRecord) -> bool {
    let is_point = matches!(cell.curve, Some(CurvePart::Point { .. }));
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

/// Brings the groups of two sides together, the likest first; a group that has several equally
/// near ones stays alone.
pub(crate) fn matches(a: &[Group], b: &[Group]) -> Matches {
    let mut matches = Matches::default();
    let mut free_a: Vec<usize> = (0..a.len()).collect();
    let mut free_b: Vec<usize> = (0..b.len()).collect();
    for (level, is_like) in LIKENESSES.iter().enumerate() {
        let pairs: Vec<(usize, usize)> = free_a
            .iter()
            .filter_map(|&i| {
                let j = only(&free_b, |j| is_like(&a[i].asked, &b[j].asked))?;
                only(&free_a, |i| is_like(&a[i].asked, &b[j].asked))?;
                Some((i, j))
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

/// The only place that fits; `None` when none or several do.
fn only(places: &[usize], fits: impl Fn(usize) -> bool) -> Option<usize> {
    let mut fitting = places.iter().copied().filter(|place| fits(*place));
    fitting.next().filter(|_| fitting.next().is_none())
}
