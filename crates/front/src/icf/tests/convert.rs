//! To a workload and back.

use units::{Bytes, Percent, Span};

use description::iometer::{Assignment, IometerSettings, WorkerCount};
use description::model::{self, ContentChoice, OneOrMany, Seed, Workload};

use super::super::document::IcfDocument;
use super::super::{from_workload, to_workload, write};
use super::texts::{DISPLAY, MANAGERS, NETWORK, SETUP, SPECS, file, full, spec};
use super::{clean, tolerant};

fn workload(text: &str) -> (Workload, Vec<String>) {
    let (document, _) = tolerant(text);
    let (workload, warnings) = to_workload(&document, "sample");
    (
        workload,
        warnings
            .into_iter()
            .map(|warning| warning.message)
            .collect(),
    )
}

fn back(workload: &Workload) -> IcfDocument {
    from_workload(workload).unwrap().0
}

/// The workload must survive the way through a written file and through TOML.
fn assert_round_trip(workload: &Workload) {
    let text = String::from_utf8(write(&back(workload))).unwrap();
    assert_eq!(
        &to_workload(&tolerant(&text).0, "sample").0,
        workload,
        "{text}"
    );
    let toml = description::to_toml(workload).unwrap();
    let again =
        description::read_toml("a.toml", &toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    assert_eq!(&again, workload, "{toml}");
}

#[test]
fn the_test_setup_becomes_times_and_steps() {
    let (workload, warnings) = workload(&full());
    assert_eq!(warnings, Vec::<String>::new());
    assert_eq!(workload.name.as_deref(), Some("sample"));
    assert_eq!(workload.title.as_deref(), Some("nightly - array 7"));
    assert_eq!(workload.run_time, Some(Span::from_secs(330)));
    assert_eq!(workload.ramp_time, Some(Span::from_secs(15)));
    assert_eq!(
        workload.test_type,
        Some(model::TestType::CycleOutstandingIos)
    );
    let steps = workload.cycling.clone().unwrap();
    assert_eq!(steps.targets, None);
    assert_eq!(steps.workers.unwrap().step, Some(2));
    assert_eq!(steps.iodepth.unwrap().end, Some(64));
    assert_round_trip(&workload);
}

#[test]
fn specifications_become_access_specs() {
    let (workload, _) = workload(&full());
    let lines = &workload.access_spec[0].line;
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0].of_size, Some(Percent(0.0)));
    assert_eq!(lines[1].delay, Some(Span::from_millis(5)));
    assert_eq!(
        (lines[1].burst, lines[1].align),
        (Some(4), Some(Bytes(4096)))
    );
    assert_eq!((lines[2].burst, lines[2].align), (None, None));
    assert_eq!(lines[2].reply, Some(Bytes(512)));
}

#[test]
fn workers_keep_their_settings_in_order() {
    let (workload, _) = workload(&full());
    assert_eq!(workload.content, Some(ContentChoice::Repeating));
    let worker = &workload.worker[0];
    assert_eq!(worker.name.as_deref(), Some("Worker 1"));
    assert_eq!(worker.group, None);
    assert_eq!(worker.iodepth, Some(16));
    assert_eq!(worker.size, Some(Bytes(2048 * 512)));
    assert_eq!(worker.start, Some(Bytes(64 * 512)));
    assert_eq!(worker.content, Some(ContentChoice::PseudoRandom));
    assert_eq!(worker.transactions_per_connection, Some(5));
    assert_eq!(worker.seed, Some(Seed(u64::MAX)));
    let names = worker.access_specs.as_deref().unwrap();
    assert_eq!(names, ["scan", "Idle", "MIXED"]);
    let targets = OneOrMany::Many(vec!["/mnt/a [ext4]".to_owned(), "0: \"disk\"".to_owned()]);
    assert_eq!(worker.targets, Some(targets));
}

