//! The highest rate at which response times hold, on a target whose limit is known.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::time::Duration;

use end_to_end::faultfs::{FaultFs, Settings};
use end_to_end::{ScratchTarget, need, run_tool};
use serde_json::Value;

const READS: &str = "size = \"4m\"\ncache = \"direct\"\nengine = \"psync\"\nramp_time = 0\n\
    [[access_spec]]\nline = [{ size = \"4k\", random = 100 }]\n";
/// What a read takes, one after the other.
const DELAY: Duration = Duration::from_millis(10);

/// A target that answers a read each [`DELAY`].
fn slow() -> Result<FaultFs, end_to_end::FixtureError> {
    FaultFs::new(Settings {
        read_delay: DELAY,
        thread_count: 1,
        ..Settings::default()
    })
}

/// The rate of the closed loop, then each trial's with whether it held.
fn trials(record: &Value, most_ns: u64) -> (f64, Vec<(f64, bool)>) {
    let cells = record["cells"].as_array().unwrap();
    let trial = |cell: &Value| {
        let open = &cell["open_loop"];
        let p99 = open["response"]["percentiles_ns"]["99"].as_u64().unwrap();
        (open["asked_per_second"].as_f64().unwrap(), p99 <= most_ns)
    };
    let peak = cells[0]["total"]["per_second"].as_f64().unwrap();
    (peak, cells[1..].iter().map(trial).collect())
}

#[test]
fn a_search_finds_the_rate_of_a_target_of_known_speed() {
    let faultfs = need!(slow());
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", READS);
    let search = ["--find-rate", "p99<=500ms", "--set", "arrivals=uniform"];
    let times = ["--run-time", "2s", "--json", "found.json"];
    let output = bed.measure(&[&["mine.toml"], &times[..], &search].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let record = std::fs::read(bed.path().join("found.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let (peak, trials) = trials(&record, 500_000_000);
    let rates = |held: bool| trials.iter().filter(move |it| it.1 == held).map(|it| it.0);
    let held = rates(true).reduce(f64::max).unwrap();
    let failed = rates(false).reduce(f64::min);
    // A loaded machine answers later than the target does, also without a rate.
    let expected = 1.0 / DELAY.as_secs_f64();
    let borne = peak.min(expected);
    assert!(
        held > 0.6 * borne && held < 1.1 * expected,
        "{held}: {trials:?}"
    );
    // At the peak itself the backlog may be too small to break so long a time.
    let is_near = match failed {
        Some(failed) => failed > 0.7 * borne,
        None => held > 0.9 * peak,
    };
    assert!(is_near, "{peak}: {trials:?}");
    let text = bed.run(&["show", "last"]).stdout;
    assert!(text.contains("highest rate: p99 within 500 ms "), "{text}");
    assert!(text.contains("passed"), "{text}");
    assert!(output.stderr.contains("  passed\n"), "{}", output.stderr);
}

#[test]
fn an_interrupted_search_keeps_its_results() {
    let faultfs = need!(slow());
    let bed = ScratchTarget::with_target(&faultfs.path()).unwrap();
    bed.file("mine.toml", READS);
    let target = bed.target().to_string_lossy().into_owned();
    let search = [
        "--find-rate",
        "p99=1s",
        "--run-time",
        "2s",
        "--json",
        "saved.json",
    ];
    let mut child = bed.start(&[&["run", "mine.toml", "--target", &target], &search[..]].concat());
    let is_in_trial = || {
        let rows = bed.listed(&[]);
        let count = rows.first().and_then(|run| run["cell_count"].as_u64());
        count.is_some_and(|count| count >= 2)
    };
    end_to_end::wait_for("a trial", is_in_trial);
    run_tool("kill", &["-INT", &child.id().to_string()]).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let text = bed.run(&["show", "last"]).stdout;
    assert!(
        text.contains("highest rate: p99 within 1.00 s at every rate that was tried"),
        "{text}"
    );
    assert!(text.contains("ended early"), "{text}");
}
