//! Managers of Iometer's files that work on hosts of their own.

use std::fs;

use end_to_end::{ScratchTarget, installed, need, run_tool, skip};
use serde_json::Value;

/// A manager that reads and one that writes, each with a target that the other has not.
fn configuration(targets: [&str; 2]) -> String {
    let mut text = "Version 1.1.0\n\
        'TEST SETUP ====\n'Test Description\n\tReader and writer\n\
        'Run Time\n'\thours      minutes    seconds\n\t0          0          1\n\
        'Ramp Up Time (s)\n\t0\n'Record Results\n\tALL\n'Test Type\n\tNORMAL\n\
        'END test setup\n'ACCESS SPECIFICATIONS ====\n"
        .to_owned();
    for (name, read) in [("Reads", 100), ("Writes", 0)] {
        text += &format!(
            "'Access specification name,default assignment\n\t{name},NONE\n\
             'size,% of size,% reads,% random,delay,burst,align,reply\n\
             \t4096,100,{read},100,0,1,0,0\n"
        );
    }
    text += "'END access specifications\n'MANAGER LIST ====\n";
    let managers = [("LAB 1", "Reads"), ("LAB2", "Writes")];
    for ((id, (name, spec)), target) in (1..).zip(managers).zip(targets) {
        text +=
            &format!("'Manager ID, manager name\n\t{id},{name}\n'Manager network address\n\t\n");
        for worker in 1..=id {
            text += &format!(
                "'Worker\n\t{name} {worker}\n'Worker type\n\tDISK\n\
                 'Default target settings for worker\n\
                 'Number of outstanding IOs,test connection rate,transactions per connection,\
                 use fixed seed,fixed seed value\n\t2,DISABLED,1,DISABLED,0\n\
                 'Disk maximum size,starting sector,Data pattern\n\t8192,0,0\n\
                 'End default target settings for worker\n\
                 'Assigned access specs\n\t{spec}\n'End assigned access specs\n\
                 'Target assignments\n'Target\n\t{target}\n'Target type\n\tDISK\n'End target\n\
                 'End target assignments\n'End worker\n"
            );
        }
        text += "'End manager\n";
    }
    text + "'END manager list\nVersion 1.1.0\n"
}

/// A command instead of ssh, which hides from each of two hosts the other's directory.
fn ssh(bed: &ScratchTarget) -> String {
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    let directory = bed.path().display();
    let script = format!(
        "#!/bin/sh\ncase $1 in a) other=b;; *) other=a;; esac\n\
         exec unshare -m sh -c \"mount -t tmpfs none {directory}/of-$other && \
         exec {program} worker\"\n"
    );
    bed.script("ssh", script)
}

/// Figures by worker: name, whether it read, whether it wrote, and the target.
fn by_worker(cell: &Value) -> Vec<(String, bool, bool, String)> {
    let workers = cell["worker_figures"].as_array().unwrap().iter();
    let rows = workers.map(|it| {
        let has = |name: &str| it["operations"][name]["count"].as_u64() > Some(0);
        let text = |of: &Value| of.as_str().unwrap().to_owned();
        let target = text(&it["targets"][0]["target"]);
        (text(&it["name"]), has("read"), has("write"), target)
    });
    rows.collect()
}

#[test]
fn managers_run_on_their_own_hosts_with_their_own_targets_and_specs() {
    let bed = need!(ScratchTarget::new());
    need!(installed("unshare"));
    if run_tool("unshare", &["-m", "true"]).is_err() {
        skip!("no namespaces of mounts");
    }
    let targets = ["a", "b"].map(|name| bed.path().join(format!("of-{name}/target")));
    for target in &targets {
        fs::create_dir_all(target).unwrap();
    }
    let [of_a, of_b] = targets.each_ref().map(|it| it.to_str().unwrap());
    bed.file("two.icf", configuration([of_a, of_b]));
    let ssh = ssh(&bed);
    let hosts = ["--host", "LAB 1=a", "--host", "LAB2=b", "--ssh", &ssh];
    let output = ["--csv", "o.csv", "--json", "-", "--quiet"];
    let finished = bed.run(&[&["run", "two.icf"], &hosts[..], &output].concat());
    let record: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.text()));
    let cell = &record["cells"][0];
    let own =
        |name: &str, reads: bool, target: &str| (name.to_owned(), reads, !reads, target.to_owned());
    let wanted = [
        own("LAB 1 1", true, of_a),
        own("LAB2 1", false, of_b),
        own("LAB2 2", false, of_b),
    ];
    assert_eq!(by_worker(cell), wanted, "{}", finished.stderr);
    let ranks = cell["crew"]["ranks"].as_array().unwrap().iter();
    let counts = ranks.map(|it| it["count"].as_u64().unwrap());
    let [reads, writes] = ["read", "write"].map(|it| cell["operations"][it]["count"].as_u64());
    assert_eq!(counts.map(Some).collect::<Vec<_>>(), [reads, writes]);
    let rows = fs::read_to_string(bed.path().join("o.csv")).unwrap();
    assert_eq!(
        rows.lines().filter(|it| it.starts_with("MANAGER")).count(),
        2
    );
    let warnings = record["warnings"].to_string();
    for unwanted in ["all run here", "does not exist", "rank-imbalance"] {
        assert!(!warnings.contains(unwanted), "{warnings}");
    }
    for target in targets {
        assert!(end_to_end::names_in(&target).is_empty());
    }
}

#[test]
fn check_shows_the_host_of_each_manager_without_contacting_it() {
    let bed = need!(ScratchTarget::new());
    bed.file("two.icf", configuration(["/of/a", "/of/b"]));
    let both = ["check", "two.icf", "--host", "LAB2=b", "--host", "LAB 1=a"];
    let output = bed.run(&both);
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        output.stdout.contains("hosts\n  LAB 1: a\n  LAB2: b\n"),
        "{}",
        output.text()
    );
    for unwanted in ["does not exist", "would refuse", "all run here"] {
        assert!(!output.text().contains(unwanted), "{}", output.text());
    }
    let printed = bed.run(&[&both[..], &["--json"]].concat());
    let plan: Value = serde_json::from_str(&printed.stdout).unwrap();
    assert_eq!(
        plan["hosts"][1],
        serde_json::json!({ "group": "LAB2", "host": "b" })
    );
    let workers = plan["cells"][0]["workers"].as_array().unwrap().iter();
    let ranks: Vec<u64> = workers.map(|it| it["rank"].as_u64().unwrap_or(0)).collect();
    assert_eq!(ranks, [0, 1, 1]);
    // As `run` refuses it.
    let output = bed.run(&both[..4]);
    output.assert_refused(2, &["manager `LAB 1` has no host"]);
    let output = bed.run(&[&both[..4], &["--host", "LAB3=c"]].concat());
    output.assert_refused(2, &["there is no manager `LAB3`"]);
}

#[test]
fn managers_without_hosts_run_here_with_one_warning() {
    let bed = need!(ScratchTarget::new());
    let target = bed.target().to_str().unwrap();
    bed.file("two.icf", configuration([target, target]));
    let output = bed.run(&["check", "two.icf"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let warning = "the workers of managers `LAB 1` and `LAB2` all run here";
    assert_eq!(
        output.text().matches(warning).count(),
        1,
        "{}",
        output.text()
    );
    let (_, record) = bed.record(&["two.icf"]);
    assert_eq!(record["warnings"].to_string().matches(warning).count(), 1);
    assert_eq!(record["cells"][0]["workers"], 3);
}
