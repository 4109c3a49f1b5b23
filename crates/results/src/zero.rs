//! Values that a record omits.

/// `true` if a count is omitted from a record.
pub(crate) fn is_zero<T: Default + PartialEq>(count: &T) -> bool {
    *count == T::default()
}
