//! Rules about results of other programs, as far as their output states what a rule needs.

use results::{ImportRecord, ImportedFigure, ImportedResult, ImportedText, RunRecord, Timestamp};
use results::{Status, WarningCode};
use stats::Estimate;
use units::Bytes;

use super::rule::FindingList;
use super::times::CLOCK_SKEW_NS;
use super::{BoardRule, RuleLevel, is_close};
use crate::DeclaredFacts;
use crate::entry::{PRECISION, REPETITIONS_MIN};
use crate::imported::{FIO, settings_of};
use crate::lint::physics::{
    LATENCY_NS_MIN, LINK_MARGIN, LITTLE_REFUSED, LITTLE_SHOWN, MEMORY_BYTES_PER_SECOND,
};

/// Rules whose facts no output of another program states.
pub(super) const UNKNOWN_RULES: [BoardRule; 14] = [
    BoardRule::Intervals,
    BoardRule::Verified,
    BoardRule::DeviceMoved,
    BoardRule::CachedReads,
    BoardRule::Compressible,
    BoardRule::Precondition,
    BoardRule::Steady,
    BoardRule::Quiet,
    BoardRule::FitsMemory,
    BoardRule::Governor,
    BoardRule::Server,
    BoardRule::Store,
    BoardRule::Gaps,
    BoardRule::Picked,
];

/// Times are printed in milliseconds, and rates are computed from them.
const TIME_STEP_NS: f64 = 1e6;
/// Difference between a rate and its count and time that rounding explains.
const RATE_TOLERANCE: f64 = 2e-3;
/// Width of a bucket of fio's histograms, relative to its values.
const BUCKET_WIDTH: f64 = 1.0 / 64.0;
/// Share of the latencies that a histogram may lack or have in addition, because operations in
/// flight at the end of the ramp are counted differently.
const COUNT_TOLERANCE: f64 = 0.01;
/// Start of the id of a run whose source states no time.
const NO_TIME: &str = "00000000-000000-";

/// Checks imported results. `now` is the latest possible time of a run.
pub(super) fn check(
    record: &RunRecord,
    import: &ImportRecord,
    (declared, now): (&DeclaredFacts, Timestamp),
    found: &mut FindingList,
) {
    complete(record, import, found);
    times(record, import, now, found);
    recomputes(import, found);
    for result in &import.results {
        // Other programs state rates over other times than the whole one.
        if import.origin.program == FIO {
            rates(result, found);
            fixed_sizes(import, result, found);
        }
        for figure in result.figures.iter().filter(|it| !it.buckets_ns.is_empty()) {
            histogram(result, figure, found);
        }
        failures(result, declared, found);
        physics(import, result, declared, found);
    }
    repetitions(import, found);
}

/// Names a result in findings.
pub(super) fn place(result: &ImportedResult) -> String {
    match result.repetition {
        0 => format!("result {}", result.name),
        repetition => format!("result {}, repetition {repetition}", result.name),
    }
}

fn complete(record: &RunRecord, import: &ImportRecord, found: &mut FindingList) {
    let mut expect = |is_true: bool, expected: &str, actual: String| {
        if !is_true {
            found.add(BoardRule::Complete, "import", expected.to_owned(), actual);
        }
    };
    let status = format!("{:?}", record.status).to_lowercase();
    expect(record.status == Status::Complete, "complete", status);
    // Values of a table come from one of both, and pages show only one.
    let is_alone = record.cells.is_empty() && record.plan.cells.is_empty();
    let both = "cells next to imported results".to_owned();
    expect(is_alone, "no cells of pgmeter", both);
    let has_figures = import.results.iter().any(|it| !it.figures.is_empty());
    expect(has_figures, "at least one figure", "none".to_owned());
    let invalid = import.statements.iter().find(|it| it.name == "invalid");
    let results = import.results.iter().flat_map(|it| &it.settings);
    let invalid = invalid.or_else(|| results.clone().find(|it| it.name == "valid"));
    let text = invalid.map_or_else(String::new, |it| it.value.clone());
    expect(
        invalid.is_none(),
        "results that their program calls valid",
        text,
    );
    for warning in &record.warnings {
        let is_failure = warning.code == WarningCode::IoErrors;
        expect(
            !is_failure,
            "a run that succeeded",
            warning.code.to_string(),
        );
    }
}

