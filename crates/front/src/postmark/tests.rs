//! Work that the console requests, and texts from records.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use description::Workload;
use plan::FrontOrigin;
use plan::program::{FilePool, NamesInPlace, PoolBase, PoolPart, Program};
use results::{Phase, PoolFailure, PoolFailures, PoolFigures, RunEvent, RunRecord, Status};

use super::CONSOLE;
use crate::tests::record;
use crate::{ClassicText, Console, FilePlacement, FrontWork};

/// A world in which runs are noted and print one line.
#[derive(Default)]
struct RecordingConsole {
    input: &'static [u8],
    output: String,
    errors: String,
    remarks: Vec<String>,
    appended: BTreeMap<Vec<u8>, Vec<u8>>,
    works: Vec<FrontWork>,
    shells: usize,
    refusals: usize,
    memory_bytes: u64,
}

impl Console for RecordingConsole {
    fn print(&mut self, text: &[u8]) {
        self.output += std::str::from_utf8(text).unwrap();
    }

    fn print_error(&mut self, text: &[u8]) {
        self.errors += std::str::from_utf8(text).unwrap();
    }

    fn remark(&mut self, sentence: &str) {
        self.remarks.push(sentence.to_owned());
    }

    fn input(&mut self) -> &mut dyn BufRead {
        &mut self.input
    }

    fn open(&mut self, _: &[u8]) -> Option<Box<dyn BufRead>> {
        None
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        let can_be = !file.starts_with(b"no/");
        if can_be {
            self.appended.entry(file.to_vec()).or_default().extend(text);
        }
        can_be
    }

    fn working_directory(&mut self) -> Vec<u8> {
        b"/here".to_vec()
    }

    fn directory(&mut self, path: &Path) -> Option<PathBuf> {
        let exists = !path.starts_with("no");
        exists.then(|| Path::new("/here").join(path.file_name().unwrap_or_default()))
    }

    fn memory_bytes(&mut self) -> u64 {
        self.memory_bytes
    }

    fn shell(&mut self, _: Option<&[u8]>) {
        self.shells += 1;
    }

    fn measure(&mut self, work: &FrontWork) -> Option<String> {
        self.works.push(work.clone());
        Some("report\n".to_owned())
    }

    fn note_refusal(&mut self) {
        self.refusals += 1;
    }

    fn is_interrupted(&self) -> bool {
        false
    }
}

fn played(arguments: &[&str], input: &'static str) -> RecordingConsole {
    let mut world = RecordingConsole {
        input: input.as_bytes(),
        memory_bytes: 1 << 30,
        ..RecordingConsole::default()
    };
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    (CONSOLE.run)(&arguments, &mut world).unwrap();
    world
}

fn pool_of(work: &FrontWork) -> &FilePool {
    let program = &work.cells[0].built.as_ref().unwrap().program;
    assert!(program.check().is_ok());
    program.pool.as_deref().unwrap()
}

#[test]
fn a_named_configuration_that_is_missing_is_remarked() {
    for (arguments, remarks) in [
        (
            &["nosuch.pm"][..],
            &["cannot read the commands in `nosuch.pm`, as in PostMark; check the path"][..],
        ),
        (&[], &[]),
    ] {
        let world = played(arguments, "");
        assert_eq!(world.remarks, remarks);
        assert!(world.output.ends_with("pm>") && world.errors.is_empty());
    }
}

#[test]
fn each_run_uses_the_settings_in_force() {
    let world = played(
        &["--compat", "1.14"],
        "set number 7\nset subdirectories 3\nrun\nset seed 9\nset report terse\nrun\nquit\n",
    );
    let [first, second] = &world.works[..] else {
        panic!("{:?}", world.works)
    };
    assert_eq!((pool_of(first).number, pool_of(first).seed), (7, 42));
    assert_eq!((pool_of(second).number, pool_of(second).seed), (7, 9));
    assert_eq!(first.text_input, ["1.14", "verbose"]);
    assert_eq!(second.text_input, ["1.14", "terse"]);
    let names = NamesInPlace::Numbers {
        subdirectory_count: 3,
    };
    let wanted = FilePlacement::InPlace {
        names,
        makes_directories: false,
    };
    assert_eq!(first.placement, wanted);
    assert_eq!(first.directories, [Path::new(".")]);
    let origin = &first.cells[0].built.as_ref().unwrap().origin;
    assert_eq!(origin.name, "postmark");
    assert!(world.output.ends_with("pm>report\npm>pm>pm>report\npm>"));
}

