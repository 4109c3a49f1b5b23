use results::{RoundFigures, WorkerAtWall, WorkerTimes, WorkerWindow};

use super::*;
use crate::tests::record;
use crate::{FrontOrigin, find};

const MIB: u64 = 1 << 20;

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read(line: &str) -> Result<Options, String> {
    Options::read(&words(line))
}

#[test]
fn every_kind_of_run_is_a_program_that_can_be_done() {
    for line in [
        "",
        "-w",
        "-r -F -N 3 -Q 2 -C",
        "-b 16m -t 1m -s 16 -N 4 -F -C -e -g -i 3 -d 1",
        "-z -F -b 1m -t 4k -Y -B -u",
        "-w -D 30 -O stoneWallingWearOut=1,fsync=1 -s 10000 -t 47008 -b 47008 -N 2",
        "-a POSIX -v -k -o /mnt/x/file",
        "-w -r -k -i 3 -F -u -N 2",
        "-w -r -W -R -t 64k",
        "-w -r -W -R -t 64k -F -N 2 -C",
    ] {
        let arguments = words(line);
        let front = find("ior").unwrap();
        let work = front.work(&CommandLine::of(&arguments)).unwrap();
        let built = work.cells[0].built.as_ref().unwrap();
        assert_eq!(built.program.check(), Ok(()), "{line}");
        assert_eq!(work.cells.len(), 1);
    }
}

#[test]
fn options_are_joined_follow_or_are_directives() {
    let options = read("-wFe -t=4k -b1m -O segmentCount=8,useo_direct=1 -o /mnt/x/f").unwrap();
    assert!(options.writes && !options.reads && options.has_file_per_rank);
    assert!(options.is_synced && options.is_direct);
    assert_eq!((options.transfer_bytes, options.block_bytes), (4096, MIB));
    assert_eq!(options.bytes_of_rank(), 8 * MIB);
    assert_eq!(options.file_name(), "f");
    assert_eq!(options.directory(), std::path::Path::new("/mnt/x"));
    let options = read("-C -Q 5 -N 4 -vv -k").unwrap();
    assert_eq!(options.shift(), 1);
    assert_eq!(options.without_effect, ["-v", "-v"]);
    assert!(options.keeps);
}

#[test]
fn what_cannot_be_done_is_refused_by_name() {
    for (line, part) in [
        ("-h", ""),
        (
            "-b 5 -t 4",
            "block size must be a multiple of transfer size",
        ),
        ("-t 0", "`-t` is 0"),
        ("-N x", "`-N x` is not a number"),
        ("-b", "`-b` lacks its value"),
        ("-y", "no option `-y`"),
        ("--quick", "no option `--quick`"),
        ("file", "no option `file`"),
        ("-a MPIIO", "MPIIO"),
        ("-P", "`-P` is for MPI-IO, which is not done here"),
        ("-z", "add `-F`"),
        ("-D 5", "add `-w`"),
        ("-R", "written by the same command; add `-w`"),
        ("-W -r", "written by the same command; add `-w`"),
        ("-O x", "is not `KEY=VALUE`"),
        ("-O x=1", "no directive `x=1`"),
        (
            "-O summaryFormat=JSON",
            "`summaryFormat` prints another form",
        ),
        ("-o a@b", "is not one file"),
        ("-o /mnt/", "is not one file"),
        ("-b 99999999t", "`-b 99999999t`"),
        ("-b 4000000t -N 9", "63 bits"),
    ] {
        let refused = read(line).unwrap_err();
        assert!(refused.contains(part), "{line}: {refused}");
    }
}

#[test]
fn all_that_is_refused_is_listed_at_once() {
    let refused = read("-P -S --quick 5 -O summaryFormat=JSON,interIODelay=3 -t x").unwrap_err();
    let lines: Vec<&str> = refused.lines().collect();
    let parts = [
        "`-P`",
        "`-S`",
        "`--quick`",
        "`summaryFormat`",
        "`interIODelay`",
        "`-t x`",
    ];
    assert_eq!(lines.len(), parts.len(), "{refused}");
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.contains(part), "{refused}");
    }
    let refused = read("-b 5 -t 4 -z").unwrap_err();
    assert_eq!(refused.lines().count(), 2, "{refused}");
}