fn times(record: &RunRecord, import: &ImportRecord, now: Timestamp, found: &mut FindingList) {
    let mut expect = |is_true: bool, what: &str, expected: String, actual: String| {
        if !is_true {
            found.add(BoardRule::Times, what, expected, actual);
        }
    };
    let start = record.started_at;
    expect(
        start.as_nanosecond() <= now.as_nanosecond() + CLOCK_SKEW_NS,
        "import",
        format!("a time before now, {now}"),
        start.to_string(),
    );
    let (id_start, stated) = match import.origin.time {
        Some(time) => (time.strftime("%Y%m%d-%H%M%S-").to_string(), time),
        None => (NO_TIME.to_owned(), start),
    };
    let expected = format!("the time of the source, {stated}");
    expect(start == stated, "import", expected, start.to_string());
    expect(
        record.id.starts_with(&id_start),
        "id of the run",
        format!("an id that begins with {id_start}"),
        record.id.clone(),
    );
}

/// Reads the original text again, so that no figure differs from it.
fn recomputes(import: &ImportRecord, found: &mut FindingList) {
    let texts: Vec<ImportedText> = import.sources.clone();
    let again = import::recognize(&texts).map(|format| import::read(format, texts));
    let mut add = |expected: String, actual: String| {
        found.add(BoardRule::Hashes, "original text", expected, actual);
    };
    let program = &import.origin.program;
    let again = match again {
        None => return add(format!("an output of {program}"), "another text".to_owned()),
        Some(Err(error)) => {
            let line = error
                .line
                .map_or_else(String::new, |it| format!("line {it}: "));
            return add(
                format!("an output of {program}"),
                format!("{line}{}", error.message),
            );
        }
        Some(Ok(again)) => again,
    };
    if again.origin != import.origin || again.statements != import.statements {
        let expected = format!("the results of {}, as in the text", again.origin.title());
        return add(expected, import.origin.title());
    }
    let pairs = again.results.iter().zip(&import.results);
    let differing = pairs.clone().find(|(text, record)| text != record);
    if let Some((text, record)) = differing {
        let figures = text.figures.iter().zip(&record.figures);
        let figure = figures.clone().find(|(text, record)| text != record);
        let shown = |it: Option<&ImportedFigure>| {
            let words = it.map(|it| format!("{} {} {}", it.operation, it.metric, it.value));
            words.unwrap_or_else(|| "other names, settings or figures".to_owned())
        };
        let expected = format!("{}: {}", place(text), shown(figure.map(|it| it.0)));
        add(expected, shown(figure.map(|it| it.1)));
    } else if again.results.len() != import.results.len() {
        let expected = format!("{} results in the text", again.results.len());
        add(expected, import.results.len().to_string());
    }
}

/// Checks counts, bytes and times of the same operation against its rates.
fn rates(result: &ImportedResult, found: &mut FindingList) {
    for operation in result.operations() {
        let Some(time_ns) = result.value(operation, "time").filter(|it| *it > 0.0) else {
            continue;
        };
        let tolerance = RATE_TOLERANCE + TIME_STEP_NS / time_ns;
        for (count, rate) in [("count", "per_second"), ("bytes", "bytes_per_second")] {
            let pair = result
                .value(operation, count)
                .zip(result.value(operation, rate));
            let Some((amount, stated)) = pair else {
                continue;
            };
            let computed = amount * 1e9 / time_ns;
            if !is_close(computed, stated, tolerance) {
                let at = format!("{}, {operation}", place(result));
                let expected = format!("{rate} {computed} from {count} and time");
                found.add(BoardRule::Rates, &at, expected, stated.to_string());
            }
        }
    }
}

