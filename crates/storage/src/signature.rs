//! Detects the content of a device from the signatures of file systems and volume managers.
//!
//! Reads a few blocks and writes nothing. The layouts come from the documentation of each format.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A signature found on a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Kind of content: `file system`, `partition table`, `swap space`, ...
    pub class: &'static str,
    /// Name of the format, such as `xfs`.
    pub format: &'static str,
    /// The label, if it is easy to read and not empty.
    pub label: Option<String>,
    /// The UUID, if it is easy to read and not zero.
    pub uuid: Option<String>,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a {} ({}", self.class, self.format)?;
        match (&self.label, &self.uuid) {
            (Some(label), _) => write!(f, ", label `{label}`)"),
            (None, Some(uuid)) => write!(f, ", uuid `{uuid}`)"),
            (None, None) => write!(f, ")"),
        }
    }
}

/// A signature at a fixed position, with the positions of label and UUID.
struct SignatureMark {
    class: &'static str,
    format: &'static str,
    offset_bytes: u64,
    magic: &'static [u8],
    /// Position and length of a label in single-byte characters.
    label: Option<(u64, usize)>,
    /// Position of the 16 bytes of a UUID.
    uuid: Option<u64>,
}

const FS: &str = "file system";

const fn mark(format: &'static str, at: u64, magic: &'static [u8]) -> SignatureMark {
    SignatureMark {
        class: FS,
        format,
        offset_bytes: at,
        magic,
        label: None,
        uuid: None,
    }
}

const fn part(class: &'static str, mark: SignatureMark) -> SignatureMark {
    SignatureMark { class, ..mark }
}

const fn named(mark: SignatureMark, label: (u64, usize), uuid: u64) -> SignatureMark {
    SignatureMark {
        label: Some(label),
        uuid: Some(uuid),
        ..mark
    }
}

/// In order of precedence: formats for a whole disk come before those that may be remains.
const SIGNATURES: [SignatureMark; 38] = [
    named(mark("xfs", 0, b"XFSB"), (108, 12), 32),
    named(
        mark("btrfs", 0x1_0040, b"_BHRfS_M"),
        (0x1_012B, 256),
        0x1_0020,
    ),
    named(mark("f2fs", 1024, b"\x10\x20\xF5\xF2"), (0, 0), 1024 + 108),
    named(
        mark("nilfs2", 1024 + 6, b"\x34\x34"),
        (1024 + 152, 80),
        1024 + 136,
    ),
    named(
        mark("bcachefs", 4096 + 24, BCACHE),
        (4096 + 72, 32),
        4096 + 56,
    ),
    part("member of a cache", mark("bcache", 4096 + 24, BCACHE_OLD)),
    mark("ntfs", 3, b"NTFS    "),
    mark("exfat", 3, b"EXFAT   "),
    SignatureMark {
        label: Some((71, 11)),
        ..mark("vfat", 82, b"FAT32   ")
    },
    SignatureMark {
        label: Some((43, 11)),
        ..mark("vfat", 54, b"FAT16   ")
    },
    SignatureMark {
        label: Some((43, 11)),
        ..mark("vfat", 54, b"FAT12   ")
    },
    mark("vfat", 54, b"FAT     "),
    named(
        mark("jfs", 0x8000, b"JFS1"),
        (0x8000 + 152, 16),
        0x8000 + 136,
    ),
    named(
        mark("reiserfs", 0x1_0034, b"ReIsErFs"),
        (0x1_0064, 16),
        0x1_0054,
    ),
    named(
        mark("reiserfs", 0x1_0034, b"ReIsEr2Fs"),
        (0x1_0064, 16),
        0x1_0054,
    ),
    named(
        mark("reiserfs", 0x1_0034, b"ReIsEr3Fs"),
        (0x1_0064, 16),
        0x1_0054,
    ),
    mark("squashfs", 0, b"hsqs"),
    mark("erofs", 1024, b"\xE2\xE1\xF5\xE0"),
    SignatureMark {
        label: Some((0x8028, 32)),
        ..mark("iso9660", 0x8001, b"CD001")
    },
    mark("udf", 0x8001, b"BEA01"),
    mark("minix", 1024 + 16, b"\x7F\x13"),
    mark("minix", 1024 + 16, b"\x8F\x13"),
    mark("cramfs", 0, b"\x45\x3D\xCD\x28"),
    mark("bfs", 0, b"\xCE\xFA\xAD\x1B"),
    mark("ocfs2", 8192, b"OCFSV2"),
    mark("gfs2", 0x1_0000, b"\x01\x16\x19\x70\x00\x00\x00\x01"),
    mark("hfsplus", 1024, b"H+\x00\x04"),
    mark("apfs", 32, b"NXSB"),
    part("volume of dm-crypt", mark("luks", 0, b"LUKS\xBA\xBE")),
    part(
        "physical volume of LVM",
        mark("lvm2", 512 + 24, b"LVM2 001"),
    ),
    part("physical volume of LVM", mark("lvm2", 24, b"LVM2 001")),
    part(
        "RAID member",
        named(mark("mdraid", 4096, MD), (4096 + 32, 32), 4096 + 16),
    ),
    part("RAID member", named(mark("mdraid", 0, MD), (32, 32), 16)),
    part(
        "swap space",
        named(mark("swap", 4086, b"SWAPSPACE2"), (1052, 16), 1036),
    ),
    part("swap space", mark("swap", 4086, b"SWAP-SPACE")),
    part("swap space", mark("swap", 65526, b"SWAPSPACE2")),
    part("suspend image", mark("swsuspend", 4086, b"S1SUSPEND")),
    part(
        "volume",
        mark("ceph bluestore", 0, b"bluestore block device"),
    ),
];

