//! A library opened at run time.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null};

/// An open library. It stays open until the process ends: MPI libraries leave threads and exit
/// handlers behind, and their code must stay mapped.
#[derive(Debug)]
pub(crate) struct SharedObject {
    handle: NonNull<c_void>,
}

impl SharedObject {
    /// Opens a library by its path, or by its name on the dynamic linker's search path. This runs
    /// the library's initializers.
    ///
    /// # Errors
    /// Message of the dynamic linker.
    pub(crate) fn open(path: &Path) -> Result<SharedObject, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        SharedObject::open_by(Some(&name))
    }

    /// The symbols already in the process: the program, the libraries it is linked with and
    /// preloaded libraries.
    ///
    /// # Errors
    /// Message of the dynamic linker.
    pub(crate) fn of_process() -> Result<SharedObject, String> {
        SharedObject::open_by(None)
    }

    fn open_by(name: Option<&CStr>) -> Result<SharedObject, String> {
        let name = name.map_or(null(), CStr::as_ptr);
        // `RTLD_LOCAL` suffices: only Open MPI before version 3 needed `RTLD_GLOBAL`.
        // SAFETY: the name is null or ends in a zero byte. The user who named or installed the
        // library answers for its initializers, as for every library that a program is linked with.
        let handle = unsafe { libc::dlopen(name, libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match NonNull::new(handle) {
            Some(handle) => Ok(SharedObject { handle }),
            None => Err(last_error()),
        }
    }

    /// Address of a symbol that the library, or one of its dependencies, exports.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle belongs to an open library, because no library is ever closed.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

/// Path of the file that contains the code or data at this address.
pub(crate) fn file_of(address: NonNull<c_void>) -> Option<PathBuf> {
    let mut info = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the result is a local variable; the address is only compared.
    let is_found = unsafe { libc::dladdr(address.as_ptr(), info.as_mut_ptr()) } != 0;
    // SAFETY: all its fields are pointers, which may be zero.
    let info = unsafe { info.assume_init() };
    if !is_found || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the dynamic linker owns the name, which lives as long as the library.
    let name = unsafe { CStr::from_ptr(info.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

fn last_error() -> String {
    // SAFETY: there is no argument; the text belongs to this thread until its next `dlerror` call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker gave no reason".to_owned();
    }
    // SAFETY: it is not null and ends in a zero byte.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStringExt;

    #[test]
    fn a_missing_library_is_reported() {
        let reason = SharedObject::open(Path::new("libpgmeter-none.so.1")).unwrap_err();
        assert!(reason.contains("libpgmeter-none.so.1"), "{reason}");
        let zero = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0, b'b']));
        assert!(SharedObject::open(&zero).is_err());
    }

    #[test]
    fn symbols_of_the_process_have_addresses_and_files() {
        let process = SharedObject::of_process().unwrap();
        let address = process.symbol(c"malloc").unwrap();
        assert!(file_of(address).is_some_and(|path| path.is_absolute()));
        assert!(process.symbol(c"pgmeter_no_such_name").is_none());
    }
}