#[test]
fn checks_are_phases_that_are_not_measured_and_reads_that_are() {
    let options = read("-w -r -W -R -t 64k").unwrap();
    let program = super::program::program(&options);
    let names: Vec<(&str, bool)> = program
        .phases()
        .iter()
        .map(|it| (it.name.as_str(), it.is_hidden))
        .collect();
    let wanted = [
        ("write", false),
        ("write check", true),
        ("read", false),
        ("remove", false),
    ];
    assert_eq!(names, wanted);
    assert!(options.checks());
    // It asks for the work that it checks.
    let options = read("-R -w").unwrap();
    assert!(options.reads && options.writes);
}

/// A rank's window, in milliseconds.
fn rank(stamps: [u64; 4], bytes: u64, wall: Option<(u64, u64)>) -> WorkerTimes {
    let [begin_ns, body_ns, body_end_ns, end_ns] = stamps.map(|ms| ms * 1_000_000);
    WorkerTimes {
        window: Some(WorkerWindow {
            begin_ns,
            body_ns,
            body_end_ns,
            end_ns,
            written_bytes: bytes,
            wall: wall.map(|(ms, written_bytes)| WorkerAtWall {
                at_ns: ms * 1_000_000,
                written_bytes,
                ..WorkerAtWall::default()
            }),
            ..WorkerWindow::default()
        }),
        ..WorkerTimes::default()
    }
}

fn text(line: &str, workers: Vec<WorkerTimes>) -> String {
    let origin = FrontOrigin {
        name: "ior".to_owned(),
        arguments: words(line),
    };
    let round = RoundFigures {
        workers,
        ..RoundFigures::default()
    };
    crate::text(&record(&origin, &[("write", vec![round])])).unwrap()
}

fn line<'a>(text: &'a str, start: &str, number: usize) -> &'a str {
    let mut lines = text.lines().filter(|line| line.starts_with(start));
    lines.nth(number).unwrap()
}

#[test]
fn rows_stand_as_the_original_prints_them() {
    // 8 MiB in 2 s: opened from 0 to 10 ms, moved until 1.9 s, closed from 1.8 s.
    let ranks = vec![
        rank([0, 10, 1800, 1850], 4 * MIB, None),
        rank([0, 5, 1900, 2000], 4 * MIB, None),
    ];
    let seen = text("-w -F -N 2 -b 2m -t 1m -s 2", ranks);
    assert_eq!(
        line(&seen, "write ", 0),
        "write     4.00       4.22       0.895000    2048.00    1024.00    0.010000   1.90       \
         0.200000   2.00       0   "
    );
    assert_eq!(
        line(&seen, "write ", 1),
        "write           4.00       4.00       4.00       0.00       4.00       4.00       \
         4.00       0.00    2.00000         NA            NA     0      2   2    1   1     \
         0        1         0    0      2  2097152  1048576       8.0 POSIX      0"
    );
    let head = line(&seen, "aggregate", 0);
    assert_eq!(head, "aggregate filesize  : 8 MiB");
    assert!(seen.contains("\nFS                  : 23.5 GiB   Used FS: 4.3%"));
    assert!(seen.ends_with("Finished            : Sat Nov 21 01:36:55 2026\n"));
}

#[test]
fn what_was_moved_until_the_stonewall_is_told() {
    let ranks = vec![
        rank([0, 0, 1500, 1500], 4 * MIB, Some((1000, 3 * MIB))),
        rank([0, 0, 1200, 1200], 4 * MIB, Some((1001, 4 * MIB))),
    ];
    let seen = text("-w -D 1 -O stonewallingwearout=1 -s 100 -N 2", ranks);
    let row = line(&seen, "write ", 1);
    assert!(
        row.contains("    1.50000       1.00          7.00     0 "),
        "{row}"
    );
    assert!(seen.contains("stoneWallingWearOut : 1\n"));
}
