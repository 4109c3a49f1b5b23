//! Converts a workload to an Iometer configuration.

use units::Span;

use description::iometer::{Assignment, IometerSettings, RecordResults, WorkerCount};
use description::model::{
    self, DistributionChoice, Repetitions, SequenceChoice, TestType, Workload,
};

use super::cluster::managers;
use super::document::{
    IcfAccessLine, IcfAccessSpec, IcfCycling, IcfDocument, QueueDepthCycling, RunTime, TestSetup,
    Version,
};
use super::refusal::{check_name, refuse};
use plan::Diagnostic;
use plan::{CursorKind, PositionRule};

/// Run time of a workload that gives none, in seconds; Iometer requires one.
const RUN_SECONDS_DEFAULT: u64 = 10;
/// Ramp time of a workload that gives none, in seconds.
const RAMP_SECONDS_DEFAULT: u64 = 2;

/// Longest description that Iometer reads, in bytes: a line of 199 without the tab before it.
const IOMETER_TITLE_BYTES: usize = 198;

/// Converts a workload to a configuration of Iometer 1.1.0; the inverse of [`super::to_workload`].
///
/// The warnings name settings that a configuration cannot express and that are omitted because they
/// do not change the requests.
///
/// # Errors
/// The workload is a pack or has a list of queue depths, or Iometer cannot express its access
/// lines: distributions, fractions of a percent, sizes beyond 32 bits, positions that are not
/// multiples of 512.
pub fn from_workload(workload: &Workload) -> Result<(IcfDocument, Vec<Diagnostic>), Diagnostic> {
    refuse_unconvertible_workload(workload)?;
    let extras = workload.iometer.clone().unwrap_or_default();
    let mut warnings = Vec::new();
    warn_about_loss(workload, &mut warnings);
    let specs = specs(workload, &extras)?;
    let managers = managers(workload, &extras, &specs, &mut warnings)?;
    let document = IcfDocument {
        version: Version::CURRENT,
        setup: needs_setup(workload, &extras)
            .then(|| setup(workload, &extras))
            .transpose()?,
        display: extras.display.clone(),
        specs: Some(specs),
        managers: (!managers.is_empty()).then_some(managers),
    };
    Ok((document, warnings))
}

fn refuse_unconvertible_workload(workload: &Workload) -> Result<(), Diagnostic> {
    if !workload.part.is_empty() {
        let message = format!(
            "a pack of {} workloads is not a single file",
            workload.part.len()
        );
        return Err(refuse(message, "convert its parts one by one"));
    }
    let header = match workload.table() {
        Some(table) => Some(table.header()),
        None => (workload.jobs.is_some() || !workload.job.is_empty()).then_some("[[job]]"),
    };
    if let Some(header) = header {
        let message = format!("an Iometer configuration has no place for `{header}`");
        return Err(refuse(message, "keep the workload as TOML"));
    }
    if let Some(base) = &workload.base {
        let message = format!("`use = \"{base}\"` has to be resolved first");
        return Err(refuse(message, "convert the built-in workload itself"));
    }
    if workload
        .iodepth
        .as_ref()
        .is_some_and(|depths| depths.as_slice().len() != 1)
    {
        let message = "Iometer has no list of queue depths";
        return Err(refuse(
            message,
            "write one `iodepth`, or use `test_type` with `cycling`",
        ));
    }
    Ok(())
}

fn warn_about_loss(workload: &Workload, warnings: &mut Vec<Diagnostic>) {
    let has_position = workload.position == Some(PositionRule::Iometer);
    let lost = [
        ("description", workload.description.is_some()),
        ("source", workload.source.is_some()),
        ("engine", workload.engine.is_some()),
        ("cache", workload.cache.is_some()),
        ("operations", workload.operations.is_some()),
        (
            "repetitions",
            !matches!(workload.repetitions, None | Some(Repetitions::Count(1))),
        ),
        ("precision", workload.precision.is_some()),
        ("budget", workload.budget.is_some()),
        ("seed", workload.seed.is_some()),
        ("cpus", workload.cpus.is_some()),
        ("rate", workload.rate.is_some()),
        ("arrivals", workload.arrivals.is_some()),
        ("verify", workload.verify == Some(true)),
        ("keep", workload.keep == Some(true)),
        // Iometer always uses this rule, but no key names it, and an import would choose another
        // one.
        ("position", has_position),
        ("cursor", workload.cursor == Some(CursorKind::Shared)),
        ("sqpoll", workload.sqpoll == Some(true)),
        ("iopoll", workload.iopoll == Some(true)),
        ("batch", workload.batch.is_some()),
    ];
    let names: Vec<String> = lost
        .iter()
        .filter(|(_, is_written)| *is_written)
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    if !names.is_empty() {
        let message = format!("Iometer configurations cannot express {}", names.join(", "));
        let help = "keep the TOML file as well, or set them with options of `pgmeter run`";
        warnings.push(Diagnostic::warning("", message).help(help));
    }
    if workload
        .title
        .as_ref()
        .is_some_and(|title| title.len() > IOMETER_TITLE_BYTES)
    {
        let message = format!("title of more than {IOMETER_TITLE_BYTES} bytes stops Iometer");
        warnings.push(Diagnostic::warning("", message).help("shorten `title`"));
    }
}

/// `false` for an imported configuration without this section, which is written without it again.
fn needs_setup(workload: &Workload, extras: &IometerSettings) -> bool {
    workload.iometer.is_none()
        || workload.title.is_some()
        || workload.run_time.is_some()
        || workload.ramp_time.is_some()
        || workload.test_type.is_some()
        || workload.cycling.is_some()
        || extras.disk_workers.is_some()
        || extras.network_workers.is_some()
        || extras.record_results.is_some()
}

