//! Converts access specifications to equivalent jobs.

use description::model::{
    AccessSpec, FilesChoice, IDLE, JobFileChoice, JobTable, OneOrMany, Worker, Workload,
};
use plan::job::{FileCache, Layout};
use plan::{ArrivalKind, CursorKind, EngineKind};
use plan::{Diagnostic, TcpAddress, printable};
use units::{Bytes, Percent, Rate, Span};

use super::JobList;
use super::lines::{self, UsedLines};

/// Name of the file that all workers share in a directory.
const FILE_NAME: &str = "testfile";

/// Characters that are not allowed in names of sections.
const FORBIDDEN_IN_NAMES: [char; 5] = ['[', ']', ';', '#', '$'];

/// Replaces characters that are not allowed in names of sections with a comma.
fn of_name(character: char) -> char {
    let is_cut = FORBIDDEN_IN_NAMES.contains(&character) || character.is_control();
    if is_cut { ',' } else { character }
}

/// Workers with the same configuration.
struct IdenticalWorkers {
    table: Worker,
    count: u32,
    /// Numbers of their targets, from 1; empty to use the directory in which fio runs.
    targets: Vec<u32>,
}

/// The jobs of a workload with access specifications, as one wave per cell.
///
/// # Errors
/// The first key without an equivalent in fio.
pub(super) fn jobs(
    workload: &Workload,
    is_file: &dyn Fn(&str) -> bool,
) -> Result<JobList, Diagnostic> {
    let mut list = JobList {
        is_reported_together: true,
        ..JobList::default()
    };
    let groups = groups(workload, &mut list.targets)?;
    if let Some(peer) = list.targets.iter().find(|it| TcpAddress::is_tcp_name(it)) {
        let message = format!(
            "fio cannot do the target `{}`: it is a TCP peer",
            printable(peer)
        );
        return Err(Diagnostic::error("", message).help("name a directory, a file or a device"));
    }
    let cells = Cells {
        workload,
        groups: &groups,
        is_file: list
            .targets
            .iter()
            .map(|it| is_device(it) || is_file(it))
            .collect(),
    };
    let step_count = groups.iter().map(|group| cells.specs_of(group).len()).max();
    for step in 0..step_count.unwrap_or(0) {
        cells.step(step, &mut list)?;
    }
    if list.tables.is_empty() {
        let name = printable(workload.name_or_default());
        let message = format!("`{name}` asks for no requests");
        return Err(Diagnostic::error("", message).help("add an `[[access_spec]]` with lines"));
    }
    cells.warn(&mut list);
    Ok(list)
}

fn is_device(path: &str) -> bool {
    path.starts_with("/dev/") && !path.starts_with("/dev/shm/")
}

fn groups(
    workload: &Workload,
    targets: &mut Vec<String>,
) -> Result<Vec<IdenticalWorkers>, Diagnostic> {
    let own = workload
        .targets
        .as_ref()
        .map_or(&[][..], OneOrMany::as_slice);
    let mut group = |table: Worker, count| {
        let names = table.targets.as_ref().map_or(own, OneOrMany::as_slice);
        let mut number = |name: &String| {
            let known = targets.iter().position(|it| it == name);
            let index = known.unwrap_or_else(|| {
                targets.push(name.clone());
                targets.len() - 1
            });
            index as u32 + 1
        };
        let targets = names.iter().map(&mut number).collect();
        IdenticalWorkers {
            table,
            count,
            targets,
        }
    };
    if workload.worker.is_empty() {
        return Ok(vec![group(
            Worker::default(),
            workload.workers.unwrap_or(1),
        )]);
    }
    let count = |it: &Worker| it.count.unwrap_or(1);
    let written: u32 = workload.worker.iter().map(count).sum();
    if workload.workers.is_some_and(|workers| workers != written) {
        let message = "fio cannot do `workers`: it is not the number of workers in `[[worker]]`";
        return Err(Diagnostic::error("", message).help("write `count` in each `[[worker]]`"));
    }
    let tables = workload.worker.iter().cloned();
    Ok(tables
        .map(|table| {
            let count = count(&table);
            group(table, count)
        })
        .collect())
}

