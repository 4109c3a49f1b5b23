//! Iometer configurations: reading in both modes, converting and writing must never panic, and
//! what is written must read back.

#![no_main]

use front::icf::{Parsed, Strictness, from_workload, parse, to_workload, write};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let strict = parse(bytes, "fuzz.icf", Strictness::Strict);
    let tolerant = parse(bytes, "fuzz.icf", Strictness::Tolerant);
    let parsed = match tolerant {
        Ok(parsed) => parsed,
        Err(refusal) => {
            // Strict mode wraps numbers at 32 bits as Iometer does, and so takes what is not
            // meant; it says so.
            let wraps = |it: &Parsed| {
                it.warnings
                    .iter()
                    .any(|warning| warning.message.contains("Iometer's range"))
            };
            assert!(
                strict.as_ref().map_or(true, wraps),
                "strict mode accepts what tolerant mode refuses"
            );
            assert!(!refusal.to_string().is_empty());
            return;
        }
    };
    let again = parse(&write(&parsed.document), "again.icf", Strictness::Tolerant);
    assert!(again.is_ok(), "{}", again.unwrap_err());

    let (workload, _) = to_workload(&parsed.document, "fuzz");
    let _ = description::to_toml(&workload);
    if let Ok((document, _)) = from_workload(&workload) {
        let written = parse(&write(&document), "written.icf", Strictness::Tolerant);
        assert!(written.is_ok(), "{}", written.unwrap_err());
    }
});
