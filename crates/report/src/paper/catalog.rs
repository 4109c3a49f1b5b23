//! The published experiments: their workloads and their published results.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Layout of an experiment's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExperimentShape {
    /// PostMark's own report: metrics in rows, systems in columns.
    Session,
    /// Tables of PostMark results: systems in rows.
    Systems,
    /// Steps that create and remove files, with their times.
    Steps,
    /// Bandwidths by system, with one table per size.
    Bandwidths,
    /// Files per second by size.
    Rates,
    /// Rates by request and number of outstanding I/Os.
    Grid,
}

/// A published experiment.
#[derive(Debug, Clone, Copy)]
pub struct Paper {
    /// Name on the command line.
    pub name: &'static str,
    /// Workload at full size, in TOML.
    pub workload: &'static str,
    /// Description of the full size.
    pub size: &'static str,
    /// Note on the published results.
    pub remark: &'static str,
    pub(super) published: Option<PublishedTable>,
    /// Restricts the published rows to this table.
    pub(super) table: Option<&'static str>,
    pub(super) shape: ExperimentShape,
}

macro_rules! pack {
    ($name:literal) => {
        include_str!(concat!("../../../../workloads/papers/", $name, ".toml"))
    };
}

/// Published results of an experiment.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublishedTable {
    /// Name of the publication in the file of systems.
    name: &'static str,
    /// Rows as CSV.
    text: &'static str,
}

/// A row of published results, keyed by column name.
pub(super) type PublishedRow = BTreeMap<String, String>;

/// The rows of each experiment by its name, parsed once: a board compares a thousand records with
/// them.
static ROWS: LazyLock<BTreeMap<&'static str, Vec<PublishedRow>>> = LazyLock::new(|| {
    let papers = PAPERS.iter();
    papers.map(|it| (it.name, it.parsed_rows())).collect()
});

/// A published system, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownSystem {
    #[serde(skip_serializing)]
    publication: String,
    /// Name in the published tables.
    pub system: String,
    /// Year of publication of its results.
    pub year: String,
    /// Machine and file system; empty if unknown.
    pub what: String,
}

const SYSTEMS: &str = include_str!("../../../../workloads/papers/published/systems.csv");

macro_rules! published {
    ($name:literal) => {
        Some(PublishedTable {
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
        shape: ExperimentShape::Systems,
    }
}

/// All experiments.
pub const PAPERS: [Paper; 9] = [
    Paper {
        name: "lfs-postmark",
        workload: pack!("lfs-postmark"),
        size: "9999 files, 5000000 transactions",
        remark: "The counts follow from the seed: at full size they are the same on every system.",
        published: published!("postmark-lfs-ext3"),
        table: None,
        shape: ExperimentShape::Session,
    },
    Paper {
        name: "lfs-create-remove",
        workload: pack!("lfs-create-remove"),
        size: "500000 files of 0, 4096, 16384 and 65536 bytes",
        remark: "The page's script starts a program for each file and remounts between the steps; \
                 `--set mode=exec` and `--cold` do the same here.",
        published: published!("create-remove-lfs-ext3"),
        table: None,
        shape: ExperimentShape::Steps,
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
        shape: ExperimentShape::Bandwidths,
    },
    Paper {
        name: "bfs-lat-fs",
        workload: pack!("bfs-lat-fs"),
        size: "1000 files of 0, 1, 4 and 10 KiB, 5 s each",
        remark: "The book prints its figures in tables 9-5 and 9-6; pgmeter does not have them, so \
                 only what is measured here is shown.",
        published: None,
        table: None,
        shape: ExperimentShape::Rates,
    },
    Paper {
        name: "pgmeter-windows-linux",
        workload: pack!("pgmeter-windows-linux"),
        size: "78 cases on 1 GiB, 30 s of ramp and 5 min each",
        remark: "The paper shows its results as charts, without numbers.",
        published: None,
        table: None,
        shape: ExperimentShape::Grid,
    },
];

impl Paper {
    /// Finds an experiment by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        PAPERS.iter().find(|paper| paper.name == name)
    }

    /// Returns the name that is meant by a similar one.
    #[must_use]
    pub fn nearest(name: &str) -> Option<&'static str> {
        description::nearest(name, PAPERS.iter().map(|paper| paper.name))
    }

    /// Returns title and source, from the workload.
    #[must_use]
    pub fn heading(&self) -> [String; 2] {
        let pack = description::read_toml(self.name, self.workload).ok();
        let (title, source) = pack.map(|it| (it.title, it.source)).unwrap_or_default();
        [title, source].map(Option::unwrap_or_default)
    }

    /// Returns `true` if its results also include shares of the bare device's peak.
    #[must_use]
    pub fn has_peak_shares(&self) -> bool {
        self.shape == ExperimentShape::Bandwidths
    }

    /// Returns the known facts about the systems of this experiment.
    #[must_use]
    pub fn systems(&self) -> Vec<KnownSystem> {
        let Some(published) = self.published else {
            return Vec::new();
        };
        let mut reader = csv::Reader::from_reader(SYSTEMS.as_bytes());
        // A test checks that every row can be read.
        let systems = reader.deserialize::<KnownSystem>().flatten();
        let mut systems: Vec<KnownSystem> = systems
            .filter(|it| it.publication == published.name)
            .collect();
        let rows = self.rows();
        let has_figures = |system: &str| {
            let mut rows = rows.iter();
            rows.any(|row| row.values().any(|value| value == system))
        };
        // A publication has several tables, and not every system is in each of them.
        systems.retain(|it| has_figures(&it.system));
        systems
    }

    /// Returns the rows of the published results, keyed by column name.
    pub(super) fn rows(&self) -> &'static [PublishedRow] {
        ROWS.get(self.name).map_or(&[], Vec::as_slice)
    }

    fn parsed_rows(&self) -> Vec<PublishedRow> {
        let text = self.published.map_or("", |it| it.text);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let rows = reader.deserialize::<PublishedRow>();
        // A test checks that every file can be read.
        rows.flatten()
            // Only the experiments of one publication set `table`, and its rows have this column.
            .filter(|row| self.table.is_none_or(|table| row["table"] == table))
            .collect()
    }
}
