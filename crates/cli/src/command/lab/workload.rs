//! The workloads of a lab matrix, as the arguments say them.

use description::Workload;
use lab::{LabRequest, LabWorkload};

use crate::args::ChangeArgs;
use crate::failure::Failure;
use crate::input::{Input, input};

/// Reads a workload and fits it to the file systems.
pub(crate) fn read_workload(
    name: &str,
    change: &ChangeArgs,
    request: &LabRequest,
) -> Result<LabWorkload, Failure> {
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
        misfit_block_bytes: None,
    };
    Ok(workload.fitted(request, change.cache.is_some())?)
}

/// Takes workloads as they are read, and fits them to the file systems.
pub(crate) fn fitted_workload(
    name: &str,
    workloads: Vec<Workload>,
    change: &ChangeArgs,
    request: &LabRequest,
) -> Result<LabWorkload, Failure> {
    let Input { overrides, .. } = input(&change.for_workload("quick"))?;
    let workload = LabWorkload {
        name: name.to_owned(),
        workloads,
        overrides,
        remarks: Vec::new(),
        misfit_block_bytes: None,
    };
    Ok(workload.fitted(request, change.cache.is_some())?)
}
