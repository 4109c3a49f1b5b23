//! The command line of IOzone.

use std::collections::BTreeSet;

use crate::acts::size;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub is_auto: bool,
    /// Small records also for large files.
    pub has_all_records: bool,
    /// Sizes of the file, in KiB.
    pub files_kib: Vec<u64>,
    /// Sizes of the records of all files, in KiB; none where they follow from the file.
    pub record_kib: Option<u64>,
    pub record_min_kib: u64,
    pub record_max_kib: u64,
    /// As they were written; none for those that the mode has.
    pub tests: BTreeSet<u8>,
    pub has_extensions: bool,
    /// How many work at once, from this to that; none for one after the other.
    pub children: Option<(u32, u32)>,
    pub has_stonewall: bool,
    pub tells_children: bool,
    pub flushes: bool,
    pub closes: bool,
    pub repeats: bool,
    pub is_direct: bool,
    pub sync: Durable,
    pub stride: u64,
    pub readers_percent: Option<u32>,
    pub unit: Unit,
    pub is_excel: bool,
    pub cache_kib: u64,
    pub line_bytes: u64,
    /// What is understood and changes nothing.
    pub ignored: Vec<String>,
}

/// How durable a write is when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Durable {
    No,
    Data,
    All,
}

/// What rates are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Kib,
    Operations,
    Microseconds,
}

/// The largest file of the automatic mode, and the largest record, in KiB.
const FILE_MAX_KIB: u64 = 512 << 10;
const RECORD_MAX_KIB: u64 = 16 << 10;
/// Beyond this size of a file records begin at the other size, in KiB.
const CROSSOVER_KIB: u64 = 16 << 10;
const CROSSOVER_RECORD_KIB: u64 = 64;

/// Limits and sizes as they were written, before what they come to is known.
#[derive(Default)]
struct Written {
    files_kib: Vec<u64>,
    file_min_kib: Option<u64>,
    file_max_kib: Option<u64>,
    record_min_kib: Option<u64>,
    record_max_kib: Option<u64>,
    count: Option<u32>,
    lower: Option<u32>,
    upper: Option<u32>,
}

