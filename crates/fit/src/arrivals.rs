//! When requests arrive.

use plan::ArrivalKind;

use crate::FitRequest;

/// Times between requests with a coefficient of variation below this are taken as equal; a Poisson
/// process has 1.
const UNIFORM_CV_MAX: f64 = 0.5;

/// Requests per second, and the kind of arrivals.
pub(crate) fn of(requests: &[FitRequest], span_ns: u64) -> (f64, ArrivalKind) {
    let count = requests.len() as f64;
    let gaps: Vec<f64> = gaps(requests).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
    let squares: f64 = gaps.iter().map(|gap| (gap - mean).powi(2)).sum();
    let deviation = (squares / gaps.len().max(1) as f64).sqrt();
    let kind = match deviation < UNIFORM_CV_MAX * mean {
        true => ArrivalKind::Uniform,
        false => ArrivalKind::Poisson,
    };
    (count * 1e9 / span_ns.max(1) as f64, kind)
}

/// Times from each request to the next in nanoseconds.
pub(crate) fn gaps(requests: &[FitRequest]) -> impl Iterator<Item = f64> {
    requests
        .windows(2)
        .map(|pair| pair[1].time_ns.saturating_sub(pair[0].time_ns) as f64)
}
