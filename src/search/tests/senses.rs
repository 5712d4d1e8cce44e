//! What words mean: the vectors of `catalog/senses.txt` against the catalog and the requests they were taught by.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::catalog::Catalog;
use crate::search::Ranker;
use crate::search::meant::Meant;
use crate::search::senses::{DIMENSIONS, UNITS, Word};

use super::{Confidence, find};

const TEXT: &str = include_str!("../../../catalog/senses.txt");

fn open() -> (Catalog, Ranker) {
    let catalog = Catalog::embedded().unwrap();
    let ranker = Ranker::open(&catalog).unwrap();
    (catalog, ranker)
}

/// Where a text points.
fn meant<'r>(ranker: &'r Ranker, text: &str) -> Meant<'r> {
    let stems = ranker.stems(text);
    let words = stems.iter().enumerate().filter_map(|(at, stem)| ranker.senses.word(at, stem));
    Meant::new(&ranker.senses, ranker.units.hear(&ranker.senses, &words.collect::<Vec<_>>()).iter())
}

/// Every vector of the file by its name, in plain numbers, with what a step of its components is worth.
fn rows() -> BTreeMap<&'static str, Vec<f64>> {
    let mut steps: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut rows = BTreeMap::new();
    for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
        if let Some((part, numbers)) = line.split_once(": ") {
            steps.insert(part, numbers.split(' ').map(|n| n.parse().unwrap()).collect());
            continue;
        }
        let (name, digits) = line.split_once(' ').unwrap();
        let scale = 0.001 * 1.05_f64.powi(i32::from_str_radix(&digits[..2], 16).unwrap());
        let parts = digits[2..].chars().map(|digit| {
            let digit = digit.to_digit(16).unwrap();
            f64::from(digit) - if digit > 7 { 16.0 } else { 0.0 }
        });
        let part = match name.split_once('.') {
            None => "words",
            Some(("+adds", _)) => "adds",
            Some(("+before" | "+own" | "+after", _)) => "listens",
            Some(_) => "actions",
        };
        let worth = &steps[part];
        rows.insert(name, parts.zip(worth).map(|(part, step)| part * scale * step).collect());
    }
    rows
}

/// What people say, by action, as `catalog/requests` has it.
fn requests() -> BTreeMap<String, Vec<String>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("catalog/requests");
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let mut action = String::new();
        for line in std::fs::read_to_string(file.unwrap().path()).unwrap().lines() {
            match line.strip_prefix('@') {
                Some(id) => action = id.to_owned(),
                None if line.is_empty() => {}
                None => said.entry(action.clone()).or_default().push(line.to_owned()),
            }
        }
    }
    said
}

#[test]
fn each_action_that_is_ranked_has_a_vector() {
    let (catalog, _) = open();
    let rows = rows();
    let actions: Vec<_> = catalog.actions().map(Result::unwrap).collect();
    for action in actions.iter().filter(|action| action.twin.is_none()) {
        let row = rows.get(action.id.as_str());
        let row = row.unwrap_or_else(|| panic!("{}: make catalog/senses.txt again (tools/learn)", action.id));
        assert!(row.len() == DIMENSIONS && row.iter().any(|part| *part != 0.0), "{}", action.id);
    }
    let gone = rows
        .keys()
        .filter(|name| name.contains('.') && !name.starts_with(['+']) && !name.starts_with("nothing."));
    assert_eq!(gone.filter(|name| catalog.number(name).is_none()).collect::<Vec<_>>(), [&""; 0]);
}

fn product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

fn direction(vector: &[f64]) -> Vec<f64> {
    vector.iter().map(|part| part / product(vector, vector).sqrt()).collect()
}

/// What words mean together, each between its neighbours, by the definition.
fn sum(rows: &BTreeMap<&str, Vec<f64>>, words: &[&Vec<f64>]) -> Vec<f64> {
    let mut sum = vec![0.0; DIMENSIONS];
    for (at, word) in words.iter().enumerate() {
        sum.iter_mut().zip(*word).for_each(|(sum, part)| *sum += part);
        for unit in 0..UNITS {
            let hears = |beside: &str, at: Option<usize>| {
                let word = at.and_then(|at| words.get(at));
                word.map_or(0.0, |word| {
                    product(&rows[format!("+{beside}.{unit}").as_str()], &direction(word))
                })
            };
            let excited =
                hears("before", at.checked_sub(1)) + hears("own", Some(at)) + hears("after", Some(at + 1));
            let adds = &rows[format!("+adds.{unit}").as_str()];
            sum.iter_mut().zip(adds).for_each(|(sum, part)| *sum += excited.max(0.0) * part);
        }
    }
    sum
}

#[test]
fn the_likenesses_are_the_cosines_of_the_sums() {
    let (catalog, ranker) = open();
    let rows = rows();
    for text in ["who may deploy to production", "close the pull request without merging", "job log of !45"] {
        let stems = ranker.stems(text);
        let known: Vec<&Vec<f64>> = stems.iter().filter_map(|stem| rows.get(stem.as_str())).collect();
        assert!(known.len() > 2, "{text}: {stems:?}");
        let pointed = direction(&sum(&rows, &known));
        let found = meant(&ranker, text);
        for id in ["protected_environment.list", "merge_request.update", "job.log", "wiki_page.delete"] {
            let cosine = product(&pointed, &rows[id]);
            let alike = f64::from(found.alike(catalog.number(id).unwrap()));
            assert!((alike - cosine).abs() < 1e-3, "{text}, {id}: {alike}, not {cosine}");
        }
    }
}

