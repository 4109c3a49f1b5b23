//! Plans workloads for this machine, and refuses impossible ones before any measurement.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use description::{Overrides, Workload, to_toml};
use plan::{Diagnostic, Plan};
use planning::{Planned, plan_with, wanted_targets};
use results::{Warning, WarningCode};

use super::DEFAULT_TARGET;
use super::mounts::restore_unmounted;
use crate::bounds;
use crate::failure::CliError;
use crate::input::with_options_in_help;

/// Longer workload files are not stored with the run.
const STORED_BYTES_MAX: usize = 256 << 10;

/// Plans the run. Refuses plans that cannot be executed.
pub(super) fn planned(
    workloads: &[Workload],
    overrides: &Overrides,
    create: bool,
) -> Result<Planned, CliError> {
    let wanted = wanted_targets(workloads, overrides);
    bounds::admit(wanted.iter().map(Path::new))?;
    // Before probing: on an unmounted target, pgmeter would see the file system below the mount
    // point.
    restore_unmounted(wanted.iter().map(Path::new))?;
    refuse_unusable_targets(&wanted, workloads, create, overrides)?;
    let facts = |wanted: &[String]| storage::system_facts(wanted, Some(DEFAULT_TARGET));
    let planned = plan_with(workloads, overrides, facts);
    let planned = planned.map_err(|error| with_options_in_help(error, |key| overrides.has(key)))?;
    // Without targets, the plan uses the current directory, which `wanted` does not contain.
    bounds::admit_plan(&planned.plan)?;
    Ok(planned.accepted()?)
}

/// Refuses unusable targets before planning. Devices are checked after planning, because only the
/// plan shows whether they will be written.
fn refuse_unusable_targets(
    wanted: &[String],
    workloads: &[Workload],
    create: bool,
    overrides: &Overrides,
) -> Result<(), CliError> {
    // Ownership of a file matters less than that a directory is needed, which the plan reports.
    let wants_directory = workloads.iter().all(Workload::needs_directory);
    let permission = storage::Permission {
        create,
        read_only: overrides.only_reads(workloads),
        // fio's jobs may use devices such as `/dev/null`; other work needs a target with an end.
        refuses_endless: !workloads.iter().any(Workload::has_jobs),
        ..storage::Permission::default()
    };
    for path in wanted.iter().map(Path::new) {
        let kind = std::fs::symlink_metadata(path).map(|found| found.file_type());
        let is_left_to_the_plan =
            kind.is_ok_and(|it| it.is_block_device() || it.is_file() && wants_directory);
        if !is_left_to_the_plan {
            storage::admit(path, &permission)?;
        }
    }
    Ok(())
}

/// Returns warnings about targets on another file system than their paths suggest. With
/// `is_printed`, prints them immediately, because they should not wait for the report.
pub(super) fn not_mounted(plan: &Plan, is_printed: bool) -> Vec<Warning> {
    let touched = plan.targets.iter();
    let touched = touched.filter(|target| target.kind.is_path());
    let unmounted = touched.filter_map(|target| storage::unmounted(&target.path));
    let warnings: Vec<Warning> = unmounted
        .map(|found| Warning::of_run(WarningCode::NotMounted, found.to_string()))
        .collect();
    for warning in warnings.iter().filter(|_| is_printed) {
        tell!("warning: {}", warning.message);
    }
    warnings
}

/// Returns the measured workload as a file with all options applied, for the record; `None` if that
/// is impossible or too long.
pub(in crate::command) fn toml_for_record(
    workloads: &[Workload],
    overrides: &Overrides,
) -> Option<String> {
    let text = as_toml(workloads, overrides).ok()?;
    Some(text).filter(|text| text.len() <= STORED_BYTES_MAX)
}

/// Returns the measured workload as a file with all options applied.
pub(super) fn as_toml(workloads: &[Workload], overrides: &Overrides) -> Result<String, Diagnostic> {
    to_toml(&overrides.written(workloads)?)
}
