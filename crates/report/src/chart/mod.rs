//! Contents of charts: labels and plain numbers. The page's script draws them.
//!
//! Each kind of chart has its module with a function from a part of the record to a [`Chart`].
//! These functions select and round the numbers, so that the script only draws.

mod by_setting;
mod distribution;
mod figures;
mod number;
mod of_groups;
mod over_time;
mod processes;
mod response;
mod rounds;
mod search;
mod sweep;

pub use by_setting::by_setting;
pub use distribution::{histogram, histogram_of, percentiles};
pub use figures::figures;
pub use number::ChartNumber;
pub use over_time::{latency, replayed_rate, throughput, waiting};
pub use processes::processes;
pub use response::response_curve;
pub use rounds::rounds;
pub use search::rate_search;
pub use sweep::{SweepLine, sweeps};

use of_groups::{axis_of, group_view, latency_views, rate_views};

use serde::Serialize;

/// A chart with its texts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// Title of the chart.
    pub title: String,
    /// Text alternative of the chart, in one or two sentences.
    pub summary: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Positions of the values of all series on that axis, in ascending order.
    pub at: Vec<ChartNumber>,
    /// Names of the positions, if they are not numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<AxisLabels>,
    /// Contents of the chart. If there are several, the reader selects one.
    pub views: Vec<View>,
}

/// Names of the positions on an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisLabels {
    /// One name per position.
    pub names: Vec<String>,
    /// Positions and texts of the labels along the axis.
    pub ticks: Vec<(ChartNumber, String)>,
}

/// A set of series in a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// Name in the selection of views.
    pub label: String,
    /// Vertical axis.
    pub y: Axis,
    /// The series of the view.
    pub series: Vec<Series>,
    /// Pairs of series, upper and lower, with shading in between.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<[usize; 2]>,
}

/// An axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Label of the axis.
    pub label: &'static str,
    /// Unit of the values.
    pub unit: AxisUnit,
    /// Scale of the axis.
    pub scale: AxisScale,
}

/// A series of values in a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// Name of the series.
    pub label: String,
    /// Index in the palette of the page, which wraps around.
    pub color: usize,
    /// Line style.
    pub line: LineStyle,
    /// One value per position on the axis.
    pub values: Vec<ChartNumber>,
    /// Confidence intervals of the values, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<Ends>,
}

/// Ends of the confidence intervals of a series.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ends {
    /// Lower end for each value.
    pub low: Vec<ChartNumber>,
    /// Upper end for each value.
    pub high: Vec<ChartNumber>,
}

/// Line style of a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineStyle {
    /// Solid line.
    Solid,
    /// Dashed line.
    Dashed,
    /// Faint line.
    Dotted,
    /// Solid line with markers.
    Marked,
    /// A ring at each value, without a line.
    Ring,
    /// A dot at each value, without a line.
    Dots,
    /// Filled steps. Each value extends to the next position.
    Steps,
}

/// Unit of the values on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AxisUnit {
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds, for axes of time.
    Seconds,
    /// Percent.
    Percent,
    /// A whole number.
    Count,
}

/// Scale of an axis, with the base of logarithms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AxisScale {
    /// Linear, from zero.
    Linear,
    /// Logarithmic to base 10; values are above zero.
    Log10,
    /// Logarithmic to base 2; values are above zero.
    Log2,
    /// Percentiles below 100 %. Each additional nine has the same width.
    Nines,
    /// Equal spacing, with half a position before the first and after the last.
    Places,
}

/// Resolution of charts. Pages with many cells use a lower one to remain small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Maximum number of points of a series over time.
    pub points_max: usize,
    /// Bins of a histogram per power of ten.
    pub bins_per_decade: u32,
    /// `true` to draw percentiles between the usual ones.
    pub has_fine_percentiles: bool,
}

impl Detail {
    /// Approximate number of points of all series over time on a page.
    // The page contains all points, and a run can have thousands of cells.
    const POINTS: usize = 60_000;
    /// More points are not visible on a screen.
    const POINTS_MAX: usize = 600;
    /// Maximum number of operations for distributions at full resolution.
    const FULL_DETAIL_MAX: usize = 500;
    /// Fewer points do not show changes over time.
    const POINTS_MIN: usize = 24;

