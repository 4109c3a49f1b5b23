//! Plans for this machine, and what is refused before anything is measured.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use description::{Overrides, Workload, to_toml};
use plan::{Diagnostic, Plan};
use planning::{Planned, plan_with, wanted_targets};
use results::{Warning, WarningCode};

use super::DEFAULT_TARGET;
use super::mounts::put_back;
use crate::bounds;
use crate::failure::Failure;

/// A longer file is not kept with the run.
const KEPT_BYTES_MAX: usize = 256 << 10;

/// What would be measured; what cannot be is refused.
pub(super) fn planned(
    workloads: &[Workload],
    overrides: &Overrides,
    create: bool,
) -> Result<Planned, Failure> {
    let wanted = wanted_targets(workloads, overrides);
    bounds::admit(wanted.iter().map(Path::new))?;
    put_back(wanted.iter().map(Path::new))?;
    look_at(&wanted, workloads, create, overrides)?;
    let facts = |wanted: &[String]| target::system_facts(wanted, Some(DEFAULT_TARGET));
    let planned = plan_with(workloads, overrides, facts)?;
    bounds::admit_plan(&planned.plan)?;
    Ok(planned.accepted()?)
}

/// Refuses what cannot be a target before the plan is made for it. Devices wait for the plan, which
/// tells whether they will be written.
fn look_at(
    wanted: &[String],
    workloads: &[Workload],
    create: bool,
    overrides: &Overrides,
) -> Result<(), Failure> {
    // That a file is no directory says more than whose file it is; the plan says it.
    let wants_directory = workloads.iter().all(Workload::needs_directory);
    let permission = target::Permission {
        create,
        read_only: overrides.only_reads(workloads),
        refuses_endless: !workloads.iter().any(Workload::has_jobs),
        ..target::Permission::default()
    };
    for path in wanted.iter().map(Path::new) {
        let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
        let is_left_to_the_plan =
            kind.is_ok_and(|it| it.is_block_device() || it.is_file() && wants_directory);
        if !is_left_to_the_plan {
            target::admit(path, &permission)?;
        }
    }
    Ok(())
}

/// Warnings of targets that lie on another file system than their paths suggest; `is_told` prints
/// them, since they cannot wait for the report.
pub(super) fn not_mounted(plan: &Plan, is_told: bool) -> Vec<Warning> {
    let touched = plan.targets.iter();
    let touched = touched.filter(|target| target.kind.is_path());
    let found = touched.filter_map(|target| target::unmounted(&target.path));
    let found: Vec<Warning> = found
        .map(|found| Warning::of_run(WarningCode::NotMounted, found.to_string()))
        .collect();
    for warning in found.iter().filter(|_| is_told) {
        tell!("warning: {}", warning.message);
    }
    found
}

/// What is measured as a workload file with all options in place, as the record keeps it; none
/// where it cannot be said in one.
pub(in crate::command) fn kept_toml(
    workloads: &[Workload],
    overrides: &Overrides,
) -> Option<String> {
    let text = as_toml(workloads, overrides).ok()?;
    Some(text).filter(|text| text.len() <= KEPT_BYTES_MAX)
}

/// What would be measured as a workload file, with all options in place.
pub(super) fn as_toml(workloads: &[Workload], overrides: &Overrides) -> Result<String, Diagnostic> {
    to_toml(&overrides.written(workloads)?)
}
