//! The keys of a file workload's table as settings.

use units::{Bytes, Span};

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::{FsMarkPlan, Subdirectories};
use crate::classics::lat_fs::{Form, LatFsPlan};
use crate::model::{Table, Workload};
use crate::plan::{FileChoice, FilePlan, PostmarkPlan, Setting, Source};
use crate::postmark::{Choice, Location};
use crate::program::Program;

use super::super::Context;
use super::super::resolver::text_of;

/// Notes what a program's own tables say, all of which is written.
fn note_program(workload: &Workload, program: &Program, context: &mut Context) {
    for setting in program.settings() {
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: setting.key,
            value: setting.value,
            source: Source::Written,
        });
    }
}

/// A key, its value as text, and whether the workload has it.
type Row = (&'static str, String, bool);

/// Notes every key of the table with its value and where that came from.
pub(super) fn note(workload: &Workload, table: Table, files: &FilePlan, context: &mut Context) {
    let rows = match files {
        FilePlan::Postmark(plan) => postmark(workload, plan),
        FilePlan::CreateRemove(plan) => create_remove(workload, plan),
        FilePlan::LatFs(plan) => lat_fs(workload, plan),
        FilePlan::FsMark(plan) => fs_mark(workload, plan),
        FilePlan::Program(program) => {
            note_program(workload, program, context);
            return;
        }
    };
    for (key, value, is_written) in rows {
        // The number of workers is that of fs_mark's threads.
        let by_workers = key == "threads" && context.overrides.has("workers");
        let by_option = by_workers || context.overrides.has_in(table, key);
        let source = Source::of(by_option, is_written);
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: format!("{}.{key}", table.key()),
            value,
            source,
        });
    }
}

fn postmark(workload: &Workload, plan: &PostmarkPlan) -> Vec<Row> {
    let written = workload.postmark.clone().unwrap_or_default();
    let it = &plan.settings;
    let bytes = |bytes: u32| Bytes(bytes.into()).to_string();
    let bias = |tenths: Option<u8>| tenths.map_or("-1".to_owned(), |tenths| tenths.to_string());
    let choice = text_of(&match plan.choice {
        FileChoice::Uniform => Choice::Uniform,
        FileChoice::Zipf { theta } => Choice::Zipf(theta),
    });
    vec![
        ("number", it.number.to_string(), written.number.is_some()),
        (
            "transactions",
            it.transactions.to_string(),
            written.transactions.is_some(),
        ),
        (
            "min_size",
            bytes(it.size_low_bytes),
            written.min_size.is_some(),
        ),
        (
            "max_size",
            bytes(it.size_high_bytes),
            written.max_size.is_some(),
        ),
        (
            "locations",
            locations(&it.locations),
            written.locations.is_some(),
        ),
        (
            "subdirectories",
            it.subdirectories.to_string(),
            written.subdirectories.is_some(),
        ),
        (
            "read_block",
            bytes(it.read_block_bytes),
            written.read_block.is_some(),
        ),
        (
            "write_block",
            bytes(it.write_block_bytes),
            written.write_block.is_some(),
        ),
        (
            "buffering",
            it.is_buffered.to_string(),
            written.buffering.is_some(),
        ),
        ("read_bias", bias(it.read_bias), written.read_bias.is_some()),
        (
            "create_bias",
            bias(it.create_bias),
            written.create_bias.is_some(),
        ),
        ("compat", it.compat.to_string(), written.compat.is_some()),
        ("report", text_of(&it.report), written.report.is_some()),
        ("fsync", text_of(&plan.fsync), written.fsync.is_some()),
        ("choice", choice, written.choice.is_some()),
        ("pool", text_of(&plan.pool), written.pool.is_some()),
        (
            "keep_open",
            plan.keep_open.to_string(),
            written.keep_open.is_some(),
        ),
    ]
}

/// As a list of a workload file; the target itself is a dot.
fn locations(locations: &[Location]) -> String {
    match locations {
        [] => ".".to_owned(),
        several => several
            .iter()
            .map(Location::text)
            .collect::<Vec<_>>()
            .join(","),
    }
}

