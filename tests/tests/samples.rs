//! Verdicts on files of other programs, which are not copied into this tree.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use end_to_end::{ScratchTarget, need, samples};
use serde_json::Value;

/// Files that Iometer 1.1.0 does not load: a stray end of a target, a line that is too long, and
/// invented keys.
const STRICT_REFUSED: [&str; 3] = [
    "edge_line_over_199_chars.icf",
    "template_powershell_INVALID_inventedKeys_CRLF.icf",
    "tpqemu_2006-07-27_multi_3disks.icf",
];
/// Files that are refused with all leniency: invented structure.
const TOLERANT_REFUSED: [&str; 1] = ["template_powershell_INVALID_inventedKeys_CRLF.icf"];

/// A file without access specifications: a configuration, but no workload.
const NOTHING_TO_RUN: &str = "eilerjc_compat_nospec_error.icf";

/// PostMark scripts that are not a workload, and the reason in the error.
const SCRIPTS_REFUSED: [(&str, &str); 3] = [
    ("15_errors.pm", "`bogus` is not a PostMark command"),
    (
        "23_load.pm",
        "a workload is a single file and cannot load others",
    ),
    (
        "24_load_quit_inside.pm",
        "a workload is a single file and cannot load others",
    ),
];

/// A script without settings and commands, which cannot be recognized.
const NOT_A_SCRIPT: &str = "16_help.pm";

/// filebench's scripts that the original does not run because of defects, with pgmeter's message:
/// they use attributes of older versions.
const OLD_SCRIPTS: [(&str, &str); 8] = [
    ("filemicro_rread.f", "`cached` changes nothing"),
    ("filemicro_rwrite.f", "`cached` changes nothing"),
    ("filemicro_rwritefsync.f", "`cached` changes nothing"),
    ("filemicro_seqread.f", "`cached` changes nothing"),
    ("filemicro_seqwrite.f", "`cached` changes nothing"),
    ("filemicro_seqwriterand.f", "`cached` changes nothing"),
    (
        "filemicro_seqwriterandvargam.f",
        "`define randvar` changes nothing",
    ),
    ("randomfileaccess.f", "`define randvar` changes nothing"),
];

fn icf_files(folder: &Path) -> Vec<PathBuf> {
    files(folder, "icf")
}

fn files(folder: &Path, wanted: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| path.extension().is_some_and(|ending| ending == wanted))
        .collect();
    files.sort();
    files
}

