use super::super::samples::{call, close, deliveries, fileset, on_handle, open, phase, pick};
use super::super::*;

fn descriptions(program: &Program) -> Vec<String> {
    program.check().unwrap();
    program.words()
}

#[test]
fn a_delivery_is_described_in_one_line() {
    assert_eq!(
        descriptions(&deliveries()),
        [
            "tmp: up to 1000 files, none of them present at first",
            "mail: up to 2000 files, 1000 of them present at first, 9KiB (lognormal, up to 20MiB) \
             each, in 256 directories",
            "serve: 4 workers, each for 2m: deliver (create a file in tmp, write 9KiB (lognormal, \
             up to 20MiB) in pieces of 64KiB, fsync, close, rename it to mail, \
             fsync its directory)",
        ]
    );
}

#[test]
fn groups_rounds_and_preparation_have_their_own_lines() {
    let mut set = fileset("log", 1);
    set.present_permille = 1000;
    set.size = Law::fixed(4096);
    let mut several = phase("a", vec![open(pick(0, FileFilter::Present)), close()]);
    several.groups.push(Group {
        name: "b".to_owned(),
        workers: Some(2),
        first: vec![open(pick(0, FileFilter::Present))],
        body: vec![
            Act::Times(Law::fixed(2), vec![on_handle(FileOperation::Fdatasync)]),
            Act::Mix(vec![
                (3, vec![Act::Think(Law::fixed(1_000_000))]),
                (
                    1,
                    vec![Act::Burn(Law::of(Shape::Exponential { mean: 2e6 }))],
                ),
            ]),
        ],
        last: vec![close()],
        quotas: vec![Quota {
            what: Measure::Rounds,
            count: 10,
            of: AmountScope::Group,
        }],
        ..Group::default()
    });
    several.before = vec![
        PhasePreparation::Sync,
        PhasePreparation::DropCaches,
        PhasePreparation::Pause { ns: 1 },
    ];
    let mut hidden = phase("c", Vec::new());
    hidden.is_hidden = true;
    hidden.groups[0].first = vec![open(pick(0, FileFilter::Present))];
    let program = Program {
        labels: Vec::new(),
        filesets: vec![set],
        ways: vec![OpenModePlan::default()],
        tokens: Vec::new(),
        parts: vec![ProgramPart::Rounds {
            until: RoundsEnd::Times(3),
            parts: vec![ProgramPart::Phase(several), ProgramPart::Phase(hidden)],
        }],
        ..Program::default()
    };
    assert_eq!(
        descriptions(&program),
        [
            "log: 1 file, 4KiB each",
            "3 times:",
            "  sync all file systems, drop the kernel's caches and wait for 1ns",
            "  a:",
            "    a: 1 worker, until there is no file left: open log, close",
            "    b: 2 workers, 10 times together: first open log; repeatedly twice \
             (fdatasync), one of (75% wait 1ms; 25% compute for 2ms (exponential)); at last close",
            "  c (not recorded): 1 worker, once: first open log",
        ]
    );
}

/// Description of an act in a program with a fileset of many existing files.
fn act(act: Act) -> String {
    let mut set = fileset("mail", 100);
    set.tree = DirectoryTree::Blocks { each: 10 };
    let program = Program {
        filesets: vec![set, fileset("one", 1)],
        ..Program::default()
    };
    super::ActDescriber { program: &program }.list(&[act])
}

