//! Verbs that make system calls, in both directions.

use units::Bytes as Size;

use super::act::{ActReader, ActWriter};
use super::names::{DEFAULT_ATTRIBUTE, NamedFiles};
use super::{
    ActChoice, ActTable, AmountChoice, BareVerb, NotExpressible, PickChoice, PositionChoice,
    not_expressible,
};
use crate::flaw::ValueError;
use plan::program::{
    Call, CallObject, FileFilter, FileOperation, FileSharing, FilesetPlan, MovedBytes,
    PIECE_BYTES_MAX, Pick, PickOrder,
};

/// Largest default size of one request, in bytes.
// Each worker has a buffer of the largest request.
const DEFAULT_BYTES_MAX: u32 = 1 << 20;
/// Default alignment of random positions when requests have no fixed size, in bytes.
const ALIGN_BYTES: u32 = 4096;

/// The operation of a verb, and the field with its value.
type Verb<T> = (FileOperation, fn(&mut ActTable) -> &mut Option<T>);

/// Verbs that take a name, or a file by its handle.
const NAME_VERBS: [Verb<String>; 11] = [
    (FileOperation::Create, |it| &mut it.create),
    (FileOperation::Open, |it| &mut it.open),
    (FileOperation::Stat, |it| &mut it.stat),
    (FileOperation::Unlink, |it| &mut it.unlink),
    (FileOperation::Mkdir, |it| &mut it.mkdir),
    (FileOperation::Rmdir, |it| &mut it.rmdir),
    (FileOperation::List, |it| &mut it.list),
    (FileOperation::Rename, |it| &mut it.rename),
    (FileOperation::Link, |it| &mut it.link),
    (FileOperation::Symlink, |it| &mut it.symlink),
    (FileOperation::Chmod, |it| &mut it.chmod),
];

/// Verbs that take a handle alone.
const HANDLE_VERBS: [Verb<String>; 4] = [
    (FileOperation::Close, |it| &mut it.close),
    (FileOperation::Fsync, |it| &mut it.fsync),
    (FileOperation::Fdatasync, |it| &mut it.fdatasync),
    // One operation with two verbs: `stat` names the file, `fstat` uses the open one.
    (FileOperation::Stat, |it| &mut it.fstat),
];

/// Verbs that take an amount.
const AMOUNT_VERBS: [Verb<AmountChoice>; 5] = [
    (FileOperation::Read, |it| &mut it.read),
    (FileOperation::Write, |it| &mut it.write),
    (FileOperation::Truncate, |it| &mut it.truncate),
    (FileOperation::Setxattr, |it| &mut it.setxattr),
    (FileOperation::Getxattr, |it| &mut it.getxattr),
];

/// The written verb and its value, taken out of the table.
fn written<T>(verbs: &[Verb<T>], table: &mut ActTable) -> Option<(FileOperation, T)> {
    let mut verbs = verbs.iter();
    verbs.find_map(|(operation, value)| Some((*operation, value(table).take()?)))
}

/// Writes the value of the verb for an operation, if the operation has one.
fn write<T>(verbs: &[Verb<T>], operation: FileOperation, value: T, table: &mut ActTable) {
    if let Some((_, place)) = verbs.iter().find(|(it, _)| *it == operation) {
        *place(table) = Some(value);
    }
}

