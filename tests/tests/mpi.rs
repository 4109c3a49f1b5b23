//! Ranks that launchers start, and the libraries that they find.

use std::process::Command;
use std::time::{Duration, Instant};

use end_to_end::{Finished, FixtureError, Mpirun, ScratchTarget, need};
use serde_json::Value;

const RANK: &str = env!("CARGO_BIN_EXE_mpi-rank");
/// Far above what any library sends before the receiver asks.
const LARGE: &str = "3145728";

/// Both libraries of the distribution.
fn both() -> Result<[Mpirun; 2], FixtureError> {
    Ok([Mpirun::open_mpi()?, Mpirun::mpich()?])
}

/// Four ranks that do this.
fn four(launcher: &Mpirun, role: &[&str]) -> Finished {
    let line = [&[RANK], role].concat();
    launcher.run(4, &line).expect("an end in time")
}

/// Holds that all four ranks came to their end in one world, by a library of this ABI.
#[track_caller]
fn assert_all_ranks_end(output: &Finished, abi: &str) {
    assert_eq!(output.code, 0, "{}", output.text());
    for rank in 0..4 {
        let line = format!("rank {rank} of 4 on ");
        let is_it = |it: &str| it.starts_with(&line) && it.contains(&format!(": {abi} ("));
        assert!(output.stdout.lines().any(is_it), "{}", output.text());
    }
}

#[track_caller]
fn assert_messages_round_trip(launcher: &Mpirun, abi: &str) {
    assert_all_ranks_end(&four(launcher, &["talk", LARGE]), abi);
    assert_all_ranks_end(&four(launcher, &["all-pairs", LARGE]), abi);
}

#[test]
fn messages_make_a_round_trip_under_open_mpi() {
    assert_messages_round_trip(&need!(Mpirun::open_mpi()), "Open MPI");
}

#[test]
fn messages_make_a_round_trip_under_mpich() {
    assert_messages_round_trip(&need!(Mpirun::mpich()), "MPICH");
}

#[test]
fn messages_make_a_round_trip_with_the_standard_abi() {
    assert_messages_round_trip(&need!(Mpirun::standard()), "MPI 5.0");
}

#[test]
fn the_library_next_to_the_launcher_is_found_through_a_script() {
    let launcher = need!(Mpirun::standard());
    let script = format!("'{RANK}' look; exit $?");
    let output = launcher.run(2, &["sh", "-c", &script]);
    let output = output.expect("an end in time");
    assert_eq!(output.code, 0, "{}", output.text());
    let first = output.stdout.lines().next().unwrap_or_default();
    let library = launcher
        .prefix()
        .expect("it has a place")
        .join("lib/libmpi_abi.so.1");
    let expected = format!("MPI 5.0 | {} | MPICH", library.display());
    assert!(
        first.starts_with(&expected),
        "{first} does not begin with {expected}"
    );
}

/// The other peers are stopped neither, as their ends show.
#[track_caller]
fn assert_stopped_peer_stops_no_other(launcher: &Mpirun, abi: &str) {
    let output = four(launcher, &["stopped", "67108864"]);
    assert_all_ranks_end(&output, abi);
    let waited = output.stdout.lines().find_map(|line| {
        let waited = line.strip_prefix("waited ")?.strip_suffix(" ms")?;
        waited.parse::<u64>().ok()
    });
    assert!(waited.is_some_and(|ms| ms < 5000), "{}", output.text());
}

#[test]
fn a_stopped_peer_stops_no_other_rank_under_open_mpi() {
    assert_stopped_peer_stops_no_other(&need!(Mpirun::open_mpi()), "Open MPI");
}

#[test]
fn a_stopped_peer_stops_no_other_rank_under_mpich() {
    assert_stopped_peer_stops_no_other(&need!(Mpirun::mpich()), "MPICH");
}

