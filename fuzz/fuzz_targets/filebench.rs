//! filebench's scripts: no text makes reading or planning panic, no name leads out, and what was
//! read can be written as TOML and read again.

#![no_main]

use front::FrontFile;
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::{planned, reads_back, stays_below};

fuzz_target!(|bytes: &[u8]| {
    let file = FrontFile::new("fuzz.f", bytes);
    let front = front::find("filebench").expect("the front is in the table");
    let reader = front.file.as_ref().expect("it reads files");
    if let Ok(work) = reader.read(&file) {
        stays_below(&work.cells);
        reads_back(&work.cells);
        planned(&work.cells);
    }
});
