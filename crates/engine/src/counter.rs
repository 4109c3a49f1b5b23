//! A cycle counter of unknown frequency.

use rustix::time::{ClockId, clock_gettime};

/// A counter that runs at constant speed in all power states and is synchronized across cores. If
/// the kernel trusts no such counter, the system clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CycleCounter {
    is_system: bool,
}

impl CycleCounter {
    /// Detects the counter.
    pub(crate) fn new() -> Self {
        Self {
            is_system: !processor::has_counter(),
        }
    }

    /// `true` if it is the processor's counter, `false` if it is the system clock.
    pub(crate) const fn is_processor_counter(self) -> bool {
        !self.is_system
    }

    /// Ticks since an arbitrary moment.
    #[inline(always)]
    pub(crate) fn ticks(self) -> u64 {
        if self.is_system {
            system_ns()
        } else {
            processor::ticks()
        }
    }
}

/// `CLOCK_MONOTONIC` in nanoseconds.
pub(crate) fn system_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    /// CPUID leaf of power management, and its bit for a counter that no power state disturbs.
    const POWER_LEAF: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;

    const AVAILABLE_SOURCES: &str =
        "/sys/devices/system/clocksource/clocksource0/available_clocksource";

    pub(super) fn has_counter() -> bool {
        // A processor without the leaf may answer with the values of another leaf.
        let last_leaf = __cpuid(0x8000_0000).eax;
        let is_invariant = last_leaf >= POWER_LEAF && __cpuid(POWER_LEAF).edx & INVARIANT_TSC != 0;
        is_invariant
            && !is_rejected(&std::fs::read_to_string(AVAILABLE_SOURCES).unwrap_or_default())
    }

    /// `true` if the kernel has found that the counters of two cores differ or do not run evenly:
    /// it then no longer offers `tsc`. The kernel may prefer a hypervisor's clock source
    /// (`kvm-clock`), but the counter can be used as long as it is offered.
    ///
    /// User-mode Linux offers only `timer` and does not know about the counter, which is the
    /// host's. If the list cannot be read, only CPUID decides.
    ///
    /// Source: Linux, `kernel/time/clocksource.c`, `__clocksource_unstable`;
    /// `arch/x86/kernel/tsc.c`, `init_tsc_clocksource`; `arch/um/kernel/time.c`.
    pub(super) fn is_rejected(available: &str) -> bool {
        let mut sources = available.split_whitespace().peekable();
        sources.peek().is_some() && sources.all(|source| !matches!(source, "tsc" | "timer"))
    }

    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        // SAFETY: every x86-64 processor has the instruction, and Linux allows programs to use it.
        unsafe { _rdtsc() }
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    pub(super) const fn has_counter() -> bool {
        // The generic timer is part of the architecture, and its counter runs at a constant rate.
        true
    }

    #[inline(always)]
    pub(super) fn ticks() -> u64 {
        let ticks;
        // SAFETY: it reads a register that every such processor has and that Linux allows programs
        // to read.
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
    fn a_counter_that_the_kernel_rejected_is_not_used() {
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
    fn ticks_never_go_back_with_or_without_a_counter() {
        for counter in [CycleCounter::new(), CycleCounter { is_system: true }] {
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
