//! Permissions given by the user.

use std::path::PathBuf;

use plan::program::NamesInPlace;

/// Permissions in addition to using a work directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permission {
    /// Devices whose content may be destroyed, as given in the option. Each must be exactly the
    /// target's path.
    pub overwrite_devices: Vec<PathBuf>,
    /// `true` if a missing target may be created as a file.
    pub create: bool,
    /// `true` if the run only reads. Devices are then opened for reading without being named, and
    /// so are files that pgmeter did not create.
    pub read_only: bool,
    /// `true` if the run cannot use a character device such as `/dev/null`.
    pub refuses_endless: bool,
    /// Id of the run, for the manifest.
    pub run_id: String,
    /// Settings for files directly in the target directories, next to other files.
    pub in_place: Option<InPlace>,
}

/// Files next to other files. Existing files are left unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InPlace {
    /// The emulated program, for the message about leftover files of a killed run.
    pub program: String,
    /// Names of its files and directories.
    pub names: NamesInPlace,
}
