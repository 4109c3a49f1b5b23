//! Verbs that ask something of the file system, as they are written.

use units::Bytes as Size;

use super::Unsaid;
use super::acts::Acts;
use super::laws::choice;
use crate::check::{largest, usual_align, usual_piece, usual_turn, usual_which};
use crate::model::{
    ActChoice, ActTable, ActWord, AmountChoice, DistributionChoice, PickChoice, PlaceChoice,
    PlaceTable,
};
use plan::program::{
    Bytes, Call, FileOperation, FilePath, On, Order, PIECE_BYTES_MAX, Pick, Turn, Where, Which,
};

impl Acts<'_> {
    pub fn call(&self, call: &Call) -> Result<ActChoice, Unsaid> {
        if call.operation == FileOperation::Sync && call.label.is_some() {
            return Err(Unsaid(
                "a `sync` of all file systems has a label".to_owned(),
            ));
        }
        if let Some(word) = word(call) {
            return Ok(ActChoice::Word(word));
        }
        let mut table = ActTable {
            label: call.label.and_then(|label| self.label(label)),
            ..ActTable::default()
        };
        if call.operation.moves() || call.operation == FileOperation::Truncate {
            self.write_amount(call, &mut table);
        } else {
            self.write_name(call, &mut table)?;
        }
        Ok(ActChoice::Table(Box::new(table)))
    }

    fn handle(&self, register: u8) -> &str {
        &self.handles[usize::from(register)]
    }

    /// The handle under which a file is picked, or which is meant.
    fn own_handle(&self, call: &Call) -> Option<String> {
        (call.handle > 0).then(|| self.handle(call.handle).to_owned())
    }

    fn fileset(&self, pick: &Pick) -> String {
        self.names.filesets[usize::from(pick.fileset)].clone()
    }

    fn write_name(&self, call: &Call, table: &mut ActTable) -> Result<(), Unsaid> {
        let named = match &call.on {
            On::Name(pick) => {
                table.handle = self.own_handle(call);
                table.pick = order(&pick.order)?;
                table.which = unusual_which(pick.which, usual_which(call.operation));
                table.turn = unusual_turn(pick.turn, usual_turn(&pick.order));
                self.fileset(pick)
            }
            On::Handle | On::Same => format!("@{}", self.handle(call.handle)),
            On::Directory => format!("directory of @{}", self.handle(call.handle)),
        };
        if let Some(verb) = verb(call, table) {
            *verb = Some(named);
        }
        if call.operation.opens() && call.way > 0 {
            table.way = Some(self.names.ways[usize::from(call.way)].clone());
        }
        if let Some(second) = &call.second {
            let usual = table.turn.unwrap_or(usual_turn(&second.order));
            table.to = Some(self.fileset(second));
            table.to_pick = order(&second.order)?;
            table.to_which = unusual_which(second.which, Which::Absent);
            table.to_turn = unusual_turn(second.turn, usual);
        }
        Ok(())
    }

    fn write_amount(&self, call: &Call, table: &mut ActTable) {
        let amount = match &call.bytes {
            Bytes::Law(law) => AmountChoice::Law(choice(law)),
            Bytes::Rest => AmountChoice::Rest,
            Bytes::Size => AmountChoice::Size,
            Bytes::SizeOf { handle } => AmountChoice::SizeOf(self.handle(*handle).to_owned()),
        };
        table.handle = self.own_handle(call);
        if call.operation == FileOperation::Truncate {
            table.truncate = Some(amount);
            return;
        }
        let filesets = &self.program.filesets;
        let usual = usual_piece(&call.bytes, filesets);
        let piece_bytes = match call.piece_bytes {
            // All at once, which a piece of the most that there can be is as well.
            0 if usual > 0 => {
                let most = largest(&call.bytes, filesets).unwrap_or(PIECE_BYTES_MAX);
                u32::try_from(most).unwrap_or(usual)
            }
            written => written,
        };
        table.piece = (piece_bytes != usual).then(|| Size(piece_bytes.into()));
        table.at = place(&call.place, usual_align(&call.bytes, piece_bytes));
        match call.operation {
            FileOperation::Read => table.read = Some(amount),
            _ => table.write = Some(amount),
        }
    }
}

/// The verb alone, where nothing is to be said beside it.
fn word(call: &Call) -> Option<ActWord> {
    let is_bare = call.handle == 0 && call.label.is_none() && call.on == On::Handle;
    match call.operation {
        FileOperation::Sync => Some(ActWord::Sync),
        _ if !is_bare => None,
        FileOperation::Close => Some(ActWord::Close),
        FileOperation::Fsync => Some(ActWord::Fsync),
        FileOperation::Fdatasync => Some(ActWord::Fdatasync),
        FileOperation::Stat => Some(ActWord::Fstat),
        _ => None,
    }
}

