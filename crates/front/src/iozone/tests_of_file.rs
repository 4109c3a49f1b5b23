//! The tests of one combination of sizes, as phases.

use plan::program::{
    Access, Act, Call, CallPosition, Deck, FileFilter, FileOperation, FilePath, FilesetPlan,
    FilesetSharing, Group, Law, OpenModePlan, PhaseEndAction, PhasePreparation, Program,
    ProgramPhase,
};

use super::TestSizes;
use super::options::IozoneOptions;
use super::shuffle::shuffled;
use crate::acts::{
    NS_PER_SECOND, fileset, group, in_turn, moving, named, only, opened, pause_before, phase,
    rounds, seeking,
};
use crate::rows::{number, rows};

/// Indexes of the ways of opening.
const UPDATE: u8 = 0;
const READ: u8 = 1;
const AT_OFFSETS: u8 = 2;
const READ_AT_OFFSETS: u8 = 3;
/// Permissions of the file.
const PERMISSIONS: u32 = 0o640;
/// Pause between two tests of several children.
const PAUSE_NS: u64 = 2_000_000_000;

/// Numbers of tests for `-i`. Random read and random write share one.
const RANDOM: u8 = 2;
const BACKWARD: u8 = 3;

/// A test, which becomes a phase.
pub(super) struct Test {
    pub name: &'static str,
    /// Number for `-i`.
    number: u8,
    /// Width of its column; 0 if it only runs with several children.
    pub width: usize,
    /// Title of its spreadsheet table.
    pub title: &'static str,
    order: u8,
    /// Name in the report of several children.
    pub report: &'static str,
    /// Name in the spreadsheet of several children.
    pub children_title: &'static str,
}

/// Tests of a single stream or of several children, in their order.
pub(super) fn tests(is_together: bool) -> Vec<Test> {
    let tests = rows(include_str!("tests.txt"));
    let tests = tests.map(|[name, test, width, title, turn, report, together]| Test {
        name,
        number: number(test),
        width: number(width),
        title,
        order: number(turn),
        report,
        children_title: together,
    });
    if !is_together {
        return tests.filter(|it| it.width > 0).collect();
    }
    let mut tests: Vec<Test> = tests.filter(|it| it.order > 0).collect();
    tests.sort_by_key(|it| it.order);
    tests
}

pub(super) fn program(options: &IozoneOptions, size: TestSizes) -> Program {
    let files = FilesetPlan {
        size: Law::fixed(size.file_kib << 10),
        copies: FilesetSharing::PerWorker,
        ..fileset("file", "", "iozone.DUMMY.", 1)
    };
    let is_together = options.is_together();
    let cell = IozoneCell { options, size };
    let mut phases = Vec::new();
    let mut last = None;
    for test in tests(is_together) {
        let Test { name, number, .. } = test;
        // Random read and random write share a number, but neither repeats the other.
        let is_again = number != RANDOM && last.replace(number) == Some(number);
        if !options.has(number) || (is_again && !options.retests) {
            continue;
        }
        let mut phase = cell.phase(number, name);
        if is_together && !phases.is_empty() {
            // The original syncs and sleeps for 2 s between the tests of several children.
            phase.before = vec![
                PhasePreparation::Sync,
                PhasePreparation::Pause { ns: PAUSE_NS },
            ];
        }
        if !phases.is_empty() {
            pause_before(&mut phase, u64::from(options.rest_seconds) * NS_PER_SECOND);
        }
        phases.push(phase.clone());
        // The original reads backward twice, and prints the first result.
        if number == BACKWARD && options.retests && !is_together {
            phases.push(ProgramPhase {
                name: "backward reread".to_owned(),
                is_hidden: true,
                ..phase
            });
        }
    }
    Program {
        filesets: vec![files],
        ways: ways(options),
        ..in_turn(phases)
    }
}

fn ways(options: &IozoneOptions) -> Vec<OpenModePlan> {
    let mode = |name: &str, access, seeks| OpenModePlan {
        access,
        sync: options.sync,
        seeks,
        is_direct: options.is_direct,
        permissions: PERMISSIONS,
        ..seeking(name)
    };
    vec![
        mode("update", Access::ReadWrite, true),
        mode("read", Access::Read, true),
        // The tests of `pwrite` and `pread` pass offsets; all others use the file position.
        mode("update at offsets", Access::ReadWrite, false),
        mode("read at offsets", Access::Read, false),
    ]
}

/// The options and sizes of one cell.
struct IozoneCell<'a> {
    options: &'a IozoneOptions,
    size: TestSizes,
}

