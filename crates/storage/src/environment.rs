//! Describes the machine for a record. Unknown values are empty.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use results::{ClockRecord, Device, Environment, FileSystem, Load, Mount, Processor, Stack};
use rustix::process::{Resource, getrlimit};
use rustix::time::{ClockId, clock_getres};

use plan::TcpAddress;

use crate::facts::memory_bytes;
use crate::limits::limits;
use crate::mounts::mounts;
use crate::path::parent_of;
use crate::probe::{PathFacts, PathKind, probe};
use crate::stack::{Medium, stack};
use crate::sysfs::{BlockDevice, Sysfs, active, parsed, top_devices, word};

/// Kernel settings that affect results, by their name in records.
const SETTINGS: [(&str, &str); 8] = [
    ("vm.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
    (
        "vm.dirty_background_ratio",
        "/proc/sys/vm/dirty_background_ratio",
    ),
    ("vm.swappiness", "/proc/sys/vm/swappiness"),
    (
        "kernel.io_uring_disabled",
        "/proc/sys/kernel/io_uring_disabled",
    ),
    (
        "transparent_hugepage",
        "/sys/kernel/mm/transparent_hugepage/enabled",
    ),
    ("smt", "/sys/devices/system/cpu/smt/control"),
    ("pressure.io", "/proc/pressure/io"),
    ("pressure.cpu", "/proc/pressure/cpu"),
];

/// Describes the machine, and the storage under each target (in the order of the plan's targets).
#[must_use]
pub fn environment(targets: &[PathBuf]) -> Environment {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    let mut environment = Environment {
        host: text(names.nodename()),
        directory: std::env::current_dir()
            .map(|directory| directory.to_string_lossy().into_owned())
            .unwrap_or_default(),
        kernel: text(names.release()),
        kernel_build: text(names.version()),
        architecture: text(names.machine()),
        distribution: distribution(),
        virtualization: virtualization(),
        cpu: processor(),
        memory_bytes: memory_bytes(),
        memory_available_bytes: memory_available_bytes(),
        page_bytes: rustix::param::page_size() as u64,
        clock: clock(),
        load_before: load(),
        settings: settings(),
        memlock_limit_bytes: getrlimit(Resource::Memlock).current,
        ..Environment::default()
    };
    let table = mounts();
    for (target_index, path) in (0..).zip(targets) {
        if TcpAddress::is_tcp_name(&path.to_string_lossy()) {
            continue;
        }
        let Ok(facts) = probe(path) else { continue };
        describe_file_system(&facts, target_index, &mut environment);
        environment.stacks.extend(stack(path).map(|found| Stack {
            target_index,
            in_memory: found.medium == Medium::Memory,
            layers: found.text,
        }));
        let top = top_devices(path, &table);
        let stack = Sysfs::default().stack(&top, &table);
        environment
            .devices
            .extend(stack.into_iter().map(|found| device(found, target_index)));
    }
    environment.limits = limits();
    environment.limits.retain(|limit| {
        let mut devices = environment.devices.iter();
        // A limit on a device that no target uses cannot affect the results.
        let is_under = |name: &String| devices.any(|device| device.name == *name);
        limit.device.as_ref().is_none_or(is_under)
    });
    let mut schedulers: Vec<String> = Vec::new();
    for device in &environment.devices {
        let scheduler = format!("{}: {}", device.name, device.scheduler);
        // Targets on the same stack name its devices once each.
        if !device.scheduler.is_empty() && !schedulers.contains(&scheduler) {
            schedulers.push(scheduler);
        }
    }
    environment.scheduler = schedulers.join(", ");
    environment
}

fn describe_file_system(facts: &PathFacts, target_index: u32, environment: &mut Environment) {
    if facts.kind == PathKind::Device || facts.file_system == "none" {
        return;
    }
    let on = if facts.kind == PathKind::Missing {
        parent_of(&facts.path)
    } else {
        &facts.path
    };
    let space = rustix::fs::statvfs(on).ok();
    environment.file_systems.push(FileSystem {
        target_index,
        kind: facts.file_system.clone(),
        block_bytes: fs::metadata(on).map_or(0, |found| found.blksize()),
        size_bytes: facts.total_bytes,
        free_bytes: facts.free_bytes,
        inodes: space.as_ref().map_or(0, |space| space.f_files),
        free_inodes: space.map_or(0, |space| space.f_ffree),
        direct_bytes: Some(facts.direct.offset_bytes).filter(|bytes| *bytes > 0),
    });
    if let Some(mount) = &facts.mount {
        environment.mounts.push(Mount {
            target_index,
            mount_point: mount.point.display().to_string(),
            source: mount.source.clone(),
            kind: mount.file_system.clone(),
            options: mount.options.join(","),
        });
    }
}

fn device(block: BlockDevice, target_index: u32) -> Device {
    let queue = Sysfs::default().queue(block.number);
    Device {
        target_index,
        kind: kind(&block).to_owned(),
        name: block.name,
        model: block.model.unwrap_or_default(),
        size_bytes: block.size_bytes,
        logical_block_bytes: block.logical_block_bytes,
        physical_block_bytes: parsed(&queue.join("physical_block_size")).unwrap_or(0),
        rotational: block.rotational,
        scheduler: block.scheduler.unwrap_or_default(),
        queue_requests: block.queue_requests,
        read_ahead_bytes: parsed::<u64>(&queue.join("read_ahead_kb")).map(|kib| kib * 1024),
        write_cache: word(&queue.join("write_cache")),
    }
}

fn kind(device: &BlockDevice) -> &'static str {
    let starts = |prefix: &str| device.name.starts_with(prefix);
    match () {
        () if Sysfs::default().parent_disk(device.number).is_some() => "partition",
        () if starts("loop") => "loop",
        () if starts("dm-") => "device-mapper",
        () if starts("md") => "raid",
        () if starts("zram") => "zram",
        () if starts("nbd") || starts("rbd") => "network",
        () => "disk",
    }
}

