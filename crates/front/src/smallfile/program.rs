//! The only phase that is measured, with what it needs before.

use workload::program::{
    Act, Bytes, Call, Copies, DirectoryNesting, DirectoryTree, Ending, FileNames, FileOperation,
    FilesetPlan, Group, Law, NestedDirectories, On, Order, Pick, Program, ProgramPart,
    ProgramPhase, Shape, Turn, Way, Where, Which,
};

use super::options::{Operation, Options};

/// Numbers of the filesets: files, and what they are renamed to or linked from.
const SOURCE: u8 = 0;
const OTHER: u8 = 1;
/// The way that empties a file.
const EMPTYING: u8 = 1;

/// What the threads do on that host.
pub(super) fn program(options: &Options, host: &str) -> Program {
    let name = options.operation.name();
    let mut parts = Vec::new();
    if options.operation == Operation::Rmdir {
        let make = vec![by_name(FileOperation::Mkdir, SOURCE, Which::Absent)];
        let mut before = phase("make directories", make, None);
        before.is_hidden = true;
        parts.push(ProgramPart::Phase(before));
    }
    let mut acts: Vec<Act> = vec![Act::Transaction(0, acts(options))];
    if options.pause_us > 0 {
        acts.push(Act::Think(Law::fixed(u64::from(options.pause_us) * 1000)));
    }
    let ending = match options.is_finished {
        true => Ending::Finish,
        false => Ending::Stop,
    };
    let ending = options.has_stonewall.then_some(ending);
    parts.push(ProgramPart::Phase(phase(name, acts, ending)));
    let emptying = Way {
        name: "emptying".to_owned(),
        is_truncating: true,
        ..Way::default()
    };
    Program {
        labels: vec![name.to_owned()],
        filesets: vec![source(options, host), other(options, host)],
        ways: vec![Way::default(), emptying],
        parts,
        ..Program::default()
    }
}

fn phase(name: &str, body: Vec<Act>, first_done: Option<Ending>) -> ProgramPhase {
    ProgramPhase {
        name: name.to_owned(),
        first_done,
        groups: vec![Group {
            name: "threads".to_owned(),
            body,
            ..Group::default()
        }],
        ..ProgramPhase::default()
    }
}

fn source(options: &Options, host: &str) -> FilesetPlan {
    use Operation as Op;
    let is_there = !matches!(
        options.operation,
        Op::Create | Op::Mkdir | Op::Rmdir | Op::DeleteRenamed
    );
    let ending = match options.operation {
        Op::Mkdir | Op::Rmdir => ".d",
        _ => "",
    };
    FilesetPlan {
        present_permille: if is_there { 1000 } else { 0 },
        ..fileset(options, host, "file_srcdir", ending)
    }
}

fn other(options: &Options, host: &str) -> FilesetPlan {
    let ending = match options.operation {
        Operation::Symlink => ".s",
        _ => "",
    };
    let is_there = options.operation == Operation::DeleteRenamed;
    FilesetPlan {
        present_permille: if is_there { 1000 } else { 0 },
        ..fileset(options, host, "file_dstdir", ending)
    }
}

fn fileset(options: &Options, host: &str, directory: &str, ending: &str) -> FilesetPlan {
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
        name: directory.to_owned(),
        path,
        copies: Copies::PerWorker,
        count: options.files,
        names: FileNames::NumberFrom {
            first: 1,
            before: format!("{}_{host}_{{worker:02}}_", options.prefix),
            digits: 0,
            after: format!("_{}{ending}", options.suffix),
        },
        tree: DirectoryTree::Nested {
            each: options.files_per_directory,
            directories: NestedDirectories {
                before: "d_".to_owned(),
                digits: 3,
                fan: options.directories_per_directory,
                nesting: DirectoryNesting::Digits,
            },
        },
        size,
        present_permille: 0,
    }
}

/// What is done to a file.
fn acts(options: &Options) -> Vec<Act> {
    use FileOperation as Op;
    let named = |operation, which| vec![by_name(operation, SOURCE, which)];
    let pair = |operation| {
        vec![Act::Call(Call {
            second: Some(pick(OTHER, Which::Absent)),
            ..Call::new(operation, On::Name(pick(SOURCE, Which::Present)))
        })]
    };
    match options.operation {
        Operation::Create => written(options, Op::Create, 0, Where::Here),
        Operation::Append => written(options, Op::Open, 0, Where::End),
        Operation::Overwrite => written(options, Op::Open, 0, Where::Here),
        Operation::TruncateOverwrite => written(options, Op::Open, EMPTYING, Where::Here),
        Operation::Read => {
            let mut acts = named(Op::Open, Which::Present);
            acts.push(moved(options, Op::Read, Where::Here));
            acts.push(on_handle(Op::Close));
            acts
        }
        Operation::Stat => named(Op::Stat, Which::Present),
        Operation::Chmod => named(Op::Chmod, Which::Present),
        Operation::Delete | Operation::Cleanup => named(Op::Unlink, Which::Present),
        Operation::DeleteRenamed => vec![by_name(Op::Unlink, OTHER, Which::Present)],
        Operation::Rename => pair(Op::Rename),
        Operation::Symlink => pair(Op::Symlink),
        Operation::Mkdir => named(Op::Mkdir, Which::Absent),
        Operation::Rmdir => named(Op::Rmdir, Which::Present),
    }
}

fn written(options: &Options, open: FileOperation, way: u8, place: Where) -> Vec<Act> {
    let which = match open {
        FileOperation::Create => Which::Absent,
        _ => Which::Present,
    };
    let open = Call {
        way,
        ..Call::new(open, On::Name(pick(SOURCE, which)))
    };
    let mut acts = vec![Act::Call(open), moved(options, FileOperation::Write, place)];
    if options.is_synced {
        acts.push(on_handle(FileOperation::Fsync));
    }
    acts.push(on_handle(FileOperation::Close));
    acts
}

fn moved(options: &Options, operation: FileOperation, place: Where) -> Act {
    Act::Call(Call {
        bytes: Bytes::Size,
        // A record has at most 1 MiB.
        piece_bytes: options.record_bytes() as u32,
        place,
        ..Call::new(operation, On::Handle)
    })
}

fn on_handle(operation: FileOperation) -> Act {
    Act::Call(Call::new(operation, On::Handle))
}

fn by_name(operation: FileOperation, fileset: u8, which: Which) -> Act {
    Act::Call(Call::new(operation, On::Name(pick(fileset, which))))
}

fn pick(fileset: u8, which: Which) -> Pick {
    Pick {
        fileset,
        which,
        order: Order::Next,
        turn: Turn::Own,
    }
}
