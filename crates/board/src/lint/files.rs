//! Rules about `submission.toml` and hashes.

use super::BoardRule;
use super::rule::FindingList;
use crate::work::works;
use crate::{BoardConfig, RULES_EDITION, Submission, SubmittedResult, is_slug};

/// Maximum length of a title, a name or a license, in characters.
const NAME_CHARS_MAX: usize = 200;
/// Maximum length of another text, in characters.
const TEXT_CHARS_MAX: usize = 4000;

/// Checks the texts, versions and hashes of a submission.
pub(super) fn check(submission: &Submission, config: &BoardConfig, found: &mut FindingList) {
    check_texts(submission, found);
    if config.rules_edition != RULES_EDITION {
        let expected = format!("edition {RULES_EDITION} of the rules, which this version checks");
        let actual = format!("edition {} in board.toml", config.rules_edition);
        found.add(BoardRule::Versions, "board.toml", expected, actual);
    }
    let SubmittedResult::Record { record, sha256 } = &submission.result else {
        return;
    };
    let version = &record.pgmeter.version;
    let is_accepted = |accepted: &String| version.starts_with(accepted.as_str());
    if !config.program_versions.is_empty() && !config.program_versions.iter().any(is_accepted) {
        let expected = format!(
            "a version that begins with {}",
            config.program_versions.join(" or ")
        );
        found.add(
            BoardRule::Versions,
            "record.json",
            expected,
            version.clone(),
        );
    }
    let Some(facts) = &submission.info.record else {
        let expected = "a table `record` in submission.toml".to_owned();
        found.add(
            BoardRule::Hashes,
            "submission.toml",
            expected,
            "none".to_owned(),
        );
        return;
    };
    let mut equal = |what: &str, expected: &str, actual: &str| {
        if expected != actual {
            let [expected, actual] = [expected, actual].map(str::to_owned);
            found.add(BoardRule::Hashes, what, expected, actual);
        }
    };
    equal("sha256 of record.json", &facts.sha256, sha256);
    equal("id of the run", &facts.id, &record.id);
    equal(
        "hashes of the work",
        &facts.works.join(" "),
        &works(record).join(" "),
    );
}

fn check_texts(submission: &Submission, found: &mut FindingList) {
    let info = &submission.info;
    if !is_slug(&submission.slug) {
        let expected = "a directory name of small letters, digits and hyphens".to_owned();
        found.add(
            BoardRule::Texts,
            "directory",
            expected,
            submission.slug.clone(),
        );
    }
    for (what, text) in [
        ("title", &info.title),
        ("submitter", &info.submitter),
        ("license", &info.license),
    ] {
        let length = text.chars().count();
        if text.trim().is_empty() || length > NAME_CHARS_MAX {
            let expected = format!("1 to {NAME_CHARS_MAX} characters");
            found.add(
                BoardRule::Texts,
                what,
                expected,
                format!("{length} characters"),
            );
        }
    }
    let declared = &info.declared;
    let others = [
        ("system", &info.system),
        ("source", &info.source),
        ("note", &info.note),
        ("declared.errors", &declared.errors),
        ("declared.cache", &declared.cache),
        ("declared.server", &declared.server),
        ("year", &info.year),
    ];
    let others = others
        .into_iter()
        .filter_map(|(what, text)| Some((what, text.as_ref()?)));
    let answers = info.answers.iter().map(|(key, text)| (key.as_str(), text));
    for (what, text) in others.chain(answers) {
        let length = text.chars().count();
        if length > TEXT_CHARS_MAX {
            let expected = format!("at most {TEXT_CHARS_MAX} characters");
            found.add(
                BoardRule::Texts,
                what,
                expected,
                format!("{length} characters"),
            );
        }
    }
    let has_source = info.source.as_ref().is_some_and(|it| !it.trim().is_empty());
    if submission.record().is_none() && !has_source {
        let expected = "the publication of the figures".to_owned();
        found.add(BoardRule::Texts, "source", expected, "none".to_owned());
    }
}