#[test]
fn picks_and_calls_are_described_in_words() {
    let stat = |order: PickOrder| {
        let pick = Pick {
            order,
            ..pick(0, FileFilter::Present)
        };
        act(Act::Call(call(FileOperation::Stat, CallObject::Name(pick))))
    };
    use crate::Distribution;
    for (order, words) in [
        (PickOrder::Next, "stat the next file of mail"),
        (PickOrder::Back, "stat the file before in mail"),
        (
            PickOrder::Shuffled,
            "stat a file of mail, each once at random",
        ),
        (
            PickOrder::Around,
            "stat the next file of mail, starting over after the last",
        ),
        (PickOrder::Index(3), "stat file 3 of mail"),
        (
            PickOrder::Drawn(Distribution::Uniform),
            "stat a file of mail at random",
        ),
        (
            PickOrder::Drawn(Distribution::Zipf { theta: 0.9 }),
            "stat a file of mail (zipf 0.9)",
        ),
    ] {
        assert_eq!(stat(order), words);
    }
    let on = |operation, on| act(Act::Call(call(operation, on)));
    let file = || CallObject::Name(pick(0, FileFilter::Present));
    for (descriptions, words) in [
        (on(FileOperation::Unlink, CallObject::Same), "remove it"),
        (on(FileOperation::List, file()), "list a directory of mail"),
        (
            on(FileOperation::List, CallObject::Directory),
            "list its directory",
        ),
        (on(FileOperation::Mkdir, file()), "make a directory in mail"),
        (
            on(FileOperation::Rmdir, CallObject::Directory),
            "remove its directory",
        ),
        (
            on(
                FileOperation::Mkdir,
                CallObject::Name(pick(1, FileFilter::Absent)),
            ),
            "make the directory one",
        ),
        (
            on(FileOperation::Stat, CallObject::Handle),
            "stat what is open",
        ),
        (on(FileOperation::Chmod, CallObject::Same), "chmod it"),
        (
            on(FileOperation::Sync, CallObject::Handle),
            "sync all file systems",
        ),
        (
            on(FileOperation::Rename, CallObject::Same),
            "rename it to another name",
        ),
    ] {
        assert_eq!(descriptions, words);
    }
}

#[test]
fn directory_walks_are_described() {
    let walk = |each: &[Act], after: &[Act]| {
        act(Act::Walk(DirectoryWalk {
            fileset: 0,
            handle: 0,
            each: each.to_vec(),
            after: after.to_vec(),
        }))
    };
    let unlink = [Act::Call(call(FileOperation::Unlink, CallObject::Same))];
    let rmdir = [Act::Call(call(FileOperation::Rmdir, CallObject::Directory))];
    let per_file = "for each file that directories of mail list (remove it)";
    let after = "for each directory (remove its directory)";
    assert_eq!(walk(&unlink, &[]), per_file);
    assert_eq!(walk(&unlink, &rmdir), format!("{per_file}, {after}"));
    assert_eq!(walk(&[], &rmdir), format!("{after} of mail"));
}

#[test]
fn reads_and_writes_show_size_and_place() {
    let moved = |operation, bytes, place, piece_bytes| {
        act(Act::Call(Call {
            bytes,
            place,
            piece_bytes,
            ..call(operation, CallObject::Handle)
        }))
    };
    let (read, write) = (FileOperation::Read, FileOperation::Write);
    let law = |shape| MovedBytes::Law(Law::of(shape));
    let random = CallPosition::Random {
        distribution: crate::Distribution::Uniform,
        align_bytes: 512,
        is_nominal: false,
    };
    for (descriptions, words) in [
        (
            moved(read, MovedBytes::Rest, CallPosition::Here, 65_536),
            "read to its end in pieces of 64KiB",
        ),
        (
            moved(write, MovedBytes::Size, CallPosition::Here, 0),
            "write it whole",
        ),
        (
            moved(
                write,
                law(Shape::Uniform { low: 1, high: 2048 }),
                CallPosition::End,
                0,
            ),
            "append 1B to 2KiB",
        ),
        (
            moved(read, law(Shape::Fixed(512)), random, 0),
            "read 512B at random",
        ),
        (
            moved(read, law(Shape::Fixed(512)), CallPosition::At(4096), 512),
            "read 512B at 4KiB",
        ),
        (
            moved(
                write,
                MovedBytes::SizeOf { handle: 1 },
                CallPosition::Same,
                0,
            ),
            "write as much as the other has at the same place",
        ),
    ] {
        assert_eq!(descriptions, words);
    }
}
