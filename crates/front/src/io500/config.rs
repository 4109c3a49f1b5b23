//! The original's file of settings, as options of ours.

use plan::{Diagnostic, printable};

/// The meaning of a key of the original.
#[derive(Debug, Clone, Copy)]
enum Key {
    /// One of our options.
    Option(&'static str),
    /// A flag of ours where the value is true.
    Flag(&'static str),
    /// It changes nothing here, whatever its value.
    Idle,
    /// Only this value is what is done; the reason follows.
    Only(&'static [&'static str], &'static str),
}

use Key::{Flag, Idle, Only, Option as Ours};

const TRUE: &[&str] = &["TRUE", "1", "YES", "ON"];
const FALSE: &[&str] = &["FALSE", "0", "NO", "OFF"];
const POSIX: Key = Only(&["POSIX"], "files are reached through POSIX alone");
const RUN: Key = Only(TRUE, "all phases run");
const NONE: Key = Only(&[], "it can only be left empty");
const INDEPENDENT: Key = Only(FALSE, "POSIX has no collective operations");

/// Keys by their section.
const KEYS: &[(&str, &[(&str, Key)])] = &[
    ("global", GLOBAL),
    ("debug", DEBUG),
    ("ior-easy", IOR_EASY),
    ("ior-easy-write", PHASE),
    ("ior-rnd4K", RANDOM_EXTENDED),
    ("ior-rnd4K-write", RANDOM_EXTENDED),
    ("ior-rnd1MB", RANDOM_EXTENDED),
    ("ior-rnd1MB-write", RANDOM_EXTENDED),
    ("mdtest-easy", MDTEST_EASY),
    ("mdtest-easy-write", PHASE),
    ("timestamp", &[]),
    ("find-easy", FIND_EXTENDED),
    ("ior-hard", IOR_HARD),
    ("ior-hard-write", COLLECTIVE),
    ("mdtest-hard", MDTEST_HARD),
    ("mdtest-hard-write", PHASE),
    ("find", FIND),
    ("find-hard", FIND_EXTENDED),
    ("mdworkbench", MDWORKBENCH),
    ("mdworkbench-create", EXTENDED),
    ("mdworkbench-bench", EXTENDED),
    ("mdworkbench-delete", EXTENDED),
    ("ior-easy-read", PHASE),
    ("ior-rnd4K-read", RANDOM_EXTENDED),
    ("ior-rnd1MB-read", RANDOM_EXTENDED),
    ("mdtest-easy-stat", PHASE),
    ("ior-hard-read", COLLECTIVE),
    ("mdtest-hard-stat", PHASE),
    ("mdtest-easy-delete", PHASE),
    ("mdtest-hard-read", PHASE),
    ("mdtest-hard-delete", PHASE),
    ("ior-rnd4K-easy-read", PHASE),
];

const GLOBAL: &[(&str, Key)] = &[
    ("datadir", Ours("-d")),
    ("timestamp-datadir", Idle),
    ("resultdir", Idle),
    ("timestamp-resultdir", Idle),
    ("api", POSIX),
    ("drop-caches", Flag("--drop-caches")),
    // The program drops them itself.
    ("drop-caches-cmd", Idle),
    (
        "io-buffers-on-gpu",
        Only(FALSE, "buffers are in the memory of the host"),
    ),
    ("verbosity", Idle),
    ("scc", Flag("--scc")),
    // All data is random, which `--differences` lists.
    ("dataPacketType", Idle),
];
const DEBUG: &[(&str, Key)] = &[
    ("stonewall-time", Ours("--time")),
    ("pause-dir", Ours("--pause-dir")),
];
const IOR_EASY: &[(&str, Key)] = &[
    ("API", POSIX),
    ("transferSize", Ours("--easy-transfer")),
    ("blockSize", Ours("--easy-block")),
    ("filePerProc", Only(TRUE, "every rank writes its own file")),
    (
        "uniqueDir",
        Only(FALSE, "the files of all ranks are in one directory"),
    ),
    ("run", RUN),
    ("verbosity", Idle),
];
const MDTEST_EASY: &[(&str, Key)] = &[("API", POSIX), ("n", Ours("--easy-files")), ("run", RUN)];
const IOR_HARD: &[(&str, Key)] = &[
    ("API", POSIX),
    ("segmentCount", Ours("--hard-segments")),
    ("collective", INDEPENDENT),
    ("run", RUN),
    ("verbosity", Idle),
];
const MDTEST_HARD: &[(&str, Key)] = &[
    ("API", POSIX),
    ("n", Ours("--hard-files")),
    ("files-per-dir", NONE),
    ("run", RUN),
];
const PHASE: &[(&str, Key)] = &[("API", POSIX), ("run", RUN)];
const COLLECTIVE: &[(&str, Key)] = &[("API", POSIX), ("collective", INDEPENDENT), ("run", RUN)];
const FIND: &[(&str, Key)] = &[
    ("external-script", NONE),
    // Both are only of the script.
    ("external-mpi-args", Idle),
    ("external-extra-args", Idle),
    ("nproc", Only(&[], "all ranks take part")),
    ("run", RUN),
    ("pfind-queue-length", Idle),
    ("pfind-steal-next", Idle),
    ("pfind-parallelize-single-dir-access-using-hashing", Idle),
];
/// Phases of the extended mode alone: what they ask for has no effect in the standard mode.
const FIND_EXTENDED: &[(&str, Key)] = &[
    ("external-script", Idle),
    ("external-mpi-args", Idle),
    ("external-extra-args", Idle),
    ("nproc", Idle),
    ("run", Idle),
    ("pfind-queue-length", Idle),
    ("pfind-steal-next", Idle),
    ("pfind-parallelize-single-dir-access-using-hashing", Idle),
];
const MDWORKBENCH: &[(&str, Key)] = &[
    ("API", Idle),
    ("waitingTime", Idle),
    ("precreatePerSet", Idle),
    ("filesPerProc", Idle),
    ("run", Idle),
    ("verbosity", Idle),
];
const RANDOM_EXTENDED: &[(&str, Key)] = &[
    ("API", Idle),
    ("blockSize", Idle),
    ("run", Idle),
    ("verbosity", Idle),
    ("randomPrefill", Idle),
];
const EXTENDED: &[(&str, Key)] = &[("run", Idle)];

/// All keys, in the form of a file of settings that asks for the defaults.
pub(super) fn list() -> String {
    let mut text = String::new();
    for (section, keys) in KEYS {
        text += &format!("[{section}]\n");
        for (key, meaning) in *keys {
            let value = match meaning {
                Only([value, ..], _) => value,
                Flag(_) => "FALSE",
                Only([], _) | Idle | Ours(_) => "",
            };
            text += format!("{key} = {value}").trim_end();
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// The options that a file of settings stands for.
///
/// # Errors
/// Every line that is none of such a file, or asks for what is not done here.
pub(super) fn words(name: &str, bytes: &[u8]) -> Result<Vec<String>, Diagnostic> {
    let text = String::from_utf8_lossy(bytes);
    let mut section = String::new();
    let mut words = Vec::new();
    let mut refusals: Vec<(u32, String)> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        let named = line.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        if let Some(named) = named {
            named.trim().clone_into(&mut section);
        } else if !line.is_empty() {
            match setting(&section, line) {
                Ok(read) => words.extend(read),
                Err(why) => refusals.push((number, why)),
            }
        }
    }
    match together(name, &refusals) {
        None => Ok(words),
        Some(refusal) => Err(refusal),
    }
}

/// All refusals as one; those after the first follow with their lines.
fn together(name: &str, refusals: &[(u32, String)]) -> Option<Diagnostic> {
    let ((line, first), others) = refusals.split_first()?;
    let others: String = others
        .iter()
        .map(|(line, why)| format!("; line {line}: {why}"))
        .collect();
    Some(Diagnostic::error(name, format!("{first}{others}")).at_line(*line))
}

/// An option and its value, if it is more than a default.
fn setting(section: &str, line: &str) -> Result<Vec<String>, String> {
    let split = line.split_once('=');
    let (key, value) = split.ok_or_else(|| format!("`{}` is no setting", printable(line)))?;
    let (key, value) = (key.trim(), value.trim());
    let (shown, shown_section) = (printable(key), printable(section));
    let known = KEYS.iter().find(|it| it.0.eq_ignore_ascii_case(section));
    let (_, keys) = known.ok_or_else(|| format!("IO500 has no section `[{shown_section}]`"))?;
    let known = keys.iter().find(|it| it.0.eq_ignore_ascii_case(key));
    let (_, known) =
        known.ok_or_else(|| format!("`[{shown_section}]` of IO500 has no key `{shown}`"))?;
    // A key without a value stands for what is so without it.
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let is_one_of = |values: &[&str]| values.iter().any(|it| value.eq_ignore_ascii_case(it));
    match known {
        Idle => Ok(Vec::new()),
        Flag(option) if is_one_of(TRUE) => Ok(vec![(*option).to_owned()]),
        Flag(_) if is_one_of(FALSE) => Ok(Vec::new()),
        Flag(_) => Err(format!(
            "`{shown} = {}` of `[{shown_section}]` is neither TRUE nor FALSE",
            printable(value)
        )),
        Only(values, _) if is_one_of(values) => Ok(Vec::new()),
        Only(_, why) => Err(format!(
            "`{shown} = {}` of `[{shown_section}]` is not done here: {why}",
            printable(value)
        )),
        Ours(option) => Ok(vec![(*option).to_owned(), value.to_owned()]),
    }
}
