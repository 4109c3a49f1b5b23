//! Programs made of any bytes: each says the next choice, and where there are no more all are 0.

use plan::Distribution;
use plan::program::{
    Act, AmountScope, Band, Call, CallObject, CallPosition, CounterSelection, DirectoryTree,
    FileFilter, FileNames, FileOperation, FilePath, FileSharing, FilesetPlan, FilesetSharing,
    Group, Law, Measure, MovedBytes, OpenModePlan, Pick, PickOrder, Program, ProgramPart,
    ProgramPhase, Quota, RoundsEnd, Shape, TakeAmount, Tokens, TreeGrowth,
};

const OPERATIONS: [FileOperation; 18] = [
    FileOperation::Create,
    FileOperation::Open,
    FileOperation::Close,
    FileOperation::Read,
    FileOperation::Write,
    FileOperation::Fsync,
    FileOperation::Fdatasync,
    FileOperation::Stat,
    FileOperation::Unlink,
    FileOperation::Mkdir,
    FileOperation::Rmdir,
    FileOperation::Rename,
    FileOperation::Link,
    FileOperation::Symlink,
    FileOperation::List,
    FileOperation::Truncate,
    FileOperation::Chmod,
    FileOperation::Sync,
];

/// How deep acts are nested.
const DEPTH_MAX: u8 = 4;

struct Choices<'a>(&'a [u8]);

/// The program that the bytes say.
#[must_use]
pub fn program_of(bytes: &[u8]) -> Program {
    Choices(bytes).program()
}

