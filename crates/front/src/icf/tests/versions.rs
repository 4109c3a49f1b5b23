//! Every section, key variant and version.

use description::iometer::*;
use description::model::{Seed, StepKind, TestType};

use super::super::document::*;
use super::texts::{DISPLAY, MANAGERS, NETWORK, SETUP, SPECS, file, full, spec};
use super::{clean, refused, tolerant};

#[test]
fn every_key_of_the_test_setup_is_read() {
    let setup = clean(&full()).setup.unwrap();
    let wanted = TestSetup {
        description: "nightly - array 7".into(),
        run_time: RunTime {
            hours: 0,
            minutes: 5,
            seconds: 30,
        },
        ramp_up_seconds: 15,
        record_results: RecordResults::NoTargets,
        worker_cycling: IcfCycling {
            start: 1,
            step: 2,
            step_type: StepKind::Linear,
        },
        queue_depth_cycling: QueueDepthCycling {
            start: 4,
            end: 64,
            step: 4,
            step_type: StepKind::Exponential,
        },
        test_type: TestType::CycleOutstandingIos,
        ..TestSetup::default()
    };
    assert_eq!(setup, wanted);
    assert_eq!(setup.run_time.total_seconds(), 330);
}

#[test]
fn the_results_display_is_kept_line_by_line() {
    let display = clean(&full()).display.unwrap();
    assert!(display.record_last_update);
    assert_eq!(display.update_frequency_seconds, 5);
    assert_eq!(display.update_type, UpdateType::LastUpdate);
    assert_eq!(display.bars.len(), 4);
    let manager = IdName {
        id: 1,
        name: "alpha".into(),
    };
    assert_eq!(
        display.bars[2],
        Bar {
            chart: 2,
            shows: BarLine::Manager(manager)
        }
    );
}

#[test]
fn lines_with_zero_percent_are_kept() {
    let specs = clean(&full()).specs.unwrap();
    assert_eq!(specs.len(), 2);
    assert_eq!(specs[0].assignment, Assignment::All);
    assert_eq!(specs[0].lines.len(), 3);
    assert_eq!((specs[0].lines[0].size, specs[0].lines[0].of_size), (0, 0));
    let wanted = IcfAccessLine {
        size: 4096,
        of_size: 70,
        reads: 60,
        random: 100,
        delay_ms: 5,
        burst: 4,
        align: 4096,
        reply: 0,
    };
    assert_eq!(specs[0].lines[1], wanted);
    assert_eq!(specs[0].lines[2].reply, 512);
}

#[test]
fn workers_have_settings_specifications_and_targets() {
    let managers = clean(&full()).managers.unwrap();
    assert_eq!(
        managers[0].identity,
        IdName {
            id: 1,
            name: "alpha".into()
        }
    );
    let worker = &managers[0].workers[0];
    let settings = worker.settings.as_ref().unwrap();
    assert_eq!(settings.outstanding_ios, 16);
    assert!(settings.test_connection_rate && settings.use_fixed_seed);
    assert_eq!(settings.transactions_per_connection, 5);
    assert_eq!(settings.fixed_seed, Seed(u64::MAX));
    assert_eq!(
        (settings.max_size_sectors, settings.starting_sector),
        (2048, 64)
    );
    assert_eq!(settings.data_pattern, 1);
    assert_eq!(
        worker.assigned.as_ref().unwrap(),
        &["scan", "Idle", "MIXED"]
    );
    let targets = worker.targets.as_ref().unwrap();
    assert_eq!(targets[1].name, "0: \"disk\"");
    let bare = &managers[0].workers[1];
    assert_eq!(
        (&bare.settings, &bare.assigned, &bare.targets),
        (&None, &None, &None)
    );
}

#[test]
fn network_workers_that_cannot_run_are_kept_with_a_warning() {
    let (document, warnings) = tolerant(&file(&[SPECS, NETWORK]));
    let workers = &document.managers.unwrap()[0].workers;
    assert_eq!(workers[0].kind, WorkerKind::NetworkTcp);
    let settings = workers[0].settings.as_ref().unwrap();
    assert_eq!(settings.network_interface.as_deref(), Some("10.0.0.1"));
    let target = &workers[0].targets.as_ref().unwrap()[0];
    assert_eq!(
        target.manager,
        Some(IdName {
            id: 2,
            name: "beta".into()
        })
    );
    assert_eq!(
        workers[2].settings.as_ref().unwrap().vi_outstanding_ios,
        Some(8)
    );
    assert_eq!(
        warnings,
        ["47: network worker of VI is kept, running it is refused"]
    );
}

