//! Verb, object, number and scope of requests.

use super::{find, first, ids};

#[test]
fn the_verb_chooses_among_the_actions_of_a_thing() {
    for (request, id) in [
        ("list issues", "issue.list"),
        ("create an issue", "issue.create"),
        ("delete an issue", "issue.delete"),
        ("update an issue", "issue.update"),
        ("approve a merge request", "merge_request.approve"),
        ("block a user", "user.block"),
    ] {
        assert_eq!(first(request), id, "{request}");
    }
}

#[test]
fn the_object_matters_more_than_words_outside_the_head() {
    assert_eq!(first("create new issue with labels and milestone"), "issue.create");
    assert_eq!(first("labels of a project"), "label.list");
    assert_eq!(first("list merge requests of a group with labels"), "merge_request.list");
}

#[test]
fn a_noun_at_the_start_is_no_verb() {
    assert_eq!(first("forks of a project"), "project.list_forks");
    assert!(first("merge request list").starts_with("merge_request.list"));
}

#[test]
fn several_are_listed_and_one_is_got() {
    assert_eq!(first("show all branches"), "branch.list");
    assert_eq!(first("show a single branch"), "branch.get");
    assert_eq!(first("get a list of branches"), "branch.list");
}

#[test]
fn new_asks_for_one_where_it_stands_first() {
    assert_eq!(first("new label"), "label.create");
    assert_eq!(first("show the new label"), "label.get");
}

#[test]
fn a_state_is_not_a_request() {
    assert_eq!(first("open merge requests of a project"), "merge_request.list");
    assert_eq!(first("open a merge request"), "merge_request.create");
    assert_eq!(first("open issues"), "issue.list");
    let found = find("issues assigned to me");
    assert!(ids(&found)[0].starts_with("issue.list"), "{:?}", ids(&found));
}

#[test]
fn machines_stand_behind_people_unless_named() {
    let found = find("upload a package");
    let machine = found.hits.iter().position(|hit| hit.action.audience == crate::catalog::Audience::Machine);
    assert_ne!(machine, Some(0), "{:?}", ids(&found));
    assert!(first("npm dist tags of a package").starts_with("npm"));
}

#[test]
fn adding_a_label_or_milestone_updates_its_object() {
    for whole in ["issue", "merge_request", "epic"] {
        let noun = whole.replace('_', " ");
        for request in [
            "add label to {}",
            "remove the label urgent from the {}",
            "set {} milestone",
            "put a label on the {}",
        ] {
            let request = request.replace("{}", &noun);
            assert_eq!(first(&request), format!("{whole}.update"), "{request}");
        }
    }
    assert_eq!(first("unlabel a ticket"), "issue.update");
    assert_eq!(first("ticket 7 is done, close it"), "issue.update");
}

#[test]
fn a_label_or_milestone_of_a_project_is_its_own_thing() {
    assert_eq!(first("create a label for issues"), "label.create");
    assert_eq!(first("remove label from project"), "label.delete");
    assert_eq!(first("delete the label"), "label.delete");
}
