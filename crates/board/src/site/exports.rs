//! The board for programs: JSON, CSV and a feed.

use maud::{PreEscaped, html};
use schemars::JsonSchema;
use serde::Serialize;
use units::{JsonDocument, printable};

use super::{BoardSite, TITLE_CHARS_MAX, short};
use crate::{BoardRanking, MeasuredValue};

/// A board with its rankings.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SiteDocument {
    /// Title of the board.
    title: String,
    /// The tables.
    tables: Vec<SiteTable>,
}

/// A table with its ranking.
#[derive(Debug, Serialize, JsonSchema)]
struct SiteTable {
    name: String,
    title: String,
    /// Column that ranks.
    rank_by: String,
    /// The systems, the best first.
    places: Vec<SitePlace>,
}

/// A system in a ranking.
#[derive(Debug, Serialize, JsonSchema)]
struct SitePlace {
    /// Best and worst place that chance may give it.
    places: [usize; 2],
    submission: String,
    title: String,
    /// Year as text; empty if unknown.
    year: String,
    trust: &'static str,
    /// The value that ranks.
    value: MeasuredValue,
}

impl JsonDocument for SiteDocument {
    const FORMAT: &'static str = "pgmeter-board/1";
}

impl BoardSite<'_> {
    pub(super) fn json(&self) -> String {
        let tables = self.rankings.iter().map(|ranking| {
            let places = ranking.places.iter().map(|place| SitePlace {
                places: place.range,
                submission: place.submission.slug.clone(),
                title: place.submission.title.clone(),
                year: self.year(&place.submission.slug),
                trust: place.submission.trust.name(),
                value: place.value.clone(),
            });
            SiteTable {
                name: ranking.table.name.clone(),
                title: ranking.table.title.clone(),
                rank_by: ranking.table.rank_by.clone(),
                places: places.collect(),
            }
        });
        let document = SiteDocument {
            title: self.config.title.clone(),
            tables: tables.collect(),
        };
        document.to_document()
    }

    fn year(&self, slug: &str) -> String {
        self.entry(slug)
            .map_or_else(String::new, |it| it.year.clone())
    }

    pub(super) fn csv(&self, ranking: &BoardRanking) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let fixed = [
            "place_best",
            "place_worst",
            "submission",
            "title",
            "year",
            "trust",
            "n",
        ];
        let ends = ["ci95_low", "ci95_high"];
        let columns = ranking.table.columns.iter().map(|it| it.name.as_str());
        let heads = fixed.into_iter().chain(ends).chain(columns);
        // Writing to memory does not fail.
        let _ = writer.write_record(heads);
        for place in &ranking.places {
            let it = place.submission;
            let values = it.values.iter().find(|it| it.table == ranking.table.name);
            let end = |index: usize| {
                let interval = place.value.interval;
                interval.map_or_else(String::new, |ends| ends[index].to_string())
            };
            let fixed = [
                place.range[0].to_string(),
                place.range[1].to_string(),
                it.slug.clone(),
                it.title.clone(),
                self.year(&it.slug),
                it.trust.name().to_owned(),
                place.value.n.to_string(),
                end(0),
                end(1),
            ];
            let values = ranking.table.columns.iter().map(|column| {
                let value = values.and_then(|it| it.columns.get(&column.name));
                value.map_or_else(String::new, |it| {
                    it.printed.clone().unwrap_or_else(|| it.mean.to_string())
                })
            });
            let _ = writer.write_record(fixed.into_iter().chain(values));
        }
        let bytes = writer.into_inner().unwrap_or_default();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// Returns an Atom feed of the dated submissions, the newest first.
    pub(super) fn feed(&self) -> String {
        let dated = self.entries.iter().filter_map(|entry| {
            let date = entry.about.submitted.as_ref().filter(|it| is_date(it))?;
            Some((date, entry))
        });
        let mut dated: Vec<_> = dated.collect();
        dated.sort_by(|a, b| {
            b.0.cmp(a.0)
                .then_with(|| a.1.checked.slug.cmp(&b.1.checked.slug))
        });
        let updated = dated
            .first()
            .map_or("1970-01-01", |(date, _)| date.as_str());
        let text = |text: &str| printable(&short(text, TITLE_CHARS_MAX)).into_owned();
        let feed = html! {
            (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
            feed xmlns="http://www.w3.org/2005/Atom" {
                title { (text(&self.config.title)) }
                id { "urn:pgmeter:board" }
                updated { (updated) "T00:00:00Z" }
                @for (date, entry) in dated {
                    entry {
                        title { (text(&entry.about.title)) }
                        id { "urn:pgmeter:board:" (entry.checked.slug) }
                        updated { (date) "T00:00:00Z" }
                        author { name { (text(&entry.about.submitter)) } }
                        (PreEscaped(format!("<link href=\"{}\"/>", entry.path())))
                    }
                }
            }
        };
        feed.into_string()
    }
}

/// Returns `true` for a date such as `2026-11-30`.
fn is_date(text: &str) -> bool {
    let digits = |part: &str, count: usize| {
        part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts.as_slice(), [year, month, day]
        if digits(year, 4) && digits(month, 2) && digits(day, 2))
}
