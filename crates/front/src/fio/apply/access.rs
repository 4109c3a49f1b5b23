//! Options for direction, block sizes, offsets and order.

use super::super::settings::{ByDirection, Direction, FioSettings, Sequencer, ZoneMode};
use super::super::settings::{RandomGenerator, SizeAmount};
use super::super::values::{
    NumberUnit, OptionValue, block_shares, distribution, number, shares_by_direction,
};

pub(super) fn apply(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let kilo = settings.kilo.0;
    let (access, blocks) = (&mut settings.access, &mut settings.blocks);
    match name {
        "rw" => read_write(settings, value.text())?,
        "rw_sequencer" => access.sequencer = Sequencer::of(value.text()).unwrap_or_default(),
        // As in fio, the later of `rwmixread` and `rwmixwrite` wins.
        "rwmixread" => access.read_percent = value.count(),
        "rwmixwrite" => access.read_percent = 100_u32.saturating_sub(value.count()),
        "percentage_random" => {
            let shares = value.numbers().map(|it| it.map(|it| it as u32));
            access.random_percent.take(shares);
        }
        "bs" => blocks.fixed.take(value.numbers()),
        "ba" => {
            let sizes = value.numbers();
            blocks.align.take(sizes.map(|it| it.map(Some)));
        }
        "bsrange" => {
            if let OptionValue::Ranges(ranges) = value {
                blocks.range.take(ranges.map(|it| it.map(Some)));
            }
        }
        // As in fio, a list without a comma sets all directions, and missing trims follow the
        // writes.
        "bssplit" => {
            blocks.split = shares_by_direction(value.text(), |it| block_shares(it, kilo))?;
        }
        "bs_unaligned" => blocks.is_unaligned = value.flag(),
        "bs_is_seq_rand" => blocks.is_seq_rand = value.flag(),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Reads `rw`. `randread:4` sets a run length; `read:8k` and `read:-8k` set a step.
fn read_write(settings: &mut FioSettings, text: &str) -> Result<(), String> {
    let kilo = settings.kilo.0;
    let access = &mut settings.access;
    // The option table has already checked the word, so the default is never used.
    access.direction = Direction::of(text).unwrap_or_default();
    access.is_random = text.starts_with("rand");
    // A later `rw` replaces all parts of an earlier one, such as that of [global].
    access.run_length = 1;
    access.step_bytes = 0;
    let Some((_, behind)) = text.split_once(':') else {
        return Ok(());
    };
    let unit = NumberUnit::Bytes { kilo };
    let suffix = number(behind, unit).map_err(|why| format!("after the colon: {why}"))?;
    match access.is_random {
        true => access.run_length = suffix.value.clamp(1, i64::from(u32::MAX)) as u32,
        false => access.step_bytes = suffix.value,
    }
    Ok(())
}

pub(super) fn apply_places(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    let kilo = settings.kilo.0;
    let (space, order) = (&mut settings.space, &mut settings.order);
    match name {
        // As in fio, an amount of 0 counts as not given.
        "size" => space.size = amount(value).filter(|it| *it != SizeAmount::ZERO),
        "io_size" => space.io_size = amount(value).filter(|it| *it != SizeAmount::ZERO),
        "filesize" => space.file_size = Some(value.range()),
        "offset" => space.offset = amount(value).unwrap_or(SizeAmount::ZERO),
        "offset_increment" => space.offset_increment = amount(value).unwrap_or(SizeAmount::ZERO),
        "offset_align" => space.offset_align = value.number(),
        "file_append" => space.is_appending = value.flag(),
        "fill_device" => space.fills_device = value.flag(),
        "number_ios" => space.request_count = value.number(),
        "zonemode" => space.zone_mode = ZoneMode::of(value.text()).unwrap_or_default(),
        "zonesize" => space.zone_size = value.number(),
        "zonerange" => space.zone_range = value.number(),
        "zoneskip" => space.zone_skip = amount(value).unwrap_or(SizeAmount::ZERO),
        "norandommap" => order.is_with_replacement = value.flag(),
        "random_generator" => {
            order.generator = RandomGenerator::of(value.text()).unwrap_or_default();
        }
        "random_distribution" => order.distribution = distribution(value.text(), kilo)?,
        "randrepeat" => order.is_repeatable = value.flag(),
        // `number` would turn every negative seed into 0, so that all of them give the same order.
        "randseed" => order.seed = Some(value.signed().unsigned_abs()),
        "kb_base" => {
            // As in fio, this only affects the options after it.
            settings.kilo.0 = if value.text() == "1000" { 1000 } else { 1024 };
            // fio also prints sizes and rates in this base.
            settings.results.is_decimal = value.text() == "1000";
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn amount(value: &OptionValue) -> Option<SizeAmount> {
    match value {
        OptionValue::Amount(amount) => Some(*amount),
        _ => None,
    }
}

/// Sets the numbers of the directions that were given.
pub(super) fn set(target: &mut ByDirection<u64>, value: &OptionValue) {
    target.take(value.numbers());
}
