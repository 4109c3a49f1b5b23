//! Builds the engine of a lane. No other file chooses one.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::{
    Engine, ForcedAsync, IoUring, MappedFiles, Mmap, MmapOptions, Null, Operation, OperationSet,
    Psync, PsyncFiles, PsyncNetwork, PsyncOptions, Reopen, SpaceCall, SpacePsync, UringFiles,
    UringNetwork, UringOptions, with_own_descriptors, with_own_files,
};
use network::Peer;
use plan::{EngineKind, RingOptions};
use results::EngineNotes;

use crate::RunError;
use crate::open_fileset::OpenFileset;
use crate::outcome::WorkerOutcome;
use crate::start::ring_notes;

/// Outcome of a lane; `None` if the gate's signal was to abandon the cell.
pub(crate) type LaneOutcome = Result<Option<WorkerOutcome>, RunError>;

/// Work of a lane, generic over its engine so that the loop is compiled for each engine.
pub(crate) trait EngineWork {
    fn run<E: Engine + 'static>(self, engine: E, notes: EngineNotes) -> LaneOutcome;
}

/// Work on an engine as `dyn Engine`: its loop is compiled once for all engines.
pub(crate) struct DynEngineWork<F>(pub F);

impl<F: FnOnce(Box<dyn Engine>, EngineNotes) -> LaneOutcome> EngineWork for DynEngineWork<F> {
    fn run<E: Engine + 'static>(self, engine: E, notes: EngineNotes) -> LaneOutcome {
        (self.0)(Box::new(engine), notes)
    }
}

/// Properties that all engines share.
#[derive(Clone, Copy)]
pub(crate) struct EngineSpec {
    pub kind: EngineKind,
    pub slot_count: u32,
    /// Size of the largest request, in bytes.
    pub buffer_bytes: u32,
    pub operations: OperationSet,
    pub ring: RingOptions,
    /// Call on the space of files that replaces reads, writes and trims; needs `psync`.
    pub space: Option<SpaceCall>,
}

/// Open files or devices.
pub(crate) struct OpenFiles {
    pub files: Vec<OwnedFd>,
    /// Used instead of `files`; another thread closes them.
    pub shared_files: Arc<[OwnedFd]>,
    /// How to reopen each file between connections; empty if the files stay open.
    pub reopen: Vec<Reopen>,
    pub dontcache: bool,
    /// Reads and writes that would wait fail.
    pub nowait: bool,
}

/// Works on open files or devices.
pub(crate) fn on_files(spec: EngineSpec, open: OpenFiles, work: impl EngineWork) -> LaneOutcome {
    let OpenFiles {
        files,
        shared_files,
        reopen,
        dontcache,
        nowait,
    } = open;
    let (slots, bytes) = (spec.slot_count, spec.buffer_bytes);
    let is_reopened = !reopen.is_empty();
    let trims = spec.operations.contains(Operation::Trim);
    let options = PsyncOptions { dontcache, nowait };
    match spec.kind {
        EngineKind::IoUring => {
            let options = UringOptions {
                sqpoll: spec.ring.sqpoll,
                iopoll: spec.ring.iopoll,
                dontcache,
                nowait,
            };
            let mut engine = IoUring::new(files, slots, bytes, options)?;
            if is_reopened {
                engine.set_reopen(reopen)?;
            }
            if trims {
                engine.prepare_trims()?;
            }
            on_ring(engine, spec.ring, work)
        }
        // With its own descriptor table, a thread's calls need not take a reference to the file.
        EngineKind::Psync if !shared_files.is_empty() => with_own_files(&shared_files, |files| {
            let engine = Psync::new(files, slots, bytes, options)?;
            work.run(engine, EngineNotes::default())
        })
        .map_err(|source| RunError::System {
            what: "open a file again".to_owned(),
            source,
        })?,
        EngineKind::Psync => {
            let mut engine = Psync::new(files, slots, bytes, options)?;
            if is_reopened {
                engine.set_reopen(reopen)?;
            }
            if trims {
                engine.prepare_trims()?;
            }
            match spec.space {
                None => work.run(engine, EngineNotes::default()),
                Some(call) => {
                    // Compared with these calls, a virtual one is cheap.
                    let engine: Box<dyn Engine> = Box::new(SpacePsync::new(engine, call));
                    work.run(engine, EngineNotes::default())
                }
            }
        }
        EngineKind::Mmap => {
            let write = spec.operations.contains(Operation::Write);
            let mut engine = Mmap::new(files, slots, bytes, MmapOptions { write })?;
            if is_reopened {
                engine.set_reopen(reopen)?;
            }
            if trims {
                engine.prepare_trims()?;
            }
            work.run(engine, EngineNotes::default())
        }
        EngineKind::Null => on_null_engine(spec, work),
    }
}

