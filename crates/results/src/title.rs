//! Short names of cells.

use std::collections::{BTreeMap, BTreeSet};

use plan::{Cell, CurvePart, Plan, PlannedWorkload};
use units::format::iops;

use crate::{CellRecord, EstimateRecord, Phase};

/// Unique names of the cells of a plan. Workloads or access specifications with the same name get
/// numbers: `File Server`, and `File Server (2)`.
#[derive(Debug, Clone, Default)]
pub struct CellNames {
    by_first_index: BTreeMap<u32, Distinction>,
}

/// Addition to a cell's name if the name alone is ambiguous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Distinction {
    /// Number among cells with the same name, from 1.
    number: u32,
    /// `true` if another workload has an access specification with the same name.
    names_workload: bool,
}

/// A cell's workload index, and the cell's number among those with the same description.
type CellNumber = (Option<u32>, u32);

impl CellNames {
    /// The names of a plan's cells.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let firsts = || {
            // Repetitions share the name of their first cell and do not count as namesakes.
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
        let originals = originals(plan);
        let mut occurrences = BTreeMap::new();
        let mut parts: BTreeMap<(&str, &str), Vec<CellNumber>> = BTreeMap::new();
        let mut by_first_index = BTreeMap::new();
        for cell in firsts() {
            let workload_index = cell.workload_index;
            let original = workload_index.and_then(|it| originals.get(usize::try_from(it).ok()?));
            let workload_index = original.copied().or(workload_index);
            let described = (workload_index, description(cell));
            let occurrence = occurrences.entry(described).or_insert(0_u32);
            // Two workloads of one name differ in their index, two cells of one workload in their
            // number.
            let part = (workload_index, *occurrence);
            *occurrence += 1;
            let same = parts.entry((&cell.workload, name(cell))).or_default();
            let position = same.iter().position(|known| *known == part);
            let position = position.unwrap_or_else(|| {
                same.push(part);
                same.len() - 1
            });
            let distinction = Distinction {
                number: u32::try_from(position + 1).unwrap_or(u32::MAX),
                names_workload: workloads[name(cell)].len() > 1,
            };
            by_first_index.insert(cell.index, distinction);
        }
        Self { by_first_index }
    }

    /// Display name of a planned cell.
    #[must_use]
    pub fn planned(&self, cell: &Cell) -> String {
        self.name_of(
            cell.first_index,
            &cell.workload,
            cell.access_spec.as_deref(),
        )
    }

    /// Display name of a measured cell.
    #[must_use]
    pub fn name(&self, cell: &CellRecord) -> String {
        self.name_of(
            cell.first_index,
            &cell.workload,
            cell.access_spec.as_deref(),
        )
    }

    /// Like [`Self::name`], followed by the phase of a classic program.
    #[must_use]
    pub fn title(&self, cell: &CellRecord) -> String {
        with_phase(self.name(cell), &cell.phase)
    }

    /// Like [`Self::title`], for the cell that was repeated.
    #[must_use]
    pub fn estimate(&self, of: &EstimateRecord) -> String {
        let name = self.name_of(of.first_index, &of.workload, of.access_spec.as_deref());
        with_phase(name, &of.phase)
    }

    /// Distinction of the cells with this key from others of the same name.
    #[must_use]
    pub fn distinction(&self, first_index: Option<u32>) -> Distinction {
        let known = first_index.and_then(|index| self.by_first_index.get(&index));
        known.copied().unwrap_or_default()
    }

    fn name_of(
        &self,
        first_index: Option<u32>,
        workload: &str,
        access_spec: Option<&str>,
    ) -> String {
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
    /// Number among cells with the same name, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number
    }

    /// The display name.
    #[must_use]
    pub fn name(self, workload: &str, access_spec: Option<&str>) -> String {
        // The name of a variant begins with the name of its workload, which may also be the name of
        // its only access specification.
        let is_variant = |name: &str| {
            let rest = workload.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(", "))
        };
        let mut text = match access_spec {
            Some(name) if is_variant(name) => workload.to_owned(),
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

/// For each workload, its own index, or the index of the first variant of the same workload that
/// has the same name: tables show the setting in which these differ.
fn originals(plan: &Plan) -> Vec<u32> {
    let mut first = BTreeMap::new();
    let mut originals = Vec::with_capacity(plan.workloads.len());
    for (index, workload) in (0..).zip(&plan.workloads) {
        let PlannedWorkload { name, varied, .. } = workload;
        originals.push(match varied {
            Some(varied) => *first.entry((&varied.of, name)).or_insert(index),
            None => index,
        });
    }
    originals
}

/// The values that tables show for a cell. Cells of a workload that share all of them get numbers.
fn description(cell: &Cell) -> impl Ord + use<'_> {
    (
        name(cell),
        cell.iodepth,
        cell.workers.len(),
        target_indexes(cell),
        // As bits, because floating-point numbers have no total order.
        cell.rate.map(|rate| rate.per_second.to_bits()),
        cell.curve.is_some(),
    )
}

/// Short description of a cell: its access specification or workload, and the settings that
/// distinguish it from the plan's other cells.
#[must_use]
pub fn cell_title(cell: &Cell, plan: &Plan) -> String {
    CellNames::of(plan).planned_title(cell, plan)
}

impl CellNames {
    /// Like [`cell_title`], for many cells of the plan.
    #[must_use]
    pub fn planned_title(&self, cell: &Cell, plan: &Plan) -> String {
        let mut parts = vec![self.planned(cell)];
        // Most work on files has a depth of 1, which would only lengthen the title.
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

/// Indexes of the targets that a cell's workers use, in increasing order, without duplicates.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_named_once() {
        let distinction = Distinction {
            number: 1,
            names_workload: true,
        };
        let name = |workload, spec| distinction.name(workload, Some(spec));
        assert_eq!(name("postmark, number=9", "postmark"), "postmark, number=9");
        assert_eq!(name("mine, number=9", "read"), "mine, number=9, read");
        assert_eq!(name("postmark2", "postmark"), "postmark2, postmark");
    }
}
