//! Prints the cost per request of generators and contents.
//!
//! `cargo run --release -p generate --example generate_speed`

use std::hint::black_box;
use std::time::Instant;

use engine::{Completion, Operation, Request};
use generate::{
    Content, ContentSource, FileStamp, Generator, Iometer, OwnCursor, SharedCursor, Step, Transfer,
};
use plan::{
    ContentPlan, CursorKind, Distribution, LinePlan, PositionRule, Sequence, SpanPlan, WorkerPlan,
};

const REQUEST_COUNT: u32 = 1_000_000;
const SLOT_COUNT: u32 = 32;
const TRIAL_COUNT: u32 = 60;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let uniform = plan(vec![line(4096, 100.0)]);
    transfer("uniform, one line", &uniform)?;
    transfer("file server", &file_server())?;
    let mut sequential = plan(vec![line(4096, 100.0)]);
    sequential.lines[0].random_percent = 0.0;
    transfer("sequential", &sequential)?;
    for distribution in [
        Distribution::Zipf { theta: 1.1 },
        Distribution::Pareto { h: 0.8 },
        Distribution::Normal {
            deviation_percent: 10.0,
        },
        Distribution::NoRepeat,
    ] {
        let mut plan = uniform.clone();
        plan.lines[0].distribution = distribution.clone();
        transfer(&format!("{distribution:?}"), &plan)?;
    }
    let shared = vec![SharedCursor::current_sector_address(1, 8)];
    measure(
        "shared cursor, file server",
        Transfer::new(&file_server(), shared)?,
    );
    let own = OwnCursor::one_per_span(&uniform);
    measure("iometer, file server", Iometer::new(&file_server(), own)?);
    contents()?;
    Ok(())
}

fn transfer(name: &str, plan: &WorkerPlan) -> Result<(), Box<dyn std::error::Error>> {
    measure(name, Transfer::new(plan, OwnCursor::one_per_span(plan))?);
    Ok(())
}

fn measure(name: &str, mut generator: impl Generator) {
    let best = (0..TRIAL_COUNT)
        .map(|_| {
            let begin = Instant::now();
            for number in 0..REQUEST_COUNT {
                let slot = number % SLOT_COUNT;
                if let Step::Issue(request) = black_box(&mut generator).next(slot, 1) {
                    // Field by field: copying the whole value would wait for the stores of its
                    // parts.
                    black_box(request.operation);
                    black_box(request.file_index);
                    black_box(request.length_bytes);
                    black_box(request.offset_bytes);
                }
                black_box(generator.complete(Completion { slot, result: 512 }, 2));
            }
            begin.elapsed().as_secs_f64() * 1e9 / f64::from(REQUEST_COUNT)
        })
        .fold(f64::INFINITY, f64::min);
    println!("{name:45} {best:8.2} ns per request");
}

fn contents() -> Result<(), Box<dyn std::error::Error>> {
    let reducible = ContentPlan::Reducible {
        compress_percent: 50.0,
        dedupe_percent: 50.0,
    };
    let kinds = [
        ContentPlan::Incompressible,
        ContentPlan::Repeating,
        ContentPlan::PseudoRandom,
        ContentPlan::FullRandom,
        reducible,
    ];
    for kind in kinds {
        let mut content = ContentSource::new(&kind)?.plain(1);
        let mut buffer = vec![0; 4096];
        content.prepare_buffer(&mut buffer);
        fill(&format!("4 KiB of {kind:?}"), content, &mut buffer);
    }
    let source = ContentSource::new(&ContentPlan::Incompressible)?;
    let verified = source.verified(1, 0, vec![1], 4096)?;
    fill("4 KiB, verified", verified, &mut [0; 4096]);
    fill(
        "4 KiB of a file, stamped",
        FileStamp::new(7),
        &mut [0; 4096],
    );
    check("4 KiB of a file, checked", FileStamp::new(7));
    let mut buffer = vec![0; 1 << 20];
    let begin = Instant::now();
    for step in 0..1000 {
        source.prefill(1, None, step << 20, black_box(&mut buffer));
    }
    let rate = 1000.0 / 1024.0 / begin.elapsed().as_secs_f64();
    println!("{:45} {rate:8.2} GiB/s", "preparation");
    Ok(())
}

fn check(name: &str, mut content: impl Content) {
    let mut buffer = vec![0; 4096];
    content.fill(&mut buffer, &WRITE);
    let count = 1_000_000;
    let begin = Instant::now();
    for _ in 0..count {
        let is_right = content.check(black_box(&buffer), &WRITE).is_ok();
        assert!(is_right, "what was filled in is what is checked");
    }
    let cost = begin.elapsed().as_secs_f64() * 1e9 / f64::from(count);
    println!("{name:45} {cost:8.2} ns");
}

const WRITE: Request = Request {
    operation: Operation::Write,
    fileset: 0,
    handle: 0,
    slot: 0,
    file_index: 0,
    length_bytes: 4096,
    offset_bytes: 0,
};

fn fill(name: &str, mut content: impl Content, buffer: &mut [u8]) {
    let count = 1_000_000;
    let begin = Instant::now();
    for _ in 0..count {
        content.fill(black_box(&mut *buffer), &WRITE);
    }
    let cost = begin.elapsed().as_secs_f64() * 1e9 / f64::from(count);
    println!("{name:45} {cost:8.2} ns");
}

fn file_server() -> WorkerPlan {
    let sizes = [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536];
    let shares = [10.0, 5.0, 5.0, 60.0, 2.0, 4.0, 4.0, 10.0];
    let lines = sizes.into_iter().zip(shares);
    plan(
        lines
            .map(|(size_bytes, share)| LinePlan {
                read_percent: 80.0,
                ..line(size_bytes, share)
            })
            .collect(),
    )
}

fn line(size_bytes: u32, of_size_percent: f64) -> LinePlan {
    LinePlan {
        size_bytes,
        of_size_percent,
        read_percent: 100.0,
        random_percent: 100.0,
        delay_ns: 0,
        burst: 1,
        align_bytes: 0,
        reply_bytes: 0,
        distribution: Distribution::Uniform,
        sequence: Sequence::Forward,
    }
}

fn plan(lines: Vec<LinePlan>) -> WorkerPlan {
    WorkerPlan {
        worker_index: 0,
        rank: 0,
        name: "worker".into(),
        access_spec: "spec".into(),
        lines,
        spans: vec![SpanPlan {
            target_index: 0,
            iodepth: SLOT_COUNT,
            start_bytes: 0,
            size_bytes: 1 << 32,
            sector_bytes: 512,
        }],
        seed: 1,
        position: PositionRule::Uniform,
        cursor: CursorKind::Worker,
        content: ContentPlan::Incompressible,
        verify: false,
        transactions_per_connection: None,
        network: false,
        cpu: None,
        job: None,
    }
}
