//! Facts for planning.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use plan::TargetKind;
use plan::facts::{SystemFacts, TargetFacts};

use crate::manifest_location::ManifestLocation;
use crate::path::parent_of;
use crate::probe::{PathFacts, PathKind, probe};

/// Facts about the machine and these targets for planning. Inaccessible paths are omitted. The
/// default target is a path, too.
#[must_use]
pub fn system_facts(targets: &[String], default_target: Option<&str>) -> SystemFacts {
    SystemFacts {
        targets: targets
            .iter()
            .filter_map(|path| target_facts(path))
            .collect(),
        default_target: default_target.and_then(target_facts),
        cpu_count: cpu_count(),
        memory_bytes: memory_bytes(),
        hosts: Vec::new(),
    }
}

/// Number of CPUs that threads may be bound to, regardless of the CPUs that this process may use; 0
/// if unknown.
fn cpu_count() -> u32 {
    let last =
        |online: &str| -> Option<u32> { online.trim().rsplit([',', '-']).next()?.parse().ok() };
    let online = std::fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    // The list can have gaps, and CPU numbers, not their count, are used for binding.
    last(&online).map_or(0, |last| last.saturating_add(1))
}

/// Physical memory, in bytes.
pub(crate) fn memory_bytes() -> u64 {
    let system = rustix::system::sysinfo();
    (system.totalram as u64).saturating_mul(u64::from(system.mem_unit))
}

fn target_facts(path: &str) -> Option<TargetFacts> {
    let facts = probe(Path::new(path)).ok()?;
    let kind = match facts.kind {
        PathKind::Directory => TargetKind::Directory,
        PathKind::Device => TargetKind::Device,
        PathKind::Endless => TargetKind::Endless,
        // Unsuitable files are refused later, with the reason, when they are used.
        PathKind::File | PathKind::Missing | PathKind::Symlink | PathKind::Other(_) => {
            TargetKind::File
        }
    };
    let on = if facts.kind == PathKind::Missing {
        parent_of(&facts.path)
    } else {
        &facts.path
    };
    Some(TargetFacts {
        path: path.to_owned(),
        exists: facts.kind != PathKind::Missing,
        kind,
        size_bytes: facts.size_bytes,
        free_bytes: facts.free_bytes,
        total_bytes: facts.total_bytes,
        reusable_bytes: reusable_bytes(&facts).unwrap_or(0),
        direct_alignment_bytes: facts.direct.offset_bytes,
        block_bytes: facts.logical_block_bytes,
        device_id: std::fs::metadata(on).ok().map(|found| found.dev()),
        file_system: facts.file_system,
    })
}

/// Bytes of an earlier run's test file here, which will be overwritten or reused.
fn reusable_bytes(facts: &PathFacts) -> Option<u64> {
    let location = match facts.kind {
        PathKind::Directory => ManifestLocation::in_directory(&facts.path, facts.directory).ok()?,
        PathKind::File => ManifestLocation::of_file(&facts.path, facts.directory).ok()?,
        _ => return None,
    };
    let peeked = location.peek().ok()??;
    let directory = location.open().ok()??;
    let name = location.test_name();
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    let found = rustix::fs::statat(&directory, &name, flags).ok()?;
    peeked.names(&name, &found).then(|| {
        // Blocks, not the length: a sparse file frees less space than its length.
        u64::try_from(found.st_blocks)
            .unwrap_or(0)
            .saturating_mul(512)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_and_a_new_file_in_it_share_their_space() {
        let directory = tempfile::tempdir().expect("a directory");
        let base = directory.path().display().to_string();
        let new = format!("{base}/new.dat");
        let facts = system_facts(&[base.clone(), new.clone()], Some(&base));
        assert!(facts.cpu_count > 0 && facts.memory_bytes > 0);
        let (one, two) = (
            facts.target(&base).expect("facts"),
            facts.target(&new).expect("facts"),
        );
        assert_eq!(
            (one.kind, two.kind),
            (TargetKind::Directory, TargetKind::File)
        );
        assert_eq!((one.exists, two.exists), (true, false));
        assert_eq!(one.device_id, two.device_id);
        // Others may write to the file system between two looks at it.
        let free_bytes = one.free_bytes;
        let default = facts.default_target.clone();
        let default = default.map(|it| TargetFacts { free_bytes, ..it });
        assert_eq!(default.as_ref(), Some(one));
        assert_eq!(one.reusable_bytes, 0);
    }

    #[test]
    fn a_target_that_cannot_be_probed_is_left_out() {
        let facts = system_facts(&["x".repeat(5000)], None);
        assert!(facts.targets.is_empty());
    }
}
