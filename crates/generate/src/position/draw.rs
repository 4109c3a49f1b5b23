//! Distributions over the starts of a span, numbered from 0.

use plan::{Distribution, Zone};

use super::order::{Permutation, ShuffledStarts};
use super::zipf::Zipf;
use crate::choice::AliasTable;
use crate::{GenerateError, Rng};

/// A prepared distribution over `0..start_count`.
#[derive(Debug, Clone)]
pub(crate) enum Draw {
    Uniform {
        start_count: u64,
    },
    Zipf {
        ranks: Zipf,
        scatter: Permutation,
    },
    Pareto {
        start_count: u64,
        exponent: f64,
        scatter: Permutation,
    },
    Normal {
        start_count: u64,
        /// Standard deviation as a share of the span.
        deviation: f64,
    },
    Zones {
        choice: AliasTable,
        /// First start and number of starts of each zone.
        zones: Vec<(u64, u64)>,
    },
    NoRepeat(ShuffledStarts),
}

/// Seeds of positions that are not drawn for each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeds {
    /// Seed of orders without repetition.
    pub(crate) order: u64,
    /// Seed of the positions of ranks.
    pub(crate) scatter: u64,
}

impl Draw {
    pub(crate) fn new(
        distribution: &Distribution,
        start_count: u64,
        seeds: Seeds,
    ) -> Result<Self, GenerateError> {
        Ok(match distribution {
            Distribution::Uniform => Self::Uniform { start_count },
            Distribution::Zipf { theta } => Self::Zipf {
                ranks: Zipf::new(start_count, in_range("zipf", "theta", *theta)?),
                scatter: Permutation::new(start_count, seeds.scatter),
            },
            Distribution::Pareto { h } => Self::Pareto {
                start_count,
                exponent: pareto_exponent(in_range("pareto", "h", *h)?),
                scatter: Permutation::new(start_count, seeds.scatter),
            },
            Distribution::Normal { deviation_percent } => Self::Normal {
                start_count,
                deviation: in_range("normal", "deviation", *deviation_percent)? / 100.0,
            },
            Distribution::Zones { zones } => Self::zones(zones, start_count)?,
            Distribution::NoRepeat => Self::NoRepeat(ShuffledStarts::new(start_count, seeds.order)),
        })
    }

    /// Zones in order; a zone too small for a single start shares its neighbor's.
    fn zones(zones: &[Zone], start_count: u64) -> Result<Self, GenerateError> {
        let accesses: Vec<f64> = zones.iter().map(|zone| zone.access_percent).collect();
        let sizes: Vec<f64> = zones.iter().map(|zone| zone.size_percent).collect();
        for (parameter, shares) in [("sum of accesses", &accesses), ("sum of sizes", &sizes)] {
            let sum: f64 = shares.iter().sum();
            // Decimal percentages rarely add up exactly in binary.
            let is_invalid = (sum - 100.0).abs() > 1e-6 || shares.iter().any(|share| *share < 0.0);
            if sum.is_nan() || is_invalid {
                return Err(GenerateError::Distribution {
                    name: "zones",
                    parameter,
                    value: sum,
                    wanted: "100 % of shares not below 0",
                });
            }
        }
        let mut share = 0.0;
        let ranges = sizes.iter().map(|size_percent| {
            // The last zone begins inside, even if rounding moves its edge to the end.
            let first = edge(share, start_count).min(start_count - 1);
            share += size_percent;
            (first, edge(share, start_count).saturating_sub(first).max(1))
        });
        Ok(Self::Zones {
            zones: ranges.collect(),
            choice: AliasTable::new(&accesses),
        })
    }

