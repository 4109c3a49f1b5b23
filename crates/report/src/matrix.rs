//! Results of workloads that were measured with several values of some settings: a table of all
//! combinations, and the values of their axes.

use plan::{CurvePart, Plan, Variant};

use crate::group::{CellIdentity, RepeatedCell};
use crate::measure::WorkloadMeasure;
use crate::numbers::{ABSENT, digits};
use crate::table::{Column, Table};
use crate::wrap::printable;

/// With more values, an axis is in the rows.
const COLUMNS_MAX: usize = 8;

/// A setting that varies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixAxis {
    /// Key of the setting.
    pub key: String,
    /// Its values, in the order of the plan; at least two.
    pub values: Vec<String>,
}

impl MatrixAxis {
    /// The key with one of its values.
    #[must_use]
    pub fn named(&self, value: usize) -> String {
        format!("{} {}", self.key, self.values[value])
    }
}

/// A combination that was measured.
#[derive(Debug, Clone)]
pub struct MatrixPoint<'a> {
    /// Indexes of the values, one per axis.
    pub value_indexes: Vec<usize>,
    /// The measured cell with its repetitions.
    pub group: &'a RepeatedCell<'a>,
}

/// One kind of cell, measured with all combinations of the values of some settings.
#[derive(Debug, Clone)]
pub struct SettingMatrix<'a> {
    /// The workload, with the access specification, phase and target of its cells where these
    /// differ.
    pub name: String,
    /// The settings that vary; at least one.
    pub axes: Vec<MatrixAxis>,
    /// The combinations, in the order of execution.
    pub points: Vec<MatrixPoint<'a>>,
    /// What is compared.
    pub measure: WorkloadMeasure,
}

/// The cells that share a matrix, with the values of each.
struct MatrixCells<'a> {
    variant: &'a Variant,
    first: &'a CellIdentity<'a>,
    cells: Vec<(Vec<(&'a str, String)>, &'a RepeatedCell<'a>)>,
}

/// Returns the matrices of a run, in the order of execution; empty if no setting varies.
#[must_use]
pub fn matrices<'a>(groups: &'a [RepeatedCell<'a>], plan: &'a Plan) -> Vec<SettingMatrix<'a>> {
    let mut families: Vec<MatrixCells> = Vec::new();
    for group in groups {
        let Some(variant) = variant_of(group, plan) else {
            continue;
        };
        let cell = (values(variant, group), group);
        match families.iter_mut().find(|it| it.takes(variant, group)) {
            Some(family) => family.cells.push(cell),
            None => families.push(MatrixCells {
                variant,
                first: &group.identity,
                cells: vec![cell],
            }),
        }
    }
    let names: Vec<[String; 4]> = families.iter().map(MatrixCells::names).collect();
    let mut matrices: Vec<SettingMatrix> = families.into_iter().map(MatrixCells::matrix).collect();
    for (index, matrix) in matrices.iter_mut().enumerate() {
        let parts = names[index].iter().enumerate();
        // The first part names the workload. The others are needed only where they differ.
        let needed = parts.filter(|(part, text)| {
            let differs = names.iter().any(|other| other[*part] != **text);
            *part == 0 || (differs && !text.is_empty())
        });
        let parts: Vec<&str> = needed.map(|(_, text)| text.as_str()).collect();
        matrix.name = printable(&parts.join(", "));
    }
    matrices.retain(|it| !it.axes.is_empty());
    matrices
}

/// The settings in which the cell's workload varies. Cells whose rates depend on a peak have
/// separate tables.
fn variant_of<'a>(group: &RepeatedCell, plan: &'a Plan) -> Option<&'a Variant> {
    let cell = group.cells.first()?;
    if cell.curve.is_some_and(CurvePart::depends_on_peak) {
        return None;
    }
    let index = usize::try_from(cell.first_index?).ok()?;
    let workload_index = plan.cells.get(index)?.workload_index?;
    let workload = plan.workloads.get(usize::try_from(workload_index).ok()?)?;
    workload.varied.as_ref()
}

/// The values of a cell: of its workload's settings, and of the keys that make several cells of one
/// workload.
fn values<'a>(variant: &'a Variant, group: &RepeatedCell) -> Vec<(&'a str, String)> {
    let settings = variant.settings.iter();
    let settings = settings.map(|it| (it.key.as_str(), it.value.clone()));
    let identity = &group.identity;
    let rate = identity.rate_bits.map(f64::from_bits);
    let rate = rate.map(|it| units::format::iops(it) + "/s");
    let own = [
        ("iodepth", Some(identity.iodepth.to_string())),
        ("rate", rate),
    ];
    let own = own
        .into_iter()
        .filter_map(|(key, value)| Some((key, value?)));
    settings.chain(own).collect()
}

