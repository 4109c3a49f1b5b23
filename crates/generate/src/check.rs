//! Checks of a plan that both generators of access specifications share.

use plan::{LinePlan, SpanPlan, WorkerPlan};

use crate::{Cursor, GenerateError};

/// Maximum number of lines for which requests and replies can be numbered in 16 bits.
const LINES_MAX: usize = 32_000;

/// Checks lines, spans and cursors. Shares and positions are checked when they are prepared.
pub(crate) fn check_plan<C: Cursor>(plan: &WorkerPlan, cursors: &[C]) -> Result<(), GenerateError> {
    check_lines(plan)?;
    let worker = || plan.name.clone();
    if plan.spans.iter().all(|span| span.iodepth == 0) {
        return Err(GenerateError::NoSlots { worker: worker() });
    }
    if cursors.len() != plan.spans.len() {
        return Err(GenerateError::CursorCount {
            worker: worker(),
            span_count: plan.spans.len(),
            cursor_count: cursors.len(),
        });
    }
    plan.spans
        .iter()
        .zip(cursors)
        .try_for_each(|(span, cursor)| check_span(span, cursor.limit_bytes()))
}

pub(crate) fn check_lines(plan: &WorkerPlan) -> Result<(), GenerateError> {
    let worker = || plan.name.clone();
    let line_count = plan.lines.len();
    if line_count == 0 {
        return Err(GenerateError::NoLines { worker: worker() });
    }
    if line_count > LINES_MAX {
        return Err(GenerateError::TooManyLines {
            worker: worker(),
            line_count,
            limit: LINES_MAX,
        });
    }
    for (line_index, line) in plan.lines.iter().enumerate() {
        check_line(plan, line_index, line)?;
    }
    let percent: f64 = plan.lines.iter().map(|line| line.of_size_percent).sum();
    // Decimal percentages rarely add up exactly in binary.
    if (percent - 100.0).abs() > 1e-6 {
        return Err(GenerateError::Weights {
            access_spec: plan.access_spec.clone(),
            percent,
        });
    }
    Ok(())
}

fn check_line(plan: &WorkerPlan, line_index: usize, line: &LinePlan) -> Result<(), GenerateError> {
    if line.size_bytes == 0 {
        return Err(GenerateError::ZeroSize {
            access_spec: plan.access_spec.clone(),
            line_index,
        });
    }
    let shares = [
        ("the weight of a line", line.of_size_percent),
        ("the share of reads", line.read_percent),
        ("the share of random requests", line.random_percent),
    ];
    for (what, percent) in shares {
        if !(0.0..=100.0).contains(&percent) {
            return Err(GenerateError::Percent { what, percent });
        }
    }
    Ok(())
}

fn check_span(span: &SpanPlan, limit_bytes: u64) -> Result<(), GenerateError> {
    match span.start_bytes.checked_add(span.size_bytes) {
        Some(end_bytes) if end_bytes < limit_bytes => Ok(()),
        _ => Err(GenerateError::SpanOutOfRange {
            start_bytes: span.start_bytes,
            size_bytes: span.size_bytes,
            limit_bytes,
        }),
    }
}
