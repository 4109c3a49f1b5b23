//! Several filesets, selected by number.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::{Fileset, NAME_BYTES_MAX, NameKey, RelativeName};

/// Filesets that requests select by number, at most 256.
#[derive(Debug, Clone)]
pub struct Filesets {
    /// Stored separately, so that an engine with one fileset needs no table lookup.
    first: Arc<Fileset>,
    others: Arc<[Arc<Fileset>]>,
}

impl Filesets {
    /// `first` is number 0; the others follow in order.
    #[must_use]
    pub fn new(first: Arc<Fileset>, others: &[Arc<Fileset>]) -> Self {
        Self {
            first,
            others: others.into(),
        }
    }

    pub(crate) fn first(&self) -> &Fileset {
        &self.first
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Fileset> {
        std::iter::once(&self.first)
            .chain(&*self.others)
            .map(|it| &**it)
    }

    #[inline(always)]
    fn get(&self, number: u8) -> Option<&Fileset> {
        match usize::from(number).checked_sub(1) {
            None => Some(&self.first),
            Some(index) => self.others.get(index).map(|it| &**it),
        }
    }

    /// As [`Fileset::name`], in the fileset of the key; also `None` if that does not exist.
    #[inline(always)]
    pub(crate) fn name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<RelativeName<'a>> {
        self.get(key.fileset)?.name(key, buffer)
    }

    /// As [`Fileset::find`], in the fileset of the key.
    pub(crate) fn find(&self, sibling: NameKey, name: &[u8]) -> Option<u32> {
        self.get(sibling.fileset)?.find(sibling, name)
    }

    /// The first directory of a fileset.
    pub(crate) fn location(&self, number: u8) -> Option<BorrowedFd<'_>> {
        let fileset = self.get(number)?;
        fileset.locations().first().map(AsFd::as_fd)
    }

    /// As [`Filesets::name`], for the directory that contains the name; see
    /// [`Fileset::directory_name`].
    pub(crate) fn directory_name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<RelativeName<'a>> {
        self.get(key.fileset)?.directory_name(key, buffer)
    }
}

impl From<Arc<Fileset>> for Filesets {
    /// A single fileset.
    fn from(fileset: Arc<Fileset>) -> Self {
        Self::new(fileset, &[])
    }
}
