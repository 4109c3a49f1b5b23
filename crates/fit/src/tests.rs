//! Round trips: requests of a known model are fitted, and the model comes back.

use plan::ArrivalKind;
use plan::job::{RecordedKind, RecordedRequest};

use crate::model::{FittedPhase, FittedSpread, FittedZone, MixLine};
use crate::{FitError, FitOptions, FitVerdict, FittedTrace, WhatIf, fit, synthetic, workload_text};

const SIZE: u64 = 1 << 30;

fn line(size_bytes: u32, of_percent: f64, read_percent: f64, random_percent: f64) -> MixLine {
    MixLine {
        size_bytes,
        of_percent,
        read_percent,
        random_percent,
        align_bytes: 512,
    }
}

fn model(lines: Vec<MixLine>) -> FittedPhase {
    FittedPhase {
        request_count: 0,
        replaced_count: 0,
        span_ns: 0,
        rate: 5000.0,
        arrivals: ArrivalKind::Poisson,
        lines,
        streams: 1,
        spread: FittedSpread::Uniform,
        size_bytes: SIZE,
    }
}

fn recorded(phase: &FittedPhase, count: usize) -> Vec<RecordedRequest> {
    let requests = synthetic::requests(phase, count, 7).into_iter();
    requests
        .map(|it| RecordedRequest {
            due_ns: it.time_ns,
            kind: match it.is_read {
                true => RecordedKind::Read,
                false => RecordedKind::Write,
            },
            part_index: 0,
            length_bytes: it.length_bytes,
            offset_bytes: it.offset_bytes,
        })
        .collect()
}

fn fitted(phase: &FittedPhase) -> FittedTrace {
    fit(&recorded(phase, 200_000), SIZE, &FitOptions::default()).unwrap()
}

/// Sum of the shares of a size and kind, and the random share of the size, in percent.
fn share(phase: &FittedPhase, size: u32, is_read: bool) -> (f64, f64) {
    let lines = phase.lines.iter().filter(|line| line.size_bytes == size);
    lines.fold((0.0, 0.0), |(sum, random), line| {
        let kind = match is_read {
            true => line.read_percent,
            false => 100.0 - line.read_percent,
        };
        let share = line.of_percent * kind / 100.0;
        let random = if share > 0.0 {
            line.random_percent
        } else {
            random
        };
        (sum + share, random)
    })
}

