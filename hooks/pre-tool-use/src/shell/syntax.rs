//! The syntax tree.

use std::cell::OnceCell;
use std::rc::Rc;

/// A command of any kind.
#[derive(Debug)]
pub enum Node {
    /// Words, assignments and redirections.
    Simple(Simple),
    /// `a | b | c`.
    Pipeline(Vec<Node>),
    /// `a; b && c || d`.
    Chain(Vec<(Link, Node)>),
    /// `( … )`.
    Subshell(Box<Node>),
    /// `a &`: runs beside the rest, as a subshell does.
    Background(Box<Node>),
    /// `coproc a`: beside the rest, read from and written to through a descriptor.
    Coprocess(Rc<Node>),
    /// `if`: tests with bodies, and the `else`.
    Choice(Vec<(Node, Node)>, Option<Box<Node>>),
    /// `while` and `until`: test and body.
    Repeat(Box<Node>, Box<Node>),
    /// `for NAME in WORDS`; without `in`, over the positional parameters.
    Each(String, Option<Vec<Word>>, Box<Node>),
    /// `case WORD in …`: patterns and bodies.
    Case(Word, Vec<(Vec<Word>, Node)>),
    /// `NAME() { … }`.
    Function(String, Rc<Node>),
    /// `(( … ))`: only its substitutions matter.
    Arithmetic(Word),
    /// A compound command with redirections.
    Redirected(Box<Node>, Vec<Redirect>),
    /// Nested too deep to be read: the rest of the text.
    Unread(String),
}

/// How a command of a chain follows the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// `;`, `&` or a new line.
    Always,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// A simple command.
#[derive(Debug, Default)]
pub struct Simple {
    /// `NAME=value` before the words, or the arguments of `export`, `local`, ….
    pub assigns: Vec<Assign>,
    /// The command's name and arguments.
    pub words: Vec<Word>,
    /// Redirections, in order.
    pub redirects: Vec<Redirect>,
}

/// An assignment.
#[derive(Debug)]
pub struct Assign {
    /// The variable.
    pub name: String,
    /// `+=`.
    pub append: bool,
    /// One word, or the elements of an array.
    pub values: Vec<Word>,
    /// `NAME=( … )`.
    pub array: bool,
}

/// A redirection.
#[derive(Debug)]
pub struct Redirect {
    /// The file descriptor, when it is written.
    pub fd: Option<u32>,
    /// What is redirected how.
    pub kind: RedirectKind,
    /// The file, the descriptor, the here-string, or the delimiter.
    pub target: Word,
    /// The body of a here-document, known once its lines were read.
    pub body: Option<Rc<OnceCell<Word>>>,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
    /// `<<`, `<<-`.
    HereDoc,
    /// `<<<`.
    HereString,
    /// `<&`, `>&` with a descriptor.
    Duplicate,
}

/// A word: its parts stand next to each other.
#[derive(Debug, Default)]
pub struct Word {
    /// The parts.
    pub parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug)]
pub enum Part {
    /// Unquoted text: globs, braces and `~` are live.
    Bare(String),
    /// Quoted text.
    Quoted(String),
    /// `$NAME`, `${…}`.
    Param(Box<Param>),
    /// `$( … )` or backticks.
    Command {
        /// The commands.
        body: Rc<Node>,
        /// Whether it stands in double quotes.
        quoted: bool,
    },
    /// `<( … )` or `>( … )`.
    Process {
        /// The commands.
        body: Rc<Node>,
        /// `<(`: the command reads what they print.
        reads: bool,
    },
    /// `$(( … ))`: a number.
    Sum(Word),
    /// An extended glob, `!(a|b)`.
    Pattern,
}

/// A parameter expansion.
#[derive(Debug, Default)]
pub struct Param {
    /// The variable, or a special parameter.
    pub name: String,
    /// Whether it stands in double quotes.
    pub quoted: bool,
    /// `${!NAME}`.
    pub indirect: bool,
    /// `${#NAME}`.
    pub length: bool,
    /// The operator (`:-`, `%%`, `/`, …) and its word.
    pub change: Option<(String, Word)>,
}

impl Word {
    /// The text of a word that is plain letters, quoted or not.
    pub fn literal(&self) -> Option<String> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Bare(text) | Part::Quoted(text) => out.push_str(text),
                _ => return None,
            }
        }
        Some(out)
    }

    /// Whether any part of the word is quoted (for a here-document's delimiter).
    pub fn has_quotes(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Quoted(_)))
    }
}
