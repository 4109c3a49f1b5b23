//! Resolved settings of the table.

use units::Span;

use super::{LatFs, LatFsForm};
use crate::classics::ClassicError;
use crate::classics::settings::{TableSetting, sizes};
use units::text_of;

impl LatFs {
    /// Amounts in bytes that direct I/O must be able to transfer, with the key that sets them:
    /// files are written with one call, or in pieces of 128 KiB.
    ///
    /// # Errors
    /// As of [`LatFs::resolve`].
    pub(crate) fn amounts(&self) -> Result<Vec<(&'static str, u64)>, ClassicError> {
        let sizes = self.resolve()?.sizes_bytes.into_iter();
        Ok(sizes.map(|bytes| ("lat_fs.sizes", bytes)).collect())
    }

    /// The settings of all keys of the table that apply to its version.
    ///
    /// # Errors
    /// As of [`LatFs::resolve`].
    pub(crate) fn settings(&self) -> Result<Vec<TableSetting>, ClassicError> {
        let plan = self.resolve()?;
        let compat = text_of(&self.compat.unwrap_or_default());
        let mut rows = vec![
            TableSetting::of("compat", compat, &self.compat),
            TableSetting::of("sizes", sizes(&plan.sizes_bytes), &self.sizes),
            TableSetting::of("order", text_of(&plan.order), &self.order),
            TableSetting::of("sync", text_of(&plan.sync), &self.sync),
        ];
        match plan.form {
            LatFsForm::Best {
                file_count,
                budget_ns,
            } => rows.extend([
                TableSetting::of("files", file_count, &self.files),
                TableSetting::of("budget", Span(budget_ns), &self.budget),
            ]),
            LatFsForm::Median {
                files_per_directory: each,
                repetitions,
                sample_ns,
            } => rows.extend([
                TableSetting::of("files_per_directory", each, &self.files_per_directory),
                TableSetting::of("repetitions", repetitions, &self.repetitions),
                TableSetting::of("sample_time", Span(sample_ns), &self.sample_time),
            ]),
        }
        Ok(rows)
    }
}
