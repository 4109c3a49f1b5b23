//! The published experiments: what was measured, and what was printed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an experiment prints its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// PostMark's own report: figures in rows, systems in columns.
    Session,
    /// PostMark's tables: systems in rows.
    Systems,
    /// Steps that create and remove files, with their times.
    Steps,
    /// Bandwidths by system, a table each size.
    Bandwidths,
    /// Files a second by size.
    Rates,
    /// Rates by request and outstanding I/Os.
    Grid,
}

/// A published experiment.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// The workload, in TOML, at its full size.
    pub workload: &'static str,
    /// The full size, in words.
    pub size: &'static str,
    /// What is to be said of the published figures.
    pub remark: &'static str,
    pub(super) published: Option<Published>,
    /// Which rows of the published figures are meant: those of this table.
    pub(super) table: Option<&'static str>,
    pub(super) shape: Shape,
}

macro_rules! pack {
    ($name:literal) => {
        include_str!(concat!("../../../../workloads/papers/", $name, ".toml"))
    };
}

/// The figures of a publication.
#[derive(Debug, Clone, Copy)]
pub(super) struct Published {
    /// Its name in the file of systems.
    name: &'static str,
    /// As CSV.
    text: &'static str,
}

/// A published system, as far as it is known what it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(super) struct KnownSystem {
    #[serde(skip_serializing)]
    publication: String,
    /// Its name in the published tables.
    pub system: String,
    /// When its figures were published.
    pub year: String,
    /// Machine and file system; empty where that is not known.
    pub what: String,
}

const SYSTEMS: &str = include_str!("../../../../workloads/papers/published/systems.csv");

macro_rules! published {
    ($name:literal) => {
        Some(Published {
            name: $name,
            text: include_str!(concat!(
                "../../../../workloads/papers/published/",
                $name,
                ".csv"
            )),
        })
    };
}

const fn netapp(
    name: &'static str,
    workload: &'static str,
    size: &'static str,
    table: &'static str,
) -> Paper {
    Paper {
        name,
        workload,
        size,
        remark: "TMPFS and MFS are file systems in memory. PBG4/HFS+ in table 1 and 2xP3+SOFT in \
                 table 3 are printed with a rate that their other figures contradict (492 and \
                 329.79).",
        published: published!("postmark-systems-1999"),
        table: Some(table),
        shape: Shape::Systems,
    }
}

/// Every experiment.
pub const PAPERS: [Paper; 9] = [
    Paper {
        name: "lfs-postmark",
        workload: pack!("lfs-postmark"),
        size: "9999 files, 5000000 transactions",
        remark: "The counts follow from the seed: at full size they are the same on every system.",
        published: published!("postmark-lfs-ext3"),
        table: None,
        shape: Shape::Session,
    },
    Paper {
        name: "lfs-create-remove",
        workload: pack!("lfs-create-remove"),
        size: "500000 files of 0, 4096, 16384 and 65536 bytes",
        remark: "The page's script starts a program for each file and remounts between the steps; \
                 `--set mode=exec` and `--cold` do the same here.",
        published: published!("create-remove-lfs-ext3"),
        table: None,
        shape: Shape::Steps,
    },
    netapp(
        "netapp-postmark-1",
        pack!("netapp-postmark-1"),
        "1000 files, 50000 transactions",
        "1",
    ),
    netapp(
        "netapp-postmark-2",
        pack!("netapp-postmark-2"),
        "20000 files, 50000 transactions",
        "2",
    ),
    netapp(
        "netapp-postmark-3",
        pack!("netapp-postmark-3"),
        "20000 files, 100000 transactions",
        "3",
    ),
    netapp(
        "netapp-postmark-4",
        pack!("netapp-postmark-4"),
        "20000 files, 100000 transactions, 100 subdirectories",
        "4",
    ),
    Paper {
        name: "bfs-iozone",
        workload: pack!("bfs-iozone"),
        size: "128 MB in chunks of 64K and 256K, 512 MB in chunks of 128K",
        remark: "MB means 1048576 bytes. The page cache is faster than any device: only a file of \
                 twice the memory, or `--cache direct`, shows the device.",
        published: published!("iozone-bfs-ext2-ntfs"),
        table: None,
        shape: Shape::Bandwidths,
    },
    Paper {
        name: "bfs-lat-fs",
        workload: pack!("bfs-lat-fs"),
        size: "1000 files of 0, 1, 4 and 10 KiB, 5 s each",
        remark: "The book prints its figures in tables 9-5 and 9-6; pgmeter does not have them, so \
                 only what is measured here is shown.",
        published: None,
        table: None,
        shape: Shape::Rates,
    },
    Paper {
        name: "pgmeter-windows-linux",
        workload: pack!("pgmeter-windows-linux"),
        size: "78 cases on 1 GiB, 30 s of ramp and 5 min each",
        remark: "The paper draws its figures and prints no numbers.",
        published: None,
        table: None,
        shape: Shape::Grid,
    },
];

impl Paper {
    /// The experiment of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Title and source, as its workload says them.
    #[must_use]
    pub fn heading(&self) -> [String; 2] {
        let pack = description::read_toml(self.name, self.workload).ok();
        let (title, source) = pack.map(|it| (it.title, it.source)).unwrap_or_default();
        [title, source].map(Option::unwrap_or_default)
    }

    /// Whether its figures are also shares of what the bare device does.
    #[must_use]
    pub fn is_of_peak(&self) -> bool {
        self.shape == Shape::Bandwidths
    }

    /// What is known of the systems of its figures.
    pub(super) fn systems(&self) -> Vec<KnownSystem> {
        let Some(published) = self.published else {
            return Vec::new();
        };
        let mut reader = csv::Reader::from_reader(SYSTEMS.as_bytes());
        // A test reads every row.
        let known = reader.deserialize::<KnownSystem>().flatten();
        let mut known: Vec<KnownSystem> = known
            .filter(|it| it.publication == published.name)
            .collect();
        let has_figures = |system: &str| {
            let mut rows = self.rows().into_iter();
            rows.any(|row| row.values().any(|value| value == system))
        };
        known.retain(|it| has_figures(&it.system));
        known
    }

    /// The rows of the published figures, by the names of their columns.
    pub(super) fn rows(&self) -> Vec<BTreeMap<String, String>> {
        let text = self.published.map_or("", |it| it.text);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.deserialize::<BTreeMap<String, String>>();
        // A test reads every file.
        rows.flatten()
            .filter(|row| self.table.is_none_or(|table| row["table"] == table))
            .collect()
    }
}
