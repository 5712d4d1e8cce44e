//! Requests with several intents.

use super::{find, ids};

#[test]
fn each_clause_surfaces() {
    let found = find("create a branch, commit a new file and open a merge request");
    let top = &ids(&found)[..5];
    for id in ["branch.create", "merge_request.create"] {
        assert!(top.contains(&id), "{id} is not in {top:?}");
    }
}

#[test]
fn a_verb_alone_takes_the_object_before_it() {
    let found = find("find the failed job of the pipeline and then retry it");
    assert!(ids(&found).iter().take(5).any(|id| *id == "job.retry"), "{:?}", ids(&found));
}

#[test]
fn a_pronoun_takes_the_object_of_an_earlier_clause() {
    for (query, second) in [
        ("list stale branches and delete them", "branch.delete"),
        ("create an issue, assign it to bob and close it", "issue.update"),
        // The reviewer is named last, and nothing merges one.
        ("open a merge request, assign a reviewer and merge it", "merge_request.merge"),
        ("look up the issue about login, add a comment to it and close it", "issue_note.create"),
    ] {
        let steps = find(query).steps;
        assert_eq!(steps.get(1).map(String::as_str), Some(second), "{query}: {steps:?}");
    }
}

#[test]
fn verbs_before_an_object_share_it() {
    let steps = find("create, rotate and revoke access tokens").steps;
    let verbs: Vec<&str> = steps.iter().filter_map(|id| Some(id.split_once("access_token.")?.1)).collect();
    assert_eq!(verbs, ["create", "rotate", "revoke"], "{steps:?}");
}

#[test]
fn one_intent_stays_one() {
    assert_eq!(ids(&find("list issues with their labels in a group"))[0], "issue.list");
}

#[test]
fn requests_with_several_intents_have_ordered_steps() {
    assert_eq!(find("comment and close an issue").steps, ["issue_note.create", "issue.update"]);
    // Alternatives that both commit a file.
    let steps = find("commit a file and open a merge request").steps;
    let [first, second] = steps.as_slice() else { panic!("{steps:?}") };
    assert!(["commit.create", "repository_file.create"].contains(&first.as_str()), "{first}");
    assert_eq!(second, "merge_request.create");
    assert!(find("list issues with their labels in a group").steps.is_empty());
}

#[test]
fn a_composite_action_that_does_the_whole_comes_first() {
    let found = find("why did the pipeline fail");
    assert_eq!((ids(&found)[0], found.steps.len()), ("pipeline.diagnose", 0));
}

#[test]
fn a_list_of_seven_clauses_is_ranked_to_its_end() {
    let steps = find(
        "list issues, create a branch, delete a tag, approve a merge request, retry a job, block a user, fork a project",
    )
    .steps;
    assert_eq!(steps.first().map(String::as_str), Some("issue.list"), "{steps:?}");
    assert_eq!(steps.last().map(String::as_str), Some("project.fork"), "{steps:?}");
}

/// The time of a find is that of encoding its clauses.
#[test]
fn clauses_of_a_long_request_are_ranked_up_to_a_length() {
    let long = "of the project that was moved here from the old server in the spring with all its pictures and notes";
    let find_with =
        |more: &str| find(&format!("list the issues {more}, delete the tag {more} and then create a branch"));
    assert_eq!(find_with(long).steps, ["issue.list", "tag.delete", "branch.create"]);
    let found = find_with(&[long; 3].join(" "));
    assert!(found.steps.is_empty() && !found.hits.is_empty(), "{:?}", found.steps);
}
