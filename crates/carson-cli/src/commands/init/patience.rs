//! What takes its time is said, and nothing is waited for without an end.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::error::CommandError;
use crate::print;

/// How long nothing is said.
const SILENT: Duration = Duration::from_secs(3);
/// How long one answer of the network is waited for.
const AT_MOST: Duration = Duration::from_secs(20);

/// Waits, and says for what when it takes longer.
pub async fn told<T>(what: &str, answer: impl Future<Output = T>) -> T {
    let mut answer = pin!(answer);
    match timeout(SILENT, &mut answer).await {
        Ok(done) => done,
        Err(_) => {
            print::error(&format!("waiting for {what} …"));
            answer.await
        }
    }
}

/// The same, and not for longer than somebody would wait.
///
/// # Errors
/// When it takes longer.
pub async fn bounded<T>(what: &str, answer: impl Future<Output = T>) -> Result<T, CommandError> {
    within(AT_MOST, what, answer).await
}

async fn within<T>(
    most: Duration,
    what: &str,
    answer: impl Future<Output = T>,
) -> Result<T, CommandError> {
    let waited = timeout(most, told(what, answer)).await;
    waited.map_err(|_| {
        let seconds = most.as_secs();
        CommandError::failed(format!("{what} did not answer within {seconds} seconds"))
            .hint("look at the network, or take a clone that is here and keep its issues as files: --forge local")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        assert_eq!(bounded("it", async { 1 }).await.unwrap(), 1);
        let soon = Duration::from_millis(1);
        let never = within(soon, "it", std::future::pending::<()>()).await;
        assert!(never.unwrap_err().message.contains("did not answer"));
    }
}
