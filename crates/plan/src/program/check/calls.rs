//! Checks single calls: their objects, the files they pick, their amounts.

use units::Bytes as Size;

use super::super::{
    Act, Call, CallObject, CallPosition, DirectoryTree, FileFilter, FileOperation, FilePath, Law,
    MovedBytes, PIECE_BYTES_MAX, Pick, PickOrder, Program, REGISTERS_MAX,
};
use super::filesets::check_law;
use super::{InvalidProgram, ProgramStep, check_each_act, check_each_group, check_label};
use crate::Distribution;

/// Maximum number of bytes of an extended attribute's value: `XATTR_SIZE_MAX` of Linux.
const ATTRIBUTE_BYTES_MAX: u64 = 64 << 10;

/// Maximum number of bytes of one call.
const CALL_BYTES_MAX: u64 = 1 << 40;

/// Largest skew of `zipf`.
const ZIPF_MAX: f64 = 100.0;

pub(super) fn check(program: &Program, call: &Call) -> Result<(), InvalidProgram> {
    check_numbers(program, call)?;
    check_object(call)?;
    if program.filesets.is_empty() {
        let message = format!(
            "there is no fileset, so `{}` has no target",
            call.operation.name()
        );
        return Err(InvalidProgram::new(message, "add a `[[fileset]]`"));
    }
    match (&call.second, call.operation.has_second_name()) {
        (Some(second), true) => check_second(program, call, second)?,
        (None, false) => {}
        (None, true) => {
            let message = format!("`{}` needs a second name", call.operation.name());
            return Err(InvalidProgram::new(
                message,
                "write the fileset of it as `to`",
            ));
        }
        (Some(_), false) => {
            let message = format!("`{}` takes no second name", call.operation.name());
            return Err(InvalidProgram::new(message, "leave `to` out"));
        }
    }
    if let CallObject::Name(pick) = &call.on {
        check_pick(program, pick)?;
        check_listed(program, call.operation, pick)?;
        check_which(program, call.operation, pick)?;
    }
    if call.operation.moves() || call.operation == FileOperation::Truncate {
        check_bytes(program, call)?;
    }
    if call.operation.has_attribute() {
        check_attribute(program, call)?;
    }
    check_place(call)
}

fn check_attribute(program: &Program, call: &Call) -> Result<(), InvalidProgram> {
    let verb = call.operation.name();
    if usize::from(call.attribute) >= program.attributes.len() {
        let message = format!("`{verb}` names no attribute");
        let help = "write `attribute = \"user.comment\"`";
        return Err(InvalidProgram::new(message, help));
    }
    match &call.bytes {
        MovedBytes::Law(law) => check_law(law, &format!("what `{verb}` passes"))?,
        _ => {
            let message = format!("`{verb}` has no size");
            return Err(InvalidProgram::new(message, "write a size, such as `64`"));
        }
    }
    let fits = |law: &Law| law.largest().is_some_and(|it| it <= ATTRIBUTE_BYTES_MAX);
    if matches!(&call.bytes, MovedBytes::Law(law) if fits(law)) {
        return Ok(());
    }
    let most = Size(ATTRIBUTE_BYTES_MAX);
    let message = format!("the value of `{verb}` may have more than {most}");
    Err(InvalidProgram::new(message, "use a smaller size"))
}

/// Checks the name of an extended attribute.
pub(super) fn check_attribute_name(name: &str) -> Result<(), InvalidProgram> {
    // Other namespaces change how the kernel treats the file.
    let own = name.strip_prefix("user.");
    if own.is_some_and(|own| !own.is_empty()) && name.len() <= 255 && !name.contains('\0') {
        return Ok(());
    }
    let message = format!(
        "`{}` is not `user.` and a name, at most 255 bytes in all",
        crate::printable(name)
    );
    let help = "write `attribute = \"user.comment\"`";
    Err(InvalidProgram::new(message, help))
}

fn check_numbers(program: &Program, call: &Call) -> Result<(), InvalidProgram> {
    let other = match call.bytes {
        MovedBytes::SizeOf { handle } => handle,
        _ => 0,
    };
    if usize::from(call.handle.max(other)) >= REGISTERS_MAX {
        let message = format!("a group has more than {REGISTERS_MAX} handles");
        return Err(InvalidProgram::new(message, "use fewer handles"));
    }
    if usize::from(call.way) >= program.ways.len() {
        let message = format!("there is no way with the number {}", call.way);
        return Err(InvalidProgram::new(message, "add the way"));
    }
    call.label
        .map_or(Ok(()), |label| check_label(program, label))
}

