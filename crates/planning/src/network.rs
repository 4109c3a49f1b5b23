//! What workers with TCP peers may ask for.

use units::Bytes;

use description::model::Workload;
use plan::Diagnostic;
use plan::TcpAddress;
use plan::{Cell, EngineKind, LinePlan, SpanPlan, TargetKind};

use super::Context;
use super::options::Options;
use super::space::SECTOR_BYTES;

/// The most bytes of a request or a reply: that of the protocol.
const LENGTH_MAX_BYTES: u32 = 64 << 20;

/// Whether the targets are TCP peers.
///
/// # Errors
/// When some are and some are not, or the name of one is none.
pub(super) fn is_network(
    worker: &str,
    targets: &[u32],
    context: &mut Context,
) -> Result<bool, Diagnostic> {
    let entries = || targets.iter().map(|index| entry(context, *index));
    let is_peer = |it: &&super::targets::Entry| it.facts.kind == TargetKind::Network;
    let Some(peer) = entries().find(is_peer) else {
        return Ok(false);
    };
    if let Some(other) = entries().find(|it| !is_peer(it)) {
        let message = format!(
            "`{}` would work on `{}` and on `{}`, and a worker is one of disks or of networks",
            plan::printable(worker),
            plan::printable(&other.facts.path),
            plan::printable(&peer.facts.path),
        );
        let help = "give each kind of target a `[[worker]]` of its own";
        return Err(Diagnostic::error("", message).help(help));
    }
    let mut refusals = Vec::new();
    for path in entries().map(|it| it.facts.path.as_str()) {
        match TcpAddress::host_without_port(path) {
            Some(host) => refusals.push(without_port(worker, host)),
            None => drop(TcpAddress::of(path)?),
        }
    }
    context.refusals.extend(refusals);
    Ok(true)
}

/// What Iometer finds by itself has to be named here.
fn without_port(worker: &str, host: &str) -> Diagnostic {
    let message = format!(
        "`{}` has the target `{}` on another machine, and nothing says which `pgmeter sink` that \
         is",
        plan::printable(worker),
        plan::printable(host)
    );
    let help = "start `pgmeter sink` there and add `--target tcp://HOST:PORT`, as it prints it";
    Diagnostic::error("", message).help(help)
}

fn entry<'a>(context: &'a Context, index: u32) -> &'a super::targets::Entry {
    &context.targets.entries[index as usize]
}

/// The worker's connections: so many on each target.
pub(super) fn spans(iodepth: u32, targets: &[u32]) -> Vec<SpanPlan> {
    let span = |target_index: &u32| SpanPlan {
        target_index: *target_index,
        iodepth,
        start_bytes: 0,
        size_bytes: 0,
        sector_bytes: SECTOR_BYTES,
    };
    targets.iter().map(span).collect()
}

/// Refuses sizes that no peer takes, and tells what figures of sends do not mean.
pub(super) fn check_lines(
    lines: &[LinePlan],
    spec: &str,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    let sizes = lines.iter().map(|it| it.size_bytes.max(it.reply_bytes));
    if let Some(size) = sizes.max().filter(|size| *size > LENGTH_MAX_BYTES) {
        let message = format!(
            "`{}` has requests of {}, and a TCP peer takes at most {}",
            plan::printable(spec),
            Bytes(size.into()),
            Bytes(LENGTH_MAX_BYTES.into())
        );
        return Err(Diagnostic::error("", message).help("use a smaller `size` or `reply`"));
    }
    let is_unanswered = |line: &LinePlan| line.read_percent < 100.0 && line.reply_bytes == 0;
    if lines.iter().any(is_unanswered) {
        let message = format!(
            "`{}` sends without a `reply`: a send ends when this machine's kernel has its bytes, \
             so its latency says nothing of the network",
            plan::printable(spec)
        );
        let help = "add a `reply`, such as 1, to wait for the peer";
        let warning = Diagnostic::warning("", message).help(help);
        context.warnings.push(warning);
    }
    Ok(())
}

/// Refuses what has no meaning without files in a cell that has TCP peers.
pub(super) fn check_cell(cell: &Cell, options: &Options) -> Result<(), Diagnostic> {
    let mut workers = cell.workers.iter();
    let Some(worker) = workers.find(|worker| worker.network) else {
        return Ok(());
    };
    if options.engine == EngineKind::Mmap {
        let message = "`engine = \"mmap\"` maps files, and a TCP peer is none";
        return Err(Diagnostic::error("", message).help("use `io_uring` or `psync`"));
    }
    let meaningless = [
        ("iopoll", options.ring.iopoll),
        ("new_file", options.new_file),
        ("precondition", options.method.precondition.is_some()),
        ("verify", options.verify),
        ("warm", options.warm),
    ];
    let Some((key, _)) = meaningless.into_iter().find(|(_, is_set)| *is_set) else {
        return Ok(());
    };
    let message = format!(
        "`{key}` is about files, and the targets of `{}` are TCP peers",
        plan::printable(&worker.name)
    );
    Err(Diagnostic::error("", message).help(format!("leave `{key}` out")))
}

/// Whether all workers of a cell, which has some, have TCP peers: their sockets have buffers.
pub(super) fn is_all(cell: &Cell) -> bool {
    !cell.workers.is_empty() && cell.workers.iter().all(|worker| worker.network)
}

/// Refuses keys that say how files are used where no worker has any.
pub(super) fn check_keys(workload: &Workload, cells: &[Cell]) -> Result<(), Diagnostic> {
    let mut workers = cells.iter().flat_map(|cell| &cell.workers).peekable();
    if workers.peek().is_none() || !workers.all(|worker| worker.network) {
        return Ok(());
    }
    let written = [
        ("cache", workload.cache.is_some()),
        ("size", workload.size.is_some()),
        ("start", workload.start.is_some()),
    ];
    let Some((key, _)) = written.into_iter().find(|(_, is_written)| *is_written) else {
        return Ok(());
    };
    let message = format!("`{key}` is about files, and all targets are TCP peers");
    Err(Diagnostic::error("", message).help(format!("leave `{key}` out")))
}

/// Refuses network workers of VI, which only a reader of Iometer's files meets.
pub(super) fn refuse_vi(workload: &Workload, context: &mut Context) {
    let extras = workload.iometer.as_ref();
    let count = extras.map_or(0, |extras| extras.network.len());
    if count > 0 {
        let message = format!(
            "`{}` has network workers of VI ({count}), which no machine of today has",
            workload.name_or_default()
        );
        let help = "take these workers out of the file";
        let refusal = Diagnostic::error("", message).help(help);
        context.refusals.push(refusal);
    }
}

/// Refuses all TCP peers.
pub(super) fn refuse(context: &Context) -> Result<(), Diagnostic> {
    let mut entries = context.targets.entries.iter();
    let Some(peer) = entries.find(|it| it.facts.kind == TargetKind::Network) else {
        return Ok(());
    };
    let path = plan::printable(&peer.facts.path);
    let message = format!("`{path}` is a TCP peer, and only paths are offered here");
    Err(Diagnostic::error("", message).help("use `pgmeter run` on the machine itself"))
}
