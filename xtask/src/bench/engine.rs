//! Measures pgmeter's own speed against fio, and against a bare loop that keeps statistics.

use std::path::{Path, PathBuf};

use end_to_end::Scratch;

use super::contest::{ComparedProgram, ProgramComparison, Requirement, word};
use super::programs::{BareLoop, Pgmeter, fio, fio_measure, with_fio_options};
use super::{BenchEffort, Interrupt, waiting};
use crate::error::Failure;

const FILE_BYTES: u64 = 256 << 20;
/// Queue depths, and the maximum cost per operation with the null engine and all accounting.
// Measurements were about 22 ns at depth 1 and 10 ns at depth 32.
const NULL_COST_NS_MAX: [(u32, f64); 2] = [(1, 25.0), (32, 12.0)];
// The release program needed 15.2 MiB when this limit was set.
const PEAK_KIB_MAX: u64 = 16 << 10;

/// Runs all comparisons and returns the number of missed requirements.
pub fn run(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let lab = EngineBench::new(effort)?;
    let contests: [fn(&EngineBench) -> ProgramComparison<'_>; 9] = [
        null,
        cached_on_disk,
        cached_in_memory,
        psync,
        sequential,
        |lab| emulation_by_ring("as fio by io_uring, 4 KiB on tmpfs", lab, &lab.memory),
        |lab| emulation_by_ring("as fio by io_uring, 4 KiB on ext4", lab, &lab.disk),
        |lab| emulation_by_calls("as fio by psync, 4 KiB on tmpfs", lab, &lab.memory),
        |lab| emulation_by_calls("as fio by psync, 4 KiB on ext4", lab, &lab.disk),
    ];
    let mut missed_count = 0;
    for contest in contests {
        let contest = contest(&lab);
        if effort.wants(contest.title) {
            missed_count += contest.hold(effort.rounds_or(5), interrupt)?;
        }
    }
    missed_count += waiting::run(&lab.pgmeter, effort, interrupt)?;
    missed_count += lab.null_cost(interrupt)?;
    missed_count += lab.memory(interrupt)?;
    Ok(missed_count)
}

/// Checks for changes near the measurement loop: only bare loops of the same calls.
pub fn guard(effort: &BenchEffort, interrupt: &Interrupt) -> Result<usize, Failure> {
    let lab = EngineBench::new(effort)?;
    let mut missed_count = 0;
    for (title, block_bytes, place) in [
        (CACHED_ON_DISK, 512, &lab.disk),
        (CACHED_IN_MEMORY, 4096, &lab.memory),
    ] {
        let contest = ProgramComparison {
            title,
            unit: "IOPS",
            contestants: vec![
                lab.ours(random_reads(&block_bytes.to_string(), 128), Some(place)),
                lab.bare(block_bytes, place),
            ],
            requirements: vec![BARE_LOOP],
        };
        if effort.wants(title) {
            missed_count += contest.hold(effort.rounds_or(5), interrupt)?;
        }
    }
    missed_count += lab.null_cost(interrupt)?;
    Ok(missed_count)
}

const CACHED_ON_DISK: &str = "cached random reads, 512 B on ext4, depth 128";
const CACHED_IN_MEMORY: &str = "cached random reads, 4 KiB on tmpfs, depth 128";
const BARE_LOOP: Requirement = Requirement {
    against: "bare loop",
    ratio_min: 0.97,
};

/// Common setup of all comparisons.
struct EngineBench {
    pgmeter: Pgmeter,
    bare_loop: BareLoop,
    disk: BenchDirectory,
    memory: BenchDirectory,
    seconds: u64,
    effort: BenchEffort,
}

/// A directory to measure, with a file for programs that do not create their own.
struct BenchDirectory {
    scratch: Scratch,
    file: PathBuf,
}

