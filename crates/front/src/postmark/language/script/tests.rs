use proptest::prelude::*;

use description::classics::postmark::{PostmarkSettings, ReportForm, location_text};
use description::{Overrides, Workload, read_toml, to_toml};
use plan::Diagnostic;
use plan::facts::SystemFacts;
use planning::plan;

use crate::{FrontFile, FrontWork, LoadOptions, detect, load};

const HEAD: &str = "set number 9\n";

fn read_with(
    name: &str,
    bytes: &[u8],
    (strict, has_target): (bool, bool),
) -> Result<FrontWork, Diagnostic> {
    let file = FrontFile {
        options: LoadOptions {
            kind: Some(&crate::postmark::SCRIPT),
            strict,
            has_target,
        },
        ..FrontFile::new(name, bytes)
    };
    load(&file)
}

fn loaded(text: &str, strict: bool, has_target: bool) -> Result<FrontWork, Diagnostic> {
    read_with("dir/mail.pm", text.as_bytes(), (strict, has_target))
}

fn runs(text: &str) -> FrontWork {
    loaded(text, false, false).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(text: &str) -> String {
    loaded(text, false, false).unwrap_err().to_string()
}

fn warnings(text: &str) -> Vec<String> {
    let loaded = runs(text);
    loaded
        .findings
        .iter()
        .map(|it| it.message.clone())
        .collect()
}

fn settings(workload: &Workload) -> PostmarkSettings {
    let seed = workload.seed.map_or(42, |seed| seed.0 as u32);
    let table = workload.postmark.clone().unwrap();
    table.resolve(seed).unwrap().settings
}

#[test]
fn each_run_is_a_workload_with_the_settings_at_that_line() {
    let text = "set number 9\nset size 5 50\nrun\nset seed 7\nset report terse\n\
                set bias create -1\nset location a\nset location +b 3\nrun\nquit\nbogus\n";
    let loaded = load(&FrontFile::new("dir/mail.pm", text.as_bytes())).unwrap();
    assert_eq!(loaded.findings, []);
    let [first, second] = &loaded.cells[..] else {
        panic!("{:?}", loaded.cells);
    };
    assert_eq!(
        (first.name.as_deref(), first.source.as_deref(), first.seed),
        (Some("mail"), Some("mail.pm"), None)
    );
    assert_eq!(second.name.as_deref(), Some("mail-2"));
    let wanted = PostmarkSettings {
        number: 9,
        size_low_bytes: 5,
        size_high_bytes: 50,
        ..PostmarkSettings::default()
    };
    assert_eq!(settings(first), wanted);
    let parsed = settings(second);
    assert_eq!(
        (parsed.seed, parsed.report, parsed.create_bias),
        (7, ReportForm::Terse, None)
    );
    assert_eq!(location_text(&parsed.locations[1]), "b 3");
}

#[test]
fn a_script_round_trips_through_toml() {
    let text = "set size 4096\nset location a b 3\nset buffering false\nset read 1\n\
                set subdirectories 7\nset seed 3\nrun\n";
    let workload = runs(text).cells.remove(0);
    let again = read_toml("again.toml", &to_toml(&workload).unwrap()).unwrap();
    assert_eq!(again, workload);
    assert_eq!(settings(&again).locations[0].directory, b"a b");
}

#[test]
fn a_script_without_a_run_is_run_once_at_its_end() {
    let loaded = runs(HEAD);
    assert_eq!(settings(&loaded.cells[0]).number, 9);
    assert_eq!(
        loaded.findings[0].to_string(),
        "warning: the script has no `run`, so it is run once with its final settings\n  --> \
         dir/mail.pm\nhelp: add a line `run`"
    );
}

#[test]
fn commands_that_use_files_or_the_shell_are_noted_or_refused() {
    assert_eq!(
        warnings("show\nshow x\nhelp\nhelp set\nrun out.txt\n"),
        ["the report goes to pgmeter's own outputs, not to a file of this name"]
    );
    assert_eq!(
        refusal("run\n!rm -rf /\n"),
        "error: a workload cannot start a shell\n  --> dir/mail.pm:2\n   2 | !rm -rf /\n\
         help: remove the line, or use `pgmeter as postmark --allow-shell`"
    );
    assert!(refusal("load other.pm\n").contains("cannot load others\n  --> dir/mail.pm:1\n"));
}

#[test]
fn lines_that_postmark_would_ignore_are_errors() {
    assert_eq!(
        refusal("run\nset nmber 500\n"),
        "error: `set nmber 500` is not a PostMark command\n  --> dir/mail.pm:2\n   2 | set nmber \
         500\nhelp: did you mean `set number`?"
    );
    assert_eq!(
        refusal("xyzzyplugh\n"),
        "error: `xyzzyplugh` is not a PostMark command\n  --> dir/mail.pm:1\n   1 | xyzzyplugh\n\
         help: `pgmeter as postmark` lists the commands with `help`"
    );
    assert_eq!(
        refusal("set bias read 11\n"),
        "error: PostMark would ignore this line: no bias specified (0-10 for greater chance,-1 to \
         disable)\n  --> dir/mail.pm:1\n   1 | set bias read 11\n\
         help: write a number from 0 to 10, or -1, after the command"
    );
    for line in [
        "set size 0",
        "set number",
        "set transactions x",
        "set location",
        "set location -a",
        "set location a x",
        "set buffering maybe",
        "set report fancy",
        "set read -1",
        "load",
    ] {
        assert!(
            refusal(&format!("{line}\n")).contains("PostMark would ignore"),
            "{line}"
        );
    }
}

#[test]
fn values_that_postmark_reads_differently_get_a_warning() {
    assert_eq!(
        warnings("set number 1k\nrun\n"),
        ["PostMark reads this as 1"]
    );
    assert_eq!(
        warnings("set size 100 50\nrun\n"),
        ["PostMark reads this as 100 100"]
    );
    assert_eq!(
        warnings("set sizes 5 6\nrun\n"),
        ["PostMark reads this as 5 5"]
    );
    assert_eq!(
        warnings("set size 1 2 3\nrun\n"),
        ["PostMark reads this as 1 2"]
    );
    assert_eq!(
        warnings("set seed 4294967297\nrun\n"),
        ["PostMark reads this as 1"]
    );
    for fine in [
        "set size 100",
        "set size 1 2",
        "set number +5",
        "set bias read -1",
    ] {
        assert!(warnings(&format!("{fine}\nrun\n")).is_empty(), "{fine}");
    }
}

#[test]
fn a_last_line_without_a_newline_counts_in_full() {
    let loaded = runs("run\nset number 500\nset transactions 77\nrun\nset number 31\nrun");
    assert_eq!(loaded.cells.len(), 3);
    assert_eq!(
        loaded.findings[0].message,
        "the line does not end, so PostMark would lose its last character"
    );
    assert!(super::super::looks_like_script(b"set number 5\nrun"));
    let by_name = detect("x.pm", b"set numbr 5\nrnu\n").map(|it| it.name);
    assert_eq!(by_name, Some("postmark"));
    assert!(loaded_strictly("run").is_err());
    let long = format!("set location {}\nrun\n", "x".repeat(300));
    assert!(refusal(&long).contains("longer than PostMark reads at once"));
}

fn loaded_strictly(text: &str) -> Result<FrontWork, Diagnostic> {
    loaded(text, true, false)
}

#[test]
fn crlf_blank_lines_and_comments_are_ignored_unless_strict() {
    let text = "# mail\r\n\r\nset number 9\r\nset location w\r\nrun\r\n";
    let loaded = runs(text);
    let parsed = settings(&loaded.cells[0]);
    assert_eq!(
        (parsed.number, location_text(&parsed.locations[0])),
        (9, "w".to_owned())
    );
    assert!(loaded.findings.is_empty());
    for text in ["run\r\n", "# x\nrun\n", "\nrun\n"] {
        assert!(loaded_strictly(text).is_err(), "{text:?}");
    }
    assert!(loaded_strictly("run\n").is_ok());
}

#[test]
fn locations_must_be_below_the_target_unless_one_is_given() {
    let text = "set number 9\nset location /mnt/x\nrun\n";
    assert_eq!(
        refusal(text),
        "error: the location `/mnt/x` is an absolute path, not a directory beneath the target\n  \
         --> dir/mail.pm:2\n   2 | set location /mnt/x\n\
         help: name the directory with `--target`, or run the script with `pgmeter as postmark`"
    );
    let given = loaded(text, false, true).unwrap();
    assert!(settings(&given.cells[0]).locations.is_empty());
    assert!(
        given.findings[0]
            .message
            .contains("`/mnt/x` is an absolute path")
    );
    let several = "set location a\nset location +../b 2\nrun\n";
    let error = loaded(several, false, true).unwrap_err();
    assert_eq!(
        (error.line, error.message.as_str()),
        (Some(2), "the location `../b` leads out of the target")
    );
    for (place, is_fine) in [(".", true), ("w/", true), ("a/./b", false), ("/", false)] {
        let text = format!("set location {place}\nrun\n");
        assert_eq!(loaded(&text, false, false).is_ok(), is_fine, "{place}");
    }
    // One that is replaced before the run does not matter.
    assert_eq!(
        runs("set location /a\nset location b\nrun\n").cells.len(),
        1
    );
}

#[test]
fn a_script_of_many_lines_is_read_in_one_pass() {
    // Where each line looked at all before it, this would take minutes.
    let lines = "set number 5\n".repeat(80_000);
    let loaded = runs(&format!("{lines}run\n"));
    assert_eq!(settings(&loaded.cells[0]).number, 5);
    let error = refusal(&format!("{lines}bogus\n"));
    assert!(error.contains("dir/mail.pm:80001"), "{error}");
}

#[test]
fn a_script_that_is_too_long_or_has_too_many_locations_is_refused() {
    let error = refusal(&"set number 5\n".repeat(81_000));
    assert!(
        error.starts_with("error: the script has 1053000 bytes, more than the 1048576"),
        "{error}"
    );
    let locations = |count: usize| -> String {
        let lines = (0..count).map(|index| format!("set location +l{index}\n"));
        lines.collect::<String>() + "run\n"
    };
    let loaded = runs(&locations(1000));
    assert_eq!(settings(&loaded.cells[0]).locations.len(), 1000);
    let error = refusal(&locations(1001));
    assert!(
        error.contains("more than 1000 locations at once\n  --> dir/mail.pm:1001"),
        "{error}"
    );
}

#[test]
fn the_first_warnings_are_shown_and_the_others_counted() {
    let messages = warnings(&format!("{}run\n", "set number 1k\n".repeat(150)));
    assert_eq!(messages.len(), 101);
    assert_eq!(messages[100], "50 more warnings are not shown");
}

#[test]
fn other_files_are_not_taken_for_scripts() {
    let kind = |text: &str| detect("x", text.as_bytes()).map(|it| it.name);
    assert_eq!(kind("set number 5\nrun\n"), Some("postmark"));
    assert_eq!(kind("set number 5\n!ls\n"), Some("postmark"));
    assert_eq!(kind("[postmark]\nnumber = 5\n"), Some("toml"));
}

proptest! {
    #[test]
    fn reading_and_planning_a_script_never_panics(
        lines in prop::collection::vec(
            "(set |run|load|quit|show|!|#)?[a-z]{0,9} ?[-+/.0-9a-z\\r]{0,12} ?[0-9]{0,11}",
            0..8,
        ),
        junk in prop::collection::vec(any::<u8>(), 0..40),
        strict: bool,
        has_target: bool,
    ) {
        let bytes = [lines.join("\n").as_bytes(), &junk].concat();
        if let Ok(loaded) = read_with("x.pm", &bytes, (strict, has_target)) {
            let _ = plan(&loaded.cells, &Overrides::new(), &SystemFacts::default());
            for workload in &loaded.cells {
                let again = read_toml("again.toml", &to_toml(workload).unwrap());
                prop_assert_eq!(again.as_ref(), Ok(workload));
            }
        }
    }
}
