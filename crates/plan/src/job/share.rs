//! Settings in percent of files whose sizes depend on the targets.

/// Settings of a job in percent of each of its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileShare {
    /// Start in percent of the file.
    pub start_percent: u64,
    /// Size in percent of the file, at most to its end.
    pub size_percent: u64,
    /// Amount to move, in percent of that size.
    pub moved_percent: u64,
    /// Bytes to whose multiple a start in percent is rounded up.
    pub start_unit_bytes: u64,
    /// Bytes to whose multiple a size in percent is rounded down.
    pub size_unit_bytes: u64,
}

impl FileShare {
    /// All of the file.
    pub const WHOLE: Self = Self {
        start_percent: 0,
        size_percent: 100,
        moved_percent: 100,
        start_unit_bytes: 1,
        size_unit_bytes: 1,
    };

    /// `true` if it is all of the file.
    #[must_use]
    pub const fn is_whole(&self) -> bool {
        self.start_percent == 0 && self.size_percent == 100 && self.moved_percent == 100
    }

    /// Offset of the first byte in a file of `file_bytes` bytes; `further_bytes` is added to the
    /// start.
    #[must_use]
    pub fn start_bytes(&self, further_bytes: u64, file_bytes: u64) -> u64 {
        if self.start_percent == 0 {
            return further_bytes;
        }
        let start = percent_of(file_bytes, self.start_percent).saturating_add(further_bytes);
        let aligned = start.checked_next_multiple_of(self.start_unit_bytes.max(1));
        aligned.unwrap_or(start)
    }

    /// Number of bytes from `start_bytes` on in a file of `file_bytes` bytes.
    #[must_use]
    pub fn size_bytes(&self, start_bytes: u64, file_bytes: u64) -> u64 {
        let rest = file_bytes.saturating_sub(start_bytes);
        if self.size_percent == 100 {
            return rest;
        }
        let size = percent_of(file_bytes, self.size_percent).min(rest);
        size - size % self.size_unit_bytes.max(1)
    }

    /// Bytes to move out of `all_bytes`.
    #[must_use]
    pub fn moved_bytes(&self, all_bytes: u64) -> u64 {
        percent_of(all_bytes, self.moved_percent)
    }
}

fn percent_of(bytes: u64, percent: u64) -> u64 {
    // The product may exceed 64 bits.
    let share = u128::from(bytes) * u128::from(percent) / 100;
    u64::try_from(share).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a million bytes with requests of 4 KiB, as fio 3.33 reads it.
    #[test]
    fn shares_match_fio() {
        let of = |start_percent, size_percent| {
            let share = FileShare {
                start_percent,
                size_percent,
                start_unit_bytes: 4096,
                size_unit_bytes: 4096,
                ..FileShare::WHOLE
            };
            let start = share.start_bytes(0, 1_000_000);
            share.size_bytes(start, 1_000_000) / 4096
        };
        assert_eq!(of(0, 30), 73);
        assert_eq!(of(50, 30), 73);
        assert_eq!(of(50, 60), 121);
        assert_eq!(of(33, 100), 163);
        assert_eq!(of(10, 100), 219);
        assert_eq!(of(30, 100), 170);
    }

    #[test]
    fn shares_of_the_largest_numbers_do_not_overflow() {
        let share = FileShare {
            start_percent: 100,
            start_unit_bytes: 4096,
            ..FileShare::WHOLE
        };
        let start = share.start_bytes(u64::MAX, u64::MAX);
        assert_eq!(share.size_bytes(start, u64::MAX), 0);
        assert_eq!(share.moved_bytes(u64::MAX), u64::MAX);
    }
}
