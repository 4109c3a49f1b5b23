//! The only phase that is measured, with what it needs before.

use plan::program::{
    Act, Call, Copies, Ending, FileOperation, FilesetPlan, Law, Program, ProgramPhase, Shape, Way,
    Where, Which,
};

use super::operation::{Done, Opening};
use super::options::Options;
use crate::acts::{
    between, fileset, group, hidden, in_turn, moving_all, nested, next, numbered_from, on_file,
    on_next, phase,
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
    let make = on_next(FileOperation::Mkdir, SOURCE, PLAIN);
    let made = hidden("make directories", group("threads", vec![make]));
    let has_made = options.operation.call() == FileOperation::Rmdir;
    let mut body = vec![Act::Transaction(0, acts(options))];
    if options.pause_us > 0 {
        body.push(Act::Think(Law::fixed(u64::from(options.pause_us) * 1000)));
    }
    let ending = match options.is_finished {
        true => Ending::Finish,
        false => Ending::Stop,
    };
    let done = ProgramPhase {
        first_done: options.has_stonewall.then_some(ending),
        ..phase(name, group("threads", body))
    };
    let phases = has_made.then_some(made).into_iter().chain([done]);
    let emptying = Way {
        name: "emptying".to_owned(),
        is_truncating: true,
        ..Way::default()
    };
    Program {
        labels: vec![name.to_owned()],
        filesets: filesets(options, host),
        ways: vec![Way::default(), emptying],
        ..in_turn(phases)
    }
}

/// The files and their other names. What the operation works on is there before.
fn filesets(options: &Options, host: &str) -> Vec<FilesetPlan> {
    let operation = &options.operation;
    let is_other = matches!(operation.done, Done::Other(_));
    let is_file_there = !is_other && !operation.makes() && operation.call() != FileOperation::Rmdir;
    let is_directory = operation.call().is_of_directories();
    let is_linked = operation.call() == FileOperation::Symlink;
    let ending = if is_directory { ".d" } else { "" };
    let other_ending = if is_linked { ".s" } else { "" };
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
    let before = format!("{}_{host}_{{worker:02}}_", options.prefix);
    let each = options.files_per_directory;
    FilesetPlan {
        copies: Copies::PerWorker,
        names: numbered_from(1, before, format!("_{}{ending}", options.suffix)),
        tree: nested(each, "d_", 3, options.directories_per_directory),
        size,
        present_permille: if is_there { 1000 } else { 0 },
        ..fileset(directory, &path, "", options.files)
    }
}

/// What is done to a file.
fn acts(options: &Options) -> Vec<Act> {
    use FileOperation as Op;
    // A record has at most 1 MiB.
    let record_bytes = options.record_bytes() as u32;
    let moving = |operation, place| {
        let call = moving_all(operation, record_bytes);
        Act::Call(Call { place, ..call })
    };
    match options.operation.done {
        Done::Write(opening) => {
            let open = match opening {
                Opening::New => on_next(Op::Create, SOURCE, PLAIN),
                Opening::AtStart | Opening::AtEnd => on_next(Op::Open, SOURCE, PLAIN),
                Opening::Emptied => on_next(Op::Open, SOURCE, EMPTYING),
            };
            let place = match opening {
                Opening::AtEnd => Where::End,
                _ => Where::Here,
            };
            on_file(open, Some(moving(Op::Write, place)), options.is_synced)
        }
        Done::Read => {
            let open = on_next(Op::Open, SOURCE, PLAIN);
            on_file(open, Some(moving(Op::Read, Where::Here)), false)
        }
        Done::Name(call) => vec![on_next(call, SOURCE, PLAIN)],
        Done::Other(call) => vec![on_next(call, OTHER, PLAIN)],
        Done::Both(call) => {
            let to = next(OTHER, Which::Absent);
            vec![between(call, next(SOURCE, Which::Present), to)]
        }
    }
}
