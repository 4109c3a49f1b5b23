//! Lines of fio's `--debug` that scripts read: the seeds of jobs, and the limits of steady states.

use generate::job::JobSeeds;

use super::JobSet;
use super::settings::{SteadyEnd, SteadyMeasure};
use super::work::{draw_seed, seed};

/// Output of `--debug=help`.
pub(super) const HELP: &str = "\
    names for --debug; pgmeter traces random and parse: \
    process,file,io,mem,blktrace,verify,random,parse,diskutil,job,mutex,profile,time,net,rate,\
    compress,steadystate,helperthread,zbd,sprandom,all\n";

/// Number of seeds of a job in fio 3.42.
const SEED_COUNT: usize = 23;

/// The traces that `--debug` requests.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Traces {
    has_seeds: bool,
    has_options: bool,
}

impl Traces {
    /// Adds the traces of a list of names.
    pub fn add(&mut self, names: &str) {
        for name in names.split(',').map(str::trim) {
            self.has_seeds |= matches!(name, "random" | "all");
            self.has_options |= matches!(name, "parse" | "all");
        }
    }

    /// The requested lines; `parsed` are those about options.
    pub fn text(self, parsed: &str, set: &JobSet) -> String {
        let mut text = String::new();
        if self.has_options {
            text.push_str(parsed);
        }
        if self.has_seeds {
            for job in &set.jobs {
                let seeds = seeds(seed(job), draw_seed(job));
                // pgmeter's jobs are threads, so their numbers replace fio's process ids.
                let mut add =
                    |line: String| text.push_str(&self::line("random", job.number, &line));
                add(format!("FIO_RAND_NR_OFFS={SEED_COUNT}"));
                for (index, seed) in seeds {
                    add(format!("rand_seeds[{index}]={seed}"));
                }
            }
        }
        text
    }
}

fn line(category: &str, number: u32, text: &str) -> String {
    format!("{category:<8} {number:>5} {text}\n")
}

/// Seeds that pgmeter uses for a purpose of fio, with fio's index of the purpose. Some purposes
/// share a random stream, and thus a seed.
fn seeds(job_seed: u64, draw_seed: u64) -> [(usize, u64); 13] {
    let seeds = JobSeeds::new(job_seed);
    [
        // Sizes of reads, writes and trims.
        (0, seeds.sizes),
        (1, seeds.sizes),
        (2, seeds.sizes),
        // Mix of directions, order of files, order of blocks.
        (4, seeds.choices),
        (5, seeds.job),
        (6, seeds.blocks(0)),
        // Sizes of files.
        (7, draw_seed),
        // Sequential or random: reads, writes, trims.
        (10, seeds.choices),
        (11, seeds.choices),
        (12, seeds.choices),
        // Start delay.
        (13, draw_seed),
        // Poisson arrivals of reads and writes.
        (15, seeds.read_pace),
        (17, seeds.write_pace),
    ]
}

/// The line about the limit of a steady state.
pub(super) fn steady_state(steady: &SteadyEnd) -> String {
    let limit = steady.limit;
    let text = match (steady.is_percent, steady.measure) {
        (true, _) => format!("threshold to {limit:.6}%"),
        (false, SteadyMeasure::Iops) => format!("IOPS threshold to {limit:.6}"),
        (false, SteadyMeasure::Bandwidth) => format!("BW threshold to {limit:.0}"),
        (false, SteadyMeasure::Latency) => format!("latency threshold to {limit:.0} nsec"),
    };
    line("parse", 0, &format!("set steady state {text}"))
}
