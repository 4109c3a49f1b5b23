//! Wording that reads as translated, in comments and messages outside of tests.

use super::TidyFinding;
use super::source::SourceFile;
use super::spelling::has_word;

/// Phrases in lower case, each a first word with its next words, and what to write instead. A
/// phrase of one word has an empty list.
const PHRASES: &[(&str, &[&str], &str)] = &[
    (
        "behind",
        &[
            "each", "the", "it", "them", "one", "so", "a", "every", "what",
        ],
        "`after`",
    ),
    ("is", TOLD, REPORTS),
    ("are", TOLD, REPORTS),
    ("was", TOLD, REPORTS),
    ("were", TOLD, REPORTS),
    ("be", TOLD, REPORTS),
    ("being", TOLD, REPORTS),
    ("tell", OF_WHAT, "`report` or `show`"),
    ("tells", OF_WHAT, "`reports` or `shows`"),
    (
        "so",
        &["many", "much", "long", "often"],
        "`number of` or `at most`",
    ),
    ("as it", IN_ORDER, "`in order` or `unchanged`"),
    ("as they", IN_ORDER, "`in order` or `unchanged`"),
    ("goes", &["on"], "`continues`"),
    ("whoever", &[], "who it is"),
    ("by", &["itself", "themselves"], "`alone` or the actor"),
    ("beside", &[], "`next to` or `in addition to`"),
    ("besides", &[], "`next to` or `in addition to`"),
    ("there and", &["back"], "`alternately` or `round trip`"),
    ("what is", PARTICIPLES, NOUN),
    ("what was", PARTICIPLES, NOUN),
    ("what are", PARTICIPLES, NOUN),
    ("those", &["of"], "the noun that names them"),
    ("in the place", &["of"], "`instead of`"),
    ("of its", &["own"], "`its own` or `separate`"),
    ("of their", &["own"], "`its own` or `separate`"),
    ("come", &["to"], "the verb for it"),
    ("comes", &["to"], "the verb for it"),
];
const TOLD: &[&str] = &["told"];
const REPORTS: &str = "who reports or prints it";
const OF_WHAT: &[&str] = &["of", "that", "what", "how", "which", "whether"];
const IN_ORDER: &[&str] = &["come", "comes", "stand", "stands"];
const PARTICIPLES: &[&str] = &["there", "said", "asked"];
const NOUN: &str = "the noun that names it";

/// Checks all comments and messages.
pub fn check(sources: &[SourceFile], findings: &mut Vec<TidyFinding>) {
    let phrases = phrases();
    findings.extend(sources.iter().flat_map(|it| telltale_lines(it, &phrases)));
}

fn telltale_lines(file: &SourceFile, phrases: &[(String, &str)]) -> Vec<TidyFinding> {
    // Both files quote the phrases.
    let mut own = ["tidy/wording.rs", "tidy/exceptions.rs"].iter();
    let is_own = own.any(|path| file.path.ends_with(path));
    let mut is_inside = false;
    let lines = file.text.lines().enumerate().map(|(index, line)| {
        let (prose, is_open) = prose(line, is_inside);
        // A backslash continues a literal on the next line.
        is_inside = is_open && line.ends_with('\\');
        (index, prose)
    });
    lines
        .filter(|(index, _)| !is_own && !file.is_test_line(index + 1))
        .filter_map(|(index, prose)| {
            let mut phrases = phrases.iter();
            let (phrase, instead) = phrases.find(|(phrase, _)| has_phrase(&prose, phrase))?;
            Some(TidyFinding {
                rule: "wording",
                path: file.path.clone(),
                line: index + 1,
                message: format!("`{phrase}` reads as translated; write {instead}"),
            })
        })
        .collect()
}

/// All phrases in full.
fn phrases() -> Vec<(String, &'static str)> {
    let all = PHRASES.iter().flat_map(|(first, next, instead)| {
        let alone = next.is_empty().then(|| (*first).to_owned());
        let phrases = next.iter().map(move |next| format!("{first} {next}"));
        phrases.chain(alone).map(|phrase| (phrase, *instead))
    });
    all.collect()
}

/// `true` if a text of lower-case letters has the phrase. `so many that` and `so long as` are plain
/// English.
fn has_phrase(text: &str, phrase: &str) -> bool {
    if !phrase.starts_with("so ") || !has_word(text, phrase) {
        return has_word(text, phrase);
    }
    let plain = ["that", "as"].map(|next| format!("{phrase} {next}"));
    let rest = plain
        .iter()
        .fold(text.to_owned(), |text, it| text.replace(it, ""));
    has_word(&rest, phrase)
}

/// What people read of a line, in lower case: its comment, or its string literals. `is_inside` is
/// `true` if the line begins within a literal. Also returns whether the next one would.
fn prose(line: &str, mut is_inside: bool) -> (String, bool) {
    let line = line.trim().to_lowercase();
    if !is_inside && line.starts_with("//") {
        return (line, false);
    }
    let mut prose = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_inside => {
                // An escaped quote does not end the literal.
                letters.next();
            }
            '"' => {
                is_inside = !is_inside;
                // Words of two neighboring literals must not form a phrase.
                prose.push('\n');
            }
            _ if is_inside => prose.push(letter),
            _ => {}
        }
    }
    (prose, is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let file = SourceFile::parse("crates/a/src/lib.rs", text).unwrap();
        telltale_lines(&file, &phrases())
            .into_iter()
            .map(|it| it.message)
            .collect()
    }

    #[test]
    fn comments_and_messages_are_read_but_code_and_tests_are_not() {
        let comment = words("/// So many files are made.\nfn a() {}");
        assert!(comment[0].starts_with("`so many`"), "{comment:?}");
        let message = words("fn a() { print(\"it goes on\"); }");
        assert!(message[0].ends_with("write `continues`"), "{message:?}");
        let message = words("fn a() { print(\"first \\\n it goes on\"); }");
        assert!(message[0].ends_with("write `continues`"), "{message:?}");
        let code = words("fn a() { print!(\"first \\\n last\", goes on, \"\"); }");
        assert!(code.is_empty(), "{code:?}");
        assert!(words("fn goes_on() { let besides = 1; }").is_empty());
        assert!(words("#[cfg(test)]\nmod tests { /* */ const A: &str = \"goes on\"; }").is_empty());
    }

    #[test]
    fn longer_words_and_plain_english_are_left_alone() {
        assert!(words("// It runs so long that it ends; those offered; besieged.\n").is_empty());
        assert!(words("fn a() { print(\"a \\\"quote\\\" b\"); let goes_on = 1; }").is_empty());
    }
}
