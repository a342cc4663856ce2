//! all-MiniLM-L6-v2: six layers of BERT, the mean over its tokens, at length 1.

use candle_core::{D, DType, Device, Module as _, Result, Tensor};
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear, ops};
use tokenizers::tokenizer::{Tokenizer, TruncationParams};

use crate::files::Files;

/// Numbers of a vector.
pub const DIMENSIONS: usize = 384;
/// Tokens of a text that are read, with the two that stand around it.
pub const TOKENS: usize = 256;
/// Bytes of a text that are looked at: more than so many tokens of any language have, and little work where they are
/// blanks.
const BYTES: usize = 16 * 1024;

const LAYERS: usize = 6;
const HEADS: usize = 12;
const INNER: usize = 1_536;
const POSITIONS: usize = 512;
const WORDS: usize = 30_522;
const KINDS: usize = 2;
const EPSILON: f64 = 1e-12;

/// The model, in memory.
pub struct Model {
    tokenizer: Tokenizer,
    words: Embedding,
    /// What the place of a token adds, and that it is of the first text: nothing else is ever read.
    places: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// Its vector, of length 1.
    pub vector: Vec<f32>,
    /// Tokens that were read.
    pub tokens: usize,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    heard: Linear,
    heard_norm: LayerNorm,
    wide: Linear,
    narrow: Linear,
    norm: LayerNorm,
}

impl Model {
    /// Of what its files say.
    ///
    /// # Errors
    /// When they do not fit together.
    pub fn of(files: &Files) -> Result<Self> {
        let mut tokenizer =
            Tokenizer::from_bytes(&files.tokenizer).map_err(candle_core::Error::wrap)?;
        // The file says 128 and fills up to that: it is of the training.
        let truncation = TruncationParams {
            max_length: TOKENS,
            ..TruncationParams::default()
        };
        tokenizer
            .with_truncation(Some(truncation))
            .map_err(candle_core::Error::wrap)?;
        tokenizer.with_padding(None);
        let all = candle_core::safetensors::load_buffer(&files.weights, &Device::Cpu)?;
        let all = VarBuilder::from_tensors(all, DType::F32, &Device::Cpu);
        let first = all.pp("embeddings");
        let places = embedding(POSITIONS, DIMENSIONS, first.pp("position_embeddings"))?;
        let kinds = embedding(KINDS, DIMENSIONS, first.pp("token_type_embeddings"))?;
        let kind = kinds.embeddings().narrow(0, 0, 1)?;
        let layers = (0..LAYERS).map(|n| Layer::of(&all.pp(format!("encoder.layer.{n}"))));
        Ok(Self {
            tokenizer,
            words: embedding(WORDS, DIMENSIONS, first.pp("word_embeddings"))?,
            places: places.embeddings().broadcast_add(&kind)?,
            norm: layer_norm(DIMENSIONS, EPSILON, first.pp("LayerNorm"))?,
            layers: layers.collect::<Result<_>>()?,
        })
    }

    /// The vector of a text.
    ///
    /// # Errors
    /// When its tokens or numbers are none: not of any text that is known.
    pub fn embed(&self, text: &str) -> Result<Made> {
        let text = &text[..text.floor_char_boundary(BYTES)];
        let encoded = self
            .tokenizer
            .encode(text, true)
            .map_err(candle_core::Error::wrap)?;
        let tokens = encoded.get_ids();
        let words = self.words.forward(&Tensor::new(tokens, &Device::Cpu)?)?;
        let placed = (words + self.places.narrow(0, 0, tokens.len())?)?;
        let mut states = self.norm.forward(&placed)?;
        for layer in &self.layers {
            states = layer.forward(&states)?;
        }
        let mean = states.mean(0)?;
        let length = mean.sqr()?.sum_all()?.sqrt()?;
        Ok(Made {
            vector: mean.broadcast_div(&length)?.to_vec1()?,
            tokens: tokens.len(),
        })
    }
}

impl Layer {
    fn of(from: &VarBuilder<'_>) -> Result<Self> {
        let square = |name: &str| linear(DIMENSIONS, DIMENSIONS, from.pp(name));
        let norm = |name: &str| layer_norm(DIMENSIONS, EPSILON, from.pp(name));
        Ok(Self {
            query: square("attention.self.query")?,
            key: square("attention.self.key")?,
            value: square("attention.self.value")?,
            heard: square("attention.output.dense")?,
            heard_norm: norm("attention.output.LayerNorm")?,
            wide: linear(DIMENSIONS, INNER, from.pp("intermediate.dense"))?,
            narrow: linear(INNER, DIMENSIONS, from.pp("output.dense"))?,
            norm: norm("output.LayerNorm")?,
        })
    }

    fn forward(&self, states: &Tensor) -> Result<Tensor> {
        let tokens = states.dim(0)?;
        let head = DIMENSIONS / HEADS;
        let heads = |of: &Linear| -> Result<Tensor> {
            let split = of.forward(states)?.reshape((tokens, HEADS, head))?;
            split.transpose(0, 1)?.contiguous()
        };
        let (query, key, value) = (heads(&self.query)?, heads(&self.key)?, heads(&self.value)?);
        let scores = query.matmul(&key.transpose(D::Minus1, D::Minus2)?.contiguous()?)?;
        let scores = (scores / (head as f64).sqrt())?;
        let heard = ops::softmax_last_dim(&scores)?.matmul(&value)?;
        let heard = heard
            .transpose(0, 1)?
            .contiguous()?
            .reshape((tokens, DIMENSIONS))?;
        let states = self
            .heard_norm
            .forward(&(self.heard.forward(&heard)? + states)?)?;
        let thought = self.wide.forward(&states)?.gelu_erf()?;
        self.norm
            .forward(&(self.narrow.forward(&thought)? + states)?)
    }
}
