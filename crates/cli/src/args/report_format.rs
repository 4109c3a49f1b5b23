//! `--format` of `report`.

use clap::ValueEnum;

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal or an e-mail
    Text,
    /// A table in Markdown
    Markdown,
    /// A self-contained page with charts
    Html,
    /// The record itself
    Json,
    /// One row per cell and operation
    Csv,
    /// Iometer's 80 columns
    IometerCsv,
    /// The output that PostMark, create/remove or lat_fs would have printed
    Classic,
    /// fio's JSON: one job per cell
    FioJson,
    /// One page for printing: the main results, two charts and three sentences
    Summary,
    /// JUnit's XML, for the test results of a CI server: one test case per cell
    Junit,
    /// Metrics for Prometheus and its collector of text files
    #[value(name = "openmetrics")]
    OpenMetrics,
    /// Markdown for `GITHUB_STEP_SUMMARY`: the verdict, and folded details
    GithubSummary,
    /// JSON for Bencher (`bencher run --adapter json`)
    Bencher,
    /// Line protocol of InfluxDB, for Telegraf and other collectors
    Influx,
    /// Parquet, for pandas, Polars and DuckDB: one row per cell, interval and operation
    Parquet,
    /// Parquet: one row per cell, operation and bucket of its latencies
    ParquetHistograms,
}
