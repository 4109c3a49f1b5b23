//! Computes the score from the results of the phases.

/// Unit of a phase's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScoreUnit {
    /// GiB/s.
    Bandwidth,
    /// Thousands of files per second.
    Rate,
}

/// A score and its parts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// GiB/s.
    pub bandwidth: f64,
    /// Thousands of files per second.
    pub rate: f64,
    pub total: f64,
}

/// The geometric mean of each unit's results, and the geometric mean of both.
pub(super) fn score(figures: &[(ScoreUnit, f64)]) -> Score {
    let of = |unit| {
        let own = figures.iter().filter(|(it, _)| *it == unit);
        mean(own.map(|(_, value)| *value))
    };
    let (bandwidth, rate) = (of(ScoreUnit::Bandwidth), of(ScoreUnit::Rate));
    Score {
        bandwidth,
        rate,
        total: (bandwidth * rate).sqrt(),
    }
}

/// The geometric mean of the positive values; 0 if there are none.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    // As in the original, a phase without a result is left out; it makes the run invalid elsewhere.
    let values = values.filter(|it| *it > 0.0);
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), it| (sum + it.ln(), count + 1.0));
    match count > 0.0 {
        true => f64::exp(sum / count),
        false => 0.0,
    }
}
