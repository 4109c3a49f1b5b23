//! Rules about completeness, counts and rates.

use results::{
    CellRecord, Claim, OperationFigures, RunRecord, Status, WarningCode, estimates, per_second,
};

use super::rule::FindingList;
use super::{BoardRule, is_close, place};
use crate::DeclaredFacts;

/// Rates are computed from counts in one division, so only the last digits may differ.
const RATE_TOLERANCE: f64 = 1e-9;

/// Difference between two measurements of the same phase, by a program and by the loop around it.
const TIME_TOLERANCE: f64 = 0.01;

/// Steps that are their whole phase.
const TIMED_STEPS: [&str; 3] = ["create", "stat", "remove"];

/// Operations that move bytes, which the headline counts.
const DATA_OPERATIONS: [&str; 4] = ["read", "write", "send", "receive"];

/// Checks that a record is complete and that its counts give its rates.
pub(super) fn check(record: &RunRecord, declared: &DeclaredFacts, found: &mut FindingList) {
    complete(record, found);
    for cell in &record.cells {
        rates(cell, found);
        parts(cell, found);
        program_times(cell, found);
        fixed_sizes(cell, record, found);
        failures(cell, declared, found);
    }
    estimated(record, found);
}

fn complete(record: &RunRecord, found: &mut FindingList) {
    let mut expect = |is_true: bool, what: &str, expected: &str, actual: String| {
        if !is_true {
            found.add(BoardRule::Complete, what, expected.to_owned(), actual);
        }
    };
    let status = record.status;
    expect(
        status == Status::Complete,
        "run",
        "complete",
        format!("{status:?}").to_lowercase(),
    );
    expect(
        record.finished_at.is_some(),
        "run",
        "an end time",
        "none".to_owned(),
    );
    expect(
        !record.cells.is_empty(),
        "run",
        "at least one cell",
        "none".to_owned(),
    );
    for cell in &record.cells {
        let actual = format!("{:?}", cell.status).to_lowercase();
        expect(
            cell.status == Status::Complete,
            &place(cell),
            "complete",
            actual,
        );
    }
    // Failed operations and wrong data have separate rules, with their counts.
    let own = [WarningCode::IoErrors, WarningCode::VerifyMismatch];
    for warning in &record.warnings {
        let is_contradicted = warning.contradicts(Claim::Succeeded) && !own.contains(&warning.code);
        expect(
            !is_contradicted,
            "warnings",
            "a run that succeeded",
            warning.code.to_string(),
        );
    }
}

fn rates(cell: &CellRecord, found: &mut FindingList) {
    let operations = cell.operations.iter().map(|(name, it)| (name.as_str(), it));
    for (name, it) in operations.chain([("total", &cell.total)]) {
        let at = format!("{}, {name}", place(cell));
        let pairs = [
            ("operations", it.count, it.per_second),
            ("bytes", it.bytes, it.bytes_per_second),
        ];
        for (unit, count, rate) in pairs {
            let expected = per_second(count, cell.run_time_ns);
            if !is_close(expected, rate, RATE_TOLERANCE) {
                let expected = format!(
                    "{expected} {unit} per second from {count} in {} ns",
                    cell.run_time_ns
                );
                found.add(BoardRule::Rates, &at, expected, rate.to_string());
            }
        }
    }
}

/// Checks that operations add up to the total, and workers and targets to the operations.
fn parts(cell: &CellRecord, found: &mut FindingList) {
    let sum = |names: &dyn Fn(&str) -> bool| {
        let parts = cell.operations.iter().filter(|(name, _)| names(name));
        parts.map(|(_, it)| it.count).sum::<u64>()
    };
    let transactions = cell.transactions.values().map(|it| it.count).sum::<u64>();
    let step = cell.phase_figures.as_ref().and_then(|it| it.step());
    let sums = [
        sum(&|name| DATA_OPERATIONS.contains(&name)),
        sum(&|_| true),
        transactions,
        // Programs that the step starts do the operations, which pgmeter therefore cannot count.
        step.map_or(0, |it| it.count),
        // At a rate, a round of a program is one request, however many calls it makes.
        cell.open_loop.as_ref().map_or(0, |it| {
            (it.achieved_per_second * cell.run_time_ns as f64 / 1e9).round() as u64
        }),
    ];
    let total = cell.total.count;
    if !sums.contains(&total) {
        let expected = format!("a sum of operations or transactions: {sums:?}");
        found.add(
            BoardRule::Rates,
            &place(cell),
            expected,
            format!("{total} in total"),
        );
    }
    let workers = cell.worker_figures.iter().map(|it| &it.operations);
    let targets = cell.target_figures.iter().map(|it| &it.operations);
    for (name, whole) in &cell.operations {
        let of = |it: &results::Operations| it.get(name).map_or((0, 0), counts);
        for (kind, parts) in [
            ("workers", workers.clone().map(of).collect::<Vec<_>>()),
            ("targets", targets.clone().map(of).collect()),
        ] {
            let sum = parts.iter().fold((0_u64, 0_u64), |sum, part| {
                (sum.0.saturating_add(part.0), sum.1.saturating_add(part.1))
            });
            // Records without parts, and of stages whose parts were not kept, have only the whole.
            if sum != (0, 0) && sum != counts(whole) {
                let at = format!("{}, {name} of all {kind}", place(cell));
                let text = |it: (u64, u64)| format!("{} operations, {} bytes", it.0, it.1);
                found.add(BoardRule::Rates, &at, text(counts(whole)), text(sum));
            }
        }
    }
}

