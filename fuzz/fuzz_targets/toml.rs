//! No text makes reading or planning a workload panic, what was read can be written and read, and
//! jobs stay in their files.

#![no_main]

use description::{Overrides, load, read_toml, to_toml};
use libfuzzer_sys::fuzz_target;
use pgmeter_fuzz::jobs_stay_inside;
use plan::facts::SystemFacts;
use planning::plan;
use report::plan_text;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(workloads) = load("fuzz.toml", text) else {
        return;
    };
    for workload in &workloads {
        let text = to_toml(workload).expect("it says what a file says");
        let again = read_toml("again.toml", &text).expect("what was written reads back");
        assert_eq!(&again, workload, "{text}");
    }
    if let Ok(planned) = plan(&workloads, &Overrides::new(), &SystemFacts::default()) {
        let _ = plan_text(&planned);
        jobs_stay_inside(&planned.plan);
    }
});
