//! The measured phase, and the phase that prepares directories for it.

use plan::program::{
    Act, Call, CallObject, CallPosition, Card, Deck, DirectoryTree, FileFilter, FileNames,
    FileOperation, FilesetPlan, FilesetSharing, HashedNames, Law, ListedOrder, MovedBytes,
    OpenModePlan, PhaseEndAction, PickOrder, Program, ProgramPhase, Shape,
};

use super::operation::{FileEffect, Opening};
use super::options::SmallfileOptions;
use crate::acts::{
    between, fileset, group, hidden, in_turn, moving_all, named, nested, next, numbered_from,
    on_file, on_next, phase, picked, rounds,
};

/// Indexes of the filesets: the files, and their names after renaming or of links.
pub(super) const SOURCE: u8 = 0;
const OTHER: u8 = 1;
/// Indexes of the ways of opening: unchanged, and truncated.
const PLAIN: u8 = 0;
const TRUNCATING: u8 = 1;

/// Multiplier of the hash of `--hash-into-dirs`.
const HASH_FACTOR: u32 = 900_593;

/// The program of the threads; `host` becomes part of names.
pub(super) fn program(options: &SmallfileOptions, host: &str) -> Program {
    let name = options.operation.name();
    let make = on_next(FileOperation::Mkdir, SOURCE, PLAIN);
    let preparation = match options.operation.effect {
        FileEffect::Name(FileOperation::Rmdir) => {
            Some(hidden("make directories", group("threads", vec![make])))
        }
        // The original reads what an earlier run set.
        FileEffect::Attributes(FileOperation::Getxattr) => {
            let set = attribute_acts(options, FileOperation::Setxattr);
            Some(hidden("set attributes", group("threads", set)))
        }
        _ => None,
    };
    let mut body = vec![Act::Transaction(0, acts(options))];
    if options.operation.effect == FileEffect::ListAndStat {
        body.insert(0, list_at_first_files(options));
    }
    if options.pause_us > 0 {
        // The pause is outside of the transaction, so no latency includes it.
        body.push(Act::Think(Law::fixed(u64::from(options.pause_us) * 1000)));
    }
    // Threads with so few files end before they look at the others.
    let is_unchecked = u64::from(options.files) < options.files_between_checks();
    let ending = match options.finishes_all || is_unchecked {
        true => PhaseEndAction::Finish,
        false => PhaseEndAction::Stop,
    };
    let mut threads = group("threads", body);
    // Without a limit, lists would go on after the last directory.
    threads.quotas = match options.operation.effect {
        FileEffect::List => rounds(options.first_files().count() as u64),
        FileEffect::ListAndStat => rounds(options.files.into()),
        _ => Vec::new(),
    };
    let done = ProgramPhase {
        first_done: options.has_stonewall.then_some(ending),
        ..phase(name, threads)
    };
    let phases = preparation.into_iter().chain([done]);
    let emptying = OpenModePlan {
        name: "emptying".to_owned(),
        is_truncating: true,
        ..OpenModePlan::default()
    };
    Program {
        labels: vec![label(options)],
        filesets: filesets(options, host),
        ways: vec![OpenModePlan::default(), emptying],
        attributes: attributes(options),
        logs_calls: options.has_response_times,
        ..in_turn(phases)
    }
}

/// Names of the extended attributes; none for operations without them.
fn attributes(options: &SmallfileOptions) -> Vec<String> {
    match options.operation.effect {
        FileEffect::Attributes(_) => (0..options.attribute_count)
            .map(|number| format!("user.smallfile-{number}"))
            .collect(),
        _ => Vec::new(),
    }
}

/// Name of the work on a file. In the results of a worker, a label replaces the call of the same
/// name. That makes no difference if each file has one such call, but reads are counted.
fn label(options: &SmallfileOptions) -> String {
    match options.operation.effect {
        FileEffect::Read => "read whole file".to_owned(),
        _ => options.operation.name().to_owned(),
    }
}

/// The files and their other names. Files that the operation works on exist beforehand.
fn filesets(options: &SmallfileOptions, host: &str) -> Vec<FilesetPlan> {
    let operation = &options.operation;
    let is_other = matches!(operation.effect, FileEffect::OtherName(_));
    let file_exists = !is_other && !operation.makes() && operation.call() != FileOperation::Rmdir;
    let is_directory = operation.call().works_on_directories();
    let is_linked = operation.call() == FileOperation::Symlink;
    let ending = if is_directory { ".d" } else { "" };
    let other_ending = if is_linked { ".s" } else { "" };
    vec![
        files(options, host, ("file_srcdir", ending), file_exists),
        files(options, host, ("file_dstdir", other_ending), is_other),
    ]
}

