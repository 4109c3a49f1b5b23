//! Arguments of the commands that explain workload files.

use clap::Args;

use super::JsonArg;

/// Arguments of `keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    /// Only keys whose name or description contains this, such as `size`, `depth` or `steady`; a
    /// word of another program, such as fio's `numjobs`, finds the key for it here
    pub word: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}
