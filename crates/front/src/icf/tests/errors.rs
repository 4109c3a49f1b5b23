//! What is refused, with the whole message.

use super::texts::{MANAGERS, SETUP, SPECS, file, full, spec};
use super::{Strictness, error, parse};
use crate::icf::MAX_FILE_BYTES;

#[test]
fn shares_must_add_up_to_one_hundred() {
    let text = file(&[&SPECS
        .replace("4096,70,", "4096,69,")
        .replace("\tmixed", "\tFile Server")]);
    assert_eq!(
        error(&text),
        "error: access lines of `File Server` add up to 99 %, not 100 %\n  --> a.icf:6\n   \
         6 |  0,0,0,0,0,0,0,0\nhelp: the line `0,0,0,0,0,0,0,0` has 0 %; give it the missing 1 %"
    );
    assert_eq!(
        error(&file(&[&spec(&[
            "512,60,0,0,0,1,0,0",
            "512,43,0,0,0,1,0,0"
        ])])),
        "error: access lines of `t` add up to 103 %, not 100 %\n  --> a.icf:7\n   \
         7 |  512,43,0,0,0,1,0,0\nhelp: reduce a line by 3 %"
    );
    assert_eq!(
        error(&file(&[&spec(&["512,99,0,0,0,1,0,0"])])),
        "error: access lines of `t` add up to 99 %, not 100 %\n  --> a.icf:6\n   \
         6 |  512,99,0,0,0,1,0,0\nhelp: give a line 1 % more"
    );
    assert_eq!(
        error(&file(&[&spec(&[])])),
        "error: access lines of `t` add up to 0 %, not 100 %\n  --> a.icf:4\n   \
         4 |  t,NONE\nhelp: add an access line with 100 %"
    );
}

#[test]
fn old_shares_must_add_up_too() {
    let text = "Version 1998.01.05\n'ACCESS SPECIFICATIONS\n'\n512 60 0 0 0 1\n512 50 0 0 0 1\n";
    assert_eq!(
        error(text),
        "error: access lines of `Untitled 1` add up to 110 %, not 100 %\n  --> a.icf:5\n   \
         5 | 512 50 0 0 0 1\nhelp: reduce a line by 10 %"
    );
    let text = "Version 1998.01.05\n'ACCESS SPECIFICATIONS\n'\n512 60 0 0 0 1\n";
    assert!(
        error(text).starts_with("error: access lines of `512 B sequential writes` add up to 60")
    );
}

#[test]
fn size_zero_needs_zero_percent() {
    assert_eq!(
        error(&file(&[&spec(&["0,100,50,0,0,1,0,0"])])),
        "error: size is 0 in a line of `t` with 100 %\n  --> a.icf:6:2\n   \
         6 |  0,100,50,0,0,1,0,0\nhelp: write a size, or name the specification `Idle`"
    );
}

#[test]
fn percents_go_from_0_to_100() {
    assert_eq!(
        error(&file(&[&spec(&["512,100,150,0,0,1,0,0"])])),
        "error: % reads is 150, wanted 0 to 100\n  --> a.icf:6:10\n   \
         6 |  512,100,150,0,0,1,0,0\nhelp: write a percentage"
    );
    assert!(error(&file(&[&spec(&["512,-1,0,0,0,1,0,0"])])).starts_with("error: % of size is -1,"));
}

#[test]
fn access_lines_have_eight_integer_fields() {
    assert_eq!(
        error(&file(&[&spec(&["4K,100,0,0,0,1,0,0"])])),
        "error: size is `4K`, not a whole number\n  --> a.icf:6:2\n   \
         6 |  4K,100,0,0,0,1,0,0\nhelp: write digits only; sizes are in bytes"
    );
    assert_eq!(
        error(&file(&[&spec(&["512,100,0,0,0,1"])])),
        "error: access line has 6 fields, wanted 8: size,% of size,% reads,% random,delay,burst,\
         align,reply\n  --> a.icf:6\n   6 |  512,100,0,0,0,1\n\
         help: write all fields, with commas between"
    );
    assert!(error(&file(&[&spec(&["512,100,[*READS*],0,0,1,0,0"])])).contains("`[*READS*]`"));
    assert!(error(&file(&[&spec(&["512,100,33.3,0,0,1,0,0"])])).contains("`33.3`"));
}

