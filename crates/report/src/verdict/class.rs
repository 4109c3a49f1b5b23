//! Guesses the class of a device from its results. `docs/methodology.md` gives the ranges and their
//! sources.

use units::format;

use super::known::{DEEP, DeviceAccess, KnownRate, find};
use super::rate::UncertainRate;

/// Below this number of random 4 KiB reads per second at depth 1, a disk head must be moving.
///
/// Source: half a rotation at 7200/min takes 4.16 ms, which allows 240 reads per second without
/// any seek; at 15000/min it takes 2 ms.
const DISK_MAX: f64 = 400.0;
/// From this number on, latency is too short for a network and a remote copy.
///
/// Source: Amazon, "Amazon EBS volume types": single-digit milliseconds, with io2 Block Express
/// below one.
const NETWORK_MAX: f64 = 4_000.0;
/// From this number on, that is at 16 µs and less, data does not come from flash.
const FLASH_MAX: f64 = 60_000.0;
/// Bytes per second beyond which no SATA link carries data.
///
/// Source: Serial ATA revision 3: 6 Gb/s in a code of 10 bits for 8.
const SATA_BYTES_MAX: f64 = 600e6;
/// Random reads per second at depth 32 that a SATA drive does not reach.
///
/// Source: Samsung, "SSD 870 EVO" data sheet, 98,000 at depth 32.
const SATA_DEEP_MAX: f64 = 110_000.0;

/// Common classes of storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceClass {
    HardDisk,
    NetworkVolume,
    SataSsd,
    NvmeSsd,
    /// A flash drive with an unknown interface.
    Ssd,
    Memory,
}

impl DeviceClass {
    fn name(self) -> &'static str {
        match self {
            Self::HardDisk => "a hard disk",
            Self::NetworkVolume => "a network or cloud volume",
            Self::SataSsd => "a SATA SSD",
            Self::NvmeSsd => "an NVMe SSD",
            Self::Ssd => "an SSD",
            Self::Memory => "memory",
        }
    }

    /// Returns the range of random reads per second at depth 1.
    fn range(self) -> &'static str {
        match self {
            Self::HardDisk => "below 400",
            Self::NetworkVolume => "400 to 4k",
            Self::SataSsd | Self::NvmeSsd | Self::Ssd => "4k to 60k",
            Self::Memory => "60k and more",
        }
    }
}

/// Results that distinguish the classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct DeviceRates {
    /// Random 4 KiB reads at depth 1.
    pub shallow: UncertainRate,
    /// Random 4 KiB reads at depth 32.
    pub deep: Option<UncertainRate>,
    /// Sequential bytes per second.
    pub sequential: Option<UncertainRate>,
}

/// Classes that fit the results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchingClasses {
    classes: Vec<DeviceClass>,
    /// Reason, if the class is not derived from the results.
    reason: Option<&'static str>,
    is_guest: bool,
}

