//! How files are opened.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use super::names::{Names, begins_with_default};
use crate::flaw::Flaw;
use crate::model::Workload;
use crate::model::keys::keys;
use plan::CacheMode;
use plan::program::{Access, OpenSync, Program, Way};

/// A way in which `open` and `create` open files; without any, to read and to write.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WayTable {
    /// Name by which acts call it. Must be written.
    pub name: Option<String>,
    /// Whether it is that of acts which name none; the first alone can be. Default: false.
    pub default: Option<bool>,
    /// What a file is opened for: `read`, `write` or `read-write`. Default: `read-write`.
    pub access: Option<Access>,
    /// Whether every write goes to the end of the file. Default: false.
    pub append: Option<bool>,
    /// Whether the file is emptied when it is opened. Default: false.
    pub truncate: Option<bool>,
    /// Whether the page cache is passed by. Default: as the workload's `cache`.
    pub direct: Option<bool>,
    /// Whether a write is durable when it returns: `no`, `data` or `all`, which is with the
    /// metadata. Default: `no`.
    pub sync: Option<OpenSync>,
    /// Permissions of a file that is made, three octal digits. Default: `600`.
    pub permissions: Option<String>,
    /// Whether `create` also opens a file that is there already, as it is or emptied with
    /// `truncate`. Default: false, it fails.
    pub existing: Option<bool>,
    /// Whether files are read and written by `read` and `write`, with `lseek` before where that is
    /// not where the last one ended, in place of `pread` and `pwrite`. Needs `engine = "psync"`.
    /// Default: false.
    pub seek: Option<bool>,
    /// Bytes of each system call: a request is read or written in so many of them as it takes,
    /// one behind the other, and is measured as a whole. Needs `engine = "psync"`. Default: the
    /// request's.
    pub unit: Option<Bytes>,
}

keys! {
    read_way, write_way: WayTable => Way {
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

/// The way of acts that name none, where it is not written.
fn usual_way(is_direct: bool) -> Way {
    Way {
        name: "default".to_owned(),
        is_direct,
        ..Way::default()
    }
}

/// The ways of a workload, behind that of acts which name none.
pub(super) fn ways(workload: &Workload) -> Result<Vec<Way>, Flaw> {
    let usual = usual_way(workload.cache == Some(CacheMode::Direct));
    let tables = || workload.way.iter().enumerate();
    let mut late = tables().skip(1);
    if let Some((index, _)) = late.find(|(_, way)| way.default == Some(true)) {
        let message = "the way of acts that name none is not the first";
        let help = "write it before the other ways";
        return Err(Flaw::new("default", message, help).within("way", index));
    }
    let unwritten = (!begins_with_default(workload)).then(|| usual.clone());
    let mut ways: Vec<Way> = unwritten.into_iter().collect();
    for (index, table) in tables() {
        let way = table.way(&usual);
        ways.push(way.map_err(|flaw| flaw.within("way", index))?);
    }
    let is_taken = |it: &WayTable| it.name.as_deref() == Some("default");
    if let Some((index, _)) = tables().find(|(_, it)| is_taken(it) && it.default != Some(true)) {
        let message = "`default` is the way of acts that name none";
        let help = "give the way another name";
        return Err(Flaw::new("name", message, help).within("way", index));
    }
    Ok(ways)
}

/// How the ways of a program are written; the first is left out where it is as if nothing were.
pub(super) fn written_ways(program: &Program, names: &Names, is_direct: bool) -> Vec<WayTable> {
    let usual = usual_way(is_direct);
    let mut tables = Vec::new();
    for (index, (way, name)) in program.ways.iter().zip(&names.ways).enumerate() {
        let named = Way {
            name: name.clone(),
            ..way.clone()
        };
        if index == 0 && named == usual {
            continue;
        }
        let mut table = WayTable {
            name: Some(named.name),
            default: (index == 0).then_some(true),
            permissions: (way.permissions != usual.permissions)
                .then(|| format!("{:03o}", way.permissions)),
            ..WayTable::default()
        };
        write_way(way, &usual, &mut table);
        tables.push(table);
    }
    tables
}

impl WayTable {
    fn way(&self, usual: &Way) -> Result<Way, Flaw> {
        let mut way = read_way(self, usual.clone());
        way.name = self.name.clone().unwrap_or_default();
        if let Some(text) = &self.permissions {
            way.permissions = permissions(text)?;
        }
        Ok(way)
    }
}

fn permissions(text: &str) -> Result<u32, Flaw> {
    let is_octal = text.len() == 3 && text.bytes().all(|byte| (b'0'..b'8').contains(&byte));
    let parsed = u32::from_str_radix(text, 8).ok().filter(|_| is_octal);
    parsed.ok_or_else(|| {
        let shown = plan::printable(text);
        let message = format!("the permissions `{shown}` are not three octal digits");
        let help = "write such as `permissions = \"644\"`";
        Flaw::new("permissions", message, help)
    })
}
