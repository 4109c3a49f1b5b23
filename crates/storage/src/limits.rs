//! Limits that control groups set for this process: devices, CPUs and memory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use results::{Limit, LimitedResource};

use crate::facts::memory_bytes;
use crate::mounts::{MountLine, mounts};
use crate::sysfs::{DeviceNumber, Sysfs};

/// Enough for any statistics file of a group.
const STAT_BYTES_MAX: usize = 4096;

/// A control group of this process: its own, or one above.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ControlGroup {
    directory: PathBuf,
    /// `true` for version 2, in which all controllers share a directory.
    is_unified: bool,
}

/// The tightest limit of each kind, for devices one per device.
pub(crate) fn limits() -> Vec<Limit> {
    let groups = groups(
        &fs::read_to_string("/proc/self/cgroup").unwrap_or_default(),
        &mounts(),
    );
    let processors = processor_count();
    let matters = |limit: &Limit| match limit.resource {
        // Quotas above the number of CPUs never take effect, so they are not reported.
        LimitedResource::Processors => limit.value < f64::from(processors),
        // Version 1 reports a number near 2^63 if there is no limit.
        LimitedResource::MemoryBytes => limit.value < memory_bytes() as f64,
        _ => true,
    };
    tightest(groups.iter().flat_map(of_group).filter(matters))
}

/// The lowest limit for each resource and device.
fn tightest(limits: impl Iterator<Item = Limit>) -> Vec<Limit> {
    let mut kept: Vec<Limit> = Vec::new();
    for limit in limits {
        let same =
            |known: &&mut Limit| known.resource == limit.resource && known.device == limit.device;
        match kept.iter_mut().find(same) {
            // Limits apply at each level of the hierarchy, so the tightest one decides.
            Some(known) if limit.value < known.value => *known = limit,
            Some(_) => {}
            None => kept.push(limit),
        }
    }
    kept
}

fn processor_count() -> u32 {
    // The affinity mask; the standard library would also include quotas.
    rustix::thread::sched_getaffinity(None).map_or(u32::MAX, |allowed| allowed.count())
}

/// The control groups of a process, from its `/proc/self/cgroup`. Limits of all groups up to the
/// root apply.
fn groups(cgroup_text: &str, table: &[MountLine]) -> Vec<ControlGroup> {
    let mut groups = Vec::new();
    for line in cgroup_text.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let is_unified = controllers.is_empty();
        let has_all = |mount: &&MountLine| {
            // Hierarchies with only a name, such as systemd's, have no controllers and no limits.
            let mut wanted = controllers.split(',').filter(|it| !it.starts_with("name="));
            let is_kind = match is_unified {
                true => mount.file_system == "cgroup2",
                false => mount.file_system == "cgroup" && !controllers.starts_with("name="),
            };
            is_kind && (is_unified || wanted.all(|it| mount.options.iter().any(|has| has == it)))
        };
        let Some(mount) = table.iter().find(has_all) else {
            continue;
        };
        // A container may have only a part of the tree, mounted as its root.
        let path = Path::new(path);
        let below = path.strip_prefix(&mount.root);
        let below = below.or_else(|_| path.strip_prefix("/")).unwrap_or(path);
        let own: PathBuf = mount.point.join(below).components().collect();
        let levels = own
            .ancestors()
            .take_while(|it| it.starts_with(&mount.point));
        groups.extend(levels.map(|directory| ControlGroup {
            directory: directory.to_owned(),
            is_unified,
        }));
    }
    groups
}

/// Limits that a group itself sets.
fn of_group(group: &ControlGroup) -> Vec<Limit> {
    let read = |name: &str| fs::read_to_string(group.directory.join(name)).ok();
    let mut limits = Vec::new();
    let mut put = |resource, value, device| {
        limits.push(Limit {
            resource,
            value,
            group: group.directory.display().to_string(),
            device,
        });
    };
    if group.is_unified {
        for (device, resource, value) in parse_io_max(&read("io.max").unwrap_or_default()) {
            put(resource, value, Some(name_of(device)));
        }
        if let Some(value) = read("cpu.max").and_then(|text| parse_cpu_max(&text)) {
            put(LimitedResource::Processors, value, None);
        }
        // Above `memory.high`, the kernel throttles and reclaims, so it limits the page cache as
        // well.
        for name in ["memory.max", "memory.high"] {
            if let Some(value) = read(name).and_then(|text| number(&text)) {
                put(LimitedResource::MemoryBytes, value, None);
            }
        }
        return limits;
    }
    for (name, resource) in THROTTLES {
        for (device, value) in throttle(&read(name).unwrap_or_default()) {
            put(resource, value, Some(name_of(device)));
        }
    }
    let quota = read("cpu.cfs_quota_us").and_then(|text| number(&text));
    let period = read("cpu.cfs_period_us").and_then(|text| number(&text));
    if let (Some(quota), Some(period)) = (quota, period.filter(|it| *it > 0.0)) {
        put(LimitedResource::Processors, quota / period, None);
    }
    if let Some(value) = read("memory.limit_in_bytes").and_then(|text| number(&text)) {
        put(LimitedResource::MemoryBytes, value, None);
    }
    limits
}

