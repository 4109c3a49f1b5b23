//! Processes that are killed while they write.
//!
//! The killed process is this test program, started again with a variable that makes it write
//! as a run would, only faster, and tell on standard output what it has written and when.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use results::RunRecord;
use rusqlite::Connection;
use store::{Filter, RunStatus, Store};

use crate::bed::{TestStore, beginning, begun, interval, interval_event, record};

/// Names the store in the process that is to be killed.
const STORE_VARIABLE: &str = "PGMETER_TEST_STORE";
/// The number of the run in the process that is to be killed.
const NUMBER_VARIABLE: &str = "PGMETER_TEST_NUMBER";
/// Number of killed processes that were not disturbed by other load.
const KILL_COUNT: u32 = 50;
/// Maximum number of killed processes.
const TRY_COUNT_MAX: u32 = 200;
/// Maximum time between two reports of an undisturbed process, which reports every 10 ms.
const GAP_MAX: Duration = Duration::from_millis(150);
/// Number of processes that write at the same time.
const WRITER_COUNT: u32 = 5;
/// Maximum time whose results may be lost.
const LOSS_MAX: Duration = Duration::from_secs(1);

/// The process that is to be killed: writes until then.
fn write_until_killed(path: &Path, number: u32) -> ! {
    let wanted = record(number);
    let store = Store::open(path).unwrap();
    let writer = store.begin(&beginning(&wanted)).unwrap();
    let mut out = std::io::stdout();
    out.write_all(b"#").unwrap();
    out.flush().unwrap();
    for cell in 0_u32.. {
        writer.event(&begun(cell % 2));
        for number in 0..20 {
            writer.event(&interval_event(cell % 2, &interval(number)));
            // One byte an interval, so that no line is half written.
            out.write_all(b".").unwrap();
            out.flush().unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut done = wanted.cells[cell as usize % 2].clone();
        done.intervals = (0..20).map(interval).collect();
        writer.event(&results::RunEvent::CellDone {
            record: Box::new(done),
        });
    }
    unreachable!("it is killed");
}

/// A process that writes until its time has come.
struct KilledWriter {
    number: u32,
    child: Child,
    lifetime: Duration,
}

/// Output of a process until it was killed.
struct WriterReport {
    /// Whether its run had begun.
    has_begun: bool,
    /// Number of intervals reported before the last second of its life.
    early_count: usize,
    /// Whether the process, or this test, was kept from running in that second.
    is_disturbed: bool,
}

impl KilledWriter {
    fn start(path: &Path, number: u32, life: Duration) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "kill::a_killed_run_loses_the_last_second_at_most",
        ]);
        command.args(["--nocapture", "--test-threads=1"]);
        command
            .env(STORE_VARIABLE, path)
            .env(NUMBER_VARIABLE, number.to_string());
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        Self {
            number,
            child: command.spawn().unwrap(),
            lifetime: life,
        }
    }

    fn kill(mut self) -> WriterReport {
        let start = Instant::now();
        let mut out = self.child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut received = Vec::new();
            let mut byte = [0];
            while out.read_exact(&mut byte).is_ok() {
                received.push((byte[0], Instant::now()));
            }
            received
        });
        std::thread::sleep(self.lifetime.saturating_sub(start.elapsed()));
        self.child.kill().unwrap();
        let killed = Instant::now();
        self.child.wait().unwrap();
        let received = reader.join().unwrap();
        let begun = received.iter().any(|(byte, _)| *byte == b'#');
        let mut moments: Vec<Instant> = received.iter().map(|it| it.1).collect();
        moments.push(killed);
        let is_early = |at: Instant| at + LOSS_MAX < killed;
        let gaps = moments.windows(2).filter(|pair| !is_early(pair[1]));
        WriterReport {
            has_begun: begun,
            early_count: received
                .iter()
                .filter(|it| it.0 == b'.' && is_early(it.1))
                .count(),
            is_disturbed: gaps.map(|pair| pair[1] - pair[0]).any(|gap| gap > GAP_MAX),
        }
    }
}

/// Numbers that look random and are the same each time; the kills' moments are not, because the
/// machine is not.
fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1);
    *state >> 33
}

fn interval_count(record: &RunRecord) -> usize {
    record.cells.iter().map(|cell| cell.intervals.len()).sum()
}

#[test]
fn a_killed_run_loses_the_last_second_at_most() {
    if let (Ok(path), Ok(number)) = (
        std::env::var(STORE_VARIABLE),
        std::env::var(NUMBER_VARIABLE),
    ) {
        write_until_killed(Path::new(&path), number.parse().unwrap());
    }
    let bed = TestStore::in_memory();
    let mut state = 7;
    let (mut judged_count, mut kept_count) = (0, 0);
    for first in (0..TRY_COUNT_MAX).step_by(WRITER_COUNT as usize) {
        let victims: Vec<KilledWriter> = (first..first + WRITER_COUNT)
            .map(|number| {
                let life = Duration::from_millis(random(&mut state) % 2500);
                KilledWriter::start(&bed.path(), number, life)
            })
            .collect();
        std::thread::scope(|scope| {
            let spawn = |victim| scope.spawn(|| check_after_kill(&bed, victim));
            let checks: Vec<_> = victims.into_iter().map(spawn).collect();
            for check in checks {
                let report = check.join().unwrap();
                judged_count += u32::from(!report.is_disturbed);
                kept_count += u32::from(!report.is_disturbed && report.early_count > 0);
            }
        });
        if judged_count >= KILL_COUNT {
            break;
        }
    }
    let integrity: String = Connection::open(bed.path())
        .unwrap()
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(integrity, "ok");
    if judged_count < KILL_COUNT {
        println!("skipped: this machine is too busy to tell what a second is");
        return;
    }
    assert!(
        kept_count > 10,
        "only {kept_count} had lived for more than a second"
    );
}

fn check_after_kill(bed: &TestStore, victim: KilledWriter) -> WriterReport {
    let id = record(victim.number).id;
    let report = victim.kill();
    let store = bed.store();
    let rows = store.list(&Filter::default()).unwrap();
    let Some(row) = rows.iter().find(|row| row.id == id) else {
        assert!(!report.has_begun, "the run {id} is gone");
        return report;
    };
    assert_eq!(row.status, RunStatus::Interrupted);
    let record = store.load(&id).unwrap();
    assert_eq!(record.finished_at, None);
    for cell in &record.cells {
        let wanted: Vec<_> = (0..cell.intervals.len() as u64).map(interval).collect();
        assert_eq!(cell.intervals, wanted);
    }
    let (seen_count, wanted_count) = (interval_count(&record), report.early_count);
    let enough = seen_count >= wanted_count || report.is_disturbed;
    assert!(enough, "{seen_count} of {wanted_count}");
    report
}

#[test]
fn a_store_whose_creation_was_killed_opens() {
    let mut state = 11;
    for _ in 0..30 {
        let bed = TestStore::new();
        let life = Duration::from_millis(random(&mut state) % 120);
        KilledWriter::start(&bed.path(), 0, life).kill();
        bed.store().list(&Filter::default()).unwrap();
    }
}
