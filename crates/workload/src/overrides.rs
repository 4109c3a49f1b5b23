//! Options of the command line: each is a key of the workload file.

use toml::Value;

use crate::check::check;
use crate::diagnostic::Diagnostic;
use crate::model::{OneOrMany, Workload};
use crate::native::parse;
use crate::overlay::overlay;

/// Values that replace what workloads say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    keys: Vec<String>,
    over: Workload,
}

impl Overrides {
    /// No option is given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, dotted for one inside a table, to a value as the workload file has it; texts
    /// need no quotes and lists no brackets.
    ///
    /// # Errors
    /// When the key is unknown, or the value is not of the key's type or range.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Diagnostic> {
        let over = read(key.trim(), value.trim())?;
        check(&over).map_err(|flaw| flaw.diagnostic(""))?;
        self.over = overlay(std::mem::take(&mut self.over), over);
        let key = key.trim().split('.').next().unwrap_or_default().to_owned();
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        Ok(())
    }

    /// Sets a key from `key=value`, the form of `--set`.
    ///
    /// # Errors
    /// As [`Self::set`], and when there is no `=`.
    pub fn set_pair(&mut self, pair: &str) -> Result<(), Diagnostic> {
        match pair.split_once('=') {
            Some((key, value)) => self.set(key, value),
            None => Err(
                Diagnostic::error("", format!("`{}` has no `=`", crate::printable(pair)))
                    .help("write `--set key=value`"),
            ),
        }
    }

    /// Replaces the targets that workloads name.
    pub fn set_targets(&mut self, targets: Vec<String>) {
        self.over.targets = Some(OneOrMany::from(targets));
        if !self.has("targets") {
            self.keys.push("targets".to_owned());
        }
    }

    /// Whether an option says something about this key.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|known| known == key)
    }

    /// The targets that options name; empty when none does.
    #[must_use]
    pub fn targets(&self) -> &[String] {
        self.over.targets.as_ref().map_or(&[], OneOrMany::as_slice)
    }

    /// The workload with the options in place. What options say holds for each worker, so the
    /// workers' own values of those keys go; their targets stay, for planning to replace.
    pub(crate) fn applied(&self, workload: &Workload) -> Workload {
        let mut over = self.over.clone();
        over.targets = None;
        let mut workload = overlay(workload.clone(), over);
        for worker in &mut workload.worker {
            if self.has("worker") {
                break;
            }
            drop_if(self.has("iodepth"), &mut worker.iodepth);
            drop_if(self.has("size"), &mut worker.size);
            drop_if(self.has("start"), &mut worker.start);
            drop_if(self.has("seed"), &mut worker.seed);
            drop_if(self.has("content"), &mut worker.content);
        }
        workload
    }
}

fn drop_if<T>(drop: bool, value: &mut Option<T>) {
    if drop {
        *value = None;
    }
}

/// Reads the value in the ways a person may write it; the first that fits the key's type counts.
fn read(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !key.chars().all(bare) || key.split('.').any(str::is_empty) {
        let message = format!("`{}` is not a key", crate::printable(key));
        return Err(Diagnostic::error("", message).help("write `--set key=value`"));
    }
    let quoted = Value::String(value.to_owned()).to_string();
    let listed = format!("[{value}]");
    let is_toml = |text: &str| text.parse::<Value>().is_ok();
    let as_written = is_toml(value).then(|| one(key, value));
    let attempts = [
        as_written.clone().and_then(Result::ok),
        one(key, &quoted).ok(),
        (value.contains(',') && is_toml(&listed))
            .then(|| one(key, &listed).ok())
            .flatten(),
    ];
    match attempts.into_iter().flatten().next() {
        Some(over) => Ok(over),
        None => as_written.unwrap_or_else(|| one(key, &quoted)),
    }
}

/// A file with this key alone; its mistakes have no place that the user knows.
fn one(key: &str, value: &str) -> Result<Workload, Diagnostic> {
    parse("", &format!("{key} = {value}")).map_err(|mut error| {
        error.line = None;
        error.column = None;
        error.snippet = None;
        error
    })
}

