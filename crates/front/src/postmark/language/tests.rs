use std::collections::BTreeMap;

use description::classics::postmark::{Compat, PostmarkSettings};

use super::*;

/// A console in memory; runs are noted, not carried out.
#[derive(Default)]
struct Memory {
    files: BTreeMap<Vec<u8>, &'static [u8]>,
    input: Vec<&'static [u8]>,
    output: Vec<u8>,
    errors: Vec<u8>,
    appended: Vec<u8>,
    runs: Vec<(u32, Option<Vec<u8>>)>,
}

impl SessionConsole for Memory {
    type Lines = &'static [u8];

    fn print(&mut self, text: &[u8]) {
        self.output.extend_from_slice(text);
    }

    fn print_error(&mut self, text: &[u8]) {
        self.errors.extend_from_slice(text);
    }

    fn open(&mut self, file: &[u8]) -> Option<Self::Lines> {
        self.files.get(file).copied()
    }

    fn read_line(&mut self) -> Option<Vec<u8>> {
        (!self.input.is_empty()).then(|| self.input.remove(0).to_vec())
    }

    fn append(&mut self, file: &[u8], text: &[u8]) -> bool {
        if file.is_empty() {
            return false;
        }
        self.appended.extend_from_slice(text);
        true
    }

    fn working_directory(&mut self) -> Vec<u8> {
        b"/here".to_vec()
    }

    fn shell(&mut self, _: Option<&[u8]>) {}

    fn run(&mut self, settings: &PostmarkSettings, report: Option<&[u8]>) {
        let report = report.map(<[u8]>::to_vec);
        self.runs.push((settings.number, report));
    }
}

