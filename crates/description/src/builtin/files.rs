//! The files of the built-in workloads.

/// Origins of the workloads, by the start of their names; all others are pgmeter's own.
const ORIGINS: [(&str, &str); 11] = [
    ("iometer-", "Iometer"),
    ("postmark", "PostMark"),
    ("create-remove", "LFS project"),
    ("lat-fs", "lmbench"),
    ("fs-mark", "fs_mark"),
    ("pgmeter-paper", PAPER),
    ("database", PAPER),
    ("oltp", PAPER),
    ("workstation", PAPER),
    ("file-server", PAPER),
    ("web-server", PAPER),
];
const PAPER: &str = "the pgmeter paper";

/// Origin of a workload.
pub(super) fn origin(name: &str) -> &'static str {
    let found = ORIGINS.iter().find(|(begin, _)| name.starts_with(begin));
    found.map_or("pgmeter", |(_, origin)| origin)
}

/// Every built-in workload and pack, by name.
// An explicit list, because its order is the order of `pgmeter list`.
pub(super) const FILES: [(&str, &str); 57] = [
    ("quick", include_str!("../../../../workloads/quick.toml")),
    (
        "randread-4k",
        include_str!("../../../../workloads/randread-4k.toml"),
    ),
    (
        "randwrite-4k",
        include_str!("../../../../workloads/randwrite-4k.toml"),
    ),
    (
        "randrw-4k",
        include_str!("../../../../workloads/randrw-4k.toml"),
    ),
    (
        "seqread-1m",
        include_str!("../../../../workloads/seqread-1m.toml"),
    ),
    (
        "seqwrite-1m",
        include_str!("../../../../workloads/seqwrite-1m.toml"),
    ),
    (
        "mail-server",
        include_str!("../../../../workloads/mail-server.toml"),
    ),
    (
        "database",
        include_str!("../../../../workloads/database.toml"),
    ),
    ("build", include_str!("../../../../workloads/build.toml")),
    ("backup", include_str!("../../../../workloads/backup.toml")),
    (
        "maildir",
        include_str!("../../../../workloads/maildir.toml"),
    ),
    (
        "web-content",
        include_str!("../../../../workloads/web-content.toml"),
    ),
    (
        "web-proxy",
        include_str!("../../../../workloads/web-proxy.toml"),
    ),
    (
        "video-server",
        include_str!("../../../../workloads/video-server.toml"),
    ),
    (
        "compile",
        include_str!("../../../../workloads/compile.toml"),
    ),
    (
        "source-tree",
        include_str!("../../../../workloads/source-tree.toml"),
    ),
    (
        "pgmeter-paper",
        include_str!("../../../../workloads/pgmeter-paper.toml"),
    ),
    ("oltp", include_str!("../../../../workloads/oltp.toml")),
    (
        "workstation",
        include_str!("../../../../workloads/workstation.toml"),
    ),
    (
        "file-server",
        include_str!("../../../../workloads/file-server.toml"),
    ),
    (
        "web-server",
        include_str!("../../../../workloads/web-server.toml"),
    ),
    (
        "postmark",
        include_str!("../../../../workloads/postmark.toml"),
    ),
    (
        "create-remove",
        include_str!("../../../../workloads/create-remove.toml"),
    ),
    ("lat-fs", include_str!("../../../../workloads/lat-fs.toml")),
    (
        "fs-mark",
        include_str!("../../../../workloads/fs-mark.toml"),
    ),
    (
        "iometer-defaults",
        include_str!("../../../../workloads/iometer-defaults.toml"),
    ),
    (
        "iometer-default",
        include_str!("../../../../workloads/iometer/iometer-default.toml"),
    ),
    (
        "iometer-512b-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-512b-100-read-0-random.toml"),
    ),
    (
        "iometer-512b-75-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-512b-75-read-0-random.toml"),
    ),
    (
        "iometer-512b-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-512b-50-read-0-random.toml"),
    ),
    (
        "iometer-512b-25-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-512b-25-read-0-random.toml"),
    ),
    (
        "iometer-512b-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-512b-0-read-0-random.toml"),
    ),
    (
        "iometer-4kib-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-100-read-0-random.toml"),
    ),
    (
        "iometer-4kib-75-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-75-read-0-random.toml"),
    ),
    (
        "iometer-4kib-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-50-read-0-random.toml"),
    ),
    (
        "iometer-4kib-25-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-25-read-0-random.toml"),
    ),
    (
        "iometer-4kib-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-0-read-0-random.toml"),
    ),
    (
        "iometer-4kib-aligned-100-read-100-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-aligned-100-read-100-random.toml"),
    ),
    (
        "iometer-4kib-aligned-50-read-100-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-aligned-50-read-100-random.toml"),
    ),
    (
        "iometer-4kib-aligned-0-read-100-random",
        include_str!("../../../../workloads/iometer/iometer-4kib-aligned-0-read-100-random.toml"),
    ),
    (
        "iometer-16kib-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-16kib-100-read-0-random.toml"),
    ),
    (
        "iometer-16kib-75-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-16kib-75-read-0-random.toml"),
    ),
    (
        "iometer-16kib-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-16kib-50-read-0-random.toml"),
    ),
    (
        "iometer-16kib-25-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-16kib-25-read-0-random.toml"),
    ),
    (
        "iometer-16kib-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-16kib-0-read-0-random.toml"),
    ),
    (
        "iometer-32kib-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-32kib-100-read-0-random.toml"),
    ),
    (
        "iometer-32kib-75-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-32kib-75-read-0-random.toml"),
    ),
    (
        "iometer-32kib-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-32kib-50-read-0-random.toml"),
    ),
    (
        "iometer-32kib-25-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-32kib-25-read-0-random.toml"),
    ),
    (
        "iometer-32kib-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-32kib-0-read-0-random.toml"),
    ),
    (
        "iometer-64kib-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-64kib-100-read-0-random.toml"),
    ),
    (
        "iometer-64kib-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-64kib-50-read-0-random.toml"),
    ),
    (
        "iometer-64kib-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-64kib-0-read-0-random.toml"),
    ),
    (
        "iometer-256kib-100-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-256kib-100-read-0-random.toml"),
    ),
    (
        "iometer-256kib-50-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-256kib-50-read-0-random.toml"),
    ),
    (
        "iometer-256kib-0-read-0-random",
        include_str!("../../../../workloads/iometer/iometer-256kib-0-read-0-random.toml"),
    ),
    (
        "iometer-all-in-one",
        include_str!("../../../../workloads/iometer/iometer-all-in-one.toml"),
    ),
];
