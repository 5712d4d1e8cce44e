//! Products of 8-bit weight matrices and 16-bit activations, the encoder's most expensive operation.

use super::lanes;

/// Maximum quantized activation. A sum of 1,536 products with weights up to 127 stays below 2^31.
const MAX_QUANTIZED: f32 = 8_191.0;

/// Rounding constant: added to a number below 2^15, it leaves the nearest integer in the lower half of the bits. The
/// rounding instruction is not in every x86-64, and a library function for it took a fifth of the time.
pub(crate) const ROUND: f32 = 12_582_912.0;

/// Number of tokens multiplied at once, so that each weight is loaded once for all of them.
const BLOCK: usize = 4;

/// Number of weight rows multiplied at once, so that each activation is loaded once for all of them.
const ROWS: usize = 2;

/// Number of columns multiplied at once with AVX-512. The width of every matrix is a multiple of it.
pub(crate) const LANES_512: usize = 32;

/// Number of columns multiplied at once with AVX2.
#[cfg(target_arch = "x86_64")]
const LANES_256: usize = 16;

/// A linear layer: weights of 8 bits with a scale and a bias for each row.
#[derive(Debug)]
pub struct Matrix<'w> {
    pub columns: usize,
    pub weights: &'w [i8],
    pub scales: Vec<f32>,
    pub bias: Vec<f32>,
}

/// Quantized rows of activations, each with its scale. Rows are padded to a multiple of `BLOCK`.
#[derive(Debug, Default)]
pub struct Activations {
    values: Vec<i16>,
    steps: Vec<f32>,
}

impl Activations {
    /// Quantizes rows with this number of columns.
    pub fn new(rows: &[f32], columns: usize) -> Activations {
        let count = rows.len() / columns;
        let mut values = vec![0; count.next_multiple_of(BLOCK) * columns];
        let mut steps = Vec::with_capacity(count);
        lanes::run(|| {
            for (row, quantized) in rows.chunks_exact(columns).zip(values.chunks_exact_mut(columns)) {
                let largest = lanes::largest(row).max(f32::MIN_POSITIVE);
                let times = MAX_QUANTIZED / largest;
                for (quantized, value) in quantized.iter_mut().zip(row) {
                    *quantized = (value * times + ROUND).to_bits() as i16;
                }
                steps.push(largest / MAX_QUANTIZED);
            }
        });
        Activations { values, steps }
    }
}

impl Matrix<'_> {
    /// The layer's output for each row of activations, row after row.
    pub fn apply(&self, input: &Activations) -> Vec<f32> {
        let rows = self.scales.len();
        let mut output = vec![0.0; input.steps.len() * rows];
        let product = Product { matrix: self, input, output: &mut output };
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(simd) = Vnni::try_new() {
                simd.vectorize(WithAvx512 { simd, product });
                return output;
            }
            if let Some(simd) = pulp::x86::V3::try_new() {
                simd.vectorize(WithAvx2 { simd, product });
                return output;
            }
        }
        product.compute(&|rows, tokens| rows.map(|row| tokens.map(|token| dot(row, token))));
        output
    }
}

struct Product<'p, 'w> {
    matrix: &'p Matrix<'w>,
    input: &'p Activations,
    output: &'p mut [f32],
}

impl Product<'_, '_> {
    #[inline(always)]
    fn compute(self, dots: &impl Fn([&[i8]; ROWS], [&[i16]; BLOCK]) -> [[i32; BLOCK]; ROWS]) {
        let Matrix { columns, weights, scales, bias } = self.matrix;
        for (number, rows) in weights.chunks(columns * ROWS).enumerate() {
            let (first, second) = rows.split_at(*columns);
            // An odd last row is paired with itself; the second product is discarded.
            let rows = [first, if second.is_empty() { first } else { second }];
            for (block, values) in self.input.values.chunks_exact(columns * BLOCK).enumerate() {
                let (first, rest) = values.split_at(*columns);
                let (second, rest) = rest.split_at(*columns);
                let (third, fourth) = rest.split_at(*columns);
                let sums = dots(rows, [first, second, third, fourth]);
                let scales = scales.iter().zip(bias).enumerate().skip(number * ROWS);
                for ((row, (scale, bias)), sums) in scales.zip(sums) {
                    let steps = self.input.steps.iter().enumerate().skip(block * BLOCK);
                    for ((token, step), sum) in steps.zip(sums) {
                        if let Some(cell) = self.output.get_mut(token * self.matrix.scales.len() + row) {
                            *cell = sum as f32 * step * scale + bias;
                        }
                    }
                }
            }
        }
    }
}

