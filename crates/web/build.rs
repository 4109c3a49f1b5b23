//! Compresses the files of the page into the program. The data is a sequence of a name, a NUL byte,
//! a text and a NUL byte.

use std::fs;
use std::io::{Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=assets");
    let out = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    let mut files = Vec::new();
    for entry in fs::read_dir("assets")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        files.push((name.into_owned(), fs::read_to_string(&path)?));
    }
    // The order of a directory is arbitrary; equal files must give an equal program.
    files.sort();
    let file = fs::File::create(Path::new(&out).join("page.deflate"))?;
    let mut encoder = DeflateEncoder::new(file, Compression::best());
    for (name, text) in files {
        write!(encoder, "{name}\0{text}\0")?;
    }
    encoder.finish()?.flush()
}