#[test]
fn a_word_means_something_else_between_other_words() {
    let (_, ranker) = open();
    let word = |stem| ranker.senses.word(0, stem).unwrap();
    let [issue, close, tracker] = ["issu", "clos", "track"].map(word);
    let of = |words: &[Word], at: usize| ranker.units.hear(&ranker.senses, words)[at].means;
    assert_ne!(of(&[close, issue], 1), of(&[issue], 0));
    assert_ne!(of(&[issue, tracker], 0), of(&[tracker, issue], 1));
    // Only neighbours count.
    assert_eq!(of(&[close, issue, tracker], 0), of(&[close, issue, close], 0));
}

#[test]
fn the_nearest_are_those_of_all_that_are_most_alike() {
    let (catalog, ranker) = open();
    let said = requests();
    let texts: Vec<&String> = said.values().filter_map(|texts| texts.get(3)).step_by(20).collect();
    assert!(texts.len() > 90);
    for text in texts {
        let meant = meant(&ranker, text);
        let mut all: Vec<usize> = (0..catalog.len()).filter(|action| meant.alike(*action) > 0.0).collect();
        all.sort_by(|one, other| meant.alike(*other).total_cmp(&meant.alike(*one)));
        assert!(all.len() > 24, "{text}");
        assert_eq!(meant.nearest(24), all[..24], "{text}");
        assert_eq!(meant.nearest(catalog.len()), all, "{text}");
    }
}

#[test]
fn requests_point_to_their_actions() {
    let (catalog, ranker) = open();
    let said = requests();
    let asked = said.iter().filter_map(|(id, texts)| Some((catalog.number(id)?, texts.get(1)?)));
    let asked: Vec<(usize, &String)> = asked.step_by(7).collect();
    let led = asked.iter().filter(|(action, text)| meant(&ranker, text).nearest(5).contains(action)).count();
    assert!(asked.len() > 250 && led * 10 > asked.len() * 8, "{led} of {}", asked.len());
}

#[test]
fn what_nothing_answers_is_more_alike_to_nothing() {
    let (_, ranker) = open();
    for (text, foreign) in [
        ("will it rain on Sunday", true),
        ("how long do I boil an egg", true),
        ("list merge requests", false),
        ("who approved this deployment", false),
    ] {
        let meant = meant(&ranker, text);
        let best = meant.nearest(1).first().map_or(0.0, |action| meant.alike(*action));
        assert_eq!(meant.foreign() > best, foreign, "{text}: {} and {best}", meant.foreign());
    }
    assert_eq!(find("what should I cook for dinner tonight").confidence, Confidence::None);
}

#[test]
fn words_without_a_sense_point_nowhere() {
    let (catalog, ranker) = open();
    for text in ["", "qwrtz plmokn"] {
        let meant = meant(&ranker, text);
        assert_eq!((meant.nearest(5), meant.alike(0), meant.foreign()), (Vec::new(), 0.0, 0.0), "{text}");
    }
    assert_eq!(meant(&ranker, "list issues").alike(catalog.len() + 1), 0.0);
}

#[test]
fn words_that_say_nothing_of_a_thing_count() {
    let (_, ranker) = open();
    let heard = |word: &str| ranker.senses.is_known(word);
    assert!(heard("who") && heard("not") && heard("<file>") && heard("<merge_request>"));
    assert_eq!(ranker.stems("Who closed !12 in acme/web?"), ["who", "clos", "in", "<merge_request>"]);
}

#[test]
fn an_explanation_says_what_the_meaning_adds() {
    let explain = find("list merge requests").hits[1].explain.join("\n");
    assert!(explain.contains("sense: ") && explain.contains("behind: "), "{explain}");
}

#[test]
fn each_action_a_person_could_mean_has_requests_and_none_is_of_the_evaluation() {
    let (catalog, _) = open();
    let said = requests();
    let actions: Vec<_> = catalog.actions().map(Result::unwrap).collect();
    for action in actions.iter().filter(|action| action.twin.is_none()) {
        let count = said.get(&action.id).map_or(0, Vec::len);
        assert!(count >= 6, "{}: {count} requests", action.id);
    }
    for id in said.keys().filter(|id| !id.starts_with("nothing.")) {
        let number = catalog.number(id).unwrap_or_else(|| panic!("catalog/requests: there is no {id}"));
        assert!(catalog.action(number).unwrap().twin.is_none(), "{id} is another's twin");
    }
    let all: BTreeSet<String> = said.values().flatten().map(|text| text.to_lowercase()).collect();
    for cases in ["develop", "held_out", "dangers"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/requests/{cases}.jsonl"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let case: serde_json::Value = serde_json::from_str(line).unwrap();
            let request = case["request"].as_str().unwrap().to_lowercase();
            assert!(!all.contains(&request), "{cases}: {request} is taught");
        }
    }
}
