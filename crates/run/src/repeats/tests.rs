//! Choice of the cells to repeat, from made-up records.

use serde_json::json;

use super::*;

const S: Duration = Duration::from_secs(1);

/// A plan of `cells` cells, three repetitions each.
fn plan(cells: usize, precision: f64, budget: Duration) -> Plan {
    let text = format!(
        "engine = \"null\"\nrepetitions = \"auto\"\nprecision = {}\nbudget = {}\n\
         iodepth = {:?}\n[[access_spec]]\nline = [{{ size = \"4k\" }}]\n",
        precision * 100.0,
        budget.as_secs(),
        (1..=cells).collect::<Vec<_>>()
    );
    let loaded = description::load("w.toml", &text).unwrap();
    let facts = plan::facts::SystemFacts::default();
    let planned = planning::plan(&loaded, &description::Overrides::new(), &facts);
    planned.unwrap().plan
}

fn record(cell: &plan::Cell, rate: f64) -> CellRecord {
    let value = json!({
        "index": cell.index, "workload": "w", "target": "null", "engine": "null",
        "cache": "direct", "iodepth": cell.iodepth, "workers": 1, "ranks": 1,
        "repetition": cell.repetition, "phase": "measure", "status": "complete",
        "run_time_ns": 1, "ramp_time_ns": 0, "operations": {},
        "total": { "count": rate as u64, "per_second": rate },
    });
    serde_json::from_value(value).unwrap()
}

/// Measures cells with the rates of `rate`, one second each, until the repeats end. Returns the
/// number of measurements per cell, by depth, and the conclusions.
fn run(mut plan: Plan, rate: impl Fn(u32, u32) -> f64) -> (Vec<u32>, Vec<ReachedPrecision>) {
    let mut repeats = Repeats::of(&plan).unwrap();
    let mut next = 0;
    let mut elapsed = Duration::ZERO;
    loop {
        for cell in &plan.cells[next..] {
            let measured = record(cell, rate(cell.iodepth, cell.repetition));
            elapsed += S;
            repeats.take(cell.index, 0, &[measured], S);
        }
        next = plan.cells.len();
        let Some(wanted) = repeats.next(elapsed) else {
            break;
        };
        let repetition = plan.cells.last().unwrap().repetition + 1;
        let added = plan.further_repetition(repetition, |index| wanted.contains(&index));
        repeats.add(added.iter().map(|(index, _)| *index));
        plan.cells.extend(added.into_iter().map(|(_, cell)| cell));
    }
    let depths = plan.first_repetition().map(|cell| cell.iodepth);
    let times = depths.map(|depth| {
        let own = plan.cells.iter().filter(|cell| cell.iodepth == depth);
        own.count() as u32
    });
    (times.collect(), repeats.conclusions(0))
}

fn verdicts(conclusions: &[ReachedPrecision]) -> Vec<PrecisionVerdict> {
    conclusions.iter().map(|it| it.verdict).collect()
}

/// Up and down by `share` around 1000.
fn noisy(share: f64, repetition: u32) -> f64 {
    let sign = if repetition.is_multiple_of(2) {
        1.0
    } else {
        -1.0
    };
    1000.0 * (1.0 + sign * share)
}

#[test]
fn immediate_precision_takes_three_repetitions() {
    let (times, conclusions) = run(plan(2, 0.02, 600 * S), |_, _| 1000.0);
    assert_eq!(times, [3, 3]);
    assert_eq!(
        verdicts(&conclusions),
        [PrecisionVerdict::PrecisionReached; 2]
    );
    assert!(conclusions.iter().all(|it| it.warning().is_none()));
}

#[test]
fn a_precise_cell_is_left_out_of_later_repetitions() {
    let rate = |depth, repetition| noisy(if depth == 2 { 0.03 } else { 0.0 }, repetition);
    let (times, conclusions) = run(plan(3, 0.02, 600 * S), rate);
    assert_eq!((times[0], times[2]), (3, 3));
    assert!(times[1] > 8, "{times:?}");
    assert_eq!(
        verdicts(&conclusions),
        [PrecisionVerdict::PrecisionReached; 3]
    );
}

#[test]
fn no_repetition_starts_that_does_not_fit_into_the_budget() {
    let (times, conclusions) = run(plan(2, 0.02, 11 * S), |_, r| noisy(0.1, r));
    assert_eq!(times, [5, 5]);
    assert_eq!(verdicts(&conclusions), [PrecisionVerdict::BudgetSpent; 2]);
    let warning = conclusions[0].warning().unwrap();
    assert_eq!(
        (warning.code.as_str(), warning.cell),
        ("precision-not-reached", Some(0))
    );
    assert!(
        warning
            .message
            .starts_with("after 5 repetitions the rate is known to ±13 %, not to ±2 %")
            && warning.message.ends_with("the budget of 11s is spent"),
        "{}",
        warning.message
    );
}

#[test]
fn a_budget_shorter_than_a_cell_still_gives_three_repetitions() {
    let (times, conclusions) = run(plan(1, 0.02, S), |_, r| noisy(0.1, r));
    assert_eq!(times, [3]);
    assert_eq!(verdicts(&conclusions), [PrecisionVerdict::BudgetSpent]);
}

#[test]
fn a_cell_that_never_succeeds_is_not_repeated() {
    let (times, conclusions) = run(plan(1, 0.02, 600 * S), |_, _| 0.0);
    assert_eq!(times, [3]);
    assert!(conclusions.is_empty());
}

#[test]
fn both_sides_must_be_precise() {
    let mut plan = plan(1, 0.02, 600 * S);
    let mut repeats = Repeats::of(&plan).unwrap();
    for cell in plan.cells.drain(..) {
        repeats.take(cell.index, 0, &[record(&cell, 1000.0)], S);
        let rate = noisy(0.05, cell.repetition);
        repeats.take(cell.index, 1, &[record(&cell, rate)], S);
    }
    assert_eq!(repeats.next(6 * S), Some(vec![0]));
    assert_eq!(
        verdicts(&repeats.conclusions(0)),
        [PrecisionVerdict::PrecisionReached]
    );
    assert_eq!(
        verdicts(&repeats.conclusions(1)),
        [PrecisionVerdict::Interrupted]
    );
}
