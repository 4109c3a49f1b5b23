//! The document of published columns beside runs.

use ::compare::Comparison;

use super::HARDWARE;
use super::comparison::{
    ComparedFigure, ComparedRun, ComparedTable, ComparedValue, MeasuredMean, PublishedComparison,
};
use crate::compare;
use crate::document::{Block, Document, Line, Medium, Part};
use crate::numbers::{ABSENT, digits};
use crate::page::Page;
use crate::styled::{Style, Styled};
use crate::table::{Column, Table};
use crate::wrap::printable;
use crate::write::write;

/// What stands where a published figure has no measured one.
const NOT_MEASURED: &str = "not measured";
const READING: &str = "A ratio is measured over published. A published figure is a single number, \
                       so there is neither an interval nor a verdict.";

/// Comparisons of one first side with each of the others, and published columns beside the runs,
/// with a final line break.
#[must_use]
pub fn render_comparisons(
    comparisons: &[Comparison],
    published: &[PublishedComparison],
    medium: Medium,
    page: Page,
) -> Styled {
    let of_runs = (!comparisons.is_empty()).then(|| compare::document(comparisons, medium));
    let published = published.iter().map(|it| it.document(medium));
    let whole = of_runs.into_iter().chain(published);
    let whole = whole.reduce(|mut whole, next| {
        whole.append(next);
        whole
    });
    write(&whole.unwrap_or_default(), medium, page)
}

impl PublishedComparison {
    /// What the experiment is, what was measured here, and the tables.
    fn document(&self, medium: Medium) -> Document {
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
            Some(Line::styled(alarm, Style::Red))
        });
        let table = |table: &ComparedTable| {
            Part::new(table.table.as_str(), [Block::Table(self.table(table))])
        };
        let tables = self.tables.iter().map(table);
        let reading = Part::new("", [Block::paragraphs([READING])]);
        Document {
            title: medium.heading(&format!("beside the published {}", self.experiment)),
            head: vec![
                Block::paragraphs(about),
                Block::list(self.sides.iter().map(described)),
                Block::list(alarms),
            ],
            parts: tables.chain([reading]).collect(),
        }
    }

    /// One published system below the other, with the runs beside each.
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
    let row = |(place, published): (usize, &ComparedValue)| {
        let of_side = |measured: &Option<MeasuredMean>| match measured {
            None => [NOT_MEASURED.to_owned(), ABSENT.to_owned()],
            Some(it) => [
                figure.kind.show(it.mean),
                it.ratios[place].map_or_else(|| ABSENT.to_owned(), digits),
            ],
        };
        let label = match place {
            0 => figure.figure.clone(),
            _ => String::new(),
        };
        [label, published.system.clone(), published.text.clone()]
            .into_iter()
            .chain(figure.measured.iter().flat_map(of_side))
            .collect()
    };
    figure.published.iter().enumerate().map(row).collect()
}

/// Which run a side is, in a line.
fn described(side: &ComparedRun) -> Line {
    let way = match (side.iodepth, side.workers) {
        (1, 1) => String::new(),
        (depth, workers) => format!(", queue depth {depth}, {workers} workers"),
    };
    let notes = side.notes.iter().map(|note| format!("; {note}"));
    let text = format!(
        "run {}, {}, {} on {}{way}{}",
        side.run,
        side.started_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        side.workload,
        side.target,
        notes.collect::<String>()
    );
    Line::labeled(side.name.as_str(), printable(&text))
}
