//! A workload said in one line, in the place of a WORKLOAD.

use clap::{Args, ValueEnum};
use units::Percent;
use workload::one_line::{BlockSizes, OneLine, Pattern};

/// What requests do, said on the command line.
#[derive(Debug, Args, Default, Clone, PartialEq)]
pub(crate) struct OneLineArgs {
    /// What requests do; with `--bs` and `--iodepth` this is a workload, and no WORKLOAD is named
    #[arg(long, value_name = "KIND", alias = "readwrite")]
    pub rw: Option<RwArg>,
    /// Share of reads in `--rw randrw` and `--rw rw`, 50 by default
    #[arg(long, value_name = "PERCENT", visible_alias = "rwmixread")]
    pub rwmix: Option<Percent>,
    /// Bytes of a request, `4k` by default; several with shares that add up to 100, such as
    /// `4k:60,64k:40`
    #[arg(long, value_name = "SIZE[:SHARE],...")]
    pub bs: Option<BlockSizes>,
    /// Share of reads, as Iometer says it, instead of `--rw`; 100 by default
    #[arg(long, value_name = "PERCENT")]
    pub read: Option<Percent>,
    /// Share of random positions, as Iometer says it, instead of `--rw`; 0 by default
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
