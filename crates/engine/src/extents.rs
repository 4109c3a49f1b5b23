//! In how many pieces a file lies on its device.

use std::io;
use std::mem::size_of;
use std::os::fd::AsFd;

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Updater, ioctl, opcode};

/// Extents asked for at once.
const BATCH: usize = 128;
/// Write back first, so that no extent is still without a place.
const SYNC: u32 = 0x1;
/// The file's last extent.
const LAST: u32 = 0x1;
/// Extents whose place tells nothing: compressed, encrypted, or beside the inode.
const PLACELESS: u32 = 0x2 | 0x8 | 0x100 | 0x200;

const FIEMAP: Opcode = opcode::read_write::<Header>(b'f', 11);

/// What the kernel is asked, before the extents.
#[repr(C)]
#[derive(Default)]
struct Header {
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
    reserved_too: [u32; 3],
}

#[repr(C)]
struct Map {
    header: Header,
    extents: [Extent; BATCH],
}

const _: () = assert!(size_of::<Header>() == 32 && size_of::<Extent>() == 56);

/// In how many pieces a file's content lies on its device: extents that follow each other there
/// as they do in the file count as one. None where the file system does not tell.
///
/// What was written and not yet placed is placed first. A compressed extent counts as a piece.
///
/// Source: Linux, `Documentation/filesystems/fiemap.rst`.
///
/// # Errors
/// What the system says.
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
        let is_empty = map.header.mapped_count == 0;
        match before {
            Some(last) if !is_empty && last.flags & LAST == 0 => {
                start_bytes = last.logical_bytes.saturating_add(last.length_bytes);
            }
            _ => return Ok(Some(count)),
        }
    }
}

impl Extent {
    fn is_followed_by(&self, next: &Self) -> bool {
        let has_place = (self.flags | next.flags) & PLACELESS == 0;
        has_place
            && self.physical_bytes.checked_add(self.length_bytes) == Some(next.physical_bytes)
            && self.logical_bytes.checked_add(self.length_bytes) == Some(next.logical_bytes)
    }
}

fn extents_from(file: &impl AsFd, start_bytes: u64) -> Result<Map, Errno> {
    let mut map = Map {
        header: Header {
            start_bytes,
            length_bytes: u64::MAX - start_bytes,
            flags: SYNC,
            extent_count: BATCH as u32,
            ..Header::default()
        },
        extents: [Extent::default(); BATCH],
    };
    // SAFETY: the kernel reads a header and writes it and at most `extent_count` extents behind
    // it, which is what `Map` has; any bits are valid numbers.
    unsafe { ioctl(file, Updater::<FIEMAP, Map>::new(&mut map)) }?;
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
    fn what_lies_in_a_row_is_one_piece() {
        let first = at(0, 8192, 0);
        assert!(first.is_followed_by(&at(4096, 12288, LAST)));
        assert!(!first.is_followed_by(&at(4096, 16384, 0)));
        assert!(!first.is_followed_by(&at(8192, 12288, 0)));
        assert!(!first.is_followed_by(&at(4096, 12288, 0x8)));
    }

    #[test]
    fn a_device_has_no_extents_and_a_file_that_has_content_has_some() {
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
}
