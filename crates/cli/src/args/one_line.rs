//! Options that describe a workload on the command line, without a WORKLOAD.

use clap::{Args, ValueEnum};
use description::one_line::{AccessPattern, BlockSizeList, OneLineMatrix, OneLineOptions};
use units::Percent;

/// Access pattern and block sizes of a one-line workload.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct OneLineArgs {
    /// Access pattern, as in fio; with `--bs` and `--iodepth`, describes a workload on the command
    /// line, without a WORKLOAD; with a list, each pattern is measured
    #[arg(
        long,
        value_name = "KIND,...",
        alias = "readwrite",
        value_delimiter = ','
    )]
    pub rw: Vec<RwArg>,
    /// Percentage of reads in `--rw rw` and `--rw randrw`, 50 by default
    #[arg(long, value_name = "PERCENT", visible_alias = "rwmixread")]
    pub rwmix: Option<Percent>,
    /// Block size, `4k` by default; with a list such as `4k,64k`, each size is measured; with
    /// shares that add up to 100, such as `4k:60,64k:40`, the sizes are mixed
    #[arg(long, value_name = "SIZE[:SHARE],...")]
    pub bs: Option<BlockSizeList>,
    /// Percentage of reads, as in Iometer, instead of `--rw`; 100 by default
    #[arg(long, value_name = "PERCENT")]
    pub read: Option<Percent>,
    /// Percentage of random requests, as in Iometer, instead of `--rw`; 0 by default
    #[arg(long, value_name = "PERCENT")]
    pub random: Option<Percent>,
}

impl OneLineArgs {
    /// The words, for the workloads that they build.
    pub fn words(&self) -> OneLineMatrix {
        OneLineMatrix {
            patterns: self.rw.iter().map(|it| it.pattern()).collect(),
            sizes: self.bs.clone().map_or_else(Vec::new, |list| list.0),
            rest: OneLineOptions {
                mix: self.rwmix,
                read: self.read,
                random: self.random,
                ..OneLineOptions::default()
            },
        }
    }
}

/// Access patterns with fio's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RwArg {
    /// Sequential reads
    Read,
    /// Sequential writes
    Write,
    /// Random reads
    Randread,
    /// Random writes
    Randwrite,
    /// Sequential reads and writes
    #[value(alias = "readwrite")]
    Rw,
    /// Random reads and writes
    Randrw,
}

impl RwArg {
    fn pattern(self) -> AccessPattern {
        match self {
            Self::Read => AccessPattern::Read,
            Self::Write => AccessPattern::Write,
            Self::Randread => AccessPattern::RandRead,
            Self::Randwrite => AccessPattern::RandWrite,
            Self::Rw => AccessPattern::ReadWrite,
            Self::Randrw => AccessPattern::RandReadWrite,
        }
    }
}
