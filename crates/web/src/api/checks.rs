//! Checks and conversions of a workload before it is run.

use std::ffi::OsString;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::JsonDocument;

use crate::answer::{Answer, RefusedAnswer, document};
use crate::blocking::blocking;
use crate::body::Body;
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::own_workloads::OwnFolder;
use crate::program::{ProgramOutput, ask, ask_at_most, words};
use crate::scratch::ChildFile;
use crate::shared::{Shared, State};

/// Maximum size of a plan sent to the page, in bytes.
const PLAN_BYTES_MAX: u64 = 32 << 20;

/// Result of a check.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// `true` if the workload is valid and has a plan.
    pub is_understood: bool,
    /// `true` if all targets are below the server's roots, so that the server may start the run.
    pub may_start: bool,
    /// Errors, warnings and notes, in the order in which `check` prints them.
    pub verdicts: Vec<CheckMessage>,
    /// The plan, as described by `pgmeter schema check`, without its warnings; null if the workload
    /// is invalid.
    pub plan: Option<Value>,
    /// Total duration of the plan's cells that end by time, in nanoseconds.
    pub planned_ns: u64,
}

impl JsonDocument for CheckAnswer {
    const FORMAT: &'static str = "pgmeter-serve-check/1";
}

/// An error, a warning or a note, with its location.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckMessage {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The file; empty if the message is not about a file.
    pub file: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// The problem.
    pub message: String,
    /// One action that may help.
    pub help: Option<String>,
}

/// Request to convert a workload.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertRequest {
    /// The workload.
    pub workload: WorkloadChoice,
    /// Format of the result.
    pub to: ConvertTo,
}

/// Formats of converted workloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConvertTo {
    /// pgmeter's own format.
    Toml,
    /// Iometer configuration.
    Icf,
    /// Job file of fio.
    Fio,
}

/// A workload in another format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConvertAnswer {
    /// The text; null if the format cannot express the workload.
    pub text: Option<String>,
    /// Errors, warnings and notes.
    pub verdicts: Vec<CheckMessage>,
}

impl JsonDocument for ConvertAnswer {
    const FORMAT: &'static str = "pgmeter-serve-convert/1";
}

/// `POST /api/check`
pub(crate) async fn check(shared: State, Body(asked): Body<WorkloadRequest>) -> Answer {
    let (arguments, given) = resolved(&shared, asked).await?;
    let found = checked(&shared, (arguments, given)).await?;
    // Serializing a long plan takes time.
    blocking(move || document(&found)).await
}

/// `POST /api/convert`
pub(crate) async fn convert(shared: State, Body(asked): Body<ConvertRequest>) -> Answer {
    let ConvertRequest { workload, to } = asked;
    let options = workload.options()?;
    let folder = OwnFolder::next_to(&shared.options.store);
    let (word, given) = blocking(move || workload.resolve(&folder)).await?;
    let mut arguments = words(["convert", "--to"]);
    arguments.push(match to {
        ConvertTo::Toml => "toml".into(),
        ConvertTo::Icf => "icf".into(),
        ConvertTo::Fio => "fio".into(),
    });
    arguments.extend(options);
    arguments.push(word.into());
    let result = ask(&shared, arguments, given).await?;
    let verdicts = verdicts(&result)?;
    let is_done = result.code == Some(0);
    document(&ConvertAnswer {
        text: is_done.then(|| String::from_utf8_lossy(&result.stdout).into_owned()),
        verdicts,
    })
}

/// Arguments after `check` or `run`, with the workload file, whose content is read now.
pub(crate) async fn resolved(
    shared: &Arc<Shared>,
    request: WorkloadRequest,
) -> Result<(Vec<OsString>, Option<ChildFile>), RefusedAnswer> {
    let shared = Arc::clone(shared);
    blocking(move || {
        request.check_counts()?;
        let folder = OwnFolder::next_to(&shared.options.store);
        let (word, given) = request.workload.resolve(&folder)?;
        Ok((arguments(&shared, &request, word)?, given))
    })
    .await
}

