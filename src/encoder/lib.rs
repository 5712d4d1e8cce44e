//! Sentence encoder: a small BERT, fine-tuned so that a query's vector is close to that of the requested action. Its
//! weights are read in place from `catalog/learned/encoder/encoder.bin`, which `catalog/training` writes.
//!
//! A separate crate, so that it is always compiled with optimizations.

mod lanes;
mod matrix;
mod wordpiece;

use bytemuck::{cast_slice, try_cast_slice};

use matrix::ROUND;
pub use matrix::{Activations, Matrix};
pub use wordpiece::Pieces;

/// Error of loading the weights: the file is invalid or incomplete.
#[derive(Debug, thiserror::Error)]
#[error("catalog/learned/encoder/encoder.bin cannot be read: {0}")]
pub struct EncoderError(&'static str);

/// Magic number at the start of the file.
const MAGIC: &[u8] = b"GLENC001";

/// The epsilon of BERT's layer normalization.
const EPSILON: f32 = 1e-12;

/// Encoder over embedded weights.
#[derive(Debug)]
pub struct Encoder<'w> {
    pieces: Pieces<'w>,
    width: usize,
    heads: usize,
    words: Rows<'w>,
    positions: Rows<'w>,
    norm: Norm,
    layers: Vec<Layer<'w>>,
}

/// Vectors of 8 bits, each with a scale.
#[derive(Debug)]
struct Rows<'w> {
    values: &'w [i8],
    scales: Vec<f32>,
}

#[derive(Debug)]
struct Norm {
    gain: Vec<f32>,
    bias: Vec<f32>,
}

#[derive(Debug)]
struct Layer<'w> {
    /// Queries, keys and values in one matrix.
    attention: Matrix<'w>,
    output: Matrix<'w>,
    attention_norm: Norm,
    up: Matrix<'w>,
    down: Matrix<'w>,
    norm: Norm,
}

impl<'w> Encoder<'w> {
    /// Loads the weights. Only scales, biases and norms are copied.
    pub fn new(bytes: &'w [u8]) -> Result<Encoder<'w>, EncoderError> {
        let mut reader = Reader { rest: bytes };
        if reader.bytes(MAGIC.len())? != MAGIC {
            return Err(EncoderError("it begins otherwise"));
        }
        let [words, positions, width, inner, heads, layers] = reader.sizes()?;
        let text = reader.bytes_of_size()?;
        let text = std::str::from_utf8(text).map_err(|_| EncoderError("its vocabulary is no UTF-8"))?;
        let pieces = Pieces::new(text);
        let encoder = Encoder {
            pieces,
            width,
            heads,
            words: reader.rows(words, width)?,
            positions: reader.rows(positions, width)?,
            norm: reader.norm(width)?,
            layers: (0..layers).map(|_| reader.layer(width, inner)).collect::<Result<_, _>>()?,
        };
        if reader.rest.is_empty() { Ok(encoder) } else { Err(EncoderError("it is too long")) }
    }

    /// The WordPiece vocabulary.
    pub fn pieces(&self) -> &Pieces<'w> {
        &self.pieces
    }

    /// Unit vectors of texts, each given as tokens of the query analysis. Several texts cost little more than one: the
    /// weights exceed every cache and are read once for all of them.
    pub fn encode(&self, texts: &[Vec<String>]) -> Vec<Vec<f32>> {
        let most = self.positions.scales.len();
        let texts: Vec<Vec<usize>> = texts.iter().map(|tokens| self.pieces.split(tokens, most)).collect();
        let lengths: Vec<usize> = texts.iter().map(|pieces| pieces.len() * self.width).collect();
        let mut states = texts.iter().map(|pieces| self.embed(pieces)).collect::<Vec<_>>().concat();
        for layer in &self.layers {
            layer.apply(&mut states, &lengths, self.width, self.heads);
        }
        split(&states, &lengths).map(|states| self.mean(states)).collect()
    }

    /// Normalized mean of the vectors of texts.
    pub fn encode_mean(&self, texts: &[Vec<String>]) -> Vec<f32> {
        self.mean(&self.encode(texts).concat())
    }

    /// Normalized mean of vectors.
    fn mean(&self, vectors: &[f32]) -> Vec<f32> {
        let mut mean = vec![0.0; self.width];
        for vector in vectors.chunks_exact(self.width) {
            mean.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
        }
        let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        mean.iter_mut().for_each(|value| *value /= length);
        mean
    }