/// Source: Linux, `Documentation/admin-guide/cgroup-v1/blkio-controller.rst`.
const THROTTLES: [(&str, LimitedResource); 4] = [
    (
        "blkio.throttle.read_iops_device",
        LimitedResource::ReadsPerSecond,
    ),
    (
        "blkio.throttle.write_iops_device",
        LimitedResource::WritesPerSecond,
    ),
    (
        "blkio.throttle.read_bps_device",
        LimitedResource::ReadBytesPerSecond,
    ),
    (
        "blkio.throttle.write_bps_device",
        LimitedResource::WriteBytesPerSecond,
    ),
];

fn name_of(device: DeviceNumber) -> String {
    let name = Sysfs::default().device(device, 0).map(|found| found.name);
    name.unwrap_or_else(|| format!("{}:{}", device.0, device.1))
}

/// A number that is a limit; `max` and -1 mean no limit.
fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|value| *value >= 0.0)
}

fn device_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses lines such as `8:16 1048576`.
fn throttle(text: &str) -> Vec<(DeviceNumber, f64)> {
    let line = |line: &str| {
        let (device, value) = line.split_once(' ')?;
        Some((device_number(device)?, number(value)?))
    };
    text.lines().filter_map(line).collect()
}

/// Parses lines such as `8:16 rbps=2097152 wbps=max riops=max wiops=120`.
///
/// Source: Linux, `Documentation/admin-guide/cgroup-v2.rst`.
fn parse_io_max(text: &str) -> Vec<(DeviceNumber, LimitedResource, f64)> {
    let mut limits = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let Some(device) = words.next().and_then(device_number) else {
            continue;
        };
        for (key, value) in words.filter_map(|word| word.split_once('=')) {
            let resource = match key {
                "rbps" => LimitedResource::ReadBytesPerSecond,
                "wbps" => LimitedResource::WriteBytesPerSecond,
                "riops" => LimitedResource::ReadsPerSecond,
                "wiops" => LimitedResource::WritesPerSecond,
                _ => continue,
            };
            limits.extend(number(value).map(|value| (device, resource, value)));
        }
    }
    limits
}

/// Number of CPUs that `quota period` allows; `None` for `max period`.
fn parse_cpu_max(text: &str) -> Option<f64> {
    let (quota, period) = text.trim().split_once(' ')?;
    let period = number(period).filter(|period| *period > 0.0)?;
    Some(number(quota)? / period)
}

/// Counters of a CPU quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuotaSample {
    /// Periods of the quota in which the group ran.
    pub periods: u64,
    /// Periods in which the quota was used up.
    pub throttled: u64,
}

impl QuotaSample {
    /// Share of the periods since an earlier reading in which the quota was used up. `None` if
    /// there was no period.
    #[must_use]
    pub fn share_since(&self, earlier: &Self) -> Option<f64> {
        let periods = self.periods.saturating_sub(earlier.periods);
        let throttled = self.throttled.saturating_sub(earlier.throttled);
        (periods > 0).then(|| throttled as f64 / periods as f64)
    }
}

/// Open statistics of the control group with the tightest CPU quota.
#[derive(Debug)]
pub struct QuotaCounters {
    stat: File,
}

