//! The processor's own counter of time, in ticks of unknown length.

use rustix::time::{ClockId, clock_gettime};

/// A counter that goes on at one speed whatever the processor does, and is the same on all of its
/// cores; where there is none that the kernel trusts, the system's clock.
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

    /// Whether it is the processor's own and not the system's clock.
    pub(crate) const fn is_processors(self) -> bool {
        !self.is_system
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

    const AVAILABLE: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    pub(super) fn has_counter() -> bool {
        let last_leaf = __cpuid(0x8000_0000).eax;
        let is_invariant = last_leaf >= POWER_LEAF && __cpuid(POWER_LEAF).edx & INVARIANT_TSC != 0;
        is_invariant && !is_rejected(&std::fs::read_to_string(AVAILABLE).unwrap_or_default())
    }

    /// Whether a kernel that offers these clock sources has found that the counters of two cores
    /// differ or that they do not run evenly: it no longer offers `tsc` then. A hypervisor's own
    /// source beside it (`kvm-clock`) may be what the kernel prefers; the counter is sound as
    /// long as it is offered.
    ///
    /// User-mode Linux, whose only source is `timer`, knows nothing of the counter, which is the
    /// host's. Where the list cannot be read, the processor's word is all there is.
    ///
    /// Source: Linux, `kernel/time/clocksource.c`, `__clocksource_unstable`;
    /// `arch/x86/kernel/tsc.c`, `init_tsc_clocksource`; `arch/um/kernel/time.c`.
    pub(super) fn is_rejected(available: &str) -> bool {
        let mut sources = available.split_whitespace().peekable();
        sources.peek().is_some() && sources.all(|source| !matches!(source, "tsc" | "timer"))
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

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_counter_that_the_kernel_gave_up_is_not_used() {
        for (available, is_rejected) in [
            ("tsc hpet acpi_pm \n", false),
            ("tsc kvm-clock \n", false),
            ("kvm-clock tsc acpi_pm", false),
            ("hyperv_clocksource_tsc_page tsc", false),
            ("timer\n", false),
            ("", false),
            ("hpet acpi_pm \n", true),
            ("kvm-clock acpi_pm", true),
            (
                "hyperv_clocksource_tsc_page hyperv_clocksource_msr acpi_pm",
                true,
            ),
            ("tsc-early jiffies", true),
        ] {
            assert_eq!(
                processor::is_rejected(available),
                is_rejected,
                "{available}"
            );
        }
    }

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
