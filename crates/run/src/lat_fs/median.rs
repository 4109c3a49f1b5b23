//! Version 3: samples that are long enough, each in a new tree of directories, by workers that
//! know nothing of each other.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use engine::{Clock, with_own_descriptors};
use generate::classics::tree_names;
use generate::{Rng, mix};
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use workload::classics::lat_fs::{Calibration, Sample};
use workload::classics::{Chain, PassPlan};

use super::{Row, Settings, file_options, pass, write_bytes};
use crate::RunError;
use crate::own_files::{Halt, OwnFiles, open_location};
use crate::together::together;

/// Names that are tried for a new directory.
const ATTEMPTS: u32 = 100;
/// What a name's random part is below.
const NAME_LIMIT: u64 = 1 << 32;

/// What the samples are like.
pub(super) struct Samples {
    pub files_per_directory: u32,
    pub repetitions: u32,
    pub sample_ns: u64,
}

/// What is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Test {
    Create,
    Remove,
}

/// The row of a size; what it says is incomplete if it was stopped.
pub(super) fn measure(
    settings: &Settings<'_>,
    size_bytes: u64,
    samples: &Samples,
    clock: &(impl Clock + Sync),
    halt: &Halt<'_>,
) -> Result<Row, RunError> {
    let worker_count = settings.worker_count.max(1);
    let median = |test| {
        let busy_count = AtomicU32::new(worker_count);
        // One each, so that a worker that never starts is not waited for.
        let busy = (0..worker_count).map(|_| Busy(&busy_count));
        let done = together((0..).zip(busy), halt, |(worker_index, busy)| {
            let mut worker = Worker {
                settings,
                chain: settings.plan.create(size_bytes),
                files_per_directory: samples.files_per_directory,
                test,
                clock,
                rng: Rng::new(mix(settings.seed ^ worker_index)),
            };
            // All that it opens it closes.
            with_own_descriptors(|| worker.work(samples, busy, halt))
        })?;
        Ok::<_, RunError>(Sample::median(&done.concat()))
    };
    Ok(Row::Median {
        size_bytes,
        create: median(Test::Create)?,
        remove: median(Test::Remove)?,
    })
}

/// A worker that does not have its samples yet.
struct Busy<'a>(&'a AtomicU32);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Worker<'a, C> {
    settings: &'a Settings<'a>,
    chain: Chain,
    files_per_directory: u32,
    test: Test,
    clock: &'a C,
    rng: Rng,
}

impl<C: Clock> Worker<'_, C> {
    /// Takes this worker's samples, and goes on until the last worker has its own.
    fn work(
        &mut self,
        samples: &Samples,
        busy: Busy<'_>,
        halt: &Halt<'_>,
    ) -> Result<Vec<Sample>, RunError> {
        let mut calibration = Calibration::new(samples.repetitions, samples.sample_ns);
        let mut file_count = 1;
        let start_ns = self.clock.now_ns();
        while self.since(start_ns) < self.settings.warm_up_ns && !halt.is_set() {
            self.sample(file_count, halt)?;
        }
        while let Some(count) = calibration.next_count() {
            file_count = count;
            let time_ns = self.sample(count, halt)?;
            if halt.is_set() {
                return Ok(Vec::new());
            }
            calibration.add(time_ns);
        }
        let busy_count = busy.0;
        drop(busy);
        while busy_count.load(Ordering::Relaxed) > 0 && !halt.is_set() {
            self.sample(file_count, halt)?;
        }
        Ok(calibration.samples().to_vec())
    }

    /// Creates and removes so many files in a new tree; how long the one that is tested took.
    fn sample(&mut self, file_count: u32, halt: &Halt<'_>) -> Result<u64, RunError> {
        let home = Home::new(self.settings.directory, &mut self.rng)?;
        let mut files = OwnFiles::new(
            home.open()?,
            &home.path,
            tree_names(file_count, self.files_per_directory),
            file_options(),
            write_bytes(&self.chain),
        )?;
        let Settings { plan, seed, .. } = *self.settings;
        let create = pass(self.chain, plan.create_order(), file_count, seed);
        let remove = pass(Chain::Remove, plan.order, file_count, seed);
        let mut time_ns = 0;
        for (test, pass) in [(Test::Create, &create), (Test::Remove, &remove)] {
            let pass_ns = self.timed(&mut files, pass, halt)?;
            if test == self.test {
                time_ns = pass_ns;
            }
        }
        files.remove()?;
        Ok(time_ns)
    }

    fn timed(
        &self,
        files: &mut OwnFiles,
        plan: &PassPlan,
        halt: &Halt<'_>,
    ) -> Result<u64, RunError> {
        let start_ns = self.clock.now_ns();
        files.carry_out(plan, halt, &mut ())?;
        Ok(self.since(start_ns))
    }

    fn since(&self, start_ns: u64) -> u64 {
        self.clock.now_ns().saturating_sub(start_ns)
    }
}

/// A directory of this run's own, removed when this value goes.
struct Home {
    parent: OwnedFd,
    name: String,
    path: PathBuf,
}

impl Home {
    fn new(parent: &Path, rng: &mut Rng) -> Result<Self, RunError> {
        let opened = open_location(parent)?;
        for _ in 0..ATTEMPTS {
            let name = format!("lat_fs_{:08x}", rng.below(NAME_LIMIT));
            match rustix::fs::mkdirat(&opened, &name, Mode::RWXU) {
                Ok(()) => {
                    return Ok(Self {
                        parent: opened,
                        path: parent.join(&name),
                        name,
                    });
                }
                Err(Errno::EXIST) => {}
                Err(errno) => {
                    return Err(RunError::file("make", &parent.join(name), errno));
                }
            }
        }
        let path = parent.join("lat_fs_*");
        Err(RunError::file("make", &path, Errno::EXIST))
    }

    fn open(&self) -> Result<OwnedFd, RunError> {
        open_location(&self.path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR);
    }
}
