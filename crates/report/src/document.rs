//! A report before rendering: blocks that the terminal, Markdown and pages show in their own ways.

use maud::Markup;

use crate::names::capital;
use crate::styled::Style;
use crate::table::Table;

/// Media of a report for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportMedium {
    /// Plain text, suitable for e-mail.
    Terminal,
    /// Markdown.
    Markdown,
    /// A single self-contained HTML page.
    Page,
}

/// A report made of blocks.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub title: String,
    /// Blocks below the title.
    pub head: Vec<Block>,
    pub parts: Vec<DocumentPart>,
}

/// Blocks below a heading.
#[derive(Debug, Default)]
pub(crate) struct DocumentPart {
    /// Heading; empty for a part without one.
    pub heading: String,
    /// Level of the heading. The title has level 1.
    pub level: Level,
    /// Anchor for the navigation of a page; empty for a part that the navigation omits.
    pub id: String,
    pub blocks: Vec<Block>,
}

/// Level of a heading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// Level 2 in Markdown and on pages.
    #[default]
    Part,
    /// Level 3 in Markdown and on pages.
    Section,
}

/// A block of a report.
#[derive(Debug)]
pub(crate) enum Block {
    /// Paragraphs, each starting on a new line.
    Paragraphs(Vec<TextLine>),
    /// Items of a list. Pages show labeled items as a table of facts, and styled items as warnings.
    List(Vec<TextLine>),
    Table(Table),
    /// Charts and other markup, shown only on pages.
    Markup(Markup),
}

/// A sentence.
#[derive(Debug, Default)]
pub(crate) struct TextLine {
    /// Topic of the sentence; may be empty. A label in backticks is shown as code.
    pub label: String,
    pub text: String,
    pub style: Option<Style>,
}

impl ReportMedium {
    /// Formats a heading. It starts with a capital letter except in plain text.
    pub(crate) fn heading(self, words: &str) -> String {
        match self {
            Self::Terminal => words.to_owned(),
            Self::Markdown | Self::Page => capital(words),
        }
    }
}

impl Document {
    /// Appends another report.
    pub fn append(&mut self, other: Self) {
        self.parts.push(DocumentPart {
            heading: other.title,
            blocks: other.head,
            ..DocumentPart::default()
        });
        // The title of the appended report is a part here, so its parts move one level down.
        let sections = other.parts.into_iter().map(|part| DocumentPart {
            level: Level::Section,
            ..part
        });
        self.parts.extend(sections);
    }
}

impl DocumentPart {
    /// Creates a part with a heading.
    pub fn new(heading: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            heading: heading.into(),
            blocks: blocks.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Creates a section with a heading.
    pub fn section(heading: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            level: Level::Section,
            ..Self::new(heading, blocks)
        }
    }

    /// Creates the last part of a report as text: its answer, where a terminal still shows it.
    /// Without an answer, the part is empty.
    pub fn verdict(blocks: impl IntoIterator<Item = Block>) -> Self {
        let part = Self::new("", blocks);
        match part.is_empty() {
            true => part,
            false => Self {
                heading: "verdict".to_owned(),
                ..part
            },
        }
    }

    /// Sets the anchor for the navigation of pages.
    pub fn at(self, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..self
        }
    }

    pub fn is_empty(&self) -> bool {
        // A heading without blocks is not empty: it may introduce the sections after it.
        self.heading.is_empty() && self.blocks.iter().all(Block::is_empty)
    }
}

impl Block {
    /// Creates one paragraph per line.
    pub fn paragraphs<L: Into<TextLine>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self::Paragraphs(lines.into_iter().map(Into::into).collect())
    }

    /// Creates a list with one item per line.
    pub fn list<L: Into<TextLine>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self::List(lines.into_iter().map(Into::into).collect())
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Paragraphs(lines) | Self::List(lines) => lines.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Markup(markup) => markup.0.is_empty(),
        }
    }
}

impl TextLine {
    /// Creates a sentence with a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style: Some(style),
            ..Self::default()
        }
    }

    /// Creates a sentence with a label.
    pub fn labeled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            style: None,
        }
    }
}

impl<T: Into<String>> From<T> for TextLine {
    fn from(text: T) -> Self {
        Self::labeled("", text)
    }
}
