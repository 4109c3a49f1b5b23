//! What figures of phases come to.

/// What a phase is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// GiB/s.
    Bandwidth,
    /// Thousands of files a second.
    Rate,
}

/// A score, and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// GiB/s.
    pub bandwidth: f64,
    /// Thousands of files a second.
    pub rate: f64,
    pub total: f64,
}

/// The geometric means of each unit, and that of both.
pub(super) fn score(figures: &[(Unit, f64)]) -> Score {
    let of = |unit| {
        let own = figures.iter().filter(|(it, _)| *it == unit);
        mean(own.map(|(_, value)| *value))
    };
    let (bandwidth, rate) = (of(Unit::Bandwidth), of(Unit::Rate));
    Score {
        bandwidth,
        rate,
        total: (bandwidth * rate).sqrt(),
    }
}

/// The geometric mean of what is more than nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values = values.filter(|it| *it > 0.0);
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), it| (sum + it.ln(), count + 1.0));
    match count > 0.0 {
        true => f64::exp(sum / count),
        false => 0.0,
    }
}
