//! Command lines of all programs in the table of fronts: none panics, and no file name leads out of
//! the target. The first byte selects the program. The arguments follow, one per line. After a byte
//! of 0 comes the content of every file that they name.

#![no_main]

use front::{CommandLine, FRONTS, FileAccess, VirtualFiles};
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::{planned, reads_back, stays_below};

fuzz_target!(|bytes: &[u8]| {
    let Some((which, rest)) = bytes.split_first() else {
        return;
    };
    let front = &FRONTS[usize::from(*which) % FRONTS.len()];
    let mut parts = rest.splitn(2, |byte| *byte == 0);
    let line = String::from_utf8_lossy(parts.next().unwrap_or_default()).into_owned();
    let file = parts.next().unwrap_or_default();
    let arguments: Vec<String> = line.lines().map(str::to_owned).collect();
    let script = VirtualFiles {
        read: &|_| Ok(file.to_vec()),
        ..VirtualFiles::EMPTY
    };
    let line = CommandLine {
        files: FileAccess::scripted(script),
        memory_bytes: 1 << 30,
        ..CommandLine::of(&arguments)
    };
    if let Ok(work) = front.work(&line) {
        stays_below(&work.cells);
        reads_back(&work.cells);
        planned(&work.cells);
    }
});