fn played(files: &[(&str, &'static [u8])], input: &[&'static [u8]]) -> Memory {
    let mut console = Memory {
        input: input.to_vec(),
        ..Memory::default()
    };
    for (name, text) in files {
        console.files.insert(name.as_bytes().to_vec(), text);
    }
    play(&mut PostmarkSession::default(), &mut console, b"cfg");
    console
}

fn after(lines: &[&str]) -> (PostmarkSettings, String) {
    let mut session = PostmarkSession::default();
    let mut errors = String::new();
    for line in lines {
        for action in session.line(line.as_bytes(), Origin::File) {
            if let SessionAction::PrintError(text) = action {
                errors.push_str(&String::from_utf8(text).unwrap());
            }
        }
    }
    (session.settings().clone(), errors)
}

#[test]
fn the_first_command_that_is_a_prefix_of_the_line_wins() {
    let (settings, errors) = after(&["set reader 9", "set writex8", "set bias reader 3"]);
    assert_eq!(settings.read_block_bytes, 512);
    assert_eq!(settings.write_block_bytes, 8);
    assert_eq!(settings.read_bias, Some(0));
    assert_eq!(errors, "Error: invalid read block size\n");
}

#[test]
fn a_line_no_longer_than_the_name_has_no_parameter() {
    let mut session = PostmarkSession::default();
    let mut run = |line: &[u8]| session.line(line, Origin::File);
    assert_eq!(run(b"run"), [SessionAction::Run { report: None }]);
    let empty = Some(Vec::new());
    assert_eq!(
        run(b"run "),
        [SessionAction::Run {
            report: empty.clone()
        }]
    );
    assert_eq!(
        run(b"runs"),
        [SessionAction::Run {
            report: empty.clone()
        }]
    );
    assert_eq!(
        run(b"showed"),
        [SessionAction::Show {
            file: Some(b"d".to_vec())
        }]
    );
    assert_eq!(run(b" run"), [SessionAction::Print(b"Eh?\n".to_vec())]);
    assert_eq!(run(b"RUN"), [SessionAction::Print(b"Eh?\n".to_vec())]);
}

#[test]
fn the_upper_size_follows_the_first_blank() {
    let sizes = |line| {
        let (settings, _) = after(&[line]);
        (settings.size_low_bytes, settings.size_high_bytes)
    };
    assert_eq!(sizes("set size 5 6"), (5, 6));
    assert_eq!(
        sizes("set sizes 5 6"),
        (5, 5),
        "the first blank comes before the 5"
    );
    assert_eq!(sizes("set size 10\t20"), (10, 10));
    assert_eq!(sizes("set size 10 \t20 30"), (10, 20));
    assert_eq!(sizes("set size 100 50"), (100, 100));
    assert_eq!(sizes("set size 0 50"), (500, 10_000));
}

#[test]
fn biases_take_tenths_or_minus_one() {
    let (settings, errors) = after(&["set bias read -1", "set bias create 10"]);
    assert_eq!((settings.read_bias, settings.create_bias), (None, Some(10)));
    assert!(errors.is_empty());
    let (settings, errors) = after(&["set bias read -2", "set bias create 11", "set bias read"]);
    assert_eq!(settings, PostmarkSettings::default());
    assert_eq!(errors.lines().count(), 3);
}

#[test]
fn locations_are_set_added_and_removed_by_their_exact_name() {
    let list = |lines: &[&str]| {
        let (settings, errors) = after(lines);
        let names = settings.locations.into_iter();
        let names = names.map(|l| (String::from_utf8(l.directory).unwrap(), l.weight));
        (names.collect::<Vec<_>>(), errors)
    };
    let (names, errors) = list(&["set location w 3", "set location +x y 5", "set location +w"]);
    assert_eq!(names, [("w".into(), 3), ("x y".into(), 5), ("w".into(), 1)]);
    assert_eq!(errors, "");
    let (names, _) = list(&["set location w 3", "set location +w 4", "set location -w"]);
    assert_eq!(names, [("w".into(), 4)], "the first of that name goes");
    let (names, errors) = list(&["set location w 3", "set location -w 3"]);
    assert_eq!(names.len(), 1);
    assert_eq!(errors, "Error: cannot find location 'w 3'\n");
    let (names, errors) = list(&["set location a", "set location ", "set location +b x"]);
    assert_eq!(names, [(String::new(), 1), ("b".into(), 1)]);
    assert_eq!(errors, "Error: ignoring invalid weight 'x'\n");
}

#[test]
fn aliases_work_only_at_the_prompt() {
    let mut session = PostmarkSession::default();
    assert_eq!(session.line(b"exit", Origin::Prompt), [SessionAction::Quit]);
    assert_eq!(
        session.line(b"exit", Origin::File),
        [SessionAction::Print(b"Eh?\n".to_vec())]
    );
    let help = session.line(b"?", Origin::Prompt);
    assert_eq!(help, session.line(b"help", Origin::File));
    let eh = [SessionAction::Print(b"Eh?\n".to_vec())];
    assert_eq!(session.line(b"? q", Origin::Prompt), eh);
}

#[test]
fn a_shell_escape_carries_its_command() {
    let mut session = PostmarkSession::default();
    let shell = |command: Option<&[u8]>| {
        [SessionAction::Shell {
            command: command.map(<[u8]>::to_vec),
        }]
    };
    assert_eq!(session.line(b"!ls -l", Origin::File), shell(Some(b"ls -l")));
    assert_eq!(session.line(b"!", Origin::Prompt), shell(None));
}

#[test]
fn older_versions_have_their_own_error_texts_and_no_load() {
    let mut session = PostmarkSession::new(Compat::V1_5);
    let mut error = |line: &str| match &session.line(line.as_bytes(), Origin::File)[..] {
        [SessionAction::PrintError(text)] => String::from_utf8(text.clone()).unwrap(),
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(error("set number"), "Error: no file number specified\n");
    assert_eq!(
        error("set seed"),
        "Error: no random number seed specified\n"
    );
    assert_eq!(error("set read 0"), "Error: no block size specified\n");
    let subdirectories = error("set subdirectories -1");
    assert_eq!(
        subdirectories,
        "Error: invalid number of subdirectories specified\n"
    );
    assert_eq!(session.line(b"set subdirectories 0", Origin::File), []);
    assert_eq!(
        session.line(b"load x", Origin::File),
        [SessionAction::Print(b"Eh?\n".to_vec())]
    );
}

#[test]
fn sizes_are_shown_in_the_megabytes_of_the_version() {
    let shown = |compat| {
        let mut session = PostmarkSession::new(compat);
        session.line(b"set size 1024000 2048000", Origin::File);
        String::from_utf8(show(session.settings(), b"/").all_parts()).unwrap()
    };
    assert!(shown(Compat::V1_14).contains("between 1.00 megabytes and 2.00 megabytes in"));
    assert!(shown(Compat::V1_53).contains("between 1000.00 kilobytes and 1.95 megabytes in"));
}

#[test]
fn long_lines_continue_as_new_lines_and_the_last_byte_is_lost() {
    let cut = |mut text: &[u8]| {
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut text).unwrap() {
            lines.push(line);
        }
        lines
    };
    assert_eq!(cut(b"quit"), [b"qui"]);
    assert_eq!(cut(b"\n\nrun\n"), [&b""[..], b"", b"run"]);
    assert_eq!(cut(b"run\0x\nshow\n"), [&b"ru"[..], b"show"]);
    let long = [vec![b'x'; 300], b"\n".to_vec()].concat();
    let lengths: Vec<usize> = cut(&long).iter().map(Vec::len).collect();
    assert_eq!(lengths, [253, 46]);
    let exact = [vec![b'x'; 253], b"\nrun\n".to_vec()].concat();
    assert_eq!(cut(&exact)[1], b"run");
}

#[test]
fn quit_in_a_loaded_file_ends_that_file_only() {
    let console = played(
        &[
            ("cfg", b"load b\nset number 3\nrun\n"),
            ("b", b"set number 2\nquit\nrun\n"),
        ],
        &[b"run out", b"quit", b"run"],
    );
    assert_eq!(console.runs, [(3, None), (3, Some(b"out".to_vec()))]);
    let text = String::from_utf8(console.output).unwrap();
    assert!(text.ends_with("file 'b'\npm>pm>"), "{text}");
}

#[test]
fn quit_in_the_first_file_ends_the_program_and_a_missing_file_is_ignored() {
    let console = played(&[("cfg", b"quit\n")], &[b"run"]);
    assert!(console.runs.is_empty());
    let console = played(&[], &[b"run"]);
    assert_eq!(console.output, b"PostMark v1.51 : 8/14/01\npm>pm>");
    assert!(console.errors.is_empty());
}

#[test]
fn files_that_load_themselves_do_not_loop_forever() {
    let console = played(&[("cfg", b"load cfg\nload cfg\n")], &[]);
    let errors = String::from_utf8(console.errors).unwrap();
    assert!(errors.starts_with("Error: cannot read configuration file 'cfg'\n"));
}

#[test]
fn show_prints_locations_even_if_the_rest_goes_to_a_file() {
    let console = played(&[("cfg", b"set location w\nshow f\nshow \n")], &[]);
    let appended = String::from_utf8(console.appended).unwrap();
    assert!(
        appended.contains("Working directory: \nBlock sizes"),
        "{appended}"
    );
    assert_eq!(console.errors, b"Error: Cannot direct output to file ''\n");
    let text = String::from_utf8(console.output).unwrap();
    assert_eq!(text.matches("\tw (weight=1)\n").count(), 2);
    assert_eq!(text.matches("Current configuration").count(), 1);
}

#[test]
fn scripts_are_distinguished_from_other_files() {
    for script in [
        "set location /mnt\nset number 9999\nrun\nquit",
        "# a comment\n\nset size 1k 2k\r\nrun out.txt\n",
        "run\nquit\n",
        "run",
        "!mkdir w\nset location w\nrun\n",
        "set transactionz 5\nset number 5\nrun\n",
    ] {
        assert!(looks_like_script(script.as_bytes()), "{script:?}");
    }
    for other in [
        "",
        "[job]\nrw=read\nrunning\n",
        "running late\n",
        "set $dir=/tmp\ndefine fileset name=a\nrun 60\n",
        "Version 1.1.0 \n'TEST SETUP ====\n",
        "set number 5\0",
        "a\nb\nc\nset number 5\n",
    ] {
        assert!(!looks_like_script(other.as_bytes()), "{other:?}");
    }
}

#[test]
fn a_session_never_panics() {
    let mut bytes: u64 = 42;
    let mut next = || {
        bytes = bytes
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (bytes >> 33) as usize
    };
    let parts = [
        "set ",
        "size",
        "location",
        "+",
        "-",
        " ",
        "9999999999",
        "bias ",
        "read",
        "create",
        "\t",
        "run",
        "show",
        "load",
        "help",
        "!",
        "\u{e9}",
        "subdirectories",
        "5",
        "true",
        "terse",
    ];
    for compat in Compat::ALL.map(|(compat, _)| compat) {
        let mut session = PostmarkSession::new(compat);
        for _ in 0..20_000 {
            let line: String = (0..next() % 6)
                .map(|_| parts[next() % parts.len()])
                .collect();
            session.line(line.as_bytes(), Origin::Prompt);
            let settings = session.settings();
            assert!(settings.size_low_bytes <= settings.size_high_bytes);
            assert!(settings.number > 0 && settings.seed > 0 && settings.transactions > 0);
        }
    }
}
