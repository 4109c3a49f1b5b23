//! Converts arguments to workloads and overrides.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use clap::CommandFactory;
use description::{Overrides, STDIN_NAME, Workload, load_builtin};
use front::{CommandLine, FILE_BYTES_MAX, FileAccess, FrontFile, LoadOptions};
use plan::{Diagnostic, Severity};
use rustix::fs::OFlags;
use units::{Bytes, Span, printable};
use web::Bounds;

use crate::args::{Cli, WorkloadArgs, WorkloadOptions};
use crate::bounds::bounds;
use crate::detached_output::detached_output;
use crate::failure::{CliError, Exit};
use crate::other_tools::{in_full, of_workload};
use crate::stored::names_a_run;
use crate::usage::command_words;

/// File name that stands for standard input.
pub(crate) const STDIN: &str = "-";

/// Units that sizes and times do not have, with the corresponding ones.
const LONG_UNITS: [(&str, &str); 10] = [
    ("bytes", ""),
    ("hours", "h"),
    ("min", "m"),
    ("mins", "m"),
    ("minutes", "m"),
    ("msec", "ms"),
    ("sec", "s"),
    ("seconds", "s"),
    ("secs", "s"),
    ("usec", "us"),
];

/// Workloads and overrides requested by the arguments.
pub(crate) struct Input {
    pub workloads: Vec<Workload>,
    pub warnings: Vec<Diagnostic>,
    pub overrides: Overrides,
    /// Additional text for `check`; usually empty.
    pub check_text: String,
}

/// Reads all workloads given by the arguments, or builds the one-line workloads. Without either,
/// uses the pack `quick`.
pub(crate) fn input(args: &WorkloadArgs) -> Result<Input, CliError> {
    let described = one_line(args)?;
    if !described.is_empty() {
        return Ok(Input {
            workloads: described,
            warnings: Vec::new(),
            overrides: overrides(&args.options)?,
            check_text: String::new(),
        });
    }
    refuse_reading_twice(&args.workloads)?;
    let mut workloads = Vec::new();
    let mut warnings = Vec::new();
    let mut about = String::new();
    let default = [String::from("quick")];
    let names: &[String] = if args.workloads.is_empty() {
        &default
    } else {
        &args.workloads
    };
    let overrides = overrides(&args.options)?;
    let options = LoadOptions {
        kind: args.options.kind,
        strict: args.options.strict,
        has_target: overrides.determines_targets(),
    };
    for name in names {
        let loaded = find(name, options)?;
        workloads.extend(loaded.workloads);
        warnings.extend(loaded.warnings);
        about.push_str(&loaded.check_text);
    }
    Ok(Input {
        workloads,
        warnings,
        overrides,
        check_text: about,
    })
}

