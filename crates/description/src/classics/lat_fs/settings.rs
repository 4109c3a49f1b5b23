//! The keys of the table with what they come to.

use units::Span;

use super::{Form, LatFs};
use crate::classics::ClassicError;
use crate::classics::settings::{TableSetting, sizes};
use units::text_of;

impl LatFs {
    /// What direct I/O moves, by the key that sets it: files are written at once, or in pieces of
    /// 128 KiB.
    ///
    /// # Errors
    /// As of [`LatFs::resolve`].
    pub(crate) fn amounts(&self) -> Result<Vec<(&'static str, u64)>, ClassicError> {
        let sizes = self.resolve()?.sizes_bytes.into_iter();
        Ok(sizes.map(|bytes| ("lat_fs.sizes", bytes)).collect())
    }

    /// Every key of the table that its version has.
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
            Form::Best {
                file_count,
                budget_ns,
            } => rows.extend([
                TableSetting::of("files", file_count, &self.files),
                TableSetting::of("budget", Span(budget_ns), &self.budget),
            ]),
            Form::Median {
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