fn files(
    options: &SmallfileOptions,
    host: &str,
    (directory, ending): (&str, &str),
    is_there: bool,
) -> FilesetPlan {
    let path = match options.is_shared {
        // File names contain the thread's number, so threads do not collide in a shared directory.
        true => directory.to_owned(),
        false => format!("{directory}/{host}/thrd_{{worker:02}}"),
    };
    let before = format!("{}_{host}_{{worker:02}}_", options.prefix);
    let after = format!("_{}{ending}", options.suffix);
    let (each, fan) = (
        options.files_per_directory,
        options.directories_per_directory,
    );
    let (names, tree) = match options.is_hashed {
        true => {
            let names = HashedNames {
                first: 1,
                before,
                after,
                factor: HASH_FACTOR,
                each,
                fan,
                directory_before: "h_".to_owned(),
            };
            (FileNames::Hashed(names), DirectoryTree::Flat)
        }
        false => (numbered_from(1, before, after), nested(each, "d_", 3, fan)),
    };
    FilesetPlan {
        copies: FilesetSharing::PerWorker,
        names,
        tree,
        size: sizes(options),
        present_permille: if is_there { 1000 } else { 0 },
        ..fileset(directory, &path, "", options.files)
    }
}

/// Law of the sizes of files in bytes.
pub(super) fn sizes(options: &SmallfileOptions) -> Law {
    let bytes = u64::from(options.file_kib) << 10;
    match options.is_exponential {
        false => Law::fixed(bytes),
        // The original limits these sizes to 1 KiB and to eight times the mean.
        true => Law {
            least: 1024,
            most: bytes.saturating_mul(8).max(1024),
            ..Law::of(Shape::Exponential {
                mean: bytes.max(1) as f64,
            })
        },
    }
}

/// Acts on a file.
fn acts(options: &SmallfileOptions) -> Vec<Act> {
    use FileOperation as Op;
    // A record has at most 1 MiB, so it fits.
    let record_bytes = options.record_bytes() as u32;
    let moving = |operation, place| {
        let call = moving_all(operation, record_bytes);
        Act::Call(Call { place, ..call })
    };
    match options.operation.effect {
        FileEffect::Write(opening) => {
            let open = match opening {
                Opening::New => on_next(Op::Create, SOURCE, PLAIN),
                Opening::AtStart | Opening::AtEnd => on_next(Op::Open, SOURCE, PLAIN),
                Opening::Truncated => on_next(Op::Open, SOURCE, TRUNCATING),
            };
            let position = match opening {
                // The original seeks to the end instead of opening with O_APPEND.
                Opening::AtEnd => CallPosition::End,
                _ => CallPosition::Here,
            };
            on_file(open, Some(moving(Op::Write, position)), options.is_synced)
        }
        FileEffect::Read => {
            let open = on_next(Op::Open, SOURCE, PLAIN);
            on_file(open, Some(moving(Op::Read, CallPosition::Here)), false)
        }
        FileEffect::Attributes(operation) => attribute_acts(options, operation),
        FileEffect::List => vec![list(options)],
        FileEffect::ListAndStat => vec![on_next(Op::Stat, SOURCE, PLAIN)],
        FileEffect::Name(call) => vec![on_next(call, SOURCE, PLAIN)],
        FileEffect::OtherName(call) => vec![on_next(call, OTHER, PLAIN)],
        FileEffect::BothNames(call) => {
            let to = next(OTHER, FileFilter::Absent);
            vec![between(call, next(SOURCE, FileFilter::Present), to)]
        }
    }
}

/// Sets or reads the extended attributes of the next file.
fn attribute_acts(options: &SmallfileOptions, operation: FileOperation) -> Vec<Act> {
    let is_set = operation == FileOperation::Setxattr;
    let open = on_next(FileOperation::Open, SOURCE, PLAIN);
    let mut acts = on_file(open, None, options.is_synced && is_set);
    let calls = (0..options.attribute_count).map(|attribute| {
        Act::Call(Call {
            attribute,
            bytes: MovedBytes::Law(Law::fixed(options.attribute_bytes.into())),
            ..Call::new(operation, CallObject::Handle)
        })
    });
    // Between open and fsync or close.
    acts.splice(1..1, calls);
    acts
}

/// Lists the next directory, of which the first file is picked.
fn list(options: &SmallfileOptions) -> Act {
    let files = options.first_files().collect();
    let order = PickOrder::Listed(ListedOrder { files });
    named(
        FileOperation::List,
        picked(SOURCE, FileFilter::Present, order),
        PLAIN,
    )
}

/// Lists a directory in the rounds of its first files, and does nothing in the others.
fn list_at_first_files(options: &SmallfileOptions) -> Act {
    const LISTING: Card = Card {
        choice: 0,
        number: 0,
    };
    const NOTHING: Card = Card {
        choice: 1,
        number: 0,
    };
    let mut cards = vec![NOTHING; options.files as usize];
    for file in options.first_files() {
        cards[file as usize] = LISTING;
    }
    Act::Deal(Deck {
        cards: cards.into(),
        is_shared: false,
        // A choice must have an act.
        choices: vec![vec![list(options)], vec![Act::Think(Law::fixed(0))]],
    })
}
