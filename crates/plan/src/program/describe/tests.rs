use super::super::samples::{call, close, deliveries, fileset, on_handle, open, phase, pick};
use super::super::*;

fn said(program: &Program) -> Vec<String> {
    program.check().unwrap();
    program.words()
}

#[test]
fn deliveries_are_told_in_a_line() {
    assert_eq!(
        said(&deliveries()),
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
fn groups_rounds_and_what_happens_before_have_lines_of_their_own() {
    let mut set = fileset("log", 1);
    set.present_permille = 1000;
    set.size = Law::fixed(4096);
    let mut several = phase("a", vec![open(pick(0, Which::Present)), close()]);
    several.groups.push(Group {
        name: "b".to_owned(),
        workers: Some(2),
        first: vec![open(pick(0, Which::Present))],
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
            of: Share::Group,
        }],
        ..Group::default()
    });
    several.before = vec![Before::Sync, Before::DropCaches, Before::Pause { ns: 1 }];
    let mut hidden = phase("c", Vec::new());
    hidden.is_hidden = true;
    hidden.groups[0].first = vec![open(pick(0, Which::Present))];
    let program = Program {
        labels: Vec::new(),
        filesets: vec![set],
        ways: vec![Way::default()],
        tokens: Vec::new(),
        parts: vec![ProgramPart::Rounds {
            until: Until::Times(3),
            parts: vec![ProgramPart::Phase(several), ProgramPart::Phase(hidden)],
        }],
        ..Program::default()
    };
    assert_eq!(
        said(&program),
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

/// What each act says, with a set of many files that are there.
fn act(act: Act) -> String {
    let mut set = fileset("mail", 100);
    set.tree = DirectoryTree::Blocks { each: 10 };
    let program = Program {
        filesets: vec![set, fileset("one", 1)],
        ..Program::default()
    };
    super::ActWords { program: &program }.list(&[act])
}

#[test]
fn picks_and_calls_are_told_in_words() {
    let stat = |order: PickOrder| {
        let pick = Pick {
            order,
            ..pick(0, Which::Present)
        };
        act(Act::Call(call(FileOperation::Stat, On::Name(pick))))
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
    let file = || On::Name(pick(0, Which::Present));
    for (said, words) in [
        (on(FileOperation::Unlink, On::Same), "remove it"),
        (on(FileOperation::List, file()), "list a directory of mail"),
        (on(FileOperation::List, On::Directory), "list its directory"),
        (on(FileOperation::Mkdir, file()), "make a directory in mail"),
        (
            on(FileOperation::Rmdir, On::Directory),
            "remove its directory",
        ),
        (
            on(FileOperation::Mkdir, On::Name(pick(1, Which::Absent))),
            "make the directory one",
        ),
        (on(FileOperation::Stat, On::Handle), "stat what is open"),
        (on(FileOperation::Chmod, On::Same), "chmod it"),
        (on(FileOperation::Sync, On::Handle), "sync all file systems"),
        (
            on(FileOperation::Rename, On::Same),
            "rename it to another name",
        ),
    ] {
        assert_eq!(said, words);
    }
}

#[test]
fn directories_that_are_gone_through_are_told() {
    let walk = |each: &[Act], after: &[Act]| {
        act(Act::Walk(DirectoryWalk {
            fileset: 0,
            handle: 0,
            each: each.to_vec(),
            after: after.to_vec(),
        }))
    };
    let unlink = [Act::Call(call(FileOperation::Unlink, On::Same))];
    let rmdir = [Act::Call(call(FileOperation::Rmdir, On::Directory))];
    let each = "for each file that directories of mail list (remove it)";
    let after = "for each directory (remove its directory)";
    assert_eq!(walk(&unlink, &[]), each);
    assert_eq!(walk(&unlink, &rmdir), format!("{each}, {after}"));
    assert_eq!(walk(&[], &rmdir), format!("{after} of mail"));
}

#[test]
fn reads_and_writes_say_how_much_and_where() {
    let moved = |operation, bytes, place, piece_bytes| {
        act(Act::Call(Call {
            bytes,
            place,
            piece_bytes,
            ..call(operation, On::Handle)
        }))
    };
    let (read, write) = (FileOperation::Read, FileOperation::Write);
    let law = |shape| MovedBytes::Law(Law::of(shape));
    let random = Where::Random {
        distribution: crate::Distribution::Uniform,
        align_bytes: 512,
        is_nominal: false,
    };
    for (said, words) in [
        (
            moved(read, MovedBytes::Rest, Where::Here, 65_536),
            "read to its end in pieces of 64KiB",
        ),
        (
            moved(write, MovedBytes::Size, Where::Here, 0),
            "write it whole",
        ),
        (
            moved(
                write,
                law(Shape::Uniform { low: 1, high: 2048 }),
                Where::End,
                0,
            ),
            "append 1B to 2KiB",
        ),
        (
            moved(read, law(Shape::Fixed(512)), random, 0),
            "read 512B at random",
        ),
        (
            moved(read, law(Shape::Fixed(512)), Where::At(4096), 512),
            "read 512B at 4KiB",
        ),
        (
            moved(write, MovedBytes::SizeOf { handle: 1 }, Where::Same, 0),
            "write as much as the other has at the same place",
        ),
    ] {
        assert_eq!(said, words);
    }
}
