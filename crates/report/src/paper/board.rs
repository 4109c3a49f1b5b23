//! Ranks this machine among the published systems.

use results::{BetterDirection, Claim, Warning, WarningCode};
use stats::Estimate;
use units::format;

use super::catalog::KnownSystem;
use super::comparison::{full_size, measured_size};
use super::figure::{PaperFigure, groups};
use super::{PaperSide, PaperTable, complete_cells};
use crate::numbers::digits;

/// A metric of all systems, the best first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ranking {
    /// Table of the publication.
    pub heading: String,
    /// Name of the metric, with its unit.
    pub figure: String,
    pub better: BetterDirection,
    pub entries: Vec<RankingEntry>,
}

/// A system in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RankingEntry {
    pub name: String,
    /// Year of publication; empty if unknown.
    pub year: String,
    pub value: f64,
    pub text: String,
    /// Ends of the 95 % confidence interval, if the run was repeated.
    pub bounds: Option<[f64; 2]>,
    /// Index of the side that was measured here; `None` for a published system.
    pub side: Option<usize>,
}

/// Rank of one side.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RankingPosition<'a> {
    rank: usize,
    count: usize,
    ahead: Option<&'a RankingEntry>,
    behind: Option<&'a RankingEntry>,
}

/// Returns a ranking for each metric that ranks systems; empty if nothing was published.
pub(super) fn boards(table: &PaperTable) -> Vec<Ranking> {
    let systems = table.paper.systems();
    let groups = groups(table.paper);
    let rankings = groups.iter().flat_map(|group| {
        let ranked = group.figures.iter();
        ranked.filter_map(|figure| board(&group.heading, figure, &table.sides, &systems))
    });
    rankings.collect()
}

fn board(
    heading: &str,
    figure: &PaperFigure,
    sides: &[PaperSide],
    systems: &[KnownSystem],
) -> Option<Ranking> {
    let better = figure.ranks?;
    let year = |system: &str| {
        let found = systems.iter().find(|it| it.system == system);
        found.map_or_else(String::new, |it| it.year.clone())
    };
    let published = figure.published.iter().filter_map(|value| {
        Some(RankingEntry {
            name: value.system.clone(),
            year: year(&value.system),
            value: value.text.parse().ok()?,
            text: value.text.clone(),
            bounds: None,
            side: None,
        })
    });
    let measured = sides.iter().enumerate().filter_map(|(index, side)| {
        let cells = complete_cells(side.records);
        let values: Vec<f64> = cells.filter_map(|cell| figure.measured(cell)).collect();
        let estimate = Estimate::from_samples(&values)?;
        Some(RankingEntry {
            name: side.name.clone(),
            year: String::new(),
            value: estimate.mean,
            text: digits(estimate.mean),
            bounds: estimate
                .ci95_low
                .zip(estimate.ci95_high)
                .map(<[f64; 2]>::from),
            side: Some(index),
        })
    });
    let mut entries: Vec<RankingEntry> = published.chain(measured).collect();
    entries.sort_by(|a, b| match better {
        BetterDirection::Lower => a.value.total_cmp(&b.value),
        _ => b.value.total_cmp(&a.value),
    });
    Some(Ranking {
        heading: heading.to_owned(),
        figure: figure.label.clone(),
        better,
        entries,
    })
}

impl Ranking {
    /// Returns the rank of a side among the published systems; `None` if it was not measured.
    fn standing(&self, side: usize) -> Option<RankingPosition<'_>> {
        let own = self.entries.iter().find(|it| it.side == Some(side))?;
        let published: Vec<&RankingEntry> =
            self.entries.iter().filter(|it| it.side.is_none()).collect();
        let is_ahead = |other: &&&RankingEntry| match self.better {
            BetterDirection::Lower => other.value < own.value,
            _ => other.value > own.value,
        };
        let ahead_count = published.iter().filter(is_ahead).count();
        Some(RankingPosition {
            rank: ahead_count + 1,
            count: published.len() + 1,
            // `entries` are sorted, so the systems ahead are the first ones.
            ahead: ahead_count.checked_sub(1).map(|index| published[index]),
            behind: published.get(ahead_count).copied(),
        })
    }
}

