//! smallfile 3.2: one operation on many small files by threads in separate directories.

mod document;
mod done;
mod operation;
mod options;
mod program;
mod response_times;
mod text;
mod yaml;

use std::path::{Component, Path, PathBuf};

use description::model::{ContentChoice, OwnHelps};

use crate::options::{all_of, escaped};
use crate::text::at_end_in_directories;
use crate::work::DifferenceKind;
use crate::work::{titled, writing};
use crate::{ArgumentError, CommandLine, Front, FrontWork, OriginalDifference};
use options::SmallfileOptions;

/// Front of smallfile 3.2.
pub const FRONT: Front = Front {
    name: "smallfile",
    aliases: &["smallfile_cli.py"],
    title: "Creates, reads, renames and removes small files with several threads",
    files_help: Front::FILES_IN_WORK_DIRECTORY,
    version: "smallfile 3.2",
    usage: include_str!("usage.txt"),
    arguments,
    general_differences: || {
        let refused = |(subject, note): &(&str, &str)| {
            OriginalDifference::new(DifferenceKind::Refused, *subject, *note)
        };
        REFUSED.iter().map(refused).collect()
    },
    file: None,
    ranks: None,
    without_direct: "",
    text: |origin| {
        at_end_in_directories(
            origin,
            SmallfileOptions::read,
            text::page,
            document::documents,
        )
    },
};

/// Options and values that are refused, and the reasons.
const REFUSED: [(&str, &str); 4] = [
    (
        "`--host-set` with another host",
        "all threads run on this host; `pgmeter run --hosts` measures on several hosts",
    ),
    (
        "`--launch-by-daemon Y`",
        "no processes are started that wait for work",
    ),
    (
        "`--record-ctime-size Y`",
        "it writes an extended attribute to each file",
    ),
    (
        "`--operation` swift-put, swift-get or await-create",
        "it works on what another program does to the same files",
    ),
];

/// Helps in the words of the original.
const OWN_HELPS: OwnHelps = OwnHelps(&[
    ("a `count`", "use a smaller `--files`"),
    ("`--workers ", "use a smaller `--threads`"),
]);

fn arguments(line: &CommandLine<'_>) -> Result<FrontWork, ArgumentError> {
    let words = yaml::expand_yaml(line.arguments, line.files)?;
    let options = SmallfileOptions::read(&words)?;
    all_of(options.top_directories().filter_map(top_flaw))?;
    options.check_hosts(line.host)?;
    let title = format!("smallfile {}", options.operation.name());
    let program = program::program(&options, line.host);
    let cell = writing(
        ContentChoice::Constant,
        titled("smallfile", &title, options.threads, program),
    );
    Ok(FrontWork {
        differences: differences(&options),
        directories: options.top_directories().map(PathBuf::from).collect(),
        text_input: words,
        own_helps: OWN_HELPS,
        ..FrontWork::new(vec![cell])
    })
}

/// Minimum length of a path of `--top` in characters. As in the original, a shorter path is likely
/// to be the top of a file system by mistake.
const TOP_LENGTH_MIN: usize = 6;

/// The reason why a directory of `--top` is refused.
fn top_flaw(directory: &str) -> Option<String> {
    let absolute = std::path::absolute(directory);
    let mut top = PathBuf::new();
    for part in absolute
        .as_deref()
        .unwrap_or(Path::new(directory))
        .components()
    {
        match part {
            Component::ParentDir => {
                top.pop();
            }
            part => top.push(part),
        }
    }
    (top.as_os_str().len() < TOP_LENGTH_MIN).then(|| {
        let shown = escaped(directory);
        format!(
            "the path of `--top {shown}` has fewer than {TOP_LENGTH_MIN} characters, so it may be \
             the top of a file system; name a directory below it"
        )
    })
}

fn differences(options: &SmallfileOptions) -> Vec<OriginalDifference> {
    let created = "created before the measurement, and removed at the end";
    let drawn = "the same distribution, from another random generator";
    let in_turn = "each thread keeps all of its files in one of them";
    let those = [
        (
            options.top_directories().count() > 1,
            "directories of `--top`",
            in_turn,
        ),
        (true, "threads", "they are threads, not processes"),
        (!options.operation.makes(), "files of earlier runs", created),
        (options.is_exponential, "sizes of files", drawn),
        (
            options.hosts.is_some(),
            "hosts of `--host-set`",
            "no other process is started, because only this host can be named",
        ),
        (
            options.operation.name() == "getxattr",
            "getxattr",
            "the files are opened and closed, the attributes are set before the measurement, and \
             their values are not compared",
        ),
        (
            options.operation.lists(),
            "names in a directory",
            "not compared with the files",
        ),
    ];
    OriginalDifference::applicable(&those, &options.without_effect)
}

#[cfg(test)]
mod tests;
