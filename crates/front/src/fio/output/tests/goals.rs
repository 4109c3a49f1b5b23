//! What is printed of goals.

use plan::job::{GoalMeasure, SteadyGoal};
use results::{
    FoundDepth, GoalFigures, GoalKind, LateRequest, MissedGoal, RunEvent, SteadyReading,
    SteadyReadings,
};
use serde_json::{Value, json};

use super::*;

const FILE: &str = "[j]\nsize=4m\niodepth=16\nioengine=io_uring\n";

fn with(goals: GoalFigures) -> WorkerFigures {
    WorkerFigures {
        goals: Some(goals),
        ..reader(&[1500; 10], &[])
    }
}

fn first_job(set: &JobSet, record: &RunRecord) -> Value {
    let document: Value = serde_json::from_str(&super::super::json(set, record, false)).unwrap();
    document["jobs"][0].clone()
}

fn missed(goal: GoalKind, wanted: u64, seen: u64) -> GoalFigures {
    let is_single = matches!(goal, GoalKind::Latency | GoalKind::DepthLatency);
    GoalFigures {
        missed: Some(MissedGoal {
            goal,
            operation: "read".to_owned(),
            wanted,
            seen,
            at_ns: 3_000_000_000,
            request: is_single.then_some(LateRequest {
                file_index: 0,
                offset_bytes: 8192,
                length_bytes: 4096,
            }),
        }),
        ..GoalFigures::default()
    }
}

#[test]
fn a_missed_goal_gives_the_error_and_message_of_fio() {
    let rows = [
        (
            GoalKind::Bandwidth,
            5,
            "j: rate_min=1000B/s not met, got 91B/s\n",
        ),
        (
            GoalKind::Iops,
            5,
            "j: rate_iops_min=1000 not met, got 91 IOPS\n",
        ),
        (
            GoalKind::Latency,
            110,
            "fio: latency of 91 nsec exceeds specified max (1000 nsec): j.0.0 read 8192 4096\n",
        ),
        (
            GoalKind::DepthLatency,
            110,
            "fio: latency of 91 nsec exceeds specified max (1000 nsec): j.0.0 read 8192 4096\n",
        ),
    ];
    for (goal, errno, error_text) in rows {
        let set = jobs(FILE);
        let record = record(vec![vec![with(missed(goal, 1000, 91))]]);
        assert_eq!(first_job(&set, &record)["error"], errno);
        let head = format!("j: (groupid=0, jobs=1): err={errno:2} (");
        assert!(normal(&set, &record).contains(&head));
        let mut text = crate::fio::text::text(set, jobs_and_options("--name=j --size=4m").1);
        let done = RunEvent::CellDone {
            record: Box::new(record.cells[0].clone()),
        };
        assert_eq!(text.error_text(&done), error_text);
    }
}

#[test]
fn the_reported_depth_is_the_one_that_was_found() {
    let file = format!("{FILE}latency_target=5ms\nlatency_window=1s\nlatency_percentile=99.5\n");
    let found = |iodepth, kept| GoalFigures {
        depth: Some(FoundDepth { iodepth, kept }),
        ..GoalFigures::default()
    };
    let set = jobs(&file);
    let record = record(vec![vec![with(found(11, Some(true)))]]);
    let job = first_job(&set, &record);
    assert_eq!(job["latency_depth"], 11);
    assert_eq!(job["latency_target"], 5_000_000);
    assert_eq!(job["latency_window"], 1_000_000);
    assert_eq!(job["latency_percentile"], 99.5);
    let line = "     latency   : target=5000000, window=1000000, percentile=99.50%, depth=11\n";
    assert!(normal(&set, &record).contains(line));
    let record = self::record(vec![vec![with(found(1, Some(false)))]]);
    let mut text = crate::fio::text::text(set, jobs_and_options("--name=j --size=4m").1);
    let done = RunEvent::CellDone {
        record: Box::new(record.cells[0].clone()),
    };
    let error_text = "j: latency_target=5000000nsec not kept at any queue depth\n";
    assert_eq!(text.error_text(&done), error_text);
}

