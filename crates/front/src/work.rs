//! The work that a front derives from arguments or from a file.

use std::path::PathBuf;

use crate::rows::rows;
use description::Workload;
use description::model::{ContentChoice, ConvertedProgram, OwnHelps};
use plan::FrontOrigin;
use plan::program::{NamesInPlace, Program};
use plan::{Diagnostic, DiagnosticCode};

/// The cells to run, and everything else that arguments or a file determine.
#[derive(Debug, Clone, PartialEq)]
pub struct FrontWork {
    /// Cells to run, one after the other; see [`cell`].
    pub cells: Vec<Workload>,
    /// Directories in which workers put their files, in turn; at least one.
    pub directories: Vec<PathBuf>,
    /// Where the files are in these directories.
    pub placement: FilePlacement,
    /// Parts of the directories' paths that the original creates if they are missing. They are
    /// removed at the end if they are empty.
    pub create_missing: CreateMissing,
    /// Possible misunderstandings, one sentence each.
    pub warnings: Vec<String>,
    /// Remarks on a file, with their lines.
    pub findings: Vec<Diagnostic>,
    /// Differences from the original.
    pub differences: Vec<OriginalDifference>,
    /// Differences that only affect the original's text, so a workload file cannot express them.
    pub text_differences: Vec<OriginalDifference>,
    /// Additional output of `check`, in lines of at most 100 columns; mostly empty.
    pub check_text: String,
    /// Input of the text in addition to the record; empty to use the arguments.
    pub text_input: Vec<String>,
    /// Interval at which the text reports running jobs, in nanoseconds; 0 for never.
    pub status_interval_ns: u64,
    /// Exit code of the original if nothing could run; `None` for pgmeter's own.
    pub error_code: Option<u8>,
    /// Helps in the original's words, instead of keys and options of pgmeter.
    pub own_helps: OwnHelps,
}

/// Location of files in a directory.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum FilePlacement {
    /// In pgmeter's own work directory, which is removed at the end.
    #[default]
    WorkDirectory,
    /// In the directory itself, next to existing files. A file is created only under a free name,
    /// and only created files are used and removed. Files that the programs leave stay at the end,
    /// unless the run is stopped or fails.
    InPlace {
        /// Names of the files, to recognize leftover files of a killed run.
        names: NamesInPlace,
        /// `true` if missing directories are created.
        makes_directories: bool,
    },
}

/// The part of a path that is created if it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CreateMissing {
    /// Nothing: a missing directory is refused.
    #[default]
    None,
    /// Only the directory itself; its parent must exist.
    Last,
    /// The directory and all its parents.
    All,
}

impl FrontWork {
    /// Cells whose files are in the current directory, as in the original.
    #[must_use]
    pub fn new(cells: Vec<Workload>) -> Self {
        Self {
            cells,
            directories: vec![PathBuf::from(".")],
            placement: FilePlacement::default(),
            create_missing: CreateMissing::default(),
            warnings: Vec::new(),
            findings: Vec::new(),
            differences: Vec::new(),
            text_differences: Vec::new(),
            check_text: String::new(),
            text_input: Vec::new(),
            status_interval_ns: 0,
            error_code: None,
            own_helps: OwnHelps::default(),
        }
    }

    /// Cells whose files are below a directory.
    pub(crate) fn below(directory: impl Into<PathBuf>, cells: Vec<Workload>) -> Self {
        Self {
            directories: vec![directory.into()],
            ..Self::new(cells)
        }
    }

    /// Notes in each cell which front and arguments it comes from.
    pub(crate) fn signed(mut self, front: &str, arguments: &[String]) -> Self {
        if self.text_input.is_empty() {
            self.text_input = arguments.to_vec();
        }
        let is_in_place = matches!(self.placement, FilePlacement::InPlace { .. });
        for cell in &mut self.cells {
            // A workload file may state its source, which stays.
            cell.source.get_or_insert_with(|| front.to_owned());
            let origin = FrontOrigin {
                name: front.to_owned(),
                arguments: self.text_input.clone(),
            };
            if let Some(jobs) = &mut cell.jobs {
                jobs.origin = origin;
            } else if let Some(built) = &mut cell.built {
                built.is_in_place = is_in_place;
                built.origin = origin;
                built.own_helps = self.own_helps;
            }
        }
        self
    }

    /// Remarks on what a workload file written from this work leaves out.
    #[must_use]
    pub fn left_out(&self, file: &str) -> Vec<Diagnostic> {
        self.text_differences
            .iter()
            .map(|it| it.remark(file))
            .collect()
    }

