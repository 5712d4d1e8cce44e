//! Selection of the largest scores.

use std::cmp::Ordering;

/// Positions of the `most` largest scores above 0, best first; ties in order.
pub fn top(most: usize, scores: impl Iterator<Item = f32>) -> Vec<usize> {
    let mut found: Vec<(f32, usize)> = Vec::with_capacity(2 * most);
    let mut least = 0.0;
    for (place, score) in scores.enumerate() {
        if score <= least {
            continue;
        }
        found.push((score, place));
        // Scores up to the lowest of the best so far are skipped from here on.
        if found.len() == 2 * most {
            found.sort_unstable_by(better);
            found.truncate(most);
            least = found.last().map_or(0.0, |(score, _)| *score);
        }
    }
    found.sort_unstable_by(better);
    found.truncate(most);
    found.into_iter().map(|(_, place)| place).collect()
}

fn better(one: &(f32, usize), other: &(f32, usize)) -> Ordering {
    other.0.total_cmp(&one.0).then(one.1.cmp(&other.1))
}

#[cfg(test)]
mod tests {
    use super::top;

    #[test]
    fn the_largest_come_first_and_equal_ones_in_their_order() {
        let scores = [0.5, 0.9, 0.1, 0.9, 0.7, 0.5, 0.9, 0.8];
        assert_eq!(top(2, scores.into_iter()), [1, 3]);
        assert_eq!(top(5, scores.into_iter()), [1, 3, 6, 7, 4]);
        assert_eq!(top(6, scores.into_iter()), [1, 3, 6, 7, 4, 0]);
        assert_eq!(top(20, scores.into_iter()), [1, 3, 6, 7, 4, 0, 5, 2]);
    }

    #[test]
    fn items_without_a_score_are_left_out() {
        assert_eq!(top(3, [0.0, -1.0, 0.2].into_iter()), [2]);
        assert_eq!(top(3, std::iter::empty()), [0; 0]);
        assert_eq!(top(0, [0.3].into_iter()), [0; 0]);
    }

    #[test]
    fn of_many_none_is_lost() {
        let scores = |seed: usize| (0..1000).map(move |at| ((at * seed) % 1009) as f32);
        for seed in [1, 7, 401, 1008] {
            let mut all: Vec<usize> = (1..1000).collect();
            all.sort_by_key(|at| (std::cmp::Reverse((at * seed) % 1009), *at));
            assert_eq!(top(24, scores(seed)), all[..24], "{seed}");
        }
    }
}
