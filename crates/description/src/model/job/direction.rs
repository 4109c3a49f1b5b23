//! Keys of a job for one direction.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Percent, Rate, Span};

use super::ByteZone;
use crate::model::{BlockSizeChoice, DistributionChoice};

/// Keys of a job that may be different for reads and for writes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DirectionTable {
    /// Share of the requests that start at a random position, in percent. Default: the job's.
    pub random: Option<Percent>,
    /// Sizes of requests. Default: the job's.
    pub block_size: Option<BlockSizeChoice>,
    /// Sizes from a range are its smallest size plus a multiple of this. Default: the job's.
    pub block_unit: Option<Bytes>,
    /// Random positions are multiples of this. Default: the job's.
    pub align: Option<Bytes>,
    /// Distribution of random requests. Default: the job's.
    pub distribution: Option<DistributionChoice>,
    /// Zones of each file in bytes. Default: the job's.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_zones: Vec<ByteZone>,
    /// Requests due per second. Default: the job's.
    pub rate: Option<Rate>,
    /// Bytes due per second. Default: the job's.
    pub byte_rate: Option<Bytes>,
    /// Lowest acceptable rate in requests per second. Default: the job's.
    pub rate_min: Option<Rate>,
    /// Lowest acceptable rate in bytes per second. Default: the job's.
    pub byte_rate_min: Option<Bytes>,
    /// Longest acceptable latency of a request. Default: the job's.
    pub latency_max: Option<Span>,
}
