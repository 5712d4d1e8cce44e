//! What words mean: the vectors of `catalog/senses.txt` against the catalog, and the sums over them.

use std::collections::BTreeSet;

use crate::catalog::Catalog;
use crate::search::Ranker;
use crate::search::profile::WordId;
use crate::search::senses::{DIMENSIONS, Senses, vector_of};

use super::find;

const TEXT: &str = include_str!("../../../catalog/senses.txt");

/// So many words, of a hundred, may be new to the senses, or gone from the catalog, before they are made again.
const DRIFT: usize = 3;

fn open() -> Ranker {
    Ranker::open(&Catalog::embedded().unwrap()).unwrap()
}

#[test]
fn the_senses_are_those_of_the_catalogs_words() {
    let ranker = open();
    let vocabulary = &ranker.profiles.vocabulary;
    let lines = ranker.profiles.actions.iter().flat_map(|action| action.lines.iter());
    let words: BTreeSet<WordId> = lines.flatten().copied().collect();
    let lacking = words.iter().filter(|word| !has_sense(&ranker.senses, **word)).count();
    let listed: Vec<&str> = TEXT
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(' ').next())
        .collect();
    let gone = listed.iter().filter(|word| vocabulary.id(word).is_none()).count();
    assert!(listed.len() > 4_000 && listed.is_sorted(), "{} words", listed.len());
    assert!(
        100 * lacking <= DRIFT * words.len() && 100 * gone <= DRIFT * listed.len(),
        "{lacking} of {} words of the catalog's texts have no sense, and {gone} of {} senses no word: make \
         catalog/senses.txt again with tools/senses/train.py",
        words.len(),
        listed.len()
    );
}

#[test]
fn an_action_means_what_each_of_its_texts_means() {
    let ranker = open();
    for (number, action) in ranker.profiles.actions.iter().enumerate() {
        for line in
            action.lines.iter().filter(|line| line.iter().any(|word| has_sense(&ranker.senses, *word)))
        {
            let alike =
                ranker.senses.meant(line.iter().map(|word| (*word, 1.0))).alike(number, &action.lines);
            assert!(alike.nearest > 0.98, "{number} {line:?}: {alike:?}");
            assert!(alike.nearest <= 1.0 && (-1.0..=1.0).contains(&alike.gist), "{number}: {alike:?}");
        }
    }
}

#[test]
fn the_likenesses_are_the_cosines_of_the_sums() {
    let ranker = open();
    for (number, other) in [(3, 700), (700, 3), (1200, 41), (41, 1200)] {
        let lines = &ranker.profiles.actions[number].lines;
        let said = ranker.profiles.actions[other].lines.iter().next().unwrap();
        let asked = direction(&ranker.senses, said);
        let directions: Vec<[f64; DIMENSIONS]> =
            lines.iter().map(|line| direction(&ranker.senses, line)).collect();
        let sum = directions.iter().fold([0.0; DIMENSIONS], |mut sum, line| {
            sum.iter_mut().zip(line).for_each(|(sum, part)| *sum += part);
            sum
        });
        let nearest = directions.iter().map(|line| product(line, &asked)).fold(-1.0, f64::max);
        let gist = product(&unit(sum), &asked);
        let alike = ranker.senses.meant(said.iter().map(|word| (*word, 1.0))).alike(number, lines);
        assert!((f64::from(alike.nearest) - nearest).abs() < 0.02, "{alike:?}, not {nearest}");
        assert!((f64::from(alike.gist) - gist).abs() < 0.03, "{alike:?}, not {gist}");
    }
}

#[test]
fn words_without_a_sense_are_like_nothing() {
    let ranker = open();
    let lines = &ranker.profiles.actions[0].lines;
    for words in [vec![], vec![(WordId::MAX, 1.0)]] {
        let alike = ranker.senses.meant(words.into_iter()).alike(0, lines);
        assert_eq!((alike.nearest, alike.gist), (0.0, 0.0));
    }
    let beyond = ranker.profiles.actions.len();
    let said = lines.iter().flatten().map(|word| (*word, 1.0));
    assert_eq!(ranker.senses.meant(said).alike(beyond, lines).nearest, 0.0);
}

#[test]
fn words_that_mean_the_same_lie_near_one_another() {
    let ranker = open();
    let likeness = |one: &str, other: &str| {
        let word = |text: &str| {
            let stem = ranker.lexicon.stemmer.stem(text).0.into_owned();
            ranker.profiles.vocabulary.id(&stem).unwrap_or_else(|| panic!("{text} is no word of the catalog"))
        };
        product(&direction(&ranker.senses, &[word(one)]), &direction(&ranker.senses, &[word(other)]))
    };
    for (word, near, far) in [
        ("password", "credential", "milestone"),
        ("developer", "maintainer", "pipeline"),
        ("docker", "container", "vote"),
    ] {
        assert!(likeness(word, near) > likeness(word, far) + 0.2, "{word}: {near}, {far}");
    }
}

#[test]
fn an_explanation_says_what_the_meaning_adds() {
    let explain = find("list merge requests").hits[0].explain.join("\n");
    assert!(explain.contains("sense: ") && explain.contains("gist: "), "{explain}");
}

fn has_sense(senses: &Senses<'_>, word: WordId) -> bool {
    vector_of(senses.vectors, word).iter().any(|part| *part != 0)
}

fn direction(senses: &Senses<'_>, words: &[WordId]) -> [f64; DIMENSIONS] {
    let mut sum = [0.0; DIMENSIONS];
    for word in words {
        let parts = vector_of(senses.vectors, *word).iter();
        sum.iter_mut().zip(parts).for_each(|(sum, part)| *sum += f64::from(part.cast_signed()));
    }
    unit(sum)
}

fn unit(mut vector: [f64; DIMENSIONS]) -> [f64; DIMENSIONS] {
    let length = product(&vector, &vector).sqrt();
    vector.iter_mut().for_each(|part| *part /= length.max(1e-9));
    vector
}

fn product(one: &[f64; DIMENSIONS], other: &[f64; DIMENSIONS]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}
