//! Documents written for terminals, as Markdown and as pages.

mod markdown;
pub mod page;
mod terminal;

use crate::document::{Document, Medium};
use crate::page::Page;
use crate::styled::Styled;

/// A document in one of its forms, with a final line break.
pub fn write(document: &Document, medium: Medium, page: Page) -> Styled {
    match medium {
        Medium::Terminal => terminal::write(document, page),
        Medium::Markdown => markdown::write(document).into(),
        Medium::Page => page::write(document).into(),
    }
}