    fn embed(&self, pieces: &[usize]) -> Vec<f32> {
        let mut states = Vec::with_capacity(pieces.len() * self.width);
        for (position, piece) in pieces.iter().enumerate() {
            let word = self.words.row(*piece, self.width);
            let place = self.positions.row(position, self.width);
            states.extend(word.zip(place).map(|(word, place)| word + place));
        }
        self.norm.apply(&mut states, self.width);
        states
    }
}

impl Rows<'_> {
    fn row(&self, number: usize, width: usize) -> impl Iterator<Item = f32> {
        let values = self.values.get(number * width..(number + 1) * width).unwrap_or_default();
        let scale = self.scales.get(number).copied().unwrap_or_default();
        values.iter().map(move |value| f32::from(*value) * scale)
    }
}

impl Norm {
    #[inline(always)]
    fn apply(&self, states: &mut [f32], width: usize) {
        for state in states.chunks_exact_mut(width) {
            let mean = lanes::sum(state, |value| value) / width as f32;
            let variance = lanes::sum(state, |value| (value - mean) * (value - mean)) / width as f32;
            let scale = 1.0 / (variance + EPSILON).sqrt();
            for ((value, gain), bias) in state.iter_mut().zip(&self.gain).zip(&self.bias) {
                *value = (*value - mean) * scale * gain + bias;
            }
        }
    }
}

impl Layer<'_> {
    /// Applies the layer to the states of several texts. `lengths` are their numbers of values; each text attends only
    /// to itself.
    fn apply(&self, states: &mut [f32], lengths: &[usize], width: usize, heads: usize) {
        let projected = self.attention.apply(&Activations::new(states, width));
        let parts: Vec<usize> = lengths.iter().map(|length| length * 3).collect();
        let mixed = lanes::run(|| {
            let mut mixed = Vec::with_capacity(states.len());
            for projected in split(&projected, &parts) {
                mixed.extend(attend(projected, width, heads));
            }
            mixed
        });
        let mixed = self.output.apply(&Activations::new(&mixed, width));
        lanes::run(|| {
            add(states, &mixed);
            self.attention_norm.apply(states, width);
        });
        let mut inner = self.up.apply(&Activations::new(states, width));
        lanes::run(|| inner.iter_mut().for_each(|value| *value = gelu(*value)));
        let outer = self.down.apply(&Activations::new(&inner, self.down.columns));
        lanes::run(|| {
            add(states, &outer);
            self.norm.apply(states, width);
        });
    }
}

/// Splits values into consecutive parts of the given lengths.
fn split<'s>(values: &'s [f32], lengths: &'s [usize]) -> impl Iterator<Item = &'s [f32]> {
    let mut rest = values;
    lengths.iter().map(move |length| {
        let (part, others) = rest.split_at_checked(*length).unwrap_or_default();
        rest = others;
        part
    })
}

#[inline(always)]
fn add(states: &mut [f32], more: &[f32]) {
    states.iter_mut().zip(more).for_each(|(state, more)| *state += more);
}

/// Scaled dot-product attention of each head, over rows of queries, keys and values.
#[inline(always)]
fn attend(projected: &[f32], width: usize, heads: usize) -> Vec<f32> {
    let size = width / heads;
    let scale = 1.0 / (size as f32).sqrt();
    let tokens = || projected.chunks_exact(3 * width);
    let part = |token: &'_ [f32], which: usize, head: usize| -> std::ops::Range<usize> {
        let start = which * width + head * size;
        start..(start + size).min(token.len())
    };
    let mut mixed = vec![0.0; projected.len() / 3];
    let mut weights = Vec::with_capacity(projected.len() / (3 * width));
    for (token, mixed) in tokens().zip(mixed.chunks_exact_mut(width)) {
        for (head, mixed) in mixed.chunks_exact_mut(size).enumerate() {
            let query = token.get(part(token, 0, head)).unwrap_or_default();
            weights.clear();
            for other in tokens() {
                let key = other.get(part(other, 1, head)).unwrap_or_default();
                weights.push(lanes::dot(query, key) * scale);
            }
            softmax(&mut weights);
            for (other, weight) in tokens().zip(&weights) {
                let value = other.get(part(other, 2, head)).unwrap_or_default();
                mixed.iter_mut().zip(value).for_each(|(mixed, value)| *mixed += weight * value);
            }
        }
    }
    mixed
}

#[inline(always)]
fn softmax(values: &mut [f32]) {
    let most = values.iter().copied().fold(f32::MIN, f32::max);
    values.iter_mut().for_each(|value| *value = exp(*value - most));
    let sum = lanes::sum(values, |value| value);
    values.iter_mut().for_each(|value| *value /= sum);
}

