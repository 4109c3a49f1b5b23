//! The processor's own counter of time, in ticks of unknown length.

use rustix::time::{ClockId, clock_gettime};

/// A counter that goes on at one speed whatever the processor does, and is the same on all of its
/// cores; where there is none, the system's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counter {
    is_system: bool,
}

impl Counter {
    /// Looks for the counter.
    pub(crate) fn new() -> Self {
        Self {
            is_system: !processor::has_counter(),
        }
    }

    /// Ticks since some moment.
    #[inline(always)]
    pub(crate) fn ticks(self) -> u64 {
        if self.is_system {
            system_ns()
        } else {
            processor::ticks()
        }
    }
}

/// Nanoseconds of `CLOCK_MONOTONIC`.
pub(crate) fn system_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    /// The leaf that says how the processor manages its power, and its bit for a counter that
    /// none of it disturbs.
    const POWER_LEAF: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;

    pub(super) fn has_counter() -> bool {
        let last_leaf = __cpuid(0x8000_0000).eax;
        last_leaf >= POWER_LEAF && __cpuid(POWER_LEAF).edx & INVARIANT_TSC != 0
    }

    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and Linux lets programs use it.
        unsafe { _rdtsc() }
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    pub(super) const fn has_counter() -> bool {
        true
    }

    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        let ticks;
        // SAFETY: it reads a register that every such processor has and Linux lets programs read.
        unsafe {
            std::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack));
        }
        ticks
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    pub(super) const fn has_counter() -> bool {
        false
    }

    pub(super) fn ticks() -> u64 {
        super::system_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_never_go_back_with_and_without_a_counter() {
        for counter in [Counter::new(), Counter { is_system: true }] {
            let mut last = counter.ticks();
            for _ in 0..10_000 {
                let ticks = counter.ticks();
                assert!(ticks >= last, "{counter:?}");
                last = ticks;
            }
            assert!(last > 0);
        }
    }
}
