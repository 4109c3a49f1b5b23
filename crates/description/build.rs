//! Embeds the compressed schema of workload files in the program.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const SCHEMA: &str = "../../docs/workload.schema.json";

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    // The schema lies outside this package, so Cargo would not notice a change of it.
    println!("cargo::rerun-if-changed={SCHEMA}");
    let out = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&std::fs::read(SCHEMA)?)?;
    let file = Path::new(&out).join("workload.schema.deflate");
    std::fs::write(file, encoder.finish()?)
}
