//! Each experiment in the shape of its own tables.

use std::collections::BTreeMap;

use results::{CellRecord, Phase};
use units::Bytes;

use super::{Paper, PaperSide, Shape, Titled};
use crate::numbers::{ABSENT, digits};
use crate::table::{Column, Table};

const SECOND_NS: f64 = 1e9;
const KIB: f64 = 1024.0;
const MIB: f64 = 1_048_576.0;

/// A row of the published figures.
type Published = BTreeMap<String, String>;

/// The experiment's tables, published systems first.
pub(super) fn tables(paper: &Paper, sides: &[PaperSide]) -> Vec<Titled> {
    let rows = paper.rows();
    match paper.shape {
        Shape::Session => vec![session(&rows, sides)],
        Shape::Systems => vec![systems(paper, &rows, sides)],
        Shape::Steps => vec![steps(&rows, sides)],
        Shape::Bandwidths => ["9-2", "9-3", "9-4"]
            .map(|name| bandwidths(name, &rows, sides))
            .into(),
        Shape::Rates => vec![rates(sides)],
        Shape::Grid => grids(sides),
    }
}

/// The mean of a figure over a side's cells; none where no cell has it.
fn mean(side: &PaperSide, of: impl Fn(&CellRecord) -> Option<f64>) -> Option<f64> {
    let cells = side.records.iter().flat_map(|record| &record.cells);
    let values: Vec<f64> = cells.filter_map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn shown(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), digits)
}

/// A figure of the classic program itself.
fn classic(cell: &CellRecord, name: &str) -> Option<f64> {
    cell.classic.as_ref()?.get(name)?.as_f64()
}

fn seconds(cell: &CellRecord, name: &str) -> Option<f64> {
    classic(cell, name).map(|ns| ns / SECOND_NS)
}

fn with_columns(first: &str, names: impl Iterator<Item = String>) -> Vec<Column> {
    let others = names.map(|name| Column::number(&name, 50));
    std::iter::once(Column::name(first)).chain(others).collect()
}

fn table(columns: Vec<Column>, rows: Vec<Vec<String>>) -> Table {
    Table {
        columns,
        rows,
        span: None,
    }
}

/// PostMark's figures, megabytes summed in 32-bit floats as it does: label, column of the
/// publication, and name in records.
const SESSION: [(&str, &str, &str); 13] = [
    ("transactions per s", "tps", "transactions_per_second"),
    ("total, s", "total_s", "total_ns"),
    ("transactions, s", "transactions_s", "transactions_ns"),
    ("created", "created", "created"),
    ("created alone", "created_alone", "created_alone"),
    ("created mixed", "created_mixed", "created_mixed"),
    ("read", "read", "read"),
    ("appended", "appended", "appended"),
    ("deleted", "deleted", "deleted"),
    ("deleted alone", "deleted_alone", "deleted_alone"),
    ("deleted mixed", "deleted_mixed", "deleted_mixed"),
    ("read, MB", "read_megabytes", "read_mib_float32"),
    ("written, MB", "written_megabytes", "written_mib_float32"),
];

fn session(rows: &[Published], sides: &[PaperSide]) -> Titled {
    let names = rows.iter().map(|row| row["file_system"].clone());
    let names = names.chain(sides.iter().map(|side| side.name.clone()));
    let lines = SESSION.iter().map(|(label, key, name)| {
        let published = rows.iter().map(|row| row[*key].clone());
        let of_sides = sides.iter().map(|side| {
            let is_count = |value: f64| value.fract() == 0.0 && !name.ends_with("_ns");
            let value = mean(side, |cell| match name.ends_with("_ns") {
                true => seconds(cell, name),
                false => classic(cell, name),
            });
            match value {
                Some(value) if is_count(value) => format!("{value:.0}"),
                Some(value) if name.contains("_mib") => format!("{value:.2}"),
                value => shown(value),
            }
        });
        let label = std::iter::once((*label).to_owned());
        label.chain(published).chain(of_sides).collect()
    });
    let lines = lines.collect();
    ("PostMark".to_owned(), table(with_columns("", names), lines))
}

fn systems(paper: &Paper, rows: &[Published], sides: &[PaperSide]) -> Titled {
    let keys = [
        "system",
        "transactions_per_second",
        "read_kbytes_per_second",
        "write_kbytes_per_second",
    ];
    let published = rows
        .iter()
        .map(|row| keys.map(|key| row[key].clone()).into());
    let of_sides = sides.iter().map(|side| {
        // PostMark divides by the time of the whole session.
        let rate = |name: &'static str| {
            mean(side, |cell| {
                let total_s = seconds(cell, "total_ns").filter(|total_s| *total_s > 0.0)?;
                Some(classic(cell, name)? / KIB / total_s)
            })
        };
        vec![
            format!("{} (here)", side.name),
            shown(mean(side, |cell| classic(cell, "transactions_per_second"))),
            shown(rate("read_bytes")),
            shown(rate("written_bytes")),
        ]
    });
    let heads = ["transactions/s", "read KB/s", "write KB/s"].map(str::to_owned);
    let lines: Vec<Vec<String>> = published.chain(of_sides).collect();
    let number = paper.table.unwrap_or_default();
    let heading = format!("Table {number}: {}", paper.size);
    (
        heading,
        table(with_columns("system", heads.into_iter()), lines),
    )
}

/// Times of a step: label, column of the publication, and how a cell says it.
type Time = (&'static str, &'static str, fn(&CellRecord) -> Option<f64>);

const TIMES: [Time; 3] = [
    ("real s", "real_s", |cell| seconds(cell, "real_ns")),
    ("user s", "user_s", |cell| {
        Some(cell.cpu.user_ns as f64 / SECOND_NS)
    }),
    ("sys s", "sys_s", |cell| {
        Some(cell.cpu.system_ns as f64 / SECOND_NS)
    }),
];