impl Choices<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().unwrap_or((&0, &[]));
        self.0 = rest;
        *first
    }

    fn below(&mut self, count: u8) -> u8 {
        self.byte() % count
    }

    fn is(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    /// Small amounts mostly, but any.
    fn amount(&mut self) -> u64 {
        match self.byte() {
            255 => u64::from_le_bytes(std::array::from_fn(|_| self.byte())),
            small @ 0..128 => small.into(),
            large => u64::from(large) << (self.byte() % 24),
        }
    }

    fn real(&mut self) -> f64 {
        self.amount() as f64 / 16.0
    }

    fn many<T>(&mut self, most: u8, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let count = self.below(most + 1);
        (0..count).map(|_| one(self)).collect()
    }

    fn law(&mut self) -> Law {
        let shape = match self.below(7) {
            0 => Shape::Fixed(self.amount()),
            1 => Shape::Uniform {
                low: self.amount(),
                high: self.amount(),
            },
            2 => Shape::Exponential { mean: self.real() },
            3 => Shape::Gamma {
                mean: self.real(),
                shape: self.real(),
            },
            4 => Shape::Normal {
                mean: self.real(),
                deviation: self.real(),
            },
            5 => Shape::LogNormal {
                median: self.real(),
                spread: self.real(),
            },
            _ => Shape::Table(self.many(3, |it| Band {
                weight: it.below(4).into(),
                low: it.amount(),
                high: it.amount(),
            })),
        };
        let most = self.amount();
        Law {
            base: if self.is() { self.amount() } else { 0 },
            least: if self.is() { self.amount() } else { 0 },
            most: if most == 0 { u64::MAX } else { most },
            step: if self.is() { self.amount() } else { 0 },
            ..Law::of(shape)
        }
    }

    fn distribution(&mut self) -> Distribution {
        match self.below(4) {
            0 => Distribution::Uniform,
            1 => Distribution::Zipf { theta: self.real() },
            2 => Distribution::Pareto {
                h: self.real() / 16.0,
            },
            _ => Distribution::Normal {
                deviation_percent: self.real(),
            },
        }
    }

    fn pick(&mut self) -> Pick {
        Pick {
            fileset: self.below(4),
            which: [FileFilter::Present, FileFilter::Absent, FileFilter::Any]
                [usize::from(self.below(3))],
            order: match self.below(8) {
                0 => PickOrder::Next,
                1 => PickOrder::Back,
                2 => PickOrder::Shuffled,
                3 => PickOrder::Around,
                4 => PickOrder::Index(self.below(20).into()),
                5 => PickOrder::ByLaw(self.law()),
                6 => PickOrder::Drawn(Distribution::NoRepeat),
                _ => PickOrder::Drawn(self.distribution()),
            },
            turn: [FileSharing::Own, FileSharing::Slice, FileSharing::Shared]
                [usize::from(self.below(3))],
        }
    }

    fn place(&mut self) -> CallPosition {
        match self.below(9) {
            0 => CallPosition::Here,
            1 => CallPosition::Same,
            2 => CallPosition::End,
            3 => CallPosition::At(self.amount()),
            4 => CallPosition::Along(FilePath::Backward {
                step_bytes: self.amount() as u32,
            }),
            5 => CallPosition::Along(FilePath::Shuffled {
                step_bytes: self.amount() as u32,
            }),
            6 => CallPosition::Along(FilePath::Strided {
                stride_bytes: self.amount(),
                shift_bytes: self.amount(),
                margin_bytes: self.amount(),
            }),
            7 => CallPosition::Along(FilePath::Blocks {
                block_bytes: self.amount(),
                stride_bytes: self.amount(),
                each_bytes: self.amount(),
                block_count: self.amount(),
            }),
            _ => CallPosition::Random {
                distribution: self.distribution(),
                align_bytes: self.amount() as u32,
                is_nominal: self.is(),
            },
        }
    }

    fn call(&mut self) -> Call {
        let operation = OPERATIONS[usize::from(self.below(18))];
        let on = match self.below(4) {
            0 => CallObject::Handle,
            1 => CallObject::Name(self.pick()),
            2 => CallObject::Same,
            _ => CallObject::Directory,
        };
        let is_moving = operation.moves() || operation == FileOperation::Truncate;
        let mut call = Call::new(operation, on);
        call.second = operation.has_second_name().then(|| self.pick());
        call.handle = self.below(3);
        call.way = self.below(3);
        call.label = self.is().then(|| self.below(3));
        if is_moving {
            call.piece_bytes = self.amount() as u32;
            call.place = self.place();
            call.bytes = match self.below(5) {
                0 => MovedBytes::Rest,
                1 => MovedBytes::Size,
                2 => MovedBytes::SizeOf {
                    handle: self.below(3),
                },
                _ => MovedBytes::Law(self.law()),
            };
        }
        call
    }

    /// Acts that pass more often: a file is opened, worked on and closed.
    fn whole_file(&mut self) -> Vec<Act> {
        let handle = self.below(3);
        let (operation, which) = match self.is() {
            true => (FileOperation::Create, FileFilter::Absent),
            false => (FileOperation::Open, FileFilter::Present),
        };
        let pick = Pick {
            which,
            ..self.pick()
        };
        let mut acts = vec![Call::new(operation, CallObject::Name(pick))];
        for _ in 0..self.below(3) {
            let moved = [FileOperation::Read, FileOperation::Write][usize::from(self.is())];
            acts.push(Call {
                place: self.place(),
                bytes: MovedBytes::Law(self.law()),
                piece_bytes: self.amount() as u32,
                ..Call::new(moved, CallObject::Handle)
            });
        }
        acts.push(Call::new(FileOperation::Close, CallObject::Handle));
        let with_handle = |call| Act::Call(Call { handle, ..call });
        acts.into_iter().map(with_handle).collect()
    }

    fn acts(&mut self, depth: u8) -> Vec<Act> {
        let lists = self.many(3, |it| it.some_acts(depth));
        lists.concat()
    }

    fn some_acts(&mut self, depth: u8) -> Vec<Act> {
        let kinds = if depth < DEPTH_MAX { 12 } else { 8 };
        let act = match self.below(kinds) {
            0..3 => return self.whole_file(),
            3 => Act::Call(self.call()),
            4 => Act::Think(self.law()),
            5 => Act::Put {
                tokens: self.below(2),
                count: self.below(4).into(),
                whose: self.whose(),
            },
            6 => Act::Take {
                tokens: self.below(2),
                count: match self.is() {
                    true => TakeAmount::Fixed(self.below(4).into()),
                    false => TakeAmount::Since {
                        what: self.measure(),
                        each: self.amount(),
                    },
                },
                whose: self.whose(),
            },
            7 => Act::Meet(self.below(2)),
            8 => Act::Times(self.law(), self.acts(depth + 1)),
            9 => Act::Step(self.below(3), self.acts(depth + 1)),
            10 => Act::Transaction(self.below(3), self.acts(depth + 1)),
            _ => Act::Mix(self.many(3, |it| (it.below(9).into(), it.acts(depth + 1)))),
        };
        vec![act]
    }

    fn whose(&mut self) -> CounterSelection {
        [
            CounterSelection::Mine,
            CounterSelection::Each,
            CounterSelection::Turns,
        ][usize::from(self.below(3))]
    }

    fn measure(&mut self) -> Measure {
        match self.below(5) {
            0 => Measure::Rounds,
            1 => Measure::Bytes,
            2 => Measure::Calls,
            3 => Measure::Steps(self.below(3)),
            _ => Measure::StepBytes(self.below(3)),
        }
    }

    fn group(&mut self) -> Group {
        Group {
            name: "group".to_owned(),
            workers: Some(1),
            enter: if self.is() { self.acts(2) } else { Vec::new() },
            first: if self.is() { self.acts(2) } else { Vec::new() },
            body: self.acts(0),
            last: if self.is() { self.acts(2) } else { Vec::new() },
            quotas: self.many(2, |it| Quota {
                what: it.measure(),
                count: it.amount(),
                of: [AmountScope::Each, AmountScope::Group][usize::from(it.is())],
            }),
            ..Group::default()
        }
    }

    fn phase(&mut self) -> ProgramPhase {
        ProgramPhase {
            name: "phase".to_owned(),
            time_ns: self.is().then(|| self.amount()),
            ramp_ns: self.amount(),
            groups: self.many(3, Self::group),
            ..ProgramPhase::default()
        }
    }

    fn fileset(&mut self) -> FilesetPlan {
        FilesetPlan {
            name: String::new(),
            path: String::new(),
            copies: [FilesetSharing::One, FilesetSharing::PerWorker][usize::from(self.is())],
            count: 1 + u32::from(self.byte()),
            names: FileNames::Number {
                before: "f".to_owned(),
                digits: self.below(9).into(),
                after: String::new(),
            },
            tree: match self.below(5) {
                0 => DirectoryTree::Turns {
                    directories: self.byte().into(),
                },
                1 => DirectoryTree::Blocks {
                    each: self.byte().into(),
                },
                2 => DirectoryTree::Grown(TreeGrowth {
                    width: self.law(),
                    gamma_permille: self.amount() as u32,
                    is_size_of_tree: self.is(),
                    of_directories: self.is(),
                }),
                3 => DirectoryTree::DirectoriesOf {
                    fileset: self.below(3),
                },
                _ => DirectoryTree::Flat,
            },
            size: self.law(),
            present_permille: 0,
        }
    }

    fn program(&mut self) -> Program {
        let mut filesets = self.many(3, Self::fileset);
        for (index, set) in filesets.iter_mut().enumerate() {
            set.name = format!("set{index}");
            set.path.clone_from(&set.name);
        }
        let rounds = self.many(2, |it| ProgramPart::Rounds {
            until: match it.below(3) {
                0 => RoundsEnd::Times(it.byte().into()),
                1 => RoundsEnd::Spent { ns: it.amount() },
                _ => RoundsEnd::Full,
            },
            parts: it.many(2, |it| ProgramPart::Phase(it.phase())),
        });
        let mut parts = self.many(2, |it| ProgramPart::Phase(it.phase()));
        parts.extend(rounds);
        Program {
            labels: ["one", "two", "three"].map(str::to_owned).to_vec(),
            filesets,
            ways: vec![OpenModePlan::default(); 3],
            tokens: self.many(2, |it| Tokens {
                name: String::new(),
                counters: it.below(4).into(),
                start: it.below(9).into(),
                room: it.is().then(|| it.below(9).into()),
                refill: None,
            }),
            parts,
            pool: None,
            attributes: Vec::new(),
            lasting: None,
            logs_calls: false,
        }
    }
}
