//! Verbs that ask something of the file system.

use units::Bytes as Size;

use super::super::Flaw;
use super::Writer;
use super::laws::law_under;
use super::names::Named;
use super::paths::of_table;
use crate::model::{ActTable, AmountChoice, DistributionChoice, PickChoice, PlaceChoice};
use plan::Distribution;
use plan::program::{Bytes, Call, FileOperation, FilesetPlan, On, Order, Pick, Turn, Where, Which};

/// Bytes of one request where nothing is written, at most.
const PIECE_BYTES: u32 = 1 << 20;
/// What places by chance are multiples of where a request may have any size.
const ALIGN_BYTES: u32 = 4096;

/// A call of an operation in the first register, with nothing else.
pub(super) fn plain(operation: FileOperation, on: On) -> Call {
    Call {
        operation,
        on,
        second: None,
        handle: 0,
        way: 0,
        bytes: Bytes::default(),
        piece_bytes: 0,
        place: Where::default(),
        label: None,
    }
}

impl Writer<'_> {
    /// The call of a table whose verb asks something of the file system.
    pub fn call(&mut self, table: &ActTable, verb: &'static str) -> Result<Call, Flaw> {
        let label = match &table.label {
            Some(label) => Some(self.names.label("label", label)?),
            None => None,
        };
        let call = match of_names(table) {
            Some((operation, name)) => self.of_name(table, verb, operation, name)?,
            None => match of_handles(table) {
                Some((operation, handle)) => self.of_handle(verb, operation, handle)?,
                None => self.of_amount(table, verb)?,
            },
        };
        Ok(Call { label, ..call })
    }

    /// A verb that takes a fileset, or a file by its handle.
    fn of_name(
        &mut self,
        table: &ActTable,
        verb: &'static str,
        operation: FileOperation,
        name: &str,
    ) -> Result<Call, Flaw> {
        let named = self.names.named(verb, name)?;
        let of_handle = match &named {
            Named::Fileset(_) => table.handle.as_deref(),
            Named::Handle(handle) | Named::Directory(handle) => {
                no_picking(table, handle)?;
                Some(handle.as_str())
            }
        };
        let key = if matches!(named, Named::Fileset(_)) {
            "handle"
        } else {
            verb
        };
        let handle = self.handles.number(key, of_handle)?;
        let on = match named {
            Named::Fileset(fileset) => On::Name(pick(table, operation, fileset)?),
            // A list is of a directory, whichever of its files is named.
            Named::Handle(_) if operation == FileOperation::List => On::Directory,
            Named::Handle(_) => On::Same,
            Named::Directory(_) => On::Directory,
        };
        Ok(Call {
            handle,
            second: self.second(table, verb, operation)?,
            way: self.names.way(table.way.as_ref())?,
            ..plain(operation, on)
        })
    }

    fn second(
        &self,
        table: &ActTable,
        verb: &'static str,
        operation: FileOperation,
    ) -> Result<Option<Pick>, Flaw> {
        match (&table.to, operation.has_second()) {
            (Some(to), true) => {
                let order = order_of("to_pick", table.to_pick.as_ref())?;
                Ok(Some(Pick {
                    fileset: self.names.fileset("to", to)?,
                    which: table.to_which.unwrap_or(Which::Absent),
                    turn: table.to_turn.or(table.turn).unwrap_or(usual_turn(&order)),
                    order,
                }))
            }
            (None, true) => {
                let message = format!("`{verb}` has no second name");
                Err(Flaw::new(verb, message, "add `to = \"FILESET\"`"))
            }
            (_, false) => Ok(None),
        }
    }

    /// A verb that takes a handle alone.
    fn of_handle(
        &mut self,
        verb: &'static str,
        operation: FileOperation,
        text: &str,
    ) -> Result<Call, Flaw> {
        let (on, handle) = match text.trim().strip_prefix("directory of ") {
            Some(handle) => (On::Directory, handle),
            None => (On::Handle, text),
        };
        Ok(Call {
            handle: self.handles.number(verb, Some(handle))?,
            ..plain(operation, on)
        })
    }

    /// A verb that takes an amount.
    fn of_amount(&mut self, table: &ActTable, verb: &'static str) -> Result<Call, Flaw> {
        let amounts = [
            (FileOperation::Read, &table.read),
            (FileOperation::Write, &table.write),
            (FileOperation::Truncate, &table.truncate),
        ];
        let written = amounts.into_iter().find_map(|(operation, amount)| {
            let amount = amount.as_ref()?;
            Some((operation, amount))
        });
        let Some((operation, amount)) = written else {
            let message = format!("`{verb}` asks nothing of the file system");
            return Err(Flaw::new(verb, message, "take it out"));
        };
        let bytes = match amount {
            AmountChoice::Law(law) => Bytes::Law(law_under(verb, law)?),
            AmountChoice::Rest => Bytes::Rest,
            AmountChoice::Size => Bytes::Size,
            AmountChoice::SizeOf(handle) => Bytes::SizeOf {
                handle: self.handles.number(verb, Some(handle))?,
            },
        };
        let piece_bytes = match table.piece {
            Some(Size(0)) => {
                let message = "`piece` is 0, so nothing would ever be moved";
                return Err(Flaw::new("piece", message, "write `piece = \"64KiB\"`"));
            }
            Some(piece) => u32::try_from(piece.0).unwrap_or(u32::MAX),
            None if !operation.moves() => 0,
            None => usual_piece(&bytes, self.filesets),
        };
        Ok(Call {
            handle: self.handles.number("handle", table.handle.as_deref())?,
            piece_bytes,
            place: place(table.at.as_ref(), &bytes, piece_bytes)?,
            bytes,
            ..plain(operation, On::Handle)
        })
    }
}

