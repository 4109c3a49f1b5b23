//! Groups: workers that do the same work.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::act::{ActReader, ActWriter};
use super::names::{GroupHandles, ProgramNames};
use super::{ActChoice, NotExpressible, not_expressible};
use crate::flaw::ValueError;
use crate::model::keys::keys;
use plan::program::{
    ActList, AmountScope, FilesetPlan, Group, Measure, OnFailure, OnNoFile, Program, Quota,
};

/// Workers that do the same work independently of each other. The acts in `body` are repeated, the
/// other lists are done once.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GroupTable {
    /// Name in records and reports. Default: the phase's name, with a number if the phase has
    /// several groups.
    pub name: Option<String>,
    /// Number of workers, 1 to 1024. Default: the workload's `workers`.
    pub workers: Option<u32>,
    /// Each worker uses the files of the worker this many places later: with 1, the first uses the
    /// second's and the last uses the first's. Default: 0.
    pub shift: Option<u32>,
    /// Acts before all workers start together; not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub enter: Vec<ActChoice>,
    /// Acts at the start, done once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<ActChoice>,
    /// Acts that are repeated; one pass is a round.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub body: Vec<ActChoice>,
    /// Acts at the end, done once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<ActChoice>,
    /// Acts after the end; not measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leave: Vec<ActChoice>,
    /// Number of rounds after which a worker stops. Default: no limit.
    pub rounds: Option<u64>,
    /// Number of bytes, read and written, after which a worker stops. Default: no limit.
    pub bytes: Option<Bytes>,
    /// Number of system calls after which a worker stops. Default: no limit.
    pub calls: Option<u64>,
    /// Number of steps or transactions with a label after which a worker stops: `{ deliver = 1000
    /// }`. Default: no limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub steps: BTreeMap<String, u64>,
    /// Number of bytes read and written in steps or transactions with a label after which a worker
    /// stops: `{ deliver = "1GiB" }`. Default: no limit.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub step_bytes: BTreeMap<String, Bytes>,
    /// Count these amounts for all workers of the group together instead of each. Default: false.
    pub together: Option<bool>,
    /// What happens when there is no file to pick: the worker stops (`end-worker`), all workers of
    /// the phase stop (`end-phase`), or the rest of the transaction or round is skipped (`skip`).
    /// Default: `end-worker`.
    pub when_out: Option<OnNoFile>,
    /// What happens when a call fails: the rest of the transaction or round is skipped
    /// (`end-transaction`), the failure is only counted (`count`), the worker stops (`end-worker`),
    /// or the run fails (`end-run`). Default: `end-transaction`.
    pub on_failure: Option<OnFailure>,
}

keys! {
    read_group, write_group: GroupTable => Group {
        name => name,
        shift => shift,
        when_out => out,
        on_failure => failed,
    }
}

/// Collects the handles that the acts define, nested ones included.
fn handles_of<'a>(acts: &'a [ActChoice], found: &mut Vec<&'a str>) {
    for act in acts {
        if let ActChoice::Table(table) = act {
            found.extend(table.handle.as_deref());
            handles_of(&table.acts, found);
            let branches = table.mix.iter().flatten();
            branches.for_each(|branch| handles_of(&branch.acts, found));
        }
    }
}

