//! What a front makes of arguments or of a file.

use std::path::PathBuf;

use crate::CommandLine;
use crate::rows::rows;
use description::Workload;
use description::model::{BuiltProgram, ContentChoice};
use plan::FrontOrigin;
use plan::program::{NamesInPlace, Program};
use plan::{Diagnostic, DiagnosticCode};

/// What arguments or a file stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontWork {
    /// What is run, one cell after the other; see [`cell`].
    pub cells: Vec<Workload>,
    /// The directories in which workers have their files, in turn; at least one.
    pub directories: Vec<PathBuf>,
    /// Where in there.
    pub placement: Placement,
    /// Which of the directories the original makes where they are missing; they are removed at the
    /// end, where nothing else is in them.
    pub made: MadePart,
    /// What may have been meant otherwise, one sentence each.
    pub warnings: Vec<String>,
    /// What is not as in the original.
    pub differences: Vec<Difference>,
    /// What concerns the original's text alone, so that a workload file has no words for it.
    pub of_text: Vec<Difference>,
    /// What `check` tells of it besides, in lines of at most 100 columns; mostly nothing.
    pub about: String,
    /// What the text needs to know besides the record; the arguments, where it is empty.
    pub remembered: Vec<String>,
    /// How often the text tells of jobs while they go on, in nanoseconds; 0 for never.
    pub status_interval_ns: u64,
    /// What the original ends with where nothing could be run; as pgmeter does, where it is none.
    pub error_code: Option<u8>,
}

/// Where in a directory files lie.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Placement {
    /// In a work directory of our own, which is removed at the end.
    #[default]
    WorkDirectory,
    /// In the directory itself, among the files of others: a file is made only where its name is
    /// free, and only what was made is removed. Its programs work on what they made and nothing
    /// else. What they leave stays at the end, unless the run is stopped or fails.
    InPlace {
        /// How the files are called, for who finds what a run left that was killed.
        names: NamesInPlace,
        /// Whether directories that are missing are made.
        makes_directories: bool,
    },
}

/// Which part of a path is made where it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MadePart {
    /// Nothing: a missing directory is refused.
    #[default]
    Nothing,
    /// The directory alone: one in which it is to lie must be there.
    Last,
    /// The directory, and all that it lies in.
    All,
}

impl FrontWork {
    /// Cells whose files lie in the current directory, as in the original.
    #[must_use]
    pub fn new(cells: Vec<Workload>) -> Self {
        Self {
            cells,
            directories: vec![PathBuf::from(".")],
            placement: Placement::default(),
            made: MadePart::default(),
            warnings: Vec::new(),
            differences: Vec::new(),
            of_text: Vec::new(),
            about: String::new(),
            remembered: Vec::new(),
            status_interval_ns: 0,
            error_code: None,
        }
    }

    /// Cells whose files lie below a directory.
    pub(crate) fn below(directory: impl Into<PathBuf>, cells: Vec<Workload>) -> Self {
        Self {
            directories: vec![directory.into()],
            ..Self::new(cells)
        }
    }

    /// The cells of a front, each of which knows where it comes from.
    pub(crate) fn signed(mut self, front: &str, arguments: &[String]) -> Self {
        if self.remembered.is_empty() {
            self.remembered = arguments.to_vec();
        }
        let is_in_place = matches!(self.placement, Placement::InPlace { .. });
        for cell in &mut self.cells {
            cell.source.get_or_insert_with(|| front.to_owned());
            let origin = FrontOrigin {
                name: front.to_owned(),
                arguments: self.remembered.clone(),
            };
            if let Some(jobs) = &mut cell.jobs {
                jobs.origin = origin;
            } else if let Some(built) = &mut cell.built {
                built.is_in_place = is_in_place;
                built.origin = origin;
            }
        }
        self
    }

    /// What a workload file written of it leaves out, as remarks on the file.
    #[must_use]
    pub fn left_out(&self, file: &str) -> Vec<Diagnostic> {
        self.of_text.iter().map(|it| it.remark(file)).collect()
    }

    /// What differs, as remarks on a file.
    #[must_use]
    pub fn remarks(&self, file: &str) -> Vec<Diagnostic> {
        let told = self.differences.iter();
        let told = told.filter(|it| it.kind != DifferenceKind::Exact);
        told.map(|it| it.remark(file)).collect()
    }
}

/// A cell of that name, which runs the program.
#[must_use]
pub fn cell(name: impl Into<String>, program: Program) -> Workload {
    Workload {
        name: Some(name.into()),
        built: Some(Box::new(BuiltProgram {
            origin: FrontOrigin::default(),
            program,
            is_in_place: false,
            is_checked: false,
        })),
        ..Workload::default()
    }
}

