//! Options for durability, verification, content, replay, results and logs.

use super::super::settings::{
    Checksum, DedupeMode, FioSettings, MixedResults, SyncOpen, WindowValue,
};
use super::super::values::{OptionValue, pattern};

pub(super) fn syncs(settings: &mut FioSettings, name: &str, value: &OptionValue) -> bool {
    let durability = &mut settings.durability;
    match name {
        "fsync" => durability.fsync = value.count(),
        "fdatasync" => durability.fdatasync = value.count(),
        "end_fsync" => durability.fsync_at_end = value.flag(),
        // `end_syncfs=0` must not switch off an `end_fsync` above it.
        "end_syncfs" => durability.fsync_at_end |= value.flag(),
        "fsync_on_close" => durability.fsync_on_close = value.flag(),
        "sync" => durability.open = SyncOpen::of(value.text()).unwrap_or_default(),
        _ => return false,
    }
    true
}

/// Reads `write`, `write:8` or `wait_before,write,wait_after:8`. As in fio, the number after the
/// last word applies to all words, and without one it is 1.
fn apply_range_sync(settings: &mut FioSettings, text: &str) -> Result<(), String> {
    let ranges = &mut settings.durability.ranges;
    let wanted = || "use a value such as `write:8` or `wait_before,write:8`".to_owned();
    for part in text.strip_suffix(',').unwrap_or(text).split(',') {
        let (word, count) = part.split_once(':').unwrap_or((part, "1"));
        ranges.write_count = count.trim().parse().map_err(|_| wanted())?;
        match word {
            "wait_before" => ranges.waits_before = true,
            "write" => ranges.writes = true,
            "wait_after" => ranges.waits_after = true,
            _ => return Err(wanted()),
        }
    }
    Ok(())
}

pub(super) fn apply_verify(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let verify = &mut settings.verify;
    match name {
        "verify" => {
            verify.checksum = Checksum::of(value.text()).unwrap_or_default();
            verify.name = value.text().to_owned();
        }
        "do_verify" => verify.reads_back = value.flag(),
        "verify_interval" => verify.interval_bytes = value.number(),
        "verify_offset" => verify.offset_bytes = value.number(),
        "verify_pattern" => {
            verify.pattern = Some(pattern(value.text())?);
            // In fio, a pattern without `verify` implies `verify=pattern`.
            if verify.name.is_empty() {
                verify.checksum = Checksum::Pattern;
            }
        }
        "verify_pattern_interval" => verify.pattern_interval_bytes = value.count(),
        "verify_only" => verify.skips_writes = value.flag(),
        "verify_state_load" => verify.loads_state = value.flag(),
        "verify_fatal" => verify.is_fatal = value.flag(),
        "verify_backlog" => verify.backlog = value.number(),
        "verify_backlog_batch" => verify.backlog_batch = value.count(),
        "continue_on_error" => continue_on_error(settings, value.text()),
        "ignore_error" => ignore_error(settings, value.text())?,
        "sync_file_range" => apply_range_sync(settings, value.text())?,
        _ => return Ok(false),
    }
    Ok(true)
}

fn continue_on_error(settings: &mut FioSettings, text: &str) {
    let errors = &mut settings.errors;
    errors.tolerates_reads = matches!(text, "read" | "io" | "all" | "1");
    errors.tolerates_writes = matches!(text, "write" | "io" | "all" | "1");
    errors.tolerates_verify = matches!(text, "verify" | "all" | "1");
}

/// Names of errors in the order of their numbers, from 1; `-` stands for an unused number. Source:
/// Linux, `asm-generic/errno-base.h` and `asm-generic/errno.h`.
const ERROR_NAMES: &str = "\
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM \
    EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY \
    ETXTBSY EFBIG ENOSPC ESPIPE EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS \
    ENOTEMPTY ELOOP - ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH ENOCSI EL2HLT \
    EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT - EBFONT ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG \
    EREMOTE ENOLINK EADV ESRMNT ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD \
    EREMCHG ELIBACC ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK \
    EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP \
    EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET \
    ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS ETIMEDOUT \
    ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL \
    EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED \
    EKEYREJECTED EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON";

/// `EILSEQ`, which fio reports for content that does not verify.
pub(in crate::fio) const VERIFY_ERROR: i32 = 84;

/// Reads `EIO:5,ENOSPC`: lists for reads, writes and verification, separated by commas.
fn ignore_error(settings: &mut FioSettings, text: &str) -> Result<(), String> {
    let number = |word: &str| {
        let name = match word {
            "EWOULDBLOCK" => "EAGAIN",
            "EDEADLOCK" => "EDEADLK",
            other => other,
        };
        let mut names = ERROR_NAMES.split(' ');
        let named = names.position(|it| it == name && it != "-");
        let named = named.map(|it| it as i32 + 1);
        let number = named.or_else(|| word.parse::<i32>().ok().and_then(i32::checked_abs));
        number
            .filter(|it| *it > 0)
            .ok_or_else(|| format!("`{}` is unknown; use its number", plan::printable(word)))
    };
    let list = |text: &str| {
        let words = text.split(':').take_while(|it| !it.is_empty());
        words.map(number).collect::<Result<Vec<i32>, String>>()
    };
    let errors = &mut settings.errors;
    let mut lists = text.splitn(3, ',');
    let mut next = || lists.next().map_or_else(|| Ok(Vec::new()), list);
    errors.ignored.read = next()?;
    errors.ignored.write = next()?;
    errors.ignored.verify = next()?;
    // An error that is ignored must not end the job either.
    errors.tolerates_reads |= !errors.ignored.read.is_empty();
    errors.tolerates_writes |= !errors.ignored.write.is_empty();
    // A read that fails during verification counts as a read error, so only wrong content matters
    // here.
    errors.tolerates_verify |= errors.ignored.verify.contains(&VERIFY_ERROR);
    Ok(())
}

