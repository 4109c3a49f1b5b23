//! The PostMark table of a workload file.

use std::collections::HashSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::location::{beneath, location_text};
use super::plan::{PoolSharing, PostmarkPlan};
use super::{Compat, PostmarkSettings, ReportForm};
use crate::classics::{ClassicError, ranged};
use crate::model::{OneOrMany, SeedRange};
use plan::program::{FileChoice, Fsync, POOL_FILES_MAX, PoolLocation};

/// The table has twice as many slots, which must fit its numbering.
const NUMBER: (u32, u32) = (1, POOL_FILES_MAX);
/// Seeds that the original's commands accept: signed 32-bit integers from 1 on.
pub(crate) const SEEDS: SeedRange = SeedRange {
    default: 42,
    max: i32::MAX as u64,
    help: "write `seed = 42`, as PostMark has it",
};
const COUNT: (u32, u32) = (1, i32::MAX as u32);
const BYTES: (u64, u64) = (1, i32::MAX as u64);
const SUBDIRECTORIES: (u32, u32) = (0, 1_000_000);
const KEEP_OPEN: (u32, u32) = (0, 1_000_000);
/// Probabilities in tenths; -1 switches off.
const BIAS: (i64, i64) = (-1, 10);
const LOCATIONS_MAX: usize = 10_000;
/// Largest skew; beyond it, one file would always be chosen.
const THETA_MAX: f64 = 100.0;
const TABLE: &str = "postmark";

/// PostMark: a pool of files on which transactions read or append, and create or delete. The seed
/// is the workload's `seed`, 1 to 2147483647; its default is PostMark's own, 42.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Postmark {
    /// Number of files that each worker creates before the transactions, 1 to 1073741823; twice as
    /// many may exist at the same time. Default: 500.
    pub number: Option<u32>,
    /// Number of transactions of each worker, 1 to 2147483647; with `run_time`, the time ends them
    /// instead. Default: 500.
    pub transactions: Option<u32>,
    /// Smallest size of a new file, at least 1 byte. Default: 500, or `max_size` if that is
    /// smaller.
    pub min_size: Option<Bytes>,
    /// Upper bound of the size of a new file, exclusive, and the size at which appending stops;
    /// below 2 GiB. If it equals `min_size`, files have exactly that size. Default: 10000, or
    /// `min_size` if that is larger.
    pub max_size: Option<Bytes>,
    /// Directories below the target in which files are created, each `"name"` or `"name WEIGHT"`.
    /// Default: the target itself.
    pub locations: Option<OneOrMany<String>>,
    /// Number of subdirectories of each location, up to 1000000, each held open by its worker;
    /// fewer than 2 means none. Default: 0.
    pub subdirectories: Option<u32>,
    /// Bytes per read, below 2 GiB. Default: 512.
    pub read_block: Option<Bytes>,
    /// Bytes per write, below 2 GiB. Default: 512.
    pub write_block: Option<Bytes>,
    /// Read and write through a buffer, as C's standard I/O does. Default: true.
    pub buffering: Option<bool>,
    /// Probability, in tenths, that a transaction reads rather than appends, 0 to 10; -1 does
    /// neither. Default: 5.
    pub read_bias: Option<i64>,
    /// Probability, in tenths, that a transaction creates rather than deletes, 0 to 10; -1 does
    /// neither. Default: 5.
    pub create_bias: Option<i64>,
    /// Version whose generator, units and report are used: `1.14`, `1.5`, `1.53` or `1.54`.
    /// Default: `1.53`.
    pub compat: Option<Compat>,
    /// Form of PostMark's own report: `verbose` or `terse`. Default: `verbose`.
    pub report: Option<ReportForm>,
    /// When written data is made durable: `none`, `per-file` or `per-transaction`. Default: `none`,
    /// as in PostMark.
    pub fsync: Option<Fsync>,
    /// Distribution of the files that are read, appended to and deleted: `"uniform"`, as in
    /// PostMark, or `{ zipf = 1.2 }`. Default: `uniform`.
    pub choice: Option<Choice>,
    /// Directories of the workers' pools: each worker has its `own`, or all use the same, `shared`.
    /// Default: `own`.
    pub pool: Option<PoolSharing>,
    /// Number of files that each worker keeps open in its transactions until they are removed, up
    /// to 1000000, as servers do. Needs `buffering = false` and `engine = "psync"`. 0 opens and
    /// closes a file for each operation, as PostMark does. Default: 0.
    pub keep_open: Option<u32>,
}

/// Distribution over the files of a pool.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "FileChoice")]
pub enum Choice {
    /// All files are equally likely.
    #[default]
    Uniform,
    /// Zipf's law with this skew, above 0, not 1, at most 100: rank r is drawn in proportion to
    /// r^-skew.
    Zipf(f64),
}

