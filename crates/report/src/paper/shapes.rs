//! Tables of each experiment, in the layout of the publication.

use results::{CellRecord, Phase, RoundRule, RunRecord};
use units::Bytes;

use super::figure::{FigureKind, FigureTable, PaperFigure, groups};
use super::{ExperimentShape, PaperSide, PaperTable, TitledTable, complete_cells};
use crate::numbers::{ABSENT, digits};
use crate::side_by_side::{Extra, FigureRow};
use crate::table::{Column, Table};

const MIB: f64 = 1_048_576.0;

/// Returns the tables of the experiment, with published systems first.
pub(super) fn tables(table: &PaperTable) -> Vec<TitledTable> {
    let (sides, peak) = (&table.sides, table.peak);
    let groups = || groups(table.paper).into_iter();
    match table.paper.shape {
        ExperimentShape::Session | ExperimentShape::Steps => groups()
            .map(|group| metrics_in_rows(group, sides))
            .collect(),
        ExperimentShape::Systems | ExperimentShape::Bandwidths => groups()
            .map(|group| metrics_in_columns(group, sides, peak))
            .collect(),
        ExperimentShape::Rates => vec![rates(sides)],
        ExperimentShape::Grid => grids(sides),
    }
}

/// Returns the costs in addition to the workload; `None` if none are known.
pub(super) fn costs(table: &PaperTable) -> Option<TitledTable> {
    let row = |extra: &Extra| {
        let row = match table.is_of_guests {
            true => FigureRow::of_extra(extra).of_guests(),
            false => FigureRow::of_extra(extra),
        };
        let shown = row.values.into_iter();
        let shown = shown.map(|value| value.map_or_else(|| ABSENT.to_owned(), |it| it.text));
        std::iter::once(row.label).chain(shown).collect()
    };
    let columns = with_columns("", table.sides.iter().map(|side| side.name.clone()));
    let costs = Table::new(columns, table.costs.iter().map(row));
    (!table.costs.is_empty()).then(|| ("In addition to the workload".to_owned(), costs))
}

/// Returns the mean over the complete cells of a side; `None` if no cell has a value.
fn mean(side: &PaperSide, of: impl Fn(&CellRecord) -> Option<f64>) -> Option<f64> {
    let cells = complete_cells(side.records);
    let values: Vec<f64> = cells.filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), digits)
}

fn with_columns(first: &str, names: impl Iterator<Item = String>) -> Vec<Column> {
    let others = names.map(|name| Column::number(&name, 50));
    std::iter::once(Column::name(first)).chain(others).collect()
}

/// Returns the systems of a table, in the order of the publication.
fn systems(group: &FigureTable) -> Vec<String> {
    let published = group.figures.first().map(|figure| &figure.published);
    let systems = published.into_iter().flatten();
    systems.map(|value| value.system.clone()).collect()
}

fn published(figure: &PaperFigure, system: &str) -> String {
    let value = figure.published_value(system);
    value.map_or_else(|| ABSENT.to_owned(), |value| value.text.clone())
}

fn side_value(figure: &PaperFigure, side: &PaperSide) -> String {
    let value = mean(side, |cell| figure.measured(cell));
    value.map_or_else(|| ABSENT.to_owned(), |value| figure.kind.show(value))
}

/// Table with metrics in rows and systems in columns.
fn metrics_in_rows(group: FigureTable, sides: &[PaperSide]) -> TitledTable {
    let systems = systems(&group);
    let line = |figure: &PaperFigure| {
        let published = systems.iter().map(|system| published(figure, system));
        let measured = sides.iter().map(|side| side_value(figure, side));
        let label = std::iter::once(figure.label.clone());
        label.chain(published).chain(measured).collect()
    };
    let lines: Vec<Vec<String>> = group.figures.iter().map(line).collect();
    let names = systems
        .iter()
        .cloned()
        .chain(sides.iter().map(|side| side.name.clone()));
    (group.heading, Table::new(with_columns("", names), lines))
}

/// Table with systems in rows and metrics in columns. The bare device comes before the file systems
/// on it.
fn metrics_in_columns(
    group: FigureTable,
    sides: &[PaperSide],
    peak: Option<&RunRecord>,
) -> TitledTable {
    let systems = systems(&group);
    let published = systems.iter().map(|system| {
        let figures = group.figures.iter().map(|figure| published(figure, system));
        std::iter::once(system.clone()).chain(figures).collect()
    });
    let named = |name: &str, values: Vec<String>| {
        let name = format!("{name} (here)");
        std::iter::once(name).chain(values).collect()
    };
    let bare = peak.map(|_| {
        let bests = best_values(&group, peak);
        named(
            "bare device",
            metric_cells(&group, peak, |index| bests[index]),
        )
    });
    let measured = sides.iter().map(|side| {
        let value = |index: usize| mean(side, |cell| group.figures[index].measured(cell));
        named(&side.name, metric_cells(&group, side.peak, value))
    });
    let lines: Vec<Vec<String>> = published.chain(bare).chain(measured).collect();
    let heads = group.figures.iter().map(|figure| figure.label.clone());
    (
        group.heading,
        Table::new(with_columns("system", heads), lines),
    )
}

