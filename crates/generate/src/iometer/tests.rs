//! The generator against a second telling of the algorithm, straight from its description.

use proptest::prelude::*;

use super::*;
use crate::OwnCursor;
use crate::sample::{GIB, line, one, plan, span};

/// One worker's loop: a function that issues everything, with plain division and no preparation.
struct Telling {
    plan: WorkerPlan,
    worker: u64,
    /// Of each target: generator, offset, bytes transferred.
    targets: Vec<(u64, u64, u64)>,
    current: usize,
    remaining_in_burst: i64,
    now_ns: u64,
    /// Of each slot: what remains of a transaction that is under way.
    replies: Vec<Option<(bool, u32)>>,
}

fn rand(state: &mut u64, limit: u64) -> u64 {
    let product = u128::from(*state) * 136_204_069 + 28_500_701_229;
    *state = (product % (1 << 64)) as u64;
    *state % limit
}

impl Telling {
    fn new(plan: &WorkerPlan, slot_count: usize) -> Self {
        let targets = plan
            .spans
            .iter()
            .map(|span| (plan.seed, span.start_bytes, 0));
        Self {
            worker: plan.seed,
            targets: targets.collect(),
            current: 0,
            remaining_in_burst: 0,
            now_ns: 0,
            replies: vec![None; slot_count],
            plan: plan.clone(),
        }
    }

    fn draw_line(&mut self) {
        let percent = rand(&mut self.worker, 100);
        let mut sum = 0;
        for (index, line) in self.plan.lines.iter().enumerate() {
            sum += line.of_size_percent as u64;
            if percent < sum {
                self.current = index;
                break;
            }
        }
        self.remaining_in_burst = i64::from(self.plan.lines[self.current].burst);
        self.now_ns += self.plan.lines[self.current].delay_ns;
    }

    /// Reads?, offset, length.
    fn issue(&mut self, slot: usize, target: usize) -> (bool, u64, u32) {
        let (reads, length_bytes) = match self.replies[slot].take() {
            Some(reply) => reply,
            None => {
                self.remaining_in_burst -= 1;
                if self.remaining_in_burst <= 0 {
                    self.draw_line();
                }
                let line = &self.plan.lines[self.current];
                let dice = rand(&mut self.targets[target].0, 100);
                let reads = dice < line.read_percent as u64;
                if line.reply_bytes != 0 {
                    self.replies[slot] = Some((!reads, line.reply_bytes));
                }
                (reads, line.size_bytes)
            }
        };
        (reads, self.seek(target, length_bytes), length_bytes)
    }

    fn seek(&mut self, target: usize, length_bytes: u32) -> u64 {
        let line = &self.plan.lines[self.current];
        let span = self.plan.spans[target];
        let (state, offset, transferred) = &mut self.targets[target];
        let (start, end) = (span.start_bytes, span.start_bytes + span.size_bytes);
        if rand(state, 100) < line.random_percent as u64 {
            *offset = start + rand(state, span.size_bytes);
        } else {
            *offset += *transferred;
        }
        let sector = u64::from(span.sector_bytes);
        let align = if line.align_bytes == 0 {
            sector
        } else {
            u64::from(line.align_bytes)
        };
        while *offset % align != 0 {
            *offset += align - *offset % align;
        }
        if *offset + u64::from(line.size_bytes) > end {
            let unit = if align.is_power_of_two() {
                sector
            } else {
                align
            };
            *offset = start.div_ceil(unit) * unit;
        }
        *transferred = u64::from(length_bytes);
        *offset
    }
}

fn any_lines() -> impl Strategy<Value = Vec<LinePlan>> {
    let fields = (
        prop_oneof![1_u32..70_000, Just(4096), Just(512)],
        prop_oneof![Just(0_u8), Just(100), 0_u8..=100],
        prop_oneof![Just(0_u8), Just(100), 0_u8..=100],
        prop_oneof![Just(0_u64), 1_u64..5_000_000],
        0_u32..5,
        prop_oneof![Just(0_u32), Just(4096), 1_u32..9000],
        prop_oneof![Just(0_u32), 1_u32..70_000],
    );
    proptest::collection::vec(fields, 1..6).prop_map(|lines| {
        let count = lines.len();
        let lines = lines.into_iter().enumerate().map(|(index, fields)| {
            let (size_bytes, reads, random, delay_ns, burst, align_bytes, reply_bytes) = fields;
            let share = if index == 0 {
                100 - 17 * (count - 1)
            } else {
                17
            };
            LinePlan {
                read_percent: reads.into(),
                random_percent: random.into(),
                delay_ns,
                burst,
                align_bytes,
                reply_bytes,
                ..line(size_bytes, share as f64)
            }
        });
        lines.collect()
    })
}

