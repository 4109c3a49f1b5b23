//! Converts the lines of an access specification to the requests of one job.

use std::collections::BTreeMap;

use description::model::{
    AccessLine, AccessSpec, BlockSizeChoice, DirectionTable, DistributionChoice, JobTable,
    SequenceChoice, SizeShare,
};
use plan::Diagnostic;
use units::{Bytes, Percent, Span};

use super::section::refusal;

/// Default alignment of offsets: the sector size of most targets.
const SECTOR: Bytes = Bytes(512);

/// Tolerance for rounding errors of shares, as a fraction.
const SHARE_ERROR: f64 = 1e-9;

/// The lines of an access specification with a share above 0.
pub(super) struct UsedLines<'a> {
    name: &'a str,
    used: Vec<&'a AccessLine>,
}

fn read_of(line: &AccessLine) -> f64 {
    line.read.map_or(100.0, |it| it.0)
}

fn random_of(line: &AccessLine) -> f64 {
    line.random.map_or(0.0, |it| it.0)
}

fn size_of(line: &AccessLine) -> Bytes {
    line.size.unwrap_or_default()
}

fn is_forward(line: &AccessLine) -> bool {
    matches!(line.sequence, None | Some(SequenceChoice::Forward))
}

fn is_uniform(line: &AccessLine) -> bool {
    matches!(line.distribution, None | Some(DistributionChoice::Uniform))
}

/// `true` if random offsets of a line depend on the sector size of the target.
pub(super) fn has_default_places(line: &AccessLine) -> bool {
    random_of(line) > 0.0 && is_uniform(line) && line.align.unwrap_or_default().0 == 0
}

/// Size of the largest request of a job.
pub(super) fn largest(table: &JobTable) -> Bytes {
    let own = table.reads.iter().chain(&table.writes);
    let sizes = own
        .filter_map(|it| it.block_size.as_ref())
        .chain(&table.block_size);
    sizes.map(|it| it.ends().1).max().unwrap_or_default()
}

impl<'a> UsedLines<'a> {
    /// # Errors
    /// Replies, or bursts and delays if there are several lines.
    pub fn of(name: &'a str, spec: &'a AccessSpec) -> Result<Self, Diagnostic> {
        let is_used = |line: &&AccessLine| line.of_size.is_none_or(|share| share.0 > 0.0);
        let used: Vec<&AccessLine> = spec.line.iter().filter(is_used).collect();
        let lines = Self { name, used };
        let has = |is: fn(&AccessLine) -> bool| lines.used.iter().any(|line| is(line));
        if has(|line| line.reply.is_some_and(|reply| reply.0 > 0)) {
            let reason = "its requests have no replies";
            return Err(lines.refuse("reply", reason, "leave `reply` out"));
        }
        if lines.used.len() > 1 {
            let reason = "it draws each request independently";
            let help = "write an `[[access_spec]]` for each line";
            if has(|line| line.burst.is_some_and(|burst| burst > 1)) {
                return Err(lines.refuse("burst", reason, help));
            }
            if has(|line| line.delay.is_some_and(|delay| delay > Span(0))) {
                return Err(lines.refuse("delay", reason, help));
            }
        }
        Ok(lines)
    }

    pub fn refuse(&self, key: &str, reason: &str, help: &str) -> Diagnostic {
        refusal((key, self.name), reason, help)
    }

    /// `true` if no request continues where another one ended.
    pub fn is_all_random(&self) -> bool {
        self.used.iter().all(|line| random_of(line) == 100.0)
    }

    /// Share of reads in percent.
    pub fn read_percent(&self) -> f64 {
        let shares = self
            .used
            .iter()
            .map(|line| share(line) * read_of(line) / 100.0);
        rounded(shares.sum())
    }

    /// A job table with only these requests.
    ///
    /// # Errors
    /// Lines that a single job cannot reproduce.
    pub fn table(&self) -> Result<JobTable, Diagnostic> {
        let read = self.whole_percent("read", self.read_percent())?;
        let reads = self.direction(read_of)?;
        let writes = self.direction(|line| 100.0 - read_of(line))?;
        let mut table = JobTable {
            read: Some(Percent(read)),
            ..JobTable::default()
        };
        let is_mixed = reads.is_some() && writes.is_some();
        if is_mixed && !self.is_all_random() {
            let reason = "its reads and writes each continue at their own position";
            let help = "write `random = 100`, or an `[[access_spec]]` for each direction";
            return Err(self.refuse("random", reason, help));
        }
        if is_mixed && reads != writes {
            (table.reads, table.writes) = (reads, writes);
        } else if let Some(both) = reads.or(writes) {
            table.random = both.random;
            table.block_size = both.block_size;
        }
        self.put_places(&mut table)?;
        self.put_sequence(&mut table)?;
        if let [line] = self.used[..] {
            table.delay = line.delay.filter(|delay| *delay > Span(0));
            // With a single line, a burst without a delay changes nothing.
            let burst = line
                .burst
                .filter(|burst| *burst > 1 && table.delay.is_some());
            table.burst = burst.map(u64::from);
        }
        Ok(table)
    }