fn on_ring(engine: IoUring, ring: RingOptions, work: impl EngineWork) -> LaneOutcome {
    let notes = ring_notes(engine.setup());
    match ring.force_async_each {
        0 => work.run(engine, notes),
        // Compared with the kernel's threads, a virtual call is cheap.
        each => {
            let engine: Box<dyn Engine> = Box::new(ForcedAsync::new(engine, each));
            work.run(engine, notes)
        }
    }
}

/// Works on connections, one per slot; with `connects`, each stays open until its end.
pub(crate) fn run_on_peers(
    spec: EngineSpec,
    peers: Vec<Arc<Peer>>,
    connects: bool,
    work: impl EngineWork,
) -> LaneOutcome {
    match spec.kind {
        EngineKind::Null => on_null_engine(spec, work),
        EngineKind::IoUring => {
            let options = UringOptions {
                sqpoll: spec.ring.sqpoll,
                ..UringOptions::default()
            };
            let engine = UringNetwork::new(peers, spec.buffer_bytes, options, connects)?;
            let notes = ring_notes(engine.setup());
            work.run(engine, notes)
        }
        // A connection cannot be mapped, so both engines make the same calls.
        EngineKind::Psync | EngineKind::Mmap => {
            let engine = PsyncNetwork::new(peers, spec.buffer_bytes, connects)?;
            work.run(engine, EngineNotes::default())
        }
    }
}

/// Works on the files of a pool, up to `keep_open` of which stay open between requests.
// Inlined into its caller; otherwise the compiler no longer inlines the loop's work per request.
#[inline(always)]
pub(crate) fn on_pool(
    spec: EngineSpec,
    fileset: Option<OpenFileset>,
    keep_open: u32,
    work: impl EngineWork,
) -> LaneOutcome {
    let (slots, bytes) = (spec.slot_count, spec.buffer_bytes);
    let Some(OpenFileset {
        fileset, options, ..
    }) = fileset.filter(|_| spec.kind != EngineKind::Null)
    else {
        return on_null_engine(spec, work);
    };
    match spec.kind {
        EngineKind::IoUring => {
            let engine = UringFiles::new(fileset, slots, bytes, options)?;
            on_uring_files(spec, engine, work)
        }
        // In a shared descriptor table, each call takes a reference to the file, and each open and
        // close takes a lock. With its own table, a worker makes fs_mark's calls on tmpfs at 0.98
        // instead of 0.94 of the rate of a bare loop.
        _ if keep_open > 0 => with_own_descriptors(|| {
            // Each slot may also have a file that is being closed.
            let files_max = keep_open.saturating_add(slots);
            let engine =
                PsyncFiles::with_open_files_max(fileset, slots, bytes, options, files_max)?;
            let notes = EngineNotes {
                notes: vec![format!(
                    "up to {keep_open} files stay open during the transactions; closing the rest \
                     is not timed"
                )],
                ..EngineNotes::default()
            };
            work.run(engine, notes)
        }),
        _ => with_own_descriptors(|| {
            let engine = PsyncFiles::new(fileset, slots, bytes, options)?;
            work.run(engine, EngineNotes::default())
        }),
    }
}

/// Works on filesets whose open files are in the registers of the slots.
// As a separate function, it made fs_mark take 4 % more CPU time.
#[inline(always)]
pub(crate) fn on_registers(
    spec: EngineSpec,
    fileset: Option<OpenFileset>,
    register_count: u8,
    work: impl EngineWork,
) -> LaneOutcome {
    let (slots, bytes, count) = (spec.slot_count, spec.buffer_bytes, register_count);
    let Some(fileset) = fileset.filter(|_| spec.kind != EngineKind::Null) else {
        return on_null_engine(spec, work);
    };
    let (filesets, options) = (fileset.filesets(), fileset.options);
    match spec.kind {
        EngineKind::IoUring => {
            let engine = UringFiles::with_registers(filesets, slots, bytes, options, count)?;
            on_uring_files(spec, engine, work)
        }
        _ if options.open_modes.iter().any(|mode| mode.mapped.is_some()) => {
            // A copy of a record costs more than a virtual call, so the loop is not compiled again.
            let engine: Box<dyn Engine> =
                Box::new(MappedFiles::new(filesets, slots, bytes, options, count)?);
            work.run(engine, EngineNotes::default())
        }
        _ => with_own_descriptors(|| {
            let engine = PsyncFiles::with_registers(filesets, slots, bytes, options, count)?;
            work.run(engine, EngineNotes::default())
        }),
    }
}

fn on_uring_files(spec: EngineSpec, engine: UringFiles, work: impl EngineWork) -> LaneOutcome {
    let notes = EngineNotes {
        notes: engine.notes(spec.operations),
        ..ring_notes(engine.setup())
    };
    work.run(engine, notes)
}

fn on_null_engine(spec: EngineSpec, work: impl EngineWork) -> LaneOutcome {
    let engine = Null::new(spec.slot_count, spec.buffer_bytes)?;
    work.run(engine, EngineNotes::default())
}
