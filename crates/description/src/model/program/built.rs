//! Programs that do not come from the workload's own tables.

use super::{deepest, sized};
use crate::flaw::ValueError;
use crate::model::{ConvertedProgram, Workload};
use plan::program::{InvalidProgram, Program};

/// The program with the workload's `run_time` and `ramp_time` in every phase that ends by time.
///
/// # Errors
/// If the keys cannot be applied, or times are given and no phase ends by time.
pub(super) fn program(
    workload: &Workload,
    built: &ConvertedProgram,
) -> Result<Program, ValueError> {
    let mut program = built.program.clone();
    let times = [
        ("run_time", workload.run_time),
        ("ramp_time", workload.ramp_time),
    ];
    let mut timed = program.phases_mut();
    // Phases that end by an amount keep the length that the other program gave them.
    timed.retain(|phase| phase.time_ns.is_some());
    if let (true, Some((key, _))) = (timed.is_empty(), times.iter().find(|it| it.1.is_some())) {
        let message =
            format!("`{key}` does not apply here: every phase ends when its work is done");
        return Err(ValueError::new(key, message, format!("leave `{key}` out")));
    }
    for phase in timed {
        let (own_ns, own_ramp_ns) = (phase.time_ns.unwrap_or(0), phase.ramp_ns);
        let time_ns = workload.run_time.map_or(own_ns, |it| it.0);
        phase.time_ns = Some(time_ns);
        // Without a `ramp_time`, the ramp stays the same fraction of the time.
        phase.ramp_ns = workload.ramp_time.map_or_else(
            || (own_ramp_ns as f64 * (time_ns as f64 / own_ns.max(1) as f64)) as u64,
            |it| it.0,
        );
    }
    let program = sized(workload, program)?;
    let flaw = |flaw: InvalidProgram| {
        ValueError::new("phase", flaw.message, built.own_helps.reword(flaw.help))
    };
    program
        .check()
        .and_then(|()| program.check_depth(deepest(workload)))
        .map_err(flaw)?;
    Ok(program)
}