fn steady(measure: GoalMeasure, is_slope: bool, is_percent: bool) -> GoalFigures {
    let reading = |iops| SteadyReading {
        iops,
        bytes_per_second: iops * 4096,
        latency_ns: 2_500_000,
    };
    GoalFigures {
        steady: Some(SteadyReadings {
            goal: SteadyGoal {
                measure,
                is_slope,
                limit: 10.0,
                is_percent,
                window_ns: 3_000_000_000,
                ramp_ns: 0,
                interval_ns: 1_000_000_000,
                group_index: None,
            },
            is_reached: true,
            criterion: 0.066_622,
            deviation: 0.666_667,
            slope: 0.0,
            readings: [1001, 1001, 1000].map(reading).to_vec(),
        }),
        ..GoalFigures::default()
    }
}

#[test]
fn missing_readings_are_reported_as_zeros() {
    let set = jobs(FILE);
    for (taken, wanted) in [
        (vec![], json!([0, 0, 0])),
        (vec![1001], json!([1001, 0, 0])),
    ] {
        let mut goals = steady(GoalMeasure::Latency, false, true);
        let steady = goals.steady.as_mut().unwrap();
        steady.is_reached = false;
        steady.readings.truncate(taken.len());
        let record = record(vec![vec![with(goals)]]);
        let data = first_job(&set, &record)["steadystate"]["data"].clone();
        assert_eq!(data["iops"], wanted);
        assert_eq!(data["bw"].as_array().unwrap().len(), 3);
        assert_eq!(data["lat_ns"].as_array().unwrap().len(), 3);
    }
}

/// What fio 3.33 printed of these readings; its second bandwidth is in units that it does not name.
#[test]
fn a_steady_state_is_reported_as_in_fio() {
    let set = jobs(FILE);
    let record = record(vec![vec![with(steady(GoalMeasure::Iops, false, true))]]);
    let wanted = json!({
        "ss": "iops:10.000000%", "duration": 3, "attained": 1, "criterion": "0.066622%",
        "max_deviation": 0.666_667, "slope": 0.0,
        "data": {
            "bw_mean": 4_098_730, "iops_mean": 1000, "iops": [1001, 1001, 1000],
            "bw": [4_100_096, 4_100_096, 4_096_000],
        },
    });
    assert_eq!(first_job(&set, &record)["steadystate"], wanted);
    let line = "  steadystate  : attained=yes, bw=4003KiB/s (4099kB/s), iops=1000, \
                iops mean dev=0.067%\n";
    assert!(
        normal(&set, &record).contains(line),
        "{}",
        normal(&set, &record)
    );
}

#[test]
fn every_steady_state_measure_has_its_fio_name() {
    let set = jobs(FILE);
    for (measure, is_slope, is_percent, rule, line) in [
        (
            GoalMeasure::Bandwidth,
            true,
            false,
            "bw_slope:10.000000",
            ", bw slope=0.067\n",
        ),
        (
            GoalMeasure::Latency,
            false,
            true,
            "lat:10.000000%",
            ", iops=1000, lat=2msec, lat mean dev=0.067%\n",
        ),
    ] {
        let record = record(vec![vec![with(steady(measure, is_slope, is_percent))]]);
        let steady_state = first_job(&set, &record)["steadystate"].clone();
        assert_eq!(steady_state["ss"], rule);
        let has_latency = measure == GoalMeasure::Latency;
        assert_eq!(steady_state["data"]["lat_ns"].is_array(), has_latency);
        assert_eq!(steady_state["data"]["lat_mean"] == 2_500_000, has_latency);
        assert!(
            normal(&set, &record).contains(line),
            "{}",
            normal(&set, &record)
        );
    }
}

#[test]
fn the_steady_state_of_a_group_is_in_its_result() {
    let set = jobs("[j]\nsize=4m\nnumjobs=2\ngroup_reporting\n");
    let workers = vec![
        with(GoalFigures::default()),
        with(steady(GoalMeasure::Iops, false, true)),
    ];
    let job = first_job(&set, &record(vec![workers]));
    assert_eq!(job["steadystate"]["attained"], 1);
}