impl BenchDirectory {
    fn new(scratch: Scratch) -> Result<BenchDirectory, Failure> {
        let file = scratch.join("fio.dat");
        let mut command = fio(&[
            format!("--filename={}", file.display()),
            format!("--size={FILE_BYTES}"),
            "--rw=write".to_owned(),
            "--bs=1m".to_owned(),
            // Different content in each block, as pgmeter writes it.
            "--refill_buffers".to_owned(),
            // `with_fio_options` sets it, but this file must be written exactly once.
            "--time_based=0".to_owned(),
        ]);
        fio_measure(&mut command)?;
        Ok(BenchDirectory { scratch, file })
    }

    fn path(&self) -> &Path {
        self.scratch.path()
    }
}

impl EngineBench {
    fn new(effort: &BenchEffort) -> Result<EngineBench, Failure> {
        Ok(EngineBench {
            pgmeter: Pgmeter::of(effort)?,
            bare_loop: BareLoop::build()?,
            disk: BenchDirectory::new(Scratch::new()?)?,
            memory: BenchDirectory::new(Scratch::in_memory()?)?,
            seconds: effort.seconds_or(3),
            effort: effort.clone(),
        })
    }

    /// pgmeter's rate with these settings.
    fn ours<'a>(
        &'a self,
        settings: String,
        directory: Option<&'a BenchDirectory>,
    ) -> ComparedProgram<'a> {
        let text = self.workload(&settings);
        let target = directory.map(BenchDirectory::path);
        ComparedProgram {
            name: "pgmeter",
            measure: Box::new(move || Ok(self.pgmeter.measure(&text, target)?.iops)),
        }
    }

    fn workload(&self, settings: &str) -> String {
        let seconds = self.seconds;
        format!(
            "run_time = {seconds}\nramp_time = \"500ms\"\nwarm = true\n\
             size = {FILE_BYTES}\n{settings}"
        )
    }

    /// fio's rate with these options, after the same ramp.
    fn fio<'a>(
        &'a self,
        name: &'static str,
        options: &str,
        directory: &'a BenchDirectory,
    ) -> ComparedProgram<'a> {
        let all = self.options(options, directory);
        ComparedProgram {
            name,
            measure: Box::new(move || Ok(fio_measure(&mut fio(&all))?.iops)),
        }
    }

    /// pgmeter's rate with fio's options.
    fn as_fio<'a>(&'a self, options: &str, directory: &'a BenchDirectory) -> ComparedProgram<'a> {
        let mut all = self.options(options, directory);
        // Necessary because the file is new each time.
        all.push("--pre_read=1".to_owned());
        ComparedProgram {
            name: "as fio",
            measure: Box::new(move || {
                let command = self.pgmeter.as_classic("fio");
                Ok(fio_measure(&mut with_fio_options(command, &all))?.iops)
            }),
        }
    }

    fn options(&self, options: &str, directory: &BenchDirectory) -> Vec<String> {
        let mut all: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
        all.push(format!("--filename={}", directory.file.display()));
        all.push(format!("--size={FILE_BYTES}"));
        all.push(format!("--runtime={}", self.seconds));
        all.push("--ramp_time=500ms".to_owned());
        // The page cache is kept, because it is what this measures.
        all.push("--invalidate=0".to_owned());
        all
    }

    fn bare<'a>(&'a self, block_bytes: u64, directory: &'a BenchDirectory) -> ComparedProgram<'a> {
        ComparedProgram {
            name: "bare loop",
            measure: Box::new(move || {
                self.bare_loop
                    .measure(&directory.file, block_bytes, self.seconds)
            }),
        }
    }

    /// Cost per operation with the null engine, from the rate.
    fn null_cost(&self, interrupt: &Interrupt) -> Result<usize, Failure> {
        if !self.effort.wants("null cost") {
            return Ok(0);
        }
        let mut missed_count = 0;
        for (iodepth, cost_ns_max) in NULL_COST_NS_MAX {
            let text = self.workload(&null_workload(iodepth));
            let mut costs_ns = Vec::new();
            for _ in 0..self.effort.rounds_or(5) {
                interrupt.check()?;
                // One worker is busy all the time, so the inverse of its rate is the cost.
                costs_ns.push(1e9 / self.pgmeter.measure(&text, None)?.iops);
            }
            let cost_ns = super::contest::median(&costs_ns);
            let is_met = cost_ns <= cost_ns_max;
            println!("\nnull cost at depth {iodepth}: {cost_ns:.1} ns an operation");
            println!("  {} at most {cost_ns_max} ns", word(is_met));
            missed_count += usize::from(!is_met);
        }
        Ok(missed_count)
    }

    /// Peak resident set size at queue depth 128 and 4 KiB.
    fn memory(&self, interrupt: &Interrupt) -> Result<usize, Failure> {
        if !self.effort.wants("peak memory") {
            return Ok(0);
        }
        interrupt.check()?;
        let text = self.workload(&random_reads("4k", 128));
        let peak_kib = self
            .pgmeter
            .measure(&text, Some(self.memory.path()))?
            .peak_kib;
        // 0 means that no reading was made, which proves nothing.
        let is_met = peak_kib > 0 && peak_kib <= PEAK_KIB_MAX;
        println!(
            "\npeak memory at depth 128 and 4 KiB: {:.1} MiB",
            peak_kib as f64 / 1024.0
        );
        println!("  {} at most {} MiB", word(is_met), PEAK_KIB_MAX >> 10);
        Ok(usize::from(!is_met))
    }
}