#[test]
fn a_worker_without_a_list_gets_the_default_assignments() {
    let (workload, _) = workload(&full());
    assert_eq!(
        workload.worker[1].access_specs.as_deref().unwrap(),
        ["mixed"]
    );
    assert_eq!(workload.worker[1].targets, None);
    assert_round_trip(&workload);
}

#[test]
fn settings_without_a_meaning_here_are_kept_in_the_iometer_table() {
    let (workload, _) = workload(&full());
    let extras = workload.iometer.unwrap();
    assert_eq!(extras.display.as_ref().unwrap().bars.len(), 4);
    assert_eq!(
        extras.default_assignment.get("mixed"),
        Some(&Assignment::All)
    );
    assert_eq!(extras.managers[0].worker_count, 2);
    assert_eq!(extras.disk_workers, None, "the default needs no words");
    let document = clean(&full());
    assert_eq!(extras.display, document.display);
}

#[test]
fn network_workers_return_to_their_positions() {
    let (workload, _) = workload(&file(&[SPECS, NETWORK]));
    assert_eq!(workload.worker.len(), 1);
    assert_eq!(workload.iometer.as_ref().unwrap().network.len(), 2);
    assert_round_trip(&workload);
    let names: Vec<String> = back(&workload).managers.unwrap()[0]
        .workers
        .iter()
        .map(|it| it.name.clone())
        .collect();
    assert_eq!(names, ["server", "disk worker", "old"]);
}

#[test]
fn network_targets_of_disk_workers_are_kept() {
    let text = full().replacen("\tDISK\n'End target\n", "\tNETWORK,TCP\n'End target\n", 1);
    let (workload, warnings) = workload(&text);
    assert_eq!(
        warnings,
        ["network target `/mnt/a [ext4]` of disk worker `Worker 1` is left out"]
    );
    assert_eq!(
        workload.worker[0].targets,
        Some(OneOrMany::One("0: \"disk\"".to_owned()))
    );
    assert_round_trip(&workload);
}

#[test]
fn managers_round_trip_as_groups() {
    let second = MANAGERS
        .replace("'MANAGER LIST ====\n", "")
        .replace("1,alpha", "2,beta");
    let first = MANAGERS.replace("'END manager list\n", "");
    let (both, _) = workload(&file(&[SETUP, SPECS, &first, &second]));
    let groups: Vec<&str> = both
        .worker
        .iter()
        .filter_map(|it| it.group.as_deref())
        .collect();
    assert_eq!(groups, ["alpha", "alpha", "beta", "beta"]);
    assert_round_trip(&both);
    let same = second.replace("2,beta", "2,alpha");
    let (same, _) = workload(&file(&[SETUP, SPECS, &first, &same]));
    let groups: Vec<&str> = same
        .worker
        .iter()
        .filter_map(|it| it.group.as_deref())
        .collect();
    assert_eq!(groups, ["alpha 1", "alpha 1", "alpha 2", "alpha 2"]);
    assert_round_trip(&same);
}

#[test]
fn workers_that_change_their_group_change_their_manager() {
    let second = MANAGERS
        .replace("'MANAGER LIST ====\n", "")
        .replace("1,alpha", "7,beta")
        .replace("address\n\t\n", "address\n\tnode7\n");
    let first = MANAGERS.replace("'END manager list\n", "");
    let (mut changed, _) = workload(&file(&[SETUP, SPECS, &first, &second]));
    // The number of workers of all managers together stays the same.
    changed.worker[0].group = Some("beta".to_owned());
    changed.worker[1].group = Some("gamma".to_owned());
    let managers = back(&changed).managers.unwrap();
    let found: Vec<(i32, &str, &str, usize)> = managers
        .iter()
        .map(|it| {
            let identity = &it.identity;
            let (id, name) = (identity.id, identity.name.as_str());
            (id, name, it.address.as_str(), it.workers.len())
        })
        .collect();
    assert_eq!(found, [(7, "beta", "node7", 3), (8, "gamma", "", 1)]);
}

