//! Issues by strangers: no work until somebody of the repository approves what they say.
//!
//! An approval names the text that it approves, by its hash. Whoever edits an issue afterwards, its
//! author too, has taken the approval away.

use carson_config::Repo;
use carson_core::untrusted::one_line;
use carson_forge::{Forge, ForgeError, Issue};
use sha2::{Digest as _, Sha256};

use super::held::{Held, approval_words};

/// Bytes of the hash that people copy: whoever writes both texts must not find two with the same.
const HASH: usize = 20;
/// Longest name of an author that is told.
const NAME_MAX: usize = 60;

/// Names a text that people approve, as they copy it.
pub(crate) fn approval_hash(text: &str) -> String {
    let hash = Sha256::digest(text);
    let digits = hash[..HASH].iter().map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// Why an issue's author keeps it out of the queue; `None` when they are trusted, or it is approved.
pub(super) async fn missing(
    repo: &Repo,
    forge: &Forge,
    issue: &Issue,
) -> Result<Option<Held>, ForgeError> {
    if repo.trust.has(&issue.author, issue.association) {
        return Ok(None);
    }
    let me = forge.me().await?;
    if issue.author.eq_ignore_ascii_case(me) {
        return Ok(None);
    }
    let hash = approval_hash(&format!("{}\0{}", issue.title, issue.body));
    let asked = approval_words(&hash);
    let comments = forge.comments(issue.number).await?;
    if comments.iter().any(|one| one.says(&asked, &repo.trust)) {
        return Ok(None);
    }
    let told = comments
        .iter()
        .any(|comment| comment.author.eq_ignore_ascii_case(me) && comment.body.contains(&asked));
    Ok(Some(Held::Stranger {
        author: one_line(&issue.author, NAME_MAX),
        hash,
        told,
    }))
}
