//! Code that both loops share, so that any difference between them comes from the engine.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

/// The command line: `FILE BLOCK_BYTES DEPTH SECONDS DIRECT [BATCH]`.
pub struct Arguments {
    /// File to read.
    pub file: File,
    /// Bytes per read.
    pub block_bytes: u32,
    /// Number of whole blocks in the file.
    pub block_count: u64,
    /// Reads in flight.
    pub depth: u32,
    /// Duration of the measurement.
    pub span: Duration,
    /// Maximum number of reads issued with one system call.
    pub batch: u32,
}

impl Arguments {
    /// Reads the command line and opens the file.
    pub fn parse() -> Result<Self, Box<dyn std::error::Error>> {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let word = |index: usize| {
            words
                .get(index)
                .ok_or("FILE BLOCK DEPTH SECONDS DIRECT [BATCH]")
        };
        let direct = if word(4)? == "1" { libc::O_DIRECT } else { 0 };
        let file = File::options()
            .read(true)
            .custom_flags(direct)
            .open(word(0)?)?;
        let block_bytes: u32 = word(1)?.parse()?;
        let block_count = file.metadata()?.len() / u64::from(block_bytes);
        let depth = word(2)?.parse()?;
        let span = Duration::from_secs_f64(word(3)?.parse()?);
        let batch = words.get(5).map_or(Ok(32), |text| text.parse())?;
        Ok(Self {
            file,
            block_bytes,
            block_count,
            depth,
            span,
            batch,
        })
    }
}

/// Counts values by their upper seven bits: 64 buckets per octave.
pub struct Histogram {
    buckets: Vec<u64>,
    /// Number of values counted.
    pub count: u64,
    sum: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Self {
            buckets: vec![0; 64 * 64],
            count: 0,
            sum: 0,
            max: 0,
        }
    }

    /// Counts one value, in ticks of the clock.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let octave = (value | 64).ilog2() - 6;
        let bucket = octave as usize * 64 + (value >> octave) as usize;
        self.buckets[bucket & 4095] += 1;
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    /// Prints the rate, the mean and the largest value.
    pub fn print(&self, elapsed: Duration, clock: &quanta::Clock) {
        let ns = |raw| clock.delta_as_nanos(0, raw);
        let iops = self.count as f64 / elapsed.as_secs_f64();
        let mean_ns = ns(self.sum / self.count.max(1));
        println!("{iops:.0} iops, mean {mean_ns} ns, max {} ns", ns(self.max));
    }
}
