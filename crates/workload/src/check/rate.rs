//! The keys of an open loop.

use units::Rate;

use super::Flaw;
use crate::model::{OneOrMany, Workload};
use crate::plan::{RATE_MAX, RATE_MIN};

/// Most rates of a list.
const RATES_MAX: usize = 10_000;

/// Checks what is written.
pub(super) fn check(workload: &Workload) -> Result<(), Flaw> {
    let Some(rates) = workload.rate.as_ref().map(OneOrMany::as_slice) else {
        return Ok(());
    };
    let flaw = |message: String, help: &str| Err(Flaw::new("rate", message, help));
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

/// Checks a workload that is complete in itself.
pub(super) fn check_whole(workload: &Workload) -> Result<(), Flaw> {
    let has_curve = workload.curve == Some(true);
    if has_curve && workload.rate.is_some() {
        let message = "`curve` finds its rates itself, but there is a `rate`";
        return Err(Flaw::new("curve", message, "leave one of them out"));
    }
    if has_curve && workload.operations.is_some() {
        let message = "the points of a `curve` last for `run_time`, not for `operations`";
        return Err(Flaw::new("curve", message, "leave one of them out"));
    }
    let has_rate = workload.rate.is_some() || has_curve;
    if workload.arrivals.is_some() && !has_rate && workload.table().is_none() {
        let message = "`arrivals` says how a `rate` is spread, but there is no `rate`";
        let help = "write `rate = \"20k/s\"` or `curve = true`, or leave `arrivals` out";
        return Err(Flaw::new("arrivals", message, help));
    }
    Ok(())
}
