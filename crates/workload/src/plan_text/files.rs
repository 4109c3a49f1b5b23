//! What a cell does with many files, for people.

use units::format::size;
use units::{Bytes, Percent, Span};

use crate::classics::create_remove::{Between, CreateRemovePlan, Mode};
use crate::classics::fs_mark::{FsMarkPlan, Subdirectories, SyncMethod};
use crate::classics::lat_fs::{Form, LatFsPlan};
use crate::classics::{FileSync, Order};
use crate::plan::{Cell, FileChoice, FilePlan, Fsync, Pool, PostmarkPlan};
use crate::postmark::Settings;
use crate::program::Program;

/// The sentences about a cell's files, what is done first.
pub(super) fn sentences(cell: &Cell, files: &FilePlan) -> Vec<String> {
    let workers = cell.workers.len() as u64;
    let mut sentences = match files {
        FilePlan::Postmark(plan) => postmark(plan, cell.run_time_ns, workers),
        FilePlan::CreateRemove(plan) => create_remove(plan),
        FilePlan::LatFs(plan) => lat_fs(plan, workers),
        FilePlan::FsMark(plan) => fs_mark(plan),
        FilePlan::Program(program) => of_program(program),
    };
    let spans = cell.workers.iter().flat_map(|worker| &worker.spans);
    let bytes = spans.fold(0_u64, |sum, span| sum.saturating_add(span.size_bytes));
    sentences.push(format!("the files take up to {} at once", size(bytes)));
    sentences
}

/// What stands above the sentences.
pub(super) fn heading(files: &FilePlan) -> String {
    match files {
        FilePlan::Program(_) => "files, and what is done to them".to_owned(),
        classic => format!("files as {} has them", classic.name()),
    }
}

fn of_program(program: &Program) -> Vec<String> {
    let mut sentences = program.words();
    if program.space_needed().is_growing {
        let sentence = "files grow for as long as a phase lasts, which is counted as one round";
        sentences.push(sentence.to_owned());
    }
    sentences
}

fn postmark(plan: &PostmarkPlan, run_time_ns: u64, workers: u64) -> Vec<String> {
    let settings = &plan.settings;
    let each = match (workers, plan.pool) {
        (1, _) => String::new(),
        (_, Pool::Own) => format!("each of {workers} workers in a directory of its own: "),
        (_, Pool::Shared) => format!("each of {workers} workers in the same directories: "),
    };
    let count = match run_time_ns {
        0 => settings.transactions.to_string(),
        time => format!("for {}", Span(time)),
    };
    let mut sentences = vec![
        format!(
            "{each}create {} files of {}{}",
            settings.number,
            sizes(settings),
            places(settings)
        ),
        format!("transactions, {count}: {}", halves(settings, plan.choice)),
        format!("delete all files; {}", blocks(settings)),
    ];
    match plan.fsync {
        Fsync::None => {}
        Fsync::PerFile => sentences.push("sync each file that was written".to_owned()),
        Fsync::PerTransaction => sentences
            .push("sync each file that was written, and its directory after a change".to_owned()),
    }
    if plan.keep_open > 0 {
        sentences.push(format!(
            "leave up to {} files open until they are removed",
            plan.keep_open
        ));
    }
    if run_time_ns == 0 {
        sentences.push(estimate(settings, workers));
    }
    sentences
}

fn sizes(settings: &Settings) -> String {
    let (low, high) = (settings.size_low_bytes, settings.size_high_bytes);
    if low == high {
        return format!("{low} bytes");
    }
    format!("{low} to {} bytes", high - 1)
}

fn places(settings: &Settings) -> String {
    let locations = match settings.locations.len() {
        0 | 1 => String::new(),
        count => format!(" in {count} locations"),
    };
    match settings.subdirectories {
        0 | 1 => locations,
        count if locations.is_empty() => format!(" in {count} subdirectories"),
        count => format!("{locations} with {count} subdirectories each"),
    }
}

fn halves(settings: &Settings, choice: FileChoice) -> String {
    let share = |tenths: u8| Percent(f64::from(tenths) * 10.0);
    let access = settings
        .read_bias
        .map(|it| format!("read a file ({}) or append to one", share(it)));
    let change = settings
        .create_bias
        .map(|it| format!("create one ({}) or delete one", share(it)));
    let both = match (access, change) {
        (Some(access), Some(change)) => format!("{access}, then {change}"),
        (access, change) => access
            .or(change)
            .unwrap_or_else(|| "nothing at all".to_owned()),
    };
    match choice {
        FileChoice::Uniform => both,
        FileChoice::Zipf { theta } => format!("{both}; files by zipf {theta}"),
    }
}

fn blocks(settings: &Settings) -> String {
    let blocks = [settings.read_block_bytes, settings.write_block_bytes];
    let [read, write] = blocks.map(|bytes| Bytes(bytes.into()));
    let through = if settings.is_buffered {
        ", through a buffer"
    } else {
        ""
    };
    format!("read blocks of {read} and write blocks of {write}{through}")
}