impl ActReader<'_> {
    /// The call of a table whose verb makes a system call.
    pub fn call(&mut self, mut table: ActTable, verb: &'static str) -> Result<Call, ValueError> {
        let label = table.label.take();
        let label = label.map(|label| self.names.label("label", &label));
        let label = label.transpose()?;
        let call = if let Some((operation, name)) = written(&NAME_VERBS, &mut table) {
            self.of_name(table, verb, operation, &name)?
        } else if let Some((operation, text)) = written(&HANDLE_VERBS, &mut table) {
            let (on, handle) = match text.trim().strip_prefix("directory of ") {
                Some(handle) => (CallObject::Directory, handle),
                None => (CallObject::Handle, text.as_str()),
            };
            Call {
                handle: self.handles.number(verb, Some(handle))?,
                ..Call::new(operation, on)
            }
        } else {
            self.of_amount(table, verb)?
        };
        Ok(Call { label, ..call })
    }

    /// A verb that takes a fileset or a handle.
    fn of_name(
        &mut self,
        table: ActTable,
        verb: &'static str,
        operation: FileOperation,
        name: &str,
    ) -> Result<Call, ValueError> {
        let (key, handle, on) = match self.names.named(verb, name)? {
            NamedFiles::Fileset(fileset) => {
                let order = PickChoice::order(table.pick.clone(), "pick")?;
                let pick = Pick {
                    fileset,
                    which: table.which.unwrap_or(default_which(operation)),
                    turn: table.turn.unwrap_or(default_turn(&order)),
                    order,
                };
                ("handle", table.handle.clone(), CallObject::Name(pick))
            }
            NamedFiles::File { handle, on } => {
                refuse_picking(&table, &handle)?;
                // `list` works on a directory, whichever of its files is named.
                let on = if operation == FileOperation::List {
                    CallObject::Directory
                } else {
                    on
                };
                (verb, Some(handle), on)
            }
        };
        Ok(Call {
            handle: self.handles.number(key, handle.as_deref())?,
            way: self.names.way(table.way.as_deref())?,
            second: self.second(table, verb, operation)?,
            ..Call::new(operation, on)
        })
    }

    fn second(
        &self,
        table: ActTable,
        verb: &'static str,
        operation: FileOperation,
    ) -> Result<Option<Pick>, ValueError> {
        if !operation.has_second_name() {
            return Ok(None);
        }
        let Some(to) = table.to else {
            let message = format!("`{verb}` has no second name");
            return Err(ValueError::new(verb, message, "add `to = \"FILESET\"`"));
        };
        let order = PickChoice::order(table.to_pick, "to_pick")?;
        Ok(Some(Pick {
            fileset: self.names.fileset("to", &to)?,
            which: table.to_which.unwrap_or(FileFilter::Absent),
            // Workers that divide the files usually have to divide the new names alike.
            turn: table.to_turn.or(table.turn).unwrap_or(default_turn(&order)),
            order,
        }))
    }

    /// A verb that takes an amount.
    fn of_amount(&mut self, mut table: ActTable, verb: &'static str) -> Result<Call, ValueError> {
        let Some((operation, amount)) = written(&AMOUNT_VERBS, &mut table) else {
            let message = format!("`{verb}` makes no system call");
            return Err(ValueError::new(verb, message, "take it out"));
        };
        let bytes = match amount {
            AmountChoice::Law(law) => MovedBytes::Law(law.law(verb)?),
            AmountChoice::Rest => MovedBytes::Rest,
            AmountChoice::Size => MovedBytes::Size,
            AmountChoice::SizeOf(handle) => MovedBytes::SizeOf {
                handle: self.handles.number(verb, Some(&handle))?,
            },
        };
        let piece_bytes = match table.piece {
            Some(Size(0)) => {
                let message = "`piece` is 0, so nothing would ever be moved";
                return Err(ValueError::new(
                    "piece",
                    message,
                    "write `piece = \"64KiB\"`",
                ));
            }
            // The check of the program refuses the largest number, so nothing is cut silently.
            Some(piece) => u32::try_from(piece.0).unwrap_or(u32::MAX),
            None if !operation.moves() => 0,
            None => default_piece(&bytes, self.filesets),
        };
        let attribute = match operation.has_attribute() {
            true => self.names.attribute(table.attribute.as_deref())?,
            false => 0,
        };
        Ok(Call {
            handle: self.handles.number("handle", table.handle.as_deref())?,
            attribute,
            piece_bytes,
            place: PositionChoice::place(table.at, default_align(&bytes, piece_bytes))?,
            bytes,
            ..Call::new(operation, CallObject::Handle)
        })
    }
}

