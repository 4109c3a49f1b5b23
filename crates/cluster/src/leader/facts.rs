//! System facts of all processes, as planning needs them.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use plan::facts::{HostFacts, SystemFacts};

use super::Leader;
use crate::ClusterError;
use crate::message::{LeaderMessage, MemberMessage};

impl Leader {
    /// Collects the facts about each machine and about each process's targets. For each host and
    /// list of targets, only the first process is queried.
    ///
    /// # Errors
    /// A target cannot be used on some host.
    pub fn facts<'t>(
        &mut self,
        targets: impl Fn(u32) -> &'t [String],
        default_target: Option<&str>,
        reads_only: bool,
        stop: &AtomicBool,
    ) -> Result<SystemFacts, ClusterError> {
        let create = self.options.create;
        let mut known = BTreeSet::new();
        let ranks = (0..).zip(&self.peers);
        let firsts = ranks.filter_map(|(rank, peer)| {
            let is_first = known.insert((peer.host.as_str(), targets(rank)));
            is_first.then_some(rank)
        });
        let queried: Vec<u32> = firsts.collect();
        let probe = |rank| LeaderMessage::Probe {
            targets: targets(rank).to_vec(),
            default_target: default_target.map(str::to_owned),
            create,
            reads_only,
        };
        let is_wanted = |report: &MemberMessage| matches!(report, MemberMessage::Facts { .. });
        let mut all: Option<SystemFacts> = None;
        let mut hosts: Vec<HostFacts> = Vec::new();
        for (rank, report) in self.request(&queried, probe, is_wanted, stop)? {
            let MemberMessage::Facts { facts } = report else {
                continue;
            };
            // The need of a host's own processes must fit into its own memory, not that of all
            // processes into the smallest memory.
            let host = self.host_of(rank, facts.memory_bytes);
            if hosts.iter().all(|known| known.name != host.name) {
                hosts.push(host);
            }
            match &mut all {
                Some(all) => add(all, facts),
                None => all = Some(facts),
            }
        }
        Ok(SystemFacts {
            hosts,
            ..all.unwrap_or_default()
        })
    }

    /// Facts about the host of a process.
    fn host_of(&self, rank: u32, memory_bytes: u64) -> HostFacts {
        let name = &self.peers[rank as usize].host;
        let ranks = (0..).zip(&self.peers);
        let local = ranks.filter(|(_, peer)| peer.host == *name);
        HostFacts {
            name: name.clone(),
            ranks: local.map(|(rank, _)| rank).collect(),
            memory_bytes,
        }
    }
}

/// Merges the facts of another process: the minimum of each quantity is available everywhere.
fn add(all: &mut SystemFacts, other: SystemFacts) {
    for found in other.targets {
        let mut targets = all.targets.iter_mut();
        match targets.find(|it| it.path == found.path) {
            // The same path may lead to different file systems on different hosts.
            Some(known) => known.free_bytes = known.free_bytes.min(found.free_bytes),
            None => all.targets.push(found),
        }
    }
    all.memory_bytes = all.memory_bytes.min(other.memory_bytes);
    all.cpu_count = all.cpu_count.min(other.cpu_count);
}
