//! Compresses the style and the scripts of pages into the program, with NUL bytes between them.

use std::fs;
use std::io::{Result, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

const DIRECTORY: &str = "src/html/";

const STYLE: &[&str] = &["vendor/uPlot.min.css", "page/style.css"];
const LIBRARY: &[&str] = &["vendor/uPlot.iife.min.js"];
const CHARTS: &[&str] = &[
    "page/format.js",
    "page/palette.js",
    "page/axes.js",
    "page/plot.js",
    "page/figure.js",
];
const PAGE: &[&str] = &["page/page.js"];

fn main() -> Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={DIRECTORY}");
    let out = std::env::var_os("OUT_DIR").ok_or(std::io::ErrorKind::NotFound)?;
    let file = fs::File::create(Path::new(&out).join("shell.deflate"))?;
    let mut encoder = DeflateEncoder::new(file, Compression::best());
    // The library and the charts are separate, because `pgmeter serve` loads them as a module.
    for names in [STYLE, LIBRARY, CHARTS, PAGE] {
        write!(encoder, "{}\0", read(names)?)?;
    }
    encoder.finish()?.flush()
}

fn read(names: &[&str]) -> Result<String> {
    let read = |name: &&str| fs::read_to_string(Path::new(DIRECTORY).join(name));
    names.iter().map(read).collect()
}