pub(super) fn apply_content(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let content = &mut settings.content;
    match name {
        "zero_buffers" => content.is_zero = value.flag(),
        "refill_buffers" => content.is_refilled = value.flag(),
        "scramble_buffers" => content.is_scrambled = value.flag(),
        "buffer_pattern" => {
            content.pattern = Some(pattern(value.text())?);
            // A pattern overrides the content options before it.
            content.is_refilled &= content.compress_percent.is_some();
            content.is_scrambled = false;
            content.is_zero = false;
        }
        "buffer_compress_percentage" => content.compress_percent = Some(value.count()),
        "buffer_compress_chunk" => content.compress_chunk = value.number(),
        "dedupe_percentage" => {
            content.dedupe_percent = Some(value.count());
            // As in fio, `dedupe_percentage` implies `refill_buffers`.
            content.is_refilled = true;
        }
        "dedupe_mode" => {
            content.dedupe_mode = DedupeMode::of(value.text()).unwrap_or_default();
        }
        "dedupe_working_set_percentage" => content.dedupe_set_percent = value.count(),
        "dedupe_global" => content.is_dedupe_global = value.flag(),
        _ => return Ok(false),
    }
    Ok(true)
}

pub(super) fn apply_replay(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let replay = &mut settings.replay;
    match name {
        "read_iolog" => replay.read = Some(value.text().to_owned()),
        "write_iolog" => replay.write = Some(value.text().to_owned()),
        "replay_no_stall" => replay.ignores_timing = value.flag(),
        "replay_redirect" => replay.redirect = Some(value.text().to_owned()),
        // As in fio, 0 means no scaling.
        "replay_scale" => replay.offset_divisor = value.number().max(1),
        "replay_align" => replay.offset_align = value.number(),
        "replay_time_scale" => replay.time_percent = value.number(),
        "replay_skip" => {
            for word in value.text().split(',') {
                match word {
                    "read" => replay.skips_reads = true,
                    "write" => replay.skips_writes = true,
                    "trim" => replay.skips_trims = true,
                    "sync" => replay.skips_syncs = true,
                    _ => return Err("use a list of read, write, trim, sync".to_owned()),
                }
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}

pub(super) fn apply_logs(settings: &mut FioSettings, name: &str, value: &OptionValue) -> bool {
    let (results, logs) = (&mut settings.results, &mut settings.logs);
    let named = || Some(value.text().to_owned());
    match name {
        "stats" => results.is_reported = value.flag(),
        "unified_rw_reporting" => {
            results.mixed = MixedResults::of(value.text()).unwrap_or_default();
        }
        "clat_percentiles" => results.clat_percentiles = value.flag(),
        "lat_percentiles" => results.lat_percentiles = value.flag(),
        "slat_percentiles" => results.slat_percentiles = value.flag(),
        "percentile_list" => {
            if let OptionValue::Floats(floats) = value {
                results.percentiles.clone_from(floats);
            }
        }
        "significant_figures" => results.digits = value.count(),
        "disable_lat" => results.lat = !value.flag(),
        "disable_clat" => results.clat = !value.flag(),
        "disable_slat" => results.slat = !value.flag(),
        "disable_bw_measurement" => results.bandwidth = !value.flag(),
        "disk_util" => results.disk_util = value.flag(),
        "unit_base" => results.unit_base = value.text().parse().unwrap_or(0),
        "write_bw_log" => logs.bandwidth = named(),
        "write_iops_log" => logs.iops = named(),
        "write_lat_log" => logs.latency = named(),
        "write_hist_log" => logs.histogram = named(),
        "log_avg_msec" => logs.window_ms = value.count(),
        "log_hist_msec" => logs.histogram_window_ms = value.count(),
        "log_hist_coarseness" => logs.coarseness = value.count(),
        "bwavgtime" => logs.bandwidth_window_ms = value.count(),
        "iopsavgtime" => logs.iops_window_ms = value.count(),
        "log_max_value" => logs.window_value = WindowValue::of(value.text()).unwrap_or_default(),
        "log_offset" => logs.has_offset = value.flag(),
        "log_prio" => logs.has_priority = value.flag(),
        "log_issue_time" => logs.has_issue_time = value.flag(),
        "log_alternate_epoch" => logs.is_since_epoch = value.flag(),
        "per_job_logs" => logs.is_per_clone = value.flag(),
        "log_store_compressed" => logs.is_compressed = value.flag(),
        // As in fio, `gtod_reduce=0` leaves the other options as they are.
        "gtod_reduce" if value.flag() => {
            (results.lat, results.clat, results.slat) = (false, false, false);
            (results.bandwidth, results.clat_percentiles) = (false, false);
        }
        _ => return false,
    }
    true
}
