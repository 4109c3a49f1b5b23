//! Made-up runs side by side.

use super::*;
use crate::sample;

fn faster(record: &RunRecord, factor: f64) -> RunRecord {
    let mut record = record.clone();
    for cell in &mut record.cells {
        cell.total.per_second *= factor;
        cell.target = "/elsewhere".to_owned();
    }
    record
}

fn side_by_side() -> SideBySide {
    let one = sample::record();
    let columns = [
        vec![one.clone(), faster(&one, 1.01), faster(&one, 0.99)],
        vec![faster(&one, 2.0), faster(&one, 2.02), faster(&one, 1.98)],
        Vec::new(),
    ];
    let columns: Vec<&[RunRecord]> = columns.iter().map(Vec::as_slice).collect();
    let mut side_by_side = SideBySide {
        title: "Two file systems".to_owned(),
        columns: ["ext4", "xfs", "<none>"]
            .map(|name| (name.to_owned(), "made".to_owned()))
            .into(),
        ..SideBySide::default()
    };
    let extra = Extra {
        label: "sync afterwards, s".to_owned(),
        samples: vec![vec![2.0, 2.1, 2.05], vec![1.0, 1.1, 1.05], Vec::new()],
        better: BetterDirection::Lower,
        is_time: true,
    };
    side_by_side.add("File Server", &columns, &[extra]);
    side_by_side
}

#[test]
fn figures_are_in_columns_with_their_ratio_to_the_first() {
    let text = side_by_side().render(TableFormat::Text, Page::PLAIN);
    let line = |begin: &str| {
        text.lines()
            .find(|line| line.starts_with(begin))
            .unwrap_or("")
    };
    let ratios = line("ratio").split_whitespace().collect::<Vec<_>>();
    assert_eq!(ratios, ["ratio", "1", "2.00", "-"], "{text}");
    let sync = line("sync afterwards")
        .split_whitespace()
        .collect::<Vec<_>>();
    assert_eq!(sync[3..], ["↓", "2.050", "*1.050", "-"], "{text}");
    assert!(text.contains("95 %"), "{text}");
}

#[test]
fn a_warning_counts_once_a_run() {
    let mut run = sample::record();
    let lost = results::Warning::of_run(WarningCode::TargetLost, "gone");
    run.warnings = vec![lost.clone(), lost];
    let mut sound = run.clone();
    sound.warnings.clear();
    let side_by_side = SideBySide {
        records: vec![run.clone(), sound, run].into(),
        ..SideBySide::default()
    };
    let wanted = "Warnings, with the number of the 3 runs that have each: target-lost (2); \
                  `pgmeter report RUN` shows them.";
    assert_eq!(side_by_side.warned().as_deref(), Some(wanted));
    let one = SideBySide {
        records: side_by_side.records[..1].into(),
        ..SideBySide::default()
    };
    let wanted = "Warnings: target-lost; `pgmeter report RUN` shows them.";
    assert_eq!(one.warned().as_deref(), Some(wanted));
}

#[test]
fn a_narrow_page_has_more_tables_and_loses_no_column() {
    let page = Page {
        width: 34,
        color: false,
    };
    let text = side_by_side().render(TableFormat::Text, page);
    let heads = ["ext4", "xfs", "<none>"];
    assert!(
        heads.iter().all(|head| text.contains(&format!(" {head}"))),
        "{text}"
    );
}

#[test]
fn the_page_escapes_names_and_markdown_has_a_table() {
    let page = side_by_side().render(TableFormat::Html, Page::PLAIN);
    assert!(page.contains("&lt;none&gt;") && page.contains("<strong>"));
    let markdown = side_by_side().render(TableFormat::Markdown, Page::PLAIN);
    assert!(
        markdown.contains("|  | ext4 | xfs | \\<none\\> |"),
        "{markdown}"
    );
}

#[test]
fn a_table_without_any_run_is_empty() {
    let mut side_by_side = SideBySide::default();
    side_by_side.add("nothing", &[&[], &[]], &[]);
    let text = side_by_side.render(TableFormat::Text, Page::PLAIN);
    assert!(text.contains("nothing"), "{text}");
}

