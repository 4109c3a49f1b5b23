//! Layout of a file on its device: number of extents, and parts that were never written.

use std::io;
use std::mem::size_of;
use std::ops::Range;
use std::os::fd::AsFd;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// Extents requested per call.
const BATCH: usize = 128;
/// Write back first, so that every extent has its place.
const SYNC: u32 = 0x1;
/// Last extent of the file.
const LAST: u32 = 0x1;
/// Extent that is allocated but not written; it reads as zeros.
const UNWRITTEN: u32 = 0x800;
/// Maximum number of extents to examine; a file with more is not a blank one.
const EXTENTS_MAX: usize = 1 << 17;
/// Extents without a usable physical address: unknown, compressed, encrypted, or stored in the
/// inode.
const NO_ADDRESS: u32 = 0x2 | 0x8 | 0x100 | 0x200;

const FIEMAP: Opcode = opcode::read_write::<ExtentHeader>(b'f', 11);

/// Header of the request, before the extents.
#[repr(C)]
#[derive(Default)]
struct ExtentHeader {
    start_bytes: u64,
    length_bytes: u64,
    flags: u32,
    mapped_count: u32,
    extent_count: u32,
    reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical_bytes: u64,
    physical_bytes: u64,
    length_bytes: u64,
    reserved: [u64; 2],
    flags: u32,
    reserved_tail: [u32; 3],
}

#[repr(C)]
struct FiemapRequest {
    header: ExtentHeader,
    extents: [Extent; BATCH],
}

// The interface of the kernel fixes both sizes.
const _: () = assert!(size_of::<ExtentHeader>() == 32 && size_of::<Extent>() == 56);

/// Number of pieces in which the content of a file is stored on its device. Extents that are
/// adjacent both in the file and on the device count as one. `None` if the file system does not
/// report extents.
///
/// Data that has no place on the device yet is written back first. Each compressed extent counts as
/// one piece.
///
/// Source: Linux, `Documentation/filesystems/fiemap.rst`.
///
/// # Errors
/// If a system call fails.
pub fn count_extents(file: impl AsFd) -> io::Result<Option<u64>> {
    let (mut count, mut start_bytes) = (0, 0);
    let mut before: Option<Extent> = None;
    loop {
        let map = match extents_from(&file, start_bytes) {
            Ok(map) => map,
            Err(Errno::OPNOTSUPP | Errno::NOTTY) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        for extent in &map.extents[..(map.header.mapped_count as usize).min(BATCH)] {
            count += u64::from(!before.is_some_and(|it| it.is_followed_by(extent)));
            before = Some(*extent);
        }
        // An empty answer ends the list, too: asking again from the same place would never end.
        let is_empty = map.header.mapped_count == 0;
        match before {
            Some(last) if !is_empty && last.flags & LAST == 0 => {
                start_bytes = last.logical_bytes.saturating_add(last.length_bytes);
            }
            _ => return Ok(Some(count)),
        }
    }
}

/// The part of a file range that was never written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Unwritten {
    /// Number of bytes examined, from the start of the range.
    pub examined_bytes: u64,
    /// Number of the examined bytes that were never written: holes, and extents that are only
    /// reserved.
    pub unwritten_bytes: u64,
}

/// Finds how much of a range of a file was never written; `None` if the file system does not report
/// it.
///
/// Data that has no place on the device yet is written back first.
///
/// # Errors
/// If a system call fails.
pub fn find_unwritten(file: impl AsFd, part: Range<u64>) -> io::Result<Option<Unwritten>> {
    match unwritten_by_extents(&file, &part) {
        Err(Errno::OPNOTSUPP | Errno::NOTTY) => unwritten_by_seeking(&file, &part),
        found => found,
    }
    .map_err(io::Error::from)
}

fn unwritten_by_extents(file: &impl AsFd, part: &Range<u64>) -> Result<Option<Unwritten>, Errno> {
    let (mut written_bytes, mut looked_count) = (0, 0);
    let mut start_bytes = part.start;
    while start_bytes < part.end && looked_count < EXTENTS_MAX {
        let map = extents_from(file, start_bytes)?;
        let extents = &map.extents[..(map.header.mapped_count as usize).min(BATCH)];
        // No extent follows, so the rest of the range is a hole.
        let Some(last) = extents.last() else {
            start_bytes = part.end;
            break;
        };
        let written = extents
            .iter()
            .filter(|extent| extent.flags & UNWRITTEN == 0);
        written_bytes += written
            .map(|it| common_bytes(it, start_bytes, part.end))
            .sum::<u64>();
        looked_count += extents.len();
        let extent_end_bytes = last.logical_bytes.saturating_add(last.length_bytes);
        start_bytes = match last.flags & LAST {
            // Always moves on, even if the file system returns an extent before the requested
            // start.
            0 => extent_end_bytes.max(start_bytes.saturating_add(1)),
            _ => part.end,
        };
    }
    let looked_bytes = start_bytes.min(part.end).saturating_sub(part.start);
    Ok(Some(Unwritten {
        examined_bytes: looked_bytes,
        unwritten_bytes: looked_bytes.saturating_sub(written_bytes),
    }))
}

/// Number of bytes of an extent within a range of the file.
fn common_bytes(extent: &Extent, start_bytes: u64, end_bytes: u64) -> u64 {
    let extent_end_bytes = extent.logical_bytes.saturating_add(extent.length_bytes);
    extent_end_bytes
        .min(end_bytes)
        .saturating_sub(extent.logical_bytes.max(start_bytes))
}