impl QuotaCounters {
    /// Opens the statistics; `None` if this process has no quota.
    #[must_use]
    pub fn open() -> Option<Self> {
        let is_cpu_limit = |it: &Limit| it.resource == LimitedResource::Processors;
        let limit = limits().into_iter().find(is_cpu_limit)?;
        let stat = File::open(Path::new(&limit.group).join("cpu.stat")).ok()?;
        Some(Self { stat })
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// I/O errors; `InvalidData` if the text does not have the kernel's format.
    pub fn sample(&self) -> io::Result<QuotaSample> {
        let mut text = [0; STAT_BYTES_MAX];
        // Reading at offset 0 of the open file gives current values, without opening it for each
        // sample.
        let length = self.stat.read_at(&mut text, 0)?;
        let text = String::from_utf8_lossy(&text[..length]);
        parse_quota_sample(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
    }
}

fn parse_quota_sample(text: &str) -> Option<QuotaSample> {
    let value = |key: &str| {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    };
    Some(QuotaSample {
        periods: value("nr_periods ")?,
        throttled: value("nr_throttled ")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group_mount(file_system: &str, root: &str, point: &str, options: &[&str]) -> MountLine {
        MountLine {
            root: root.into(),
            point: point.into(),
            options: options.iter().map(|it| (*it).to_owned()).collect(),
            file_system: file_system.to_owned(),
            ..MountLine::default()
        }
    }

    fn directories(cgroup_text: &str, table: &[MountLine]) -> Vec<String> {
        let groups = groups(cgroup_text, table);
        let shown = groups.iter().map(|it| it.directory.display().to_string());
        shown.collect()
    }

    #[test]
    fn control_groups_include_all_ancestors_in_both_versions() {
        let table = [
            group_mount("cgroup", "/", "/c/blkio", &["rw", "blkio"]),
            group_mount("cgroup", "/", "/c/cpu", &["rw", "cpu", "cpuacct"]),
            group_mount("cgroup2", "/", "/c/unified", &["rw"]),
        ];
        let cgroup_text = "9:name=systemd:/x\n7:blkio:/a/b\n1:cpu,cpuacct:/\n0::/d\n";
        assert_eq!(
            directories(cgroup_text, &table),
            [
                "/c/blkio/a/b",
                "/c/blkio/a",
                "/c/blkio",
                "/c/cpu",
                "/c/unified/d",
                "/c/unified"
            ]
        );
    }

    #[test]
    fn a_control_group_subtree_mounted_as_the_root_is_followed() {
        let table = [group_mount("cgroup", "/docker/1f", "/c", &["memory"])];
        assert_eq!(
            directories("4:memory:/docker/1f/x\n", &table),
            ["/c/x", "/c"]
        );
        assert_eq!(directories("4:memory:/docker/1f\n", &table), ["/c"]);
    }

    #[test]
    fn limits_of_both_control_group_versions_are_parsed() {
        let throttled = throttle("8:0 1048576\n259:3 100\n");
        assert_eq!(throttled, [((8, 0), 1_048_576.0), ((259, 3), 100.0)]);
        assert_eq!(
            parse_io_max("8:16 rbps=2097152 wbps=max riops=max wiops=120\n"),
            [
                ((8, 16), LimitedResource::ReadBytesPerSecond, 2_097_152.0),
                ((8, 16), LimitedResource::WritesPerSecond, 120.0)
            ]
        );
        assert_eq!(parse_cpu_max("50000 100000\n"), Some(0.5));
        assert_eq!(parse_cpu_max("max 100000\n"), None);
        assert_eq!((number("max\n"), number("-1\n")), (None, None));
    }

    #[test]
    fn the_tightest_limit_of_a_device_applies() {
        let limit = |value, group: &str, device: &str| Limit {
            resource: LimitedResource::ReadsPerSecond,
            value,
            group: group.to_owned(),
            device: Some(device.to_owned()),
        };
        let all = [
            limit(200.0, "a", "sda"),
            limit(100.0, "b", "sda"),
            limit(300.0, "a", "sdb"),
        ];
        let kept = tightest(all.into_iter());
        assert_eq!(kept, [limit(100.0, "b", "sda"), limit(300.0, "a", "sdb")]);
    }

    #[test]
    fn the_throttled_share_counts_from_the_first_sample() {
        let first =
            parse_quota_sample("nr_periods 10\nnr_throttled 4\nthrottled_time 7\n").unwrap();
        let later = "usage_usec 5\nnr_periods 30\nnr_throttled 19\nthrottled_usec 7\n";
        let later = parse_quota_sample(later).unwrap();
        assert_eq!(later.share_since(&first), Some(0.75));
        assert_eq!(first.share_since(&first), None);
    }
}