/// A cell of that name and title, which so many workers run.
pub(crate) fn titled(name: &str, title: &str, workers: u32, program: Program) -> Workload {
    Workload {
        title: Some(title.to_owned()),
        workers: Some(workers),
        ..cell(name, program)
    }
}

/// The same with the content that the original writes.
pub(crate) fn writing(content: ContentChoice, cell: Workload) -> Workload {
    Workload {
        content: Some(content),
        ..cell
    }
}

/// Something that another program says, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The line of a file, from 1.
    pub line: Option<u32>,
    /// What it is about: an option, a statement, a habit.
    pub what: String,
    /// What became of it.
    pub kind: DifferenceKind,
    /// What is done instead, in lower case and without a full stop.
    pub note: String,
}

impl Difference {
    /// One that has no line.
    #[must_use]
    pub fn new(kind: DifferenceKind, what: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            line: None,
            what: what.into(),
            kind,
            note: note.into(),
        }
    }

    /// Something that is done otherwise, and how.
    #[must_use]
    pub fn differs(what: &str, note: &str) -> Self {
        Self::new(DifferenceKind::Differs, what, note)
    }

    /// What is done otherwise where that is so, and the options that change nothing.
    pub(crate) fn those(done: &[(bool, &str, &str)], ignored: &[String]) -> Vec<Self> {
        let done = done.iter().filter(|(is_so, ..)| *is_so);
        let done = done.map(|(_, what, note)| Self::differs(what, note));
        let ignored = ignored.iter().map(|option| Self::no_effect(option));
        done.chain(ignored).collect()
    }

    /// What is always done otherwise, by rows of a table: what, how, and `no effect` where it
    /// changes nothing.
    pub(crate) fn listed(table: &'static str) -> impl Iterator<Item = Self> {
        rows(table).map(|[what, note, effect]| match effect {
            "no effect" => Self::new(DifferenceKind::NoEffect, what, note),
            _ => Self::differs(what, note),
        })
    }

    /// An option that is understood and changes nothing.
    #[must_use]
    pub fn no_effect(option: &str) -> Self {
        Self::new(DifferenceKind::NoEffect, option, "")
    }

    /// The same at a line, from 1.
    #[must_use]
    pub const fn at(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// In one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let kind = match self.kind {
            DifferenceKind::Exact => "is as in the original",
            DifferenceKind::Differs => "differs",
            DifferenceKind::NoEffect => "changes nothing",
            DifferenceKind::Refused => "is refused",
        };
        match self.note.as_str() {
            "" => format!("{} {kind}", self.what),
            note => format!("{} {kind}: {note}", self.what),
        }
    }

    fn remark(&self, file: &str) -> Diagnostic {
        let remark = match self.kind {
            DifferenceKind::Refused => Diagnostic::error(file, self.sentence()),
            _ => {
                Diagnostic::warning(file, self.sentence()).code(DiagnosticCode::DiffersFromOriginal)
            }
        };
        match self.line {
            Some(line) => remark.at_line(line),
            None => remark,
        }
    }
}

/// What became of something that another program says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It is done as the original does it.
    Exact,
    /// It is done otherwise.
    Differs,
    /// It is understood, and changes nothing.
    NoEffect,
    /// It cannot be done, so nothing is.
    Refused,
}

/// A file of another program.
#[derive(Clone, Copy)]
pub struct FrontFile<'a> {
    /// Its name, for messages.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// What it may ask for besides: other files, variables, the machine. There are no arguments.
    pub around: CommandLine<'a>,
}

impl<'a> FrontFile<'a> {
    /// A file where there are no others, on a machine of which nothing is known.
    #[must_use]
    pub fn new(name: &'a str, bytes: &'a [u8]) -> Self {
        Self {
            name,
            bytes,
            around: CommandLine::of(&[]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_on_a_file_say_that_something_differs() {
        let mut work = FrontWork::new(Vec::new());
        work.differences = vec![
            Difference::differs("`random`", "every block may be drawn").at(3),
            Difference::new(DifferenceKind::Exact, "order", ""),
        ];
        let remarks = work.remarks("x.f");
        let [remark] = &remarks[..] else {
            panic!("{remarks:?}");
        };
        assert_eq!(remark.code, Some(DiagnosticCode::DiffersFromOriginal));
        assert_eq!((remark.line, remark.file.as_str()), (Some(3), "x.f"));
    }
}
