//! Programs that run instead of a group's acts.

use generate::program::each_once;
use plan::WorkerPlan;
use plan::program::{ProgramPhase, Spawn};

use super::ProgramRun;
use super::files::paths_of;
use crate::RunError;
use crate::files::stages::{CellTrees, Stage, StageWork, stop_ns};
use crate::files::started::Programs;

impl ProgramRun {
    /// Stage of a phase in which programs do the work. `None` if workers do it, and with the `null`
    /// engine, which has no files for programs.
    pub(super) fn started(
        &mut self,
        cell_trees: &CellTrees,
        phase: &ProgramPhase,
    ) -> Result<Option<Stage>, RunError> {
        let [group] = phase.groups.as_slice() else {
            return Ok(None);
        };
        let (Some(spawn), Some(worker)) = (&group.spawn, self.cell.workers.first().cloned()) else {
            return Ok(None);
        };
        let Some(programs) = self.programs(cell_trees, spawn, &worker)? else {
            return Ok(None);
        };
        Ok(Some(Stage {
            phase: phase.name.clone(),
            rate_workers: None,
            is_until_steady: false,
            is_hidden: phase.is_hidden,
            ramp_ns: 0,
            transactions: self.program.transactions_of(phase),
            time_ns: stop_ns(phase),
            work: StageWork::Exec(programs),
        }))
    }

    fn programs(
        &mut self,
        cell_trees: &CellTrees,
        spawn: &Spawn,
        worker: &WorkerPlan,
    ) -> Result<Option<Programs>, RunError> {
        let Some(tree) = cell_trees.of(worker) else {
            return Ok(None);
        };
        // This also creates the directories of the files.
        self.field(cell_trees, worker, &[spawn.pick.fileset].into())?;
        let owner = self.owner(spawn.pick.fileset.into(), worker);
        let count = self.program.filesets[owner.fileset].count;
        // Programs run one after the other, so a single worker's order is enough.
        let order = each_once(&spawn.pick.order, count, worker.seed);
        Ok(Some(Programs {
            command: spawn.command,
            directory: tree.path().to_owned(),
            names: Box::new(paths_of(&self.program, owner, tree, order)),
            count: count.into(),
        }))
    }
}
