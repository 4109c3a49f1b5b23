use super::*;

/// A cell's record of format 1, as far as it matters, with these figures.
fn upgraded(classic: Value) -> PhaseFigures {
    let mut cell = json!({
        "workers": 2,
        "cpu": { "user_ns": 7, "system_ns": 8 },
        "total": { "count": 90, "errors": 4 },
        "transactions": { "create": { "errors": 3 } },
        "classic": classic,
    });
    upgrade_cell(&mut cell);
    assert_eq!(cell.get("classic"), None);
    serde_json::from_value(cell["phase_figures"].take()).unwrap()
}

/// The names of figures that have no types.
fn untyped_names(figures: &PhaseFigures) -> Vec<&str> {
    figures.figures_before.keys().map(String::as_str).collect()
}

fn postmark() -> Value {
    json!({
        "transactions": 500,
        "transactions_per_second": 250.0,
        "total_ns": 4_500_000_000_u64,
        "creation_ns": 1_500_000_000,
        "transactions_ns": 2_000_000_000,
        "deletion_ns": 1_000_000_000,
        "created": 764,
        "created_alone": 500,
        "created_mixed": 264,
        "read": 243,
        "appended": 257,
        "deleted": 764,
        "deleted_alone": 528,
        "deleted_mixed": 236,
        "read_bytes": 1_430_770,
        "written_bytes": 4_662_068,
        "read_mib": 1_430_770.0 / MIB,
        "written_mib": 4_662_068.0 / MIB,
        "read_mib_float32": f64::from(1_430_770_f32) / MIB,
        "written_mib_float32": f64::from(16_777_216_f32) / MIB,
        "compat": "1.53",
    })
}

#[test]
fn postmark_figures_become_pool_figures() {
    let figures = upgraded(postmark());
    let pool = figures.pool.unwrap();
    assert_eq!(pool.transactions_count, 500);
    assert_eq!(pool.created_before_count, 500);
    assert_eq!(pool.written_bytes, 4_662_068);
    assert_eq!(pool.written_bytes_float, 16_777_216.0);
    assert_eq!(untyped_names(&figures), ["compat"]);
}

#[test]
fn a_create_remove_step_keeps_its_times_and_file_counts() {
    let programs = |count: u64, real_ns: u64, [user_ns, system_ns]: [u64; 2]| {
        json!({
            "count": count, "real_ns": real_ns, "user_ns": user_ns, "system_ns": system_ns,
        })
    };
    let figures = upgraded(json!({
        "step": "create",
        "is_create": true,
        "size_bytes": 4096,
        "between_next": "remount",
        "files_asked": 100,
        "real_ns": 5000,
        "programs": programs(93, 5000, [7, 8]),
        "baseline": programs(50, 40, [1, 2]),
    }));
    let create = StepFigures {
        label: "create".to_owned(),
        count: 90,
        errors: 3,
        time_ns: 5000,
        user_ns: 7,
        system_ns: 8,
    };
    let baseline = StepFigures {
        label: "baseline".to_owned(),
        count: 50,
        errors: 0,
        time_ns: 40,
        user_ns: 1,
        system_ns: 2,
    };
    assert_eq!(figures.steps, [create, baseline]);
    let files = FilesetFigures {
        file_count: 100,
        file_bytes: 4096,
    };
    assert_eq!(figures.filesets, [files]);
    assert_eq!(untyped_names(&figures), ["between_next"]);
}

#[test]
fn the_earliest_steps_get_their_label_from_is_create() {
    for (is_create, label) in [(true, "create"), (false, "remove")] {
        let figures = upgraded(json!({
            "is_create": is_create,
            "size_bytes": 0,
            "files_asked": 100,
            "real_ns": 5000,
        }));
        assert_eq!(figures.step().unwrap().label, label);
        assert_eq!(untyped_names(&figures), [""; 0]);
    }
}

#[test]
fn the_pass_that_lat_fs_reports_becomes_a_round() {
    let best = upgraded(json!({
        "size_bytes": 1024,
        "passes": 12,
        "files": 1000,
        "best_ns": 3_000_000,
        "best_files_per_second": 1000.0 * 1e9 / 3_000_000.0,
    }));
    let reported = best.reported_round.unwrap();
    assert_eq!(
        (reported.rule, reported.time_ns, reported.round_count),
        (RoundRule::Best, 3_000_000, 12)
    );
    assert_eq!(untyped_names(&best), [""; 0]);
    let median = upgraded(json!({
        "size_bytes": 1024,
        "files": 77,
        "median_ns": 50_000_001,
        "median_files_per_second": 77.0 * 1e9 / 50_000_001.0,
    }));
    let reported = median.reported_round.unwrap();
    assert_eq!(
        (reported.rule, reported.round_count),
        (RoundRule::Median, 0)
    );
    assert_eq!(median.fileset().unwrap().file_count, 77);
    assert_eq!(untyped_names(&median), [""; 0]);
}

#[test]
fn iteration_rates_become_times() {
    let times_ns = [123_456_789_u64, 1, 3_600_000_000_007];
    let rates = times_ns.map(|time_ns| 2000.0 * SECOND_NS / time_ns as f64);
    let figures = upgraded(json!({
        "iterations": 3,
        "sync_method": "sync-post",
        "files_per_iteration": 1000,
        "files_per_second": rates,
        "sync_ns": [10, 20, 30],
    }));
    let rounds = figures.rounds.iter();
    let times: Vec<_> = rounds.map(|it| (it.time_ns, it.sync_ns)).collect();
    let wanted = times_ns.into_iter().zip([Some(10), Some(20), Some(30)]);
    assert_eq!(times, wanted.collect::<Vec<_>>());
    assert_eq!(figures.rounds[0].file_count, 2000);
    let left = ["files_per_iteration", "sync_method"];
    assert_eq!(untyped_names(&figures), left);
}

#[test]
fn untyped_figures_are_kept() {
    let mut malformed = postmark();
    malformed["created_mixed"] = json!("many");
    malformed["transactions_per_second"] = json!(1e9);
    malformed["histogram"] = json!({ "rounds": [] });
    let figures = upgraded(malformed.clone());
    for name in ["created_mixed", "transactions_per_second", "histogram"] {
        assert_eq!(figures.figures_before[name], malformed[name]);
    }
    let mut partial = postmark();
    partial.as_object_mut().unwrap().remove("read");
    let figures = upgraded(partial.clone());
    assert_eq!(figures.pool, None);
    assert_eq!(json!(figures.figures_before), partial);
}

#[test]
fn values_that_are_not_cells_of_format_1_stay_unchanged() {
    for value in [
        json!(null),
        json!([]),
        json!({ "phase_figures": { "rounds": [] } }),
    ] {
        let mut upgraded = value.clone();
        upgrade_cell(&mut upgraded);
        assert_eq!(upgraded, value);
    }
    let mut damaged = json!({ "classic": 7 });
    upgrade_cell(&mut damaged);
    let read = serde_json::from_value::<PhaseFigures>(damaged["phase_figures"].take());
    assert!(read.is_err(), "{read:?}");
}
