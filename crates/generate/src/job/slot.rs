//! Requests in flight.

/// Request in flight in a slot.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JobSlot {
    /// Due time, on the worker's clock; 0 if the request has none.
    pub(super) due_ns: u64,
    pub(super) kind: SlotRequest,
}

/// Kind of a request in flight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SlotRequest {
    /// A request of the measured work.
    #[default]
    Counted,
    /// A sync or a close, which is not part of the measured work.
    Uncounted,
    /// A trim, which a write follows.
    TrimBeforeWrite,
}
