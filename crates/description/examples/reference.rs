//! Writes docs/workload.md and docs/workload.schema.json from the types.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::write(docs.join("workload.md"), description::reference::markdown())?;
    std::fs::write(
        docs.join("workload.schema.json"),
        description::reference::schema_of_types(),
    )
}
