//! Arguments of `lab recover`.

use clap::Args;
use clap_complete::ArgValueCompleter;
use units::Bytes;

use super::count::within;
use super::file_systems::{LabPlaceArgs, TableArgs, VmArg};
use super::{NO_DB_ORDER, PageArgs};
use crate::complete::values;

pub(super) const HELP: &str = "\
Each trial makes a file system and mounts it in a guest, which creates, overwrites, appends to, \
replaces and removes files, with and without `fsync`. The guest is killed in the middle, so \
whatever its kernel had not yet written is lost. Another guest then mounts the image and reads \
every file.\n\
A change is promised once `fsync` or `fdatasync` of the file, and `fsync` of its directory, have \
returned. Exit code 0: every promise was kept; 1: one was not.\n\
`--fs` takes options as in `pgmeter lab run`: --fs 'ext4,mount=data=writeback'";

/// Arguments of `lab recover`.
#[derive(Debug, Args)]
pub(crate) struct LabRecoverArgs {
    /// File systems to create, with their options; repeatable
    #[arg(
        long,
        value_name = "LIST",
        default_value = "nilfs2,f2fs,ext4,xfs,btrfs",
        add = ArgValueCompleter::new(values::file_systems)
    )]
    pub fs: Vec<String>,
    /// The kernel to crash
    #[arg(long, value_name = "KIND", default_value = "uml")]
    pub vm: VmArg,
    /// Memory of each guest kernel
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub vm_memory: Bytes,
    /// Size of each image
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub image_size: Bytes,
    #[command(flatten)]
    pub place: LabPlaceArgs,
    /// Number of times to crash each file system
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = within::<u32>(1, 1000))]
    pub trials: u32,
    /// Seed of the file contents and of the time of each crash
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = within(0, u64::MAX))]
    pub seed: u64,
    /// Control experiment: sync nothing, but check as if everything had been synced; must find
    /// losses
    #[arg(long)]
    pub no_fsync: bool,
    /// Do not store the result
    #[arg(long, visible_alias = "no-store", display_order = NO_DB_ORDER)]
    pub no_db: bool,
    #[command(flatten)]
    pub table: TableArgs,
    #[command(flatten)]
    pub page: PageArgs,
}
