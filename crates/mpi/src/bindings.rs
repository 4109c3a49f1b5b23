//! The library's functions, with signatures that fit every ABI.
//!
//! Handles are passed as pointer-sized integers. A library with 32-bit handles reads only the lower
//! half of the register. It also writes only the lower half of a handle that it returns, so the
//! other half must be zero before the call.
//!
//! Return codes are not reliable: Intel's library of the standard ABI ends the process on an error,
//! whatever error handler is set. Callers must check arguments first.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::{NonNull, null_mut};

use crate::abi::{Abi, Constants, HandleConstant, Status};
use crate::error::MpiError;
use crate::shared_object::SharedObject;

/// A communicator, data type, error handler or request.
pub(crate) type Handle = usize;

const SUCCESS: c_int = 0;
/// Buffer size for texts. The longest text of the known libraries has 8192 bytes.
const TEXT_BYTES: usize = 16 << 10;

/// Declares the table of functions and the code that looks each of them up.
macro_rules! functions {
    ($($field:ident = $symbol:literal ($($argument:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn find(object: &SharedObject, path: &Path) -> Result<Functions, MpiError> {
                Ok(Functions {
                    $($field: {
                        let address = find(object, path, $symbol)?;
                        // SAFETY: the MPI standard gives the function of this name this signature,
                        // except for the handles, which the module's documentation covers.
                        unsafe {
                            std::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($argument),*) -> c_int,
                            >(address)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    initialized = c"MPI_Initialized" (*mut c_int);
    init_thread = c"MPI_Init_thread" (*mut c_int, *mut *mut *mut c_char, c_int, *mut c_int);
    finalize = c"MPI_Finalize" ();
    abort = c"MPI_Abort" (Handle, c_int);
    set_error_handler = c"MPI_Comm_set_errhandler" (Handle, Handle);
    rank = c"MPI_Comm_rank" (Handle, *mut c_int);
    size = c"MPI_Comm_size" (Handle, *mut c_int);
    processor_name = c"MPI_Get_processor_name" (*mut c_char, *mut c_int);
    error_string = c"MPI_Error_string" (c_int, *mut c_char, *mut c_int);
    probe = c"MPI_Iprobe" (c_int, c_int, Handle, *mut c_int, *mut Status);
    count = c"MPI_Get_count" (*const Status, Handle, *mut c_int);
    send = c"MPI_Isend" (*const u8, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    receive = c"MPI_Irecv" (*mut u8, c_int, Handle, c_int, c_int, Handle, *mut Handle);
    test = c"MPI_Test" (*mut Handle, *mut c_int, *mut Status);
}

/// Envelope of a message that can be received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The sender's rank.
    pub from: c_int,
    /// The message's tag.
    pub tag: c_int,
    /// Number of bytes in the message.
    pub length: c_int,
}

/// A library's functions and constants.
pub(crate) struct Bindings {
    functions: Functions,
    constants: Constants,
    world: Handle,
    byte: Handle,
    errors_return: Handle,
}

impl Bindings {
    /// Finds all functions and handles that are used.
    pub(crate) fn find(object: &SharedObject, path: &Path, abi: Abi) -> Result<Self, MpiError> {
        let constants = abi.constants();
        Ok(Bindings {
            functions: Functions::find(object, path)?,
            world: handle(object, path, constants.comm_world)?,
            byte: handle(object, path, constants.byte)?,
            errors_return: handle(object, path, constants.errors_return)?,
            constants,
        })
    }

    /// Initializes MPI, and makes errors return a code instead of ending the process.
    pub(crate) fn initialize(&self) -> Result<(), MpiError> {
        let mut is_initialized = 0;
        // SAFETY: MPI allows this call at any time; the pointer is to a local variable.
        let code = unsafe { (self.functions.initialized)(&raw mut is_initialized) };
        self.check("MPI_Initialized", code)?;
        if is_initialized != 0 {
            return Err(MpiError::Initialized);
        }
        let (wanted, mut granted) = (self.constants.thread_funneled, 0);
        // SAFETY: MPI was not initialized; the program's arguments are not passed; the pointer is
        // to a local variable.
        let code = unsafe {
            (self.functions.init_thread)(null_mut(), null_mut(), wanted, &raw mut granted)
        };
        self.check("MPI_Init_thread", code)?;
        if granted < wanted {
            return Err(MpiError::Threads { granted });
        }
        // SAFETY: both handles are constants of this library, and MPI is initialized.
        let code = unsafe { (self.functions.set_error_handler)(self.world, self.errors_return) };
        self.check("MPI_Comm_set_errhandler", code)
    }

    /// Ends MPI in this process. MPI waits until all ranks have called it.
    pub(crate) fn finalize(&self) -> Result<(), MpiError> {
        // SAFETY: MPI is initialized, and no other function is called after this one.
        let code = unsafe { (self.functions.finalize)() };
        self.check("MPI_Finalize", code)
    }

    /// Ends all ranks. Some libraries return before the ranks have ended.
    pub(crate) fn abort(&self, exit_code: c_int) {
        // SAFETY: the handle is a constant of this library, and MPI is initialized.
        let _: c_int = unsafe { (self.functions.abort)(self.world, exit_code) };
    }

    /// Rank of this process and number of ranks.
    pub(crate) fn rank_and_size(&self) -> Result<(usize, usize), MpiError> {
        let (mut rank, mut size) = (-1, -1);
        // SAFETY: the handle is a constant of this library; the pointer is to a local variable.
        let code = unsafe { (self.functions.rank)(self.world, &raw mut rank) };
        self.check("MPI_Comm_rank", code)?;
        // SAFETY: as above.
        let code = unsafe { (self.functions.size)(self.world, &raw mut size) };
        self.check("MPI_Comm_size", code)?;
        match (usize::try_from(rank), usize::try_from(size)) {
            (Ok(rank), Ok(size)) if rank < size => Ok((rank, size)),
            _ => Err(MpiError::Call {
                call: "MPI_Comm_rank",
                reason: format!("rank {rank} in a world of {size}"),
            }),
        }
    }

    /// Host name as reported by the library.
    pub(crate) fn processor_name(&self) -> Result<String, MpiError> {
        let (code, name) = text(|at, length| {
            // SAFETY: the buffer has room for the longest name, and the length has its own
            // variable.
            unsafe { (self.functions.processor_name)(at, length) }
        });
        self.check("MPI_Get_processor_name", code)?;
        Ok(first_line(&name))
    }

    /// Envelope of the next message that can be received, from any rank.
    pub(crate) fn probe(&self) -> Result<Option<Envelope>, MpiError> {
        let (mut is_there, mut status, mut length) = (0, Status::default(), -1);
        let (source, tag) = (self.constants.any_source, self.constants.any_tag);
        // SAFETY: the constants are this library's; the pointers are to local variables, and the
        // status has room for the largest `MPI_Status`.
        let code = unsafe {
            (self.functions.probe)(source, tag, self.world, &raw mut is_there, &raw mut status)
        };
        self.check("MPI_Iprobe", code)?;
        if is_there == 0 {
            return Ok(None);
        }
        // SAFETY: the library has filled the status.
        let code = unsafe { (self.functions.count)(&raw const status, self.byte, &raw mut length) };
        self.check("MPI_Get_count", code)?;
        let (from, tag) = self.constants.envelope(&status);
        Ok(Some(Envelope { from, tag, length }))
    }

    /// Starts to send bytes.
    ///
    /// # Safety
    /// The bytes must neither move nor change until the request is done.
    pub(crate) unsafe fn start_send(
        &self,
        bytes: *const [u8],
        to: c_int,
        tag: c_int,
    ) -> Result<Handle, MpiError> {
        let length = count_of(bytes.len(), to, tag)?;
        // A library with 32-bit handles writes only the lower half.
        let mut request: Handle = 0;
        // SAFETY: guaranteed by the caller; the pointer is to a local variable.
        let code = unsafe {
            let at = bytes.cast();
            (self.functions.send)(at, length, self.byte, to, tag, self.world, &raw mut request)
        };
        self.check("MPI_Isend", code)?;
        Ok(request)
    }

    /// Starts to receive a message of exactly `bytes.len()` bytes.
    ///
    /// # Safety
    /// The bytes must not move, and no other code may use them, until the request is done.
    pub(crate) unsafe fn start_receive(
        &self,
        bytes: *mut [u8],
        from: c_int,
        tag: c_int,
    ) -> Result<Handle, MpiError> {
        let length = count_of(bytes.len(), from, tag)?;
        let mut request: Handle = 0;
        // SAFETY: guaranteed by the caller; the pointer is to a local variable.
        let code = unsafe {
            let at = bytes.cast();
            (self.functions.receive)(
                at,
                length,
                self.byte,
                from,
                tag,
                self.world,
                &raw mut request,
            )
        };
        self.check("MPI_Irecv", code)?;
        Ok(request)
    }

    /// Advances a request and returns `true` if it is done. It must then not be tested again.
    ///
    /// # Safety
    /// The request must have been started and must not be done.
    pub(crate) unsafe fn test(&self, request: &mut Handle) -> Result<bool, MpiError> {
        let (mut is_done, mut status) = (0, Status::default());
        // SAFETY: guaranteed by the caller; the pointers are to local variables.
        let code = unsafe { (self.functions.test)(request, &raw mut is_done, &raw mut status) };
        self.check("MPI_Test", code)?;
        Ok(is_done != 0)
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), MpiError> {
        if code == SUCCESS {
            return Ok(());
        }
        let (text_code, reason) = text(|at, length| {
            // SAFETY: the buffer has room for the longest text, and the length has its own
            // variable.
            unsafe { (self.functions.error_string)(code, at, length) }
        });
        let reason = match text_code {
            SUCCESS => first_line(&reason),
            _ => format!("error {code}"),
        };
        Err(MpiError::Call { call, reason })
    }
}

/// First line of the library's version text. It is available before MPI is initialized.
pub(crate) fn library_version(object: &SharedObject, path: &Path) -> Result<String, MpiError> {
    type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
    let address = find(object, path, c"MPI_Get_library_version")?;
    // SAFETY: the MPI standard gives the function this signature.
    let version = unsafe { std::mem::transmute::<NonNull<c_void>, Version>(address) };
    let (code, version_text) = text(|at, length| {
        // SAFETY: the buffer has room for the longest text, and the length has its own variable.
        unsafe { version(at, length) }
    });
    if code == SUCCESS {
        return Ok(first_line(&version_text));
    }
    Err(MpiError::Call {
        call: "MPI_Get_library_version",
        reason: format!("error {code}"),
    })
}

/// Major version of the standard ABI as reported by the library; `None` without such a function.
pub(crate) fn standard_major(object: &SharedObject) -> Option<c_int> {
    type AbiVersion = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
    let address = object.symbol(c"MPI_Abi_get_version")?;
    // SAFETY: the MPI standard gives the function this signature.
    let version = unsafe { std::mem::transmute::<NonNull<c_void>, AbiVersion>(address) };
    let (mut major, mut minor) = (-1, -1);
    // SAFETY: MPI allows this call at any time; the pointers are to local variables.
    let code = unsafe { version(&raw mut major, &raw mut minor) };
    (code == SUCCESS).then_some(major)
}

fn find(object: &SharedObject, path: &Path, name: &CStr) -> Result<NonNull<c_void>, MpiError> {
    object.symbol(name).ok_or_else(|| MpiError::NoSymbol {
        path: path.to_path_buf(),
        symbol: name.to_string_lossy().into_owned(),
    })
}

fn handle(
    object: &SharedObject,
    path: &Path,
    constant: HandleConstant,
) -> Result<Handle, MpiError> {
    match constant {
        HandleConstant::Number(number) => Ok(number),
        HandleConstant::Symbol(name) => Ok(find(object, path, name)?.as_ptr() as Handle),
    }
}

fn count_of(length: usize, peer: c_int, tag: c_int) -> Result<c_int, MpiError> {
    c_int::try_from(length).map_err(|_| MpiError::UnexpectedMessage {
        from: peer,
        tag,
        length: c_int::MAX,
    })
}

/// Calls a function that writes a text and its length; returns its code and the text.
fn text(write: impl FnOnce(*mut c_char, *mut c_int) -> c_int) -> (c_int, Vec<u8>) {
    let mut bytes = vec![0_u8; TEXT_BYTES];
    let mut length = 0;
    let code = write(bytes.as_mut_ptr().cast(), &raw mut length);
    let end = bytes.iter().position(|byte| *byte == 0);
    bytes.truncate(end.unwrap_or(TEXT_BYTES));
    (code, bytes)
}

fn first_line(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    // Libraries pad labels with blanks to align the values.
    let words: Vec<&str> = line.unwrap_or_default().split_whitespace().collect();
    units::printable(&words.join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_a_version_is_kept_and_made_printable() {
        let mpich = b"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7\n";
        assert_eq!(first_line(mpich), "MPICH Version: 4.0.2");
        assert_eq!(first_line(b"\n\n"), "");
        assert!(!first_line(b"a\x1b[31mb").contains('\x1b'));
    }

    #[test]
    fn a_text_ends_at_its_zero_byte() {
        let (code, bytes) = text(|at, length| {
            // SAFETY: there is room for far more, and a place for the length.
            unsafe {
                std::ptr::copy_nonoverlapping(b"abc\0d".as_ptr().cast(), at, 5);
                *length = 3;
            }
            7
        });
        assert_eq!((code, bytes.as_slice()), (7, b"abc".as_slice()));
    }

    #[test]
    fn a_count_beyond_an_int_is_refused() {
        assert!(count_of(c_int::MAX as usize, 0, 1).is_ok());
        assert!(count_of(c_int::MAX as usize + 1, 0, 1).is_err());
    }
}
