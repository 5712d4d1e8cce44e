//! GitLab's kinds of objects (`catalog/kinds.toml`) against the actions of the catalog, and the lists of fields
//! (`catalog/presentation.toml`).

use std::collections::BTreeSet;

use gitlab_mcp::catalog::{
    Action, ChangeForm, KindRead, KindRow, Names, PRESENTATION, Param, Resolver, Risk, kinds,
};

use crate::catalog::data::{action, actions};

fn resolvers() -> &'static [Resolver] {
    &kinds().resolvers
}

/// Fields of the items of a composite action.
fn item_fields(id: &str) -> Vec<Param> {
    action(id).param("items").unwrap().fields.clone()
}

fn item_types(id: &str) -> BTreeSet<String> {
    let fields = item_fields(id);
    fields.iter().find(|field| field.name == "itemType").unwrap().choices.iter().cloned().collect()
}

fn assert_takes(id: &str, params: &[&str]) {
    let action = action(id);
    for param in params {
        assert!(action.param(param).is_some(), "{id} takes no {param}");
    }
}

#[test]
fn every_kind_has_one_resolver_whose_reads_are_in_the_catalog() {
    let named: BTreeSet<Names> = resolvers().iter().map(|resolver| resolver.names).collect();
    assert_eq!(named.len(), resolvers().len());
    for resolver in resolvers() {
        for read in &resolver.reads {
            let action = action(&read.action);
            assert_eq!(action.risk, Risk::Read, "{}", read.action);
            // A read that only a word selects, or the absence of a parameter, has none for it.
            for (param, _) in
                read.ask.iter().filter(|(_, ask)| !matches!(ask, KindRead::Only(_) | KindRead::Absent))
            {
                assert!(action.param(param).is_some(), "{} takes no {param}", read.action);
            }
        }
    }
    let mut used = BTreeSet::new();
    actions().iter().for_each(|action| collect(&action.params, &mut used));
    assert_eq!(used, named, "what the catalog names and what can be found are the same");
    for resolver in resolvers() {
        let asks = |(name, ask): &(String, KindRead)| name == "fullPath" && *ask == KindRead::Same;
        let placed = resolver.reads.iter().any(|read| read.ask.iter().any(asks));
        assert!(!(placed && resolver.names.is_global()), "{:?} is looked up within a place", resolver.names);
    }
}

fn collect(params: &[Param], used: &mut BTreeSet<Names>) {
    for param in params {
        used.extend(param.names);
        collect(&param.fields, used);
    }
}

#[test]
fn every_kind_is_an_object_or_an_item_with_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    let mut objects = BTreeSet::new();
    for kind in &kinds().kinds {
        assert!(names.insert(&kind.name), "{} twice", kind.name);
        assert!(kind.object.is_none_or(|object| objects.insert(object)), "{} twice", kind.name);
        assert!(kind.object.is_some() || kind.item.is_some() || kind.create.is_some(), "{}", kind.name);
        let has_domain = actions().iter().any(|action| action.domain() == kind.domain);
        assert!(has_domain || kind.domain.is_empty(), "{} has no action", kind.domain);
    }
}

#[test]
fn items_that_are_fetched_are_read_by_actions_of_the_catalog() {
    let items: Vec<_> = kinds().kinds.iter().filter_map(|kind| Some((kind, kind.item.as_ref()?))).collect();
    let named: BTreeSet<String> = items.iter().map(|(kind, _)| kind.name.clone()).collect();
    assert_eq!(named, item_types("resource.fetch"));
    let fields = item_fields("resource.fetch");
    for (kind, item) in items {
        for name in &item.names {
            assert!(fields.iter().any(|field| field.name == name.field), "{}: {}", kind.name, name.field);
            assert_takes(&item.read, &[&name.param]);
        }
        for id in [Some(&item.read), item.comments.as_ref(), item.diffs.as_ref(), item.links.as_ref()] {
            assert!(id.is_none_or(|id| action(id).risk == Risk::Read), "{}: {id:?}", kind.name);
        }
        for (param, _) in &item.comment_params {
            assert_takes(item.comments.as_ref().unwrap(), &[param]);
        }
        assert!(item.or_else.as_ref().is_none_or(|name| item_types("resource.fetch").contains(name)));
    }
}

