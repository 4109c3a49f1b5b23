//! Requirements of a program on engines: operations, buffers, and amounts for direct I/O.

use std::collections::BTreeSet;

use super::{
    Call, CallObject, CallPosition, FileOperation, FilePath, Group, Law, MovedBytes, Program,
};

/// An amount that direct I/O must be able to transfer or start at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectAmount {
    /// Name of the item that it belongs to.
    pub name: String,
    /// The amount in bytes.
    pub bytes: u64,
}

impl Program {
    /// The operations that it uses, each once.
    #[must_use]
    pub fn operations(&self) -> BTreeSet<FileOperation> {
        let calls = self.groups().flat_map(Group::calls);
        calls.map(|call| call.operation).collect()
    }

    /// The largest size that a fileset gives a file; `u64::MAX` if there is no limit.
    #[must_use]
    pub fn largest_file(&self) -> u64 {
        let largest = |law: &Law| law.largest().unwrap_or(u64::MAX);
        let sizes = self.filesets.iter().map(|it| largest(&it.size));
        sizes.max().unwrap_or(0)
    }

    /// Size in bytes of the largest request, for which a worker needs a buffer.
    #[must_use]
    pub fn buffer_bytes(&self) -> u64 {
        let calls = self.groups().flat_map(Group::calls);
        let moved = calls.filter(|call| call.operation.moves() || call.operation.has_attribute());
        let traces = self.groups().filter_map(|group| group.trace.as_ref());
        moved
            .map(|call| self.request_bytes(call))
            .chain(traces.map(|trace| trace.buffer_bytes.into()))
            .max()
            .unwrap_or(0)
    }

    /// Size in bytes of the largest request of a call.
    fn request_bytes(&self, call: &Call) -> u64 {
        let all = match &call.bytes {
            MovedBytes::Law(law) => law.largest().unwrap_or(u64::MAX),
            MovedBytes::Rest | MovedBytes::Size | MovedBytes::SizeOf { .. } => self.largest_file(),
        };
        match (call.piece_bytes, &call.bytes) {
            (0, _) => all,
            // A read until nothing is returned always requests whole pieces.
            (piece, MovedBytes::Rest) => piece.into(),
            (piece, _) => all.min(piece.into()),
        }
    }

    /// Amounts that direct I/O transfers; all must be multiples of the target's block size.
    #[must_use]
    pub fn direct_amounts(&self) -> Vec<DirectAmount> {
        let mut found = Vec::new();
        for group in self.groups() {
            let calls = group.calls();
            for call in calls.iter().filter(|call| call.operation.moves()) {
                if !self.is_direct(&calls, call.handle) {
                    continue;
                }
                let name = format!("`{}` in `{}`", call.operation.name(), group.name);
                let amounts = self.amounts(&calls, call).into_iter();
                found.extend(amounts.map(|bytes| DirectAmount {
                    name: name.clone(),
                    bytes,
                }));
            }
        }
        found
    }

    /// Whether an act opens files under this handle for direct I/O.
    fn is_direct(&self, calls: &[&Call], handle: u8) -> bool {
        let mut opens = calls
            .iter()
            .filter(|call| call.operation.opens() && call.handle == handle);
        opens.any(|call| {
            let mode = self.ways.get(usize::from(call.way));
            mode.is_some_and(|way| way.is_direct)
        })
    }

    fn amounts(&self, calls: &[&Call], call: &Call) -> Vec<u64> {
        let mut amounts = match &call.bytes {
            MovedBytes::Law(law) => amounts_of(law),
            MovedBytes::Rest => Vec::new(),
            MovedBytes::Size => self.sizes_under(calls, call.handle),
            MovedBytes::SizeOf { handle } => self.sizes_under(calls, *handle),
        };
        let largest = amounts.iter().copied().max();
        let piece = u64::from(call.piece_bytes);
        // A piece as large as the largest amount never divides a request.
        if piece > 0 && largest.is_none_or(|largest| piece < largest) {
            amounts.push(piece);
        }
        match &call.place {
            CallPosition::At(offset) => amounts.push(*offset),
            CallPosition::Random {
                align_bytes: step, ..
            }
            | CallPosition::Dealt { step_bytes: step } => amounts.push((*step).into()),
            CallPosition::Along(
                FilePath::Backward { step_bytes }
                | FilePath::Shuffled { step_bytes }
                | FilePath::Dealt { step_bytes },
            ) => amounts.push((*step_bytes).into()),
            CallPosition::Along(FilePath::Strided {
                stride_bytes,
                shift_bytes,
                ..
            }) => amounts.extend([*stride_bytes, *shift_bytes]),
            CallPosition::Along(FilePath::Blocks {
                block_bytes,
                stride_bytes,
                each_bytes,
                ..
            }) => amounts.extend([*block_bytes, *stride_bytes, *each_bytes]),
            CallPosition::Here | CallPosition::Same | CallPosition::End => {}
        }
        amounts
    }

    /// The sizes of the files that are picked under a handle.
    fn sizes_under(&self, calls: &[&Call], handle: u8) -> Vec<u64> {
        let own = calls.iter().filter(|call| call.handle == handle);
        let picks = own.filter_map(|call| match &call.on {
            CallObject::Name(pick) => self.filesets.get(usize::from(pick.fileset)),
            _ => None,
        });
        picks.flat_map(|it| amounts_of(&it.size)).collect()
    }
}

/// Amounts such that all values of the law are multiples of a number if these amounts are.
fn amounts_of(law: &Law) -> Vec<u64> {
    match law.always() {
        Some(amount) => vec![amount],
        None => {
            let step = law.step.max(1);
            let ends = [law.smallest(), law.largest().unwrap_or(0)];
            ends.into_iter().chain([step]).collect()
        }
    }
}
