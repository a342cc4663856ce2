//! What is asked and answered, as OpenAI writes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::files::NAME;
use crate::model::{DIMENSIONS, Made};

/// Texts of one call.
pub const TEXTS: usize = 64;

/// What is asked.
#[derive(Debug, Deserialize)]
pub struct Request {
    model: String,
    input: Value,
    #[serde(default)]
    encoding_format: Option<String>,
    #[serde(default)]
    dimensions: Option<usize>,
}

/// The same, when it can be answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    /// The texts.
    pub texts: Vec<String>,
    /// Whether numbers go as Base64 of their bytes, as clients in Python and JavaScript like it.
    pub packed: bool,
}

/// Why it is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// As HTTP says it.
    pub status: StatusCode,
    /// As a person reads it.
    pub message: String,
    param: Option<&'static str>,
    code: Option<&'static str>,
}

impl Refused {
    /// For this reason.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let (message, param, code) = (message.into(), None, None);
        Self {
            status,
            message,
            param,
            code,
        }
    }

    fn of(param: &'static str, message: impl Into<String>) -> Self {
        Self {
            param: Some(param),
            ..Self::new(StatusCode::BAD_REQUEST, message)
        }
    }

    /// Its body.
    pub fn body(&self) -> Vec<u8> {
        let kind = if self.status.is_server_error() {
            "server_error"
        } else {
            "invalid_request_error"
        };
        let error = serde_json::json!({"error": {
            "message": self.message, "type": kind, "param": self.param, "code": self.code,
        }});
        error.to_string().into_bytes()
    }
}

/// Reads what is asked.
///
/// # Errors
/// When it cannot be answered.
pub fn read(body: &[u8]) -> Result<Asked, Refused> {
    let request: Request = serde_json::from_slice(body).map_err(|error| {
        let message = format!("the body is no request for embeddings: {error}");
        Refused::new(StatusCode::BAD_REQUEST, message)
    })?;
    if request.model != NAME {
        return Err(Refused {
            status: StatusCode::NOT_FOUND,
            code: Some("model_not_found"),
            ..Refused::of("model", format!("the only model here is {NAME}"))
        });
    }
    if request
        .dimensions
        .is_some_and(|wanted| wanted != DIMENSIONS)
    {
        let message = format!("vectors of {NAME} have {DIMENSIONS} numbers");
        return Err(Refused::of("dimensions", message));
    }
    let packed = match request.encoding_format.as_deref() {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => {
            return Err(Refused::of(
                "encoding_format",
                "it is float or base64, and float without",
            ));
        }
    };
    let texts = texts(request.input)?;
    Ok(Asked { texts, packed })
}

fn texts(input: Value) -> Result<Vec<String>, Refused> {
    let all = match input {
        Value::Array(all) => all,
        one => vec![one],
    };
    if all.is_empty() || all.len() > TEXTS {
        let message = format!("input has {} texts; 1 to {TEXTS} are answered", all.len());
        return Err(Refused::of("input", message));
    }
    let text = |(place, one)| match one {
        Value::String(text) if text.is_empty() => {
            Err(Refused::of("input", format!("text {place} is empty")))
        }
        Value::String(text) => Ok(text),
        _ => Err(Refused::of(
            "input",
            format!("text {place} is none; tokens are not taken"),
        )),
    };
    all.into_iter().enumerate().map(text).collect()
}

#[derive(Serialize)]
struct Answer {
    object: &'static str,
    data: Vec<One>,
    model: &'static str,
    usage: Usage,
}

#[derive(Serialize)]
struct One {
    object: &'static str,
    index: usize,
    embedding: Value,
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: usize,
    total_tokens: usize,
}

/// The body of an answer.
///
/// # Errors
/// Never of vectors of finite numbers.
pub fn answer(made: &[Made], packed: bool) -> serde_json::Result<Vec<u8>> {
    let embedding = |made: &Made| {
        if packed {
            let bytes: Vec<u8> = made.vector.iter().flat_map(|n| n.to_le_bytes()).collect();
            Value::String(STANDARD.encode(bytes))
        } else {
            made.vector.iter().copied().map(Value::from).collect()
        }
    };
    let data = made.iter().enumerate().map(|(index, made)| One {
        object: "embedding",
        index,
        embedding: embedding(made),
    });
    let tokens = made.iter().map(|made| made.tokens).sum();
    serde_json::to_vec(&Answer {
        object: "list",
        data: data.collect(),
        model: NAME,
        usage: Usage {
            prompt_tokens: tokens,
            total_tokens: tokens,
        },
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(request: &Value) -> Result<Asked, Refused> {
        read(request.to_string().as_bytes())
    }

    #[test]
    fn a_text_and_a_list_of_texts_are_taken() {
        let asked = |texts: &[&str], packed| {
            let texts = texts.iter().map(|text| (*text).to_owned()).collect();
            Ok(Asked { texts, packed })
        };
        assert_eq!(
            of(&json!({"model": NAME, "input": "a"})),
            asked(&["a"], false)
        );
        let packed =
            json!({"model": NAME, "input": ["a", "b"], "encoding_format": "base64", "user": "u"});
        assert_eq!(of(&packed), asked(&["a", "b"], true));
    }

    #[test]
    fn anything_else_is_refused_and_says_what_is_wrong() {
        let many = vec!["a"; TEXTS + 1];
        for (request, param, part) in [
            (json!({"model": "other", "input": "a"}), Some("model"), NAME),
            (
                json!({"model": NAME, "input": []}),
                Some("input"),
                "0 texts",
            ),
            (
                json!({"model": NAME, "input": many}),
                Some("input"),
                "65 texts",
            ),
            (
                json!({"model": NAME, "input": ["a", ""]}),
                Some("input"),
                "text 1 is empty",
            ),
            (
                json!({"model": NAME, "input": [1, 2]}),
                Some("input"),
                "text 0 is none",
            ),
            (
                json!({"model": NAME, "input": "a", "dimensions": 8}),
                Some("dimensions"),
                "384",
            ),
            (
                json!({"model": NAME, "input": "a", "encoding_format": "x"}),
                Some("encoding_format"),
                "base64",
            ),
            (json!({"model": NAME}), None, "input"),
        ] {
            let refused = of(&request).unwrap_err();
            assert_eq!(refused.param, param, "{request}");
            assert!(refused.message.contains(part), "{request}: {refused:?}");
            let body: Value = serde_json::from_slice(&refused.body()).unwrap();
            assert_eq!(body["error"]["type"], "invalid_request_error");
        }
        assert_eq!(
            of(&json!({"model": "x", "input": "a"})).unwrap_err().status,
            404
        );
    }

    #[test]
    fn packed_numbers_are_the_same_numbers() {
        let made = Made {
            vector: vec![0.25, -1.5],
            tokens: 3,
        };
        let body: Value = serde_json::from_slice(&answer(&[made], true).unwrap()).unwrap();
        let packed = body["data"][0]["embedding"].as_str().unwrap();
        assert_eq!(
            STANDARD.decode(packed).unwrap(),
            [0, 0, 128, 62, 0, 0, 192, 191]
        );
        assert_eq!(
            body["usage"],
            json!({"prompt_tokens": 3, "total_tokens": 3})
        );
    }
}
