//! IOzone: tests one file after the other, or one file per child in parallel, with many access
//! patterns.

mod banner;
mod latencies;
mod options;
mod paths;
mod records;
mod shuffle;
mod telemetry;
mod tests_of_file;
mod text;
mod worksheet;

use description::model::ContentChoice;
use plan::FrontOrigin;
use results::RunRecord;

use crate::text::{ClassicText, ParsedArguments};
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Front, FrontWork, OriginalDifference};
use options::IozoneOptions;

/// Front of IOzone 3.489.
pub const FRONT: Front = Front {
    name: "iozone",
    aliases: &[],
    title: "Measures throughput for a range of file and record sizes, with one or more workers",
    files_help: "\
        pgmeter creates files in a work directory next to the files of `-f` or `-F` \
        and removes them at the end.",
    version: "IOzone 3.489",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || options::GRAMMAR.refused_options(),
    file: None,
    ranks: None,
    without_direct: "leave `-I` out",
    text: |origin| Box::new(IozoneText::new(origin)),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let mut options = IozoneOptions::read(line.arguments)?;
    options.check_paths(&line.files)?;
    options.read_telemetry(&line.files)?;
    let cells = matrix(&options).into_iter().map(|size| {
        let program = tests_of_file::program(&options, size);
        let cell = titled(&size.name(), "IOzone", size.children, program);
        writing(ContentChoice::Zero, cell)
    });
    Ok(FrontWork {
        directories: options.directories()?,
        differences: differences(&options),
        ..FrontWork::new(cells.collect())
    })
}

/// Largest number of records whose random order is precomputed.
// A card takes 8 bytes, so a list takes at most 32 MiB.
const SHUFFLED_MAX: u64 = 1 << 22;

/// Sizes of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TestSizes {
    file_kib: u64,
    record_kib: u64,
    children: u32,
}

impl TestSizes {
    /// Name of the cell in records. The text finds the sizes of a cell by this name.
    fn name(self) -> String {
        let (file, record, children) = (self.file_kib, self.record_kib, self.children);
        format!("{file} kB by {record} kB, {children} at once")
    }

    /// The sizes of a cell with this name.
    fn of_name(name: &str) -> Option<Self> {
        let (file, rest) = name.split_once(" kB by ")?;
        let (record, children) = rest.strip_suffix(" at once")?.split_once(" kB, ")?;
        Some(Self {
            file_kib: file.parse().ok()?,
            record_kib: record.parse().ok()?,
            children: children.parse().ok()?,
        })
    }

    const fn records(self) -> u64 {
        self.file_kib / self.record_kib
    }

    /// `true` if the random order of the records is held in memory.
    const fn is_listed(self) -> bool {
        self.records() <= SHUFFLED_MAX
    }
}

/// All sizes, in the order in which they are measured.
fn matrix(options: &IozoneOptions) -> Vec<TestSizes> {
    let test_sizes = |children, file_kib| {
        let records = options.records_kib(file_kib).into_iter();
        records.map(move |record_kib| TestSizes {
            file_kib: match options.divides_size {
                // At least one record, which must fit.
                true => (file_kib / u64::from(children)).max(record_kib),
                false => file_kib,
            },
            record_kib,
            children,
        })
    };
    let files = &options.files_kib;
    let all_sizes = |children| files.iter().flat_map(move |kib| test_sizes(children, *kib));
    match options.is_together() {
        true => options
            .children
            .iter()
            .copied()
            .flat_map(all_sizes)
            .collect(),
        false => all_sizes(1).collect(),
    }
}

fn differences(options: &IozoneOptions) -> Vec<OriginalDifference> {
    let own =
        "in a work directory next to the named file, one for each size, and removed at the end";
    let is_large = matrix(options).iter().any(|size| !size.is_listed());
    let is_other = options.has(2) && is_large;
    let other = "a different order for more than 4194304 records, each record once";
    let is_spread = options.directories().is_ok_and(|it| it.len() > 1);
    let in_turn = "children take the directories of `-F` in turn";
    let ends_durable = options.is_together() && (options.flushes || options.closes);
    let flushing = "flushing and closing at the stonewall";
    let before = "the results of other children are taken before";
    let replaced = "existing files are replaced, not continued";
    let shared = "the whole file, for readers together or for one writer";
    let those = [
        (options.has_latency_files, "files of `-Q`", replaced),
        (options.locks, "locks of `-W`", shared),
        (
            options.mapped.is_some(),
            "files of `-B`",
            "extended by `ftruncate` before they are mapped",
        ),
        (true, "place of the files", own),
        (
            true,
            "content",
            "only zeros, without the pattern in each page",
        ),
        (is_spread, "the order of children", in_turn),
        (is_other, "the order of random records", other),
        (ends_durable, flushing, before),
    ];
    OriginalDifference::applicable(&those, &options.ignored)
}

/// Output of a run.
struct IozoneText {
    /// `None` if the arguments of a stored run are no longer understood.
    parsed: Option<ParsedArguments<IozoneOptions>>,
}

impl IozoneText {
    fn new(origin: &FrontOrigin) -> Self {
        let parsed = IozoneOptions::read(&origin.arguments).ok();
        Self {
            parsed: parsed.map(|options| ParsedArguments {
                options,
                arguments: origin.arguments.clone(),
            }),
        }
    }
}

impl ClassicText for IozoneText {
    fn end(&mut self, record: &RunRecord) -> String {
        let parsed = self.parsed.as_ref();
        parsed.map_or(String::new(), |parsed| text::page(parsed, record))
    }

    fn documents(&mut self, record: &RunRecord) -> Vec<(String, String)> {
        let parsed = self.parsed.as_ref();
        let parsed = parsed.filter(|it| it.options.has_latency_files);
        parsed.map_or(Vec::new(), |it| latencies::files(&it.options, record))
    }

    fn binary_documents(&mut self, record: &RunRecord) -> Vec<(String, Vec<u8>)> {
        let file = |parsed: &ParsedArguments<IozoneOptions>| {
            let name = parsed.options.worksheet.clone()?;
            Some((name, worksheet::bytes(parsed, record)))
        };
        self.parsed.iter().filter_map(file).collect()
    }
}