const BCACHE: &[u8] = b"\xC6\x85\x73\xF6\x66\xCE\x90\xA9\xD9\x6A\x60\xCF\x80\x3D\xF7\xEF";
const BCACHE_OLD: &[u8] = b"\xC6\x85\x73\xF6\x4E\x1A\x45\xCA\x82\x65\xF5\x7F\x48\xBA\x6D\x81";
const MD: &[u8] = b"\xFC\x4E\x2B\xA9";
/// A ZFS label is 128 KiB of name-value pairs, then 128 uberblocks of 1 KiB or more.
const ZFS_UBERBLOCKS_OFFSET: u64 = 128 << 10;
const ZFS_MAGIC: u64 = 0x00BA_B10C;

/// The first signature on a device of this size, if it has one.
///
/// # Errors
/// If the device cannot be read.
pub fn signature(device: &File, size_bytes: u64) -> std::io::Result<Option<Signature>> {
    let reader = DeviceReader { device, size_bytes };
    for mark in &SIGNATURES {
        if reader
            .at(mark.offset_bytes, mark.magic.len())?
            .is_some_and(|bytes| bytes == mark.magic)
        {
            return reader.describe(mark).map(Some);
        }
    }
    if let Some(found) = reader.ext()? {
        return Ok(Some(found));
    }
    if reader.zfs()? {
        return Ok(Some(bare("member of a pool", "zfs")));
    }
    // Before the partition table: a RAID 1 member of these formats also shows the content of the
    // array.
    if reader.raid_at_end()? {
        return Ok(Some(bare("RAID member", "mdraid")));
    }
    reader.partition_table()
}

const fn bare(class: &'static str, format: &'static str) -> Signature {
    Signature {
        class,
        format,
        label: None,
        uuid: None,
    }
}

struct DeviceReader<'a> {
    device: &'a File,
    size_bytes: u64,
}

