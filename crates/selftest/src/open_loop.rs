//! Rates of requests that begin when they are due.

use workload::plan::ArrivalKind;

use crate::check::Bound;
use crate::figures::ERRORS_MAX;
use crate::measure::{Measurer, Trouble, first_cell};

/// Requests each second on the engine that does nothing.
const RATE: f64 = 20_000.0;
const SECONDS: f64 = 1.0;
/// How far evenly spaced requests may be from their rate, as a share: one of a thousand.
const UNIFORM_OFF_MAX: f64 = 1e-3;

/// The rate that was reached, the one that was asked for, and what is allowed.
pub(crate) fn rate(
    measurer: &Measurer,
    arrivals: ArrivalKind,
    attempt: u32,
) -> Result<(f64, f64, Bound), Trouble> {
    let name = arrivals.name();
    let text = format!(
        "engine = \"null\"\nsize = \"1g\"\niodepth = 32\nrate = \"{RATE}/s\"\n\
         arrivals = \"{name}\"\nrun_time = {SECONDS}\nramp_time = \"200ms\"\nseed = {}\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100 }}]\n",
        attempt + 1
    );
    let record = measurer.run(&text, None)?;
    let cell = first_cell(&record)?;
    let figures = cell.open_loop.as_ref();
    let figures = figures.ok_or_else(|| Trouble::Broken("no rate was measured".to_owned()))?;
    let share = match arrivals {
        ArrivalKind::Uniform => UNIFORM_OFF_MAX,
        ArrivalKind::Poisson => ERRORS_MAX / (RATE * SECONDS).sqrt(),
    };
    Ok((figures.achieved_per_second, RATE, Bound::Within { share }))
}
