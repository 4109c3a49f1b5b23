use plan::program::{TraceOpenMode, TraceOperation as Op};

use super::*;

fn read_all(text: &str) -> Result<DbenchLoad, String> {
    DbenchLoad::read(text.as_bytes(), "x").map_err(|mistake| {
        let line = mistake.line.map_or(String::new(), |it| format!(":{it}"));
        format!("x{line}: {}", mistake.message)
    })
}

fn refused(text: &str) -> String {
    read_all(text).err().unwrap_or_default()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn load_files_of_other_back_ends_are_refused() {
    for (text, back_end) in [
        (
            "0.000 Deltree \"/clients/client1\" 0x00000000\n0.000 MKDIR3 \"/clients\" *",
            "nfs",
        ),
        ("LOCK4 \"/foo\" 0 0 0x00000000", "nfs"),
        (
            "MKDIR \"/a\" *\nOPEN \"/test.txt\" 0 0 SUCCESS\nCLOSE \"/test.txt\" SUCCESS",
            "smb",
        ),
        ("WRITE \"/test.txt\" 0 1024 SUCCESS", "smb"),
        (
            "LOOP 2\nREAD */0x1000%0x40000000 4096 0x00000000\nENDLOOP",
            "block",
        ),
        ("0.000 TESTUNITREADY 0x00", "scsi"),
    ] {
        let refused = super::load::DbenchLoad::read(text.as_bytes(), "x.load")
            .err()
            .unwrap()
            .to_string();
        assert!(
            refused.contains(&format!("dbench's {back_end} back-end")),
            "{refused}"
        );
    }
}

#[test]
fn lines_become_calls_with_registers_and_names() {
    let load = read_all(
        "# a comment\n\
         \n\
         Mkdir \"\\clients\\client1\" NT_STATUS_OK\n\
         NTCreateX \"\\clients\\client1\\a.dat\" 0x40 0x2 10001 NT_STATUS_OK\n\
         0.5 WriteX 10001 131071 2 2 0x00000000\n\
         NTCreateX \"\\clients\\client1\\a.dat\" 0x40 0x1 10002 NT_STATUS_OK\n\
         FIND_FIRST \"\\clients\\client1\\*\" 260 1366 1 *\n\
         FIND_FIRST \"/clients/client1/b\" 260 1366 1 ERROR\n\
         Close 10001 SUCCESS\n\
         readx 10002 0 10 4 NT_STATUS_OK\n",
    );
    let load = load.unwrap();
    let trace = &load.trace;
    assert_eq!(
        trace.names,
        [
            "clients/client{worker}",
            "clients/client{worker}/a.dat",
            "clients/client{worker}/*",
            "clients/client{worker}/b",
        ]
    );
    assert_eq!((trace.register_count, trace.buffer_bytes), (2, 10));
    assert_eq!((trace.space_bytes, trace.is_timed), (131_073, true));
    let calls = trace.calls.iter();
    let calls: Vec<_> = calls.map(|it| (it.operation, it.handle, it.line)).collect();
    assert_eq!(
        calls,
        [
            (Op::Mkdir, 0, 3),
            (Op::Open(TraceOpenMode::Created), 0, 4),
            (Op::Write, 0, 5),
            (Op::Open(TraceOpenMode::Existing), 1, 6),
            (Op::List, 0, 7),
            (Op::LookUp, 0, 8),
            (Op::Close, 0, 9),
            (Op::Read, 1, 10),
        ]
    );
    let (write, read) = (&trace.calls[2], &trace.calls[7]);
    assert_eq!((write.due_ns, read.second), (500_000_000, 4));
    assert!(load.skipped.is_empty());
}

#[test]
fn lines_that_the_original_skips_are_skipped_and_reported() {
    let load = read_all(
        "Mkdir \"/a\" 0x0\n\
         Unheard \"/a\" 0x0\n\
         Mkdir \"/a\" maybe\n\
         Close 7 0x0\n",
    );
    let load = load.unwrap();
    let lines: Vec<_> = load.skipped.iter().map(|it| it.line.unwrap()).collect();
    assert_eq!((lines, load.trace.calls_count), (vec![2, 3, 4], 1));
}

#[test]
fn mistakes_are_reported_with_their_line() {
    for (text, message) in [
        (
            "Mkdir \"/a/../../b\" 0x0",
            "x:1: `/a/../../b` leads out of the directory",
        ),
        ("\nMkdir \"/a\0b\" 0x0", "x:2: a name has a zero byte in it"),
        ("Mkdir \"/a 0x0", "x:1: a text in quotes has no end"),
        ("SMBopen x", "x:1: this is a load file of dbench 1"),
        ("Close 0x0 x *", "x:1: `x` is not a number"),
        ("ReadX", "x: the load file contains no calls"),
        ("", "x: the load file contains no calls"),
        (
            "WAITSP 1",
            "x:1: `WAITSP` is not supported: clients do not wait for each other",
        ),
        ("LOOP 2\nMkdir \"/a\" *", "x: a `LOOP` has no `ENDLOOP`"),
        ("ENDLOOP", "x:1: `ENDLOOP` without a `LOOP`"),
        ("REPEAT 0", "x:1: `REPEAT` takes 1 to 1000000 repetitions"),
    ] {
        let error = refused(text);
        let is_skipped = message.contains("not a number") && error.contains("no call");
        assert!(error == message || is_skipped, "{error}");
    }
    let long = format!("Mkdir \"/{}\" *", "x".repeat(5000));
    assert_eq!(refused(&long), "x:1: a name is too long");
    assert!(
        DbenchLoad::read(&[0x1f, 0x8b, 8], "x").is_err()
            && DbenchLoad::read(&[0xff, 0xfe], "x").is_err()
    );
}

#[test]
fn absolute_names_are_placed_below_the_directory() {
    let load = read_all("Unlink \"/etc/passwd\" 0x6 *\nDeltree \"//\" *\n").unwrap();
    assert_eq!(load.trace.names, ["etc/passwd", "."]);
}

#[test]
fn loops_repetitions_and_offsets_are_expanded() {
    let load = read_all(
        "LOOP 3\n\
         NTCreateX \"/f\" 0 2 1 *\n\
         REPEAT 4\n\
         WriteX 1 +4096 4096 4096 *\n\
         Close 1 *\n\
         ENDLOOP\n\
         SLEEP 5\n\
         RANDOMSTRING 1 \"/x[ab][0]\"\n\
         RANDOMSTRING 10 \"/y\"\n\
         Mkdir $1 *\n\
         Mkdir $10 *\n\
         NTCreateX \"/f\" 0 2 1 *\n\
         REPEAT 100\n\
         ReadX 1 */0x1000%40960+7 1 1 *\n",
    );
    let load = load.unwrap();
    let calls = &load.trace.calls;
    assert_eq!(calls.len(), 3 * 6 + 4 + 100);
    let offsets: Vec<u64> = calls[1..5].iter().map(|it| it.offset_bytes).collect();
    assert_eq!(offsets, [4096, 8192, 12_288, 16_384]);
    assert_eq!(calls[18].due_ns, 5_000);
    assert!(["xa0", "xb0"].contains(&load.trace.names[1].as_str()));
    assert!(load.trace.names.contains(&"y".to_owned()));
    let is_aligned = |offset: u64| offset % 4096 == 7 && offset < 40_967;
    assert!(calls[22..].iter().all(|it| is_aligned(it.offset_bytes)));
    let endless = "LOOP 1000000\nLOOP 1000000\nMkdir \"/a\" *\nENDLOOP\nENDLOOP\n";
    assert!(refused(endless).contains("more than"));
}

#[test]
fn options_of_both_versions_are_read() {
    let read = |text: &str| DbenchOptions::read(&words(text));
    let options = read("-t 10 -cload.txt -D dir -sSF -R 1.5 4").unwrap();
    assert_eq!(
        (options.clients, options.time_s, options.warm_up_s),
        (4, 10, 2)
    );
    assert_eq!(options.bytes_per_second, 1_500_000);
    assert!(options.is_sync && options.syncs_directories && options.syncs_writes);
    assert_eq!(
        (options.load_file.as_str(), options.directory.as_str()),
        ("load.txt", "dir")
    );
    let options = read("--clients-per-process 3 2").unwrap();
    assert_eq!((options.clients, options.processes), (6, 2));
    let refused = read("--clients-per-process=600 2").unwrap_err();
    assert!(
        refused.contains("1200 clients, more than 1024"),
        "{refused}"
    );
    let options = read("--timelimit=10 --warmup=3 --backend=fileio --no-resolve --run-once 1");
    let options = options.unwrap();
    assert!(options.runs_once && !options.is_resolving && options.warm_up_s == 0);
    for wrong in [
        "",
        "0",
        "-t 0 1",
        "1 2",
        "-t",
        "-x 1",
        "--what 1",
        "-B nfs 1",
        "--sync=1 1",
        "-R -1 1",
        "99999",
        "- 1",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn fake_io_leaves_out_reads_and_writes() {
    let options = |line: &str| DbenchOptions::read(&words(line)).unwrap();
    let text = b"NTCreateX \"/f\" 0 2 1 *\nWriteX 1 0 4096 4096 *\nReadX 1 0 1 1 *\nClose 1 *\n";
    let calls = |line: &str| {
        let work = work(&options(line), text).unwrap();
        let program = &work.cells[0].built.as_ref().unwrap().program;
        program.check().unwrap();
        let trace = program.groups().next().unwrap().trace.clone().unwrap();
        assert_eq!(trace.calls.len() as u64, trace.calls_count);
        trace.calls_count
    };
    assert_eq!(calls("1"), 4);
    assert_eq!(calls("--fake-io 1"), 2);
    assert!(options("--per-client-results 2").has_client_tables);
    assert_eq!(DbenchOptions::read(&words("--usage")), Err(String::new()));
}

#[test]
fn a_load_file_is_recognized_by_its_first_call() {
    assert!(load::detect(
        b"# x\n\nDeltree \"\\clients\\client1\" NT_STATUS_OK\n"
    ));
    assert!(load::detect(
        b"0.000 Deltree \"/clients/client1\" 0x00000000\n"
    ));
    let others: [&[u8]; 5] = [
        b"",
        b"MKDIR3 \"/clients\" *\n",
        b"Mkdir \"/a\"\n",
        b"set size 1\n",
        b"\0\xff",
    ];
    assert!(!others.into_iter().any(load::detect));
}

#[test]
fn a_load_file_becomes_a_valid_program_of_one_client() {
    let file = FrontFile::new("mine.txt", b"Mkdir \"/a\" *\n");
    let work = FRONT.file.unwrap().read(&file).unwrap();
    let program = &work.cells[0].built.as_ref().unwrap().program;
    program.check().unwrap();
    assert_eq!(
        program.words(),
        [
            "execute: 1 worker, for 10m after a ramp of 2m: the 1 calls of mine.txt repeatedly \
             (40B of memory)"
        ]
    );
    let again = DbenchOptions::read(&work.text_input).unwrap();
    assert_eq!(
        (again.time_s, again.warm_up_s, again.clients),
        (600, 120, 1)
    );
}

#[test]
fn arbitrary_load_files_never_panic() {
    let pieces = [
        "NTCreateX",
        "Close",
        "\"",
        "\\a",
        "/",
        "..",
        "0x",
        "1",
        "\n",
        " ",
        "REPEAT",
        "LOOP",
        "ENDLOOP",
        "WriteX",
        "*",
        "+",
        "%0",
        "$1",
        "RANDOMSTRING",
        "[",
        "]",
        "18446744073709551615",
        "NT_STATUS_OK",
        "#",
        "é",
        "\0",
        "-1",
        "SLEEP",
        "ReadX",
        "Rename",
        "FIND_FIRST",
    ];
    let mut random = 1_u64;
    for _ in 0..5_000 {
        let mut text = String::new();
        for _ in 0..40 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            text.push_str(pieces[(random >> 33) as usize % pieces.len()]);
            if random >> 63 == 1 {
                text.push(' ');
            }
        }
        let _ = (
            load::detect(text.as_bytes()),
            DbenchLoad::read(text.as_bytes(), "x"),
        );
    }
}