/// Arguments after `check` or `run`; `word` names the workload.
pub(crate) fn arguments(
    shared: &Shared,
    request: &WorkloadRequest,
    word: String,
) -> Result<Vec<OsString>, RefusedAnswer> {
    let mut arguments = request.workload.options()?;
    for target in &request.targets {
        arguments.push("--target".into());
        // The resolved path: a link that changes afterwards does not lead elsewhere.
        arguments.push(shared.roots.admit(target)?.into());
    }
    for (key, value) in &request.settings {
        // In one argument, so that a value that begins with a hyphen is not an option.
        arguments.push(format!("--set={key}={value}").into());
    }
    arguments.push(word.into());
    Ok(arguments)
}

/// Runs `check` with these arguments.
pub(crate) async fn checked(
    shared: &Arc<Shared>,
    (arguments, given): (Vec<OsString>, Option<ChildFile>),
) -> Result<CheckAnswer, RefusedAnswer> {
    let mut command = words(["check", "--json"]);
    command.extend(arguments);
    let result = ask_at_most(shared, (command, given), PLAN_BYTES_MAX).await?;
    let shared = Arc::clone(shared);
    blocking(move || found_in(&shared, &result)).await
}

/// Refuses invalid workloads and workloads that use a target that the server does not offer.
pub(crate) async fn admitted(
    shared: &Arc<Shared>,
    line: (Vec<OsString>, Option<ChildFile>),
) -> Result<(), RefusedAnswer> {
    let found = checked(shared, line).await?;
    let Some(plan) = &found.plan else {
        let error = found.verdicts.iter().find(|it| it.severity == "error");
        let error = error.map_or("the workload is invalid", |it| &it.message);
        return Err(RefusedAnswer::bad(error).help("`POST /api/check` shows where"));
    };
    let has_target = !plan["targets"].as_array().is_none_or(Vec::is_empty);
    if !has_target {
        return Err(RefusedAnswer::bad("no target was chosen").help("name one in `targets`"));
    }
    match targets_not_offered(shared, plan).first() {
        // Fails again, with the reason.
        Some(path) => shared.roots.admit(path).map(drop),
        None => Ok(()),
    }
}

/// Parses the output of `check`, and decides whether the server may start the run.
fn found_in(shared: &Shared, result: &ProgramOutput) -> Result<CheckAnswer, RefusedAnswer> {
    if result.code != Some(0) {
        return Ok(CheckAnswer {
            is_understood: false,
            may_start: false,
            verdicts: verdicts(result)?,
            plan: None,
            planned_ns: 0,
        });
    }
    let text = String::from_utf8_lossy(&result.stdout);
    let mut plan: Value = units::parse_json(&text).map_err(|error| {
        RefusedAnswer::failed(format!("`check` printed an unexpected plan: {error}"))
    })?;
    let found = plan.as_object_mut().and_then(|plan| {
        // The plan becomes part of a document that has another format.
        plan.remove("format");
        plan.remove("warnings")
    });
    let verdicts: Vec<CheckMessage> =
        serde_json::from_value(found.unwrap_or_default()).map_err(|error| {
            RefusedAnswer::failed(format!("`check` printed unexpected warnings: {error}"))
        })?;
    Ok(CheckAnswer {
        is_understood: true,
        may_start: targets_not_offered(shared, &plan).is_empty(),
        verdicts: verdicts.into_iter().map(in_short).collect(),
        planned_ns: planned_ns(&plan),
        plan: Some(plan),
    })
}

/// Targets of a plan that the server does not offer.
fn targets_not_offered(shared: &Shared, plan: &Value) -> Vec<String> {
    let targets = plan["targets"].as_array().into_iter().flatten();
    // Targets of the `null` engine are only names.
    let touched = targets.filter(|target| target["kind"] != "null");
    // A target without a path counts as a stranger, because no root admits the empty path.
    let paths = touched.map(|target| target["path"].as_str().unwrap_or_default());
    let strange = paths.filter(|path| shared.roots.admit(path).is_err());
    strange.map(str::to_owned).collect()
}

