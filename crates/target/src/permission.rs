//! What the user allows.

use std::path::PathBuf;

use plan::program::NamesInPlace;

/// What the user allows beyond a work directory of our own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permission {
    /// Devices whose content may be destroyed, as the option names them; each must be the
    /// target's path, letter by letter.
    pub overwrite_devices: Vec<PathBuf>,
    /// A target that is not there may be made: a file of its name.
    pub create: bool,
    /// The run reads only: devices are opened for reading, so that none needs to be named, and so
    /// are files that pgmeter did not make.
    pub read_only: bool,
    /// Nothing of the run works on a character device, such as `/dev/null`.
    pub refuses_endless: bool,
    /// The run's id, noted in the manifest.
    pub run: String,
    /// Files lie among those of others, in directories that are the targets themselves.
    pub in_place: Option<InPlace>,
}

/// Files among those of others: what exists already is left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InPlace {
    /// The program that is stood in for, for who finds what a run left that was killed.
    pub program: String,
    /// How files and directories are called.
    pub names: NamesInPlace,
}