/// Where the operation's file is named.
fn verb<'a>(call: &Call, table: &'a mut ActTable) -> Option<&'a mut Option<String>> {
    Some(match call.operation {
        FileOperation::Create => &mut table.create,
        FileOperation::Open => &mut table.open,
        FileOperation::Close => &mut table.close,
        FileOperation::Fsync => &mut table.fsync,
        FileOperation::Fdatasync => &mut table.fdatasync,
        FileOperation::Stat if call.on == On::Handle => &mut table.fstat,
        FileOperation::Stat => &mut table.stat,
        FileOperation::Unlink => &mut table.unlink,
        FileOperation::Mkdir => &mut table.mkdir,
        FileOperation::Rmdir => &mut table.rmdir,
        FileOperation::Rename => &mut table.rename,
        FileOperation::Link => &mut table.link,
        FileOperation::Symlink => &mut table.symlink,
        FileOperation::List => &mut table.list,
        FileOperation::Chmod => &mut table.chmod,
        FileOperation::Read
        | FileOperation::Write
        | FileOperation::Truncate
        | FileOperation::Sync => return None,
    })
}

fn unusual_which(which: Which, usual: Which) -> Option<Which> {
    (which != usual).then_some(which)
}

fn unusual_turn(turn: Turn, usual: Turn) -> Option<Turn> {
    (turn != usual).then_some(turn)
}

fn order(order: &Order) -> Result<Option<PickChoice>, Unsaid> {
    let distribution = match order {
        Order::Next => return Ok(None),
        Order::Back => return Ok(Some(PickChoice::Back)),
        Order::Shuffled => return Ok(Some(PickChoice::Shuffled)),
        Order::Around => return Ok(Some(PickChoice::Around)),
        Order::Index(index) => return Ok(Some(PickChoice::Index(*index))),
        Order::ByLaw(law) => return Ok(Some(PickChoice::Law(choice(law)))),
        Order::Listed(_) => {
            return Err(Unsaid("the order of files follows from no rule".to_owned()));
        }
        Order::Drawn(distribution) => DistributionChoice::from(distribution),
    };
    Ok(Some(match distribution {
        DistributionChoice::Uniform => PickChoice::Uniform,
        DistributionChoice::Zipf(theta) => PickChoice::Zipf(theta),
        DistributionChoice::Pareto(h) => PickChoice::Pareto(h),
        DistributionChoice::Normal(deviation) => PickChoice::Normal(deviation),
        DistributionChoice::Zones(zones) => PickChoice::Zones(zones),
        DistributionChoice::NoRepeat => PickChoice::NoRepeat,
    }))
}

fn place(place: &Where, usual_align: u32) -> Option<PlaceChoice> {
    Some(match place {
        Where::Here => return None,
        Where::Same => PlaceChoice::Same,
        Where::End => PlaceChoice::End,
        Where::At(offset) => PlaceChoice::At(Size(*offset)),
        Where::Random {
            distribution,
            align_bytes,
            is_nominal,
        } => match DistributionChoice::from(distribution) {
            DistributionChoice::Uniform if *align_bytes == usual_align && !is_nominal => {
                PlaceChoice::Anywhere
            }
            random => PlaceChoice::Table(PlaceTable {
                random: Some(random),
                align: (*align_bytes != usual_align).then(|| Size(u64::from(*align_bytes))),
                nominal: is_nominal.then_some(true),
                ..PlaceTable::default()
            }),
        },
        Where::Along(path) => PlaceChoice::Table(along(*path)),
        // Without a card that says where.
        Where::Dealt { .. } => PlaceChoice::At(Size(0)),
    })
}

fn along(path: FilePath) -> PlaceTable {
    let mut table = PlaceTable::default();
    let unusual = |bytes: u64, usual: u64| (bytes != usual).then_some(Size(bytes));
    match path {
        FilePath::Backward { step_bytes } => table.backward = Some(Size(step_bytes.into())),
        FilePath::Shuffled { step_bytes } => table.shuffled = Some(Size(step_bytes.into())),
        FilePath::Strided {
            stride_bytes,
            shift_bytes,
            margin_bytes,
        } => {
            table.strided = Some(Size(stride_bytes));
            table.shift = unusual(shift_bytes, 0);
            table.margin = unusual(margin_bytes, 0);
        }
        FilePath::Blocks {
            block_bytes,
            stride_bytes,
            each_bytes,
        } => {
            table.blocks = Some(Size(block_bytes));
            table.stride = unusual(stride_bytes, block_bytes);
            table.each = unusual(each_bytes, block_bytes);
        }
    }
    table
}
