//! Resolved settings of the table.

use units::Bytes;

use super::{FsMark, Subdirectories};
use crate::classics::ClassicError;
use crate::classics::settings::TableSetting;
use units::text_of;

impl FsMark {
    /// Amounts in bytes that direct I/O must be able to transfer, with the keys that set them. The
    /// size of one write counts only if a file takes more than one.
    ///
    /// # Errors
    /// As of [`FsMark::resolve`].
    pub(crate) fn amounts(&self) -> Result<Vec<(&'static str, u64)>, ClassicError> {
        let plan = self.resolve(1)?;
        let write_bytes = u64::from(plan.write_bytes);
        let write = (write_bytes < plan.size_bytes).then_some(("fs_mark.write_size", write_bytes));
        let size = [("fs_mark.size", plan.size_bytes)];
        Ok(size.into_iter().chain(write).collect())
    }

    /// The settings of all keys of the table, for this number of targets.
    ///
    /// # Errors
    /// As of [`FsMark::resolve`].
    pub(crate) fn settings(&self, target_count: u32) -> Result<Vec<TableSetting>, ClassicError> {
        let plan = self.resolve(target_count)?;
        let write_size = Bytes(plan.write_bytes.into());
        let mut rows = vec![
            TableSetting::of("threads", plan.thread_count, &self.threads),
            TableSetting::of("files", plan.file_count, &self.files),
            TableSetting::of("size", Bytes(plan.size_bytes), &self.size),
            TableSetting::of("write_size", write_size, &self.write_size),
            TableSetting::of("sync_method", text_of(&plan.sync_method), &self.sync_method),
            TableSetting::of("name_length", plan.name_length, &self.name_length),
            TableSetting::of("random_length", plan.random_length, &self.random_length),
            TableSetting::of("loops", plan.iterations, &self.loops),
            TableSetting::of("keep", plan.is_kept, &self.keep),
            TableSetting::of("until_full", plan.until_full, &self.until_full),
            TableSetting::of(
                "mkdir_every_file",
                plan.is_directory_made,
                &self.mkdir_every_file,
            ),
        ];
        let (count, each) = match plan.subdirectories {
            Subdirectories::None => return Ok(rows),
            Subdirectories::ByTime { count } => (count, None),
            Subdirectories::RoundRobin { count, each_count } => (count, Some(each_count)),
        };
        let key = "files_per_subdirectory";
        rows.push(TableSetting::of(
            "subdirectories",
            count,
            &self.subdirectories,
        ));
        rows.extend(each.map(|each| TableSetting::of(key, each, &self.files_per_subdirectory)));
        Ok(rows)
    }
}
