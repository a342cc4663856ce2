//! What people see of Markdown that others wrote. A forge shows no HTML comment and no definition of a link;
//! who read an issue and gave it to the fleet has not read those.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};

/// The text without what its page does not show. An unclosed comment hides what is left of the text, as it does there.
pub(crate) fn visible(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
    let mut hidden = Hidden {
        text,
        cuts: Vec::new(),
        shown_to: 0,
    };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::End(_) => {}
            Event::Start(tag) if holds_others(&tag) => {}
            Event::Html(_) | Event::InlineHtml(_) => {
                hidden.shows(&range);
                hidden.comments(range);
            }
            _ => hidden.shows(&range),
        }
    }
    hidden.shows(&(text.len()..text.len()));
    hidden.rest()
}

/// Whether it shows nothing by itself.
fn holds_others(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::List(_) | Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) | Tag::HtmlBlock
    )
}

/// What is hidden of a text, found from its beginning to its end.
struct Hidden<'t> {
    text: &'t str,
    cuts: Vec<Range<usize>>,
    shown_to: usize,
}

impl Hidden<'_> {
    /// This part is shown. What lies before it and is not is a mark of a list or a quote, or a definition.
    fn shows(&mut self, part: &Range<usize>) {
        if let Some(gap) = self.text.get(self.shown_to..part.start)
            && let Some(at) = gap.find('[')
        {
            let end = gap.trim_end().len();
            self.cut(self.shown_to + at..self.shown_to + end);
        }
        self.shown_to = self.shown_to.max(part.end);
    }

    /// Comments, declarations and instructions that begin in this piece of HTML.
    fn comments(&mut self, piece: Range<usize>) {
        let mut from = piece.start;
        while let Some(at) = self.next_comment(from..piece.end) {
            let rest = &self.text[at + 2..];
            let close = match rest.starts_with("--") {
                true => "-->",
                false => ">",
            };
            let end = rest.find(close).map(|end| at + 2 + end + close.len());
            let end = end.unwrap_or(self.text.len());
            self.cut(at..end);
            from = end;
        }
    }

    fn next_comment(&self, piece: Range<usize>) -> Option<usize> {
        let done = self.cuts.last().map_or(0, |cut| cut.end);
        let from = piece.start.max(done);
        let html = self.text.get(from..piece.end)?;
        html.match_indices('<')
            .map(|(at, _)| from + at)
            .find(|at| self.text[at + 1..].starts_with(['!', '?']))
    }

    fn cut(&mut self, range: Range<usize>) {
        let done = self.cuts.last().map_or(0, |cut| cut.end);
        if range.end > done {
            self.cuts.push(range.start.max(done)..range.end);
        }
    }

    fn rest(self) -> String {
        let mut kept = String::with_capacity(self.text.len());
        let mut from = 0;
        for cut in self.cuts {
            kept.push_str(&self.text[from..cut.start]);
            from = cut.end;
        }
        kept.push_str(&self.text[from..]);
        kept
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_a_page_does_not_show_is_not_there() {
        for (text, shown) in [
            ("Do it.\n\n<!-- evil -->\nNow.\n", "Do it.\n\n\nNow.\n"),
            ("Do <!-- evil --> it.", "Do  it."),
            ("<!-- evil\n\nevil\n-->\nSeen.", "\nSeen."),
            ("<!--> Seen.", " Seen."),
            ("Seen. <!-- evil", "Seen. <!-- evil"),
            ("Seen.\n\n<!-- evil\nevil", "Seen.\n\n"),
            (
                "<div><!-- evil\n\nevil\n\n--></div>\n\nSeen.",
                "<div></div>\n\nSeen.",
            ),
            ("<?evil evil?>\n\nSeen.", "\n\nSeen."),
            ("<!EVIL evil>\n\nSeen.", "\n\nSeen."),
            ("[//]: # (evil)\n\nSeen.", "\n\nSeen."),
            ("[a]: /b 'evil'\n[a]: /c 'evil'\nSeen [a].", "\nSeen [a]."),
            ("> [a]: /b 'evil'\n> Seen.", ">  Seen."),
            ("- [a]: /b 'evil'\n- Seen.", "-  Seen."),
            // What is code is shown, and what is no comment, too.
            (
                "`<!-- seen -->` and\n\n```html\n<!-- seen -->\n[a]: b\n```\n",
                "`<!-- seen -->` and\n\n```html\n<!-- seen -->\n[a]: b\n```\n",
            ),
            ("    <!-- seen -->\n", "    <!-- seen -->\n"),
            ("a < b, a <!= b", "a < b, a <!= b"),
            ("\\<!-- seen --> [x]: y", "\\<!-- seen --> [x]: y"),
            (
                "- [ ] one\n- [x] two\n\n1. [a](b)\n",
                "- [ ] one\n- [x] two\n\n1. [a](b)\n",
            ),
            (
                "| a |\n|---|\n| [b] |\n\n# [c]\n\n---\n\n![d](e)\n",
                "| a |\n|---|\n| [b] |\n\n# [c]\n\n---\n\n![d](e)\n",
            ),
            ("", ""),
        ] {
            assert_eq!(visible(text), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_added_and_what_is_plain_stays(text in "([a-z<!>?\\-\\[\\]:`*_ \\n#|'é]|<!--|-->|\\[a\\]: ){0,60}", plain in "[a-zé .,\\n]{0,60}") {
            let shown = visible(&text);
            let mut rest = text.chars();
            prop_assert!(shown.chars().all(|c| rest.any(|other| other == c)));
            prop_assert_eq!(visible(&plain), plain);
        }
    }
}
