//! The tests of one combination of sizes, as phases.

use plan::program::{
    Access, Act, CallPosition, FileFilter, FileOperation, FilePath, FilesetPlan, FilesetSharing,
    Group, Law, OpenModePlan, PhaseEndAction, PhasePreparation, Program, ProgramPhase,
};

use super::TestSizes;
use super::options::IozoneOptions;
use super::records::{READ_TEST, RecordActs, WRITE, record};
use crate::acts::{
    NS_PER_SECOND, fileset, group, hidden, in_turn, moving, named, only, opened, pause_before,
    phase, rounds, seeking,
};
use crate::rows::{number, rows};

/// Indexes of the ways of opening.
const UPDATE: u8 = 0;
const READ: u8 = 1;
const AT_OFFSETS: u8 = 2;
const READ_AT_OFFSETS: u8 = 3;
const UPDATE_MAPPED: u8 = 4;
const READ_MAPPED: u8 = 5;
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
    pub number: u8,
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
        copies: match options.shares_file {
            true => FilesetSharing::One,
            false => FilesetSharing::PerWorker,
        },
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
        if options.mount_point.is_some() {
            phase.before.push(PhasePreparation::Remount);
        }
        if is_together && !phases.is_empty() {
            // The original syncs and sleeps for 2 s between the tests of several children.
            phase.before.extend([
                PhasePreparation::Sync,
                PhasePreparation::Pause { ns: PAUSE_NS },
            ]);
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
    if options.shares_file {
        phases.insert(0, cell.shared_creation());
    }
    Program {
        filesets: vec![files],
        ways: ways(options),
        logs_calls: options.has_latency_files,
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
    let mapped = |name: &str, access| OpenModePlan {
        mapped: options.mapped,
        ..mode(name, access, false)
    };
    let mut ways = vec![
        mode("update", Access::ReadWrite, true),
        mode("read", Access::Read, true),
        // The tests of `pwrite` and `pread` pass offsets; all others use the file position.
        mode("update at offsets", Access::ReadWrite, false),
        mode("read at offsets", Access::Read, false),
    ];
    if options.mapped.is_some() {
        ways.push(mapped("update mapped", Access::ReadWrite));
        ways.push(mapped("read mapped", Access::Read));
    }
    ways
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
        // The original maps the file for the calls at the file position only.
        let way = match (self.options.mapped, test, way) {
            (None, ..) | (_, 6 | 7, _) => way,
            (_, _, UPDATE) => UPDATE_MAPPED,
            (_, _, READ) => READ_MAPPED,
            _ => way,
        };
        let enter = self.opening(test, name, (operation, way));
        let acts = RecordActs {
            options: self.options,
            size: self.size,
            test,
        };
        let (body, round_count) = acts.body(operation, place);
        let (mut last, leave) = self.closing();
        if self.options.locks {
            last.insert(0, opened(FileOperation::Unlock));
        }
        Group {
            workers: Some(self.size.children),
            enter,
            last,
            leave,
            quotas: rounds(round_count),
            ..group(name, body)
        }
    }

    /// Acts before the measured time: creation, opening, and the first call.
    fn opening(&self, test: u8, name: &str, (operation, way): (FileOperation, u8)) -> Vec<Act> {
        // The original creates the file and closes it before it opens it for the test.
        let creates = name == "write" || name == "fwrite" && !self.options.has(WRITE);
        let mut enter = match creates && !self.options.shares_file {
            true => self.creation(way),
            false => Vec::new(),
        };
        enter.push(named(
            FileOperation::Open,
            only(0, FileFilter::Present, 0),
            way,
        ));
        let lock = match operation {
            FileOperation::Read => FileOperation::LockShared,
            _ => FileOperation::Lock,
        };
        enter.extend(self.options.locks.then(|| opened(lock)));
        // The original also syncs before it starts the clock.
        enter.push(opened(FileOperation::Fsync));
        // One record is moved before the measurement, so lookups of the first call are not timed.
        if matches!(test, READ_TEST | 4) {
            enter.push(record(operation, CallPosition::At(0), self.record_bytes()));
        }
        enter
    }

    /// Acts that create the file.
    fn creation(&self, way: u8) -> Vec<Act> {
        let create = named(FileOperation::Create, only(0, FileFilter::Absent, 0), way);
        // A mapping cannot grow its file.
        let bytes = self.size.file_kib << 10;
        let lengthen = Act::Call(moving(FileOperation::Truncate, bytes));
        let lengthen = self.options.mapped.map(|_| lengthen);
        let close = opened(FileOperation::Close);
        [create]
            .into_iter()
            .chain(lengthen)
            .chain([close])
            .collect()
    }

    /// Creates the file that all children share, because only one of them can create it.
    fn shared_creation(&self) -> ProgramPhase {
        let way = match self.options.mapped {
            Some(_) => UPDATE_MAPPED,
            None => UPDATE,
        };
        let group = Group {
            name: "create".to_owned(),
            workers: Some(1),
            first: self.creation(way),
            ..Group::default()
        };
        hidden("create the file", group)
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
        let readers = match (self.options.readers_percent, self.options.readers) {
            (Some(percent), _) => all * percent / 100,
            (None, Some(readers)) => readers.min(all),
            // In the original, children with even numbers read and those with odd numbers write.
            (None, None) => all.div_ceil(2),
        };
        let is_sequential = self.options.is_mix_sequential;
        let [reading, writing] = match is_sequential {
            true => [(READ_TEST, "reread"), (WRITE, "rewrite")],
            false => [(RANDOM, "random read"), (RANDOM, "random write")],
        };
        let groups = [(reading, readers), (writing, all - readers)];
        let groups = groups.into_iter().filter(|(_, workers)| *workers > 0);
        let groups = groups.map(|((test, name), workers)| {
            let mut group = self.group(test, name);
            group.workers = Some(workers);
            // The original only looks at `-+F` in the sequential mix.
            if test == WRITE && self.options.is_mix_emptying {
                group.enter.push(opened(FileOperation::Truncate));
            }
            group
        });
        ProgramPhase {
            name: "mixed".to_owned(),
            groups: groups.collect(),
            ..ProgramPhase::default()
        }
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
    fn a_reader_jumps_before_every_hundredth_record() {
        let program = of("-s 1m -r 4k -i 0 -i 1 -K");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let phases = phases(&program);
        assert!(matches!(phases[0].groups[0].body[..], [Act::Call(_)]));
        let [Act::Deal(deck)] = &phases[2].groups[0].body[..] else {
            panic!("{:?}", phases[2]);
        };
        assert_eq!((deck.cards.len(), deck.choices[0].len()), (100, 3));
        assert_eq!((deck.cards[0].choice, deck.cards[1].choice), (0, 1));
    }

    #[test]
    fn a_burst_ends_with_a_sync_and_a_pause() {
        let program = of("-s 1m -r 64k -i 0 -i 1 -+b 256k,10");
        let phases = phases(&program);
        let [Act::Deal(deck)] = &phases[0].groups[0].body[..] else {
            panic!("{:?}", phases[0]);
        };
        let choices: Vec<u8> = deck.cards.iter().map(|card| card.choice).collect();
        assert_eq!(choices, [1, 1, 1, 0]);
        assert!(matches!(
            deck.choices[0][..],
            [Act::Call(_), Act::Call(_), Act::Think(_)]
        ));
        assert!(matches!(phases[2].groups[0].body[..], [Act::Call(_)]));
    }

    #[test]
    fn locks_are_held_during_a_test() {
        let program = of("-s 1m -r 64k -i 0 -i 1 -W -e");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let has = |acts: &[Act], wanted: FileOperation| {
            acts.iter()
                .any(|act| matches!(act, Act::Call(call) if call.operation == wanted))
        };
        let phases = phases(&program);
        let (write, read) = (&phases[0].groups[0], &phases[2].groups[0]);
        assert!(has(&write.enter, FileOperation::Lock));
        assert!(has(&read.enter, FileOperation::LockShared));
        let unlock = opened(FileOperation::Unlock);
        assert_eq!((&write.last[0], &read.last[0]), (&unlock, &unlock));
    }

    #[test]
    fn only_tests_at_the_file_position_are_mapped() {
        let program = of("-s 1m -r 64k -B -E -i 0 -i 6 -i 9 -i 2");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let ways: Vec<u8> = phases(&program)
            .iter()
            .map(|phase| {
                let calls = phase.groups[0].enter.iter();
                let opening = |act: &Act| match act {
                    Act::Call(call) if call.operation == FileOperation::Open => Some(call.way),
                    _ => None,
                };
                calls.filter_map(opening).next().unwrap()
            })
            .collect();
        let mapped = UPDATE_MAPPED;
        assert_eq!(
            ways,
            [mapped, mapped, mapped, mapped, AT_OFFSETS, AT_OFFSETS]
        );
    }

    #[test]
    fn a_mix_can_be_sequential_and_have_a_number_of_readers() {
        let program = of("-t 3 -i 0 -i 8 -+B -+F -+K 1");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let mixed = phases(&program);
        let mixed = mixed.iter().find(|it| it.name == "mixed").unwrap();
        let groups = mixed.groups.iter();
        let groups: Vec<_> = groups.map(|it| (it.name.as_str(), it.workers)).collect();
        assert_eq!(groups, [("reread", Some(1)), ("rewrite", Some(2))]);
        let truncate = opened(FileOperation::Truncate);
        assert!(mixed.groups[1].enter.contains(&truncate));
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
    fn children_can_share_a_file_that_one_of_them_creates() {
        for line in [
            "-t 3 -+V",
            "-t 2 -+V -B",
            "-t 2 -+V -i 6",
            "-t 2 -+V -E -i 0 -i 8 -i 9",
        ] {
            let program = of(line);
            assert!(program.check().is_ok(), "{line}: {:?}", program.check());
            assert_eq!(program.filesets[0].copies, FilesetSharing::One);
            let all = program.phases();
            assert!(all[0].is_hidden, "{line}");
            let create =
                |act: &Act| matches!(act, Act::Call(it) if it.operation == FileOperation::Create);
            let creating = all.iter().filter(|phase| {
                let mut acts = phase
                    .groups
                    .iter()
                    .flat_map(|it| it.enter.iter().chain(&it.first));
                acts.any(create)
            });
            assert_eq!(creating.count(), 1, "{line}");
        }
        // A single stream shares its file with nobody.
        assert_eq!(of("-+V").filesets[0].copies, FilesetSharing::PerWorker);
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
