//! The tests of one size, as phases.

use workload::program::{
    Access, Act, Before, Call, Copies, Deck, Ending, FileOperation, FilePath, FilesetPlan, Group,
    Law, Measure, OpenSync, Program, ProgramPart, ProgramPhase, Share, Way, Where, Which,
};

use super::Sizes;
use super::options::{Durable, Options};
use super::shuffle::shuffled;
use crate::acts::{fileset, moving, named, only, opened, phase, quota, seeking};

/// Ways of opening, by their numbers.
const UPDATE: u8 = 0;
const READ: u8 = 1;
const AT_OFFSETS: u8 = 2;
const READ_AT_OFFSETS: u8 = 3;
/// Permissions of the file.
const PERMISSIONS: u32 = 0o640;
/// What lies between two tests of several.
const PAUSE_NS: u64 = 2_000_000_000;

/// A test: its phases, in the order in which they are done.
pub(super) struct Test {
    pub number: u8,
    /// The name of a phase, and what it is in reports of several.
    pub passes: &'static [(&'static str, &'static str)],
}

/// One after the other.
pub(super) const SINGLE: [Test; 10] = [
    WRITE, READS, RANDOM, BACKWARD, REWRITE, STRIDE, FWRITE, FREAD, PWRITE, PREAD,
];
/// At once.
pub(super) const THROUGHPUT: [Test; 11] = [
    WRITE,
    READS,
    BACKWARD,
    STRIDE,
    RANDOM_READ,
    MIXED,
    RANDOM_WRITE,
    PWRITE,
    PREAD,
    FWRITE,
    FREAD,
];

const WRITE: Test = Test {
    number: 0,
    passes: &[("write", " initial writers"), ("rewrite", " rewriters")],
};
const READS: Test = Test {
    number: 1,
    passes: &[("read", " readers"), ("reread", "re-readers")],
};
const RANDOM: Test = Test {
    number: 2,
    passes: &[("random read", ""), ("random write", "")],
};
const RANDOM_READ: Test = Test {
    number: 2,
    passes: &[("random read", "random readers")],
};
const RANDOM_WRITE: Test = Test {
    number: 2,
    passes: &[("random write", "random writers")],
};
const BACKWARD: Test = Test {
    number: 3,
    passes: &[("backward read", "reverse readers")],
};
const REWRITE: Test = Test {
    number: 4,
    passes: &[("record rewrite", "")],
};
const STRIDE: Test = Test {
    number: 5,
    passes: &[("stride read", "stride readers")],
};
const FWRITE: Test = Test {
    number: 6,
    passes: &[("fwrite", "fwriters"), ("frewrite", "re-fwriters")],
};
const FREAD: Test = Test {
    number: 7,
    passes: &[("fread", "freaders"), ("freread", "re-freaders")],
};
const MIXED: Test = Test {
    number: 8,
    passes: &[("mixed", "mixed workload")],
};
const PWRITE: Test = Test {
    number: 9,
    passes: &[
        ("pwrite", "pwrite writers"),
        ("repwrite", "pwrite re-writers"),
    ],
};
const PREAD: Test = Test {
    number: 10,
    passes: &[("pread", "pread readers"), ("repread", "pread re-readers")],
};

pub(super) fn program(options: &Options, size: Sizes) -> Program {
    let files = FilesetPlan {
        size: Law::fixed(size.file_kib << 10),
        copies: Copies::PerWorker,
        ..fileset("file", "", "iozone.DUMMY.", 1)
    };
    let tests: &[Test] = match options.children {
        Some(_) => &THROUGHPUT,
        None => &SINGLE,
    };
    let tests = tests.iter().filter(|test| options.has(test.number));
    let mut parts = Vec::new();
    for test in tests {
        for (pass, (name, _)) in test.passes.iter().enumerate() {
            // What is read at random and written at random are two tests.
            let is_again = pass > 0 && test.number != 2;
            if is_again && !options.repeats {
                continue;
            }
            let mut phase = Tests { options, size }.phase(test.number, name);
            if options.children.is_some() && !parts.is_empty() {
                phase.before = vec![Before::Sync, Before::Pause { ns: PAUSE_NS }];
            }
            parts.push(ProgramPart::Phase(phase.clone()));
            // The original reads backward twice, and prints the first.
            if test.number == 3 && options.repeats && options.children.is_none() {
                phase.name = "backward reread".to_owned();
                phase.is_hidden = true;
                parts.push(ProgramPart::Phase(phase));
            }
        }
    }
    Program {
        filesets: vec![files],
        ways: ways(options),
        parts,
        ..Program::default()
    }
}

fn ways(options: &Options) -> Vec<Way> {
    let sync = match options.sync {
        Durable::No => OpenSync::No,
        Durable::Data => OpenSync::Data,
        Durable::All => OpenSync::All,
    };
    let way = |name: &str, access, seeks| Way {
        access,
        sync,
        seeks,
        is_direct: options.is_direct,
        permissions: PERMISSIONS,
        ..seeking(name)
    };
    vec![
        way("update", Access::ReadWrite, true),
        way("read", Access::Read, true),
        way("update at offsets", Access::ReadWrite, false),
        way("read at offsets", Access::Read, false),
    ]
}

/// How the tests of one size are done.
struct Tests<'a> {
    options: &'a Options,
    size: Sizes,
}

