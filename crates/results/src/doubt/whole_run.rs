//! Warnings about a whole run, from observations made while it was measured.

use std::path::Path;

use super::device::OTHER_IO_BYTES_MIN;
use super::percent;
use crate::{CellRecord, Environment, Warning, WarningCode};

/// Other programs that use less than this share of the CPUs are ignored.
const OTHERS_SHARE_MIN: f64 = 0.05;
/// Minimum share of a device's bytes for a warning about the results store.
const STORE_SHARE_MIN: f64 = 0.01;

/// Warns if the machine was busy before the run, unless the measurement shows that other programs
/// did not disturb it.
///
/// They disturb it if they used at least as many CPUs as were left idle.
#[must_use]
pub fn load_warning(environment: &Environment, cells: &[CellRecord]) -> Option<Warning> {
    let load = environment.load_before.one_minute;
    let processors = f64::from(environment.cpu.logical_count.max(1));
    // A single runnable task does not make a machine busy, however few CPUs it has.
    if load <= (processors * 0.5).max(1.0) {
        return None;
    }
    let used = |cell: &CellRecord| {
        let busy = cell.cpu.machine?.busy * processors;
        let others = (busy - cell.cpu.utilization).max(0.0);
        Some((others, (processors - busy).max(0.0)))
    };
    let most = cells.iter().filter_map(used);
    let message = match most.max_by(|a, b| a.0.total_cmp(&b.0)) {
        // No cell has values of the machine that could show the opposite.
        None => format!(
            "the machine was already busy before the run: load {load:.1} on {processors} CPUs"
        ),
        Some((others, idle)) if others >= idle && others >= processors * OTHERS_SHARE_MIN => {
            let idle = match idle < 0.05 {
                true => "none was idle".to_owned(),
                false => format!("{idle:.1} were idle"),
            };
            format!(
                "the machine was busy before the run (load {load:.1}) and during it: others used \
                 {others:.1} of {processors} CPUs, and {idle}"
            )
        }
        Some(_) => return None,
    };
    Some(Warning::of_run(WarningCode::LoadBefore, message))
}

/// Warns if the results store is on a device under a target and wrote a relevant share of that
/// device's bytes.
#[must_use]
pub fn store_io_warning(
    cells: &[CellRecord],
    store_bytes: u64,
    (store, target): (&Path, &Path),
) -> Option<Warning> {
    let devices = cells.iter().filter_map(|cell| cell.device.as_ref());
    let moved = devices.map(|device| device.read_bytes.saturating_add(device.write_bytes));
    let moved = moved.fold(0_u64, u64::saturating_add) as f64;
    let share = store_bytes as f64 / moved;
    if (store_bytes as f64) < OTHER_IO_BYTES_MIN || moved == 0.0 || share < STORE_SHARE_MIN {
        return None;
    }
    let message = format!(
        "the results store `{}` is on a device under `{}` and wrote {} during the run, {} of what \
         the device moved",
        store.display(),
        target.display(),
        units::format::size(store_bytes),
        percent(share)
    );
    Some(Warning::of_run(WarningCode::StoreOnTarget, message))
}
