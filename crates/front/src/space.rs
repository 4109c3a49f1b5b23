//! The line about free space that IOR and mdtest print.

use results::FileSystem;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;

/// A file system's size and use as texts with their units.
pub struct SpaceParts {
    /// Its size, such as `251.0 GiB`.
    pub size: String,
    /// The used share of it, such as `62.1%`.
    pub used: String,
    /// Its inodes, such as `16.0 Mi`.
    pub inodes: String,
    /// The used share of them.
    pub used_inodes: String,
}

/// The size of a file system and its used share.
pub fn space_parts(space: &FileSystem) -> SpaceParts {
    let (total, free) = (space.size_bytes as f64, space.free_bytes as f64);
    let (size, unit) = match total / GIB {
        size if size > 1024.0 => (size / 1024.0, "TiB"),
        size => (size, "GiB"),
    };
    let (inodes, free_inodes) = (space.inodes as f64, space.free_inodes as f64);
    SpaceParts {
        size: format!("{size:.1} {unit}"),
        used: format!("{:.1}%", used_percent(total, free)),
        inodes: format!("{:.1} Mi", inodes / MIB),
        used_inodes: format!("{:.1}%", used_percent(inodes, free_inodes)),
    }
}

/// The same in one line.
pub fn space_line(space: &FileSystem) -> String {
    let SpaceParts {
        size,
        used,
        inodes,
        used_inodes,
    } = space_parts(space);
    format!(
        "FS                  : {size}   Used FS: {used}   Inodes: {inodes}   Used Inodes: \
         {used_inodes}\n"
    )
}

fn used_percent(total: f64, free: f64) -> f64 {
    if total > 0.0 {
        (1.0 - free / total) * 100.0
    } else {
        0.0
    }
}