/// Describes the rank of each side, in one sentence each.
pub(super) fn standings(table: &PaperTable, boards: &[Ranking]) -> Vec<String> {
    let sides = table.sides.iter().enumerate();
    let sentences = sides.filter_map(|(index, side)| {
        let would_be = match is_incomparable(table, side) {
            true => "would be ",
            false => "",
        };
        ranking_sentence(&side.name, index, boards, would_be)
    });
    sentences.collect()
}

/// Returns `true` if a side is not comparable with the published systems.
pub(super) fn is_incomparable(table: &PaperTable, side: &PaperSide) -> bool {
    !reasons(table, side).is_empty()
}

fn ranking_sentence(name: &str, side: usize, boards: &[Ranking], would_be: &str) -> Option<String> {
    let standings: Vec<(&Ranking, RankingPosition)> = boards
        .iter()
        .filter_map(|board| Some((board, board.standing(side)?)))
        .collect();
    if let [(board, standing)] = standings.as_slice() {
        let own = board.entries.iter().find(|it| it.side == Some(side))?;
        let position = format!("{} of {}", format::ordinal(standing.rank), standing.count);
        let (figure, shown) = (&board.figure, &own.text);
        return Some(format!(
            "{name}: {would_be}{position} by {figure} ({shown}), {}.",
            between(standing)
        ));
    }
    let mut counts: Vec<(usize, usize, usize)> = Vec::new();
    for (_, standing) in &standings {
        let same =
            |it: &&mut (usize, usize, usize)| (it.0, it.1) == (standing.rank, standing.count);
        match counts.iter_mut().find(same) {
            Some(known) => known.2 += 1,
            None => counts.push((standing.rank, standing.count, 1)),
        }
    }
    counts.sort_unstable();
    let all = standings.len();
    let parts: Vec<String> = counts
        .iter()
        .map(|(rank, of, count)| format!("{} of {of} in {count}", format::ordinal(*rank)))
        .collect();
    match counts.as_slice() {
        [] => None,
        [(rank, of, _)] => Some(format!(
            "{name}: {would_be}{} of {of} in all {all} figures.",
            format::ordinal(*rank)
        )),
        _ => {
            let parts = parts.join(", ");
            Some(format!("{name}: {would_be}{parts} of {all} figures."))
        }
    }
}

fn between(standing: &RankingPosition) -> String {
    match (standing.ahead, standing.behind) {
        (Some(ahead), Some(behind)) => format!(
            "between {} and {}",
            name_with_year(ahead),
            name_with_year(behind)
        ),
        (None, Some(behind)) => format!("ahead of {}", name_with_year(behind)),
        (Some(ahead), None) => format!("behind {}", name_with_year(ahead)),
        (None, None) => "alone".to_owned(),
    }
}

fn name_with_year(entry: &RankingEntry) -> String {
    match entry.year.as_str() {
        "" => entry.name.clone(),
        year => format!("{} ({year})", entry.name),
    }
}

/// Explains why sides are not comparable with the published systems, in one sentence each.
pub(super) fn doubts(table: &PaperTable) -> Vec<String> {
    let has_published = table.paper.published.is_some();
    let sides = table.sides.iter().filter(|_| has_published);
    let doubt = |side: &PaperSide| {
        let why = reasons(table, side);
        (!why.is_empty()).then(|| {
            format!(
                "{}: this run is not comparable with the published results: {}.",
                side.name,
                why.join("; ")
            )
        })
    };
    sides.filter_map(doubt).collect()
}

