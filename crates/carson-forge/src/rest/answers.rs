//! Answers to what is asked at every slot, so that the next firing may ask whether they still hold:
//! a forge counts no request that it answers with "not modified".
//!
//! A firing is a process of its own, so they are files. They hold what the forge said and nothing
//! that it takes to be told it; losing them costs a request.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::Url;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use tracing::debug;

/// Files of one repository; with more of them all begin anew.
const FILES: usize = 64;
/// A disk that takes longer does not help.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where they lie; nowhere without a directory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    dir: Option<PathBuf>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// What the forge calls it.
    pub etag: String,
    /// Where it goes on.
    pub link: Option<String>,
    /// What it said.
    pub body: String,
}

/// How it lies there. The name of the file is too short to be believed.
#[derive(Serialize, Deserialize)]
struct OnDisk {
    url: String,
    answer: Kept,
}

impl Answers {
    pub fn at(dir: PathBuf) -> Self {
        Self { dir: Some(dir) }
    }

    /// The answer that this address gave last, if it is there.
    pub(super) async fn of(&self, url: &Url) -> Option<Kept> {
        let (file, url) = (self.file(url)?, url.to_string());
        blocking(move || {
            let text = fs::read(&file)?;
            let kept: OnDisk = serde_json::from_slice(&text)?;
            Ok((kept.url == url).then_some(kept.answer))
        })
        .await
        .flatten()
    }

    pub(super) async fn keep(&self, url: &Url, answer: &Kept) {
        let Some(file) = self.file(url) else {
            return;
        };
        let kept = OnDisk {
            url: url.to_string(),
            answer: answer.clone(),
        };
        blocking(move || write(&file, &kept)).await;
    }

    fn file(&self, url: &Url) -> Option<PathBuf> {
        let mut hasher = DefaultHasher::new();
        url.as_str().hash(&mut hasher);
        let name = format!("{:016x}.json", hasher.finish());
        Some(self.dir.as_ref()?.join(name))
    }
}

/// Whole or not at all: others read it at the same time.
fn write(file: &Path, kept: &OnDisk) -> io::Result<()> {
    let Some(dir) = file.parent() else {
        return Ok(());
    };
    fs::create_dir_all(dir)?;
    if !file.exists() && fs::read_dir(dir)?.count() >= FILES {
        fs::remove_dir_all(dir)?;
        fs::create_dir_all(dir)?;
    }
    let half = file.with_extension(format!("{}.half", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).mode(0o600);
    let mut out = options.open(&half)?;
    out.write_all(&serde_json::to_vec(kept)?)?;
    fs::rename(&half, file)
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Option<T> {
    match timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
        Ok(Ok(Ok(done))) => Some(done),
        Ok(Ok(Err(error))) => {
            if error.kind() != io::ErrorKind::NotFound {
                debug!(%error, "an answer of the forge could not be kept");
            }
            None
        }
        Ok(Err(_)) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(body: &str) -> Kept {
        Kept {
            etag: "\"1\"".into(),
            link: None,
            body: body.into(),
        }
    }

    #[tokio::test]
    async fn an_answer_is_there_for_the_next_process_and_what_is_damaged_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| Url::parse(&format!("https://forge.example/{name}")).unwrap();
        let answers = Answers::at(dir.path().join("answers"));
        assert_eq!(answers.of(&at("a")).await, None);
        answers.keep(&at("a"), &kept("[1]")).await;
        answers.keep(&at("b"), &kept("[2]")).await;
        let again = Answers::at(dir.path().join("answers"));
        assert_eq!(again.of(&at("a")).await, Some(kept("[1]")));
        assert_eq!(Answers::default().of(&at("a")).await, None);
        // Of another address, or half of one: neither is believed.
        let (a, b) = (again.file(&at("a")).unwrap(), again.file(&at("b")).unwrap());
        fs::copy(&b, &a).unwrap();
        fs::write(&b, "{\"url\": \"https://for").unwrap();
        assert_eq!(again.of(&at("a")).await, None);
        assert_eq!(again.of(&at("b")).await, None);
    }

    #[tokio::test]
    async fn they_do_not_grow_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let answers = Answers::at(dir.path().to_owned());
        for number in 0..(FILES + 10) {
            let url = Url::parse(&format!("https://forge.example/{number}")).unwrap();
            answers.keep(&url, &kept("[]")).await;
            assert_eq!(answers.of(&url).await, Some(kept("[]")), "{number}");
        }
        assert!(fs::read_dir(dir.path()).unwrap().count() <= FILES);
    }
}
