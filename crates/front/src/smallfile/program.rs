//! The only phase that is measured, with what it needs before.

use workload::program::{
    Act, Call, Copies, Ending, FileOperation, FilesetPlan, Law, Program, ProgramPart, ProgramPhase,
    Shape, Way, Where, Which,
};

use super::operation::{Done, Opening};
use super::options::Options;
use crate::acts::{
    between, fileset, group, hidden, moving_all, named, nested, next, numbered_from, opened, phase,
};

/// Numbers of the filesets: files, and what they are renamed to or linked from.
const SOURCE: u8 = 0;
const OTHER: u8 = 1;
/// Ways of opening: as files are, and emptied.
const PLAIN: u8 = 0;
const EMPTYING: u8 = 1;

/// What the threads do on that host.
pub(super) fn program(options: &Options, host: &str) -> Program {
    let name = options.operation.name();
    let mut parts = Vec::new();
    if options.operation.call() == FileOperation::Rmdir {
        let make = named(FileOperation::Mkdir, next(SOURCE, Which::Absent), PLAIN);
        let made = hidden("make directories", group("threads", vec![make]));
        parts.push(ProgramPart::Phase(made));
    }
    let mut body = vec![Act::Transaction(0, acts(options))];
    if options.pause_us > 0 {
        body.push(Act::Think(Law::fixed(u64::from(options.pause_us) * 1000)));
    }
    let ending = match options.is_finished {
        true => Ending::Finish,
        false => Ending::Stop,
    };
    parts.push(ProgramPart::Phase(ProgramPhase {
        first_done: options.has_stonewall.then_some(ending),
        ..phase(name, group("threads", body))
    }));
    let emptying = Way {
        name: "emptying".to_owned(),
        is_truncating: true,
        ..Way::default()
    };
    Program {
        labels: vec![name.to_owned()],
        filesets: filesets(options, host),
        ways: vec![Way::default(), emptying],
        parts,
        ..Program::default()
    }
}

/// The files and their other names. What the operation works on is there before.
fn filesets(options: &Options, host: &str) -> Vec<FilesetPlan> {
    let operation = &options.operation;
    let is_other = matches!(operation.done, Done::Other(_));
    let is_file_there = !is_other && !operation.makes() && operation.call() != FileOperation::Rmdir;
    let ending = match operation.call().is_of_directories() {
        true => ".d",
        false => "",
    };
    let other_ending = match operation.call() {
        FileOperation::Symlink => ".s",
        _ => "",
    };
    vec![
        files(options, host, ("file_srcdir", ending), is_file_there),
        files(options, host, ("file_dstdir", other_ending), is_other),
    ]
}

fn files(
    options: &Options,
    host: &str,
    (directory, ending): (&str, &str),
    is_there: bool,
) -> FilesetPlan {
    let path = match options.is_shared {
        true => directory.to_owned(),
        false => format!("{directory}/{host}/thrd_{{worker:02}}"),
    };
    let bytes = u64::from(options.file_kib) << 10;
    let size = match options.is_exponential {
        false => Law::fixed(bytes),
        true => Law {
            least: 1024,
            most: bytes.saturating_mul(8).max(1024),
            ..Law::of(Shape::Exponential {
                mean: bytes.max(1) as f64,
            })
        },
    };
    FilesetPlan {
        copies: Copies::PerWorker,
        names: numbered_from(
            1,
            format!("{}_{host}_{{worker:02}}_", options.prefix),
            format!("_{}{ending}", options.suffix),
        ),
        tree: nested(
            options.files_per_directory,
            "d_",
            3,
            options.directories_per_directory,
        ),
        size,
        present_permille: if is_there { 1000 } else { 0 },
        ..fileset(directory, &path, "", options.files)
    }
}

/// What is done to a file.
fn acts(options: &Options) -> Vec<Act> {
    use FileOperation as Op;
    let open = |operation, which, way| named(operation, next(SOURCE, which), way);
    // A record has at most 1 MiB.
    let moving = |operation| moving_all(operation, options.record_bytes() as u32);
    match options.operation.done {
        Done::Write(opening) => {
            let open = match opening {
                Opening::New => open(Op::Create, Which::Absent, PLAIN),
                Opening::AtStart | Opening::AtEnd => open(Op::Open, Which::Present, PLAIN),
                Opening::Emptied => open(Op::Open, Which::Present, EMPTYING),
            };
            let write = Call {
                place: match opening {
                    Opening::AtEnd => Where::End,
                    _ => Where::Here,
                },
                ..moving(Op::Write)
            };
            let sync = options.is_synced.then(|| opened(Op::Fsync));
            let acts = [open, Act::Call(write)].into_iter();
            acts.chain(sync).chain([opened(Op::Close)]).collect()
        }
        Done::Read => vec![
            open(Op::Open, Which::Present, PLAIN),
            Act::Call(moving(Op::Read)),
            opened(Op::Close),
        ],
        Done::Name(call) => {
            let which = if call.makes() {
                Which::Absent
            } else {
                Which::Present
            };
            vec![named(call, next(SOURCE, which), PLAIN)]
        }
        Done::Other(call) => vec![named(call, next(OTHER, Which::Present), PLAIN)],
        Done::Both(call) => {
            let to = next(OTHER, Which::Absent);
            vec![between(call, next(SOURCE, Which::Present), to)]
        }
    }
}
