//! Arguments of `lab recover`.

use clap::Args;
use units::Bytes;

use super::lab::{LabPlaceArgs, TableArgs, VmArg};

pub(super) const HELP: &str = "\
Each trial makes a file system and mounts it in a guest, where files are made, overwritten, \
appended to, replaced and removed, with and without `fsync`; the guest is killed in the middle, so \
that all is lost that its kernel had not written. Another guest mounts the image and reads every \
file.\n\
Promised is what `fsync` or `fdatasync` of the file and `fsync` of its directory have returned \
for. Exit code 0: all of it was there; 1: something was not.\n\
`--fs` takes options as in `pgmeter lab run`: --fs 'ext4,mount=data=writeback'";

/// Arguments of `lab recover`.
#[derive(Debug, Args)]
pub(crate) struct LabRecoverArgs {
    /// File systems, each with its options; repeatable
    #[arg(
        long,
        value_name = "LIST",
        default_value = "nilfs2,f2fs,ext4,xfs,btrfs"
    )]
    pub fs: Vec<String>,
    /// The kernel that is killed
    #[arg(long, value_name = "KIND", default_value = "uml")]
    pub vm: VmArg,
    /// Memory of each such kernel
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub vm_memory: Bytes,
    /// Bytes of the image, the same for all
    #[arg(long, value_name = "SIZE", default_value = "512MiB")]
    pub image_size: Bytes,
    #[command(flatten)]
    pub place: LabPlaceArgs,
    /// How often each file system is killed
    #[arg(long, value_name = "N", default_value_t = 5,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub trials: u32,
    /// Seed of what is written, and of when the kernel is killed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Promise all the same, but sync nothing: shows that the check finds what is lost
    #[arg(long)]
    pub no_fsync: bool,
    /// Do not store the result
    #[arg(long, visible_alias = "no-store")]
    pub no_db: bool,
    #[command(flatten)]
    pub table: TableArgs,
}
