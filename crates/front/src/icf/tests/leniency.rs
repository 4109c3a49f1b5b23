//! What is forgiven, each with its warning, and what Iometer 1.1.0 says of it.

use super::texts::{MANAGERS, SETUP, SPECS, file, full, spec};
use super::{Strictness, clean, parse, refused, tolerant};

#[test]
fn line_ends_indentation_and_case_do_not_matter() {
    let wanted = clean(&full());
    assert_eq!(clean(&full().replace('\n', "\r\n")), wanted);
    assert_eq!(clean(&full().replace("\n\t", "\n    ")), wanted);
    assert_eq!(clean(&full().replace("\n\t", "\n \t ")), wanted);
    assert_eq!(clean(&full().replace("\n\t", "\n")), wanted);
    assert_eq!(
        clean(&full().replace("'Target type", "'Target Type")),
        wanted
    );
    assert_eq!(
        clean(&full().replace("'END ", "'End ").replace("DISK", "disk")),
        wanted
    );
    assert_eq!(
        clean(&full().replace("Version 1.1.0 \n'T", "1.1.0\r\n'T")),
        wanted
    );
    assert_eq!(
        clean(full().trim_end().strip_suffix("Version 1.1.0").unwrap()),
        wanted
    );
    let trailing = full().replace('\n', " \t\n");
    assert_eq!(clean(&trailing), wanted);
}

#[test]
fn a_byte_order_mark_is_accepted() {
    assert_eq!(clean(&format!("\u{feff}{}", full())), clean(&full()));
}

#[test]
fn utf16_is_read_with_a_warning() {
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(full().encode_utf16().flat_map(u16::to_le_bytes));
    let parsed = parse(&bytes, "a.icf", Strictness::Tolerant).unwrap();
    assert_eq!(parsed.document, clean(&full()));
    assert_eq!(
        parsed.warnings[0].message,
        "file is UTF-16, which Iometer cannot read"
    );
    assert!(parse(&bytes, "a.icf", Strictness::Strict).is_err());
}

#[test]
fn latin1_names_are_read_with_a_warning() {
    let text = file(&[&spec(&["512,100,0,0,0,1,0,0"]).replace("\tt,", "\tl\u{e9}nt,")]);
    let latin1: Vec<u8> = text.chars().map(|c| c as u8).collect();
    for bytes in [latin1.as_slice(), text.as_bytes()] {
        for mode in [Strictness::Tolerant, Strictness::Strict] {
            let parsed = parse(bytes, "a.icf", mode).unwrap();
            assert_eq!(parsed.document.specs.unwrap()[0].name, "lént");
            assert_eq!(parsed.warnings[0].message, "Iometer cuts the name to `l`");
        }
    }
}

#[test]
fn values_may_be_empty() {
    let text = full()
        .replace("\tnightly - array 7\n", "\n")
        .replace("\t1,alpha\n'M", "\t1,\n'M");
    let document = clean(&text);
    assert_eq!(document.setup.unwrap().description, "");
    assert_eq!(document.managers.unwrap()[0].identity.name, "");
}

#[test]
fn a_missing_value_is_empty_with_a_warning() {
    let text = full().replace("\tnightly - array 7\n", "");
    let (document, warnings) = tolerant(&text);
    assert_eq!(document.setup.unwrap().run_time.minutes, 5);
    assert_eq!(warnings, ["3: key `'Test Description` has no value"]);
    assert_eq!(refused(&text), "3: key `'Test Description` has no value");
}

#[test]
fn a_key_may_be_indented_or_spaced_differently() {
    let text = full().replace(
        "'Manager ID, manager name\n\t1",
        "'Manager ID,manager name\n\t1",
    );
    let (document, warnings) = tolerant(&text);
    assert_eq!(document, clean(&full()));
    assert_eq!(
        warnings,
        ["53: key `'Manager ID,manager name`, wanted `'Manager ID, manager name`"]
    );
    assert!(refused(&text).starts_with("53: "));
    let text = full().replace("'Test Type", "  'Test Type");
    let (document, warnings) = tolerant(&text);
    assert_eq!(document, clean(&full()));
    assert_eq!(warnings, ["25: key does not start in the first column"]);
    assert_eq!(refused(&text), warnings[0]);
}

