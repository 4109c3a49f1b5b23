//! Which system calls the C library's streams make of a program's reads and writes.
//!
//! Content is not copied on its way: what a stream gathers are parts of one text in their order,
//! so that only the lengths of the calls have to be found.
//!
//! Source: calls of glibc's `fread` and `fwrite`, traced with many sizes of blocks.

/// The largest buffer that a stream gives itself (`BUFSIZ`).
const BUFFER_BYTES_MAX: i64 = 8192;

/// The size of the buffer for a file whose `st_blksize` that is.
pub(super) fn buffer_bytes(block_bytes: impl Into<i64>) -> usize {
    let block_bytes = block_bytes.into();
    if block_bytes > 0 && block_bytes < BUFFER_BYTES_MAX {
        block_bytes as usize
    } else {
        BUFFER_BYTES_MAX as usize
    }
}

/// Calls `write` with the length of each call that writing `size` bytes makes, `block` bytes at
/// a time through a stream's buffer.
///
/// A full buffer is written when more comes, and at the end; what does not fit in is written past
/// it in whole buffers.
#[inline]
pub(super) fn for_each_write(
    size: usize,
    block: usize,
    buffer: usize,
    mut write: impl FnMut(usize),
) {
    let (mut held, mut rest) = (0, size);
    // The buffer is made at the first write, which thus finds no room in it.
    let mut room = 0;
    if block <= buffer {
        // No block goes past the buffer.
        while rest > 0 {
            let length = rest.min(buffer);
            write(length);
            rest -= length;
        }
        return;
    }
    while rest > 0 {
        let mut length = rest.min(block);
        rest -= length;
        let filled = length.min(room);
        (held, room, length) = (held + filled, room - filled, length - filled);
        if length == 0 {
            continue;
        }
        if held > 0 {
            write(held);
        }
        let whole = length - length % buffer;
        if whole > 0 {
            write(whole);
        }
        held = length - whole;
        room = buffer - held;
    }
    if held > 0 {
        write(held);
    }
}

/// Calls `read` with the length of each call that reading `size` bytes makes, `block` bytes at a
/// time through a stream's buffer, until it returns less than 1.
///
/// `read` says how many bytes came.
#[inline]
pub(super) fn for_each_read(
    size: usize,
    block: usize,
    buffer: usize,
    mut read: impl FnMut(usize) -> isize,
) {
    let (mut held, mut rest) = (0, size);
    while rest > 0 {
        let mut wanted = rest.min(block);
        rest -= wanted;
        while wanted > held {
            wanted -= held;
            held = 0;
            let is_direct = wanted >= buffer;
            let length = if is_direct {
                wanted - wanted % buffer
            } else {
                buffer
            };
            let came = read(length);
            let Ok(came) = usize::try_from(came) else {
                return;
            };
            if came == 0 {
                return;
            }
            if is_direct {
                wanted -= came.min(wanted);
            } else {
                held = came;
            }
        }
        held -= wanted;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(size: usize, block: usize) -> Vec<usize> {
        let mut lengths = Vec::new();
        for_each_write(size, block, 4096, |length| lengths.push(length));
        lengths
    }

    fn reads(size: usize, block: usize) -> Vec<usize> {
        let (mut lengths, mut left) = (Vec::new(), size);
        for_each_read(size, block, 4096, |length| {
            lengths.push(length);
            let came = length.min(left);
            left -= came;
            came as isize
        });
        lengths
    }

    #[test]
    fn small_blocks_are_gathered() {
        assert_eq!(writes(9640, 512), [4096, 4096, 1448]);
        assert_eq!(writes(8192, 512), [4096, 4096]);
        assert_eq!(writes(1, 512), [1]);
        assert_eq!(reads(9640, 512), [4096, 4096, 4096]);
        assert_eq!(reads(8192, 512), [4096, 4096]);
        assert_eq!(reads(9640, 1000), [4096, 4096, 4096]);
    }

    #[test]
    fn blocks_beyond_the_buffer_go_past_it() {
        assert_eq!(writes(9640, 65536), [8192, 1448]);
        assert_eq!(writes(24576, 8192), [8192, 4096, 4096, 4096, 4096]);
        assert_eq!(writes(10_000, 5000), [4096, 4096, 1808]);
        assert_eq!(reads(9640, 65536), [8192, 4096]);
        assert_eq!(reads(10_000, 5000), [4096, 4096, 4096]);
    }

    #[test]
    fn every_byte_is_written_once_and_wanted_once() {
        for size in (1..40_000).step_by(397) {
            for block in [1, 511, 512, 4095, 4096, 4097, 6000, 8192, 12_288, 50_000] {
                assert_eq!(writes(size, block).iter().sum::<usize>(), size);
                let wanted: usize = reads(size, block).iter().sum();
                assert!((size..size + 4096).contains(&wanted), "{size} {block}");
            }
        }
    }

    #[test]
    fn the_buffer_follows_the_file_system_up_to_a_limit() {
        assert_eq!(buffer_bytes(4096), 4096);
        assert_eq!(buffer_bytes(0), 8192);
        assert_eq!(buffer_bytes(-1), 8192);
        assert_eq!(buffer_bytes(1 << 20), 8192);
    }

    #[test]
    fn reading_ends_where_nothing_comes() {
        let mut count = 0;
        for_each_read(100_000, 512, 4096, |_| {
            count += 1;
            if count < 3 { 100 } else { -5 }
        });
        assert_eq!(count, 3);
    }
}
