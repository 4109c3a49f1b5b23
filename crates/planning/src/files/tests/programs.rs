//! Phases that a workload file defines: planned, described, and refused if invalid.

use crate::{Planned, plan};
use description::Overrides;
use description::load;
use plan::facts::SystemFacts;
use plan::program::Program;
use plan::{Cell, TargetKind, Work};

const MAILDIR: &str = include_str!("../../../../../workloads/maildir.toml");
const WEB_CONTENT: &str = include_str!("../../../../../workloads/web-content.toml");
const SOURCE_TREE: &str = include_str!("../../../../../workloads/source-tree.toml");
const COMPILE: &str = include_str!("../../../../../workloads/compile.toml");

fn planned(text: &str) -> Planned {
    let loaded = load("w.toml", text);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    plan(&loaded, &Overrides::new(), &SystemFacts::default()).unwrap()
}

fn cell(text: &str) -> Cell {
    planned(text).plan.cells.remove(0)
}

fn program(text: &str) -> Program {
    match cell(text).work {
        Work::Acts(program) => Program::clone(&program),
        other => panic!("{other:?}"),
    }
}

fn words(text: &str) -> Vec<String> {
    program(text).words()
}

#[test]
fn a_maildir_workload_is_described_in_words() {
    assert_eq!(
        words(MAILDIR),
        [
            "tmp: up to 1000 files, none of them present at first",
            "mail: up to 200000 files, 100000 of them present at first, \
             9KiB (lognormal, up to 20MiB) each, in 256 directories",
            "serve, for 2m after a ramp of 10s:",
            "  delivery: 4 workers: take 1 of incoming, deliver (create a file in tmp, \
             write 9KiB (lognormal, up to 20MiB) in pieces of 64KiB, fsync, close, \
             rename it to mail, fsync its directory)",
            "  readers: 16 workers: one of (70% read (open a file of mail (zipf 0.9), \
             read to its end in pieces of 64KiB, close); 15% list (list a directory of mail); \
             10% flag (stat a file of mail (zipf 0.9), rename it to mail); \
             5% purge (remove a file of mail at random)), wait 20ms (exponential, up to 1s)",
        ]
    );
}

#[test]
fn a_web_content_workload_is_described_in_words() {
    assert_eq!(
        words(WEB_CONTENT),
        [
            "page: 100000 files, 11580B (lognormal, up to 1MiB) each, in 1000 directories",
            "log: 1 file",
            "serve: 32 workers, each for 1m after a ramp of 10s: first open log; \
             repeatedly request (open a file of page (zipf 0.8), \
             read to its end in pieces of 64KiB, close, write 120B to 280B); at last close",
        ]
    );
}

#[test]
fn a_source_tree_workload_is_described_in_words() {
    assert_eq!(
        words(SOURCE_TREE),
        [
            "tree: up to 80000 files, none of them present at first, \
             5KiB (lognormal, up to 4MiB) each, 40 in each directory",
            "copy: up to 80000 files, none of them present at first, \
             5KiB (lognormal, up to 4MiB) each, 40 in each directory",
            "unpack: 4 workers, each until there is no file left: \
             unpack (create a file in tree, write it whole in pieces of 1MiB, close)",
            "sync all file systems",
            "copy: 4 workers, each until there is no file left: \
             copy (open the next file of tree, create a file in copy, \
             read to its end in pieces of 128KiB, \
             write as much as the other has in pieces of 128KiB, close, close)",
            "search: 4 workers, each until there is no file left: \
             search (open the next file of tree, stat what is open, \
             read to its end in pieces of 32KiB, close)",
            "stat: 4 workers, each until there is no file left: stat (stat the next file of tree)",
            "remove: 4 workers, each until there is no file left: \
             remove (remove the next file of tree), remove (remove the next file of copy)",
        ]
    );
}

