//! Compares the encoder's forward pass in Rust with the one in PyTorch that trained it.

use serde::Deserialize;

use gitlab_mcp_encoder::Encoder;

static LEARNED: &str = include_str!("../../../catalog/learned/LEARNED.toml");

#[derive(Deserialize)]
struct Learned {
    check: Vec<Check>,
}

/// Tokens, and the first components of their vector as computed by PyTorch.
#[derive(Deserialize)]
struct Check {
    tokens: String,
    vector: Vec<f32>,
}

#[test]
fn vectors_match_those_of_pytorch() {
    let learned: Learned = toml::from_str(LEARNED).unwrap();
    let encoder = Encoder::new(super::super::embedded::ENCODER).unwrap();
    assert!(learned.check.len() >= 4);
    let tokens = |check: &Check| check.tokens.split(' ').map(str::to_owned).collect();
    let texts: Vec<Vec<String>> = learned.check.iter().map(tokens).collect();
    for (check, vector) in learned.check.iter().zip(encoder.encode(&texts)) {
        for (expected, actual) in check.vector.iter().zip(vector) {
            assert!((expected - actual).abs() < 0.002, "{}: {expected} {actual}", check.tokens);
        }
    }
}

#[test]
fn texts_that_are_encoded_together_have_the_vectors_they_have_alone() {
    let encoder = Encoder::new(super::super::embedded::ENCODER).unwrap();
    let tokens = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let texts = ["list issues", "why did the pipeline of [mr] fail", "", "x"].map(tokens);
    let together = encoder.encode(&texts);
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(encoder.encode(std::slice::from_ref(text)), [vector], "{text:?}");
    }
}
