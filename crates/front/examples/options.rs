//! Writes docs/fio.md from the table of options.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::write(docs.join("fio.md"), front::fio::markdown())
}
