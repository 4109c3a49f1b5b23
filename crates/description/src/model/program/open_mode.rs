//! Ways to open files.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::names::{ProgramNames, starts_with_default};
use crate::flaw::ValueError;
use crate::model::Workload;
use crate::model::keys::keys;
use plan::CacheMode;
use plan::program::{Access, OpenModePlan, OpenSync, Program};

/// Options with which `open` and `create` open files. Without a way, files are opened for reading
/// and writing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct OpenModeTable {
    /// Name by which acts refer to the way. Required.
    pub name: Option<String>,
    /// Use this way for acts that name none; only the first way can be the default. Default: false.
    pub default: Option<bool>,
    /// Access mode: `read`, `write` or `read-write`. Default: `read-write`.
    pub access: Option<Access>,
    /// Append: every write goes to the end of the file. Default: false.
    pub append: Option<bool>,
    /// Truncate the file to length 0 when it is opened. Default: false.
    pub truncate: Option<bool>,
    /// Bypass the page cache (`O_DIRECT`). Default: as the workload's `cache`.
    pub direct: Option<bool>,
    /// Durability of a write when it returns: `no`, `data`, or `all`, which includes the metadata.
    /// Default: `no`.
    pub sync: Option<OpenSync>,
    /// Permissions of a new file, three octal digits. Default: `600`.
    pub permissions: Option<String>,
    /// Let `create` also open a file that exists, unchanged or emptied with `truncate`. Default:
    /// false, it fails.
    pub existing: Option<bool>,
    /// Use `read` and `write` instead of `pread` and `pwrite`, with an `lseek` before a request
    /// that does not follow the previous one. Needs `engine = "psync"`. Default: false.
    pub seek: Option<bool>,
    /// Bytes per system call: a request is split into calls of this size, which are measured
    /// together as one request. Needs `engine = "psync"`. Default: one call per request.
    pub unit: Option<Bytes>,
}

keys! {
    read_way, write_way: OpenModeTable => OpenModePlan {
        access => access,
        append => is_appending,
        truncate => is_truncating,
        direct => is_direct,
        sync => sync,
        existing => takes_existing,
        seek => seeks,
        unit => unit_bytes,
    }
}

/// The default way of acts that name none, if the file does not define it.
fn default_open_mode(is_direct: bool) -> OpenModePlan {
    OpenModePlan {
        name: "default".to_owned(),
        is_direct,
        ..OpenModePlan::default()
    }
}

/// The ways of a workload, preceded by the default way unless the file defines it.
pub(super) fn ways(workload: &Workload) -> Result<Vec<OpenModePlan>, ValueError> {
    // A way without `direct` follows the workload's `cache`.
    let usual = default_open_mode(workload.cache == Some(CacheMode::Direct));
    let tables = || workload.way.iter().enumerate();
    let mut late = tables().skip(1);
    if let Some((index, _)) = late.find(|(_, way)| way.default == Some(true)) {
        let message = "the default way is not the first";
        let help = "write it before the other ways";
        return Err(ValueError::new("default", message, help).within("way", index));
    }
    let unwritten = (!starts_with_default(workload)).then(|| usual.clone());
    let mut modes: Vec<OpenModePlan> = unwritten.into_iter().collect();
    for (index, table) in tables() {
        let mode = table.way(&usual);
        modes.push(mode.map_err(|flaw| flaw.within("way", index))?);
    }
    let is_taken = |it: &OpenModeTable| it.name.as_deref() == Some("default");
    if let Some((index, _)) = tables().find(|(_, it)| is_taken(it) && it.default != Some(true)) {
        let message = "`default` is reserved for the way of acts that name none";
        let help = "give the way another name";
        return Err(ValueError::new("name", message, help).within("way", index));
    }
    Ok(modes)
}

/// The tables for the ways of a program; a first way that equals the default is left out.
pub(super) fn written_ways(
    program: &Program,
    names: &ProgramNames,
    is_direct: bool,
) -> Vec<OpenModeTable> {
    let usual = default_open_mode(is_direct);
    let mut tables = Vec::new();
    for (index, (way, name)) in program.ways.iter().zip(&names.open_modes).enumerate() {
        let named = OpenModePlan {
            name: name.clone(),
            ..way.clone()
        };
        // Acts without a way use the first one, so only that one may be left out.
        if index == 0 && named == usual {
            continue;
        }
        let mut table = OpenModeTable {
            name: Some(named.name),
            default: (index == 0).then_some(true),
            permissions: (way.permissions != usual.permissions)
                .then(|| format!("{:03o}", way.permissions)),
            ..OpenModeTable::default()
        };
        write_way(way, &usual, &mut table);
        tables.push(table);
    }
    tables
}

impl OpenModeTable {
    fn way(&self, usual: &OpenModePlan) -> Result<OpenModePlan, ValueError> {
        let mut mode = read_way(self, usual.clone());
        mode.name = self.name.clone().unwrap_or_default();
        if let Some(text) = &self.permissions {
            mode.permissions = permissions(text)?;
        }
        Ok(mode)
    }
}

fn permissions(text: &str) -> Result<u32, ValueError> {
    let is_octal = text.len() == 3 && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
    let parsed = u32::from_str_radix(text, 8).ok().filter(|_| is_octal);
    parsed.ok_or_else(|| {
        let shown = plan::printable(text);
        let message = format!("the permissions `{shown}` are not three octal digits");
        let help = "write, for example, `permissions = \"644\"`";
        ValueError::new("permissions", message, help)
    })
}
