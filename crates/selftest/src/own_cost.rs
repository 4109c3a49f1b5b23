//! CPU cost of pgmeter itself for an operation.

use crate::measure::{Measurer, MissingValue, first_cell};

/// Maximum cost. At 10,000 operations per second, it would be 1 % of a worker's time.
pub(crate) const COST_MAX_NS: f64 = 1000.0;

const WORKLOAD: &str = "engine = \"null\"\nsize = \"1g\"\niodepth = 1\nrun_time = \"500ms\"\n\
                        ramp_time = \"100ms\"\n\
                        [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";

/// CPU time per operation of the `null` engine at queue depth 1, in nanoseconds. At this depth,
/// every operation reads the clock.
pub(crate) fn cost_ns(measurer: &Measurer) -> Result<f64, MissingValue> {
    let record = measurer.run(WORKLOAD, None)?;
    let cell = first_cell(&record)?;
    let used_ns = (cell.cpu.user_ns + cell.cpu.system_ns) as f64;
    match cell.total.count {
        0 => Err(MissingValue::Broken("nothing was measured".to_owned())),
        count => Ok(used_ns / count as f64),
    }
}
