//! A text cut into what can be commands, without reading it as a shell would.

/// A part of a text that can be a command.
pub(super) struct Piece<'t> {
    pub(super) text: &'t str,
    /// It reads what the piece before it prints.
    pub(super) piped: bool,
    /// The next one reads what it prints.
    pub(super) pipes: bool,
    /// A subshell opens (or closes) right before it.
    pub(super) opens: Option<bool>,
}

/// Cuts a text at `;`, `&`, `|`, parentheses and ends of lines outside quotes and substitutions. A
/// line with a here-document stays whole, with the document.
pub(super) struct Pieces<'t> {
    rest: &'t str,
    piped: bool,
    opens: Option<bool>,
}

impl<'t> Pieces<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        Self {
            rest: text,
            piped: false,
            opens: None,
        }
    }

    /// The piece up to `end`; the sign there has `length` bytes.
    fn cut(&mut self, end: usize, length: usize, pipes: bool) -> Piece<'t> {
        let piece = Piece {
            text: &self.rest[..end],
            piped: std::mem::replace(&mut self.piped, pipes),
            pipes,
            opens: self.opens.take(),
        };
        self.rest = &self.rest[(end + length).min(self.rest.len())..];
        piece
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Piece<'t>;

    fn next(&mut self) -> Option<Piece<'t>> {
        if self.rest.is_empty() {
            return None;
        }
        let bytes = self.rest.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let next = bytes.get(at + 1).copied().unwrap_or(0);
            match byte {
                b'#' if at == 0 || bytes[at - 1].is_ascii_whitespace() => {
                    let end = self.rest[at..].find('\n').map_or(bytes.len(), |n| at + n);
                    return Some(self.cut(at, end - at, false));
                }
                b'<' if next == b'<' && bytes.get(at + 2) != Some(&b'<') => {
                    let end = document_end(self.rest, at);
                    return Some(self.cut(end, 0, false));
                }
                b'<' if next == b'<' => at += 3,
                b'>' | b'<' if next == b'&' => at += 2,
                b'&' if next == b'>' => at += 2,
                b'$' | b'<' | b'>' if next == b'(' => at += region(&bytes[at..]),
                b'\'' | b'"' | b'`' | b'\\' => at += region(&bytes[at..]),
                b'|' if next == b'|' => return Some(self.cut(at, 2, false)),
                b'|' => {
                    let length = 1 + usize::from(next == b'&');
                    return Some(self.cut(at, length, true));
                }
                b';' | b'&' | b'\n' => return Some(self.cut(at, 1, false)),
                b'(' | b')' => {
                    let piece = self.cut(at, 1, false);
                    self.opens = Some(byte == b'(');
                    return Some(piece);
                }
                _ => at += 1,
            }
        }
        Some(self.cut(bytes.len(), 0, false))
    }
}

/// The length of the quoted text, escape or substitution at the start; the rest when it never ends.
fn region(bytes: &[u8]) -> usize {
    let whole = bytes.len();
    match bytes[0] {
        b'\\' => 2.min(whole),
        quote @ (b'\'' | b'`') => {
            let close = bytes.iter().skip(1).position(|b| *b == quote);
            close.map_or(whole, |at| at + 2)
        }
        b'"' => {
            let mut at = 1;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'\\' => at += 1,
                    b'"' => return at + 1,
                    _ => {}
                }
                at += 1;
            }
            whole
        }
        _ => {
            let (mut at, mut open) = (1, 0usize);
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'\\' => at += 1,
                    b'\'' | b'"' => {
                        // Inside a substitution only the parentheses matter, and those in quotes do not.
                        at += region(&bytes[at..]);
                        continue;
                    }
                    b'(' => open += 1,
                    b')' if open == 1 => return at + 1,
                    b')' => open = open.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
            whole
        }
    }
}

/// The end of the line at `at` and of the here-documents that it announces.
fn document_end(text: &str, at: usize) -> usize {
    let line = text[at..].find('\n').map_or(text.len(), |n| at + n);
    let mut end = line;
    let announced = text[at..line].split("<<").skip(1);
    for head in announced.filter(|head| !head.starts_with('<')) {
        let word = head.trim_start_matches('-').trim_start();
        let stop = word.find(|c: char| c.is_whitespace() || ";|&)<>".contains(c));
        let name = word[..stop.unwrap_or(word.len())].replace(['\'', '"', '\\'], "");
        let mut from = (end + 1).min(text.len());
        loop {
            let Some(length) = text[from..].find('\n') else {
                end = text.len();
                break;
            };
            let found = text[from..from + length].trim_start_matches('\t') == name;
            from += length + 1;
            end = from - 1;
            if found {
                break;
            }
        }
    }
    end
}

/// The code in quoted words and substitutions of a piece.
pub(super) fn regions(code: &str) -> Vec<String> {
    let bytes = code.as_bytes();
    let mut out = Vec::new();
    let mut word = String::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        let length = match byte {
            b'$' | b'<' | b'>' if next == b'(' => {
                let length = region(&bytes[at..]);
                let inside = (at + 2)..(at + length).saturating_sub(1).max(at + 2);
                out.extend(code.get(inside).map(str::to_owned));
                length
            }
            b'\'' | b'"' | b'`' => {
                let length = region(&bytes[at..]);
                let inside = (at + 1)..(at + length).saturating_sub(1).max(at + 1);
                let text = code.get(inside).unwrap_or_default();
                if byte == b'"' {
                    word.push_str(&text.replace("\\\"", "\"").replace("\\$", "$"));
                } else {
                    word.push_str(text);
                }
                length
            }
            b' ' | b'\t' | b'\n' => {
                out.push(std::mem::take(&mut word));
                1
            }
            _ => {
                let from = at + usize::from(byte == b'\\');
                let mut to = (from + 1).min(code.len());
                while !code.is_char_boundary(to) {
                    to += 1;
                }
                word.push_str(code.get(from..to).unwrap_or_default());
                to - at
            }
        };
        at += length.max(1);
    }
    out.push(word);
    out.retain(|text| text.contains([';', '\n', '|', '&', '(']));
    out
}

/// The text with every substitution, at any depth, on a line of its own; double quotes are lost.
pub(super) fn flattened(code: &str) -> String {
    let opened = code
        .replace("$(", "\n")
        .replace("<(", "\n")
        .replace(">(", "\n");
    opened.replace([')', '`'], "\n").replace('"', "")
}
