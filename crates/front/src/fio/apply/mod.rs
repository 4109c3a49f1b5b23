//! Applies options to settings, with one line per option.

mod access;
mod files;
mod records;
mod running;

pub(super) use records::VERIFY_ERROR;

use super::settings::FioSettings;
use super::values::OptionValue;

/// Applies the option with this main name. Returns `true` if the option has a setting.
///
/// # Errors
/// A value that the option does not accept; the text says which values it does.
pub(super) fn apply(
    settings: &mut FioSettings,
    name: &str,
    value: &OptionValue,
) -> Result<bool, String> {
    Ok(access::apply(settings, name, value)?
        || access::apply_places(settings, name, value)?
        || files::apply(settings, name, value)?
        || files::apply_engine(settings, name, value)
        || running::apply(settings, name, value)?
        || running::apply_process(settings, name, value)?
        || records::apply_verify(settings, name, value)?
        || records::apply_content(settings, name, value)?
        || records::apply_replay(settings, name, value)?
        || records::apply_logs(settings, name, value))
}
