//! A running lab: creates, mounts and removes file systems.

mod bare;
mod built;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FallocateFlags, fallocate};
use serde::Serialize;

use crate::availability::{add_package_hint, kernel_type};
use crate::catalog::{CreationMethod, LabFileSystem};
use crate::choice::{ChoiceKind, FileSystemChoice};
use crate::clean::{begin, remove_own, remove_parent_directory};
use crate::command_line::shown;
use crate::device;
use crate::error::LabError;
use crate::journal::Journal;
use crate::labs_dir::{ANSWER, BASE, IMAGE, LOCK, MOUNT_POINT, TASK, make_directory};
use crate::medium::{LabMedium, MediumKind};
use crate::processes;
use crate::step::JournalStep;
use crate::tools;
use crate::undo::{remove_guest, undo};
use crate::vm::{Guest, GuestJob, Host, Image, Kernel};

/// Note for a file system that is served by a FUSE program.
const FUSE_NOTE: &str = "a FUSE program serves it through the page cache: direct I/O is not \
                      direct, and the program's CPU time is not part of the run";

/// A running lab. If it is dropped early, it removes everything it created.
#[derive(Debug)]
pub struct Lab {
    directory: PathBuf,
    journal: Journal,
    is_ended: bool,
    /// Lock held by this process and all processes that it starts.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is held, not used"))]
    lock: OwnedFd,
}

/// A file system that is created and mounted.
#[derive(Debug)]
pub struct BuiltFileSystem {
    /// Directory to measure in.
    pub directory: PathBuf,
    /// Block device under it.
    pub device: Option<PathBuf>,
    /// Description of the storage under it.
    pub medium: String,
    /// Command that created it; `None` for an existing directory.
    pub mkfs: Option<String>,
    /// Requested mount options, separated by commas.
    pub mount_options: String,
    /// Duration of its creation; `None` for an existing directory.
    pub mkfs_time: Option<Duration>,
    /// Deviations from the request.
    pub notes: Vec<String>,
    /// Mount points, the innermost last.
    points: Vec<PathBuf>,
}

impl Lab {
    /// Starts a lab in `directory`, which is created if necessary.
    ///
    /// # Errors
    /// If other users could change the content of the directory, or it cannot be written.
    pub fn begin(directory: &Path) -> Result<Self, LabError> {
        let (directory, lock, journal) = begin(directory)?;
        Ok(Self {
            directory,
            journal,
            is_ended: false,
            lock,
        })
    }

