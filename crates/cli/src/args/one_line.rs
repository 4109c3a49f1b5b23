//! A workload said in one line, in the place of a WORKLOAD.

use clap::{Args, ValueEnum};
use description::one_line::{BlockSizes, OneLine, Pattern};
use units::Percent;

/// What requests do, said on the command line.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct OneLineArgs {
    /// Access pattern, as in fio: a workload in one line, with `--bs` and `--iodepth`, in the place
    /// of a WORKLOAD
    #[arg(long, value_name = "KIND", alias = "readwrite")]
    pub rw: Option<RwArg>,
    /// Percentage of reads in `--rw rw` and `--rw randrw`, 50 by default
    #[arg(long, value_name = "PERCENT", visible_alias = "rwmixread")]
    pub rwmix: Option<Percent>,
    /// Block size, `4k` by default; or several with shares that add up to 100, such as
    /// `4k:60,64k:40`
    #[arg(long, value_name = "SIZE[:SHARE],...")]
    pub bs: Option<BlockSizes>,
    /// Percentage of reads, as in Iometer, instead of `--rw`; 100 by default
    #[arg(long, value_name = "PERCENT")]
    pub read: Option<Percent>,
    /// Percentage of random requests, as in Iometer, instead of `--rw`; 0 by default
    #[arg(long, value_name = "PERCENT")]
    pub random: Option<Percent>,
}

impl OneLineArgs {
    /// The words, for the workload that they build.
    pub fn words(&self) -> OneLine {
        OneLine {
            pattern: self.rw.map(RwArg::pattern),
            mix: self.rwmix,
            sizes: self.bs.clone(),
            read: self.read,
            random: self.random,
        }
    }
}

/// What requests do, in fio's words.
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
    fn pattern(self) -> Pattern {
        match self {
            Self::Read => Pattern::Read,
            Self::Write => Pattern::Write,
            Self::Randread => Pattern::RandRead,
            Self::Randwrite => Pattern::RandWrite,
            Self::Rw => Pattern::ReadWrite,
            Self::Randrw => Pattern::RandReadWrite,
        }
    }
}