/// Builds the one-line workloads, if the arguments describe any.
fn one_line(args: &WorkloadArgs) -> Result<Vec<Workload>, CliError> {
    let words = args.one_line.words();
    if let (Some(option), Some(name)) = (words.first_option(), args.workloads.first()) {
        refuse_detached_unit(name)?;
        let name = printable(name);
        let message = format!("`{option}` describes a workload, and `{name}` names another");
        let help = match Path::new(&*name).is_file() {
            true => format!("leave out `{option}`, and edit the requests in `{name}`"),
            false => format!(
                "leave out `{name}`, or change it with `--set KEY=VALUE` instead of `{option}`"
            ),
        };
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    Ok(words.workloads()?)
}

/// Refuses a unit that a space separates from its number, as in `--size 4 GiB`.
fn refuse_detached_unit(name: &str) -> Result<(), CliError> {
    // With a number in front, the parsers of sizes and times decide whether it is a unit.
    let joined = format!("4{name}");
    let is_unit = joined.parse::<Bytes>().is_ok() || joined.parse::<Span>().is_ok();
    let is_rate = name.ends_with("/s");
    let long = LONG_UNITS.into_iter().find(|(long, _)| *long == name);
    let is_word = name.starts_with(char::is_alphabetic) && !Path::new(name).exists();
    if !(is_unit || is_rate || long.is_some()) || !is_word {
        return Ok(());
    }
    let unit = long.map_or(name, |(_, unit)| unit);
    let joined = number_before(name, &command_words(), unit).unwrap_or(format!("4{unit}"));
    let message = format!("`{name}` is a unit, not a workload");
    let help = format!("write the number and its unit without a space, such as `{joined}`");
    Err(CliError::new(Exit::Usage, message, Some(help)))
}

/// Returns the option and number before a unit, joined with the unit.
fn number_before(name: &str, words: &[String], unit: &str) -> Option<String> {
    let mut rows = words.windows(3).filter(|row| row[2] == name);
    let row = rows.find(|row| row[1].parse::<f64>().is_ok())?;
    let option = row[0].strip_prefix('-').map(|_| format!("{} ", row[0]));
    Some(format!("{}{}{unit}", option.unwrap_or_default(), row[1]))
}

/// Refuses to read standard input twice.
fn refuse_reading_twice(names: &[String]) -> Result<(), CliError> {
    if names.iter().filter(|name| *name == STDIN).count() < 2 {
        return Ok(());
    }
    let help = "name the others as files".to_owned();
    let message = "standard input (`-`) can be read only once";
    Err(CliError::new(Exit::Usage, message, Some(help)))
}

/// Workloads found by a name or in a file.
pub(crate) struct FoundWorkloads {
    pub workloads: Vec<Workload>,
    /// Warnings for the user.
    pub warnings: Vec<Diagnostic>,
    /// Parts that are lost when the workloads are written as a file.
    pub omitted: Vec<Diagnostic>,
    /// Additional text for `check`; usually empty.
    pub check_text: String,
}

impl FoundWorkloads {
    /// Loads a built-in workload.
    pub(crate) fn builtin(name: &str) -> Result<Self, Diagnostic> {
        Ok(Self {
            workloads: load_builtin(name)?,
            warnings: Vec::new(),
            omitted: Vec::new(),
            check_text: String::new(),
        })
    }
}

/// Loads a file of that name, or else a built-in workload; `-` is standard input.
pub(crate) fn find(name: &str, options: LoadOptions) -> Result<FoundWorkloads, CliError> {
    if name == STDIN {
        return loaded(STDIN_NAME, &read_stdin()?, options);
    }
    let path = Path::new(name);
    // A file may have a name such as `a=b`, so an existing file takes precedence.
    if let Some(tip) = of_workload(name).filter(|_| !path.exists()) {
        let message = format!("there is no workload `{}`", printable(name));
        let help = match in_full(&command_words()) {
            Some(all) => format!("{tip}; {all}"),
            None => tip,
        };
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    refuse_detached_unit(name)?;
    let is_path = name.contains('/') || path.extension().is_some();
    if !is_path && !path.is_file() {
        let builtin = FoundWorkloads::builtin(name);
        return match builtin.is_err() {
            true if path.is_dir() => Err(target_given_as_workload(path)),
            true if is_stored_run(name) => Err(stored_run_given_as_workload(name)),
            true if is_emulated(name) => Err(emulated(name)),
            _ => Ok(builtin?),
        };
    }
    loaded(name, &read(path)?, options)
}

/// Parses the contents of a file according to its type.
pub(crate) fn loaded(
    name: &str,
    bytes: &[u8],
    options: LoadOptions,
) -> Result<FoundWorkloads, CliError> {
    let bounds = bounds()?;
    // The file may have changed after `serve` checked the text and queued the run.
    if bounds.as_ref().is_some_and(|it| !it.is_given(bytes)) {
        let message = format!("`{}` is not the file that was checked", printable(name));
        return Err(CliError::new(Exit::Usage, message, None));
    }
    let facts = storage::system_facts(&[], None);
    let offered = bounds.as_ref().map(Bounds::files);
    let file = FrontFile {
        context: CommandLine {
            files: offered
                .as_ref()
                .map_or_else(FileAccess::anywhere, FileAccess::beneath),
            memory_bytes: facts.memory_bytes,
            cpu_count: facts.cpu_count.into(),
            has_ranks: false,
            ..CommandLine::of(&[])
        },
        options,
        ..FrontFile::new(name, bytes)
    };
    let work = front::load(&file)?;
    let mut warnings = work.remarks(name);
    let is_refused = |remark: &Diagnostic| remark.severity == Severity::Error;
    match warnings.iter().position(is_refused) {
        Some(index) => Err(warnings.swap_remove(index).into()),
        None => Ok(FoundWorkloads {
            omitted: work.left_out(name),
            workloads: work.cells,
            warnings,
            check_text: work.check_text,
        }),
    }
}

/// Reads a workload file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let name = path.display();
    let failed = |source: std::io::Error| {
        let help = match source.kind() {
            std::io::ErrorKind::NotFound => detached_output(&name.to_string(), &command_words())
                .or_else(|| {
                    Some("check the path, or choose a workload from `pgmeter list`".to_owned())
                }),
            _ => None,
        };
        CliError::new(Exit::Usage, format!("cannot read `{name}`: {source}"), help)
    };
    // Opening a pipe without a writer would block.
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path).map_err(failed)?;
    // Another file could replace the path before the read, so the open file is examined.
    let metadata = file.metadata().map_err(failed)?;
    if !metadata.is_file() {
        return Err(target_given_as_workload(path));
    }
    let bytes = read_whole(file).map_err(failed)?;
    bytes.ok_or_else(|| {
        let message = format!(
            "`{name}` has {} bytes, but a workload file has at most {FILE_BYTES_MAX}",
            metadata.len()
        );
        let help = Some("name a workload file".to_owned());
        CliError::new(Exit::Usage, message, help)
    })
}

