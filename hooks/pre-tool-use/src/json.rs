//! A small JSON reader with a depth bound.
//!
//! Only what a hook needs: strings, arrays and objects; numbers keep their spelling. Broken
//! surrogates become U+FFFD instead of an error, because an odd letter in a file the model writes
//! must not decide whether the hook works.

use std::fmt;

/// Deepest nesting of arrays and objects that is read.
pub const MAX_DEPTH: usize = 64;

/// A JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// `null`, `true`, `false` or a number, by its spelling.
    Plain(String),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object, in the order of the input.
    Map(Vec<(String, Json)>),
}

/// Why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset in the input.
    pub at: usize,
    /// What was expected there.
    pub problem: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not JSON at byte {}: {}", self.at, self.problem)
    }
}

impl std::error::Error for JsonError {}

impl Json {
    /// Reads one value; nothing but white space may follow it.
    ///
    /// # Errors
    /// When the text is not JSON or nests deeper than [`MAX_DEPTH`].
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.blanks();
        if reader.at < text.len() {
            return Err(reader.error("something follows the value"));
        }
        Ok(value)
    }

    /// The strings of a text that is no JSON, or nested too deep, by the keys in front of them, all in
    /// one object. Strings that follow each other under one key become an array.
    pub fn loose(text: &str) -> Self {
        let mut members: Vec<(String, Self)> = Vec::new();
        let mut reader = Reader { text, at: 0 };
        let mut key: Option<String> = None;
        while let Some(byte) = reader.peek() {
            if byte != b'"' {
                reader.at += 1;
                continue;
            }
            let from = reader.at + 1;
            let found = reader.string().unwrap_or_else(|_| {
                reader.at = text.len();
                text.get(from..).unwrap_or_default().to_owned()
            });
            reader.blanks();
            if reader.peek() == Some(b':') {
                key = Some(found);
                continue;
            }
            let name = key.take();
            match (name, members.last_mut()) {
                (None, Some((_, Self::List(items)))) => items.push(Self::Text(found)),
                (None, Some((_, first))) => {
                    let head = std::mem::replace(first, Self::List(Vec::new()));
                    *first = Self::List(vec![head, Self::Text(found)]);
                }
                (name, _) => members.push((name.unwrap_or_default(), Self::Text(found))),
            }
        }
        Self::Map(members)
    }

    /// The member of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(members) => members.iter().find(|(name, _)| name == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text of a string.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text of a string member.
    pub fn text_at(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::text)
    }
}

/// Whether this is a number; its value is nobody's concern here.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let word = word.strip_prefix('-').unwrap_or(word);
    let (base, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let (whole, part) = base.split_once('.').unwrap_or((base, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    digits(whole) && digits(part) && digits(exponent)
}

/// The text as the inside of a JSON string.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn error(&self, problem: &'static str) -> JsonError {
        JsonError {
            at: self.at,
            problem,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8, problem: &'static str) -> Result<(), JsonError> {
        self.blanks();
        if self.peek() != Some(byte) {
            return Err(self.error(problem));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.error("nested too deep"));
        }
        self.blanks();
        match self.peek() {
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => self.plain(),
            _ => Err(self.error("expected a value")),
        }
    }

    fn plain(&mut self) -> Result<Json, JsonError> {
        let from = self.at;
        while matches!(
            self.peek(),
            Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E')
        ) {
            self.at += 1;
        }
        let word = &self.text[from..self.at];
        if matches!(word, "null" | "true" | "false") || is_number(word) {
            Ok(Json::Plain(word.to_owned()))
        } else {
            Err(self.error("unknown word"))
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        while self.peek() != Some(b']') {
            if !items.is_empty() {
                self.eat(b',', "expected , or ]")?;
            }
            items.push(self.value(depth + 1)?);
            self.blanks();
        }
        self.at += 1;
        Ok(Json::List(items))
    }

    fn map(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut members = Vec::new();
        self.blanks();
        while self.peek() != Some(b'}') {
            if !members.is_empty() {
                self.eat(b',', "expected , or }")?;
                self.blanks();
            }
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a key"));
            }
            let key = self.string()?;
            self.eat(b':', "expected :")?;
            members.push((key, self.value(depth + 1)?));
            self.blanks();
        }
        self.at += 1;
        Ok(Json::Map(members))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while !matches!(self.peek(), None | Some(b'"' | b'\\')) {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                None => return Err(self.error("the string does not end")),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(_) => out.push(self.escaped()?),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let letter = self
            .peek()
            .ok_or_else(|| self.error("the string does not end"))?;
        self.at += 1;
        Ok(match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'u' => self.unicode()?,
            _ => return Err(self.error("unknown escape")),
        })
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let high = self.hex4()?;
        if !(0xD800..0xDC00).contains(&high) || !self.text[self.at..].starts_with("\\u") {
            return Ok(char::from_u32(high).unwrap_or('\u{FFFD}'));
        }
        let back = self.at;
        self.at += 2;
        let low = self.hex4()?;
        if !(0xDC00..0xE000).contains(&low) {
            self.at = back;
            return Ok('\u{FFFD}');
        }
        let code = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
        Ok(char::from_u32(code).unwrap_or('\u{FFFD}'))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.text.get(self.at..self.at + 4);
        let code = digits.and_then(|d| u32::from_str_radix(d, 16).ok());
        let code = code.ok_or_else(|| self.error("expected four hex digits"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_agent_clis_send() {
        let text = r#"{"tool_name":"Bash","tool_input":{"command":"echo \"a\"\n\u0041\ud83d\ude00"},
            "n":-1.5e3,"t":true,"l":[1,"x",null,[]],"o":{}}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(json.text_at("tool_name"), Some("Bash"));
        let input = json.get("tool_input").unwrap();
        assert_eq!(input.text_at("command"), Some("echo \"a\"\nA😀"));
        assert_eq!(json.get("n"), Some(&Json::Plain("-1.5e3".to_owned())));
    }

    #[test]
    fn refuses_what_is_not_json() {
        for text in [
            "", "{", "[1,", "{\"a\"}", "{\"a\":}", "nul", "\"a", "1 2", "{a:1}", "[1 2]",
        ] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        assert!(Json::parse(r#""\u12""#).is_err());
        assert!(Json::parse(r#""\u12é""#).is_err());
    }

    #[test]
    fn a_lone_surrogate_is_no_error() {
        assert_eq!(
            Json::parse(r#""\ud800x""#).unwrap().text(),
            Some("\u{FFFD}x")
        );
        assert_eq!(
            Json::parse(r#""\ud800\u0041""#).unwrap().text(),
            Some("\u{FFFD}A")
        );
    }

    #[test]
    fn depth_is_bounded() {
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
        let deep = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(Json::parse(&deep).is_ok());
    }

    #[test]
    fn escaping_comes_back() {
        let text = "a\"b\\c\nd\te\u{1}é";
        let json = Json::parse(&format!("\"{}\"", escape(text))).unwrap();
        assert_eq!(json.text(), Some(text));
    }
}