/// Refuses keys for picking if the file is named by its handle.
fn refuse_picking(table: &ActTable, handle: &str) -> Result<(), ValueError> {
    let keys = [
        ("pick", table.pick.is_some()),
        ("which", table.which.is_some()),
        // `turn` may belong to the second name.
        ("turn", table.turn.is_some() && table.to.is_none()),
    ];
    if let Some((key, _)) = keys.into_iter().find(|(_, is_written)| *is_written) {
        let message = format!("`{key}` does not apply to `@{handle}`, which was picked before");
        return Err(ValueError::leave_out(key, message));
    }
    let own = table.handle.as_deref();
    match own.map(|it| it.trim().trim_start_matches('@')) {
        Some(own) if own != handle => {
            let message = format!("the file of `@{handle}` cannot go to the handle `{own}`");
            Err(ValueError::leave_out("handle", message))
        }
        _ => Ok(()),
    }
}

impl ActWriter<'_> {
    pub fn call(&self, call: &Call) -> Result<ActChoice, NotExpressible> {
        if call.operation == FileOperation::Sync && call.label.is_some() {
            return not_expressible("a `sync` of all file systems has a label");
        }
        use FileOperation::{Lock, LockShared, Unlock};
        if matches!(call.operation, Lock | LockShared | Unlock) {
            return not_expressible("files are locked");
        }
        if let Some(word) = word(call) {
            return Ok(ActChoice::Word(word));
        }
        let mut table = ActTable {
            label: call.label.and_then(|label| self.label(label)),
            ..ActTable::default()
        };
        match AMOUNT_VERBS.iter().any(|(it, _)| *it == call.operation) {
            true => self.write_amount(call, &mut table),
            false => self.write_name(call, &mut table)?,
        }
        Ok(ActChoice::Table(Box::new(table)))
    }

    /// The handle under which a file is picked, or to which the act refers.
    fn own_handle(&self, call: &Call) -> Option<String> {
        (call.handle > 0).then(|| self.handles.name(call.handle).to_owned())
    }

    fn fileset(&self, pick: &Pick) -> String {
        self.names.filesets[usize::from(pick.fileset)].clone()
    }

    fn write_name(&self, call: &Call, table: &mut ActTable) -> Result<(), NotExpressible> {
        let handle = self.handles.name(call.handle);
        let named = match &call.on {
            CallObject::Name(pick) => {
                table.handle = self.own_handle(call);
                table.pick = PickChoice::of(&pick.order)?;
                table.which = differing(pick.which, default_which(call.operation));
                table.turn = differing(pick.turn, default_turn(&pick.order));
                self.fileset(pick)
            }
            CallObject::Handle | CallObject::Same => format!("@{handle}"),
            CallObject::Directory => format!("directory of @{handle}"),
        };
        // Open files and named files have different verbs for reading attributes.
        let verbs = match call.on {
            CallObject::Handle => [&HANDLE_VERBS[..], &NAME_VERBS].concat(),
            _ => [&NAME_VERBS[..], &HANDLE_VERBS].concat(),
        };
        write(&verbs, call.operation, named, table);
        if call.operation.opens() && call.way > 0 {
            table.way = Some(self.names.open_modes[usize::from(call.way)].clone());
        }
        if let Some(second) = &call.second {
            let usual = table.turn.unwrap_or(default_turn(&second.order));
            table.to = Some(self.fileset(second));
            table.to_pick = PickChoice::of(&second.order)?;
            table.to_which = differing(second.which, FileFilter::Absent);
            table.to_turn = differing(second.turn, usual);
        }
        Ok(())
    }

    fn write_amount(&self, call: &Call, table: &mut ActTable) {
        table.handle = self.own_handle(call);
        let amount = match &call.bytes {
            MovedBytes::Law(law) => AmountChoice::Law(law.into()),
            MovedBytes::Rest => AmountChoice::Rest,
            MovedBytes::Size => AmountChoice::Size,
            MovedBytes::SizeOf { handle } => {
                AmountChoice::SizeOf(self.handles.name(*handle).to_owned())
            }
        };
        write(&AMOUNT_VERBS, call.operation, amount, table);
        if call.operation.has_attribute() {
            let name = self.program.attributes.get(usize::from(call.attribute));
            table.attribute = name.filter(|it| *it != DEFAULT_ATTRIBUTE).cloned();
        }
        if !call.operation.moves() {
            return;
        }
        let filesets = &self.program.filesets;
        let usual = default_piece(&call.bytes, filesets);
        let piece_bytes = match call.piece_bytes {
            // "In one request" is written as a piece of the largest possible size.
            0 if usual > 0 => {
                let most = largest(&call.bytes, filesets).unwrap_or(PIECE_BYTES_MAX);
                u32::try_from(most).unwrap_or(usual)
            }
            written => written,
        };
        table.piece = differing(piece_bytes, usual).map(|bytes| Size(bytes.into()));
        table.at = PositionChoice::of(&call.place, default_align(&call.bytes, piece_bytes));
    }
}

