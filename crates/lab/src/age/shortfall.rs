//! Goals of aging that were not reached.

use units::Percent;

use super::aged::Aged;
use super::options::Aging;

/// Deviation from the requested fullness that is accepted, in percentage points.
const NEAR_PERCENT: f64 = 1.0;

/// A goal of aging that was not reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum AgeShortfall {
    /// The fullness differs from the request.
    Fullness {
        /// Requested fullness.
        wanted: Percent,
        /// Cause.
        why: FullnessMissed,
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
pub enum FullnessMissed {
    /// It was fuller than that when it was new.
    FullerWhenNew,
    /// Its reported free space keeps changing.
    Unsettled,
    /// No space was left.
    NoRoom,
}

impl AgeShortfall {
    /// All goals that were not reached.
    pub(crate) fn all(aging: &Aging, aged: &Aged) -> Vec<Self> {
        let mut all = Vec::new();
        if (aged.full_percent - aging.fullness.0).abs() > NEAR_PERCENT {
            all.push(Self::Fullness {
                wanted: aging.fullness,
                why: match (aged.file_count, aged.counts.refusals) {
                    (0, _) => FullnessMissed::FullerWhenNew,
                    (_, 0) => FullnessMissed::Unsettled,
                    _ => FullnessMissed::NoRoom,
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
    use crate::age::{AgeCounts, ExtentLayout};

    fn aged(full_percent: f64, file_count: u64, refusals: u64) -> Aged {
        Aged {
            full_percent,
            file_count,
            counts: AgeCounts {
                refusals,
                ..AgeCounts::default()
            },
            ..Aged::default()
        }
    }

    #[test]
    fn what_is_nearly_as_full_as_asked_is_full_and_the_rest_says_why_not() {
        let aging: Aging = "70%".parse().unwrap();
        assert_eq!(AgeShortfall::all(&aging, &aged(69.5, 10, 0)), []);
        for (aged, why) in [
            (aged(80.0, 0, 0), FullnessMissed::FullerWhenNew),
            (aged(60.0, 10, 0), FullnessMissed::Unsettled),
            (aged(60.0, 10, 3), FullnessMissed::NoRoom),
        ] {
            let wanted = Percent(70.0);
            let missed = AgeShortfall::Fullness { wanted, why };
            assert_eq!(AgeShortfall::all(&aging, &aged), [missed]);
        }
    }

    #[test]
    fn extents_are_missed_where_they_are_too_few_or_not_told() {
        let aging: Aging = "70%,extents=1.5".parse().unwrap();
        let with = |layout| Aged {
            layout,
            ..aged(70.0, 100, 0)
        };
        let of = |extent_count| ExtentLayout {
            file_count: 100,
            extent_count,
            split_count: 0,
        };
        let missed = [AgeShortfall::Extents { wanted: 1.5 }];
        assert_eq!(AgeShortfall::all(&aging, &with(Some(of(140)))), missed);
        assert_eq!(AgeShortfall::all(&aging, &with(Some(of(150)))), []);
        let unknown = [AgeShortfall::ExtentsUnknown];
        assert_eq!(AgeShortfall::all(&aging, &with(None)), unknown);
    }
}
