//! The recipes in `contrib`, judged by the schemas and parsers of the programs that read them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::path::{Path, PathBuf};

use end_to_end::{PythonPackages, Scratch, installed, need, run_tool};

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
fn job_scripts_are_valid_for_the_shell() {
    for name in ["slurm/shared-mount.sbatch", "pbs/shared-mount.pbs"] {
        need!(run_tool("bash", &["-n", &recipe(name)]));
    }
}