#[test]
fn a_compilation_workload_is_described_in_words() {
    assert_eq!(
        words(COMPILE)[5..],
        [
            "sync all file systems",
            "compile: 8 workers, each until there is no file left: \
             compile (open the next file of source, read to its end in pieces of 64KiB, close, \
             30 to 120 times (stat a file of header (zipf 0.8), open it, \
             read to its end in pieces of 64KiB, close), \
             compute for 150ms (lognormal, up to 5s), create part, \
             write 24KiB (lognormal, up to 4MiB) in pieces of 64KiB, close, rename it to object)",
            "link: 1 worker, until there is no file left: first create program; \
             repeatedly open the next file of object, read to its end in pieces of 1MiB, \
             write as much as the other has in pieces of 1MiB, close; at last fsync, close",
            "clean: 1 worker, until there is no file left: \
             repeatedly remove (remove the next file of object); at last remove program",
        ]
    );
}

#[test]
fn space_needed_is_that_of_files_existing_at_the_same_time() {
    let bytes = |text: &str| {
        let program = program(text);
        let need = program.space_needed();
        // All workers together, each a share that is rounded up.
        let planned = cell(text)
            .workers
            .iter()
            .map(|it| it.spans[0].size_bytes)
            .sum::<u64>();
        assert!((need.bytes..need.bytes + 64).contains(&planned));
        (need.bytes >> 20, need.is_growing, program.buffer_bytes())
    };
    // 200000 mails of 9 KiB times e^1.28, half a block each, and those that are written.
    assert_eq!(bytes(MAILDIR), (7295, false, 65_536));
    // The log goes on for as long as requests do.
    assert_eq!(bytes(WEB_CONTENT), (3076, true, 65_536));
    // Both trees are there until the end.
    assert_eq!(bytes(SOURCE_TREE), (3105, false, 1 << 20));
    // Sources, headers, objects, and a program of all objects.
    assert_eq!(bytes(COMPILE), (1267, false, 1 << 20));
}

/// The number of rounds is only a limit where time ends a phase.
#[test]
fn one_round_of_a_timed_phase_must_fit() {
    let text = |time: &str| {
        format!(
            "name = \"w\"\n[[fileset]]\nname = \"log\"\n[[phase]]\nname = \"grow\"\n{time}\
             [[phase.group]]\nrounds = 1000000\nfirst = [{{ create = \"log\" }}]\n\
             body = [{{ write = \"1MiB\" }}]\nlast = [\"close\"]\n"
        )
    };
    let need = |time: &str| program(&text(time)).space_needed();
    let endless = need("");
    assert_eq!(
        (endless.bytes, endless.max_bytes),
        (1_000_000 << 20, 1_000_000 << 20)
    );
    let timed = need("run_time = \"1s\"\n");
    assert_eq!((timed.bytes, timed.max_bytes), (1 << 20, 1_000_000 << 20));
    assert!(timed.is_growing && !endless.is_growing);
    let planned = |time: &str| {
        let text = format!("targets = [\"/a\"]\n{}", text(time));
        let loaded = load("w.toml", &text).unwrap();
        let mut facts = facts();
        for target in &mut facts.targets {
            (target.total_bytes, target.free_bytes) = (100 << 30, 50 << 30);
        }
        plan(&loaded, &Overrides::new(), &facts)
    };
    assert!(
        planned("")
            .unwrap_err()
            .to_string()
            .contains("must stay free")
    );
    let warnings = planned("run_time = \"1s\"\n").unwrap().warnings;
    let is_reported = |it: &plan::Diagnostic| it.message.contains("if the time allows that");
    assert!(warnings.iter().any(is_reported), "{warnings:?}");
}

#[test]
fn the_cell_takes_its_times_from_the_phases() {
    let times = |text: &str| {
        let cell = cell(text);
        (cell.workers.len(), cell.run_time_ns, cell.ramp_time_ns)
    };
    assert_eq!(times(MAILDIR), (20, 120_000_000_000, 10_000_000_000));
    assert_eq!(times(WEB_CONTENT), (32, 60_000_000_000, 10_000_000_000));
    assert_eq!(times(COMPILE), (8, 0, 0));
}

