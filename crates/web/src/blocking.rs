//! Runs blocking work on a separate thread.

use crate::answer::RefusedAnswer;

/// Runs `work`, which may block, on a thread for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, RefusedAnswer> + Send + 'static,
) -> Result<T, RefusedAnswer> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(RefusedAnswer::failed(
            "this is a bug in pgmeter: a request panicked",
        )),
    }
}
