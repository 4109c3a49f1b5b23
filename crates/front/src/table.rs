//! The tables of fronts and of workload files.

use plan::Diagnostic;

use crate::console::ConsoleFront;
use crate::file::{FileFront, FrontFile, NO_WORKLOAD_HELP};
use crate::front::Front;
use crate::others::other_format_error;
use crate::text::TableText;
use crate::work::FrontWork;
use crate::workload_file;
use crate::{
    bonnie, create_remove, dbench, filebench, fio, fs_mark, icf, io500, ior, iozone, lat_fs,
    mdtest, postmark, smallfile,
};

/// All fronts, sorted by name.
pub static FRONTS: &[Front] = &[
    bonnie::CLASSIC,
    bonnie::FRONT,
    dbench::FRONT,
    filebench::FRONT,
    fio::FRONT,
    fs_mark::FRONT,
    io500::FRONT,
    ior::FRONT,
    iozone::FRONT,
    lat_fs::FRONT,
    mdtest::FRONT,
    smallfile::FRONT,
];

/// All interactive fronts, sorted by name.
pub static CONSOLES: &[ConsoleFront] = &[postmark::CONSOLE];

/// Texts of cells that run a program's table.
pub static TABLE_TEXTS: &[TableText] = &[create_remove::TEXT, fs_mark::TEXT, lat_fs::TEXT];

/// Kinds of workload files without a front: pgmeter's own, and files of programs whose arguments
/// describe no work. If several kinds match a file, the last one applies.
static FILES: &[FileFront] = &[
    workload_file::TOML,
    workload_file::PACK,
    icf::FILE,
    postmark::SCRIPT,
];

/// Number of leading bytes that fronts look at to detect their files.
const DETECTED_BYTES_MAX: usize = 1 << 20;

/// The front with this name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static Front> {
    let is_it = |front: &&Front| front.name == name || front.aliases.contains(&name);
    FRONTS.iter().find(is_it)
}

/// The interactive front with this name.
#[must_use]
pub fn find_console(name: &str) -> Option<&'static ConsoleFront> {
    CONSOLES.iter().find(|front| front.name == name)
}

/// Workload files of the fronts.
fn files_of_fronts() -> impl Iterator<Item = &'static FileFront> {
    FRONTS.iter().filter_map(|front| front.file.as_ref())
}

/// All kinds of workload files.
pub fn file_kinds() -> impl Iterator<Item = &'static FileFront> {
    FILES.iter().chain(files_of_fronts())
}

/// The kind of a workload file, by its content, else by its name; `None` if it is binary.
#[must_use]
pub fn detect(name: &str, bytes: &[u8]) -> Option<&'static FileFront> {
    let begin = &bytes[..bytes.len().min(DETECTED_BYTES_MAX)];
    let is_of_name = |file: &FileFront| file.extensions.iter().any(|it| name.ends_with(it));
    files_of_fronts()
        .find(|file| (file.detect)(begin))
        .or_else(|| file_kinds().find(|file| is_of_name(file)))
        // In reverse, since the first kind, TOML, accepts any text.
        // These kinds get all bytes: a cut could split a character, and a text would look binary.
        .or_else(|| FILES.iter().rev().find(|file| (file.detect)(bytes)))
}

/// Reads a workload file.
///
/// # Errors
/// The first mistake in the file, with its position.
pub fn load(file: &FrontFile<'_>) -> Result<FrontWork, Diagnostic> {
    if let Some(kind) = file.options.kind {
        return kind.read(file);
    }
    let Some(kind) = detect(file.name, file.bytes) else {
        let error = Diagnostic::error(file.name, "the file is binary, not a workload");
        return Err(error.help(NO_WORKLOAD_HELP));
    };
    let read = kind.read(file);
    // Another program is only named after an error, so a readable file is never rejected.
    read.map_err(|error| {
        let other = other_format_error(file.name, file.bytes);
        other.or_else(|| unknown_text(file, kind)).unwrap_or(error)
    })
}

/// The error about a text that is of no kind, and was read as TOML only because TOML accepts any.
fn unknown_text(file: &FrontFile<'_>, kind: &FileFront) -> Option<Diagnostic> {
    let own = [workload_file::TOML.name, workload_file::PACK.name];
    let others = file_kinds().filter(|kind| !own.contains(&kind.name));
    let others: Vec<&str> = others.map(|kind| kind.kind).collect();
    let is_own = own.contains(&kind.name);
    is_own.then(|| workload_file::other_text_error(file, &others))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_only_options_that_the_program_has() {
        let direct = "add `--cache buffered`";
        for front in FRONTS {
            let help = front.adapt_help(direct);
            assert_ne!(help, direct, "{}", front.name);
            let device = front.adapt_help("add `--overwrite-device /dev/vdb`");
            assert!(device.starts_with("with `pgmeter run`, "), "{}", front.name);
            assert_eq!(front.adapt_help("use a smaller size"), "use a smaller size");
            let directory = front.adapt_help("name a directory with `--target`");
            assert!(directory.starts_with("name a directory"), "{directory}");
            assert_eq!(
                front.adapt_help("use fewer, or another `--target`"),
                "use fewer"
            );
            assert_eq!(
                front.adapt_help("name one target, or write `copies = \"per-worker\"`"),
                "name one target"
            );
            let engine = front.adapt_help("write `engine = \"psync\"`");
            assert!(engine.starts_with("in a workload file of pgmeter, "));
        }
        let fio = find("fio").unwrap();
        assert!(fio.adapt_help(direct).contains("`direct=0`"));
    }

    #[test]
    fn the_whole_usage_is_printed_only_on_request() {
        let front = find("iozone").unwrap();
        let usage = |message: &str| front.refusal(message.to_owned()).usage;
        assert_eq!(usage("`-r 4kb` is not a size; write `-r 4k`"), "");
        let lines = usage("`-j ten` is not a number");
        assert_eq!(lines, "  -j N           stride in records (17)\n");
        assert_eq!(usage(""), front.usage);
    }

    #[test]
    fn front_names_are_unique_and_sorted() {
        assert!(FRONTS.is_sorted_by(|one, next| one.name < next.name));
        for front in FRONTS {
            for name in [front.name].iter().chain(front.aliases) {
                assert!(std::ptr::eq(find(name).unwrap(), front), "{name}");
            }
            assert!(front.usage.ends_with('\n') && !front.title.ends_with('.'));
        }
        assert!(find("no such program").is_none());
        for front in CONSOLES {
            assert!(std::ptr::eq(find_console(front.name).unwrap(), front));
            assert!(find(front.name).is_none());
            assert!(front.usage.ends_with('\n') && !front.title.ends_with('.'));
        }
    }
}