/// Checks that the operation fits its object: a name or an open file.
fn check_object(call: &Call) -> Result<(), InvalidProgram> {
    use FileOperation as Op;
    let is_name = matches!(call.on, CallObject::Name(_) | CallObject::Same);
    let (fits, wanted) = match call.operation {
        Op::Close
        | Op::Read
        | Op::Write
        | Op::Fdatasync
        | Op::Truncate
        | Op::Lock
        | Op::LockShared
        | Op::Unlock
        | Op::Setxattr
        | Op::Getxattr => (call.on == CallObject::Handle, "an open file, `@`"),
        Op::Fsync => (
            matches!(call.on, CallObject::Handle | CallObject::Directory),
            "an open file, `@`, or `directory of @`",
        ),
        // `sync` applies to all file systems and names nothing.
        Op::Sync => (true, "nothing"),
        Op::Stat => (
            is_name || call.on == CallObject::Handle,
            "a fileset, or `@`",
        ),
        Op::Mkdir | Op::Rmdir => (
            is_name || call.on == CallObject::Directory,
            "a fileset, or `directory of @`",
        ),
        Op::List => (
            matches!(call.on, CallObject::Name(_) | CallObject::Directory),
            "a fileset, or `directory of @`",
        ),
        Op::Create | Op::Open | Op::Unlink | Op::Rename | Op::Link | Op::Symlink | Op::Chmod => {
            (is_name, "a fileset, or `@`")
        }
    };
    if fits {
        return Ok(());
    }
    let verb = call.operation.name();
    let message = format!("`{verb}` cannot be applied to this");
    Err(InvalidProgram::new(message, format!("name {wanted}")))
}

pub(super) fn check_pick(program: &Program, pick: &Pick) -> Result<(), InvalidProgram> {
    let Some(fileset) = program.filesets.get(usize::from(pick.fileset)) else {
        let message = format!("there is no fileset with the number {}", pick.fileset);
        return Err(InvalidProgram::new(message, "add the fileset"));
    };
    match &pick.order {
        PickOrder::Index(index) if *index >= fileset.count => {
            let message = format!(
                "`{}` has no file with the number {index}, only {} from 0 on",
                fileset.name, fileset.count
            );
            Err(InvalidProgram::new(message, "use a smaller `index`"))
        }
        PickOrder::Drawn(distribution) => check_distribution(distribution),
        PickOrder::ByLaw(law) => check_law(law, "the number of a file"),
        _ => Ok(()),
    }
}

/// A fileset of directories only can be listed; it has no files.
fn check_listed(
    program: &Program,
    operation: FileOperation,
    pick: &Pick,
) -> Result<(), InvalidProgram> {
    let fileset = &program.filesets[usize::from(pick.fileset)];
    let is_for_lists = matches!(fileset.tree, DirectoryTree::DirectoriesOf { .. });
    if !is_for_lists || operation == FileOperation::List {
        return Ok(());
    }
    let message = format!("`{}` has no files, only directories to list", fileset.name);
    Err(InvalidProgram::new(
        message,
        "name the fileset of the files",
    ))
}

fn check_distribution(distribution: &Distribution) -> Result<(), InvalidProgram> {
    let within = |value: f64, low: f64, high: f64| value > low && value < high;
    let (fits, message, help) = match distribution {
        Distribution::Zipf { theta } => (
            *theta > 0.0 && *theta <= ZIPF_MAX && *theta != 1.0,
            format!(
                "the skew of `zipf` is {theta:?}, not above 0, at most {ZIPF_MAX} and other than 1"
            ),
            "write `{ zipf = 0.9 }`",
        ),
        Distribution::Pareto { h } => (
            within(*h, 0.0, 1.0),
            format!("the shape of `pareto` is {h}, not between 0 and 1"),
            "write `{ pareto = 0.2 }`",
        ),
        Distribution::Normal { deviation_percent } => (
            *deviation_percent > 0.0 && *deviation_percent <= 100.0,
            format!("the deviation of `normal` is {deviation_percent} %, not above 0 %"),
            "write `{ normal = 10 }`",
        ),
        Distribution::Zones { zones } => {
            let access: f64 = zones.iter().map(|zone| zone.access_percent).sum();
            let size: f64 = zones.iter().map(|zone| zone.size_percent).sum();
            // Shares such as thirds cannot be written so that they add up to exactly 100.
            let is_whole = |sum: f64| (sum - 100.0).abs() < 0.1;
            let is_empty =
                |zone: &crate::Zone| zone.size_percent <= 0.0 && zone.access_percent > 0.0;
            (
                is_whole(access) && is_whole(size) && !zones.iter().any(is_empty),
                "the shares of the zones do not add up to 100 %, or a zone has no size".to_owned(),
                "write `{ zones = [{ access = 80, size = 20 }, { access = 20, size = 80 }] }`",
            )
        }
        Distribution::Uniform | Distribution::NoRepeat => return Ok(()),
    };
    match fits {
        true => Ok(()),
        false => Err(InvalidProgram::new(message, help)),
    }
}

