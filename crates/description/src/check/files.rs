//! Checks workloads of many files: their tables, and keys that do not apply to them.

use units::{Bytes, Span};

use crate::classics::ClassicError;
use crate::model::{Seed, TestType, UntilChoice, Workload, WorkloadTable};
use plan::{CacheMode, EngineKind};

use crate::flaw::{PathStep, ValueError};

/// Checks one file alone; keys it needs may be in another file.
pub(super) fn check(workload: &Workload) -> Result<(), ValueError> {
    if let [first, second, ..] = workload.tables()[..] {
        let message = format!(
            "there are both `{}` and `{}`",
            first.header(),
            second.header()
        );
        let help = "put each into its own `[[part]]`";
        return Err(ValueError::new(second.key(), message, help));
    }
    match values(workload) {
        // The pack or a `use` may still add the missing key.
        Err(ClassicError::Needs { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(flaw(&error)),
    }
}

/// Checks a complete workload.
pub fn check_whole(workload: &Workload) -> Result<(), ValueError> {
    let Some(table) = workload.table() else {
        return Ok(());
    };
    if !workload.access_spec.is_empty() {
        let message = format!("there are both `{}` and `[[access_spec]]`", table.header());
        let help = "put each into its own `[[part]]`";
        return Err(ValueError::new("access_spec", message, help));
    }
    // `strip` also removes the keys, which options need, so it gets a copy here.
    if let Some(key) = strip(&mut workload.clone(), table).first() {
        return Err(inapplicable_key(table, key));
    }
    values(workload).map_err(|error| flaw(&error))?;
    if table == WorkloadTable::Program {
        // Only the error counts here; planning resolves the program again.
        crate::model::program(workload)?;
    }
    seed(workload, table)?;
    calls(workload, table)
}

/// Checks the values of the table.
fn values(workload: &Workload) -> Result<(), ClassicError> {
    // Only planning knows the number of targets, and whether threads share them.
    workload.table_program(1)?;
    Ok(())
}

fn flaw(error: &ClassicError) -> ValueError {
    let (table, key) = error.place();
    ValueError {
        path: vec![PathStep::Key(table), PathStep::Key(key)],
        message: error.to_string(),
        help: error.help(),
    }
}

/// Removes keys that do not apply to the table. Returns those whose value differed from the
/// default.
pub(crate) fn strip(workload: &mut Workload, table: WorkloadTable) -> Vec<&'static str> {
    let mut keys = Vec::new();
    let it = &mut keys;
    // For phases, `size` scales the filesets.
    if table != WorkloadTable::Program {
        take("size", &mut workload.size, None, it);
    }
    if !table.has_memory() {
        take("times_memory", &mut workload.times_memory, None, it);
    }
    if !table.has_amount() {
        take("total_size", &mut workload.total_size, None, it);
    }
    // The third argument is the value that the table has anyway. A pack may set it for all parts.
    take("start", &mut workload.start, Some(Bytes(0)), it);
    if !table.goes_on() {
        take("ramp_time", &mut workload.ramp_time, Some(Span(0)), it);
        take("until", &mut workload.until, Some(UntilChoice::Time), it);
        take("steady", &mut workload.steady, None, it);
    }
    if !table.may_keep() {
        take("keep", &mut workload.keep, Some(false), it);
    }
    if table != WorkloadTable::Program {
        take("warm", &mut workload.warm, Some(false), it);
    }
    let per_connection = &mut workload.transactions_per_connection;
    take("transactions_per_connection", per_connection, None, it);
    take("position", &mut workload.position, None, it);
    take("cursor", &mut workload.cursor, None, it);
    take("sqpoll", &mut workload.sqpoll, Some(false), it);
    take("iopoll", &mut workload.iopoll, Some(false), it);
    take(
        "test_type",
        &mut workload.test_type,
        Some(TestType::Normal),
        it,
    );
    take("cycling", &mut workload.cycling, None, it);
    take("iometer", &mut workload.iometer, None, it);
    if table.has_pool() {
        take("content", &mut workload.content, None, it);
    } else {
        if table != WorkloadTable::Program && !table.has_time() {
            take("run_time", &mut workload.run_time, Some(Span(0)), it);
        }
        if table != WorkloadTable::Program {
            take("verify", &mut workload.verify, Some(false), it);
        }
    }
    if !workload.worker.is_empty() {
        workload.worker.clear();
        keys.push("worker");
    }
    keys
}

fn take<T: PartialEq>(
    key: &'static str,
    value: &mut Option<T>,
    harmless: Option<T>,
    found: &mut Vec<&'static str>,
) {
    let written = value.take();
    if written.is_some() && written != harmless {
        found.push(key);
    }
}

/// The error for a key that does not apply to the table, with the reason.
pub(crate) fn inapplicable_key(table: WorkloadTable, key: &'static str) -> ValueError {
    let header = table.header();
    let message = format!("`{key}` does not apply to `{header}`: {}", why(key));
    let other = || match (key, table) {
        ("worker", WorkloadTable::Program) => "write `workers` in a `[[phase.group]]`".to_owned(),
        ("worker", _) => "write `workers` with their number".to_owned(),
        _ => format!("leave `{key}` out"),
    };
    ValueError::new(
        key,
        message,
        table.replacement_help(key).unwrap_or_else(other),
    )
}

/// Why a key does not apply to the table.
fn why(key: &str) -> &'static str {
    match key {
        "run_time" | "ramp_time" => "it ends when its work is done",
        "until" | "steady" => "it ends when its work is done, whether steady or not",
        "keep" => "its files are removed as a part of the work",
        "warm" => "its files are created as part of the work, so they are in the page cache",
        "verify" => "it does not read the data it wrote",
        "content" => "a pool writes random characters, as the original does",
        "size" => "its own keys set the sizes of its files",
        "start" => "files are used from their first byte on",
        "times_memory" | "total_size" => "its own keys set the number of files",
        "transactions_per_connection" => "its calls determine when files are opened and closed",
        "position" | "cursor" => "its calls determine where they read and write",
        "sqpoll" | "iopoll" => "its calls are not only reads and writes",
        "worker" => "its workers are all alike",
        _ => "it applies to access specifications",
    }
}

fn seed(workload: &Workload, table: WorkloadTable) -> Result<(), ValueError> {
    match (workload.seed, table.own_seeds()) {
        (Some(Seed(seed)), Some(seeds)) if !(1..=seeds.max).contains(&seed) => {
            let message = format!("`seed` is {seed}, not from 1 to {}", seeds.max);
            Err(ValueError::new("seed", message, seeds.help))
        }
        _ => Ok(()),
    }
}

/// Checks that the engine supports work on many files.
fn calls(workload: &Workload, table: WorkloadTable) -> Result<(), ValueError> {
    if workload.engine == Some(EngineKind::Mmap) {
        let message = format!(
            "the engine `mmap` cannot do the operations of `{}`",
            table.header()
        );
        return Err(ValueError::new(
            "engine",
            message,
            "use `psync` or `io_uring`",
        ));
    }
    // `RWF_DONTCACHE` is a flag of each read and write, which the engines for files do not pass.
    if workload.cache == Some(CacheMode::Dontcache) {
        let message = format!("`dontcache` does not work with `{}`", table.header());
        return Err(ValueError::new(
            "cache",
            message,
            "use `buffered` or `direct`",
        ));
    }
    Ok(())
}
