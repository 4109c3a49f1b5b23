//! Markdown for the summary of a job on GitHub (`GITHUB_STEP_SUMMARY`): the verdict, and all other
//! parts of the report folded.

use results::RunRecord;

use crate::VerdictPosition;
use crate::document::ReportMedium::Markdown;
use crate::model::{self, Model};
use crate::write::markdown;

/// Returns the report of a run.
pub fn render(record: &RunRecord) -> String {
    let model = Model::new(record);
    let document = model::document(&model, Markdown, VerdictPosition::First);
    // The verdicts come first.
    markdown::write_folded(&document, model.verdicts.len())
}