/// Returns the best value of each metric on the bare device.
fn best_values(group: &FigureTable, peak: Option<&RunRecord>) -> Vec<Option<f64>> {
    let best = |figure: &PaperFigure| {
        let values = complete_cells(peak).filter_map(|cell| figure.measured(cell));
        values.max_by(f64::total_cmp)
    };
    group.figures.iter().map(best).collect()
}

/// Formats the metrics of a table. A percentage relates the previous metric to the device's best.
fn metric_cells(
    group: &FigureTable,
    peak: Option<&RunRecord>,
    value: impl Fn(usize) -> Option<f64>,
) -> Vec<String> {
    let bests = best_values(group, peak);
    let figure = |(index, figure): (usize, &PaperFigure)| {
        let value = match figure.kind {
            FigureKind::Percent => index.checked_sub(1).and_then(|before| {
                let best = bests[before].filter(|best| *best > 0.0)?;
                Some(value(before)? / best * 100.0)
            }),
            _ => value(index),
        };
        value.map_or_else(|| ABSENT.to_owned(), |value| figure.kind.show(value))
    };
    group.figures.iter().enumerate().map(figure).collect()
}

fn rates(sides: &[PaperSide]) -> TitledTable {
    let heads = sides
        .iter()
        .flat_map(|side| ["create/s", "delete/s"].map(|rate| format!("{} {rate}", side.name)));
    // The file sizes of lat_fs.
    let lines = [0_u64, 1024, 4096, 10_240].map(|size_bytes| {
        let values = sides.iter().flat_map(|side| {
            ["create", "remove"].map(|step| {
                shown(mean(side, |cell| {
                    let begins = matches!(&cell.phase, Phase::Classic(it) if it.starts_with(step));
                    let figures = cell.phase_figures.as_ref()?;
                    let is_it = figures.fileset()?.file_bytes == size_bytes;
                    (begins && is_it).then(|| figures.reported_files_per_second(RoundRule::Best))?
                }))
            })
        });
        std::iter::once(Bytes(size_bytes).to_string())
            .chain(values)
            .collect::<Vec<String>>()
    });
    (
        "Files a second".to_owned(),
        Table::new(with_columns("size", heads), lines),
    )
}

/// Returns one table per workload, with requests in rows and outstanding I/Os in columns.
fn grids(sides: &[PaperSide]) -> Vec<TitledTable> {
    let cells = || {
        sides
            .iter()
            .flat_map(|side| side.records)
            .flat_map(|record| &record.cells)
    };
    let mut workloads: Vec<&str> = Vec::new();
    for cell in cells() {
        if !workloads.contains(&cell.workload.as_str()) {
            workloads.push(&cell.workload);
        }
    }
    let grid = |workload: &&str| grid(workload, sides);
    workloads.iter().map(grid).collect()
}

fn grid(workload: &str, sides: &[PaperSide]) -> TitledTable {
    let workload_cells = |side: &PaperSide| -> Vec<(String, u32)> {
        let cells = side.records.iter().flat_map(|record| &record.cells);
        let cells = cells.filter(|cell| cell.workload == workload);
        cells
            .map(|cell| (cell.name().to_owned(), cell.iodepth))
            .collect()
    };
    let mut names: Vec<String> = Vec::new();
    let mut depths: Vec<u32> = Vec::new();
    for (name, depth) in sides.iter().flat_map(workload_cells) {
        if !names.contains(&name) {
            names.push(name);
        }
        if !depths.contains(&depth) {
            depths.push(depth);
        }
    }
    // The pack of this paper has four workloads, `sequential-read` to `random-write`.
    let is_sequential = workload.starts_with("sequential");
    let mut lines = Vec::new();
    for name in &names {
        for side in sides {
            let rate = |depth: &u32| {
                shown(mean(side, |cell| {
                    let is_it =
                        cell.workload == workload && cell.name() == name && cell.iodepth == *depth;
                    is_it.then_some(match is_sequential {
                        true => cell.total.bytes_per_second / MIB,
                        false => cell.total.per_second,
                    })
                }))
            };
            let label = std::iter::once(format!("{name}, {}", side.name));
            lines.push(label.chain(depths.iter().map(rate)).collect());
        }
    }
    let unit = if is_sequential { "MB/s" } else { "I/Os per s" };
    let heads = depths.iter().map(|depth| depth.to_string());
    (
        format!("{workload}, {unit}, by outstanding I/Os"),
        Table::new(with_columns("", heads), lines),
    )
}
