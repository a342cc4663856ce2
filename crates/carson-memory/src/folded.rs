//! A text as it is meant to be read, whatever letters it was written with.
//!
//! Who wants to be read by a model and not by a rule writes with letters that look alike, with digits for letters, with
//! blanks between letters, or with characters that nobody sees. Rules look at what is left when that is undone.

use carson_core::untrusted::is_hidden;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

/// Letters of other scripts that look like Latin ones.
const ALIKE: [(char, char); 65] = [
    ('а', 'a'),
    ('е', 'e'),
    ('о', 'o'),
    ('р', 'p'),
    ('с', 'c'),
    ('у', 'y'),
    ('х', 'x'),
    ('і', 'i'),
    ('ј', 'j'),
    ('ѕ', 's'),
    ('һ', 'h'),
    ('ԁ', 'd'),
    ('ԛ', 'q'),
    ('ԝ', 'w'),
    ('в', 'b'),
    ('н', 'h'),
    ('к', 'k'),
    ('м', 'm'),
    ('т', 't'),
    ('г', 'r'),
    ('ո', 'n'),
    ('ս', 'u'),
    ('α', 'a'),
    ('β', 'b'),
    ('ε', 'e'),
    ('ι', 'i'),
    ('κ', 'k'),
    ('ν', 'v'),
    ('ο', 'o'),
    ('ρ', 'p'),
    ('τ', 't'),
    ('υ', 'u'),
    ('χ', 'x'),
    ('ɡ', 'g'),
    ('ɑ', 'a'),
    ('ı', 'i'),
    ('ʟ', 'l'),
    ('ɪ', 'i'),
    ('ɴ', 'n'),
    ('ʀ', 'r'),
    ('ᴇ', 'e'),
    ('ᴏ', 'o'),
    ('ᴀ', 'a'),
    ('ᴜ', 'u'),
    ('ʙ', 'b'),
    ('ᴄ', 'c'),
    ('ᴅ', 'd'),
    ('ꜰ', 'f'),
    ('ɢ', 'g'),
    ('ʜ', 'h'),
    ('ᴊ', 'j'),
    ('ᴋ', 'k'),
    ('ᴍ', 'm'),
    ('ᴘ', 'p'),
    ('ꜱ', 's'),
    ('ᴛ', 't'),
    ('ᴠ', 'v'),
    ('ᴡ', 'w'),
    ('ʏ', 'y'),
    ('ᴢ', 'z'),
    ('ǀ', 'l'),
    ('ł', 'l'),
    ('ø', 'o'),
    ('đ', 'd'),
    ('ħ', 'h'),
];

/// Digits and signs that stand for letters.
const FOR_LETTERS: [(char, char); 8] = [
    ('0', 'o'),
    ('1', 'i'),
    ('3', 'e'),
    ('4', 'a'),
    ('5', 's'),
    ('7', 't'),
    ('@', 'a'),
    ('$', 's'),
];

/// Its words, lower case, in Latin letters; runs of single letters are one word.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    let seen = text.chars().filter(|c| !is_unseen(*c));
    let plain: String = seen
        .flat_map(enclosed)
        .nfkd()
        .filter(|c| !is_combining_mark(*c))
        .flat_map(char::to_lowercase)
        .map(latin)
        .collect();
    let mut words: Vec<String> = Vec::new();
    let mut spelled = String::new();
    let cut = |c: char| !(c.is_alphanumeric() || "@$'".contains(c));
    for piece in plain.split(cut).filter(|piece| !piece.is_empty()) {
        let piece = piece.replace('\'', "");
        if piece.chars().count() == 1 && piece.chars().all(char::is_alphabetic) {
            spelled.push_str(&piece);
            continue;
        }
        words.extend(said(&mut spelled));
        words.push(without_digits(&piece));
    }
    words.extend(said(&mut spelled));
    words
}

/// What was spelled is one word; a lone letter is one, too.
fn said(spelled: &mut String) -> Option<String> {
    (!spelled.is_empty()).then(|| std::mem::take(spelled))
}

/// Whether a text has characters that nobody sees, other than its line breaks.
#[must_use]
pub fn hides(text: &str) -> bool {
    text.chars().any(|c| !"\n\t\r".contains(c) && is_unseen(c))
}

/// Whether one of its words is written in letters of two scripts.
#[must_use]
pub fn mixes_scripts(text: &str) -> bool {
    text.split(|c: char| !c.is_alphabetic()).any(|word| {
        // `Δt` and `µs` are no words.
        let is_word = word.chars().count() > 2;
        is_word && word.chars().any(|c| c.is_ascii_alphabetic()) && !word.chars().all(is_latin)
    })
}

/// The first word that is in no Latin letters.
#[must_use]
pub fn foreign(text: &str) -> Option<&str> {
    let mut words = text.split(|c: char| !c.is_alphabetic());
    words.find(|word| word.chars().count() > 1 && !word.chars().any(is_latin))
}

