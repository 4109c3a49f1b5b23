//! Rounds of jobs, which all jobs of a cell share.

use units::Span;

use description::check::ROUND_MIN;
use plan::Diagnostic;
use plan::job::UnplannedJob;

/// Gives all jobs rounds of the same length, the longest one.
///
/// # Errors
/// If jobs start at different times, or rounds are too short to be compared.
pub(super) fn share(jobs: &mut [UnplannedJob]) -> Result<(), Diagnostic> {
    let is_late = |job: &&UnplannedJob| job.plan.after.is_some() || job.plan.start_delay_ns > 0;
    if let Some(job) = jobs.iter().find(is_late) {
        let name = plan::printable(&job.name);
        let message = format!(
            "`until = \"steady\"` needs all jobs to start their rounds together, but `{name}` \
             starts later than others"
        );
        let help = "leave `until` out, or let the jobs start together";
        return Err(Diagnostic::error("", message).help(help));
    }
    let times_ns = jobs.iter().map(|job| job.plan.run_time_ns);
    let round_ns = times_ns.max().unwrap_or(0);
    if round_ns < ROUND_MIN.0 {
        let message = format!(
            "the jobs run for {}, but a round takes at least {ROUND_MIN}",
            Span(round_ns)
        );
        return Err(Diagnostic::error("", message).help("add `--run-time 10s`"));
    }
    for job in jobs {
        job.plan.run_time_ns = round_ns;
    }
    Ok(())
}
