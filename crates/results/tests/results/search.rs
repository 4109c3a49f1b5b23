//! The search for the highest rate, over several phases.

use plan::{ArrivalKind, CurvePart, OpenLoop};
use results::{CellRecord, CounterNames, DueFigures, OpenLoopFigures, Phase, RateSearch, Status};
use stats::{Histogram, Interval};

use crate::sample;

/// A phase of the cell at `index`, which answers in `response_ns` at its rate.
fn phase(index: u32, name: &str, (per_second, response_ns): (f64, u64)) -> CellRecord {
    let mut record = sample::cell_record(&sample::plan(), 1, 5_000);
    (record.index, record.first_index) = (index, Some(0));
    record.phase = Phase::Classic(name.to_owned());
    let limit = "p99<=2ms".parse().expect("a limit");
    let arrivals = ArrivalKind::Uniform;
    if index == 0 {
        record.curve = Some(CurvePart::Peak);
        record.total.per_second = per_second;
        return record;
    }
    record.curve = Some(CurvePart::Trial {
        number: index,
        limit,
        arrivals,
    });
    let mut responses = Histogram::new();
    responses.record(response_ns);
    let due = DueFigures {
        responses,
        ..DueFigures::default()
    };
    let requested = OpenLoop {
        per_second,
        arrivals,
    };
    let names = CounterNames {
        operations: &[],
        transactions: &[],
    };
    let interval = Interval::default();
    record.open_loop = Some(OpenLoopFigures {
        achieved_per_second: per_second,
        ..OpenLoopFigures::of(requested, &interval, record.run_time_ns, names, &due)
    });
    record
}

#[test]
fn a_trial_incomplete_in_one_phase_does_not_drop_the_others() {
    let mut cells = vec![
        phase(0, "create", (1000.0, 0)),
        phase(0, "remove", (2000.0, 0)),
    ];
    let trials = [(500.0, 100_000, 9_000_000), (250.0, 110_000, 120_000)];
    for (index, (rate, create_ns, remove_ns)) in (1..).zip(trials) {
        cells.push(phase(index, "create", (rate, create_ns)));
        cells.push(phase(index, "remove", (rate, remove_ns)));
    }
    let search = |cells: &[CellRecord]| {
        let limit = "p99<=2ms".parse().expect("a limit");
        let search = RateSearch::of_all_phases(Some(0), limit, cells).unwrap();
        assert_eq!(search.peak_per_second, 1000.0);
        let trials = search.trials.iter();
        trials
            .map(|it| (it.per_second, it.holds))
            .collect::<Vec<_>>()
    };
    assert_eq!(search(&cells), [(500.0, false), (250.0, true)]);
    // The first trial of one phase or the other.
    for place in [2, 3] {
        let mut cells = cells.clone();
        cells[place].status = Status::Failed;
        assert_eq!(search(&cells), [(250.0, true)], "{place}");
    }
}
