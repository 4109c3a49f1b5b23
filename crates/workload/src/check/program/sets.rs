//! Filesets and ways as they are written.

use super::super::{Flaw, Step};
use super::laws::law_under;
use crate::model::{FilesetTable, WayTable, Workload};
use crate::plan::CacheMode;
use crate::program::{DirectoryTree, FileNames, FilesetPlan, Law, Way};

/// What stands for the number of a file in its name, behind a brace.
const NUMBER: &str = "{number";

pub(super) fn filesets(workload: &Workload) -> Result<Vec<FilesetPlan>, Flaw> {
    let tables = workload.fileset.iter().enumerate();
    let plans =
        tables.map(|(index, table)| fileset(table).map_err(|flaw| flaw.within("fileset", index)));
    plans.collect()
}

fn fileset(table: &FilesetTable) -> Result<FilesetPlan, Flaw> {
    let name = table.name.clone().unwrap_or_default();
    let names = match &table.names {
        Some(pattern) => file_names(pattern)?,
        None => FileNames::Number {
            before: format!("{}-", name.replace('/', "-")),
            digits: 0,
            after: String::new(),
        },
    };
    let size = match &table.size {
        Some(size) => law_under("size", size)?,
        None => Law::fixed(0),
    };
    Ok(FilesetPlan {
        path: table.path.clone().unwrap_or_else(|| name.clone()),
        copies: table.copies.unwrap_or_default(),
        count: table.count.unwrap_or(1),
        tree: tree(table)?,
        present_permille: permille(table)?,
        names,
        size,
        name,
    })
}

fn tree(table: &FilesetTable) -> Result<DirectoryTree, Flaw> {
    match (table.directories, table.files_per_directory) {
        (None, None) => Ok(DirectoryTree::Flat),
        (Some(directories), None) => Ok(DirectoryTree::Turns { directories }),
        (None, Some(each)) => Ok(DirectoryTree::Blocks { each }),
        (Some(_), Some(_)) => Err(Flaw::new(
            "files_per_directory",
            "`directories` and `files_per_directory` both say which directory a file is in",
            "leave one of them out",
        )),
    }
}

fn permille(table: &FilesetTable) -> Result<u32, Flaw> {
    let tenths = table.present.map_or(0.0, |present| present.0 * 10.0);
    if (tenths - tenths.round()).abs() < 1e-6 {
        // A percentage is at most 100.
        return Ok(tenths.round() as u32);
    }
    let message = format!("`present` is {} %, not a tenth of a percent", tenths / 10.0);
    let help = format!("write `present = {}`", tenths.round() / 10.0);
    Err(Flaw::new("present", message, help))
}

/// `before{number}after`, or `{number:6}` for so many digits.
fn file_names(pattern: &str) -> Result<FileNames, Flaw> {
    let wrong = |message: String| {
        Flaw::new(
            "names",
            message,
            "write such as `msg-{number}` or `msg-{number:6}`",
        )
    };
    let shown = crate::printable(pattern);
    let Some((before, rest)) = pattern.split_once(NUMBER) else {
        return Err(wrong(format!("the names `{shown}` have no `{{number}}`")));
    };
    let Some((digits, after)) = rest.split_once('}') else {
        return Err(wrong(format!(
            "the names `{shown}` have a brace that is not closed"
        )));
    };
    let digits = match digits.strip_prefix(':') {
        None if digits.is_empty() => Some(0),
        None => None,
        Some(count) => count.parse().ok().filter(|count| (1..=20).contains(count)),
    };
    let Some(digits) = digits else {
        return Err(wrong(format!(
            "the names `{shown}` have no number of 1 to 20 digits"
        )));
    };
    if [before, after].iter().any(|text| text.contains(['{', '}'])) {
        return Err(wrong(format!(
            "the names `{shown}` have more than one number"
        )));
    }
    Ok(FileNames::Number {
        before: before.to_owned(),
        digits,
        after: after.to_owned(),
    })
}

/// The ways of a workload, behind that of acts which name none.
pub(super) fn ways(workload: &Workload) -> Result<Vec<Way>, Flaw> {
    let is_direct = workload.cache == Some(CacheMode::Direct);
    let unnamed = Way {
        name: "default".to_owned(),
        is_direct,
        ..Way::default()
    };
    let written = workload.way.iter().enumerate();
    let written = written
        .map(|(index, table)| way(table, is_direct).map_err(|flaw| flaw.within("way", index)));
    let ways: Result<Vec<Way>, Flaw> = std::iter::once(Ok(unnamed)).chain(written).collect();
    let ways = ways?;
    if let Some(index) = ways[1..].iter().position(|it| it.name == "default") {
        return Err(Flaw {
            path: vec![Step::Key("way"), Step::Index(index), Step::Key("name")],
            message: "`default` is the way of acts that name none".to_owned(),
            help: "give the way another name".to_owned(),
        });
    }
    Ok(ways)
}

fn way(table: &WayTable, is_direct: bool) -> Result<Way, Flaw> {
    let own = Way::default();
    let permissions = match &table.permissions {
        Some(text) => permissions(text)?,
        None => own.permissions,
    };
    Ok(Way {
        name: table.name.clone().unwrap_or_default(),
        access: table.access.unwrap_or_default(),
        is_appending: table.append.unwrap_or(false),
        is_truncating: table.truncate.unwrap_or(false),
        is_direct: table.direct.unwrap_or(is_direct),
        sync: table.sync.unwrap_or_default(),
        permissions,
        takes_existing: table.existing.unwrap_or(own.takes_existing),
        seeks: table.seek.unwrap_or(own.seeks),
        unit_bytes: match table.unit {
            Some(unit) => u32::try_from(unit.0).unwrap_or(u32::MAX),
            None => own.unit_bytes,
        },
    })
}

fn permissions(text: &str) -> Result<u32, Flaw> {
    let is_octal = text.len() == 3 && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
    let parsed = u32::from_str_radix(text, 8).ok().filter(|_| is_octal);
    parsed.ok_or_else(|| {
        let shown = crate::printable(text);
        let message = format!("the permissions `{shown}` are not three octal digits");
        Flaw::new(
            "permissions",
            message,
            "write such as `permissions = \"644\"`",
        )
    })
}
