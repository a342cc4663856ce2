//! Which bytes of a text go.

use crate::runs::Alphabet;

/// What goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
    pub rule: &'static str,
    /// Whether what comes next may belong to it too, when it reaches to the end of the text.
    pub open: Option<Open>,
}

/// What goes on behind the end of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// A run of an alphabet.
    Run(Alphabet),
    /// The body of a private key.
    Pem,
}

/// What a pass found.
#[derive(Default)]
pub(crate) struct Scan {
    /// In order, apart from each other.
    pub spans: Vec<Span>,
    /// From here on, nobody can say before more of the text is there.
    pub undecided: Option<usize>,
}
