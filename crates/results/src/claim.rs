//! Statements that reports make about results, and the warnings that contradict them.

use crate::{Warning, WarningCode};

/// A statement that reports make about results unless a warning contradicts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claim {
    /// All requested work was done and verified: the run is a success.
    Succeeded,
    /// The results cover the whole measured time.
    Valid,
    /// Requests bypassed the page cache.
    BypassedCache,
    /// Devices, not memory, served the reads.
    ReadFromDevice,
    /// The bytes moved came from devices or reached them during the measurement.
    MovedByDevice,
    /// The target is backed by storage, not by memory.
    OnStorage,
    /// The rates are typical of a kind of device, such as a disk or an SSD.
    DeviceClass,
    /// CPUs did not limit the rates.
    NotCpuBound,
}

impl WarningCode {
    /// Statements that a warning of this kind contradicts. The match lists every code, so that a
    /// new code does not compile until it has an entry.
    #[must_use]
    pub const fn contradicted_claims(&self) -> &'static [Claim] {
        use Claim::{
            BypassedCache, DeviceClass, MovedByDevice, NotCpuBound, OnStorage, ReadFromDevice,
            Succeeded, Valid,
        };
        match self {
            Self::VerifyMismatch
            | Self::TargetLost
            | Self::RankLost
            | Self::TraceBroken
            | Self::RunFailed
            | Self::GoalMissed => &[Succeeded, Valid],
            // Not `Succeeded`: `has_failure` counts failed operations itself, and a standstill may
            // have been left out of the results.
            Self::IoErrors | Self::NothingMeasured | Self::StoodStill => &[Valid],
            Self::CacheServedReads => &[BypassedCache, ReadFromDevice, MovedByDevice, DeviceClass],
            // The class of a device follows from its reads, so absorbed writes do not affect it.
            Self::CacheAbsorbedWrites => &[BypassedCache, MovedByDevice],
            Self::DirectNotHonored | Self::FileSmallerThanMemory => {
                &[BypassedCache, ReadFromDevice, DeviceClass]
            }
            // Some requests are still direct, such as all reads on a file system that buffers
            // writes.
            Self::DirectFallsBack => &[BypassedCache, DeviceClass],
            Self::MemoryBacked => &[OnStorage, DeviceClass],
            // The device did answer these reads, but without its medium.
            Self::BlankStorage => &[DeviceClass],
            Self::WorkerCpuBound | Self::WaitedForProcessor | Self::ProcessorsSaturated => {
                &[NotCpuBound]
            }
            Self::CompressibleContent
            | Self::StealTime
            | Self::OtherIoOnDevice
            | Self::FewSamplesForPercentile
            | Self::FewOperations
            | Self::RingFlagsMissing
            | Self::ShortTransfers
            | Self::SizeReduced
            | Self::AlignmentRaised
            | Self::ClockUnstable
            | Self::LoadBefore
            | Self::IntervalLate
            | Self::NotSteady
            | Self::WarmUp
            | Self::CellCutShort
            | Self::DepthNotFound
            | Self::RateNotReached
            | Self::ReplayLate
            | Self::ResponsesCensored
            | Self::LimitInForce
            | Self::NotMounted
            | Self::NetworkLoopback
            | Self::LeftoverFiles
            | Self::PoolDepleted
            | Self::ClassicFigure
            | Self::DiffersFromOriginal
            | Self::PrecisionNotReached
            | Self::NotStored
            | Self::StoreOnTarget
            | Self::UnequalHosts
            | Self::ClockOffset
            | Self::StartSpread
            | Self::RankImbalance
            | Self::TooShort
            | Self::Plan
            | Self::Lab
            | Self::Other(_) => &[],
        }
    }
}

impl Warning {
    /// `true` if the warning contradicts `claim`.
    #[must_use]
    pub fn contradicts(&self, claim: Claim) -> bool {
        self.code.contradicted_claims().contains(&claim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn against(claim: Claim) -> Vec<&'static str> {
        let codes = WarningCode::ALL.iter();
        codes
            .filter(|code| code.contradicted_claims().contains(&claim))
            .map(WarningCode::as_str)
            .collect()
    }

    #[test]
    fn partly_cached_direct_io_does_not_bypass_the_cache() {
        let codes = against(Claim::BypassedCache);
        for code in [
            "direct-not-honored",
            "direct-falls-back",
            "cache-served-reads",
            "cache-absorbed-writes",
        ] {
            assert!(codes.contains(&code), "{code}");
        }
    }

    #[test]
    fn an_unsuccessful_run_has_no_valid_figures() {
        let valid = against(Claim::Valid);
        assert!(
            against(Claim::Succeeded)
                .iter()
                .all(|code| valid.contains(code))
        );
        assert!(valid.contains(&"rank-lost") && valid.contains(&"trace-broken"));
    }
}