/// Lines of Iometer's well-known specifications: size, share, reads, random.
fn specifications() -> [(&'static str, Vec<MixLine>); 4] {
    let file_server = [(512, 10.0), (1024, 5.0), (2048, 5.0), (4096, 60.0)];
    let file_server =
        file_server
            .into_iter()
            .chain([(8192, 2.0), (16384, 4.0), (32768, 4.0), (65536, 10.0)]);
    let web_server = [(512, 22.0), (1024, 15.0), (2048, 8.0), (4096, 23.0)];
    let web_server = web_server
        .into_iter()
        .chain([(8192, 15.0), (16384, 2.0), (32768, 6.0), (65536, 7.0)])
        .chain([(131_072, 1.0), (524_288, 1.0)]);
    [
        ("OLTP", vec![line(8192, 100.0, 67.0, 100.0)]),
        ("Workstation", vec![line(8192, 100.0, 80.0, 80.0)]),
        (
            "File Server",
            file_server
                .map(|(size, of)| line(size, of, 80.0, 100.0))
                .collect(),
        ),
        (
            "Web Server",
            web_server
                .map(|(size, of)| line(size, of, 100.0, 100.0))
                .collect(),
        ),
    ]
}

#[test]
fn known_specifications_come_back() {
    for (name, lines) in specifications() {
        let wanted = model(lines);
        let fitted = fitted(&wanted);
        assert_eq!(fitted.phases.len(), 1, "{name}");
        let found = &fitted.phases[0];
        for line in &wanted.lines {
            for is_read in [true, false] {
                let (found_share, found_random) = share(found, line.size_bytes, is_read);
                let (wanted_share, wanted_random) = share(&wanted, line.size_bytes, is_read);
                let what = format!("{name}, {} B: {found:?}", line.size_bytes);
                assert!((found_share - wanted_share).abs() <= 1.0, "{what}");
                if wanted_share > 0.0 {
                    assert!((found_random - wanted_random).abs() <= 2.0, "{what}");
                }
            }
        }
        assert!((found.rate / wanted.rate - 1.0).abs() < 0.01, "{name}");
        assert_eq!(found.arrivals, ArrivalKind::Poisson, "{name}");
        assert_eq!(found.spread, FittedSpread::Uniform, "{name}");
        assert_eq!(found.streams, 1, "{name}");
        assert_eq!(fitted.verdict().0, FitVerdict::Good, "{name}");
    }
}

#[test]
fn zipf_exponents_come_back() {
    for exponent in [0.9, 1.2] {
        let mut wanted = model(vec![line(4096, 100.0, 50.0, 100.0)]);
        wanted.spread = FittedSpread::Zipf(exponent);
        wanted.lines[0].align_bytes = 4096;
        let found = fitted(&wanted);
        let FittedSpread::Zipf(found) = found.phases[0].spread else {
            panic!("{:?}", found.phases[0].spread);
        };
        assert!((found - exponent).abs() <= 0.05, "{found} for {exponent}");
    }
}

#[test]
fn zones_come_back() {
    let mut wanted = model(vec![line(4096, 100.0, 50.0, 100.0)]);
    let zone = |access_percent, size_percent| FittedZone {
        access_percent,
        size_percent,
    };
    wanted.spread = FittedSpread::Zones(vec![zone(70.0, 12.5), zone(10.0, 50.0), zone(20.0, 37.5)]);
    let fitted = fitted(&wanted);
    let FittedSpread::Zones(found) = &fitted.phases[0].spread else {
        panic!("{:?}", fitted.phases[0].spread);
    };
    let hot: f64 = found
        .iter()
        .scan(0.0, |sum: &mut f64, zone| {
            *sum += zone.size_percent;
            Some((*sum, zone.access_percent))
        })
        .filter_map(|(end, access)| (end <= 12.51).then_some(access))
        .sum();
    assert!((hot - 70.0).abs() < 1.0, "{found:?}");
    assert_eq!(fitted.verdict().0, FitVerdict::Good);
}

#[test]
fn interleaved_streams_are_counted() {
    let mut wanted = model(vec![line(65536, 100.0, 100.0, 2.0)]);
    wanted.streams = 4;
    let fitted = fitted(&wanted);
    let found = &fitted.phases[0];
    assert_eq!(found.streams, 4, "{found:?}");
    assert!((found.random_percent() - 2.0).abs() <= 2.0);
}

#[test]
fn equal_intervals_and_phases_are_found() {
    let mut first = model(vec![line(4096, 100.0, 100.0, 100.0)]);
    first.arrivals = ArrivalKind::Uniform;
    let mut second = model(vec![line(65536, 100.0, 0.0, 10.0)]);
    (second.arrivals, second.rate) = (ArrivalKind::Uniform, 1000.0);
    let mut requests = recorded(&first, 50_000);
    let begin = requests.last().unwrap().due_ns;
    requests.extend(
        recorded(&second, 10_000)
            .into_iter()
            .map(|it| RecordedRequest {
                due_ns: it.due_ns + begin,
                ..it
            }),
    );
    let fitted = fit(&requests, SIZE, &FitOptions::default()).unwrap();
    assert_eq!(fitted.phases.len(), 2, "{:?}", fitted.phases);
    let [a, b] = &fitted.phases[..] else {
        return;
    };
    assert_eq!(a.arrivals, ArrivalKind::Uniform);
    assert!((a.rate / 5000.0 - 1.0).abs() < 0.02 && (b.rate / 1000.0 - 1.0).abs() < 0.02);
    let once = FitOptions {
        phases_max: 1,
        ..FitOptions::default()
    };
    assert_eq!(fit(&requests, SIZE, &once).unwrap().phases.len(), 1);
}

#[test]
fn changes_are_exact_and_keep_the_rest() {
    let phase = model(vec![
        line(4096, 60.0, 90.0, 50.0),
        line(16384, 40.0, 20.0, 5.0),
    ]);
    let mean = phase.mean_bytes();
    let mut scaled = phase.clone();
    WhatIf::Size(1.2).apply(&mut scaled).unwrap();
    assert!((scaled.mean_bytes() / mean / 1.2 - 1.0).abs() < 0.001);
    assert!((scaled.read_percent() - phase.read_percent()).abs() < 1e-6);
    let mut read = phase.clone();
    let change = WhatIf::Read(80.0).apply(&mut read).unwrap();
    assert!((read.read_percent() - 80.0).abs() < 1e-6);
    assert_eq!(
        (change.before.as_str(), change.after.as_str()),
        ("62.00 %", "80.00 %")
    );
    let mut rate = phase.clone();
    WhatIf::Rate(2.0).apply(&mut rate).unwrap();
    WhatIf::Span(4.0).apply(&mut rate).unwrap();
    assert_eq!((rate.rate, rate.size_bytes), (10_000.0, 4 * SIZE));
    let mut only = model(vec![line(4096, 100.0, 100.0, 0.0)]);
    assert_eq!(
        WhatIf::Read(50.0).apply(&mut only),
        Err(FitError::OneKind("reads"))
    );
    assert!(WhatIf::Size(1e9).apply(&mut only).is_err());
    assert!(WhatIf::Rate(0.0).apply(&mut only).is_err());
}

#[test]
fn short_and_hostile_traces_are_refused_or_bounded() {
    let few = recorded(&model(vec![line(4096, 100.0, 50.0, 100.0)]), 99);
    let options = FitOptions::default();
    assert_eq!(
        fit(&few, SIZE, &options).unwrap_err(),
        FitError::TooFew { count: 99 }
    );
    let request = |index: u64| RecordedRequest {
        due_ns: 5,
        kind: RecordedKind::Write,
        part_index: 0,
        length_bytes: (index % 7) as u32 + 1,
        offset_bytes: u64::MAX / 2 - index,
    };
    let same_time: Vec<RecordedRequest> = (0..1000).map(request).collect();
    let fitted = fit(&same_time, u64::MAX / 2 + 8, &options).unwrap();
    assert!(workload_text(&fitted, "a", "b\nc", &[]).contains("to b"));
}

#[test]
fn the_workload_names_its_source_and_its_shares_add_up() {
    let lines = vec![
        line(4096, 100.0 / 3.0, 100.0, 0.0),
        line(8192, 100.0 / 3.0, 100.0, 0.0),
        line(16384, 100.0 / 3.0, 0.0, 0.0),
    ];
    let fitted = FittedTrace {
        phases: vec![model(lines)],
        distances: vec![Vec::new()],
        left_out: 0,
    };
    let text = workload_text(&fitted, "mine", "a.csv", &[]);
    assert!(text.contains("of_size = 33.34") && text.contains("of_size = 33.33"));
    assert!(text.contains("name = \"mine\"") && text.contains("a.csv"));
}