fn planned_ns(plan: &Value) -> u64 {
    let cells = plan["cells"].as_array().into_iter().flatten();
    let time = |cell: &Value, key: &str| cell[key].as_u64().unwrap_or(0);
    cells.fold(0, |sum, cell| {
        let cell_ns = time(cell, "run_time_ns").saturating_add(time(cell, "ramp_time_ns"));
        u64::saturating_add(sum, cell_ns)
    })
}

/// Messages about a workload from standard error. If the command failed for another reason, this is
/// an error of the server.
fn verdicts(result: &ProgramOutput) -> Result<Vec<CheckMessage>, RefusedAnswer> {
    let found = parsed(&result.stderr);
    match result.code {
        // Codes 2 and 3 are about the workload. All others, and failures without a message, are
        // not.
        Some(0 | 2 | 3) if result.code == Some(0) || !found.is_empty() => Ok(found),
        _ => Err(result.refusal()),
    }
}

/// Parses messages as the program prints them: a message, its location, the line, and advice.
fn parsed(remarks: &str) -> Vec<CheckMessage> {
    let mut found: Vec<CheckMessage> = Vec::new();
    for line in remarks.lines() {
        let begins = ["error", "warning", "note"]
            .into_iter()
            .find_map(|severity| {
                let message = line.strip_prefix(severity)?.strip_prefix(": ")?;
                Some((severity, message))
            });
        if let Some((severity, message)) = begins {
            found.push(CheckMessage {
                severity: severity.to_owned(),
                message: message.to_owned(),
                ..CheckMessage::default()
            });
            continue;
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        if let Some(location) = line.strip_prefix("  --> ") {
            parse_location(last, location);
        } else if let Some(help) = line.strip_prefix("help: ") {
            last.help = Some(help.to_owned());
        }
    }
    found.into_iter().map(in_short).collect()
}

/// Parses `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`.
fn parse_location(verdict: &mut CheckMessage, location: &str) {
    let mut rest = location;
    let mut numbers = Vec::new();
    // From the end: the name of a file may contain colons.
    while let Some((before, number)) = rest.rsplit_once(':')
        && let Ok(number) = number.parse::<u32>()
        && numbers.len() < 2
    {
        numbers.push(number);
        rest = before;
    }
    numbers.reverse();
    verdict.file = rest.to_owned();
    verdict.line = numbers.first().copied();
    verdict.column = numbers.get(1).copied();
}

/// Restores the file name of the request.
fn in_short(mut verdict: CheckMessage) -> CheckMessage {
    if let Some(name) = verdict.file.strip_prefix("./") {
        verdict.file = name.to_owned();
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_check_become_verdicts_by_line() {
        let remarks = "warning: a\n  --> ./x.toml:3\nerror: b `c: d`\n  --> ./x.toml:12:7\n\
                       \x20 12 | size = 3 x\nhelp: write it\nnote: e\n";
        let found = parsed(remarks);
        let locations: Vec<_> = found
            .iter()
            .map(|it| (it.severity.as_str(), it.file.as_str(), it.line, it.column))
            .collect();
        assert_eq!(
            locations,
            [
                ("warning", "x.toml", Some(3), None),
                ("error", "x.toml", Some(12), Some(7)),
                ("note", "", None, None)
            ]
        );
        assert_eq!(found[1].message, "b `c: d`");
        assert_eq!(found[1].help.as_deref(), Some("write it"));
    }

    #[test]
    fn output_without_a_verdict_or_from_a_bug_is_refused() {
        let result = |code: i32, remarks: &str| ProgramOutput {
            code: Some(code),
            stdout: Vec::new(),
            stderr: remarks.to_owned(),
        };
        assert!(verdicts(&result(2, "error: x")).is_ok_and(|found| found.len() == 1));
        assert!(verdicts(&result(2, "")).is_err());
        assert!(verdicts(&result(70, "error: this is a bug in pgmeter")).is_err());
        assert!(verdicts(&result(0, "")).is_ok_and(|found| found.is_empty()));
    }
}
