//! The section `TEST SETUP`.

use super::document::{Cycling, QueueDepthCycling, RunTime, TestSetup, WorkerCount};
use super::keywords::{RecordResults, StepType, TestType};
use super::reader::{Block, Keys, Reader};
use super::scan::Scanner;
use super::text::Line;
use plan::Diagnostic;

const BLOCK: Block = Block {
    name: "TEST SETUP",
    end: "'END test setup",
};

#[derive(Debug, Clone, Copy)]
enum Key {
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

const KEYS: &Keys<Key> = &[
    ("'Test Description", Key::Description),
    ("'Run Time", Key::RunTime),
    ("'Ramp Up Time*", Key::RampUpTime),
    ("'Default Disk Workers to Spawn", Key::DiskWorkers),
    ("'Default Network Workers to Spawn", Key::NetworkWorkers),
    ("'Default Workers to Spawn", Key::OldWorkers),
    ("'Record Results", Key::RecordResults),
    ("'Worker Cycling", Key::WorkerCycling),
    ("'Disk Cycling", Key::DiskCycling),
    ("'Queue Depth Cycling", Key::QueueDepthCycling),
    ("'Test Type", Key::TestType),
    (BLOCK.end, Key::End),
];

/// Longest run time that Iometer keeps, in seconds: milliseconds in 32 bits.
const IOMETER_RUN_SECONDS: u64 = i32::MAX as u64 / 1000;

/// Reads the section behind its first line. Old files do not end it: there it ends before the
/// first line that is not one of its keys.
pub(super) fn read(reader: &mut Reader<'_>, open_ended: bool) -> Result<TestSetup, Diagnostic> {
    let mut setup = TestSetup::default();
    loop {
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
        if matches!(key, Key::End) {
            return Ok(setup);
        }
        let value = reader.value(line, BLOCK, KEYS)?;
        read_value(reader, key, value, &mut setup)?;
    }
}

fn read_value<'a>(
    reader: &mut Reader<'a>,
    key: Key,
    value: Line<'a>,
    setup: &mut TestSetup,
) -> Result<(), Diagnostic> {
    let mut scan = Scanner::new(value);
    match key {
        Key::Description => {
            setup.description = value.trimmed().to_owned();
            return Ok(());
        }
        Key::RunTime => setup.run_time = run_time(reader, &mut scan)?,
        Key::RampUpTime => setup.ramp_up_seconds = reader.unsigned(&mut scan, "ramp up time")?,
        Key::DiskWorkers => setup.disk_workers = worker_count(reader, &mut scan)?,
        Key::NetworkWorkers => setup.network_workers = worker_count(reader, &mut scan)?,
        Key::OldWorkers => {
            setup.disk_workers = match worker_count(reader, &mut scan)? {
                WorkerCount::Count(0) => WorkerCount::PerCpu,
                count => count,
            };
        }
        Key::RecordResults => setup.record_results = record_results(reader, &mut scan)?,
        Key::WorkerCycling => setup.worker_cycling = cycling(reader, &mut scan)?,
        Key::DiskCycling => setup.disk_cycling = cycling(reader, &mut scan)?,
        Key::QueueDepthCycling => setup.queue_depth_cycling = depth_cycling(reader, &mut scan)?,
        Key::TestType => setup.test_type = test_type(reader, &mut scan)?,
        Key::End => {}
    }
    reader.end_of_value(scan);
    Ok(())
}

fn run_time<'a>(reader: &mut Reader<'a>, scan: &mut Scanner<'a>) -> Result<RunTime, Diagnostic> {
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
    reader: &mut Reader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<WorkerCount, Diagnostic> {
    if scan.rest().eq_ignore_ascii_case("NUMBER_OF_CPUS") {
        scan.word();
        return Ok(WorkerCount::PerCpu);
    }
    let count = reader.signed(scan, "number of workers")?;
    Ok(u32::try_from(count).map_or(WorkerCount::PerCpu, WorkerCount::Count))
}

fn record_results<'a>(
    reader: &mut Reader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<RecordResults, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    if let Some(record) = RecordResults::from_word(word) {
        return Ok(record);
    }
    let message = format!("`{}` is not a choice of results", plan::printable(word));
    let finding = reader.at_byte(scan.line(), at, message);
    reader.forgive(finding.help(format!("write one of {}", RecordResults::choices())))?;
    Ok(RecordResults::All)
}

fn cycling<'a>(reader: &mut Reader<'a>, scan: &mut Scanner<'a>) -> Result<Cycling, Diagnostic> {
    Ok(Cycling {
        start: reader.unsigned(scan, "start")?,
        step: reader.unsigned(scan, "step")?,
        step_type: step_type(reader, scan)?,
    })
}

fn depth_cycling<'a>(
    reader: &mut Reader<'a>,
    scan: &mut Scanner<'a>,
) -> Result<QueueDepthCycling, Diagnostic> {
    Ok(QueueDepthCycling {
        start: reader.unsigned(scan, "start")?,
        end: reader.unsigned(scan, "end")?,
        step: reader.unsigned(scan, "step")?,
        step_type: step_type(reader, scan)?,
    })
}

fn step_type<'a>(reader: &mut Reader<'a>, scan: &mut Scanner<'a>) -> Result<StepType, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    StepType::from_word(word).ok_or_else(|| {
        let message = format!("`{}` is not a step type", plan::printable(word));
        let finding = reader.at_byte(scan.line(), at, message);
        finding.help(format!("write one of {}", StepType::choices()))
    })
}

fn test_type<'a>(reader: &mut Reader<'a>, scan: &mut Scanner<'a>) -> Result<TestType, Diagnostic> {
    let at = scan.at();
    let word = scan.word();
    TestType::from_word(word).ok_or_else(|| {
        let message = format!("`{}` is not a test type", plan::printable(word));
        let finding = reader.at_byte(scan.line(), at, message);
        finding.help(format!("write one of {}", TestType::choices()))
    })
}
