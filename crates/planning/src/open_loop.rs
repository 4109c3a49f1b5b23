//! Checks of work with a rate.

use units::{Bytes, Span};

use plan::Diagnostic;
use plan::job::JobPlan;
use plan::program::Program;
use plan::{ArrivalKind, Cell, CurvePart, LinePlan, ResponseLimit, TRIALS_MAX, Work, WorkerPlan};

/// Points of a curve, in percent of the peak rate.
///
/// Source: SPEC, "SPEC SFS 2014 SP2 Run and Reporting Rules", section 5.3: ten evenly spaced loads
/// at least.
const CURVE_PERCENTS: [u32; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

/// Parts of a response-time curve: the peak, followed by the points.
pub(super) fn curve(arrivals: ArrivalKind) -> Vec<CurvePart> {
    let point = move |percent| CurvePart::Point { percent, arrivals };
    let points = CURVE_PERCENTS.into_iter().map(point);
    std::iter::once(CurvePart::Peak).chain(points).collect()
}

/// Parts of a search for the highest rate: the peak, followed by the maximum number of trials.
pub(super) fn search(limit: ResponseLimit, arrivals: ArrivalKind) -> Vec<CurvePart> {
    let trial = |number| CurvePart::Trial {
        number,
        limit,
        arrivals,
    };
    let trials = (1..=TRIALS_MAX).map(trial);
    std::iter::once(CurvePart::Peak).chain(trials).collect()
}

/// Refuses work that determines its own request times, or needs several requests per arrival.
pub(super) fn check(cell: &Cell) -> Result<(), Diagnostic> {
    if let Work::Acts(program) = &cell.work {
        return acts(program);
    }
    cell.workers.iter().try_for_each(worker)
}

fn worker(worker: &WorkerPlan) -> Result<(), Diagnostic> {
    if let Some(job) = &worker.job {
        return self::job(&worker.name, job);
    }
    if worker.transactions_per_connection.is_some() {
        let message = format!(
            "worker `{}` opens and closes its targets, which cannot have a `rate`",
            plan::printable(&worker.name)
        );
        let help = "leave `rate` out, or `transactions_per_connection`";
        return Err(Diagnostic::error("", message).help(help));
    }
    match worker.lines.iter().find_map(pacing_key) {
        Some((key, value)) => {
            let message = format!(
                "an access line of `{}` has `{key} = {value}`, which cannot have a `rate`",
                plan::printable(&worker.access_spec)
            );
            let help = format!("leave `rate` out, or `{key}`");
            Err(Diagnostic::error("", message).help(help))
        }
        None => Ok(()),
    }
}

/// Refuses work on many files whose rounds cannot start one by one.
fn acts(program: &Program) -> Result<(), Diagnostic> {
    if program.starts_programs() {
        let message = "work of started programs has no `rate`: starting them takes the time";
        let help = "leave `mode = \"exec\"` out, or the rate";
        return Err(Diagnostic::error("", message).help(help));
    }
    Ok(())
}

/// Refuses a job that has its own rate, or makes no requests.
fn job(name: &str, job: &JobPlan) -> Result<(), Diagnostic> {
    let reason = match job {
        _ if job.recorded.is_some() => "takes the times of its requests from a log",
        _ if job.names.is_some() => "works on the names of its files and makes no requests",
        _ if job.stream.think.is_some() => "pauses between its requests",
        _ if job.stream.is_paced() => "has its own rate",
        _ => return Ok(()),
    };
    let name = plan::printable(name);
    let message = format!("the job `{name}` {reason}, so it cannot have a `rate`");
    let help = "leave `rate`, `curve` and `find_rate` out, or run the other jobs alone";
    Err(Diagnostic::error("", message).help(help))
}

/// The key, if any, by which a line determines its own request times, with its value.
fn pacing_key(line: &LinePlan) -> Option<(&'static str, String)> {
    match line {
        line if line.delay_ns > 0 => Some(("delay", Span(line.delay_ns).to_string())),
        line if line.burst > 1 => Some(("burst", line.burst.to_string())),
        line if line.reply_bytes > 0 => Some(("reply", Bytes(line.reply_bytes.into()).to_string())),
        _ => None,
    }
}