/// How much one request has where nothing is written: all, which is 0, or 1 MiB.
pub(crate) fn usual_piece(bytes: &Bytes, filesets: &[FilesetPlan]) -> u32 {
    match largest(bytes, filesets) {
        Some(largest) if largest <= PIECE_BYTES.into() => 0,
        _ => PIECE_BYTES,
    }
}

/// The most that a call moves; none where nothing limits it.
pub(crate) fn largest(bytes: &Bytes, filesets: &[FilesetPlan]) -> Option<u64> {
    match bytes {
        Bytes::Law(law) => law.largest(),
        Bytes::Rest => None,
        Bytes::Size | Bytes::SizeOf { .. } => {
            let mut sizes = filesets.iter().map(|it| it.size.largest());
            sizes.try_fold(0_u64, |most, size| Some(most.max(size?)))
        }
    }
}

/// The verb that takes a name, and the name.
fn of_names(table: &ActTable) -> Option<(FileOperation, &str)> {
    use FileOperation as Op;
    let verbs = [
        (Op::Create, &table.create),
        (Op::Open, &table.open),
        (Op::Stat, &table.stat),
        (Op::Unlink, &table.unlink),
        (Op::Mkdir, &table.mkdir),
        (Op::Rmdir, &table.rmdir),
        (Op::List, &table.list),
        (Op::Rename, &table.rename),
        (Op::Link, &table.link),
        (Op::Symlink, &table.symlink),
        (Op::Chmod, &table.chmod),
    ];
    of_text(verbs)
}

/// The verb that takes a handle, and the handle.
fn of_handles(table: &ActTable) -> Option<(FileOperation, &str)> {
    use FileOperation as Op;
    let verbs = [
        (Op::Close, &table.close),
        (Op::Fsync, &table.fsync),
        (Op::Fdatasync, &table.fdatasync),
        (Op::Stat, &table.fstat),
    ];
    of_text(verbs)
}

fn of_text<const N: usize>(
    verbs: [(FileOperation, &Option<String>); N],
) -> Option<(FileOperation, &str)> {
    verbs
        .into_iter()
        .find_map(|(operation, text)| Some((operation, text.as_deref()?)))
}

/// Nothing is picked where the file is named by its handle.
fn no_picking(table: &ActTable, handle: &str) -> Result<(), Flaw> {
    let keys = [
        ("pick", table.pick.is_some()),
        ("which", table.which.is_some()),
        // Whose turn it is may be said of the second name.
        ("turn", table.turn.is_some() && table.to.is_none()),
    ];
    let mut keys = keys.iter();
    if let Some((key, _)) = keys.find(|(_, is_written)| *is_written) {
        let message = format!("`{key}` does not apply to `@{handle}`, which was picked before");
        return Err(Flaw::new(key, message, format!("leave `{key}` out")));
    }
    let own = table
        .handle
        .as_deref()
        .map(|it| it.trim().trim_start_matches('@'));
    match own {
        Some(own) if own != handle => {
            let message = format!("the file of `@{handle}` cannot go to the handle `{own}`");
            Err(Flaw::new("handle", message, "leave `handle` out"))
        }
        _ => Ok(()),
    }
}

