//! Runs beside each other: what differs between them, and a bar for each where they measured the
//! same.

use maud::{Markup, html};

use super::environment::facts;
use super::group::{Group, Metric};
use super::headline::{bar, capital, rate_unit, shown_or_dash};
use super::run::Run;
use super::table::{frame, plain};
use crate::table::Column;

/// What is not the same in the runs' systems and settings; nothing for a single run.
#[must_use]
pub fn differences(runs: &[Run]) -> Markup {
    if runs.len() < 2 {
        return html! {};
    }
    let all: Vec<Vec<(String, String)>> = runs.iter().map(facts).collect();
    let mut names: Vec<&String> = Vec::new();
    for (name, _) in all.iter().flatten() {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let value = |facts: &[(String, String)], name: &String| {
        let found = facts.iter().find(|(known, _)| known == name);
        found.map_or_else(|| "–".to_owned(), |(_, value)| value.clone())
    };
    let rows: Vec<Vec<String>> = names
        .into_iter()
        .map(|name| {
            let values = all.iter().map(|facts| value(facts, name));
            std::iter::once(name.clone()).chain(values).collect()
        })
        .filter(|row: &Vec<String>| row[1..].iter().any(|value| *value != row[1]))
        .collect();
    let letters = runs.iter().filter_map(|run| run.letter.as_deref());
    let columns = std::iter::once("")
        .chain(letters)
        .map(Column::name)
        .collect();
    html! {
        section #differences {
            h2 { "What differs" }
            @if rows.is_empty() {
                p { "The runs were made on the same system with the same settings." }
            } @else {
                (plain(columns, rows, "Systems and settings"))
            }
        }
    }
}

/// Groups of several runs that measured the same.
struct Match<'a> {
    name: String,
    /// The run and its group.
    groups: Vec<(&'a Run<'a>, &'a Group<'a>)>,
}

fn matches<'a>(runs: &'a [Run<'a>]) -> Vec<Match<'a>> {
    let mut matches: Vec<Match> = Vec::new();
    for run in runs {
        for group in &run.groups {
            let name = run.naming.place(&group.place);
            let same = |one: &&mut Match| {
                let (_, first) = one.groups[0];
                one.name == name && first.place.iodepth == group.place.iodepth
            };
            match matches.iter_mut().find(same) {
                Some(found) => found.groups.push((run, group)),
                None => matches.push(Match {
                    name,
                    groups: vec![(run, group)],
                }),
            }
        }
    }
    matches.retain(|found| found.groups.len() > 1);
    matches
}

/// A bar for each run where they measured the same.
#[must_use]
pub fn bars(runs: &[Run]) -> Markup {
    let matches = matches(runs);
    if matches.is_empty() {
        return html! { p { "The runs have no cell in common." } };
    }
    let groups = matches.iter().flat_map(|found| found.groups.iter());
    let unit = rate_unit(groups.map(|(_, group)| *group));
    let caption = format!("{}; bars of one workload share a scale", capital(unit));
    frame(
        &caption,
        matches.len() > 20,
        &html! {
            table.bars {
                caption { span { (&caption) } }
                thead {
                    tr {
                        th.name scope="col" { "workload" }
                        th.name scope="col" { "run" }
                        th.name scope="col" { (unit) ", with 95 % confidence where repeated" }
                        th scope="col" { "bandwidth" }
                        th scope="col" { "p50" }
                        th scope="col" { "p99" }
                    }
                }
                @for found in &matches { (rows(runs, found)) }
            }
        },
    )
}

fn rows(runs: &[Run], found: &Match) -> Markup {
    let figure = |group: &Group| group.figure(Metric::PerSecond);
    let ends = found.groups.iter().filter_map(|(_, group)| {
        let figure = figure(group)?;
        Some(figure.interval.map_or(figure.mean, |[_, high]| high))
    });
    let most = ends.fold(0.0, f64::max);
    let color = |run: &Run| {
        runs.iter()
            .position(|one| one.letter == run.letter)
            .unwrap_or(0)
    };
    html! {
        tbody {
            @for (place, (run, group)) in found.groups.iter().enumerate() {
                tr {
                    @if place == 0 {
                        th scope="rowgroup" rowspan=(found.groups.len()) { (found.name) }
                    }
                    td.name { (run.letter.as_deref().unwrap_or_default()) }
                    td.name { (bar(figure(group), most, color(run))) }
                    td { (shown_or_dash(group, Metric::BytesPerSecond)) }
                    td { (shown_or_dash(group, Metric::LatencyP50)) }
                    td { (shown_or_dash(group, Metric::LatencyP99)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html::sample;

    #[test]
    fn cells_that_measured_the_same_are_matched() {
        let mut records = [sample::record(), sample::record()];
        records[1].cells[1].iodepth = 2;
        let runs = Run::all(&records);
        let matches = matches(&runs);
        assert_eq!(matches.len(), 1);
        assert_eq!(matches[0].name, "File Server, 2 workers, depth 8");
    }

    #[test]
    fn another_target_does_not_make_another_measurement() {
        let mut records = [sample::record(), sample::record()];
        for cell in &mut records[1].cells {
            cell.target = "/mnt/other".to_owned();
        }
        assert_eq!(matches(&Run::all(&records)).len(), 2);
    }

    #[test]
    fn what_differs_is_told() {
        let mut records = [sample::record(), sample::record()];
        assert!(
            differences(&Run::all(&records))
                .into_string()
                .contains("same system")
        );
        records[1].environment.kernel = "6.13.0".to_owned();
        let seen = differences(&Run::all(&records)).into_string();
        assert!(seen.contains("6.12.9") && seen.contains("6.13.0"), "{seen}");
        assert!(!seen.contains("EPYC"), "{seen}");
    }
}
