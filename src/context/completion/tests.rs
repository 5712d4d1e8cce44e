use std::collections::BTreeSet;

use super::*;
use crate::guides::PROMPTS;

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn prefix_matches_precede_substring_matches() {
    let found = all(strings(&["old-main", "docs", "Main", "main-2"]), "main");
    assert_eq!(found.values, ["Main", "main-2", "old-main"]);
    assert_eq!((found.total, found.has_more), (Some(3), false));
}

#[test]
fn at_most_a_hundred_values_are_returned() {
    let found = all((0..250).map(|number| number.to_string()).collect(), "");
    assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(250), true));
}

#[test]
fn invisible_characters_have_no_completions() {
    assert_eq!(text(&json!("bug")), Some("bug".to_owned()));
    assert_eq!(text(&json!(12)), Some("12".to_owned()));
    for hidden in [json!("bug\u{200b}"), json!("bug\nmore"), json!("x".repeat(300)), json!(null), json!({})] {
        assert_eq!(text(&hidden), None, "{hidden}");
    }
}

/// Every completion source is read by a read action that accepts its parameters.
#[test]
fn every_source_uses_a_read_action() {
    let catalog = crate::catalog::Catalog::embedded().unwrap();
    for asked in &catalog::kinds().completions {
        let action = catalog.get(&asked.action).unwrap().unwrap();
        assert_eq!(action.risk, crate::catalog::Risk::Read, "{}", asked.action);
        let names = asked.params.iter().chain(&asked.untyped).map(|(name, _)| name).chain(&asked.search);
        for name in names.filter(|name| action.choices().count() > 1 || *name != "scope") {
            assert!(action.param(name).is_some(), "{}: {name}", asked.action);
        }
    }
}

#[test]
fn an_unknown_argument_is_named() {
    let message = |completed, argument| source(completed, argument).unwrap_err().message;
    assert_eq!(message(CompletionTarget::Prompt("nothing"), "x"), "there is no prompt `nothing`");
    assert_eq!(
        message(CompletionTarget::Prompt("onboarding"), "iid"),
        "the prompt onboarding has no argument `iid`"
    );
    assert_eq!(message(CompletionTarget::Template("gitlab://x"), "y"), "there is no template gitlab://x");
    let issue = "gitlab://project/{fullPath}/issue/{iid}";
    let found = |completed, argument| match source(completed, argument).unwrap() {
        CompletionSource::Listed(None) => "",
        CompletionSource::Action => "an action",
        CompletionSource::Domain => "a domain",
        CompletionSource::Listed(Some(row)) => row.name.as_str(),
    };
    assert_eq!(found(CompletionTarget::Template(issue), "iid"), "issue");
    assert_eq!(found(CompletionTarget::Template(issue), "fullPath"), "project");
    assert_eq!(found(CompletionTarget::Template(ACTION), "id"), "an action");
    assert_eq!(found(CompletionTarget::Prompt("onboarding"), "role"), "");
}

/// Every completion is that of a variable or of an argument of a prompt, and every one that they name is there.
#[test]
fn every_completion_is_of_a_variable_or_an_argument() {
    let kinds = catalog::kinds();
    let variables = kinds.resources.iter().flat_map(|row| row.variables.values());
    let mut used: BTreeSet<&str> = variables.filter_map(|variable| variable.complete.as_deref()).collect();
    used.extend(["project", "group"]);
    let arguments = PROMPTS.iter().flat_map(|prompt| prompt.arguments);
    used.extend(arguments.filter_map(|argument| Some(argument_source(argument.takes)?.name.as_str())));
    let known: BTreeSet<&str> = kinds.completions.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(used, known);
    assert_eq!(known.len(), kinds.completions.len());
}