struct Cells<'a> {
    workload: &'a Workload,
    groups: &'a [IdenticalWorkers],
    /// For each target, `true` if it is itself a file or device.
    is_file: Vec<bool>,
}

/// Queue depth and rate of a cell.
#[derive(Clone, Copy)]
struct LoadPoint {
    iodepth: u32,
    rate: Option<Rate>,
}

impl Cells<'_> {
    /// The specifications of a worker, in order; `None` stands for `Idle`.
    fn specs_of(&self, group: &IdenticalWorkers) -> Vec<Option<&AccessSpec>> {
        let specs = &self.workload.access_spec;
        let is_idle = |name: &str| name.eq_ignore_ascii_case(IDLE);
        let find_spec = |name: &str| {
            let named = |it: &&AccessSpec| {
                let own = it.name.as_deref().unwrap_or_default();
                own.eq_ignore_ascii_case(name)
            };
            specs.iter().find(named).filter(|_| !is_idle(name))
        };
        match &group.table.access_specs {
            Some(names) => names.iter().map(|name| find_spec(name)).collect(),
            None => specs
                .iter()
                .map(|it| Some(it).filter(|it| !it.name.as_deref().is_some_and(is_idle)))
                .collect(),
        }
    }

    /// Adds the waves in which each worker uses its specification with this index.
    fn step(&self, step: usize, list: &mut JobList) -> Result<(), Diagnostic> {
        let active: Vec<(&IdenticalWorkers, &AccessSpec)> = self
            .groups
            .iter()
            // A worker with an empty list of targets makes no requests.
            .filter(|group| {
                !group
                    .table
                    .targets
                    .as_ref()
                    .is_some_and(|it| it.as_slice().is_empty())
            })
            .filter_map(|group| Some((group, (*self.specs_of(group).get(step)?)?)))
            .collect();
        if active.is_empty() {
            let message = "the time without requests (`Idle`) is left out";
            list.warnings.push(Diagnostic::warning("", message));
            return Ok(());
        }
        for point in self.points(&active) {
            let first = list.tables.len();
            for (group, spec) in &active {
                self.put_jobs(group, spec, point, list)?;
            }
            self.divide(point, &mut list.tables[first..])?;
            // In pgmeter, a cell starts when the previous one has ended.
            list.tables[first].waits = Some(true);
        }
        Ok(())
    }

    /// All combinations of queue depth and rate.
    fn points(&self, active: &[(&IdenticalWorkers, &AccessSpec)]) -> Vec<LoadPoint> {
        let depths = self
            .workload
            .iodepth
            .as_ref()
            .map_or(&[1][..], OneOrMany::as_slice);
        let is_own = active
            .iter()
            .all(|(group, _)| group.table.iodepth.is_some());
        // Workers with their own depths would only repeat the same cell for each depth of the list.
        let depths = if is_own { &depths[..1] } else { depths };
        let rates: Vec<Option<Rate>> = match &self.workload.rate {
            Some(rates) => rates.as_slice().iter().copied().map(Some).collect(),
            None => vec![None],
        };
        let points = depths.iter().flat_map(|iodepth| {
            let iodepth = *iodepth;
            rates.iter().map(move |rate| LoadPoint {
                iodepth,
                rate: *rate,
            })
        });
        points.collect()
    }

    /// Adds the jobs of workers with the same configuration, one per target.
    fn put_jobs(
        &self,
        group: &IdenticalWorkers,
        spec: &AccessSpec,
        point: LoadPoint,
        list: &mut JobList,
    ) -> Result<(), Diagnostic> {
        let workload = self.workload;
        let spec_name = spec.name.as_deref().unwrap_or(workload.name_or_default());
        let lines = UsedLines::of(spec_name, spec)?;
        let mut table = lines.table()?;
        let worker = &group.table;
        table.engine = Some(workload.engine.unwrap_or(EngineKind::IoUring));
        table.cache = workload.cache;
        table.sqpoll = workload.sqpoll;
        table.iopoll = workload.iopoll;
        table.batch = workload.batch;
        table.content = worker.content.clone().or_else(|| workload.content.clone());
        table.seed = worker.seed.or(workload.seed);
        table.start = worker.start.or(workload.start);
        table.size = worker.size.or(workload.size).filter(|size| size.0 > 0);
        table.page_cache = (workload.warm == Some(true)).then_some(FileCache::Warm);
        if worker.transactions_per_connection.is_some() {
            let reason = "it keeps its files open";
            let help = "leave `transactions_per_connection` out";
            return Err(lines.refuse("transactions_per_connection", reason, help));
        }
        self.put_depth(
            &lines,
            &mut table,
            worker.iodepth.unwrap_or(point.iodepth),
            group.count,
        )?;
        self.put_verify(&lines, &mut table)?;
        let targets = match group.targets.is_empty() {
            true => vec![None],
            false => group.targets.iter().copied().map(Some).collect(),
        };
        for target in &targets {
            let mut table = table.clone();
            table.target = target.map(OneOrMany::One);
            let is_file = target.is_some_and(|number| self.is_file[number as usize - 1]);
            table.files = Some(match is_file {
                true => FilesChoice::Count(0),
                false => FilesChoice::Each(vec![JobFileChoice::Name(FILE_NAME.to_owned())]),
            });
            table.name = Some(self.name(
                spec_name,
                group,
                (*target).filter(|_| targets.len() > 1),
                point,
            ));
            list.tables.push(table);
        }
        Ok(())
    }

    /// Sets the queue depth. Synchronous engines use one thread per request in flight instead.
    fn put_depth(
        &self,
        lines: &UsedLines<'_>,
        table: &mut JobTable,
        iodepth: u32,
        count: u32,
    ) -> Result<(), Diagnostic> {
        let engine = self.workload.engine;
        let (depth, threads) = match engine.is_some_and(EngineKind::is_synchronous) {
            true => (1, iodepth),
            false => (iodepth, 1),
        };
        if threads > 1 && !lines.is_all_random() {
            let reason = "its threads would each begin at the start of the file";
            let help = "write `engine = \"io_uring\"`, or `random = 100`";
            return Err(lines.refuse("iodepth", reason, help));
        }
        let clones = count.saturating_mul(threads);
        let is_shared = self.workload.cursor == Some(CursorKind::Shared);
        if is_shared && clones > 1 && !lines.is_all_random() {
            let reason = "each of its jobs has its own position";
            return Err(lines.refuse("cursor", reason, "leave `cursor` out"));
        }
        table.iodepth = Some(depth);
        table.count = Some(clones);
        Ok(())
    }

    fn put_verify(&self, lines: &UsedLines<'_>, table: &mut JobTable) -> Result<(), Diagnostic> {
        if self.workload.verify != Some(true) {
            return Ok(());
        }
        if lines.read_percent() > 0.0 {
            let reason = "fio checks only what the same job has written";
            return Err(lines.refuse("verify", reason, "leave `verify` out"));
        }
        table.verify = Some(true);
        Ok(())
    }

    fn name(
        &self,
        spec: &str,
        group: &IdenticalWorkers,
        target: Option<u32>,
        point: LoadPoint,
    ) -> String {
        let workload = self.workload;
        let several = |count: Option<usize>| count.is_some_and(|count| count > 1);
        let mut name = spec.to_owned();
        if self.groups.len() > 1 {
            // Two groups may have equal settings, so they are compared by address.
            let position = self.groups.iter().position(|it| std::ptr::eq(it, group));
            let number = position.unwrap_or_default() + 1;
            let worker = group
                .table
                .name
                .clone()
                .unwrap_or_else(|| format!("worker{number}"));
            name.push_str(&format!("-{worker}"));
        }
        if let Some(target) = target {
            name.push_str(&format!("-target{target}"));
        }
        if several(workload.iodepth.as_ref().map(|it| it.as_slice().len())) {
            name.push_str(&format!("-iodepth{}", point.iodepth));
        }
        if several(workload.rate.as_ref().map(|it| it.as_slice().len())) {
            name.push_str(&format!("-rate{}", point.rate.map_or(0.0, |rate| rate.0)));
        }
        name.chars().map(of_name).collect()
    }

    /// Divides operations, CPUs and rate of a cell among its jobs.
    fn divide(&self, point: LoadPoint, tables: &mut [JobTable]) -> Result<(), Diagnostic> {
        let workload = self.workload;
        let job_count: u64 = tables.iter().map(super::count_of).sum();
        let refuse = |key: &str, reason: String, help: &str| {
            let message = format!("fio cannot do `{key}`: {reason}");
            Err(Diagnostic::error("", message).help(help))
        };
        if let Some(operations) = workload.operations {
            if !operations.is_multiple_of(job_count) {
                let reason = format!("{operations} is not a multiple of its {job_count} jobs");
                return refuse("operations", reason, "write a multiple of that");
            }
            for table in &mut *tables {
                let per_job = operations / job_count;
                table.operations = Some(per_job);
                // Enough bytes for all requests, so that only their number ends the job.
                table.bytes = Some(Bytes(lines::largest(table).0.saturating_mul(per_job)));
                // With gaps, one pass moves less than the size of the file and may end too early.
                table.starts_over = table.skip.or(table.back).map(|_| true);
            }
        }
        if let Some(cpus) = &workload.cpus {
            if tables.len() > 1 && cpus.0.len() > 1 {
                let reason = "only clones of one job can take CPUs in turn".to_owned();
                return refuse(
                    "cpus",
                    reason,
                    "write one CPU, or convert the workers one by one",
                );
            }
            tables
                .iter_mut()
                .for_each(|table| table.cpus = Some(cpus.clone()));
        }
        for table in tables {
            // fio's rates are per clone and direction, so the rate of the cell is divided.
            if let Some(rate) = point.rate {
                let per_job = rate.0 / job_count as f64;
                let read = table.read.unwrap_or(Percent(100.0)).0 / 100.0;
                let own = |share: f64| {
                    // Removes the rounding error of the division, because fio takes whole numbers.
                    let rate = (share * per_job * 1e9).round() / 1e9;
                    (rate > 0.0).then_some(Rate(rate))
                };
                table.reads.get_or_insert_default().rate = own(read);
                table.writes.get_or_insert_default().rate = own(1.0 - read);
                table.arrivals = Some(workload.arrivals.unwrap_or(ArrivalKind::Uniform));
            }
            self.put_end(table);
        }
        Ok(())
    }

    fn put_end(&self, table: &mut JobTable) {
        let workload = self.workload;
        table.run_time = workload.run_time;
        table.ramp_time = workload.ramp_time;
        if workload.new_file == Some(true) {
            table.layout = Some(Layout::Empty);
            // A new file can be filled only once, and a ramp time would use up a part of it.
            table.ramp_time = None;
            if workload.operations.is_none() {
                table.loops = Some(1);
            }
        }
        if workload.operations.is_some() {
            table.ramp_time = None;
        }
    }

    /// Adds warnings about differences that do not change the requests.
    fn warn(&self, list: &mut JobList) {
        let workload = self.workload;
        let has_ramp = workload.ramp_time != Some(Span(0)) && workload.new_file != Some(true);
        if workload.operations.is_some() && has_ramp {
            let message = "the ramp time is left out, because fio does not count its `number_ios` \
                           exactly after one";
            let help = "write `ramp_time = 0` for the same in pgmeter";
            list.warnings
                .push(Diagnostic::warning("", message).help(help));
        }
        let mut specs = workload.access_spec.iter();
        if specs.any(|spec| {
            spec.name
                .as_deref()
                .is_some_and(|name| name.contains(FORBIDDEN_IN_NAMES))
        }) {
            let message = "names of sections have a comma instead of `[`, `]`, `;`, `#` and `$`";
            list.warnings.push(Diagnostic::warning("", message));
        }
        let lines = workload.access_spec.iter().flat_map(|spec| &spec.line);
        let mut unaligned = lines.filter(|line| lines::has_default_places(line));
        if unaligned.next().is_some() {
            let message = "random offsets are multiples of 512 bytes, because `align` is not \
                           written; fio fails on devices with larger sectors";
            let help = "write `align = \"4k\"` in the access lines for such devices";
            list.warnings
                .push(Diagnostic::warning("", message).help(help));
        }
        let is_mixed = |table: &JobTable| {
            let read = table.read.unwrap_or(Percent(100.0)).0;
            table.arrivals == Some(ArrivalKind::Uniform) && read > 0.0 && read < 100.0
        };
        if list.tables.iter().any(is_mixed) {
            let message = "reads and writes each have a rate, so their shares are not random";
            list.warnings.push(Diagnostic::warning("", message));
        }
    }
}
