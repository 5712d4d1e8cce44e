use super::*;

fn strings(values: &[&str]) -> Vec<String> {
    values.iter().map(|value| (*value).to_owned()).collect()
}

#[test]
fn what_begins_so_comes_before_what_holds_it() {
    let found = all(strings(&["old-main", "docs", "Main", "main-2"]), "main");
    assert_eq!(found.values, ["Main", "main-2", "old-main"]);
    assert_eq!((found.total, found.has_more), (Some(3), false));
}

#[test]
fn no_more_than_a_hundred_are_told() {
    let found = all((0..250).map(|number| number.to_string()).collect(), "");
    assert_eq!((found.values.len(), found.total, found.has_more), (100, Some(250), true));
}

#[test]
fn what_could_not_be_typed_completes_nothing() {
    assert_eq!(text(&json!("bug")), Some("bug".to_owned()));
    assert_eq!(text(&json!(12)), Some("12".to_owned()));
    for hidden in [json!("bug\u{200b}"), json!("bug\nmore"), json!("x".repeat(300)), json!(null), json!({})] {
        assert_eq!(text(&hidden), None, "{hidden}");
    }
}

/// Every source is asked by a read that takes what it is given.
#[test]
fn every_source_is_asked_by_a_read() {
    let catalog = crate::catalog::Catalog::embedded().unwrap();
    for asked in ASKED {
        let action = catalog.get(asked.action).unwrap().unwrap();
        assert_eq!(action.risk, crate::catalog::Risk::Read, "{}", asked.action);
        let names = asked.params.iter().map(|(name, _)| *name).chain(asked.search);
        for name in names.filter(|name| action.choices().count() > 1 || *name != "scope") {
            assert!(action.param(name).is_some(), "{}: {name}", asked.action);
        }
    }
}

#[test]
fn an_argument_that_is_not_there_is_named() {
    let message = |completed, argument| source(completed, argument).unwrap_err().message;
    assert_eq!(message(CompletionTarget::Prompt("nothing"), "x"), "there is no prompt `nothing`");
    assert_eq!(
        message(CompletionTarget::Prompt("onboarding"), "iid"),
        "the prompt onboarding has no argument `iid`"
    );
    assert_eq!(message(CompletionTarget::Template("gitlab://x"), "y"), "there is no template gitlab://x");
    let issue = "gitlab://project/{fullPath}/issue/{iid}";
    assert_eq!(source(CompletionTarget::Template(issue), "iid").unwrap(), CompletionSource::Issue);
    assert_eq!(source(CompletionTarget::Template(issue), "fullPath").unwrap(), CompletionSource::Project);
    assert_eq!(source(CompletionTarget::Template(ACTION), "id").unwrap(), CompletionSource::Action);
    assert_eq!(source(CompletionTarget::Prompt("onboarding"), "role").unwrap(), CompletionSource::None);
}
