//! dbench's load files: no text makes reading or planning panic, and no name leads out.

#![no_main]

use front::FrontFile;
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::{planned, stays_below};

fuzz_target!(|bytes: &[u8]| {
    let file = FrontFile::new("fuzz.txt", bytes);
    let front = front::find("dbench").expect("the front is in the table");
    let reader = front.file.as_ref().expect("it reads files");
    if let Ok(work) = reader.read(&file) {
        stays_below(&work.cells);
        planned(&work.cells);
    }
});
