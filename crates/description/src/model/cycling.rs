//! Iometer's test types and the steps they go through.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Series of cells that each access specification yields.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum TestType {
    /// One run with all workers and targets.
    Normal,
    /// The first targets of each worker, more in each run.
    CycleTargets,
    /// The first workers of each group, more in each run.
    CycleWorkers,
    /// The first targets of each group, filled worker by worker, more in each run.
    IncrementTargetsParallel,
    /// The first targets of all groups together, more in each run.
    IncrementTargetsSerial,
    /// For each number of workers, each number of targets.
    CycleWorkersAndTargets,
    /// Each queue depth in turn.
    CycleOutstandingIos,
    /// For each number of targets, each queue depth.
    CycleOutstandingIosAndTargets,
}

/// The steps of the cycling test types.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cycling {
    /// Numbers of workers; the series ends when a step adds no worker. Default: from 1 by 1,
    /// linear.
    pub workers: Option<Cycle>,
    /// Numbers of targets; the series ends when a step adds no target. Default: from 1 by 1,
    /// linear.
    pub targets: Option<Cycle>,
    /// Queue depths. Default: from 1 to 32 by 2, exponential.
    pub iodepth: Option<DepthCycle>,
}

/// A growing number of workers or targets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Cycle {
    /// The first number; 0 means 1. Default: 1.
    pub start: Option<u32>,
    /// Step, added to or multiplied with the number; 0 means 1. Default: 1.
    pub step: Option<u32>,
    /// Rule by which the number grows: `linear` or `exponential`. Default: `linear`.
    pub kind: Option<StepKind>,
}

/// A growing queue depth.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DepthCycle {
    /// The first depth; 0 means 1. Default: 1.
    pub start: Option<u32>,
    /// Largest depth; no deeper queue is run. Default: 32.
    pub end: Option<u32>,
    /// Step, added to or multiplied with the depth; 0 means 1. Default: 2.
    pub step: Option<u32>,
    /// Rule by which the depth grows: `linear` or `exponential`. Default: `exponential`.
    pub kind: Option<StepKind>,
}

/// Rule by which a number grows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// The step is added.
    Linear,
    /// The number is multiplied by the step; a step of 1 is added instead.
    Exponential,
}