proptest! {
    #[test]
    fn the_stream_matches_the_described_algorithm_request_by_request(
        lines in any_lines(),
        spans in proptest::collection::vec((0_u64..1 << 40, 200_000_u64..1 << 41, 1_u32..5), 1..4),
        sector_shift in 9_u32..13,
        seed: u64,
        picks in proptest::collection::vec(any::<u32>(), 300),
    ) {
        let spans = spans.into_iter().map(|(start_bytes, size_bytes, iodepth)| SpanPlan {
            sector_bytes: 1 << sector_shift,
            ..span(start_bytes, size_bytes, iodepth)
        });
        let mut plan = plan(lines, spans.collect());
        plan.seed = seed;
        let targets = crate::slot_spans(&plan.spans);
        let mut generator = Iometer::new(&plan, OwnCursor::one_per_span(&plan)).unwrap();
        let mut model = Telling::new(&plan, targets.len());
        for pick in picks {
            let slot = pick as usize % targets.len();
            let target = targets[slot];
            let mut step = generator.next(slot as u32, model.now_ns);
            let before_ns = model.now_ns;
            let (reads, offset_bytes, length_bytes) = model.issue(slot, target as usize);
            if model.now_ns > before_ns {
                prop_assert_eq!(step, Step::Wait { until_ns: model.now_ns });
                step = generator.next(slot as u32, model.now_ns);
            }
            let operation = if reads { Operation::Read } else { Operation::Write };
            prop_assert_eq!(step, Step::Issue(Request {
                operation,
                fileset: 0,
                handle: 0,
                slot: slot as u32,
                file_index: target,
                length_bytes,
                offset_bytes,
            }));
            let done = Completion { slot: slot as u32, result: length_bytes as i32 };
            let flow = generator.complete(done, model.now_ns);
            prop_assert_eq!(flow == Flow::Continues, model.replies[slot].is_some());
        }
    }
}

fn iometer(plan: &WorkerPlan) -> Iometer<OwnCursor> {
    Iometer::new(plan, OwnCursor::one_per_span(plan)).unwrap()
}

fn offsets(plan: &WorkerPlan, count: u32) -> Vec<u64> {
    let mut generator = iometer(plan);
    (0..count)
        .map(|_| one(&mut generator, 0).0.offset_bytes)
        .collect()
}

fn sequential(size_bytes: u32, align_bytes: u32) -> LinePlan {
    LinePlan {
        random_percent: 0.0,
        align_bytes,
        ..line(size_bytes, 100.0)
    }
}

#[test]
fn positions_worked_out_by_hand_for_seed_zero() {
    // State after each step, modulo 2^64, from 0: the increment, then product plus increment.
    let first = 28_500_701_229_u64;
    let second = first.wrapping_mul(136_204_069).wrapping_add(28_500_701_229);
    let third = second
        .wrapping_mul(136_204_069)
        .wrapping_add(28_500_701_229);
    let mut all_random = plan(vec![line(512, 100.0)], vec![span(0, 1 << 20, 1)]);
    all_random.seed = 0;
    all_random.lines[0].read_percent = 30.0;
    let (request, _) = one(&mut iometer(&all_random), 0);
    assert_eq!(first % 100, 29);
    assert_eq!(request.operation, Operation::Read);
    assert_eq!(
        request.offset_bytes,
        (third % (1 << 20)).div_ceil(512) * 512
    );
}

#[test]
fn a_sequence_starts_at_the_span_and_wraps_to_it() {
    let plan = plan(vec![sequential(4096, 0)], vec![span(8192, 3 * 4096, 1)]);
    assert_eq!(offsets(&plan, 4), [8192, 12_288, 16_384, 8192]);
}

#[test]
fn sizes_that_are_not_multiples_of_the_alignment_leave_holes() {
    let plan = plan(vec![sequential(3072, 2048)], vec![span(0, GIB, 1)]);
    assert_eq!(offsets(&plan, 3), [0, 4096, 8192]);
}

#[test]
fn a_wrap_rounds_to_the_sector_where_the_alignment_is_a_power_of_two() {
    let power = plan(vec![sequential(4096, 4096)], vec![span(512, 3 * 4096, 1)]);
    assert_eq!(offsets(&power, 4), [4096, 8192, 512, 8192]);
    let other = plan(vec![sequential(3000, 3000)], vec![span(512, 12_000, 1)]);
    assert_eq!(offsets(&other, 4), [3000, 6000, 9000, 3000]);
}

#[test]
fn random_requests_favor_the_start_of_the_span_as_in_iometer() {
    let plan = plan(vec![line(65_536, 100.0)], vec![span(0, 1 << 20, 1)]);
    let drawn = offsets(&plan, 20_000);
    let at_start = drawn.iter().filter(|offset| **offset == 0).count();
    // One position in 16 would pass the end; each other multiple of 512 has one in 2048.
    assert!((1050..1450).contains(&at_start), "{at_start}");
}

#[test]
fn shares_that_are_not_whole_percentages_are_refused() {
    let good = plan(
        vec![line(512, 50.0), line(1024, 50.0)],
        vec![span(0, GIB, 1)],
    );
    let changes: [fn(&mut WorkerPlan); 3] = [
        |plan| (plan.lines[0].of_size_percent, plan.lines[1].of_size_percent) = (49.5, 50.5),
        |plan| plan.lines[0].read_percent = 66.6,
        |plan| plan.lines[1].random_percent = 0.1,
    ];
    for change in changes {
        let mut plan = good.clone();
        change(&mut plan);
        let error = Iometer::new(&plan, OwnCursor::one_per_span(&plan)).unwrap_err();
        assert!(
            matches!(error, GenerateError::FractionalPercent { .. }),
            "{error}"
        );
    }
}

#[test]
fn requests_longer_than_the_span_are_refused() {
    let plan = plan(vec![line(4096, 100.0)], vec![span(0, 4095, 1)]);
    let error = Iometer::new(&plan, OwnCursor::one_per_span(&plan)).unwrap_err();
    assert!(matches!(error, GenerateError::DoesNotFit { .. }), "{error}");
}
