//! From arguments to workloads and overrides.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use description::source::{LoadOptions, Loaded, STDIN_NAME, load_builtin, load_with};
use description::{Overrides, Workload};
use front::{CommandLine, FILE_BYTES_MAX, FileAccess, FrontFile};
use plan::{Diagnostic, Severity};
use rustix::fs::OFlags;
use units::printable;
use web::Bounds;

use crate::args::{KindArg, WorkloadArgs, WorkloadOptions};
use crate::bounds::bounds;
use crate::failure::{Exit, Failure};
use crate::foreign::of_workload;
use crate::stored::names_a_run;

/// What stands for standard input in the place of a file.
const STDIN: &str = "-";

/// What the arguments ask for.
pub(crate) struct Input {
    pub workloads: Vec<Workload>,
    pub warnings: Vec<Diagnostic>,
    pub overrides: Overrides,
    /// What `check` tells besides; mostly nothing.
    pub about: String,
}

/// Reads all workloads that the arguments name, or builds the one that they say in one line; the
/// pack `quick` where they do neither.
pub(crate) fn input(args: &WorkloadArgs) -> Result<Input, Failure> {
    if let Some(workload) = one_line(args)? {
        return Ok(Input {
            workloads: vec![workload],
            warnings: Vec::new(),
            overrides: overrides(&args.options)?,
            about: String::new(),
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
        kind: args.options.kind.and_then(KindArg::source),
        strict: args.options.strict,
        has_target: overrides.settle_targets(),
    };
    for name in names {
        let loaded = find(name, args.options.kind, &options)?;
        workloads.extend(loaded.workloads);
        warnings.extend(loaded.warnings);
        about.push_str(&loaded.about);
    }
    Ok(Input {
        workloads,
        warnings,
        overrides,
        about,
    })
}

/// The workload that the arguments say in one line, if they do.
fn one_line(args: &WorkloadArgs) -> Result<Option<Workload>, Failure> {
    let words = args.one_line.words();
    if let (Some(option), Some(name)) = (words.first_option(), args.workloads.first()) {
        let name = printable(name);
        let message = format!("`{option}` describes a workload, and `{name}` names another");
        let help = format!(
            "leave out `{name}`, or change it with `--set KEY=VALUE` instead of \
                     `{option}`"
        );
        return Err(Failure::new(Exit::Usage, message, Some(help)));
    }
    Ok(words.workload()?)
}

/// Standard input has one end.
fn refuse_reading_twice(names: &[String]) -> Result<(), Failure> {
    if names.iter().filter(|name| *name == STDIN).count() < 2 {
        return Ok(());
    }
    let help = "name the others as files".to_owned();
    let message = "standard input (`-`) can be read only once";
    Err(Failure::new(Exit::Usage, message, Some(help)))
}

/// What a name or a file stands for.
pub(crate) struct Found {
    pub workloads: Vec<Workload>,
    /// What the reader should know.
    pub warnings: Vec<Diagnostic>,
    /// What a workload file written of it leaves out.
    pub left_out: Vec<Diagnostic>,
    /// What `check` tells besides; mostly nothing.
    pub about: String,
}

impl From<Loaded> for Found {
    fn from(loaded: Loaded) -> Self {
        Self {
            workloads: loaded.workloads,
            warnings: loaded.warnings,
            left_out: Vec::new(),
            about: String::new(),
        }
    }
}

/// A file, if there is one of that name, else a built-in workload; `-` is standard input.
pub(crate) fn find(
    name: &str,
    kind: Option<KindArg>,
    options: &LoadOptions,
) -> Result<Found, Failure> {
    if name == STDIN {
        return loaded(STDIN_NAME, &read_stdin()?, kind, options);
    }
    let path = Path::new(name);
    if let Some(tip) = of_workload(name).filter(|_| !path.exists()) {
        let message = format!("there is no workload `{}`", printable(name));
        return Err(Failure::new(Exit::Usage, message, Some(tip)));
    }
    let is_path = name.contains('/') || path.extension().is_some();
    if !is_path && !path.is_file() {
        let builtin = load_builtin(name);
        return match builtin.is_err() {
            true if path.is_dir() => Err(not_a_file(path)),
            true if is_stored_run(name) => Err(stored_run(name)),
            _ => Ok(builtin?.into()),
        };
    }
    loaded(name, &read(path)?, kind, options)
}

/// What a file stands for: another program's, which its content tells, or one of our kinds.
pub(crate) fn loaded(
    name: &str,
    bytes: &[u8],
    kind: Option<KindArg>,
    options: &LoadOptions,
) -> Result<Found, Failure> {
    let bounds = bounds()?;
    if bounds.as_ref().is_some_and(|it| !it.is_given(bytes)) {
        let message = format!("`{}` is not the file that was checked", printable(name));
        return Err(Failure::new(Exit::Usage, message, None));
    }
    let of_front = match kind {
        Some(kind) => kind.front(),
        None => front::detect(name, bytes),
    };
    let Some((front, reader)) = of_front else {
        return Ok(load_with(name, bytes, options)?.into());
    };
    let facts = target::system_facts(&[], None);
    let offered = bounds.as_ref().map(Bounds::files);
    let file = FrontFile {
        around: CommandLine {
            files: offered
                .as_ref()
                .map_or_else(FileAccess::anywhere, FileAccess::beneath),
            memory_bytes: facts.memory_bytes,
            cpu_count: facts.cpu_count.into(),
            has_ranks: false,
            ..CommandLine::of(&[])
        },
        ..FrontFile::new(name, bytes)
    };
    let work = front.read(reader, &file)?;
    let mut warnings = work.remarks(name);
    let is_refused = |remark: &Diagnostic| remark.severity == Severity::Error;
    match warnings.iter().position(is_refused) {
        Some(index) => Err(warnings.swap_remove(index).into()),
        None => Ok(Found {
            left_out: work.left_out(name),
            workloads: work.cells,
            warnings,
            about: work.about,
        }),
    }
}

/// The bytes of a workload file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let name = path.display();
    let failed = |source: std::io::Error| {
        let help = match source.kind() {
            std::io::ErrorKind::NotFound => {
                Some("check the path, or choose a workload from `pgmeter list`".to_owned())
            }
            _ => None,
        };
        Failure::new(Exit::Usage, format!("cannot read `{name}`: {source}"), help)
    };
    // A pipe that nobody writes to is not waited for.
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32);
    let file = options.open(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        return Err(not_a_file(path));
    }
    let bytes = read_whole(file).map_err(failed)?;
    bytes.ok_or_else(|| {
        let message = format!(
            "`{name}` has {} bytes, but a workload file has at most {FILE_BYTES_MAX}",
            found.len()
        );
        let help = Some("name a workload file".to_owned());
        Failure::new(Exit::Usage, message, help)
    })
}