fn steps(rows: &[Published], sides: &[PaperSide]) -> Titled {
    let mut systems: Vec<&str> = rows.iter().map(|row| row["file_system"].as_str()).collect();
    systems.dedup();
    let names = systems.iter().map(|name| (*name).to_owned());
    let names = names.chain(sides.iter().map(|side| side.name.clone()));
    let mut lines: Vec<Vec<String>> = Vec::new();
    for step in rows
        .iter()
        .filter(|row| Some(&row["file_system"].as_str()) == systems.first())
    {
        let (size, operation) = (&step["file_bytes"], &step["operation"]);
        let of_system = |system: &&str| {
            rows.iter().find(|row| {
                row["file_system"] == **system
                    && row["file_bytes"] == *size
                    && row["operation"] == *operation
            })
        };
        let is_it = |cell: &CellRecord| {
            let bytes = classic(cell, "size_bytes").map(|bytes| bytes.to_string());
            let creates = cell.classic.as_ref()?.get("is_create")?.as_bool()?;
            (bytes.as_ref() == Some(size) && creates == (operation == "create")).then_some(())
        };
        for (label, key, of) in TIMES {
            let published = systems.iter().map(|system| {
                of_system(system).map_or_else(|| ABSENT.to_owned(), |row| row[key].clone())
            });
            let value = |side| mean(side, |cell| is_it(cell).and_then(|()| of(cell)));
            let of_sides = sides.iter().map(|side| shown(value(side)));
            let label = std::iter::once(format!("{operation} {size}, {label}"));
            lines.push(label.chain(published).chain(of_sides).collect());
        }
        let published = systems.iter().map(|system| {
            let each = of_system(system).and_then(|row| {
                let number = |key: &str| row[key].parse::<f64>().ok();
                Some(number("real_s")? / number("files")? * 1e6)
            });
            shown(each)
        });
        let of_sides = sides.iter().map(|side| {
            shown(mean(side, |cell| {
                is_it(cell)?;
                Some(classic(cell, "real_ns")? / classic(cell, "files_asked")? / 1e3)
            }))
        });
        let label = std::iter::once(format!("{operation} {size}, µs a file"));
        lines.push(label.chain(published).chain(of_sides).collect());
    }
    (
        "Files of 0 to 65536 bytes".to_owned(),
        table(with_columns("", names), lines),
    )
}

fn bandwidths(name: &str, rows: &[Published], sides: &[PaperSide]) -> Titled {
    let rows: Vec<&Published> = rows.iter().filter(|row| row["table"] == name).collect();
    let keys = [
        "file_system",
        "write_mb_per_second",
        "write_percent_of_peak",
        "read_mb_per_second",
        "read_percent_of_peak",
    ];
    let published = rows
        .iter()
        .map(|row| keys.map(|key| row[key].clone()).into());
    let of_sides = sides.iter().map(|side| {
        let rate = |operation: &str| {
            let workload = format!("table-{name}-{operation}");
            shown(mean(side, |cell| {
                (cell.workload == workload).then(|| cell.total.bytes_per_second / MIB)
            }))
        };
        let absent = || ABSENT.to_owned();
        let system = format!("{} (here)", side.name);
        vec![system, rate("write"), absent(), rate("read"), absent()]
    });
    let heads = ["write MB/s", "% of peak", "read MB/s", "% of peak"].map(str::to_owned);
    let lines: Vec<Vec<String>> = published.chain(of_sides).collect();
    let what = rows
        .first()
        .map(|row| format!("{} in chunks of {}", row["file_size"], row["chunk"]));
    let heading = format!("Table {name}: {}", what.unwrap_or_default());
    (
        heading,
        table(with_columns("system", heads.into_iter()), lines),
    )
}

fn rates(sides: &[PaperSide]) -> Titled {
    let heads = sides
        .iter()
        .flat_map(|side| ["create/s", "delete/s"].map(|rate| format!("{} {rate}", side.name)));
    let lines = [0_u64, 1024, 4096, 10_240].map(|size_bytes| {
        let values = sides.iter().flat_map(|side| {
            ["create", "remove"].map(|step| {
                shown(mean(side, |cell| {
                    let begins = matches!(&cell.phase, Phase::Classic(it) if it.starts_with(step));
                    let is_it = classic(cell, "size_bytes") == Some(size_bytes as f64);
                    (begins && is_it).then(|| classic(cell, "best_files_per_second"))?
                }))
            })
        });
        std::iter::once(Bytes(size_bytes).to_string())
            .chain(values)
            .collect()
    });
    (
        "Files a second".to_owned(),
        table(with_columns("size", heads), lines.into()),
    )
}

/// A table for each workload: requests in rows, outstanding I/Os in columns.
fn grids(sides: &[PaperSide]) -> Vec<Titled> {
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

fn grid(workload: &str, sides: &[PaperSide]) -> Titled {
    let of_workload = |side: &PaperSide| -> Vec<(String, u32)> {
        let cells = side.records.iter().flat_map(|record| &record.cells);
        let cells = cells.filter(|cell| cell.workload == workload);
        cells
            .map(|cell| (cell.name().to_owned(), cell.iodepth))
            .collect()
    };
    let mut names: Vec<String> = Vec::new();
    let mut depths: Vec<u32> = Vec::new();
    for (name, depth) in sides.iter().flat_map(of_workload) {
        if !names.contains(&name) {
            names.push(name);
        }
        if !depths.contains(&depth) {
            depths.push(depth);
        }
    }
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
        table(with_columns("", heads), lines),
    )
}
