//! Embeddings of actions and out-of-domain topics, and the nearest of them to a query's embedding.

use bytemuck::cast_slice;
use gitlab_mcp_encoder::{Activations, Matrix};

use super::top::top;

/// Unit vectors of the actions in catalog order, followed by those of the topics.
#[derive(Debug)]
pub struct Embeddings<'v> {
    vectors: Matrix<'v>,
    actions: usize,
}

/// Cosine similarity of a query to each action and topic.
#[derive(Debug)]
pub struct Similarities {
    cosines: Vec<f32>,
    actions: usize,
}

impl<'v> Embeddings<'v> {
    /// Parses the bytes that the build script writes: the numbers of actions and topics, the width, a scale for each
    /// vector, and 8-bit components. Invalid bytes yield no vectors.
    pub fn new(bytes: &'v [u8]) -> Embeddings<'v> {
        let (sizes, rest) = bytes.split_at_checked(12).unwrap_or_default();
        let mut sizes = sizes.as_chunks::<4>().0.iter().map(|size| u32::from_le_bytes(*size) as usize);
        let mut size = || sizes.next().unwrap_or_default();
        let (actions, topics, columns) = (size(), size(), size());
        let (scales, vectors) = rest.split_at_checked((actions + topics) * 4).unwrap_or_default();
        let scales: Vec<f32> =
            scales.as_chunks::<4>().0.iter().map(|scale| f32::from_le_bytes(*scale)).collect();
        let bias = vec![0.0; scales.len()];
        Embeddings { vectors: Matrix { columns, weights: cast_slice(vectors), scales, bias }, actions }
    }

    /// True if an action has a learned vector.
    #[cfg(test)]
    pub fn has_vector(&self, action: usize) -> bool {
        self.vectors.scales.get(action).is_some_and(|scale| *scale > 0.0)
    }

    /// Cosines of a query's vector with all others.
    pub fn compare(&self, query: &[f32]) -> Similarities {
        let cosines = self.vectors.apply(&Activations::new(query, self.vectors.columns));
        Similarities { cosines, actions: self.actions }
    }
}

impl Similarities {
    /// The cosine of an action.
    pub fn cosine(&self, action: usize) -> f32 {
        self.cosines.get(action).copied().unwrap_or_default()
    }

    /// The `most` nearest actions.
    pub fn nearest(&self, most: usize) -> Vec<usize> {
        top(most, self.cosines.iter().copied().take(self.actions))
    }

    /// Margin of the best action's cosine over the best out-of-domain topic's.
    pub fn margin(&self) -> f32 {
        let best = |cosines: &[f32]| cosines.iter().copied().fold(f32::MIN, f32::max);
        let (actions, topics) = self.cosines.split_at_checked(self.actions).unwrap_or_default();
        best(actions) - best(topics)
    }
}
