//! Arguments of the commands that explain workload files.

use clap::Args;
use clap_complete::ArgValueCompleter;

use crate::complete::values;

use super::JsonArg;

/// Arguments of `keys`.
#[derive(Debug, Args)]
pub(crate) struct KeysArgs {
    /// Only keys whose name or description contains this text, such as `size`, `depth` or `steady`;
    /// a term of another program, such as fio's `numjobs`, finds the corresponding key
    #[arg(add = ArgValueCompleter::new(values::keys))]
    pub word: Option<String>,
    #[command(flatten)]
    pub json: JsonArg,
}
