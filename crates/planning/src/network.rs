//! Checks of workers with TCP peers.

use units::Bytes;

use description::model::Workload;
use plan::Diagnostic;
use plan::TcpAddress;
use plan::{Cell, EngineKind, LinePlan, SpanPlan, TargetKind};

use super::Context;
use super::options::ResolvedOptions;
use super::space::SECTOR_BYTES;

/// Maximum size of a request or a reply in bytes, set by the protocol.
const LENGTH_MAX_BYTES: u32 = 64 << 20;

/// Whether the targets are TCP peers.
///
/// # Errors
/// If only some of them are, or a name is invalid.
pub(super) fn is_network(
    worker: &str,
    targets: &[u32],
    context: &mut Context,
) -> Result<bool, Diagnostic> {
    let entries = || targets.iter().map(|index| entry(context, *index));
    let is_peer = |it: &&super::targets::ResolvedTarget| it.facts.kind == TargetKind::Network;
    let Some(peer) = entries().find(is_peer) else {
        return Ok(false);
    };
    if let Some(other) = entries().find(|it| !is_peer(it)) {
        let message = format!(
            "`{}` would work on `{}` and on `{}`, but a worker uses either files or TCP peers",
            plan::printable(worker),
            plan::printable(&other.facts.path),
            plan::printable(&peer.facts.path),
        );
        let help = "give each kind of target its own `[[worker]]`";
        return Err(Diagnostic::error("", message).help(help));
    }
    let mut refusals = Vec::new();
    for path in entries().map(|it| it.facts.path.as_str()) {
        match TcpAddress::host_without_port(path) {
            Some(host) => refusals.push(without_port(worker, host)),
            // Only checked here, because the plan keeps the name and the run parses it again.
            None => drop(TcpAddress::of(path)?),
        }
    }
    // Not an error, so that `check` can still show the rest of the plan.
    context.refusals.extend(refusals);
    Ok(true)
}

/// Error for a target that Iometer would find itself, but that needs an explicit address here.
fn without_port(worker: &str, host: &str) -> Diagnostic {
    let message = format!(
        "the target `tcp://{}` of `{}` has no port",
        plan::printable(host),
        plan::printable(worker)
    );
    let help = "start `pgmeter sink` there, and add `--target tcp://HOST:PORT`, the address that it prints";
    Diagnostic::error("", message).help(help)
}

fn entry<'a>(context: &'a Context, index: u32) -> &'a super::targets::ResolvedTarget {
    &context.targets.entries[index as usize]
}

/// The worker's connections: `iodepth` on each target.
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

/// Refuses sizes that the protocol does not support, and warns about the meaning of send results.
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
             so its latency does not include the network",
            plan::printable(spec)
        );
        let help = "add a `reply`, such as 1, to wait for the peer";
        let warning = Diagnostic::warning("", message).help(help);
        context.warnings.push(warning);
    }
    Ok(())
}

/// Refuses settings without a meaning for TCP peers in a cell that has them.
pub(super) fn check_cell(cell: &Cell, options: &ResolvedOptions) -> Result<(), Diagnostic> {
    let mut workers = cell.workers.iter();
    let Some(worker) = workers.find(|worker| worker.network) else {
        return Ok(());
    };
    if options.engine == EngineKind::Mmap {
        let message = "`engine = \"mmap\"` maps files, and a TCP peer is not a file";
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
        "`{key}` applies to files, but the targets of `{}` are TCP peers",
        plan::printable(&worker.name)
    );
    Err(Diagnostic::error("", message).help(format!("leave `{key}` out")))
}

/// Whether a cell has workers and all of them have TCP peers, whose sockets provide the buffers.
pub(super) fn is_network_cell(cell: &Cell) -> bool {
    !cell.workers.is_empty() && cell.workers.iter().all(|worker| worker.network)
}

/// Refuses keys about the use of files if no worker uses files.
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
    let message = format!("`{key}` applies to files, but all targets are TCP peers");
    Err(Diagnostic::error("", message).help(format!("leave `{key}` out")))
}

/// Refuses VI network workers, which occur only in Iometer files.
pub(super) fn refuse_vi(workload: &Workload, context: &mut Context) {
    let extras = workload.iometer.as_ref();
    let count = extras.map_or(0, |extras| extras.network.len());
    if count > 0 {
        let message = format!(
            "`{}` has network workers of VI ({count}), which no current machine supports",
            workload.name_or_default()
        );
        let help = "take these workers out of the file";
        let refusal = Diagnostic::error("", message).help(help);
        context.refusals.push(refusal);
    }
}

/// Refuses all TCP peers except these.
pub(super) fn refuse_others(context: &Context, allowed: &[String]) -> Result<(), Diagnostic> {
    let entries = context.targets.entries.iter();
    let mut peers = entries.filter(|it| it.facts.kind == TargetKind::Network);
    let Some(peer) = peers.find(|it| !allowed.contains(&it.facts.path)) else {
        return Ok(());
    };
    let path = plan::printable(&peer.facts.path);
    let message = format!("`{path}` is a TCP peer that the page may not measure");
    let help = format!("start `pgmeter serve` with `--target {path}`, or use `pgmeter run`");
    Err(Diagnostic::error("", message).help(help))
}
