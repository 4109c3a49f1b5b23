//! The workloads of a lab matrix, read from the arguments.

use description::Workload;
use lab::{LabWorkload, MatrixRequest};

use crate::args::ChangeArgs;
use crate::failure::CliError;
use crate::input::{Input, input};

/// Reads a workload and adapts it to the file systems.
pub(crate) fn read_workload(
    name: &str,
    change: &ChangeArgs,
    request: &MatrixRequest,
) -> Result<LabWorkload, CliError> {
    let Input {
        workloads,
        warnings,
        overrides,
        ..
    } = input(&change.for_workload(name))?;
    let workload = LabWorkload {
        name: name.to_owned(),
        workloads,
        overrides,
        remarks: warnings.iter().map(ToString::to_string).collect(),
        misaligned_block_bytes: None,
    };
    Ok(workload.fit_to(request, !change.cache.is_empty())?)
}

/// Adapts workloads that are already read to the file systems.
pub(crate) fn fit_workload(
    name: &str,
    workloads: Vec<Workload>,
    change: &ChangeArgs,
    request: &MatrixRequest,
) -> Result<LabWorkload, CliError> {
    // Only the options are needed. `input` requires a workload, which is ignored.
    let Input { overrides, .. } = input(&change.for_workload("quick"))?;
    let workload = LabWorkload {
        name: name.to_owned(),
        workloads,
        overrides,
        remarks: Vec::new(),
        misaligned_block_bytes: None,
    };
    Ok(workload.fit_to(request, !change.cache.is_empty())?)
}
