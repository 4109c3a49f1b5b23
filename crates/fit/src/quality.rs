//! How far requests of a model are from the trace, and what chance alone gives.

use std::collections::HashMap;

use crate::model::FittedPhase;
use crate::space::{ZONE_COUNT, popularity, zone_counts};
use crate::streams::{StreamAccesses, StreamTable};
use crate::{FitRequest, arrivals, synthetic};

/// Number of synthetic requests at most; more would not change the figures.
const SYNTHETIC_MAX: usize = 200_000;
/// Distances beyond chance up to which a property fits well or fairly.
const GOOD_MAX: f64 = 0.05;
const FAIR_MAX: f64 = 0.15;
/// Number of windows for the rate over time.
const TIME_WINDOWS: usize = 100;

const PROPERTIES: [&str; 6] = [
    "sizes and kinds",
    "run lengths",
    "places",
    "popular blocks",
    "times between requests",
    "rate over time",
];

/// How well a property fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FitVerdict {
    /// At most 0.05 beyond chance.
    Good,
    /// At most 0.15 beyond chance.
    Fair,
    /// More.
    Poor,
}

impl FitVerdict {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Fair => "fair",
            Self::Poor => "poor",
        }
    }
}

/// Distance of a property between the trace and requests of the model, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitDistance {
    /// The property.
    pub property: &'static str,
    /// Total variation distance, or for times and popularity the largest distance between the
    /// cumulative distributions.
    pub distance: f64,
    /// The same distance between two series of requests of the model.
    pub by_chance: f64,
}

impl FitDistance {
    /// Distance beyond chance.
    #[must_use]
    pub fn excess(&self) -> f64 {
        (self.distance - self.by_chance).max(0.0)
    }

    /// How well the property fits.
    #[must_use]
    pub fn verdict(&self) -> FitVerdict {
        match self.excess() {
            excess if excess <= GOOD_MAX => FitVerdict::Good,
            excess if excess <= FAIR_MAX => FitVerdict::Fair,
            _ => FitVerdict::Poor,
        }
    }
}

/// Distances of all properties.
pub(crate) fn distances(
    requests: &[FitRequest],
    accesses: &StreamAccesses,
    phase: &FittedPhase,
    seed: u64,
) -> Vec<FitDistance> {
    let count = requests.len().min(SYNTHETIC_MAX);
    let model = |seed| {
        let requests = synthetic::requests(phase, count, seed);
        RequestFigures::of(&requests, &StreamTable::follow(&requests), phase)
    };
    let trace = RequestFigures::of(requests, accesses, phase);
    let (first, second) = (model(seed), model(seed.wrapping_add(1)));
    let (distances, by_chance) = (trace.distances(&first), first.distances(&second));
    PROPERTIES
        .into_iter()
        .zip(distances.into_iter().zip(by_chance))
        .map(|(property, (distance, by_chance))| FitDistance {
            property,
            distance,
            by_chance,
        })
        .collect()
}

/// Shares of requests by several properties.
struct RequestFigures {
    cells: HashMap<(u32, bool), f64>,
    runs: Vec<f64>,
    zones: Vec<f64>,
    /// Share of the requests that go to the first 1/100, 2/100 and so on of the blocks.
    popular: Vec<f64>,
    /// Share of the gaps that are shorter than some times.
    gaps: Vec<f64>,
    times: Vec<f64>,
}

impl RequestFigures {
    fn of(requests: &[FitRequest], accesses: &StreamAccesses, phase: &FittedPhase) -> Self {
        let total = requests.len().max(1) as f64;
        let mut cells: HashMap<(u32, bool), f64> = HashMap::new();
        for request in requests {
            *cells
                .entry((request.length_bytes, request.is_read))
                .or_default() += 1.0 / total;
        }
        let random = || {
            let pairs = requests.iter().zip(&accesses.is_sequential);
            pairs.filter_map(|(request, is_sequential)| (!is_sequential).then_some(request))
        };
        Self {
            cells,
            runs: shares(&accesses.run_weights),
            zones: shares(&zone_counts(random(), phase.size_bytes)[..ZONE_COUNT]),
            // Popularity depends on the number of requests, which must be the same.
            popular: cumulative_popularity(&popularity(random().take(SYNTHETIC_MAX))),
            gaps: cumulative_gaps(requests, phase.rate),
            times: shares(&time_counts(requests)),
        }
    }
}

impl RequestFigures {
    /// Distances in the order of [`PROPERTIES`].
    fn distances(&self, other: &Self) -> [f64; PROPERTIES.len()] {
        [
            variation_of_cells(&self.cells, &other.cells),
            variation(&self.runs, &other.runs),
            variation(&self.zones, &other.zones),
            largest_step(&self.popular, &other.popular),
            largest_step(&self.gaps, &other.gaps),
            variation(&self.times, &other.times),
        ]
    }
}

fn shares(counts: &[u64]) -> Vec<f64> {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    counts.iter().map(|count| *count as f64 / total).collect()
}

/// Half the sum of the differences of shares.
fn variation(a: &[f64], b: &[f64]) -> f64 {
    let at = |list: &[f64], index: usize| list.get(index).copied().unwrap_or(0.0);
    let indexes = 0..a.len().max(b.len());
    indexes
        .map(|index| (at(a, index) - at(b, index)).abs() / 2.0)
        .sum()
}

fn variation_of_cells(a: &HashMap<(u32, bool), f64>, b: &HashMap<(u32, bool), f64>) -> f64 {
    let only_b: f64 = b
        .iter()
        .filter_map(|(key, share)| (!a.contains_key(key)).then_some(share))
        .sum();
    let of_a: f64 = a
        .iter()
        .map(|(key, share)| (share - b.get(key).copied().unwrap_or(0.0)).abs())
        .sum();
    (of_a + only_b) / 2.0
}

/// Largest difference of cumulative shares.
fn largest_step(a: &[f64], b: &[f64]) -> f64 {
    let steps = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    steps.fold(0.0, f64::max)
}

fn cumulative_popularity(counts: &[u64]) -> Vec<f64> {
    let total = counts.iter().sum::<u64>().max(1) as f64;
    let mut sums = Vec::with_capacity(counts.len() + 1);
    sums.push(0);
    for count in counts {
        sums.push(sums[sums.len() - 1] + count);
    }
    (1..=100)
        .map(|hundredths| sums[hundredths * counts.len() / 100] as f64 / total)
        .collect()
}

/// Limits from a thousandth of the mean gap to a thousand times it, in steps of a quarter octave.
fn cumulative_gaps(requests: &[FitRequest], rate: f64) -> Vec<f64> {
    let mut gaps: Vec<f64> = arrivals::gaps(requests).collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let mean_ns = 1e9 / rate.max(1e-9);
    (-40..=40)
        .map(|step| mean_ns * (f64::from(step) / 4.0).exp2())
        .map(|limit| gaps.partition_point(|gap| *gap < limit) as f64 / gaps.len().max(1) as f64)
        .collect()
}

fn time_counts(requests: &[FitRequest]) -> Vec<u64> {
    let start = requests.first().map_or(0, |it| it.time_ns);
    let span = requests.last().map_or(0, |it| it.time_ns) - start;
    let mut counts = vec![0; TIME_WINDOWS];
    for request in requests {
        let window = u128::from(request.time_ns - start) * TIME_WINDOWS as u128;
        let window = (window / (u128::from(span) + 1)) as usize;
        counts[window] += 1;
    }
    counts
}