fn setup(workload: &Workload, extras: &IometerSettings) -> Result<TestSetup, Diagnostic> {
    let run_seconds = seconds("run_time", workload.run_time, RUN_SECONDS_DEFAULT)?;
    let ramp_seconds = seconds("ramp_time", workload.ramp_time, RAMP_SECONDS_DEFAULT)?;
    let too_long = || refuse("the time is longer than Iometer can hold", "shorten it");
    let run_time = RunTime::from_seconds(run_seconds).ok_or_else(too_long)?;
    let cycling = workload.cycling.clone().unwrap_or_default();
    Ok(TestSetup {
        description: workload.title.clone().unwrap_or_default(),
        run_time,
        ramp_up_seconds: u32::try_from(ramp_seconds).map_err(|_| too_long())?,
        disk_workers: extras.disk_workers.unwrap_or(WorkerCount::PerCpu),
        network_workers: extras.network_workers.unwrap_or(WorkerCount::Count(0)),
        record_results: extras.record_results.unwrap_or(RecordResults::All),
        worker_cycling: cycle(cycling.workers.as_ref()),
        disk_cycling: cycle(cycling.targets.as_ref()),
        queue_depth_cycling: depth_cycle(cycling.iodepth.as_ref()),
        test_type: workload.test_type.unwrap_or(TestType::Normal),
    })
}

fn seconds(key: &str, span: Option<Span>, default: u64) -> Result<u64, Diagnostic> {
    let span = span.unwrap_or(Span::from_secs(default));
    if span.0.is_multiple_of(1_000_000_000) {
        return Ok(span.0 / 1_000_000_000);
    }
    let message = format!("`{key}` is {span}, and Iometer counts whole seconds");
    Err(refuse(message, "write whole seconds"))
}

fn specs(workload: &Workload, extras: &IometerSettings) -> Result<Vec<IcfAccessSpec>, Diagnostic> {
    let mut specs = Vec::new();
    for spec in &workload.access_spec {
        let name = spec
            .name
            .as_deref()
            .or(workload.name.as_deref())
            .unwrap_or("workload");
        check_name("access specification", name)?;
        let assignment = extras.default_assignment.get(name).copied();
        let lines: Result<Vec<IcfAccessLine>, Diagnostic> = spec
            .line
            .iter()
            .map(|line| access_line(name, line))
            .collect();
        specs.push(IcfAccessSpec {
            name: name.to_owned(),
            assignment: assignment.unwrap_or(Assignment::None),
            lines: lines?,
        });
    }
    Ok(specs)
}

fn access_line(spec: &str, line: &model::AccessLine) -> Result<IcfAccessLine, Diagnostic> {
    let uniform = matches!(line.distribution, None | Some(DistributionChoice::Uniform));
    let forward = matches!(line.sequence, None | Some(SequenceChoice::Forward));
    if !uniform || !forward {
        let message = format!("Iometer has neither `distribution` nor `sequence` (`{spec}`)");
        return Err(refuse(message, "remove them to convert the rest"));
    }
    let delay_ns = line.delay.unwrap_or_default().0;
    if !delay_ns.is_multiple_of(1_000_000) {
        let message = format!("a `delay` of `{spec}` is not a whole number of milliseconds");
        return Err(refuse(message, "round the delay"));
    }
    let bytes = |key, value: Option<units::Bytes>| fits(spec, key, value.unwrap_or_default().0);
    Ok(IcfAccessLine {
        size: bytes("size", line.size)?,
        // A workload may omit these values, but Iometer requires all eight fields.
        of_size: percent(spec, "of_size", line.of_size, 100.0)?,
        reads: percent(spec, "read", line.read, 100.0)?,
        random: percent(spec, "random", line.random, 0.0)?,
        delay_ms: fits(spec, "delay", delay_ns / 1_000_000)?,
        burst: line.burst.unwrap_or(1),
        align: bytes("align", line.align)?,
        reply: bytes("reply", line.reply)?,
    })
}

fn fits(spec: &str, key: &str, value: u64) -> Result<u32, Diagnostic> {
    u32::try_from(value).map_err(|_| {
        let message = format!("`{key}` of `{spec}` is beyond Iometer's 32 bits");
        refuse(message, "choose a smaller value")
    })
}

fn percent(
    spec: &str,
    key: &str,
    value: Option<units::Percent>,
    default: f64,
) -> Result<u8, Diagnostic> {
    let value = value.map_or(default, |percent| percent.0);
    if value.fract() == 0.0 && (0.0..=100.0).contains(&value) {
        return Ok(value as u8);
    }
    let message = format!("`{key}` of `{spec}` is {value}, and Iometer counts whole percents");
    Err(refuse(message, "round it so that the lines add up to 100"))
}

fn cycle(cycle: Option<&model::Cycle>) -> IcfCycling {
    let default = IcfCycling::default();
    let Some(cycle) = cycle else { return default };
    IcfCycling {
        start: cycle.start.unwrap_or(default.start),
        step: cycle.step.unwrap_or(default.step),
        step_type: cycle.kind.unwrap_or(default.step_type),
    }
}

fn depth_cycle(cycle: Option<&model::DepthCycle>) -> QueueDepthCycling {
    let default = QueueDepthCycling::default();
    let Some(cycle) = cycle else { return default };
    QueueDepthCycling {
        start: cycle.start.unwrap_or(default.start),
        end: cycle.end.unwrap_or(default.end),
        step: cycle.step.unwrap_or(default.step),
        step_type: cycle.kind.unwrap_or(default.step_type),
    }
}
