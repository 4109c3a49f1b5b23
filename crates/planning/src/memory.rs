//! Checks that the memory of each machine suffices for its workers.

use units::format::size;

use plan::Diagnostic;
use plan::facts::SystemFacts;
use plan::printable;

/// An item that takes memory.
pub(super) struct MemoryUse<'a, W> {
    /// Name of the item, such as `the buffers of a cell`.
    pub name: &'a str,
    /// Advice if it takes too much.
    pub help: &'a str,
    /// For each worker, its process and the bytes it takes.
    pub workers: W,
}

impl<W: Iterator<Item = (u32, u64)> + Clone> MemoryUse<'_, W> {
    /// Checks that half of each machine's memory stays free for everything else.
    ///
    /// # Errors
    /// The first machine on which it would not.
    pub fn fits(&self, facts: &SystemFacts) -> Result<(), Diagnostic> {
        if facts.hosts.is_empty() {
            let wording = ("", "this machine's memory");
            return self.check_fits(facts.memory_bytes, wording, |_| true);
        }
        let mut hosts = facts.hosts.iter();
        hosts.try_for_each(|host| {
            let name = format!(" on `{}`", printable(&host.name));
            let wording = (name.as_str(), "the memory there");
            self.check_fits(host.memory_bytes, wording, |rank| {
                host.ranks.contains(&rank)
            })
        })
    }

    fn check_fits(
        &self,
        memory_bytes: u64,
        (on, memory): (&str, &str),
        is_there: impl Fn(u32) -> bool,
    ) -> Result<(), Diagnostic> {
        let local = self.workers.clone().filter(|(rank, _)| is_there(*rank));
        let needed = local.fold(0_u64, |sum, (_, bytes)| sum.saturating_add(bytes));
        // A size of 0 is unknown and refuses nothing.
        if memory_bytes == 0 || needed <= memory_bytes / 2 {
            return Ok(());
        }
        let message = format!(
            "{} need {}{on}, more than half of {memory} ({})",
            self.name,
            size(needed),
            size(memory_bytes)
        );
        Err(Diagnostic::error("", message).help(self.help))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;
    use description::Overrides;
    use description::load;
    use plan::facts::HostFacts;

    const MIB: u64 = 1 << 20;

    /// Hosts of two processes each, with so much memory.
    fn hosts(memory_mib: &[u64]) -> SystemFacts {
        let host = |(number, memory): (u32, &u64)| HostFacts {
            name: format!("node{number}"),
            ranks: vec![2 * number, 2 * number + 1],
            memory_bytes: memory * MIB,
        };
        SystemFacts {
            memory_bytes: memory_mib.iter().min().map_or(0, |it| it * MIB),
            hosts: (0..).zip(memory_mib).map(host).collect(),
            ..SystemFacts::default()
        }
    }

    /// Result of planning this work for four processes.
    fn resolved(text: &str, facts: &SystemFacts) -> Result<(), String> {
        let loaded = load("w.toml", text).expect("a workload");
        let mut overrides = Overrides::new();
        overrides.set_ranks(4);
        let planned = plan(&loaded, &overrides, facts);
        planned.map(drop).map_err(|error| error.to_string())
    }

    /// 256 MiB for each process.
    const BUFFERS: &str = "engine = \"null\"\niodepth = 256\nsize = \"64m\"\n\
        [[access_spec]]\nline = [{ size = \"1m\" }]\n";
    /// About 200 MiB for each process.
    const POOL: &str = "engine = \"null\"\n[postmark]\nmax_size = \"100MiB\"\n";

    #[test]
    fn each_machine_needs_room_for_its_own_processes_alone() {
        for text in [BUFFERS, POOL] {
            assert_eq!(resolved(text, &hosts(&[1024, 1024])), Ok(()));
            assert!(resolved(text, &hosts(&[1024])).is_ok());
            // Nobody knows how much a machine has.
            assert_eq!(resolved(text, &hosts(&[1024, 0])), Ok(()));
        }
        let one = SystemFacts {
            memory_bytes: 1024 * MIB,
            ..SystemFacts::default()
        };
        let error = resolved(BUFFERS, &one).unwrap_err();
        let wanted = "need 1 GiB, more than half of this machine's memory (1 GiB)";
        assert!(error.contains(wanted), "{error}");
    }

    #[test]
    fn the_machine_without_room_is_named() {
        assert_eq!(
            resolved(BUFFERS, &hosts(&[1024, 512])).unwrap_err(),
            "error: the buffers of a cell need 512 MiB on `node1`, more than half of the memory \
             there (512 MiB)\n\
             help: use a smaller `--iodepth`"
        );
        let error = resolved(POOL, &hosts(&[512, 1024])).unwrap_err();
        let wanted = " on `node0`, more than half of the memory there (512 MiB)";
        assert!(error.contains(wanted), "{error}");
    }
}
