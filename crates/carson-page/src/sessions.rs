//! Who is signed in.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use secrecy::{ExposeSecret, SecretString};

use crate::secret::{linked, proof, random};

/// Browsers at once; one more ends the session that was silent longest.
const MOST: usize = 32;
/// How long a session may be silent.
const SILENT: Duration = Duration::from_secs(24 * 3_600);
/// How long a session lasts.
pub(crate) const LASTS: Duration = Duration::from_secs(7 * 24 * 3_600);
/// Links that are remembered as used; they hold for a few minutes only.
const LINKS: usize = 1_000;

/// The sessions of one server. They end with it.
pub(crate) struct Sessions {
    /// Proves that a form is ours.
    key: String,
    open: Mutex<HashMap<String, Open>>,
    used: Mutex<HashMap<String, i64>>,
}

struct Open {
    began: Instant,
    heard: Instant,
    /// Made of the token that it signed in with: another one ends it.
    by: String,
    /// What its next page says first.
    word: Option<String>,
}

impl Open {
    fn stands(&self, by: &str, now: Instant) -> bool {
        let old = now.duration_since(self.began) >= LASTS;
        let silent = now.duration_since(self.heard) >= SILENT;
        !old && !silent && self.by == by
    }
}

impl Sessions {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self {
            key: random()?,
            open: Mutex::default(),
            used: Mutex::default(),
        })
    }

    /// Whoever showed the token has a session: its secret, which is not the token.
    pub(crate) fn begin(&self, token: &SecretString, now: Instant) -> Result<String, String> {
        let (secret, by) = (random()?, self.by(token));
        let mut open = self.lock();
        open.retain(|_, one| one.stands(&by, now));
        if open.len() >= MOST {
            let silent = open.iter().min_by_key(|(_, one)| one.heard);
            if let Some(name) = silent.map(|(name, _)| name.clone()) {
                open.remove(&name);
            }
        }
        let one = Open {
            began: now,
            heard: now,
            by,
            word: None,
        };
        open.insert(self.name(&secret), one);
        Ok(secret)
    }

    /// Whether a session of this secret stands; from now on it was heard of.
    pub(crate) fn hear(&self, secret: &str, token: &SecretString, now: Instant) -> bool {
        let by = self.by(token);
        let mut open = self.lock();
        let Some(one) = open.get_mut(&self.name(secret)) else {
            return false;
        };
        let stands = one.stands(&by, now);
        if stands {
            one.heard = now;
        }
        stands
    }

    /// Takes leave.
    pub(crate) fn end(&self, secret: &str) {
        self.lock().remove(&self.name(secret));
    }

    /// Its next page says this first.
    pub(crate) fn tell(&self, secret: &str, word: String) {
        if let Some(one) = self.lock().get_mut(&self.name(secret)) {
            one.word = Some(word);
        }
    }

    /// What its next page says first, once.
    pub(crate) fn told(&self, secret: &str) -> Option<String> {
        self.lock().get_mut(&self.name(secret))?.word.take()
    }

    /// Uses a link up; whether it held and nobody did so before.
    pub(crate) fn use_link(&self, link: &str, token: &SecretString, now: i64) -> bool {
        let Some((until, name)) = linked(link, token, now) else {
            return false;
        };
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, until| now < *until);
        used.len() < LINKS && used.insert(name, until).is_none()
    }

    /// What every form of a session has in it, and no other page knows.
    pub(crate) fn form(&self, secret: &str) -> String {
        proof(&self.key, &format!("form\n{secret}"))
    }

    /// Whether a form is one of this session.
    pub(crate) fn is_form(&self, secret: &str, shown: &str) -> bool {
        carson_door::is_same(shown.as_bytes(), &SecretString::from(self.form(secret)))
    }

    /// A session is found by a name that is not its secret: how long that takes says nothing of it.
    fn name(&self, secret: &str) -> String {
        proof(&self.key, &format!("session\n{secret}"))
    }

    fn by(&self, token: &SecretString) -> String {
        proof(&self.key, &format!("token\n{}", token.expose_secret()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::link;

    fn token() -> SecretString {
        SecretString::from("0123456789abcdef0123456789abcdef")
    }

    #[test]
    fn a_session_ends_by_silence_by_age_with_its_token_and_by_leave() {
        let (sessions, start) = (Sessions::new().unwrap(), Instant::now());
        let later = |hours: u64| start + Duration::from_secs(hours * 3_600);
        let secret = sessions.begin(&token(), start).unwrap();
        assert!(sessions.hear(&secret, &token(), later(23)));
        assert!(sessions.hear(&secret, &token(), later(46)));
        assert!(
            !sessions.hear(&secret, &token(), later(70)),
            "it was silent for a day"
        );
        let secret = sessions.begin(&token(), start).unwrap();
        for hours in (0..7 * 24).step_by(20) {
            assert!(sessions.hear(&secret, &token(), later(hours)));
        }
        assert!(
            !sessions.hear(&secret, &token(), later(7 * 24)),
            "it is a week old"
        );
        let secret = sessions.begin(&token(), start).unwrap();
        let other = SecretString::from("x123456789abcdef0123456789abcdef");
        assert!(
            !sessions.hear(&secret, &other, start),
            "the token is another one"
        );
        assert!(sessions.hear(&secret, &token(), start));
        sessions.end(&secret);
        assert!(!sessions.hear(&secret, &token(), start));
        assert!(!sessions.hear("", &token(), start));
    }

    #[test]
    fn one_browser_too_many_ends_the_most_silent_one() {
        let (sessions, start) = (Sessions::new().unwrap(), Instant::now());
        let at = |second: usize| start + Duration::from_secs(second as u64);
        let all: Vec<String> = (0..MOST)
            .map(|n| sessions.begin(&token(), at(n)).unwrap())
            .collect();
        assert!(sessions.hear(&all[0], &token(), at(MOST)));
        sessions.begin(&token(), at(MOST)).unwrap();
        let stand = all
            .iter()
            .filter(|one| sessions.hear(one, &token(), at(MOST)));
        assert_eq!(stand.count(), MOST - 1);
        assert!(!sessions.hear(&all[1], &token(), at(MOST)));
    }

    #[test]
    fn forms_are_of_one_session_and_links_are_used_once() {
        let sessions = Sessions::new().unwrap();
        let form = sessions.form("a");
        assert!(sessions.is_form("a", &form) && !sessions.is_form("b", &form));
        assert!(!Sessions::new().unwrap().is_form("a", &form));
        let link = link(&token(), 1_000).unwrap();
        assert!(sessions.use_link(&link, &token(), 1_001));
        assert!(!sessions.use_link(&link, &token(), 1_002));
    }
}
