//! The keys of the full screen.

/// A key with a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PressedKey {
    /// `s` or Ctrl-C: stop the run and keep its results.
    Stop,
    /// `n`: end the cell and continue with the next one.
    Next,
    /// `q`: leave the full screen; the run continues.
    Leave,
    /// `?`: show or hide the key help.
    Help,
    /// Select the cell above.
    Up,
    /// Select the cell below.
    Down,
    /// Escape: return to the cell that is being measured.
    Back,
}
