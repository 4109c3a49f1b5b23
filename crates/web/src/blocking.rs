//! What may wait, on threads for that.

use crate::answer::Refusal;

/// Does something that may wait, on a thread for that.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Refusal::failed(
            "this is a bug in pgmeter: a request panicked",
        )),
    }
}
