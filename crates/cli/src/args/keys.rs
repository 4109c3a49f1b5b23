//! Arguments of the commands that explain workload files.

use clap::Args;

/// Arguments of `keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    /// Only keys that are called so or that say so, such as `size`, `depth` or `steady`
    pub word: Option<String>,
    /// Print them as JSON
    #[arg(long)]
    pub json: bool,
}