/// Dot product of a row of weights and a row of activations.
fn dot(weights: &[i8], values: &[i16]) -> i32 {
    weights.iter().zip(values).map(|(weight, value)| i32::from(*weight) * i32::from(*value)).sum()
}

#[cfg(target_arch = "x86_64")]
pulp::simd_type! {
    /// AVX-512 with VNNI: the compiler turns a product and the addition of it into one instruction.
    struct Vnni {
        pub avx: "avx",
        pub avx2: "avx2",
        pub avx512f: "avx512f",
        pub avx512bw: "avx512bw",
        pub avx512vl: "avx512vl",
        pub avx512vnni: "avx512vnni",
    }
}

#[cfg(target_arch = "x86_64")]
struct WithAvx512<'p, 'w> {
    simd: Vnni,
    product: Product<'p, 'w>,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for WithAvx512<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let simd = self.simd;
        self.product.compute(&|rows, tokens| dots_avx512(simd, rows, tokens));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn dots_avx512(simd: Vnni, rows: [&[i8]; ROWS], tokens: [&[i16]; BLOCK]) -> [[i32; BLOCK]; ROWS] {
    use std::arch::x86_64::{__m256i, __m512i};

    let [one, other] = rows.map(|row| row.as_chunks::<LANES_512>().0);
    let [first, second, third, fourth] = tokens.map(|token| token.as_chunks::<LANES_512>().0);
    let mut sums = [[simd.avx512f._mm512_setzero_si512(); BLOCK]; ROWS];
    let weights = one.iter().zip(other);
    for ((((weights, first), second), third), fourth) in weights.zip(first).zip(second).zip(third).zip(fourth)
    {
        let weights = [weights.0, weights.1].map(|row| simd.avx512bw._mm512_cvtepi8_epi16(pulp::cast(*row)));
        let values: [__m512i; BLOCK] = [first, second, third, fourth].map(|token| pulp::cast(*token));
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (sum, values) in sums.iter_mut().zip(values) {
                let products = simd.avx512bw._mm512_madd_epi16(weights, values);
                *sum = simd.avx512f._mm512_add_epi32(*sum, products);
            }
        }
    }
    let mut totals = [[0; BLOCK]; ROWS];
    for (totals, sums) in totals.iter_mut().zip(sums) {
        let mut folded = [simd.avx._mm256_setzero_si256(); BLOCK];
        for (folded, sum) in folded.iter_mut().zip(sums) {
            let [low, high]: [__m256i; 2] = pulp::cast(sum);
            *folded = simd.avx2._mm256_add_epi32(low, high);
        }
        *totals = add_up(simd.avx2, folded);
    }
    totals
}

#[cfg(target_arch = "x86_64")]
struct WithAvx2<'p, 'w> {
    simd: pulp::x86::V3,
    product: Product<'p, 'w>,
}

