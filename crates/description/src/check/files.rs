//! File workloads: their tables, and keys that mean nothing beside them.

use units::{Bytes, Span};

use crate::classics::ClassicError;
use crate::model::{Seed, Table, TestType, UntilChoice, Workload};
use plan::{CacheMode, EngineKind};

use crate::flaw::{Flaw, Step};

/// Checks what is written, alone; what needs another key may stand elsewhere.
pub(super) fn check(workload: &Workload) -> Result<(), Flaw> {
    if let [first, second, ..] = workload.tables()[..] {
        let message = format!(
            "there are both `{}` and `{}`",
            first.header(),
            second.header()
        );
        let help = "write each as a `[[part]]` of its own";
        return Err(Flaw::new(second.key(), message, help));
    }
    match values(workload) {
        Err(ClassicError::Needs { .. }) | Ok(()) => Ok(()),
        Err(error) => Err(flaw(&error)),
    }
}

/// Checks a workload that is complete in itself.
pub fn check_whole(workload: &Workload) -> Result<(), Flaw> {
    let Some(table) = workload.table() else {
        return Ok(());
    };
    if !workload.access_spec.is_empty() {
        let message = format!("there are both `{}` and `[[access_spec]]`", table.header());
        let help = "write each as a `[[part]]` of its own";
        return Err(Flaw::new("access_spec", message, help));
    }
    if let Some(key) = strip(&mut workload.clone(), table).first() {
        return Err(meaningless(table, key));
    }
    values(workload).map_err(|error| flaw(&error))?;
    if table == Table::Program {
        crate::model::program(workload)?;
    }
    seed(workload, table)?;
    calls(workload, table)
}

/// The values of the table.
fn values(workload: &Workload) -> Result<(), ClassicError> {
    // How many targets there are, and whether they share the threads, is known in planning.
    workload.table_program(1)?;
    Ok(())
}

fn flaw(error: &ClassicError) -> Flaw {
    let (table, key) = error.place();
    Flaw {
        path: vec![Step::Key(table), Step::Key(key)],
        message: error.to_string(),
        help: error.help(),
    }
}

/// Takes out of a workload what does not apply to the table; the keys come back whose value was not
/// what holds anyway.
pub(crate) fn strip(workload: &mut Workload, table: Table) -> Vec<&'static str> {
    let mut keys = Vec::new();
    let it = &mut keys;
    if table != Table::Program {
        take("size", &mut workload.size, None, it);
    }
    if !table.has_memory() {
        take("times_memory", &mut workload.times_memory, None, it);
    }
    if !table.has_amount() {
        take("total_size", &mut workload.total_size, None, it);
    }
    take("start", &mut workload.start, Some(Bytes(0)), it);
    if !table.goes_on() {
        take("ramp_time", &mut workload.ramp_time, Some(Span(0)), it);
        take("until", &mut workload.until, Some(UntilChoice::Time), it);
        take("steady", &mut workload.steady, None, it);
    }
    if !table.may_keep() {
        take("keep", &mut workload.keep, Some(false), it);
    }
    if table != Table::Program {
        take("warm", &mut workload.warm, Some(false), it);
    }
    let each = &mut workload.transactions_per_connection;
    take("transactions_per_connection", each, None, it);
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
        if table != Table::Program && !table.has_time() {
            take("run_time", &mut workload.run_time, Some(Span(0)), it);
        }
        if table != Table::Program {
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

/// The flaw of a key that does not apply to the table, with the reason.
pub(crate) fn meaningless(table: Table, key: &'static str) -> Flaw {
    let header = table.header();
    let message = format!("`{key}` does not apply to `{header}`: {}", why(key));
    let other = || match (key, table) {
        ("worker", Table::Program) => "write `workers` in a `[[phase.group]]`".to_owned(),
        ("worker", _) => "write `workers` with their number".to_owned(),
        _ => format!("leave `{key}` out"),
    };
    Flaw::new(key, message, table.instead_of(key).unwrap_or_else(other))
}

/// Why a key does not apply to the table.
fn why(key: &str) -> &'static str {
    match key {
        "run_time" | "ramp_time" => "it ends when its work is done",
        "until" | "steady" => "it ends when its work is done, however steady",
        "keep" => "its files are removed as a part of the work",
        "warm" => "its files are made as a part of the work, so that the page cache has them",
        "verify" => "it reads nothing that it wrote",
        "content" => "a pool writes random characters, as the original does",
        "size" => "its own keys say how large its files are",
        "start" => "files are used from their first byte on",
        "times_memory" | "total_size" => "it says itself how many files there are",
        "transactions_per_connection" => "its calls say when files are opened and closed",
        "position" | "cursor" => "its calls say where they read and write",
        "sqpoll" | "iopoll" => "its calls are not only reads and writes",
        "worker" => "its workers are all alike",
        _ => "it is of access specifications",
    }
}

fn seed(workload: &Workload, table: Table) -> Result<(), Flaw> {
    match (workload.seed, table.own_seeds()) {
        (Some(Seed(seed)), Some(seeds)) if !(1..=seeds.most).contains(&seed) => {
            let message = format!("`seed` is {seed}, not from 1 to {}", seeds.most);
            Err(Flaw::new("seed", message, seeds.help))
        }
        _ => Ok(()),
    }
}

/// How files are worked on.
fn calls(workload: &Workload, table: Table) -> Result<(), Flaw> {
    if workload.engine == Some(EngineKind::Mmap) {
        let message = format!(
            "the engine `mmap` cannot do the operations of `{}`",
            table.header()
        );
        return Err(Flaw::new("engine", message, "use `psync` or `io_uring`"));
    }
    if workload.cache == Some(CacheMode::Dontcache) {
        let message = format!("`dontcache` does not work with `{}`", table.header());
        return Err(Flaw::new("cache", message, "use `buffered` or `direct`"));
    }
    Ok(())
}
