//! Which limits of control groups held a run back.

use plan::{CacheMode, Plan};
use results::{CellRecord, Environment, Limit, LimitedResource, WarningCode, doubt};

use crate::sample;

fn limit(resource: LimitedResource, value: f64, device: Option<&str>) -> Environment {
    let limit = Limit {
        resource,
        value,
        group: "/sys/fs/cgroup/a".into(),
        device: device.map(str::to_owned),
    };
    Environment {
        limits: vec![limit],
        ..sample::environment()
    }
}

fn setting() -> (Plan, CellRecord) {
    let plan = sample::plan();
    let cell = sample::cell_record(&plan, 0, 100_000);
    (plan, cell)
}

/// What is said of limits.
fn messages_of(environment: &Environment, plan: &Plan, cell: &CellRecord) -> Vec<String> {
    let warnings = doubt(cell, environment, plan).into_iter();
    let limits = warnings.filter(|it| it.code == WarningCode::LimitInForce);
    limits.map(|it| it.message).collect()
}

#[test]
fn only_a_device_near_its_limit_is_reported() {
    let (plan, cell) = setting();
    let of = |value| {
        let environment = limit(LimitedResource::ReadsPerSecond, value, Some("nvme0n1"));
        messages_of(&environment, &plan, &cell)
    };
    // The sample has 100,000 reads in 10 s.
    let wanted = "I/O was throttled: 10000 of at most 12000 reads per second on nvme0n1, set by \
                  the control group `/sys/fs/cgroup/a`";
    assert_eq!(of(12_000.0), [wanted], "held a little below by others");
    assert_eq!(of(10_000.0).len(), 1);
    assert_eq!(of(20_000.0), [""; 0]);
    assert_eq!(of(5_000.0), [""; 0], "it cannot hold for what was done");
}

#[test]
fn the_limit_of_another_device_is_not_reported() {
    let (plan, cell) = setting();
    let environment = limit(LimitedResource::ReadsPerSecond, 10_000.0, Some("sda"));
    assert_eq!(messages_of(&environment, &plan, &cell), [""; 0]);
}

#[test]
fn with_several_devices_no_limit_is_reported() {
    let (plan, mut cell) = setting();
    cell.device.as_mut().unwrap().source = "nvme0n1, nvme1n1".into();
    let environment = limit(LimitedResource::ReadsPerSecond, 10_000.0, Some("nvme0n1"));
    assert_eq!(messages_of(&environment, &plan, &cell), [""; 0]);
}

#[test]
fn a_cpu_quota_is_reported_if_it_was_used_up() {
    let (plan, mut cell) = setting();
    let environment = limit(LimitedResource::Processors, 0.5, None);
    for (throttled, count) in [(None, 0), (Some(0.0), 0), (Some(0.005), 0), (Some(0.4), 1)] {
        cell.cpu.throttled = throttled;
        assert_eq!(
            messages_of(&environment, &plan, &cell).len(),
            count,
            "{throttled:?}"
        );
    }
}

#[test]
fn a_memory_limit_matters_if_the_page_cache_could_hold_more() {
    let (plan, mut cell) = setting();
    let used = plan.targets[0].size_bytes as f64;
    cell.cache = CacheMode::Buffered;
    let of = |cell: &CellRecord, value| {
        let environment = limit(LimitedResource::MemoryBytes, value, None);
        let warnings = doubt(cell, &environment, &plan).into_iter();
        let codes = warnings.map(|it| it.code).collect::<Vec<_>>();
        let has = |code| codes.contains(&code);
        (
            has(WarningCode::LimitInForce),
            has(WarningCode::FileSmallerThanMemory),
        )
    };
    assert_eq!(of(&cell, used / 2.0), (true, false));
    assert_eq!(of(&cell, used * 2.0), (false, true));
    cell.cache = CacheMode::Direct;
    assert_eq!(of(&cell, used / 2.0), (false, false));
}
