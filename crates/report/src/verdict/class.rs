//! What class of device figures are like. The ranges and where they come from are in
//! `docs/methodology.md`.

use units::format;

use super::known::{Access, DEEP, Known, find};
use super::rate::Rate;

/// Random reads of 4 KiB one at a time: fewer per second than this need a head that moves.
///
/// Source: half a turn of 7200 a minute is 4.16 ms, so that 240 a second remain without any seek;
/// of 15000 a minute it is 2 ms.
const DISK_MAX: f64 = 400.0;
/// From so many on, the way is shorter than a network and a copy elsewhere are long.
///
/// Source: Amazon, "Amazon EBS volume types": single-digit milliseconds, with io2 Block Express
/// below one.
const NETWORK_MAX: f64 = 4_000.0;
/// From so many on, no flash has been read: 16 µs and less.
const FLASH_MAX: f64 = 60_000.0;
/// Bytes per second beyond which no SATA link carries data.
///
/// Source: Serial ATA revision 3: 6 Gb/s in a code of 10 bits for 8.
const SATA_BYTES_MAX: f64 = 600e6;
/// Random reads per second at depth 32 that a SATA drive does not reach.
///
/// Source: Samsung, "SSD 870 EVO" data sheet, 98,000 at depth 32.
const SATA_DEEP_MAX: f64 = 110_000.0;

/// Classes of storage that people know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeviceClass {
    HardDisk,
    NetworkVolume,
    SataSsd,
    NvmeSsd,
    /// A drive of flash of which nothing tells how it is attached.
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

    /// What random reads one at a time are with it.
    fn range(self) -> &'static str {
        match self {
            Self::HardDisk => "below 400",
            Self::NetworkVolume => "400 to 4k",
            Self::SataSsd | Self::NvmeSsd | Self::Ssd => "4k to 60k",
            Self::Memory => "60k and more",
        }
    }
}

/// The figures that tell the classes apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen {
    /// Random reads of 4 KiB, one at a time.
    pub one: Rate,
    /// The same, 32 at a time.
    pub deep: Option<Rate>,
    /// Bytes per second in sequence.
    pub sequential: Option<Rate>,
}

/// The classes that figures are like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Likeness {
    classes: Vec<DeviceClass>,
    /// Why it is known, where it is not from the figures.
    why: Option<&'static str>,
    is_guest: bool,
}

/// The classes between the ends of what the figures may be.
pub(super) fn likeness(seen: &Seen) -> Likeness {
    let mut classes = Vec::new();
    for end in [0, 1] {
        let class = class(seen, end);
        if !classes.contains(&class) {
            classes.push(class);
        }
    }
    Likeness {
        classes,
        why: None,
        is_guest: false,
    }
}

/// The class at one end of the figures' intervals.
fn class(seen: &Seen, end: usize) -> DeviceClass {
    let at_end = |rate: Option<Rate>| rate.map(|rate| rate.ends[end]);
    match seen.one.ends[end] {
        ..DISK_MAX => return DeviceClass::HardDisk,
        ..NETWORK_MAX => return DeviceClass::NetworkVolume,
        FLASH_MAX.. => return DeviceClass::Memory,
        _ => {}
    }
    let (deep, sequential) = (at_end(seen.deep), at_end(seen.sequential));
    let is_beyond = |rate: Option<f64>, most: f64| rate.is_some_and(|rate| rate > most);
    if is_beyond(deep, SATA_DEEP_MAX) || is_beyond(sequential, SATA_BYTES_MAX) {
        DeviceClass::NvmeSsd
    } else if deep.is_some() && sequential.is_some() {
        DeviceClass::SataSsd
    } else {
        DeviceClass::Ssd
    }
}

impl Likeness {
    /// A class that is known otherwise than by figures.
    pub fn known(class: DeviceClass, why: &'static str) -> Self {
        Self {
            classes: vec![class],
            why: Some(why),
            is_guest: false,
        }
    }

    /// The same on a machine that may be a guest of another.
    pub fn on(self, virtualization: Option<&str>) -> Self {
        Self {
            is_guest: virtualization.is_some_and(|it| !it.is_empty()),
            ..self
        }
    }

    /// In a sentence, with the figures that it comes from.
    pub fn sentence(&self, known: &[Known]) -> String {
        let names: Vec<&str> = self.classes.iter().map(|class| class.name()).collect();
        let names = names.join(" or ");
        if let Some(why) = self.why {
            return format!("{names}: {why}");
        }
        let mut parts = Vec::new();
        if let Some(one) = find(known, Access::RandomRead, Some(1)) {
            let mut ranges: Vec<&str> = self.classes.iter().map(|class| class.range()).collect();
            ranges.dedup();
            let rate = format::iops(one.rate.mean);
            let ranges = ranges.join(" or ");
            parts.push(format!(
                "{rate} random reads a second, one at a time ({ranges})"
            ));
        }
        if self.tells_links() {
            let most = format::bandwidth(SATA_BYTES_MAX);
            let sequential = find(known, Access::SequentialRead, None);
            let of = |it: &Known| format::bandwidth(it.rate.mean);
            parts.extend(sequential.map(|it| format!("{} in sequence (SATA: {most})", of(it))));
            let deep = find(known, Access::RandomRead, Some(DEEP));
            let of = |it: &Known| format::iops(it.rate.mean);
            parts.extend(deep.map(|it| format!("{}, 32 at a time (SATA: 110k)", of(it))));
        }
        let guest = match self.is_guest {
            true => "; this is a virtual machine, so its host's cache may be involved",
            false => "",
        };
        format!("{names}: {}{guest}", parts.join(", "))
    }

    /// Whether it was told by what a SATA link carries at most.
    fn tells_links(&self) -> bool {
        let tells = |it: &DeviceClass| matches!(it, DeviceClass::SataSsd | DeviceClass::NvmeSsd);
        self.classes.iter().any(tells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(one: Rate, deep: Option<f64>, mebibytes: Option<f64>) -> String {
        let seen = Seen {
            one,
            deep: deep.map(Rate::bare),
            sequential: mebibytes.map(|it| Rate::bare(it * 1024.0 * 1024.0)),
        };
        likeness(&seen).sentence(&[])
    }

    #[test]
    fn figures_of_data_sheets_are_told_by_their_class() {
        for (one, deep, mebibytes, wanted) in [
            (80.0, 170.0, 258.0, "a hard disk"),
            (1_100.0, 3_000.0, 125.0, "a network or cloud volume"),
            (13_000.0, 98_000.0, 534.0, "a SATA SSD"),
            (22_000.0, 600_000.0, 7_100.0, "an NVMe SSD"),
            (400_000.0, 900_000.0, 9_000.0, "memory"),
        ] {
            let said = names(Rate::bare(one), Some(deep), Some(mebibytes));
            assert!(said.starts_with(wanted), "{one}: {said}");
        }
        assert!(names(Rate::bare(9_000.0), None, None).starts_with("an SSD"));
    }

    #[test]
    fn a_figure_that_may_be_in_two_ranges_is_told_as_like_both() {
        let said = names(Rate::known_to(4_000.0, 0.2), Some(50_000.0), Some(400.0));
        assert!(
            said.starts_with("a network or cloud volume or a SATA SSD"),
            "{said}"
        );
    }

    #[test]
    fn a_guest_is_told_what_may_be_in_between() {
        let seen = Seen {
            one: Rate::bare(20_000.0),
            deep: None,
            sequential: None,
        };
        let said = likeness(&seen).on(Some("kvm")).sentence(&[]);
        assert!(said.contains("host's cache may be involved"), "{said}");
    }
}
