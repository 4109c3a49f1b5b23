//! How full a file system is, as programs of one family say it.

use results::FileSystem;

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;

/// The size of a file system, and which share of it is used.
pub fn space_line(space: &FileSystem) -> String {
    let (total, free) = (space.size_bytes as f64, space.free_bytes as f64);
    let (size, unit) = match total / GIB {
        size if size > 1024.0 => (size / 1024.0, "TiB"),
        size => (size, "GiB"),
    };
    let (inodes, free_inodes) = (space.inodes as f64, space.free_inodes as f64);
    format!(
        "FS                  : {size:.1} {unit}   Used FS: {:.1}%   Inodes: {:.1} Mi   Used \
         Inodes: {:.1}%\n",
        used_percent(total, free),
        inodes / MIB,
        used_percent(inodes, free_inodes),
    )
}

fn used_percent(total: f64, free: f64) -> f64 {
    if total > 0.0 {
        (1.0 - free / total) * 100.0
    } else {
        0.0
    }
}
