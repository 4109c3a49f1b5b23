//! Workloads defined by command-line options: kind, sizes and shares of the requests.

mod each;

use units::Percent;

use crate::model::{AccessLine, AccessSpec, Workload};
use plan::Diagnostic;

pub use crate::model::{BlockSizeList, BlockSizes, SizeShare};
pub use each::OneLineMatrix;

/// Default share of reads in a mix, as in fio.
const MIX_DEFAULT: Percent = Percent(50.0);

/// Kind of requests, with fio's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessPattern {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Sequential reads and writes.
    ReadWrite,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random reads and writes.
    RandReadWrite,
}

impl AccessPattern {
    /// fio's name of the pattern.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::ReadWrite => "rw",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandReadWrite => "randrw",
        }
    }

    /// Whether it both reads and writes.
    const fn is_mix(self) -> bool {
        matches!(self, Self::ReadWrite | Self::RandReadWrite)
    }

    const fn random(self) -> Percent {
        match self {
            Self::Read | Self::Write | Self::ReadWrite => Percent(0.0),
            Self::RandRead | Self::RandWrite | Self::RandReadWrite => Percent(100.0),
        }
    }

    fn read(self, mix: Option<Percent>) -> Percent {
        match self {
            Self::Read | Self::RandRead => Percent(100.0),
            Self::Write | Self::RandWrite => Percent(0.0),
            Self::ReadWrite | Self::RandReadWrite => mix.unwrap_or(MIX_DEFAULT),
        }
    }
}

/// Options that define a workload; all of them are optional.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OneLineOptions {
    /// Kind of the requests.
    pub pattern: Option<AccessPattern>,
    /// Share of reads in a mixed pattern.
    pub mix: Option<Percent>,
    /// Sizes of requests with their shares. Default: 4 KiB.
    pub sizes: Option<BlockSizes>,
    /// Share of reads, as in Iometer. Default: 100.
    pub read: Option<Percent>,
    /// Share of random offsets, as in Iometer. Default: 0.
    pub random: Option<Percent>,
}

impl OneLineOptions {
    /// The first option that is given, for messages; `None` if there is none.
    #[must_use]
    pub fn first_option(&self) -> Option<&'static str> {
        let given = [
            ("--rw", self.pattern.is_some()),
            ("--rwmix", self.mix.is_some()),
            ("--bs", self.sizes.is_some()),
            ("--read", self.read.is_some()),
            ("--random", self.random.is_some()),
        ];
        given.into_iter().find_map(|(name, is)| is.then_some(name))
    }

    /// The workload with the access specification that the options define; `None` if none is given.
    ///
    /// Random requests start at multiples of the smallest size, as fio's do.
    ///
    /// # Errors
    /// Options that contradict each other, or that do not define the kind of requests.
    pub fn workload(&self) -> Result<Option<Workload>, Diagnostic> {
        if self.first_option().is_none() {
            return Ok(None);
        }
        self.check()?;
        let sizes = self.sizes.clone().unwrap_or_default();
        let (read, random, what) = match self.pattern {
            Some(pattern) => {
                let read = pattern.read(self.mix);
                let mix = pattern.is_mix().then(|| format!(", {read} reads"));
                (read, pattern.random(), WorkloadNameParts::Fio(pattern, mix))
            }
            None => {
                let read = self.read.unwrap_or(Percent(100.0));
                let random = self.random.unwrap_or(Percent(0.0));
                (read, random, WorkloadNameParts::Iometer(read, random))
            }
        };
        // Sequential requests ignore the alignment, so it is not written for them.
        let align = (random.0 > 0.0).then(|| sizes.smallest());
        let line = |share: &SizeShare| AccessLine {
            size: Some(share.size),
            of_size: (sizes.shares().len() > 1).then_some(share.share),
            read: Some(read),
            random: Some(random),
            align,
            ..AccessLine::default()
        };
        Ok(Some(Workload {
            name: Some(what.name(&sizes)),
            source: Some("the command line".to_owned()),
            access_spec: vec![AccessSpec {
                name: None,
                line: sizes.shares().iter().map(line).collect(),
            }],
            ..Workload::default()
        }))
    }

    fn check(&self) -> Result<(), Diagnostic> {
        let refused = |message: String, help: &str| Err(Diagnostic::error("", message).help(help));
        let iometers = [("--read", self.read), ("--random", self.random)];
        let iometers = iometers.into_iter().find(|(_, share)| share.is_some());
        match (self.pattern, iometers) {
            (Some(pattern), Some((other, _))) => {
                let message = format!(
                    "`--rw {}` and `{other}` both set the access pattern",
                    pattern.name()
                );
                let help = "use `--rw`, with `--rwmix` for the share of reads, or `--read` and \
                            `--random`";
                return refused(message, help);
            }
            (None, None) if self.mix.is_some() => {
                let message = "`--rwmix` needs `--rw`".to_owned();
                return refused(
                    message,
                    "add `--rw randrw`, or `--rw rw` for sequential requests",
                );
            }
            (None, None) => {
                let message = "`--bs` sets the request size, but nothing sets the access pattern";
                return refused(
                    message.to_owned(),
                    "add `--rw randread`, or another pattern",
                );
            }
            _ => {}
        }
        match (self.mix, self.pattern.filter(|pattern| !pattern.is_mix())) {
            (Some(_), Some(pattern)) => {
                let message = format!(
                    "`--rw {}` is not a mix, so `--rwmix` does not apply",
                    pattern.name()
                );
                refused(
                    message,
                    "use `--rw randrw`, or `--rw rw` for sequential requests",
                )
            }
            (Some(_), None) if self.pattern.is_none() => {
                let message = "`--rwmix` belongs to `--rw`, not to `--read` and `--random`";
                refused(message.to_owned(), "write the share of reads as `--read`")
            }
            _ => Ok(()),
        }
    }
}

/// Options from which the name of a workload is made.
enum WorkloadNameParts {
    Fio(AccessPattern, Option<String>),
    Iometer(Percent, Percent),
}

impl WorkloadNameParts {
    fn name(&self, sizes: &BlockSizes) -> String {
        match self {
            Self::Fio(pattern, mix) => {
                format!("{} {sizes}{}", pattern.name(), mix.as_deref().unwrap_or(""))
            }
            Self::Iometer(read, random) => format!("{sizes}, {read} read, {random} random"),
        }
    }
}
