//! Vectorized loops over floats. Sums have a fixed number of partial sums, so that they are the same on every processor.

/// Number of partial results: the floats of an AVX2 register.
const LANES: usize = 8;

/// Runs code that is inlined into the closure with AVX2 if the processor has it. Closures that are passed to iterators
/// of arrays and collections may stay functions of their own, without AVX2: loops are used in their place.
#[inline(always)]
pub fn run<R>(task: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(task);
    }
    task()
}

/// Sum of a function of values. A rest that does not fill the lanes is summed last.
#[inline(always)]
pub fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, value)| *sum += of(*value));
    }
    total(sums) + rest.iter().map(|value| of(*value)).sum::<f32>()
}

/// Dot product of two rows of the same length, a multiple of the lanes.
#[inline(always)]
pub fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0; LANES];
    for (one, other) in one.as_chunks::<LANES>().0.iter().zip(other.as_chunks::<LANES>().0) {
        sums.iter_mut().zip(one.iter().zip(other)).for_each(|(sum, (one, other))| *sum += one * other);
    }
    total(sums)
}

/// Largest absolute value of a row whose length is a multiple of the lanes.
#[inline(always)]
pub fn largest(values: &[f32]) -> f32 {
    let mut most = [0.0_f32; LANES];
    for chunk in values.as_chunks::<LANES>().0 {
        for (most, value) in most.iter_mut().zip(chunk) {
            *most = if value.abs() > *most { value.abs() } else { *most };
        }
    }
    most.into_iter().fold(0.0, f32::max)
}

#[inline(always)]
fn total(sums: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[cfg(test)]
mod tests {
    use super::{dot, largest, run, sum};

    fn values(count: usize) -> Vec<f32> {
        (0..count).map(|at| (at as f32 * 0.7).sin() - 0.2).collect()
    }

    #[test]
    fn sums_and_products_are_those_of_a_plain_loop() {
        for count in [0, 5, 8, 35, 384] {
            let values = values(count);
            let expected: f64 = values.iter().map(|value| f64::from(*value) * 3.0).sum();
            assert!((f64::from(sum(&values, |value| value * 3.0)) - expected).abs() < 1e-3, "{count}");
        }
        let (one, other) = (values(32), values(64).split_off(32));
        let expected: f64 = one.iter().zip(&other).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        assert!((f64::from(dot(&one, &other)) - expected).abs() < 1e-4);
    }

    #[test]
    fn the_largest_is_found_in_every_lane_and_sign() {
        for at in 0..16 {
            let mut values = values(16);
            values[at] = if at % 2 == 0 { -7.5 } else { 7.5 };
            assert_eq!(largest(&values), 7.5, "{at}");
        }
    }

    #[test]
    fn results_do_not_depend_on_the_processor() {
        let values = values(384);
        let both = |values: &[f32]| (sum(values, |value| value), dot(values, values));
        assert_eq!(run(|| both(&values)), both(&values));
    }
}
