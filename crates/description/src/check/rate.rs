//! Checks the keys of an open loop.

use units::Rate;

use crate::flaw::ValueError;
use crate::model::{OneOrMany, Workload};
use plan::{ArrivalKind, RATE_MAX, RATE_MIN};

/// Maximum number of rates in a list.
const RATES_MAX: usize = 10_000;

/// Checks one file alone.
pub(super) fn check(workload: &Workload) -> Result<(), ValueError> {
    let arrivals = workload.job.iter().map(|job| job.arrivals);
    let mut arrivals = arrivals.chain([workload.arrivals]);
    if arrivals.any(|it| it == Some(ArrivalKind::Recorded)) {
        let message = "only the replay of a trace has recorded arrivals";
        let help = "write `arrivals = \"poisson\"`, or replay a trace: `pgmeter run TRACE`";
        return Err(ValueError::new("arrivals", message, help));
    }
    let Some(rates) = workload.rate.as_ref().map(OneOrMany::as_slice) else {
        return Ok(());
    };
    let flaw = |message: String, help: &str| Err(ValueError::new("rate", message, help));
    if rates.is_empty() {
        return flaw("`rate` is an empty list".into(), "write `rate = \"20k/s\"`");
    }
    if rates.len() > RATES_MAX {
        let message = format!("`rate` has {} elements, more than {RATES_MAX}", rates.len());
        return flaw(message, "use fewer");
    }
    match rates
        .iter()
        .find(|rate| !(RATE_MIN..=RATE_MAX).contains(&rate.0))
    {
        Some(rate) => {
            let (min, max) = (Rate(RATE_MIN), Rate(RATE_MAX));
            let message = format!("`rate` is {rate}, not from {min} to {max}");
            flaw(message, "write `rate = \"20k/s\"`")
        }
        None => Ok(()),
    }
}

/// Checks a complete workload.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    let has_curve = workload.curve == Some(true);
    check_searches(workload)?;
    if has_curve && workload.rate.is_some() {
        let message = "`curve` finds its rates itself, but there is a `rate`";
        return Err(ValueError::new("curve", message, "leave `rate` out"));
    }
    if has_curve && workload.operations.is_some() {
        let message = "the points of a `curve` last for `run_time`, not for `operations`";
        return Err(ValueError::new("curve", message, "leave one of them out"));
    }
    let has_rate = workload.rate.is_some() || has_curve || workload.find_rate.is_some();
    if workload.arrivals.is_some() && !has_rate {
        let message = "`arrivals` sets the distribution of a `rate`, but there is no `rate`";
        let help = "write `rate = \"20k/s\"` or `curve = true`, or leave `arrivals` out";
        return Err(ValueError::new("arrivals", message, help));
    }
    Ok(())
}

/// Refuses keys that fix the value a search is to find.
fn check_searches(workload: &Workload) -> Result<(), ValueError> {
    // `find_depth` excludes only the first two, so their order matters.
    let others = [
        ("rate", workload.rate.is_some()),
        ("curve", workload.curve == Some(true)),
        ("find_depth", workload.find_depth == Some(true)),
        ("operations", workload.operations.is_some()),
    ];
    let written = |keys: &[(&'static str, bool)]| keys.iter().find(|it| it.1).map(|it| it.0);
    if workload.find_rate.is_some()
        && let Some(other) = written(&others)
    {
        let message = match other {
            "operations" => "`find_rate` measures each rate for `run_time`, not for `operations`",
            "find_depth" => "`find_rate` and `find_depth` are separate searches",
            _ => "`find_rate` chooses the rates itself",
        };
        let help = format!("leave `{other}` out");
        return Err(ValueError::new("find_rate", message, help));
    }
    if workload.find_depth == Some(true)
        && let Some(other) = written(&others[..2])
    {
        let message = format!("`find_depth` looks for the highest rate, but there is a `{other}`");
        return Err(ValueError::new(
            "find_depth",
            message,
            "leave one of them out",
        ));
    }
    Ok(())
}
