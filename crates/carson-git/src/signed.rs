//! Signed copies of commits, for whoever asks for signatures.
//!
//! No session has a key. What it committed is judged as it is; what leaves is a copy, commit by
//! commit: the same trees, authors, dates and messages, with a `gpgsig` header as `git commit -S` writes
//! it (gitformat-signature(5)). Who signs says that they committed it: the committer is the one of the
//! role, whomever a session named. A signature that it wrote itself, and headers that git gives no commit of
//! a session's, are left out.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use carson_core::signing::SigningKey;
use carson_proc::{Command, Limits, capture, own_program};

use crate::durable;
use crate::error::GitError;
use crate::git::{detail, inherited, parse};
use crate::oid::Oid;
use crate::ref_change::RefChange;
use crate::worktree::Worktree;

/// Commits that one firing may bring.
const MOST: usize = 500;
/// How long one signature may take: nobody is there to touch a token or to type a passphrase.
const ONE: Duration = Duration::from_secs(20);
/// How long all of them may take.
const ALL: Duration = Duration::from_secs(300);
/// Bytes of a commit: its header and message.
const COMMIT: usize = 1 << 20;

/// What a role signs with, and in whose name.
#[derive(Clone, Copy, Debug)]
pub struct Signer<'k> {
    /// The key.
    pub key: &'k SigningKey,
    /// The committer's name.
    pub name: &'k str,
    /// Their address.
    pub email: &'k str,
}

/// Signs a text as git signs a commit; the signature, as it stands in one.
///
/// # Errors
/// When the program is missing, has no such key, or asks somebody.
pub async fn sign(key: &SigningKey, text: &[u8]) -> Result<String, GitError> {
    let name = match key {
        SigningKey::Ssh(_) => "ssh-keygen",
        SigningKey::Gpg(_) => "gpg",
    };
    let failed = |why: String| GitError::NotSigned { why };
    let path = std::env::var_os("PATH");
    let program = own_program(Path::new(name), path.as_deref())
        .ok_or_else(|| failed(format!("{name} is not installed")))?;
    let command = Command::new(program, "/")
        .exact_env(inherited())
        .stdin_bytes(text.to_vec());
    // Nobody is there to be asked.
    let command = command
        .env("SSH_ASKPASS", "/bin/false")
        .env("SSH_ASKPASS_REQUIRE", "force");
    let command = match key {
        SigningKey::Ssh(file) => command
            .args(["-Y", "sign", "-n", "git", "-f"])
            .arg(file.as_os_str()),
        SigningKey::Gpg(key) => command
            .args(["--batch", "--no-tty", "--armor", "--detach-sign"])
            .args(["--local-user", key]),
    };
    // Its own agent may stay, on purpose.
    let limits = Limits {
        sweep: false,
        ..Limits::within(ONE)
    };
    let done = capture(&command, &limits).await?;
    if done.stopped.is_some() {
        return Err(failed(format!(
            "{name} gave no answer in {} s",
            ONE.as_secs()
        )));
    }
    let said = done.stdout.text();
    if !done.success() || !said.starts_with("-----BEGIN ") {
        return Err(failed(detail(&done)));
    }
    Ok(said.trim_end().to_owned())
}

impl Worktree {
    /// The commit that leaves in place of `tip`: with its history since what the remote has, signed. Asked
    /// again, it is the same one.
    ///
    /// # Errors
    /// When one of them cannot be signed, or there are too many.
    pub async fn signed(&self, tip: &Oid, signer: &Signer<'_>) -> Result<Oid, GitError> {
        if let Some(done) = self.signed_copy(tip).await? {
            return Ok(done);
        }
        let all = tokio::time::timeout(ALL, self.sign_new(tip, signer));
        let copy = all.await.map_err(|_| GitError::NotSigned {
            why: format!("it took longer than {} s", ALL.as_secs()),
        })??;
        let name = self.signed_ref(tip);
        self.kept.bare.move_ref(&name, &copy, None).await?;
        durable::name(&self.kept.path().join(&name), self.kept.path())?;
        Ok(copy)
    }

    /// What was made of a commit to leave in its place.
    pub(crate) async fn signed_copy(&self, of: &Oid) -> Result<Option<Oid>, GitError> {
        self.kept.bare.ref_target(&self.signed_ref(of)).await
    }

    pub(crate) fn signed_ref(&self, of: &Oid) -> String {
        format!("refs/carson/signed/{}/{of}", self.name())
    }

    /// Notes that nothing of it may leave without a signature: whoever concludes its firing may know other
    /// settings.
    ///
    /// # Errors
    /// When it cannot be written down.
    pub async fn must_be_signed(&self) -> Result<(), GitError> {
        self.kept.make()?;
        let change = RefChange::to(self.to_sign_ref(), &self.base);
        self.kept.bare.change_refs(vec![change]).await
    }

