//! Rounds of cells that were measured until steady.

use results::{CellRecord, RunRecord, SteadyRecord};
use units::format;

use super::tables::{of_places, places};
use crate::names::verdict_name;
use crate::numbers::{ABSENT, percent};
use crate::table::{Column, Table};

/// Returns one row per cell with rounds; `None` without such cells.
pub fn table(record: &RunRecord) -> Option<Table> {
    let identity = places(record);
    let row = |cell: &CellRecord| {
        let steady = cell.steady.as_ref()?;
        Some([identity(cell).as_slice(), &row(steady)].concat())
    };
    let columns = [
        Column::name("verdict"),
        Column::number("rounds", 12),
        Column::number("window", 11),
        Column::number("mean per s", 9),
        Column::number("range %", 15),
        Column::number("at most", 4),
        Column::number("line %", 14),
        Column::number("at most", 3),
        Column::number("% a round", 10),
    ];
    of_places(columns, record.cells.iter().filter_map(row).collect())
}

fn row(steady: &SteadyRecord) -> [String; 9] {
    let absent = || ABSENT.to_owned();
    let shares = steady.shares();
    let window = steady.window.as_ref();
    [
        verdict_name(steady.verdict).to_owned(),
        steady.rounds.len().to_string(),
        window.map_or_else(absent, |it| {
            let first = it.first_round_index.saturating_add(1);
            let last = it.first_round_index.saturating_add(it.values.len());
            format!("{first}-{last}")
        }),
        window.map_or_else(absent, |it| format::iops(it.average)),
        shares.map_or_else(absent, |it| percent(it.0)),
        percent(steady.rule.range_max),
        shares.map_or_else(absent, |it| percent(it.1)),
        percent(steady.rule.excursion_max),
        window.map_or_else(absent, |it| {
            format!("{:+.2}", it.slope_per_round / it.average * 100.0)
        }),
    ]
}

/// Describes the rounds of one cell, in a sentence without a final period.
pub fn sentence(steady: &SteadyRecord) -> String {
    let count = steady.rounds.len();
    let rounds = if count == 1 { "round" } else { "rounds" };
    let head = format!("{} after {count} {rounds}", verdict_name(steady.verdict));
    let (Some((range, line)), Some(window)) = (steady.shares(), &steady.window) else {
        return head;
    };
    format!(
        "{head}; the last {} of them, {} per second in the mean, lie {} % apart ({} % is allowed) \
         and the line fitted through them changes by {} % ({} % is allowed), {:+.2} % a round",
        window.values.len(),
        format::iops(window.average),
        percent(range),
        percent(steady.rule.range_max),
        percent(line),
        percent(steady.rule.excursion_max),
        window.slope_per_round / window.average * 100.0
    )
}

#[cfg(test)]
mod tests {
    use results::{RoundRecord, SteadyRule};

    use super::*;

    pub fn steady(rates: &[f64]) -> SteadyRecord {
        let mut state = stats::SteadyState::new(SteadyRule::default());
        rates.iter().for_each(|rate| {
            state.push(*rate);
        });
        let round = |per_second: &f64| RoundRecord {
            per_second: *per_second,
            ..RoundRecord::default()
        };
        SteadyRecord {
            rule: *state.rule(),
            verdict: state.verdict(),
            rounds: rates.iter().map(round).collect(),
            window: state.window(),
        }
    }

    #[test]
    fn a_steady_window_is_described_with_both_limits() {
        let steady = steady(&[2000.0, 950.0, 975.0, 1000.0, 1025.0, 1050.0]);
        let wanted = [
            "steady", "6", "2-6", "1.000k", "10.0", "20.0", "10.0", "10.0", "+2.50",
        ];
        assert_eq!(row(&steady), wanted);
        let wanted = "steady after 6 rounds; the last 5 of them, 1.000k per second in the mean, \
                      lie 10.0 % apart (20.0 % is allowed) and the line fitted through them \
                      changes by 10.0 % (10.0 % is allowed), +2.50 % a round";
        assert_eq!(sentence(&steady), wanted);
    }

    #[test]
    fn rounds_that_fill_no_window_have_no_figures() {
        let steady = steady(&[2000.0]);
        let wanted = ["not yet", "1", "-", "-", "-", "20.0", "-", "10.0", "-"];
        assert_eq!(row(&steady), wanted);
        assert_eq!(sentence(&steady), "not yet after 1 round");
    }
}