fn null_workload(iodepth: u32) -> String {
    format!(
        "engine = \"null\"\niodepth = {iodepth}\n\
         [[access_spec]]\nline = [{{ size = \"4k\", random = 100, align = \"4k\" }}]\n"
    )
}

const PSYNC_READS: &str = "engine = \"psync\"\ncache = \"buffered\"\niodepth = 1\n\
    [[access_spec]]\nline = [{ size = \"4k\", random = 100, align = \"4k\" }]\n";

/// Tuned options for fio: everything registered, no block map, batches of 32.
const FIO_TUNED: &str = "--ioengine=io_uring --fixedbufs --registerfiles --norandommap \
    --iodepth=128 --iodepth_batch_submit=32 --iodepth_batch_complete_min=1 \
    --iodepth_batch_complete_max=32 --rw=randread --direct=0";
/// Typical options of users.
const FIO_PLAIN: &str = "--ioengine=io_uring --iodepth=128 --rw=randread --direct=0";

fn random_reads(size: &str, iodepth: u32) -> String {
    format!(
        "engine = \"io_uring\"\ncache = \"buffered\"\niodepth = {iodepth}\n\
         [[access_spec]]\nline = [{{ size = \"{size}\", random = 100, align = \"{size}\" }}]\n"
    )
}

fn null(lab: &EngineBench) -> ProgramComparison<'_> {
    let options = "--ioengine=null --iodepth=32 --rw=randread --bs=4k";
    ProgramComparison {
        title: "null engine, depth 32",
        unit: "IOPS",
        contestants: vec![
            lab.ours(null_workload(32), None),
            lab.fio("fio", options, &lab.memory),
        ],
        requirements: vec![Requirement {
            against: "fio",
            ratio_min: 3.0,
        }],
    }
}

fn cached_on_disk(lab: &EngineBench) -> ProgramComparison<'_> {
    ProgramComparison {
        title: CACHED_ON_DISK,
        unit: "IOPS",
        contestants: vec![
            lab.ours(random_reads("512", 128), Some(&lab.disk)),
            lab.fio("fio tuned", &format!("{FIO_TUNED} --bs=512"), &lab.disk),
            lab.fio("fio plain", &format!("{FIO_PLAIN} --bs=512"), &lab.disk),
            lab.bare(512, &lab.disk),
        ],
        requirements: vec![
            Requirement {
                against: "fio tuned",
                ratio_min: 1.1,
            },
            Requirement {
                against: "fio plain",
                ratio_min: 1.8,
            },
            BARE_LOOP,
        ],
    }
}

