//! Jobs in workload files, and jobs converted from fio's job files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::path::Path;

use end_to_end::{Finished, ScratchTarget, need, samples};
use serde_json::Value;

/// A job file with many settings that tables of jobs can express.
const MANY: &str = "[global]\nsize=1m\nioengine=psync\ngroup_reporting\n\
    [fill]\nrw=write\nbs=64k\nfilename=table\nend_fsync=1\n\
    [look]\nstonewall\nnumjobs=3\nrw=randread\nbs=4k\nfilename=table\noffset_increment=64k\n\
    size=512k\n\
    [both]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:16k/40\nnrfiles=2\nfsync=8\n\
    random_distribution=zipf:1.2\nnumber_ios=50\nwrite_bw_log=both\n";

/// A plan without the positions and sources of its values.
fn planned(bed: &ScratchTarget, file: &str, more: &[&str]) -> Result<Value, String> {
    let output = bed.run(&[&["check", file, "--json"], more].concat());
    if output.code != 0 {
        let text = output.stderr;
        let error = text.find("error: ").map_or(text.as_str(), |at| &text[at..]);
        // The indented lines show the position in the file, which differs in TOML.
        let kept = error.lines().filter(|line| !line.starts_with(' '));
        return Err(kept.collect::<Vec<_>>().join("\n"));
    }
    let mut plan: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut kept = serde_json::Map::new();
    for key in ["cells", "targets", "seed", "workloads", "repetition_rule"] {
        kept.insert(key.to_owned(), plan[key].take());
    }
    for workload in kept["workloads"].as_array_mut().unwrap() {
        workload.as_object_mut().unwrap().remove("front");
    }
    Ok(Value::Object(kept))
}

/// The same, but for how much room there is, which changes as others work on this machine.
fn plan_without_free_space(
    bed: &ScratchTarget,
    file: &str,
    more: &[&str],
) -> Result<Value, String> {
    planned(bed, file, more).map_err(|error| {
        let room = error.split_once(", but only ");
        let parts = room.and_then(|(need, room)| Some((need, room.split_once(" can be used")?.1)));
        parts.map_or(error.clone(), |(need, rest)| format!("{need}{rest}"))
    })
}

/// The file as TOML, where there are words for it.
fn converted(bed: &ScratchTarget, file: &str) -> Finished {
    let output = bed.run(&["convert", file, "--to", "toml"]);
    if output.code == 0 {
        bed.file("again.toml", &output.stdout);
    }
    output
}

/// Output and record of a run with the run time of the file.
fn record(bed: &ScratchTarget, file: &str) -> (Finished, Value) {
    let target = bed.target().to_str().unwrap().to_owned();
    let output = bed.run(&["run", file, "--target", &target, "--json", "-", "--quiet"]);
    let record = serde_json::from_str(&output.stdout);
    let record = record.unwrap_or_else(|error| panic!("{error}: {}", output.text()));
    (output, record)
}

#[test]
fn collected_job_files_plan_the_same_jobs_after_conversion_to_toml() {
    let folder = need!(samples("fio"));
    let bed = ScratchTarget::new().unwrap();
    let (mut same_count, mut refused_count) = (0, 0);
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "fio") {
            continue;
        }
        let name = path.to_str().unwrap();
        let toml = converted(&bed, name);
        if toml.code != 0 {
            let phrase = "cannot be converted: the job `";
            match planned(&bed, name, &[]) {
                Ok(_) => toml.assert_refused(2, &[phrase, "for which there is no key"]),
                Err(refused) => {
                    let is_reported = refused.lines().all(|line| toml.stderr.contains(line));
                    // Options without a key are reported whether or not the targets exist on this
                    // machine.
                    assert!(
                        is_reported || toml.stderr.contains(phrase),
                        "{name}: {}",
                        toml.text()
                    );
                }
            }
            refused_count += 1;
            continue;
        }
        for options in [
            &[][..],
            &["--engine", "null"],
            &["--seed", "7", "--run-time", "1s"],
        ] {
            let wanted = plan_without_free_space(&bed, name, options);
            let found = plan_without_free_space(&bed, "again.toml", options);
            assert_eq!(found, wanted, "{name} {options:?}\n{}", toml.stdout);
        }
        same_count += 1;
    }
    assert!(
        same_count >= 20,
        "{same_count} converted, {refused_count} refused"
    );
}

#[test]
fn a_job_file_does_the_same_after_conversion_to_toml() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("many.fio", MANY);
    let toml = converted(&bed, "many.fio");
    assert_eq!(toml.code, 0, "{}", toml.text());
    let again = &toml.stdout;
    for phrase in [
        "waits = true",
        "count = 3",
        "start_step = \"64KiB\"",
        "16k:40,4k:60",
    ] {
        assert!(again.contains(phrase), "{phrase}: {again}");
    }
    let did = |file: &str| {
        let (output, record) = record(&bed, file);
        assert_eq!(output.code, 0, "{}", output.text());
        let cells = record["cells"].as_array().unwrap();
        let figures = cells
            .iter()
            .flat_map(|it| it["worker_figures"].as_array().unwrap());
        let counts = |operations: &Value| {
            let all = operations.as_object().unwrap().iter();
            all.map(|(name, it)| (name.clone(), it["count"].clone(), it["bytes"].clone()))
                .collect::<Vec<_>>()
        };
        figures
            .map(|it| (it["name"].clone(), counts(&it["operations"])))
            .collect::<Vec<_>>()
    };
    let wanted = did("many.fio");
    assert_eq!(wanted.len(), 5, "{wanted:?}");
    assert_eq!(did("again.toml"), wanted, "{again}");
}

