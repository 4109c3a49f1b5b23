//! Checks filesets and ways: names must stay below the target, sizes must be possible.

use super::super::{
    Access, DIRECTORIES_MAX, DirectoryNesting, DirectoryTree, FILE_BYTES_MAX, FILES_MAX, FileNames,
    FilesetPlan, GROWN_FILES_MAX, Law, ListedFiles, NestedDirectories, OpenModePlan, Program,
    StampedNames, TreeGrowth,
};
use super::{InvalidProgram, ProgramStep, named};

const NAME_BYTES_MAX: usize = ListedFiles::NAME_BYTES_MAX;
/// Longest path below the target in bytes; leaves room for the target and the work directory within
/// the limit of Linux.
const PATH_BYTES_MAX: usize = 1024;
/// Maximum number of digits to which a number is padded.
const DIGITS_MAX: u32 = 20;

pub(super) fn check(program: &Program) -> Result<(), InvalidProgram> {
    for (index, fileset) in program.filesets.iter().enumerate() {
        let others = &program.filesets[..index];
        let checked = check_fileset(fileset)
            .and_then(|()| check_clash(fileset, others))
            .and_then(|()| check_other_tree(program, fileset));
        checked.map_err(|flaw| flaw.within(ProgramStep::Fileset(index)))?;
    }
    for (index, way) in program.ways.iter().enumerate() {
        check_way(way).map_err(|flaw| flaw.within(ProgramStep::OpenMode(index)))?;
    }
    Ok(())
}

fn check_fileset(fileset: &FilesetPlan) -> Result<(), InvalidProgram> {
    let name = &fileset.name;
    named(name, "fileset")?;
    if !(1..=FILES_MAX).contains(&fileset.count) {
        let message = format!(
            "the fileset `{name}` has {} names, not 1 to {FILES_MAX}",
            fileset.count
        );
        return Err(InvalidProgram::new(
            message,
            "write a `count` in that range",
        ));
    }
    if fileset.present_permille > 1000 {
        let message = format!("`present` of `{name}` is more than 100 %");
        return Err(InvalidProgram::new(
            message,
            "write `present = \"100%\"` or less",
        ));
    }
    check_tree(fileset)?;
    check_path(fileset)?;
    check_names(fileset)?;
    check_law(&fileset.size, &format!("the size of `{name}`"))?;
    match fileset
        .size
        .largest()
        .filter(|_| fileset.present_permille > 0)
    {
        None if fileset.present_permille > 0 => {
            let message = format!("files of `{name}` may have any size, however large");
            Err(InvalidProgram::new(message, "limit the size with `most`"))
        }
        Some(most) if most > FILE_BYTES_MAX => {
            let message =
                format!("files of `{name}` may have {most} bytes, more than {FILE_BYTES_MAX}");
            Err(InvalidProgram::new(message, "use a smaller size"))
        }
        None | Some(_) => Ok(()),
    }
}

fn check_tree(fileset: &FilesetPlan) -> Result<(), InvalidProgram> {
    if let FileNames::Ways(directories) = &fileset.names {
        check_nested(fileset, directories, fileset.count)?;
    }
    if let DirectoryTree::Nested { directories, .. } = &fileset.tree {
        check_nested(fileset, directories, fileset.directory_count())?;
    }
    let (count, most, key) = match &fileset.tree {
        DirectoryTree::Flat | DirectoryTree::DirectoriesOf { .. } => return Ok(()),
        DirectoryTree::Grown(growth) => return check_growth(fileset, growth),
        DirectoryTree::Turns { directories } => (*directories, DIRECTORIES_MAX, "directories"),
        DirectoryTree::Blocks { each } | DirectoryTree::Nested { each, .. } => {
            (*each, FILES_MAX, "files_per_directory")
        }
    };
    if (1..=most).contains(&count) {
        return Ok(());
    }
    let message = format!(
        "`{key}` of `{}` is {count}, not from 1 to {most}",
        fileset.name
    );
    let nearest = count.clamp(1, most);
    Err(InvalidProgram::new(
        message,
        format!("write `{key} = {nearest}`"),
    ))
}