fn differing<T: PartialEq>(value: T, usual: T) -> Option<T> {
    (value != usual).then_some(value)
}

/// The verb alone, if it needs no arguments.
fn word(call: &Call) -> Option<BareVerb> {
    let is_bare = call.handle == 0 && call.label.is_none() && call.on == CallObject::Handle;
    let mut words = BareVerb::ALL.into_iter();
    let word = words.find(|word| word.operation() == call.operation);
    // `sync` works on no file, so its handle has no meaning.
    word.filter(|word| is_bare || *word == BareVerb::Sync)
}

/// Default request size in bytes: 0 for everything in one request, or 1 MiB.
fn default_piece(bytes: &MovedBytes, filesets: &[FilesetPlan]) -> u32 {
    match largest(bytes, filesets) {
        Some(largest) if largest <= DEFAULT_BYTES_MAX.into() => 0,
        _ => DEFAULT_BYTES_MAX,
    }
}

/// Most bytes that a call moves; `None` if there is no limit.
pub(super) fn largest(bytes: &MovedBytes, filesets: &[FilesetPlan]) -> Option<u64> {
    match bytes {
        MovedBytes::Law(law) => law.largest(),
        MovedBytes::Rest => None,
        MovedBytes::Size | MovedBytes::SizeOf { .. } => {
            let mut sizes = filesets.iter().map(|it| it.size.largest());
            sizes.try_fold(0_u64, |most, size| Some(most.max(size?)))
        }
    }
}

const fn default_which(operation: FileOperation) -> FileFilter {
    match operation.makes() {
        true => FileFilter::Absent,
        false => FileFilter::Present,
    }
}

const fn default_turn(order: &PickOrder) -> FileSharing {
    match order {
        PickOrder::Around => FileSharing::Shared,
        _ => FileSharing::Own,
    }
}

/// Default alignment of random positions: the size of a request.
fn default_align(bytes: &MovedBytes, piece_bytes: u32) -> u32 {
    match (piece_bytes, bytes) {
        (0, MovedBytes::Law(law)) => {
            let all = law.always().map(u32::try_from);
            // Even a call of 0 bytes needs an alignment above 0.
            all.and_then(Result::ok).unwrap_or(ALIGN_BYTES).max(1)
        }
        (0, _) => ALIGN_BYTES,
        (piece, _) => piece,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::program::{CallPosition, Law};

    #[test]
    fn random_offsets_are_multiples_of_the_request_size() {
        let random = |bytes: MovedBytes, piece_bytes| {
            let anywhere = Some(PositionChoice::Anywhere);
            match PositionChoice::place(anywhere, default_align(&bytes, piece_bytes)) {
                Ok(CallPosition::Random { align_bytes, .. }) => align_bytes,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(random(MovedBytes::Law(Law::fixed(8192)), 0), 8192);
        assert_eq!(random(MovedBytes::Law(Law::fixed(8192)), 512), 512);
        assert_eq!(random(MovedBytes::Size, 0), 4096);
        assert_eq!(random(MovedBytes::Law(Law::fixed(0)), 0), 1);
    }
}
