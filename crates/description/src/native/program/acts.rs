//! Acts as they are written.

use units::Bytes;

use super::Unsaid;
use super::laws::choice;
use super::names::Names;
use crate::model::{ActChoice, ActTable, BranchTable};
use plan::program::{Act, Due, Group, Measure, Program, Whose};

/// Writes the acts of a group.
pub(super) struct Acts<'a> {
    pub program: &'a Program,
    pub names: &'a Names,
    /// The names of the group's handles, by register.
    pub handles: Vec<String>,
}

impl<'a> Acts<'a> {
    pub fn of(group: &Group, program: &'a Program, names: &'a Names) -> Self {
        Self {
            program,
            names,
            handles: names.handles(group),
        }
    }

    pub fn list(&self, acts: &[Act]) -> Result<Vec<ActChoice>, Unsaid> {
        acts.iter().map(|act| self.act(act)).collect()
    }

    pub fn label(&self, label: u8) -> Option<String> {
        Some(self.names.labels[usize::from(label)].clone())
    }

    fn act(&self, act: &Act) -> Result<ActChoice, Unsaid> {
        let mut table = ActTable::default();
        match act {
            Act::Call(call) => return self.call(call),
            Act::Times(law, acts) => {
                table.times = Some(choice(law));
                table.acts = self.list(acts)?;
            }
            Act::Mix(branches) => {
                let branches = branches
                    .iter()
                    .map(|(share, acts)| self.branch(*share, acts));
                table.mix = Some(branches.collect::<Result<_, _>>()?);
            }
            Act::Walk(_) => {
                return Err(Unsaid("files come as directories list them".to_owned()));
            }
            Act::Deal(_) => {
                return Err(Unsaid("what is done follows from no rule".to_owned()));
            }
            Act::Step(label, acts) => {
                table.step = self.label(*label);
                table.acts = self.list(acts)?;
            }
            Act::Transaction(label, acts) => {
                table.transaction = self.label(*label);
                table.acts = self.list(acts)?;
            }
            Act::Think(law) => table.think = Some(choice(law)),
            Act::Burn(law) => table.burn = Some(choice(law)),
            Act::Put {
                tokens,
                count,
                whose,
            } => {
                table.put = self.names.tokens.get(usize::from(*tokens)).cloned();
                table.count = (*count != 1).then_some(*count);
                table.whose = unusual(*whose);
            }
            Act::Take {
                tokens,
                count,
                whose,
            } => {
                table.take = self.names.tokens.get(usize::from(*tokens)).cloned();
                table.whose = unusual(*whose);
                self.write_due(*count, &mut table)?;
            }
            Act::Meet(number) => table.meet = Some(format!("meeting-{}", number + 1)),
        }
        Ok(ActChoice::Table(Box::new(table)))
    }

    fn branch(&self, share: u32, acts: &[Act]) -> Result<BranchTable, Unsaid> {
        let (step, transaction, acts) = match acts {
            [Act::Step(label, acts)] => (self.label(*label), None, acts.as_slice()),
            [Act::Transaction(label, acts)] => (None, self.label(*label), acts.as_slice()),
            acts => (None, None, acts),
        };
        Ok(BranchTable {
            share: Some(share),
            step,
            transaction,
            acts: self.list(acts)?,
        })
    }

    fn write_due(&self, due: Due, table: &mut ActTable) -> Result<(), Unsaid> {
        let (what, each) = match due {
            Due::Fixed(count) => {
                table.count = (count != 1).then_some(count);
                return Ok(());
            }
            Due::Since { what, each } => (what, each),
        };
        table.of = match what {
            Measure::Steps(label) | Measure::StepBytes(label) => self.label(label),
            Measure::Calls | Measure::Bytes => None,
            Measure::Rounds => {
                return Err(Unsaid("something is taken for each round".to_owned()));
            }
        };
        match what {
            Measure::Bytes | Measure::StepBytes(_) => table.per_bytes = Some(Bytes(each)),
            _ => table.per_calls = Some(each),
        }
        Ok(())
    }
}

fn unusual(whose: Whose) -> Option<Whose> {
    (whose != Whose::Mine).then_some(whose)
}
