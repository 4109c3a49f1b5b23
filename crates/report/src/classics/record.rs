//! What the classic programs themselves would have printed of a record's cells.

use results::{CellRecord, Phase, RunRecord};
use serde_json::Value;
use units::format;
use workload::classics::create_remove::{Act, Between, Step};
use workload::classics::lat_fs::{Best, Sample};
use workload::plan::{Cell, FilePlan, PostmarkPlan};

use super::create_remove::{StepFigures, Times};
use super::{create_remove, lat_fs};
use crate::postmark;

/// Figures that a report shows elsewhere.
const ELSEWHERE: [&str; 6] = [
    "between_next",
    "files_asked",
    "is_create",
    "step",
    "size_bytes",
    "real_ns",
];

/// The texts of all cells that repeat a classic program, in their order; none where there is no
/// such cell, or its program's text has figures that were not measured.
#[must_use]
pub fn text(record: &RunRecord) -> Option<String> {
    let mut texts = Vec::new();
    for cell in &record.plan.cells {
        let phases: Vec<&CellRecord> = record
            .cells
            .iter()
            .filter(|done| done.index == cell.index)
            .collect();
        texts.extend(of_cell(cell, &phases));
    }
    (!texts.is_empty()).then(|| texts.join("\n"))
}

fn of_cell(cell: &Cell, phases: &[&CellRecord]) -> Option<String> {
    match cell.files.as_ref()? {
        FilePlan::Postmark(plan) => of_postmark(plan, phases),
        FilePlan::CreateRemove(_) => of_create_remove(phases),
        FilePlan::LatFs(_) => of_lat_fs(phases),
        FilePlan::FsMark(_) | FilePlan::Program(_) => None,
    }
}

/// A whole number of a phase's own figures.
fn whole(cell: &CellRecord, name: &str) -> Option<u64> {
    cell.classic.as_ref()?.get(name)?.as_u64()
}

fn of_postmark(plan: &PostmarkPlan, phases: &[&CellRecord]) -> Option<String> {
    let cell = phases.iter().find(|cell| cell.classic.is_some())?;
    let count = |name: &str| whole(cell, name);
    let float = |name: &str| {
        let mebibytes = cell.classic.as_ref()?.get(name)?.as_f64()?;
        // It was a sum of 32 bits before it was divided by a power of two.
        Some((mebibytes * 1_048_576.0) as f32)
    };
    let figures = postmark::Figures {
        transactions_count: count("transactions")?,
        number: count("created_alone")?,
        created_count: count("created")?,
        read_count: count("read")?,
        appended_count: count("appended")?,
        deleted_count: count("deleted")?,
        deleted_after_count: count("deleted_alone")?,
        read_bytes: float("read_mib_float32")?,
        written_bytes: float("written_mib_float32")?,
        read_bytes_exact: count("read_bytes")?,
        written_bytes_exact: count("written_bytes")?,
    };
    let micros = |name: &str| i64::try_from(count(name)? / 1000).ok();
    let transactions_start_us = micros("creation_ns")?;
    let transactions_end_us = transactions_start_us.saturating_add(micros("transactions_ns")?);
    let times = postmark::Times {
        start_us: 0,
        transactions_start_us,
        transactions_end_us,
        end_us: transactions_end_us.saturating_add(micros("deletion_ns")?),
    };
    let settings = &plan.settings;
    Some(postmark::report(
        settings.report,
        settings.compat,
        &figures,
        &times,
    ))
}

fn of_create_remove(phases: &[&CellRecord]) -> Option<String> {
    let steps: Option<Vec<StepFigures>> = phases.iter().map(|cell| step(cell)).collect();
    steps.map(|steps| create_remove::page(&steps))
}

fn step(cell: &CellRecord) -> Option<StepFigures> {
    let classic = cell.classic.as_ref()?;
    let then: Between = serde_json::from_value(classic.get("between_next")?.clone()).ok()?;
    // Records of earlier versions say only whether it creates.
    let act = match (classic.get("step"), classic.get("is_create")?.as_bool()?) {
        (Some(act), _) => serde_json::from_value(act.clone()).ok()?,
        (None, true) => Act::Create,
        (None, false) => Act::Remove,
    };
    Some(StepFigures {
        step: Step {
            act,
            size_bytes: whole(cell, "size_bytes")?,
            then,
        },
        file_count: cell.total.count,
        failed_count: whole(cell, "files_asked")?.saturating_sub(cell.total.count),
        times: Times {
            real_ns: cell.run_time_ns,
            user_ns: cell.cpu.user_ns,
            system_ns: cell.cpu.system_ns,
        },
        baseline: classic.get("baseline").and_then(baseline),
    })
}

fn baseline(value: &Value) -> Option<Times> {
    let time = |name: &str| value.get(name)?.as_u64();
    Some(Times {
        real_ns: time("real_ns")?,
        user_ns: time("user_ns")?,
        system_ns: time("system_ns")?,
    })
}

fn of_lat_fs(phases: &[&CellRecord]) -> Option<String> {
    let mut lines = String::new();
    for pair in phases.chunks(2) {
        // A size that was not measured to its end has no row.
        let [create, remove] = pair else { continue };
        if create.classic.is_none() || remove.classic.is_none() {
            continue;
        }
        let size_bytes = whole(create, "size_bytes")?;
        let count = |cell: &CellRecord| u32::try_from(whole(cell, "files")?).ok();
        let best = |cell: &CellRecord| whole(cell, "best_ns");
        let median = |cell: &CellRecord| {
            Some(Sample {
                file_count: count(cell)?,
                time_ns: whole(cell, "median_ns")?,
            })
        };
        lines += &match (best(create), best(remove)) {
            (Some(create_ns), Some(remove_ns)) => lat_fs::best_line(
                size_bytes,
                &Best {
                    file_count: count(create)?,
                    create_ns,
                    remove_ns,
                },
            ),
            _ => lat_fs::median_line(size_bytes, median(create), median(remove)),
        };
    }
    (!lines.is_empty()).then_some(lines)
}

/// Rows of name and value: the figures of a phase that are single values.
pub(crate) fn rows(cell: &CellRecord) -> Vec<[String; 2]> {
    let Some(classic) = &cell.classic else {
        return Vec::new();
    };
    let shown = |key: &str, value: &Value| match value {
        Value::Number(number) if key.ends_with("_ns") => number.as_u64().map(format::latency_ns),
        Value::Number(number) if number.is_f64() => number.as_f64().map(|it| format!("{it:.2}")),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        Value::Array(values) if (1..=8).contains(&values.len()) => {
            let numbers = values.iter().filter_map(Value::as_f64);
            let numbers: Vec<String> = numbers.map(|it| format!("{it:.1}")).collect();
            Some(numbers.join(", "))
        }
        _ => None,
    };
    let phase = match &cell.phase {
        Phase::Classic(phase) => phase.as_str(),
        _ => "",
    };
    let name = |key: &str| {
        let words = key.trim_end_matches("_ns").replace('_', " ");
        match phase {
            "transactions" => words,
            _ => format!("{phase}: {words}"),
        }
    };
    classic
        .iter()
        .filter(|(key, _)| !ELSEWHERE.contains(&key.as_str()))
        .filter_map(|(key, value)| Some([name(key), shown(key, value)?]))
        .collect()
}
