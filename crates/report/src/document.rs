//! A report before it is written: blocks that a terminal, Markdown and pages show in their ways.

use maud::Markup;

use crate::names::capital;
use crate::styled::Style;
use crate::table::Table;

/// The forms of a report for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Lines of text, which can be pasted into a mail.
    Terminal,
    /// Markdown.
    Markdown,
    /// One page of HTML that needs nothing else.
    Page,
}

/// A report in blocks.
#[derive(Debug, Default)]
pub(crate) struct Document {
    pub title: String,
    /// Blocks below the title.
    pub head: Vec<Block>,
    pub parts: Vec<Part>,
}

/// Blocks below a heading.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// Empty for a part without a heading.
    pub heading: String,
    /// Level of the heading, below that of the title, which is 1.
    pub level: Level,
    /// Id that the navigation of a page leads to; empty for a part that it leaves out.
    pub id: String,
    pub blocks: Vec<Block>,
}

/// Level of a heading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Level {
    /// 2 in Markdown and on pages.
    #[default]
    Part,
    /// 3 there.
    Section,
}

/// A piece of a report.
#[derive(Debug)]
pub(crate) enum Block {
    /// Paragraphs, each on lines of its own.
    Paragraphs(Vec<Line>),
    /// Items of a list. Pages show labeled items as a table of facts, and styled ones as reasons
    /// to doubt.
    List(Vec<Line>),
    Table(Table),
    /// Charts and other markup, which pages alone show.
    Drawn(Markup),
}

/// A sentence.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// What it is about; empty for a sentence that needs no label. Code if it stands between
    /// backticks.
    pub label: String,
    pub text: String,
    pub style: Option<Style>,
}

impl Medium {
    /// A heading of plain words, with a capital unless it stands among lines of text.
    pub(crate) fn heading(self, words: &str) -> String {
        match self {
            Self::Terminal => words.to_owned(),
            Self::Markdown | Self::Page => capital(words),
        }
    }
}

impl Document {
    /// Adds another report below this one.
    pub fn append(&mut self, other: Self) {
        self.parts.push(Part {
            heading: other.title,
            blocks: other.head,
            ..Part::default()
        });
        let sections = other.parts.into_iter().map(|part| Part {
            level: Level::Section,
            ..part
        });
        self.parts.extend(sections);
    }
}

impl Part {
    /// Blocks below a heading.
    pub fn new(heading: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            heading: heading.into(),
            blocks: blocks.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Blocks below the heading of a section.
    pub fn section(heading: impl Into<String>, blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            level: Level::Section,
            ..Self::new(heading, blocks)
        }
    }

    /// The same with an id for the navigation of pages.
    pub fn at(self, id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..self
        }
    }

    pub fn is_empty(&self) -> bool {
        self.heading.is_empty() && self.blocks.iter().all(Block::is_empty)
    }
}

impl Block {
    /// Paragraphs, one for each line.
    pub fn paragraphs<L: Into<Line>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self::Paragraphs(lines.into_iter().map(Into::into).collect())
    }

    /// A list with an item for each line.
    pub fn list<L: Into<Line>>(lines: impl IntoIterator<Item = L>) -> Self {
        Self::List(lines.into_iter().map(Into::into).collect())
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Paragraphs(lines) | Self::List(lines) => lines.is_empty(),
            Self::Table(table) => table.rows.is_empty(),
            Self::Drawn(markup) => markup.0.is_empty(),
        }
    }
}

impl Line {
    /// A sentence in a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self {
            text: text.into(),
            style: Some(style),
            ..Self::default()
        }
    }

    /// A sentence with a label.
    pub fn labeled(label: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            text: text.into(),
            style: None,
        }
    }
}

impl<T: Into<String>> From<T> for Line {
    fn from(text: T) -> Self {
        Self::labeled("", text)
    }
}
