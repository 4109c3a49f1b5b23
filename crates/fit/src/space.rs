//! How random requests spread over the addresses.

use std::collections::HashMap;

use crate::FitRequest;
use crate::model::{FittedSpread, FittedZone};
use crate::streams::StreamAccesses;

/// Number of zones in which requests are counted.
pub(crate) const ZONE_COUNT: usize = 64;
/// Zones that a workload gets at most.
const ZONES_MAX: usize = 8;
/// Blocks of this size are counted to find popular ones, in bytes.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// Blocks with fewer requests have no certain rank.
const CERTAIN_COUNT: u64 = 5;
/// Number of blocks with a certain rank that a law of popularity needs.
const RANKS_MIN: usize = 20;
/// Share of the requests that the certain ranks must have, to speak for the others.
const RANKED_SHARE_MIN: f64 = 0.1;
/// Largest distance between the ranks of the trace and of a law.
const ZIPF_DISTANCE_MAX: f64 = 0.05;
/// Largest share of requests in the wrong zone, beyond chance, of a uniform distribution.
const UNIFORM_EXCESS_MAX: f64 = 0.05;
/// Exponents that are tried: up to this number of hundredths.
const ZIPF_HUNDREDTHS: std::ops::RangeInclusive<u32> = 20..=300;
/// Zipf's law with this exponent has no closed form, and workloads do not have it.
const NO_ZIPF: u32 = 100;

/// The simplest distribution that is like the random requests.
pub(crate) fn spread(
    requests: &[FitRequest],
    accesses: &StreamAccesses,
    size_bytes: u64,
) -> FittedSpread {
    let random = requests.iter().zip(&accesses.is_sequential);
    let random: Vec<&FitRequest> = random
        .filter_map(|(request, is_sequential)| (!is_sequential).then_some(request))
        .collect();
    if random.len() < RANKS_MIN {
        return FittedSpread::Uniform;
    }
    let zones = zone_counts(random.iter().copied(), size_bytes);
    if let Some(exponent) = zipf(&random) {
        return FittedSpread::Zipf(exponent);
    }
    let total = random.len() as f64;
    let even = 1.0 / ZONE_COUNT as f64;
    let distance: f64 = zones
        .iter()
        .map(|count| (*count as f64 / total - even).abs() / 2.0)
        .sum();
    // Mean of this distance if all zones are alike: half the mean deviation of each count.
    let by_chance = (ZONE_COUNT as f64 / (std::f64::consts::TAU * total)).sqrt();
    match distance - by_chance > UNIFORM_EXCESS_MAX {
        true => FittedSpread::Zones(joined(&zones)),
        false => FittedSpread::Uniform,
    }
}

/// Number of requests by zone.
pub(crate) fn zone_counts<'a>(
    requests: impl Iterator<Item = &'a FitRequest>,
    size_bytes: u64,
) -> [u64; ZONE_COUNT] {
    let mut counts = [0; ZONE_COUNT];
    for request in requests {
        let zone = u128::from(request.offset_bytes) * ZONE_COUNT as u128;
        let zone = (zone / u128::from(size_bytes.max(1))) as usize;
        counts[zone.min(ZONE_COUNT - 1)] += 1;
    }
    counts
}

/// Numbers of requests by block, the largest first.
pub(crate) fn popularity<'a>(requests: impl Iterator<Item = &'a FitRequest>) -> Vec<u64> {
    let mut blocks: HashMap<u64, u64> = HashMap::new();
    for request in requests {
        *blocks
            .entry(request.offset_bytes / BLOCK_BYTES)
            .or_default() += 1;
    }
    let mut counts: Vec<u64> = blocks.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

/// Exponent of Zipf's law if the popular blocks follow it: the most likely one among the ranks that
/// are certain.
fn zipf(random: &[&FitRequest]) -> Option<f64> {
    let counts = popularity(random.iter().copied());
    let certain = counts.partition_point(|count| *count >= CERTAIN_COUNT);
    let ranked = &counts[..certain];
    let total: u64 = ranked.iter().sum();
    if certain < RANKS_MIN || (total as f64) < RANKED_SHARE_MIN * random.len() as f64 {
        return None;
    }
    let logs: Vec<f64> = (1..=certain).map(|rank| (rank as f64).ln()).collect();
    let weighted: f64 = ranked
        .iter()
        .zip(&logs)
        .map(|(count, log)| *count as f64 * log)
        .sum();
    let likelihood = |exponent: f64| {
        let norm: f64 = logs.iter().map(|log| (-exponent * log).exp()).sum();
        -exponent * weighted - total as f64 * norm.ln()
    };
    let exponents = ZIPF_HUNDREDTHS.filter(|it| *it != NO_ZIPF);
    let best = exponents
        .map(|it| f64::from(it) / 100.0)
        .max_by(|a, b| likelihood(*a).total_cmp(&likelihood(*b)))?;
    // The most likely law may still be no law at all.
    let norm: f64 = logs.iter().map(|log| (-best * log).exp()).sum();
    let (mut seen, mut wanted, mut distance) = (0.0, 0.0, 0.0_f64);
    for (count, log) in ranked.iter().zip(&logs) {
        seen += *count as f64 / total as f64;
        wanted += (-best * log).exp() / norm;
        distance = distance.max((seen - wanted).abs());
    }
    let is_flat = best < 0.3;
    (distance <= ZIPF_DISTANCE_MAX && !is_flat).then_some(best)
}

/// Joins the neighbors that are most alike until few zones are left.
fn joined(counts: &[u64; ZONE_COUNT]) -> Vec<FittedZone> {
    // Number of small zones and of requests.
    let mut zones: Vec<(f64, f64)> = counts.iter().map(|count| (1.0, *count as f64)).collect();
    let cost = |a: (f64, f64), b: (f64, f64)| {
        let mean = (a.1 + b.1) / (a.0 + b.0);
        a.0 * (a.1 / a.0 - mean).powi(2) + b.0 * (b.1 / b.0 - mean).powi(2)
    };
    while zones.len() > ZONES_MAX {
        let costs = zones.windows(2).map(|pair| cost(pair[0], pair[1]));
        let cheapest = costs
            .enumerate()
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or(0, |(index, _)| index);
        let next = zones.remove(cheapest + 1);
        zones[cheapest].0 += next.0;
        zones[cheapest].1 += next.1;
    }
    let total: f64 = zones.iter().map(|zone| zone.1).sum();
    let zone = |(size, count): &(f64, f64)| FittedZone {
        access_percent: 100.0 * count / total.max(1.0),
        size_percent: 100.0 * size / ZONE_COUNT as f64,
    };
    zones.iter().map(zone).collect()
}
