//! PostMark scripts: no text makes reading or planning panic, and what was read can be written as
//! TOML and read again.

#![no_main]

use description::{Overrides, read_toml, to_toml};
use front::{FrontFile, LoadOptions, file_kinds, load};
use libfuzzer_sys::fuzz_target;
use plan::facts::SystemFacts;
use planning::plan;
use report::plan_text;

fuzz_target!(|bytes: &[u8]| {
    let Some((flags, script)) = bytes.split_first() else {
        return;
    };
    let options = LoadOptions {
        kind: file_kinds().find(|it| it.name == "postmark"),
        strict: flags & 1 != 0,
        has_target: flags & 2 != 0,
    };
    let file = FrontFile {
        options,
        ..FrontFile::new("fuzz.pm", script)
    };
    let Ok(loaded) = load(&file) else {
        return;
    };
    for workload in &loaded.cells {
        let text = to_toml(workload).expect("it says what a file says");
        let again = read_toml("again.toml", &text).expect("what was written reads back");
        assert_eq!(&again, workload, "{text}");
    }
    if let Ok(planned) = plan(&loaded.cells, &Overrides::new(), &SystemFacts::default()) {
        let _ = plan_text(&planned);
    }
});