/// Checks every file and compares the verdicts.
fn assert_verdicts(folder: &Path, options: &[&str], refused: &[&str]) {
    let bed = ScratchTarget::new().unwrap();
    let files = icf_files(folder);
    assert!(files.len() > 40, "only {} files", files.len());
    let mut failures = Vec::new();
    for file in files {
        let path = file.to_string_lossy().into_owned();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let output = bed.run(&[&["check", &path], options].concat());
        let wanted = if refused.contains(&name.as_str()) {
            2
        } else {
            0
        };
        if output.code != wanted || output.stderr.contains("panicked") {
            failures.push(format!("{name}: wanted {wanted}: {}", output.text()));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn tolerant_verdicts_on_iometer_files_are_as_documented() {
    let folder = need!(samples("icf"));
    assert_verdicts(&folder, &[], &TOLERANT_REFUSED);
}

#[test]
fn strict_verdicts_on_iometer_files_match_iometer() {
    let folder = need!(samples("icf"));
    assert_verdicts(&folder, &["--strict"], &STRICT_REFUSED);
}

#[test]
fn iometer_files_survive_conversion_to_toml() {
    let folder = need!(samples("icf"));
    let bed = ScratchTarget::new().unwrap();
    for file in icf_files(&folder) {
        let path = file.to_string_lossy().into_owned();
        if TOLERANT_REFUSED
            .iter()
            .any(|refused| path.ends_with(refused))
        {
            continue;
        }
        let toml = bed.run(&["convert", &path, "--to", "toml"]);
        assert_eq!(toml.code, 0, "{path}: {}", toml.text());
        bed.file("again.toml", &toml.stdout);
        if path.ends_with(NOTHING_TO_RUN) {
            continue;
        }
        let checked = bed.run(&["check", "again.toml"]);
        assert_eq!(checked.code, 0, "{path}: {}", checked.text());
        let again = bed.run(&["convert", "again.toml", "--to", "toml"]);
        assert_eq!(toml.stdout, again.stdout, "{path}");
    }
}

#[test]
fn iometer_files_run_on_a_target_of_the_user() {
    let folder = need!(samples("icf"));
    let bed = ScratchTarget::new().unwrap();
    let file = folder
        .join("eilerjc_fixture_minimal.icf")
        .to_string_lossy()
        .into_owned();
    let output = bed.measure(&[&file, "--engine", "null", "--size", "1m", "--quiet"]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn postmark_scripts_are_accepted_or_refused_with_a_reason() {
    let folder = need!(samples("postmark"));
    let mut scripts = files(&folder.join("golden"), "pm");
    scripts.extend(files(&folder.join("real"), "conf"));
    assert!(scripts.len() > 20, "only {} scripts", scripts.len());
    let bed = ScratchTarget::new().unwrap();
    for script in scripts {
        let path = script.to_string_lossy().into_owned();
        if path.ends_with(NOT_A_SCRIPT) {
            continue;
        }
        let output = bed.run(&["check", &path]);
        let refused = SCRIPTS_REFUSED
            .iter()
            .find(|(name, _)| path.ends_with(name));
        match refused {
            Some((_, why)) => {
                assert_eq!(output.code, 2, "{path}: {}", output.text());
                let expected = format!("error: {why}\n  --> {path}:");
                assert!(
                    output.stderr.contains(&expected),
                    "{path}: {}",
                    output.text()
                );
            }
            None => {
                assert_eq!(output.code, 0, "{path}: {}", output.text());
                assert!(output.stdout.contains("files of postmark"), "{path}");
                let toml = bed.run(&["convert", &path, "--to", "toml"]);
                assert_eq!(toml.code, 0, "{path}: {}", toml.text());
                bed.file("again.toml", &toml.stdout);
                assert_eq!(bed.run(&["check", "again.toml"]).code, 0, "{path}");
            }
        }
    }
}

/// The programs of a plan, with label names instead of numbers in the acts. Unused labels are
/// ignored.
fn programs(bed: &ScratchTarget, file: &str) -> Vec<String> {
    let output = bed.run(&["check", file, "--json"]);
    assert_eq!(output.code, 0, "{file}: {}", output.text());
    let plan: Value = serde_json::from_str(&output.stdout).unwrap();
    let program = |cell: &Value| {
        let mut cell = cell.clone();
        let labels = cell["files"]["labels"].take();
        name_labels(&mut cell, &labels);
        cell.to_string()
    };
    plan["cells"]
        .as_array()
        .unwrap()
        .iter()
        .map(program)
        .collect()
}

fn name_labels(value: &mut Value, labels: &Value) {
    let name = |number: &Value| {
        let index = number.as_u64().and_then(|it| usize::try_from(it).ok());
        index.map_or(Value::Null, |index| labels[index].clone())
    };
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match key.as_str() {
                    "label" | "steps" | "step-bytes" if value.is_u64() => *value = name(value),
                    "step" | "transaction" if value[0].is_u64() => value[0] = name(&value[0]),
                    _ => {}
                }
                name_labels(value, labels);
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| name_labels(it, labels)),
        _ => {}
    }
}

#[test]
fn filebench_scripts_plan_the_same_programs_as_their_toml_form() {
    let folder = need!(samples("filebench"));
    let bed = ScratchTarget::new().unwrap();
    for script in files(&folder.join("workloads"), "f") {
        let path = script.to_string_lossy().into_owned();
        let toml = bed.run(&["convert", &path, "--to", "toml"]);
        assert_eq!(toml.code, 0, "{path}: {}", toml.text());
        bed.file("again.toml", &toml.stdout);
        assert_eq!(
            programs(&bed, "again.toml"),
            programs(&bed, &path),
            "{path}"
        );
    }
}

#[test]
fn filebench_scripts_of_every_version_are_accepted() {
    let folder = need!(samples("filebench"));
    let scripts = files(&folder.join("workloads"), "f");
    assert!(scripts.len() > 30, "only {} scripts", scripts.len());
    let bed = ScratchTarget::new().unwrap();
    for script in scripts {
        let path = script.to_string_lossy().into_owned();
        let output = bed.run(&["check", &path]);
        let of = |list: &[(&str, &'static str)]| {
            let found = list
                .iter()
                .find(|(name, _)| path.ends_with(&format!("/{name}")));
            found.map(|(_, message)| *message)
        };
        assert_eq!(output.code, 0, "{path}: {}", output.text());
        assert!(
            output.stdout.contains("files, and the work on them"),
            "{path}"
        );
        if let Some(message) = of(&OLD_SCRIPTS) {
            assert!(output.text().contains(message), "{path}: {}", output.text());
        }
    }
}