#[test]
fn sections_may_come_in_any_order_and_be_missing() {
    let forward = clean(&full());
    let backward = clean(&file(&[MANAGERS, SPECS, DISPLAY, SETUP]));
    assert_eq!(forward, backward);
    let specs_only = clean(&file(&[SPECS]));
    assert_eq!((specs_only.setup, specs_only.display), (None, None));
    assert_eq!(specs_only.managers, None);
    let blank_lines = clean(&file(&["\n\n", SETUP, "\n", SPECS, "\t\n"]));
    assert_eq!(blank_lines.setup, forward.setup);
}

#[test]
fn missing_keys_of_the_test_setup_have_iometers_defaults() {
    let document = clean(&file(&[
        "'TEST SETUP\n'Run Time\n\t0 0 9\n'END test setup\n",
    ]));
    let run_time = RunTime {
        hours: 0,
        minutes: 0,
        seconds: 9,
    };
    assert_eq!(
        document.setup.unwrap(),
        TestSetup {
            run_time,
            ..TestSetup::default()
        }
    );
}

#[test]
fn versions_are_ordered_as_iometer_1_1_0_orders_them() {
    let order = |major, middle, minor| {
        Version {
            major,
            middle,
            minor,
        }
        .order()
    };
    assert_eq!(order(2006, 7, 27), 20_060_727);
    assert_eq!(order(1, 1, 0), 10_000_100_000);
    assert_eq!(order(3, 26, 97), 30_002_600_097);
    assert!(order(1, 0, 0) > order(2010, 12, 31));
}

#[test]
fn the_version_is_the_first_three_numbers_of_the_line() {
    let version = |first: &str| {
        let (document, _) = tolerant(&format!("{first}\n{SPECS}"));
        document.version.to_string()
    };
    assert_eq!(version("Version 2006.07.27 "), "2006.07.27");
    assert_eq!(version("2006.07.27"), "2006.07.27");
    assert_eq!(version("'Version 2008.06.18-RC2"), "2008.06.18");
    assert_eq!(version("Version 1.1.0-rc1"), "1.1.0");
    assert_eq!(version("\u{feff}Version 1.1.0"), "1.1.0");
    let (_, warnings) = tolerant(&format!("Version 1997.1.1\n{SETUP}"));
    assert_eq!(
        warnings,
        ["1: version 1997.01.01 is older than any known one"]
    );
}

#[test]
fn the_two_field_update_key_is_read_with_a_warning_in_strict_mode() {
    let text = file(&[
        SPECS,
        "'RESULTS DISPLAY\n'Update Frequency,Update Type\n\t10,WHOLE_TEST\n'END results display\n",
    ]);
    let (document, warnings) = tolerant(&text);
    assert_eq!(document.display.unwrap().update_frequency_seconds, 10);
    assert!(warnings.is_empty());
    let strict = super::parse(text.as_bytes(), "a.icf", super::Strictness::Strict).unwrap();
    assert_eq!(
        strict.warnings[0].message,
        "Iometer 1.1.0 ignores this section, its first key is old"
    );
}

/// A manager list whose worker has these settings.
fn settings(lines: &str) -> String {
    let list = format!(
        "'MANAGER LIST\n'Manager ID, manager name\n\t1,a\n'Worker\n\tw\n'Worker type\n\tDISK\n\
         'Default target settings for worker\n{lines}'End default target settings for worker\n\
         'End worker\n'End manager\n'END manager list\n"
    );
    file(&[SPECS, &list])
}

fn settings_of(document: IcfDocument) -> TargetSettings {
    document.managers.unwrap()[0].workers[0]
        .settings
        .clone()
        .unwrap()
}

#[test]
fn old_worker_keys_leave_the_new_values_at_their_defaults() {
    let text = settings(
        "'Number of outstanding IOs,test connection rate,transactions per connection\n\
         \t8,DISABLED,3\n'Disk maximum size,starting sector\n\t100,7\n",
    );
    let wanted = TargetSettings {
        outstanding_ios: 8,
        transactions_per_connection: 3,
        max_size_sectors: 100,
        starting_sector: 7,
        ..TargetSettings::default()
    };
    assert_eq!(settings_of(clean(&text)), wanted);
}

