//! The page of a table.

use maud::{Markup, html};
use report::{RatioRow, ratio_plot};

use super::{BoardSite, SiteEntry, TEXT_CHARS_MAX, TITLE_CHARS_MAX, short};
use crate::rank::RankedPlace;
use crate::{BoardRanking, MeasuredValue, SystemKind, TrustLevel};

impl BoardSite<'_> {
    pub(super) fn table_page(&self, ranking: &BoardRanking) -> String {
        let table = ranking.table;
        let ties = ranking.ties();
        let name = &table.name;
        let body = html! {
            main id="content" {
                header {
                    h1 { (short(&table.title, TEXT_CHARS_MAX)) }
                    @if let Some(source) = &table.source {
                        p.where { "Work of " (short(source, TEXT_CHARS_MAX)) }
                    }
                    p.lead {
                        (ranking.places.len()) " systems, ranked by " (table.rank_by) ". "
                        @for tie in &ties { (tie) " " }
                        @if ties.is_empty() && !ranking.places.is_empty() {
                            "Values without repetitions have no interval, so chance may decide "
                            "places here, too."
                        }
                    }
                }
                (filters(self, ranking))
                (self.ranked(ranking))
                p.remark {
                    "Intervals of 95 % are shown for repeated measurements. The place is a range "
                    "if chance alone may decide within it. "
                    a href={ (name) ".csv" } { "CSV" }
                }
                h2 { "Side by side" }
                (self.forest(ranking))
                h2 { "Measure yours" }
                pre.command { (short(&table.command, TEXT_CHARS_MAX)) }
                p {
                    "Then add the run to a clone of the board with "
                    code { "pgmeter board add last --board DIR" }
                    ", and submit the new directory."
                }
            }
        };
        self.page(&table.title, "../", &body)
    }

    fn ranked(&self, ranking: &BoardRanking) -> Markup {
        let table = ranking.table;
        let label = format!("Ranking by {}", table.rank_by);
        html! {
            div.frame.long[ranking.places.len() > 40] tabindex="0" role="group" aria-label=(label) {
                table.sorted {
                    thead { tr {
                        th scope="col" { "place" }
                        th.name scope="col" { "system" }
                        // On a narrow screen, the values are seen without scrolling.
                        @for column in &table.columns { th scope="col" { (column.name) } }
                        th scope="col" { "year" }
                        th.name scope="col" { "data" }
                        th.name scope="col" { "trust" }
                        th scope="col" { "findings" }
                    } }
                    tbody {
                        @for (index, place) in ranking.places.iter().enumerate() {
                            (self.row(ranking, index, place))
                        }
                    }
                }
            }
        }
    }

    fn row(&self, ranking: &BoardRanking, index: usize, place: &RankedPlace) -> Markup {
        let submission = place.submission;
        let entry = self.entry(&submission.slug);
        let kind = entry.map_or(SystemKind::Unknown, |it| it.about.kind).name();
        let year = entry.map_or(String::new(), |it| it.year.clone());
        let year_number = entry.and_then(SiteEntry::year_number);
        let year_number = year_number.map_or(String::new(), |it| it.to_string());
        let values = submission
            .values
            .iter()
            .find(|it| it.table == ranking.table.name);
        let trust = submission.trust.name();
        html! {
            tr data-kind=(kind) data-trust=(trust) data-year=(year_number) {
                td data-value=(index + 1) { (range(place.range)) }
                th scope="row" {
                    a href={ "../submissions/" (submission.slug) ".html" } {
                        (short(&submission.title, TITLE_CHARS_MAX))
                    }
                }
                @for column in &ranking.table.columns {
                    @match values.and_then(|it| it.columns.get(&column.name)) {
                        Some(value) => td data-value=(value.mean) { (with_interval(value)) },
                        None => td {},
                    }
                }
                td data-value=(year_number) { (short(&year, TITLE_CHARS_MAX)) }
                td.name { (kind) }
                td.name { (entry.map_or_else(String::new, SiteEntry::trust)) }
                td { (submission.findings.len()) }
            }
        }
    }

    /// Plots all systems relative to the one in the middle, which a plot needs least room for.
    fn forest(&self, ranking: &BoardRanking) -> Markup {
        let Some(middle) = ranking.places.get(ranking.places.len() / 2) else {
            return html! { p.nothing { "No system yet." } };
        };
        let rows: Vec<RatioRow> = ranking
            .places
            .iter()
            .filter_map(|place| ratio_row(&place.submission.title, place.value, middle.value))
            .collect();
        ratio_plot(&rows, &short(&middle.submission.title, TITLE_CHARS_MAX))
    }
}

/// Returns the row of a plot: a value divided by another one.
pub(super) fn ratio_row(
    title: &str,
    value: &MeasuredValue,
    by: &MeasuredValue,
) -> Option<RatioRow> {
    let base = Some(by.mean).filter(|mean| *mean > 0.0)?;
    Some(RatioRow {
        label: short(title, TITLE_CHARS_MAX),
        detail: value.text(),
        ratio: value.mean / base,
        interval: value.interval.map(|ends| ends.map(|end| end / base)),
    })
}

/// Returns a value with its interval.
pub(super) fn with_interval(value: &MeasuredValue) -> Markup {
    html! {
        (value.text())
        @if let Some([low, high]) = value.interval {
            " " small { "± " (crate::value::significant((high - low) / 2.0)) }
        }
    }
}

/// Returns places as text: `3` or `3 to 7`.
pub(super) fn range([first, last]: [usize; 2]) -> String {
    match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    }
}

/// Returns the choices that limit the shown rows. Only the script can apply them.
fn filters(site: &BoardSite, ranking: &BoardRanking) -> Markup {
    let entries = ranking
        .places
        .iter()
        .filter_map(|it| site.entry(&it.submission.slug));
    let mut years: Vec<u16> = entries.filter_map(SiteEntry::year_number).collect();
    years.sort_unstable();
    years.dedup();
    let years = years.iter().map(u16::to_string).collect::<Vec<_>>();
    let kinds = SystemKind::ALL.map(|it| it.name().to_owned());
    let levels = TrustLevel::ALL.map(|it| it.name().to_owned());
    let choices: [(&str, &str, &[String]); 3] = [
        ("year", "Year", &years),
        ("kind", "Data", &kinds),
        ("trust", "Trust", &levels),
    ];
    html! {
        form.filters hidden {
            @for (name, label, values) in choices {
                label {
                    (label) " "
                    select name=(name) {
                        option value="" { "all" }
                        @for value in values { option value=(value) { (value) } }
                    }
                }
                " "
            }
        }
    }
}
