//! Requests and contents of fio's jobs, counted against their definitions and fio 3.42's own logs.

use std::collections::BTreeSet;

use engine::{Completion, Operation, Request};
use generate::job::JobStream;
use generate::{Content, ContentSource, Generator, Step};
use plan::job::{JobPlan, UnplannedJob};

use crate::{CommandLine, find};

/// The only job of a command line.
fn built(line: &str) -> UnplannedJob {
    let words = format!("--name=j --ioengine=psync {line}");
    let words: Vec<String> = words.split_ascii_whitespace().map(str::to_owned).collect();
    let front = find("fio").expect("fio is a front");
    let work = (front.arguments)(&CommandLine::of(&words));
    let mut work = work.unwrap_or_else(|error| panic!("{error:?}\n{line}"));
    let mut jobs = work.cells.remove(0).jobs.expect("jobs");
    jobs.jobs.remove(0)
}

fn requests(plan: &JobPlan) -> Vec<Request> {
    let mut stream = JobStream::new(plan, 7).expect("a stream");
    let mut requests = Vec::new();
    loop {
        let request = match stream.next(0, 1) {
            Step::Issue(request) => request,
            Step::Again => continue,
            _ => return requests,
        };
        requests.push(request);
        let result = request.length_bytes as i32;
        stream.complete(Completion { slot: 0, result }, 1);
    }
}

/// Blocks of the requests of one operation, in order.
fn blocks(line: &str, operation: Operation, block_bytes: u64) -> Vec<u64> {
    let requests = requests(&built(line).plan);
    let own = requests.iter().filter(|it| it.operation == operation);
    own.map(|it| it.offset_bytes / block_bytes).collect()
}

/// Share of the requests that go to the `hottest_count` most visited blocks.
fn hottest_share(blocks: &[u64], block_count: usize, hottest_count: usize) -> f64 {
    let mut counts = vec![0_u32; block_count];
    blocks.iter().for_each(|block| counts[*block as usize] += 1);
    counts.sort_unstable_by(|a, b| b.cmp(a));
    f64::from(counts[..hottest_count].iter().sum::<u32>()) / blocks.len() as f64
}

fn share(blocks: &[u64], is_inside: impl Fn(u64) -> bool) -> f64 {
    blocks.iter().filter(|block| is_inside(**block)).count() as f64 / blocks.len() as f64
}

#[test]
fn pareto_follows_the_distribution_of_gray_as_in_fio() {
    let line = "--rw=randread --bs=4k --size=64m --io_size=1600m --norandommap \
                --random_distribution=pareto:0.2";
    let visited = blocks(line, Operation::Read, 4096);
    for (count, wanted) in [(1, 0.2605), (164, 0.5282), (1638, 0.7268), (3277, 0.8000)] {
        let share = hottest_share(&visited, 16_384, count);
        assert!((share - wanted).abs() < 0.012, "{count}: {share}");
    }
}

#[test]
fn zipf_follows_its_distribution() {
    let line = "--rw=randread --bs=4k --size=4m --io_size=800m --random_distribution=zipf:1.2";
    let visited = blocks(line, Operation::Read, 4096);
    let sum = |count: u32| {
        (1..=count)
            .map(|rank| f64::from(rank).powf(-1.2))
            .sum::<f64>()
    };
    for count in [1, 10, 100, 500] {
        let share = hottest_share(&visited, 1024, count as usize);
        assert!(
            (share - sum(count) / sum(1024)).abs() < 0.01,
            "{count}: {share}"
        );
    }
}

#[test]
fn normal_is_as_wide_as_in_fio() {
    // The mean of 12 uniform draws, and a uniform one as wide as the number.
    for (width, deviation) in [("", 0.083_33), (":10", 0.088_19), (":50", 0.166_67)] {
        let line = format!(
            "--rw=randread --bs=4k --size=40m --io_size=800m --random_distribution=normal{width}"
        );
        let visited = blocks(&line, Operation::Read, 4096);
        for (reach, wanted) in [(1.0, 0.6827), (2.0, 0.9545)] {
            let middle = 10_240.0 / 2.0;
            let inside =
                |block: u64| (block as f64 + 0.5 - middle).abs() < reach * deviation * 10_240.0;
            let share = share(&visited, inside);
            assert!((share - wanted).abs() < 0.012, "{width} {reach}: {share}");
        }
    }
}

#[test]
fn zones_of_each_direction_get_their_shares() {
    for (law, zone_sizes) in [
        ("zoned:50/5:50/95,20/10:80/90", [0.05, 0.10]),
        ("zoned_abs:50/2m:50/38m,20/4m:80/36m", [0.05, 0.10]),
    ] {
        let line =
            format!("--rw=randrw --bs=4k --size=40m --io_size=1600m --random_distribution={law}");
        for (operation, size, wanted) in [
            (Operation::Read, zone_sizes[0], 0.5),
            (Operation::Write, zone_sizes[1], 0.2),
        ] {
            let visited = blocks(&line, operation, 4096);
            let end = (10_240.0 * size) as u64;
            let share = share(&visited, |block| block < end);
            assert!(
                (share - wanted).abs() < 0.01,
                "{law} {operation:?}: {share}"
            );
        }
    }
}