#[test]
fn without_managers_one_worker_runs_all_specifications() {
    let (workload, warnings) = workload(&file(&[SPECS]));
    assert_eq!(workload.worker, []);
    assert_eq!(workload.run_time, None);
    assert_eq!(
        warnings,
        ["`sample` has no workers; one runs all 2 specifications"]
    );
    assert_round_trip(&workload);
}

#[test]
fn a_file_without_assignments_runs_everything_with_a_warning() {
    let specs = spec(&["512,100,0,0,0,1,0,0"]);
    let managers = MANAGERS.replace("\tscan\n\tIdle\n\tMIXED\n", "");
    let (workload, warnings) = workload(&file(&[&specs, &managers]));
    assert!(
        workload
            .worker
            .iter()
            .all(|worker| worker.access_specs.is_none())
    );
    assert_eq!(
        warnings,
        ["`sample` assigns no access specification to any worker; all run all 1"]
    );
    assert_round_trip(&workload);
}

#[test]
fn a_file_without_specifications_gets_a_warning() {
    let (workload, warnings) = workload(&file(&[SETUP, MANAGERS]));
    assert_eq!(
        warnings,
        ["`sample` has no access specifications, so nothing is run"]
    );
    assert_eq!(workload.access_spec, []);
}

#[test]
fn disabled_settings_are_kept() {
    let text = full().replace("16,ENABLED,5,ENABLED,1844", "16,DISABLED,5,DISABLED,1844");
    let (workload, _) = workload(&text);
    assert_eq!(
        (
            workload.worker[0].seed,
            workload.worker[0].transactions_per_connection
        ),
        (None, None)
    );
    assert_round_trip(&workload);
    let settings = back(&workload).managers.unwrap()[0].workers[0]
        .settings
        .clone()
        .unwrap();
    assert_eq!(settings.transactions_per_connection, 5);
    assert_eq!(settings.fixed_seed, Seed(u64::MAX));
}

#[test]
fn a_full_file_round_trips_through_a_workload() {
    let document = clean(&full());
    let (workload, _) = to_workload(&document, "sample");
    let mut again = back(&workload);
    // The one thing that is said otherwise: the list that the second worker got by default.
    let second = &mut again.managers.as_mut().unwrap()[0].workers[1];
    assert_eq!(second.assigned.take().unwrap(), ["mixed"]);
    assert_eq!(again, document);
}

#[test]
fn a_maximum_size_beyond_any_disk_means_the_whole_disk() {
    let text = full().replace("\t2048,64,1\n", "\t9223372036854775807,0,1\n");
    let (workload, warnings) = workload(&text);
    assert_eq!(workload.worker[0].size, None);
    assert_eq!(
        warnings,
        ["maximum size of 9223372036854775807 sectors is beyond any disk, 0 is used"]
    );
}

/// A workload that was never an Iometer configuration.
fn native() -> Workload {
    Workload {
        name: Some("oltp".into()),
        iodepth: Some(OneOrMany::One(8)),
        workers: Some(2),
        size: Some(Bytes(1 << 30)),
        access_spec: vec![model::AccessSpec {
            name: None,
            line: vec![model::AccessLine {
                size: Some(Bytes(8192)),
                read: Some(Percent(67.0)),
                random: Some(Percent(100.0)),
                ..model::AccessLine::default()
            }],
        }],
        ..Workload::default()
    }
}

