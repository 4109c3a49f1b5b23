//! The section `TEST SETUP`.

use description::iometer::{RecordResults, WorkerCount};
use description::model::{StepKind, TestType};

use super::document::{IcfCycling, QueueDepthCycling, RunTime, TestSetup};
use super::keywords::Keyword;
use super::reader::{IcfBlock, IcfReader, Keys};
use super::scan::Scanner;
use super::text::IcfLine;
use plan::Diagnostic;

const BLOCK: IcfBlock = IcfBlock {
    name: "TEST SETUP",
    end: "'END test setup",
};

#[derive(Debug, Clone, Copy)]
enum SetupKey {
    Description,
    RunTime,
    RampUpTime,
    DiskWorkers,
    NetworkWorkers,
    OldWorkers,
    RecordResults,
    WorkerCycling,
    DiskCycling,
    QueueDepthCycling,
    TestType,
    End,
}

const KEYS: &Keys<SetupKey> = &[
    ("'Test Description", SetupKey::Description),
    ("'Run Time", SetupKey::RunTime),
    ("'Ramp Up Time*", SetupKey::RampUpTime),
    ("'Default Disk Workers to Spawn", SetupKey::DiskWorkers),
    (
        "'Default Network Workers to Spawn",
        SetupKey::NetworkWorkers,
    ),
    ("'Default Workers to Spawn", SetupKey::OldWorkers),
    ("'Record Results", SetupKey::RecordResults),
    ("'Worker Cycling", SetupKey::WorkerCycling),
    ("'Disk Cycling", SetupKey::DiskCycling),
    ("'Queue Depth Cycling", SetupKey::QueueDepthCycling),
    ("'Test Type", SetupKey::TestType),
    (BLOCK.end, SetupKey::End),
];

/// Longest run time that Iometer can store, in seconds: milliseconds in 32 bits.
const IOMETER_RUN_SECONDS: u64 = i32::MAX as u64 / 1000;

/// Reads the section after its first line. If it is open-ended, as in old files, it ends before the
/// first line that is not one of its keys.
pub(super) fn read(reader: &mut IcfReader<'_>, open_ended: bool) -> Result<TestSetup, Diagnostic> {
    let mut setup = TestSetup::default();
    loop {
        // In old files, the next line may already belong to another section.
        let before = reader.lines;
        if open_ended && reader.peek().is_none() {
            return Ok(setup);
        }
        let line = reader.key(BLOCK)?;
        let key = match reader.lookup(line, KEYS)? {
            Some(key) => key,
            None if open_ended => {
                reader.lines = before;
                return Ok(setup);
            }
            None => return Err(reader.unknown(line, BLOCK, KEYS)),
        };
        if matches!(key, SetupKey::End) {
            return Ok(setup);
        }
        let value = reader.value(line, BLOCK, KEYS)?;
        read_value(reader, key, value, &mut setup)?;
    }
}

fn read_value<'a>(
    reader: &mut IcfReader<'a>,
    key: SetupKey,
    value: IcfLine<'a>,
    setup: &mut TestSetup,
) -> Result<(), Diagnostic> {
    let mut scan = Scanner::new(value);
    match key {
        SetupKey::Description => {
            setup.description = value.trimmed().to_owned();
            return Ok(());
        }
        SetupKey::RunTime => setup.run_time = run_time(reader, &mut scan)?,
        SetupKey::RampUpTime => {
            setup.ramp_up_seconds = reader.unsigned(&mut scan, "ramp up time")?
        }
        SetupKey::DiskWorkers => setup.disk_workers = worker_count(reader, &mut scan)?,
        SetupKey::NetworkWorkers => setup.network_workers = worker_count(reader, &mut scan)?,
        SetupKey::OldWorkers => {
            setup.disk_workers = match worker_count(reader, &mut scan)? {
                // In this old key, 0 means one worker per CPU.
                WorkerCount::Count(0) => WorkerCount::PerCpu,
                count => count,
            };
        }
        SetupKey::RecordResults => setup.record_results = record_results(reader, &mut scan)?,
        SetupKey::WorkerCycling => setup.worker_cycling = cycling(reader, &mut scan)?,
        SetupKey::DiskCycling => setup.disk_cycling = cycling(reader, &mut scan)?,
        SetupKey::QueueDepthCycling => {
            setup.queue_depth_cycling = depth_cycling(reader, &mut scan)?
        }
        SetupKey::TestType => setup.test_type = test_type(reader, &mut scan)?,
        SetupKey::End => {}
    }
    reader.warn_about_trailing_text(scan);
    Ok(())
}

fn run_time<'a>(reader: &mut IcfReader<'a>, scan: &mut Scanner<'a>) -> Result<RunTime, Diagnostic> {
    let time = RunTime {
        hours: reader.unsigned(scan, "number of hours")?,
        minutes: reader.unsigned(scan, "number of minutes")?,
        seconds: reader.unsigned(scan, "number of seconds")?,
    };
    if time.total_seconds() > IOMETER_RUN_SECONDS {
        let message = "run time of more than 24 days, which Iometer cannot hold";
        let finding = reader.at(scan.line(), message);
        reader.warn(finding.help("shorten the run time"));
    }
    Ok(time)
}

fn worker_count<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<WorkerCount, Diagnostic> {
    if scan.rest().eq_ignore_ascii_case("NUMBER_OF_CPUS") {
        scan.word();
        return Ok(WorkerCount::PerCpu);
    }
    let count = reader.signed(scan, "number of workers")?;
    // -1 also means one worker per CPU.
    Ok(u32::try_from(count).map_or(WorkerCount::PerCpu, WorkerCount::Count))
}

fn record_results<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<RecordResults, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    if let Some(record) = RecordResults::from_word(word) {
        return Ok(record);
    }
    let message = format!("`{}` is not a choice of results", plan::printable(word));
    let finding = reader.at_byte(scan.line(), at, message);
    reader.warn_or_fail(finding.help(format!("write one of {}", RecordResults::choices())))?;
    Ok(RecordResults::All)
}

fn cycling<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<IcfCycling, Diagnostic> {
    Ok(IcfCycling {
        start: reader.unsigned(scan, "start")?,
        step: reader.unsigned(scan, "step")?,
        step_type: step_type(reader, scan)?,
    })
}

fn depth_cycling<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<QueueDepthCycling, Diagnostic> {
    Ok(QueueDepthCycling {
        start: reader.unsigned(scan, "start")?,
        end: reader.unsigned(scan, "end")?,
        step: reader.unsigned(scan, "step")?,
        step_type: step_type(reader, scan)?,
    })
}

fn step_type<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<StepKind, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    StepKind::from_word(word).ok_or_else(|| {
        let message = format!("`{}` is not a step type", plan::printable(word));
        let finding = reader.at_byte(scan.line(), at, message);
        finding.help(format!("write one of {}", StepKind::choices()))
    })
}

fn test_type<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<TestType, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    TestType::from_word(word).ok_or_else(|| {
        let message = format!("`{}` is not a test type", plan::printable(word));
        let finding = reader.at_byte(scan.line(), at, message);
        finding.help(format!("write one of {}", TestType::choices()))
    })
}