/// Refuses a target that is given as a workload.
fn target_given_as_workload(path: &Path) -> CliError {
    let name = path.display();
    let kind = std::fs::metadata(path).map(|found| found.file_type());
    let (what, is_target) = match kind {
        Ok(kind) if kind.is_dir() => ("a directory", true),
        Ok(kind) if kind.is_block_device() => ("a block device", true),
        _ => ("a special file", false),
    };
    let help = match is_target {
        true => format!("to measure it, write `--target {name}`"),
        false => "name a workload file".to_owned(),
    };
    let message = format!("`{name}` is {what}, not a workload");
    CliError::new(Exit::Usage, message, Some(help))
}

/// Returns `true` if a name can only mean a stored run. Ids begin with a date.
fn is_stored_run(name: &str) -> bool {
    let digits = name.chars().take_while(char::is_ascii_digit).count();
    names_a_run(name) && (digits == 0 || digits >= 8)
}

/// Returns `true` for the name of a program that pgmeter emulates.
fn is_emulated(name: &str) -> bool {
    front::find(name).is_some() || front::find_console(name).is_some()
}

/// Refuses a program that is given as a workload.
fn emulated(name: &str) -> CliError {
    let message = format!("`{name}` is a program, not a workload");
    let help = format!("`pgmeter as {name}` emulates it, with its own options");
    CliError::new(Exit::Usage, message, Some(help))
}

/// Refuses a stored run that is given as a workload.
fn stored_run_given_as_workload(name: &str) -> CliError {
    let name = printable(name);
    let message = format!("`{name}` names a stored run, not a workload");
    let help = format!(
        "to run its workload again, write `pgmeter runs export {name} | jq -r .workload_file > \
         again.toml`, then `pgmeter run again.toml`"
    );
    CliError::new(Exit::Usage, message, Some(help))
}

/// Reads a workload from standard input.
fn read_stdin() -> Result<Vec<u8>, CliError> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        tell!("reading a workload from the terminal; end it with Ctrl-D on an empty line");
    }
    let bytes = read_whole(stdin.lock())
        .map_err(|error| CliError::system("cannot read standard input", &error))?;
    bytes.ok_or_else(|| {
        let message = format!(
            "standard input has more than {FILE_BYTES_MAX} bytes, the most a workload file may have"
        );
        let help = Some("give it a workload file".to_owned());
        CliError::new(Exit::Usage, message, help)
    })
}

/// Reads all bytes; `None` if there are more than a workload file may have.
fn read_whole(from: impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    // One byte more than allowed shows that the input is too long, without reading all of it.
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}

