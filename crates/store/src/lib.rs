//! The results store: every run with all its results in one SQLite file.
//!
//! A store never takes part in measuring. A [`RunWriter`] receives events and writes them on a
//! thread, so that a slow or full file system delays nothing. Write errors are reported when the
//! run ends. Even if the process is killed, the file can be opened again and has everything except
//! the last second.

mod best;
mod cell;
mod check;
mod column;
mod documents;
mod draft;
mod entry;
mod error;
mod folded;
mod follow;
mod followed;
mod format;
mod header;
mod histogram;
mod import;
mod insert;
mod journal;
mod lab;
mod list;
mod live;
mod load;
mod location;
mod names;
mod open;
mod page;
mod select;
mod series;
mod status;
mod store;
mod tag;
mod writer;

pub use best::{Headline, HeadlineUnit};
pub use documents::{ImportedRun, RunList, RunsImported, RunsRemoved};
pub use error::StoreError;
pub use folded::FoldedLab;
pub use follow::{
    CellView, LatencyView, LiveRun, OperationView, RunCursor, StoredEvent, StoredEvents,
    StoredIntervals,
};
pub use followed::{CellSettings, FollowedCell};
pub use format::FORMAT_NUMBER;
pub use import::Imported;
pub use lab::LabRow;
pub use list::{Filter, RunRow};
pub use location::default_path;
pub use names::{NamedRun, StoreNames, names};
pub use page::{RunOrder, RunPage, RunQuery};
pub use select::{FoundName, is_lab_tag};
pub use series::TrendSeries;
pub use status::RunStatus;
pub use store::{Store, check_tag};
pub use tag::TagRow;
pub use writer::RunWriter;
