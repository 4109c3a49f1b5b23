//! What `lab` and `paper` make file systems of, as the arguments say it.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lab::vm::Host;
use lab::{Aging, Choice, ChoiceKind, Ground, LabError, Maker, Medium, Scale};
use units::Bytes;

use crate::args::{GroundArgs, VmArg};
use crate::failure::{Exit, Failure};

/// Set for the program that runs in a user namespace, where it may mount a tmpfs.
const INSIDE: &str = "PGMETER_LAB_INSIDE";

/// What the arguments say.
pub(crate) struct Asked {
    pub choices: Vec<Choice>,
    pub ground: Ground,
    pub directory: PathBuf,
    pub scale: Scale,
    /// What runs the kernels that the file systems are in; none where it is this one.
    pub host: Option<Host>,
    /// To what each file system is brought first.
    pub aging: Option<Aging>,
}

impl Asked {
    /// Reads the arguments, and refuses what can be seen to fail.
    pub fn read(
        args: &GroundArgs,
        seed: Option<u64>,
        targets: &[PathBuf],
    ) -> Result<Self, Failure> {
        let mut asked = Self::read_unchecked(args, seed, targets)?;
        match args.vm {
            Some(VmArg::Uml) => {
                let memory_bytes = args.vm_memory.0;
                let ground = &asked.ground;
                let host = lab::vm::check(&asked.choices, ground, &asked.directory, memory_bytes)?;
                asked.host = Some(host);
            }
            None => {
                become_root_of_a_namespace(&asked.choices)?;
                lab::check(&asked.choices, &asked.ground, &asked.directory)?;
            }
        }
        Ok(asked)
    }

    /// Reads the arguments; in a guest, whose host has checked them.
    pub fn read_unchecked(
        args: &GroundArgs,
        seed: Option<u64>,
        targets: &[PathBuf],
    ) -> Result<Self, Failure> {
        if args.fs.is_empty() && targets.is_empty() {
            let help = Some("name some, as in `--fs ext4,xfs,tmpfs`".to_owned());
            let message = "no file system is named";
            return Err(Failure::new(Exit::Usage, message, help));
        }
        let choices = match targets {
            [] => Choice::read_all(&args.fs)?,
            targets => targets.iter().map(|path| Choice::of_path(path)).collect(),
        };
        let ground = Ground {
            medium: args.on.parse()?,
            size_bytes: args.image_size.0,
            overwrite_devices: args.overwrite_device.clone(),
        };
        let directory = args
            .place
            .dir
            .clone()
            .unwrap_or_else(lab::default_directory);
        let scale = args.scale.parse()?;
        let aging = aging(args.age.as_deref(), seed, &choices)?;
        Ok(Self {
            choices,
            ground,
            directory,
            scale,
            host: None,
            aging,
        })
    }

    /// What aging leaves free.
    pub fn free_share(&self) -> f64 {
        let fullness = self.aging.map_or(0.0, |aging| aging.fullness.fraction());
        1.0 - fullness
    }

    /// What holds for all that is printed.
    pub fn remarks(&self) -> Vec<String> {
        let scale = (!self.scale.is_full()).then(|| {
            format!(
                "scale {}: every workload at {} of its files, bytes and times (PostMark's pool at \
                 the square root), but never too small to mean anything",
                self.scale, self.scale
            )
        });
        let aged = self.aging.as_ref().map(aged_before);
        if let Some(host) = &self.host {
            let guest = in_guests(host);
            return scale.into_iter().chain([guest]).chain(aged).collect();
        }
        let medium =
            self.choices
                .iter()
                .any(Choice::needs_device)
                .then(|| match &self.ground.medium {
                    Medium::Loop => {
                        "each on a loop device with direct I/O on a preallocated image, one at \
                             a time"
                            .to_owned()
                    }
                    Medium::Zram => {
                        "each on a zram device, one at a time: compressed memory, so the processor \
                             is measured rather than a disk"
                            .to_owned()
                    }
                    Medium::Device(path) => format!("each on `{}`, one at a time", path.display()),
                });
        scale.into_iter().chain(medium).chain(aged).collect()
    }
}

/// What `--age` says; file systems that are there already are not filled.
fn aging(
    asked: Option<&str>,
    seed: Option<u64>,
    choices: &[Choice],
) -> Result<Option<Aging>, LabError> {
    let Some(asked) = asked else {
        return Ok(None);
    };
    let aging: Aging = asked.parse()?;
    for choice in choices {
        if let ChoiceKind::Path(path) = &choice.kind {
            return Err(LabError::AgeOfPath { path: path.clone() });
        }
    }
    Ok(Some(seed.map_or(aging, |seed| aging.seeded(seed))))
}

/// What was done to file systems before the workload.
fn aged_before(aging: &Aging) -> String {
    format!(
        "each filled to {} first and then aged by writing {} times that much (`--age {aging} \
         --seed {}`)",
        aging.fullness, aging.churn, aging.seed
    )
}

/// What holds for figures of guests.
fn in_guests(host: &Host) -> String {
    format!(
        "each on an image in User-mode Linux {} with {} of memory, one at a time: counts and bytes \
         are valid, times are not",
        host.kernel.release,
        Bytes(host.memory_bytes)
    )
}

/// Starts this program again in a user namespace, where an ordinary user may mount a tmpfs, when
/// that is all that is asked for.
fn become_root_of_a_namespace(choices: &[Choice]) -> Result<(), Failure> {
    let is_memory = |choice: &&Choice| {
        choice
            .entry()
            .is_some_and(|entry| entry.maker == Maker::Memory)
    };
    let is_wanted = choices.iter().any(|choice| is_memory(&choice))
        && !choices.iter().any(Choice::needs_device)
        && !rustix::process::geteuid().is_root()
        && std::env::var_os(INSIDE).is_none();
    if !is_wanted {
        return Ok(());
    }
    let own = std::env::current_exe()
        .map_err(|error| Failure::system("cannot find this program", &error))?;
    let unshare = |program: &Path| {
        let mut command = Command::new("unshare");
        command
            .args(["--user", "--map-root-user", "--mount", "--"])
            .arg(program);
        command
    };
    let mut trial = unshare(Path::new("true"));
    trial
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if !trial.status().is_ok_and(|status| status.success()) {
        let what = "mounting tmpfs, as there are no user namespaces here,".to_owned();
        return Err(LabError::NotRoot { what }.into());
    }
    let mut again = unshare(&own);
    again.args(std::env::args_os().skip(1)).env(INSIDE, "1");
    Err(Failure::system("cannot start `unshare`", &again.exec()))
}