fn cached_in_memory(lab: &EngineBench) -> ProgramComparison<'_> {
    ProgramComparison {
        title: CACHED_IN_MEMORY,
        unit: "IOPS",
        contestants: vec![
            lab.ours(random_reads("4k", 128), Some(&lab.memory)),
            lab.fio("fio tuned", &format!("{FIO_TUNED} --bs=4k"), &lab.memory),
            lab.fio("fio plain", &format!("{FIO_PLAIN} --bs=4k"), &lab.memory),
            lab.bare(4096, &lab.memory),
        ],
        requirements: vec![
            Requirement {
                against: "fio tuned",
                ratio_min: 1.1,
            },
            Requirement {
                against: "fio plain",
                ratio_min: 1.1,
            },
            BARE_LOOP,
        ],
    }
}

fn psync(lab: &EngineBench) -> ProgramComparison<'_> {
    let options = "--ioengine=psync --rw=randread --bs=4k --direct=0";
    ProgramComparison {
        title: "psync, cached random reads, 4 KiB on tmpfs",
        unit: "IOPS",
        contestants: vec![
            lab.ours(PSYNC_READS.to_owned(), Some(&lab.memory)),
            lab.fio("fio", options, &lab.memory),
        ],
        requirements: vec![Requirement {
            against: "fio",
            ratio_min: 1.2,
        }],
    }
}

fn sequential(lab: &EngineBench) -> ProgramComparison<'_> {
    let settings = "engine = \"io_uring\"\ncache = \"buffered\"\niodepth = 8\n\
        [[access_spec]]\nline = [{ size = \"1MiB\" }]\n";
    let options = "--ioengine=io_uring --fixedbufs --registerfiles --iodepth=8 --rw=read \
        --bs=1m --direct=0";
    ProgramComparison {
        title: "sequential reads, 1 MiB on ext4, cached, depth 8",
        unit: "IOPS",
        contestants: vec![
            lab.ours(settings.to_owned(), Some(&lab.disk)),
            lab.fio("fio tuned", options, &lab.disk),
        ],
        requirements: vec![Requirement {
            against: "fio tuned",
            ratio_min: 1.0,
        }],
    }
}

/// fio's tuned options given to pgmeter's fio emulation, compared with a workload and with fio.
fn emulation_by_ring<'a>(
    title: &'static str,
    lab: &'a EngineBench,
    directory: &'a BenchDirectory,
) -> ProgramComparison<'a> {
    let options = format!("{FIO_TUNED} --bs=4k");
    let workload = lab.ours(random_reads("4k", 128), Some(directory));
    emulation_contest(lab, title, &options, workload, directory)
}

/// The same with system calls instead of a ring.
fn emulation_by_calls<'a>(
    title: &'static str,
    lab: &'a EngineBench,
    directory: &'a BenchDirectory,
) -> ProgramComparison<'a> {
    let options = "--ioengine=psync --rw=randread --bs=4k --direct=0 --norandommap";
    let workload = lab.ours(PSYNC_READS.to_owned(), Some(directory));
    emulation_contest(lab, title, options, workload, directory)
}

fn emulation_contest<'a>(
    lab: &'a EngineBench,
    title: &'static str,
    options: &str,
    workload: ComparedProgram<'a>,
    directory: &'a BenchDirectory,
) -> ProgramComparison<'a> {
    ProgramComparison {
        title,
        unit: "IOPS",
        contestants: vec![
            lab.as_fio(options, directory),
            workload,
            lab.fio("fio", options, directory),
        ],
        requirements: vec![
            Requirement {
                against: "pgmeter",
                ratio_min: 0.98,
            },
            Requirement {
                against: "fio",
                ratio_min: 1.1,
            },
        ],
    }
}
