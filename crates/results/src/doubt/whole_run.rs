//! Doubts about a whole run, from what was seen while it was measured.

use std::path::Path;

use super::device::OTHER_IO_BYTES_MIN;
use super::percent;
use crate::{CellRecord, Environment, Warning, WarningCode};

/// Below this share of the processors, others do not count as such.
const OTHERS_SHARE_MIN: f64 = 0.05;
/// From this share of a device's bytes on, those of the results store count.
const STORE_SHARE_MIN: f64 = 0.01;

/// Whether the machine was busy with other things before the run, unless what was measured shows
/// that they left it alone.
///
/// Others are in its way where they used as many processors as they left idle.
#[must_use]
pub fn doubt_load(environment: &Environment, cells: &[CellRecord]) -> Option<Warning> {
    let load = environment.load_before.one_minute;
    let processors = f64::from(environment.cpu.logical_count.max(1));
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
        None => format!(
            "the machine was busy before the run: load {load:.1} on {processors} processors"
        ),
        Some((others, idle)) if others >= idle && others >= processors * OTHERS_SHARE_MIN => {
            format!(
                "the machine was busy before the run (load {load:.1}) and while it was measured: \
                 others used {others:.1} of {processors} processors, {idle:.1} were idle"
            )
        }
        Some(_) => return None,
    };
    Some(Warning::of_run(WarningCode::LoadBefore, message))
}

/// Whether a results store on a device under a target wrote a share of that device's bytes that
/// shows.
#[must_use]
pub fn doubt_store(
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
         the device moved; `--db` puts it elsewhere",
        store.display(),
        target.display(),
        units::format::size(store_bytes),
        percent(share)
    );
    Some(Warning::of_run(WarningCode::StoreOnTarget, message))
}
