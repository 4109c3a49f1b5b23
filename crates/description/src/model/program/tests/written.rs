use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;

use units::Span;

use super::super::call::largest;
use super::program;
use crate::builtin;
use crate::load_builtin;
use crate::model::{ConvertedProgram, Workload};
use crate::{read_toml, to_toml};
use plan::FrontOrigin;
use plan::program::{
    Act, AmountScope, Call, CallObject, CallPosition, FileNames, FileOperation, FilesetPlan, Group,
    Law, ListedFiles, Measure, MovedBytes, Program, ProgramPart, RoundsEnd, TakeAmount, Trace,
};

#[path = "../../../../../plan/tests/any_program/mod.rs"]
mod any_program;

/// A workload of that program.
fn built(program: &Program) -> Workload {
    Workload {
        name: Some("x".to_owned()),
        built: Some(Box::new(ConvertedProgram {
            origin: FrontOrigin::default(),
            program: program.clone(),
            is_in_place: false,
            is_checked: false,
            own_helps: crate::model::OwnHelps::default(),
        })),
        ..Workload::default()
    }
}

/// The program after conversion to TOML and back.
fn converted_back(workload: &Workload) -> Result<Program, String> {
    let text = to_toml(workload).map_err(|error| error.to_string())?;
    let read = read_toml("x.toml", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert!(read.built.is_none());
    let written = to_toml(&read).unwrap();
    assert_eq!(written, text);
    Ok(program(&read).unwrap_or_else(|flaw| panic!("{flaw:?}\n{text}")))
}

/// Numbers in the order in which they are first met.
#[derive(Default)]
struct Renumbered(Vec<u8>);

impl Renumbered {
    fn of(&mut self, number: &mut u8) {
        let known = self.0.iter().position(|it| it == number);
        let index = known.unwrap_or_else(|| {
            self.0.push(*number);
            self.0.len() - 1
        });
        *number = u8::try_from(index).unwrap();
    }
}

/// A program in the one form of all that mean the same: what has no effect is not there, and what
/// is only a number is numbered in order.
struct Plain {
    labels: Renumbered,
    meetings: Renumbered,
    attributes: Renumbered,
    filesets: Vec<FilesetPlan>,
}

fn plain(program: &Program) -> Program {
    let mut program = program.clone();
    let mut of = Plain {
        labels: Renumbered::default(),
        meetings: Renumbered::default(),
        attributes: Renumbered::default(),
        filesets: program.filesets.clone(),
    };
    for (index, way) in program.ways.iter_mut().enumerate() {
        way.name = index.to_string();
    }
    for set in &mut program.filesets {
        plain_law(&mut set.size);
    }
    for phase in program.phases_mut() {
        for group in &mut phase.groups {
            of.group(group);
        }
    }
    let labels = of.labels.0.iter();
    program.labels = labels
        .map(|label| program.labels[usize::from(*label)].clone())
        .collect();
    let attributes = of.attributes.0.iter();
    program.attributes = attributes
        .map(|number| program.attributes[usize::from(*number)].clone())
        .collect();
    program
}

fn plain_law(law: &mut Law) {
    if let Some(amount) = law.always() {
        *law = Law::fixed(amount);
    }
}

impl Plain {
    fn group(&mut self, group: &mut Group) {
        let mut handles = Renumbered(vec![0]);
        for acts in [
            &mut group.enter,
            &mut group.first,
            &mut group.body,
            &mut group.last,
            &mut group.leave,
        ] {
            self.acts(acts, &mut handles);
        }
        for quota in &mut group.quotas {
            self.measure(&mut quota.what);
        }
        group.quotas.sort_by_key(|quota| format!("{quota:?}"));
    }

    fn acts(&mut self, acts: &mut [Act], handles: &mut Renumbered) {
        for act in acts {
            match act {
                Act::Call(call) => self.call(call, handles),
                Act::Times(law, acts) => {
                    plain_law(law);
                    self.acts(acts, handles);
                }
                Act::Mix(branches) => branches
                    .iter_mut()
                    .for_each(|(_, acts)| self.acts(acts, handles)),
                Act::Step(label, acts) | Act::Transaction(label, acts) => {
                    self.labels.of(label);
                    self.acts(acts, handles);
                }
                Act::Think(law) | Act::Burn(law) => plain_law(law),
                Act::Take {
                    count: TakeAmount::Since { what, .. },
                    ..
                } => self.measure(what),
                Act::Meet(number) => self.meetings.of(number),
                Act::Put { .. } | Act::Take { .. } | Act::Walk(_) | Act::Deal(_) => {}
            }
        }
    }

    fn measure(&mut self, measure: &mut Measure) {
        if let Measure::Steps(label) | Measure::StepBytes(label) = measure {
            self.labels.of(label);
        }
    }

    fn call(&mut self, call: &mut Call, handles: &mut Renumbered) {
        let operation = call.operation;
        if !operation.opens() {
            call.way = 0;
        }
        if !operation.moves() {
            call.piece_bytes = 0;
            call.place = CallPosition::Here;
            if operation != FileOperation::Truncate && !operation.has_attribute() {
                call.bytes = MovedBytes::default();
            }
        }
        if operation == FileOperation::Sync {
            (call.on, call.handle) = (CallObject::Handle, 0);
        }
        let most = largest(&call.bytes, &self.filesets);
        if most.is_some_and(|most| most <= u64::from(call.piece_bytes)) {
            call.piece_bytes = 0;
        }
        match &mut call.bytes {
            MovedBytes::Law(law) => plain_law(law),
            MovedBytes::SizeOf { handle } => handles.of(handle),
            MovedBytes::Rest | MovedBytes::Size => {}
        }
        handles.of(&mut call.handle);
        if operation.has_attribute() {
            self.attributes.of(&mut call.attribute);
        }
        if let Some(label) = &mut call.label {
            self.labels.of(label);
        }
    }
}

/// What other programs' files say and few others do.
const ALL: &str = r#"
seed = 4

[[fileset]]
name = "tree"
count = 60
first = 1
names = "{worker:02}.file.{number}.{round}"
files_per_directory = 4
nested = { names = "d{number:3}", fan = 3, nesting = "heap" }
present = 50
size = { gamma = "16KiB", shape = 1.5, base = "1KiB", most = "1MiB", step = "512B" }

[[fileset]]
name = "branches"
count = 9
paths = { names = "d{worker}.{number}", fan = 3 }
path = ""

[[fileset]]
name = "leaves"
count = 100
grown = { width = { exponential = 4.5 }, gamma = 1.5, draws_sizes = true }
present = 100
size = { normal = "1536.25B", deviation = "100.5B", most = "1MiB" }

[[fileset]]
name = "twigs"
count = 20
directories_of = "leaves"

[[fileset]]
name = "buds"
count = 5
copies = "per-worker"
grown = { width = 3, only_directories = true }

[[way]]
name = "read and write"
default = true
sync = "data"
permissions = "640"

[[way]]
name = "pieces"
seek = true

[[way]]
name = "units"
unit = "4KiB"
access = "write"
append = true
truncate = true
existing = true
direct = true

[[tokens]]
name = "lock"
counters = 2
room = 3
rate = "33.25/s"
at_once = 2
most = 7

[[phase]]
name = "one"
hidden = true
before = ["sync", { pause = "2s" }]
first_done = "finish"

[[phase.group]]
name = "a"
workers = 2
shift = 1
enter = [{ mkdir = "buds", handle = "bud" }]
body = [
  { step = "look", do = [
    { list = "twigs", which = "any", pick = { law = { uniform = [1, 30] } } },
  ] },
  { open = "tree", pick = "no-repeat", handle = "in", way = "pieces" },
  { read = "size of @in", piece = "1KiB", handle = "in",
    at = { strided = "8KiB", shift = "1KiB" } },
  { write = 10000000, piece = 10000000, handle = "in", at = { random = { zones = [
    { access = 80, size = 20 }, { access = 20, size = 80 } ] }, align = 512 } },
  { close = "@in" },
  { take = "lock", per_bytes = "1MiB", of = "look" },
  { put = "lock", count = 2, whose = "each" },
  { rename = "@in", to = "tree", to_pick = { zones = [{ access = 100, size = 100 }] },
    to_which = "any", to_turn = "slice" },
  { burn = { exponential = "2.75ns" } },
]
step_bytes = { look = "1MiB" }
rounds = 10
together = true

[[phase.group]]
name = "b"
workers = 1
body = [{ meet = "noon" }, { mix = [
  { share = 2, transaction = "t", do = ["sync"] },
  { share = 1, do = [{ unlink = "leaves" }] },
] }, { rmdir = "branches", pick = "back" }, { mkdir = "branches", which = "absent" }]
calls = 100

[[rounds]]
after = "one"
times = 3
[[rounds.phase]]
name = "two"
[[rounds.phase.group]]
body = [{ stat = "leaves" }]

[[phase]]
name = "three"
run_time = "10s"
ramp_time = "1s"
time_up = "level"
[[phase.group]]
name = "c"
body = [{ stat = "tree", pick = "shuffled", turn = "shared" }]
when_out = "skip"
on_failure = "count"
"#;

fn everything() -> Program {
    let workload = read_toml("x.toml", ALL).unwrap_or_else(|error| panic!("{error}"));
    program(&workload).unwrap_or_else(|flaw| panic!("{}", flaw.message))
}

#[test]
fn everything_a_file_can_express_is_written_back_unchanged() {
    let own = everything();
    assert_eq!(converted_back(&built(&own)).unwrap(), own);
}

#[test]
fn a_list_has_one_line_per_act() {
    let text = to_toml(&built(&everything())).unwrap();
    let group = text.find("name = \"b\"\n").unwrap();
    let wanted = "name = \"b\"\nworkers = 1\nbody = [\n  \
                  { meet = \"meeting-1\" },\n  { mix = [\n    \
                  { share = 2, transaction = \"t\", do = [\"sync\"] },\n    \
                  { share = 1, do = [{ unlink = \"leaves\" }] },\n  ] },\n  \
                  { rmdir = \"branches\", pick = \"back\" },\n  \
                  { mkdir = \"branches\" },\n]\ncalls = 100\n";
    assert_eq!(&text[group..group + wanted.len()], wanted);
}

#[test]
fn keys_outside_phases_are_kept_unless_the_phases_repeat_them() {
    let mut own = built(&everything());
    own.run_time = Some(Span::from_secs(3));
    own.description = Some("name = \"group-0-0\"\n[[phase.group]]\n".to_owned());
    let text = to_toml(&own).unwrap();
    let read = read_toml("x.toml", &text).unwrap();
    assert_eq!((read.run_time, &read.description), (None, &own.description));
    assert_eq!(program(&read).unwrap(), program(&own).unwrap());
    let pack = Workload {
        part: vec![own.clone(), own],
        ..Workload::default()
    };
    let read = read_toml("x.toml", &to_toml(&pack).unwrap()).unwrap();
    assert_eq!(read.part[1].phase, read.part[0].phase);
    assert_eq!(read.part[1].phase.len(), 2);
}

fn listed() -> ListedFiles {
    let name = |number: u32| format!("f{number}").into_boxed_str();
    ListedFiles::new((0..20).map(name).collect(), [].into())
}

fn group(own: &mut Program) -> &mut Group {
    &mut own.phases_mut().swap_remove(0).groups[0]
}

#[test]
fn settings_that_no_file_can_express_are_refused_by_name() {
    let refused = |change: fn(&mut Program), reason: &str| {
        let mut own = everything();
        change(&mut own);
        let error = converted_back(&built(&own)).unwrap_err();
        let wanted = format!("error: `x` cannot be converted: {reason}\nhelp: ");
        assert!(error.starts_with(&wanted), "{error}");
    };
    refused(
        |own| {
            group(own).trace = Some(Box::new(Trace {
                file: "client.txt".to_owned(),
                calls_count: 7,
                ..Trace::default()
            }));
        },
        "it has the 7 recorded calls of `client.txt`",
    );
    refused(
        |own| {
            let inner = own.parts.remove(1);
            own.parts.push(ProgramPart::Rounds {
                until: RoundsEnd::Full,
                parts: vec![inner],
            });
        },
        "it has rounds within rounds",
    );
    refused(
        |own| {
            let ProgramPart::Rounds { until, .. } = &mut own.parts[1] else {
                panic!("{:?}", own.parts[1]);
            };
            *until = RoundsEnd::Fitting {
                times: Some(2),
                bytes: 4096,
            };
        },
        "rounds end before one that would not fit",
    );
    refused(
        |own| own.filesets[3].names = FileNames::Listed(listed()),
        "names of `twigs` are arbitrary",
    );
    refused(
        |own| own.parts.swap(0, 1),
        "rounds come before its first phase",
    );
    refused(
        |own| group(own).quotas[0].of = AmountScope::Each,
        "amounts of each worker and amounts of all together end the group `a`",
    );
    refused(
        |own| own.phases_mut()[0].time_ns = Some(u64::MAX),
        "`run_time` is 213503d23h34m33.709551615s, more than 30d",
    );
    refused(
        |own| {
            own.filesets[0].names = FileNames::Number {
                before: "{".to_owned(),
                digits: 0,
                after: String::new(),
            };
        },
        "the names `{{number}` have more than one number",
    );
}

#[test]
fn ambiguous_names_are_replaced_by_plain_ones() {
    let mut own = everything();
    own.filesets[0].name = " @tree\n".to_owned();
    own.filesets[1].name = "directory of @".to_owned();
    own.ways[1].name = "default".to_owned();
    own.labels = vec!["same".to_owned(), "same".to_owned()];
    let text = to_toml(&built(&own)).unwrap_err().to_string();
    assert!(text.contains("no name on one line"), "{text}");
    own.filesets[0].name = " @tree".to_owned();
    let mut read = converted_back(&built(&own)).unwrap();
    assert_eq!(read.filesets[0].name, "-tree");
    assert_eq!(read.filesets[1].name, "directory-of--");
    assert_eq!(read.ways[1].name, "default-2");
    assert_eq!(read.labels, ["same", "same-2"]);
    for (set, written) in read.filesets.iter_mut().zip(&own.filesets) {
        set.name.clone_from(&written.name);
    }
    read.labels.clone_from(&own.labels);
    read.ways.clone_from(&own.ways);
    assert_eq!(read, own);
}

#[test]
fn every_built_in_program_reads_back_the_same() {
    let mut count = 0;
    for builtin in builtin::list() {
        for workload in load_builtin(builtin.name).unwrap() {
            if workload.phase.is_empty() && workload.rounds.is_empty() {
                continue;
            }
            let own = program(&workload).unwrap();
            assert_eq!(
                converted_back(&built(&own)).unwrap(),
                own,
                "{}",
                builtin.name
            );
            count += 1;
        }
    }
    assert!(count >= 4, "{count}");
}

#[test]
fn every_valid_program_reads_back_the_same() {
    let mut runner = TestRunner::deterministic();
    let mut count = 0;
    for _ in 0..2000 {
        let tree = any_program::program();
        let mut own = tree.new_tree(&mut runner).unwrap().current();
        for phase in own.phases_mut() {
            // A file has 30 days at most.
            phase.time_ns = phase.time_ns.map(|ns| ns % 1_000_000_000_000);
            phase.ramp_ns %= 1_000_000_000_000;
        }
        for part in &mut own.parts {
            if let ProgramPart::Rounds {
                until: RoundsEnd::Spent { ns },
                ..
            } = part
            {
                *ns %= 1_000_000_000_000;
            }
        }
        if own.check().is_err() {
            continue;
        }
        assert_eq!(plain(&converted_back(&built(&own)).unwrap()), plain(&own));
        count += 1;
    }
    assert!(count > 100, "{count}");
}