fn check_stamped(fileset: &FilesetPlan, names: &StampedNames) -> Result<(), InvalidProgram> {
    let length = names.length.max(names.random_length);
    if length as usize <= NAME_BYTES_MAX && names.directories <= DIRECTORIES_MAX {
        return Ok(());
    }
    let message = format!("names of `{}` are too long", fileset.name);
    Err(InvalidProgram::new(message, "use shorter names"))
}

/// Checks nested directories: each must have a number, and their paths must not be too long.
fn check_nested(
    fileset: &FilesetPlan,
    directories: &NestedDirectories,
    count: u32,
) -> Result<(), InvalidProgram> {
    let name = &fileset.name;
    let least = match directories.nesting {
        DirectoryNesting::Digits => 2,
        DirectoryNesting::Heap => 1,
    };
    if directories.fan < least {
        let message = format!("a directory of `{name}` has {} others", directories.fan);
        return Err(InvalidProgram::new(
            message,
            format!("use at least {least}"),
        ));
    }
    if count > DIRECTORIES_MAX {
        let message = format!("`{name}` has {count} directories, more than {DIRECTORIES_MAX}");
        return Err(InvalidProgram::new(message, "use fewer directories"));
    }
    let before = &directories.before;
    if before.contains('/') || before.chars().any(char::is_control) {
        let message = format!("directories of `{name}` have names with a slash in them");
        return Err(InvalidProgram::new(message, "use plain names"));
    }
    Ok(())
}

fn check_growth(fileset: &FilesetPlan, growth: &TreeGrowth) -> Result<(), InvalidProgram> {
    let name = &fileset.name;
    check_law(
        &growth.width,
        &format!("the width of directories of `{name}`"),
    )?;
    if fileset.count <= GROWN_FILES_MAX {
        return Ok(());
    }
    let message = format!(
        "the fileset `{name}` has {} names in a grown tree, more than {GROWN_FILES_MAX}",
        fileset.count
    );
    Err(InvalidProgram::new(message, "use fewer files"))
}

/// Checks that the fileset whose directories are listed has a grown tree.
fn check_other_tree(program: &Program, fileset: &FilesetPlan) -> Result<(), InvalidProgram> {
    let DirectoryTree::DirectoriesOf { fileset: other } = fileset.tree else {
        return Ok(());
    };
    let other = program.filesets.get(usize::from(other));
    let is_grown = other.is_some_and(|it| matches!(it.tree, DirectoryTree::Grown(_)));
    match is_grown && fileset.present_permille == 0 {
        true => Ok(()),
        false => {
            let message = format!("`{}` lists directories that do not exist", fileset.name);
            Err(InvalidProgram::new(
                message,
                "name a fileset whose tree grows",
            ))
        }
    }
}

/// Checks a path below the target: each component must be a plain name.
fn check_path(fileset: &FilesetPlan) -> Result<(), InvalidProgram> {
    let path = &fileset.path;
    let shown = crate::printable(path);
    let refuse = |why: &str| {
        let message = format!("the path `{shown}` of `{}` {why}", fileset.name);
        Err(InvalidProgram::new(
            message,
            "name a directory below the target, such as `mail/new`",
        ))
    };
    if path.is_empty() {
        return Ok(());
    }
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        return refuse("leads out of the target");
    }
    if path.split('/').any(|part| part.is_empty() || part == ".") {
        return refuse("has a part without a name");
    }
    if path.chars().any(char::is_control) {
        return refuse("has a control character");
    }
    let is_long = path.split('/').any(|part| part.len() > NAME_BYTES_MAX);
    if is_long || path.len() > PATH_BYTES_MAX {
        return refuse("is longer than Linux takes");
    }
    Ok(())
}

/// Checks listed names: they must be plain, and one per file.
fn check_list(fileset: &FilesetPlan, files: &ListedFiles) -> Result<(), InvalidProgram> {
    let count = fileset.count as usize;
    // Without listed sizes, the law of the fileset gives them.
    let has_all = files.names.len() == count && [0, count].contains(&files.sizes.len());
    if has_all && files.are_plain() {
        return Ok(());
    }
    let message = format!("names of `{}` are not {count} plain names", fileset.name);
    Err(InvalidProgram::new(
        message,
        "list each name, without a slash",
    ))
}

