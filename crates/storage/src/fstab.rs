//! Detects file systems in `/etc/fstab` that are not mounted under a target.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::mounts::{MountLine, mount_of, mounts, unescape};
use crate::path::parent_of;

const FSTAB: &str = "/etc/fstab";

/// A target that is not on the file system that its path suggests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unmounted {
    /// Path of the target.
    pub target: PathBuf,
    /// The mount point at or above it that has nothing mounted.
    pub point: PathBuf,
    /// Mount point of the file system that the target is on instead.
    pub actual_point: PathBuf,
}

impl fmt::Display for Unmounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "`{}` is a mount point of {FSTAB} with nothing mounted on it: the target `{}` is on \
             the file system of `{}`",
            self.point.display(),
            self.target.display(),
            self.actual_point.display()
        )
    }
}

/// Finds a mount point of `/etc/fstab` at or above a path that has nothing mounted, so that the
/// path is on the file system of the mount point. `None` if there is none, or it is unknown.
#[must_use]
pub fn unmounted(target: &Path) -> Option<Unmounted> {
    let absolute = match fs::canonicalize(target) {
        Ok(absolute) => absolute,
        // A target that does not exist yet is created in this directory.
        Err(_) => fs::canonicalize(parent_of(target))
            .ok()?
            .join(target.file_name()?),
    };
    let text = fs::read(FSTAB).ok()?;
    let points = points(&String::from_utf8_lossy(&text));
    let resolved = points
        .iter()
        .map(|point| fs::canonicalize(point).unwrap_or_else(|_| point.clone()))
        .collect::<Vec<_>>();
    // Accessing the path above has triggered automounts.
    let (point, instead) = unmounted_point(&resolved, &mounts(), &absolute)?;
    Some(Unmounted {
        target: target.to_owned(),
        point,
        actual_point: instead,
    })
}

/// All mount points except the root.
fn points(fstab: &str) -> Vec<PathBuf> {
    let lines = fstab
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let fields = lines.filter_map(|line| line.split_whitespace().nth(1));
    fields
        .map(|field| PathBuf::from(unescape(field)))
        // Swap has `none` instead of a path, and the root is always mounted.
        .filter(|point| point.is_absolute() && point.parent().is_some())
        .collect()
}

/// The deepest mount point that contains the path, and the mount point of the file system that the
/// path is on, if that is further up.
fn unmounted_point(
    points: &[PathBuf],
    table: &[MountLine],
    absolute: &Path,
) -> Option<(PathBuf, PathBuf)> {
    let above = points.iter().filter(|point| absolute.starts_with(point));
    // The deepest one wins, because a mount covers those above it.
    let point = above.max_by_key(|point| point.components().count())?;
    let mount = mount_of(table, None, absolute)?;
    (!mount.point.starts_with(point)).then(|| (point.clone(), mount.point.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FSTAB: &str = "# comment /mnt/no\n\
        UUID=1 / ext4 defaults 0 1\n\
        UUID=2 none swap sw 0 0\n\n\
        /dev/sdb1\t/mnt/data  xfs  noauto 0 2\n\
        /dev/sdc1 /mnt/data/in\\040ner ext4 defaults 0 2\n\
        /dev/sdd1 /srv btrfs subvol=a 0 0\n";

    fn found(mounted: &[&str], path: &str) -> Option<(String, String)> {
        let mount = |point: &&str| MountLine {
            point: point.into(),
            ..MountLine::default()
        };
        let table: Vec<MountLine> = mounted.iter().map(mount).collect();
        let found = unmounted_point(&points(FSTAB), &table, Path::new(path))?;
        Some((found.0.display().to_string(), found.1.display().to_string()))
    }

    #[test]
    fn mount_points_are_parsed_without_the_root_and_swap() {
        let expected = ["/mnt/data", "/mnt/data/in ner", "/srv"].map(PathBuf::from);
        assert_eq!(points(FSTAB), expected);
    }

    #[test]
    fn a_path_below_an_unmounted_mount_point_is_found() {
        let root = |point: &str| Some((point.to_owned(), "/".to_owned()));
        for path in ["/mnt/data", "/mnt/data/new.dat", "/mnt/data/a/b"] {
            assert_eq!(found(&["/"], path), root("/mnt/data"), "{path}");
        }
        assert_eq!(
            found(&["/"], "/mnt/data/in ner/x"),
            root("/mnt/data/in ner")
        );
        let outer = Some(("/mnt/data/in ner".to_owned(), "/mnt/data".to_owned()));
        assert_eq!(found(&["/", "/mnt/data"], "/mnt/data/in ner/x"), outer);
    }

    #[test]
    fn paths_on_or_outside_mounted_mount_points_are_not_reported() {
        assert_eq!(found(&["/", "/mnt/data"], "/mnt/data/x"), None);
        assert_eq!(found(&["/", "/mnt/data/below"], "/mnt/data/below/x"), None);
        assert_eq!(found(&["/"], "/mnt/database"), None);
        assert_eq!(found(&["/"], "/home/x"), None);
        assert_eq!(found(&[], "/mnt/data"), None);
    }
}
