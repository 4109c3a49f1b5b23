//! Bonnie and Bonnie++: write, rewrite and read one file, seek in it with several workers, then
//! create, stat and delete many small files.

mod accounts;
mod classic;
mod draws;
mod options;
mod phases;
mod text;
mod waits;

use description::Workload;
use description::model::{ContentChoice, Seed};
use results::{RunEvent, RunRecord};

use crate::text::{ClassicText, at_end};
use crate::work::titled;
use crate::{ArgumentError, CommandLine, CreateMissing, Front, FrontWork, OriginalDifference};
use draws::{BonnieRandom, random_numbers};
use options::{BonnieOptions, PhaseWait};

pub use classic::FRONT as CLASSIC;

/// Front of Bonnie++ 2.00a.
pub const FRONT: Front = Front {
    name: "bonnie++",
    aliases: &[],
    title: "Measures sequential I/O and seeks in one large file, and work on many small files",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "Bonnie++ 2.00a",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || options::GRAMMAR.refused_options(),
    file: None,
    ranks: None,
    without_direct: "leave `-D` out",
    // Memory of 0, since another machine may print the text: `page` takes the file's size from the
    // record.
    text: |origin| {
        Box::new(BonnieText {
            at_end: at_end(origin, |it| BonnieOptions::read(it, 0), text::page),
        })
    },
};

/// The output: prompts during the run, and all else at its end.
struct BonnieText {
    at_end: Box<dyn ClassicText>,
}

impl ClassicText for BonnieText {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Prompted { number } => format!("\n{number}:\n"),
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        self.at_end.end(record)
    }
}

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = BonnieOptions::read(line.arguments, line.memory_bytes)?;
    accounts::check(
        options.user.as_deref(),
        options.group.as_deref(),
        &line.files,
    )?;
    if let Some(processes) = options.processes {
        return Err(ArgumentError::Semaphores(waits::semaphores(processes)));
    }
    if options.runs == Some(0) {
        return Err(ArgumentError::PrintOnly(String::new()));
    }
    // All runs make the same random choices.
    let numbers = match &options.random_file {
        Some(name) => random_numbers(name, &line.files)?,
        None => Vec::new(),
    };
    let mut program = phases::program(&options, &BonnieRandom::new(&options, numbers));
    if let Some(waiting) = options.waiting {
        waits::add(&mut program, waiting);
    }
    let run = |number: u32| Workload {
        seed: Some(Seed(options.seed().into())),
        // The original's buffer is zero except for one byte that it increments in each chunk.
        content: Some(ContentChoice::Zero),
        ..titled(
            &format!("run {}", number + 1),
            "Bonnie++",
            options.seekers,
            program.clone(),
        )
    };
    let runs = (0..options.runs.unwrap_or(1)).map(run).collect();
    Ok(FrontWork {
        differences: differences(&options),
        // The original exits with 1 after any error.
        error_code: Some(1),
        create_missing: match options.waiting {
            Some(_) => CreateMissing::Last,
            None => CreateMissing::None,
        },
        ..FrontWork::below(waits::directory(&options), runs)
    })
}

fn differences(options: &BonnieOptions) -> Vec<OriginalDifference> {
    let has_files = options.files.thousands > 0;
    let those = [
        (
            options.seed.is_none(),
            "the seed without -z",
            "1, so that all runs are the same",
        ),
        (
            has_files,
            "the directory that all files are in",
            "created and removed outside of the measured phases",
        ),
        (
            has_files,
            "latency of the sequential phases",
            "of each file, without reading its directory",
        ),
        (
            has_files && options.is_synced,
            "fsync of a directory",
            "the directory is opened for each fsync",
        ),
        (
            options.waiting.is_some(),
            "waiting for other processes",
            "not counted, also before putc, and before the file is opened",
        ),
        (
            options.waiting.is_some(),
            "place of the files",
            "in a directory of each process, which is removed at the end",
        ),
        (
            options.waiting == Some(PhaseWait::Prompt),
            "input of `-y p`",
            "lines of any length",
        ),
        (true, "progress", "printed as in every run of pgmeter"),
    ];
    OriginalDifference::applicable(&those, &options.ignored)
}
