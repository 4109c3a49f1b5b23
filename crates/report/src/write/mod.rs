//! Renders reports for terminals, as Markdown and as pages.

pub mod markdown;
pub mod page;
mod terminal;

use crate::document::{Document, ReportMedium};
use crate::page::Page;
use crate::styled::Styled;

/// Renders a report for a medium, with a final line break.
pub fn write(document: &Document, medium: ReportMedium, page: Page) -> Styled {
    match medium {
        ReportMedium::Terminal => terminal::write(document, page),
        ReportMedium::Markdown => markdown::write(document).into(),
        ReportMedium::Page => page::write(document).into(),
    }
}