#[test]
fn no_request_goes_to_space_outside_of_the_zones() {
    let hundred = vec!["1/1"; 100].join(":");
    for (law, end, block_count) in [
        ("60/10:40/40".to_owned(), 0.5, 5000),
        // Three equal shares of the rest are rounded down.
        ("50:30:20".to_owned(), 0.99, 10_000),
        (hundred, 1.0, 10_000),
    ] {
        let line = "--rw=randread --bs=4k --size=40m --io_size=400m --random_distribution=zoned";
        let visited = blocks(&format!("{line}:{law}"), Operation::Read, 4096);
        let most = visited.iter().max().copied().unwrap();
        assert!(most <= (10_240.0 * end) as u64, "{law}: {most}");
        let distinct: BTreeSet<u64> = visited.into_iter().collect();
        assert!(
            distinct.len() * 10 > block_count * 9,
            "{law}: {}",
            distinct.len()
        );
    }
    for law in ["60/60:40/50", "60/50:30/50"] {
        let line = format!("--name=j --rw=randread --size=1m --random_distribution=zoned:{law}");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let front = find("fio").expect("fio is a front");
        assert!(
            (front.arguments)(&CommandLine::of(&words)).is_err(),
            "{law}"
        );
    }
}

#[test]
fn strided_zones_are_visited_as_in_fio() {
    let zones = "--zonemode=strided --zonesize=2m --zonerange=1m";
    for (way, operation) in [("read", Operation::Read), ("write", Operation::Write)] {
        let line = format!("--rw={way} --bs=64k --filesize=8m --io_size=6m {zones}");
        let wanted: Vec<u64> = (0..3)
            .flat_map(|zone| [zone, zone])
            .flat_map(|zone| 16 * zone..16 * zone + 16)
            .collect();
        assert_eq!(blocks(&line, operation, 65_536), wanted, "{way}");
        let line = format!("--rw=rand{way} --bs=64k --filesize=8m --io_size=6m {zones}");
        let mut random = blocks(&line, operation, 65_536);
        assert_ne!(random, wanted);
        random.chunks_mut(16).for_each(<[u64]>::sort_unstable);
        assert_eq!(random, wanted, "rand{way}");
    }
    // A range without a mode has no effect, a size is refused.
    let line = "--rw=read --bs=4k --size=16k --zonerange=8k";
    assert_eq!(blocks(line, Operation::Read, 4096), [0, 1, 2, 3]);
}

#[test]
fn duplicates_copy_written_requests() {
    for (percent, count, wanted) in [(99, 256, 3.5), (80, 64, 13.6), (50, 256, 128.5)] {
        let job = built(&format!(
            "--rw=write --bs=64k --size={}k --dedupe_percentage={percent}",
            64 * count
        ));
        let mut content = ContentSource::new(&job.content)
            .expect("a content")
            .plain(1);
        let mut distinct = BTreeSet::new();
        for request in requests(&job.plan) {
            let mut buffer = vec![0; request.length_bytes as usize];
            content.fill(&mut buffer, &request);
            distinct.insert(buffer);
        }
        let new = 1.0 - f64::from(percent) / 100.0;
        let deviation = (f64::from(count) * new * (1.0 - new)).sqrt();
        let difference = (distinct.len() as f64 - wanted).abs();
        assert!(
            difference < 5.0 * deviation,
            "{percent} %: {}",
            distinct.len()
        );
    }
}

/// Offsets of all requests, in KiB.
fn places(line: &str) -> Vec<u64> {
    let requests = requests(&built(&format!("--bs=4k {line}")).plan);
    requests.iter().map(|it| it.offset_bytes / 1024).collect()
}

#[test]
fn a_file_ends_at_filesize_for_any_offset() {
    let expected: Vec<u64> = (4..16).map(|block| 4 * block).collect();
    for line in [
        "--rw=write --filesize=64k --offset=16k",
        "--rw=write --filesize=64k --offset=16k --size=64k",
        "--rw=write --filesize=64k --offset=25% --size=64k",
        "--rw=write --filesize=64k --offset=0 --offset_increment=16k --numjobs=1 --offset=16k",
    ] {
        assert_eq!(places(line), expected, "{line}");
        let mut random = places(&line.replace("=write", "=randwrite"));
        assert_ne!(random, expected, "{line}");
        random.sort_unstable();
        assert_eq!(random, expected, "{line}");
    }
    assert_eq!(
        places("--rw=write --filesize=64k --offset=16k --size=32k"),
        expected[..8]
    );
    // Without a size of the file, it is as long as the work needs.
    assert_eq!(places("--rw=write --size=64k --offset=16k").len(), 16);
    for (line, wanted) in [
        ("--filesize=64k --offset=64k", "at or past the end"),
        ("--filesize=64k --size=3000", "smaller than a block"),
    ] {
        let line = format!("--name=j --rw=write --bs=4k {line}");
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let front = find("fio").expect("fio is a front");
        let refused = (front.arguments)(&CommandLine::of(&words)).expect_err(wanted);
        let refused = format!("{refused:?}");
        assert!(refused.contains(wanted), "{refused}");
    }
}

