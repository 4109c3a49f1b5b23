//! Names that follow no rule, by number.

use super::rule::file_name_error;
use super::{COMPONENT_BYTES_MAX, NAME_BYTES_MAX};
use crate::EngineError;

/// Names of one component each, in one block of memory.
#[derive(Debug, Default)]
pub(super) struct NameTable {
    bytes: Vec<u8>,
    /// End of each name in `bytes`.
    ends: Vec<u32>,
    /// Numbers of all names, sorted by name.
    sorted: Vec<u32>,
}

impl NameTable {
    /// # Errors
    /// If a name is not valid within a directory.
    pub(super) fn new(names: &[Box<str>]) -> Result<Self, EngineError> {
        let mut texts = Self::default();
        for name in names {
            if matches!(&**name, "" | "." | "..") || name.contains(['/', '\0']) {
                return Err(file_name_error(
                    name,
                    "it is not a valid name in a directory",
                ));
            }
            if name.len() > COMPONENT_BYTES_MAX {
                return Err(file_name_error(name, "it is longer than 255 bytes"));
            }
            texts.bytes.extend_from_slice(name.as_bytes());
            let end = u32::try_from(texts.bytes.len());
            let end = end.map_err(|_| file_name_error("", "the list is longer than 4 GiB"))?;
            texts.ends.push(end);
        }
        let mut sorted: Vec<u32> = (0..texts.ends.len() as u32).collect();
        sorted.sort_unstable_by_key(|number| texts.get(*number));
        texts.sorted = sorted;
        Ok(texts)
    }

    #[inline]
    fn get(&self, number: u32) -> Option<&[u8]> {
        let number = number as usize;
        let end = *self.ends.get(number)? as usize;
        let start = match number.checked_sub(1) {
            Some(before) => self.ends[before] as usize,
            None => 0,
        };
        Some(&self.bytes[start..end])
    }

    /// Writes the name with a number and a zero byte. Returns the position of the zero byte.
    #[inline]
    pub(super) fn write(
        &self,
        number: u32,
        buffer: &mut [u8; NAME_BYTES_MAX],
        start: usize,
    ) -> Option<usize> {
        let name = self.get(number)?;
        let end = start + name.len();
        buffer[start..end].copy_from_slice(name);
        buffer[end] = 0;
        Some(end)
    }

    /// The numbers of all names equal to `name`.
    pub(super) fn find(&self, name: &[u8]) -> impl Iterator<Item = u32> {
        let is_before = |number: &u32| self.get(*number) < Some(name);
        let first = self.sorted.partition_point(is_before);
        let from = self.sorted[first..].iter().copied();
        from.take_while(move |number| self.get(*number) == Some(name))
    }
}
