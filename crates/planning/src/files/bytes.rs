//! Space that files take, and sizes of their system calls.

use description::model::{Workload, WorkloadTable};
use plan::program::Program;

/// Estimated maximum of the bytes that the files of one of `worker_count` workers take.
pub(crate) fn peak_bytes(program: &Program, worker_count: u32) -> u64 {
    let all = program.space_needed().bytes;
    all.div_ceil(u64::from(worker_count.max(1)))
}

/// Amounts that direct I/O must be able to transfer, with their origins; all must be multiples of
/// the target's block size. The amounts of a pool count only if the whole cell `is_direct`.
pub(super) fn moved(
    workload: &Workload,
    program: &Program,
    (table, is_direct): (WorkloadTable, bool),
) -> Vec<(String, u64)> {
    let amounts = program.direct_amounts();
    let quoted = |(key, bytes): (&str, u64)| (format!("`{key}`"), bytes);
    match workload.table_amounts() {
        // The user knows the keys of the table, not the calls of the program made from it.
        Ok(keys) if !amounts.is_empty() && !keys.is_empty() => {
            keys.into_iter().map(quoted).collect()
        }
        _ => {
            let amounts = amounts.into_iter().map(|it| (it.name, it.bytes));
            let pool = program.pool.iter().filter(|_| is_direct);
            let pool = pool.flat_map(|pool| pool.direct_amounts());
            let pool = pool.map(|(key, bytes)| (format!("`{}.{key}`", table.key()), bytes));
            amounts.chain(pool).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_need_the_space_of_their_shares() {
        let plan = description::classics::CreateRemove {
            count: Some(9),
            ..description::classics::CreateRemove::default()
        };
        let files = plan.resolve().unwrap().program();
        assert_eq!(peak_bytes(&files, 3), 3 << 16);
    }
}