/// How often each operation is expected; the pool may run empty or full before.
fn estimate(settings: &Settings, workers: u64) -> String {
    let transactions = u64::from(settings.transactions);
    let of = |tenths: Option<u8>, rest: bool| {
        let tenths = tenths.map(|it| if rest { 10 - it } else { it });
        let count = transactions * u64::from(tenths.unwrap_or(0)) / 10;
        count.saturating_mul(workers)
    };
    let initial = u64::from(settings.number).saturating_mul(workers);
    format!(
        "about {} files created and deleted, {} read, {} appended to",
        initial.saturating_add(of(settings.create_bias, false)),
        of(settings.read_bias, false),
        of(settings.read_bias, true)
    )
}

fn listed(sizes_bytes: &[u64]) -> String {
    let sizes: Vec<String> = sizes_bytes
        .iter()
        .map(|it| Bytes(*it).to_string())
        .collect();
    sizes.join(", ")
}

fn synced(sync: FileSync) -> &'static str {
    match sync {
        FileSync::None => "",
        FileSync::Fsync => ", each synced by fsync",
        FileSync::Fdatasync => ", each synced by fdatasync",
    }
}

fn visited(verb: &str, order: Order) -> String {
    let how = match order {
        Order::Forward => "in the same order",
        Order::Reverse => "from the last to the first",
        Order::Random => "in a random order",
    };
    format!("{verb} them {how}")
}

fn removed(order: Order) -> String {
    visited("remove", order)
}

fn create_remove(plan: &CreateRemovePlan) -> Vec<String> {
    let directories = match plan.directory_count {
        1 => String::new(),
        count => format!(" in {count} directories"),
    };
    let count = plan.file_count;
    let mut sentences = vec![
        format!("for files of {}:", listed(&plan.sizes_bytes)),
        format!("create {count} files{directories}{}", synced(plan.sync)),
    ];
    if plan.is_statted {
        sentences.push(visited("stat", plan.order));
    }
    sentences.push(removed(plan.order));
    match plan.between {
        Between::Nothing => {}
        Between::Remount => sentences.push("remount the file system between the steps".to_owned()),
        Between::DropCaches => sentences.push("drop the kernel's caches between steps".to_owned()),
    }
    if plan.mode == Mode::Exec {
        sentences.push("start a program for each file".to_owned());
    }
    let total = u64::from(count) * plan.sizes_bytes.len() as u64;
    let bytes = plan
        .sizes_bytes
        .iter()
        .fold(0_u64, |sum, size| sum.saturating_add(*size));
    let written = size(bytes.saturating_mul(count.into()));
    sentences.push(format!(
        "{total} files created and removed, {written} written"
    ));
    sentences
}

fn lat_fs(plan: &LatFsPlan, workers: u64) -> Vec<String> {
    let each = match workers {
        1 => String::new(),
        count => format!("each of {count} workers in a directory of its own: "),
    };
    let first = format!("{each}for files of {}:", listed(&plan.sizes_bytes));
    let passes = match plan.form {
        Form::Best {
            file_count,
            budget_ns,
        } => format!(
            "create {file_count} files{}, {}, again and again for {}; the best pass counts",
            synced(plan.sync),
            removed(plan.order),
            Span(budget_ns)
        ),
        Form::Median {
            repetitions,
            sample_ns,
            ..
        } => format!(
            "create as many files as take {}{}, {}, {repetitions} times; the median counts",
            Span(sample_ns),
            synced(plan.sync),
            removed(plan.order)
        ),
    };
    vec![first, passes]
}

fn fs_mark(plan: &FsMarkPlan) -> Vec<String> {
    let directories = match plan.subdirectories {
        Subdirectories::None => String::new(),
        Subdirectories::RoundRobin { count, .. } | Subdirectories::ByTime { count } => {
            format!(" in {count} subdirectories")
        }
    };
    let durable = match plan.sync_method {
        SyncMethod::None => "nothing is synced",
        SyncMethod::Fsync => "each is synced before it is closed",
        SyncMethod::SyncFirst => "then sync all, and the first file anew",
        SyncMethod::PostReverse => "then sync each, from the last to the first",
        SyncMethod::SyncPostReverse => "then sync all, and each from the last to the first",
        SyncMethod::Post => "then sync each, from the first to the last",
        SyncMethod::SyncPost => "then sync all, and each from the first to the last",
    };
    let times = match (plan.until_full, plan.iterations) {
        (true, _) => "again and again until the file system is full".to_owned(),
        (false, 1) => "once".to_owned(),
        (false, count) => format!("{count} times"),
    };
    let kept = if plan.is_kept { "kept" } else { "removed" };
    vec![
        format!(
            "each of {} threads: create {} files of {}{directories}; {durable}",
            plan.thread_count,
            plan.file_count,
            Bytes(plan.size_bytes)
        ),
        format!("{times}; the files of an iteration are {kept}"),
    ]
}
