//! Writes a page for each made-up record: `cargo run -p report --example pages -- DIRECTORY`.

use std::path::PathBuf;

mod loads;
mod made_up;
#[path = "../../../results/tests/results/sample.rs"]
#[expect(dead_code, reason = "the tests use the rest of it")]
mod sample;

fn main() -> std::io::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    std::fs::create_dir_all(&directory)?;
    let loads = [
        ("steady", vec![loads::steady()]),
        ("curve", vec![loads::curve()]),
    ];
    for (name, records) in made_up::pages().into_iter().chain(loads) {
        std::fs::write(
            directory.join(format!("{name}.html")),
            report::html(&records),
        )?;
    }
    Ok(())
}
