//! Fills the space in which files will be created.

use super::{
    Act, AmountScope, Call, CallObject, DirectoryTree, FileFilter, FileNames, FileOperation,
    FileSharing, FilesetPlan, FilesetSharing, Group, Law, Measure, MovedBytes, OpenModePlan, Pick,
    PickOrder, Program, ProgramPart, ProgramPhase, Quota,
};

/// Bytes per write.
// SNIA's workload-independent preconditioning writes sequentially with this size.
const WRITE_BYTES: u32 = 128 << 10;

impl Program {
    /// A program with one worker that writes a file of `bytes` bytes to the storage and removes it,
    /// `times` times. The fraction of `times` becomes a smaller file at the end. `is_direct`
    /// bypasses the page cache.
    #[must_use]
    pub fn filling(bytes: u64, times: f64, is_direct: bool) -> Self {
        // The casts saturate.
        let full = times.max(0.0).floor();
        let rest_bytes = (bytes as f64 * (times - full)) as u64;
        let rest_bytes = rest_bytes
            .next_multiple_of(u64::from(WRITE_BYTES))
            .min(bytes);
        let rest = (times > full).then(|| pass("the rest", rest_bytes, 1));
        let passes = [pass("whole", bytes, full as u64)];
        Self {
            filesets: vec![FilesetPlan {
                name: "precondition".to_owned(),
                path: String::new(),
                // Processes that share a cell would collide in one file.
                copies: FilesetSharing::PerWorker,
                count: 1,
                names: FileNames::Number {
                    before: "precondition".to_owned(),
                    digits: 1,
                    after: String::new(),
                },
                tree: DirectoryTree::Flat,
                size: Law::fixed(bytes),
                present_permille: 0,
            }],
            ways: vec![OpenModePlan {
                is_direct,
                ..OpenModePlan::default()
            }],
            parts: passes
                .into_iter()
                .chain(rest)
                .map(ProgramPart::Phase)
                .collect(),
            ..Self::default()
        }
    }
}

fn pass(name: &str, bytes: u64, rounds: u64) -> ProgramPhase {
    let named = |operation, which| {
        let pick = Pick {
            fileset: 0,
            which,
            // Every round creates the same file, and an order that ends would allow only one round.
            order: PickOrder::Around,
            turn: FileSharing::Own,
        };
        Act::Call(Call::new(operation, CallObject::Name(pick)))
    };
    let opened = |operation| Call::new(operation, CallObject::Handle);
    let write = Call {
        bytes: MovedBytes::Law(Law::fixed(bytes)),
        piece_bytes: WRITE_BYTES,
        ..opened(FileOperation::Write)
    };
    let body = vec![
        named(FileOperation::Create, FileFilter::Absent),
        Act::Call(write),
        // Without it, removing the file would discard its dirty pages before they are written.
        Act::Call(opened(FileOperation::Fsync)),
        Act::Call(opened(FileOperation::Close)),
        named(FileOperation::Unlink, FileFilter::Present),
    ];
    ProgramPhase {
        name: name.to_owned(),
        groups: vec![Group {
            name: "writer".to_owned(),
            workers: Some(1),
            body,
            quotas: vec![Quota {
                what: Measure::Rounds,
                count: rounds,
                of: AmountScope::Each,
            }],
            ..Group::default()
        }],
        ..ProgramPhase::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn space_is_filled_the_requested_number_of_times() {
        let passes = |times| {
            let program = Program::filling(1 << 30, times, false);
            program.check().unwrap();
            let groups = program.groups();
            let pass_of = |it: &Group| {
                let bytes = match &it.calls()[1].bytes {
                    MovedBytes::Law(law) => law.always().unwrap(),
                    other => panic!("{other:?}"),
                };
                (it.quotas[0].count, bytes)
            };
            groups.map(pass_of).collect::<Vec<_>>()
        };
        assert_eq!(passes(2.0), [(2, 1 << 30)]);
        assert_eq!(passes(1.5), [(1, 1 << 30), (1, 1 << 29)]);
    }
}