#[test]
fn options_lost_in_conversion_to_toml_are_reported() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("many.fio", MANY);
    let toml = converted(&bed, "many.fio");
    for phrase in [
        "many.fio:4",
        "`group_reporting` changes nothing: it affects only fio's output or logs, and is ignored",
        "`write_bw_log=both` changes nothing",
    ] {
        assert!(toml.stderr.contains(phrase), "{phrase}: {}", toml.stderr);
    }
    let log = "fio version 2 iolog\na add\na open\na write 0 4096\na close\n";
    bed.file("old.log", log);
    bed.file("replay.fio", "[a]\nread_iolog=old.log\nrw=write\n");
    let refused = converted(&bed, "replay.fio");
    refused.assert_refused(
        2,
        &[
            "the job `a` replays the log `old.log`",
            "run the file itself",
        ],
    );
}

#[test]
fn options_apply_to_all_jobs_and_are_printed() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "own.toml",
        "[[job]]\nname = \"a\"\nengine = \"psync\"\nsize = \"1m\"\nloops = 1\n\
         [[job]]\nname = \"b\"\nwaits = true\nsize = \"1m\"\nrandom = 100\nrun_time = \"5s\"\n",
    );
    let options = [
        "--engine",
        "io_uring",
        "--run-time",
        "40ms",
        "--cache",
        "buffered",
    ];
    let plan = planned(&bed, "own.toml", &options).unwrap();
    let cells = plan["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 2);
    for cell in cells {
        let job = &cell["workers"][0]["job"];
        assert_eq!(job["engine"], "io_uring");
        assert_eq!(job["run_time_ns"], 40_000_000);
    }
    let printed = bed.run(&[&["run", "own.toml", "--print", "toml"], &options[..]].concat());
    assert_eq!(printed.code, 0, "{}", printed.text());
    bed.file("printed.toml", &printed.stdout);
    assert_eq!(planned(&bed, "printed.toml", &[]).unwrap(), plan);
}

#[test]
fn jobs_of_a_workload_file_run_in_parallel_and_in_sequence() {
    let bed = ScratchTarget::new().unwrap();
    bed.file(
        "own.toml",
        "cache = \"buffered\"\n\
         [[job]]\nname = \"load\"\nread = 0\nblock_size = \"64k\"\nfiles = [\"table\"]\n\
         size = \"1m\"\nloops = 1\nfsync_at_end = true\n\
         [[job]]\nname = \"queries\"\nwaits = true\ncount = 2\nrandom = 100\n\
         files = [\"table\"]\nsize = \"1m\"\nrun_time = \"100ms\"\nramp_time = 0\n\
         [[job]]\nname = \"log\"\nengine = \"psync\"\nread = 0\nsize = \"1m\"\noperations = 40\n\
         fdatasync_each = 4\nverify = true\nread_back = true\n\
         [[job]]\nname = \"names\"\nnames = \"create\"\nfiles = 7\n",
    );
    let (output, record) = record(&bed, "own.toml");
    assert_eq!(output.code, 0, "{}", output.text());
    let cells = record["cells"].as_array().unwrap();
    let workers = |cell: usize| cells[cell]["worker_figures"].as_array().unwrap().clone();
    let count = |worker: &Value, operation: &str| {
        worker["operations"][operation]["count"]
            .as_u64()
            .unwrap_or(0)
    };
    assert_eq!(cells.len(), 2, "{}", output.text());
    assert_eq!(count(&workers(0)[0], "write"), 16);
    let parallel = workers(1);
    let names: Vec<&str> = parallel
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["queries", "queries", "log", "names"]);
    assert!(count(&parallel[0], "read") > 0 && count(&parallel[1], "read") > 0);
    assert_eq!(count(&parallel[2], "write"), 40);
    assert_eq!(count(&parallel[2], "read"), 40);
    assert_eq!(
        count(&parallel[3], "create"),
        7,
        "{}",
        parallel[3]["operations"]
    );
    assert!(
        bed.left_in_target().is_empty(),
        "{:?}",
        bed.left_in_target()
    );
}

#[test]
fn the_jobs_example_is_a_workload() {
    let bed = ScratchTarget::new().unwrap();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/jobs.toml");
    let output = bed.run(&["check", example.to_str().unwrap(), "--engine", "null"]);
    for phrase in [
        "database",
        "queries",
        "8 KiB (90%), 64 KiB (10%)",
        "writes per fdatasync: 1",
    ] {
        assert!(
            output.stdout.contains(phrase),
            "{phrase}: {}",
            output.text()
        );
    }
}
