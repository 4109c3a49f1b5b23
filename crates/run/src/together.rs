//! Threads that begin together, know nothing of each other and are waited for.

use std::thread::{Builder, ScopedJoinHandle, scope};

use crate::RunError;
use crate::own_files::Halt;

/// Does `work` on each of the inputs in a thread of its own; what came out, in their order.
///
/// The first failure halts the others.
///
/// # Errors
/// The first failure in the order of the inputs, or that a thread cannot be started.
pub(crate) fn together<T: Send, R: Send>(
    inputs: impl IntoIterator<Item = T>,
    halt: &Halt<'_>,
    work: impl Fn(T) -> Result<R, RunError> + Sync,
) -> Result<Vec<R>, RunError> {
    let work = &work;
    let done: Vec<Result<R, RunError>> = scope(|scope| {
        let start = |input| {
            let work = move || work(input).inspect_err(|_| halt.fail());
            let started = Builder::new().spawn_scoped(scope, work);
            started.inspect_err(|_| halt.fail())
        };
        // All are started before the first is waited for.
        let threads: Vec<_> = inputs.into_iter().map(start).collect();
        threads.into_iter().map(joined).collect()
    });
    done.into_iter().collect()
}

fn joined<R>(
    thread: std::io::Result<ScopedJoinHandle<'_, Result<R, RunError>>>,
) -> Result<R, RunError> {
    let failed = |source| RunError::System {
        what: "start a thread".to_owned(),
        source,
    };
    match thread.map_err(failed)?.join() {
        Ok(done) => done,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