impl Options {
    /// Reads the arguments.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let (mut options, mut written) = (Self::none(), Written::default());
        let mut words = arguments.iter().peekable();
        while let Some(word) = words.next() {
            if let Some(extended) = word.strip_prefix("-+") {
                options.extended(extended, || words.next().cloned())?;
                continue;
            }
            let Some(letters) = word.strip_prefix('-').filter(|it| !it.is_empty()) else {
                return Err(format!("`{}` is no option", workload::printable(word)));
            };
            for (at, letter) in letters.char_indices() {
                if options.flag(letter)? {
                    continue;
                }
                let attached = &letters[at + letter.len_utf8()..];
                let value = match attached {
                    "" => words.next().map(String::as_str),
                    text => Some(text),
                };
                let value = value.ok_or_else(|| format!("option `-{letter}` lacks its value"))?;
                options.valued(letter, value, &mut written)?;
                while letter == 'F' && words.peek().is_some_and(|it| !it.starts_with('-')) {
                    words.next();
                }
                break;
            }
        }
        options.resolve(&written)?;
        Ok(options)
    }

    fn none() -> Self {
        Self {
            is_auto: false,
            has_all_records: false,
            files_kib: Vec::new(),
            record_kib: None,
            record_min_kib: 4,
            record_max_kib: RECORD_MAX_KIB,
            tests: BTreeSet::new(),
            has_extensions: false,
            children: None,
            has_stonewall: true,
            tells_children: false,
            flushes: false,
            closes: false,
            repeats: true,
            is_direct: false,
            sync: Durable::No,
            stride: 17,
            readers_percent: None,
            unit: Unit::Kib,
            is_excel: false,
            cache_kib: 1024,
            line_bytes: 32,
            ignored: Vec::new(),
        }
    }

    /// Whether it is an option that has no value, which is then taken.
    fn flag(&mut self, letter: char) -> Result<bool, String> {
        match letter {
            'a' => self.is_auto = true,
            'A' => (self.is_auto, self.has_all_records) = (true, true),
            'c' => self.closes = true,
            'C' => self.tells_children = true,
            'e' => self.flushes = true,
            'E' => self.has_extensions = true,
            'I' => self.is_direct = true,
            'N' => self.unit = Unit::Microseconds,
            'o' => self.sync = Durable::All,
            'O' => self.unit = Unit::Operations,
            'R' => self.is_excel = true,
            'T' | 'G' | 'M' | 'p' | 'm' | 'w' => self.ignored.push(format!("-{letter}")),
            'x' => self.has_stonewall = false,
            'z' => self.has_all_records = true,
            'B' | 'D' => return Err(not_done(letter, "maps files into memory")),
            'K' => return Err(not_done(letter, "jumps about while it reads")),
            'Q' => return Err(not_done(letter, "writes a file of each operation")),
            'W' => return Err(not_done(letter, "locks files")),
            'Z' => return Err(not_done(letter, "mixes mapped and other access")),
            'h' | 'v' => return Err(String::new()),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn valued(&mut self, letter: char, value: &str, written: &mut Written) -> Result<(), String> {
        let option = format!("-{letter}");
        let kib = || kib(&option, value);
        let count = || number(&option, value, 1, 1024).map(|it| it as u32);
        match letter {
            's' => written.files_kib.push(kib()?),
            'r' => self.record_kib = Some(kib()?),
            'n' => written.file_min_kib = Some(kib()?),
            'g' => written.file_max_kib = Some(kib()?),
            'y' => written.record_min_kib = Some(kib()?),
            'q' => written.record_max_kib = Some(kib()?),
            'i' => {
                self.tests.insert(number(&option, value, 0, 13)? as u8);
            }
            't' => written.count = Some(count()?),
            'l' => written.lower = Some(count()?),
            'u' => written.upper = Some(count()?),
            'j' => self.stride = number(&option, value, 1, 1 << 20)?,
            'S' => self.cache_kib = number(&option, value, 1, 1 << 40)?,
            'L' => self.line_bytes = number(&option, value, 1, 1 << 20)?,
            'f' | 'F' | 'P' | 'V' => self.ignored.push(option),
            'b' => {
                return Err(not_done(
                    letter,
                    "writes a spreadsheet; `-R` prints its table",
                ));
            }
            'd' => return Err(not_done(letter, "lets children begin later")),
            'H' | 'k' => return Err(not_done(letter, "goes by asynchronous calls")),
            'J' => return Err(not_done(letter, "computes between the calls")),
            'U' => return Err(not_done(letter, "mounts the file system again")),
            'X' | 'Y' => return Err(not_done(letter, "follows a file of operations")),
            _ => return Err(format!("there is no option `-{letter}`")),
        }
        Ok(())
    }

    fn extended(
        &mut self,
        name: &str,
        mut value: impl FnMut() -> Option<String>,
    ) -> Result<(), String> {
        match name {
            "n" => self.repeats = false,
            "D" => self.sync = Durable::Data,
            "r" => self.sync = Durable::All,
            "p" => {
                let value = value().ok_or("option `-+p` lacks its value")?;
                self.readers_percent = Some(number("-+p", &value, 0, 100)? as u32);
            }
            "w" | "y" | "C" => {
                value().ok_or_else(|| format!("option `-+{name}` lacks its value"))?;
                self.ignored.push(format!("-+{name}"));
            }
            "A" | "N" | "z" | "q" | "T" | "d" => self.ignored.push(format!("-+{name}")),
            _ => {
                let name = workload::printable(name);
                return Err(format!("`-+{name}` is not done here"));
            }
        }
        Ok(())
    }

    fn resolve(&mut self, written: &Written) -> Result<(), String> {
        self.children = match (written.count, written.lower, written.upper) {
            (Some(count), ..) => Some((count, count)),
            (None, None, None) => None,
            (None, lower, upper) => Some((lower.unwrap_or(1), upper.or(lower).unwrap_or(1))),
        };
        if self.children.is_some_and(|(low, high)| low > high) {
            return Err("`-l` is above `-u`".to_owned());
        }
        let low = written.file_min_kib.unwrap_or(64);
        let high = written.file_max_kib.unwrap_or(FILE_MAX_KIB.max(low));
        self.files_kib = match (written.files_kib.is_empty(), self.is_auto) {
            (false, _) => written.files_kib.clone(),
            (true, true) => doubled(low, high).collect(),
            (true, false) => vec![512],
        };
        self.record_min_kib = written.record_min_kib.unwrap_or(4);
        self.record_max_kib = written.record_max_kib.unwrap_or(RECORD_MAX_KIB);
        self.has_all_records |= written.record_min_kib.or(written.record_max_kib).is_some();
        if !self.is_auto {
            self.record_kib.get_or_insert(4);
        }
        if let Some(kib) = self.record_kib.filter(|it| *it > RECORD_MAX_KIB) {
            return Err(format!("records of {kib} kB are above {RECORD_MAX_KIB} kB"));
        }
        if self
            .files_kib
            .iter()
            .all(|file| self.records_kib(*file).is_empty())
        {
            return Err("no record fits into a file".to_owned());
        }
        let missing = [11, 12, 13].into_iter().find(|it| self.tests.contains(it));
        if let Some(test) = missing {
            return Err(format!("`-i {test}` is not compiled in"));
        }
        match self.tests.is_empty() || self.tests.contains(&0) {
            true => Ok(()),
            false => Err("`-i 0` makes the file that the other tests need; add it".to_owned()),
        }
    }

    /// Sizes of the records of a file, in KiB.
    pub(super) fn records_kib(&self, file_kib: u64) -> Vec<u64> {
        let fits = |record: &u64| *record <= file_kib;
        if let Some(record) = self.record_kib {
            return Some(record).into_iter().filter(fits).collect();
        }
        let is_large = file_kib > CROSSOVER_KIB && !self.has_all_records;
        let low = match is_large {
            true => self.record_min_kib.max(CROSSOVER_RECORD_KIB),
            false => self.record_min_kib,
        };
        doubled(low, self.record_max_kib.min(file_kib)).collect()
    }

    /// Whether a test is done.
    pub(super) fn has(&self, test: u8) -> bool {
        let is_usual = match test {
            8 => self.children.is_some(),
            9 | 10 => self.has_extensions,
            _ => true,
        };
        is_usual && (self.tests.is_empty() || self.tests.contains(&test))
    }
}

fn doubled(low: u64, high: u64) -> impl Iterator<Item = u64> {
    let sizes = std::iter::successors(Some(low), |it| it.checked_mul(2));
    sizes.take_while(move |it| *it <= high)
}

fn not_done(letter: char, what: &str) -> String {
    format!("`-{letter}` {what}, which is not done here")
}

/// A size in KiB; a number alone is one.
fn kib(option: &str, text: &str) -> Result<u64, String> {
    let bytes = size(text, 1 << 10).filter(|it| (1 << 10..=1 << 40).contains(it));
    let shown = workload::printable(text);
    let bytes = bytes.ok_or_else(|| format!("`{option} {shown}` is not a size up to 1 TiB"))?;
    Ok(bytes >> 10)
}

fn number(option: &str, text: &str, low: u64, high: u64) -> Result<u64, String> {
    let read = text.parse().ok().filter(|it| (low..=high).contains(it));
    let shown = workload::printable(text);
    read.ok_or_else(|| format!("`{option} {shown}` is not a number from {low} to {high}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words)
    }

    #[test]
    fn the_automatic_mode_has_its_sizes() {
        let options = read("-a").unwrap();
        let counts: Vec<usize> = options
            .files_kib
            .iter()
            .map(|file| options.records_kib(*file).len())
            .collect();
        assert_eq!(counts, [5, 6, 7, 8, 9, 10, 11, 12, 13, 9, 9, 9, 9, 9]);
        assert_eq!(options.records_kib(32 << 10)[0], 64);
        assert_eq!(read("-az").unwrap().records_kib(32 << 10)[0], 4);
        assert_eq!(read("-a -g 1m -n 256").unwrap().files_kib, [256, 512, 1024]);
        assert_eq!(read("").unwrap().files_kib, [512]);
        assert_eq!(read("-s 1m -r 64k").unwrap().records_kib(1024), [64]);
    }

    #[test]
    fn options_are_taken_together_and_with_their_values() {
        let options = read("-Rec -i 0 -i1 -t 4 -+n -+p 75 -O -w -f /x/y -j 3 -CxoI").unwrap();
        assert_eq!(options.tests, BTreeSet::from([0, 1]));
        assert_eq!(options.children, Some((4, 4)));
        assert!(options.is_excel && options.flushes && options.closes && !options.repeats);
        assert!(options.tells_children && !options.has_stonewall && options.is_direct);
        assert_eq!((options.readers_percent, options.stride), (Some(75), 3));
        assert_eq!(
            (options.unit, options.sync),
            (Unit::Operations, Durable::All)
        );
        assert_eq!(options.ignored, ["-w", "-f"]);
        assert_eq!(read("-l 2 -u 4 -F a b c d").unwrap().children, Some((2, 4)));
        assert!(read("-i 0 -E").unwrap().has(0) && !read("-i 0 -E").unwrap().has(9));
        assert!(read("-E").unwrap().has(10) && !read("-E").unwrap().has(8));
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for (line, wanted) in [
            (
                "-i 1",
                "`-i 0` makes the file that the other tests need; add it",
            ),
            ("-i 0 -i 12", "`-i 12` is not compiled in"),
            ("-i 14", "`-i 14` is not a number from 0 to 13"),
            ("-s 4 -r 8", "no record fits into a file"),
            ("-r 32m", "records of 32768 kB are above 16384 kB"),
            ("-B", "`-B` maps files into memory, which is not done here"),
            (
                "-b x.xls",
                "`-b` writes a spreadsheet; `-R` prints its table, which is not done here",
            ),
            ("-s", "option `-s` lacks its value"),
            ("-s 0", "`-s 0` is not a size up to 1 TiB"),
            ("-+m x", "`-+m` is not done here"),
            ("-l 4 -u 2", "`-l` is above `-u`"),
            ("-!", "option `-!` lacks its value"),
            ("-! x", "there is no option `-!`"),
            ("x", "`x` is no option"),
        ] {
            assert_eq!(read(line).unwrap_err(), wanted, "{line}");
        }
    }
}
