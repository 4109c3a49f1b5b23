//! A cell in a few words.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Cell, CurvePart, Plan};
use units::format::iops;

use crate::{CellRecord, EstimateRecord, Phase};

/// What cells are called, so that no two workloads or access specifications of a plan are called
/// alike: `File Server`, and `File Server (2)`.
#[derive(Debug, Clone, Default)]
pub struct CellNames {
    by_first_index: BTreeMap<u32, Distinction>,
}

/// What is said besides a cell's name, where that alone does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Distinction {
    /// Of several of the same name, from 1.
    number: u32,
    /// Whether cells of another workload have an access specification of the same name.
    names_workload: bool,
}

/// A cell's workload, and which of its like cells it is.
type Part = (Option<u32>, u32);

impl CellNames {
    /// The names of a plan's cells.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let firsts = || {
            let is_first = |cell: &&Cell| cell.first_index == Some(cell.index);
            plan.cells.iter().filter(is_first)
        };
        let mut workloads: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for cell in firsts() {
            workloads
                .entry(name(cell))
                .or_default()
                .insert(&cell.workload);
        }
        let mut occurrences = BTreeMap::new();
        let mut parts: BTreeMap<(&str, &str), Vec<Part>> = BTreeMap::new();
        let mut by_first_index = BTreeMap::new();
        for cell in firsts() {
            let occurrence = occurrences.entry(description(cell)).or_insert(0_u32);
            let part = (cell.workload_index, *occurrence);
            *occurrence += 1;
            let same = parts.entry((&cell.workload, name(cell))).or_default();
            let place = same.iter().position(|known| *known == part);
            let place = place.unwrap_or_else(|| {
                same.push(part);
                same.len() - 1
            });
            let distinction = Distinction {
                number: u32::try_from(place + 1).unwrap_or(u32::MAX),
                names_workload: workloads[name(cell)].len() > 1,
            };
            by_first_index.insert(cell.index, distinction);
        }
        Self { by_first_index }
    }

    /// What people call a planned cell.
    #[must_use]
    pub fn planned(&self, cell: &Cell) -> String {
        self.told(
            cell.first_index,
            &cell.workload,
            cell.access_spec.as_deref(),
        )
    }

    /// What people call a measured cell.
    #[must_use]
    pub fn name(&self, cell: &CellRecord) -> String {
        self.told(
            cell.first_index,
            &cell.workload,
            cell.access_spec.as_deref(),
        )
    }

    /// As [`Self::name`], with the phase of a classic program behind it.
    #[must_use]
    pub fn title(&self, cell: &CellRecord) -> String {
        with_phase(self.name(cell), &cell.phase)
    }

    /// As [`Self::title`], of the cell that was repeated.
    #[must_use]
    pub fn estimate(&self, of: &EstimateRecord) -> String {
        let name = self.told(of.first_index, &of.workload, of.access_spec.as_deref());
        with_phase(name, &of.phase)
    }

    /// What tells the cells of this key from others of the same name.
    #[must_use]
    pub fn distinction(&self, first_index: Option<u32>) -> Distinction {
        let known = first_index.and_then(|index| self.by_first_index.get(&index));
        known.copied().unwrap_or_default()
    }

    fn told(&self, first_index: Option<u32>, workload: &str, access_spec: Option<&str>) -> String {
        self.distinction(first_index).name(workload, access_spec)
    }
}

impl Default for Distinction {
    fn default() -> Self {
        Self {
            number: 1,
            names_workload: false,
        }
    }
}

impl Distinction {
    /// Which of several of the same name it is, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// What people call it.
    #[must_use]
    pub fn name(self, workload: &str, access_spec: Option<&str>) -> String {
        let mut text = match access_spec {
            Some(name) if self.names_workload && name != workload => format!("{workload}, {name}"),
            name => name.unwrap_or(workload).to_owned(),
        };
        if self.number > 1 {
            text.push_str(&format!(" ({})", self.number));
        }
        text
    }
}

fn with_phase(name: String, phase: &Phase) -> String {
    match phase {
        Phase::Classic(phase) => format!("{name} {phase}"),
        _ => name,
    }
}

/// All that tables tell of a cell of a workload; several that are alike in it take numbers.
fn description(cell: &Cell) -> impl Ord + use<'_> {
    (
        cell.workload_index,
        name(cell),
        cell.iodepth,
        cell.workers.len(),
        target_indexes(cell),
        cell.rate.map(|rate| rate.per_second.to_bits()),
        cell.curve.is_some(),
    )
}

/// A cell in a few words: its access specification or workload, and what tells it from the
/// plan's other cells.
#[must_use]
pub fn cell_title(cell: &Cell, plan: &Plan) -> String {
    CellNames::of(plan).planned_title(cell, plan)
}

impl CellNames {
    /// As [`cell_title`], for many cells of the plan that the names are of.
    #[must_use]
    pub fn planned_title(&self, cell: &Cell, plan: &Plan) -> String {
        let mut parts = vec![self.planned(cell)];
        if !cell.work.is_acts() || cell.iodepth > 1 {
            parts.push(format!("iodepth {}", cell.iodepth));
        }
        match cell.curve {
            Some(CurvePart::Peak) => parts.push("peak".to_owned()),
            Some(CurvePart::Point { percent, .. }) => {
                parts.push(format!("{percent} % of the peak"));
            }
            Some(CurvePart::Trial { number, .. }) => {
                parts.push(match cell.rate {
                    Some(rate) => format!("trial {number} at {}/s", iops(rate.per_second)),
                    None => format!("trial {number}"),
                });
            }
            None => {}
        }
        if plan.cells.iter().any(|other| other.workers.len() != 1) {
            let count = cell.workers.len();
            parts.push(format!(
                "{count} {}",
                if count == 1 { "worker" } else { "workers" }
            ));
        }
        if plan.targets.len() > 1 {
            parts.push(targets(cell, plan));
        }
        if plan.cells.iter().any(|other| other.repetition > 0) {
            parts.push(format!("repetition {}", cell.repetition.saturating_add(1)));
        }
        parts.join(", ")
    }
}

fn name(cell: &Cell) -> &str {
    cell.access_spec.as_deref().unwrap_or(&cell.workload)
}

fn targets(cell: &Cell, plan: &Plan) -> String {
    let indexes = target_indexes(cell);
    match indexes.as_slice() {
        [index] => plan
            .targets
            .get(*index as usize)
            .map_or_else(String::new, |target| {
                target.path.to_string_lossy().into_owned()
            }),
        several => format!("{} targets", several.len()),
    }
}

/// The targets that a cell's workers use, in rising order, each once.
#[must_use]
pub fn target_indexes(cell: &Cell) -> Vec<u32> {
    let mut indexes: Vec<u32> = cell
        .workers
        .iter()
        .flat_map(|worker| worker.spans.iter().map(|span| span.target_index))
        .collect();
    indexes.sort_unstable();
    indexes.dedup();
    indexes
}

/// The path of a target as text.
pub fn target_path(plan: &Plan, target_index: u32) -> String {
    plan.targets
        .get(target_index as usize)
        .map_or_else(String::new, |target| {
            target.path.to_string_lossy().into_owned()
        })
}