fn sizes(sizes_bytes: &[u64]) -> String {
    let sizes = sizes_bytes.iter().map(|bytes| Bytes(*bytes).to_string());
    sizes.collect::<Vec<_>>().join(",")
}

fn create_remove(workload: &Workload, plan: &CreateRemovePlan) -> Vec<Row> {
    let written = workload.create_remove.clone().unwrap_or_default();
    let write_size = Bytes(plan.write_bytes.into()).to_string();
    vec![
        (
            "count",
            plan.file_count.to_string(),
            written.count.is_some(),
        ),
        ("sizes", sizes(&plan.sizes_bytes), written.sizes.is_some()),
        ("write_size", write_size, written.write_size.is_some()),
        (
            "directories",
            plan.directory_count.to_string(),
            written.directories.is_some(),
        ),
        ("stat", plan.is_statted.to_string(), written.stat.is_some()),
        ("order", text_of(&plan.order), written.order.is_some()),
        ("between", text_of(&plan.between), written.between.is_some()),
        ("mode", text_of(&plan.mode), written.mode.is_some()),
        ("sync", text_of(&plan.sync), written.sync.is_some()),
    ]
}

fn lat_fs(workload: &Workload, plan: &LatFsPlan) -> Vec<Row> {
    let written = workload.lat_fs.clone().unwrap_or_default();
    let compat = written.compat.unwrap_or_default();
    let mut rows = vec![
        ("compat", text_of(&compat), written.compat.is_some()),
        ("sizes", sizes(&plan.sizes_bytes), written.sizes.is_some()),
        ("order", text_of(&plan.order), written.order.is_some()),
        ("sync", text_of(&plan.sync), written.sync.is_some()),
    ];
    match plan.form {
        Form::Best {
            file_count,
            budget_ns,
        } => rows.extend([
            ("files", file_count.to_string(), written.files.is_some()),
            (
                "budget",
                Span(budget_ns).to_string(),
                written.budget.is_some(),
            ),
        ]),
        Form::Median {
            files_per_directory: each,
            repetitions,
            sample_ns,
        } => rows.extend([
            (
                "files_per_directory",
                each.to_string(),
                written.files_per_directory.is_some(),
            ),
            (
                "repetitions",
                repetitions.to_string(),
                written.repetitions.is_some(),
            ),
            (
                "sample_time",
                Span(sample_ns).to_string(),
                written.sample_time.is_some(),
            ),
        ]),
    }
    rows
}

fn fs_mark(workload: &Workload, plan: &FsMarkPlan) -> Vec<Row> {
    let written = workload.fs_mark.clone().unwrap_or_default();
    let write_size = Bytes(plan.write_bytes.into()).to_string();
    let mut rows = vec![
        (
            "threads",
            plan.thread_count.to_string(),
            written.threads.or(workload.workers).is_some(),
        ),
        (
            "files",
            plan.file_count.to_string(),
            written.files.is_some(),
        ),
        (
            "size",
            Bytes(plan.size_bytes).to_string(),
            written.size.is_some(),
        ),
        ("write_size", write_size, written.write_size.is_some()),
        (
            "sync_method",
            text_of(&plan.sync_method),
            written.sync_method.is_some(),
        ),
        (
            "name_length",
            plan.name_length.to_string(),
            written.name_length.is_some(),
        ),
        (
            "random_length",
            plan.random_length.to_string(),
            written.random_length.is_some(),
        ),
        (
            "loops",
            plan.iterations.to_string(),
            written.loops.is_some(),
        ),
        ("keep", plan.is_kept.to_string(), written.keep.is_some()),
        (
            "until_full",
            plan.until_full.to_string(),
            written.until_full.is_some(),
        ),
        (
            "mkdir_every_file",
            plan.is_directory_made.to_string(),
            written.mkdir_every_file.is_some(),
        ),
    ];
    let (count, each) = match plan.subdirectories {
        Subdirectories::None => return rows,
        Subdirectories::ByTime { count } => (count, None),
        Subdirectories::RoundRobin { count, each_count } => (count, Some(each_count)),
    };
    rows.push(("subdirectories", count.to_string(), true));
    rows.extend(each.map(|each| ("files_per_subdirectory", each.to_string(), true)));
    rows
}
