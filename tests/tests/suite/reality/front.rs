//! What the forge talks to. It writes down what Prism says of each request, and fails when it is told
//! to, before the request arrives or after it was carried out.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use carson_tests::Dice;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use reqwest::header::CONTENT_TYPE;
use serde_json::json;

use super::http::{self, Asked, Said};

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A server on the way is away.
    BadGateway,
    /// Too much at once, for a second.
    Secondary,
    /// The same in the words of the standard.
    TooMany,
    /// It is carried out, and the connection is cut before the answer.
    LostAnswer,
    /// It is carried out, and a server on the way loses the answer.
    LostInGateway,
    /// It is carried out, and the answer comes when nobody waits for it any more.
    Late,
    /// This repository can have no drafts.
    NoDrafts,
    /// It understands what is wanted, and will not have it, however often it is asked.
    Refused,
}

/// Longer than the fleet waits for an answer.
const LATE: Duration = Duration::from_secs(21);

/// What somebody does.
type Act = Box<dyn FnOnce() + Send>;

#[derive(Clone, Default)]
pub struct Front(Arc<Mutex<Has>>);

#[derive(Default)]
struct Has {
    next: String,
    back: String,
    /// Verb, a part of the path, and what then happens once.
    faults: Vec<(&'static str, &'static str, Fault)>,
    /// Verb, a part of the path, and what somebody else does once just before.
    acts: Vec<(&'static str, &'static str, Act)>,
    /// Chance of a fault at each request, where there is one.
    dice: Option<Dice>,
    /// An issue that has another address now.
    transferred: Option<u64>,
    /// How many requests that change something were carried out.
    writes: usize,
    /// After so many of these this process is killed, and hears no answer.
    deadly: Option<(usize, Arc<AtomicI32>)>,
    /// What came.
    asked: Vec<String>,
    /// What GitHub would not understand.
    violations: Vec<String>,
}

impl Front {
    pub async fn start() -> (Self, String) {
        let front = Self::default();
        let (own, client) = (front.clone(), http::client());
        let base = http::serve(move |asked| {
            let (own, client) = (own.clone(), client.clone());
            Box::pin(async move { own.answer(&client, asked).await })
        });
        (front, base.await)
    }

    pub fn stands_before(&self, next: &str, back: &str) {
        let mut has = self.0.lock().unwrap();
        (has.next, has.back) = (next.to_owned(), back.to_owned());
    }

    /// The next such request meets this. A change in GraphQL is known by its name.
    pub fn fail(&self, verb: &'static str, path: &'static str, fault: Fault) {
        self.0.lock().unwrap().faults.push((verb, path, fault));
    }

    /// Somebody is faster than the next such request.
    pub fn before(
        &self,
        verb: &'static str,
        path: &'static str,
        act: impl FnOnce() + Send + 'static,
    ) {
        let mut has = self.0.lock().unwrap();
        has.acts.push((verb, path, Box::new(act)));
    }

    /// From now on about one request in ten meets a fault.
    pub fn is_ill(&self, seed: u64) {
        self.0.lock().unwrap().dice = Some(Dice::new(seed));
    }

    /// From now on this issue is found elsewhere.
    pub fn has_lost(&self, issue: u64) {
        self.0.lock().unwrap().transferred = Some(issue);
    }

    /// From now on everything is well.
    pub fn is_well(&self) {
        self.0.lock().unwrap().dice = None;
    }

    /// How many requests that change something were carried out.
    pub fn writes(&self) -> usize {
        self.0.lock().unwrap().writes
    }

    /// Kills this process once so many more were.
    pub fn kills_after(&self, writes: usize, process: &Arc<AtomicI32>) {
        let mut has = self.0.lock().unwrap();
        has.deadly = Some((has.writes + writes, process.clone()));
    }

    /// The faults that nothing met yet.
    pub fn unmet(&self) -> Vec<(&'static str, &'static str, Fault)> {
        self.0.lock().unwrap().faults.clone()
    }

    pub fn asked(&self) -> Vec<String> {
        self.0.lock().unwrap().asked.clone()
    }

    pub fn violations(&self) -> Vec<String> {
        self.0.lock().unwrap().violations.clone()
    }

