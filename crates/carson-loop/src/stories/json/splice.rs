//! One text of a document is changed, and every other byte stays where it is.
//!
//! A plan that lies in a repository is read by people as a difference: one line of it may be another one,
//! not its indentation.

use std::ops::Range;

/// A step into a document.
#[derive(Clone, Copy, Debug)]
pub enum Step<'s> {
    /// The value under a key.
    Key(&'s str),
    /// An item of a list.
    Item(usize),
}

/// The document with this text under `key` of the object at `way`: in the place of what stands there, or behind
/// all else. `None` where there is no such object.
#[must_use]
pub fn with_text(document: &str, way: &[Step<'_>], key: &str, value: &str) -> Option<String> {
    let mut scan = Scan {
        text: document,
        at: 0,
    };
    for step in way {
        match step {
            Step::Key(key) => scan.seek_key(key)?,
            Step::Item(index) => scan.seek_item(*index)?,
        }
    }
    let value = serde_json::to_string(value).ok()?;
    let (at, new) = match scan.member(key)? {
        Member::There(at) => (at, value),
        Member::Missing { end, between } => {
            let key = serde_json::to_string(key).ok()?;
            let new = match between {
                None => format!("{key}: {value}"),
                Some("") => format!(", {key}: {value}"),
                Some(between) => format!(",{between}{key}: {value}"),
            };
            (end..end, new)
        }
    };
    let (before, after) = (document.get(..at.start)?, document.get(at.end..)?);
    Some(format!("{before}{new}{after}"))
}

/// Where a member of an object is.
enum Member<'t> {
    /// Its value.
    There(Range<usize>),
    /// It would stand here, behind the last one; and the blanks before the first one, if there is any.
    Missing {
        end: usize,
        between: Option<&'t str>,
    },
}

/// Goes through a document that is JSON; through another one it goes as far as it can.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) -> &'t str {
        let from = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.blanks();
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    /// A text, with its quotes.
    fn string(&mut self) -> Option<&'t str> {
        self.blanks();
        let from = self.at;
        if self.peek()? != b'"' {
            return None;
        }
        self.at += 1;
        loop {
            match self.peek()? {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        self.at += 1;
        self.text.get(from..self.at)
    }

    /// Any value; where it is.
    fn value(&mut self) -> Option<Range<usize>> {
        self.blanks();
        let from = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                    continue;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(b' ' | b'\t' | b'\r' | b'\n') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(_) => self.scalar()?,
                None => return None,
            }
            if depth == 0 {
                return Some(from..self.at);
            }
        }
    }

    /// A number, `true`, `false` or `null`.
    fn scalar(&mut self) -> Option<()> {
        let from = self.at;
        let is_end = |byte: u8| b",:]}[{\" \t\r\n".contains(&byte);
        while self.peek().is_some_and(|byte| !is_end(byte)) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    /// The next key of an object whose bracket, or last member, is behind.
    fn key(&mut self) -> Option<String> {
        let key = serde_json::from_str(self.string()?).ok()?;
        self.takes(b':').then_some(key)
    }

    fn seek_key(&mut self, wanted: &str) -> Option<()> {
        match self.member(wanted)? {
            Member::There(at) => self.at = at.start,
            Member::Missing { .. } => return None,
        }
        Some(())
    }

    fn member(&mut self, wanted: &str) -> Option<Member<'t>> {
        if !self.takes(b'{') {
            return None;
        }
        let between = self.blanks();
        if self.peek()? == b'}' {
            let end = self.at;
            return Some(Member::Missing { end, between: None });
        }
        loop {
            let key = self.key()?;
            let at = self.value()?;
            if key == wanted {
                return Some(Member::There(at));
            }
            if !self.takes(b',') {
                let (end, between) = (at.end, Some(between));
                return Some(Member::Missing { end, between });
            }
        }
    }

    fn seek_item(&mut self, wanted: usize) -> Option<()> {
        if !self.takes(b'[') {
            return None;
        }
        for _ in 0..wanted {
            self.value()?;
            if !self.takes(b',') {
                return None;
            }
        }
        self.blanks();
        (self.peek()? != b']').then_some(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::stories::json::Json;

    const WAY: [Step<'_>; 2] = [Step::Key("l"), Step::Item(1)];

    #[test]
    fn one_text_is_another_one_and_all_else_stays() {
        for (before, after) in [
            (
                r#"{ "x":[ {"s":"q}"} ],"l":[{"s" : 1},{ "a":"]\"",  "s":  "open" , "z":1.50 }]}"#,
                r#"{ "x":[ {"s":"q}"} ],"l":[{"s" : 1},{ "a":"]\"",  "s":  "done" , "z":1.50 }]}"#,
            ),
            (
                "{\r\n\t\"l\": [1, {\r\n\t\t\"a\": {\"s\": 1}\r\n\t}]\r\n}\r\n",
                "{\r\n\t\"l\": [1, {\r\n\t\t\"a\": {\"s\": 1},\r\n\t\t\"s\": \"done\"\r\n\t}]\r\n}\r\n",
            ),
            (
                r#"{"l":[0,{"a":[1,[2]]}]}"#,
                r#"{"l":[0,{"a":[1,[2]], "s": "done"}]}"#,
            ),
            (r#"{"l":[0,{ }]}"#, r#"{"l":[0,{ "s": "done"}]}"#),
            (
                r#"{"l":[0,{"\u0073": null}]}"#,
                r#"{"l":[0,{"\u0073": "done"}]}"#,
            ),
        ] {
            assert_eq!(with_text(before, &WAY, "s", "done").as_deref(), Some(after));
        }
    }

    #[test]
    fn what_is_not_there_is_not_changed() {
        for text in [
            "",
            "{",
            "[]",
            r#"{"l": [1]}"#,
            r#"{"l": [1, 2]}"#,
            r#"{"k": [1, {}]}"#,
            "{\"l\": [\"\\",
        ] {
            assert_eq!(with_text(text, &WAY, "s", "done"), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_around_it_means_what_it_meant(
            a in "\\PC*", b in "\\PC*", old in "\\PC*", new in "\\PC*", pretty: bool, has: bool
        ) {
            let mut story = serde_json::json!({"a": a, "n": [1, {"s": b}]});
            if has {
                story["s"] = old.into();
            }
            let document = serde_json::json!({"l": [{"s": "x"}, story], "s": "top"});
            let text = match pretty {
                true => serde_json::to_string_pretty(&document).unwrap(),
                false => document.to_string(),
            };
            let spliced = with_text(&text, &WAY, "s", &new).unwrap();
            let mut right = document;
            right["l"][1]["s"] = new.into();
            prop_assert_eq!(Json::parse(&spliced).unwrap(), Json::parse(&right.to_string()).unwrap());
        }

        #[test]
        fn nothing_makes_it_stumble(text in "\\PC*") {
            let _ = with_text(&text, &WAY, "s", "done");
            let _ = with_text(&format!("{{\"l\":[0,{{{text}"), &WAY, "s", "done");
        }
    }
}