#[test]
fn empty_lines_inside_sections_are_skipped_with_a_warning() {
    let text = full().replace("'Test Type", "\n\n\n'Test Type");
    let (document, warnings) = tolerant(&text);
    assert_eq!(document, clean(&full()));
    assert_eq!(
        warnings,
        ["25: empty line inside `TEST SETUP`, wanted a key"]
    );
    assert_eq!(refused(&text), warnings[0]);
    let text = file(&[&spec(&["512,50,0,0,0,1,0,0", "", "512,50,0,0,0,1,0,0"])]);
    assert_eq!(tolerant(&text).1, ["7: empty line among access lines"]);
    assert_eq!(refused(&text), "7: empty line among access lines");
}

#[test]
fn a_surplus_end_of_target_is_skipped_but_not_by_iometer() {
    let text = full().replace("'End target\n'End", "'End target\n'End target\n'End");
    let (document, warnings) = tolerant(&text);
    assert_eq!(document, clean(&full()));
    assert_eq!(warnings, ["83: `'End target` without a target"]);
    assert_eq!(refused(&text), warnings[0]);
}

#[test]
fn long_lines_are_read_but_not_by_iometer() {
    let text = full().replace("nightly", &"n".repeat(300));
    let (document, warnings) = tolerant(&text);
    assert!(document.setup.unwrap().description.starts_with("nnn"));
    let message = "line of 311 bytes; Iometer reads nothing after a line of more than 199";
    assert_eq!(warnings, [format!("4: {message}")]);
    assert_eq!(refused(&text), format!("4: {message}"));
    assert_eq!(
        refused(&file(&[&"x".repeat(200), "\n", SPECS]))
            .split(';')
            .next(),
        Some("2: line of 200 bytes")
    );
    let at_end = file(&[SPECS, &"x".repeat(200), "\n"]);
    assert!(
        parse(at_end.as_bytes(), "a.icf", Strictness::Strict).is_ok(),
        "nothing follows"
    );
}

#[test]
fn a_duplicate_specification_replaces_the_first() {
    let text = file(&[&SPECS.replace("\tscan,", "\tMixed,")]);
    let (document, warnings) = tolerant(&text);
    let specs = document.specs.unwrap();
    assert_eq!((specs.len(), specs[0].lines[0].size), (1, 65536));
    let message = "10: access specification replaces an earlier one of the same name";
    assert_eq!(warnings, [message]);
    assert!(parse(text.as_bytes(), "a.icf", Strictness::Strict).is_ok());
}

#[test]
fn idle_may_have_lines_of_size_zero() {
    let text = spec(&["0,100,0,0,0,1,0,0"]).replace("\tt,", "\tidle,");
    clean(&file(&[&text]));
    let text = spec(&["512,100,0,0,0,1,0,0"]).replace("\tt,", "\tIdle,");
    let wanted = "4: access specification `Idle` does nothing, its lines are not run";
    assert_eq!(tolerant(&file(&[&text])).1, [wanted]);
}

#[test]
fn more_than_a_hundred_lines_get_one_warning() {
    let mut lines = vec!["512,0,0,0,0,1,0,0"; 300];
    lines.push("512,100,0,0,0,1,0,0");
    let text = file(&[&spec(&lines)]);
    let (document, warnings) = tolerant(&text);
    assert_eq!(document.specs.unwrap()[0].lines.len(), 301);
    assert_eq!(warnings, ["106: `t` has more than 100 access lines"]);
    assert_eq!(refused(&text), warnings[0]);
}

#[test]
fn surplus_fields_are_ignored() {
    clean(&file(&[&spec(&["512,100,0,0,0,1,0,0,"])]));
    clean(&file(&[&spec(&["512 ,\t100,0,0,0,1,0,0,9,9,,"])]));
    let (_, warnings) = tolerant(&file(&[&spec(&["512,100,0,0,0,1,0,0 ; mine"])]));
    assert_eq!(warnings, ["6: `; mine` after the last field is ignored"]);
    let text = file(&[&spec(&["512 100 0 0 0 1 0 0"])]);
    assert_eq!(tolerant(&text).1, ["6: access line without commas"]);
    assert_eq!(refused(&text), "6: access line without commas");
}