impl IozoneCell<'_> {
    fn record_bytes(&self) -> u64 {
        self.size.record_kib << 10
    }

    fn phase(&self, test: u8, name: &str) -> ProgramPhase {
        // In these tests, the original lets the other children finish their files; in all others
        // they stop.
        let is_written_once = matches!(name, "write" | "random write" | "pwrite");
        match name {
            "mixed" => self.with_stonewall(self.mixed(), false),
            _ => self.with_stonewall(phase(name, self.group(test, name)), is_written_once),
        }
    }

    /// Sets the stonewall: later children continue and note their progress, or stop.
    fn with_stonewall(&self, mut phase: ProgramPhase, is_finished: bool) -> ProgramPhase {
        let is_together = self.options.is_together() && self.options.has_stonewall;
        phase.first_done = is_together.then_some(match is_finished {
            true => PhaseEndAction::Finish,
            false => PhaseEndAction::Stop,
        });
        phase
    }

    fn group(&self, test: u8, name: &str) -> Group {
        use FileOperation::{Read, Write};
        let backward = FilePath::Backward {
            step_bytes: self.step_bytes(),
        };
        let (operation, way, place) = match (test, name) {
            // With a stream buffer of one record, `fwrite` makes one `write` for each record.
            (0 | 6, _) => (Write, UPDATE, CallPosition::Here),
            (1 | 7, _) => (Read, READ, CallPosition::Here),
            // The original opens the file for reading and writing in both random tests.
            (RANDOM, "random read") => (Read, UPDATE, self.at_random()),
            (RANDOM, _) => (Write, UPDATE, self.at_random()),
            (BACKWARD, _) => (Read, READ, CallPosition::Along(backward)),
            (4, _) => (Write, UPDATE, CallPosition::At(0)),
            (5, _) => (Read, READ, CallPosition::Along(self.strided())),
            (9, _) => (Write, AT_OFFSETS, CallPosition::Here),
            _ => (Read, READ_AT_OFFSETS, CallPosition::Here),
        };
        let mut enter = Vec::new();
        // The original creates the file and closes it before it opens it for the test.
        if name == "write" {
            let create = named(FileOperation::Create, only(0, FileFilter::Absent, 0), way);
            enter.extend([create, opened(FileOperation::Close)]);
        }
        enter.push(named(
            FileOperation::Open,
            only(0, FileFilter::Present, 0),
            way,
        ));
        // The original also syncs before it starts the clock.
        enter.push(opened(FileOperation::Fsync));
        // One record is moved before the measurement, so lookups of the first call are not timed.
        if matches!(test, 1 | 4) {
            enter.push(self.record(operation, CallPosition::At(0)));
        }
        let is_dealt = matches!(place, CallPosition::Dealt { .. });
        let compute_ns = u64::from(self.options.compute_ms) * 1_000_000;
        let compute = (compute_ns > 0).then(|| Act::Burn(Law::fixed(compute_ns)));
        let record = compute.into_iter().chain([self.record(operation, place)]);
        let record: Vec<Act> = record.collect();
        let body = match is_dealt {
            true => vec![Act::Deal(Deck {
                // At most `LISTED_MAX` records, so the number fits.
                cards: shuffled(self.size.records() as u32),
                is_shared: false,
                choices: vec![record],
            })],
            false => record,
        };
        let (last, leave) = self.closing();
        Group {
            workers: Some(self.size.children),
            enter,
            last,
            leave,
            quotas: rounds(self.size.records()),
            ..group(name, body)
        }
    }

    /// Acts of flushing and closing: within the measured time, and after it.
    fn closing(&self) -> (Vec<Act>, Vec<Act>) {
        let [flush, close] = [FileOperation::Fsync, FileOperation::Close].map(opened);
        match (self.options.flushes, self.options.closes) {
            (false, false) => (Vec::new(), vec![flush, close]),
            (true, false) => (vec![flush], vec![close]),
            (false, true) => (vec![close], Vec::new()),
            (true, true) => (vec![flush, close], Vec::new()),
        }
    }

    /// The mixed test: some children read random records and the others write them.
    fn mixed(&self) -> ProgramPhase {
        let all = self.size.children;
        let readers = match self.options.readers_percent {
            Some(percent) => all * percent / 100,
            // In the original, children with even numbers read and those with odd numbers write.
            None => all.div_ceil(2),
        };
        let groups = [("random read", readers), ("random write", all - readers)];
        let groups = groups.into_iter().filter(|(_, workers)| *workers > 0);
        let groups = groups.map(|(name, workers)| Group {
            workers: Some(workers),
            ..self.group(RANDOM, name)
        });
        ProgramPhase {
            name: "mixed".to_owned(),
            groups: groups.collect(),
            ..ProgramPhase::default()
        }
    }

    fn record(&self, operation: FileOperation, position: CallPosition) -> Act {
        Act::Call(Call {
            place: position,
            ..moving(operation, self.record_bytes())
        })
    }

    /// The record size, which is at most 16 MiB.
    fn step_bytes(&self) -> u32 {
        self.record_bytes() as u32
    }

    fn at_random(&self) -> CallPosition {
        let step_bytes = self.step_bytes();
        match self.size.is_listed() {
            true => CallPosition::Dealt { step_bytes },
            false => CallPosition::Along(FilePath::Shuffled { step_bytes }),
        }
    }

    /// Reads with a stride. If the next stride would reach the last record, it restarts at the
    /// beginning, one record further on. Files of at most one stride restart without that shift.
    fn strided(&self) -> FilePath {
        let stride_bytes = self.options.stride * self.record_bytes();
        FilePath::Strided {
            stride_bytes,
            shift_bytes: match self.size.records() > self.options.stride {
                true => self.record_bytes(),
                false => 0,
            },
            // The original needs more room than a stride to continue, but a path continues with
            // exactly its margin.
            margin_bytes: stride_bytes + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Program {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = IozoneOptions::read(&words).unwrap();
        let size = super::super::matrix(&options)[0];
        program(&options, size)
    }

    fn phases(program: &Program) -> Vec<&ProgramPhase> {
        let phases = program.phases().into_iter();
        phases.filter(|phase| !phase.is_hidden).collect()
    }

    #[test]
    fn each_test_has_its_phases_and_each_record_its_call() {
        let program = of("-s 1m -r 4k -E");
        let names: Vec<&str> = phases(&program).iter().map(|it| it.name.as_str()).collect();
        assert_eq!(
            names.join(", "),
            "write, rewrite, read, reread, random read, random write, backward read, \
             record rewrite, stride read, fwrite, frewrite, fread, freread, pwrite, repwrite, \
             pread, repread"
        );
        assert!(program.check().is_ok(), "{:?}", program.check());
        for phase in phases(&program) {
            assert_eq!(phase.groups[0].quotas[0].count, 256);
            assert_eq!(phase.first_done, None);
        }
        let names: usize = phases(&of("-+n")).len();
        assert_eq!(names, 9);
    }

    #[test]
    fn the_worker_computes_before_each_record() {
        let body = |line: &str| phases(&of(line))[2].groups[0].body.clone();
        assert!(matches!(
            body("-J 2 -i 1 -i 0")[..],
            [Act::Burn(_), Act::Call(_)]
        ));
        assert!(matches!(body("-J 0 -i 1 -i 0")[..], [Act::Call(_)]));
    }

    #[test]
    fn flush_and_close_are_timed_only_on_request() {
        let counts = |line: &str| {
            let program = of(line);
            let group = &phases(&program)[0].groups[0];
            (group.last.len(), group.leave.len())
        };
        assert_eq!(counts("-i 0"), (0, 2));
        assert_eq!(counts("-i 0 -e"), (1, 1));
        assert_eq!(counts("-i 0 -c"), (1, 0));
        assert_eq!(counts("-i 0 -e -c"), (2, 0));
    }

    #[test]
    fn parallel_processes_stop_when_the_first_finishes() {
        let program = of("-t 3 -s 1m -r 128k");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let ends: Vec<_> = phases(&program)
            .iter()
            .map(|it| (it.name.as_str(), it.first_done))
            .collect();
        let stop = Some(PhaseEndAction::Stop);
        assert_eq!(
            ends[..2],
            [("write", Some(PhaseEndAction::Finish)), ("rewrite", stop)]
        );
        let mixed = phases(&program);
        let mixed = mixed.iter().find(|it| it.name == "mixed").unwrap();
        let workers: Vec<_> = mixed.groups.iter().map(|it| it.workers).collect();
        assert_eq!(workers, [Some(2), Some(1)]);
        assert_eq!(mixed.before.len(), 2);
        let rested = of("-t 3 -+q 1");
        let rested = phases(&rested);
        assert_eq!((rested[0].before.len(), rested[1].before.len()), (0, 3));
        let free = of("-t 3 -x");
        assert!(phases(&free).iter().all(|it| it.first_done.is_none()));
    }
}
