//! The pages of a board's static site. Equal input gives equal bytes.

mod compare_page;
mod exports;
mod front;
mod submission_page;
mod table_page;
mod years;

use maud::{Markup, html};
use report::{site_policy, small_page};
use results::ImportRecord;

use crate::{
    BoardConfig, BoardRanking, CheckedSubmission, NewFile, Submission, SubmissionDescription,
};

pub use exports::SiteDocument;

/// Sorts and filters tables, and shows two submissions next to each other. All pages can be read
/// without it.
const SCRIPT: &str = include_str!("site.js");
/// Longest text that a page shows whole, in characters.
const TEXT_CHARS_MAX: usize = 4000;
/// Longest part of an original text that a page shows, in characters. The report has all of it.
const ORIGINAL_CHARS_MAX: usize = 10_000;
/// Longest title that a table shows whole, in characters.
const TITLE_CHARS_MAX: usize = 80;

/// A submission as the site shows it.
#[derive(Debug, Clone)]
pub struct SiteEntry {
    /// Verdicts and values.
    pub checked: CheckedSubmission,
    /// Contents of `submission.toml`.
    pub about: SubmissionDescription,
    /// Year of the measurement as text; empty if unknown.
    pub year: String,
    /// The output of another program; none for runs of pgmeter and for figures.
    pub import: Option<ShownImport>,
}

/// The output of another program, as a page shows it.
#[derive(Debug, Clone)]
pub struct ShownImport {
    /// Program and version.
    program: String,
    /// Beginning of each original text, and whether that is not all of it.
    texts: Vec<ShownText>,
}

/// The beginning of an original text.
#[derive(Debug, Clone)]
struct ShownText {
    name: String,
    beginning: String,
    is_cut: bool,
}

impl ShownImport {
    fn of(import: &ImportRecord) -> Self {
        let texts = import.sources.iter().map(|source| {
            let beginning: String = source.text.chars().take(ORIGINAL_CHARS_MAX).collect();
            ShownText {
                name: source.name.clone(),
                is_cut: beginning.len() < source.text.len(),
                beginning,
            }
        });
        Self {
            program: import.origin.title(),
            texts: texts.collect(),
        }
    }
}

impl SiteEntry {
    /// Keeps what the site shows of a submission. The record is not kept, because a board may have
    /// a thousand of them.
    #[must_use]
    pub fn of(submission: &Submission, checked: &CheckedSubmission) -> Self {
        Self {
            checked: checked.clone(),
            about: submission.info.clone(),
            year: submission.year(),
            import: submission.import().map(ShownImport::of),
        }
    }

    /// Returns the year as a number; `None` if unknown.
    fn year_number(&self) -> Option<u16> {
        let digits: Vec<char> = self.year.chars().collect();
        let mut groups = digits.windows(4);
        let year = groups.find(|it| it.iter().all(char::is_ascii_digit))?;
        year.iter().collect::<String>().parse().ok()
    }

    /// Returns the level of trust in words, with the program of an import.
    fn trust(&self) -> String {
        let level = self.checked.trust.name();
        let signed = if self.checked.is_signed {
            ", signed"
        } else {
            ""
        };
        let program = self.import.as_ref().map_or_else(String::new, |import| {
            format!(" of {}", short(&import.program, TITLE_CHARS_MAX))
        });
        format!("{level}{program}{signed}")
    }

    /// Returns the path of the page below the site's directory.
    fn path(&self) -> String {
        format!("submissions/{}.html", self.checked.slug)
    }
}

/// A board with its submissions, before it becomes pages.
pub struct BoardSite<'a> {
    config: &'a BoardConfig,
    entries: &'a [SiteEntry],
    rankings: Vec<BoardRanking<'a>>,
}

/// Receives the files of a site, one after the other.
pub type SiteWriter<'a, E> = &'a mut dyn FnMut(NewFile) -> Result<(), E>;

impl<'a> BoardSite<'a> {
    /// Ranks the submissions of a board. `checked` are the ones of `entries`, in the same order.
    #[must_use]
    pub fn new(
        config: &'a BoardConfig,
        entries: &'a [SiteEntry],
        checked: &'a [CheckedSubmission],
    ) -> Self {
        let tables = config.tables.iter();
        Self {
            config,
            entries,
            rankings: tables
                .map(|table| BoardRanking::of(table, checked))
                .collect(),
        }
    }

    /// Returns the security policy for a server of the site. It admits the scripts of its pages.
    #[must_use]
    pub fn policy() -> String {
        site_policy(SCRIPT)
    }

    /// Makes all files and passes each to `write`.
    ///
    /// # Errors
    /// Errors of `write`.
    pub fn write<E>(&self, write: SiteWriter<E>) -> Result<(), E> {
        write(NewFile::new("index.html", self.front()))?;
        write(NewFile::new("years.html", self.years()))?;
        write(NewFile::new("compare.html", self.compare_page()))?;
        write(NewFile::new("board.json", self.json()))?;
        write(NewFile::new("feed.xml", self.feed()))?;
        for ranking in &self.rankings {
            let name = &ranking.table.name;
            write(NewFile::new(
                format!("tables/{name}.html"),
                self.table_page(ranking),
            ))?;
            write(NewFile::new(
                format!("tables/{name}.csv"),
                self.csv(ranking),
            ))?;
        }
        for pair in &self.config.pairs {
            // A pair whose submission left the board has no page, and no link leads to it.
            if let Some(page) = self.pair_page(pair) {
                write(NewFile::new(pair.path(), page))?;
            }
        }
        for entry in self.entries {
            write(NewFile::new(entry.path(), self.submission_page(entry)))?;
        }
        Ok(())
    }

    fn entry(&self, slug: &str) -> Option<&SiteEntry> {
        // Entries are in the order of their names.
        let found = self
            .entries
            .binary_search_by(|it| it.checked.slug.as_str().cmp(slug));
        found.ok().map(|index| &self.entries[index])
    }

    /// Returns a page. `root` leads from its directory to the front page's.
    fn page(&self, title: &str, root: &str, body: &Markup) -> String {
        let links = html! {
            a href={ (root) "index.html" } { "Tables" }
            a href={ (root) "years.html" } { "By year" }
            a href={ (root) "compare.html" } { "Compare" }
            a href={ (root) "feed.xml" } { "Feed" }
        };
        let title = match title.is_empty() {
            true => short(&self.config.title, TITLE_CHARS_MAX),
            false => {
                let title = short(title, TITLE_CHARS_MAX);
                format!("{title} · {}", short(&self.config.title, TITLE_CHARS_MAX))
            }
        };
        small_page(&title, &links, body, SCRIPT)
    }
}

/// Returns a text, or its beginning with an ellipsis if it is too long.
fn short(text: &str, chars_max: usize) -> String {
    match text.chars().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars_max - 1).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests;
