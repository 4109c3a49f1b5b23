//! A workload of one line means what fio's and Iometer's words mean.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use units::{Bytes, Percent};

use description::one_line::*;
use description::{Overrides, read_toml, to_toml};
use plan::facts::SystemFacts;
use planning::plan;

fn sizes(text: &str) -> Option<BlockSizes> {
    Some(text.parse().unwrap())
}

fn refusal(line: &OneLineOptions) -> String {
    line.workload().unwrap_err().to_string()
}

fn of(pattern: AccessPattern) -> OneLineOptions {
    OneLineOptions {
        pattern: Some(pattern),
        ..OneLineOptions::default()
    }
}

/// Reads and random positions in percent, size and alignment in bytes, of each planned line.
fn planned(line: &OneLineOptions) -> Vec<(f64, f64, u32, u32)> {
    let workload = line.workload().unwrap().unwrap();
    let planned = plan(&[workload], &Overrides::new(), &SystemFacts::default()).unwrap();
    let [cell] = planned.plan.cells.as_slice() else {
        panic!("one cell");
    };
    let lines = cell.workers[0].lines.iter();
    lines
        .map(|it| {
            (
                it.read_percent,
                it.random_percent,
                it.size_bytes,
                it.align_bytes,
            )
        })
        .collect()
}

#[test]
fn each_pattern_has_the_read_and_random_shares_of_fio() {
    let wanted = [
        (AccessPattern::Read, (100.0, 0.0, 4096, 0)),
        (AccessPattern::Write, (0.0, 0.0, 4096, 0)),
        (AccessPattern::ReadWrite, (50.0, 0.0, 4096, 0)),
        (AccessPattern::RandRead, (100.0, 100.0, 4096, 4096)),
        (AccessPattern::RandWrite, (0.0, 100.0, 4096, 4096)),
        (AccessPattern::RandReadWrite, (50.0, 100.0, 4096, 4096)),
    ];
    for (pattern, line) in wanted {
        assert_eq!(planned(&of(pattern)), [line], "{pattern:?}");
    }
}

#[test]
fn a_mix_of_sizes_is_aligned_to_the_smallest() {
    let line = OneLineOptions {
        mix: Some(Percent(70.0)),
        sizes: sizes("64k:40,4k:60"),
        ..of(AccessPattern::RandReadWrite)
    };
    assert_eq!(
        planned(&line),
        [(70.0, 100.0, 65_536, 4096), (70.0, 100.0, 4096, 4096)]
    );
    let workload = line.workload().unwrap().unwrap();
    assert_eq!(
        workload.name.as_deref(),
        Some("randrw 64k:40,4k:60, 70% reads")
    );
}

#[test]
fn iometer_style_options_set_the_shares() {
    let line = OneLineOptions {
        read: Some(Percent(70.0)),
        random: Some(Percent(30.0)),
        sizes: sizes("8k"),
        ..OneLineOptions::default()
    };
    assert_eq!(planned(&line), [(70.0, 30.0, 8192, 8192)]);
    let name = line.workload().unwrap().unwrap().name;
    assert_eq!(name.as_deref(), Some("8k, 70% read, 30% random"));
    let read = OneLineOptions {
        read: Some(Percent(0.0)),
        ..OneLineOptions::default()
    };
    assert_eq!(planned(&read), [(0.0, 0.0, 4096, 0)]);
}

#[test]
fn names_are_short() {
    for (text, name) in [
        ("4k", "randread 4k"),
        ("1m", "randread 1m"),
        ("512", "randread 512"),
        ("1536", "randread 1536"),
        ("2048k", "randread 2m"),
    ] {
        let line = OneLineOptions {
            sizes: sizes(text),
            ..of(AccessPattern::RandRead)
        };
        assert_eq!(
            line.workload().unwrap().unwrap().name.as_deref(),
            Some(name)
        );
    }
}

#[test]
fn a_built_workload_reads_back_from_its_file() {
    let line = OneLineOptions {
        mix: Some(Percent(33.3)),
        sizes: sizes("4k:12.5,64k:87.5"),
        ..of(AccessPattern::ReadWrite)
    };
    let workload = line.workload().unwrap().unwrap();
    assert_eq!(
        read_toml("x.toml", &to_toml(&workload).unwrap()).unwrap(),
        workload
    );
}

#[test]
fn without_options_there_is_no_workload() {
    assert_eq!(OneLineOptions::default().workload(), Ok(None));
}

#[test]
fn contradicting_options_are_refused_with_help() {
    let both = OneLineOptions {
        read: Some(Percent(70.0)),
        ..of(AccessPattern::RandRead)
    };
    assert!(refusal(&both).contains("`--rw randread` and `--read` both set"));
    let no_mix = OneLineOptions {
        mix: Some(Percent(70.0)),
        ..of(AccessPattern::RandRead)
    };
    assert!(refusal(&no_mix).contains("help: use `--rw randrw`"));
    let mix_alone = OneLineOptions {
        mix: Some(Percent(70.0)),
        ..OneLineOptions::default()
    };
    assert!(refusal(&mix_alone).contains("help: add `--rw randrw`"));
    let size_alone = OneLineOptions {
        sizes: sizes("4k"),
        ..OneLineOptions::default()
    };
    assert!(refusal(&size_alone).contains("help: add `--rw randread`"));
    let both_mixes = OneLineOptions {
        mix: Some(Percent(70.0)),
        random: Some(Percent(70.0)),
        ..OneLineOptions::default()
    };
    assert!(refusal(&both_mixes).contains("as `--read`"));
}

#[test]
fn shares_of_sizes_must_add_up_to_one_hundred() {
    let read: BlockSizes = "4k:60,64k:40".parse().unwrap();
    let shares = [(4096, 60.0), (65_536, 40.0)].map(|(size, share)| SizeShare {
        size: Bytes(size),
        share: Percent(share),
    });
    assert_eq!(read.shares(), shares);
    assert_eq!(read.to_string(), "4k:60,64k:40");
    assert_eq!(
        "4k:33.3%,8k:66.7%"
            .parse::<BlockSizes>()
            .unwrap()
            .to_string(),
        "4k:33.3,8k:66.7"
    );
    for (text, wanted) in [
        ("4k:60,64k:30", "the shares add up to 90 %, not 100 %"),
        ("4k,64k", "`4k` has no share"),
        ("4k-64k", "such as `4k:60,64k:40`"),
        ("4k/60:64k/40", "such as `4k:60,64k:40`"),
        ("0", "at least 1 byte"),
        ("", "not a size"),
        ("4k:x", "`x`"),
    ] {
        let error = text.parse::<BlockSizes>().unwrap_err().to_string();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}
