//! Files of jobs that a later job needs in another form.

use results::{RunRecord, Status};

use crate::{RunOptions, RunSpec, measure};

fn record_of(text: &str) -> RunRecord {
    let directory = tempfile::tempdir().unwrap();
    let targets = vec![directory.path().display().to_string()];
    let facts = storage::system_facts(&targets, None);
    let mut overrides = description::Overrides::new();
    overrides.set_targets(targets);
    let loaded = description::load("w.toml", text).unwrap();
    let plan = planning::plan(&loaded, &overrides, &facts).unwrap().plan;
    let mut listener = |_: &results::RunEvent| {};
    let spec = RunSpec::new(&plan, &mut listener);
    let finished = measure(spec, &RunOptions::default(), None);
    assert!(finished.error.is_none(), "{:?}", finished.error);
    assert_eq!(finished.record.status, Status::Complete);
    finished.record
}

/// A job that works on the file `f` once the earlier jobs have ended.
fn job(keys: &str) -> String {
    format!(
        "[[job]]\nengine = \"psync\"\ncache = \"buffered\"\nfiles = [\"f\"]\nloops = 1\n\
         waits = true\n{keys}\n"
    )
}

#[test]
fn a_file_that_was_laid_out_again_has_no_blocks_of_earlier_jobs() {
    let written = job("read = 0\nsize = \"64k\"\nverify = true");
    for rest in [
        // A longer file is needed, and then its blocks are verified.
        job("size = \"128k\"") + &job("size = \"64k\"\nverify = true"),
        job("size = \"128k\"\nverify = true"),
    ] {
        let record = record_of(&(written.clone() + &rest));
        let codes: Vec<_> = record.failures().map(|it| it.code.clone()).collect();
        assert!(codes.is_empty(), "{codes:?}");
    }
}

#[test]
fn a_job_that_needs_a_longer_file_keeps_what_earlier_jobs_wrote() {
    let written = job("read = 0\nsize = \"64k\"\nlayout = \"allotted\"\nverify = true");
    let read = job("size = \"64k\"\nverify = true");
    for layout in ["allotted", "sparse", "written"] {
        let longer = job(&format!(
            "read = 0\nstart = \"64k\"\nsize = \"64k\"\nlayout = \"{layout}\""
        ));
        let record = record_of(&(written.clone() + &longer + &read));
        let codes: Vec<_> = record.failures().map(|it| it.code.clone()).collect();
        assert!(codes.is_empty(), "{layout}: {codes:?}");
    }
    // The rest of the file was written without stamps.
    let longer = job("read = 0\nstart = \"64k\"\nsize = \"64k\"\nlayout = \"allotted\"");
    let record = record_of(&(written + &longer + &job("size = \"128k\"\nverify = true")));
    let codes: Vec<_> = record
        .failures()
        .map(|it| it.code.as_str().to_owned())
        .collect();
    assert!(codes.contains(&"verify-mismatch".to_owned()), "{codes:?}");
}
