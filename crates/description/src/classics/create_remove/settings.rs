//! Resolved settings of the table.

use units::Bytes;

use super::CreateRemove;
use crate::classics::ClassicError;
use crate::classics::settings::{TableSetting, sizes};
use units::text_of;

impl CreateRemove {
    /// Amounts in bytes that direct I/O must be able to transfer, with the keys that set them. The
    /// size of one write counts only if a file takes more than one.
    ///
    /// # Errors
    /// As of [`CreateRemove::resolve`].
    pub(crate) fn amounts(&self) -> Result<Vec<(&'static str, u64)>, ClassicError> {
        let plan = self.resolve()?;
        let largest = plan.sizes_bytes.iter().copied().max().unwrap_or(0);
        let write_bytes = u64::from(plan.write_bytes);
        let write = (write_bytes < largest).then_some(("create_remove.write_size", write_bytes));
        let sizes = plan.sizes_bytes.into_iter();
        let sizes = sizes.map(|bytes| ("create_remove.sizes", bytes));
        Ok(sizes.chain(write).collect())
    }

    /// The settings of all keys of the table.
    ///
    /// # Errors
    /// As of [`CreateRemove::resolve`].
    pub(crate) fn settings(&self) -> Result<Vec<TableSetting>, ClassicError> {
        let plan = self.resolve()?;
        let write_size = Bytes(plan.write_bytes.into());
        Ok(vec![
            TableSetting::of("count", plan.file_count, &self.count),
            TableSetting::of("sizes", sizes(&plan.sizes_bytes), &self.sizes),
            TableSetting::of("write_size", write_size, &self.write_size),
            TableSetting::of("directories", plan.directory_count, &self.directories),
            TableSetting::of("stat", plan.is_statted, &self.stat),
            TableSetting::of("order", text_of(&plan.order), &self.order),
            TableSetting::of("between", text_of(&plan.between), &self.between),
            TableSetting::of("mode", text_of(&plan.mode), &self.mode),
            TableSetting::of("sync", text_of(&plan.sync), &self.sync),
        ])
    }
}
