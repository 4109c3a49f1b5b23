//! filebench's scripts: no text makes reading or planning panic.

#![no_main]

use front::FrontFile;
use libfuzzer_sys::fuzz_target;
use workload::facts::SystemFacts;
use workload::{Overrides, plan, plan_text};

fuzz_target!(|bytes: &[u8]| {
    let file = FrontFile {
        name: "fuzz.f",
        bytes,
    };
    let front = front::find("filebench").expect("the front is in the table");
    let reader = front.file.as_ref().expect("it reads files");
    let Ok(work) = front.read(reader, &file) else {
        return;
    };
    if let Ok(planned) = plan(&work.cells, &Overrides::new(), &SystemFacts::default()) {
        let _ = plan_text(&planned);
    }
});
