//! Verifies a result file: its score must follow from its phases, and its check sum from both.

use plan::{Diagnostic, printable};

use super::check_sum::CheckSum;
use super::judge::scored_phases;
use super::score::{ScoreUnit, score};

/// Half of the last digit of a printed result.
const ROUNDING: f64 = 5e-7;
/// Text after the score of a run that breaks the rules.
const INVALID: &str = "[INVALID]";

/// Help for values that contradict each other.
const CHANGED: &str = "measure again: the file was changed, or another version of IO500 wrote it";

/// The values of a result file that its score depends on.
#[derive(Debug, Default)]
struct ResultFile<'a> {
    version: Option<&'a str>,
    /// Results of phases, with the unit and the printed value of each.
    phases: Vec<(ScoreUnit, f64)>,
    /// Printed scores with their lines, in the order of [`SCORES`].
    scores: [Option<(f64, u32)>; 3],
    /// Printed check sum with its line.
    check_sum: Option<(&'a str, u32)>,
    /// Check sum of all values that are read.
    sum: CheckSum,
    is_invalid: bool,
}

/// Keys of the scores.
const SCORES: [&str; 3] = ["MD", "BW", "SCORE"];

/// Verifies a result file. Returns the report to print.
///
/// # Errors
/// The file is not a result file, or a value does not follow from the others.
pub(super) fn verify(name: &str, bytes: &[u8]) -> Result<String, Diagnostic> {
    let text = String::from_utf8_lossy(bytes);
    let file = ResultFile::read(name, &text)?;
    let (Some(version), Some((found, line))) = (file.version, file.check_sum) else {
        let message = "this is not a result file of IO500: it has no `version` or no `hash`";
        let help = "name the file `result.txt` of a result directory";
        return Err(Diagnostic::error(name, message).help(help));
    };
    file.check_scores(name)?;
    let mut sum = file.sum;
    if file.is_invalid {
        sum.add_invalid();
    }
    if sum.to_string() != found {
        let found = printable(found);
        let message = format!("`hash` is {found}, but the results yield {sum}");
        return Err(Diagnostic::error(name, message).at_line(line).help(CHANGED));
    }
    if file.is_invalid {
        let message = "the score follows from the results, but the run breaks the rules";
        let help = "look for `[INVALID]` in `result_summary.txt`";
        return Err(Diagnostic::error(name, message).help(help));
    }
    let version = printable(version);
    Ok(format!(
        "result file ver = {version}\n[run]\nscore-hash      = {sum}\n\n[OK]\n"
    ))
}

impl<'a> ResultFile<'a> {
    fn read(name: &str, text: &'a str) -> Result<Self, Diagnostic> {
        let mut file = Self::default();
        let mut section = "";
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            let named = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            if let Some(named) = named {
                section = named;
            } else if let Some((key, value)) = line.split_once('=')
                && !line.starts_with([';', '#'])
            {
                file.entry((section, number), key.trim(), value.trim())
                    .map_err(|message| Diagnostic::error(name, message).at_line(number))?;
            }
        }
        Ok(file)
    }

    fn entry(
        &mut self,
        (section, line): (&str, u32),
        key: &str,
        value: &'a str,
    ) -> Result<(), String> {
        let number = |value: &str| {
            let read: Result<f64, _> = value.parse();
            read.map_err(|_| format!("`{key} = {}` is not a number", printable(value)))
        };
        match (section, key) {
            (_, "version") => {
                self.version = Some(value);
                self.sum.add(key, value);
            }
            ("SCORE", "hash") => self.check_sum = Some((value, line)),
            ("SCORE", _) => {
                let score = value.strip_suffix(INVALID);
                self.is_invalid |= score.is_some();
                let value = score.unwrap_or(value).trim_end();
                if let Some(index) = SCORES.iter().position(|it| *it == key) {
                    self.scores[index] = Some((number(value)?, line));
                }
                self.sum.add(key, value);
            }
            (_, "score") => {
                if let Some((name, unit)) = scored_phases().find(|it| it.0 == section) {
                    self.phases.push((unit, number(value)?));
                    self.sum.add(name, value);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the scores follow from the results of the phases.
    fn check_scores(&self, name: &str) -> Result<(), Diagnostic> {
        for (index, [low, high]) in self.bounds().into_iter().enumerate() {
            let key = SCORES[index];
            let Some((found, line)) = self.scores[index] else {
                let message = format!("`[SCORE]` has no `{key}`");
                return Err(Diagnostic::error(name, message).help(CHANGED));
            };
            if !(low..=high).contains(&found) {
                let wanted = f64::midpoint(low, high);
                let message = format!("`{key}` is {found:.6}, but the phases yield {wanted:.6}");
                return Err(Diagnostic::error(name, message).at_line(line).help(CHANGED));
            }
        }
        Ok(())
    }

    /// Lowest and highest value of each score that the rounded results of the phases allow.
    fn bounds(&self) -> [[f64; 2]; 3] {
        let with = |change: f64| {
            let phases = self.phases.iter();
            // A phase without a result is left out of the score, whatever the rounding.
            let changed = |value: f64| match value > 0.0 {
                true => (value + change).max(f64::MIN_POSITIVE),
                false => value,
            };
            let phases: Vec<_> = phases
                .map(|(unit, value)| (*unit, changed(*value)))
                .collect();
            score(&phases)
        };
        let (low, high) = (with(-ROUNDING), with(ROUNDING));
        [
            [low.rate, high.rate],
            [low.bandwidth, high.bandwidth],
            [low.total, high.total],
        ]
        .map(|[low, high]| [low - ROUNDING, high + ROUNDING])
    }
}
