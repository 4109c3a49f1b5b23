//! Lists jobs, one row per group of equal jobs.

use units::format::size;
use units::{Percent, Span};

use plan::job::{
    BlockRule, JobPlan, MetadataWork, OffsetOrder, PaceRule, ReadWriteMix, RecordedPlan, SizeRule,
    SpaceWork, StreamPlan,
};
use plan::{Cell, WorkerPlan};
use units::text_of;

use super::laws::law;

/// Heading of the rows.
pub(super) const HEADING: [&str; 7] = [
    "  job", "times", "engine", "depth", "requests", "on", "until",
];

/// Consecutive equal jobs of a cell share a row.
pub(super) fn rows(cell: &Cell) -> Vec<Vec<String>> {
    let jobs = cell
        .workers
        .iter()
        .filter_map(|it| Some((it, it.job.as_deref()?)));
    let mut rows: Vec<(Vec<String>, u32)> = Vec::new();
    for (worker, job) in jobs {
        let row = row(worker, job);
        match rows.last_mut().filter(|(last, _)| *last == row) {
            Some((_, count)) => *count += 1,
            None => rows.push((row, 1)),
        }
    }
    let counted = rows.into_iter().map(|(mut row, count)| {
        row.insert(1, count.to_string());
        row
    });
    counted.collect()
}

fn row(worker: &WorkerPlan, job: &JobPlan) -> Vec<String> {
    vec![
        format!("  {}", plan::printable(&worker.name)),
        text_of(&job.engine),
        job.iodepth.to_string(),
        requests(job),
        files(job),
        until(job),
    ]
}

fn requests(job: &JobPlan) -> String {
    if let Some(recorded) = &job.recorded {
        return replayed(recorded);
    }
    if let Some(work) = job.names {
        let word = match work {
            MetadataWork::Create => "creates",
            MetadataWork::Stat => "stats",
            MetadataWork::Delete => "deletes",
            MetadataWork::Mkdir => "creates directories",
            MetadataWork::StatDirectory => "stats directories",
            MetadataWork::Rmdir => "removes directories",
        };
        return word.to_owned();
    }
    let stream = &job.stream;
    let random = |percent: f64| match percent {
        0.0 => "sequential".to_owned(),
        100.0 => "random".to_owned(),
        percent => format!("{} random", Percent(percent)),
    };
    let blocks = &stream.blocks;
    let reads = format!(
        "{} reads of {}",
        random(stream.random_percent.read),
        sizes(&blocks.read)
    );
    let write = write_word(stream.mix);
    let space = match job.space {
        None => "",
        Some(SpaceWork::Allocate) => ", as `fallocate` of their ranges",
        Some(SpaceWork::Truncate) => ", as `ftruncate` to their offsets",
    };
    let writes = format!(
        "{} {write}s of {}",
        random(stream.random_percent.write),
        sizes(&blocks.write)
    );
    let mut words = match stream.mix {
        ReadWriteMix::Read => reads,
        ReadWriteMix::Write | ReadWriteMix::Trim => writes,
        ReadWriteMix::TrimAndWrite => format!("{writes}, each after a trim"),
        ReadWriteMix::Both { read_percent } => {
            format!("{} {reads}, {writes}", Percent(read_percent))
        }
    };
    let rates = [
        ("read", &stream.pace.read, stream.mix.reads()),
        (write, &stream.pace.write, stream.mix.modifies()),
    ];
    for (what, rule, is_used) in rates {
        if let Some(rule) = rule.as_ref().filter(|_| is_used) {
            words.push_str(&format!(", {what}s at {}", rate(rule)));
        }
    }
    words.push_str(space);
    words.push_str(&rest(stream));
    words.push_str(&flags(job));
    words.push_str(&blocks_of(job));
    words
}

/// Word for the requests that use the rules for writes.
pub(super) const fn write_word(mix: ReadWriteMix) -> &'static str {
    match mix {
        ReadWriteMix::Trim => "trim",
        _ => "write",
    }
}

/// Flags of its requests.
fn flags(job: &JobPlan) -> String {
    let mut words = String::new();
    if job.nowait {
        words.push_str(", failing instead of waiting");
    }
    match job.ring.force_async_each {
        0 => {}
        1 => words.push_str(", all on kernel threads"),
        each => words.push_str(&format!(", one in {each} on kernel threads")),
    }
    words
}

/// Describes patterns and headers of blocks.
fn blocks_of(job: &JobPlan) -> String {
    let mut words = String::new();
    if job.pattern.is_some() && job.writes() {
        words.push_str(", of a pattern");
    }
    if let Some(check) = &job.check {
        words.push_str(&format!(", verified with `{}`", text_of(&check.kind)));
    }
    words
}