fn refusal(text: &str, cache: &str) -> String {
    let text = format!("targets = [\"/a\"]\ncache = \"{cache}\"\n{text}");
    let loaded = load("w.toml", &text).unwrap();
    let facts = facts();
    let planned = plan(&loaded, &Overrides::new(), &facts);
    planned.map_or_else(|error| error.to_string(), |_| String::new())
}

fn facts() -> SystemFacts {
    super::facts(TargetKind::Directory, true)
}

const ONE: &str = "[[fileset]]\nname = \"log\"\npresent = 100\n[[phase]]\nname = \"grow\"\n\
                   [[phase.group]]\nrounds = 3\n";

#[test]
fn direct_io_moves_whole_blocks() {
    let body = |acts: &str| format!("{ONE}body = [{{ open = \"log\" }}, {acts}, \"close\"]\n");
    for acts in [
        "{ write = \"4KiB\" }",
        "{ write = { uniform = [\"4k\", \"64k\"], step = \"4k\" } }",
        "{ read = \"rest\", piece = \"64KiB\" }",
        "{ read = \"4KiB\", at = { random = \"uniform\", align = \"4KiB\" } }",
    ] {
        assert_eq!(refusal(&body(acts), "direct"), "");
    }
    let expected = |size: u64, verb: &str| {
        format!(
            "error: direct I/O on `/a` needs sizes in multiples of 512 bytes, but `{verb}` in \
             `grow` gives {size} bytes\nhelp: add `--cache buffered`"
        )
    };
    for (acts, size, verb) in [
        ("{ write = 100 }", 100, "write"),
        ("{ write = { uniform = [\"4k\", \"64k\"] } }", 1, "write"),
        ("{ read = \"rest\", piece = 1000 }", 1000, "read"),
        ("{ read = \"4KiB\", at = 100 }", 100, "read"),
    ] {
        assert_eq!(refusal(&body(acts), "direct"), expected(size, verb));
        assert_eq!(refusal(&body(acts), "buffered"), "");
    }
}

#[test]
fn a_shared_fileset_needs_a_single_target() {
    let body = format!("{ONE}body = [{{ stat = \"log\" }}]\n");
    let text = |copies: &str| {
        let sets = body.replace("present", &format!("copies = \"{copies}\"\npresent"));
        let text = format!("targets = [\"/a\", \"/b\"]\n{sets}");
        let loaded = load("w.toml", &text).unwrap();
        plan(&loaded, &Overrides::new(), &SystemFacts::default())
    };
    assert_eq!(
        text("one").unwrap_err().to_string(),
        "error: all workers share `log`, but there are 2 targets\n\
         help: name one target, or write `copies = \"per-worker\"` in each `[[fileset]]`"
    );
    // One worker for each target, where nobody says how many.
    assert_eq!(text("per-worker").unwrap().plan.cells[0].workers.len(), 2);
}

#[test]
fn position_based_access_needs_system_calls() {
    for (key, value) in [("seek", "true"), ("unit", "\"1\"")] {
        let text = format!(
            "name = \"w\"\nengine = \"io_uring\"\n[[fileset]]\nname = \"a\"\n\
             [[way]]\nname = \"by\"\n{key} = {value}\n\
             [[phase]]\nname = \"p\"\n[[phase.group]]\nrounds = 1\n\
             body = [{{ create = \"a\", way = \"by\" }}, \"close\"]\n"
        );
        let loaded = load("w.toml", &text);
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        let facts = SystemFacts::default();
        let refused = plan(&loaded, &Overrides::new(), &facts).unwrap_err();
        let shown = format!("{refused:?}");
        let wanted = format!("`{key}` of the way `by` needs system calls");
        assert!(shown.contains(&wanted), "{shown}");
    }
}
