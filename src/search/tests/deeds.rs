//! Which deed the words of a request ask for: the table of `catalog/deeds.txt`, and what the ranking makes of it.

use crate::catalog::Catalog;
use crate::search::{FEATURES, Feature, Ranker};

use super::{find, first};

fn open() -> Ranker {
    Ranker::open(&Catalog::embedded().unwrap()).unwrap()
}

/// The deeds with what a text asks of each; one text of one sentence.
fn asked(ranker: &Ranker, text: &str) -> Vec<(String, f32)> {
    let stems = ranker.lexicon.stemmer.words(text);
    let words = stems.iter().enumerate().map(|(at, stem)| (at, stem.as_str()));
    let telling = ranker.deeds.telling(words);
    let names = ranker.deeds.names.iter().map(|name| (*name).to_owned());
    names.zip(ranker.deeds.asked(telling.into_iter())).collect()
}

fn of(asked: &[(String, f32)], deed: &str) -> f32 {
    asked.iter().find(|(name, _)| name == deed).unwrap().1
}

#[test]
fn words_that_are_no_verbs_say_what_is_to_be_done() {
    let ranker = open();
    for (text, deed, other) in [
        ("the old one can go", "delete", "get"),
        ("nobody uses it any more", "delete", "list"),
        ("it is obsolete", "delete", "create"),
        ("try that once more", "again", "create"),
        ("we need another one", "create", "delete"),
        ("the name has a typo", "update", "create"),
        ("which ones do we have", "list", "update"),
        ("give me a copy of the file", "download", "delete"),
    ] {
        let asked = asked(&ranker, text);
        assert_eq!(of(&asked, deed), 0.0, "{text}: {asked:?}");
        assert!(of(&asked, other) < -0.2, "{text}: {asked:?}");
    }
}

#[test]
fn words_that_say_nothing_ask_for_no_deed() {
    let ranker = open();
    for text in ["", "qwrtz plmokn"] {
        let asked = asked(&ranker, text);
        assert!(asked.iter().all(|(_, value)| (-0.5..=0.0).contains(value)), "{text}: {asked:?}");
    }
    assert!(ranker.deeds.asked(std::iter::empty()).iter().all(|value| *value == 0.0));
}

#[test]
fn each_action_that_is_ranked_does_one_of_the_deeds() {
    let ranker = open();
    let of = |id: &str| {
        let number = Catalog::embedded().unwrap().number(id).unwrap();
        ranker.deeds.names[usize::from(ranker.profiles.actions[number].deed)]
    };
    let count = ranker.deeds.names.len();
    assert!(ranker.profiles.actions.iter().all(|profile| usize::from(profile.deed) < count));
    for (id, deed) in [
        ("issue.list", "list"),
        ("issue.delete", "delete"),
        ("pipeline.retry", "again"),
        ("pipeline.cancel", "stop"),
        ("user.block", "off"),
        ("personal_access_token.revoke", "delete"),
    ] {
        assert_eq!(of(id), deed, "{id}");
    }
}

#[test]
fn a_verb_that_reads_leaves_list_and_get_to_the_number() {
    assert_eq!(first("get the branches of a project"), "branch.list");
    let found = find("get a branch");
    let explain = found.hits[0].explain.join("\n");
    assert!(found.hits[0].action.id == "branch.get" && !explain.contains("deed: "), "{explain}");
}

#[test]
fn what_is_wished_for_is_a_verb_wherever_it_stands() {
    let asked = |words: &str| find(words).hits[0].explain[1].clone();
    assert!(asked("the webhook at the office should be disabled tomorrow").starts_with("asked for: disabl"));
    assert!(asked("the feature should be switched off completely").starts_with("asked for: disabl"));
}

#[test]
fn words_that_are_no_verbs_find_what_deletes() {
    let found = find("milestone 4 is obsolete and nobody uses it any more");
    assert!(found.hits.iter().any(|hit| hit.action.id == "milestone.delete"));
}

#[test]
fn an_explanation_says_what_the_deed_adds() {
    let at = FEATURES.iter().find(|(feature, _)| *feature == Feature::Deed).unwrap();
    let found = find("the old milestone can go");
    assert!(found.hits.iter().any(|hit| hit.explain.iter().any(|line| line.starts_with(at.1))));
}
