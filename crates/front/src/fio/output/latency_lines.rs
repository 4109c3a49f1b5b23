//! Latency lines of the normal output.

use super::samples::LatencySamples;
use super::scaled::{Prefixes, Quantity, scaled, time_unit};

/// Significant digits of latencies.
const LATENCY_DIGITS: u32 = 6;
/// Columns for percentiles per line.
const PERCENTILE_COLUMNS: usize = 73;
/// Columns of one percentile in addition to its digits.
const PERCENTILE_FRAME: usize = 7;
/// One line of latency statistics; empty without samples.
pub(super) fn latency(name: &str, samples: &LatencySamples) -> String {
    if samples.is_empty() {
        return String::new();
    }
    let stddev_ns = samples.stddev_ns();
    let unit = time_unit(samples.min_ns, samples.max_ns, Some(stddev_ns));
    let integer = |ns: u64| {
        let number = ns / unit.ns;
        scaled(number, LATENCY_DIGITS, Prefixes::Decimal, Quantity::Plain)
    };
    let real = |ns: f64| ns / unit.ns as f64;
    format!(
        "    {name} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}\n",
        unit.name,
        integer(samples.min_ns),
        integer(samples.max_ns),
        real(samples.mean_ns),
        real(stddev_ns),
    )
}

/// A table of percentiles; empty without samples.
pub(super) fn percentile_table(name: &str, samples: &LatencySamples, percents: &[f64]) -> String {
    if samples.is_empty() {
        return String::new();
    }
    let values_ns = percents.iter().map(|it| samples.percentile_ns(*it));
    let values_ns: Vec<u64> = values_ns.collect();
    let least_ns = values_ns.iter().copied().min().unwrap_or(0);
    let most_ns = values_ns.iter().copied().max().unwrap_or(0);
    // fio chooses the unit of percentiles without the deviation, unlike the one of other latencies.
    let unit = time_unit(least_ns, most_ns, None);
    let mut text = format!("    {name} percentiles ({}):\n", unit.name);
    // As in fio, percentiles are rounded up, unlike other latencies.
    let rounded = |ns: u64| ns.div_ceil(unit.ns);
    // All values have the width of the largest, which fio rounds down here.
    let width = (most_ns / unit.ns).to_string().len().max(5);
    // All percentiles have as many decimals as the longest one needs.
    let needed = |percent: &f64| {
        percent
            .to_string()
            .split_once('.')
            .map_or(0, |it| it.1.len())
    };
    let decimals = percents.iter().map(needed).max().unwrap_or(0).min(6);
    let before = decimals + 3;
    let each_line = PERCENTILE_COLUMNS / (PERCENTILE_FRAME + before + width);
    let values = values_ns
        .iter()
        .map(|ns| rounded(*ns))
        .zip(percents)
        .map(|(value, percent)| format!(" {percent:before$.decimals$}th=[{value:width$}]"));
    let values: Vec<String> = values.collect();
    let lines = values.chunks(each_line.max(1));
    let lines: Vec<String> = lines.map(|line| line.join(",")).collect();
    text.push_str(&format!("     |{}\n", lines.join(",\n     |")));
    text
}