/// Returns the classes at both ends of the confidence intervals.
pub(super) fn matching_classes(results: &DeviceRates) -> MatchingClasses {
    let mut classes = Vec::new();
    for end in [0, 1] {
        let class = class(results, end);
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    MatchingClasses {
        classes,
        reason: None,
        is_guest: false,
    }
}

/// Returns the class at one end of the confidence intervals.
fn class(results: &DeviceRates, end: usize) -> DeviceClass {
    let at_end = |rate: Option<UncertainRate>| rate.map(|rate| rate.bounds[end]);
    match results.shallow.bounds[end] {
        ..DISK_MAX => return DeviceClass::HardDisk,
        ..NETWORK_MAX => return DeviceClass::NetworkVolume,
        FLASH_MAX.. => return DeviceClass::Memory,
        _ => {}
    }
    let (deep, sequential) = (at_end(results.deep), at_end(results.sequential));
    let is_beyond = |rate: Option<f64>, most: f64| rate.is_some_and(|rate| rate > most);
    // One result above its limit excludes SATA. To exclude NVMe, both must be known.
    if is_beyond(deep, SATA_DEEP_MAX) || is_beyond(sequential, SATA_BYTES_MAX) {
        DeviceClass::NvmeSsd
    } else if deep.is_some() && sequential.is_some() {
        DeviceClass::SataSsd
    } else {
        DeviceClass::Ssd
    }
}

impl MatchingClasses {
    /// Creates a class that is known from other facts than the results.
    pub fn known(class: DeviceClass, why: &'static str) -> Self {
        Self {
            classes: vec![class],
            reason: Some(why),
            is_guest: false,
        }
    }

    /// Marks the machine as a virtual one if `virtualization` is not empty.
    pub fn on(self, virtualization: Option<&str>) -> Self {
        Self {
            is_guest: virtualization.is_some_and(|it| !it.is_empty()),
            ..self
        }
    }

    /// Describes the classes, with the results they are derived from.
    pub fn sentence(&self, rates: &[KnownRate]) -> String {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        let names = names.join(" or ");
        if let Some(why) = self.reason {
            return format!("{names}: {why}");
        }
        let mut parts = Vec::new();
        if let Some(one) = find(rates, DeviceAccess::RandomRead, Some(1)) {
            let mut ranges: Vec<&str> = self.classes.iter().map(|class| class.range()).collect();
            // All SSDs share a range. At most two classes fit, so equal ranges are adjacent.
            ranges.dedup();
            let rate = format::iops(one.rate.mean);
            let ranges = ranges.join(" or ");
            parts.push(format!(
                "{rate} random reads per second at depth 1 (typical: {ranges})"
            ));
        }
        if self.depends_on_link() {
            let most = format::bandwidth(SATA_BYTES_MAX);
            // A rate within the limit says nothing if another one exceeds its limit.
            let beyond = self.classes == [DeviceClass::NvmeSsd];
            let counts = |rate: &KnownRate, limit: f64| !beyond || rate.rate.mean > limit;
            let sequential = find(rates, DeviceAccess::SequentialRead, None);
            let sequential = sequential.filter(|it| counts(it, SATA_BYTES_MAX));
            let of = |it: &KnownRate| format::bandwidth(it.rate.mean);
            parts.extend(
                sequential.map(|it| format!("{} sequential (SATA: at most {most})", of(it))),
            );
            let deep = find(rates, DeviceAccess::RandomRead, Some(DEEP));
            let deep = deep.filter(|it| counts(it, SATA_DEEP_MAX));
            let of = |it: &KnownRate| format::iops(it.rate.mean);
            parts.extend(deep.map(|it| format!("{} at depth 32 (SATA: at most 110k)", of(it))));
        }
        let guest = match self.is_guest {
            true => "; this is a virtual machine, so its host's cache may be involved",
            false => "",
        };
        format!("{names}: {}{guest}", parts.join(", "))
    }

    /// Returns `true` if the class depends on the maximum rate of a SATA link.
    fn depends_on_link(&self) -> bool {
        let is_ssd = |it: &DeviceClass| matches!(it, DeviceClass::SataSsd | DeviceClass::NvmeSsd);
        self.classes.iter().any(is_ssd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(one: UncertainRate, deep: Option<f64>, mebibytes: Option<f64>) -> String {
        let results = DeviceRates {
            shallow: one,
            deep: deep.map(UncertainRate::bare),
            sequential: mebibytes.map(|it| UncertainRate::bare(it * 1024.0 * 1024.0)),
        };
        matching_classes(&results).sentence(&[])
    }

    #[test]
    fn typical_figures_give_their_device_class() {
        for (one, deep, mebibytes, wanted) in [
            (80.0, 170.0, 258.0, "a hard disk"),
            (1_100.0, 3_000.0, 125.0, "a network or cloud volume"),
            (13_000.0, 98_000.0, 534.0, "a SATA SSD"),
            (22_000.0, 600_000.0, 7_100.0, "an NVMe SSD"),
            (400_000.0, 900_000.0, 9_000.0, "memory"),
        ] {
            let text = names(UncertainRate::bare(one), Some(deep), Some(mebibytes));
            assert!(text.starts_with(wanted), "{one}: {text}");
        }
        assert!(names(UncertainRate::bare(9_000.0), None, None).starts_with("an SSD"));
    }

    #[test]
    fn a_figure_near_two_classes_is_like_both() {
        let text = names(
            UncertainRate::with_uncertainty(4_000.0, 0.2),
            Some(50_000.0),
            Some(400.0),
        );
        assert!(
            text.starts_with("a network or cloud volume or a SATA SSD"),
            "{text}"
        );
    }

    #[test]
    fn a_guest_mentions_the_cache_of_the_host() {
        let results = DeviceRates {
            shallow: UncertainRate::bare(20_000.0),
            deep: None,
            sequential: None,
        };
        let text = matching_classes(&results).on(Some("kvm")).sentence(&[]);
        assert!(text.contains("host's cache may be involved"), "{text}");
    }
}
