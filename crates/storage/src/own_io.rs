//! I/O of this process on block devices, as counted by the kernel.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Enough for all lines of `/proc/self/io` with 20 digits each.
const IO_BYTES_MAX: usize = 512;

/// Bytes of this process so far, including its ended threads and its ring's kernel threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnIo {
    /// Bytes read from block devices, without reads from the page cache.
    pub read_bytes: u64,
    /// Bytes written to block devices or made dirty in the page cache.
    pub write_bytes: u64,
}

impl OwnIo {
    /// Difference to an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(earlier.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(earlier.write_bytes),
        }
    }
}

/// The open counters.
#[derive(Debug)]
pub struct OwnIoCounters {
    io: File,
}

impl OwnIoCounters {
    /// Opens the counters; `None` if the kernel has none.
    #[must_use]
    pub fn open() -> Option<Self> {
        let counters = Self {
            io: File::open("/proc/self/io").ok()?,
        };
        // Opening it is not enough: the kernel checks the permission only when the file is read.
        counters.sample().map(|_| counters)
    }

    /// Reads the counters with one system call.
    #[must_use]
    pub fn sample(&self) -> Option<OwnIo> {
        let mut text = [0; IO_BYTES_MAX];
        let length = self.io.read_at(&mut text, 0).ok()?;
        parse(std::str::from_utf8(&text[..length]).ok()?)
    }
}

/// Source: Linux, `Documentation/filesystems/proc.rst`, `/proc/<pid>/io`. A page made dirty in the
/// page cache counts once until it is written back, as a whole page.
fn parse(text: &str) -> Option<OwnIo> {
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.strip_prefix(':')?.trim().parse().ok()
    };
    Some(OwnIo {
        read_bytes: value("read_bytes")?,
        write_bytes: value("write_bytes")?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn device_bytes_are_distinguished_from_system_call_bytes() {
        let text = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\n\
                    write_bytes: 8192\ncancelled_write_bytes: 9\n";
        let counters = parse(text).expect("counters");
        assert_eq!((counters.read_bytes, counters.write_bytes), (4096, 8192));
        assert_eq!(parse("rchar: 1\n"), None);
    }

    #[test]
    fn bytes_written_by_a_process_are_counted_if_the_kernel_counts_them() {
        let Some(counters) = OwnIoCounters::open() else {
            println!("skipped: the kernel keeps no I/O accounting");
            return;
        };
        let directory = tempfile::tempdir().expect("a directory");
        if crate::devices_under(directory.path()).is_empty() {
            println!("skipped: no device is below temporary files");
            return;
        }
        let before = counters.sample().expect("counters");
        std::fs::write(directory.path().join("f"), vec![7; 1 << 20]).expect("a file");
        let done = counters.sample().expect("counters").since(&before);
        assert!(done.write_bytes >= 1 << 20, "{done:?}");
    }

    proptest! {
        #[test]
        fn parsing_counters_never_panics(text in ".{0,200}") {
            let _ = parse(&text);
        }
    }
}
