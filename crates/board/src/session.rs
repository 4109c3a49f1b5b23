//! Reports of PostMark in other programs' results: the size of their work, as far as they state it.

use plan::program::{FilePool, PoolGenerator, PoolLocation};
use results::{ImportRecord, ImportedResult};

use crate::PoolSize;

/// Name of the program in imports.
const POSTMARK: &str = "PostMark";
/// First version with the Mersenne Twister.
const TWISTER_FROM: f64 = 1.5;
/// Statement about sizes of files, with PostMark's defaults.
const DEFAULT_SIZES: &str = "Files range between 500 bytes and 9.77 kilobytes in size";
/// Name of the setting of biases, and its default as PostMark shows it.
const BIASES: (&str, &str) = ("Biases are", "read/append=5, create/delete=5");
/// Half a unit of the last digit of a rate in a terse report.
const RATE_HALF_UNIT: f64 = 0.005;

/// A report of PostMark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PoolSession<'a> {
    /// Its figures and settings.
    pub result: &'a ImportedResult,
    version: Option<&'a str>,
}

impl<'a> PoolSession<'a> {
    /// Returns `true` if an import has such reports.
    pub fn is_of(import: &ImportRecord) -> bool {
        import.origin.program == POSTMARK
    }

    /// Returns all reports of an import; none if it comes from another program.
    pub fn all(import: &'a ImportRecord) -> Vec<Self> {
        if !Self::is_of(import) {
            return Vec::new();
        }
        let version = import.origin.version.as_deref();
        let results = import.results.iter();
        results.map(|result| Self { result, version }).collect()
    }

    /// Returns a value of the report.
    pub fn value(&self, operation: &str, metric: &str) -> Option<f64> {
        self.result.value(operation, metric)
    }

    /// Returns the last printed digit of a value; 0 if it is unknown.
    pub fn step(&self, operation: &str, metric: &str) -> f64 {
        let mut figures = self.result.figures.iter();
        let found = figures.find(|it| it.operation == operation && it.metric == metric);
        found.and_then(|it| it.step).unwrap_or(0.0)
    }

    /// Returns `true` if the session shows its configuration, which is always complete.
    pub fn has_configuration(&self) -> bool {
        self.setting("Transactions").is_some()
    }

