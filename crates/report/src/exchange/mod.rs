//! Reports for CI servers and monitoring systems, in formats that these read. The values are those
//! of the record, in base units and without rounding.

pub mod bencher;
pub mod github;
pub mod influx;
pub mod junit;
pub mod openmetrics;
#[cfg(feature = "parquet")]
pub mod parquet;

use results::{CellRecord, Phase};
use units::printable;

use crate::names::cache_name;

/// Properties that identify a cell, as labels. A property that a cell lacks is empty.
fn labels(cell: &CellRecord) -> [(&'static str, String); 10] {
    let phase = Some(&cell.phase).filter(|it| **it != Phase::Measure);
    let rate = cell.rate_per_second();
    [
        // Two cells may have equal names and settings.
        ("cell", cell.index.to_string()),
        ("workload", printable(cell.name()).into_owned()),
        ("target", printable(&cell.target).into_owned()),
        ("engine", cell.engine.name().to_owned()),
        ("cache", cache_name(cell.cache).to_owned()),
        ("iodepth", cell.iodepth.to_string()),
        ("workers", cell.workers.to_string()),
        ("repetition", cell.repetition.to_string()),
        (
            "phase",
            phase.map_or_else(String::new, |it| printable(&it.text()).into_owned()),
        ),
        ("rate", rate.map_or_else(String::new, |it| it.to_string())),
    ]
}

/// Escapes text between double quotes. Line breaks are already visible in it.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
