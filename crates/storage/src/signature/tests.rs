use std::io::{Seek, SeekFrom, Write};

use proptest::prelude::*;

use super::*;
use crate::lab::run;

const SIZE_BYTES: u64 = 1 << 20;

/// A file of 1 MiB with some bytes in it.
fn holding(parts: &[(u64, &[u8])]) -> Option<Signature> {
    let mut file = tempfile::tempfile().expect("a file");
    file.set_len(SIZE_BYTES).expect("its size");
    for (position, bytes) in parts {
        file.seek(SeekFrom::Start(*position)).expect("a position");
        file.write_all(bytes).expect("written");
    }
    signature(&file, SIZE_BYTES).expect("readable")
}

fn shown(parts: &[(u64, &[u8])]) -> String {
    holding(parts).expect("a signature").to_string()
}

/// The image that a tool makes, as text; none, with the reason printed, without the tool.
fn signature_made_by(command: &[&str], size_mib: u64) -> Option<String> {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("image");
    let file = std::fs::File::create(&path).expect("an image");
    file.set_len(size_mib << 20).expect("its size");
    let mut command = command.to_vec();
    command.push(path.to_str().expect("a plain path"));
    if run(&command).is_none() {
        println!("skipped: `{}` does not run here", command[0]);
        return None;
    }
    let image = std::fs::File::open(&path).expect("the image");
    let found = signature(&image, size_mib << 20)
        .expect("readable")
        .expect("a signature");
    Some(found.to_string())
}

#[test]
fn an_empty_device_has_no_signature() {
    assert_eq!(holding(&[]), None);
    let file = tempfile::tempfile().expect("a file");
    assert_eq!(signature(&file, 0).expect("readable"), None);
}

#[test]
fn signatures_written_by_installed_tools_are_recognized() {
    let uuid = "01234567-89ab-cdef-0123-456789abcdef";
    let tools: [(&[&str], u64, &str); 11] = [
        (
            &["mkfs.ext2", "-q", "-F", "-L", "two"],
            8,
            "a file system (ext2, label `two`)",
        ),
        (
            &["mkfs.ext3", "-q", "-F", "-U", uuid],
            16,
            "a file system (ext3, uuid `01234567-89ab-cdef-0123-456789abcdef`)",
        ),
        (
            &["mkfs.ext4", "-q", "-F", "-L", "four"],
            16,
            "a file system (ext4, label `four`)",
        ),
        (
            &["mkfs.xfs", "-q", "-L", "data"],
            512,
            "a file system (xfs, label `data`)",
        ),
        (
            &["mkfs.btrfs", "-q", "-L", "tree"],
            512,
            "a file system (btrfs, label `tree`)",
        ),
        (
            &["mkfs.vfat", "-n", "STICK"],
            8,
            "a file system (vfat, label `STICK`)",
        ),
        (
            &["mkfs.vfat", "-F", "32", "-n", "BIG"],
            64,
            "a file system (vfat, label `BIG`)",
        ),
        (&["mkfs.minix"], 8, "a file system (minix)"),
        (&["mkfs.bfs"], 8, "a file system (bfs)"),
        (
            &["mkswap", "-L", "pages"],
            8,
            "a swap space (swap, label `pages`)",
        ),
        (
            &["mkswap", "-U", uuid],
            8,
            "a swap space (swap, uuid `01234567-89ab-cdef-0123-456789abcdef`)",
        ),
    ];
    for (command, size_mib, expected) in tools {
        if let Some(found) = signature_made_by(command, size_mib) {
            assert_eq!(found, expected, "{command:?}");
        }
    }
}

#[test]
fn signatures_of_formats_without_an_installed_tool_are_recognized() {
    assert_eq!(shown(&[(3, b"NTFS    ")]), "a file system (ntfs)");
    assert_eq!(shown(&[(3, b"EXFAT   ")]), "a file system (exfat)");
    assert_eq!(
        shown(&[(1024, b"\x10\x20\xF5\xF2")]),
        "a file system (f2fs)"
    );
    assert_eq!(
        shown(&[(1030, b"\x34\x34"), (1024 + 152, b"log")]),
        "a file system (nilfs2, label `log`)"
    );
    assert_eq!(
        shown(&[(4120, BCACHE), (4168, b"b")]),
        "a file system (bcachefs, label `b`)"
    );
    assert_eq!(
        shown(&[(0, b"LUKS\xBA\xBE\0\x02")]),
        "a volume of dm-crypt (luks)"
    );
    assert_eq!(
        shown(&[(536, b"LVM2 001")]),
        "a physical volume of LVM (lvm2)"
    );
    assert_eq!(
        shown(&[(4096, MD), (4128, b"host:0")]),
        "a RAID member (mdraid, label `host:0`)"
    );
    assert_eq!(
        shown(&[(0x8001, b"CD001"), (0x8028, b"DISC  ")]),
        "a file system (iso9660, label `DISC`)"
    );
    assert_eq!(shown(&[(0, b"hsqs")]), "a file system (squashfs)");
    assert_eq!(
        shown(&[(0x1_0034, b"ReIsEr2Fs")]),
        "a file system (reiserfs)"
    );
    assert_eq!(shown(&[(0x8000, b"JFS1")]), "a file system (jfs)");
}

#[test]
fn signatures_beyond_the_start_are_found() {
    let uberblock = ZFS_MAGIC.to_le_bytes();
    assert_eq!(
        shown(&[((128 << 10) + 7 * 1024, &uberblock)]),
        "a member of a pool (zfs)"
    );
    let old_raid = SIZE_BYTES - (64 << 10);
    assert_eq!(shown(&[(old_raid, MD)]), "a RAID member (mdraid)");
    assert_eq!(
        shown(&[(SIZE_BYTES - 512, b"EFI PART")]),
        "a partition table (gpt, backup)"
    );
}

#[test]
fn partition_tables_are_found_and_gpt_wins_over_a_protective_mbr() {
    assert_eq!(shown(&[(510, b"\x55\xAA")]), "a partition table (mbr)");
    let guid = [
        0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 1, 2, 3, 4, 5, 6, 7, 8,
    ];
    assert_eq!(
        shown(&[(510, b"\x55\xAA"), (512, b"EFI PART"), (568, &guid)]),
        "a partition table (gpt, uuid `00112233-4455-6677-0102-030405060708`)"
    );
    assert_eq!(shown(&[(4096, b"EFI PART")]), "a partition table (gpt)");
}

#[test]
fn labels_cannot_smuggle_control_characters_into_messages() {
    let label = shown(&[(0, b"XFSB"), (108, b"a\x1b[1m`b\xFF")]);
    assert_eq!(label, "a file system (xfs, label `a?[1m?b\u{fffd}`)");
}

#[test]
fn a_small_device_is_read_to_its_end() {
    for size_bytes in [1, 3, 511, 512, 513, 1080, 4096, 65535, 65536] {
        let file = tempfile::tempfile().expect("a file");
        file.set_len(size_bytes).expect("its size");
        assert_eq!(
            signature(&file, size_bytes).expect("readable"),
            None,
            "{size_bytes}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn signature_detection_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..8192)) {
        let _ = holding(&[(0, &bytes)]);
    }
}