/// For file systems without extents, such as tmpfs; changes the file position.
fn unwritten_by_seeking(file: &impl AsFd, part: &Range<u64>) -> Result<Option<Unwritten>, Errno> {
    let (mut written_bytes, mut at_bytes) = (0, part.start);
    for _ in 0..EXTENTS_MAX {
        let data = match seek(file, SeekFrom::Data(at_bytes)) {
            Ok(data) => data.min(part.end),
            // No data follows.
            Err(Errno::NXIO) => part.end,
            // The file system does not support `SEEK_DATA`.
            Err(Errno::INVAL) => return Ok(None),
            Err(error) => return Err(error),
        };
        at_bytes = data;
        if data >= part.end {
            break;
        }
        let hole = seek(file, SeekFrom::Hole(data))?.min(part.end);
        written_bytes += hole.saturating_sub(data);
        at_bytes = hole;
    }
    let looked_bytes = at_bytes.min(part.end).saturating_sub(part.start);
    Ok(Some(Unwritten {
        examined_bytes: looked_bytes,
        unwritten_bytes: looked_bytes.saturating_sub(written_bytes),
    }))
}

impl Extent {
    fn is_followed_by(&self, next: &Self) -> bool {
        let has_place = (self.flags | next.flags) & NO_ADDRESS == 0;
        has_place
            && self.physical_bytes.checked_add(self.length_bytes) == Some(next.physical_bytes)
            && self.logical_bytes.checked_add(self.length_bytes) == Some(next.logical_bytes)
    }
}

fn extents_from(file: &impl AsFd, start_bytes: u64) -> Result<FiemapRequest, Errno> {
    let mut map = FiemapRequest {
        header: ExtentHeader {
            start_bytes,
            length_bytes: u64::MAX - start_bytes,
            flags: SYNC,
            extent_count: BATCH as u32,
            ..ExtentHeader::default()
        },
        extents: [Extent::default(); BATCH],
    };
    // SAFETY: the kernel reads a header, and writes it and up to `extent_count` extents after it;
    // `FiemapRequest` has room for them, and any bits are valid numbers.
    unsafe { ioctl(file, Updater::<FIEMAP, FiemapRequest>::new(&mut map)) }?;
    Ok(map)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use super::*;

    fn at(logical_bytes: u64, physical_bytes: u64, flags: u32) -> Extent {
        Extent {
            logical_bytes,
            physical_bytes,
            length_bytes: 4096,
            flags,
            ..Extent::default()
        }
    }

    #[test]
    fn adjacent_extents_are_one_piece() {
        let first = at(0, 8192, 0);
        assert!(first.is_followed_by(&at(4096, 12288, LAST)));
        assert!(!first.is_followed_by(&at(4096, 16384, 0)));
        assert!(!first.is_followed_by(&at(8192, 12288, 0)));
        assert!(!first.is_followed_by(&at(4096, 12288, 0x8)));
    }

    #[test]
    fn a_device_has_no_extents_but_a_file_with_content_does() {
        let device = File::open("/dev/null").expect("a file");
        assert_eq!(count_extents(&device).expect("an answer"), None);
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(&[1; 300_000]).expect("written");
        let count = count_extents(&file).expect("an answer");
        assert!(
            count.is_none_or(|count| (1..=74).contains(&count)),
            "{count:?}"
        );
    }

    #[test]
    fn holes_and_reserved_space_count_as_unwritten() {
        const MIB: u64 = 1 << 20;
        for in_memory in [false, true] {
            let file = match in_memory {
                true => tempfile::tempfile_in("/dev/shm"),
                false => tempfile::tempfile(),
            };
            let Ok(mut file) = file else {
                println!("skipped: no file in memory");
                return;
            };
            file.set_len(8 * MIB).expect("a hole");
            let found = |part| find_unwritten(&file, part).expect("an answer");
            let Some(blank) = found(0..8 * MIB) else {
                println!("skipped: the file system does not report it");
                return;
            };
            assert_eq!(blank.unwritten_bytes, 8 * MIB);
            file.write_all(&vec![1; 2 << 20]).expect("written");
            let found = |part| find_unwritten(&file, part).expect("an answer");
            let unwritten = found(0..8 * MIB).expect("the file system reports extents");
            let wanted = Unwritten {
                examined_bytes: 8 * MIB,
                unwritten_bytes: 6 * MIB,
            };
            assert_eq!(unwritten, wanted, "in memory: {in_memory}");
            let in_data = found(MIB..2 * MIB).expect("the file system reports extents");
            assert_eq!(in_data.unwritten_bytes, 0);
            let flags = rustix::fs::FallocateFlags::empty();
            if rustix::fs::fallocate(&file, flags, 4 * MIB, MIB).is_ok() {
                let reserved = found(0..8 * MIB).expect("the file system reports extents");
                assert_eq!(reserved.unwritten_bytes, 6 * MIB);
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn an_overlap_is_no_longer_than_the_part_or_the_extent(
            start in 0_u64..1 << 40, length in 0_u64..1 << 40,
            logical in 0_u64..1 << 40, extent_length in proptest::prelude::any::<u64>(),
        ) {
            let extent = Extent {
                logical_bytes: logical,
                length_bytes: extent_length,
                ..Extent::default()
            };
            let common = common_bytes(&extent, start, start + length);
            proptest::prop_assert!(common <= length && common <= extent_length);
        }
    }
}
