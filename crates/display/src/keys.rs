//! The keys of the full screen.

/// A key that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// `s` or Ctrl-C: end the run and keep what was measured.
    Stop,
    /// `n`: end the cell and go on with the next.
    Next,
    /// `q`: leave the full screen; the run goes on.
    Leave,
    /// `?`: show what the keys do, or no longer.
    Help,
    /// Look at the cell above.
    Up,
    /// Look at the cell below.
    Down,
    /// Escape: look at the cell that is being measured again.
    Back,
}