#[track_caller]
fn assert_reports_launcher_and_rank_count(output: &Finished, launcher: &str, library: &str) {
    assert_eq!(output.code, 3, "{}", output.text());
    let expected = format!("error: {launcher} started 4 ranks, but `");
    let is_error = |line: &&str| line.starts_with(&expected);
    let line = output.stdout.lines().find(is_error).unwrap_or_default();
    assert!(line.contains(library), "{}", output.text());
    assert!(line.contains("sees a world of 1"), "{line}");
    assert!(
        output.stdout.contains("help: set `PGMETER_LIBMPI`"),
        "{}",
        output.text()
    );
}

#[test]
fn a_library_of_another_launcher_is_an_error_with_the_variable_to_set() {
    let [open_mpi, mpich] = need!(both());
    let output = four(&open_mpi.with_library("libmpich.so.12"), &["talk", "1"]);
    assert_reports_launcher_and_rank_count(&output, "Open MPI", "libmpich.so.12");
    let output = four(&mpich.with_library("libmpi.so.40"), &["talk", "1"]);
    assert_reports_launcher_and_rank_count(&output, "Hydra of MPICH or Intel MPI", "libmpi.so.40");
}

#[test]
fn a_missing_library_is_reported_by_its_given_name() {
    let launcher = need!(Mpirun::mpich()).with_library("/no/libmpi.so.12");
    let output = four(&launcher, &["look"]);
    assert_eq!(output.code, 3, "{}", output.text());
    let expected = "error: MPI library `/no/libmpi.so.12` cannot be opened: ";
    assert!(output.stdout.contains(expected), "{}", output.text());
}

/// Runs to an end of rank 2 that the others do not know of; they would wait for two minutes.
#[track_caller]
fn assert_ends_soon(launcher: &Mpirun, role: &[&str]) -> i32 {
    let start = Instant::now();
    let output = four(launcher, role);
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(60),
        "{took:?}: {}",
        output.text()
    );
    assert_ne!(output.code, 0, "{}", output.text());
    output.code
}

#[test]
fn a_rank_that_aborts_ends_the_job_with_its_code() {
    for launcher in need!(both()) {
        assert_eq!(assert_ends_soon(&launcher, &["abort", "42"]), 42);
    }
}

#[test]
fn a_rank_that_is_killed_ends_the_job() {
    for launcher in need!(both()) {
        assert_ends_soon(&launcher, &["die"]);
    }
}

/// A world that is dropped waits for nobody. Hydra ends with a code of its own.
#[test]
fn a_rank_that_fails_ends_the_job() {
    for launcher in need!(both()) {
        assert_ends_soon(&launcher, &["exit", "7"]);
    }
}

#[test]
fn a_process_without_a_launcher_opens_no_library() {
    let mut command = Command::new(RANK);
    command.arg("look").env_clear();
    let output = end_to_end::run_within(&mut command, Duration::from_secs(30)).unwrap();
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (2, ""),
        "{}",
        output.text()
    );
}

/// Open MPI adds its own message about a process that ended with an error code.
#[test]
fn under_a_launcher_hosts_are_refused_once() {
    for launcher in need!(both()) {
        let bed = need!(ScratchTarget::new());
        let program = bed.command(&[]).get_program().to_os_string();
        let program = program.to_str().unwrap();
        let target = bed.target().to_str().unwrap();
        let run = [program, "run", "quick", "--target", target];
        for hosts in [["--hosts", "a,b"], ["--host", "LAB1=a"]] {
            let output = launcher.run(2, &[&run[..], &hosts].concat());
            let output = output.expect("an end in time");
            assert_eq!(output.code, 2, "{}", output.text());
            let expected = format!("error: `{}` has processes started by ssh, but ", hosts[0]);
            assert_eq!(
                output.text().matches(&expected).count(),
                1,
                "{}",
                output.text()
            );
            assert_eq!(
                output.text().matches("help: ").count(),
                1,
                "{}",
                output.text()
            );
        }
        assert!(bed.left_in_target().is_empty());
    }
}