#[test]
fn use_random_data_is_pattern_two_and_refused_by_1_1_0() {
    let text = settings("'Disk maximum size,starting sector,Use Random Data  (0/1)\n\t0,0,1\n");
    let (document, warnings) = tolerant(&text);
    assert_eq!(settings_of(document).data_pattern, 2);
    let message = "`Use Random Data` is a key that Iometer 1.1.0 does not know";
    assert_eq!(warnings, [format!("22: {message}")]);
    assert_eq!(refused(&text), format!("22: {message}"));
}

#[test]
fn old_integers_are_read_as_keywords() {
    let text = file(&[
        "'TEST SETUP\n'Record Results\n\t4\n'Worker Cycling\n\t2 3 1\n\
         'Test Type\n\t7\n'Default Workers to Spawn\n\t0\n'END test setup\n",
    ]);
    let setup = clean(&text).setup.unwrap();
    assert_eq!(setup.record_results, RecordResults::None);
    assert_eq!(setup.worker_cycling.step_type, StepKind::Exponential);
    assert_eq!(setup.test_type, TestType::CycleOutstandingIosAndTargets);
    assert_eq!(setup.disk_workers, WorkerCount::PerCpu);
    let text = file(&[&spec(&["512,100,100,0,0,1,0,0"]).replace("t,NONE", "t,2")]);
    assert_eq!(clean(&text).specs.unwrap()[0].assignment, Assignment::Disk);
}

#[test]
fn a_negative_number_of_workers_is_one_per_cpu() {
    let text = file(&["'TEST SETUP\n'Default Disk Workers to Spawn\n\t-1\n\
         'Default Network Workers to Spawn\n\t3\n'END test setup\n"]);
    let setup = clean(&text).setup.unwrap();
    assert_eq!(setup.disk_workers, WorkerCount::PerCpu);
    assert_eq!(setup.network_workers, WorkerCount::Count(3));
}

#[test]
fn old_files_have_unnamed_specifications() {
    let text = "Version 1998.01.05\n'ACCESS SPECIFICATIONS\n'size, % of size, ...\n\
        \t4096 100 100 0 0 1\n\t4096 100 100 0 0 1\n\t512 100 0 100 0 1\n\
        \t1048576 100 67 50 10 2\n\t1000 0 1 1 1 1\n\t2048 60 67 100 0 1\n\t8192 40 67 100 0 1\n\
        \t512 50 0 0 0 1\n\t512 50 1 0 0 1\n";
    let (document, warnings) = tolerant(text);
    let specs = document.specs.unwrap();
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "4 KiB sequential reads",
            "4 KiB sequential reads 2",
            "512 B random writes",
            "1 MiB 50% random 67% reads",
            "Untitled 1",
            "Untitled 2",
        ]
    );
    assert!(specs.iter().all(|spec| spec.assignment == Assignment::All));
    assert_eq!(
        (specs[0].lines[0].align, specs[0].lines[0].reply),
        (2048, 0)
    );
    assert_eq!(
        (specs[3].lines[0].delay_ms, specs[3].lines[0].burst),
        (10, 2)
    );
    assert_eq!(warnings, ["8: access line with 0 % is dropped"]);
}

#[test]
fn an_old_test_setup_ends_at_the_first_foreign_key() {
    let text = "Version 1998.04.01\n'TEST SETUP\n'Run Time\n\t0 1 0\n'ACCESS SPECIFICATIONS\n\
        'size\n\t512 100 0 0 0 1\nVersion 1998.04.01\n";
    let document = clean(text);
    assert_eq!(document.setup.unwrap().run_time.minutes, 1);
    assert_eq!(document.specs.unwrap().len(), 1);
    let (document, _) = tolerant("Version 1998.10.08\n'TEST SETUP\n'Run Time\n\t0 1 0\n");
    assert_eq!(document.setup.unwrap().run_time.minutes, 1);
}

#[test]
fn thousands_of_old_unnamed_specifications_get_names_quickly() {
    let mut text = "Version 1998.01.05\n'ACCESS SPECIFICATIONS\n'\n".to_owned();
    for _ in 0..100_000 {
        text.push_str("1 50 0 0 0 1\n1 50 0 0 0 1\n2 100 0 0 0 1\n");
    }
    // The thread's own time: on a busy machine it waits as well.
    let spent = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec;
    let before = spent();
    assert_eq!(tolerant(&text).0.specs.unwrap().len(), 200_000);
    assert!(spent() - before < 60, "{} s", spent() - before);
}
