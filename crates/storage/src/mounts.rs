//! The mount table of this process.

use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use serde::{Deserialize, Serialize};

/// One line of `/proc/self/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MountLine {
    /// The kernel's mount ID.
    pub id: u64,
    /// ID of the parent mount.
    pub parent_id: u64,
    /// Device number of the file system; anonymous (major 0) for btrfs, tmpfs and others.
    pub device: (u32, u32),
    /// Directory of the file system that is the root of the mount.
    pub root: PathBuf,
    /// Mount point.
    pub point: PathBuf,
    /// Options of the mount and of the file system, without duplicates.
    pub options: Vec<String>,
    /// Options of the mount only, such as `noatime`.
    pub of_mount: Vec<String>,
    /// Options of the file system only, common to all its mounts.
    pub of_file_system: Vec<String>,
    /// Type, such as `ext4`.
    pub file_system: String,
    /// Source of the mount: a device, a server's path or a name.
    pub source: String,
}

impl MountLine {
    /// `true` if the mount is read-only.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.options.iter().any(|option| option == "ro")
    }

    /// Value of the option `key=value`.
    #[must_use]
    pub fn option(&self, key: &str) -> Option<&str> {
        self.options
            .iter()
            .find_map(|option| option.strip_prefix(key)?.strip_prefix('='))
    }
}

/// The mounts that this process sees; later ones cover earlier ones. Empty without `/proc`.
#[must_use]
pub fn mounts() -> Vec<MountLine> {
    let text = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    parse(&String::from_utf8_lossy(&text))
}

/// The mount with this ID; otherwise the mount that contains an absolute path.
#[must_use]
pub fn mount_of<'a>(
    mounts: &'a [MountLine],
    id: Option<u64>,
    path: &Path,
) -> Option<&'a MountLine> {
    let by_id = id.and_then(|id| mounts.iter().find(|mount| mount.id == id));
    by_id.or_else(|| {
        mounts
            .iter()
            .enumerate()
            .filter(|(_, mount)| path.starts_with(&mount.point))
            // Of several mounts on one point, the last one covers the others.
            .max_by_key(|(index, mount)| (mount.point.components().count(), *index))
            .map(|(_, mount)| mount)
    })
}

/// The mount that contains an existing path.
pub(crate) fn mount_at<'a>(path: &Path, table: &'a [MountLine]) -> Option<&'a MountLine> {
    let found = statx(
        CWD,
        path,
        AtFlags::SYMLINK_NOFOLLOW,
        StatxFlags::BASIC_STATS | StatxFlags::MNT_ID,
    )
    .ok()?;
    // Kernels before 5.8 do not report the mount ID.
    let id = (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id);
    let absolute = std::fs::canonicalize(path).ok()?;
    mount_of(table, id, &absolute)
}

pub(crate) fn parse(text: &str) -> Vec<MountLine> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<MountLine> {
    // The number of optional fields varies; a separate hyphen ends them.
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ');
    let id = fields.next()?.parse().ok()?;
    let parent_id = fields.next()?.parse().ok()?;
    let (major, minor) = fields.next()?.split_once(':')?;
    let root = unescape(fields.next()?);
    let point = unescape(fields.next()?);
    let mount_options = options(fields.next()?);
    let mut tail = after.split(' ');
    let file_system = unescape(tail.next()?);
    let source = unescape(tail.next()?);
    let fs_options = options(tail.next().unwrap_or(""));
    let mut options: Vec<String> = Vec::new();
    for option in mount_options.iter().chain(&fs_options) {
        if !options.contains(option) {
            options.push(option.clone());
        }
    }
    // A file system can be read-only although the mount has `rw`; the stricter option applies.
    if options.iter().any(|option| option == "ro") {
        options.retain(|option| option != "rw");
    }
    Some(MountLine {
        id,
        parent_id,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root: root.into(),
        point: point.into(),
        options,
        of_mount: mount_options,
        of_file_system: fs_options,
        file_system,
        source,
    })
}

fn options(field: &str) -> Vec<String> {
    let options = field.split(',').filter(|option| !option.is_empty());
    options.map(unescape).collect()
}

/// Decodes the octal escapes (`\040`) that the kernel uses for spaces.
pub(crate) fn unescape(field: &str) -> String {
    let bytes = field.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = (bytes[at] == b'\\')
            .then(|| field.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(byte) => {
                plain.push(byte);
                at += 4;
            }
            None => {
                plain.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &str =
        r"36 35 98:0 /mnt1 /mnt/a\040b rw,noatime master:1 - ext3 /dev/root rw,errors=continue";

    #[test]
    fn a_mount_line_is_parsed_with_its_escapes_and_options() {
        let mount = parse_line(LINE).expect("a mount");
        assert_eq!(mount.device, (98, 0));
        assert_eq!(mount.point, Path::new("/mnt/a b"));
        assert_eq!(mount.options, ["rw", "noatime", "errors=continue"]);
        assert_eq!(mount.of_mount, ["rw", "noatime"]);
        assert_eq!(mount.of_file_system, ["rw", "errors=continue"]);
        assert_eq!((mount.id, mount.parent_id), (36, 35));
        assert_eq!(mount.option("errors"), Some("continue"));
        assert_eq!(
            (mount.file_system.as_str(), mount.source.as_str()),
            ("ext3", "/dev/root")
        );
    }

    #[test]
    fn a_read_only_file_system_is_read_only_under_any_mount() {
        let mount = parse_line("1 0 8:1 / /x rw - ext4 /dev/sda1 ro").expect("a mount");
        assert!(mount.is_read_only());
        assert_eq!(mount.options, ["ro"]);
    }

    #[test]
    fn a_path_belongs_to_the_deepest_and_last_mount() {
        let table = parse(
            "1 0 8:1 / / rw - ext4 a rw\n2 1 8:2 / /m rw - xfs b rw\n\
             3 1 8:3 / /m rw - btrfs c rw\n4 1 8:4 / /mm rw - nfs d rw\n",
        );
        let source = |path: &str| mount_of(&table, None, Path::new(path)).map(|m| m.source.clone());
        assert_eq!(source("/m/x").as_deref(), Some("c"));
        assert_eq!(source("/mx").as_deref(), Some("a"));
        assert_eq!(
            mount_of(&table, Some(2), Path::new("/m")).map(|m| m.id),
            Some(2)
        );
    }

    proptest! {
        #[test]
        fn no_line_makes_the_parser_panic(line in "[ -~é\\\\]{0,80}( - )?[ -~]{0,40}") {
            let _ = parse(&line);
        }

        #[test]
        fn mount_points_escaped_like_the_kernel_does_parse_back_unchanged(
            name in "[a-z \\\\\t]{0,20}"
        ) {
            let escaped: String = name
                .chars()
                .map(|c| match c {
                    ' ' | '\t' | '\\' => format!("\\{:03o}", c as u32),
                    other => other.to_string(),
                })
                .collect();
            prop_assert_eq!(unescape(&escaped), name);
        }
    }
}
