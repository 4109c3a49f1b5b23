//! Writes a page for each made-up record: `cargo run -p report --example pages -- DIRECTORY`.

use std::path::PathBuf;

mod clusters;
mod first;
mod labs;
mod loads;
mod made_up;
mod odd;
mod runs;
#[path = "../../../results/tests/results/sample.rs"]
#[expect(dead_code, reason = "the tests use the rest of it")]
mod sample;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::create_dir_all(&directory)?;
    let runs = runs::pages().into_iter();
    let runs = runs.map(|(name, records)| (name, report::html(&records)));
    let summaries = [
        ("summary", first::quick()),
        ("summary-of-curve", loads::curve()),
        ("summary-of-mixed", odd::mixed()),
    ];
    let summaries = summaries.map(|(name, record)| {
        let page = report::render(&record, report::Format::Summary, report::Page::PLAIN);
        (name, page.to_string())
    });
    for (name, page) in runs.chain(labs::pages()).chain(summaries) {
        std::fs::write(directory.join(format!("{name}.html")), page)?;
    }
    Ok(())
}
