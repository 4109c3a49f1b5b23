use plan::program::{Act, CallPosition, FileOperation};
use results::RoundFigures;

use super::*;
use crate::file_access::VirtualFiles;
use crate::tests::{record, round};
use crate::{ArgumentError, FrontOrigin, find};

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_kind_of_run_becomes_a_valid_program() {
    for line in [
        "-n 10",
        "-n 1",
        "-n 2",
        "-I 3 -z 2 -b 3 -u",
        "-n 100 -z 2 -b 3 -L -F",
        "-n 8 -C",
        "-n 8 -r",
        "-n 8 -T -U -z 1 -b 2 --ranks 2 -N 1",
        "-I 3 -z 1 -b 3 -u -r -i 2",
        "-n 8 -T -E -F -w 100 -e 50",
        "-n 8 -i 3 -N 1 --ranks 3 -R -Y -y -w 10",
        "-n 1000 -W 5 -F -p 1",
        "-n 5 -D -P",
        "-W 2",
        "-z 2 -b 2 -u",
        "-n 5 --ranks 3 -f 1 -l 3 -s 2 -N 1 -u",
        "-n 5 -a DUMMY -C --posix.odirect",
        "-n 5 -S --ranks 2 -w 10 -e 10 -N 1",
        "-I 5 -z 1 -a dummy -T -x wall",
        "-n 5 -F -w 10 --verify-write -y --ranks 2",
        "-n 5 -u -d /a@/b --ranks 3",
        "-n 5 -F -C -k",
    ] {
        let arguments = words(line);
        let front = find("mdtest").unwrap();
        let work = front.work(&CommandLine::of(&arguments)).unwrap();
        let [cell] = &work.cells[..] else {
            panic!("{line}");
        };
        let built = cell.built.as_ref().unwrap();
        assert_eq!(built.program.check(), Ok(()), "{line}");
        assert_eq!(built.origin.arguments, arguments);
    }
}

/// The original checks a file between write and fsync, within the time of the creation.
#[test]
fn verify_write_reads_each_new_file_from_its_start_before_it_is_closed() {
    let calls = |line: &str| -> Vec<(FileOperation, CallPosition)> {
        let options = MdtestOptions::read(&words(line)).unwrap();
        let program = program::program(&options);
        // Tree creation, file creation.
        let Act::Transaction(_, acts) = &program.groups().nth(1).unwrap().body[0] else {
            panic!("{line}");
        };
        let calls = acts.iter().map(|act| match act {
            Act::Call(call) => (call.operation, call.place.clone()),
            other => panic!("{other:?}"),
        });
        calls.collect()
    };
    let here = |operation| (operation, CallPosition::Here);
    let written = [
        here(FileOperation::Create),
        here(FileOperation::Write),
        (FileOperation::Read, CallPosition::At(0)),
        here(FileOperation::Fsync),
        here(FileOperation::Close),
    ];
    assert_eq!(calls("-n 5 -F -C -w 10 -y --verify-write"), written);
    assert_eq!(calls("-n 5 -F -C --verify-write").len(), 2);
    let arguments = words("-n 5 -F -w 10 --verify-write");
    let work = find("mdtest").unwrap().work(&CommandLine::of(&arguments));
    assert!(work.unwrap().cells[0].built.as_ref().unwrap().is_checked);
}

#[test]
fn ranks_use_several_directories_in_turn() {
    let directories = |line: &str| {
        let work = find("mdtest").unwrap().work(&CommandLine::of(&words(line)));
        work.unwrap().directories
    };
    let several = directories("-n 5 -u -d /a@/b --ranks 3");
    assert_eq!(several, ["/a", "/b"].map(PathBuf::from));
    assert_eq!(directories("-n 5 -d /a"), [PathBuf::from("/a")]);
}

#[test]
fn a_signature_makes_kept_data_known_to_later_commands() {
    let work = |line: &str| {
        let work = find("mdtest").unwrap().work(&CommandLine::of(&words(line)));
        let cell = work.unwrap().cells.remove(0);
        (cell.built.unwrap().is_checked, cell.seed)
    };
    let known = Some(Seed(27));
    for line in ["-C -n 5 -w 10 -G 27", "-E -X -n 5 -e 10 -G 27"] {
        assert_eq!(work(line), (true, known), "{line}");
    }
    assert_eq!(work("-n 5 -w 10 -e 10 -G 27"), (false, known));
    assert_eq!(work("-C -n 5 -G 27"), (false, known));
    assert_eq!(work("-C -n 5 -w 10"), (false, None));
}

#[test]
fn files_have_the_mode_of_mdtest() {
    let options = MdtestOptions::read(&words("-n 5")).unwrap();
    assert_eq!(program::program(&options).ways[0].permissions, 0o664);
}

/// Source: 2 * 2147483649 = 4294967298, which is a multiple of 3.
#[test]
fn large_strides_shift_the_ranks_exactly() {
    let line = "-n 5 -D --ranks 3 -N 2147483649";
    let options = MdtestOptions::read(&words(line)).unwrap();
    let program = program::program(&options);
    let shifts = program.groups().map(|it| it.shift).collect::<Vec<_>>();
    // Tree creation, creation, stat, rename, removal, tree removal.
    assert_eq!(shifts, [0, 0, 0, 0, 0, 0]);
    let line = "-n 5 -F --ranks 4 -N 4294967295";
    let options = MdtestOptions::read(&words(line)).unwrap();
    let program = program::program(&options);
    let shifts = program.groups().map(|it| it.shift).collect::<Vec<_>>();
    // Tree creation, creation, stat, read, removal, tree removal.
    assert_eq!(shifts, [0, 0, 3, 2, 1, 0]);
}

