//! What a cell does with many files, for people.

use units::format::size;

use plan::Cell;
use plan::program::Program;

/// The sentences about a cell's files, what is done first.
pub(super) fn sentences(cell: &Cell, program: &Program) -> Vec<String> {
    let mut sentences = of_program(program);
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    let bytes = spans.fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes));
    sentences.push(format!("the files take up to {} at once", size(bytes)));
    sentences
}

/// What stands above the sentences.
pub(super) fn heading(cell: &Cell, program: &Program) -> String {
    match &cell.access_spec {
        Some(title) if program.pool.is_some() => format!("files as {title} has them"),
        _ => "files, and what is done to them".to_owned(),
    }
}

fn of_program(program: &Program) -> Vec<String> {
    let mut sentences = program.words();
    if program.space_needed().is_growing {
        let sentence = "files grow for as long as a phase lasts, which is counted as one round";
        sentences.push(sentence.to_owned());
    }
    sentences
}
