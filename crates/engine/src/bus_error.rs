//! Copies from and to mapped files that survive `SIGBUS`.
//!
//! The kernel sends this signal when it cannot serve an access to a mapped page. The handler maps
//! zeros over the rest of the range so that the copy can finish, and records the address. The
//! caller then restores the mapping and reports a failed operation. All other `SIGBUS` signals go
//! to the previous handler.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{Ordering, compiler_fence};
use std::sync::{Once, OnceLock};

type PlainAction = extern "C" fn(c_int);
type DetailedAction = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// Values that the handler needs but cannot query itself.
struct SignalContext {
    previous: libc::sigaction,
    page_bytes: usize,
}

static SIGNAL_CONTEXT: OnceLock<SignalContext> = OnceLock::new();

/// Address range of the pages that were replaced by zeros during a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ZeroedRange {
    pub start: usize,
    pub length_bytes: usize,
}

/// Address range of the mapped side of this thread's current copy.
struct MappedCopy {
    /// [`NO_ADDRESS`] while no copy is in progress.
    start: Cell<usize>,
    /// Not reset after a copy.
    // `take_replaced` needs it after the copy has ended.
    end: Cell<usize>,
    /// First page that was replaced; [`NO_ADDRESS`] if none was.
    replaced_from: Cell<usize>,
}

const NO_ADDRESS: usize = usize::MAX;

thread_local! {
    // No destructor, so that a signal handler can access it.
    static COPY: MappedCopy = const {
        MappedCopy {
            start: Cell::new(NO_ADDRESS),
            end: Cell::new(0),
            replaced_from: Cell::new(NO_ADDRESS),
        }
    };
}

/// Installs the handler for all threads; further calls do nothing.
pub(crate) fn catch() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        // Set before the handler is installed, because the handler reads it.
        SIGNAL_CONTEXT.get_or_init(|| SignalContext {
            previous: exchange(None),
            page_bytes: rustix::param::page_size(),
        });
        // SAFETY: all zeros are a valid action: the default one, with no flags and an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        // The previous handler may be the standard library's, which reports stack overflows. It
        // runs on the alternate stack.
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        exchange(Some(&action));
    });
}

/// Returns the current action of the signal and installs a new one, if given.
fn exchange(action: Option<&libc::sigaction>) -> libc::sigaction {
    // SAFETY: as in `catch`.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    let action = action.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both pointers are valid or null, and `on_bus_error` does only what is allowed in a
    // handler. The call cannot fail for this signal.
    unsafe { libc::sigaction(libc::SIGBUS, action, &mut before) };
    before
}

/// Copies between memory and a mapped file. `mapped` is the source or the destination, whichever is
/// in the file. Returns `false` if the kernel could not serve an access. The copied bytes must then
/// not be used, and [`take_replaced`] returns the pages that are no longer mapped to the file.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`], except that the kernel may refuse accesses to the
/// mapped side. [`catch`] was called before. The mapping is private to this thread and consists of
/// whole pages.
#[inline]
pub(crate) unsafe fn copy(
    source: *const u8,
    destination: *mut u8,
    length: usize,
    mapped: *const u8,
) -> bool {
    COPY.with(|copy| {
        copy.start.set(mapped.addr());
        copy.end.set(mapped.addr() + length);
        // The handler runs on this thread, so preventing compiler reordering is enough.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's contract.
        unsafe { std::ptr::copy_nonoverlapping(source, destination, length) };
        compiler_fence(Ordering::SeqCst);
        copy.start.set(NO_ADDRESS);
        copy.replaced_from.get() == NO_ADDRESS
    })
}

/// The pages that were replaced during this thread's last copy.
#[cold]
pub(crate) fn take_replaced() -> ZeroedRange {
    COPY.with(|copy| {
        let start = copy.replaced_from.replace(NO_ADDRESS);
        ZeroedRange {
            start,
            length_bytes: page_end(copy.end.get()) - start,
        }
    })
}

impl MappedCopy {
    /// Maps zeros from the page of `address` to the end of the copy. Returns `true` on success.
    fn replace(&self, address: usize) -> bool {
        // Zeros must replace only pages of the current copy. Any other fault belongs to the
        // previous handler.
        if !(self.start.get()..self.end.get()).contains(&address) {
            return false;
        }
        let Some(surroundings) = SIGNAL_CONTEXT.get() else {
            return false;
        };
        let first = address - address % surroundings.page_bytes;
        let length = page_end(self.end.get()) - first;
        // SAFETY: the pages belong to the mapping of the interrupted copy, which is its only user.
        // The call is a plain system call, so a handler may make it.
        let placed = unsafe {
            // The interrupted code may be about to read the errno of its call.
            let errno = *libc::__errno_location();
            let placed = libc::mmap(
                std::ptr::without_provenance_mut(first),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                -1,
                0,
            );
            *libc::__errno_location() = errno;
            placed
        };
        if placed == libc::MAP_FAILED {
            return false;
        }
        // Copies do not always run from the lowest address to the highest.
        let from = self.replaced_from.get().min(first);
        self.replaced_from.set(from);
        true
    }
}

/// End of the page that contains the byte before an address.
fn page_end(address: usize) -> usize {
    let page_bytes = SIGNAL_CONTEXT.get().map_or(1, |it| it.page_bytes);
    address.next_multiple_of(page_bytes)
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes the handler valid information on the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    // `BUS_MCEERR_AO` is left out: it reports damaged memory that no access has hit yet.
    let is_access = matches!(code, libc::BUS_ADRERR | libc::BUS_MCEERR_AR);
    if !is_access || !COPY.with(|copy| copy.replace(address)) {
        pass_on(signal, info, context);
    }
}

/// Passes the signal to the previous action.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(SignalContext {
        previous: before, ..
    }) = SIGNAL_CONTEXT.get()
    else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            exchange(Some(before));
            // SAFETY: the signal is delivered when this handler returns; a failed access then ends
            // the process.
            unsafe { libc::raise(signal) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag, the handler is a function of three arguments.
            let handler: DetailedAction = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag, the handler is a function of one argument.
            let handler: PlainAction = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