pub(crate) fn overrides(args: &WorkloadOptions) -> Result<Overrides, CliError> {
    let mut overrides = Overrides::new();
    if let Some(bounds) = bounds()? {
        // A user of the page must not reach through this machine into its network.
        overrides.allow_peers(bounds.peers().to_vec());
    }
    for (key, value) in args.keys() {
        let set = overrides.set(key, &value);
        set.map_err(|error| with_unit(with_options_in_help(error, |it| it == key), key, &value))?;
    }
    for pair in &args.set {
        overrides.set_pair(pair)?;
    }
    if !args.target.is_empty() {
        let text = |path: &std::path::PathBuf| match path.to_str() {
            Some(text) => Ok(text.to_owned()),
            None => {
                let message = format!("the target `{}` is not UTF-8 text", path.display());
                let help = Some("use a path that is UTF-8".to_owned());
                Err(CliError::new(Exit::Usage, message, help))
            }
        };
        overrides.set_targets(args.target.iter().map(text).collect::<Result<_, _>>()?);
    }
    Ok(overrides)
}

/// Adds the `x` that a multiple needs to the help of an error about `--precondition`.
fn with_unit(mut error: Diagnostic, key: &str, value: &str) -> Diagnostic {
    if key == "precondition"
        && error.help.is_none()
        && value.parse::<f64>().is_ok_and(|it| it > 0.0)
    {
        error.help = Some(format!("write `--precondition {value}x`"));
    }
    error
}

/// Rewrites the help of an error that has no location in a file: it then shows options instead of
/// keys. This covers all keys with a value, and the keys that were given as options.
pub(crate) fn with_options_in_help(
    mut error: Diagnostic,
    is_given: impl Fn(&str) -> bool,
) -> Diagnostic {
    if error.file.is_empty() {
        let help = error.help.take();
        error.help = help.map(|help| {
            let pieces = help.split('`').enumerate();
            let parts = pieces.map(|(index, part)| match index % 2 {
                1 => as_option(part, &is_given).unwrap_or_else(|| part.to_owned()),
                _ => part.to_owned(),
            });
            parts.collect::<Vec<_>>().join("`")
        });
    }
    error
}

/// Returns the option of `run` for text such as `rate = "20k/s"`, or for a key that was given.
fn as_option(text: &str, is_given: impl Fn(&str) -> bool) -> Option<String> {
    let (key, value) = match text.split_once(" = ") {
        Some((key, value)) => (key, Some(value)),
        None => (text, None),
    };
    let name = key.replace('_', "-");
    let command = Cli::command();
    let mut options = command.find_subcommand("run")?.get_arguments();
    let is_option = options.any(|it| it.get_long() == Some(&name));
    match value {
        _ if !is_option => None,
        None => is_given(key).then(|| format!("--{name}")),
        Some("true") => Some(format!("--{name}")),
        // Lists and tables are written differently on the command line.
        Some(value) if value.starts_with(['[', '{']) => None,
        Some(value) => Some(format!("--{name} {}", value.trim_matches('"'))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_for_the_command_line_names_options() {
        for (help, wanted) in [
            (
                "write `rate = \"20k/s\"` or `curve = true`, or leave `arrivals` out",
                "write `--rate 20k/s` or `--curve`, or leave `--arrivals` out",
            ),
            ("leave `rate` out", "leave `rate` out"),
            ("write `precision = \"2%\"`", "write `--precision 2%`"),
            ("write `loops = 1`", "write `loops = 1`"),
            ("write `rate = [1, 2]`", "write `rate = [1, 2]`"),
        ] {
            let is_given = |key: &str| key == "arrivals";
            let error = Diagnostic::error("", "x").help(help);
            let adapted = with_options_in_help(error.clone(), is_given).help;
            assert_eq!(adapted.as_deref(), Some(wanted));
            let in_file = Diagnostic::error("w.toml", "x").help(help);
            assert_eq!(
                with_options_in_help(in_file, is_given).help.as_deref(),
                Some(help)
            );
        }
    }

    #[test]
    fn help_adds_the_missing_unit_of_a_multiple() {
        let error = Diagnostic::error("", "x");
        let help = with_unit(error.clone(), "precondition", "2").help;
        assert_eq!(help.as_deref(), Some("write `--precondition 2x`"));
        assert_eq!(with_unit(error, "precondition", "twice").help, None);
    }
}
