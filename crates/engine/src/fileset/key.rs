//! Which name a request means.

use crate::Request;

/// Which name is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameKey {
    pub fileset: u8,
    pub index: u32,
    /// The directory, where the rule lets requests say it.
    pub told_directory: u32,
}

impl NameKey {
    /// The name that a request means.
    #[inline]
    pub(crate) const fn of(request: &Request) -> Self {
        Self {
            fileset: request.fileset,
            index: request.file_index,
            told_directory: request.length_bytes,
        }
    }

    /// That of the first fileset, where no request says the directory.
    pub(crate) const fn of_index(index: u32) -> Self {
        Self {
            fileset: 0,
            index,
            told_directory: 0,
        }
    }

    /// The name of a file that is read as a whole.
    #[inline]
    pub(crate) const fn of_whole(request: &Request) -> Self {
        Self {
            // A directory's number has 32 bits.
            told_directory: request.offset_bytes as u32,
            ..Self::of(request)
        }
    }

    /// The second name that a request means, in a directory told for both; none if its number is
    /// none of [`SecondName`].
    #[inline]
    pub(crate) fn second_of(request: &Request) -> Option<Self> {
        let second = SecondName::from_code(request.offset_bytes)?;
        Some(Self {
            fileset: second.fileset,
            index: second.file_index,
            ..Self::of(request)
        })
    }
}

/// The other name of a request to rename or link; its `offset_bytes` is the `code`, which for a
/// name of the first fileset is its index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecondName {
    /// Which of the engine's filesets it is of, 0-based; also another than the request's own.
    pub fileset: u8,
    /// Its index in there.
    pub file_index: u32,
}

impl SecondName {
    /// The number for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        (self.fileset as u64) << u32::BITS | self.file_index as u64
    }

    #[inline]
    fn from_code(code: u64) -> Option<Self> {
        Some(Self {
            fileset: u8::try_from(code >> u32::BITS).ok()?,
            // The lower half.
            file_index: code as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_name_is_the_one_that_its_number_was_made_of() {
        for fileset in [0, 1, 255] {
            for file_index in [0, 7, u32::MAX] {
                let second = SecondName {
                    fileset,
                    file_index,
                };
                assert_eq!(SecondName::from_code(second.code()), Some(second));
            }
        }
        let of_first = SecondName {
            fileset: 0,
            file_index: 7,
        };
        assert_eq!(of_first.code(), 7);
        assert_eq!(SecondName::from_code(1 << 40), None);
        assert_eq!(SecondName::from_code(u64::MAX), None);
    }
}
