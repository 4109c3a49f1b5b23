//! What charts show, as plain numbers under labels; the page's script draws them.
//!
//! A kind of chart is a module: a function from a part of the record to a [`Chart`]. Numbers are
//! chosen and rounded here, so the script only draws.

mod distribution;
mod figures;
mod number;
mod over_time;
mod processes;
mod response;
mod rounds;
mod search;
mod sweep;

pub use distribution::{histogram, percentiles};
pub use figures::figures;
pub use number::Number;
pub use over_time::{latency, throughput, waiting};
pub use processes::processes;
pub use response::response_curve;
pub use rounds::rounds;
pub use search::rate_search;
pub use sweep::{Line as SweepLine, sweeps};

use serde::Serialize;

/// A chart with its words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What is drawn.
    pub title: String,
    /// What there is to see, in a sentence or two: the alternative to looking.
    pub summary: String,
    /// The axis from left to right.
    pub x: Axis,
    /// Where the values of all series stand on that axis, in rising order.
    pub at: Vec<Number>,
    /// What the places on that axis are called, where they are no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<Places>,
    /// What can be shown over that axis; the reader chooses where there are several.
    pub views: Vec<View>,
}

/// What the places on an axis are called.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Places {
    /// One for each place.
    pub names: Vec<String>,
    /// What stands beside the axis, and where.
    pub ticks: Vec<(Number, String)>,
}

/// One set of series over the axis of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct View {
    /// What the reader chooses it by.
    pub label: String,
    /// The axis from bottom to top.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Pairs of series, upper and lower, between which the plane is shaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bands: Vec<[usize; 2]>,
}

/// An axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// What stands beside it.
    pub label: &'static str,
    /// How its values are written.
    pub unit: Unit,
    /// How its values are spread.
    pub scale: Scale,
}

/// Values over the axis of a chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Series {
    /// What it is called.
    pub label: String,
    /// 0-based, into the page's palette; wraps around.
    pub color: usize,
    /// How it is drawn.
    pub line: Line,
    /// One for each place on the axis.
    pub values: Vec<Number>,
    /// Ends of the values' intervals of confidence, where they are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<Ends>,
}

/// The ends of the intervals of confidence of a series.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Ends {
    /// One for each value.
    pub low: Vec<Number>,
    /// One for each value.
    pub high: Vec<Number>,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Line {
    /// From value to value.
    Solid,
    /// The same, broken.
    Dashed,
    /// The same, faint.
    Dotted,
    /// From value to value, each marked.
    Marked,
    /// A ring around each value, and no line.
    Ring,
    /// A dot at each value, and no line.
    Dots,
    /// Each value until the next place, filled.
    Steps,
}

/// How the values of an axis are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Operations per second.
    PerSecond,
    /// Bytes per second.
    BytesPerSecond,
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Percent.
    Percent,
    /// A whole number.
    Count,
}

/// How the values of an axis are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By powers of ten; values are above zero.
    Log10,
    /// By powers of two; values are above zero.
    Log2,
    /// Percent below 100: each nine takes the same room.
    Nines,
    /// Evenly, with half a place before the first and behind the last.
    Places,
}

/// How finely charts are drawn, so that a page of many cells stays small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Detail {
    /// Points of a series over time, at most.
    pub points_max: usize,
    /// Bins of a histogram for each power of ten.
    pub bins_per_decade: u32,
    /// Whether percentiles are drawn between those that people name.
    pub has_fine_percentiles: bool,
}

impl Detail {
    /// Points of all series over time of a page together, about.
    const POINTS: usize = 60_000;
    /// Nobody sees more on a screen.
    const POINTS_MAX: usize = 600;
    /// A page of so many operations need not save on distributions.
    const FEW: usize = 500;
    /// Fewer do not show a course.
    const POINTS_MIN: usize = 24;

    /// The detail for a page with so many operations in all its cells together.
    #[must_use]
    pub fn of(operations_count: usize) -> Self {
        let share = Self::POINTS / operations_count.max(1);
        Self {
            points_max: share.clamp(Self::POINTS_MIN, Self::POINTS_MAX),
            bins_per_decade: if operations_count > Self::FEW { 10 } else { 20 },
            has_fine_percentiles: operations_count <= Self::FEW,
        }
    }
}

/// The color of an operation: the same on the whole page.
#[must_use]
pub fn color_of(operation: &str, index: usize) -> usize {
    match operation {
        "read" => 0,
        "write" => 1,
        // Reading and writing keep their colors; the palette has eight.
        _ => 2 + index % 6,
    }
}

impl Chart {
    /// A chart whose axis from left to right has numbers.
    fn new(
        title: impl Into<String>,
        summary: String,
        x: Axis,
        at: impl IntoIterator<Item = Number>,
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
    /// Series without bands between them.
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
    const RATE: Self = Self::new("operations per second", Unit::PerSecond, Scale::Linear);
    const BANDWIDTH: Self = Self::new("bytes per second", Unit::BytesPerSecond, Scale::Linear);
    const LATENCY: Self = Self::new("latency", Unit::Nanoseconds, Scale::Log10);
    const RESPONSE_TIME: Self = Self::new("response time", Unit::Nanoseconds, Scale::Log10);

    const fn new(label: &'static str, unit: Unit, scale: Scale) -> Self {
        Self { label, unit, scale }
    }
}

impl Series {
    /// Values without intervals.
    fn new(
        label: impl Into<String>,
        color: usize,
        line: Line,
        values: impl IntoIterator<Item = Number>,
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

/// The first few of the parts of a summary, in a sentence.
fn few(parts: &[String]) -> String {
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
    fn a_chart_is_written_with_the_names_that_the_script_knows() {
        let axis = Axis {
            label: "time",
            unit: Unit::BytesPerSecond,
            scale: Scale::Log10,
        };
        let series = Series {
            label: "read".into(),
            color: 0,
            line: Line::Steps,
            values: vec![Number::exact(1.0), Number::NONE],
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
