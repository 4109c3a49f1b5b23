//! Statistics of each cell's intervals.

use results::{CellRecord, DriftRecord, RunRecord, WithinRun};
use units::format;

use super::tables::{of_places, places};
use crate::numbers::{ABSENT, digits, percent};
use crate::table::{Column, Table};

/// Smaller p-values are shown as less than this.
const P_VALUE_MIN: f64 = 0.001;

/// Returns one row per cell with enough intervals; `None` without such cells.
pub fn table(record: &RunRecord) -> Option<Table> {
    let identity = places(record);
    let row = |cell: &CellRecord| {
        let within = cell.within.as_ref()?;
        Some([identity(cell).as_slice(), &row(within)].concat())
    };
    let columns = [
        Column::number("intervals", 9),
        Column::number("worth", 8),
        Column::number("per s", 12),
        Column::number("± %", 30),
        Column::number("stddev %", 11),
        Column::number("warm-up s", 15),
        Column::number("per s without", 7),
        Column::number("drift %", 20),
        Column::number("drift p", 10),
    ];
    of_places(columns, record.cells.iter().filter_map(row).collect())
}

fn row(within: &WithinRun) -> [String; 9] {
    let absent = || ABSENT.to_owned();
    let can_show_warm_up = within.effective.is_some();
    // Too few intervals cannot show a warm-up, which is not the same as no warm-up.
    let none = || if can_show_warm_up { "none" } else { ABSENT }.to_owned();
    let warm_up = within.warm_up.as_ref();
    let drift = within.drift.as_ref();
    [
        within.intervals.to_string(),
        within
            .effective
            .map_or_else(absent, |it| format!("{it:.0}")),
        format::iops(within.mean),
        within.precision().map_or_else(absent, percent_two_decimals),
        percent(within.stddev / within.mean),
        warm_up.map_or_else(none, |it| digits(it.length_ns as f64 / 1e9)),
        warm_up.map_or_else(none, |it| format::iops(it.settled_mean)),
        drift.map_or_else(absent, drift_percent),
        drift.map_or_else(absent, |it| p_value(it.p_value)),
    ]
}

/// Formats the change from start to end, in percent of the start, at least -100.
fn drift_percent(drift: &DriftRecord) -> String {
    let share = drift.change_from_start();
    share.map_or_else(
        || ABSENT.to_owned(),
        |share| format!("{:+.1}", share * 100.0),
    )
}

fn percent_two_decimals(share: f64) -> String {
    format!("{:.2}", share * 100.0)
}

fn p_value(value: f64) -> String {
    if value < P_VALUE_MIN {
        format!("<{P_VALUE_MIN}")
    } else {
        format!("{value:.3}")
    }
}

/// Describes the intervals of one cell, in a sentence without a final period.
pub fn sentence(within: &WithinRun) -> String {
    let mut parts = vec![match (within.effective, within.precision()) {
        (Some(effective), Some(precision)) => format!(
            "{} intervals, worth {effective:.0} independent ones: {} per second ± {} % with 95 % \
             confidence",
            within.intervals,
            format::iops(within.mean),
            percent_two_decimals(precision)
        ),
        _ => format!(
            "{} intervals: {} per second",
            within.intervals,
            format::iops(within.mean)
        ),
    }];
    if let Some(warm_up) = &within.warm_up {
        parts.push(format!(
            "the first {} s were warm-up, {} per second without them",
            digits(warm_up.length_ns as f64 / 1e9),
            format::iops(warm_up.settled_mean)
        ));
    } else if within.effective.is_some() {
        parts.push("no warm-up detected".to_owned());
    }
    if let Some(drift) = &within.drift {
        let verdict = if drift.is_beyond {
            "not steady"
        } else {
            "drift"
        };
        parts.push(format!(
            "{verdict}: {} % from start to end (p {})",
            drift_percent(drift),
            p_value(drift.p_value)
        ));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use results::WarmUpRecord;

    use super::*;

    fn within() -> WithinRun {
        WithinRun {
            intervals: 30,
            mean: 1000.0,
            stddev: 20.0,
            effective: Some(21.6),
            ci95_low: Some(991.0),
            ci95_high: Some(1009.0),
            warm_up: None,
            drift: Some(DriftRecord {
                change: -0.012,
                change_per_second: -0.0004,
                p_value: 0.4,
                is_beyond: false,
            }),
        }
    }

    #[test]
    fn a_steady_cell_is_described_in_a_sentence() {
        let wanted = "30 intervals, worth 22 independent ones: 1.000k per second ± 0.90 % with \
                      95 % confidence; no warm-up detected; drift: -1.2 % from start to end \
                      (p 0.400)";
        assert_eq!(sentence(&within()), wanted);
    }

    #[test]
    fn a_warm_up_and_a_drift_are_described() {
        let mut within = within();
        within.warm_up = Some(WarmUpRecord {
            length_ns: 4_000_000_000,
            settled_mean: 1100.0,
            p_value: 0.001,
        });
        within.drift = within.drift.map(|it| DriftRecord {
            change: 0.3,
            p_value: 1e-9,
            is_beyond: true,
            ..it
        });
        let text = sentence(&within);
        assert!(text.contains("the first 4.000 s were warm-up, 1.100k per second without them"));
        assert!(
            text.ends_with("not steady: +35.3 % from start to end (p <0.001)"),
            "{text}"
        );
        let row = row(&within);
        assert_eq!(
            row,
            [
                "30", "22", "1.000k", "0.90", "2.0", "4.000", "1.100k", "+35.3", "<0.001"
            ]
        );
    }

    #[test]
    fn figures_that_few_intervals_cannot_give_are_left_out() {
        let within = WithinRun {
            intervals: 12,
            effective: None,
            ci95_low: None,
            ci95_high: None,
            drift: None,
            ..within()
        };
        assert_eq!(sentence(&within), "12 intervals: 1.000k per second");
        assert_eq!(
            row(&within),
            ["12", "-", "1.000k", "-", "2.0", "-", "-", "-", "-"]
        );
    }
}
