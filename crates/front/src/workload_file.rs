//! pgmeter's own workload files.

use description::load;
use plan::{Diagnostic, printable};

use crate::file::{FileFront, FrontFile};
use crate::work::FrontWork;

/// Number of lines in which a line of TOML is searched.
const LINES_MAX: usize = 10_000;
/// Maximum length of a quoted line, in characters.
const QUOTED_CHARS_MAX: usize = 60;

/// One workload in TOML: any text without zero bytes that no other kind matches.
pub(crate) const TOML: FileFront = FileFront {
    name: "toml",
    kind: "One workload in TOML",
    detect: |bytes| text(bytes).is_some(),
    extensions: &[],
    read,
};

/// Several workloads in one TOML file.
pub(crate) const PACK: FileFront = FileFront {
    name: "pack",
    kind: "Several workloads in one TOML file",
    detect: |bytes| text(bytes).is_some_and(has_part),
    extensions: &[],
    read,
};

fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0'))
}

fn has_part(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.trim_start().starts_with("[[part"))
}

fn read(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    file.refuse_empty()?;
    let Ok(text) = std::str::from_utf8(file.bytes) else {
        return Err(Diagnostic::error(file.name, "the file is not UTF-8 text")
            .help("save it as UTF-8, or force its kind with `--as icf`"));
    };
    Ok(FrontWork::new(load(file.name, text)?))
}

/// The error about a text that has nothing of TOML, such as a table of numbers; `None` if some line
/// may be TOML, because the reader then explains the mistake. `others` names the other kinds.
pub(crate) fn other_text_error(file: &FrontFile<'_>, others: &[&str]) -> Option<Diagnostic> {
    let text = text(file.bytes)?;
    let lines = text.lines().map(str::trim).zip(1..).take(LINES_MAX);
    let mut lines = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
    let (first, number) = lines.clone().next()?;
    if lines.any(|(line, _)| may_be_toml(line)) {
        return None;
    }
    let shown: String = first.chars().take(QUOTED_CHARS_MAX).collect();
    let rest = if shown.len() < first.len() { "…" } else { "" };
    let shown = printable(&shown);
    let message =
        format!("this is not a workload: no line is TOML, and the first is `{shown}{rest}`");
    let help = format!(
        "name a workload in TOML (`pgmeter show --template` prints one to start from), or a file \
         of one of these kinds: {}; `pgmeter check` also reads traces, and `pgmeter runs import` \
         results",
        others.join(", ")
    );
    Some(
        Diagnostic::error(file.name, message)
            .at(number, 1)
            .help(help),
    )
}

/// `true` for a table's header, and for a key with a value.
fn may_be_toml(line: &str) -> bool {
    if line.starts_with('[') {
        return true;
    }
    let is_bare = |key: &str| {
        let mut letters = key.chars();
        // An option of a command, such as `--bs=4k`, is no key, although TOML would allow it.
        !key.is_empty()
            && !key.starts_with('-')
            && letters.all(|it| it.is_ascii_alphanumeric() || "_-.".contains(it))
    };
    let key = line.split_once('=').map(|(key, _)| key.trim());
    key.is_some_and(|key| key.starts_with(['"', '\'']) || is_bare(key))
}

#[cfg(test)]
mod tests {
    use crate::{FrontFile, detect, load};

    fn refusal(file: &str, bytes: &[u8]) -> String {
        load(&FrontFile::new(file, bytes)).unwrap_err().to_string()
    }

    #[test]
    fn a_text_of_another_kind_is_quoted_and_the_kinds_are_named() {
        for (text, line, quoted) in [
            ("0.1,R,4096\n0.2,W,8192\n", 1, "`0.1,R,4096`"),
            ("# time, size\n\n1 2\n", 3, "`1 2`"),
            (
                "#!/bin/sh\nfio --rw=read --bs=4k\n",
                2,
                "`fio --rw=read --bs=4k`",
            ),
            ("{ \"a\": 1 }\n", 1, "`{ \"a\": 1 }`"),
            ("a\u{1b}[2J\n", 1, "`a\\u{1b}[2J`"),
        ] {
            let error = refusal("x.csv", text.as_bytes());
            let first =
                format!("this is not a workload: no line is TOML, and the first is {quoted}");
            assert!(error.contains(&first), "{error}");
            assert!(error.contains(&format!("--> x.csv:{line}:1")), "{error}");
            for other in [
                "Iometer configuration",
                "fio job file",
                "`pgmeter check` also reads",
            ] {
                assert!(error.contains(other), "{error}");
            }
        }
        let long = refusal("x", "1,".repeat(100_000).as_bytes());
        assert!(long.contains("…`") && long.len() < 1000, "{long}");
        // A mistake in TOML keeps its own error, and a file of comments that of an empty workload.
        for text in [
            "name = run\n1,2\n",
            "\"a b\" = 1 1\n",
            "[job]\nx\n",
            "# 1\n",
        ] {
            let error = refusal("x", text.as_bytes());
            assert!(!error.contains("no line is TOML"), "{error}");
        }
    }

    #[test]
    fn kinds_are_recognized_by_content() {
        for (text, kind) in [
            ("name = \"x\"\n", Some("toml")),
            ("\n  [[part]]\nuse = \"oltp\"\n", Some("pack")),
            ("Version 1.1.0 \r\n'TEST SETUP ====\r\n", Some("icf")),
            ("2006.07.27\n'test setup ==\n", Some("icf")),
            ("\u{feff}Version 1.1.0\n", Some("icf")),
            ("a\0b", None),
        ] {
            let found = detect("x", text.as_bytes()).map(|it| it.name);
            assert_eq!(found, kind, "{text:?}");
        }
    }

    #[test]
    fn empty_and_binary_files_are_refused() {
        assert_eq!(
            refusal("w.toml", b""),
            "error: the file is empty\n  --> w.toml\n\
             help: name a workload file, or choose a workload from `pgmeter list`"
        );
        assert_eq!(
            refusal("w.toml", b"\x7fELF\0\0"),
            "error: the file is binary, not a workload\n  --> w.toml\n\
             help: name a workload file, or choose a workload from `pgmeter list`"
        );
    }
}
