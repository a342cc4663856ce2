//! Decoding what a command line hides in itself.

/// Decodes base64 (both alphabets), ignoring white space and padding. `None` when it is not base64
/// or not UTF-8 text.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut held) = (0u32, 0u32);
    for c in text.bytes() {
        if c.is_ascii_whitespace() || c == b'=' {
            continue;
        }
        bits = (bits << 6 | digit(c)?) & 0xFF_FFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xFF) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(c: u8) -> Option<u32> {
    let value = match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    };
    Some(u32::from(value))
}

/// Decodes plain hexadecimal, as `xxd -r -p` does.
pub fn decode_hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(|c| !c.is_ascii_whitespace()).collect();
    let pair = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(pair).collect();
    String::from_utf8(bytes?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_and_refuses() {
        assert_eq!(decode("cm0gLXJmIC8=").as_deref(), Some("rm -rf /"));
        assert_eq!(decode("cm0g\nLXJmIC8").as_deref(), Some("rm -rf /"));
        assert_eq!(decode("rm -rf!"), None);
        assert_eq!(decode_hex("726d202d7266202f").as_deref(), Some("rm -rf /"));
        assert_eq!(decode_hex("zz"), None);
    }
}
