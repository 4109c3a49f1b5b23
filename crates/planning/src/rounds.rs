//! Rounds of jobs, which all of a cell have together.

use units::Span;

use description::check::ROUND_MIN;
use plan::Diagnostic;
use plan::job::BuiltJob;

/// Gives jobs rounds of the same length, which is that of the longest.
///
/// # Errors
/// Jobs that begin at different times, or rounds too short to compare.
pub(super) fn share(jobs: &mut [BuiltJob]) -> Result<(), Diagnostic> {
    let is_late = |job: &&BuiltJob| job.plan.after.is_some() || job.plan.start_delay_ns > 0;
    if let Some(job) = jobs.iter().find(is_late) {
        let name = plan::printable(&job.name);
        let message = format!(
            "`until = \"steady\"` is of rounds that all jobs begin together, but `{name}` begins \
             later than others"
        );
        let help = "leave `until` out, or let the jobs begin together";
        return Err(Diagnostic::error("", message).help(help));
    }
    let times_ns = jobs.iter().map(|job| job.plan.run_time_ns);
    let round_ns = times_ns.max().unwrap_or(0);
    if round_ns < ROUND_MIN.0 {
        let message = format!(
            "the jobs run for {}, and a round takes {ROUND_MIN} at least",
            Span(round_ns)
        );
        return Err(Diagnostic::error("", message).help("add `--run-time 10s`"));
    }
    for job in jobs {
        job.plan.run_time_ns = round_ns;
    }
    Ok(())
}