impl<'a> MatrixCells<'a> {
    /// `true` if the cell differs from the family's cells only in the values of the settings.
    fn takes(&self, variant: &Variant, group: &RepeatedCell) -> bool {
        let keys = |it: &Variant| {
            it.settings
                .iter()
                .map(|it| it.key.clone())
                .collect::<Vec<_>>()
        };
        let (first, other) = (self.first, &group.identity);
        self.variant.of == variant.of
            // A swept key that a workload does not use is absent, so its cells do not belong here.
            && keys(self.variant) == keys(variant)
            && spec(first) == spec(other)
            && first.phase == other.phase
            && first.target == other.target
    }

    /// The workload, the access specification, the phase and the target.
    fn names(&self) -> [String; 4] {
        let phase = match self.first.phase {
            results::Phase::Classic(phase) => phase.clone(),
            _ => String::new(),
        };
        let spec = spec(self.first).unwrap_or_default().to_owned();
        let target = self.first.target.to_owned();
        [self.variant.of.clone(), spec, phase, target]
    }

    fn matrix(self) -> SettingMatrix<'a> {
        let mut axes: Vec<MatrixAxis> = Vec::new();
        for (key, value) in self.cells.iter().flat_map(|(values, _)| values) {
            let position = axes.iter().position(|it| it.key == *key);
            let axis = position.unwrap_or_else(|| {
                let key = (*key).to_owned();
                axes.push(MatrixAxis {
                    key,
                    values: Vec::new(),
                });
                axes.len() - 1
            });
            if !axes[axis].values.contains(value) {
                axes[axis].values.push(value.clone());
            }
        }
        // `iodepth` is among the keys of every cell, also if it has only one value.
        axes.retain(|it| it.values.len() > 1);
        let indices = |values: &[(&str, String)]| {
            let index = |axis: &MatrixAxis| {
                let own = values.iter().find(|(key, _)| *key == axis.key);
                let own = own.and_then(|(_, value)| axis.values.iter().position(|it| it == value));
                own.unwrap_or(0)
            };
            axes.iter().map(index).collect()
        };
        let points = self.cells.iter().map(|(values, group)| MatrixPoint {
            value_indexes: indices(values),
            group,
        });
        SettingMatrix {
            name: String::new(),
            points: points.collect(),
            measure: WorkloadMeasure::of(self.cells[0].1),
            axes,
        }
    }
}

/// The access specification, if it has its own name.
fn spec<'a>(identity: &CellIdentity<'a>) -> Option<&'a str> {
    identity
        .access_spec
        .filter(|name| *name != identity.workload)
}