fn pick(table: &ActTable, operation: FileOperation, fileset: u8) -> Result<Pick, Flaw> {
    let order = order_of("pick", table.pick.as_ref())?;
    Ok(Pick {
        fileset,
        which: table.which.unwrap_or(usual_which(operation)),
        turn: table.turn.unwrap_or(usual_turn(&order)),
        order,
    })
}

/// Which files are picked from where nothing is written.
pub(crate) const fn usual_which(operation: FileOperation) -> Which {
    match operation.makes() {
        true => Which::Absent,
        false => Which::Present,
    }
}

fn order_of(key: &'static str, choice: Option<&PickChoice>) -> Result<Order, Flaw> {
    let distribution = match choice {
        None | Some(PickChoice::Next) => return Ok(Order::Next),
        Some(PickChoice::Back) => return Ok(Order::Back),
        Some(PickChoice::Shuffled) => return Ok(Order::Shuffled),
        Some(PickChoice::Around) => return Ok(Order::Around),
        Some(PickChoice::Index(index)) => return Ok(Order::Index(*index)),
        Some(PickChoice::Law(law)) => return Ok(Order::ByLaw(law_under(key, law)?)),
        Some(PickChoice::Uniform) => DistributionChoice::Uniform,
        Some(PickChoice::Zipf(theta)) => DistributionChoice::Zipf(*theta),
        Some(PickChoice::Pareto(h)) => DistributionChoice::Pareto(*h),
        Some(PickChoice::Normal(deviation)) => DistributionChoice::Normal(*deviation),
        Some(PickChoice::Zones(zones)) => DistributionChoice::Zones(zones.clone()),
        Some(PickChoice::NoRepeat) => DistributionChoice::NoRepeat,
    };
    Ok(Order::Drawn(Distribution::from(&distribution)))
}

/// Whose turn counts where nothing is written.
pub(crate) const fn usual_turn(order: &Order) -> Turn {
    match order {
        Order::Around => Turn::Shared,
        _ => Turn::Own,
    }
}

/// What places by chance are multiples of where nothing is written: a request.
pub(crate) fn usual_align(bytes: &Bytes, piece_bytes: u32) -> u32 {
    match (piece_bytes, bytes) {
        (0, Bytes::Law(law)) => {
            let all = law.always().map(u32::try_from);
            all.and_then(Result::ok).unwrap_or(ALIGN_BYTES).max(1)
        }
        (0, _) => ALIGN_BYTES,
        (piece, _) => piece,
    }
}

fn place(choice: Option<&PlaceChoice>, bytes: &Bytes, piece_bytes: u32) -> Result<Where, Flaw> {
    let one_request = || usual_align(bytes, piece_bytes);
    Ok(match choice {
        None | Some(PlaceChoice::Here) => Where::Here,
        Some(PlaceChoice::Same) => Where::Same,
        Some(PlaceChoice::End) => Where::End,
        Some(PlaceChoice::At(offset)) => Where::At(offset.0),
        Some(PlaceChoice::Anywhere) => Where::Random {
            distribution: Distribution::Uniform,
            align_bytes: one_request(),
            is_nominal: false,
        },
        Some(PlaceChoice::Table(table)) => of_table(table, one_request())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::program::Law;

    #[test]
    fn places_by_chance_are_multiples_of_a_request() {
        let random = |bytes: Bytes, piece_bytes| match place(
            Some(&PlaceChoice::Anywhere),
            &bytes,
            piece_bytes,
        ) {
            Ok(Where::Random { align_bytes, .. }) => align_bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(random(Bytes::Law(Law::fixed(8192)), 0), 8192);
        assert_eq!(random(Bytes::Law(Law::fixed(8192)), 512), 512);
        assert_eq!(random(Bytes::Size, 0), 4096);
        assert_eq!(random(Bytes::Law(Law::fixed(0)), 0), 1);
    }
}
