//! Version 1.6: passes over the same names until the budget is used up.

use engine::Clock;
use generate::classics::flat_names;
use workload::classics::Chain;
use workload::classics::lat_fs::Passes;

use super::{Row, Settings, file_options, pass, write_bytes};
use crate::RunError;
use crate::own_files::{Halt, OwnFiles, open_location};

/// The row of a size; none if it was stopped.
pub(super) fn measure(
    settings: &Settings<'_>,
    size_bytes: u64,
    (file_count, budget_ns): (u32, u64),
    clock: &impl Clock,
    halt: &Halt<'_>,
) -> Result<Option<Row>, RunError> {
    let plan = settings.plan;
    let chain = plan.create(size_bytes);
    let create = pass(chain, plan.create_order(), file_count, settings.seed);
    let remove = pass(Chain::Remove, plan.order, file_count, settings.seed);
    let mut files = OwnFiles::new(
        open_location(settings.directory)?,
        settings.directory,
        flat_names(file_count),
        file_options(),
        write_bytes(&chain),
    )?;
    let mut passes = Passes::new(file_count, budget_ns);
    while passes.wants_more() {
        let mut timed = |plan| {
            let start_ns = clock.now_ns();
            files.carry_out(plan, halt, &mut ())?;
            Ok::<u64, RunError>(clock.now_ns().saturating_sub(start_ns))
        };
        let create_ns = timed(&create)?;
        let remove_ns = timed(&remove)?;
        if halt.is_set() {
            break;
        }
        passes.add(create_ns, remove_ns);
    }
    files.remove()?;
    let row = |best| Row::Best { size_bytes, best };
    Ok(passes.best().filter(|_| !halt.is_set()).map(row))
}