#[test]
fn each_existing_location_becomes_one_target_and_missing_ones_none() {
    let world = played(
        &[],
        "set location a 2\nset location +no/b\nset location +c\nset location +x/a\nrun\n",
    );
    let work = &world.works[0];
    assert_eq!(work.directories, ["a", "c"].map(PathBuf::from));
    let locations = pool_of(work).locations.iter();
    let locations: Vec<(PoolBase, u32)> = locations.map(|it| (it.place, it.weight)).collect();
    let target = |index, weight| (PoolBase::Target(index), weight);
    let wanted = [
        target(0, 2),
        (PoolBase::Nowhere, 1),
        target(1, 1),
        target(0, 1),
    ];
    assert_eq!(locations, wanted);
    let world = played(&[], "set location no/where\nrun\n");
    assert_eq!(world.works[0].directories, [Path::new(".")]);
    assert_eq!(
        pool_of(&world.works[0]).locations[0].place,
        PoolBase::Nowhere
    );
}

#[test]
fn reports_go_to_the_named_file_or_are_printed() {
    let world = played(&[], "run out.txt\nrun no/out.txt\nrun out.txt\n");
    assert_eq!(world.appended[&b"out.txt"[..]], b"report\nreport\n");
    assert_eq!(
        world.errors,
        "Error: Cannot direct output to file 'no/out.txt'\n"
    );
    assert!(
        world.output.ends_with("pm>pm>report\npm>pm>"),
        "{}",
        world.output
    );
}

#[test]
fn runs_that_exceed_the_memory_are_refused_as_in_the_original() {
    let world = played(
        &[],
        "set number 2000000000\nrun\nset number 60000000\nrun\nset number 5\n\
         set size 5 300000000\nrun\nrun no/x\n",
    );
    assert!(world.works.is_empty());
    assert_eq!(world.refusals, 4);
    let table = "Error: Failed to allocate table for -294967296 files\nerror: a table for";
    assert!(world.errors.starts_with(table), "{}", world.errors);
    let text = "Error: failed to allocate source file of size 600000000\n";
    assert!(world.errors.contains(text), "{}", world.errors);
}

#[test]
fn a_shell_needs_permission() {
    let refused = played(&[], "!ls\n");
    assert_eq!(refused.shells, 0);
    assert!(refused.errors.contains("--allow-shell"));
    assert_eq!(played(&["--allow-shell"], "!ls\n!\n").shells, 2);
}

const SECOND_US: i64 = 1_000_000;

fn figures() -> PoolFigures {
    PoolFigures {
        transactions_count: 500,
        created_before_count: 500,
        created_count: 764,
        read_count: 243,
        appended_count: 257,
        deleted_count: 764,
        deleted_after_count: 528,
        read_bytes_float: 1_430_770.0,
        written_bytes_float: 4_662_068.0,
        ..PoolFigures::default()
    }
}

/// The record of such a pool, whose phases began at these microseconds.
fn recorded(pool: FilePool, figures: PoolFigures, begun_us: [i64; 3]) -> RunRecord {
    let phases = ["create", "transactions", "delete"].map(|name| (name, Vec::new()));
    let mut record = record(&origin("verbose"), &phases);
    let program = Program::of_pool(pool, None);
    let work = crate::cell("postmark", program);
    record.plan.cells = planned(&work);
    for (cell, begun_us) in record.cells.iter_mut().zip(begun_us) {
        cell.started_at = jiff::Timestamp::from_microsecond(begun_us).ok();
        if cell.phase.name() == "transactions" {
            cell.phase_figures.get_or_insert_default().pool = Some(figures);
        }
    }
    record
}

fn planned(work: &Workload) -> Vec<plan::Cell> {
    let facts = plan::facts::SystemFacts::default();
    let overrides = description::Overrides::new();
    let planned = planning::plan(std::slice::from_ref(work), &overrides, &facts);
    planned.unwrap().plan.cells
}

fn origin(form: &str) -> FrontOrigin {
    FrontOrigin {
        name: "postmark".to_owned(),
        arguments: vec!["1.53".to_owned(), form.to_owned()],
    }
}

fn text(form: &str) -> Box<dyn ClassicText> {
    CONSOLE.text_of(&origin(form))
}

#[test]
fn the_clock_reads_the_second_in_which_each_phase_began_or_ended() {
    let figures = PoolFigures {
        directories_made_ns: 2_100_000_000,
        transactions_ns: 8_000_000_000,
        deletion_ns: 4_000_000_000,
        directories_removed_ns: 1_500_000_000,
        ..figures()
    };
    // It starts when directories are there, at 1000.0 seconds, and ends when files are gone.
    let begun_us = [997_900_000, 1002 * SECOND_US, 1010 * SECOND_US + 600_000];
    let report = text("verbose").end(&recorded(FilePool::default(), figures, begun_us));
    for line in [
        "Time:\n\t13 seconds total\n\t8 seconds of transactions (62 per second)\n",
        "\t764 created (58 per second)\n",
        "\t\tCreation alone: 500 files (250 per second)\n",
        "\t\tDeletion alone: 528 files (176 per second)\n",
        "\t1.36 megabytes read (107.48 kilobytes per second)\n",
    ] {
        assert!(report.contains(line), "{line} is not in {report}");
    }
    assert!(report.starts_with(
        "Creating files...Done\nPerforming transactions..........Done\nDeleting files...Done\nTime:"
    ));
}

