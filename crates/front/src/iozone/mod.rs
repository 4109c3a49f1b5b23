//! IOzone: tests one file after the other, or one file per child in parallel, with many access
//! patterns.

mod options;
mod shuffle;
mod tests_of_file;
mod text;

use description::model::ContentChoice;

use crate::text::at_end;
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
    text: |origin| at_end(origin, IozoneOptions::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = IozoneOptions::read(line.arguments)?;
    options.check_paths(&line.files)?;
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
            file_kib,
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
    let those = [
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
