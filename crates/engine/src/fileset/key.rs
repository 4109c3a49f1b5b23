//! The name that a request refers to.

use crate::Request;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NameKey {
    pub fileset: u8,
    pub index: u32,
    /// The directory, for rules where requests select it.
    pub directory: u32,
}

impl NameKey {
    #[inline]
    pub(crate) const fn of(request: &Request) -> Self {
        Self {
            fileset: request.fileset,
            index: request.file_index,
            directory: request.length_bytes,
        }
    }

    /// A name of the first fileset, for rules where requests do not select the directory.
    pub(crate) const fn of_index(index: u32) -> Self {
        Self {
            fileset: 0,
            index,
            directory: 0,
        }
    }

    /// The name of a file that is read as a whole.
    #[inline]
    pub(crate) const fn of_whole(request: &Request) -> Self {
        Self {
            // A directory's number has 32 bits.
            directory: request.offset_bytes as u32,
            ..Self::of(request)
        }
    }

    /// The second name of a request, in the same directory; `None` if its number is not a
    /// [`SecondName`].
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

/// The other name of a request to rename or link. The request's `offset_bytes` is its `code`, which
/// equals the index for a name of the first fileset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SecondName {
    /// 0-based number of the fileset in the engine; may differ from the request's fileset.
    pub fileset: u8,
    /// Index of the name in the fileset.
    pub file_index: u32,
}

impl SecondName {
    /// The value for a request's `offset_bytes`.
    #[must_use]
    pub const fn code(self) -> u64 {
        (self.fileset as u64) << u32::BITS | self.file_index as u64
    }

    #[inline]
    fn from_code(code: u64) -> Option<Self> {
        Some(Self {
            fileset: u8::try_from(code >> u32::BITS).ok()?,
            // Take the lower half.
            file_index: code as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_name_round_trips_through_its_code() {
        for fileset in [0, 1, 255] {
            for file_index in [0, 7, u32::MAX] {
                let second = SecondName {
                    fileset,
                    file_index,
                };
                assert_eq!(SecondName::from_code(second.code()), Some(second));
            }
        }
        let first = SecondName {
            fileset: 0,
            file_index: 7,
        };
        assert_eq!(first.code(), 7);
        assert_eq!(SecondName::from_code(1 << 40), None);
        assert_eq!(SecondName::from_code(u64::MAX), None);
    }
}