/// Checks that existing files are not created, and missing ones not used.
fn check_which(
    program: &Program,
    operation: FileOperation,
    pick: &Pick,
) -> Result<(), InvalidProgram> {
    let name = &program.filesets[usize::from(pick.fileset)].name;
    let verb = operation.name();
    match (operation.makes(), pick.which) {
        (true, FileFilter::Present) => {
            let message = format!("`{verb}` picks a file of `{name}` that exists already");
            Err(InvalidProgram::new(
                message,
                "leave `which` out, which is `absent`",
            ))
        }
        // `stat` of a missing file is a valid test, and `list` needs no file.
        (false, FileFilter::Absent)
            if !matches!(operation, FileOperation::Stat | FileOperation::List) =>
        {
            let message = format!("`{verb}` picks a file of `{name}` that does not exist");
            Err(InvalidProgram::new(
                message,
                "leave `which` out, which is `present`",
            ))
        }
        _ => Ok(()),
    }
}

fn check_second(program: &Program, call: &Call, second: &Pick) -> Result<(), InvalidProgram> {
    check_pick(program, second)?;
    let name = &program.filesets[usize::from(second.fileset)].name;
    match (second.which, call.operation) {
        (FileFilter::Absent, _) | (FileFilter::Any, FileOperation::Rename) => Ok(()),
        _ => {
            let verb = call.operation.name();
            let message = format!("`{verb}` needs a name of `{name}` that does not exist");
            Err(InvalidProgram::new(
                message,
                "pick among those that are `absent`",
            ))
        }
    }
}

fn check_bytes(program: &Program, call: &Call) -> Result<(), InvalidProgram> {
    let verb = call.operation.name();
    if u64::from(call.piece_bytes) > PIECE_BYTES_MAX {
        return Err(too_large(verb));
    }
    match &call.bytes {
        MovedBytes::Law(law) => check_amount(law, call),
        MovedBytes::Rest if call.operation != FileOperation::Read => {
            let message = format!("`{verb}` has no `rest`, which only `read` has");
            Err(InvalidProgram::new(message, "write a size, or `size`"))
        }
        MovedBytes::Rest | MovedBytes::Size | MovedBytes::SizeOf { .. } => {
            // A truncation moves no data, so it needs no buffer of that size.
            let is_cut = call.piece_bytes > 0 || !call.operation.moves();
            match is_cut || program.largest_file() <= PIECE_BYTES_MAX {
                true => Ok(()),
                false => Err(too_large(verb)),
            }
        }
    }
}

fn check_amount(law: &Law, call: &Call) -> Result<(), InvalidProgram> {
    let verb = call.operation.name();
    check_law(law, &format!("what `{verb}` moves"))?;
    let most = law.largest().unwrap_or(u64::MAX);
    if law.largest().is_none() {
        let message = format!("`{verb}` may be of any size, however large");
        return Err(InvalidProgram::new(message, "limit it with `most`"));
    }
    if most > CALL_BYTES_MAX {
        let message = format!("`{verb}` may be of {most} bytes, more than {CALL_BYTES_MAX}");
        return Err(InvalidProgram::new(message, "use a smaller size"));
    }
    match call.piece_bytes == 0 && most > PIECE_BYTES_MAX && call.operation.moves() {
        true => Err(too_large(verb)),
        false => Ok(()),
    }
}

fn too_large(verb: &str) -> InvalidProgram {
    let most = Size(PIECE_BYTES_MAX);
    let message = format!("one request of `{verb}` may have more than {most}");
    InvalidProgram::new(message, "write `piece = \"1MiB\"`")
}

fn check_place(call: &Call) -> Result<(), InvalidProgram> {
    let (distribution, align_bytes) = match &call.place {
        CallPosition::Random {
            distribution,
            align_bytes,
            ..
        } => (distribution, align_bytes),
        CallPosition::Along(path) => return check_path(*path),
        CallPosition::Here
        | CallPosition::Same
        | CallPosition::End
        | CallPosition::At(_)
        | CallPosition::Dealt { .. } => {
            return Ok(());
        }
    };
    if *align_bytes == 0 {
        let message = "random positions are multiples of 0";
        return Err(InvalidProgram::new(message, "write `align = \"4KiB\"`"));
    }
    check_distribution(distribution)
}

