//! Lists, pipelines and simple commands.

use crate::words::Words;
use std::rc::Rc;

pub use super::cursor::Parser;
use super::cursor::ends_word;
use super::syntax::{Assign, Link, Node, Redirect, RedirectKind, Simple, Word};

/// Deepest nesting that is read; deeper text is kept as [`Node::Unread`].
pub const MAX_DEPTH: usize = 48;

/// The descriptor that `${COPROC[0]}` stands for.
pub const COPROCESS: u32 = 63;

/// Builtins whose arguments are assignments.
const DECLARES: Words = Words("export declare local readonly typeset");

/// Reads a command line that itself stands at nesting `depth`.
pub fn parse(src: &str, depth: usize) -> Node {
    Parser::new(src, depth).list(&[])
}

impl Parser<'_> {
    /// Commands up to one of the words or signs in `stops`, which is not consumed.
    pub(super) fn list(&mut self, stops: &[&str]) -> Node {
        let mut chain = Vec::new();
        let mut link = Link::Always;
        loop {
            self.skip_lines();
            if self.ended() || self.at_stop(stops) {
                break;
            }
            let start = self.pos;
            let node = self.pipeline();
            if self.pos == start {
                // An operator without a command: a shell would refuse the line.
                self.bump();
                link = Link::Always;
                continue;
            }
            let (node, next) = self.separator(node);
            chain.push((link, node));
            link = next;
        }
        Node::Chain(chain)
    }

    fn at_stop(&self, stops: &[&str]) -> bool {
        let sign = |stop: &str| matches!(stop, ")" | ";;" | ";&");
        stops.iter().any(|stop| {
            if sign(stop) {
                self.at(stop)
            } else {
                self.at_word(stop)
            }
        })
    }

    fn separator(&mut self, node: Node) -> (Node, Link) {
        self.skip_blanks();
        if self.eat("&&") {
            (node, Link::And)
        } else if self.eat("||") {
            (node, Link::Or)
        } else if self.at(";;") {
            (node, Link::Always)
        } else if self.eat("&") {
            (Node::Background(Box::new(node)), Link::Always)
        } else {
            self.eat(";");
            (node, Link::Always)
        }
    }

    fn pipeline(&mut self) -> Node {
        let (coprocess, name) = self.pipeline_prefix();
        let mut stages = vec![self.command()];
        loop {
            self.skip_blanks();
            if self.at("||") || !self.at("|") {
                break;
            }
            self.pos += 1;
            self.eat("&");
            self.skip_lines();
            stages.push(self.command());
        }
        let node = match stages.pop() {
            Some(only) if stages.is_empty() => only,
            last => {
                stages.extend(last);
                Node::Pipeline(stages)
            }
        };
        if !coprocess {
            return node;
        }
        let running = Node::Coprocess(Rc::new(node));
        match name {
            Some(name) => Node::Chain(vec![
                (Link::Always, descriptor_in(name)),
                (Link::Always, running),
            ]),
            None => running,
        }
    }

    /// `!` and `time`, which change nothing for the rules; true for `coproc`, with the name it gets.
    fn pipeline_prefix(&mut self) -> (bool, Option<String>) {
        let (mut coprocess, mut name) = (false, None);
        loop {
            self.skip_blanks();
            if self.eat_word("!") {
                continue;
            }
            if self.eat_word("coproc") {
                coprocess = true;
                name = self.coprocess_name();
                continue;
            }
            if !self.eat_word("time") {
                return (coprocess, name);
            }
            self.skip_blanks();
            self.eat_word("-p");
            self.skip_blanks();
            self.eat_word("--");
        }
    }

    /// The name in `coproc NAME { … }`: only in front of a compound command is it one.
    fn coprocess_name(&mut self) -> Option<String> {
        let start = self.pos;
        self.skip_blanks();
        let rest = &self.src[self.pos..];
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
        let name = rest[..end].to_owned();
        self.pos += end;
        self.skip_blanks();
        let compound = ["{", "if", "while", "until", "for", "case"];
        if self.at("(") || compound.iter().any(|word| self.at_word(word)) {
            return Some(name).filter(|name| !name.is_empty());
        }
        self.pos = start;
        None
    }

    fn command(&mut self) -> Node {
        self.skip_blanks();
        if self.depth >= MAX_DEPTH || self.budget == 0 {
            return Node::Unread(self.take_rest().to_owned());
        }
        self.budget -= 1;
        self.depth += 1;
        let node = self.compound().unwrap_or_else(|| self.simple());
        self.depth -= 1;
        node
    }

    fn simple(&mut self) -> Node {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks();
            if self.peek() == b'#' {
                self.skip_comment();
            }
            if let Some(redirect) = self.redirect() {
                simple.redirects.push(redirect);
            } else if self.takes_assign(&simple) {
                let assign = self.assign();
                simple.assigns.push(assign);
            } else if self.ended() || (ends_word(self.peek()) && !self.at("<(") && !self.at(">(")) {
                break;
            } else {
                let word = self.word();
                match self.function_name(&simple, &word) {
                    Some(name) => return self.function_body(name),
                    None => simple.words.push(word),
                }
            }
        }
        Node::Simple(simple)
    }

    fn takes_assign(&self, simple: &Simple) -> bool {
        let declares = || {
            let name = simple.words.first().and_then(Word::literal);
            name.is_some_and(|name| DECLARES.has(name.as_str()))
        };
        (simple.words.is_empty() || declares()) && self.assign_length().is_some()
    }

    /// The length of `NAME=`, `NAME+=` or `NAME[…]=` at the cursor.
    fn assign_length(&self) -> Option<usize> {
        let bytes = self.rest().as_bytes();
        let name = bytes
            .iter()
            .take_while(|b| **b == b'_' || b.is_ascii_alphanumeric())
            .count();
        if name == 0 || bytes[0].is_ascii_digit() {
            return None;
        }
        let mut at = name;
        if bytes.get(at) == Some(&b'[') {
            at += bytes.iter().skip(at).take(256).position(|&b| b == b']')? + 1;
        }
        if bytes.get(at) == Some(&b'+') {
            at += 1;
        }
        (bytes.get(at) == Some(&b'=')).then_some(at + 1)
    }

    fn assign(&mut self) -> Assign {
        let length = self.assign_length().unwrap_or(0);
        let head = self.rest()[..length].to_owned();
        self.pos += length;
        let name: String = head
            .chars()
            .take_while(|c| *c == '_' || c.is_ascii_alphanumeric())
            .collect();
        let append = head.ends_with("+=");
        if !self.eat("(") {
            return Assign {
                name,
                append,
                values: vec![self.word()],
                array: false,
            };
        }
        let mut values = Vec::new();
        loop {
            self.skip_lines();
            if self.ended() || self.eat(")") {
                break;
            }
            self.array_key();
            let start = self.pos;
            values.push(self.word());
            if self.pos == start {
                self.bump();
            }
        }
        Assign {
            name,
            append,
            values,
            array: true,
        }
    }

    /// Skips the `[key]=` of an array's element.
    fn array_key(&mut self) {
        if self.peek() == b'[' {
            let head = self.rest().as_bytes().iter().take(256);
            let close = head.clone().position(|&b| b == b']');
            let end = close.filter(|&at| self.peek_at(at + 1) == b'=');
            self.pos += end.map_or(0, |at| at + 2);
        }
    }

    /// `name ()`, right after a first word.
    fn function_name(&mut self, simple: &Simple, word: &Word) -> Option<String> {
        if !simple.words.is_empty() || word.has_quotes() {
            return None;
        }
        let back = self.pos;
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            if self.eat(")") {
                return word.literal();
            }
        }
        self.pos = back;
        None
    }

    pub(super) fn function_body(&mut self, name: String) -> Node {
        self.skip_lines();
        let body = self.command();
        Node::Function(name, Rc::new(body))
    }

    /// A redirection, if one stands here.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let back = self.pos;
        let fd = self.redirect_fd();
        let (kind, tabs) = match self.redirect_operator() {
            Some(found) => found,
            None => {
                self.pos = back;
                return None;
            }
        };
        self.skip_blanks();
        let target = self.word();
        let body = (kind == RedirectKind::HereDoc).then(|| self.announce_heredoc(&target, tabs));
        let kind = duplicate_or_file(kind, &target);
        Some(Redirect {
            fd,
            kind,
            target,
            body,
        })
    }

    /// `2` of `2>` or `{fd}` of `{fd}>`.
    fn redirect_fd(&mut self) -> Option<u32> {
        let rest = self.rest();
        if rest.starts_with('{') {
            let end = rest.bytes().take(32).position(|b| b == b'}')?;
            let named = rest[1..end]
                .bytes()
                .all(|b| b == b'_' || b.is_ascii_alphanumeric());
            if named && end > 1 && matches!(self.peek_at(end + 1), b'<' | b'>') {
                self.pos += end + 1;
            }
            return None;
        }
        let digits = rest.bytes().take(10).take_while(u8::is_ascii_digit).count();
        if digits == 0 || !matches!(self.peek_at(digits), b'<' | b'>') {
            return None;
        }
        self.pos += digits;
        rest[..digits].parse().ok()
    }

    fn redirect_operator(&mut self) -> Option<(RedirectKind, bool)> {
        use RedirectKind::{Append, Duplicate, HereDoc, HereString, Read, ReadWrite, Write};
        if self.at("<(") || self.at(">(") {
            return None;
        }
        let operators = [
            ("<<<", HereString),
            ("<<-", HereDoc),
            ("<<", HereDoc),
            ("<>", ReadWrite),
            ("<&", Duplicate),
            ("<", Read),
            ("&>>", Append),
            ("&>", Write),
            (">>", Append),
            (">&", Duplicate),
            (">|", Write),
            (">!", Write),
            (">", Write),
        ];
        let (text, kind) = operators.into_iter().find(|(text, _)| self.at(text))?;
        self.pos += text.len();
        Some((kind, text == "<<-"))
    }
}

/// `NAME=63`: where a coprocess of that name is read and written.
fn descriptor_in(name: String) -> Node {
    let value = Word {
        parts: vec![super::syntax::Part::Quoted(COPROCESS.to_string())],
    };
    let assign = Assign {
        name,
        append: false,
        values: vec![value],
        array: false,
    };
    Node::Simple(Simple {
        assigns: vec![assign],
        ..Simple::default()
    })
}

/// `>&2` copies a descriptor, `>&file` writes a file.
fn duplicate_or_file(kind: RedirectKind, target: &Word) -> RedirectKind {
    let text = target.literal().unwrap_or_default();
    let descriptor = text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    if kind == RedirectKind::Duplicate && !descriptor {
        RedirectKind::Write
    } else {
        kind
    }
}