/// Three seconds after the first of two ranks has begun to store a run of a minute, each of them
/// gets what `signal` says, a line of a shell that knows its `$rank`.
fn run_and_signal(bed: &ScratchTarget, launcher: &Mpirun, signal: &str) -> Finished {
    bed.file("null.toml", NULL);
    let program = bed.command(&[]).get_program().to_os_string();
    let script = format!(
        "rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\ncd '{}'\n\
         (until [ -e db ]; do sleep 0.1; done; sleep 6; {signal}) &\n\
         exec '{}' run null.toml --target target --run-time 60s --ramp-time 0 \
         --quiet --no-html --db db\n",
        bed.path().display(),
        program.to_string_lossy()
    );
    let start = Instant::now();
    let output = launcher.run(2, &["sh", "-c", &script]);
    let output = output.expect("an end in time");
    let took = start.elapsed();
    assert!(
        took < Duration::from_secs(30),
        "{took:?}: {}",
        output.text()
    );
    output
}

/// At its end, MPI waits for all.
#[test]
fn a_rank_that_is_stopped_while_it_measures_ends_the_run_and_the_job() {
    for launcher in need!(both()) {
        let bed = need!(ScratchTarget::new());
        let output = run_and_signal(&bed, &launcher, "[ $rank = 0 ] || kill -STOP $$");
        assert_ne!(output.code, 0, "{}", output.text());
        let expected = "has sent nothing for 5 s";
        assert!(output.text().contains(expected), "{}", output.text());
    }
}

/// Launchers pass signals on to all, so that all know before the first tells them.
#[test]
fn signaling_all_ranks_to_end_loses_none_of_them() {
    for launcher in need!(both()) {
        let bed = need!(ScratchTarget::new());
        let output = run_and_signal(&bed, &launcher, "sleep 0.0$rank; kill -TERM $$");
        assert_eq!(output.code, 130, "{}", output.text());
        let stored = bed.run(&["runs", "export", "last", "--db", "db"]);
        let record: Value = serde_json::from_str(&stored.stdout).expect("a record");
        assert_eq!(record["status"], "interrupted");
        let ranks = record["cells"][0]["crew"]["ranks"].as_array().unwrap();
        let is_whole = |it: &Value| it["lost_ns"].is_null() && it["count"].as_u64() > Some(0);
        assert!(ranks.len() == 2 && ranks.iter().all(is_whole), "{ranks:?}");
    }
}

/// Each command finds what the one before left, whatever process made it.
#[test]
fn ranks_leave_files_for_the_next_command() {
    for launcher in need!(both()) {
        let bed = need!(ScratchTarget::in_memory());
        let program = bed.command(&[]).get_program().to_os_string();
        let run = |line: &str| {
            let script = format!(
                "cd '{}'\nexec '{}' as {line}\n",
                bed.target().display(),
                program.to_string_lossy()
            );
            let output = launcher.run(2, &["sh", "-c", &script]);
            output.expect("an end in time")
        };
        for line in [
            "ior -w -k -b 256k -o f",
            "ior -r -k -b 256k -o f",
            "ior -w -k -F -b 256k -o g",
            "ior -r -F -C -b 256k -o g",
            "ior -r -F -Z -b 256k -o g",
            "ior -r -F -Z -Z -b 256k -o g",
            "ior -w -k -F -b 256k -o g",
            "ior -r -Z -b 256k -o f",
            "ior -a DUMMY -i 2 -o none",
            "mdtest -n 6 -f 1 -l 2 -N 1 -d t",
            "mdtest -n 6 -S -w 10 -e 10 -d t",
            "mdtest -W 2 -d t",
            "mdtest -C -n 6 -d t",
            "mdtest -T -N 1 -n 6 -d t",
            "mdtest -r -n 6 -d t",
            "mdtest -C -u -n 6 -d u",
            "mdtest -r -u -n 6 -d u",
        ] {
            let output = run(line);
            assert_eq!(output.code, 0, "{line}: {}", output.text());
        }
        let mut left = bed.left_in_target();
        left.sort();
        assert_eq!(left, ["f", "g.00000000", "g.00000001", "t", "u"]);
        for directory in ["t", "u"] {
            let mut entries = std::fs::read_dir(bed.target().join(directory)).unwrap();
            assert!(entries.next().is_none(), "{directory}");
        }
        let output = run("ior -r -o missing");
        assert_ne!(output.code, 0, "{}", output.text());
        assert!(output.text().contains("`missing`"), "{}", output.text());
    }
}