fn text(line: &str, phases: &[(&str, Vec<RoundFigures>)]) -> String {
    let origin = FrontOrigin {
        name: "mdtest".to_owned(),
        arguments: words(line),
    };
    crate::text(&record(&origin, phases)).unwrap()
}

/// The layout is that of a run of the original, `-n 1000 -d DIR -i 3` with two ranks.
#[test]
fn the_summary_is_formatted_as_in_the_original() {
    // 10, 20 and 40 ms.
    let rounds = || [10, 20, 40].map(|ms| round(&[(1000, ms * 1_000_000), (1000, 1)]));
    let page = text(
        "-n 1000 --ranks 2 -i 3 -d /mnt/x",
        &[
            ("directory creation", rounds().into()),
            ("file creation", rounds().into()),
            ("tree creation", rounds().into()),
        ],
    );
    let zero = "          0.000          0.000          0.000          0.000";
    let created = "     200000.000      50000.000     116666.667      76376.262";
    let tree = "        100.000         25.000         58.333         38.188";
    let wanted = format!(
        "-- started at 11/21/2026 01:36:54 --\n\
         \n\
         mdtest-4.1.0+dev was launched with 2 total task(s) on 1 node(s)\n\
         Command line used: mdtest '-n' '1000' '--ranks' '2' '-i' '3' '-d' '/mnt/x'\n\
         WARNING: Read bytes is 0, thus, a read test will actually just open/close\n\
         Nodemap: 11\n\
         Path                : /mnt/x\n\
         FS                  : 23.5 GiB   Used FS: 4.3%   Inodes: 2.9 Mi   Used Inodes: 0.0%\n\
         2 tasks, 2000 files/directories\n\
         \n\
         SUMMARY rate (in ops/sec): (of 3 iterations)\n   \
         Operation                     Max            Min           Mean        Std Dev\n   \
         ---------                     ---            ---           ----        -------\n   \
         Directory creation    {created}\n   \
         Directory stat        {zero}\n   \
         Directory rename      {zero}\n   \
         Directory removal     {zero}\n   \
         File creation         {created}\n   \
         File stat             {zero}\n   \
         File read             {zero}\n   \
         File removal          {zero}\n   \
         Tree creation         {tree}\n   \
         Tree removal          {zero}\n\
         -- finished at 11/21/2026 01:36:55 --\n\
         \n"
    );
    assert_eq!(page, wanted);
}

#[test]
fn times_have_their_own_table() {
    let files = vec![round(&[(5, 2_500_000)])];
    let page = text("-n 5 -F -P -w 1 -e 1", &[("file stat", files)]);
    assert!(page.contains("\n1 tasks, 5 files\n"), "{page}");
    assert!(!page.contains("Directory") && !page.contains("WARNING"));
    let [_, rates, times] = page.split("SUMMARY").collect::<Vec<_>>()[..] else {
        panic!("{page}");
    };
    let stat = |table: &str| {
        let row = table.lines().find(|line| line.contains("File stat"));
        row.unwrap().split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(
        (stat(rates), stat(times)),
        ("2000.000".into(), "0.003".into())
    );
}

#[test]
fn each_number_of_ranks_has_its_own_table() {
    let rounds = || [10, 20].map(|ms| round(&[(5, ms * 1_000_000)])).into();
    let page = text(
        "-n 5 --ranks 2 -f 1 -l 2 -F",
        &[("file creation", rounds()), ("tree creation", rounds())],
    );
    let [head, one, two] = page.split("SUMMARY").collect::<Vec<_>>()[..] else {
        panic!("{page}");
    };
    assert!(head.ends_with("\n1 tasks, 5 files\n\n"), "{page}");
    assert!(one.ends_with("\n2 tasks, 10 files\n\n"), "{page}");
    let creation_rate = |table: &str| {
        let row = table.lines().find(|line| line.contains("File creation"));
        row.unwrap().split_whitespace().nth(2).unwrap().to_owned()
    };
    assert_eq!(
        (creation_rate(one), creation_rate(two)),
        ("500.000".into(), "250.000".into())
    );
}

#[test]
fn later_commands_use_the_number_of_items_that_was_reached() {
    let read = |_: &str| Ok(b"3".to_vec());
    let script = VirtualFiles {
        read: &read,
        ..VirtualFiles::EMPTY
    };
    let items = |line: &str| {
        let arguments = words(line);
        let line = CommandLine {
            files: FileAccess::scripted(script),
            ..CommandLine::of(&arguments)
        };
        let work = find("mdtest").unwrap().work(&line).unwrap();
        work.cells[0].built.as_ref().unwrap().program.filesets[3].count
    };
    assert_eq!(items("-I 20 -x wall -T"), 3);
    assert_eq!(items("-I 20 -x wall -C -W 1"), 20);
}

#[test]
fn a_tree_that_32_bits_cannot_number_is_refused() {
    for (branches, depth) in [(3, 20), (3, 60), (2, 32)] {
        let words = words(&format!("-n 1 -b {branches} -z {depth}"));
        let error = super::FRONT.work(&CommandLine::of(&words)).unwrap_err();
        let ArgumentError::Arguments(message) = error else {
            panic!("{error:?}");
        };
        assert!(message.contains("more directories"), "{message}");
    }
}
