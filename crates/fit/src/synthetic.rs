//! Requests that a workload of a model would make, for comparison with the trace.

use plan::ArrivalKind;

use crate::FitRequest;
use crate::model::{FittedPhase, FittedSpread, MixLine};
use crate::space::BLOCK_BYTES;

/// Ranks beyond this one are drawn alike within powers of two, which no figure can tell apart.
const TABLE_MAX: u64 = 1 << 20;

/// A reproducible series of random numbers.
pub(crate) struct SyntheticRandom {
    seed: u64,
    count: u64,
}

impl SyntheticRandom {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            seed: generate::mix(seed),
            count: 0,
        }
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 0 to below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    fn next(&mut self) -> u64 {
        self.count += 1;
        generate::mix(self.seed ^ self.count.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

/// Draws `count` requests of a model.
pub(crate) fn requests(phase: &FittedPhase, count: usize, seed: u64) -> Vec<FitRequest> {
    let mut random = SyntheticRandom::new(seed);
    let places = PlaceLaw::new(phase);
    let gap_ns = 1e9 / phase.rate.max(1e-9);
    let mut cursors = vec![None; phase.streams.max(1) as usize];
    let mut time_ns = 0.0;
    (0..count)
        .map(|index| {
            let line = line(phase, random.unit() * 100.0);
            let length = u64::from(line.size_bytes);
            let worker = index % cursors.len();
            let is_random = random.unit() * 100.0 < line.random_percent;
            let next = cursors[worker].filter(|at| !is_random && at + length <= phase.size_bytes);
            let offset_bytes = next.unwrap_or_else(|| places.draw(line, &mut random));
            cursors[worker] = Some(offset_bytes + length);
            time_ns += match phase.arrivals {
                ArrivalKind::Poisson => -gap_ns * (1.0 - random.unit()).ln(),
                _ => gap_ns,
            };
            FitRequest {
                time_ns: time_ns as u64,
                offset_bytes,
                length_bytes: line.size_bytes,
                is_read: random.unit() * 100.0 < line.read_percent,
            }
        })
        .collect()
}

fn line(phase: &FittedPhase, percent: f64) -> &MixLine {
    let mut sum = 0.0;
    let found = phase.lines.iter().find(|line| {
        sum += line.of_percent;
        percent < sum
    });
    // Shares may add up to a little less than 100.
    found.unwrap_or(&phase.lines[phase.lines.len() - 1])
}

/// Where random requests begin.
struct PlaceLaw<'a> {
    phase: &'a FittedPhase,
    /// Sums of the shares of the ranks of Zipf's law.
    ranks: Vec<f64>,
}

impl<'a> PlaceLaw<'a> {
    fn new(phase: &'a FittedPhase) -> Self {
        let blocks = (phase.size_bytes / BLOCK_BYTES).clamp(1, TABLE_MAX);
        let mut sum = 0.0;
        let ranks = match phase.spread {
            FittedSpread::Zipf(exponent) => (1..=blocks)
                .map(|rank| {
                    sum += (rank as f64).powf(-exponent);
                    sum
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { phase, ranks }
    }

    fn draw(&self, line: &MixLine, random: &mut SyntheticRandom) -> u64 {
        let align = line.align_bytes.max(1);
        let size = self.phase.size_bytes;
        let places = (size.saturating_sub(u64::from(line.size_bytes)) / align + 1).max(1);
        match &self.phase.spread {
            FittedSpread::Uniform => random.below(places) * align,
            FittedSpread::Zipf(_) => {
                let wanted = random.unit() * self.ranks.last().copied().unwrap_or(1.0);
                let rank = self.ranks.partition_point(|sum| *sum < wanted) as u64;
                // Popular blocks lie anywhere, each at its own place.
                generate::mix(rank) % places * align
            }
            FittedSpread::Zones(zones) => {
                let mut wanted = random.unit() * 100.0;
                // Shares that add up to a little less than 100 leave the rest to the last zone.
                let (mut begin, mut share) = (0.0, 0.0);
                for zone in zones {
                    (begin, share) = (begin + share, zone.size_percent);
                    if wanted < zone.access_percent {
                        break;
                    }
                    wanted -= zone.access_percent;
                }
                let at = (begin + random.unit() * share) / 100.0;
                ((at * places as f64) as u64).min(places - 1) * align
            }
        }
    }
}