/// Ranks in different processes meet after they open a file and before they close it (`-g`).
#[test]
fn ranks_wait_for_each_other_between_the_calls_of_a_phase() {
    for launcher in need!(both()) {
        let bed = need!(ScratchTarget::in_memory());
        let program = bed.command(&[]).get_program().to_os_string();
        for line in [
            "ior -w -r -g -b 256k -i 3 -o f",
            "ior -w -r -g -e -F -C -b 256k -o g",
            // The time limit ends waits, too.
            "ior -a DUMMY -w -g -D 1 -O stoneWallingWearOut=1 -t 1k -b 1g -o none",
            "ior -w -r -g -O minTimeDuration=1 -b 256k -o m",
            // One of the processes has no rank.
            "ior -w -r -g -N 2 -b 256k -o h",
        ] {
            let script = format!(
                "cd '{}'\nexec '{}' as {line}\n",
                bed.target().display(),
                program.to_string_lossy()
            );
            let output = launcher.run(3, &["sh", "-c", &script]);
            let output = output.expect("an end in time");
            assert_eq!(output.code, 0, "{line}: {}", output.text());
        }
    }
}

/// Short phases of ranks take little longer than with threads of one process. Each once took a
/// third of a second for the comparison of clocks. Another tenth went to counters that each stage
/// opened again, and to messages that waited for the next poll.
#[test]
fn short_phases_take_little_longer_with_ranks_than_with_threads() {
    let launcher = need!(Mpirun::open_mpi());
    let bed = need!(ScratchTarget::in_memory());
    let program = bed.command(&[]).get_program().to_os_string();
    let file = bed.target().join("f");
    let line = |more: &str| {
        let (program, file) = (program.to_string_lossy(), file.display());
        format!("exec '{program}' as ior -w -r -e -b 2m -o '{file}' {more}")
    };
    let run_ranks = |repetitions: u32| {
        let output = launcher.run(2, &["sh", "-c", &line(&format!("-i {repetitions}"))]);
        let output = output.expect("an end in time");
        assert_eq!(output.code, 0, "{}", output.text());
    };
    let run_threads = |repetitions: u32| {
        let mut command = Command::new("sh");
        command.args(["-c", &line(&format!("-N 2 -i {repetitions}"))]);
        let output = end_to_end::finish(&mut command);
        assert_eq!(output.code, 0, "{}", output.text());
    };
    // Other load on the machine makes single times longer, but not the shortest of several.
    let repetition_time = |run: &dyn Fn(u32)| {
        let took = |repetitions| {
            let times = (0..3).map(|_| {
                let start = Instant::now();
                run(repetitions);
                start.elapsed()
            });
            times.min().unwrap_or_default()
        };
        took(21).saturating_sub(took(1)) / 20
    };
    let (ranks, threads) = (repetition_time(&run_ranks), repetition_time(&run_threads));
    println!("{ranks:?} each repetition of ranks, {threads:?} of threads");
    let most = 3 * threads + Duration::from_millis(50);
    assert!(ranks < most, "{ranks:?} beside {threads:?}");
}

const NULL: &str = "engine = \"null\"\nsize = \"4m\"\n[[access_spec]]\n\
    line = [{ size = \"4k\", random = 100 }]\n";
