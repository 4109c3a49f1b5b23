mod forged;
mod imported;

use super::*;
use crate::{SubmissionTexts, new_board};

fn published() -> Vec<CheckedSubmission> {
    let files = new_board(None, false);
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path);
        file.map(|file| file.text.as_str())
    };
    let config = BoardConfig::read("board.toml", text("board.toml").unwrap()).unwrap();
    let mut checker = Checker::new(&config, Timestamp::now());
    let slugs = files.iter().filter_map(|file| {
        let rest = file.path.strip_prefix("submissions/")?;
        rest.strip_suffix("/submission.toml")
    });
    let checked = slugs.map(|slug| {
        let path = |file: &str| format!("submissions/{slug}/{file}");
        let texts = SubmissionTexts {
            slug,
            info: text(&path("submission.toml")).unwrap(),
            record: None,
            figures: text(&path("figures.toml")),
        };
        checker.check(&Submission::read(texts).unwrap())
    });
    checked.collect()
}

/// Findings as `title table rule`, sorted.
fn shown(checked: &[CheckedSubmission], rule: &str) -> Vec<String> {
    let found = checked.iter().flat_map(|it| {
        let findings = it.findings.iter().filter(|found| found.rule == rule);
        findings.map(|found| {
            let table = found.place.trim_start_matches("netapp-postmark-");
            format!("{} {table}", it.title)
        })
    });
    let mut found: Vec<String> = found.collect();
    found.sort();
    found
}

#[test]
fn the_published_rows_get_their_known_verdicts() {
    let checked = published();
    let verdicts: Vec<(&str, &PoolVerdict)> = checked
        .iter()
        .flat_map(|it| it.pools.iter().map(|verdict| (it.title.as_str(), verdict)))
        .collect();
    assert_eq!(verdicts.len(), 75);
    assert!(
        checked
            .iter()
            .all(|it| !it.is_refused() && it.trust == TrustLevel::Published)
    );
    let flagged = ["TMPFS 1", "TMPFS 2", "TMPFS 3", "2xP3+SOFT 3"];
    for (title, verdict) in &verdicts {
        let is_new = ["PBG3", "PBG4", "Compaq"]
            .iter()
            .any(|it| title.starts_with(it));
        let table = verdict.table.trim_start_matches("netapp-postmark-");
        let expected = match () {
            () if flagged.contains(&format!("{title} {table}").as_str()) => None,
            () if is_new => Some(PoolGeneration::Twister),
            () => Some(PoolGeneration::Congruential),
        };
        assert_eq!(verdict.generation, expected, "{title} {verdict:?}");
    }
    let mut expected = flagged.map(str::to_owned);
    expected.sort();
    assert_eq!(shown(&checked, "P2"), expected);
    assert_eq!(shown(&checked, "P4"), ["2xP3+SOFT 1", "PBG4/HFS+ 1"]);
    let not_whole = [
        "2xP3+MFS 1",
        "2xP3+SOFT 1",
        "P3+DPT 1",
        "U5+TMPFS 1",
        "U5+TMPFS 3",
        "U5+TMPFS 4",
    ];
    assert_eq!(shown(&checked, "P3"), not_whole);
    // Both systems of the LFS page print sums of 32-bit floats, and their counts are right.
    assert_eq!(shown(&checked, "P5").len(), 2);
    assert!(shown(&checked, "P1").is_empty());
    let all = checked.iter().flat_map(|it| &it.findings);
    assert_eq!(all.count(), 4 + 2 + 6 + 2);
    let seconds = verdicts
        .iter()
        .find(|(title, it)| *title == "PBG4/HFS+" && it.table.ends_with('1'));
    assert_eq!(seconds.unwrap().1.seconds, Some(497));
}
