//! Systems by year, on one axis.

use maud::{Markup, html};

use super::{BoardSite, SiteEntry, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::BoardRanking;

/// Size of a chart and of the room for its labels, in units of the drawing.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 220.0;
const MARGIN: f64 = 48.0;

/// A system in a chart.
struct YearPoint {
    title: String,
    slug: String,
    year: f64,
    value: f64,
    text: String,
}

impl BoardSite<'_> {
    pub(super) fn years(&self) -> String {
        let years: Vec<u16> = self
            .entries
            .iter()
            .filter_map(SiteEntry::year_number)
            .collect();
        let first = years.iter().min().copied().unwrap_or(2000);
        let last = years.iter().max().copied().unwrap_or(2000).max(first + 1);
        let body = html! {
            main id="content" {
                header { h1 { "Systems by year" } p.lead {
                    "All tables have the same axis of years, and a logarithmic axis of values."
                } }
                @for ranking in &self.rankings {
                    @let points = self.points(ranking);
                    @if !points.is_empty() {
                        h2 {
                            a href={ "tables/" (ranking.table.name) ".html" } {
                                (short(&ranking.table.title, TEXT_CHARS_MAX))
                            }
                        }
                        (chart(&points, [first, last], &ranking.table.rank_by))
                    }
                }
            }
        };
        self.page("Systems by year", "", &body)
    }

    fn points(&self, ranking: &BoardRanking) -> Vec<YearPoint> {
        let points = ranking.places.iter().filter_map(|place| {
            let entry = self.entry(&place.submission.slug)?;
            Some(YearPoint {
                title: short(&place.submission.title, TITLE_CHARS_MAX),
                slug: place.submission.slug.clone(),
                year: f64::from(entry.year_number()?),
                value: place.value.mean,
                text: place.value.text(),
            })
        });
        points.filter(|it| it.value > 0.0).collect()
    }
}

fn chart(points: &[YearPoint], [first, last]: [u16; 2], unit: &str) -> Markup {
    let ends = points.iter().map(|it| it.value.log10());
    let low = ends.clone().fold(f64::INFINITY, f64::min).floor();
    let high = ends.fold(f64::NEG_INFINITY, f64::max).ceil().max(low + 1.0);
    let (first_year, last_year) = (f64::from(first), f64::from(last));
    let x = |year: f64| {
        let share = (year - first_year) / (last_year - first_year);
        MARGIN + share * (WIDTH - 2.0 * MARGIN)
    };
    let y = |value: f64| {
        let share = (value.log10() - low) / (high - low);
        HEIGHT - 28.0 - share * (HEIGHT - 44.0)
    };
    let decades = (low as i32)..=(high as i32);
    let label = format!("{unit} by year, from {first} to {last}");
    html! {
        div {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="group" aria-label=(label)
                style="width:100%;height:auto" {
                @for decade in decades {
                    @let at = y(10_f64.powi(decade));
                    line x1=(MARGIN) x2=(WIDTH - MARGIN) y1=(px(at)) y2=(px(at))
                        stroke="var(--grid)" {}
                    text x=(MARGIN - 6.0) y=(px(at + 4.0)) text-anchor="end" font-size="12"
                        fill="var(--muted)" { (format!("{}", 10_f64.powi(decade))) }
                }
                @for (year, anchor) in [(first, "start"), (last, "end")] {
                    text x=(px(x(f64::from(year)))) y=(HEIGHT - 6.0) text-anchor=(anchor)
                        font-size="12" fill="var(--muted)" { (year) }
                }
                @for point in points {
                    a href={ "submissions/" (point.slug) ".html" } {
                        circle cx=(px(x(point.year))) cy=(px(y(point.value))) r="5"
                            fill="var(--color-0)" fill-opacity="0.6" {
                            title { (point.title) ": " (point.text) }
                        }
                    }
                }
            }
            p.remark { (unit) " on a logarithmic axis; the table has the names." }
        }
    }
}

/// Formats a coordinate. Two decimals are finer than any screen.
fn px(value: f64) -> String {
    format!("{value:.2}")
}