#[test]
fn files_of_random_sizes_are_used_up_to_the_size() {
    let files = "--rw=write --filesize=4k-16k --nrfiles=6";
    assert_eq!(places(&format!("{files} --size=40k")).len(), 10);
    let all = places(files).len();
    assert!((6..=24).contains(&all), "{all}");
    assert_eq!(places(&format!("{files} --size=1m")).len(), all);
}

#[test]
fn a_pass_begins_only_if_io_size_has_a_block_left() {
    // As fio 3.42 counts them.
    for (size, block, moved, wanted) in [
        (64, 64, 100, 1),
        (64, 48, 100, 2),
        (64, 4, 66, 16),
        (64, 4, 67, 16),
        (64, 4, 68, 17),
        (64, 4, 70, 18),
        (62, 4, 70, 18),
        (64, 16, 100, 7),
        (128, 64, 100, 2),
        (64, 4, 10, 3),
    ] {
        let line = format!("--rw=read --size={size}k --bs={block}k --io_size={moved}k");
        assert_eq!(places(&line).len(), wanted, "{line}");
    }
}

#[test]
fn a_loop_that_ends_within_the_files_continues_there() {
    let block = |number: u64| 4 * number;
    for line in ["--io_size=20k", "--number_ios=5"] {
        let line = format!("--rw=read --size=64k {line} --loops=5");
        let wanted: Vec<u64> = (0..16).chain(0..9).map(block).collect();
        assert_eq!(places(&line), wanted, "{line}");
    }
    let offsets = places("--rw=read --size=64k --io_size=64k --loops=2");
    assert_eq!(offsets, (0..16).chain(0..16).map(block).collect::<Vec<_>>());
    // Half blocks at the end of a loop do not add up.
    assert_eq!(
        places("--rw=read --size=64k --io_size=62k --loops=3").len(),
        47
    );
}

#[test]
fn steps_over_holes_end_as_in_fio() {
    // As fio 3.42 logs them.
    let cases: [(&str, &[u64]); 11] = [
        (
            "write:4k --size=64k --offset=4k",
            &[4, 12, 20, 28, 36, 44, 52, 60],
        ),
        (
            "write:4k --size=48k --filesize=64k --offset=16k",
            &[16, 24, 32, 40, 48, 56],
        ),
        ("write:12k --size=64k --offset=4k", &[4, 20, 36, 52]),
        (
            "write:12k --size=48k --filesize=64k --offset=4k",
            &[4, 20, 36, 52, 8, 24, 40, 56, 8, 24, 40, 56],
        ),
        ("write:24k --size=64k --offset=8k", &[8, 36, 64, 16, 44]),
        (
            "write:24k --size=48k --filesize=64k --offset=20k",
            &[20, 48],
        ),
        (
            "write:4k --size=24k --offset=4k --filesize=28k --io_size=20k",
            &[4, 12, 20, 4, 12],
        ),
        (
            "write:8k --size=20k --zonesize=16k --zonerange=64k",
            &[0, 12, 0, 12, 0],
        ),
        (
            "read:8k --size=128k --zonesize=16k --zonerange=32k --zoneskip=16k",
            &[0, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120],
        ),
        (
            "read:12k --size=128k --zonesize=16k --zonerange=32k",
            &[0, 16, 32, 0, 32, 48, 64, 32, 64, 80, 96, 64, 96, 112],
        ),
        (
            "read:12k --size=128k --zonesize=16k --zonerange=24k --zoneskip=8k",
            &[0, 16, 32, 0, 32, 48, 64, 32, 64, 80, 96, 64, 96, 112],
        ),
    ];
    for (line, wanted) in cases {
        let mode = if line.contains("zone") {
            " --zonemode=strided"
        } else {
            ""
        };
        let line = format!("--rw={line}{mode}");
        assert_eq!(places(&line), wanted, "{line}");
    }
}

#[test]
fn with_one_open_file_each_is_finished_before_the_next_is_opened() {
    let plan = built("--rw=write --bs=4k --size=48k --nrfiles=3 --openfiles=1").plan;
    let visited: Vec<(u32, u64)> = requests(&plan)
        .iter()
        .map(|it| (it.file_index, it.offset_bytes / 4096))
        .collect();
    let wanted: Vec<(u32, u64)> = (0..3)
        .flat_map(|file| (0..4).map(move |block| (file, block)))
        .collect();
    assert_eq!(visited, wanted);
}