impl Postmark {
    /// The table with all defaults filled in, for the seed of a workload.
    ///
    /// # Errors
    /// A number outside its range, sizes in the wrong order, or a location that is not below the
    /// target.
    pub fn resolve(&self, seed: u32) -> Result<PostmarkPlan, ClassicError> {
        let defaults = PostmarkSettings::new(self.compat.unwrap_or_default());
        let (size_low_bytes, size_high_bytes) = self.sizes(&defaults)?;
        let count = |key, written, default| ranged((TABLE, key), written, default, COUNT);
        let settings = PostmarkSettings {
            number: ranged((TABLE, "number"), self.number, defaults.number, NUMBER)?,
            transactions: count("transactions", self.transactions, defaults.transactions)?,
            size_low_bytes,
            size_high_bytes,
            locations: self.locations()?,
            subdirectories: ranged(
                (TABLE, "subdirectories"),
                self.subdirectories,
                defaults.subdirectories,
                SUBDIRECTORIES,
            )?,
            read_block_bytes: bytes("read_block", self.read_block, defaults.read_block_bytes)?,
            write_block_bytes: bytes("write_block", self.write_block, defaults.write_block_bytes)?,
            is_buffered: self.buffering.unwrap_or(defaults.is_buffered),
            read_bias: bias("read_bias", self.read_bias, defaults.read_bias)?,
            create_bias: bias("create_bias", self.create_bias, defaults.create_bias)?,
            report: self.report.unwrap_or(defaults.report),
            seed,
            compat: defaults.compat,
        };
        Ok(PostmarkPlan {
            settings,
            fsync: self.fsync.unwrap_or_default(),
            choice: self.file_choice()?,
            pool: self.pool.unwrap_or_default(),
            keep_open: ranged((TABLE, "keep_open"), self.keep_open, 0, KEEP_OPEN)?,
        })
    }

    fn sizes(&self, defaults: &PostmarkSettings) -> Result<(u32, u32), ClassicError> {
        let low = bytes("min_size", self.min_size, defaults.size_low_bytes)?;
        let high = bytes("max_size", self.max_size, defaults.size_high_bytes)?;
        match (self.min_size, self.max_size) {
            (Some(_), Some(_)) if low > high => Err(ClassicError::Range {
                table: TABLE,
                key: "max_size",
                seen: Bytes(high.into()).to_string(),
                wanted: format!("at least `min_size` ({})", Bytes(low.into())),
            }),
            // The default of the other bound yields to the bound that is written.
            (Some(_), _) => Ok((low, high.max(low))),
            (None, _) => Ok((low.min(high), high)),
        }
    }

