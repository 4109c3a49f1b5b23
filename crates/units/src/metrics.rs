//! OpenMetrics text, which Prometheus reads.
//!
//! Source: "OpenMetrics, a cloud-native, highly scalable metrics protocol", version 1.0.

use std::fmt::{Display, Write};

use crate::printable;

/// Units that end the name of a metric and must then also be in its head.
const UNITS: [&str; 2] = ["seconds", "bytes"];

/// Kinds of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetricKind {
    /// A number that only grows while something is measured.
    Counter,
    /// A number that may grow and fall.
    Gauge,
    /// Facts as labels.
    Info,
    /// Quantiles of a distribution.
    Summary,
}

impl MetricKind {
    const fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Info => "info",
            Self::Summary => "summary",
        }
    }

    /// End that the format requires for the names of samples.
    const fn suffix(self) -> &'static str {
        match self {
            Self::Counter => "_total",
            Self::Info => "_info",
            Self::Gauge | Self::Summary => "",
        }
    }
}

/// OpenMetrics text that is being written. The samples of a metric must follow its head, and no
/// metric may have two heads.
#[derive(Debug, Default)]
pub struct MetricsText {
    text: String,
    name: &'static str,
    suffix: &'static str,
}

impl MetricsText {
    /// Begins a metric.
    pub fn head(&mut self, name: &'static str, kind: MetricKind, help: &str) {
        self.name = name;
        self.suffix = kind.suffix();
        // Writing to a `String` cannot fail, here and below.
        let _ = writeln!(self.text, "# TYPE {name} {}", kind.name());
        if let Some(unit) = UNITS.iter().find(|unit| name.ends_with(**unit)) {
            let _ = writeln!(self.text, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.text, "# HELP {name} {help}");
    }

    /// Adds a sample of the last metric.
    pub fn sample(&mut self, labels: &MetricLabels, value: impl Display) {
        self.write(self.suffix, labels, value);
    }

    /// Adds a part of a summary, such as `_count`.
    pub fn part(&mut self, part: &str, labels: &MetricLabels, value: impl Display) {
        self.write(part, labels, value);
    }

    fn write(&mut self, suffix: &str, labels: &MetricLabels, value: impl Display) {
        let name = self.name;
        let _ = match labels.text.as_str() {
            "" => writeln!(self.text, "{name}{suffix} {value}"),
            labels => writeln!(self.text, "{name}{suffix}{{{labels}}} {value}"),
        };
    }

    /// Returns the complete text.
    #[must_use]
    pub fn finish(mut self) -> String {
        // A reader takes a text without this line for one that was cut short.
        self.text.push_str("# EOF\n");
        self.text
    }
}

/// Labels of a sample, escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricLabels {
    text: String,
}

impl MetricLabels {
    /// Escapes the values of labels, which may come from outside.
    #[must_use]
    pub fn of(labels: &[(&str, &str)]) -> Self {
        Self::default().with(labels)
    }

    /// Returns these labels and more.
    #[must_use]
    pub fn with(&self, labels: &[(&str, &str)]) -> Self {
        let mut text = self.text.clone();
        for (name, value) in labels {
            let comma = if text.is_empty() { "" } else { "," };
            // Line breaks are visible afterwards, so only two characters are left to escape.
            let value = printable(value).replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(text, "{comma}{name}=\"{value}\"");
        }
        Self { text }
    }

    /// Returns these labels for the sample of a percentile: `0.999` for 99.9 %.
    #[must_use]
    pub fn with_percentile(&self, percent: f64) -> Self {
        let digits = format!("{:.5}", percent / 100.0);
        self.with(&[("quantile", digits.trim_end_matches('0'))])
    }
}

/// Formats nanoseconds as seconds, exactly.
#[must_use]
pub fn metric_seconds(ns: u64) -> String {
    format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_the_suffix_of_their_metric() {
        let mut text = MetricsText::default();
        text.head("read_bytes", MetricKind::Counter, "Bytes read.");
        text.sample(&MetricLabels::of(&[("disk", "a")]), 5);
        text.head("latency_seconds", MetricKind::Summary, "Latency.");
        let none = MetricLabels::default();
        text.sample(&none.with_percentile(99.9), metric_seconds(250_000));
        text.part("_count", &none, 3);
        assert_eq!(
            text.finish(),
            "# TYPE read_bytes counter\n# UNIT read_bytes bytes\n# HELP read_bytes Bytes read.\n\
             read_bytes_total{disk=\"a\"} 5\n\
             # TYPE latency_seconds summary\n# UNIT latency_seconds seconds\n\
             # HELP latency_seconds Latency.\n\
             latency_seconds{quantile=\"0.999\"} 0.000250000\nlatency_seconds_count 3\n# EOF\n"
        );
    }

    #[test]
    fn values_cannot_end_their_label_or_line() {
        let labels = MetricLabels::of(&[("a", "x\"} 1\ny\\"), ("b", "")]);
        assert_eq!(labels.text.matches('\n').count(), 0);
        assert!(labels.text.starts_with("a=\"x\\\"} 1"), "{labels:?}");
        assert!(labels.text.ends_with("\\\\\",b=\"\""), "{labels:?}");
    }
}
