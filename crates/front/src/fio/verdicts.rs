//! Output of `check` for a job file: the verdict on each option, what runs when, files touched.

use std::fmt::Write;

use plan::printable;

use super::jobs::{FioJob, JobSet, RawFileName};
use super::settings::Direction;
use super::table::{FioOption, OptionSupport, OptionTable, advice};

/// Maximum number of sections that [`picture`] shows.
const SECTIONS_MAX: usize = 40;
/// Maximum number of files in a list.
const FILES_MAX: usize = 40;

/// Lists every option with its line number and verdict. Wraps at `width` columns, but leaves at
/// least 20 columns for sentences.
#[must_use]
pub fn verdicts(set: &JobSet, width: usize) -> String {
    let line_number = |it: &super::WrittenOption| match it.position.line {
        0 => "-".to_owned(),
        line => line.to_string(),
    };
    let texts = set.written.iter().map(|it| cut(&printable(&it.text()), 36));
    let texts: Vec<String> = texts.collect();
    let longest = texts.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    // Columns of the line number, the option and the verdict, with the blanks between them.
    let before = 6 + longest + 2 + 11;
    let mut lines = String::new();
    for (written, text) in set.written.iter().zip(texts) {
        let sentence = match written.support {
            OptionSupport::Refused { instead } => {
                format!("{}; {}", written.explanation, advice(instead))
            }
            _ => written.explanation.to_owned(),
        };
        let verdict = written.support.word();
        let _ = write!(
            lines,
            "{:>5} {text:longest$}  {verdict:10} ",
            line_number(written)
        );
        lines.push_str(&wrapped(&sentence, width, before));
    }
    lines
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Wraps words into lines; all lines but the first are indented to `column`.
fn wrapped(text: &str, width: usize, column: usize) -> String {
    let room = width.saturating_sub(column).max(20);
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > room {
            let _ = write!(lines, "\n{:column$}", "");
            used = 0;
        }
        if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines + "\n"
}

/// Timeline of the sections: one line per section, with bars if there is room.
#[must_use]
pub fn picture(set: &JobSet, width: usize) -> String {
    let sections: Vec<&[FioJob]> = set.sections().collect();
    let shown = &sections[..sections.len().min(SECTIONS_MAX)];
    let label = |jobs: &[FioJob]| {
        let name = cut(&printable(&jobs[0].name), 28);
        match jobs.len() {
            1 => name,
            count => format!("{name} x{count}"),
        }
    };
    let labels: Vec<String> = shown.iter().map(|it| label(it)).collect();
    let longest = labels
        .iter()
        .map(|it| it.chars().count())
        .max()
        .unwrap_or(0);
    let waves = set.waves.len().max(1);
    // 12 columns are around the label, and 18 are for the remark after the bars.
    let bar = width.saturating_sub(longest + 12 + 18) / waves;
    let bar = bar.min(16);
    let mut text = String::new();
    let mut wave = usize::MAX;
    for (jobs, label) in shown.iter().zip(labels) {
        let job = &jobs[0];
        let head = match job.wave_index == wave {
            true => String::new(),
            false => format!("wave {}", job.wave_index + 1),
        };
        wave = job.wave_index;
        let mut line = format!("{head:<9} {label:<longest$}  ");
        if bar > 1 {
            let (before, bar) = (bar * wave, "=".repeat(bar - 1));
            let _ = write!(line, "{:before$}{bar}  ", "");
        }
        line.push_str(&when(job));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if sections.len() > shown.len() {
        let _ = writeln!(text, "and {} more", sections.len() - shown.len());
    }
    text
}

/// How a section deviates from its wave: later start, or ending the others.
fn when(job: &FioJob) -> String {
    let settings = &job.settings;
    let mut parts = Vec::new();
    if let Some(name) = &settings.grouping.waits_for {
        parts.push(format!("after {}", cut(&printable(name), 28)));
    }
    let (least, most) = settings.time.start_delay_us;
    let seconds = |time: u64| time as f64 / 1e6;
    if most > 0 {
        parts.push(match least == most {
            true => format!("{} s later", seconds(least)),
            false => format!("{} to {} s later", seconds(least), seconds(most)),
        });
    }
    if settings.grouping.ends_others {
        parts.push("ends the others".to_owned());
    }
    parts.join(", ")
}

/// Files that the jobs touch, and how: one line per name, or per section if names are generated.
#[must_use]
pub fn files_touched(set: &JobSet) -> String {
    let mut lines: Vec<String> = Vec::new();
    for jobs in set.sections() {
        let (Some(first), Some(last)) = (jobs.first(), jobs.get(1).or(jobs.first())) else {
            continue;
        };
        let verb = verb(first);
        let count = first.file_count();
        if let Some(log) = &first.settings.replay.read {
            lines.push(replayed(first, log));
        } else if first.shares_files() {
            let names = (0..count.min(FILES_MAX as u32)).map(|at| first.file(at));
            lines.extend(names.map(|it| format!("{verb:17} {}", shown(&it))));
        } else {
            let mut line = format!("{verb:17} {}", shown(&first.file(0)));
            let all = u64::from(count) * jobs.len() as u64;
            if all > 1 {
                // The second clone created is the one with the highest index.
                let end = last.file(count - 1);
                let _ = write!(line, " to {} ({all} files)", shown(&end));
            }
            lines.push(line);
        }
        // Repeated lines are removed below, so more are collected than shown.
        if lines.len() > 4 * FILES_MAX {
            break;
        }
    }
    let mut seen = std::collections::BTreeSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    let more = lines.len().saturating_sub(FILES_MAX);
    lines.truncate(FILES_MAX);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines.join("\n") + "\n"
}

/// A line for a replayed log and its files.
fn replayed(job: &FioJob, log: &str) -> String {
    let log = cut(&printable(log), 60);
    match &job.settings.replay.redirect {
        Some(file) => format!("{:17} {log} on {}", "replays", cut(&printable(file), 60)),
        None => format!("{:17} {log} on the files that it names", "replays"),
    }
}

fn shown(path: &RawFileName) -> String {
    let text = cut(&printable(&path.text), 60);
    match path.leads_up {
        true => format!("{text} (leads out of its directory)"),
        false => text,
    }
}

fn verb(job: &FioJob) -> &'static str {
    match job.settings.access.direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
        Direction::Mixed => "reads and writes",
        Direction::Trim | Direction::TrimAndWrite => "trims",
        Direction::FileCreate | Direction::DirectoryCreate => "creates",
        Direction::FileStat | Direction::DirectoryStat => "looks at",
        Direction::FileDelete | Direction::DirectoryDelete => "deletes",
    }
}