fn replayed(recorded: &RecordedPlan) -> String {
    let when = match recorded.is_paced() {
        true => ", at the recorded times",
        false => "",
    };
    let log = plan::printable(&recorded.log);
    format!("{} of `{log}`{when}", recorded.request_count)
}

fn rate(rule: &PaceRule) -> String {
    match rule.is_of_bytes {
        true => format!("{}/s", size(rule.per_second as u64)),
        false => format!("{}/s", rule.per_second),
    }
}

fn rest(stream: &StreamPlan) -> String {
    let mut words = String::new();
    words.push_str(&places(stream));
    if stream.sync.fsync_each > 0 {
        words.push_str(&format!(", writes per fsync: {}", stream.sync.fsync_each));
    }
    if stream.sync.fdatasync_each > 0 {
        let count = stream.sync.fdatasync_each;
        words.push_str(&format!(", writes per fdatasync: {count}"));
    }
    if let Some(range) = &stream.sync.range {
        let count = range.write_count;
        words.push_str(&format!(", writes per sync_file_range: {count}"));
    }
    if let Some(think) = &stream.think {
        words.push_str(&format!(", pauses of {}", Span(think.pause_ns)));
    }
    match stream.read_back {
        Some(_) if stream.skips_writes() => words.push_str(", only read back"),
        Some(_) => words.push_str(", then read back"),
        None => {}
    }
    words
}

/// Describes zones and distributions of the offsets.
fn places(stream: &StreamPlan) -> String {
    let mut words = String::new();
    match &stream.visits {
        OffsetOrder::Once => {}
        OffsetOrder::Drawn { distribution } => {
            if let Some(words_of) = law(distribution) {
                words.push_str(&format!(", {words_of}"));
            }
        }
        OffsetOrder::DrawnByDirection { distributions } => {
            let of = |law: Option<String>| law.unwrap_or_else(|| "uniform".to_owned());
            let read = of(law(&distributions.read));
            let write = of(law(&distributions.write));
            words.push_str(&format!(", reads by {read}, writes by {write}"));
        }
        OffsetOrder::DrawnZones { zones } => {
            let count = zones.read.len().max(zones.write.len());
            words.push_str(&format!(", by {count} zones"));
        }
    }
    if let Some(zones) = &stream.zones {
        let zone = size(zones.zone_bytes);
        words.push_str(&format!(", in zones of {zone}"));
        if zones.used_bytes != zones.zone_bytes {
            let used = size(zones.used_bytes);
            words.push_str(&format!(" with {used} moved in each"));
        }
        if zones.skip_bytes > 0 {
            words.push_str(&format!(" and gaps of {}", size(zones.skip_bytes)));
        }
    }
    words
}

fn sizes(rule: &BlockRule) -> String {
    match &rule.sizes {
        SizeRule::Fixed { bytes } => size((*bytes).into()),
        SizeRule::Range {
            min_bytes,
            max_bytes,
            ..
        } => format!(
            "{} to {}",
            size((*min_bytes).into()),
            size((*max_bytes).into())
        ),
        SizeRule::Split { shares } => {
            let shares = shares.iter().map(|it| {
                let bytes = size(it.bytes.into());
                format!("{bytes} ({})", Percent(it.percent))
            });
            shares.collect::<Vec<_>>().join(", ")
        }
    }
}

fn files(job: &JobPlan) -> String {
    if job.names.is_some() {
        return format!("{} files", job.files.len());
    }
    let bytes: u64 = job.files.iter().map(|part| part.size_bytes).sum();
    match job.files.len() {
        1 => size(bytes),
        count => format!("{} in {count} files", size(bytes)),
    }
}

fn until(job: &JobPlan) -> String {
    let end = &job.stream.end;
    let done = match (end.loops, end.requests) {
        (Some(1), None) if job.names.is_some() => Some("all are done".to_owned()),
        (Some(loops), None) if job.names.is_some() => Some(format!("all are done {loops} times")),
        (None, _) => None,
        (Some(_), Some(requests)) => Some(format!("{requests} requests")),
        (Some(1), None) => Some(size(end.bytes)),
        (Some(loops), None) => Some(format!("{} {loops} times", size(end.bytes))),
    };
    let time = (job.run_time_ns > 0).then(|| Span(job.run_time_ns).to_string());
    match (done, time) {
        (Some(done), Some(time)) => format!("{done}, at most {time}"),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => "stopped".to_owned(),
    }
}
