//! Rates that are known only during the run. A response-time curve gets its rates after its peak is
//! measured, and a search gets the next rate after its earlier trials.

use std::borrow::Cow;

use plan::{ArrivalKind, Cell, CurvePart, OpenLoop, RATE_MAX, RATE_MIN, ResponseLimit};
use results::{CellRecord, RateSearch, Warning, WarningCode};

use crate::session::Session;

impl Session<'_> {
    /// The cell with the rate of its point on a curve or of its trial; the cell itself for other
    /// cells. `None` if a search needs no more trials. `None` with a warning if the rate is out of
    /// range, for example because there is no peak.
    pub fn resolve_rate<'c>(&mut self, cell: &'c Cell) -> Option<Cow<'c, Cell>> {
        let (percent, arrivals) = match cell.curve {
            None | Some(CurvePart::Peak) => return Some(Cow::Borrowed(cell)),
            Some(CurvePart::Point { percent, arrivals }) => (percent, arrivals),
            Some(CurvePart::Trial {
                limit, arrivals, ..
            }) => {
                let per_second = next_rate(cell, limit, &self.record.cells)?;
                return Some(Cow::Owned(at(cell, per_second, arrivals)));
            }
        };
        // Without a peak, the rate is 0, which is out of range.
        let peak = peak_of(cell, &self.record.cells).unwrap_or(0.0);
        let per_second = short(peak * f64::from(percent) / 100.0);
        if (RATE_MIN..=RATE_MAX).contains(&per_second) {
            return Some(Cow::Owned(at(cell, per_second, arrivals)));
        }
        let message = format!(
            "{percent} % of the peak of {peak:.1} per second is not from {RATE_MIN} to {RATE_MAX} \
             per second, so this point was left out"
        );
        let code = WarningCode::NothingMeasured;
        self.warn(Warning::of_cell(code, cell.index, message));
        None
    }
}

fn at(cell: &Cell, per_second: f64, arrivals: ArrivalKind) -> Cell {
    let rate = Some(OpenLoop {
        per_second,
        arrivals,
    });
    Cell {
        rate,
        ..cell.clone()
    }
}

/// Rate of a trial: the next rate of the search in the first repetition, and later the rate of the
/// same trial in the first one. `None` if the limit is known.
fn next_rate(cell: &Cell, limit: ResponseLimit, records: &[CellRecord]) -> Option<f64> {
    if cell.repetition == 0 {
        return RateSearch::of_all_phases(cell.first_index, limit, records)?.next();
    }
    let is_same = |it: &&CellRecord| it.first_index == cell.first_index && it.curve == cell.curve;
    let before = records.iter().find(is_same)?;
    before.open_loop.as_ref().map(|it| it.asked_per_second)
}

/// Rounds the rate to whole numbers from 100 on, and to three decimals below.
fn short(per_second: f64) -> f64 {
    match per_second >= 100.0 {
        true => per_second.round(),
        false => (per_second * 1000.0).round() / 1000.0,
    }
}

/// Rate of the peak of a point's curve. It is the first repetition's peak, so that all repetitions
/// have the same rates, and the slowest phase's, so that all phases can reach them.
fn peak_of(cell: &Cell, records: &[CellRecord]) -> Option<f64> {
    let is_peak =
        |it: &&CellRecord| it.curve == Some(CurvePart::Peak) && it.first_index == cell.first_index;
    let first = records.iter().find(is_peak)?.repetition;
    let peaks = records.iter().filter(is_peak);
    let rates = peaks.filter(|it| it.repetition == first);
    rates.map(|it| it.total.per_second).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use plan::{ArrivalKind, Plan};

    use super::*;
    use crate::tests::cell;

    #[test]
    fn a_point_comes_from_the_peak_of_its_own_workload() {
        let at = |index: u32, first_index, curve| Cell {
            index,
            first_index: Some(first_index),
            curve: Some(curve),
            ..cell(4, Vec::new())
        };
        let point = |index, first_index| {
            let arrivals = ArrivalKind::Poisson;
            at(
                index,
                first_index,
                CurvePart::Point {
                    percent: 10,
                    arrivals,
                },
            )
        };
        let names = results::CounterNames {
            operations: &[],
            transactions: &[],
        };
        let record = |cell: &Cell, per_second| {
            let (plan, interval) = (Plan::default(), stats::Interval::default());
            let mut record = CellRecord::of(cell, &plan, &interval, 1, names);
            record.total.per_second = per_second;
            record
        };
        // Both are called `test` and differ in nothing that a record tells.
        let peaks = [at(0, 0, CurvePart::Peak), at(2, 2, CurvePart::Peak)];
        let records = [record(&peaks[0], 1e6), record(&peaks[1], 1e3)];
        let peak = |point: &Cell| peak_of(point, &records);
        assert_eq!(peak(&point(1, 0)), Some(1e6));
        assert_eq!(peak(&point(3, 2)), Some(1e3));
    }

    #[test]
    fn rates_are_rounded_to_significant_digits() {
        for (rate, wanted) in [
            (86_173.820_8, 86_174.0),
            (100.4, 100.0),
            (12.345_67, 12.346),
            (0.0, 0.0),
        ] {
            assert_eq!(short(rate), wanted);
        }
        assert!(short(f64::NAN).is_nan());
    }
}
