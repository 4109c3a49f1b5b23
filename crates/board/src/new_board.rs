//! The files of a new board.

use crate::published::{submissions, tables};
use crate::{BOARD_FORMAT, BoardConfig, RULES_EDITION};

/// A file to write, with its path below the board's directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFile {
    /// Path with `/` between its parts.
    pub path: String,
    /// Contents.
    pub text: String,
}

impl NewFile {
    pub(crate) fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}

const TITLE: &str = "Storage results";
const ABOUT: &str = "Results of many systems for the same work, from published tables and from \
                     everybody who measures.";

/// Returns the files of a new board. The published tables are its first entries, unless `is_empty`.
#[must_use]
pub fn new_board(title: Option<&str>, is_empty: bool) -> Vec<NewFile> {
    let config = BoardConfig {
        format: BOARD_FORMAT.to_owned(),
        title: title.unwrap_or(TITLE).to_owned(),
        about: Some(ABOUT.to_owned()),
        rules_edition: RULES_EDITION,
        program_versions: Vec::new(),
        pairs: Vec::new(),
        tables: if is_empty { Vec::new() } else { tables() },
    };
    let mut files = vec![
        NewFile::new("board.toml", config.text()),
        NewFile::new("README.md", include_str!("new_board/README.md")),
        NewFile::new(
            ".github/workflows/board.yml",
            include_str!("new_board/github.yml"),
        ),
        NewFile::new(".gitlab-ci.yml", include_str!("new_board/gitlab.yml")),
    ];
    for it in submissions().into_iter().filter(|_| !is_empty) {
        let name = |file: &str| format!("submissions/{}/{file}", it.slug);
        files.push(NewFile::new(name("submission.toml"), it.info.text()));
        files.push(NewFile::new(name("figures.toml"), it.figures.text()));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Submission, SubmissionTexts, SubmittedResult};

    #[test]
    fn a_new_board_can_be_read_and_has_every_published_row() {
        let files = new_board(None, false);
        let text = |path: &str| {
            files
                .iter()
                .find(|file| file.path == path)
                .unwrap()
                .text
                .as_str()
        };
        let config = BoardConfig::read("board.toml", text("board.toml")).unwrap();
        assert_eq!(config.tables.len(), 9);
        let mut rows = 0;
        let infos = files
            .iter()
            .filter(|file| file.path.ends_with("/submission.toml"));
        for info in infos {
            let slug = info.path.split('/').nth(1).unwrap();
            let texts = SubmissionTexts {
                slug,
                info: &info.text,
                record: None,
                figures: Some(text(&format!("submissions/{slug}/figures.toml"))),
            };
            let submission = Submission::read(texts).unwrap();
            let SubmittedResult::Figures(figures) = &submission.result else {
                unreachable!()
            };
            for row in &figures.rows {
                let table = config.table(&row.table).unwrap();
                assert!(row.value(&table.rank_by).is_some(), "{slug} {}", row.table);
                for column in row.values.keys() {
                    assert!(table.column(column).is_some(), "{slug} {column}");
                }
            }
            rows += figures.rows.len();
        }
        // 75 systems of PostMark, 2 of LFS in two tables, 3 of the book in three tables.
        assert_eq!(rows, 75 + 2 * 2 + 3 * 3);
    }

    #[test]
    fn an_empty_board_has_no_tables_and_keeps_its_title() {
        let files = new_board(Some("Tests \"here\""), true);
        let config = BoardConfig::read("board.toml", &files[0].text).unwrap();
        assert_eq!(
            (config.title.as_str(), config.tables.len()),
            ("Tests \"here\"", 0)
        );
        assert_eq!(files.len(), 4);
    }

    #[test]
    fn mistakes_in_board_toml_name_their_line_and_the_value() {
        let board = new_board(None, false).remove(0);
        let broken = board.text.replacen("rank_by", "rank_bye", 1);
        let error = BoardConfig::read("board.toml", &broken)
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("board.toml:") && error.contains("rank_bye"),
            "{error}"
        );
        let broken = board
            .text
            .replacen("paper = \"lfs-postmark\"", "paper = \"lfs-postmrk\"", 1);
        let error = BoardConfig::read("board.toml", &broken).unwrap_err();
        assert!(error.to_string().contains("`lfs-postmrk`"), "{error}");
        assert_eq!(error.help(), "did you mean `lfs-postmark`?");
    }
}