    /// Returns the version; `None` if the text does not state it.
    pub fn version(&self) -> Option<&'a str> {
        self.version
    }

    /// Returns the number of files before the transactions.
    pub fn number(&self) -> Option<u32> {
        let counted = || self.count("create before transactions");
        let stated = self.setting("The base number of files");
        stated.map_or_else(counted, |it| it.parse().ok())
    }

    /// Returns the number of transactions. Each creates or deletes one file, so the report gives it
    /// even if the session does not show it.
    pub fn transactions(&self) -> Option<u32> {
        let counted = || {
            let created = self.count("create in transactions")?;
            created.checked_add(self.count("delete in transactions")?)
        };
        let stated = self.setting("Transactions");
        stated.map_or_else(counted, |it| it.parse().ok())
    }

    /// Returns `true` if the work has this size, and PostMark's defaults for the rest.
    pub fn fits(&self, size: PoolSize) -> bool {
        let number = self.number();
        let transactions = match self.transactions() {
            Some(count) => count == size.transactions,
            None => self.has_rate_of(size.transactions),
        };
        number.is_none_or(|it| it == size.number)
            && transactions
            && self.subdirectories(size) == Some(size.subdirectories)
            && self.sizes() == Some((500, 10_000))
            && self.setting(BIASES.0).is_none_or(|it| it == BIASES.1)
    }

    /// Returns the settings of the work; `None` if the report does not determine them. Settings
    /// that it does not show have PostMark's defaults. `size` is the size of a table, for terse
    /// reports, which have no counts.
    pub fn settings(&self, size: Option<PoolSize>) -> Option<FilePool> {
        let [read_bias, create_bias] = self.biases()?;
        let (size_low_bytes, size_high_bytes) = self.sizes()?;
        let seed = self.setting("Random number generator seed");
        let assumed = size.unwrap_or(PoolSize {
            number: 0,
            transactions: 0,
            subdirectories: 0,
        });
        Some(FilePool {
            number: self.number().or(size.map(|it| it.number))?,
            transactions: self.transactions().or(size.map(|it| it.transactions))?,
            subdirectories: self.subdirectories(assumed)?,
            size_low_bytes,
            size_high_bytes,
            locations: self.locations(),
            read_bias,
            create_bias,
            seed: seed.map_or(Some(FilePool::default().seed), |it| it.parse().ok())?,
            ..FilePool::default()
        })
    }

    /// Returns the random number generators that the version may have.
    pub fn generators(&self) -> Vec<PoolGenerator> {
        let both = [PoolGenerator::Twister1999, PoolGenerator::Congruential15];
        let number = self.version.and_then(|it| it.parse::<f64>().ok());
        match number {
            None => both.to_vec(),
            Some(number) if number < TWISTER_FROM => vec![PoolGenerator::Congruential15],
            Some(_) => vec![PoolGenerator::Twister1999],
        }
    }

    fn setting(&self, name: &str) -> Option<&'a str> {
        let mut settings = self.result.settings.iter();
        let found = settings.find(|it| it.name == name);
        found.map(|it| it.value.as_str())
    }

    /// Returns the lines of the configuration that are words without a name.
    fn lines(&self) -> impl Iterator<Item = &'a str> {
        let settings = self.result.settings.iter();
        let lines = settings.filter(|it| it.name == "configuration");
        lines.map(|it| it.value.as_str())
    }

    fn count(&self, operation: &str) -> Option<u32> {
        let count = self.value(operation, "count")?;
        (count.fract() == 0.0 && (0.0..f64::from(u32::MAX)).contains(&count))
            .then_some(count as u32)
    }

    /// Returns the number of subdirectories; `None` if it cannot be read. A session that only shows
    /// that it made some may have made as many as the table has.
    fn subdirectories(&self, size: PoolSize) -> Option<u32> {
        let mut stated = self.lines().filter_map(|line| {
            let (count, rest) = line.split_once(" subdirector")?;
            rest.ends_with("will be used").then_some(count)
        });
        let makes_some = self.setting("step").is_some();
        match stated.next() {
            Some(count) => count.parse().ok(),
            None if makes_some && !self.has_configuration() => Some(size.subdirectories),
            None => Some(0),
        }
    }

    /// Returns the smallest and the largest size of new files; `None` if they were rounded.
    fn sizes(&self) -> Option<(u32, u32)> {
        let mut lines = self.lines().filter(|line| line.ends_with("in size"));
        let Some(line) = lines.next().filter(|line| *line != DEFAULT_SIZES) else {
            return Some((500, 10_000));
        };
        let bytes = |text: &str| text.trim().strip_suffix(" bytes")?.parse().ok();
        let words = line.strip_suffix(" in size")?;
        match words.strip_prefix("Files range between ") {
            Some(range) => {
                let (low, high) = range.split_once(" and ")?;
                Some((bytes(low)?, bytes(high)?))
            }
            None => bytes(words.strip_prefix("Files are ")?).map(|size| (size, size)),
        }
    }

    /// Returns the biases of reading and creating; `None` if they cannot be read.
    fn biases(&self) -> Option<[Option<u8>; 2]> {
        let text = self.setting(BIASES.0).unwrap_or(BIASES.1);
        let (read, create) = text.split_once(", ")?;
        let bias = |text: &str| {
            let (_, number) = text.split_once('=')?;
            let number: i8 = number.parse().ok()?;
            // -1 disables this half of each transaction.
            Some(u8::try_from(number).ok())
        };
        Some([bias(read)?, bias(create)?])
    }

    /// Returns the locations, if there are several: only then PostMark draws one per file.
    fn locations(&self) -> Vec<PoolLocation> {
        let locations = self.lines().filter_map(|line| {
            let (name, weight) = line.rsplit_once(" (weight=")?;
            let weight = weight.strip_suffix(')')?.parse().ok()?;
            Some(PoolLocation::beneath(name, weight))
        });
        let locations: Vec<PoolLocation> = locations.collect();
        match locations.len() {
            0 | 1 => Vec::new(),
            _ => locations,
        }
    }

    /// Returns `true` if this many transactions give the printed rate.
    fn has_rate_of(&self, transactions: u32) -> bool {
        let rate = self.value("total", "transactions_per_second");
        let time_ns = self.value("transactions", "time");
        rate.zip(time_ns).is_some_and(|(rate, time_ns)| {
            let computed = f64::from(transactions) / (time_ns / 1e9).max(1.0);
            (computed - rate).abs() <= RATE_HALF_UNIT + computed * 1e-6
        })
    }
}
