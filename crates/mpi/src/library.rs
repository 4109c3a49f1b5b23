//! Finds and opens the MPI library.

use std::ffi::{CStr, c_int};
use std::path::{Path, PathBuf};

use crate::abi::Abi;
use crate::bindings::{library_version, standard_major};
use crate::candidates::{candidates, launcher_directory};
use crate::error::MpiError;
use crate::launch::Launch;
use crate::shared_object::{SharedObject, file_of};

/// A symbol that only MPI libraries export. Interposed tools export `MPI_Init_thread` too.
const LIBRARY_SYMBOL: &CStr = c"PMPI_Init_thread";

/// An MPI library that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MpiLibrary {
    /// Path of the file, as the dynamic linker found it.
    pub path: PathBuf,
    /// First line of the library's version text, with printable characters only.
    pub version: String,
    /// Constants that the library uses.
    pub abi: Abi,
}

/// Finds the library that [`World::open`](crate::World::open) would open for this launch. Opens it
/// without initializing MPI, so the launcher is not contacted.
///
/// # Errors
/// The reason why no library can be used.
pub fn look(launch: &Launch) -> Result<MpiLibrary, MpiError> {
    open(launch).map(|(_, library)| library)
}

/// Opens the library of a launch.
pub(crate) fn open(launch: &Launch) -> Result<(SharedObject, MpiLibrary), MpiError> {
    // 32-bit handles travel in the lower half of 64-bit registers, see `bindings`.
    if cfg!(not(all(
        target_endian = "little",
        target_pointer_width = "64"
    ))) {
        return Err(MpiError::Platform);
    }
    let (object, name) = open_first(launch)?;
    let own = object
        .symbol(LIBRARY_SYMBOL)
        .ok_or_else(|| MpiError::NoSymbol {
            path: name.clone(),
            symbol: LIBRARY_SYMBOL.to_string_lossy().into_owned(),
        })?;
    // The name may lack a directory, and the library may be a preloaded one. The linker knows the
    // file.
    let path = file_of(own).unwrap_or(name);
    let library = MpiLibrary {
        version: library_version(&object, &path)?,
        abi: abi_of(&object),
        path,
    };
    Ok((object, library))
}

fn open_first(launch: &Launch) -> Result<(SharedObject, PathBuf), MpiError> {
    if let Some(path) = launch.library() {
        return match SharedObject::open(path) {
            Ok(object) => Ok((object, path.to_path_buf())),
            Err(reason) => Err(MpiError::Unloadable {
                path: path.to_path_buf(),
                reason: units::printable_message(&reason).into_owned(),
            }),
        };
    }
    // A library that the user preloaded takes precedence over the candidates.
    if let Ok(process) = SharedObject::of_process()
        && process.symbol(LIBRARY_SYMBOL).is_some()
    {
        return Ok((process, PathBuf::from("LD_PRELOAD")));
    }
    let mut tried = Vec::new();
    for path in candidates(launch, launcher_directory().as_deref()) {
        match SharedObject::open(&path) {
            Ok(object) => return Ok((object, path)),
            Err(reason) => tried.push(attempt_text(&path, &reason)),
        }
    }
    Err(MpiError::NotFound {
        launcher: launch.launcher(),
        tried,
    })
}

/// Text for a library that was tried: its name, or the reason if the file exists.
fn attempt_text(path: &Path, reason: &str) -> String {
    let name = path.display().to_string();
    let text = if path.exists() { reason } else { &name };
    units::printable_message(text).into_owned()
}

/// Checks for the standard ABI first: such a library may load Open MPI's library, and then Open
/// MPI's symbols are found too.
fn abi_of(object: &SharedObject) -> Abi {
    // The function alone proves nothing: libraries with MPICH's constants return -1.
    if standard_major(object).is_some_and(|major: c_int| major > 0) {
        return Abi::Standard;
    }
    match object.symbol(c"ompi_mpi_comm_world") {
        Some(_) => Abi::OpenMpi,
        None => Abi::Mpich,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(path: &Path) -> Launch {
        let launch = Launch::from_variables(|name| match name {
            "PMI_SIZE" => Some("4".into()),
            "PGMETER_LIBMPI" => Some(path.into()),
            _ => None,
        });
        launch.unwrap()
    }

    #[test]
    fn a_file_that_is_not_a_library_is_refused_with_the_reason() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("libmpi.so.40");
        std::fs::write(&path, "no library").unwrap();
        let error = look(&named(&path)).unwrap_err();
        assert!(matches!(error, MpiError::Unloadable { .. }), "{error}");
        assert!(error.to_string().contains("libmpi.so.40"), "{error}");
        assert!(error.help().is_some());
    }

    #[test]
    fn a_library_without_mpi_is_refused() {
        let error = look(&named(Path::new("libc.so.6"))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`libc.so.6` is not a usable MPI library: it has no `PMPI_Init_thread`"
        );
    }

    #[test]
    fn tried_paths_have_a_reason_only_if_they_exist() {
        assert_eq!(
            attempt_text(Path::new("libmpi.so.40"), "not found"),
            "libmpi.so.40"
        );
        assert_eq!(
            attempt_text(Path::new("/proc"), "/proc: no file"),
            "/proc: no file"
        );
    }
}
