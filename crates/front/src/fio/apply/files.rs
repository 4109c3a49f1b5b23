//! Options for files and engines.

use super::super::settings::{
    Engine, Fallocate, FioSettings, JobFileOrder, MemoryKind, ReadAdvice,
};
use super::super::values::{OptionValue, RandomDistribution, distribution, file_names};

/// Maximum number of files of a clone; a larger number is a mistake.
const FILES_MAX: u32 = 1 << 24;
/// Maximum number of named files.
const NAMES_MAX: usize = 1024;

pub(super) fn apply(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let files = &mut settings.files;
    match name {
        // As in fio, names in a section are added to those in [global].
        "filename" => {
            files.names.extend(file_names(value.text()));
            if files.names.len() > NAMES_MAX {
                return Err(format!("name at most {NAMES_MAX} files, or use `nrfiles`"));
            }
            // As in fio, the names replace an earlier `nrfiles`. Only a later `nrfiles` selects
            // fewer of them.
            files.count = files.names.len().max(1) as u32;
        }
        "directory" => files.directories = file_names(value.text()),
        "filename_format" => files.format = value.text().to_owned(),
        "nrfiles" => {
            files.count = value.count();
            if files.count > FILES_MAX {
                return Err(format!("use at most {FILES_MAX}"));
            }
        }
        "openfiles" => files.open_count = value.count(),
        "file_service_type" => file_order(settings, value.text())?,
        "fallocate" => files.fallocate = Fallocate::of(value.text()).unwrap_or_default(),
        "fadvise_hint" => files.advice = ReadAdvice::of(value.text()).unwrap_or_default(),
        "create_serialize" => files.serializes_layout = value.flag(),
        "create_fsync" => files.syncs_layout = value.flag(),
        "create_on_open" => files.creates_on_open = value.flag(),
        "create_only" => files.is_layout_only = value.flag(),
        "allow_file_create" => files.creates_missing = value.flag(),
        "overwrite" => files.overwrites = value.flag(),
        "pre_read" => {
            files.pre_reads = value.flag();
            // Dropping the cached pages would undo the reads.
            files.drops_cache &= !value.flag();
        }
        "invalidate" => files.drops_cache = value.flag(),
        "unlink" => files.removes_at_end = value.flag(),
        "unlink_each_loop" => files.removes_each_loop = value.flag(),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads `random:4` or `zipf:1.2`. The number after `random`, `sequential` or `roundrobin` is the
/// number of requests to one file before the next.
fn file_order(settings: &mut FioSettings, text: &str) -> Result<(), String> {
    let kilo = settings.kilo.0;
    let files = &mut settings.files;
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let drawn = |law: &str| distribution(law, kilo).map(JobFileOrder::Drawn);
    files.order = match name {
        "zipf" | "pareto" => drawn(text)?,
        // `distribution` reads `random_distribution`, which does not know the word `gauss`.
        "normal" | "gauss" => drawn(&format!("normal:{rest}"))?,
        "random" => JobFileOrder::Drawn(RandomDistribution::Uniform),
        "sequential" => JobFileOrder::Sequential,
        _ => JobFileOrder::RoundRobin,
    };
    let has_turn = matches!(name, "random" | "sequential" | "roundrobin") && !rest.is_empty();
    files.requests_per_turn = match has_turn {
        true => rest
            .parse()
            .map_err(|_| "it needs a number after the colon")?,
        false => 1,
    };
    Ok(())
}

pub(super) fn apply_engine(settings: &mut FioSettings, name: &str, value: &OptionValue) -> bool {
    let engine = &mut settings.engine;
    match name {
        "ioengine" => {
            engine.engine = Engine::of(value.text()).unwrap_or(Engine::Refused);
            engine.name = match engine.engine {
                // Engine options are looked up by this name, not by an alias such as `aio`.
                Engine::Libaio => "libaio".to_owned(),
                _ => value.text().to_owned(),
            };
        }
        // As in fio, the later of `direct` and `buffered` wins.
        "direct" => engine.is_direct = value.flag(),
        "buffered" => engine.is_direct = !value.flag(),
        "atomic" => {
            engine.is_atomic = value.flag();
            engine.is_direct |= value.flag();
        }
        "iodepth" => engine.iodepth = value.count(),
        "iodepth_batch" => engine.batch = value.count(),
        "iodepth_batch_complete_min" => engine.batch_complete_min = value.count(),
        "iodepth_batch_complete_max" => engine.batch_complete_max = value.count(),
        "iodepth_low" => engine.iodepth_low = value.count(),
        "serialize_overlap" => engine.avoids_overlap = value.flag(),
        "io_submit_mode" => engine.is_offloaded = value.text() == "offload",
        "mem" => engine.memory = MemoryKind::of(value.text()).unwrap_or_default(),
        "iomem_align" => engine.memory_align = value.number(),
        "lockmem" => engine.locked_bytes = value.number(),
        "hipri" => engine.is_polled = value.flag(),
        "hipri_percentage" => engine.is_polled |= value.number() > 0,
        "sqthread_poll" => engine.is_submitted_by_kernel = value.flag(),
        "uncached" => engine.is_uncached = value.flag(),
        "nowait" => engine.never_waits = value.flag(),
        "force_async" => engine.async_each = value.count(),
        "fixedbufs" => engine.has_fixed_buffers = value.flag(),
        "registerfiles" => engine.has_registered_files = value.flag(),
        "thp" => engine.maps_huge = value.flag(),
        _ => return false,
    }
    true
}
