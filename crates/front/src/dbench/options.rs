//! The command line.

use crate::Difference;

/// What `--help` prints.
pub(super) const USAGE: &str = "\
dbench's own options, those of 4 and of 5's file back-end: dbench [OPTIONS] NPROCS
  -t, --timelimit=S      seconds that are measured (600), behind a warm-up of a fifth
  -c, --loadfile=FILE    the load file (/usr/share/dbench/client.txt)
  -D, --directory=DIR    the directory to work below (.)
  -R, --target-rate=MB   at most so many megabytes a second for each client
  -s, --sync             open everything with O_SYNC (5: --sync-open)
  -S, --sync-dir         sync a directory behind each name taken out of it
  -F, --fsync            fsync behind each write
  -B, --backend=fileio   dbench 5's back-end, of which files are the only one
      --no-resolve       look names up without a search of their directories
      --warmup=S         seconds of warm-up
      --run-once         the load file once, without a time
      --machine-readable dbench 5's lines for programs
";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub clients: u32,
    pub time_s: u64,
    pub warm_up_s: u64,
    pub load_file: String,
    pub directory: String,
    pub bytes_per_second: u64,
    pub is_sync: bool,
    pub syncs_directories: bool,
    pub syncs_writes: bool,
    pub is_resolving: bool,
    pub runs_once: bool,
    pub is_machine_readable: bool,
    without_effect: Vec<String>,
}

/// The most seconds, a month.
const TIME_S_MAX: u64 = 31 * 86_400;

impl Options {
    /// A load file alone, by one client.
    pub(super) fn of_file(load_file: &str) -> Self {
        Self {
            clients: 1,
            time_s: 600,
            warm_up_s: 120,
            load_file: load_file.to_owned(),
            directory: ".".to_owned(),
            bytes_per_second: 0,
            is_sync: false,
            syncs_directories: false,
            syncs_writes: false,
            is_resolving: true,
            runs_once: false,
            is_machine_readable: false,
            without_effect: Vec::new(),
        }
    }

    /// Reads the arguments.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::of_file("/usr/share/dbench/client.txt");
        let mut clients = None;
        let mut warm_up = None;
        let mut words = words(arguments)?.into_iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let has_value = joined.is_some();
            let mut value = || {
                let value = joined.clone().or_else(|| words.next());
                value.ok_or_else(|| format!("option `{name}` lacks its value"))
            };
            match name {
                "-t" | "--timelimit" => options.time_s = number(name, &value()?, TIME_S_MAX)?,
                "--warmup" => warm_up = Some(number(name, &value()?, TIME_S_MAX)?),
                "-c" | "--loadfile" => options.load_file = value()?,
                "-D" | "--directory" => options.directory = value()?,
                "-R" | "--target-rate" => options.bytes_per_second = rate(name, &value()?)?,
                "-B" | "--backend" => backend(&value()?)?,
                "--clients-per-process" | "-T" | "--tcp-options" => {
                    options.without_effect.push(format!("{name} {}", value()?));
                }
                _ if has_value => return Err(format!("option `{name}` takes no value")),
                _ if name.starts_with('-') => options.flag(name)?,
                _ if clients.is_some() => return Err(format!("`{name}` is one word too many")),
                _ => clients = Some(number("NPROCS", name, 1024)?),
            }
        }
        let clients = clients.ok_or("say how many clients: `dbench 4`")?;
        options.clients = clients as u32;
        if options.clients == 0 || options.time_s == 0 {
            return Err("there is nothing to do for 0 clients or in 0 seconds".to_owned());
        }
        options.warm_up_s = match options.runs_once {
            true => 0,
            false => warm_up.unwrap_or(options.time_s / 5),
        };
        Ok(options)
    }

    fn flag(&mut self, name: &str) -> Result<(), String> {
        match name {
            "-s" | "--sync" | "--sync-open" => self.is_sync = true,
            "-S" | "--sync-dir" | "--sync-dirs" => self.syncs_directories = true,
            "-F" | "--fsync" => self.syncs_writes = true,
            "--no-resolve" => self.is_resolving = false,
            "--run-once" => self.runs_once = true,
            "--machine-readable" => self.is_machine_readable = true,
            "--skip-cleanup" | "--per-client-results" => {
                self.without_effect.push(name.to_owned());
            }
            "-x" | "--xattr" => return Err(format!("`{name}`: attributes are not done here")),
            "--one-byte-write-fix" | "--stat-check" | "--fake-io" => {
                return Err(format!("`{name}` is for testing dbench itself"));
            }
            _ => return Err(format!("there is no option `{name}`")),
        }
        Ok(())
    }

    /// Arguments that say the same of what the text depends on.
    pub(super) fn remembered(&self) -> Vec<String> {
        let warm_up = format!("--warmup={}", self.warm_up_s);
        let time = self.time_s.to_string();
        let clients = self.clients.to_string();
        ["-t", &time, &warm_up, "-c", &self.load_file, &clients]
            .map(str::to_owned)
            .to_vec()
    }

    /// What is not as in the original.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let differs = Difference::differs;
        let mut all = vec![
            differs("the second column", "requests of each client, not lines"),
            differs(
                "the warm-up",
                "it does not wait for each client's first byte",
            ),
            differs("the check for the parent at every line", "left out"),
            differs("latency", "that of a call, not the gap between two"),
            differs("times of `SET_FILE_INFORMATION`", "both 10 seconds back"),
            differs("permissions of directories", "0700"),
        ];
        let idle = self.without_effect.iter();
        all.extend(idle.map(|it| Difference::no_effect(it)));
        all
    }
}

/// The arguments with short options apart from each other and from their values.
fn words(arguments: &[String]) -> Result<Vec<String>, String> {
    const WITH_VALUE: &str = "tcDRTB";
    let mut words = Vec::new();
    for argument in arguments {
        let Some(letters) = argument.strip_prefix('-').filter(|it| !it.starts_with('-')) else {
            words.push(argument.clone());
            continue;
        };
        if letters.is_empty() {
            return Err("`-` is no option".to_owned());
        }
        for (at, letter) in letters.char_indices() {
            words.push(format!("-{letter}"));
            let value = &letters[at + letter.len_utf8()..];
            if WITH_VALUE.contains(letter) && !value.is_empty() {
                words.push(value.strip_prefix('=').unwrap_or(value).to_owned());
                break;
            }
        }
    }
    Ok(words)
}

fn number(name: &str, text: &str, most: u64) -> Result<u64, String> {
    let number = text.parse().ok().filter(|it| *it <= most);
    number.ok_or_else(|| format!("`{name}` is `{text}`, not a number from 0 to {most}"))
}

/// Megabytes a second as bytes.
fn rate(name: &str, text: &str) -> Result<u64, String> {
    let rate = text.parse().ok().filter(|it| (0.0..=1e9).contains(it));
    let rate: f64 = rate.ok_or_else(|| format!("`{name}` is `{text}`, not a rate in MB/s"))?;
    Ok((rate * 1e6) as u64)
}

fn backend(name: &str) -> Result<(), String> {
    match name {
        "fileio" => Ok(()),
        "nfs" | "smb" | "iscsi" | "scsi" | "sockio" | "block" => Err(format!(
            "the back-end `{name}` is not done here, only `fileio` is"
        )),
        _ => Err(format!("there is no back-end `{name}`, only `fileio`")),
    }
}