#[cfg(target_arch = "x86_64")]
impl pulp::NullaryFnOnce for WithAvx2<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let simd = self.simd;
        self.product.compute(&|rows, tokens| dots_avx2(simd, rows, tokens));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn dots_avx2(simd: pulp::x86::V3, rows: [&[i8]; ROWS], tokens: [&[i16]; BLOCK]) -> [[i32; BLOCK]; ROWS] {
    use std::arch::x86_64::__m256i;

    let [one, other] = rows.map(|row| row.as_chunks::<LANES_256>().0);
    let [first, second, third, fourth] = tokens.map(|token| token.as_chunks::<LANES_256>().0);
    let mut sums = [[simd.avx._mm256_setzero_si256(); BLOCK]; ROWS];
    let weights = one.iter().zip(other);
    for ((((weights, first), second), third), fourth) in weights.zip(first).zip(second).zip(third).zip(fourth)
    {
        let weights = [weights.0, weights.1].map(|row| simd.avx2._mm256_cvtepi8_epi16(pulp::cast(*row)));
        let values: [__m256i; BLOCK] = [first, second, third, fourth].map(|token| pulp::cast(*token));
        for (sums, weights) in sums.iter_mut().zip(weights) {
            for (sum, values) in sums.iter_mut().zip(values) {
                let products = simd.avx2._mm256_madd_epi16(weights, values);
                *sum = simd.avx2._mm256_add_epi32(*sum, products);
            }
        }
    }
    let mut totals = [[0; BLOCK]; ROWS];
    for (totals, sums) in totals.iter_mut().zip(sums) {
        *totals = add_up(simd.avx2, sums);
    }
    totals
}

/// Sum of the lanes of each of four registers.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn add_up(
    simd: pulp::core_arch::x86::Avx2,
    [a, b, c, d]: [std::arch::x86_64::__m256i; BLOCK],
) -> [i32; BLOCK] {
    let pairs = simd._mm256_hadd_epi32(simd._mm256_hadd_epi32(a, b), simd._mm256_hadd_epi32(c, d));
    let [low, high]: [[i32; BLOCK]; 2] = pulp::cast(pairs);
    let mut sums = low;
    sums.iter_mut().zip(high).for_each(|(sum, high)| *sum += high);
    sums
}

#[cfg(test)]
mod tests {
    use super::{Activations, Matrix};

    #[test]
    fn apply_is_the_product_within_the_precision_of_the_activations() {
        let (rows, columns) = (5, 32);
        let weights: Vec<i8> = (0..rows * columns).map(|at| (at * 37 % 255 - 127) as i8).collect();
        let scales: Vec<f32> = (1..=rows).map(|row| row as f32 / 100.0).collect();
        let bias: Vec<f32> = (0..rows).map(|row| row as f32).collect();
        let matrix = Matrix { columns: columns as usize, weights: &weights, scales: scales.clone(), bias };
        let input: Vec<f32> = (0..7 * columns).map(|at| (at as f32).sin()).collect();
        let output = matrix.apply(&Activations::new(&input, columns as usize));
        assert_eq!(output.len(), 7 * rows as usize);
        for (token, values) in input.chunks_exact(columns as usize).enumerate() {
            for (row, weights) in weights.chunks_exact(columns as usize).enumerate() {
                let sum: f32 = weights.iter().zip(values).map(|(w, v)| f32::from(*w) * v).sum();
                let expected = sum * scales[row] + row as f32;
                let actual = output[token * rows as usize + row];
                assert!((expected - actual).abs() < 0.02, "{token} {row}: {expected} {actual}");
            }
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn products_are_exact_with_every_instruction_set() {
        let weights: [Vec<i8>; 2] =
            [3, 5].map(|step| (0..96).map(|at| (at * 37 * step % 255 - 127) as i8).collect());
        let values: [Vec<i16>; 4] =
            [7, 11, 13, 17].map(|step| (0..96).map(|at| (at * 997 * step % 16_383 - 8_191) as i16).collect());
        let (rows, tokens) = (weights.each_ref().map(Vec::as_slice), values.each_ref().map(Vec::as_slice));
        let expected = rows.map(|row| tokens.map(|token| super::dot(row, token)));
        if let Some(simd) = pulp::x86::V3::try_new() {
            assert_eq!(super::dots_avx2(simd, rows, tokens), expected);
        }
        if let Some(simd) = super::Vnni::try_new() {
            assert_eq!(super::dots_avx512(simd, rows, tokens), expected);
        }
    }
}