#[test]
fn guest_times_are_not_ranked_but_counts_are() {
    let mut side_by_side = SideBySide {
        columns: ["ext4", "nilfs2"]
            .map(|name| (name.to_owned(), String::new()))
            .into(),
        is_of_guests: true,
        ..SideBySide::default()
    };
    let extra = |label: &str, is_time: bool, better: BetterDirection| Extra {
        label: label.to_owned(),
        samples: vec![vec![2.0], vec![1.0]],
        better,
        is_time,
    };
    let extras = [
        extra("sync, s", true, BetterDirection::Lower),
        extra("device writes, MiB", false, BetterDirection::Lower),
        extra("user writes, MiB", false, BetterDirection::Neither),
    ];
    side_by_side.add("work", &[], &extras);
    let text = side_by_side.render(TableFormat::Text, Page::PLAIN);
    let after = |begin: &str| {
        let start = text
            .lines()
            .position(|line| line.starts_with(begin))
            .unwrap();
        text.lines()
            .skip(start)
            .take(2)
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(
        !after("~ sync").contains("*1.000\n") && !after("~ sync").contains("ratio"),
        "{text}"
    );
    assert!(
        after("device").contains("1.000") && after("device").contains("ratio"),
        "{text}"
    );
    // Measured once, nothing is known to be the best.
    assert!(
        !text.contains("*1.000") && text.contains("Nothing was repeated"),
        "{text}"
    );
    assert!(
        !after("user").contains('*') && !after("user").contains("ratio"),
        "{text}"
    );
}

#[test]
fn rows_of_words_are_not_ranked() {
    let mut side_by_side = SideBySide {
        columns: ["ext4", "f2fs"]
            .map(|name| (name.to_owned(), "made".to_owned()))
            .into(),
        ..SideBySide::default()
    };
    let words = |words: [&str; 2]| words.map(|word| Some(word.to_owned())).to_vec();
    side_by_side.add_words(
        "Promised",
        &[("intact", words(["7", "9"])), ("lost", vec![None, None])],
    );
    let text = side_by_side.render(TableFormat::Text, Page::PLAIN);
    let line = |begin: &str| {
        let line = text.lines().find(|line| line.starts_with(begin)).unwrap();
        line.split_whitespace().collect::<Vec<_>>()
    };
    assert_eq!(line("intact"), ["intact", "7", "9"], "{text}");
    assert_eq!(line("lost"), ["lost", "-", "-"], "{text}");
    assert!(!text.contains('*') && !text.contains("ratio"), "{text}");
    let page = side_by_side.render(TableFormat::Html, Page::PLAIN);
    assert!(!page.contains("width:0.0%"), "no bars");
}

/// A lab of two file systems, the second of which is twice as fast.
fn lab(factors: &[f64]) -> results::LabRecord {
    use results::{LabColumn, LabRecord, LabSection};
    let one = sample::record();
    let mut lab = LabRecord::new(one.environment.clone(), vec!["pgmeter".to_owned()]);
    lab.title = "file-server on new file systems".to_owned();
    let column = |name: &str| LabColumn {
        name: name.to_owned(),
        behind: "made by `mkfs`".to_owned(),
    };
    lab.columns = vec![column("ext4"), column("xfs")];
    let mut runs = |base: f64| -> Vec<String> {
        let records = factors.iter().map(|factor| {
            let mut run = faster(&one, base * factor);
            run.id = format!("{base}-{factor}");
            run
        });
        let records: Vec<RunRecord> = records.collect();
        let ids = records.iter().map(|run| run.id.clone()).collect();
        lab.runs.extend(records);
        ids
    };
    lab.sections = vec![LabSection {
        heading: "file-server".to_owned(),
        runs: vec![runs(1.0), runs(2.0)],
        ..LabSection::default()
    }];
    lab
}

#[test]
fn missing_runs_are_counted_even_if_others_are_listed_twice() {
    let mut lab = lab(&[1.0, 1.01]);
    let again = lab.sections[0].clone();
    lab.sections.push(again);
    let alarms = |lab: &results::LabRecord| SideBySide::of(lab).failures;
    assert_eq!(alarms(&lab), [""; 0]);
    lab.runs.pop();
    assert_eq!(alarms(&lab), ["1 of the runs are no longer there"]);
}

#[test]
fn a_lab_report_shows_its_time_system_and_results() {
    let wide = Page {
        width: 300,
        color: false,
    };
    let side_by_side = SideBySide::of(&lab(&[1.0, 1.01, 0.99]));
    let text = side_by_side.render(TableFormat::Text, wide);
    for wanted in [
        "Linux 6.12.9",
        "UTC",
        "xfs was best with",
        "2.00 times ext4 (95 % confidence",
        "per s \u{2191}",
        "bypassed the page cache",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let page = side_by_side.render(TableFormat::Html, Page::PLAIN);
    for wanted in [
        "higher is better",
        "lower is better",
        "#runs",
        "1-1.01",
        "Linux 6.12.9",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let once = SideBySide::of(&lab(&[1.0])).render(TableFormat::Text, wide);
    assert!(
        once.contains("measured once, so this may be chance"),
        "{once}"
    );
}

#[test]
fn a_table_starts_with_a_summary_paragraph() {
    let side_by_side = SideBySide::of(&lab(&[1.0, 1.01, 0.99]));
    let judged = side_by_side.judged();
    let summary = judged.summary().unwrap();
    assert!(
        summary.starts_with("file-server (File Server, depth 8, 2 workers, per s): xfs is 2.00 × "),
        "{summary}"
    );
    let page = side_by_side.render(TableFormat::Html, Page::PLAIN);
    let lead = page.find("xfs is 2.00 × ext4").unwrap();
    assert!(lead < page.find("id=\"columns\"").unwrap());
    assert!(page.contains("class=\"whisker\""), "bars have intervals");
    assert!(page.contains("Measured 3 times"), "{page}");
    let once = SideBySide::of(&lab(&[1.0])).judged().summary().unwrap();
    assert!(
        once.ends_with("measured once, so this may be chance."),
        "{once}"
    );
    let mut same = lab(&[1.0, 1.05, 0.95]);
    for cell in same.runs.iter_mut().skip(3).flat_map(|run| &mut run.cells) {
        cell.total.per_second /= 2.0;
    }
    let same = SideBySide::of(&same).judged().summary().unwrap();
    assert!(
        same.contains(": no winner among ") && same.contains(" % may go unnoticed"),
        "{same}"
    );
}

#[test]
fn a_lab_through_the_page_cache_says_so_at_the_top() {
    let mut lab = lab(&[1.0]);
    for cell in lab.runs.iter_mut().flat_map(|run| &mut run.cells) {
        cell.cache = plan::CacheMode::Buffered;
        if let Some(device) = &mut cell.device {
            device.read_bytes = 0;
        }
    }
    let text = SideBySide::of(&lab).render(TableFormat::Text, Page::PLAIN);
    let alarm_at = text.find("The page cache was measured, not the devices: file-server");
    let first = text.find("\nfile-server\n");
    assert!(alarm_at.unwrap() < first.unwrap(), "{text}");
    assert!(text.contains("the devices served 0.0 % of"), "{text}");
}

#[test]
fn a_workload_with_fsync_is_not_reported_as_page_cache_only() {
    let mut lab = lab(&[1.0]);
    for cell in lab.runs.iter_mut().flat_map(|run| &mut run.cells) {
        cell.cache = plan::CacheMode::Buffered;
        if let Some(device) = &mut cell.device {
            device.read_bytes = 0;
        }
        if let Some(write) = cell.operations.get("write").cloned() {
            cell.operations.insert("fsync".to_owned(), write);
        }
    }
    let wide = Page {
        width: 300,
        color: false,
    };
    let text = SideBySide::of(&lab).render(TableFormat::Text, wide);
    assert!(!text.contains("The page cache was measured"), "{text}");
    assert!(
        text.contains("read, and written data was synced to them"),
        "{text}"
    );
}

#[test]
fn a_lab_record_reads_back_to_the_same_table() {
    let lab = lab(&[1.0, 1.01, 0.99]);
    let again = results::LabRecord::from_json(&lab.to_json()).unwrap();
    assert!(results::LabRecord::is_lab_record(lab.to_json().as_bytes()));
    let csv = |lab| SideBySide::of(lab).render(TableFormat::Csv, Page::PLAIN);
    assert_eq!(csv(&again), csv(&lab));
    assert!(
        csv(&lab).contains("per_second\",xfs,higher,3,"),
        "{}",
        csv(&lab)
    );
    let mut pruned = lab.clone();
    pruned.runs.remove(0);
    let text = SideBySide::of(&pruned).render(TableFormat::Text, Page::PLAIN);
    assert!(text.contains("1 of the runs are no longer there"), "{text}");
}

/// Normal numbers (Box and Muller), the same for a seed.
struct Normal(u64);

impl Normal {
    fn unit(&mut self) -> f64 {
        // Knuth's generator of 64 bits; its upper ones are good.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn around(&mut self, mean: f64, variation: f64) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        mean * (1.0 + variation * radius * (std::f64::consts::TAU * self.unit()).cos())
    }
}

/// A table of 20 rows with these means in its columns, each of 5 repetitions.
fn simulated(normal: &mut Normal, means: &[f64]) -> SideBySide {
    let columns = (0..means.len()).map(|index| (format!("fs{index}"), String::new()));
    let mut side_by_side = SideBySide::new("simulated".to_owned(), columns.collect());
    let extras: Vec<Extra> = (0..20)
        .map(|row| Extra {
            label: format!("row {row}, s"),
            samples: means
                .iter()
                .map(|mean| (0..5).map(|_| normal.around(*mean, 0.03)).collect())
                .collect(),
            better: BetterDirection::Lower,
            is_time: true,
        })
        .collect();
    side_by_side.add("work", &[], &extras);
    side_by_side.judged()
}

/// The share of tables in which that holds of a row.
fn share_of_tables(means: &[f64], is_so: impl Fn(&FigureRow) -> bool) -> f64 {
    let mut normal = Normal(11);
    let tables = 400;
    let hits = (0..tables).filter(|_| {
        let side_by_side = simulated(&mut normal, means);
        side_by_side.sections[0].rows.iter().any(&is_so)
    });
    hits.count() as f64 / f64::from(tables)
}

#[test]
fn equal_columns_have_a_winner_in_at_most_5_of_100_tables() {
    for columns in [&[1.0, 1.0][..], &[1.0, 1.0, 1.0]] {
        let is_claimed = |row: &FigureRow| row.best().is_some() || row.differs_from_first(1);
        let claimed = share_of_tables(columns, is_claimed);
        assert!(claimed <= 0.05, "{columns:?}: {claimed}");
    }
    // What the intervals alone would claim, row by row.
    let excludes_one = |row: &FigureRow| {
        let second = row.values[1].as_ref().unwrap();
        let certainty = second.ratio.unwrap().certainty.unwrap();
        certainty.ci95_low > 1.0 || certainty.ci95_high < 1.0
    };
    assert!(share_of_tables(&[1.0, 1.0], excludes_one) > 0.4);
}

#[test]
fn a_file_system_that_is_a_fifth_faster_wins_its_rows() {
    let side_by_side = simulated(&mut Normal(7), &[1.0, 0.8, 1.0]);
    let rows = &side_by_side.sections[0].rows;
    let win_count = rows.iter().filter(|row| row.best() == Some(1)).count();
    assert!(win_count >= 18, "{win_count} of 20");
    let text = side_by_side.render(TableFormat::Text, Page::PLAIN);
    assert!(text.contains("60 pairs of columns"), "{text}");
}

#[test]
fn a_repeated_single_column_is_not_advised_to_repeat() {
    let side_by_side = simulated(&mut Normal(5), &[1.0]);
    let text = side_by_side.render(TableFormat::Text, Page::PLAIN);
    assert!(!text.contains("Nothing was repeated"), "{text}");
}

#[test]
fn one_of_many_intervals_that_excludes_1_is_marked() {
    let mut normal = Normal(3);
    let marked = std::iter::repeat_with(|| simulated(&mut normal, &[1.0, 1.0]))
        .take(50)
        .map(|side_by_side| side_by_side.render(TableFormat::Text, Page::PLAIN))
        .find(|text| {
            text.lines()
                .any(|line| line.starts_with("95 %") && line.ends_with('?'))
        });
    let text = marked.expect("of 1000 rows some are beside 1 by chance");
    assert!(!text.contains("*0") && !text.contains("*1"), "{text}");
}

#[test]
fn rows_measured_too_briefly_are_marked_and_explained_once() {
    let mut lab = lab(&[1.0, 1.01, 0.99]);
    let render = |lab: &results::LabRecord, format| {
        let page = Page {
            width: 300,
            color: false,
        };
        SideBySide::of(lab).render(format, page).to_string()
    };
    assert!(!render(&lab, TableFormat::Text).contains(SHORT_MARK));
    for cell in lab.runs.iter_mut().flat_map(|run| &mut run.cells) {
        cell.run_time_ns = 90_000_000;
        cell.planned_run_time_ns = 0;
    }
    for format in [TableFormat::Text, TableFormat::Markdown, TableFormat::Html] {
        let text = render(&lab, format);
        let explained = "† was measured for less than 1 s, which is too short for rates: use a \
                         longer";
        assert_eq!(text.matches(explained).count(), 1, "{text}");
        assert!(text.matches(SHORT_MARK).count() > 1, "{text}");
    }
    assert!(render(&lab, TableFormat::Text).contains("per s ↑ †"));
}

#[test]
fn direct_io_is_not_said_to_bypass_the_cache_against_a_warning() {
    use results::{Warning, WarningCode};
    let mut direct = sample::record();
    for cell in &mut direct.cells {
        cell.cache = plan::CacheMode::Direct;
    }
    direct.warnings.clear();
    let sentence = |codes: [Option<WarningCode>; 2]| {
        let records = codes.map(|code| {
            let mut record = direct.clone();
            let warning = code.map(|code| Warning::of_run(code, "it goes through the cache"));
            record.warnings.extend(warning);
            vec![record]
        });
        let columns: Vec<&[RunRecord]> = records.iter().map(Vec::as_slice).collect();
        cache::cached(&columns, &["ext4", "btrfs"])
            .unwrap()
            .sentence
    };
    let past = "Requests bypassed the page cache (direct I/O)";
    assert_eq!(sentence([None, None]), format!("{past}."));
    for code in [
        WarningCode::DirectFallsBack,
        WarningCode::DirectNotHonored,
        WarningCode::CacheServedReads,
    ] {
        let one = sentence([None, Some(code.clone())]);
        assert!(one.starts_with(&format!("{past}, but on btrfs ")), "{one}");
        let both = sentence([Some(code.clone()), Some(code)]);
        assert!(!both.contains("bypassed the page cache"), "{both}");
    }
}

#[test]
fn single_runs_have_dashed_whiskers_and_a_note() {
    let mut run = sample::record();
    for cell in &mut run.cells {
        let interval = cell.intervals[0].clone();
        cell.intervals = (0..30)
            .map(|index| {
                let mut interval = interval.clone();
                interval.at_ns = index * interval.length_ns;
                for figures in interval.operations.values_mut() {
                    figures.count += index % 3 * 100;
                }
                interval
            })
            .collect();
    }
    let page = |runs: Vec<RunRecord>| {
        let columns = [
            runs.clone(),
            runs.iter().map(|it| faster(it, 2.0)).collect(),
        ];
        let mut side_by_side = SideBySide::new(
            "Two file systems".to_owned(),
            ["ext4", "xfs"]
                .map(|name| (name.to_owned(), String::new()))
                .into(),
        );
        side_by_side.add("File Server", &columns.each_ref().map(Vec::as_slice), &[]);
        side_by_side
            .render(TableFormat::Html, Page::PLAIN)
            .to_string()
    };
    let once = page(vec![run.clone()]);
    assert!(once.contains("class=\"whisker within\""));
    assert!(once.contains("Dashed whiskers: interval from within one run"));
    assert!(once.contains("class=\"forest with-bars\""));
    let repeated = page(vec![run.clone(), faster(&run, 1.01)]);
    assert!(!repeated.contains("class=\"whisker within\"") && !repeated.contains("Dashed"));
}