impl GroupTable {
    pub(crate) fn lists(&self) -> [(&'static str, &[ActChoice]); 5] {
        [
            ("enter", &self.enter),
            ("first", &self.first),
            ("body", &self.body),
            ("last", &self.last),
            ("leave", &self.leave),
        ]
    }

    /// The list of acts at this place, and its key.
    pub(super) fn acts(&self, list: ActList) -> (&'static str, &[ActChoice]) {
        // `lists` and `ActList` both have the order in which the lists run.
        self.lists()[list as usize]
    }

    /// Whether an amount ends the group.
    pub(super) fn has_end(&self) -> bool {
        let has_amount = self.rounds.is_some() || self.calls.is_some() || self.bytes.is_some();
        has_amount || !self.steps.is_empty() || !self.step_bytes.is_empty()
    }

    /// The group, resolved with the names and filesets of the workload.
    pub(super) fn group(
        self,
        usual_name: String,
        workers: Option<u32>,
        names: &mut ProgramNames,
        filesets: &[FilesetPlan],
    ) -> Result<Group, ValueError> {
        let usual = Group {
            name: usual_name,
            workers: self.workers.or(workers),
            ..Group::default()
        };
        let mut group = read_group(&self, usual);
        // All handles get their numbers first, because an act may name one that a later act
        // defines.
        let mut written = Vec::new();
        self.lists()
            .into_iter()
            .for_each(|(_, acts)| handles_of(acts, &mut written));
        let handles = GroupHandles::written(written.into_iter());
        let mut reader = ActReader {
            names,
            handles,
            filesets,
        };
        group.enter = reader.list("enter", self.enter.clone())?;
        group.first = reader.list("first", self.first.clone())?;
        group.body = reader.list("body", self.body.clone())?;
        group.last = reader.list("last", self.last.clone())?;
        group.leave = reader.list("leave", self.leave.clone())?;
        // After the acts, because they number the labels that the quotas name.
        group.quotas = self.quotas(reader.names)?;
        Ok(group)
    }

    pub(super) fn of(
        group: &Group,
        usual_name: &str,
        program: &Program,
        names: &ProgramNames,
    ) -> Result<Self, NotExpressible> {
        let name = plan::printable(&group.name);
        if let Some(trace) = &group.trace {
            let (calls, file) = (trace.calls_count, plan::printable(&trace.file));
            return not_expressible(format!("it has the {calls} recorded calls of `{file}`"));
        }
        if group.pool.is_some() {
            return not_expressible(format!("`{name}` works on a pool of files"));
        }
        if group.spawn.is_some() {
            return not_expressible(format!("`{name}` starts programs"));
        }
        let acts = ActWriter {
            program,
            names,
            handles: GroupHandles::of(group, names),
        };
        let mut table = Self {
            workers: group.workers,
            enter: acts.list(&group.enter)?,
            first: acts.list(&group.first)?,
            body: acts.list(&group.body)?,
            last: acts.list(&group.last)?,
            leave: acts.list(&group.leave)?,
            ..Self::default()
        };
        let usual = Group {
            name: usual_name.to_owned(),
            ..Group::default()
        };
        write_group(group, &usual, &mut table);
        table.write_quotas(group, names)?;
        Ok(table)
    }

    fn quotas(&self, names: &ProgramNames) -> Result<Vec<Quota>, ValueError> {
        let is_together = self.together == Some(true);
        let amounts = [
            (Measure::Rounds, self.rounds),
            (Measure::Bytes, self.bytes.map(|bytes| bytes.0)),
            (Measure::Calls, self.calls),
        ];
        let amounts = amounts.into_iter();
        let mut counts: Vec<(Measure, u64)> = amounts
            .filter_map(|(what, count)| Some((what, count?)))
            .collect();
        for (label, count) in &self.steps {
            counts.push((Measure::Steps(names.known_label("steps", label)?), *count));
        }
        for (label, bytes) in &self.step_bytes {
            let label = names.known_label("step_bytes", label)?;
            counts.push((Measure::StepBytes(label), bytes.0));
        }
        if counts.is_empty() && is_together {
            let message = "`together` needs an amount";
            let help = "write `rounds`, `bytes` or `calls`";
            return Err(ValueError::new("together", message, help));
        }
        let of = match is_together {
            true => AmountScope::Group,
            false => AmountScope::Each,
        };
        let counts = counts.into_iter();
        Ok(counts
            .map(|(what, count)| Quota { what, count, of })
            .collect())
    }

    /// Writes the quotas as keys. Of several quotas of one kind, the smallest is reached first.
    fn write_quotas(&mut self, group: &Group, names: &ProgramNames) -> Result<(), NotExpressible> {
        let Some(first) = group.quotas.first() else {
            return Ok(());
        };
        if group.quotas.iter().any(|quota| quota.of != first.of) {
            let name = plan::printable(&group.name);
            let subject = "amounts of each worker and amounts of all together end";
            return not_expressible(format!("{subject} the group `{name}`"));
        }
        self.together = (first.of == AmountScope::Group).then_some(true);
        let label = |label: u8| names.labels[usize::from(label)].clone();
        for Quota { what, count, .. } in group.quotas.iter().copied() {
            let least =
                |before: Option<u64>| Some(before.map_or(count, |before| before.min(count)));
            match what {
                Measure::Rounds => self.rounds = least(self.rounds),
                Measure::Calls => self.calls = least(self.calls),
                Measure::Bytes => self.bytes = least(self.bytes.map(|it| it.0)).map(Bytes),
                Measure::Steps(of) => {
                    let entry = self.steps.entry(label(of)).or_insert(count);
                    *entry = count.min(*entry);
                }
                Measure::StepBytes(of) => {
                    let entry = self.step_bytes.entry(label(of)).or_insert(Bytes(count));
                    *entry = Bytes(count).min(*entry);
                }
            }
        }
        Ok(())
    }
}
