//! Waiting for a single completion, for rings that probe a feature.

use std::io;

use io_uring::IoUring;

/// Waits for the only request in flight. Returns its result and the memory that it uses.
///
/// # Errors
/// If the ring cannot be entered. The memory is then leaked, because the kernel may still write to
/// it.
pub(super) fn last_completion<M>(ring: &mut IoUring, memory: M) -> io::Result<(i32, M)> {
    loop {
        if let Some(entry) = ring.completion().next() {
            return Ok((entry.result(), memory));
        }
        match ring.submit_and_wait(1) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                std::mem::forget(memory);
                return Err(error);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use io_uring::opcode;

    use super::*;

    static DROPPED: AtomicU32 = AtomicU32::new(0);

    struct Memory;

    impl Drop for Memory {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn memory_that_the_kernel_may_still_write_to_is_never_freed() {
        let Ok(mut ring) = IoUring::builder().setup_r_disabled().build(1) else {
            return;
        };
        // A ring that is disabled refuses to be entered.
        let entered = last_completion(&mut ring, Memory);
        assert!(entered.is_err());
        assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
        let Ok(mut ring) = IoUring::new(1) else {
            return;
        };
        // SAFETY: it uses no memory.
        unsafe { ring.submission().push(&opcode::Nop::new().build()) }.unwrap();
        let (result, memory) = last_completion(&mut ring, Memory).unwrap();
        assert_eq!(result, 0);
        drop(memory);
        assert_eq!(DROPPED.load(Ordering::Relaxed), 1);
    }
}