    /// Returns the resolution for a page. `operations_count` is the total number of operations in
    /// its cells.
    #[must_use]
    pub fn of(operations_count: usize) -> Self {
        let share = Self::POINTS / operations_count.max(1);
        Self {
            points_max: share.clamp(Self::POINTS_MIN, Self::POINTS_MAX),
            // Records have 64 buckets per octave. Fewer bins only keep the page small.
            bins_per_decade: if operations_count > Self::FULL_DETAIL_MAX {
                10
            } else {
                20
            },
            has_fine_percentiles: operations_count <= Self::FULL_DETAIL_MAX,
        }
    }
}

/// Returns the color of an operation, which is the same on the whole page.
#[must_use]
pub fn color_of(operation: &str, index: usize) -> usize {
    match operation {
        "read" => 0,
        "write" => 1,
        // `read` and `write` have fixed colors, and the palette has eight in total.
        _ => 2 + index % 6,
    }
}

impl Chart {
    /// Creates a chart with numbers on its horizontal axis.
    fn new(
        title: impl Into<String>,
        summary: String,
        x: Axis,
        at: impl IntoIterator<Item = ChartNumber>,
        views: impl IntoIterator<Item = View>,
    ) -> Self {
        Self {
            title: title.into(),
            summary,
            x,
            at: at.into_iter().collect(),
            places: None,
            views: views.into_iter().collect(),
        }
    }
}

impl View {
    /// Creates a view without shading.
    fn new(label: impl Into<String>, y: Axis, series: impl IntoIterator<Item = Series>) -> Self {
        Self {
            label: label.into(),
            y,
            series: series.into_iter().collect(),
            bands: Vec::new(),
        }
    }
}

impl Axis {
    const RATE: Self = Self::new(
        "operations per second",
        AxisUnit::PerSecond,
        AxisScale::Linear,
    );
    const BANDWIDTH: Self = Self::new(
        "bytes per second",
        AxisUnit::BytesPerSecond,
        AxisScale::Linear,
    );
    const LATENCY: Self = Self::new("latency", AxisUnit::Nanoseconds, AxisScale::Log10);
    const RESPONSE_TIME: Self = Self::new("response time", AxisUnit::Nanoseconds, AxisScale::Log10);

    const fn new(label: &'static str, unit: AxisUnit, scale: AxisScale) -> Self {
        Self { label, unit, scale }
    }

    /// Rounds a value to the digits that this axis needs.
    fn number(self, value: f64) -> ChartNumber {
        match self.unit {
            AxisUnit::BytesPerSecond => ChartNumber::bandwidth(value),
            AxisUnit::Nanoseconds => ChartNumber::latency(Some(value)),
            _ => ChartNumber::rounded(value),
        }
    }
}

impl Series {
    /// Creates a series without confidence intervals.
    fn new(
        label: impl Into<String>,
        color: usize,
        line: LineStyle,
        values: impl IntoIterator<Item = ChartNumber>,
    ) -> Self {
        Self {
            label: label.into(),
            color,
            line,
            values: values.into_iter().collect(),
            ends: None,
        }
    }
}

/// Joins the first few parts of a summary.
fn few(parts: &[String]) -> String {
    // The summary is the text alternative of the chart, so it must stay short.
    const SHOWN: usize = 3;
    match parts.len().checked_sub(SHOWN) {
        None | Some(0) => parts.join("; "),
        Some(more) => format!(
            "{}; {more} more are in the table",
            parts[..SHOWN].join("; ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cells_are_drawn_less_finely() {
        assert_eq!(Detail::of(0).points_max, 600);
        assert_eq!(Detail::of(10).points_max, 600);
        assert_eq!(Detail::of(2_000).points_max, 30);
        assert_eq!(Detail::of(1_000_000).points_max, 24);
        assert!(Detail::of(2_000).bins_per_decade < Detail::of(2).bins_per_decade);
    }

    #[test]
    fn a_chart_is_serialized_with_the_names_the_script_knows() {
        let axis = Axis {
            label: "time",
            unit: AxisUnit::BytesPerSecond,
            scale: AxisScale::Log10,
        };
        let series = Series {
            label: "read".into(),
            color: 0,
            line: LineStyle::Steps,
            values: vec![ChartNumber::exact(1.0), ChartNumber::NONE],
            ends: None,
        };
        let view = View {
            label: "v".into(),
            y: axis,
            series: vec![series],
            bands: Vec::new(),
        };
        let wanted = concat!(
            r#"{"label":"v","y":{"label":"time","unit":"bytes_per_second","scale":"log10"},"#,
            r#""series":[{"label":"read","color":0,"line":"steps","values":[1,null]}]}"#,
        );
        assert_eq!(serde_json::to_string(&view).unwrap(), wanted);
    }
}
