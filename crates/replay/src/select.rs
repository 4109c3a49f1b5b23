//! The requests of a trace that are replayed.

use std::collections::HashMap;

use trace::{NameId, TraceNames, TraceRequest, TracedKind};

/// Requests are sampled by regions of this size, so that a region is replayed completely or not at
/// all. Its reuse and its runs then stay as they are.
const REGION_BITS: u32 = 20;

/// Parts of a trace that are replayed; by default, all of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TraceSelection {
    /// Time from the first request of the trace at which the replay begins, in nanoseconds.
    pub from_ns: u64,
    /// Time from the first request of the trace at which it ends, in nanoseconds.
    pub to_ns: Option<u64>,
    /// Maximum number of requests.
    pub first: Option<u64>,
    /// Kinds of requests; empty for all.
    pub kinds: Vec<TracedKind>,
    /// Names of devices, volumes or files; empty for all.
    pub devices: Vec<String>,
    /// Names or numbers of processes; empty for all.
    pub processes: Vec<String>,
    /// Share of the 1 MiB regions that are replayed, in percent.
    pub sample_percent: Option<f64>,
}

/// A selection that is applied to requests.
pub(crate) struct Selector<'a> {
    selection: &'a TraceSelection,
    /// `true` for the names that are selected, as far as they have occurred.
    devices: HashMap<NameId, bool>,
    processes: HashMap<NameId, bool>,
    /// Regions with a hash up to this are replayed.
    hash_max: u64,
}

impl<'a> Selector<'a> {
    pub fn new(selection: &'a TraceSelection) -> Self {
        let share = selection.sample_percent.unwrap_or(100.0) / 100.0;
        Self {
            selection,
            devices: HashMap::new(),
            processes: HashMap::new(),
            hash_max: (share * u64::MAX as f64) as u64,
        }
    }

    /// `true` if the request, at this time from the first request of the trace, is replayed.
    pub fn takes(&mut self, request: &TraceRequest, at_ns: u64, names: &TraceNames) -> bool {
        let wanted = self.selection;
        at_ns >= wanted.from_ns
            && wanted.to_ns.is_none_or(|to_ns| at_ns < to_ns)
            && (wanted.kinds.is_empty() || wanted.kinds.contains(&request.kind))
            && self.has_device(request, names)
            && self.has_process(request, names)
            && self.is_sampled(request)
    }

    /// `true` if no later request can be replayed.
    pub fn is_over(&self, at_ns: u64, taken: u64) -> bool {
        let is_late = self.selection.to_ns.is_some_and(|to_ns| at_ns >= to_ns);
        is_late || self.selection.first.is_some_and(|first| taken >= first)
    }

    fn has_device(&mut self, request: &TraceRequest, names: &TraceNames) -> bool {
        let wanted = &self.selection.devices;
        if wanted.is_empty() {
            return true;
        }
        let is_wanted = || wanted.contains(&names.text(request.device));
        *self.devices.entry(request.device).or_insert_with(is_wanted)
    }

    fn has_process(&mut self, request: &TraceRequest, names: &TraceNames) -> bool {
        let wanted = &self.selection.processes;
        if wanted.is_empty() {
            return true;
        }
        let is_wanted = || wanted.contains(&names.text(request.process));
        *self
            .processes
            .entry(request.process)
            .or_insert_with(is_wanted)
            || request.pid > 0 && wanted.contains(&request.pid.to_string())
    }

    fn is_sampled(&self, request: &TraceRequest) -> bool {
        if self.selection.sample_percent.is_none() || request.kind == TracedKind::Flush {
            return true;
        }
        let region = request.offset_bytes >> REGION_BITS;
        let device = u64::from(request.device.number());
        generate::mix(generate::mix(device) ^ region) <= self.hash_max
    }
}