impl SettingMatrix<'_> {
    /// What the table shows, such as `operations per second by workers and iodepth`.
    #[must_use]
    pub fn caption(&self) -> String {
        let keys: Vec<&str> = self.axes.iter().map(|it| it.key.as_str()).collect();
        let keys = match keys.as_slice() {
            [rest @ .., last] if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            keys => keys.join(""),
        };
        printable(&format!("{}: {} by {keys}", self.name, self.measure.name()))
    }

    /// Returns the table: the last axis in the columns unless it has many values, all others in
    /// the rows.
    #[must_use]
    pub fn table(&self) -> Table {
        let across = self
            .axes
            .last()
            .filter(|axis| self.axes.len() > 1 && axis.values.len() <= COLUMNS_MAX);
        let rows_of = self.axes.len() - usize::from(across.is_some());
        let mut rows: Vec<(&[usize], Vec<String>)> = Vec::new();
        let width = across.map_or(1, |axis| axis.values.len());
        for point in &self.points {
            let (row, column) = point.value_indexes.split_at(rows_of);
            let index = rows.iter().position(|(known, _)| *known == row);
            let index = index.unwrap_or_else(|| {
                rows.push((row, vec![ABSENT.to_owned(); width]));
                rows.len() - 1
            });
            rows[index].1[column.first().copied().unwrap_or(0)] = self.shown(point.group);
        }
        // Repetitions may have run in another order.
        rows.sort_by_key(|(row, _)| *row);
        let names = self.axes[..rows_of].iter();
        let names = names.map(|axis| Column::name(&printable(&axis.key)));
        let columns = match across {
            None => vec![Column::number(self.measure.name(), u8::MAX)],
            Some(axis) => {
                let heads = axis.values.iter();
                let heads = heads.map(|value| printable(&format!("{} {value}", axis.key)));
                heads.map(|head| Column::number(&head, u8::MAX)).collect()
            }
        };
        let rows = rows.into_iter().map(|(row, figures)| {
            let values = row.iter().zip(&self.axes);
            let values = values.map(|(index, axis)| printable(&axis.values[*index]));
            values.chain(figures).collect()
        });
        let mut table = Table::new(names.chain(columns), rows);
        // A dropped column would hide combinations, so a wide table continues below.
        table.is_split = true;
        table
    }

    /// Names the best combination; `None` if nothing was measured.
    #[must_use]
    pub fn best(&self) -> Option<String> {
        let metric = self.measure.metric();
        let means = self.points.iter();
        let means = means.filter_map(|it| Some((it, it.group.figure(metric)?.mean)));
        let (point, most) = means.max_by(|one, other| one.1.total_cmp(&other.1))?;
        let label = point.value_indexes.iter().zip(&self.axes);
        let label = label.map(|(index, axis)| axis.named(*index));
        let label = printable(&label.collect::<Vec<_>>().join(", "));
        Some(format!("highest: {} with {label}", metric.show(most)))
    }

    /// The rate or bandwidth, with half its confidence interval if the cell was repeated.
    fn shown(&self, group: &RepeatedCell) -> String {
        let metric = self.measure.metric();
        let Some(figure) = group.figure(metric) else {
            return ABSENT.to_owned();
        };
        let text = metric.show(figure.mean);
        match figure.interval {
            Some([low, high]) if figure.mean > 0.0 => {
                let percent = digits(50.0 * (high - low) / figure.mean);
                format!("{text} ±{percent} %")
            }
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use plan::VariedSetting;
    use results::RunRecord;

    use super::*;
    use crate::group::groups;
    use crate::sample;

    /// One cell per combination of workers and depth; the rate is 1,000 times the product.
    fn record(workers: &[u32], depths: &[u32]) -> RunRecord {
        let mut record = sample::record();
        let (workload, cell) = (
            record.plan.workloads[0].clone(),
            record.plan.cells[0].clone(),
        );
        let measured = record.cells[0].clone();
        (record.plan.workloads, record.plan.cells, record.cells) = Default::default();
        record.estimates.clear();
        for (workload_index, count) in (0..).zip(workers) {
            let mut workload = workload.clone();
            workload.name = format!("mail, workers={count}");
            workload.varied = Some(Variant {
                of: "mail".to_owned(),
                settings: vec![VariedSetting {
                    key: "workers".to_owned(),
                    value: count.to_string(),
                }],
            });
            for depth in depths {
                let index = u32::try_from(record.cells.len()).unwrap();
                let mut planned = cell.clone();
                (planned.index, planned.first_index) = (index, Some(index));
                planned.workload_index = Some(workload_index);
                let mut measured = measured.clone();
                (measured.index, measured.first_index) = (index, Some(index));
                measured.workload.clone_from(&workload.name);
                measured.access_spec = Some(workload.name.clone());
                (measured.workers, measured.iodepth) = (*count, *depth);
                measured.total.per_second = f64::from(1000 * count * depth);
                record.plan.cells.push(planned);
                record.cells.push(measured);
            }
            record.plan.workloads.push(workload);
        }
        record
    }

    fn lines(table: &Table) -> Vec<String> {
        let heads = table.columns.iter().map(|it| it.head.as_str());
        let heads = heads.collect::<Vec<_>>().join(" | ");
        let rows = table.rows.iter().map(|row| row.join(" | "));
        std::iter::once(heads).chain(rows).collect()
    }

    #[test]
    fn two_settings_make_rows_and_columns() {
        let record = record(&[1, 2], &[1, 8]);
        let groups = groups(&record);
        let all = matrices(&groups, &record.plan);
        let [matrix] = all.as_slice() else {
            panic!("{all:?}")
        };
        assert!(
            matrix.caption().ends_with("by workers and iodepth"),
            "{}",
            matrix.caption()
        );
        assert_eq!(
            lines(&matrix.table()),
            [
                "workers | iodepth 1 | iodepth 8",
                "1 | 1.000k | 8.000k",
                "2 | 2.000k | 16.00k",
            ]
        );
        let best = "highest: 16.00k with workers 2, iodepth 8";
        assert_eq!(matrix.best().as_deref(), Some(best));
    }

    #[test]
    fn a_combination_that_was_not_measured_has_no_number() {
        let mut record = record(&[1, 2], &[1, 8]);
        record.cells.pop();
        let groups = groups(&record);
        let table = matrices(&groups, &record.plan)[0].table();
        assert_eq!(lines(&table)[2], "2 | 2.000k | -");
    }

    #[test]
    fn a_single_setting_has_one_column_of_numbers() {
        let record = record(&[1, 2, 4], &[1]);
        let groups = groups(&record);
        let matrix = &matrices(&groups, &record.plan)[0];
        assert_eq!(matrix.axes.len(), 1);
        assert_eq!(
            lines(&matrix.table())[1..],
            ["1 | 1.000k", "2 | 2.000k", "4 | 4.000k"]
        );
    }

    #[test]
    fn without_a_varying_setting_there_is_no_matrix() {
        let record = sample::record();
        assert!(matrices(&groups(&record), &record.plan).is_empty());
    }
}
