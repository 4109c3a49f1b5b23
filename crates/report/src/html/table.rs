//! Tables on a page.

use maud::{Markup, html};

use super::sentence::sentence;
use crate::styled::Style;
use crate::table::{Align, Column, Table};

/// Tables with more rows scroll in a frame.
const ROWS_SHOWN: usize = 40;

/// Returns a table in a frame that scrolls if the page is too narrow. `link` returns the anchor for
/// the first cell of a row.
#[must_use]
pub fn table(table: &Table, caption: &str, link: impl Fn(usize) -> Option<String>) -> Markup {
    let caption_element = html! { caption { span { (sentence(caption)) } } };
    framed(table, caption, &caption_element, link)
}

/// Returns a table below a heading that serves as its caption.
#[must_use]
pub fn below_heading(table: &Table, heading: &str) -> Markup {
    framed(table, heading, &html! {}, |_| None)
}

fn framed(
    table: &Table,
    label: &str,
    caption: &Markup,
    link: impl Fn(usize) -> Option<String>,
) -> Markup {
    let is_long = table.rows.len() > ROWS_SHOWN;
    let body = html! {
        table {
            (caption)
            thead { (heads(table)) }
            tbody {
                @for (index, row) in table.rows.iter().enumerate() {
                    tr {
                        @let cells = row.iter().zip(&table.columns).enumerate();
                        @for (column_index, (text, column)) in cells {
                            @let style = style(table, index, column_index);
                            @if column_index == 0 {
                                th scope="row" {
                                    @match link(index) {
                                        Some(id) => a href={ "#" (id) } { (sentence(text)) },
                                        None => (sentence(text)),
                                    }
                                }
                            } @else if column.align == Align::Left {
                                td.name style=[style] { (sentence(text)) }
                            } @else {
                                td style=[style] { (text) }
                            }
                        }
                    }
                }
            }
        }
    };
    frame(label, is_long, &body)
}

/// Returns the style of the last text of a row.
fn style(table: &Table, row: usize, column: usize) -> Option<&'static str> {
    let is_last = column + 1 == table.columns.len();
    let style = table.styles.get(row).copied().flatten();
    match style.filter(|_| is_last)? {
        Style::Bold => Some("font-weight:600"),
        Style::Green => Some("color:var(--good);font-weight:600"),
        Style::Yellow => Some("color:var(--doubt);font-weight:600"),
        Style::Red => Some("color:var(--severe);font-weight:600"),
    }
}

/// Returns a frame in which wide tables scroll, also with the keyboard.
#[must_use]
pub fn frame(label: &str, is_long: bool, content: &Markup) -> Markup {
    html! {
        // The keyboard scrolls only a focused element, which then needs a role and a name.
        div.frame.long[is_long] tabindex="0" role="group" aria-label=(label) { (content) }
    }
}

/// Returns a table without links; empty without rows.
#[must_use]
pub fn plain(
    columns: impl IntoIterator<Item = Column>,
    rows: impl IntoIterator<Item = Vec<String>>,
    caption: &str,
) -> Markup {
    let rows = Table::new(columns, rows);
    html! { @if !rows.rows.is_empty() { (table(&rows, caption, |_| None)) } }
}

/// Returns a table of names and values; empty without rows.
#[must_use]
pub fn pairs(rows: &[(String, String)], caption: &str) -> Markup {
    let element = html! { caption { span { (sentence(caption)) } } };
    let rows: Vec<(&str, &str)> = rows
        .iter()
        .map(|(name, value)| (&**name, &**value))
        .collect();
    framed_pairs(&rows, caption, &element)
}

/// Returns a table of names and values below a heading that serves as its caption.
#[must_use]
pub fn pairs_below_heading(rows: &[(&str, &str)], heading: &str) -> Markup {
    framed_pairs(rows, heading, &html! {})
}

fn framed_pairs(rows: &[(&str, &str)], label: &str, caption: &Markup) -> Markup {
    let body = html! {
        table.pairs {
            (caption)
            tbody {
                @for (name, value) in rows {
                    tr { th scope="row" { (name) } td.name { (sentence(value)) } }
                }
            }
        }
    };
    html! { @if !rows.is_empty() { (frame(label, false, &body)) } }
}

fn heads(table: &Table) -> Markup {
    let head = |column: &Column, rows: u8| {
        let rows = (rows > 1).then_some(rows);
        html! {
            th.name[column.align == Align::Left] scope="col" rowspan=[rows] {
                (column.head)
            }
        }
    };
    let Some((first, last, text)) = &table.span else {
        return html! { tr { @for column in &table.columns { (head(column, 1)) } } };
    };
    html! {
        tr {
            @for (index, column) in table.columns.iter().enumerate() {
                @if index == *first {
                    th.span scope="colgroup" colspan=(last - first + 1) { (text) }
                } @else if !(*first..=*last).contains(&index) {
                    (head(column, 2))
                }
            }
        }
        tr { @for column in &table.columns[*first..=*last] { (head(column, 1)) } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Table {
        Table {
            columns: vec![
                Column::name("workload"),
                Column::number("p50", 1),
                Column::number("p99", 1),
                Column::name("target"),
            ],
            rows: vec![["<b>", "1", "2", "/mnt"].map(str::to_owned).into()],
            span: Some((1, 2, "latency in µs".to_owned())),
            ..Table::default()
        }
    }

    #[test]
    fn names_are_escaped_and_link_to_their_section() {
        let page = table(&sample(), "Results", |row| Some(format!("cell-{row}"))).into_string();
        assert!(page.contains("<a href=\"#cell-0\">&lt;b&gt;</a>"), "{page}");
        assert!(page.contains("<td class=\"name\">/mnt</td>"), "{page}");
    }

    #[test]
    fn a_header_above_several_columns_spans_them() {
        let page = table(&sample(), "Results", |_| None).into_string();
        let span = "<th class=\"span\" scope=\"colgroup\" colspan=\"2\">latency in µs</th>";
        assert!(page.contains(span), "{page}");
        assert_eq!(page.matches("rowspan=\"2\"").count(), 2, "{page}");
    }

    #[test]
    fn a_long_table_scrolls_in_its_frame() {
        let mut long = sample();
        long.rows = vec![long.rows[0].clone(); ROWS_SHOWN + 1];
        assert!(
            table(&long, "Results", |_| None)
                .into_string()
                .contains("class=\"frame long\"")
        );
    }
}
