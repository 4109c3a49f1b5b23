//! Filesets and ways as they are written.

use super::super::{Flaw, Step};
use super::laws::law_under;
use super::names::begins_with_default;
use super::patterns::{file_names, usual_names};
use super::trees;
use crate::model::{FilesetTable, WayTable, Workload};
use plan::CacheMode;
use plan::program::{FileNames, FilesetPlan, Law, Way};

pub(super) fn filesets(workload: &Workload) -> Result<Vec<FilesetPlan>, Flaw> {
    let tables = workload.fileset.iter().enumerate();
    let plans = tables.map(|(index, table)| {
        fileset(table, workload).map_err(|flaw| flaw.within("fileset", index))
    });
    plans.collect()
}

fn fileset(table: &FilesetTable, workload: &Workload) -> Result<FilesetPlan, Flaw> {
    let name = table.name.clone().unwrap_or_default();
    let names = names(table, &name)?;
    let size = match &table.size {
        Some(size) => law_under("size", size)?,
        None => Law::fixed(0),
    };
    Ok(FilesetPlan {
        path: table.path.clone().unwrap_or_else(|| name.clone()),
        copies: table.copies.unwrap_or_default(),
        count: table.count.unwrap_or(1),
        tree: trees::tree(table, workload)?,
        present_permille: permille(table)?,
        names,
        size,
        name,
    })
}

fn names(table: &FilesetTable, name: &str) -> Result<FileNames, Flaw> {
    if let Some(paths) = &table.paths {
        for (key, is_written) in [
            ("names", table.names.is_some()),
            ("first", table.first.is_some()),
        ] {
            if is_written {
                let message = format!("`{key}` does not apply beside `paths`");
                return Err(Flaw::new(key, message, format!("leave `{key}` out")));
            }
        }
        return trees::nested("paths", paths).map(FileNames::Ways);
    }
    let names = match &table.names {
        Some(pattern) => file_names("names", pattern)?,
        None => usual_names(name),
    };
    Ok(match (names, table.first) {
        (
            FileNames::Number {
                before,
                digits,
                after,
            },
            Some(first),
        ) => FileNames::NumberFrom {
            first,
            before,
            digits,
            after,
        },
        (names, _) => names,
    })
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

/// The way of acts that name none, where it is not written.
pub(crate) fn usual_way(is_direct: bool) -> Way {
    Way {
        name: "default".to_owned(),
        is_direct,
        ..Way::default()
    }
}

/// The ways of a workload, behind that of acts which name none.
pub(super) fn ways(workload: &Workload) -> Result<Vec<Way>, Flaw> {
    let is_direct = workload.cache == Some(CacheMode::Direct);
    let is_late = |way: &WayTable| way.default == Some(true);
    if let Some(index) = workload.way.iter().skip(1).position(is_late) {
        let flaw = Flaw::new(
            "default",
            "the way of acts that name none is not the first",
            "write it before the other ways",
        );
        return Err(flaw.within("way", index + 1));
    }
    let unnamed = (!begins_with_default(workload)).then(|| Ok(usual_way(is_direct)));
    let written = workload.way.iter().enumerate();
    let written = written
        .map(|(index, table)| way(table, is_direct).map_err(|flaw| flaw.within("way", index)));
    let ways: Result<Vec<Way>, Flaw> = unnamed.into_iter().chain(written).collect();
    let ways = ways?;
    let mut tables = workload.way.iter();
    let is_taken = |it: &WayTable| it.name.as_deref() == Some("default");
    if let Some(index) = tables.position(|it| is_taken(it) && it.default != Some(true)) {
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
        makes_directory: own.makes_directory,
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
        let shown = plan::printable(text);
        let message = format!("the permissions `{shown}` are not three octal digits");
        Flaw::new(
            "permissions",
            message,
            "write such as `permissions = \"644\"`",
        )
    })
}
