//! Advice on how to remove the cause of a warning.

/// Something to do about the cause of a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Always the same words.
    Do(&'static str),
    /// Words chosen for this run.
    DoThis(String),
    /// A ramp of at least this many seconds.
    LongerRamp(u64),
    /// At most this many workers.
    FewerWorkers(u64),
}

impl Advice {
    /// Other programs used the CPUs.
    pub const STOP_PROGRAMS: Self = Self::Do("stop other programs (see `top`), and run again");

    pub fn sentence(&self) -> String {
        match self {
            Self::Do(words) => (*words).to_owned(),
            Self::DoThis(words) => words.clone(),
            Self::LongerRamp(seconds) => format!("add `--ramp-time {seconds}s`"),
            Self::FewerWorkers(count) => format!("use at most `--workers {count}`"),
        }
    }

    /// Combines this advice with other advice of its kind, so that it serves both; `false` if the
    /// other is of another kind.
    pub fn join(&mut self, other: &Self) -> bool {
        match (&mut *self, other) {
            (Self::LongerRamp(one), Self::LongerRamp(other)) => *one = (*one).max(*other),
            (Self::FewerWorkers(one), Self::FewerWorkers(other)) => *one = (*one).min(*other),
            (one, other) if one == other => {}
            _ => return false,
        }
        true
    }
}
