//! Warnings about the origin of the I/O: devices, memory, or other users of the same devices.

use plan::{CacheMode, Cell, EngineKind, Plan, TargetKind};

use super::limits::used_bytes;
use super::{Finding, is_idle, percent};
use crate::title::target_indexes;
use crate::{CellRecord, DeviceFigures, Environment, OperationFigures, Warning, WarningCode};

/// Below this share of the bytes moved, the device cannot have moved all of them.
const DEVICE_SHARE_MIN: f64 = 0.9;
/// From this share on, as much as all of the bytes.
const ALL_SHARE_MIN: f64 = 0.9995;
/// Devices may move this share of extra bytes, for journals and metadata.
const OTHER_IO_SHARE_MAX: f64 = 0.05;
/// Fewer extra bytes than this are never reported as other I/O.
pub(super) const OTHER_IO_BYTES_MIN: f64 = 1024.0 * 1024.0;
/// File systems that write changed data and its metadata to a new place.
// `overlay` copies a file of its lower layer before the first write to it.
const COPY_ON_WRITE: [&str; 6] = ["bcachefs", "btrfs", "f2fs", "nilfs2", "overlay", "zfs"];

pub(super) fn cache_served_reads(cell: &CellRecord) -> Finding {
    let share = cache_read_share(cell)?;
    let message = format!(
        "the page cache, not {}, served {} of the bytes read",
        cell.device.as_ref()?.source,
        percent(share)
    );
    Some((WarningCode::CacheServedReads, message))
}

/// Share of the bytes read that the page cache served; `None` if unknown or small.
pub(crate) fn cache_read_share(cell: &CellRecord) -> Option<f64> {
    let device = measured_devices(cell)?;
    // The process's counter excludes reads of other programs, and the device's counter excludes
    // reads of other devices.
    let own = device.own_read_bytes.unwrap_or(u64::MAX);
    missing_share(cell, "read", own.min(device.read_bytes))
}

pub(super) fn cache_absorbed_writes(cell: &CellRecord) -> Finding {
    let share = cache_write_share(cell)?;
    let amount = match share >= ALL_SHARE_MIN {
        true => "none of the bytes written had".to_owned(),
        false => format!("{} of the bytes written had not", percent(share)),
    };
    let message = format!(
        "{amount} reached {} when the measurement ended",
        cell.device.as_ref()?.source
    );
    Some((WarningCode::CacheAbsorbedWrites, message))
}

/// Share of the bytes written that did not reach the device during the measurement; `None` if
/// unknown or small.
pub(crate) fn cache_write_share(cell: &CellRecord) -> Option<f64> {
    missing_share(cell, "write", measured_devices(cell)?.write_bytes)
}

/// The cell's devices; `None` if its engine does no I/O.
fn measured_devices(cell: &CellRecord) -> Option<&DeviceFigures> {
    let device = cell.device.as_ref()?;
    (cell.engine != EngineKind::Null).then_some(device)
}

/// Share of an operation's bytes that the device did not move. `None` if it is small, or the
/// counters were not read close enough to the ends of the measured time.
fn missing_share(cell: &CellRecord, operation: &str, device_bytes: u64) -> Option<f64> {
    let figures = cell.operation(operation)?;
    // The counters cover a part of the measured time, so only that part of the bytes is expected.
    let moved = figures.bytes as f64 * cell.device_coverage()?;
    let missing = moved - device_bytes as f64 - in_flight_bytes(cell, figures);
    let is_missing = missing > moved * (1.0 - DEVICE_SHARE_MIN);
    // The allowance for requests in flight only prevents false alarms, so the share is without it.
    is_missing.then(|| 1.0 - device_bytes as f64 / moved)
}

/// Upper bound of the bytes in flight at an end of the measurement. The device may count them when
/// the run does not, or the reverse.
fn in_flight_bytes(cell: &CellRecord, figures: &OperationFigures) -> f64 {
    let mean = figures.bytes as f64 / figures.count.max(1) as f64;
    mean * f64::from(cell.iodepth) * f64::from(cell.workers)
}