fn distribution() -> String {
    let text = fs::read_to_string("/etc/os-release")
        .or_else(|_| fs::read_to_string("/usr/lib/os-release"))
        .unwrap_or_default();
    let value = |key: &str| {
        let value = text
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(value.trim_matches('"').to_owned())
    };
    value("PRETTY_NAME")
        .or_else(|| value("NAME"))
        .unwrap_or_default()
}

fn virtualization() -> Option<String> {
    if Path::new("/.dockerenv").exists() {
        return Some("docker".to_owned());
    }
    if let Some(container) = word(Path::new("/run/systemd/container")) {
        return Some(container);
    }
    let hypervisor = word(Path::new("/sys/hypervisor/type"));
    // On physical machines, this is the manufacturer of the hardware.
    let product = word(Path::new("/sys/class/dmi/id/sys_vendor")).filter(|vendor| {
        ["QEMU", "VMware", "Xen", "innotek", "Amazon"]
            .iter()
            .any(|it| vendor.contains(it))
    });
    let flagged = || {
        let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let flags = text.lines().find(|line| line.starts_with("flags"))?;
        flags
            .split(' ')
            .any(|flag| flag == "hypervisor")
            .then(|| "hypervisor".to_owned())
    };
    hypervisor.or(product).or_else(flagged)
}

fn processor() -> Processor {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let value = |line: &str, key: &str| {
        let (name, value) = line.split_once(':')?;
        (name.trim() == key).then(|| value.trim().to_owned())
    };
    let all = |key: &'static str| text.lines().filter_map(move |line| value(line, key));
    let first = |key| all(key).next();
    let package = all("physical id").collect::<Vec<_>>();
    let mut cores: Vec<_> = package.into_iter().zip(all("core id")).collect();
    // `core id` is unique only within a package, and hardware threads of a core share it.
    cores.sort_unstable();
    cores.dedup();
    let usable = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let nodes = fs::read_dir("/sys/devices/system/node")
        .into_iter()
        .flatten()
        .flatten();
    let is_node = |name: String| {
        name.strip_prefix("node")
            .is_some_and(|it| it.parse::<u32>().is_ok())
    };
    let numa = nodes.filter(|entry| is_node(entry.file_name().to_string_lossy().into_owned()));
    Processor {
        model: first("model name")
            .or_else(|| first("CPU part"))
            .unwrap_or_default(),
        logical_count: all("processor").count() as u32,
        usable_count: usable as u32,
        core_count: cores.len() as u32,
        numa_count: numa.count().max(1) as u32,
        governor: word(Path::new(
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        )),
    }
}

pub(crate) fn memory_available_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

pub(crate) fn clock_source() -> String {
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    word(Path::new(path)).unwrap_or_default()
}

fn clock() -> ClockRecord {
    let source = clock_source();
    let resolution = clock_getres(ClockId::Monotonic);
    let stable = match source.as_str() {
        "" => None,
        // The kernel uses these after it detected that other clocks drift.
        "jiffies" | "refined-jiffies" | "pit" => Some(false),
        _ => Some(true),
    };
    ClockRecord {
        source,
        resolution_ns: u64::try_from(resolution.tv_nsec)
            .ok()
            .filter(|step| *step > 0),
        // Measured by the reader of the clock, not here.
        read_cost_ns: None,
        stable,
    }
}

pub(crate) fn load() -> Load {
    let text = word(Path::new("/proc/loadavg")).unwrap_or_default();
    let mut fields = text.split(' ').map(|field| field.parse().unwrap_or(0.0));
    let mut next = || fields.next().unwrap_or(0.0);
    Load {
        one_minute: next(),
        five_minutes: next(),
        fifteen_minutes: next(),
    }
}

fn settings() -> Vec<String> {
    let read = |(name, path): &(&str, &str)| {
        let text = word(Path::new(path))?;
        let first = text.lines().next().unwrap_or_default();
        Some(format!("{name}={}", active(first)))
    };
    SETTINGS.iter().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_of_this_machine_is_complete() {
        let directory = tempfile::tempdir().expect("a directory");
        let found = environment(&[directory.path().to_owned(), "/no/such/place".into()]);
        assert!(!found.kernel.is_empty() && !found.architecture.is_empty());
        assert!(found.memory_bytes > 0 && found.page_bytes >= 4096);
        assert!(found.memory_available_bytes <= found.memory_bytes);
        assert!(found.cpu.logical_count > 0 && found.cpu.usable_count > 0);
        assert_eq!(found.file_systems.len(), 1);
        assert_eq!(found.file_systems[0].target_index, 0);
        assert!(found.file_systems[0].size_bytes > 0);
        assert_eq!(found.mounts.len(), 1);
        assert_eq!(found.stacks.len(), 1);
        assert!(
            found.stacks[0]
                .layers
                .starts_with(&found.file_systems[0].kind)
        );
        assert!(!found.clock.source.is_empty());
    }

    #[test]
    fn a_setting_is_the_active_word_of_its_list() {
        let listed = settings();
        assert!(
            listed.iter().all(|setting| !setting.contains('[')),
            "{listed:?}"
        );
        assert!(
            listed
                .iter()
                .any(|setting| setting.starts_with("vm.swappiness="))
        );
    }
}
