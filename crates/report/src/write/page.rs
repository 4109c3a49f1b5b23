//! Renders a report as an HTML page.

use maud::{Markup, html};

use crate::document::{Block, Document, DocumentPart, Level, TextLine};
use crate::html::{below_heading, pairs_below_heading, sentence, shell};
use crate::styled::Style;

/// Returns the self-contained page.
pub fn write(document: &Document) -> String {
    let linked = document.parts.iter().filter(|part| !part.id.is_empty());
    let links = html! {
        @for part in linked {
            // The navigation has little room, and the rest of a heading only explains its start.
            @let name = part.heading.split(':').next().unwrap_or_default();
            a href={ "#" (part.id) } { (sentence(name)) }
        }
    };
    let body = html! {
        header {
            h1 { (sentence(&document.title)) }
            (head(&document.head))
        }
        main #content { (parts(&document.parts)) }
    };
    shell(&format!("{} · pgmeter", document.title), &links, &body)
}

/// Returns the blocks below the title.
pub fn head(blocks: &[Block]) -> Markup {
    html! {
        @for block in blocks {
            @match block {
                Block::Paragraphs(lines) => {
                    @for line in lines {
                        @match line.style {
                            None => { p.where { (sentence(&line.text)) } }
                            Some(_) => { (paragraph(line)) }
                        }
                    }
                }
                Block::List(lines) if lines.iter().all(|it| it.style.is_none()) => {
                    @let (facts, remarks) = apart(lines);
                    @if !facts.is_empty() {
                        dl.facts {
                            @for (label, text) in facts {
                                div { dt { (label) } dd { (sentence(text)) } }
                            }
                        }
                    }
                    @for remark in remarks { p.remark { (sentence(remark)) } }
                }
                _ => { (one(block, "")) }
            }
        }
    }
}

/// Returns the parts in order.
pub fn parts(parts: &[DocumentPart]) -> Markup {
    html! {
        @for part in parts.iter().filter(|part| !part.is_empty()) {
            section id=[Some(&part.id).filter(|id| !id.is_empty())] {
                @if !part.heading.is_empty() {
                    @match part.level {
                        Level::Part => { h2 { (sentence(&part.heading)) } }
                        Level::Section => { h3 { (sentence(&part.heading)) } }
                    }
                }
                @for block in part.blocks.iter().filter(|block| !block.is_empty()) {
                    (one(block, &part.heading))
                }
            }
        }
    }
}

fn one(block: &Block, heading: &str) -> Markup {
    match block {
        Block::Paragraphs(lines) => html! { @for line in lines { (paragraph(line)) } },
        Block::List(lines) if lines.iter().all(|it| it.style.is_some()) => doubts(lines),
        Block::List(lines) => {
            let (facts, items) = apart(lines);
            html! {
                (pairs_below_heading(&facts, heading))
                @if !items.is_empty() {
                    ul { @for item in items { li { (sentence(item)) } } }
                }
            }
        }
        Block::Table(table) => below_heading(table, heading),
        Block::Markup(markup) => markup.clone(),
    }
}

fn paragraph(line: &TextLine) -> Markup {
    html! {
        @match line.style {
            Some(Style::Bold) => { p.lead { (sentence(&line.text)) } }
            Some(Style::Red) => { p role="alert" { strong { (sentence(&line.text)) } } }
            _ => { p { (sentence(&line.text)) } }
        }
    }
}

/// Returns a list of failures and warnings.
fn doubts(lines: &[TextLine]) -> Markup {
    html! {
        @if !lines.is_empty() {
            section.warnings aria-label="Reasons to doubt" {
                h2 { "Reasons to doubt" }
                ul {
                    @for line in lines {
                        @let is_severe = line.style == Some(Style::Red);
                        li.severe[is_severe].alarm[is_severe] { (sentence(&line.text)) }
                    }
                }
            }
        }
    }
}

/// Separates labeled lines from the others.
fn apart(lines: &[TextLine]) -> (Vec<(&str, &str)>, Vec<&str>) {
    let (labeled, others): (Vec<&TextLine>, Vec<&TextLine>) =
        lines.iter().partition(|line| !line.label.is_empty());
    let facts = labeled.iter().map(|line| (&*line.label, &*line.text));
    (
        facts.collect(),
        others.iter().map(|line| &*line.text).collect(),
    )
}
