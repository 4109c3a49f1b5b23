//! What a record leaves out.

/// Whether a count is left out of a record.
pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