#[test]
fn numbers_beyond_32_bits_wrap_in_iometer_only() {
    let text = SETUP.replace("\t15\n", "\t4294967301\n");
    let text = file(&[&text]);
    let (document, warnings) = tolerant(&text);
    assert_eq!(document.setup.unwrap().ramp_up_seconds, u32::MAX);
    assert_eq!(
        warnings,
        ["9: ramp up time is outside of Iometer's range; 4294967295 is used"]
    );
    let strict = parse(text.as_bytes(), "a.icf", Strictness::Strict).unwrap();
    assert_eq!(strict.document.setup.unwrap().ramp_up_seconds, 5);
    assert_eq!(strict.warnings[0].column, Some(2));
    let huge = "9".repeat(150);
    let (document, _) = tolerant(&file(&[&SETUP.replace("\t15\n", &format!("\t-{huge}\n"))]));
    assert_eq!(document.setup.unwrap().ramp_up_seconds, 0);
}

#[test]
fn numbers_are_extracted_as_iometer_does() {
    let text = SETUP.replace("\t0          5          30\n", "\tabout 0,5\t 30 sec\n");
    let (document, warnings) = tolerant(&file(&[&text]));
    assert_eq!(document.setup.unwrap().run_time.total_seconds(), 330);
    assert_eq!(
        warnings,
        [
            "7: `about` before the number of hours is ignored",
            "7: `sec` is ignored"
        ]
    );
    let text = file(&[&SETUP.replace("\t15\n", "\t15-3\n")]);
    assert_eq!(
        tolerant(&text).1,
        ["9: `-` inside the ramp up time", "9: `-3` is ignored"]
    );
    assert_eq!(refused(&text), "9: `-` inside the ramp up time");
}

#[test]
fn an_unknown_assigned_specification_is_named() {
    let text = full().replace("\tIdle\n", "\tIdel\n\n");
    let (_, warnings) = tolerant(&text);
    assert_eq!(
        warnings,
        [
            "69: access specification `Idel` is unknown, skipped",
            "70: empty line among assigned access specs"
        ]
    );
    assert!(parse(text.as_bytes(), "a.icf", Strictness::Strict).is_ok());
}

#[test]
fn a_target_that_is_assigned_twice_counts_once() {
    let text = full().replace("\t0: \"disk\"\n", "\t/mnt/a [ext4]\n");
    let (document, warnings) = tolerant(&text);
    assert_eq!(
        document.managers.unwrap()[0].workers[0]
            .targets
            .as_ref()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(warnings, ["79: target is assigned twice, once is enough"]);
}

#[test]
fn text_between_sections_is_ignored_with_one_warning() {
    let text = file(&[SETUP, "junk\n'more junk\n\n", SPECS, MANAGERS]);
    let (document, warnings) = tolerant(&text);
    assert_eq!(document.managers, clean(&full()).managers);
    assert_eq!(warnings, ["28: text outside of sections is ignored"]);
    let (document, warnings) = tolerant(&file(&[SPECS, SPECS]));
    assert_eq!(document.specs.unwrap().len(), 2);
    assert_eq!(warnings, ["14: second section of this kind is ignored"]);
}

#[test]
fn invalid_values_of_minor_settings_become_defaults() {
    let text = file(&[
        &SETUP.replace("NO_TARGETS", "SOME"),
        &spec(&["512,100,0,0,0,1,0,0"]).replace("t,NONE", "t"),
    ]);
    let (_, warnings) = tolerant(&text);
    assert_eq!(
        warnings,
        [
            "15: `SOME` is not a choice of results",
            "30: default assignment is ``, NONE is used"
        ]
    );
    assert!(refused(&text).starts_with("15: "));
}

#[test]
fn only_the_first_hundred_warnings_are_kept() {
    let lines: String = (0..5000).map(|index| format!("\tnone {index}\n")).collect();
    let text = full().replace("\tIdle\n", &lines);
    let (_, warnings) = tolerant(&text);
    assert_eq!(warnings.len(), 101);
    assert_eq!(warnings[100], "0: 4900 more warnings are not shown");
}