impl DeviceReader<'_> {
    /// Bytes of the device; `None` if it is too short.
    fn at(&self, position: u64, length: usize) -> std::io::Result<Option<Vec<u8>>> {
        if position
            .checked_add(length as u64)
            .is_none_or(|end| end > self.size_bytes)
        {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        self.device.read_exact_at(&mut bytes, position)?;
        Ok(Some(bytes))
    }

    fn describe(&self, mark: &SignatureMark) -> std::io::Result<Signature> {
        let label = match mark.label {
            Some((position, length)) => self.at(position, length)?.and_then(|raw| text(&raw)),
            None => None,
        };
        let uuid = match mark.uuid {
            Some(position) => self.at(position, 16)?.and_then(|raw| uuid_text(&raw)),
            None => None,
        };
        Ok(Signature {
            class: mark.class,
            format: mark.format,
            label,
            uuid,
        })
    }

    /// ext2, ext3 and ext4 have the same signature but different feature flags.
    fn ext(&self) -> std::io::Result<Option<Signature>> {
        const JOURNAL: u32 = 0x4;
        // Extents, 64 bit, flexible groups and others introduced with ext4.
        const EXT4_INCOMPATIBLE: u32 = 0x40 | 0x80 | 0x200 | 0x400 | 0x1_0000 | 0x2000;
        const EXT4_READ_ONLY: u32 = 0x8 | 0x10 | 0x20 | 0x40 | 0x400;
        let Some(block) = self.at(1024, 0x88 + 16)? else {
            return Ok(None);
        };
        if block[56..58] != [0x53, 0xEF] {
            return Ok(None);
        }
        let word = |at: usize| {
            let bytes = [block[at], block[at + 1], block[at + 2], block[at + 3]];
            u32::from_le_bytes(bytes)
        };
        let newer = word(0x60) & EXT4_INCOMPATIBLE != 0 || word(0x64) & EXT4_READ_ONLY != 0;
        let format = match (newer, word(0x5C) & JOURNAL != 0) {
            (true, _) => "ext4",
            (false, true) => "ext3",
            (false, false) => "ext2",
        };
        let label = text(&block[0x78..0x88]);
        Ok(Some(Signature {
            class: FS,
            format,
            label,
            uuid: uuid_text(&block[0x68..0x78]),
        }))
    }

    /// `true` if an uberblock of the first label exists, in either byte order.
    fn zfs(&self) -> std::io::Result<bool> {
        let Some(ring) = self.at(ZFS_UBERBLOCKS_OFFSET, 128 << 10)? else {
            return Ok(false);
        };
        let magic = [ZFS_MAGIC.to_le_bytes(), ZFS_MAGIC.to_be_bytes()];
        Ok(ring
            .chunks_exact(1024)
            .any(|block| magic.iter().any(|it| block.starts_with(it))))
    }

    /// RAID metadata of formats 0.90 and 1.0 is near the end.
    fn raid_at_end(&self) -> std::io::Result<bool> {
        // Format 0.90 is in the last whole 64 KiB block, format 1.0 at least 8 KiB before the end.
        const STEP: u64 = 64 << 10;
        let old = (self.size_bytes / STEP * STEP).checked_sub(STEP);
        let one_zero = (self.size_bytes / 512)
            .checked_sub(16)
            .map(|sector| (sector & !7) * 512);
        for position in [old, one_zero].into_iter().flatten() {
            let Some(bytes) = self.at(position, 4)? else {
                continue;
            };
            // Format 0.90 is in the byte order of the machine that wrote it.
            if bytes == MD || bytes.iter().rev().eq(MD.iter()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn partition_table(&self) -> std::io::Result<Option<Signature>> {
        const CLASS: &str = "partition table";
        // The table is in the second logical block, whose size the writer may have seen
        // differently.
        for sector in [512_u64, 4096] {
            if self
                .at(sector, 8)?
                .is_some_and(|bytes| bytes == b"EFI PART")
            {
                let uuid = self.at(sector + 56, 16)?.and_then(|raw| guid_text(&raw));
                return Ok(Some(Signature {
                    uuid,
                    ..bare(CLASS, "gpt")
                }));
            }
            // The copy at the end survives when the start is overwritten.
            let backup = self.size_bytes.saturating_sub(sector);
            if self
                .at(backup, 8)?
                .is_some_and(|bytes| bytes == b"EFI PART")
            {
                return Ok(Some(bare(CLASS, "gpt, backup")));
            }
        }
        let Some(first) = self.at(0, 512)? else {
            return Ok(None);
        };
        // Last, because boot sectors of FAT and others end in the same two bytes.
        Ok((first[510..] == [0x55, 0xAA]).then_some(bare(CLASS, "mbr")))
    }
}

/// The text up to the first zero, trimmed; `None` if it is empty.
fn text(raw: &[u8]) -> Option<String> {
    let end = raw.iter().position(|byte| *byte == 0).unwrap_or(raw.len());
    let shown: String = String::from_utf8_lossy(&raw[..end])
        .trim()
        .chars()
        // The label comes from a device of unknown origin and goes to the terminal, in backticks.
        .map(|c| if c.is_control() || c == '`' { '?' } else { c })
        .collect();
    (!shown.is_empty() && shown != "NO NAME").then_some(shown)
}

fn uuid_text(raw: &[u8]) -> Option<String> {
    let bytes: &[u8; 16] = raw.try_into().ok()?;
    if bytes.iter().all(|byte| *byte == 0) {
        return None;
    }
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    ];
    Some(parts.join("-"))
}

/// The first three parts of a GUID are in little-endian order.
fn guid_text(raw: &[u8]) -> Option<String> {
    let mut bytes: [u8; 16] = raw.try_into().ok()?;
    bytes[..4].reverse();
    bytes[4..6].reverse();
    bytes[6..8].reverse();
    uuid_text(&bytes)
}

#[cfg(test)]
mod tests;
