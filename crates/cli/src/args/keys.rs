//! Arguments of the commands that explain workload files.

use clap::Args;

use super::JsonArg;

/// Arguments of `keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    /// Only keys that are called so or that say so, such as `size`, `depth` or `steady`
    pub word: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}