#[test]
fn a_native_workload_becomes_a_complete_configuration() {
    let (document, warnings) = from_workload(&native()).unwrap();
    let setup = document.setup.as_ref().unwrap();
    assert_eq!((setup.run_time.seconds, setup.ramp_up_seconds), (10, 2));
    let workers = &document.managers.as_ref().unwrap()[0].workers;
    assert_eq!((workers.len(), workers[1].name.as_str()), (2, "Worker 2"));
    let settings = workers[0].settings.as_ref().unwrap();
    assert_eq!(
        (settings.outstanding_ios, settings.max_size_sectors),
        (8, 1 << 21)
    );
    assert_eq!(workers[0].assigned.as_deref().unwrap(), ["oltp"]);
    let line = document.specs.as_ref().unwrap()[0].lines[0];
    assert_eq!(
        (line.of_size, line.reads, line.random, line.burst),
        (100, 67, 100, 1)
    );
    let messages: Vec<String> = warnings.into_iter().map(|it| it.message).collect();
    assert_eq!(
        messages,
        ["Iometer has no such content; data pattern 2 (full random) is written"]
    );
    assert_eq!(
        clean(&String::from_utf8(write(&document)).unwrap()),
        document
    );
}

#[test]
fn settings_that_iometer_cannot_express_are_refused_or_reported() {
    let refusal = |change: &dyn Fn(&mut Workload)| {
        let mut workload = native();
        change(&mut workload);
        from_workload(&workload).unwrap_err().message
    };
    let line = |change: fn(&mut model::AccessLine)| {
        refusal(&|workload| change(&mut workload.access_spec[0].line[0]))
    };
    assert_eq!(
        line(|line| line.read = Some(Percent(66.6))),
        "`read` of `oltp` is 66.6, and Iometer counts whole percents"
    );
    assert_eq!(
        line(|line| line.distribution = Some(model::DistributionChoice::NoRepeat)),
        "Iometer has neither `distribution` nor `sequence` (`oltp`)"
    );
    assert_eq!(
        line(|line| line.delay = Some(Span(1))),
        "a `delay` of `oltp` is not a whole number of milliseconds"
    );
    assert_eq!(
        line(|line| line.reply = Some(Bytes(1 << 32))),
        "`reply` of `oltp` is beyond Iometer's 32 bits"
    );
    assert_eq!(
        refusal(&|workload| workload.size = Some(Bytes(1000))),
        "`size` is 1000B, and Iometer counts sectors of 512 bytes"
    );
    assert_eq!(
        refusal(&|workload| workload.run_time = Some(Span::from_millis(1500))),
        "`run_time` is 1.5s, and Iometer counts whole seconds"
    );
    assert_eq!(
        refusal(&|workload| workload.access_spec[0].name = Some("a,b".into())),
        "`a,b` cannot be the name of an access specification"
    );
    assert_eq!(
        refusal(&|workload| workload.iodepth = Some(OneOrMany::Many(vec![1, 2]))),
        "Iometer has no list of queue depths"
    );
    assert_eq!(
        refusal(&|workload| workload.part = vec![native()]),
        "a pack of 1 workloads is not a single file"
    );
    let mut workload = native();
    workload.content = Some(ContentChoice::FullRandom);
    workload.verify = Some(true);
    workload.operations = Some(9);
    let (_, warnings) = from_workload(&workload).unwrap();
    assert_eq!(
        warnings[0].message,
        "Iometer configurations cannot express `operations`, `verify`"
    );
}

#[test]
fn extras_survive_toml() {
    let text = file(&[
        &SETUP.replace("NUMBER_OF_CPUS", "3"),
        DISPLAY,
        SPECS,
        NETWORK,
    ]);
    let (workload, _) = workload(&text);
    assert_eq!(
        workload.iometer.as_ref().unwrap().disk_workers,
        Some(WorkerCount::Count(3))
    );
    assert_round_trip(&workload);
    assert!(IometerSettings::default().is_empty());
}

#[test]
fn file_and_job_workloads_cannot_become_iometer_configurations() {
    for (text, header) in [("[lat_fs]\n", "[lat_fs]"), ("[[job]]\n", "[[job]]")] {
        let workload = description::read_toml("w.toml", text).unwrap();
        assert_eq!(
            from_workload(&workload).unwrap_err().to_string(),
            format!(
                "error: an Iometer configuration has no place for `{header}`\n\
                 help: keep the workload as TOML"
            )
        );
    }
}