#[test]
fn a_truncated_file_is_refused_with_what_was_expected() {
    let text = full();
    let cut = &text[..text.find("'Disk Cycling").unwrap()];
    assert_eq!(
        error(cut),
        "error: file ends inside `TEST SETUP`, wanted `'END test setup`\n  --> a.icf:18\n\
         help: get the complete file; this one was cut off"
    );
    let cut = &text[..text.find("\tNO_TARGETS").unwrap()];
    assert!(error(cut).starts_with("error: file ends inside `TEST SETUP`, wanted `a value`"));
}

#[test]
fn a_file_truncated_inside_a_section_is_always_refused() {
    let text = full();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut open = false;
    for (index, line) in lines.iter().enumerate().skip(1) {
        if line.contains("====") {
            open = true;
        }
        let section_ends = ["'END test", "'END results", "'END access", "'END manager"];
        if section_ends.iter().any(|end| line.starts_with(end)) {
            open = false;
        }
        let cut = lines[..=index].concat();
        let result = parse(cut.as_bytes(), "a.icf", Strictness::Tolerant);
        assert_eq!(result.is_err(), open, "cut behind line {}", index + 1);
    }
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_one() {
    let text = full().replace("'Disk Cycling", "'Target Cycling");
    assert_eq!(
        error(&text),
        "error: unknown key `'Target Cycling` inside `TEST SETUP`\n  --> a.icf:19\n  \
         19 | 'Target Cycling\nhelp: end the block with `'END test setup`, or remove the line"
    );
    let text = full().replace("'Queue Depth Cycling", "'Queue Dept Cycling");
    assert!(error(&text).ends_with("help: write `'Queue Depth Cycling`"));
    let text = full().replace("'END access specifications\n", "");
    assert!(error(&text).starts_with("error: unknown key `'MANAGER LIST ====` inside `ACCESS"));
    let text = full().replace("'End manager\n", "");
    assert!(error(&text).starts_with("error: unknown key `'END manager list` inside `Manager`"));
    let text = full().replace("\tscan,NONE\n", "\tscan,NONE\n\tmore\n");
    assert_eq!(
        error(&text),
        "error: `more` inside `ACCESS SPECIFICATIONS`, wanted a key that starts with an apostrophe\
         \n  --> a.icf:49\n  49 |  more\nhelp: remove the line"
    );
}

#[test]
fn invalid_values_that_affect_the_measurement_are_refused() {
    for (from, to) in [
        ("CYCLE_OUTSTANDING_IOS", "CYCLE_EVERYTHING"),
        ("EXPONENTIAL", "QUADRATIC"),
        ("\tDISK\n", "\tTAPE\n"),
        ("16,ENABLED", "16,MAYBE"),
        ("16,ENABLED", "x,ENABLED"),
        ("\t0          5          30\n", "\t30\n"),
    ] {
        let text = full().replacen(from, to, 1);
        assert_ne!(text, full());
        assert!(error(&text).starts_with("error: "), "{to}");
    }
    assert!(
        error(&full().replace("\t0          5          30\n", "\t30\n")).starts_with(
            "error: number of minutes is missing, wanted a whole number\n  --> a.icf:7:4\n"
        )
    );
}

#[test]
fn specifications_need_names_and_lines() {
    let nameless = SPECS.replace("\tscan,", "\t,");
    assert!(error(&file(&[&nameless])).starts_with("error: access specification has no name\n"));
    let text = spec(&[]).replace(
        "'size,% of size,% reads,% random,delay,burst,align,reply\n",
        "",
    );
    assert!(error(&file(&[&text])).starts_with("error: access specification `t` has no access"));
}

fn refused_bytes(bytes: &[u8]) -> String {
    parse(bytes, "a.icf", Strictness::Tolerant)
        .unwrap_err()
        .to_string()
}

#[test]
fn an_empty_file_is_refused() {
    let wanted = "error: file is empty\n  --> a.icf\n\
        help: name a file that Iometer or a script wrote as its configuration";
    assert_eq!(refused_bytes(b""), wanted);
    assert_eq!(refused_bytes(b" \r\n\n"), wanted);
    assert!(
        refused_bytes(b"\n'TEST SETUP").starts_with("error: first line is empty, wanted a version")
    );
}

#[test]
fn a_binary_file_is_refused() {
    assert_eq!(
        refused_bytes(b"\x7fELF\x02\x01\x01\0\0"),
        "error: file is binary: a zero byte at offset 7\n  --> a.icf\n\
         help: name a file that Iometer or a script wrote as its configuration"
    );
    let noise: Vec<u8> = (0..9999_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8 | 1)
        .collect();
    assert!(parse(&noise, "a.icf", Strictness::Tolerant).is_err());
}

#[test]
fn other_text_is_refused() {
    assert_eq!(
        refused_bytes(b"[global]\nrw=randread\n"),
        "error: `[global]` is not a version, so this is not an Iometer configuration\n  --> \
         a.icf:1\n\
         help: the first line must name the version, such as `Version 1.1.0`"
    );
    assert_eq!(
        refused_bytes(b"1,2,3\n4,5,6\n"),
        "error: no section of an Iometer configuration found\n  --> a.icf\n\
         help: wanted a line that starts with `'TEST SETUP` or `'ACCESS SPECIFICATIONS`"
    );
}

#[test]
fn large_files_are_refused_before_they_are_parsed() {
    // Looked at, it would be refused for what it says.
    let garbage = vec![b'x'; 100 << 20];
    assert_eq!(
        refused_bytes(&garbage),
        "error: file of 104857600 bytes is too large for an Iometer configuration, at most \
         16777216 are read\n  --> a.icf\n\
         help: name a file that Iometer or a script wrote as its configuration"
    );
}

#[test]
fn parsing_time_does_not_explode_with_the_length_of_a_file() {
    // Half a million lines: anything quadratic takes minutes.
    let fill = |head: &str, unit: &str| {
        let mut text = head.to_owned();
        text.push_str(&unit.repeat(MAX_FILE_BYTES / 16 / unit.len()));
        text
    };
    let specs = "Version 1.1.0\n'ACCESS SPECIFICATIONS\n";
    let assigned = MANAGERS.split("\tscan\n").next().unwrap();
    for text in [
        fill("", "x"),
        fill("1.1.0\n", "x"),
        fill("1.1.0\n", "\n"),
        fill("1.1.0\n", "'TEST SETUP\n"),
        fill("1.1.0\n'TEST SETUP\n", "\n"),
        fill("1.1.0\n'TEST SETUP\n'Run Time\n", "'\n"),
        fill("1.1.0\n'TEST SETUP\n", "'Ramp Up Time\n"),
        fill(
            specs,
            "'Access specification name,default assignment\na,NONE\n'\n1,100,0,0,0,1,0,0\n",
        ),
        fill(
            &format!("{specs}'Access specification name,default assignment\na\n'\n"),
            "1,0,0,0,0,1,0,0\n",
        ),
        fill(&format!("1.1.0\n{assigned}"), "no\n"),
        fill(
            "1.1.0\n'MANAGER LIST\n",
            "'Manager ID, manager name\n1,a\n'End manager\n",
        ),
        fill("1998.1.5\n'ACCESS SPECIFICATIONS\n", "version\n\n"),
        fill("1998.1.5\n'ACCESS SPECIFICATIONS\n", "\n"),
        fill(SETUP, "'"),
    ] {
        let start = std::time::Instant::now();
        let _ = parse(text.as_bytes(), "a.icf", Strictness::Tolerant);
        let elapsed = start.elapsed();
        assert!(elapsed.as_secs() < 20, "{elapsed:?}: {}", &text[..60]);
    }
}
