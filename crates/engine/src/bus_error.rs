//! Copies from and to mapped files that live through `SIGBUS`.
//!
//! With this signal the kernel answers an access to a mapped page that it cannot serve. The
//! handler puts zeros in the place of what is still to be copied, so that the copy comes to its
//! end, and notes where; who copies then puts the file back and reports a failed operation.
//! Whatever else the signal is sent for goes to the handler that was there before.

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{Ordering, compiler_fence};
use std::sync::{Once, OnceLock};

type PlainAction = extern "C" fn(c_int);
type DetailedAction = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// What the handler needs and may not ask for.
struct Surroundings {
    before: libc::sigaction,
    page_bytes: usize,
}

static SURROUNDINGS: OnceLock<Surroundings> = OnceLock::new();

/// The pages, by address, whose file gave way to zeros in a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub start: usize,
    pub length_bytes: usize,
}

/// The mapped side of the copy that this thread makes, by address.
struct MappedCopy {
    /// [`NONE`] while nothing is copied.
    start: Cell<usize>,
    /// Stays as it is after a copy.
    end: Cell<usize>,
    /// The first page that was replaced; [`NONE`] as long as none was.
    replaced_from: Cell<usize>,
}

const NONE: usize = usize::MAX;

thread_local! {
    // Without a destructor, so that a signal handler may look at it.
    static COPY: MappedCopy = const {
        MappedCopy {
            start: Cell::new(NONE),
            end: Cell::new(0),
            replaced_from: Cell::new(NONE),
        }
    };
}

/// Catches the signal from now on, for all threads.
pub(crate) fn catch() {
    static CAUGHT: Once = Once::new();
    CAUGHT.call_once(|| {
        SURROUNDINGS.get_or_init(|| Surroundings {
            before: exchange(None),
            page_bytes: rustix::param::page_size(),
        });
        // SAFETY: all zeros are an action: the default one, with no flags and an empty mask.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = on_bus_error as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        exchange(Some(&action));
    });
}

/// The signal's action; a new one takes its place.
fn exchange(action: Option<&libc::sigaction>) -> libc::sigaction {
    // SAFETY: as in `catch`.
    let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
    let action = action.map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: both point to actions or nowhere, and what `on_bus_error` does may be done in a
    // handler. The call cannot fail for this signal.
    unsafe { libc::sigaction(libc::SIGBUS, action, &mut before) };
    before
}

/// Copies between memory and a mapped file, which begins at `mapped`: the source or the
/// destination. False where the kernel could not serve an access: what was copied is then not to be
/// used, and [`take_replaced`] tells which pages are no longer mapped to the file.
///
/// # Safety
/// As for [`std::ptr::copy_nonoverlapping`], save that the kernel may refuse accesses to the
/// mapped side. [`catch`] was called before. The mapping is private to this thread, whole pages.
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
        // The handler is on this thread, so keeping the compiler's order is enough.
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(source, destination, length) };
        compiler_fence(Ordering::SeqCst);
        copy.start.set(NONE);
        copy.replaced_from.get() == NONE
    })
}

/// The pages that were replaced in this thread's last copy.
#[cold]
pub(crate) fn take_replaced() -> Replaced {
    COPY.with(|copy| {
        let start = copy.replaced_from.replace(NONE);
        Replaced {
            start,
            length_bytes: page_end(copy.end.get()) - start,
        }
    })
}

impl MappedCopy {
    /// Puts zeros from the page of an address to the end of the copy; whether that could be done.
    fn replace(&self, address: usize) -> bool {
        if !(self.start.get()..self.end.get()).contains(&address) {
            return false;
        }
        let Some(surroundings) = SURROUNDINGS.get() else {
            return false;
        };
        let first = address - address % surroundings.page_bytes;
        let length = page_end(self.end.get()) - first;
        // SAFETY: the pages belong to the mapping that is copied from or to, whose only user is
        // the copy that was interrupted. The call is no more than a system call.
        let placed = unsafe {
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
        // Copies need not go from the lowest address to the highest.
        let from = self.replaced_from.get().min(first);
        self.replaced_from.set(from);
        true
    }
}

/// The end of the page that holds the byte before an address.
fn page_end(address: usize) -> usize {
    let page_bytes = SURROUNDINGS.get().map_or(1, |it| it.page_bytes);
    address.next_multiple_of(page_bytes)
}

extern "C" fn on_bus_error(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel hands the handler what it knows of the signal.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr().addr()) };
    let is_access = matches!(code, libc::BUS_ADRERR | libc::BUS_MCEERR_AR);
    if !is_access || !COPY.with(|copy| copy.replace(address)) {
        pass_on(signal, info, context);
    }
}

/// Lets the action that was there before have the signal.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(Surroundings { before, .. }) = SURROUNDINGS.get() else {
        return;
    };
    match before.sa_sigaction {
        libc::SIG_DFL | libc::SIG_IGN => {
            exchange(Some(before));
            // SAFETY: comes when this handler is left; an access that failed ends the process.
            unsafe { libc::raise(signal) };
        }
        handler if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: with this flag it is a function of three arguments.
            let handler: DetailedAction = unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: without the flag it is a function of one argument.
            let handler: PlainAction = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}
