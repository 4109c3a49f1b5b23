//! What holds for every workload that is read, whatever it is read from.

pub mod made_of;

use std::path::{Component, Path};

use workload::facts::SystemFacts;
use workload::program::{DirectoryTree, FileNames, FilesetPlan};
use workload::{Overrides, Workload, plan, plan_text, read_toml, to_toml};

/// Planning and its words do not panic.
pub fn planned(workloads: &[Workload]) {
    if let Ok(planned) = plan(workloads, &Overrides::new(), &SystemFacts::default()) {
        let _ = plan_text(&planned);
    }
}

/// What can be written as TOML is read again, and written the same.
pub fn reads_back(workloads: &[Workload]) {
    for workload in workloads {
        let Ok(text) = to_toml(workload) else {
            continue;
        };
        let again = read_toml("again.toml", &text);
        let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(to_toml(&again).expect("it was written before"), text);
    }
}

/// No name of a program that passes the checks leads out of the target.
pub fn stays_below(workloads: &[Workload]) {
    for built in workloads.iter().filter_map(|it| it.built.as_ref()) {
        let program = &built.program;
        if program.check().is_err() {
            continue;
        }
        program.filesets.iter().for_each(fileset_stays_below);
        let traces = program.groups().filter_map(|group| group.trace.as_ref());
        for name in traces.flat_map(|trace| &trace.names) {
            assert!(is_below(name), "{name:?}");
        }
    }
}

fn fileset_stays_below(set: &FilesetPlan) {
    assert!(set.path.is_empty() || is_below(&set.path), "{:?}", set.path);
    if let FileNames::Listed(files) = &set.names {
        let is_plain = |name: &str| is_below(name) && !name.contains('/');
        assert!(files.names.iter().all(|name| is_plain(name)), "{files:?}");
        return;
    }
    let (before, _, after) = set.names.parts();
    let nested = match &set.tree {
        DirectoryTree::Nested { directories, .. } => directories.before.as_str(),
        _ => "",
    };
    for text in [before, after, nested] {
        assert!(!text.contains(['/', '\0']), "{text:?}");
    }
}

/// Whether a name leads nowhere else; `.` is where it is looked up.
fn is_below(name: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !name.is_empty() && !name.contains('\0') && Path::new(name).components().all(is_plain)
}
