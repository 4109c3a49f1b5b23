//! The published tables as the first tables and submissions of a board.

use std::collections::BTreeMap;

use report::{FigureTable, KnownSystem, PAPERS, Paper, PaperFigure};
use results::BetterDirection;

use crate::{
    BoardColumn, BoardTable, DeclaredFacts, FIGURES_FORMAT, PoolSize, SUBMISSION_FORMAT,
    SubmissionDescription, SubmittedFigures, SubmittedRow, SystemKind, slug_of,
};

/// License of published figures: facts, which nobody owns.
const LICENSE: &str = "facts of a publication";

/// PostMark's tables of 1999: name of the paper, and size of its work.
const POSTMARK: [(&str, PoolSize); 5] = [
    ("lfs-postmark", size(9999, 5_000_000, 0)),
    ("netapp-postmark-1", size(1000, 50_000, 0)),
    ("netapp-postmark-2", size(20_000, 50_000, 0)),
    ("netapp-postmark-3", size(20_000, 100_000, 0)),
    ("netapp-postmark-4", size(20_000, 100_000, 100)),
];

const fn size(number: u32, transactions: u32, subdirectories: u32) -> PoolSize {
    PoolSize {
        number,
        transactions,
        subdirectories,
    }
}

/// A published submission: the name of its directory and its two files.
pub(crate) struct PublishedSubmission {
    pub slug: String,
    pub info: SubmissionDescription,
    pub figures: SubmittedFigures,
}

/// A table of a publication.
struct SourceTable {
    paper: &'static Paper,
    table: FigureTable,
    name: String,
}

/// Returns all published tables that pgmeter has.
pub(crate) fn tables() -> Vec<BoardTable> {
    published().iter().map(SourceTable::config).collect()
}

/// Returns a submission per published system. A system that several publications show has one
/// submission per publication and year.
pub(crate) fn submissions() -> Vec<PublishedSubmission> {
    let mut all: Vec<PublishedSubmission> = Vec::new();
    for table in published() {
        for system in table.paper.systems() {
            let Some(row) = table.row(&system.system) else {
                continue;
            };
            let [_, source] = table.paper.heading();
            let slug = slug_of(&format!("{}-{}", group_of(table.paper), system.system));
            match all.iter_mut().find(|it| it.slug == slug) {
                Some(known) => known.figures.rows.push(row),
                None => all.push(PublishedSubmission {
                    info: info(&system, source),
                    figures: SubmittedFigures {
                        format: FIGURES_FORMAT.to_owned(),
                        rows: vec![row],
                    },
                    slug,
                }),
            }
        }
    }
    all
}

fn published() -> Vec<SourceTable> {
    let tables = PAPERS.iter().flat_map(|paper| {
        let tables = paper.figure_tables();
        let is_alone = tables.len() == 1;
        tables.into_iter().map(move |table| SourceTable {
            paper,
            name: match is_alone {
                true => paper.name.to_owned(),
                // "Table 9-2: 128 MB in chunks of 64K" of `bfs-iozone`.
                false => {
                    let number = table.heading.split(':').next().unwrap_or_default();
                    slug_of(&format!("{} {number}", paper.name))
                }
            },
            table,
        })
    });
    tables.collect()
}

/// Returns the publication's short name, which its experiments share.
fn group_of(paper: &Paper) -> &str {
    paper.name.split('-').next().unwrap_or(paper.name)
}

impl SourceTable {
    fn config(&self) -> BoardTable {
        let paper = self.paper;
        let [title, source] = paper.heading();
        let heading = &self.table.heading;
        let is_alone = self.name == paper.name;
        let columns: Vec<BoardColumn> = self.columns().map(column).collect();
        let rank_by = columns
            .iter()
            .find(|column| column.better != BetterDirection::Neither);
        BoardTable {
            name: self.name.clone(),
            title: match is_alone {
                true => title,
                false => format!("{title}, {heading}"),
            },
            source: Some(source),
            command: format!("pgmeter paper run {} --target DIR", paper.name),
            paper: Some(paper.name.to_owned()),
            heading: (!is_alone).then(|| heading.clone()),
            work: None,
            rank_by: rank_by.map_or_else(String::new, |column| column.name.clone()),
            pool: POSTMARK
                .into_iter()
                .find(|(name, _)| *name == paper.name)
                .map(|(_, size)| size),
            imports: Vec::new(),
            columns,
        }
    }

    /// Returns the figures that the table shows.
    fn columns(&self) -> impl Iterator<Item = &PaperFigure> {
        // A percentage of the publication's own disk means nothing on another machine.
        let figures = self.table.figures.iter();
        figures.filter(|figure| !figure.label.contains("% of peak"))
    }

    /// Returns the row of a system; `None` if the table lacks it.
    fn row(&self, system: &str) -> Option<SubmittedRow> {
        let value = |figure: &PaperFigure| {
            let value = figure.published_value(system)?;
            Some((figure.label.clone(), value.text.clone()))
        };
        let values: BTreeMap<String, String> = self.columns().filter_map(value).collect();
        let table = self.name.clone();
        (!values.is_empty()).then_some(SubmittedRow { table, values })
    }
}

fn column(figure: &PaperFigure) -> BoardColumn {
    BoardColumn {
        name: figure.label.clone(),
        better: figure.ranks.unwrap_or(BetterDirection::Neither),
    }
}

fn info(system: &KnownSystem, source: String) -> SubmissionDescription {
    let what = system.what.clone();
    let is_in_memory = what.contains("in memory") || system.system.contains("MFS");
    let kind = match () {
        () if is_in_memory => SystemKind::Memory,
        () if what.contains("over NFS") => SystemKind::Network,
        () => SystemKind::Local,
    };
    SubmissionDescription {
        format: SUBMISSION_FORMAT.to_owned(),
        title: system.system.clone(),
        submitter: "the publication".to_owned(),
        license: LICENSE.to_owned(),
        submitted: None,
        year: Some(system.year.clone()).filter(|year| !year.is_empty()),
        kind,
        system: Some(what).filter(|what| !what.is_empty()),
        source: Some(source),
        note: None,
        declared: DeclaredFacts::default(),
        record: None,
        answers: BTreeMap::new(),
    }
}

/// Returns `true` if a row has exactly the values of a publication.
pub(crate) fn is_published(paper: &Paper, row: &SubmittedRow) -> bool {
    let is_of = |table: &SourceTable| table.paper.name == paper.name && table.name == row.table;
    published().into_iter().filter(is_of).any(|table| {
        let systems = paper.systems();
        systems
            .iter()
            .any(|system| table.row(&system.system).as_ref() == Some(row))
    })
}
