//! Describes a pool of files.

use units::{Bytes as Size, Percent, Span};

use super::super::{FileChoice, FilePool, Fsync};

impl FilePool {
    /// Sentences that describe the pool; with a time, transactions end by it.
    #[must_use]
    pub fn words(&self, (time_ns, ramp_ns): (Option<u64>, u64), workers: u64) -> Vec<String> {
        let lead = match (workers, self.is_shared) {
            (1, _) => String::new(),
            (_, false) => format!("each of {workers} workers in its own directory: "),
            (_, true) => format!("each of {workers} workers in the same directories: "),
        };
        let count = match time_ns {
            None => self.transactions.to_string(),
            Some(time_ns) => format!("for {}", Span(time_ns)),
        };
        let count = match (time_ns, ramp_ns) {
            (_, 0) => count,
            (Some(_), ramp) => format!("{count} after a ramp of {}", Span(ramp)),
            (None, ramp) => format!("{count}, the first {} not measured", Span(ramp)),
        };
        let mut sentences = vec![
            format!(
                "{lead}create {} files of {}{}",
                self.number,
                self.describe_sizes(),
                self.describe_places()
            ),
            format!("transactions, {count}: {}", self.describe_halves()),
            format!("delete all files; {}", self.describe_blocks()),
        ];
        match self.fsync {
            Fsync::None => {}
            Fsync::PerFile => sentences.push("sync each file that was written".to_owned()),
            Fsync::PerTransaction => sentences.push(
                "sync each file that was written, and its directory after a change".to_owned(),
            ),
        }
        if self.keep_open > 0 {
            sentences.push(format!(
                "leave up to {} files open until they are removed",
                self.keep_open
            ));
        }
        if time_ns.is_none() {
            sentences.push(self.describe_estimate(workers));
        }
        sentences
    }

    fn describe_sizes(&self) -> String {
        let (low, high) = (self.size_low_bytes, self.size_high_bytes);
        if low == high {
            return format!("{low} bytes");
        }
        // The upper bound is exclusive, as in PostMark.
        format!("{low} to {} bytes", high - 1)
    }

    fn describe_places(&self) -> String {
        let locations = match self.locations.len() {
            0 | 1 => String::new(),
            count => format!(" in {count} locations"),
        };
        match self.subdirectories {
            0 | 1 => locations,
            count if locations.is_empty() => format!(" in {count} subdirectories"),
            count => format!("{locations} with {count} subdirectories each"),
        }
    }

    fn describe_halves(&self) -> String {
        let share = |tenths: u8| Percent(f64::from(tenths) * 10.0);
        let access = self
            .read_bias
            .map(|it| format!("read a file ({}) or append to one", share(it)));
        let change = self
            .create_bias
            .map(|it| format!("create one ({}) or delete one", share(it)));
        let both = match (access, change) {
            (Some(access), Some(change)) => format!("{access}, then {change}"),
            (access, change) => access
                .or(change)
                .unwrap_or_else(|| "nothing at all".to_owned()),
        };
        match self.choice {
            FileChoice::Uniform => both,
            FileChoice::Zipf { theta } => format!("{both}; files by zipf {theta}"),
        }
    }

    fn describe_blocks(&self) -> String {
        let blocks = [self.read_block_bytes, self.write_block_bytes];
        let [read, write] = blocks.map(|bytes| Size(bytes.into()));
        let through = if self.is_buffered {
            ", through a buffer"
        } else {
            ""
        };
        format!("read blocks of {read} and write blocks of {write}{through}")
    }

    /// Expected number of each operation; the pool may become empty or full before.
    fn describe_estimate(&self, workers: u64) -> String {
        let transactions = u64::from(self.transactions);
        let of = |tenths: Option<u8>, rest: bool| {
            let tenths = tenths.map(|it| if rest { 10 - it } else { it });
            let count = transactions * u64::from(tenths.unwrap_or(0)) / 10;
            count.saturating_mul(workers)
        };
        let initial = u64::from(self.number).saturating_mul(workers);
        format!(
            "about {} files created and deleted, {} read, {} appended to",
            initial.saturating_add(of(self.create_bias, false)),
            of(self.read_bias, false),
            of(self.read_bias, true)
        )
    }
}
