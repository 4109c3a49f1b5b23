//! Live figures: the progress line and the full screen.