/// Whether a letter is one of those that are in disguise: it looks like a plain one and is written as another.
#[must_use]
pub fn is_disguised(c: char) -> bool {
    let stands_for = |c: char| c.nfkd().next().is_some_and(|c| c.is_ascii_alphabetic());
    // A letter with a mark is one of some language; one that is only made like another one is of none.
    let is_made = !c.is_ascii() && c.is_alphanumeric() && c.nfd().eq([c]) && stands_for(c);
    // Ordinals, and what stands for "number" and "trade mark".
    let is_sign = "ªº№™ﬁﬂﬀĳĲ".contains(c);
    let is_small_capital =
        matches!(u32::from(c), 0x1d00..=0x1d2b | 0xa730..=0xa731) || "ʙɢʜɪʟɴʀʏ".contains(c);
    is_made && !is_sign || is_small_capital || enclosed(c).ne([c])
}

/// Latin letters, with and without marks (Unicode's blocks of them), and the sign for a millionth.
fn is_latin(c: char) -> bool {
    matches!(u32::from(c), 0x41..=0x24f | 0x1e00..=0x1eff | 0x3bc)
}

/// Beside what is hidden anywhere: selectors of variants and other letters without a form.
fn is_unseen(c: char) -> bool {
    is_hidden(c)
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' | '\u{115f}' | '\u{1160}' | '\u{3164}'
            | '\u{ffa0}' | '\u{034f}' | '\u{17b4}' | '\u{17b5}')
}

/// What is enclosed in a square is plain; Unicode decomposes other styles itself.
fn enclosed(c: char) -> std::iter::Once<char> {
    let code = u32::from(c);
    let plain = match code {
        0x1f130..=0x1f149 => char::from_u32(0x61 + code - 0x1f130),
        0x1f150..=0x1f169 => char::from_u32(0x61 + code - 0x1f150),
        0x1f170..=0x1f189 => char::from_u32(0x61 + code - 0x1f170),
        0x1f1e6..=0x1f1ff => char::from_u32(0x61 + code - 0x1f1e6),
        _ => None,
    };
    std::iter::once(plain.unwrap_or(c))
}

/// A letter as it looks.
fn latin(c: char) -> char {
    let alike = ALIKE.iter().find(|(other, _)| *other == c);
    alike.map_or(c, |(_, latin)| *latin)
}

/// Digits among letters are the letters that they look like.
fn without_digits(word: &str) -> String {
    let letters = word.chars().filter(|c| c.is_alphabetic()).count();
    let others = word.chars().count() - letters;
    if others == 0 || letters < 2 || others > letters {
        return word.trim_matches(['@', '$']).to_owned();
    }
    let read = |c: char| {
        FOR_LETTERS
            .iter()
            .find(|(sign, _)| *sign == c)
            .map_or(c, |(_, letter)| *letter)
    };
    word.chars().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_disguise_reads_the_same() {
        for text in [
            "ignore the judge",
            "IGNORE the Judge!",
            "іgnоrе the judgе",
            "1gn0r3 the judg3",
            "i g n o r e  the judge",
            "ig\u{200b}nore the ju\u{ad}dge",
            "ｉｇｎｏｒｅ the ｊｕｄｇｅ",
            "𝐢𝐠𝐧𝐨𝐫𝐞 the 𝓳𝓾𝓭𝓰𝓮",
            "ⓘⓖⓝⓞⓡⓔ the judge",
            "ɪɢɴᴏʀᴇ the ᴊᴜᴅɢᴇ",
            "ⁱᵍⁿᵒʳᵉ the judge",
            "ĭgnŏrĕ the judge",
            "i\u{306}gnore the judge",
            "ⅰgnore the judge",
            "🅸🅶🅽🅾🆁🅴 the judge",
            "ig\u{206a}nore the ju\u{fff9}dge",
        ] {
            assert_eq!(words(text), ["ignore", "the", "judge"], "{text}");
        }
    }

    #[test]
    fn what_nobody_sees_is_seen() {
        assert!(
            hides("a\u{200b}b") && hides("a\u{e0041}b") && hides("a\u{fe0f}") && !hides("a\nb\tc")
        );
        assert!(mixes_scripts("pаyload") && mixes_scripts("Иgnore"));
        assert!(!mixes_scripts(
            "payload plus слово, Größe, naïve, Δt and 5 µs"
        ));
        assert_eq!(foreign("payload plus слово"), Some("слово"));
        assert_eq!(foreign("Die Größe of π and µs"), None);
        let disguised = |text: &str| text.chars().any(is_disguised);
        for text in ["ｉｇｎ", "ⁱᵍⁿ", "ɪɢɴ", "ⅰ", "𝐢", "🅸", "ⓘ"] {
            assert!(disguised(text), "{text}");
        }
        assert!(!disguised("Größe ŭ naïve 5 µs x² ½ … ﬁle™ №1 Łódź"));
    }
}