#[cfg(test)]
mod tests {
    use units::{Bytes, Span};

    use super::*;
    use crate::model::{CpuList, Worker};
    use crate::plan::EngineKind;

    fn with(pairs: &[&str]) -> Overrides {
        let mut overrides = Overrides::new();
        for pair in pairs {
            overrides.set_pair(pair).unwrap();
        }
        overrides
    }

    fn refusal(pair: &str) -> String {
        Overrides::new().set_pair(pair).unwrap_err().to_string()
    }

    #[test]
    fn values_need_neither_quotes_nor_brackets() {
        let overrides = with(&[
            "iodepth=1,4,16",
            "size=4GiB",
            "run_time=90",
            "ramp_time=500ms",
            "engine=psync",
            "name=7",
            "verify=true",
            "cpus=0-2",
            "cycling.iodepth.end=64",
            "cycling.iodepth.start=2",
        ]);
        let workload = overrides.applied(&Workload::default());
        assert_eq!(workload.iodepth, Some(OneOrMany::Many(vec![1, 4, 16])));
        assert_eq!(workload.size, Some(Bytes(4 << 30)));
        assert_eq!(workload.run_time, Some(Span::from_secs(90)));
        assert_eq!(workload.ramp_time, Some(Span::from_millis(500)));
        assert_eq!(workload.engine, Some(EngineKind::Psync));
        assert_eq!(workload.name.as_deref(), Some("7"));
        assert_eq!(workload.verify, Some(true));
        assert_eq!(workload.cpus, Some(CpuList(vec![0, 1, 2])));
        let depth = workload.cycling.unwrap().iodepth.unwrap();
        assert_eq!((depth.start, depth.end), (Some(2), Some(64)));
        assert!(overrides.has("cycling") && !overrides.has("batch"));
    }

    #[test]
    fn an_option_holds_for_every_worker() {
        let worker = Worker {
            iodepth: Some(3),
            seed: None,
            ..Worker::default()
        };
        let workload = Workload {
            worker: vec![worker],
            ..Workload::default()
        };
        assert_eq!(
            with(&["iodepth=8"]).applied(&workload).worker[0].iodepth,
            None
        );
        assert_eq!(
            with(&["size=4k"]).applied(&workload).worker[0].iodepth,
            Some(3)
        );
    }

    #[test]
    fn an_unknown_key_names_the_nearest() {
        assert_eq!(
            refusal("iodpth=3"),
            "error: unknown key `iodpth`\nhelp: did you mean `iodepth`?"
        );
        assert_eq!(
            refusal("cycling.iodepht.end=3"),
            "error: unknown key `iodepht`\nhelp: did you mean `iodepth`?"
        );
    }

    #[test]
    fn a_value_out_of_range_is_refused_at_once() {
        assert_eq!(
            refusal("iodepth=100000"),
            "error: `iodepth` is 100000, not from 1 to 32768\n\
             help: spread the requests over several workers"
        );
    }

    #[test]
    fn a_value_of_the_wrong_type_says_what_was_wanted() {
        assert_eq!(
            refusal("verify=maybe"),
            "error: `verify` is `\"maybe\"`, not `true` or `false`\n\
             help: write `true` or `false` without quotes"
        );
        assert_eq!(
            refusal("size=4q"),
            "error: `size`: `4q` is not a size\n\
             help: write a size such as `4k`, `1.5GiB`, `4kB` or `512`"
        );
    }

    #[test]
    fn nothing_can_be_smuggled_in_by_a_value() {
        for pair in [
            "iodepth=1\nverify=true",
            "a b=1",
            "=1",
            "x",
            "a..b=1",
            "\"name\"=x",
        ] {
            assert!(Overrides::new().set_pair(pair).is_err(), "{pair}");
        }
        // A text with a line break is a text, which a name may not be.
        assert!(Overrides::new().set_pair("name=a\nverify=true").is_err());
    }
}
