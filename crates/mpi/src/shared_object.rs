//! A library that was opened when the program ran.

use std::ffi::{CStr, CString, OsStr, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::{NonNull, null};

/// An open library. It stays open to the process's end: MPI libraries leave threads and exit
/// handlers behind, whose code must not go away.
#[derive(Debug)]
pub(crate) struct SharedObject {
    handle: NonNull<c_void>,
}

impl SharedObject {
    /// Opens a library, whose own code then runs: by its path, or by its name where the dynamic
    /// linker looks.
    ///
    /// # Errors
    /// What the dynamic linker says.
    pub(crate) fn open(path: &Path) -> Result<SharedObject, String> {
        let name = CString::new(path.as_os_str().as_bytes()).map_err(|error| error.to_string())?;
        SharedObject::open_by(Some(&name))
    }

    /// What is in the process already: the program, the libraries that it is linked with and those
    /// that were preloaded.
    ///
    /// # Errors
    /// What the dynamic linker says.
    pub(crate) fn of_process() -> Result<SharedObject, String> {
        SharedObject::open_by(None)
    }

    fn open_by(name: Option<&CStr>) -> Result<SharedObject, String> {
        let name = name.map_or(null(), CStr::as_ptr);
        // SAFETY: the name is null or ends in a zero byte. What the library's initializers do is
        // up to whoever named or installed it, as with libraries that a program is linked with.
        let handle = unsafe { libc::dlopen(name, libc::RTLD_NOW | libc::RTLD_LOCAL) };
        match NonNull::new(handle) {
            Some(handle) => Ok(SharedObject { handle }),
            None => Err(last_error()),
        }
    }

    /// The address of what the library, or one that it needs, exports by this name.
    pub(crate) fn symbol(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: the handle is of an open library, as none is ever closed.
        NonNull::new(unsafe { libc::dlsym(self.handle.as_ptr(), name.as_ptr()) })
    }
}

/// The file that holds the code or data at this address.
pub(crate) fn file_of(address: NonNull<c_void>) -> Option<PathBuf> {
    let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the place is ours to be written; the address is only compared.
    let is_found = unsafe { libc::dladdr(address.as_ptr(), found.as_mut_ptr()) } != 0;
    // SAFETY: all its fields are pointers, which may be zero.
    let found = unsafe { found.assume_init() };
    if !is_found || found.dli_fname.is_null() {
        return None;
    }
    // SAFETY: it is a name of the dynamic linker's own, which lives as long as the library.
    let name = unsafe { CStr::from_ptr(found.dli_fname) };
    Some(PathBuf::from(OsStr::from_bytes(name.to_bytes())))
}

fn last_error() -> String {
    // SAFETY: there is no argument; the text is this thread's own until its next such call.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return "the dynamic linker does not say why".to_owned();
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
    fn a_library_that_is_not_there_is_told() {
        let reason = SharedObject::open(Path::new("libpgmeter-none.so.1")).unwrap_err();
        assert!(reason.contains("libpgmeter-none.so.1"), "{reason}");
        let zero = PathBuf::from(std::ffi::OsString::from_vec(vec![b'a', 0, b'b']));
        assert!(SharedObject::open(&zero).is_err());
    }

    #[test]
    fn what_is_in_the_process_has_names_and_files() {
        let process = SharedObject::of_process().unwrap();
        let address = process.symbol(c"malloc").unwrap();
        assert!(file_of(address).is_some_and(|path| path.is_absolute()));
        assert!(process.symbol(c"pgmeter_no_such_name").is_none());
    }
}