/// A target in the place of a workload.
fn not_a_file(path: &Path) -> Failure {
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
    Failure::new(Exit::Usage, message, Some(help))
}

/// Whether a name can only be meant for a stored run: ids begin with the date.
fn is_stored_run(name: &str) -> bool {
    let digits = name.chars().take_while(char::is_ascii_digit).count();
    names_a_run(name) && (digits == 0 || digits >= 8)
}

/// A stored run in the place of a workload.
fn stored_run(name: &str) -> Failure {
    let name = printable(name);
    let message = format!("`{name}` names a stored run, not a workload");
    let help = format!("`pgmeter show {name}` prints its report");
    Failure::new(Exit::Usage, message, Some(help))
}

/// The workload on standard input.
fn read_stdin() -> Result<Vec<u8>, Failure> {
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        tell!("reading a workload from the terminal; end it with Ctrl-D on a line of its own");
    }
    let bytes = read_whole(stdin.lock())
        .map_err(|error| Failure::system("cannot read standard input", &error))?;
    bytes.ok_or_else(|| {
        let message = format!(
            "standard input has more than {FILE_BYTES_MAX} bytes, the most a workload file may have"
        );
        let help = Some("give it a workload file".to_owned());
        Failure::new(Exit::Usage, message, help)
    })
}

/// All bytes; none where there are more than a workload file has.
fn read_whole(from: impl Read) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    from.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= FILE_BYTES_MAX).then_some(bytes))
}

fn overrides(args: &WorkloadOptions) -> Result<Overrides, Failure> {
    let mut overrides = Overrides::new();
    if std::env::var_os(web::NO_PEERS).is_some() {
        overrides.refuse_peers();
    }
    for (key, value) in args.keys() {
        let set = overrides.set(key, &value);
        set.map_err(|error| in_options(error, key))?;
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
                Err(Failure::new(Exit::Usage, message, help))
            }
        };
        overrides.set_targets(args.target.iter().map(text).collect::<Result<_, _>>()?);
    }
    Ok(overrides)
}

/// The error of an option, whose help writes the option and not the key that it sets.
fn in_options(mut error: Diagnostic, key: &str) -> Diagnostic {
    let option = format!("`--{} ", key.replace('_', "-"));
    let written = format!("`{key} = ");
    error.help = error.help.map(|help| help.replace(&written, &option));
    error
}
