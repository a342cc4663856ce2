//! The one thread that thinks.

use std::thread;

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::model::{Made, Model};

/// Texts that wait for it: each of who asks has one there at most.
const WAITING: usize = 4;

struct Asked {
    text: String,
    answer: oneshot::Sender<Result<Made, ThreadError>>,
}

/// Who asks it.
#[derive(Clone)]
pub struct Thread(mpsc::Sender<Asked>);

/// Why there is no vector.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ThreadError {
    /// The model could make nothing of it.
    #[error("the model failed: {0}")]
    Failed(String),
    /// It has ended.
    #[error("the thread with the model has ended")]
    Ended,
}

impl Thread {
    /// Starts it. It ends with the last who could ask.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn start(model: Model) -> std::io::Result<Self> {
        let (sender, mut asked) = mpsc::channel::<Asked>(WAITING);
        thread::Builder::new()
            .name("model".to_owned())
            .spawn(move || {
                while let Some(Asked { text, answer }) = asked.blocking_recv() {
                    // Whoever asked may be gone: then it is not worth a thought.
                    if answer.is_closed() {
                        continue;
                    }
                    let made = model.embed(&text);
                    let made = made.map_err(|error| ThreadError::Failed(error.to_string()));
                    let _ = answer.send(made);
                }
            })?;
        Ok(Self(sender))
    }

    /// The vector of one text.
    ///
    /// # Errors
    /// When the model fails.
    pub async fn embed(&self, text: String) -> Result<Made, ThreadError> {
        let (answer, made) = oneshot::channel();
        let asked = Asked { text, answer };
        self.0.send(asked).await.map_err(|_| ThreadError::Ended)?;
        made.await.map_err(|_| ThreadError::Ended)?
    }
}