    fn locations(&self) -> Result<Vec<PoolLocation>, ClassicError> {
        let written = self.locations.as_ref().map_or(&[][..], OneOrMany::as_slice);
        let refused = |seen: &str, why: &'static str| ClassicError::Directory {
            table: TABLE,
            key: "locations",
            seen: plan::printable(seen),
            why,
        };
        if written.len() > LOCATIONS_MAX {
            return Err(ClassicError::Range {
                table: TABLE,
                key: "locations",
                seen: format!("a list of {}", written.len()),
                wanted: format!("{LOCATIONS_MAX} names at most"),
            });
        }
        let mut locations: Vec<PoolLocation> = Vec::with_capacity(written.len());
        let mut seen = HashSet::new();
        for text in written {
            let (name, weight) = with_weight(text)?;
            let Some(name) = beneath(name).map_err(|why| refused(text, why))? else {
                // Naming the target itself is the same as no location at all.
                if written.len() > 1 {
                    return Err(refused(
                        text,
                        "is the target itself, and the others are in it",
                    ));
                }
                return Ok(Vec::new());
            };
            if !seen.insert(name) {
                return Err(ClassicError::Range {
                    table: TABLE,
                    key: "locations",
                    seen: format!("{name}, {name}"),
                    wanted: "each directory once".to_owned(),
                });
            }
            locations.push(PoolLocation::beneath(name, weight));
        }
        // PostMark draws a location below this sum, as a signed 32-bit number.
        let sum = locations.iter().map(|it| u64::from(it.weight)).sum::<u64>();
        ranged((TABLE, "locations"), Some(sum), 0, (0, BYTES.1)).map(|_| locations)
    }

    fn file_choice(&self) -> Result<FileChoice, ClassicError> {
        match self.choice {
            None | Some(Choice::Uniform) => Ok(FileChoice::Uniform),
            Some(Choice::Zipf(theta)) if theta > 0.0 && theta <= THETA_MAX && theta != 1.0 => {
                Ok(FileChoice::Zipf { theta })
            }
            Some(Choice::Zipf(theta)) => Err(ClassicError::Range {
                table: TABLE,
                key: "choice",
                seen: format!("{{ zipf = {theta} }}"),
                wanted: format!(
                    "a skew from 0 to {THETA_MAX}, such as `{{ zipf = 1.2 }}`; 0 and 1 are none"
                ),
            }),
        }
    }

    /// The table that resolves to these settings, except for their seed. Keys with PostMark's
    /// default are not written.
    #[must_use]
    pub fn of(settings: &PostmarkSettings) -> Self {
        let it = settings;
        let default = PostmarkSettings::new(it.compat);
        let bytes = |value: u32, default: u32| (value != default).then(|| Bytes(value.into()));
        let bias = |value: Option<u8>, default: Option<u8>| {
            (value != default).then(|| value.map_or(BIAS.0, i64::from))
        };
        let locations: Vec<String> = it.locations.iter().map(location_text).collect();
        let (low, high) = (it.size_low_bytes, it.size_high_bytes);
        // A bound alone could move the default of the other one, so both are written.
        let has_own_sizes = (low, high) != (default.size_low_bytes, default.size_high_bytes);
        Self {
            number: (it.number != default.number).then_some(it.number),
            transactions: (it.transactions != default.transactions).then_some(it.transactions),
            min_size: has_own_sizes.then(|| Bytes(low.into())),
            max_size: has_own_sizes.then(|| Bytes(high.into())),
            locations: (!locations.is_empty()).then(|| OneOrMany::from(locations)),
            subdirectories: (it.subdirectories != default.subdirectories)
                .then_some(it.subdirectories),
            read_block: bytes(it.read_block_bytes, default.read_block_bytes),
            write_block: bytes(it.write_block_bytes, default.write_block_bytes),
            buffering: (it.is_buffered != default.is_buffered).then_some(it.is_buffered),
            read_bias: bias(it.read_bias, default.read_bias),
            create_bias: bias(it.create_bias, default.create_bias),
            compat: (it.compat != Compat::default()).then_some(it.compat),
            report: (it.report != default.report).then_some(it.report),
            // PostMark has none of these settings.
            fsync: None,
            choice: None,
            pool: None,
            keep_open: None,
        }
    }

    /// Merges this table with a base table, key by key; keys of this one take precedence.
    pub(crate) fn over(self, under: Self) -> Self {
        Self {
            number: self.number.or(under.number),
            transactions: self.transactions.or(under.transactions),
            min_size: self.min_size.or(under.min_size),
            max_size: self.max_size.or(under.max_size),
            locations: self.locations.or(under.locations),
            subdirectories: self.subdirectories.or(under.subdirectories),
            read_block: self.read_block.or(under.read_block),
            write_block: self.write_block.or(under.write_block),
            buffering: self.buffering.or(under.buffering),
            read_bias: self.read_bias.or(under.read_bias),
            create_bias: self.create_bias.or(under.create_bias),
            compat: self.compat.or(under.compat),
            report: self.report.or(under.report),
            fsync: self.fsync.or(under.fsync),
            choice: self.choice.or(under.choice),
            pool: self.pool.or(under.pool),
            keep_open: self.keep_open.or(under.keep_open),
        }
    }
}

fn bytes(key: &'static str, written: Option<Bytes>, default: u32) -> Result<u32, ClassicError> {
    let written = written.map(|bytes| bytes.0);
    // The range ends below 2^31.
    ranged((TABLE, key), written, default.into(), BYTES).map(|bytes| bytes as u32)
}

fn bias(
    key: &'static str,
    written: Option<i64>,
    default: Option<u8>,
) -> Result<Option<u8>, ClassicError> {
    let default = default.map_or(BIAS.0, i64::from);
    // -1 becomes `None`.
    ranged((TABLE, key), written, default, BIAS).map(|tenths| u8::try_from(tenths).ok())
}

/// Splits `name WEIGHT` at its last blank; a name alone has the weight 1.
fn with_weight(text: &str) -> Result<(&str, u32), ClassicError> {
    // PostMark takes the text after the last blank as the weight.
    let Some((name, weight)) = text.rsplit_once(' ') else {
        return Ok((text, 1));
    };
    let parsed = weight
        .parse()
        .ok()
        .filter(|weight| (1..=COUNT.1).contains(weight));
    let Some(weight) = parsed else {
        return Err(ClassicError::Range {
            table: TABLE,
            key: "locations",
            seen: plan::printable(text),
            wanted: format!(
                "`name` or `name WEIGHT` with a weight from 1 to {}",
                COUNT.1
            ),
        });
    };
    Ok((name, weight))
}