pub(super) fn other_io(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> Finding {
    if is_idle(cell) {
        // Such a cell exists to show the I/O of others.
        return None;
    }
    let device = measured_devices(cell)?;
    let read = other_reads(cell, device);
    // Writes of the file system for its own use are in no process's counter.
    let written = match may_amplify(cell, planned, environment, plan) {
        true => 0.0,
        false => other_writes(cell, device),
    };
    let moved = cell.total.bytes as f64;
    let extra = read + written;
    // Bytes in flight at either end may be counted on one side only.
    if extra - in_flight_bytes(cell, &cell.total) <= moved * OTHER_IO_SHARE_MAX
        || extra < OTHER_IO_BYTES_MIN
    {
        return None;
    }
    let source = &device.source;
    let message = if moved > 0.0 {
        let sizes = [(read as u64, "reads"), (written as u64, "writes")];
        let sizes = sizes.into_iter().filter(|(bytes, _)| *bytes > 0);
        let amounts: Vec<String> = sizes
            .map(|(bytes, what)| format!("{} of {what}", units::format::size(bytes)))
            .collect();
        format!(
            "{source} moved {} more bytes than this run issued: {} came from other programs or \
             the file system itself",
            percent(extra / moved),
            amounts.join(" and "),
        )
    } else {
        format!("{source} served other programs while this run did no I/O")
    };
    Some((WarningCode::OtherIoOnDevice, message))
}

/// Bytes that the device read, but not for this process.
fn other_reads(cell: &CellRecord, device: &DeviceFigures) -> f64 {
    let own = match (device.own_read_bytes, cell.cache) {
        (Some(own), _) => own,
        (None, CacheMode::Direct) => cell.operation("read").map_or(0, |it| it.bytes),
        // Read-ahead alone can make the device read more than the process requested.
        (None, _) => device.read_bytes,
    };
    device.read_bytes.saturating_sub(own) as f64
}

/// Bytes that the device wrote, but not for this process.
fn other_writes(cell: &CellRecord, device: &DeviceFigures) -> f64 {
    let moved = cell.operation("write").map_or(0, |it| it.bytes);
    let own = match (device.own_write_bytes, cell.cache) {
        // A page that is rewritten while dirty counts once, but a direct write counts each time.
        (Some(own), _) => own.max(moved),
        (None, CacheMode::Direct) => moved,
        // Writeback may include data from before the measurement.
        (None, _) => device.write_bytes,
    };
    device.write_bytes.saturating_sub(own) as f64
}

/// `true` if the device may write more than requested without another program: by the file system,
/// or because an earlier cell left data in memory.
fn may_amplify(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> bool {
    // Without the plan, dirty pages of an earlier cell are possible, except for direct I/O.
    let Some(planned) = planned else {
        return cell.cache != CacheMode::Direct;
    };
    let used = target_indexes(planned);
    let copies = environment
        .file_systems
        .iter()
        .any(|it| used.contains(&it.target_index) && COPY_ON_WRITE.contains(&it.kind.as_str()));
    let is_device = |index: &u32| {
        let target = plan.targets.get(*index as usize);
        target.is_some_and(|it| it.kind == TargetKind::Device)
    };
    // Files are evicted before a cell, but dirty pages of a device can remain from an earlier one.
    let may_be_left = cell.cache != CacheMode::Direct && used.iter().any(is_device);
    copies || may_be_left || planned.work.is_acts() || planned.new_file
}

/// Warns about targets that are backed by memory, so that no device is measured: a loop device on a
/// file in memory, zram, a file system in memory.
#[must_use]
pub fn memory_target_warnings(environment: &Environment, plan: &Plan) -> Vec<Warning> {
    let stacks = environment.stacks.iter().filter(|stack| stack.in_memory);
    let doubted = stacks.filter_map(|stack| {
        let target = plan.targets.get(stack.target_index as usize)?;
        let cells = plan.cells.iter().filter(|cell| {
            cell.engine != EngineKind::Null && target_indexes(cell).contains(&stack.target_index)
        });
        // For direct I/O without a device, each cell has its own warning.
        let is_reported = |cell: &Cell| {
            is_without_device(environment, stack.target_index) && cell.cache == CacheMode::Direct
        };
        let mut cells = cells.filter(|cell| !is_reported(cell));
        cells.next().map(|_| {
            let message = format!(
                "no device is measured: `{}` is on {}",
                target.path.display(),
                stack.layers
            );
            Warning::of_run(WarningCode::MemoryBacked, message)
        })
    });
    doubted.collect()
}

/// `true` if a target is on a file system in memory, which has no separate page cache.
fn is_without_device(environment: &Environment, target_index: u32) -> bool {
    let is_target = |index: &u32| *index == target_index;
    let mut stacks = environment.stacks.iter();
    let mut devices = environment.devices.iter().map(|it| &it.target_index);
    stacks.any(|it| it.in_memory && is_target(&it.target_index)) && !devices.any(is_target)
}

pub(super) fn file_smaller_than_memory(
    cell: &CellRecord,
    planned: Option<&Cell>,
    environment: &Environment,
    plan: &Plan,
) -> Finding {
    if cell.cache != CacheMode::Buffered || cell.engine == EngineKind::Null {
        return None;
    }
    let is_without = |index: &u32| {
        let target = plan.targets.get(*index as usize);
        let is_peer = target.is_some_and(|it| it.kind == TargetKind::Network);
        is_peer || is_without_device(environment, *index)
    };
    if target_indexes(planned?).iter().all(is_without) {
        return None;
    }
    let used = used_bytes(cell, planned?, plan)?;
    let limit = environment.memory_limit().map(|limit| limit.value as u64);
    // The control group's limit includes cached pages.
    let memory = environment.memory_bytes.min(limit.unwrap_or(u64::MAX));
    (used < memory).then(|| {
        let share = percent(used as f64 / memory as f64);
        let has_files = planned.is_some_and(|cell| !cell.work.is_access());
        let message = match has_files {
            false => format!("the data is {share} of the memory, so the page cache can hold it"),
            true => {
                format!("the files fit into {share} of the memory, so the page cache can hold them")
            }
        };
        (WarningCode::FileSmallerThanMemory, message)
    })
}