/// Checks a program's own times and rates, which tables of published experiments rank.
fn program_times(cell: &CellRecord, found: &mut FindingList) {
    let Some(figures) = &cell.phase_figures else {
        return;
    };
    let mut expect = |what: &str, expected: f64, actual: f64, tolerance: f64| {
        if !is_close(expected, actual, tolerance) {
            let at = format!("{}, {what}", place(cell));
            found.add(
                BoardRule::Rates,
                &at,
                expected.to_string(),
                actual.to_string(),
            );
        }
    };
    let measured_ns = cell.run_time_ns as f64;
    if let Some(pool) = figures.pool.filter(|it| it.transactions_ns > 0) {
        // The program's clock runs until the last of several workers is done, and at a rate also
        // before the first request is due.
        if cell.open_loop.is_none() && cell.worker_figures.len() <= 1 {
            expect(
                "time of transactions",
                measured_ns,
                pool.transactions_ns as f64,
                TIME_TOLERANCE,
            );
        }
        if let Some(rate) = pool.transactions_per_second {
            let computed = per_second(pool.transactions_count, pool.transactions_ns);
            expect("transactions per second", computed, rate, RATE_TOLERANCE);
        }
    }
    // Other steps may include a ramp, which the measured time of the cell does not.
    let is_timed_alone = |label: &str| TIMED_STEPS.contains(&label);
    if let Some(step) = figures.step().filter(|it| is_timed_alone(&it.label)) {
        expect(
            "time of the step",
            measured_ns,
            step.time_ns as f64,
            TIME_TOLERANCE,
        );
    }
}

fn counts(it: &OperationFigures) -> (u64, u64) {
    (it.count, it.bytes)
}

/// Checks bytes where every request has the same size.
fn fixed_sizes(cell: &CellRecord, record: &RunRecord, found: &mut FindingList) {
    let Some(planned) = record
        .plan
        .cell(cell.index)
        .filter(|it| it.work.is_access())
    else {
        return;
    };
    let mut lines = planned.workers.iter().flat_map(|worker| &worker.lines);
    let Some(first) = lines.next() else { return };
    let is_fixed = first.reply_bytes == 0
        && lines.all(|it| it.size_bytes == first.size_bytes && it.reply_bytes == 0);
    for name in ["read", "write"] {
        let Some(it) = cell.operation(name).filter(|it| it.short_count == 0) else {
            continue;
        };
        let expected = it.count.saturating_mul(u64::from(first.size_bytes));
        if is_fixed && it.bytes != expected {
            let at = format!("{}, {name}", place(cell));
            let expected = format!(
                "{expected} bytes: {} requests of {}",
                it.count, first.size_bytes
            );
            found.add(BoardRule::FixedSizes, &at, expected, it.bytes.to_string());
        }
    }
}

fn failures(cell: &CellRecord, declared: &DeclaredFacts, found: &mut FindingList) {
    let errors = cell.operations.values().map(|it| it.errors).sum::<u64>();
    let errors = errors.max(cell.total.errors);
    if errors > 0 && declared.errors.is_none() {
        let expected = "0 failed operations, or their reason in `declared.errors`".to_owned();
        found.add(
            BoardRule::NoErrors,
            &place(cell),
            expected,
            errors.to_string(),
        );
    }
    let mismatches = cell
        .worker_figures
        .iter()
        .filter_map(|it| it.mismatch.as_ref());
    let mismatches: u64 = mismatches.map(|it| it.count).sum();
    // EBADMSG and EILSEQ are how engines report wrong data.
    if mismatches > 0 {
        let expected = "0 wrong reads".to_owned();
        found.add(
            BoardRule::Verified,
            &place(cell),
            expected,
            mismatches.to_string(),
        );
    }
}

/// Checks the means over repetitions, which pages show.
fn estimated(record: &RunRecord, found: &mut FindingList) {
    let computed = estimates(&record.cells);
    for it in &record.estimates {
        let same = computed.iter().find(|other| {
            other.key() == it.key() && other.operation == it.operation && other.metric == it.metric
        });
        // Percentiles come from a bootstrap with random numbers.
        let is_exact = it.metric.ends_with("per_second");
        if let Some(same) = same.filter(|_| is_exact)
            && !is_close(same.mean, it.mean, RATE_TOLERANCE)
        {
            let at = format!("mean of {} of {}", it.metric, it.operation);
            found.add(
                BoardRule::Rates,
                &at,
                same.mean.to_string(),
                it.mean.to_string(),
            );
        }
    }
}
