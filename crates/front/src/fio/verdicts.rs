//! What `check` tells of a job file: options and their verdicts, what runs when, which files.

use std::fmt::Write;

use plan::printable;

use super::jobs::{Job, JobSet, WrittenPath};
use super::settings::Direction;
use super::table::{OptionRow, Table, Verdict, advice};

/// Sections that a picture shows, at most.
const SECTIONS_MAX: usize = 40;
/// Files that a list shows, at most.
const FILES_MAX: usize = 40;

/// Every option where it stands, with its verdict: lines of at most `width` columns, if there is
/// any room for sentences.
#[must_use]
pub fn verdicts(set: &JobSet, width: usize) -> String {
    let place = |it: &super::WrittenOption| match it.place.line {
        0 => "-".to_owned(),
        line => line.to_string(),
    };
    let texts = set.written.iter().map(|it| cut(&printable(&it.text()), 36));
    let texts: Vec<String> = texts.collect();
    let longest = texts.iter().map(|it| it.chars().count()).max().unwrap_or(0);
    let before = 6 + longest + 2 + 11;
    let mut lines = String::new();
    for (written, text) in set.written.iter().zip(texts) {
        let sentence = match written.verdict {
            Verdict::Refused { instead } => format!("{}; {}", written.sentence, advice(instead)),
            _ => written.sentence.to_owned(),
        };
        let verdict = written.verdict.word();
        let _ = write!(
            lines,
            "{:>5} {text:longest$}  {verdict:10} ",
            place(written)
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

/// Words in lines, all but the first of which begin at a column.
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

/// What runs beside and after what: a line for each section, with bars if there is room.
#[must_use]
pub fn picture(set: &JobSet, width: usize) -> String {
    let sections: Vec<&[Job]> = set.sections().collect();
    let shown = &sections[..sections.len().min(SECTIONS_MAX)];
    let label = |jobs: &[Job]| {
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

/// What sets a section apart from its wave.
fn when(job: &Job) -> String {
    let settings = &job.settings;
    let mut said = Vec::new();
    if let Some(name) = &settings.grouping.waits_for {
        said.push(format!("after {}", cut(&printable(name), 28)));
    }
    let (least, most) = settings.time.start_delay_us;
    let seconds = |time: u64| time as f64 / 1e6;
    if most > 0 {
        said.push(match least == most {
            true => format!("{} s later", seconds(least)),
            false => format!("{} to {} s later", seconds(least), seconds(most)),
        });
    }
    if settings.grouping.ends_others {
        said.push("ends the others".to_owned());
    }
    said.join(", ")
}

/// Which files the jobs touch, and how: a line for each name, or for each section's own files.
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
                // The clone that is made second is the last by number.
                let end = last.file(count - 1);
                let _ = write!(line, " to {} ({all} files)", shown(&end));
            }
            lines.push(line);
        }
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

/// A log, and on which files.
fn replayed(job: &Job, log: &str) -> String {
    let log = cut(&printable(log), 60);
    match &job.settings.replay.redirect {
        Some(file) => format!("{:17} {log} on {}", "replays", cut(&printable(file), 60)),
        None => format!("{:17} {log} on the files that it names", "replays"),
    }
}

fn shown(path: &WrittenPath) -> String {
    let text = cut(&printable(&path.text), 60);
    match path.leads_up {
        true => format!("{text} (leads out of its directory)"),
        false => text,
    }
}

fn verb(job: &Job) -> &'static str {
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

/// The whole table as a document.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(
        "# fio's options\n\nWhat becomes of every option of fio 3.42 here: *done* as fio does it, \
         *differs* as the last column says, *reporting* (concerns results alone), or *refused*, \
         with what to use instead. A refused option that is switched off with 0 is taken.\n\
         \n## Latencies in results\n\nRequests are submitted and waited for by one call, so there \
         is no time of submission by itself: `slat_ns` is there with an `N` of 0, and what fio \
         counts as `slat` is part of `clat`. `clat_ns` is from when a request was handed over to \
         when it was seen to be done. `lat_ns` is the same, but in jobs of one direction at a \
         `rate` it begins when the request was due, so that stalls show. `iodepth_submit` and \
         `iodepth_complete`, and depths of more than one request, are not measured and 0.\n",
    );
    for (heading, rows) in Table::groups() {
        let _ = write!(text, "\n## {heading}\n\n");
        text.push_str("| option | aliases | verdict | here |\n|---|---|---|---|\n");
        for row in rows {
            let names: Vec<String> = row.names().map(|it| name(&row, it)).collect();
            let (first, aliases) = (&names[0], names[1..].join(", "));
            let (verdict, meaning) = (row.verdict.word(), meaning(&row));
            let _ = writeln!(text, "| {first} | {aliases} | {verdict} | {meaning} |");
        }
    }
    text
}

fn name(row: &OptionRow, name: &str) -> String {
    match (row.is_of_command_line, name.len()) {
        (true, 1) => format!("`-{name}`"),
        (true, _) => format!("`--{name}`"),
        (false, _) => format!("`{name}`"),
    }
}

fn meaning(row: &OptionRow) -> String {
    let engines: Vec<&str> = row.engines().collect();
    let of_engines = match engines.is_empty() {
        true => String::new(),
        false => format!(" ({})", engines.join(", ")),
    };
    match row.verdict {
        Verdict::Refused { instead } => {
            format!("{}; {}{of_engines}", row.sentence, advice(instead))
        }
        _ => format!("{}{of_engines}", row.sentence),
    }
}