fn check_path(path: FilePath) -> Result<(), InvalidProgram> {
    let (step_bytes, key) = match path {
        FilePath::Backward { step_bytes }
        | FilePath::Shuffled { step_bytes }
        | FilePath::Dealt { step_bytes } => (u64::from(step_bytes), "align"),
        FilePath::Strided { stride_bytes, .. } => (stride_bytes, "stride"),
        FilePath::Blocks { block_bytes, .. } => (block_bytes, "block"),
    };
    if step_bytes > 0 {
        return Ok(());
    }
    let message = "a path with steps of 0 bytes never advances";
    Err(InvalidProgram::new(
        message,
        format!("write `{key} = \"4KiB\"`"),
    ))
}

/// Operations of a program on the files of a set.
#[derive(Debug, Clone, Copy, Default)]
struct FileUses {
    is_created: bool,
    is_removed: bool,
    holds_directories: bool,
    holds_files: bool,
}

fn uses(program: &Program) -> Vec<FileUses> {
    let mut uses = vec![FileUses::default(); program.filesets.len()];
    for call in program.groups().flat_map(|group| group.calls()) {
        let operation = call.operation;
        if let CallObject::Name(pick) = &call.on {
            let it = &mut uses[usize::from(pick.fileset)];
            it.is_created |= operation.makes();
            it.is_removed |= operation.removes();
            it.holds_directories |= operation.works_on_directories();
            // These operations work on files and on directories alike.
            let is_either = matches!(
                operation,
                FileOperation::Stat
                    | FileOperation::List
                    | FileOperation::Rename
                    | FileOperation::Chmod
            );
            it.holds_files |= !operation.works_on_directories() && !is_either;
        }
        if let Some(second) = &call.second {
            // A rename or a link creates its second name.
            uses[usize::from(second.fileset)].is_created = true;
        }
        // A file that is known only by its handle may belong to any set.
        if call.on == CallObject::Same && operation.removes() {
            uses.iter_mut().for_each(|it| it.is_removed = true);
        }
    }
    uses
}

/// Refuses picks that can never find a file.
pub(super) fn check_sets(program: &Program) -> Result<(), InvalidProgram> {
    let uses = uses(program);
    for (index, (fileset, uses)) in program.filesets.iter().zip(&uses).enumerate() {
        let has_files = match &fileset.tree {
            DirectoryTree::Grown(growth) if growth.of_directories => uses.holds_files,
            DirectoryTree::Grown(_) => true,
            // Existing files of an earlier run may be directories.
            _ => uses.holds_files || fileset.present_permille > 0 && !program.uses_existing_files(),
        };
        if uses.holds_directories && has_files {
            let message = format!(
                "`{}` has files, so its names are not directories",
                fileset.name
            );
            let flaw = InvalidProgram::new(message, "use a separate fileset for directories");
            return Err(flaw.within(ProgramStep::Fileset(index)));
        }
    }
    check_each_group(&program.parts, &mut |group| {
        for (list, acts) in group.lists() {
            let check = &mut |act: &Act| match act {
                Act::Call(call) => check_reach(program, &uses, call),
                _ => Ok(()),
            };
            check_each_act(acts, check).map_err(|flaw| flaw.within(ProgramStep::Acts(list)))?;
        }
        Ok(())
    })
}

fn check_reach(program: &Program, uses: &[FileUses], call: &Call) -> Result<(), InvalidProgram> {
    let first = match &call.on {
        CallObject::Name(pick) => Some(pick),
        _ => None,
    };
    for pick in first.into_iter().chain(&call.second) {
        let index = usize::from(pick.fileset);
        let (fileset, uses) = (&program.filesets[index], &uses[index]);
        let name = &fileset.name;
        let is_lacking = pick.which == FileFilter::Present && fileset.present_count() == 0;
        if is_lacking && !uses.is_created {
            let message = format!("no file of `{name}` ever exists");
            let help = format!("write `present = \"100%\"` in `{name}`, or create files first");
            return Err(InvalidProgram::new(message, help));
        }
        let is_full = pick.which == FileFilter::Absent && fileset.present_count() == fileset.count;
        if is_full && !uses.is_removed {
            let message = format!("all files of `{name}` exist, so no name is free");
            let help = format!("write less than 100 % as `present` of `{name}`");
            return Err(InvalidProgram::new(message, help));
        }
    }
    Ok(())
}
