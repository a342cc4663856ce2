//! Compound commands: `if`, loops, `case`, groups, functions and tests.

use super::cursor::Parser;
use super::syntax::{Node, Part, Simple, Word};
use super::words::Mode;

impl Parser<'_> {
    /// The compound command at the cursor, with its redirections.
    pub(super) fn compound(&mut self) -> Option<Node> {
        let node = self.compound_body()?;
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        if redirects.is_empty() {
            Some(node)
        } else {
            Some(Node::Redirected(Box::new(node), redirects))
        }
    }

    fn compound_body(&mut self) -> Option<Node> {
        if self.peek() == b'(' {
            return Some(self.parentheses());
        }
        if self.eat_word("{") {
            let body = self.list(&["}"]);
            self.eat_word("}");
            return Some(body);
        }
        if self.eat_word("[[") {
            return Some(self.condition());
        }
        if self.eat_word("if") {
            return Some(self.choice());
        }
        if self.eat_word("while") || self.eat_word("until") {
            let test = self.list(&["do"]);
            let body = self.loop_body();
            return Some(Node::Repeat(Box::new(test), Box::new(body)));
        }
        if self.eat_word("for") || self.eat_word("select") {
            return Some(self.each());
        }
        if self.eat_word("case") {
            return Some(self.case());
        }
        if self.eat_word("function") {
            return Some(self.function());
        }
        None
    }

    fn parentheses(&mut self) -> Node {
        if self.at("((")
            && let Some(end) = self.double_close(self.pos + 2)
        {
            let inside = &self.src[self.pos + 2..end];
            self.pos = end + 2;
            let word = Parser::new(inside, self.depth + 1).parts_as_word(Mode::HereDoc);
            return Node::Arithmetic(word);
        }
        self.pos += 1;
        Node::Subshell(Box::new(self.nested_list()))
    }

    /// `[[ … ]]`: a command whose words may be operators.
    fn condition(&mut self) -> Node {
        let mut words = vec![Word {
            parts: vec![Part::Quoted("[[".to_owned())],
        }];
        loop {
            self.skip_lines();
            if self.ended() || self.eat_word("]]") {
                break;
            }
            let start = self.pos;
            let word = self.word();
            if self.pos == start {
                self.bump();
            } else {
                words.push(word);
            }
        }
        Node::Simple(Simple {
            words,
            ..Simple::default()
        })
    }

    fn choice(&mut self) -> Node {
        let mut arms = Vec::new();
        let mut otherwise = None;
        loop {
            let test = self.list(&["then", "fi"]);
            self.eat_word("then");
            let body = self.list(&["elif", "else", "fi"]);
            arms.push((test, body));
            if self.eat_word("elif") {
                continue;
            }
            if self.eat_word("else") {
                otherwise = Some(Box::new(self.list(&["fi"])));
            }
            self.eat_word("fi");
            return Node::Choice(arms, otherwise);
        }
    }

    fn loop_body(&mut self) -> Node {
        self.skip_lines();
        self.eat(";");
        self.skip_lines();
        if self.eat_word("{") {
            let body = self.list(&["}"]);
            self.eat_word("}");
            return body;
        }
        self.eat_word("do");
        let body = self.list(&["done"]);
        self.eat_word("done");
        body
    }

    fn each(&mut self) -> Node {
        self.skip_blanks();
        if self.at("((") {
            let head = self.parentheses();
            let body = self.loop_body();
            return Node::Repeat(Box::new(head), Box::new(body));
        }
        let name = self.name();
        self.skip_lines();
        let words = self.eat_word("in").then(|| self.words_of_line());
        let body = self.loop_body();
        Node::Each(name, words, Box::new(body))
    }

    fn words_of_line(&mut self) -> Vec<Word> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            let start = self.pos;
            let word = self.word();
            if self.pos == start {
                return words;
            }
            words.push(word);
        }
    }

    fn case(&mut self) -> Node {
        self.skip_blanks();
        let subject = self.word();
        self.skip_lines();
        self.eat_word("in");
        let mut arms = Vec::new();
        loop {
            self.skip_lines();
            if self.ended() || self.eat_word("esac") {
                return Node::Case(subject, arms);
            }
            let start = self.pos;
            let patterns = self.case_patterns();
            let body = self.list(&[";;", ";&", "esac"]);
            if !self.eat(";;&") && !self.eat(";;") {
                self.eat(";&");
            }
            if self.pos == start {
                self.bump();
            }
            arms.push((patterns, body));
        }
    }

    fn case_patterns(&mut self) -> Vec<Word> {
        self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            patterns.push(self.word());
            self.skip_blanks();
            if !self.eat("|") {
                break;
            }
        }
        self.eat(")");
        patterns
    }

    fn function(&mut self) -> Node {
        self.skip_blanks();
        let name = self.word().literal().unwrap_or_default();
        self.skip_blanks();
        if self.eat("(") {
            self.skip_blanks();
            self.eat(")");
        }
        self.function_body(name)
    }
}
