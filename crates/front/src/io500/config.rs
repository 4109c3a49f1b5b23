//! Converts the original's settings file to options of this front.

use plan::{Diagnostic, printable};

use super::options::Io500Options;

/// Treatment of a key in the settings file.
#[derive(Debug, Clone, Copy)]
enum ConfigKey {
    /// Becomes this option with the key's value.
    Option(&'static str),
    /// Becomes this flag if the value is true.
    Flag(&'static str),
    /// Becomes this flag if the value is false.
    FlagIfFalse(&'static str),
    /// Has no effect, whatever its value.
    Ignored,
    /// Only these values are supported, for this reason.
    Only(&'static [&'static str], &'static str),
}

use ConfigKey::{Flag, FlagIfFalse, Ignored, Only, Option as Ours};

const TRUE: &[&str] = &["TRUE", "1", "YES", "ON"];
const FALSE: &[&str] = &["FALSE", "0", "NO", "OFF"];
const POSIX: ConfigKey = Only(&["POSIX"], "POSIX is the only interface");
const RUN: ConfigKey = Only(TRUE, "all phases run");
const NONE: ConfigKey = Only(&[], "it must be empty");
const INDEPENDENT: ConfigKey = Only(FALSE, "POSIX has no collective operations");

/// Keys of each section.
const KEYS: &[(&str, &[(&str, ConfigKey)])] = &[
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

const GLOBAL: &[(&str, ConfigKey)] = &[
    ("datadir", Ours("-d")),
    ("timestamp-datadir", Ignored),
    ("resultdir", Ours("--result-dir")),
    ("timestamp-resultdir", FlagIfFalse("--common-results")),
    ("api", POSIX),
    ("drop-caches", Flag("--drop-caches")),
    // pgmeter drops the caches itself.
    ("drop-caches-cmd", Ignored),
    (
        "io-buffers-on-gpu",
        Only(FALSE, "buffers are in the memory of the host"),
    ),
    ("verbosity", Ignored),
    ("scc", Flag("--scc")),
    // All data is the same buffer of random bytes, which `--differences` lists.
    ("dataPacketType", Ignored),
];
const DEBUG: &[(&str, ConfigKey)] = &[
    ("stonewall-time", Ours("--time")),
    ("pause-dir", Ours("--pause-dir")),
];
const IOR_EASY: &[(&str, ConfigKey)] = &[
    ("API", POSIX),
    ("transferSize", Ours("--easy-transfer")),
    ("blockSize", Ours("--easy-block")),
    ("filePerProc", Only(TRUE, "every rank writes its own file")),
    (
        "uniqueDir",
        Only(FALSE, "the files of all ranks are in one directory"),
    ),
    ("run", RUN),
    ("verbosity", Ignored),
];
const MDTEST_EASY: &[(&str, ConfigKey)] =
    &[("API", POSIX), ("n", Ours("--easy-files")), ("run", RUN)];
const IOR_HARD: &[(&str, ConfigKey)] = &[
    ("API", POSIX),
    ("segmentCount", Ours("--hard-segments")),
    ("collective", INDEPENDENT),
    ("run", RUN),
    ("verbosity", Ignored),
];
const MDTEST_HARD: &[(&str, ConfigKey)] = &[
    ("API", POSIX),
    ("n", Ours("--hard-files")),
    ("files-per-dir", NONE),
    ("run", RUN),
];
const PHASE: &[(&str, ConfigKey)] = &[("API", POSIX), ("run", RUN)];
const COLLECTIVE: &[(&str, ConfigKey)] =
    &[("API", POSIX), ("collective", INDEPENDENT), ("run", RUN)];
const FIND: &[(&str, ConfigKey)] = &[
    ("external-script", NONE),
    // Both are arguments of the external script.
    ("external-mpi-args", Ignored),
    ("external-extra-args", Ignored),
    ("nproc", Only(&[], "all ranks take part")),
    ("run", RUN),
    ("pfind-queue-length", Ignored),
    ("pfind-steal-next", Ignored),
    ("pfind-parallelize-single-dir-access-using-hashing", Ignored),
];
/// Phases of the extended mode, whose keys have no effect in the standard mode.
const FIND_EXTENDED: &[(&str, ConfigKey)] = &[
    ("external-script", Ignored),
    ("external-mpi-args", Ignored),
    ("external-extra-args", Ignored),
    ("nproc", Ignored),
    ("run", Ignored),
    ("pfind-queue-length", Ignored),
    ("pfind-steal-next", Ignored),
    ("pfind-parallelize-single-dir-access-using-hashing", Ignored),
];
const MDWORKBENCH: &[(&str, ConfigKey)] = &[
    ("API", Ignored),
    ("waitingTime", Ignored),
    ("precreatePerSet", Ignored),
    ("filesPerProc", Ignored),
    ("run", Ignored),
    ("verbosity", Ignored),
];
const RANDOM_EXTENDED: &[(&str, ConfigKey)] = &[
    ("API", Ignored),
    ("blockSize", Ignored),
    ("run", Ignored),
    ("verbosity", Ignored),
    ("randomPrefill", Ignored),
];
const EXTENDED: &[(&str, ConfigKey)] = &[("run", Ignored)];

/// All keys with their default values, in the format of a settings file.
pub(super) fn list() -> String {
    file(|meaning| default_value(meaning).to_owned())
}

/// All keys with the values of a run, in the format of a settings file.
pub(super) fn used(options: &Io500Options) -> String {
    let word = |is_true: bool| if is_true { "TRUE" } else { "FALSE" };
    file(|meaning| match meaning {
        Flag("--drop-caches") => word(options.drops_caches).to_owned(),
        Flag("--scc") => word(options.is_for_students).to_owned(),
        FlagIfFalse("--common-results") => word(!options.has_common_results).to_owned(),
        Ours(option) => options.value_of(option),
        _ => default_value(meaning).to_owned(),
    })
}

const fn default_value(meaning: &ConfigKey) -> &'static str {
    match meaning {
        Only([value, ..], _) => value,
        Flag(_) => "FALSE",
        FlagIfFalse(_) => "TRUE",
        Only([], _) | Ignored | Ours(_) => "",
    }
}

/// A settings file with these values of its keys.
fn file(value: impl Fn(&ConfigKey) -> String) -> String {
    let mut text = String::new();
    for (section, keys) in KEYS {
        text += &format!("[{section}]\n");
        for (key, meaning) in *keys {
            text += format!("{key} = {}", value(meaning)).trim_end();
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

/// Converts a settings file to options.
///
/// # Errors
/// All lines that are invalid or request something that is not supported.
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
    match join_refusals(name, &refusals) {
        None => Ok(words),
        Some(refusal) => Err(refusal),
    }
}

/// Joins all refusals into one error at the first line; the others follow with their lines.
fn join_refusals(name: &str, refusals: &[(u32, String)]) -> Option<Diagnostic> {
    let ((line, first), others) = refusals.split_first()?;
    let others: String = others
        .iter()
        .map(|(line, why)| format!("; line {line}: {why}"))
        .collect();
    Some(Diagnostic::error(name, format!("{first}{others}")).at_line(*line))
}

/// An option with its value; empty if the line sets a default.
fn setting(section: &str, line: &str) -> Result<Vec<String>, String> {
    let split = line.split_once('=');
    let (key, value) = split.ok_or_else(|| format!("`{}` is not a setting", printable(line)))?;
    let (key, value) = (key.trim(), value.trim());
    let (shown, shown_section) = (printable(key), printable(section));
    let known = KEYS.iter().find(|it| it.0.eq_ignore_ascii_case(section));
    let (_, keys) = known.ok_or_else(|| format!("IO500 has no section `[{shown_section}]`"))?;
    let known = keys.iter().find(|it| it.0.eq_ignore_ascii_case(key));
    let (_, known) =
        known.ok_or_else(|| format!("`[{shown_section}]` of IO500 has no key `{shown}`"))?;
    // A key without a value means its default.
    if value.is_empty() {
        return Ok(Vec::new());
    }
    let is_one_of = |values: &[&str]| values.iter().any(|it| value.eq_ignore_ascii_case(it));
    match known {
        Ignored => Ok(Vec::new()),
        Flag(option) if is_one_of(TRUE) => Ok(vec![(*option).to_owned()]),
        FlagIfFalse(option) if is_one_of(FALSE) => Ok(vec![(*option).to_owned()]),
        Flag(_) | FlagIfFalse(_) if is_one_of(TRUE) || is_one_of(FALSE) => Ok(Vec::new()),
        Flag(_) | FlagIfFalse(_) => Err(format!(
            "`{shown} = {}` of `[{shown_section}]` is neither TRUE nor FALSE",
            printable(value)
        )),
        Only(values, _) if is_one_of(values) => Ok(Vec::new()),
        Only(_, why) => Err(format!(
            "`{shown} = {}` of `[{shown_section}]` is not supported: {why}",
            printable(value)
        )),
        Ours(option) => Ok(vec![(*option).to_owned(), value.to_owned()]),
    }
}
