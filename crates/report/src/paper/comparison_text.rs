//! Published columns beside runs, for people.

use ::compare::Comparison;

use super::HARDWARE;
use super::comparison::{
    ComparedFigure, ComparedRun, ComparedTable, ComparedValue, MeasuredMean, PublishedComparison,
};
use crate::compare::{ComparisonFormat, comparison_page, render_comparisons};
use crate::markdown::{escape, table_lines};
use crate::numbers::{ABSENT, digits};
use crate::page::Page;
use crate::styled::{Lines, Styled};
use crate::table::{Column, Table};
use crate::wrap::{printable, wrap};

/// What stands where a published figure has no measured one.
const NOT_MEASURED: &str = "not measured";
const READING: &str = "A ratio is measured over published. A published figure is a single number, \
                       so there is neither an interval nor a verdict.";

/// Published columns beside runs, below the comparisons of these runs where there are several, with
/// a final line break.
#[must_use]
pub fn render_published(
    comparisons: &[Comparison],
    published: &[PublishedComparison],
    format: ComparisonFormat,
    page: Page,
) -> Styled {
    let of_runs = (!comparisons.is_empty()).then(|| render_comparisons(comparisons, format, page));
    let parts = match format {
        ComparisonFormat::Text => published.iter().map(|it| it.text(page)).collect(),
        ComparisonFormat::Markdown => published.iter().map(|it| it.markdown().into()).collect(),
        ComparisonFormat::Html => {
            let texts = published.iter().map(|it| it.text(Page::PLAIN).to_string());
            return comparison_page(comparisons, &texts.collect::<Vec<String>>()).into();
        }
    };
    Styled::join(of_runs.into_iter().chain::<Vec<Styled>>(parts), "\n")
}

impl PublishedComparison {
    /// What the experiment is, and what was measured here.
    fn sentences(&self) -> Vec<String> {
        let heads = [&self.title, &self.source].map(Clone::clone).into_iter();
        let own = [
            format!("full size: {}", self.full_size),
            HARDWARE.to_owned(),
            self.remark.to_owned(),
        ];
        heads
            .chain(own)
            .chain(self.sides.iter().map(described))
            .collect()
    }

    /// What keeps figures from being compared.
    fn alarms(&self) -> impl Iterator<Item = String> {
        self.sides.iter().filter_map(|side| {
            let size = side.other_size.as_ref()?;
            Some(format!(
                "{} ran at another size than the publication: {size}. Counts and total times have \
                 no ratio here, and rates may depend on the size.",
                side.name
            ))
        })
    }

    fn text(&self, page: Page) -> Styled {
        let width = page.width.max(20);
        let mut lines = Lines::default();
        lines.push(page.bold(&format!("beside the published {}", self.experiment)));
        for sentence in self.sentences() {
            lines.extend(wrap(&sentence, width));
        }
        for alarm in self.alarms() {
            lines.extend(wrap(&alarm, width).iter().map(|line| page.red(line)));
        }
        for table in &self.tables {
            lines.extend(["".into(), page.bold(&table.table)]);
            let shown = self.table(table).lines(width);
            lines.extend(shown.head.iter().map(|line| page.bold(line)));
            lines.extend(shown.body);
        }
        lines.push("");
        lines.extend(wrap(READING, width));
        lines.push("");
        lines.into_text()
    }

    fn markdown(&self) -> String {
        let heading = format!("# Beside the published {}", escape(self.experiment));
        let mut lines = vec![heading, String::new()];
        let sentences = self.sentences();
        lines.extend(sentences.iter().map(|it| format!("- {}", escape(it))));
        lines.extend(self.alarms().map(|it| format!("- **{}**", escape(&it))));
        for table in &self.tables {
            let heading = format!("## {}", escape(&table.table));
            lines.extend([String::new(), heading, String::new()]);
            lines.extend(table_lines(&self.table(table)));
        }
        lines.extend([String::new(), READING.to_owned(), String::new()]);
        lines.join("\n")
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
        Table {
            columns,
            rows: table.figures.iter().flat_map(rows).collect(),
            span: None,
        }
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
fn described(side: &ComparedRun) -> String {
    let way = match (side.iodepth, side.workers) {
        (1, 1) => String::new(),
        (depth, workers) => format!(", queue depth {depth}, {workers} workers"),
    };
    let notes = side.notes.iter().map(|note| format!("; {note}"));
    let text = format!(
        "{}: run {}, {}, {} on {}{way}{}",
        side.name,
        side.run,
        side.started_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
        side.workload,
        side.target,
        notes.collect::<String>()
    );
    printable(&text)
}