    /// Unique name of the lab.
    #[must_use]
    pub fn name(&self) -> String {
        let name = self.directory.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Creates a file system and mounts it. On failure, everything is removed again.
    ///
    /// # Errors
    /// Errors of the system or of its programs.
    pub fn build(
        &mut self,
        choice: &FileSystemChoice,
        medium: &LabMedium,
    ) -> Result<BuiltFileSystem, LabError> {
        let built = self.try_build(choice, medium);
        self.undo_on_error(built)
    }

    /// Unmounts a file system and removes everything that was created for it. Returns the duration
    /// of the unmount.
    ///
    /// # Errors
    /// If something could not be removed, with the reason.
    pub fn tear_down(&mut self, built: BuiltFileSystem) -> Result<Duration, LabError> {
        // Unmounted separately, so that the duration includes nothing else that is removed.
        let elapsed = built.unmount()?;
        self.undo()?;
        Ok(elapsed)
    }

    /// Creates a file system on an image, for guests to mount. On failure, everything is removed
    /// again.
    ///
    /// # Errors
    /// Errors of the system or of its programs, or if the file system cannot be on an image.
    pub fn build_image(
        &mut self,
        choice: &FileSystemChoice,
        medium: &LabMedium,
        kernel: &Kernel,
    ) -> Result<Image, LabError> {
        let image = self.try_build_image(choice, medium, kernel);
        self.undo_on_error(image)
    }

    /// Starts a guest on the image, with a task.
    ///
    /// # Errors
    /// If the guest cannot be started.
    pub fn boot<T: Serialize>(
        &mut self,
        image: &Image,
        task: T,
        host: &Host,
    ) -> Result<Guest, LabError> {
        if !self.journal.steps().contains(&JournalStep::Guest) {
            self.journal.note(JournalStep::Guest)?;
        }
        let answer = self.answer();
        // The answer of an earlier guest must not be taken for that of this one.
        remove_guest(&self.directory)?;
        let order = GuestJob::of_this_program(image.clone(), task, answer)?;
        order.write(&self.directory.join(TASK))?;
        Guest::start(&mut self.journal, &self.directory, host)
    }

    /// Path of the answer of the last guest that was started.
    #[must_use]
    pub fn answer(&self) -> PathBuf {
        self.directory.join(ANSWER)
    }

    /// Runs a program. Its process is in the journal before it does anything.
    pub(crate) fn run(&mut self, program: &str, arguments: &[String]) -> Result<String, LabError> {
        tools::run_journaled(&mut self.journal, program, arguments)
    }

    pub(crate) fn image_path(&self) -> PathBuf {
        self.directory.join(IMAGE)
    }

    /// Removes the image and the files that guests left next to it. No guest may be running.
    ///
    /// # Errors
    /// If something could not be removed, with the reason.
    pub fn remove_image(&mut self) -> Result<(), LabError> {
        self.undo()
    }

    /// Ends the lab and removes its directory.
    ///
    /// # Errors
    /// If something could not be removed, with the reason.
    pub fn end(mut self) -> Result<(), LabError> {
        // Set first: if removal fails here, the drop does not try again, and the caller has the
        // reason.
        self.is_ended = true;
        self.undo()?;
        remove_own(&self.directory)?;
        remove_parent_directory(&self.directory, self.journal.steps());
        Ok(())
    }

    /// Passes a result on; on failure, first removes everything that was created.
    fn undo_on_error<T>(&mut self, result: Result<T, LabError>) -> Result<T, LabError> {
        if result.is_err() {
            self.undo()?;
        }
        result
    }

    fn undo(&mut self) -> Result<(), LabError> {
        let undone = undo(&self.directory, self.journal.steps());
        match undone.left {
            Some(error) => Err(error),
            None => self.journal.forget(),
        }
    }

    fn try_build(
        &mut self,
        choice: &FileSystemChoice,
        medium: &LabMedium,
    ) -> Result<BuiltFileSystem, LabError> {
        let (entry, mkfs_options, asked) = match &choice.kind {
            ChoiceKind::Path(path) => return Ok(existing(path)),
            ChoiceKind::Created {
                entry,
                mkfs_options,
                mount_options,
            } => (*entry, mkfs_options, mount_options),
        };
        let mut built = BuiltFileSystem {
            directory: self.directory.join(MOUNT_POINT),
            device: None,
            medium: String::new(),
            mkfs: None,
            mount_options: joined(entry.mount_options, asked),
            mkfs_time: None,
            notes: Vec::new(),
            points: Vec::new(),
        };
        if entry.creation_method == CreationMethod::Memory {
            built.medium = format!("memory, {}", units::Bytes(medium.size_bytes));
            // Requested options come last, so that they override the lab's.
            built.mount_options = joined(&format!("size={}", medium.size_bytes), asked);
            self.mount("tmpfs", "tmpfs", MOUNT_POINT, &mut built)?;
            return Ok(built);
        }
        let device = self.device(medium, &mut built)?;
        self.mkfs(entry, mkfs_options, &device, &mut built)?;
        let types = entry.device_types();
        let kind = kernel_type(types, entry.mounter).unwrap_or(types[0]);
        if entry.creation_method == CreationMethod::Overlay {
            self.overlay(kind, &device, asked, &mut built)?;
        } else {
            self.mount(kind, &device, MOUNT_POINT, &mut built)?;
        }
        if built.is_fuse_mount() {
            built.notes.push(FUSE_NOTE.to_owned());
        }
        Ok(built)
    }

    fn try_build_image(
        &mut self,
        choice: &FileSystemChoice,
        medium: &LabMedium,
        kernel: &Kernel,
    ) -> Result<Image, LabError> {
        let ChoiceKind::Created {
            entry,
            mkfs_options,
            mount_options,
        } = &choice.kind
        else {
            let name = choice.label.clone();
            return Err(LabError::NotInGuest { what: name });
        };
        let point = self.directory.join(MOUNT_POINT);
        let mut built = existing(&point);
        built.medium = format!(
            "image in User-mode Linux, {}",
            units::Bytes(medium.size_bytes)
        );
        let image = self.image(medium.size_bytes, &mut built.notes)?;
        self.mkfs(
            entry,
            mkfs_options,
            &image.display().to_string(),
            &mut built,
        )?;
        make_directory(&point)?;
        Ok(Image {
            kind: entry.types[0].to_owned(),
            mount_options: joined(
                &joined(entry.guest_options, entry.mount_options),
                mount_options,
            ),
            point,
            modules: kernel.modules(entry.types[0]),
            medium: built.medium,
            mkfs: built.mkfs,
            mkfs_time: built.mkfs_time,
            notes: built.notes,
        })
    }

    /// The block device for the file system.
    fn device(
        &mut self,
        medium: &LabMedium,
        built: &mut BuiltFileSystem,
    ) -> Result<String, LabError> {
        let size = units::Bytes(medium.size_bytes);
        let path = match &medium.kind {
            MediumKind::Loop => {
                built.medium = format!("loop device, {size}");
                self.attach_loop_device(medium.size_bytes, built)?
            }
            MediumKind::Zram => {
                built.medium = format!("zram, {size}");
                self.zram(medium.size_bytes)?
            }
            MediumKind::Device(path) => {
                let permission = storage::Permission {
                    overwrite_devices: medium.overwrite_devices.clone(),
                    ..storage::Permission::default()
                };
                // Checked again, because the device may have been mounted since the check of the
                // request.
                let admitted = storage::admit(path, &permission)?;
                let size = units::Bytes(admitted.facts().size_bytes);
                built.medium = format!("{}, {size}", path.display());
                self.journal
                    .note(JournalStep::Device { path: path.clone() })?;
                path.display().to_string()
            }
        };
        built.device = Some(PathBuf::from(&path));
        Ok(path)
    }

    fn attach_loop_device(
        &mut self,
        size_bytes: u64,
        built: &mut BuiltFileSystem,
    ) -> Result<String, LabError> {
        let image = self.image(size_bytes, &mut built.notes)?;
        self.journal.note(JournalStep::Loop)?;
        let (path, is_direct) = device::attach(&mut self.journal, &image)?;
        if !is_direct {
            let note = "the loop device uses the page cache";
            built.notes.push(note.to_owned());
        }
        Ok(path)
    }

    /// A preallocated file of this size.
    fn image(&mut self, size_bytes: u64, notes: &mut Vec<String>) -> Result<PathBuf, LabError> {
        let image = self.directory.join(IMAGE);
        self.journal.note(JournalStep::Image { size_bytes })?;
        let failed = |error: io::Error| LabError::system("make", &image, error);
        let file = File::create_new(&image).map_err(failed)?;
        // Otherwise, the host's file system would allocate blocks during the measurement.
        match fallocate(&file, FallocateFlags::empty(), 0, size_bytes) {
            Ok(()) => {}
            Err(rustix::io::Errno::OPNOTSUPP) => {
                notes.push("the image is not preallocated".to_owned());
                file.set_len(size_bytes).map_err(failed)?;
            }
            Err(error) => return Err(failed(error.into())),
        }
        // The host must not write back the image's metadata while a workload runs.
        file.sync_all().map_err(failed)?;
        Ok(image)
    }

    /// A small image without content.
    pub(crate) fn empty_image(&mut self) -> Result<PathBuf, LabError> {
        self.image(1 << 20, &mut Vec::new())
    }

    fn zram(&mut self, size_bytes: u64) -> Result<String, LabError> {
        // The kernel chooses the number, so it is not known before the step.
        self.journal.note(JournalStep::ZramWanted {
            existing: device::zrams(),
            at: SystemTime::now(),
        })?;
        let control = Path::new("/sys/class/zram-control/hot_add");
        let number =
            device::create_zram().map_err(|error| LabError::system("read", control, error))?;
        self.journal.note(JournalStep::Zram {
            number,
            made_at: device::zram_created_at(number),
        })?;
        let path = format!("/dev/zram{number}");
        device::set_zram_size(number, size_bytes)
            .map_err(|error| LabError::system("size", Path::new(&path), error))?;
        Ok(path)
    }

    fn mkfs(
        &mut self,
        entry: &LabFileSystem,
        options: &[String],
        device: &str,
        built: &mut BuiltFileSystem,
    ) -> Result<(), LabError> {
        let Some((program, own)) = entry.mkfs.split_first() else {
            return Ok(());
        };
        let own = own.iter().map(|word| (*word).to_owned());
        let mut arguments: Vec<String> = own.chain(options.iter().cloned()).collect();
        built.mkfs = Some(shown(program, &arguments));
        arguments.push(device.to_owned());
        let command = shown(program, &arguments);
        self.journal.note(JournalStep::Mkfs { command })?;
        // After the journal's sync, which must not count as time of mkfs.
        let start = Instant::now();
        let result = self.run(program, &arguments);
        result.map_err(|error| add_package_hint(error, entry))?;
        built.mkfs_time = Some(start.elapsed());
        Ok(())
    }

    fn mount(
        &mut self,
        kind: &str,
        source: &str,
        name: &str,
        built: &mut BuiltFileSystem,
    ) -> Result<(), LabError> {
        let point = self.directory.join(name);
        make_directory(&point)?;
        self.journal.note(JournalStep::Mount {
            point: point.clone(),
        })?;
        let arguments = tools::mount_arguments(kind, &built.mount_options, source, &point);
        self.run("mount", &arguments)?;
        built.points.push(point);
        // Programs that `mount` starts and leaves, such as `nilfs_cleanerd`, share the lab's lock.
        self.journal_background_programs()
    }

    /// Adds programs to the journal that other programs left running, such as those that serve or
    /// clean a file system.
    fn journal_background_programs(&mut self) -> Result<(), LabError> {
        for (pid, start_ticks) in processes::sharers(&self.directory.join(LOCK)) {
            let is_it = |step: &JournalStep| {
                matches!(step, JournalStep::Process { pid: noted, start_ticks: at, .. }
                    if (*noted, *at) == (pid, start_ticks))
            };
            if !self.journal.steps().iter().any(is_it) {
                self.journal.note(JournalStep::Process {
                    pid,
                    start_ticks,
                    program: processes::name(pid),
                })?;
            }
        }
        Ok(())
    }

    /// Mounts the device, and an overlay of two of its directories.
    fn overlay(
        &mut self,
        kind: &str,
        device: &str,
        requested: &str,
        built: &mut BuiltFileSystem,
    ) -> Result<(), LabError> {
        // Requested options are for the overlay, not for the file system under it.
        built.mount_options = String::new();
        self.mount(kind, device, BASE, built)?;
        let base = self.directory.join(BASE);
        // `upperdir` and `workdir` must be on the same file system (Linux, overlayfs.rst).
        let parts = ["lower", "upper", "work"].map(|name| base.join(name));
        for part in &parts {
            make_directory(part)?;
        }
        let [lower, upper, work] = parts.map(|part| part.display().to_string());
        let own = format!("lowerdir={lower},upperdir={upper},workdir={work}");
        built.mount_options = joined(&own, requested);
        self.mount("overlay", "overlay", MOUNT_POINT, built)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // If something remains, `clean` reports the reason.
        if !self.is_ended && self.undo().is_ok() && remove_own(&self.directory).is_ok() {
            remove_parent_directory(&self.directory, self.journal.steps());
        }
    }
}

/// An existing directory, for which nothing is created.
fn existing(path: &Path) -> BuiltFileSystem {
    BuiltFileSystem {
        directory: path.to_owned(),
        device: None,
        medium: format!("existing directory `{}`", path.display()),
        mkfs: None,
        mount_options: String::new(),
        mkfs_time: None,
        notes: Vec::new(),
        points: Vec::new(),
    }
}

fn joined(first: &str, second: &str) -> String {
    let parts = [first, second].into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