    fn fault(&self, asked: &Asked) -> Option<Fault> {
        let mut has = self.0.lock().unwrap();
        has.asked.push(format!("{} {}", asked.method, asked.path));
        let drafts = |fault| fault != Fault::NoDrafts || asked.json()["draft"] == true;
        if let Some(dice) = &mut has.dice
            && dice.roll(10) == 0
        {
            let all = [
                Fault::BadGateway,
                Fault::Secondary,
                Fault::LostAnswer,
                Fault::LostInGateway,
            ];
            return Some(all[usize::try_from(dice.roll(4)).unwrap()]);
        }
        let met = has
            .faults
            .iter()
            .position(|(verb, part, fault)| is_such(asked, verb, part) && drafts(*fault))?;
        Some(has.faults.remove(met).2)
    }

    fn act(&self, asked: &Asked) -> Option<Act> {
        let mut has = self.0.lock().unwrap();
        let mut acts = has.acts.iter();
        let at = acts.position(|(verb, part, _)| is_such(asked, verb, part))?;
        Some(has.acts.remove(at).2)
    }

    async fn answer(&self, client: &reqwest::Client, asked: Asked) -> Option<Said> {
        if let Some(act) = self.act(&asked) {
            act();
        }
        let fault = self.fault(&asked);
        let refused = |status, message| Said::json(status, &json!({"message": message}));
        if self.is_elsewhere(&asked) {
            let mut said = refused(301, "Moved Permanently");
            let there = "http://127.0.0.1:9/repositories/2/issues/1";
            said.headers.insert("location", there.parse().unwrap());
            return Some(said);
        }
        match fault {
            Some(Fault::BadGateway) => return Some(refused(502, "Bad Gateway")),
            Some(Fault::Secondary) => {
                let mut said = refused(403, "You have exceeded a secondary rate limit.");
                said.headers.insert("retry-after", "1".parse().unwrap());
                return Some(said);
            }
            Some(Fault::TooMany) => {
                let mut said = refused(429, "Too Many Requests");
                said.headers.insert("retry-after", "1".parse().unwrap());
                return Some(said);
            }
            Some(Fault::NoDrafts) => {
                let why = "Draft pull requests are not supported in this repository.";
                return Some(refused(422, why));
            }
            Some(Fault::Refused) => return Some(refused(422, "Validation Failed")),
            _ => {}
        }
        let writes = asked.method != "GET";
        let said = self.pass_on(client, asked).await;
        if writes && self.wrote() {
            return None;
        }
        match fault {
            Some(Fault::LostAnswer) => None,
            Some(Fault::Late) => {
                tokio::time::sleep(LATE).await;
                Some(said)
            }
            Some(Fault::LostInGateway) => Some(refused(502, "Bad Gateway")),
            _ => Some(said),
        }
    }

    fn is_elsewhere(&self, asked: &Asked) -> bool {
        let has = self.0.lock().unwrap();
        let path = asked.path.split('?').next().unwrap();
        let part = path.split("/issues/").nth(1);
        let number = part.and_then(|part| part.split('/').next()?.parse().ok());
        number.is_some() && number == has.transferred
    }

    /// Counts; whether whoever asked is dead now.
    fn wrote(&self) -> bool {
        let mut has = self.0.lock().unwrap();
        has.writes += 1;
        let writes = has.writes;
        let deadly = has.deadly.take_if(|(at, _)| *at == writes);
        deadly.is_some_and(|(_, process)| {
            let process = Pid::from_raw(process.load(Ordering::SeqCst));
            kill(process, Signal::SIGKILL).is_ok()
        })
    }

    /// GraphQL has a description of its own.
    async fn pass_on(&self, client: &reqwest::Client, asked: Asked) -> Said {
        let what = format!("{} {}", asked.method, asked.path);
        let (next, back) = {
            let has = self.0.lock().unwrap();
            (has.next.clone(), has.back.clone())
        };
        let to = if asked.path == "/graphql" {
            &back
        } else {
            &next
        };
        let said = http::pass_on(client, to, asked).await;
        let violations = said.headers.get("sl-violations");
        let own = said.headers.get(CONTENT_TYPE);
        let own = own.is_some_and(|kind| kind.to_str().unwrap().contains("problem+json"));
        if violations.is_some() || own {
            let body = String::from_utf8_lossy(&said.body);
            let why = violations.map_or(body, |text| String::from_utf8_lossy(text.as_bytes()));
            let line = format!("{what}: {why}");
            self.0.lock().unwrap().violations.push(line);
        }
        said
    }
}

/// Whether it is a request of this verb to such a path, or such a change in GraphQL.
fn is_such(asked: &Asked, verb: &str, part: &str) -> bool {
    let path = asked.path.split('?').next().unwrap();
    let changes = || {
        let body = asked.json();
        body["query"]
            .as_str()
            .is_some_and(|query| query.contains(part))
    };
    asked.method == verb && (path.ends_with(part) || changes())
}
