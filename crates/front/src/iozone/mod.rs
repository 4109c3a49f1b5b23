//! IOzone: one file after the other, or one for each of several at once, read and written in many
//! ways.

mod options;
mod shuffle;
mod tests_of_file;
mod text;

use description::model::ContentChoice;

use crate::text::at_end;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Difference, Front, FrontWork};
use options::Options;

/// IOzone.
pub const FRONT: Front = Front {
    name: "iozone",
    title: "Rates of one file by size of file and record, for one or many",
    version: "IOzone 3.489",
    usage: include_str!("usage.txt"),
    arguments,
    file: None,
    ranks: None,
    without_direct: "leave `-I` out",
    text: |origin| at_end(origin, Options::read, text::page),
};

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let options = Options::read(line.arguments)?;
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

/// Records that are listed in a random order, at most.
const LISTED_MAX: u64 = 1 << 22;

/// What is measured as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    file_kib: u64,
    record_kib: u64,
    children: u32,
}

impl Sizes {
    /// As records call it; who reads it takes it apart again.
    fn name(self) -> String {
        let (file, record, children) = (self.file_kib, self.record_kib, self.children);
        format!("{file} kB by {record} kB, {children} at once")
    }

    const fn records(self) -> u64 {
        self.file_kib / self.record_kib
    }

    /// Whether the order of random records is held in memory.
    const fn is_listed(self) -> bool {
        self.records() <= LISTED_MAX
    }
}

/// All sizes, in their order.
fn matrix(options: &Options) -> Vec<Sizes> {
    let of_file = |children, file_kib| {
        let records = options.records_kib(file_kib).into_iter();
        records.map(move |record_kib| Sizes {
            file_kib,
            record_kib,
            children,
        })
    };
    let files = &options.files_kib;
    let of_children = |children| files.iter().flat_map(move |kib| of_file(children, *kib));
    match options.is_together() {
        true => options
            .children
            .iter()
            .copied()
            .flat_map(of_children)
            .collect(),
        false => of_children(1).collect(),
    }
}

fn differences(options: &Options) -> Vec<Difference> {
    let own =
        "in a work directory beside the named file, one for each size, and removed at the end";
    let is_large = matrix(options).iter().any(|size| !size.is_listed());
    let is_other = options.has(2) && is_large;
    let other = "another one of more than 4194304, each record once";
    let is_spread = options.directories().is_ok_and(|it| it.len() > 1);
    let in_turn = "children take the directories of `-F` in turn";
    let ends_durable = options.is_together() && (options.flushes || options.closes);
    let flushing = "flushing and closing at the stonewall";
    let before = "the others' figures are noted before";
    let those = [
        (true, "files", own),
        (
            true,
            "content",
            "zeros alone, without the mark in each page",
        ),
        (is_spread, "the order of children", in_turn),
        (is_other, "the order of random records", other),
        (ends_durable, flushing, before),
    ];
    Difference::those(&those, &options.ignored)
}