/// Checks bytes where every request has at most the same size.
fn fixed_sizes(import: &ImportRecord, result: &ImportedResult, found: &mut FindingList) {
    let settings = settings_of(import, result);
    let varies = settings.keys().any(|it| it.starts_with("bs") && it != "bs");
    let size = settings.get("bs").and_then(|it| it.parse::<Bytes>().ok());
    // With `kb_base=1000`, fio means other sizes by the same words.
    let is_known = !varies && !settings.contains_key("kb_base");
    let Some(size) = size.filter(|_| is_known) else {
        return;
    };
    for operation in result.operations() {
        let value = |metric: &str| result.value(operation, metric);
        let Some((count, bytes)) = value("count").zip(value("bytes")) else {
            continue;
        };
        let most = count * size.0 as f64;
        if bytes > most {
            let at = format!("{}, {operation}", place(result));
            let expected = format!("at most {most} bytes: {count} requests of {}", size.0);
            found.add(BoardRule::FixedSizes, &at, expected, bytes.to_string());
        }
    }
}

/// Checks a distribution against count, extremes and mean.
fn histogram(result: &ImportedResult, figure: &ImportedFigure, found: &mut FindingList) {
    let buckets = &figure.buckets_ns;
    let at = format!(
        "{}, {} of {}",
        place(result),
        figure.metric,
        figure.operation
    );
    let counts = buckets.iter().map(|it| it[2]);
    let sum = counts.fold(0_u64, u64::saturating_add) as f64;
    let mut expect = |level: Option<RuleLevel>, expected: String, actual: String| {
        if let Some(level) = level {
            found.add_with((BoardRule::Histograms, level), &at, expected, actual);
        }
    };
    if let Some(count) = result.value(&figure.operation, "count") {
        let level = match (sum - count).abs() {
            0.0 => None,
            apart if apart <= count * COUNT_TOLERANCE => Some(RuleLevel::Warning),
            _ => Some(RuleLevel::Error),
        };
        expect(
            level,
            format!("{count} latencies in all buckets"),
            sum.to_string(),
        );
    }
    let kind = figure.metric.trim_end_matches("_mean");
    let (Some(first), Some(last)) = (buckets.first(), buckets.last()) else {
        return;
    };
    for (end, bucket) in [("min", first), ("max", last)] {
        let value = result.value(&figure.operation, &format!("{kind}_{end}"));
        let Some(value) = value else { continue };
        let is_within = (bucket[0] as f64..=bucket[1] as f64).contains(&value);
        let expected = format!("a {end} from {} to {} ns", bucket[0], bucket[1]);
        expect(
            (!is_within).then_some(RuleLevel::Error),
            expected,
            value.to_string(),
        );
    }
    let middle = |it: &[u64; 3]| (it[0] as f64 + it[1] as f64) / 2.0 * it[2] as f64;
    let mean = buckets.iter().map(middle).sum::<f64>() / sum.max(1.0);
    let is_near = is_close(mean, figure.value, BUCKET_WIDTH) || (mean - figure.value).abs() <= 1.0;
    let expected = format!("a mean near the buckets' {mean:.1} ns");
    expect(
        (!is_near).then_some(RuleLevel::Error),
        expected,
        figure.value.to_string(),
    );
}

fn failures(result: &ImportedResult, declared: &DeclaredFacts, found: &mut FindingList) {
    let counts = result.figures.iter().filter(|it| it.metric == "errors");
    let counted = counts.map(|it| it.value).sum::<f64>();
    let stated = result.settings.iter().find(|it| it.name == "error");
    if (counted > 0.0 || stated.is_some()) && declared.errors.is_none() {
        let expected = "0 failed operations, or their reason in `declared.errors`".to_owned();
        let code = stated.map(|it| format!("error {}", it.value));
        let actual = code.unwrap_or_else(|| counted.to_string());
        found.add(BoardRule::NoErrors, &place(result), expected, actual);
    }
}