    /// Sizes and random share of a direction; `None` if no line uses it. `percent_of` returns the
    /// percentage of a line's requests in this direction.
    fn direction(
        &self,
        percent_of: fn(&AccessLine) -> f64,
    ) -> Result<Option<DirectionTable>, Diagnostic> {
        let used = || self.used.iter().filter(|line| percent_of(line) > 0.0);
        let Some(first) = used().next() else {
            return Ok(None);
        };
        let weight = |line: &AccessLine| share(line) * percent_of(line);
        let all: f64 = used().map(|line| weight(line)).sum();
        // Sorted by size, so that reads and writes with the same sizes compare as equal.
        let mut sizes: BTreeMap<u64, f64> = BTreeMap::new();
        for line in used() {
            *sizes.entry(size_of(line).0).or_default() += weight(line) / all * 100.0;
        }
        if used().any(|line| random_of(line) != random_of(first)) {
            let reason = "its share of random requests does not depend on their size";
            let help = "write the same `random` in all lines, or an `[[access_spec]]` for each";
            return Err(self.refuse("random", reason, help));
        }
        let shares = sizes.iter().map(|(size, percent)| {
            Ok(SizeShare {
                size: Bytes(*size),
                share: Percent(self.whole_percent("of_size", *percent)?),
            })
        });
        let shares: Vec<SizeShare> = shares.collect::<Result<_, Diagnostic>>()?;
        Ok(Some(DirectionTable {
            random: Some(Percent(self.whole_percent("random", random_of(first))?)),
            block_size: Some(match shares[..] {
                [only] => BlockSizeChoice::Fixed(only.size),
                _ => BlockSizeChoice::Split(shares),
            }),
            ..DirectionTable::default()
        }))
    }

    fn whole_percent(&self, key: &str, percent: f64) -> Result<f64, Diagnostic> {
        let rounded = percent.round();
        if (rounded - percent).abs() < SHARE_ERROR * 100.0 {
            return Ok(rounded);
        }
        let reason = format!("a share would be {percent:.3} %, and it takes whole percents");
        Err(self.refuse(
            key,
            &reason,
            "change the shares so that they are whole percents",
        ))
    }

    /// Sets the offsets of random requests.
    fn put_places(&self, table: &mut JobTable) -> Result<(), Diagnostic> {
        let random = || self.used.iter().filter(|line| random_of(line) > 0.0);
        let Some(first) = random().next() else {
            return self.check_sequential_align();
        };
        let align = |line: &AccessLine| line.align.filter(|it| it.0 > 0).unwrap_or(SECTOR);
        if random().any(|line| align(line) != align(first)) {
            let reason = "all its random requests have the same alignment";
            return Err(self.refuse("align", reason, "write the same `align` in all lines"));
        }
        if random().any(|line| line.distribution != first.distribution) {
            let reason = "all its random requests have the same distribution";
            let help = "write the same `distribution` in all lines";
            return Err(self.refuse("distribution", reason, help));
        }
        let is_of_blocks = self.used.iter().all(|line| size_of(line) == align(first));
        if !is_uniform(first) && !is_of_blocks {
            let reason = "it counts places of one block each, and here `align` is not the size";
            let help = format!(
                "write `align = \"{}\"`",
                super::section::size(size_of(first))
            );
            return Err(self.refuse("distribution", reason, &help));
        }
        table.align = (!is_of_blocks).then_some(align(first));
        let uniform = DistributionChoice::Uniform;
        let law = first.distribution.as_ref().unwrap_or(&uniform);
        table.distribution = Some(law.clone());
        if self.is_all_random() {
            Ok(())
        } else {
            self.check_sequential_align()
        }
    }

    /// Checks the alignment of sequential requests, which fio always starts where the previous one
    /// ended.
    fn check_sequential_align(&self) -> Result<(), Diagnostic> {
        let mut lines = self.used.iter();
        let is_apart = |line: &&AccessLine| {
            let align = line.align.filter(|it| it.0 > 0).unwrap_or(SECTOR).0;
            self.used
                .iter()
                .any(|it| !size_of(it).0.is_multiple_of(align))
        };
        match lines.any(is_apart) {
            false => Ok(()),
            true => {
                let reason = "each sequential request begins where the previous one ended";
                Err(self.refuse("align", reason, "write an `align` that divides the sizes"))
            }
        }
    }

    /// Sets the offsets of sequential requests.
    fn put_sequence(&self, table: &mut JobTable) -> Result<(), Diagnostic> {
        let Some(line) = self.used.iter().find(|line| !is_forward(line)) else {
            return Ok(());
        };
        if self.is_all_random() {
            return Ok(());
        }
        let size = size_of(line);
        let is_alike = self
            .used
            .iter()
            .all(|it| it.sequence == line.sequence && size_of(it) == size);
        let is_random = self.used.iter().any(|it| random_of(it) > 0.0);
        if !is_alike || is_random {
            let reason = "it goes back or skips bytes only if all requests are sequential \
                          and of one size";
            return Err(self.refuse(
                "sequence",
                reason,
                "write an `[[access_spec]]` for each line",
            ));
        }
        match &line.sequence {
            Some(SequenceChoice::Strided(stride)) if stride.0 < size.0 => {
                let reason = "a stride that is shorter than a request would overlap it";
                return Err(self.refuse("sequence", reason, "write a longer stride"));
            }
            Some(SequenceChoice::Strided(stride)) => {
                table.skip = Some(Bytes(stride.0 - size.0)).filter(|skip| skip.0 > 0);
            }
            // fio counts the step from the end of the previous request.
            Some(SequenceChoice::Backward) => table.back = Some(Bytes(size.0 * 2)),
            None | Some(SequenceChoice::Forward) => {}
        }
        Ok(())
    }
}

fn share(line: &AccessLine) -> f64 {
    line.of_size.map_or(100.0, |it| it.0)
}

/// Removes the rounding error of adding fractions.
fn rounded(percent: f64) -> f64 {
    (percent * 1e9).round() / 1e9
}