/// The whole table of options as a Markdown document.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "# fio's options\n\nThis page shows whether your fio job runs unchanged. Each option of \
         fio 3.42 has one of four verdicts: *done* works as in fio, *differs* works as the last \
         column describes, *reporting* affects only results, and *refused* is an error that \
         names an alternative. A refused option is accepted if its value is 0.\n\
         \n## Verification\n\nBlocks have the header of fio 3.33 to 3.40, and headers of fio \
         since 3.41 are read, too. fio before 3.40 also compares the random number in each header, \
         which agrees for sequential writes of jobs without `randseed`. pgmeter does not compare \
         this number, nor the number of the write, so it does not detect that a write was lost if \
         the block was written before. `as fio` leaves files that a job wrote with `verify` where \
         fio leaves them, and replaces only files that an earlier run left; a file of the user \
         stays, and the run warns about it. Other files are removed at the end.\n\
         \n## Latencies in results\n\nOne call submits requests and waits for completions, so \
         by default submission latency is not measured separately: `slat_ns` has an `N` of 0, and \
         `clat` includes the time that fio counts as `slat`. With `slat_percentiles`, or with \
         `write_lat_log` and without `log_avg_msec`, jobs on `io_uring`, `libaio` and `posixaio` \
         submit by one call and wait by another: `slat_ns` lasts until the first call has \
         returned, and `clat_ns` begins then. `disable_slat` prevents this. `lat_ns` is the time \
         from the start of the submission, except in jobs of one direction with a `rate`: there \
         it begins when the request was due, so stalls are included. \
         `iodepth_submit`, `iodepth_complete` and depths above 1 are not measured and are 0.\n",
    );
    for (heading, rows) in OptionTable::groups() {
        let _ = write!(text, "\n## {heading}\n\n");
        text.push_str("| option | aliases | verdict | here |\n|---|---|---|---|\n");
        for row in rows {
            let names: Vec<String> = row.names().map(|it| name(&row, it)).collect();
            let (first, aliases) = (&names[0], names[1..].join(", "));
            let (verdict, meaning) = (row.support.word(), meaning(&row));
            let _ = writeln!(text, "| {first} | {aliases} | {verdict} | {meaning} |");
        }
    }
    text
}

fn name(row: &FioOption, name: &str) -> String {
    match (row.is_command_line, name.len()) {
        (true, 1) => format!("`-{name}`"),
        (true, _) => format!("`--{name}`"),
        (false, _) => format!("`{name}`"),
    }
}

fn meaning(row: &FioOption) -> String {
    let engines: Vec<&str> = row.engines().collect();
    let engine_note = match engines.is_empty() {
        true => String::new(),
        false => format!(" ({})", engines.join(", ")),
    };
    match row.support {
        OptionSupport::Refused { instead } => {
            format!("{}; {}{engine_note}", row.explanation, advice(instead))
        }
        _ => format!("{}{engine_note}", row.explanation),
    }
}
