//! Engine of a job, and how it uses the page cache.

use plan::{CacheMode, EngineKind, RingOptions};

use super::super::settings::{Engine, FioSettings};

/// Requests submitted with one call if `iodepth_batch` is 0 or 1.
const BATCH_DEFAULT: u32 = 32;

pub(super) fn engine(engine: Engine) -> EngineKind {
    match engine {
        ring if ring.has_ring() => EngineKind::IoUring,
        Engine::Mmap => EngineKind::Mmap,
        Engine::Null => EngineKind::Null,
        _ => EngineKind::Psync,
    }
}

pub(super) fn ring(settings: &FioSettings) -> RingOptions {
    let engine = &settings.engine;
    RingOptions {
        sqpoll: engine.is_submitted_by_kernel,
        iopoll: engine.is_polled,
        batch: match engine.batch {
            0 | 1 => BATCH_DEFAULT,
            batch => batch,
        },
        batch_fixed: engine.batch > 1,
        force_async_each: engine.async_each,
    }
}

pub(super) fn cache(settings: &FioSettings) -> CacheMode {
    let is_direct = settings.engine.is_direct || settings.engine.is_atomic;
    match () {
        () if settings.engine.engine == Engine::Mmap => CacheMode::Buffered,
        () if is_direct => CacheMode::Direct,
        () if settings.engine.is_uncached => CacheMode::Dontcache,
        () => CacheMode::Buffered,
    }
}