/// Checks rates and latencies against links, clocks and the number of requests in flight.
fn physics(
    import: &ImportRecord,
    result: &ImportedResult,
    declared: &DeclaredFacts,
    found: &mut FindingList,
) {
    let settings = settings_of(import, result);
    let setting = |name: &str| settings.get(name).map(String::as_str);
    if setting("ioengine") == Some("null") {
        return;
    }
    let is_direct = setting("direct") == Some("1") && declared.cache.is_none();
    let declared_limit = declared.link_bytes_per_second.filter(|_| is_direct);
    let limit = declared_limit.unwrap_or(MEMORY_BYTES_PER_SECOND);
    let rates = result
        .figures
        .iter()
        .filter(|it| it.metric == "bytes_per_second");
    let rate = rates.map(|it| it.value).fold(0.0, f64::max);
    if rate > limit * LINK_MARGIN {
        let expected = format!("at most {limit:.0} bytes per second and 5 %");
        found.add(BoardRule::Link, &place(result), expected, rate.to_string());
    }
    for operation in result.operations() {
        let p50 = result.value(operation, "latency_p50");
        if let Some(p50) = p50.filter(|it| is_direct && *it < LATENCY_NS_MIN as f64) {
            let at = format!("{}, {operation}", place(result));
            let expected = format!("a median of at least {LATENCY_NS_MIN} ns");
            found.add(BoardRule::ShortLatency, &at, expected, format!("{p50} ns"));
        }
    }
    littles_law(result, found);
}

/// Checks that rate times latency does not exceed the number of requests in flight. A smaller one
/// is honest: programs also spend time outside of requests.
fn littles_law(result: &ImportedResult, found: &mut FindingList) {
    let depth = result.iodepth.map(|it| f64::from(it.max(1)));
    let depth = depth
        .zip(result.workers)
        .map(|(depth, workers)| depth * f64::from(workers.max(1)));
    let Some(depth) = depth else { return };
    let in_flight = result.operations().into_iter().filter_map(|operation| {
        let rate = result.value(operation, "per_second")?;
        Some(rate * result.value(operation, "latency_mean")? / 1e9)
    });
    let in_flight = in_flight.sum::<f64>();
    let above = in_flight / depth - 1.0;
    let level = match above {
        above if above > LITTLE_REFUSED => RuleLevel::Error,
        above if above > LITTLE_SHOWN => RuleLevel::Warning,
        _ => return,
    };
    let expected = format!("at most {depth} requests in flight");
    let actual = format!("{in_flight:.2} from rate and latency");
    found.add_with(
        (BoardRule::LittlesLaw, level),
        &place(result),
        expected,
        actual,
    );
}

/// Checks the number of repetitions, and their spread where the source states it.
fn repetitions(import: &ImportRecord, found: &mut FindingList) {
    let mut seen: Vec<&str> = Vec::new();
    for result in &import.results {
        if seen.contains(&result.name.as_str()) {
            continue;
        }
        seen.push(&result.name);
        let same = import.results.iter().filter(|it| it.name == result.name);
        let stated = result.figures.iter().find(|it| it.n.is_some());
        let estimate = match stated {
            Some(it) => {
                let n = u64::from(it.n.unwrap_or(1));
                Some(Estimate::from_moments(n, it.value, it.stddev))
            }
            None => {
                let rate = |it: &ImportedResult| it.figures.first().map(|it| it.value);
                Estimate::from_samples(&same.filter_map(rate).collect::<Vec<f64>>())
            }
        };
        let Some(estimate) = estimate else { continue };
        let error = estimate.relative_error();
        if estimate.n < REPETITIONS_MIN || error.is_none_or(|it| it > PRECISION) {
            let expected = format!("at least {REPETITIONS_MIN} repetitions, within 5 %");
            let error =
                error.map_or_else(String::new, |it| format!(", within {:.1} %", it * 100.0));
            let actual = format!("{}{error}", estimate.n);
            found.add(BoardRule::Repetitions, &place(result), expected, actual);
        }
    }
}