impl Tests<'_> {
    fn record_bytes(&self) -> u64 {
        self.size.record_kib << 10
    }

    fn phase(&self, test: u8, name: &str) -> ProgramPhase {
        let first = match name {
            "mixed" => return self.mixed(),
            _ => self.group(test, name),
        };
        let is_written_once = matches!(name, "write" | "random write" | "pwrite");
        self.with_wall(phase(name, first), is_written_once)
    }

    /// Those who are not first note how far they are, or leave it at that.
    fn with_wall(&self, mut phase: ProgramPhase, is_finished: bool) -> ProgramPhase {
        let is_together = self.options.children.is_some() && self.options.has_stonewall;
        phase.first_done = is_together.then_some(match is_finished {
            true => Ending::Finish,
            false => Ending::Stop,
        });
        phase
    }

    fn group(&self, test: u8, name: &str) -> Group {
        use FileOperation::{Read, Write};
        let (operation, way, place) = match (test, name) {
            (0 | 6, _) => (Write, UPDATE, Where::Here),
            (1 | 7, _) => (Read, READ, Where::Here),
            (2, "random read") => (Read, UPDATE, self.at_random()),
            (2, _) => (Write, UPDATE, self.at_random()),
            (3, _) => (
                Read,
                READ,
                self.along(FilePath::Backward {
                    step_bytes: self.step_bytes(),
                }),
            ),
            (4, _) => (Write, UPDATE, Where::At(0)),
            (5, _) => (Read, READ, self.along(self.strided())),
            (9, _) => (Write, AT_OFFSETS, Where::Here),
            _ => (Read, READ_AT_OFFSETS, Where::Here),
        };
        let mut enter = Vec::new();
        if name == "write" {
            let create = named(FileOperation::Create, only(0, Which::Absent, 0), way);
            enter.extend([create, opened(FileOperation::Close)]);
        }
        enter.push(named(FileOperation::Open, only(0, Which::Present, 0), way));
        enter.push(opened(FileOperation::Fsync));
        // What is looked up at the first call is no part of the time.
        match test {
            1 => enter.push(self.record(Read, Where::At(0))),
            4 => enter.push(self.record(Write, Where::At(0))),
            _ => {}
        }
        let (last, leave) = self.closing();
        let is_dealt = matches!(place, Where::Dealt { .. });
        let mut body = vec![self.record(operation, place)];
        if is_dealt {
            body = vec![Act::Deal(Deck {
                // No more than are listed.
                cards: shuffled(self.size.records() as u32),
                is_shared: false,
                choices: vec![body],
            })];
        }
        Group {
            name: name.to_owned(),
            workers: Some(self.size.children),
            enter,
            body,
            last,
            leave,
            quotas: vec![quota(Measure::Rounds, self.size.records(), Share::Each)],
            ..Group::default()
        }
    }

    /// What is flushed and closed within the time, and behind it.
    fn closing(&self) -> (Vec<Act>, Vec<Act>) {
        let (mut last, mut leave) = (Vec::new(), Vec::new());
        let Options {
            flushes, closes, ..
        } = *self.options;
        if flushes {
            last.push(opened(FileOperation::Fsync));
        } else if !closes {
            leave.push(opened(FileOperation::Fsync));
        }
        match closes {
            true => last.push(opened(FileOperation::Close)),
            false => leave.push(opened(FileOperation::Close)),
        }
        (last, leave)
    }

    /// Some read at random and the others write.
    fn mixed(&self) -> ProgramPhase {
        let all = self.size.children;
        let readers = match self.options.readers_percent {
            Some(percent) => all * percent / 100,
            None => all.div_ceil(2),
        };
        let of = |name: &str, workers| Group {
            workers: Some(workers),
            ..self.group(2, name)
        };
        let groups = [
            of("random read", readers),
            of("random write", all - readers),
        ];
        let mut mixed = ProgramPhase {
            name: "mixed".to_owned(),
            groups: groups.into(),
            ..ProgramPhase::default()
        };
        mixed.groups.retain(|group| group.workers != Some(0));
        self.with_wall(mixed, false)
    }

    fn record(&self, operation: FileOperation, place: Where) -> Act {
        Act::Call(Call {
            place,
            ..moving(operation, self.record_bytes())
        })
    }

    fn along(&self, path: FilePath) -> Where {
        Where::Along(path)
    }

    /// No more than 16 MiB.
    fn step_bytes(&self) -> u32 {
        self.record_bytes() as u32
    }

    fn at_random(&self) -> Where {
        let step_bytes = self.step_bytes();
        match self.size.is_listed() {
            true => Where::Dealt { step_bytes },
            false => self.along(FilePath::Shuffled { step_bytes }),
        }
    }

    /// Where another stride would reach the last record it goes back, a record further on; in a
    /// file of no more records than a stride to the beginning.
    fn strided(&self) -> FilePath {
        let stride_bytes = self.options.stride * self.record_bytes();
        FilePath::Strided {
            stride_bytes,
            shift_bytes: match self.size.records() > self.options.stride {
                true => self.record_bytes(),
                false => 0,
            },
            margin_bytes: stride_bytes + 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Program {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = Options::read(&words).unwrap();
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
    fn flushing_and_closing_stand_where_they_are_timed() {
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
    fn several_at_once_end_together() {
        let program = of("-t 3 -s 1m -r 128k");
        assert!(program.check().is_ok(), "{:?}", program.check());
        let ends: Vec<_> = phases(&program)
            .iter()
            .map(|it| (it.name.as_str(), it.first_done))
            .collect();
        let stop = Some(Ending::Stop);
        assert_eq!(
            ends[..2],
            [("write", Some(Ending::Finish)), ("rewrite", stop)]
        );
        let mixed = phases(&program);
        let mixed = mixed.iter().find(|it| it.name == "mixed").unwrap();
        let workers: Vec<_> = mixed.groups.iter().map(|it| it.workers).collect();
        assert_eq!(workers, [Some(2), Some(1)]);
        assert_eq!(mixed.before.len(), 2);
        let free = of("-t 3 -x");
        assert!(phases(&free).iter().all(|it| it.first_done.is_none()));
    }
}