    /// Index of the next start.
    #[inline]
    pub(crate) fn index(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Uniform { start_count } => rng.below(*start_count),
            _ => self.skewed_index(rng),
        }
    }

    /// As [`Self::index`]; an order without repetition uses its next turn.
    #[inline]
    pub(crate) fn index_in_turn(&self, turn: &mut u64, rng: &mut Rng) -> u64 {
        let Self::NoRepeat(order) = self else {
            return self.index(rng);
        };
        let index = order.index(*turn);
        *turn += 1;
        index
    }

    /// Prepares a distribution over ranks for another number of starts, which must not be 0. The
    /// shares of ranks depend on that number, so they cannot be scaled.
    #[inline]
    pub(crate) fn fit(&mut self, start_count: u64, scatter_seed: u64) {
        match self {
            // Preparing takes several powers and logarithms, so an unchanged number is kept.
            Self::Zipf { ranks, scatter } if ranks.count() != start_count => {
                *ranks = Zipf::new(start_count, ranks.theta());
                *scatter = Permutation::new(start_count, scatter_seed);
            }
            Self::Pareto {
                start_count: known,
                scatter,
                ..
            } if *known != start_count => {
                *known = start_count;
                *scatter = Permutation::new(start_count, scatter_seed);
            }
            _ => {}
        }
    }

    fn skewed_index(&self, rng: &mut Rng) -> u64 {
        match self {
            Self::Uniform { start_count } => rng.below(*start_count),
            Self::Zipf { ranks, scatter } => scatter.apply(ranks.rank(rng) - 1),
            Self::Pareto {
                start_count,
                exponent,
                scatter,
            } => scatter.apply(scale(rng.unit().powf(*exponent), *start_count)),
            Self::Normal {
                start_count,
                deviation,
            } => scale(normal_within_span(*deviation, rng), *start_count),
            Self::Zones { choice, zones } => {
                let (first, count) = zones[choice.pick(rng.next_u64())];
                first + rng.below(count)
            }
            Self::NoRepeat(order) => order.index(rng.next_u64()),
        }
    }
}

/// Index of the start at a share of the span, in percent.
fn edge(share_percent: f64, start_count: u64) -> u64 {
    ((share_percent / 100.0 * start_count as f64).round() as u64).min(start_count)
}

/// Index of the start at a position from 0 to 1.
#[inline]
fn scale(position: f64, start_count: u64) -> u64 {
    // Rounding may turn a position just below 1 into the whole span.
    ((position * start_count as f64) as u64).min(start_count - 1)
}

/// Exponent of a uniform variate that assigns the fraction 1-h of all requests to the first
/// fraction h of the starts, at every scale: 0.2 is the 80/20 rule.
///
/// Source: the self-similar distribution of Gray et al., SIGMOD 1994: `N * u^(ln h / ln (1-h))`.
fn pareto_exponent(h: f64) -> f64 {
    h.ln() / (-h).ln_1p()
}

/// A normal variate with mean one half, redrawn until it is between 0 and 1.
///
/// Narrow distributions draw the variate (Box and Muller). Wide ones draw a uniform position and
/// accept it in proportion to the density. Either way most draws are accepted.
fn normal_within_span(deviation: f64, rng: &mut Rng) -> f64 {
    const WIDE: f64 = 0.3;
    loop {
        // `first` is above 0, so its logarithm is finite.
        let (first, second) = (1.0 - rng.unit(), rng.unit());
        let (position, kept) = if deviation < WIDE {
            let radius = (-2.0 * first.ln()).sqrt() * deviation;
            let position = 0.5 + radius * (std::f64::consts::TAU * second).cos();
            (position, (0.0..1.0).contains(&position))
        } else {
            let distance = (second - 0.5) / deviation;
            (second, first <= (-0.5 * distance * distance).exp())
        };
        if kept {
            return position;
        }
    }
}

fn in_range(name: &'static str, parameter: &'static str, value: f64) -> Result<f64, GenerateError> {
    let (fits, wanted) = match name {
        "pareto" => (value > 0.0 && value < 1.0, "between 0 and 1"),
        "zipf" => (value > 0.0 && value <= 100.0, "above 0 and at most 100"),
        _ => (value > 0.0 && value.is_finite(), "above 0"),
    };
    if fits {
        return Ok(value);
    }
    Err(GenerateError::Distribution {
        name,
        parameter,
        value,
        wanted,
    })
}
