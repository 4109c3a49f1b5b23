//! Bonnie, the predecessor of Bonnie++.

use std::sync::Arc;

use description::model::ContentChoice;
use plan::program::Card;
use results::{RunRecord, Status};

use super::draws::seek;
use super::phases::{LARGE_FILE_PHASES, LargeFile, add, add_one_file_fileset, frame, remove};
use crate::options::{Grammar, LetterSyntax, OptionRow, read, refused_with, text};
use crate::random::GlibcRandom;
use crate::text::{ParsedArguments, at_end};
use crate::windows::{self, WorkerSum};
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Front, FrontWork, OriginalDifference};

/// Front of Bonnie 1.4.
pub const FRONT: Front = Front {
    name: "bonnie",
    aliases: &[],
    title: "Measures sequential I/O and seeks in one large file, as in 1990",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "Bonnie 1.4",
    usage: include_str!("classic_usage.txt"),
    arguments,
    general_differences: Vec::new,
    file: None,
    ranks: None,
    without_direct: "leave `-D` out",
    text: |origin| at_end(origin, BonnieClassicOptions::read, page),
};

const CHUNK_BYTES: u64 = 16_384;
/// Buffer size of C's streams.
// glibc takes it from `st_blksize`, which is 4096 on most file systems.
const STREAM_BYTES: u64 = 4096;
const SEEKS: u64 = 4000;

#[derive(Default)]
struct BonnieClassicOptions {
    directory: String,
    mib: u64,
    name: String,
    ignored: Vec<String>,
}

const GRAMMAR: Grammar<BonnieClassicOptions> = Grammar {
    letters: LetterSyntax::Alone,
    ..Grammar::new(OPTIONS, |it| &mut it.ignored)
};

const OPTIONS: &[OptionRow<BonnieClassicOptions>] = &[
    text("-d", |it| &mut it.directory),
    text("-m", |it| &mut it.name),
    read("-s", |it, value| {
        it.mib = value.limited(1, 1 << 20)?;
        Ok(())
    }),
    refused_with("-html", "`-html` is not supported"),
];

impl BonnieClassicOptions {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            directory: ".".to_owned(),
            mib: 100,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)
    }
}

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = BonnieClassicOptions::read(line.arguments)?;
    let mut program = frame(false);
    let file = LargeFile {
        size_bytes: options.mib << 20,
        per_char_bytes: options.mib << 20,
        chunk_bytes: CHUNK_BYTES,
        seeks: SEEKS,
        seekers: 3,
        // The original sleeps for 5 s before it hands out the first seeks.
        pause_ns: 5_000_000_000,
        // Unlike Bonnie++, the original only closes the file within the measured time.
        syncs_at_end: false,
        is_synced: false,
    };
    let own = add_one_file_fileset(&mut program, file.size_bytes);
    // putc and getc go through a stream, so the kernel only sees calls of the stream's buffer.
    let stream = LargeFile {
        chunk_bytes: STREAM_BYTES,
        // With 0, the phase creates the file; otherwise it would first remove one.
        per_char_bytes: 0,
        ..file
    };
    let [mut put, mut get] = [stream.put_blocks(own), stream.get_blocks(own)];
    LARGE_FILE_PHASES[0].clone_into(&mut put.name);
    LARGE_FILE_PHASES[3].clone_into(&mut get.name);
    // The original rewrites before it writes blocks, although its table lists the blocks first.
    let phases = [
        put,
        file.rewrite(own),
        file.put_blocks(own),
        get,
        file.get_blocks(own),
        file.seek(own, seeks(&file)),
        remove(own),
    ];
    add(&mut program, phases.into_iter());
    let cell = titled("bonnie", "Bonnie", file.seekers, program);
    let cell = writing(ContentChoice::Zero, cell);
    let note = "the stream's calls of 4096 bytes alone, without its work for each byte";
    Ok(FrontWork {
        differences: vec![
            OriginalDifference::differs("putc and getc", note),
            OriginalDifference::differs("where the seekers go", "the same places in every run"),
        ],
        ..FrontWork::below(&options.directory, vec![cell])
    })
}

