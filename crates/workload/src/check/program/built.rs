//! Programs that come from elsewhere than a workload's own tables.

use super::{Flaw, deepest};
use crate::model::Workload;
use crate::program::{Program, ProgramFlaw};

/// The program with what the workload says besides: a `run_time` is that of every phase that ends
/// by time.
///
/// # Errors
/// What keeps it from being done; keys without effect.
pub(super) fn program(workload: &Workload, built: &Program) -> Result<Program, Flaw> {
    let mut program = built.clone();
    if let Some(run_time) = workload.run_time {
        let mut timed = program.phases_mut();
        timed.retain(|phase| phase.time_ns.is_some());
        if timed.is_empty() {
            let message = "`run_time` has no effect, as no phase ends by time";
            return Err(Flaw::new("run_time", message, "leave `run_time` out"));
        }
        for phase in timed {
            phase.time_ns = Some(run_time.0);
        }
    }
    if workload.ramp_time.is_some() {
        let message = "`ramp_time` has no effect on another program's phases";
        return Err(Flaw::new("ramp_time", message, "leave `ramp_time` out"));
    }
    let flaw = |flaw: ProgramFlaw| Flaw::new("phase", flaw.message, flaw.help);
    program
        .check()
        .and_then(|()| program.check_depth(deepest(workload)))
        .map_err(flaw)?;
    Ok(program)
}
