//! Goals of aging that were not reached.

use units::Percent;

use super::aged::AgedState;
use super::options::AgingOptions;

/// Deviation from the requested fullness that is accepted, in percentage points.
const TOLERANCE_PERCENT: f64 = 1.0;

/// A goal of aging that was not reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AgingShortfall {
    /// The fullness differs from the request.
    Fullness {
        /// Requested fullness.
        wanted: Percent,
        /// Cause.
        why: FullnessShortfall,
    },
    /// The file system does not report the layout of its files.
    ExtentsUnknown,
    /// The files have fewer extents on average than requested.
    Extents {
        /// Requested mean number of extents.
        wanted: f64,
    },
}

/// Why a file system does not have the requested fullness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FullnessShortfall {
    /// It was fuller than that when it was new.
    FullerWhenNew,
    /// Its reported free space keeps changing.
    Unstable,
    /// No space was left.
    NoSpace,
}

impl AgingShortfall {
    /// All goals that were not reached.
    pub(crate) fn all(aging: &AgingOptions, aged: &AgedState) -> Vec<Self> {
        let mut all = Vec::new();
        if (aged.full_percent - aging.fullness.0).abs() > TOLERANCE_PERCENT {
            all.push(Self::Fullness {
                wanted: aging.fullness,
                why: match (aged.file_count, aged.counts.refusals) {
                    (0, _) => FullnessShortfall::FullerWhenNew,
                    (_, 0) => FullnessShortfall::Unstable,
                    _ => FullnessShortfall::NoSpace,
                },
            });
        }
        let Some(wanted) = aging.extents else {
            return all;
        };
        match aged.layout.map(|layout| layout.extents_per_file()) {
            None => all.push(Self::ExtentsUnknown),
            Some(found) if found < wanted => all.push(Self::Extents { wanted }),
            Some(_) => {}
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::age::{AgingCounts, ExtentLayout};

    fn aged(full_percent: f64, file_count: u64, refusals: u64) -> AgedState {
        AgedState {
            full_percent,
            file_count,
            counts: AgingCounts {
                refusals,
                ..AgingCounts::default()
            },
            ..AgedState::default()
        }
    }

    #[test]
    fn near_the_requested_fullness_is_full_and_a_miss_has_its_reason() {
        let aging: AgingOptions = "70%".parse().unwrap();
        assert_eq!(AgingShortfall::all(&aging, &aged(69.5, 10, 0)), []);
        for (aged, why) in [
            (aged(80.0, 0, 0), FullnessShortfall::FullerWhenNew),
            (aged(60.0, 10, 0), FullnessShortfall::Unstable),
            (aged(60.0, 10, 3), FullnessShortfall::NoSpace),
        ] {
            let wanted = Percent(70.0);
            let missed = AgingShortfall::Fullness { wanted, why };
            assert_eq!(AgingShortfall::all(&aging, &aged), [missed]);
        }
    }

    #[test]
    fn too_few_or_unknown_extents_are_a_shortfall() {
        let aging: AgingOptions = "70%,extents=1.5".parse().unwrap();
        let with = |layout| AgedState {
            layout,
            ..aged(70.0, 100, 0)
        };
        let of = |extent_count| ExtentLayout {
            file_count: 100,
            extent_count,
            split_count: 0,
        };
        let missed = [AgingShortfall::Extents { wanted: 1.5 }];
        assert_eq!(AgingShortfall::all(&aging, &with(Some(of(140)))), missed);
        assert_eq!(AgingShortfall::all(&aging, &with(Some(of(150)))), []);
        let unknown = [AgingShortfall::ExtentsUnknown];
        assert_eq!(AgingShortfall::all(&aging, &with(None)), unknown);
    }
}
