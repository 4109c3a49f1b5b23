//! Checks the rate of open loops.

use plan::ArrivalKind;

use crate::figures::ERRORS_MAX;
use crate::measure::{Measurer, MissingValue, first_cell};
use crate::reading::CheckReading;

/// Requests per second on the `null` engine.
const RATE: f64 = 20_000.0;
const SECONDS: f64 = 1.0;
/// Maximum error of the rate of evenly spaced requests, as a share.
const UNIFORM_ERROR_MAX: f64 = 1e-3;

/// Checks the achieved rate of an open loop against the requested one.
pub(crate) fn rate(
    measurer: &Measurer,
    arrivals: ArrivalKind,
    attempt: u32,
) -> Result<CheckReading, MissingValue> {
    let name = arrivals.name();
    // A new seed per attempt: with the same one, a deviation by chance would occur again.
    let text = format!(
        "engine = \"null\"\nsize = \"1g\"\niodepth = 32\nrate = \"{RATE}/s\"\n\
         arrivals = \"{name}\"\nrun_time = {SECONDS}\nramp_time = \"200ms\"\nseed = {}\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n",
        attempt + 1
    );
    let record = measurer.run(&text, None)?;
    let cell = first_cell(&record)?;
    let figures = cell.open_loop.as_ref();
    let achieved = figures.map(|it| it.achieved_per_second);
    let share = match arrivals {
        // No check replays a trace; recorded times are exact as well.
        ArrivalKind::Uniform | ArrivalKind::Recorded => UNIFORM_ERROR_MAX,
        // A Poisson count of N has a standard deviation of √N.
        ArrivalKind::Poisson => ERRORS_MAX / (RATE * SECONDS).sqrt(),
    };
    CheckReading::within(achieved, Some(RATE), share)
}