fn reasons(table: &PaperTable, side: &PaperSide) -> Vec<String> {
    let mut reasons = Vec::new();
    // All repetitions of a side have the same reasons.
    let mut add = |reason: String| {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    };
    if table.is_of_guests {
        add("it ran in a guest".to_owned());
    }
    let full = full_size(table.paper);
    for record in side.records {
        let mut warnings = record.warnings.iter();
        // All notes of a lab have the same code, so the scale is recognized by its text.
        let is_scale =
            |it: &&Warning| it.code == WarningCode::Lab && it.message.starts_with("scale ");
        let scale = warnings.find(is_scale);
        let measured = record
            .cells
            .iter()
            .find_map(|it| measured_size(table.paper, record, it));
        // The scale already explains another size, so only one of the two is a reason.
        match (scale, measured) {
            (Some(scale), _) => add(format!("it ran at {}", scale.message)),
            (None, Some(size)) if Some(&size) != full.as_ref() => {
                add(format!("its work had another size, {size}"));
            }
            _ => {}
        }
        if record.environment.stacks.iter().any(|it| it.in_memory) {
            add("it is in this machine's memory".to_owned());
        }
        let is_cached = |it: &Warning| it.contradicts(Claim::BypassedCache);
        if record.warnings.iter().any(is_cached) {
            add("the page cache could hold its data".to_owned());
        }
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, value: f64, side: Option<usize>) -> RankingEntry {
        RankingEntry {
            name: name.to_owned(),
            year: if side.is_some() { "" } else { "1999" }.to_owned(),
            value,
            text: digits(value),
            bounds: None,
            side,
        }
    }

    fn board(better: BetterDirection, entries: &[(&str, f64, Option<usize>)]) -> Ranking {
        let entries = entries.iter();
        Ranking {
            heading: "Table 1".to_owned(),
            figure: "transactions/s".to_owned(),
            better,
            entries: entries.map(|it| entry(it.0, it.1, it.2)).collect(),
        }
    }

    #[test]
    fn a_side_is_placed_between_its_faster_and_slower_neighbors() {
        let sides = [
            ("A", 9.0, None),
            ("other", 8.0, Some(1)),
            ("B", 7.0, None),
            ("here", 6.0, Some(0)),
            ("C", 5.0, None),
        ];
        let board = board(BetterDirection::Higher, &sides);
        let boards = [board];
        assert_eq!(
            ranking_sentence("here", 0, &boards, "").unwrap(),
            "here: 3rd of 4 by transactions/s (6.000), between B (1999) and C (1999)."
        );
        // Sides do not rank each other.
        assert!(
            ranking_sentence("other", 1, &boards, "would be ")
                .unwrap()
                .contains("would be 2nd of 4")
        );
        assert_eq!(ranking_sentence("gone", 2, &boards, ""), None);
    }

    #[test]
    fn the_first_and_the_last_have_one_neighbor() {
        let first = [("here", 1.0, Some(0)), ("A", 2.0, None)];
        let text =
            ranking_sentence("here", 0, &[board(BetterDirection::Lower, &first)], "").unwrap();
        assert!(
            text.ends_with("1st of 2 by transactions/s (1.000), ahead of A (1999)."),
            "{text}"
        );
        let last = [("A", 2.0, None), ("here", 1.0, Some(0))];
        let text =
            ranking_sentence("here", 0, &[board(BetterDirection::Higher, &last)], "").unwrap();
        assert!(
            text.ends_with("2nd of 2 by transactions/s (1.000), behind A (1999)."),
            "{text}"
        );
    }

    #[test]
    fn the_ranks_of_several_figures_are_counted() {
        let first = [("here", 3.0, Some(0)), ("A", 2.0, None)];
        let second = [("A", 2.0, None), ("here", 1.0, Some(0))];
        let boards = [&first, &second, &first].map(|it| board(BetterDirection::Higher, it));
        assert_eq!(
            ranking_sentence("here", 0, &boards, "").unwrap(),
            "here: 1st of 2 in 2, 2nd of 2 in 1 of 3 figures."
        );
        let text = ranking_sentence("here", 0, &[boards[0].clone(), boards[2].clone()], "");
        assert_eq!(text.unwrap(), "here: 1st of 2 in all 2 figures.");
    }
}
