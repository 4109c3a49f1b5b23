//! The report of published columns next to runs.

use ::compare::Comparison;

use super::HARDWARE;
use super::comparison::{
    ComparedFigure, ComparedRun, ComparedTable, ComparedValue, MeasuredMean, PublishedComparison,
};
use crate::VerdictPosition;
use crate::compare;
use crate::document::{Block, Document, DocumentPart, ReportMedium, TextLine};
use crate::numbers::{ABSENT, digits};
use crate::page::Page;
use crate::styled::{Style, Styled};
use crate::table::{Column, Table};
use crate::wrap::printable;
use crate::write::write;

/// Text for a published value without a measured counterpart.
const NOT_MEASURED: &str = "not measured";
const RATIO_NOTE: &str = "A ratio is the measured value divided by the published one. A published \
                       value is a single number, so there is neither an interval nor a verdict.";

/// Renders comparisons of the first side with each other side, and published columns next to the
/// runs, with a final line break. The position is for the summary of a text.
#[must_use]
pub fn render_comparisons(
    comparisons: &[Comparison],
    published: &[PublishedComparison],
    (medium, position): (ReportMedium, VerdictPosition),
    page: Page,
) -> Styled {
    let compared = || compare::document(comparisons, medium, position);
    let run_comparison = (!comparisons.is_empty()).then(compared);
    let published = published.iter().map(|it| it.document(medium));
    let documents = run_comparison.into_iter().chain(published);
    let document = documents.reduce(|mut whole, next| {
        whole.append(next);
        whole
    });
    write(&document.unwrap_or_default(), medium, page)
}

impl PublishedComparison {
    /// Returns the description of the experiment, the runs and the tables.
    fn document(&self, medium: ReportMedium) -> Document {
        let about = [
            self.title.clone(),
            self.source.clone(),
            format!("full size: {}", self.full_size),
            HARDWARE.to_owned(),
            self.remark.to_owned(),
        ];
        let alarms = self.sides.iter().filter_map(|side| {
            let size = side.other_size.as_ref()?;
            let alarm = format!(
                "{} ran at another size than the publication: {size}. Counts and total times have \
                 no ratio here, and rates may depend on the size.",
                side.name
            );
            Some(TextLine::styled(alarm, Style::Red))
        });
        let table = |table: &ComparedTable| {
            DocumentPart::new(table.table.as_str(), [Block::Table(self.table(table))])
        };
        let tables = self.tables.iter().map(table);
        let reading = DocumentPart::new("", [Block::paragraphs([RATIO_NOTE])]);
        Document {
            title: medium.heading(&format!("compared with the published {}", self.experiment)),
            head: vec![
                Block::paragraphs(about),
                Block::list(self.sides.iter().map(described)),
                Block::list(alarms),
            ],
            parts: tables.chain([reading]).collect(),
        }
    }

    /// Returns a table with one published system below the other, and the runs next to each.
    fn table(&self, table: &ComparedTable) -> Table {
        let mut columns = vec![
            Column::name("figure"),
            Column::name("published"),
            Column::number("value", u8::MAX),
        ];
        for side in &self.sides {
            columns.push(Column::number(&side.name, 50));
            columns.push(Column::number(&format!("{} ratio", side.name), 50));
        }
        Table::new(columns, table.figures.iter().flat_map(rows))
    }
}

fn rows(figure: &ComparedFigure) -> Vec<Vec<String>> {
    let row = |(index, published): (usize, &ComparedValue)| {
        let cells = |measured: &Option<MeasuredMean>| match measured {
            None => [NOT_MEASURED.to_owned(), ABSENT.to_owned()],
            Some(it) => [
                figure.kind.show(it.mean),
                // `ratios` has one entry per published value, in the same order.
                it.ratios[index].map_or_else(|| ABSENT.to_owned(), digits),
            ],
        };
        let label = match index {
            0 => figure.figure.clone(),
            _ => String::new(),
        };
        [label, published.system.clone(), published.text.clone()]
            .into_iter()
            .chain(figure.measured.iter().flat_map(cells))
            .collect()
    };
    figure.published.iter().enumerate().map(row).collect()
}

/// Describes the run of a side, in one line.
fn described(side: &ComparedRun) -> TextLine {
    let load = match (side.iodepth, side.workers) {
        (1, 1) => String::new(),
        (depth, workers) => format!(", queue depth {depth}, {workers} workers"),
    };
    let notes = side.notes.iter().map(|note| format!("; {note}"));
    let text = format!(
        "run {}, {}, {} on {}{load}{}",
        side.run,
        side.started_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        side.workload,
        side.target,
        notes.collect::<String>()
    );
    TextLine::labeled(side.name.as_str(), printable(&text))
}