/// Exponential of a number that is not positive, accurate to 1e-5 of the result: a power of two by its exponent bits,
/// times a polynomial. The library's cannot be vectorized.
#[inline(always)]
fn exp(value: f32) -> f32 {
    let power = (value * std::f32::consts::LOG2_E).max(-126.0);
    let whole = power + ROUND;
    let bits = whole.to_bits().wrapping_add(127) << 23;
    let x = (power - (whole - ROUND)) * std::f32::consts::LN_2;
    let series = 1.0 + x * (1.0 + x * (0.5 + x * (1.0 / 6.0 + x * (1.0 / 24.0 + x * (1.0 / 120.0)))));
    f32::from_bits(bits) * series
}

/// GELU with the tanh approximation (Hendrycks and Gimpel, 2016), as in training.
#[inline(always)]
fn gelu(value: f32) -> f32 {
    const SCALE: f32 = 0.797_884_6;
    0.5 * value * (1.0 + tanh(SCALE * (value + 0.044_715 * value * value * value)))
}

/// Hyperbolic tangent as a continued fraction, accurate to 1e-5; the library's is many times slower.
#[inline(always)]
fn tanh(value: f32) -> f32 {
    let x = value.clamp(-4.97, 4.97);
    let square = x * x;
    let above = x * (135_135.0 + square * (17_325.0 + square * (378.0 + square)));
    let below = 135_135.0 + square * (62_370.0 + square * (3_150.0 + square * 28.0));
    above / below
}

struct Reader<'w> {
    rest: &'w [u8],
}

impl<'w> Reader<'w> {
    fn bytes(&mut self, count: usize) -> Result<&'w [u8], EncoderError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(EncoderError("it is too short"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn size(&mut self) -> Result<usize, EncoderError> {
        let bytes = self.bytes(4)?.first_chunk::<4>().copied().unwrap_or_default();
        usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| EncoderError("a size is too large"))
    }

    fn sizes<const N: usize>(&mut self) -> Result<[usize; N], EncoderError> {
        let mut sizes = [0; N];
        for size in &mut sizes {
            *size = self.size()?;
        }
        Ok(sizes)
    }

    fn bytes_of_size(&mut self) -> Result<&'w [u8], EncoderError> {
        let size = self.size()?;
        self.bytes(size)
    }

    fn integers(&mut self, count: usize) -> Result<&'w [i8], EncoderError> {
        Ok(cast_slice(self.bytes(count)?))
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, EncoderError> {
        let bytes = self.bytes(count * 4)?;
        if let Ok(floats) = try_cast_slice::<u8, f32>(bytes)
            && cfg!(target_endian = "little")
        {
            return Ok(floats.to_vec());
        }
        Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }

    fn rows(&mut self, rows: usize, width: usize) -> Result<Rows<'w>, EncoderError> {
        Ok(Rows { scales: self.floats(rows)?, values: self.integers(rows * width)? })
    }

    fn norm(&mut self, width: usize) -> Result<Norm, EncoderError> {
        Ok(Norm { gain: self.floats(width)?, bias: self.floats(width)? })
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Result<Matrix<'w>, EncoderError> {
        if !columns.is_multiple_of(matrix::LANES_512) {
            return Err(EncoderError("the width of a matrix is not a multiple of 32"));
        }
        let (scales, bias) = (self.floats(rows)?, self.floats(rows)?);
        Ok(Matrix { columns, scales, bias, weights: self.integers(rows * columns)? })
    }

    fn layer(&mut self, width: usize, inner: usize) -> Result<Layer<'w>, EncoderError> {
        Ok(Layer {
            attention: self.matrix(3 * width, width)?,
            output: self.matrix(width, width)?,
            attention_norm: self.norm(width)?,
            up: self.matrix(inner, width)?,
            down: self.matrix(width, inner)?,
            norm: self.norm(width)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{exp, softmax};

    #[test]
    fn exp_is_the_library_s_within_its_precision() {
        for at in 0..=8_000 {
            let value = -(at as f32) / 100.0;
            let expected = value.exp();
            assert!((exp(value) - expected).abs() <= expected * 1e-5, "{value}: {} {expected}", exp(value));
        }
        assert!(exp(-1_000.0) < 1e-37);
    }

    #[test]
    fn softmax_is_a_distribution_in_the_order_of_its_values() {
        let mut values = [2.0, -1.0, 40.0, 39.0];
        softmax(&mut values);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!(values[2] > values[3] && values[3] > values[0] && values[0] > values[1]);
    }
}
