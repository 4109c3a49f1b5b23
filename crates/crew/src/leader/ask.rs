//! Questions to the others, and their answers.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use results::RunEvent;

use super::{LOOK, Leader, Said};
use crate::CrewError;
use crate::message::{Order, Report};
use crate::worker::is_stopped;

impl Leader {
    /// Asks each of these and waits for an answer of each.
    pub(super) fn ask(
        &mut self,
        ranks: &[u32],
        order: impl Fn(u32) -> Order,
        is_wanted: fn(&Report) -> bool,
        stop: &AtomicBool,
    ) -> Result<Vec<(u32, Report)>, CrewError> {
        for rank in ranks {
            self.say(*rank, &order(*rank));
        }
        self.answers(ranks, is_wanted, stop, &mut |_, _| {})
    }

    /// Waits for an answer of each; `told` hears what else they say.
    pub(super) fn answers(
        &mut self,
        ranks: &[u32],
        is_wanted: fn(&Report) -> bool,
        stop: &AtomicBool,
        told: &mut dyn FnMut(u32, RunEvent),
    ) -> Result<Vec<(u32, Report)>, CrewError> {
        let mut awaited: BTreeSet<u32> = ranks.iter().copied().collect();
        let mut answers = Vec::with_capacity(ranks.len());
        while !awaited.is_empty() {
            if is_stopped(stop) {
                return Err(CrewError::Stopped);
            }
            match self.hear(LOOK) {
                Some((rank, Said::Report(Report::Event { event }))) => told(rank, *event),
                Some((rank, Said::Report(Report::Failed(failed)))) => {
                    return Err(CrewError::failed(self.who(rank), failed));
                }
                Some((rank, Said::Report(report))) => {
                    if !is_wanted(&report) || !awaited.remove(&rank) {
                        let why = "said what it was not asked";
                        self.lose(rank, why.to_owned());
                        return Err(self.gone(rank, why));
                    }
                    answers.push((rank, report));
                }
                Some((rank, Said::Lost(why))) => return Err(self.gone(rank, &why)),
                None => {}
            }
        }
        answers.sort_by_key(|(rank, _)| *rank);
        Ok(answers)
    }
}
