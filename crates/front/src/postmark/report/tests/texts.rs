use description::classics::postmark::{Compat, ReportForm};
use results::PoolFigures;

use crate::postmark::report::number::{data, decimal};
use crate::postmark::report::{SessionTimes, report};

/// The default run's counts.
fn figures() -> PoolFigures {
    PoolFigures {
        transactions_count: 500,
        created_before_count: 500,
        created_count: 764,
        read_count: 243,
        appended_count: 257,
        deleted_count: 764,
        deleted_after_count: 528,
        read_bytes_float: 1_430_770.0,
        written_bytes_float: 4_662_068.0,
        read_bytes: 1_430_770,
        written_bytes: 4_662_068,
        ..PoolFigures::default()
    }
}

#[test]
fn exactly_a_megabyte_is_still_kilobytes() {
    let text = |bytes| data(Compat::V1_53, bytes);
    assert_eq!(text(1_048_576.0), "1024.00 kilobytes");
    assert_eq!(text(1_048_577.0), "1.00 megabytes");
    assert_eq!(text(5.0), "0.00 kilobytes");
    assert_eq!(text(0.0), "0.000000 bytes");
    assert_eq!(data(Compat::V1_14, 1_024_001.0), "1.00 megabytes");
}

#[test]
fn infinity_and_nan_are_written_as_in_c() {
    assert_eq!(decimal(1.0 / 0.0, 2), "inf");
    assert_eq!(decimal(f32::NAN, 2), "-nan");
}

#[test]
fn intervals_within_a_second_count_as_one() {
    let times = SessionTimes::from_seconds([7; 4]);
    let text = report(ReportForm::Terse, Compat::V1_53, &figures(), &times);
    assert!(
        text.starts_with("1 1 500.00 764.00 500.00 264.00 "),
        "{text}"
    );
    let times = SessionTimes {
        start_us: 1_900_000,
        transactions_start_us: 2_100_000,
        transactions_end_us: 2_900_000,
        end_us: 3_000_000,
    };
    let text = report(ReportForm::Verbose, Compat::V1_53, &figures(), &times);
    assert!(text.starts_with("Time:\n\t2 seconds total\n\t1 seconds of transactions (500 per"));
}

#[test]
fn version_1_54_counts_microseconds() {
    let times = SessionTimes {
        start_us: 900_000,
        transactions_start_us: 1_400_000,
        transactions_end_us: 3_232_300,
        end_us: 5_000_000,
    };
    let text = report(ReportForm::Verbose, Compat::V1_54, &figures(), &times);
    for line in [
        "\t4.1000 seconds total\n",
        "\t1.8323 seconds of transactions (272.88 per second)\n",
        "\t764 created (186.34 per second)\n",
        "\t\tCreation alone: 500 files (1000.00 per second)\n",
        "\t1.36 megabytes read (340.79 kilobytes per second)\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    let text = report(ReportForm::Terse, Compat::V1_54, &figures(), &times);
    assert!(
        text.starts_with("4.1000 1.8323 272.88 186.34 1000.00 "),
        "{text}"
    );
    assert_eq!(text.split(' ').count(), 13);
}

#[test]
fn version_1_5_prints_the_created_count_as_deleted() {
    let figures = PoolFigures {
        deleted_count: 700,
        ..figures()
    };
    let times = SessionTimes::from_seconds([1000, 1002, 1010, 1013]);
    let text = |compat| report(ReportForm::Verbose, compat, &figures, &times);
    assert!(text(Compat::V1_5).contains("\t764 deleted (58 per second)\n"));
    assert!(text(Compat::V1_53).contains("\t700 deleted (53 per second)\n"));
    let terse = |compat| report(ReportForm::Terse, compat, &figures, &times);
    let deleted = |line: String| line.split(' ').nth(8).map(str::to_owned);
    assert_eq!(deleted(terse(Compat::V1_5)).as_deref(), Some("382.00"));
    assert_eq!(deleted(terse(Compat::V1_53)).as_deref(), Some("53.85"));
}

#[test]
fn the_first_published_session_is_written_as_1_14_would() {
    let figures = PoolFigures {
        created_count: 740,
        read_count: 237,
        appended_count: 262,
        deleted_count: 740,
        deleted_after_count: 480,
        read_bytes_float: 1_337_821.0,
        written_bytes_float: 4_302_954.0,
        ..figures()
    };
    // 12 seconds of creation, 17 of transactions, 12 of deletion. Version 1.00 divided whole
    // numbers and so printed 31.86 where 1.14, with its floats, has 31.87.
    let times = SessionTimes::from_seconds([0, 12, 29, 41]);
    let text = report(ReportForm::Verbose, Compat::V1_14, &figures, &times);
    for line in [
        "\t17 seconds of transactions (29 per second)\n",
        "\t\tCreation alone: 500 files (41 per second)\n",
        "\t237 read (13 per second)\n",
        "\t1.31 megabytes read (31.87 kilobytes per second)\n",
        "\t4.20 megabytes written (102.49 kilobytes per second)\n",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn a_clock_that_goes_back_does_not_stop_the_report() {
    let times = SessionTimes::from_seconds([i64::MAX, 5, 3, i64::MIN]);
    for (compat, _) in Compat::ALL {
        for form in [ReportForm::Verbose, ReportForm::Terse] {
            assert!(report(form, compat, &figures(), &times).ends_with('\n'));
        }
    }
}
