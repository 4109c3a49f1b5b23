//! The HTML page, as text; the browser lane looks at it as people do.

use report::{Format, Page, html, render};
use results::RunRecord;

use crate::made_up;
use crate::sample;

fn page(record: &RunRecord) -> String {
    html(std::slice::from_ref(record))
}

/// Everything but the page's own style and script.
fn body(page: &str) -> &str {
    let start = page.find("</style>").unwrap();
    let end = page.find("<!-- uPlot:").unwrap();
    &page[start..end]
}

#[test]
fn html_is_a_report_format() {
    let record = sample::record();
    assert_eq!(*render(&record, Format::Html, Page::PLAIN), *page(&record));
    assert_eq!("html".parse::<Format>().unwrap(), Format::Html);
}

#[test]
fn the_same_record_makes_the_same_page() {
    assert_eq!(page(&sample::record()), page(&sample::record()));
}

#[test]
fn the_page_loads_nothing() {
    let page = page(&sample::record());
    for loader in ["src=", "href=\"http", "@import", "url(", "<iframe", "<img"] {
        assert!(!body(&page).contains(loader), "{loader}");
    }
    assert!(page.contains("default-src 'none'"), "no security policy");
}

#[test]
fn the_page_starts_with_workload_target_and_machine() {
    let page = page(&sample::record());
    let positions = [
        "<h1>File Server</h1>",
        "on /mnt/array",
        "Operations per second",
        "<dt>Next</dt>",
        "EPYC 9354",
        "<dt>Repeat</dt><dd><code><span class=\"word\">pgmeter </span>",
        "5000 operations are too few for p99.9",
        "<h2>Results</h2>",
        "<h2>Cells</h2>",
        "<h2>Processor and device</h2>",
        "<h2>Plan</h2>",
        "<h2>Environment</h2>",
        "<h2>Repeat</h2>",
    ]
    .map(|text| page.find(text).unwrap_or_else(|| panic!("no `{text}`")));
    assert!(positions.is_sorted(), "{positions:?}");
}

#[test]
fn names_from_a_record_never_become_markup() {
    let page = page(&made_up::hostile());
    let body = body(&page);
    assert!(!body.contains("<script>"), "an element of the record's own");
    assert!(!body.contains("<img"), "an element of the record's own");
    let packed = body.matches("<script type=\"text/plain\">").count();
    assert_eq!(body.matches("<script").count(), packed);
    assert!(body.contains("&lt;script&gt;alert(1)"), "the name is shown");
}

#[test]
fn a_run_without_cells_has_a_page() {
    let page = page(&made_up::empty());
    for text in [
        "Nothing was measured.",
        "No cell was measured.",
        "interrupted: 0 of 2",
    ] {
        assert!(page.contains(text), "no `{text}`");
    }
    assert!(!body(&page).contains("class=\"figures\""));
}

#[test]
fn every_link_within_a_page_has_a_target() {
    let mut bare = made_up::empty();
    bare.command.clear();
    for record in [bare, made_up::empty(), sample::record()] {
        let page = page(&record);
        let links = body(&page).split("href=\"#").skip(1);
        for link in links.filter_map(|it| it.split('"').next()) {
            assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
        }
    }
}

#[test]
fn failures_appear_at_the_top_of_the_page() {
    let page = page(&made_up::doubtful());
    let tile = page.find("failed operations").unwrap();
    assert!(tile < page.find("<h2>Results</h2>").unwrap());
    assert!(page.contains("Input/output error"));
    assert!(page.contains("class=\"severe\""));
}

#[test]
fn repetitions_show_their_interval() {
    let page = page(&made_up::repeated());
    assert!(page.contains("class=\"whisker\""));
    assert!(page.contains("Over repetitions"));
    assert!(page.contains("<h2>Queue depth</h2>"));
}

#[test]
fn the_figures_of_a_classic_appear_with_its_cell() {
    let page = page(&made_up::postmark());
    for text in [
        "transactions per second</th><td class=\"name\">10416.67",
        "transactions time</th><td class=\"name\">12.0 s",
        "<h3>postmark create</h3>",
        "transactions, 500: read a file (50%) or append to one",
    ] {
        assert!(page.contains(text), "no `{text}`");
    }
    assert!(page.contains("&#39;/mnt/it&#39;") || page.contains("'/mnt/it'\\''s here'"));
}

#[test]
fn several_records_are_compared_on_one_page() {
    let page = html(&made_up::compared());
    for text in [
        "<h1>2 runs compared</h1>",
        "What differs",
        "<h2>Results of A</h2>",
        "<h2>Results of B</h2>",
        "id=\"B-cell-1\"",
        "6.13.1",
        "class=\"forest with-bars\"",
        "B <strong>12.75k/s</strong><small> ± 707.4</small>",
        "<strong>441.7 µs</strong>",
    ] {
        assert!(page.contains(text), "no `{text}`");
    }
}

#[test]
fn element_ids_are_unique() {
    let page = html(&made_up::compared());
    let mut ids: Vec<&str> = body(&page)
        .split(" id=\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn without_records_there_is_still_a_page() {
    assert!(html(&[]).starts_with("<!DOCTYPE html>"));
}
