//! Loads workload files in TOML and built-in workloads; each loaded workload is complete.

use std::path::Path;

use crate::builtin;
use crate::check::check_whole;
use crate::flaw::ValueError;
use crate::model::Workload;
use crate::model::job::waves;
use crate::native::{WorkloadText, read_toml};
use crate::resolve::resolve;
use plan::Diagnostic;

/// File name shown for standard input.
pub const STDIN_NAME: &str = "<stdin>";

/// Loads a workload file in TOML: the workload, or the parts of a pack, each of them complete.
///
/// `file` is its name in messages, and the name of workloads that do not have one.
///
/// # Errors
/// The first error in the file, with its position.
pub fn load(file: &str, text: &str) -> Result<Vec<Workload>, Diagnostic> {
    // Editors on Windows put a byte order mark first; offsets count from after it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let page = WorkloadText { file, text };
    let written = read_toml(file, text)?;
    let is_pack = !written.part.is_empty();
    let pack = is_pack.then(|| written.name.clone().unwrap_or_else(|| file_stem(file)));
    let mut workloads = resolve(written).map_err(|flaw| page.flaw(&flaw))?;
    for workload in &mut workloads {
        workload.pack.clone_from(&pack);
    }
    for (index, workload) in workloads.iter().enumerate() {
        let checked = check_whole(workload).and_then(|()| has_work(workload));
        checked.map_err(|flaw| {
            // A key that the part does not have comes from the pack or from its base.
            page.flaw(&if is_pack {
                flaw.within("part", index)
            } else {
                flaw
            })
        })?;
    }
    // After the checks, so that their messages count the jobs of the whole file.
    let mut workloads = split_into_waves(workloads, file);
    for workload in &mut workloads {
        name_after(workload, file);
    }
    Ok(workloads)
}

/// Loads a built-in workload.
///
/// # Errors
/// If there is none of this name; the help has the nearest name.
pub fn load_builtin(name: &str) -> Result<Vec<Workload>, Diagnostic> {
    let builtin = builtin::find(name)?;
    load(builtin.name, builtin.text)
}

/// Makes each wave of jobs a separate workload.
fn split_into_waves(workloads: Vec<Workload>, file: &str) -> Vec<Workload> {
    let own = workloads.into_iter().flat_map(|mut workload| {
        if !workload.job.is_empty() {
            // The names of waves are this name and a number.
            workload.name.get_or_insert_with(|| file_stem(file));
        }
        waves(workload)
    });
    own.collect()
}

fn has_work(workload: &Workload) -> Result<(), ValueError> {
    // An Iometer configuration may define no work; planning refuses to run it.
    let has_files = workload.needs_directory();
    if has_files || !workload.access_spec.is_empty() || workload.iometer.is_some() {
        return Ok(());
    }
    let message = match &workload.name {
        Some(name) => format!("`{name}` has no access specification, so there is nothing to run"),
        None => "there is no access specification, so there is nothing to run".to_owned(),
    };
    Err(ValueError::new(
        "access_spec",
        message,
        "add an `[[access_spec]]`, or `use` a built-in workload",
    ))
}

/// Name of a workload without a name: its file's name without the extension.
#[must_use]
pub fn file_stem(file: &str) -> String {
    if file == STDIN_NAME {
        return "stdin".to_owned();
    }
    let stem = Path::new(file).file_stem();
    stem.map_or_else(
        || "workload".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

/// Sets the name and the source of a workload from its file's name, if it does not have them.
pub fn name_after(workload: &mut Workload, file: &str) {
    workload.name.get_or_insert_with(|| file_stem(file));
    if file == STDIN_NAME {
        workload.source.get_or_insert("standard input".to_owned());
    }
    let file_name = Path::new(file).file_name();
    let file_name =
        file_name.map_or_else(|| file.to_owned(), |it| it.to_string_lossy().into_owned());
    workload.source.get_or_insert(file_name);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(file: &str, text: &str) -> String {
        load(file, text).unwrap_err().to_string()
    }

    #[test]
    fn a_file_without_work_is_refused() {
        assert_eq!(
            refusal("dir/w.toml", "iodepth = 3\n"),
            "error: there is no access specification, so there is nothing to run\n  \
             --> dir/w.toml\n\
             help: add an `[[access_spec]]`, or `use` a built-in workload"
        );
    }

    #[test]
    fn a_workload_without_a_name_is_named_after_its_file() {
        let loaded = load("dir/mine.toml", "use = \"oltp\"\nname = \"x\"\n").unwrap();
        assert_eq!(loaded[0].name.as_deref(), Some("x"));
        let text = "[[access_spec]]\n[[access_spec.line]]\nsize = 512\n";
        let loaded = load("dir/mine.toml", text).unwrap();
        assert_eq!(
            (loaded[0].name.as_deref(), loaded[0].source.as_deref()),
            (Some("mine"), Some("mine.toml"))
        );
    }

    #[test]
    fn use_must_name_an_existing_workload() {
        assert_eq!(
            refusal(
                "w.toml",
                "[[part]]\nuse = \"oltp\"\n[[part]]\nuse = \"webserver\"\n"
            ),
            "error: there is no built-in workload `webserver`\n  --> w.toml:4:7\n   \
             4 | use = \"webserver\"\nhelp: did you mean `web-server`?"
        );
        assert_eq!(
            refusal("w.toml", "use = \"quick\"\n"),
            "error: `quick` is a pack, which cannot be used as a part\n  --> w.toml:1:7\n   \
             1 | use = \"quick\"\nhelp: name one of its parts"
        );
    }
}
