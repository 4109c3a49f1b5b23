//! Section about machine and system.

use maud::{Markup, html};
use results::Environment;
use units::format;

use super::cluster;
use super::run::Run;
use crate::html::{pairs, plain};
use crate::table::Column;
use crate::wrap::printable;

/// Returns all known facts about the machine.
#[must_use]
pub fn section(run: &Run) -> Markup {
    let environment = &run.record.environment;
    html! {
        section #(run.id("environment")) {
            h2 { (run.heading("Environment")) }
            (cluster::hosts(run))
            (pairs(&system(environment), cluster::system_caption(run)))
            (storage(run))
            (pairs(&settings(environment), "Kernel settings"))
        }
    }
}

fn system(environment: &Environment) -> Vec<(String, String)> {
    let cpu = &environment.cpu;
    let load = environment.load_before;
    let clock = &environment.clock;
    // 0 stands for an unknown value. Rows without a value are left out below.
    let number = |count: u32| match count {
        0 => String::new(),
        count => count.to_string(),
    };
    let size = |bytes: u64| match bytes {
        0 => String::new(),
        bytes => format::size(bytes),
    };
    let rows = [
        ("host", environment.host.clone()),
        ("started in", environment.directory.clone()),
        ("kernel", environment.kernel.clone()),
        ("kernel build", environment.kernel_build.clone()),
        ("architecture", environment.architecture.clone()),
        ("distribution", environment.distribution.clone()),
        (
            "virtualization",
            environment.virtualization.clone().unwrap_or_default(),
        ),
        ("processor", cpu.model.clone()),
        ("hardware threads", number(cpu.logical_count)),
        ("hardware threads usable", number(cpu.usable_count)),
        ("cores", number(cpu.core_count)),
        ("NUMA nodes", number(cpu.numa_count)),
        (
            "frequency governor",
            cpu.governor.clone().unwrap_or_default(),
        ),
        ("memory", size(environment.memory_bytes)),
        ("memory available", size(environment.memory_available_bytes)),
        ("page size", size(environment.page_bytes)),
        ("clock", clock.source.clone()),
        ("clock runs evenly", yes_or_no(clock.stable)),
        (
            "load before the run",
            format!(
                "{:.2} {:.2} {:.2} (1, 5 and 15 minutes)",
                load.one_minute, load.five_minutes, load.fifteen_minutes
            ),
        ),
        (
            "locked memory allowed",
            environment
                .memlock_limit_bytes
                .map_or_else(|| "unlimited".to_owned(), size),
        ),
    ];
    rows.into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), printable(&value)))
        .collect()
}

fn yes_or_no(value: Option<bool>) -> String {
    value
        .map(|value| if value { "yes" } else { "no" }.to_owned())
        .unwrap_or_default()
}

fn settings(environment: &Environment) -> Vec<(String, String)> {
    let settings = environment.settings.iter();
    settings
        .map(|setting| {
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            (printable(name), printable(value))
        })
        .collect()
}

/// Returns the storage under the targets, with its mounts.
fn storage(run: &Run) -> Markup {
    let environment = &run.record.environment;
    html! { (stacks(run)) (mounts(environment)) (file_systems(environment)) (devices(environment)) }
}

fn stacks(run: &Run) -> Markup {
    let rows = run.record.environment.stacks.iter().map(|stack| {
        let target = run.record.plan.targets.get(stack.target_index as usize);
        let path = target.map(|target| target.path.to_string_lossy().into_owned());
        let medium = if stack.in_memory { "memory" } else { "" };
        vec![
            printable(&path.unwrap_or_default()),
            printable(&stack.layers),
            medium.to_owned(),
        ]
    });
    let heads = ["target", "layers", "kept in"].map(Column::name);
    plain(heads, rows, "Storage under the targets")
}

fn mounts(environment: &Environment) -> Markup {
    let rows = environment.mounts.iter().map(|mount| {
        let texts = [
            &mount.mount_point,
            &mount.source,
            &mount.kind,
            &mount.options,
        ];
        texts.map(|text| printable(text)).into()
    });
    let heads = ["mounted at", "source", "type", "options"].map(Column::name);
    plain(heads, rows, "Mounts")
}

fn file_systems(environment: &Environment) -> Markup {
    let rows = environment.file_systems.iter().map(|one| {
        let direct = one.direct_bytes.map(|bytes| format::size(bytes.into()));
        vec![
            printable(&one.kind),
            format::size(one.size_bytes),
            format::size(one.free_bytes),
            format::size(one.block_bytes),
            direct.unwrap_or_else(|| "none".to_owned()),
        ]
    });
    let heads = [
        "file system",
        "size",
        "free before",
        "block",
        "unit of direct I/O",
    ];
    plain(heads.map(Column::name), rows, "File systems")
}

fn devices(environment: &Environment) -> Markup {
    let rows = environment.devices.iter().map(|device| {
        let blocks = [device.logical_block_bytes, device.physical_block_bytes];
        let [logical, physical] = blocks.map(|bytes| format::size(bytes.into()));
        let queue = device.queue_requests.map(|count| count.to_string());
        let read_ahead = device.read_ahead_bytes.map(format::size);
        vec![
            printable(&device.name),
            printable(&device.kind),
            printable(&device.model),
            format::size(device.size_bytes),
            format!("{logical}, {physical}"),
            yes_or_no(device.rotational),
            printable(&device.scheduler),
            queue.unwrap_or_default(),
            read_ahead.unwrap_or_default(),
            printable(device.write_cache.as_deref().unwrap_or_default()),
        ]
    });
    let heads = [
        "device",
        "kind",
        "model",
        "size",
        "blocks, logical and physical",
        "rotates",
        "scheduler",
        "queue",
        "read ahead",
        "write cache",
    ];
    plain(heads.map(Column::name), rows, "Devices")
}
