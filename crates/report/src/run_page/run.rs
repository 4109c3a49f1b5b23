//! A record prepared for the page.

use results::RunRecord;

use crate::Model;
use crate::chart::Detail;
use crate::group::{Naming, RepeatedCell, groups};
use crate::imported;
use crate::names::{letter, when};
use crate::wrap::printable;

/// A record prepared for the page.
pub struct Run<'a> {
    /// The record of the run.
    pub record: &'a RunRecord,
    /// Tables and sentences.
    pub model: Model,
    /// Cells grouped by repetition.
    pub groups: Vec<RepeatedCell<'a>>,
    /// Distinct names of the cells.
    pub naming: Naming,
    /// Letter of the run; `None` if it is the only run of the page.
    pub letter: Option<String>,
    /// Prefix of element ids; `None` if they are unique without one.
    prefix: Option<String>,
    /// Resolution of the charts.
    pub detail: Detail,
}

impl<'a> Run<'a> {
    /// Returns all records of a page.
    #[must_use]
    pub fn all(records: &'a [RunRecord]) -> Vec<Self> {
        let cells = records.iter().flat_map(|record| &record.cells);
        let operations_count = cells.map(|cell| cell.operations.len() + cell.transactions.len());
        // The size of the page depends on all its runs together.
        let detail = Detail::of(operations_count.sum());
        records
            .iter()
            .enumerate()
            .map(|(index, record)| Self {
                record,
                model: Model::new(record),
                groups: groups(record),
                naming: Naming::of(record),
                letter: (records.len() > 1).then(|| letter(index)),
                prefix: (records.len() > 1).then(|| letter(index)),
                detail,
            })
            .collect()
    }

    /// Returns records inside another kind of page, without letters.
    #[must_use]
    pub fn opened(records: &'a [RunRecord]) -> Vec<Self> {
        let runs = Self::all(records).into_iter().enumerate();
        let apart = |(index, run)| Self {
            letter: None,
            prefix: Some(letter(index)),
            ..run
        };
        runs.map(apart).collect()
    }

    /// Returns a short title: the pack's title if all workloads belong to one, or else the titles
    /// of the workloads.
    #[must_use]
    pub fn title(&self) -> String {
        if let Some(import) = &self.record.import {
            return imported::title(import);
        }
        let mut packs = self.record.plan.workloads.iter().map(|it| &it.pack);
        if let Some(Some(pack)) = packs.next()
            && packs.all(|it| it.as_ref() == Some(pack))
        {
            // A record of another version can name a pack that this version lacks.
            let builtin = description::builtin::find(pack).map(|it| it.title);
            return printable(builtin.as_deref().unwrap_or(pack));
        }
        let mut names: Vec<String> = Vec::new();
        for workload in &self.record.plan.workloads {
            let name = match workload.title.as_str() {
                "" => &workload.name,
                title => title,
            };
            let name = printable(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [] => "Nothing".to_owned(),
            [one] => one.clone(),
            [one, other] => format!("{one} and {other}"),
            [one, other, rest @ ..] => format!("{one}, {other} and {} more", rest.len()),
        }
    }

    /// Returns the id of an element of this run.
    #[must_use]
    pub fn id(&self, name: &str) -> String {
        match &self.prefix {
            None => name.to_owned(),
            Some(prefix) => format!("{prefix}-{name}"),
        }
    }

    /// Returns the heading of a section of this run.
    #[must_use]
    pub fn heading(&self, name: &str) -> String {
        match &self.letter {
            None => name.to_owned(),
            Some(letter) => format!("{name} of {letter}"),
        }
    }

    /// Returns the paths of the first few targets.
    #[must_use]
    pub fn targets(&self) -> String {
        const SHOWN: usize = 3;
        if let Some(import) = &self.record.import {
            return imported::targets(import);
        }
        let targets = &self.record.plan.targets;
        let paths = targets.iter().take(SHOWN);
        let mut names: Vec<String> = paths
            .map(|target| printable(&self.record.full_path(target).to_string_lossy()))
            .collect();
        if let Some(more) = targets.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            names.push(format!("{more} more"));
        }
        names.join(", ")
    }

    /// Formats start and duration.
    #[must_use]
    pub fn time(&self) -> String {
        match &self.record.import {
            Some(import) => format!("time {}", imported::time(import)),
            None => when(self.record.started_at, self.record.finished_at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_a_pack_has_the_title_of_the_pack() {
        let mut record = crate::sample::record();
        let title = |record: &RunRecord| {
            let records = [record.clone()];
            Run::all(&records)[0].title()
        };
        assert_eq!(title(&record), "File Server");
        let quick = description::builtin::find("quick").unwrap().title;
        for (pack, wanted) in [("quick", quick.as_str()), ("my-pack", "my-pack")] {
            record.plan.workloads[0].pack = Some(pack.to_owned());
            assert_eq!(title(&record), wanted);
        }
    }
}
