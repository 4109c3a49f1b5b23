//! The block `Default target settings for worker`.

use description::iometer::TargetSettings;
use description::model::Seed;

use super::reader::{IcfBlock, IcfReader, Keys};
use super::scan::Scanner;
use super::text::IcfLine;
use plan::Diagnostic;

const BLOCK: IcfBlock = IcfBlock {
    name: "Default target settings for worker",
    end: "'End default target settings for worker",
};

#[derive(Debug, Clone, Copy)]
enum SettingsKey {
    Io,
    IoWithSeed,
    Disk,
    DiskWithPattern,
    DiskWithRandom,
    Interface,
    ViOutstanding,
    End,
}

const KEYS: &Keys<SettingsKey> = &[
    (
        "'Number of outstanding IOs,test connection rate,transactions per connection",
        SettingsKey::Io,
    ),
    (
        "'Number of outstanding IOs,test connection rate,transactions per connection,\
         use fixed seed,fixed seed value",
        SettingsKey::IoWithSeed,
    ),
    ("'Disk maximum size,starting sector", SettingsKey::Disk),
    (
        "'Disk maximum size,starting sector,Data pattern",
        SettingsKey::DiskWithPattern,
    ),
    (
        "'Disk maximum size,starting sector,Use Random Data*",
        SettingsKey::DiskWithRandom,
    ),
    ("'Local network interface", SettingsKey::Interface),
    ("'VI outstanding IOs", SettingsKey::ViOutstanding),
    (BLOCK.end, SettingsKey::End),
];

/// Largest number of sectors that TOML and the kernel can express.
const MAX_SECTORS: u64 = i64::MAX as u64;

/// Reads the block after its first line.
pub(super) fn read(reader: &mut IcfReader<'_>) -> Result<TargetSettings, Diagnostic> {
    let mut settings = TargetSettings::default();
    loop {
        let line = reader.key(BLOCK)?;
        let key = reader.known(line, BLOCK, KEYS)?;
        if matches!(key, SettingsKey::End) {
            return Ok(settings);
        }
        let value = reader.value(line, BLOCK, KEYS)?;
        let mut scan = Scanner::new(value);
        match key {
            SettingsKey::Io => io(reader, &mut scan, &mut settings)?,
            SettingsKey::IoWithSeed => {
                io(reader, &mut scan, &mut settings)?;
                settings.use_fixed_seed = reader.switch(&mut scan, "use fixed seed")?;
                settings.fixed_seed = Seed(reader.wide(&mut scan, "fixed seed value")?);
            }
            SettingsKey::Disk => disk(reader, &mut scan, &mut settings)?,
            SettingsKey::DiskWithPattern => {
                disk(reader, &mut scan, &mut settings)?;
                settings.data_pattern = pattern(reader, &mut scan)?;
            }
            SettingsKey::DiskWithRandom => {
                refuse_random(reader, line)?;
                disk(reader, &mut scan, &mut settings)?;
                let random = reader.unsigned(&mut scan, "use random data")? != 0;
                settings.data_pattern = if random { 2 } else { 0 };
            }
            SettingsKey::Interface => {
                settings.network_interface = Some(value.trimmed().to_owned());
                // The whole line is the value, so there is no rest to warn about.
                continue;
            }
            SettingsKey::ViOutstanding => {
                let count = reader.unsigned(&mut scan, "number of outstanding IOs")?;
                settings.vi_outstanding_ios = Some(count);
            }
            SettingsKey::End => {}
        }
        reader.warn_about_trailing_text(scan);
    }
}

/// Only Iometer builds of spring 2010 know this key.
fn refuse_random(reader: &mut IcfReader<'_>, line: IcfLine<'_>) -> Result<(), Diagnostic> {
    let message = "`Use Random Data` is a key that Iometer 1.1.0 does not know";
    let finding = reader.at(line, message);
    reader.warn_or_fail(
        finding.help("write `Data pattern`: 0 repeating, 1 pseudo random, 2 full random"),
    )
}

fn io<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
    settings: &mut TargetSettings,
) -> Result<(), Diagnostic> {
    let at = scan.at();
    settings.outstanding_ios = reader.unsigned(scan, "number of outstanding IOs")?;
    if settings.outstanding_ios == 0 {
        let finding = reader.at_byte(scan.line(), at, "number of outstanding IOs is 0, 1 is used");
        reader.warn(finding.help("write 1"));
        settings.outstanding_ios = 1;
    }
    settings.test_connection_rate = reader.switch(scan, "test connection rate")?;
    settings.transactions_per_connection = reader.unsigned(scan, "transactions per connection")?;
    Ok(())
}

fn disk<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
    settings: &mut TargetSettings,
) -> Result<(), Diagnostic> {
    settings.max_size_sectors = sectors(reader, scan, "disk maximum size")?;
    settings.starting_sector = sectors(reader, scan, "starting sector")?;
    Ok(())
}

fn sectors<'a>(
    reader: &mut IcfReader<'a>,
    scan: &mut Scanner<'a>,
    name: &str,
) -> Result<u64, Diagnostic> {
    let at = scan.at();
    let sectors = reader.wide(scan, name)?;
    if sectors > MAX_SECTORS {
        let message = format!("{name} is beyond any disk; {MAX_SECTORS} is used");
        let finding = reader.at_byte(scan.line(), at, message);
        reader.warn(finding.help("write 0 for the whole disk"));
    }
    Ok(sectors.min(MAX_SECTORS))
}

fn pattern<'a>(reader: &mut IcfReader<'a>, scan: &mut Scanner<'a>) -> Result<u8, Diagnostic> {
    let at = scan.at();
    let pattern = reader.unsigned(scan, "data pattern")?;
    match u8::try_from(pattern).ok().filter(|pattern| *pattern <= 2) {
        Some(pattern) => Ok(pattern),
        None => {
            let message = format!("data pattern {pattern} is unknown, 0 is used");
            let finding = reader.at_byte(scan.line(), at, message);
            reader.warn_or_fail(finding.help("write 0, 1 or 2"))?;
            Ok(0)
        }
    }
}
