//! Cuts a trace where its rate, its kinds or its sizes change.

use std::ops::Range;

use crate::FitRequest;
use crate::model::REQUESTS_MIN;

/// Number of windows of equal time in which a trace is looked at.
const WINDOW_COUNT: usize = 200;
/// Number of windows that a phase has at least.
const WINDOWS_MIN: usize = 8;
/// A cut must explain this many times the noise, times the logarithm of the number of windows: a
/// Bayesian information criterion for three properties, made stricter because requests come in
/// bursts.
const PENALTY: f64 = 12.0;

/// A phase of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TracePhase {
    pub requests: Range<usize>,
    pub span_ns: u64,
}

/// Logarithm of the rate, share of reads, and logarithm of the mean size of a window.
type WindowFigures = [f64; 3];

/// The phases of a trace, at most `phases_max`.
pub(crate) fn cut(requests: &[FitRequest], phases_max: usize) -> Vec<TracePhase> {
    let start_ns = requests.first().map_or(0, |it| it.time_ns);
    let end_ns = requests.last().map_or(0, |it| it.time_ns);
    // One more gap than there are between the requests: the last request has one as well.
    let gaps = requests.len().saturating_sub(1).max(1) as u64;
    let span_ns = (end_ns - start_ns).saturating_add((end_ns - start_ns) / gaps);
    let whole = TracePhase {
        requests: 0..requests.len(),
        span_ns,
    };
    let window_ns = (end_ns - start_ns) / WINDOW_COUNT as u64;
    if phases_max < 2 || requests.len() < 10 * REQUESTS_MIN || window_ns == 0 {
        return vec![whole];
    }
    let windows = figures(requests, start_ns, window_ns);
    let noise = noise(&windows);
    let mut cuts = vec![0, windows.len()];
    while cuts.len() <= phases_max {
        let best = cuts
            .windows(2)
            .filter_map(|pair| best_cut(&windows, pair[0]..pair[1], &noise))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((cut, gain)) if gain > PENALTY * (windows.len() as f64).ln() => cuts.push(cut),
            _ => break,
        }
        cuts.sort_unstable();
    }
    let time = |window: usize| start_ns + window as u64 * window_ns;
    let mut phases = Vec::new();
    let mut begin = 0;
    for pair in cuts.windows(2) {
        let is_last = pair[1] == windows.len();
        let until_ns = if is_last { u64::MAX } else { time(pair[1]) };
        let length = requests[begin..].partition_point(|it| it.time_ns < until_ns);
        phases.push(TracePhase {
            requests: begin..begin + length,
            span_ns: match is_last {
                true => start_ns + span_ns - time(pair[0]),
                false => time(pair[1]) - time(pair[0]),
            },
        });
        begin += length;
    }
    // A phase with few requests has no shares.
    match phases.iter().any(|it| it.requests.len() < REQUESTS_MIN) {
        true => vec![whole],
        false => phases,
    }
}

fn figures(requests: &[FitRequest], start_ns: u64, window_ns: u64) -> Vec<WindowFigures> {
    let mut sums = vec![[0.0_f64; 3]; WINDOW_COUNT];
    for request in requests {
        let window = ((request.time_ns - start_ns) / window_ns) as usize;
        let sum = &mut sums[window.min(WINDOW_COUNT - 1)];
        sum[0] += 1.0;
        sum[1] += f64::from(u8::from(request.is_read));
        sum[2] += f64::from(request.length_bytes);
    }
    // An empty window has the kinds and sizes of the one before.
    let mut last = [0.5, 4096.0_f64.ln()];
    let mut windows = Vec::with_capacity(WINDOW_COUNT);
    for [count, reads, bytes] in sums {
        if count > 0.0 {
            last = [reads / count, (bytes / count).max(1.0).ln()];
        }
        windows.push([(count + 0.5).ln(), last[0], last[1]]);
    }
    windows
}

/// Variance of each figure between neighbors. The median ignores the steps between phases.
fn noise(windows: &[WindowFigures]) -> WindowFigures {
    std::array::from_fn(|figure| {
        let steps = windows.windows(2);
        let mut squares: Vec<f64> = steps
            .map(|pair| (pair[1][figure] - pair[0][figure]).powi(2))
            .collect();
        squares.sort_unstable_by(f64::total_cmp);
        // The median square of a normal distribution is 0.455 of its variance, and a step has the
        // variance of two windows. Smaller changes than 2 % are no phases.
        (squares[squares.len() / 2] / (2.0 * 0.455)).max(4e-4)
    })
}

/// The best place to cut a range, and what it explains, in units of noise.
fn best_cut(
    windows: &[WindowFigures],
    range: Range<usize>,
    noise: &WindowFigures,
) -> Option<(usize, f64)> {
    let first = range.start + WINDOWS_MIN;
    let last = range.end.checked_sub(WINDOWS_MIN)?;
    let whole = spread(&windows[range.clone()], noise);
    (first..=last)
        .map(|cut| {
            let before = spread(&windows[range.start..cut], noise);
            let after = spread(&windows[cut..range.end], noise);
            (cut, whole - before - after)
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
}

/// Sum of the squared distances from the mean, in units of noise.
fn spread(windows: &[WindowFigures], noise: &WindowFigures) -> f64 {
    let count = windows.len().max(1) as f64;
    (0..noise.len())
        .map(|figure| {
            let sum: f64 = windows.iter().map(|it| it[figure]).sum();
            let squares: f64 = windows.iter().map(|it| it[figure].powi(2)).sum();
            (squares - sum * sum / count) / noise[figure]
        })
        .sum()
}
