//! Options as settings: one line each.

mod access;
mod files;
mod records;
mod running;

pub(super) use records::WRONG_CONTENT;

use super::settings::Settings;
use super::values::Value;

/// What an option of that name, its main one, sets. Whether it sets anything.
///
/// # Errors
/// What is wanted of its value.
pub(super) fn apply(settings: &mut Settings, name: &str, value: &Value) -> Result<bool, String> {
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