    /// The findings and the differences from the original, as remarks on a file.
    #[must_use]
    pub fn remarks(&self, file: &str) -> Vec<Diagnostic> {
        let remarks = self.differences.iter();
        let remarks = remarks.filter(|it| it.kind != DifferenceKind::Exact);
        let remarks = remarks.map(|it| it.remark(file));
        self.findings.iter().cloned().chain(remarks).collect()
    }
}

/// A cell with this name that runs the program.
#[must_use]
pub fn cell(name: impl Into<String>, program: Program) -> Workload {
    Workload {
        name: Some(name.into()),
        built: Some(Box::new(ConvertedProgram::of(program))),
        ..Workload::default()
    }
}

/// A cell with this name, title and number of workers.
pub(crate) fn titled(name: &str, title: &str, workers: u32, program: Program) -> Workload {
    Workload {
        title: Some(title.to_owned()),
        workers: Some(workers),
        ..cell(name, program)
    }
}

/// The same cell with the content that the original writes.
pub(crate) fn writing(content: ContentChoice, cell: Workload) -> Workload {
    Workload {
        content: Some(content),
        ..cell
    }
}

/// An option, statement or habit of another program, and how pgmeter treats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginalDifference {
    /// Line in a file, from 1.
    pub line: Option<u32>,
    /// The option, statement or habit.
    pub subject: String,
    /// How pgmeter treats it.
    pub kind: DifferenceKind,
    /// The behavior of pgmeter instead, in lower case and without a full stop.
    pub note: String,
}

impl OriginalDifference {
    /// A difference without a line.
    #[must_use]
    pub fn new(kind: DifferenceKind, subject: impl Into<String>, note: impl Into<String>) -> Self {
        Self {
            line: None,
            subject: subject.into(),
            kind,
            note: note.into(),
        }
    }

    /// A behavior that differs, and how.
    #[must_use]
    pub fn differs(subject: &str, note: &str) -> Self {
        Self::new(DifferenceKind::Differs, subject, note)
    }

    /// The differences whose condition is true, and the options that have no effect.
    pub(crate) fn applicable(done: &[(bool, &str, &str)], ignored: &[String]) -> Vec<Self> {
        let done = done.iter().filter(|(is_so, ..)| *is_so);
        let done = done.map(|(_, what, note)| Self::differs(what, note));
        let ignored = ignored.iter().map(|option| Self::no_effect(option));
        done.chain(ignored).collect()
    }

    /// Differences of every run, from a table with the columns what, how, and `no effect` if it
    /// changes nothing.
    pub(crate) fn listed(table: &'static str) -> impl Iterator<Item = Self> {
        rows(table).map(|[what, note, effect]| match effect {
            "no effect" => Self::new(DifferenceKind::NoEffect, what, note),
            _ => Self::differs(what, note),
        })
    }

    /// An option that is accepted and has no effect.
    #[must_use]
    pub fn no_effect(option: &str) -> Self {
        Self::new(DifferenceKind::NoEffect, option, "")
    }

    /// The same difference at a line, from 1.
    #[must_use]
    pub const fn at(mut self, line: u32) -> Self {
        self.line = Some(line);
        self
    }

    /// The difference as one line.
    #[must_use]
    pub fn sentence(&self) -> String {
        let kind = match self.kind {
            DifferenceKind::Exact => "is as in the original",
            DifferenceKind::Differs => "differs",
            DifferenceKind::NoEffect => "changes nothing",
            DifferenceKind::Refused => "is refused",
        };
        match self.note.as_str() {
            "" => format!("{} {kind}", self.subject),
            note => format!("{} {kind}: {note}", self.subject),
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

/// How pgmeter treats a part of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DifferenceKind {
    /// It works as in the original.
    Exact,
    /// It works differently.
    Differs,
    /// It is accepted and has no effect.
    NoEffect,
    /// It is not supported, so nothing runs.
    Refused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_on_a_file_mention_its_differences() {
        let mut work = FrontWork::new(Vec::new());
        work.differences = vec![
            OriginalDifference::differs("`random`", "every block may be drawn").at(3),
            OriginalDifference::new(DifferenceKind::Exact, "order", ""),
        ];
        let remarks = work.remarks("x.f");
        let [remark] = &remarks[..] else {
            panic!("{remarks:?}");
        };
        assert_eq!(remark.code, Some(DiagnosticCode::DiffersFromOriginal));
        assert_eq!((remark.line, remark.file.as_str()), (Some(3), "x.f"));
    }
}
