//! Which figures deserve doubt for what devices did meanwhile.

use plan::{CacheMode, EngineKind, Plan, TargetKind};
use results::{
    CellRecord, DeviceFigures, FileSystem, Stack, WarningCode, doubt, memory_target_warnings,
};

use crate::doubts::{only, setting, warnings_of};
use crate::sample;

/// A cell through the page cache whose file memory cannot hold, with the device's figures to be
/// changed.
fn buffered(change: impl Fn(&mut DeviceFigures)) -> (Plan, CellRecord) {
    let (mut plan, mut cell) = setting();
    plan.targets[0].size_bytes = 1 << 40;
    cell.cache = CacheMode::Buffered;
    change(cell.device.as_mut().expect("the sample has a device"));
    (plan, cell)
}

fn counted(device: &mut DeviceFigures) {
    device.own_read_bytes = Some(device.read_bytes);
    device.own_write_bytes = Some(device.write_bytes);
}

#[test]
fn reads_that_the_device_did_not_see_came_from_the_cache() {
    let (plan, mut cell) = setting();
    let device = cell.device.as_mut().unwrap();
    device.read_bytes = device.read_bytes * 37 / 100;
    let message = "the page cache, not nvme0n1, served 63 % of the bytes read";
    only(&plan, &cell, WarningCode::CacheServedReads, message);
    let read_bytes = cell.operations["read"].bytes;
    cell.device.as_mut().unwrap().read_bytes = read_bytes * 91 / 100;
    assert_eq!(warnings_of(&plan, &cell), []);
    cell.device.as_mut().unwrap().read_bytes = 0;
    cell.engine = EngineKind::Null;
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn counters_read_too_late_do_not_blame_the_cache() {
    let (plan, mut cell) = setting();
    let run_time_ns = cell.run_time_ns;
    let device = cell.device.as_mut().unwrap();
    // The monitor got no processor until all was over, so both readings are alike.
    (device.read_bytes, device.write_bytes) = (0, 0);
    device.covered_ns = Some(0);
    assert_eq!(warnings_of(&plan, &cell), []);
    assert_eq!(cell.device_share("read"), None);
    // 38 % of the time went by before the first reading.
    let (_, mut cell) = setting();
    let device = cell.device.as_mut().unwrap();
    device.read_bytes = device.read_bytes * 62 / 100;
    device.covered_ns = Some(run_time_ns * 62 / 100);
    assert_eq!(warnings_of(&plan, &cell), []);
    // What they cover in full, they tell.
    cell.device.as_mut().unwrap().covered_ns = Some(run_time_ns);
    assert_eq!(
        warnings_of(&plan, &cell)[0].0,
        WarningCode::CacheServedReads
    );
}

#[test]
fn requests_in_a_burst_before_the_first_reading_do_not_blame_the_cache() {
    let (plan, mut cell) = setting();
    // As measured beside a dozen busy processes: the counters miss 0.9 % of the time and 17 % of
    // the reads, because the workers ran 7 % of the time.
    let device = cell.device.as_mut().unwrap();
    device.read_bytes = device.read_bytes * 83 / 100;
    device.covered_ns = Some(cell.run_time_ns * 991 / 1000);
    let codes = |cell: &CellRecord| warnings_of(&plan, cell).into_iter().map(|it| it.0);
    let blames = |cell: &CellRecord| codes(cell).any(|it| it == WarningCode::CacheServedReads);
    assert!(blames(&cell));
    cell.cpu.waiting = Some(0.93);
    assert!(!blames(&cell));
    // Without a gap, bursts do not matter.
    cell.device.as_mut().unwrap().covered_ns = Some(cell.run_time_ns);
    assert!(blames(&cell));
}

#[test]
fn reads_of_other_programs_do_not_hide_cached_reads() {
    let (plan, cell) = buffered(|device| {
        counted(device);
        device.own_read_bytes = Some(device.read_bytes * 37 / 100);
    });
    let codes: Vec<_> = warnings_of(&plan, &cell)
        .into_iter()
        .map(|it| it.0)
        .collect();
    let others = WarningCode::OtherIoOnDevice;
    assert_eq!(codes, [WarningCode::CacheServedReads, others]);
    // What this process read elsewhere hides nothing either.
    let (plan, cell) = buffered(|device| {
        counted(device);
        device.read_bytes = device.read_bytes * 37 / 100;
    });
    assert_eq!(
        warnings_of(&plan, &cell)[0].0,
        WarningCode::CacheServedReads
    );
    let (plan, cell) = buffered(counted);
    assert_eq!(warnings_of(&plan, &cell), []);
}

#[test]
fn writes_that_did_not_reach_the_device_are_reported() {
    let (plan, mut cell) = buffered(|device| {
        counted(device);
        device.write_bytes /= 4;
    });
    let message = "75 % of the bytes written had not reached nvme0n1 when the measurement ended";
    only(&plan, &cell, WarningCode::CacheAbsorbedWrites, message);
    cell.cache = CacheMode::Direct;
    only(&plan, &cell, WarningCode::CacheAbsorbedWrites, message);
}

#[test]
fn extra_device_traffic_is_attributed_to_other_programs() {
    let (plan, mut cell) = setting();
    let extra = cell.total.bytes / 10;
    cell.device.as_mut().unwrap().write_bytes += extra;
    let message = "nvme0n1 moved 10 % more bytes than this run issued: 39.1 MiB of writes came \
                   from other programs or the file system itself";
    only(&plan, &cell, WarningCode::OtherIoOnDevice, message);
    cell.cache = CacheMode::Dontcache;
    assert_eq!(
        warnings_of(&plan, &cell),
        [],
        "writeback may be of what was written before, where nobody counts"
    );
    for cache in [CacheMode::Direct, CacheMode::Buffered, CacheMode::Dontcache] {
        let (plan, mut cell) = buffered(counted);
        cell.cache = cache;
        cell.device.as_mut().unwrap().write_bytes += extra;
        only(&plan, &cell, WarningCode::OtherIoOnDevice, message);
    }
}

#[test]
fn own_writes_of_a_file_system_are_not_attributed_to_others() {
    let (mut plan, mut cell) = setting();
    cell.device.as_mut().unwrap().write_bytes *= 9;
    let mut environment = sample::environment();
    environment.file_systems = vec![FileSystem {
        kind: "btrfs".into(),
        ..FileSystem::default()
    }];
    assert_eq!(doubt(&cell, &environment, &plan), []);
    // Nor what an earlier cell left in memory to be written to a device.
    counted(cell.device.as_mut().unwrap());
    cell.device.as_mut().unwrap().own_write_bytes = Some(0);
    plan.targets[0].kind = TargetKind::Device;
    plan.targets[0].size_bytes = 1 << 40;
    cell.cache = CacheMode::Buffered;
    assert_eq!(warnings_of(&plan, &cell), []);
    cell.cache = CacheMode::Direct;
    assert_eq!(warnings_of(&plan, &cell)[0].0, WarningCode::OtherIoOnDevice);
}

#[test]
fn the_last_request_of_a_measurement_does_not_blame_the_cache() {
    let (plan, mut cell) = setting();
    (cell.iodepth, cell.workers) = (1, 1);
    let read = cell.operations.get_mut("read").unwrap();
    (read.count, read.bytes) = (7, 7 * 4096);
    cell.device.as_mut().unwrap().read_bytes = 6 * 4096;
    assert_eq!(warnings_of(&plan, &cell), []);
    cell.device.as_mut().unwrap().read_bytes = 5 * 4096;
    let message = "the page cache, not nvme0n1, served 29 % of the bytes read";
    only(&plan, &cell, WarningCode::CacheServedReads, message);
}

#[test]
fn a_target_backed_by_memory_is_reported_once() {
    let (mut plan, _) = setting();
    plan.cells.truncate(1);
    let mut environment = sample::environment();
    environment.stacks = vec![Stack {
        target_index: 0,
        layers: "ext4 on /dev/zram0 (memory, lz4)".into(),
        in_memory: true,
    }];
    let warnings = memory_target_warnings(&environment, &plan);
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].code, WarningCode::MemoryBacked);
    let wanted = "no device is measured: `/mnt/array` is on ext4 on /dev/zram0 (memory, lz4)";
    assert_eq!(warnings[0].message, wanted);
    // Without a device, each cell with direct I/O says so itself; others cannot be cached.
    environment.devices.clear();
    assert_eq!(memory_target_warnings(&environment, &plan), []);
    plan.cells[0].cache = CacheMode::Buffered;
    assert_eq!(memory_target_warnings(&environment, &plan).len(), 1);
    let mut cell = sample::cell_record(&plan, 0, 100_000);
    cell.device = None;
    assert_eq!(doubt(&cell, &environment, &plan), []);
    environment.stacks[0].in_memory = false;
    assert_eq!(memory_target_warnings(&environment, &plan), []);
    let doubts = doubt(&cell, &environment, &plan);
    assert_eq!(doubts[0].code, WarningCode::FileSmallerThanMemory);
}
