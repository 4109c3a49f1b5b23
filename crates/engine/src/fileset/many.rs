//! Several filesets by number.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use super::{At, Fileset, NAME_BYTES_MAX, NameKey};

/// Filesets that the requests of an engine choose among by number; those beyond 255 cannot be
/// chosen.
#[derive(Debug, Clone)]
pub struct Filesets {
    /// Here, so that who has no others comes to it without a table on the way.
    first: Arc<Fileset>,
    others: Arc<[Arc<Fileset>]>,
}

impl Filesets {
    /// `first` is number 0; the others follow in their order.
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

    /// As [`Fileset::name`], in the fileset that the key says; `None` also where there is no such
    /// fileset.
    #[inline(always)]
    pub(crate) fn name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<At<'a>> {
        self.get(key.fileset)?.name(key, buffer)
    }

    /// As [`Fileset::find`], in the fileset that the key says.
    pub(crate) fn find(&self, beside: NameKey, name: &[u8]) -> Option<u32> {
        self.get(beside.fileset)?.find(beside, name)
    }

    /// The first directory of a fileset.
    pub(crate) fn location(&self, number: u8) -> Option<BorrowedFd<'_>> {
        let fileset = self.get(number)?;
        fileset.locations().first().map(AsFd::as_fd)
    }

    /// As [`Filesets::name`], for the directory that the name is in; see
    /// [`Fileset::directory_name`].
    pub(crate) fn directory_name<'a>(
        &'a self,
        key: NameKey,
        buffer: &'a mut [u8; NAME_BYTES_MAX],
    ) -> Option<At<'a>> {
        self.get(key.fileset)?.directory_name(key, buffer)
    }
}

impl From<Arc<Fileset>> for Filesets {
    /// That one alone.
    fn from(fileset: Arc<Fileset>) -> Self {
        Self::new(fileset, &[])
    }
}
