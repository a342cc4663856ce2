//! One cron line, and what is wrong with it: by its fields, where it is one of them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use croner::Cron;
use croner::parser::{CronParser, Seconds};

use super::CadenceError;

/// The fields of a line with seconds, each with what it may hold.
const FIELDS: [(&str, &str); 6] = [
    ("second", "0 to 59"),
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day", "1 to 31, or L"),
    ("month", "1 to 12, or JAN to DEC"),
    ("weekday", "0 to 7 (0 and 7 are Sunday), or SUN to SAT"),
];

/// The lines that some cadence has. A parsed one is 7 kB, and a thousand roles share a few lines.
static KNOWN: Mutex<Option<HashMap<String, Weak<Cron>>>> = Mutex::new(None);

pub(super) fn parse(line: &str) -> Result<Arc<Cron>, CadenceError> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(same) = known.get(line).and_then(Weak::upgrade) {
        return Ok(same);
    }
    let new = read(line).map_err(|said| CadenceError {
        line: line.to_owned(),
        why: fault(line).unwrap_or(said),
    })?;
    let new = Arc::new(new);
    known.retain(|_, one| one.strong_count() > 0);
    known.insert(line.to_owned(), Arc::downgrade(&new));
    Ok(new)
}

fn read(line: &str) -> Result<Cron, String> {
    // The parser takes a seventh for a year, and what it then says of next slots may be none for ever.
    if line.split_whitespace().count() > FIELDS.len() {
        return Err("it has too many fields".to_owned());
    }
    let parser = CronParser::builder().seconds(Seconds::Optional).build();
    parser.parse(line).map_err(|error| error.to_string())
}

/// What is wrong, in an operator's words; `None` where only the parser can say.
fn fault(line: &str) -> Option<String> {
    let parts: Vec<&str> = line.split_whitespace().collect();
    if parts.first().is_some_and(|first| first.starts_with('@')) {
        return None;
    }
    let fields = match parts.len() {
        5 => &FIELDS[1..],
        6 => &FIELDS[..],
        count => {
            return Some(format!(
                "it has {count} fields, and needs minute, hour, day, month and weekday"
            ));
        }
    };
    let mut wrong = Vec::new();
    for (at, ((name, range), part)) in fields.iter().zip(&parts).enumerate() {
        // Alone among fields that hold anything, so that what the parser says is about this one.
        let mut alone = vec!["*"; parts.len()];
        alone[at] = part;
        if read(&alone.join(" ")).is_err() {
            wrong.push(format!("{name} is {part:?}, and goes from {range}"));
        }
    }
    (!wrong.is_empty()).then(|| wrong.join("; "))
}
