//! What may be measured, and the other disks of this machine.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use storage::{ListedDisk, PathFacts, PathKind, device_usage, devices_under, disks, probe};
use units::JsonDocument;

use crate::answer::{Answer, document};
use crate::blocking::blocking;
use crate::roots::Roots;
use crate::shared::State;

/// The disk list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiskList {
    /// First what the server offers, in the order of its command line; then the other disks of this
    /// machine.
    pub disks: Vec<DiskEntry>,
}

/// A place to measure, or a disk that the server does not offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiskEntry {
    /// Path of the directory, file or device, or the TCP peer as `tcp://HOST:PORT`.
    pub path: String,
    /// What it is.
    pub kind: DiskKind,
    /// Size of the file system, file or device in bytes; null if unknown.
    pub size_bytes: Option<u64>,
    /// Free space of the file system in bytes; null for devices and peers.
    pub free_bytes: Option<u64>,
    /// Type of the file system, such as `ext4`; null for devices and peers.
    pub file_system: Option<String>,
    /// The block device directly below; null if there is none.
    pub device: Option<String>,
    /// Vendor and model of that device; null if it reports none.
    pub model: Option<String>,
    /// `true` if the medium rotates; null if unknown.
    pub is_rotational: Option<bool>,
    /// `true` if it is mounted or set up read-only.
    pub is_read_only: bool,
    /// What uses the device or a part of it, which prevents overwriting; null if nothing is known
    /// to.
    pub usage: Option<String>,
    /// `true` if runs from the page may measure it.
    pub is_offered: bool,
    /// What runs from the page may write there.
    pub may_write: MayWrite,
}

/// Kind of a place to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DiskKind {
    /// A directory, with everything below it.
    Directory,
    /// A file.
    File,
    /// A block device.
    Device,
    /// A TCP peer.
    Peer,
}

/// What runs may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MayWrite {
    /// Nothing.
    Nothing,
    /// New files, which are removed at the end of the run.
    Files,
    /// The whole device: all data on it is lost.
    Everything,
    /// Messages over the network.
    Messages,
}

impl JsonDocument for DiskList {
    const FORMAT: &'static str = "pgmeter-serve-disks/1";
}

/// `GET /api/disks`
pub(crate) async fn list(shared: State) -> Answer {
    let roots = shared.roots.clone();
    let found = blocking(move || Ok(listed(&roots))).await?;
    document(&found)
}

fn listed(roots: &Roots) -> DiskList {
    let mut all: Vec<DiskEntry> = Vec::new();
    let offered = roots.all().iter().chain(roots.devices());
    for path in offered {
        let is_listed = all.iter().any(|it| Path::new(&it.path) == path);
        if let Some(entry) = offered_entry(path, roots).filter(|_| !is_listed) {
            all.push(entry);
        }
    }
    all.extend(roots.peers().iter().map(|peer| peer_entry(peer)));
    for disk in disks() {
        let path = format!("/dev/{}", disk.device.name);
        if !all.iter().any(|it| it.path == path) {
            all.push(other_entry(path, disk));
        }
    }
    DiskList { disks: all }
}

fn offered_entry(path: &Path, roots: &Roots) -> Option<DiskEntry> {
    let facts = probe(path).ok()?;
    let may_overwrite = roots.devices().iter().any(|device| device == path);
    let below = devices_under(path).into_iter().next();
    let (kind, size_bytes) = match facts.kind {
        PathKind::Device => (DiskKind::Device, facts.size_bytes),
        PathKind::Directory => (DiskKind::Directory, facts.total_bytes),
        _ => (DiskKind::File, facts.size_bytes),
    };
    let PathFacts {
        read_only,
        file_system,
        free_bytes,
        ..
    } = facts;
    let is_device = kind == DiskKind::Device;
    Some(DiskEntry {
        path: path.to_string_lossy().into_owned(),
        size_bytes: Some(size_bytes).filter(|bytes| *bytes > 0),
        free_bytes: Some(free_bytes).filter(|_| !is_device),
        file_system: Some(file_system).filter(|_| !is_device),
        device: below.as_ref().map(|it| format!("/dev/{}", it.name)),
        is_rotational: below.as_ref().and_then(|it| it.rotational),
        model: below.and_then(|it| it.model),
        is_read_only: read_only,
        usage: device_usage(path),
        is_offered: true,
        may_write: match kind {
            DiskKind::Directory if !read_only => MayWrite::Files,
            DiskKind::Device if may_overwrite => MayWrite::Everything,
            _ => MayWrite::Nothing,
        },
        kind,
    })
}

fn peer_entry(peer: &str) -> DiskEntry {
    DiskEntry {
        path: peer.to_owned(),
        kind: DiskKind::Peer,
        size_bytes: None,
        free_bytes: None,
        file_system: None,
        device: None,
        model: None,
        is_rotational: None,
        is_read_only: false,
        usage: None,
        is_offered: true,
        may_write: MayWrite::Messages,
    }
}

fn other_entry(path: String, disk: ListedDisk) -> DiskEntry {
    let ListedDisk { device, usage } = disk;
    DiskEntry {
        size_bytes: Some(device.size_bytes),
        model: device.model,
        is_rotational: device.rotational,
        is_read_only: device.read_only,
        device: Some(path.clone()),
        kind: DiskKind::Device,
        usage,
        is_offered: false,
        may_write: MayWrite::Nothing,
        ..peer_entry(&path)
    }
}
