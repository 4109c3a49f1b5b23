//! Resolved settings of the table.

use units::Bytes;

use super::location::location_text;
use super::{Choice, Postmark, SEEDS};
use crate::classics::{ClassicError, TableSetting as Row};
use plan::program::{FileChoice, PoolLocation};
use units::text_of;

impl Postmark {
    /// The settings of all keys of the table.
    ///
    /// # Errors
    /// As of [`Postmark::resolve`].
    pub(crate) fn settings(&self) -> Result<Vec<Row>, ClassicError> {
        // No key depends on the seed.
        let plan = self.resolve(SEEDS.default)?;
        let it = &plan.settings;
        let bytes = |bytes: u32| Bytes(bytes.into());
        // In PostMark's commands, -1 switches a bias off.
        let bias = |tenths: Option<u8>| tenths.map_or(-1, i64::from);
        let choice = text_of(&match plan.choice {
            FileChoice::Uniform => Choice::Uniform,
            FileChoice::Zipf { theta } => Choice::Zipf(theta),
        });
        Ok(vec![
            Row::of("number", it.number, &self.number),
            Row::of("transactions", it.transactions, &self.transactions),
            Row::of("min_size", bytes(it.size_low_bytes), &self.min_size),
            Row::of("max_size", bytes(it.size_high_bytes), &self.max_size),
            Row::of("locations", locations(&it.locations), &self.locations),
            Row::of("subdirectories", it.subdirectories, &self.subdirectories),
            Row::of("read_block", bytes(it.read_block_bytes), &self.read_block),
            Row::of(
                "write_block",
                bytes(it.write_block_bytes),
                &self.write_block,
            ),
            Row::of("buffering", it.is_buffered, &self.buffering),
            Row::of("read_bias", bias(it.read_bias), &self.read_bias),
            Row::of("create_bias", bias(it.create_bias), &self.create_bias),
            Row::of("compat", it.compat, &self.compat),
            Row::of("report", text_of(&it.report), &self.report),
            Row::of("fsync", text_of(&plan.fsync), &self.fsync),
            Row::of("choice", choice, &self.choice),
            Row::of("pool", text_of(&plan.pool), &self.pool),
            Row::of("keep_open", plan.keep_open, &self.keep_open),
        ])
    }
}

/// Formats as a list of a workload file; the target itself is a dot.
fn locations(locations: &[PoolLocation]) -> String {
    match locations {
        [] => ".".to_owned(),
        several => {
            let texts: Vec<String> = several.iter().map(location_text).collect();
            texts.join(",")
        }
    }
}