fn check_names(fileset: &FilesetPlan) -> Result<(), InvalidProgram> {
    if let FileNames::Listed(files) = &fileset.names {
        return check_list(fileset, files);
    }
    match &fileset.names {
        FileNames::Ways(_) | FileNames::Words => return Ok(()),
        FileNames::Stamped(names) => return check_stamped(fileset, names),
        FileNames::Hashed(names) if names.each == 0 || names.fan < 2 => {
            let message = format!(
                "hashed directories of `{}` have {} files and {} directories",
                fileset.name, names.each, names.fan
            );
            let help = "use at least 1 file and 2 directories";
            return Err(InvalidProgram::new(message, help));
        }
        FileNames::Low { each: 2.. } => return Ok(()),
        FileNames::Low { each } => {
            let message = format!("directories of `{}` have {each} entries", fileset.name);
            return Err(InvalidProgram::new(message, "use at least 2"));
        }
        _ => {}
    }
    let (before, digits, after) = fileset.names.parts();
    let refuse = |why: &str| {
        let message = format!("names of `{}` {why}", fileset.name);
        Err(InvalidProgram::new(
            message,
            "write `names` such as `msg-{number}`",
        ))
    };
    let texts = [before, after];
    if texts.iter().any(|text| text.contains('/')) {
        return refuse("contain a slash, which separates directories");
    }
    if texts.iter().any(|text| text.chars().any(char::is_control)) {
        return refuse("have a control character");
    }
    let last = fileset.names.first().saturating_add(fileset.count);
    // `ilog10` panics at 0, and 0 has one digit like 1.
    let needed = (last.max(1) - 1).max(1).ilog10() + 1;
    let digits = needed.max(digits.min(DIGITS_MAX)) as usize;
    if before.len() + digits + after.len() > NAME_BYTES_MAX {
        return refuse("are longer than 255 bytes");
    }
    Ok(())
}

/// Refuses two filesets with the same files.
fn check_clash(fileset: &FilesetPlan, others: &[FilesetPlan]) -> Result<(), InvalidProgram> {
    let other = others.iter().find(|it| it.name == fileset.name);
    if let Some(other) = other {
        let message = format!("there are two filesets `{}`", other.name);
        return Err(InvalidProgram::new(message, "name each fileset once"));
    }
    let is_same = |it: &&FilesetPlan| {
        it.path == fileset.path && it.names == fileset.names && it.copies == fileset.copies
    };
    let Some(other) = others.iter().find(is_same) else {
        return Ok(());
    };
    let message = format!(
        "`{}` and `{}` have the same names in the same directory",
        other.name, fileset.name
    );
    Err(InvalidProgram::new(
        message,
        "give one of them another `path` or other `names`",
    ))
}

fn check_way(mode: &OpenModePlan) -> Result<(), InvalidProgram> {
    if mode.permissions > 0o777 {
        let message = format!(
            "the permissions {:o} of the way `{}` are above 777",
            mode.permissions, mode.name
        );
        return Err(InvalidProgram::new(
            message,
            "write, for example, `permissions = \"644\"`",
        ));
    }
    let key = match mode {
        _ if mode.access != Access::Read => return Ok(()),
        OpenModePlan {
            is_appending: true, ..
        } => "append",
        OpenModePlan {
            is_truncating: true,
            ..
        } => "truncate",
        _ => return Ok(()),
    };
    let message = format!(
        "the way `{}` only reads, so `{key}` has no meaning",
        mode.name
    );
    Err(InvalidProgram::new(
        message,
        format!("leave `{key}` out, or write `access = \"write\"`"),
    ))
}

/// Checks that a law can be drawn from.
pub(super) fn check_law(law: &Law, subject: &str) -> Result<(), InvalidProgram> {
    let Some(flaw) = law.flaw() else {
        return Ok(());
    };
    let message = format!("{subject} cannot be drawn: {flaw}");
    Err(InvalidProgram::new(
        message,
        "write, for example, `{ uniform = [1, 8] }`",
    ))
}
