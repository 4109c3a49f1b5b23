//! Renders a report as lines of text.

use crate::document::{Block, Document, TextLine};
use crate::page::Page;
use crate::styled::{Style, Styled, StyledLines};
use crate::wrap::wrap;

/// Indent of the continuation lines of a labeled sentence.
const INDENT: &str = "  ";

/// Returns the report for the width of the page, with a final line break.
pub fn write(document: &Document, page: Page) -> Styled {
    // Indented lines need room for text even on the narrowest page.
    let width = page.width.max(20);
    let mut lines = StyledLines::default();
    push_line(
        &mut lines,
        &TextLine::styled(&*document.title, Style::Bold),
        width,
    );
    push_blocks(&mut lines, &document.head, width);
    for part in document.parts.iter().filter(|part| !part.is_empty()) {
        lines.push("");
        if !part.heading.is_empty() {
            push_line(
                &mut lines,
                &TextLine::styled(&*part.heading, Style::Bold),
                width,
            );
        }
        push_blocks(&mut lines, &part.blocks, width);
    }
    lines.push("");
    let text = lines.into_text();
    if page.color { text } else { text.plain() }
}

fn push_blocks(lines: &mut StyledLines, blocks: &[Block], width: usize) {
    for block in blocks {
        match block {
            Block::Paragraphs(block) | Block::List(block) => {
                block.iter().for_each(|line| push_line(lines, line, width));
            }
            Block::Table(table) if table.rows.is_empty() => {}
            Block::Table(table) => lines.extend(table.lines(width)),
            Block::Markup(_) => {}
        }
    }
}

fn push_line(lines: &mut StyledLines, line: &TextLine, width: usize) {
    let painted = |piece: String| match line.style {
        Some(style) => Styled::new(piece, style),
        None => piece.into(),
    };
    if line.label.is_empty() {
        let texts = match line.style {
            // Failures may quote several lines of a program's output.
            Some(Style::Red) => line.text.lines().collect(),
            _ => vec![line.text.as_str()],
        };
        let pieces = texts.into_iter().flat_map(|text| wrap(text, width));
        lines.extend(pieces.map(painted));
        return;
    }
    let text = format!("{}: {}", line.label, line.text);
    let pieces = wrap(&text, width - INDENT.len()).into_iter().enumerate();
    lines.extend(pieces.map(|(index, piece)| {
        let indent = if index == 0 { "" } else { INDENT };
        Styled::from(indent).then(painted(piece))
    }));
}