/// Random chunks, of which every tenth is written back.
fn seeks(file: &LargeFile) -> Arc<[Card]> {
    let mut random = GlibcRandom::default();
    let chunks = file.size_bytes / file.chunk_bytes;
    let seeks = (1..=file.seeks).map(|turn| seek(random.next(), chunks, turn.is_multiple_of(10)));
    seeks.collect()
}

/// The output of Bonnie: one row of rates.
fn page(parsed: &ParsedArguments<BonnieClassicOptions>, record: &RunRecord) -> String {
    // The rates count all planned work, which an interrupted phase has not done.
    let complete = |name| {
        let phase = windows::phase(record, name);
        phase.filter(|cell| cell.status == Status::Complete)
    };
    let sums = LARGE_FILE_PHASES.map(|name| complete(name).map(WorkerSum::of));
    table(&parsed.options, &sums)
}

/// The table; columns of phases without a sum are blank.
fn table(options: &BonnieClassicOptions, sums: &[Option<WorkerSum>; 6]) -> String {
    let row: String = sums
        .iter()
        .enumerate()
        .map(|(index, sum)| {
            let Some(sum) = sum else {
                return " ".repeat(11);
            };
            let per_second = |amount: f64| amount / sum.seconds.max(1e-9);
            // The size of the file counts instead of the moved bytes, because a rewrite moves each
            // byte twice.
            let kib = per_second((options.mib << 10) as f64);
            match index {
                5 => format!("{:5.1} {:4.1}", per_second(SEEKS as f64), sum.percent()),
                // The cast truncates, as in the original.
                _ => format!("{:5} {:4.1} ", kib as i64, sum.percent()),
            }
        })
        .collect();
    format!(
        "              -------Sequential Output-------- ---Sequential Input-- --Random--
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
{:<8.8} {:4} {row}\n",
        options.name, options.mib
    )
}

#[cfg(test)]
mod tests {
    use plan::FrontOrigin;

    use super::*;
    use crate::tests::{record, round};

    #[test]
    fn a_row_has_the_figures_in_the_order_of_the_heading() {
        let options =
            BonnieClassicOptions::read(&["-s", "8", "-m", "a machine"].map(str::to_owned)).unwrap();
        let sum = WorkerSum {
            seconds: 2.0,
            cpu_seconds: 1.0,
            bytes: 8 << 20,
        };
        let text = table(&options, &[Some(sum); 6]);
        let row = text.lines().last().unwrap();
        assert_eq!(
            row,
            "a machin    8  4096 50.0  4096 50.0  4096 50.0  4096 50.0  4096 50.0 2000.0 50.0"
        );
    }

    #[test]
    fn incomplete_phases_are_blank() {
        let round = |seconds: u64| vec![round(&[(1, seconds * 1_000_000_000)])];
        let origin = FrontOrigin {
            name: "bonnie".to_owned(),
            arguments: ["-s", "8"].map(str::to_owned).to_vec(),
        };
        let phases = [
            (LARGE_FILE_PHASES[0], round(2)),
            (LARGE_FILE_PHASES[2], round(1)),
        ];
        let mut record = record(&origin, &phases);
        record.cells[1].status = Status::Interrupted;
        let text = FRONT.text_of(&origin).end(&record);
        let row = text.lines().last().unwrap();
        assert_eq!(row.trim_end(), "            8  4096  0.0");
    }

    #[test]
    fn unsupported_options_are_refused_by_name() {
        for (words, wanted) in [
            (&["-html"][..], "`-html` is not supported"),
            (&["-s"], "option `-s` needs a value"),
            (&["-s", "0"], "`-s` is 0, not from 1 to 1048576"),
            (&["-x"], "there is no option `-x`"),
        ] {
            let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(
                BonnieClassicOptions::read(&words).err().as_deref(),
                Some(wanted)
            );
        }
    }
}