#[test]
fn a_stored_run_prints_the_same_text_as_the_live_run() {
    for (pool, count, form) in [
        (FilePool::default(), 500, "terse"),
        (
            FilePool {
                subdirectories: 3,
                ..FilePool::default()
            },
            500,
            "verbose",
        ),
        (
            FilePool {
                transactions: 1005,
                ..FilePool::default()
            },
            1005,
            "verbose",
        ),
        (
            FilePool {
                transactions: 7,
                ..FilePool::default()
            },
            7,
            "verbose",
        ),
        (
            FilePool {
                transactions: 9000,
                ..FilePool::default()
            },
            500,
            "verbose",
        ),
    ] {
        let figures = PoolFigures {
            transactions_count: count,
            ..figures()
        };
        let record = recorded(pool.clone(), figures, [0, 1, 2].map(|it| it * SECOND_US));
        let (cell, mut live) = (0, text(form));
        let mut printed = live.event(&RunEvent::Started {
            record: Box::new(record.clone()),
        });
        for part in pool.parts() {
            printed += &live.event(&RunEvent::PoolPartBegun { cell, part });
            for elapsed_ns in [0, 31, 32, 100] {
                printed += &live.event(&progress(elapsed_ns, part));
            }
            printed += &live.event(&RunEvent::PoolPartDone {
                cell,
                part,
                figures: Box::new(figures),
                failures: Box::default(),
            });
        }
        printed += &live.event(&RunEvent::Finished {
            status: Status::Complete,
        });
        printed += &live.end(&record);
        assert_eq!(printed, text(form).end(&record));
        let is_depleted = printed.contains(".out of files!\nFor this workload");
        assert_eq!(is_depleted, pool.transactions == 9000, "{printed}");
        assert_eq!(is_depleted, printed.ends_with("Deleting files...Done\n"));
    }
}

/// An event after `elapsed_ns`. The total is known only within the transactions.
fn progress(elapsed_ns: u64, part: PoolPart) -> RunEvent {
    let is_known = part == PoolPart::Transact && elapsed_ns > 0 && elapsed_ns < 100;
    RunEvent::Progress {
        cell: 0,
        phase: Phase::Classic(part.phase_name().to_owned()),
        elapsed_ns,
        total_ns: if is_known { 2000 } else { 0 },
        iops: f64::NAN,
        bytes_per_second: f64::NAN,
        p50_ns: None,
        p99_ns: None,
        octaves: Vec::new(),
        errors: 0,
    }
}

#[test]
fn a_stopped_run_ends_its_line_and_prints_no_report() {
    let mut record = recorded(FilePool::default(), figures(), [0; 3]);
    record.status = Status::Interrupted;
    let mut text = text("verbose");
    let part = PoolPart::Fill;
    let printed = text.event(&RunEvent::PoolPartBegun { cell: 0, part });
    assert_eq!(printed, "Creating files...");
    let status = Status::Interrupted;
    assert_eq!(text.event(&RunEvent::Finished { status }), "\n");
    assert_eq!(text.end(&record), "");
}

#[test]
fn failures_are_printed_as_in_the_original_and_the_rest_at_the_end() {
    let world = played(&[], "set location no/b\nset subdirectories 2\nrun\n");
    let pool = pool_of(&world.works[0]).clone();
    let mut record = recorded(pool, figures(), [0; 3]);
    let mut text = text("verbose");
    text.event(&RunEvent::Started {
        record: Box::new(record.clone()),
    });
    let failures = ["create", "read", "append", "delete"].map(|kind| PoolFailure {
        kind: kind.to_owned(),
        location: 0,
        subdirectory: Some(1),
        number: 7,
    });
    let printed = text.error_text(&RunEvent::PoolPartDone {
        cell: 0,
        part: PoolPart::Transact,
        figures: Box::new(PoolFigures {
            taken_count: 2,
            ..figures()
        }),
        failures: Box::new(PoolFailures {
            listed: failures.to_vec(),
            count: 6,
        }),
    });
    let wanted = "Error: cannot open 'no/b/s1/7' for writing\n\
                  Error: cannot open 'no/b/s1/7' for reading\n\
                  Error: cannot open 'no/b/s1/7' for append\n\
                  Error: Cannot delete 'no/b/s1/7'\n\
                  warning: 2 more failures are not listed\n";
    assert_eq!(printed, wanted);
    let cell = &mut record.cells[0];
    let write = cell.operations.entry("write".to_owned()).or_default();
    write.errors = 3;
    text.error_text(&RunEvent::CellDone {
        record: Box::new(cell.clone()),
    });
    let status = Status::Complete;
    let printed = text.error_text(&RunEvent::Finished { status });
    let wanted = "warning: 0 reads of files and 3 writes failed or were short\n\
                  warning: 2 names already existed; those files and directories were not changed\n";
    assert_eq!(printed, wanted);
}
