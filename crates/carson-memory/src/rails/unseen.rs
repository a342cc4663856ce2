//! Nothing in it is hidden from people, or looks like what it is not.

use super::rail::{Breach, Known, texts};
use crate::folded;

pub(super) fn breach(known: &Known<'_>) -> Option<Breach> {
    texts(known).find_map(|text| {
        if folded::hides(&text) {
            return Some(Breach::Rejects("it has characters that nobody sees".to_owned()));
        }
        if folded::mixes_scripts(&text) {
            return Some(Breach::Rejects("it has words in letters of two scripts".to_owned()));
        }
        let is_styled = |c: char| matches!(u32::from(c), 0xff01..=0xff5e | 0x1d400..=0x1d7ff | 0x24b6..=0x24e9 | 0x1f130..=0x1f149);
        text.contains(is_styled).then(|| Breach::Rejects("it has letters in disguise".to_owned()))
    })
}