#[test]
fn items_that_are_created_fit_the_actions_that_create_them() {
    let plan = action("resource.create");
    let fields = item_fields("resource.create");
    let created: Vec<&KindRow> = kinds().kinds.iter().filter(|kind| kind.create.is_some()).collect();
    let named: BTreeSet<String> = created.iter().map(|kind| kind.name.clone()).collect();
    assert_eq!(named, item_types("resource.create"));
    for kind in created {
        let create = kind.create.as_ref().unwrap();
        assert!(plan.plan.as_ref().unwrap().picks.contains(&create.action), "{}", create.action);
        for (field, param) in &create.fields {
            assert!(fields.iter().any(|known| known.name == *field), "{}: {field}", kind.name);
            assert_takes(&create.action, &[param]);
        }
    }
}

#[test]
fn changes_fit_the_actions_that_make_them() {
    let fields = item_fields("resource.update");
    for kind in kinds().kinds.iter().filter(|kind| !kind.changes.is_empty()) {
        let update = kind.item.as_ref().and_then(|item| item.update.as_ref());
        let update = update.unwrap_or_else(|| panic!("{} has no action that updates it", kind.name));
        for (field, form) in &kind.changes {
            assert!(fields.iter().any(|known| known.name == *field), "{}: {field}", kind.name);
            match form {
                ChangeForm::Is(param) | ChangeForm::OrZero(param) | ChangeForm::OrEmpty(param) => {
                    assert_takes(update, &[param]);
                }
                ChangeForm::State(open, close) => {
                    let event = action(update).param("state_event").unwrap().clone();
                    for value in [open, close] {
                        assert!(
                            event.choices.is_empty() || event.choices.contains(value),
                            "{update}: {value}"
                        );
                    }
                }
                ChangeForm::Fixed(param, is_set) => assert_takes(update, &[param, is_set]),
            }
        }
    }
}

#[test]
fn what_shows_an_object_and_what_names_one_are_of_the_catalog() {
    for shown in &kinds().shown_by {
        assert_eq!(action(&shown.read).risk, Risk::Read);
        for (param, from) in &shown.takes {
            assert_takes(&shown.read, &[param]);
            let same =
                |other: &&Action| other.id == shown.action || other.twin.as_ref() == Some(&shown.action);
            for name in from {
                let taken = actions().iter().filter(same).any(|action| action.param(name).is_some());
                assert!(taken, "neither {} nor a duplicate takes {name}", shown.action);
            }
        }
    }
    for filter in &kinds().names_one {
        let (list, param) = filter.split_once(':').unwrap();
        assert_takes(list, &[param]);
        assert_eq!(action(list).risk, Risk::Read);
    }
}

#[test]
fn words_of_callers_are_folded_and_distinct() {
    for words in
        [&kinds().target_spellings, &kinds().closing_words, &kinds().owner_params, &kinds().page_options]
    {
        let distinct: BTreeSet<&String> = words.iter().collect();
        assert_eq!(distinct.len(), words.len());
    }
    for words in [&kinds().target_spellings, &kinds().closing_words] {
        assert!(words.iter().flat_map(|word| word.chars()).all(|c| c.is_ascii_lowercase()), "{words:?}");
    }
}

#[test]
fn no_list_of_fields_names_one_twice() {
    let noise = [PRESENTATION.noise, PRESENTATION.silent_noise].concat();
    for list in [
        noise.as_slice(),
        PRESENTATION.told_off,
        PRESENTATION.surroundings,
        PRESENTATION.object_names,
        PRESENTATION.identity,
        PRESENTATION.columns,
        PRESENTATION.row_identity,
        PRESENTATION.row_names,
        PRESENTATION.headings,
        PRESENTATION.url_parts,
        PRESENTATION.summary,
    ] {
        let distinct: BTreeSet<&str> = list.iter().copied().collect();
        assert_eq!(distinct.len(), list.len(), "{list:?}");
    }
}
