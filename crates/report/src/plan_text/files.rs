//! Describes work on many files.

use units::format::size;

use plan::Cell;
use plan::program::Program;

/// The sentences about a cell's files and work, in the order of the work.
pub(super) fn sentences(cell: &Cell, program: &Program) -> Vec<String> {
    let mut sentences = of_program(program);
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    let bytes = spans.fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes));
    sentences.push(format!("the files take up to {} at once", size(bytes)));
    sentences
}

/// Heading above the sentences.
pub(super) fn heading(cell: &Cell, program: &Program) -> String {
    match &cell.access_spec {
        Some(title) if program.pool.is_some() => format!("files of {title}"),
        _ => "files, and the work on them".to_owned(),
    }
}

fn of_program(program: &Program) -> Vec<String> {
    let mut sentences = program.words();
    if program.space_needed().is_growing {
        let sentence = "files grow as long as a phase lasts; it is counted as one round";
        sentences.push(sentence.to_owned());
    }
    sentences
}
