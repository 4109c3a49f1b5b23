//! Descriptions of acts.

use units::{Bytes as Size, Percent};

use super::super::{
    Act, Call, CallObject, CallPosition, DirectoryTree, DirectoryWalk, FileFilter, FileOperation,
    FilePath, FilesetPlan, Law, Measure, MovedBytes, Pick, PickOrder, Program, TakeAmount,
};
use super::laws;
use crate::Distribution;

/// Describes the acts of a program.
pub struct ActDescriber<'a> {
    pub program: &'a Program,
}

impl ActDescriber<'_> {
    /// Describes acts in order, separated by commas.
    pub fn list(&self, acts: &[Act]) -> String {
        let words: Vec<String> = acts.iter().map(|act| self.act(act)).collect();
        words.join(", ")
    }

    fn act(&self, act: &Act) -> String {
        match act {
            Act::Call(call) => self.call(call),
            Act::Times(law, acts) => {
                let times = match law.always() {
                    Some(1) => "once".to_owned(),
                    Some(2) => "twice".to_owned(),
                    _ => format!("{} times", laws::count(law)),
                };
                format!("{times} ({})", self.list(acts))
            }
            Act::Step(label, acts) | Act::Transaction(label, acts) => {
                format!("{} ({})", self.program.label(*label), self.list(acts))
            }
            Act::Walk(walk) => self.walk(walk),
            Act::Deal(deck) => {
                let choices: Vec<String> = deck.choices.iter().map(|it| self.list(it)).collect();
                format!("as listed ({})", choices.join("; "))
            }
            Act::Mix(branches) => self.mix(branches),
            Act::Think(law) => format!("wait {}", laws::time(law)),
            Act::Burn(law) => format!("compute for {}", laws::time(law)),
            Act::Put { tokens, count, .. } => format!("put {count} of {}", self.tokens(*tokens)),
            Act::Take { tokens, count, .. } => match count {
                TakeAmount::Fixed(count) => format!("take {count} of {}", self.tokens(*tokens)),
                TakeAmount::Since { what, each } => {
                    let name = self.tokens(*tokens);
                    format!("take one of {name} for each {}", self.done(*what, *each))
                }
            },
            Act::Meet(_) => "meet all other workers".to_owned(),
        }
    }

    fn tokens(&self, number: u8) -> &str {
        let tokens = self.program.tokens.get(usize::from(number));
        tokens.map_or("", |it| it.name.as_str())
    }

    /// Describes an amount of work.
    fn done(&self, measure: Measure, count: u64) -> String {
        match measure {
            Measure::Rounds => format!("{count} rounds"),
            Measure::Calls => format!("{count} calls"),
            Measure::Bytes => Size(count).to_string(),
            Measure::Steps(label) => format!("{count} of {}", self.program.label(label)),
            Measure::StepBytes(label) => {
                format!("{} of {}", Size(count), self.program.label(label))
            }
        }
    }

    fn walk(&self, walk: &DirectoryWalk) -> String {
        let fileset = self.program.filesets.get(usize::from(walk.fileset));
        let name = fileset.map_or("", |it| it.name.as_str());
        let after = match walk.after.is_empty() {
            true => String::new(),
            false => format!("for each directory ({})", self.list(&walk.after)),
        };
        match walk.each.is_empty() {
            true => format!("{after} of {name}"),
            false => {
                let acts = self.list(&walk.each);
                let after = if after.is_empty() {
                    after
                } else {
                    format!(", {after}")
                };
                format!("for each file that directories of {name} list ({acts}){after}")
            }
        }
    }

    fn mix(&self, branches: &[(u32, Vec<Act>)]) -> String {
        let sum: f64 = branches.iter().map(|(share, _)| f64::from(*share)).sum();
        let branches = branches.iter().map(|(share, acts)| {
            let percent = f64::from(*share) * 100.0 / sum.max(1.0);
            let percent = Percent((percent * 10.0).round() / 10.0);
            format!("{percent} {}", self.list(acts))
        });
        let words: Vec<String> = branches.collect();
        format!("one of ({})", words.join("; "))
    }

    fn call(&self, call: &Call) -> String {
        use FileOperation as Op;
        let object = || self.what(call);
        match call.operation {
            Op::Read | Op::Write => self.moved(call),
            Op::Truncate => format!("truncate it to {}", self.amount(call)),
            Op::Close => "close".to_owned(),
            Op::Fsync if call.on == CallObject::Directory => "fsync its directory".to_owned(),
            Op::Fsync => "fsync".to_owned(),
            Op::Fdatasync => "fdatasync".to_owned(),
            Op::Stat if call.on == CallObject::Handle => "stat what is open".to_owned(),
            Op::Chmod => format!("chmod {}", object()),
            Op::Sync => "sync all file systems".to_owned(),
            Op::Lock => "lock it".to_owned(),
            Op::LockShared => "lock it for readers".to_owned(),
            Op::Unlock => "unlock it".to_owned(),
            Op::Setxattr => {
                let (name, amount) = (self.attribute(call), self.amount(call));
                format!("set attribute {name} of {amount}")
            }
            Op::Getxattr => format!("read attribute {}", self.attribute(call)),
            Op::Unlink => format!("remove {}", object()),
            Op::Mkdir => format!("make {}", self.directory(call)),
            Op::Rmdir => format!("remove {}", self.directory(call)),
            Op::List => format!("list {}", self.listed(call)),
            Op::Rename => format!("rename {} {}", object(), self.second(call)),
            Op::Link => format!("link {} {}", object(), self.second(call)),
            Op::Symlink => format!("link {} symbolically {}", object(), self.second(call)),
            Op::Create => format!("create {}", object()),
            Op::Open => format!("open {}", object()),
            Op::Stat => format!("stat {}", object()),
        }
    }

    fn attribute(&self, call: &Call) -> &str {
        let names = &self.program.attributes;
        names.get(usize::from(call.attribute)).map_or("?", |it| it)
    }

    /// Describes the file that a call works on.
    fn what(&self, call: &Call) -> String {
        match &call.on {
            CallObject::Name(pick) => self.picked(pick),
            _ => "it".to_owned(),
        }
    }

    fn fileset(&self, pick: &Pick) -> Option<&FilesetPlan> {
        self.program.filesets.get(usize::from(pick.fileset))
    }

    fn picked(&self, pick: &Pick) -> String {
        let Some(fileset) = self.fileset(pick) else {
            return "a file".to_owned();
        };
        let name = &fileset.name;
        if fileset.count == 1 {
            return name.clone();
        }
        if pick.which == FileFilter::Absent {
            return format!("a file in {name}");
        }
        match &pick.order {
            PickOrder::Next => format!("the next file of {name}"),
            PickOrder::Back => format!("the file before in {name}"),
            PickOrder::Shuffled => format!("a file of {name}, each once at random"),
            PickOrder::Around => format!("the next file of {name}, starting over after the last"),
            PickOrder::Listed(_) => format!("a file of {name}, each once as listed"),
            PickOrder::Index(index) => format!("file {index} of {name}"),
            PickOrder::Drawn(distribution) => drawn(name, distribution),
            PickOrder::ByLaw(law) => format!("file {} of {name}", laws::count(law)),
        }
    }

    fn directory(&self, call: &Call) -> String {
        match &call.on {
            CallObject::Name(pick) => match self.fileset(pick) {
                Some(fileset) if fileset.count > 1 => format!("a directory in {}", fileset.name),
                Some(fileset) => format!("the directory {}", fileset.name),
                None => "a directory".to_owned(),
            },
            CallObject::Directory => "its directory".to_owned(),
            CallObject::Same | CallObject::Handle => "it".to_owned(),
        }
    }

    fn listed(&self, call: &Call) -> String {
        match &call.on {
            CallObject::Name(pick) => match self.fileset(pick) {
                Some(fileset) if matches!(fileset.tree, DirectoryTree::DirectoriesOf { .. }) => {
                    format!("one of {}", fileset.name)
                }
                Some(fileset) if fileset.directory_count() > 1 => {
                    format!("a directory of {}", fileset.name)
                }
                Some(fileset) => fileset.name.clone(),
                None => "a directory".to_owned(),
            },
            _ => "its directory".to_owned(),
        }
    }

    fn second(&self, call: &Call) -> String {
        let second = call.second.as_ref().and_then(|pick| self.fileset(pick));
        match second {
            Some(fileset) => format!("to {}", fileset.name),
            None => "to another name".to_owned(),
        }
    }

    /// Describes a read or a write.
    fn moved(&self, call: &Call) -> String {
        let is_read = call.operation == FileOperation::Read;
        let is_appended = !is_read && call.place == CallPosition::End;
        let verb = match () {
            () if is_read => "read",
            () if is_appended => "append",
            () => "write",
        };
        let amount = self.amount(call);
        let position = match &call.place {
            CallPosition::Here => String::new(),
            CallPosition::End if is_appended => String::new(),
            CallPosition::End => " from its end on".to_owned(),
            CallPosition::Same => " at the same place".to_owned(),
            CallPosition::At(offset) => format!(" at {}", Size(*offset)),
            CallPosition::Random { distribution, .. } => match distribution {
                Distribution::Zipf { theta } => format!(" at random (zipf {theta})"),
                _ => " at random".to_owned(),
            },
            CallPosition::Dealt { .. } => " at a listed place".to_owned(),
            CallPosition::Along(FilePath::Backward { .. }) => " backward".to_owned(),
            CallPosition::Along(FilePath::Strided { stride_bytes, .. }) => {
                format!(" in strides of {}", Size(*stride_bytes))
            }
            CallPosition::Along(FilePath::Blocks { block_bytes, .. }) => {
                format!(" in blocks of {}", Size(*block_bytes))
            }
            CallPosition::Along(FilePath::Shuffled { .. } | FilePath::Dealt { .. }) => {
                " in random order".to_owned()
            }
        };
        let pieces = match self.is_cut(call) {
            true => format!(" in pieces of {}", Size(call.piece_bytes.into())),
            false => String::new(),
        };
        format!("{verb} {amount}{position}{pieces}")
    }

    fn amount(&self, call: &Call) -> String {
        match &call.bytes {
            MovedBytes::Law(law) => laws::size(law),
            MovedBytes::Rest => "to its end".to_owned(),
            MovedBytes::Size => "it whole".to_owned(),
            MovedBytes::SizeOf { .. } => "as much as the other has".to_owned(),
        }
    }

    /// Whether it takes several requests.
    fn is_cut(&self, call: &Call) -> bool {
        let largest = match &call.bytes {
            MovedBytes::Law(law) => law.largest(),
            MovedBytes::Rest | MovedBytes::Size | MovedBytes::SizeOf { .. } => self.largest(call),
        };
        let piece = u64::from(call.piece_bytes);
        piece > 0 && largest.is_none_or(|largest| largest > piece)
    }

    /// The largest file of any set; `None` if there is no limit.
    fn largest(&self, call: &Call) -> Option<u64> {
        let sizes = self
            .program
            .filesets
            .iter()
            .map(|it| Law::largest(&it.size));
        match call.bytes {
            MovedBytes::Rest => None,
            _ => sizes.reduce(|one, other| Some(one?.max(other?)))?,
        }
    }
}

/// Describes a file picked at random.
fn drawn(name: &str, distribution: &Distribution) -> String {
    match distribution {
        Distribution::Uniform | Distribution::NoRepeat => format!("a file of {name} at random"),
        Distribution::Zipf { theta } => format!("a file of {name} (zipf {theta})"),
        Distribution::Pareto { h } => format!("a file of {name} (pareto {h})"),
        Distribution::Normal { .. } => format!("a file of {name} (normal)"),
        Distribution::Zones { .. } => format!("a file of {name} (by zones)"),
    }
}
