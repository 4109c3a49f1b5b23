use std::collections::BTreeMap;
use std::convert::Infallible;

use results::Timestamp;

use super::*;
use crate::{Checker, SubmissionTexts, new_board};

/// Builds the site of a new board, after a change of each submission.
fn built(change: impl Fn(&mut Submission)) -> BTreeMap<String, String> {
    let files = new_board(None, false);
    let text = |path: String| {
        let file = files.iter().find(|file| file.path == path);
        file.map(|file| file.text.as_str())
    };
    let config = BoardConfig::read("board.toml", &files[0].text).unwrap();
    let mut checker = Checker::new(&config, Timestamp::UNIX_EPOCH);
    let mut slugs: Vec<&str> = files
        .iter()
        .filter_map(|file| {
            file.path
                .strip_prefix("submissions/")?
                .strip_suffix("/submission.toml")
        })
        .collect();
    slugs.sort_unstable();
    let mut entries = Vec::new();
    for slug in slugs {
        let texts = SubmissionTexts {
            slug,
            info: text(format!("submissions/{slug}/submission.toml")).unwrap(),
            record: None,
            figures: text(format!("submissions/{slug}/figures.toml")),
        };
        let mut submission = Submission::read(texts).unwrap();
        change(&mut submission);
        let checked = checker.check(&submission);
        entries.push(SiteEntry::of(&submission, &checked));
    }
    let checked: Vec<CheckedSubmission> = entries.iter().map(|it| it.checked.clone()).collect();
    let site = BoardSite::new(&config, &entries, &checked);
    let mut pages = BTreeMap::new();
    let written: Result<(), Infallible> = site.write(&mut |file| {
        pages.insert(file.path, file.text);
        Ok(())
    });
    written.unwrap();
    pages
}

/// Returns the values of `href` attributes.
fn links(page: &str) -> Vec<&str> {
    let pieces = page.split(" href=\"").skip(1);
    pieces
        .map(|piece| piece.split('"').next().unwrap())
        .collect()
}

#[test]
fn two_builds_are_identical_and_every_link_leads_somewhere() {
    let pages = built(|_| {});
    assert_eq!(pages, built(|_| {}));
    // 5 pages of the board, 9 tables with their CSV, 26 submissions.
    assert_eq!(pages.len(), 5 + 2 * 9 + 26);
    for (path, page) in pages.iter().filter(|(path, _)| path.ends_with(".html")) {
        for link in links(page)
            .into_iter()
            .filter(|it| !it.starts_with(['#']) && *it != "data:,")
        {
            let target = match link.strip_prefix("../") {
                Some(rest) => rest.to_owned(),
                None => match path.rsplit_once('/') {
                    Some((directory, _)) => format!("{directory}/{link}"),
                    None => link.to_owned(),
                },
            };
            assert!(pages.contains_key(&target), "{path}: {link}");
        }
    }
}

#[test]
fn pages_show_places_years_and_the_command() {
    let pages = built(|_| {});
    let table = &pages["tables/netapp-postmark-1.html"];
    assert!(table.contains("pgmeter paper run netapp-postmark-1 --target DIR"));
    // TMPFS and U5+TMPFS both have 2000 transactions per second.
    assert!(
        table.contains("Places 1 and 2 cannot be told apart."),
        "{table}"
    );
    assert!(table.contains("data-year=\"1997\"") && table.contains("data-year=\"1999\""));
    let page = &pages["submissions/netapp-ufs.html"];
    assert!(
        page.contains("19th of 21 by transactions/s (36), between"),
        "{page}"
    );
    assert!(pages["years.html"].contains("<circle"));
    let csv = &pages["tables/netapp-postmark-1.csv"];
    assert!(csv.starts_with("place_best,place_worst,submission,title,year,trust,n,ci95_low"));
    assert_eq!(csv.lines().count(), 22);
    let json: serde_json::Value = serde_json::from_str(&pages["board.json"]).unwrap();
    assert_eq!(json["tables"][2]["places"].as_array().unwrap().len(), 21);
}

#[test]
fn hostile_texts_are_harmless() {
    let hostile = format!(
        "</title><script>alert(1)</script>\u{202e}\u{1b}[2J{}",
        "x".repeat(10_000)
    );
    let pages = built(|submission| {
        submission.info.title.clone_from(&hostile);
        submission.info.system = Some(hostile.clone());
        submission.info.note = Some(hostile.clone());
        submission.info.submitted = Some("2026-11-30".to_owned());
        submission
            .info
            .answers
            .insert("trust".to_owned(), hostile.clone());
    });
    for (path, page) in &pages {
        assert!(!page.contains("<script>alert"), "{path}");
        assert!(
            !page.contains(['\u{202e}', '\u{1b}']) || path.ends_with(".csv"),
            "{path}"
        );
        assert!(
            !page.contains(&"x".repeat(5000)) || path.ends_with("board.json"),
            "{path}"
        );
    }
}