    /// What [`must_be_signed`](Self::must_be_signed) noted.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn is_to_be_signed(&self) -> Result<bool, GitError> {
        let noted = self.kept.at(&self.to_sign_ref()).await?;
        Ok(noted.is_some())
    }

    pub(crate) fn to_sign_ref(&self) -> String {
        format!("refs/carson/to-sign/{}", self.name())
    }

    async fn sign_new(&self, tip: &Oid, signer: &Signer<'_>) -> Result<Oid, GitError> {
        let mut copies: HashMap<Oid, Oid> = HashMap::new();
        for commit in self.new_commits(tip).await? {
            let id = commit.git2();
            let raw = self.kept.bare.read(move |repo| {
                let odb = repo.odb()?;
                Ok(odb.read(id)?.data().to_vec())
            });
            let unsigned = unsigned(&raw.await?, &copies, signer);
            let unsigned = unsigned.ok_or_else(|| GitError::Failed {
                verb: "commit".into(),
                detail: format!("{commit} has a header that cannot be signed"),
            })?;
            let signature = sign(signer.key, &unsigned.whole()).await?;
            let git = self.kept.bare.git("hash-object");
            let git = git.args(["-t", "commit", "-w", "--stdin"]);
            let made = git.stdin(unsigned.with(&signature)).text().await?;
            copies.insert(commit, parse(made.trim())?);
        }
        Ok(copies.remove(tip).unwrap_or_else(|| tip.clone()))
    }

    /// What the remote does not have, parents first.
    async fn new_commits(&self, tip: &Oid) -> Result<Vec<Oid>, GitError> {
        let remote = self.mirror.bare.read(|repo| {
            let mut at = Vec::new();
            for found in repo.references_glob("refs/remotes/origin/*")? {
                at.extend(found?.target().map(Oid::from));
            }
            Ok(at)
        });
        let mut asked = format!("{tip}\n^{}\n", self.base);
        for at in remote.await? {
            asked.push_str(&format!("^{at}\n"));
        }
        let most = format!("--max-count={}", MOST + 1);
        let list = self.kept.bare.git("rev-list");
        let list = list.args(["--topo-order", "--reverse", &most, "--stdin"]);
        let said = list.stdin(asked.into_bytes()).text().await?;
        let all: Vec<Oid> = said.lines().map(parse).collect::<Result<_, _>>()?;
        if all.len() > MOST {
            return Err(GitError::TooMany { most: MOST });
        }
        Ok(all)
    }
}

/// A commit without a signature, in the two parts between which it comes.
#[derive(Debug, PartialEq, Eq)]
struct Unsigned {
    /// Full lines.
    header: Vec<u8>,
    /// From the empty line on.
    message: Vec<u8>,
}

impl Unsigned {
    fn whole(&self) -> Vec<u8> {
        [self.header.as_slice(), self.message.as_slice()].concat()
    }

    fn with(&self, signature: &str) -> Vec<u8> {
        let lines = signature.replace('\n', "\n ");
        let own = format!("gpgsig {lines}\n");
        [
            self.header.as_slice(),
            own.as_bytes(),
            self.message.as_slice(),
        ]
        .concat()
    }
}

/// A commit whose parents are their copies, in the signer's name, without signatures of its own. `None` where
/// it is none.
fn unsigned(raw: &[u8], copies: &HashMap<Oid, Oid>, signer: &Signer<'_>) -> Option<Unsigned> {
    if raw.len() > COMMIT {
        return None;
    }
    let end = raw.windows(2).position(|two| two == b"\n\n")? + 1;
    let (lines, message) = raw.split_at(end);
    let mut header = Vec::with_capacity(raw.len());
    let mut is_left_out = false;
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        // A line that begins with a blank goes on with the header above it.
        if line.starts_with(b" ") {
            if !is_left_out {
                return None;
            }
            continue;
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let at = line.iter().position(|byte| *byte == b' ')?;
        let (name, value) = (&line[..at], &line[at + 1..]);
        let kept = match name {
            b"parent" => {
                let parent = str::from_utf8(value).ok()?.parse::<Oid>().ok()?;
                Some(
                    copies
                        .get(&parent)
                        .unwrap_or(&parent)
                        .to_string()
                        .into_bytes(),
                )
            }
            b"committer" => Some(committer(value, signer)?),
            b"tree" | b"author" => Some(value.to_vec()),
            b"encoding" if is_readable(value) => Some(value.to_vec()),
            _ => None,
        };
        is_left_out = kept.is_none();
        if let Some(value) = kept {
            header.extend([name, b" ", &value, b"\n"].concat());
        }
    }
    Some(Unsigned {
        header,
        message: message.to_vec(),
    })
}

/// The signer, at the time that stands there.
fn committer(value: &[u8], signer: &Signer<'_>) -> Option<Vec<u8>> {
    let after = value.iter().rposition(|byte| *byte == b'>')? + 1;
    let name = format!("{} <{}>", signer.name, signer.email);
    Some([name.as_bytes(), &value[after..]].concat())
}

/// Whether letters of plain text are what they are elsewhere: in others nobody could read author and message.
fn is_readable(encoding: &[u8]) -> bool {
    let name = encoding.to_ascii_lowercase();
    let wide: [&[u8]; 4] = [b"utf-7", b"utf-16", b"utf-32", b"ucs"];
    !wide.iter().any(|wide| name.starts_with(wide))
}

#[cfg(test)]
mod tests;
