//! Exact matches: ids, aliases, paths and pages end the search.

use super::{Confidence, find, first, ids};

#[test]
fn an_id_finds_its_action_alone() {
    let found = find("merge_request.approve");
    assert_eq!(ids(&found), ["merge_request.approve"]);
    assert_eq!((found.confidence, found.total), (Confidence::High, 1));
}

#[test]
fn a_rest_path_finds_its_action_however_it_is_written() {
    for path in [
        "GET /projects/:id/issues",
        "GET /api/v4/projects/{id}/issues",
        "/projects/{id}/issues",
        "projects/42/issues",
        "projects/acme%2Fwidget/issues?state=opened",
        "/projects/acme/widget/issues",
        "https://gitlab.example.com/api/v4/projects/42/issues",
    ] {
        assert_eq!(first(path), "issue.list", "{path}");
    }
}

#[test]
fn the_method_chooses_among_the_actions_of_a_path() {
    assert_eq!(first("POST /projects/:id/issues"), "issue.create");
    assert_eq!(ids(&find("POST /projects/:id/issues")).len(), 1);
    assert!(ids(&find("/projects/:id/issues")).contains(&"issue.create"));
}

#[test]
fn a_verb_before_a_noun_or_a_page_is_no_http_method() {
    for noun in ["branch", "release", "tag", "label", "milestone", "issue", "webhook", "runner"] {
        assert_eq!(first(&format!("delete {noun}")), format!("{noun}.delete"));
    }
    assert_eq!(first("get job"), "job.get");
    assert_eq!(first("get hooks"), "webhook.list");
    assert_eq!(first("delete https://gitlab.com/acme/widget/-/issues/4"), "issue.delete");
    assert_eq!(first("get /projects/:id/hooks"), "webhook.list");
}

#[test]
fn a_literal_segment_matches_better_than_a_placeholder() {
    assert_eq!(first("GET /projects/:id/merge_requests/:merge_request_iid"), "merge_request.get");
    assert_eq!(first("POST /projects/1/merge_requests/2/approve"), "merge_request.approve");
}

#[test]
fn a_gitlab_page_finds_the_action_that_reads_it() {
    for (page, id) in [
        ("https://gitlab.com/acme/tools/widget/-/merge_requests/7", "merge_request.get"),
        ("https://gitlab.com/acme/widget/-/merge_requests", "merge_request.list"),
        ("https://gitlab.com/acme/widget/-/issues/12#note_5", "issue.get"),
        ("https://gitlab.com/acme/widget/-/blob/main/src/lib.rs", "repository_file.get"),
        ("https://gitlab.com/acme/widget/-/jobs/99", "job.get"),
        ("https://gitlab.com/groups/acme/-/epics/3", "epic.get"),
        ("https://gitlab.com/acme/widget", "project.get"),
    ] {
        assert_eq!(first(page), id, "{page}");
    }
}

#[test]
fn pages_of_groups_of_the_instance_and_of_oneself_are_read_by_their_own() {
    for (page, id) in [
        ("https://gitlab.com/groups/acme/-/boards", "board.list"),
        ("https://gitlab.com/groups/acme/-/settings/access_tokens", "group_access_token.list"),
        ("https://gitlab.com/acme/widget/-/settings/access_tokens", "project_access_token.list"),
        ("https://gitlab.com/dashboard/todos", "todo.list"),
        ("https://gitlab.example.com/admin/users", "user.list"),
        ("https://gitlab.com/-/user_settings/ssh_keys", "ssh_key.list"),
        ("https://gitlab.com/acme", "group.get"),
        ("https://gitlab.com/acme/widget/issues/7", "issue.get"),
        ("https://gitlab.com/acme/tools/widget/issues/7", "issue.get"),
        ("https://gitlab.com/acme/tools/treehouse", "project.get"),
    ] {
        assert_eq!(first(page), id, "{page}");
    }
}

#[test]
fn a_call_in_a_command_is_its_path() {
    for (command, id) in [
        ("curl -H 'PRIVATE-TOKEN: x' \"https://gitlab.example.com/api/v4/projects/5/issues\"", "issue.list"),
        ("curl --request DELETE https://gitlab.com/api/v4/projects/5/hooks/3", "webhook.delete"),
        ("curl -d title=x https://gitlab.com/api/v4/projects/5/issues", "issue.create"),
        ("what does PUT /api/v4/projects/5/merge_requests/3/merge do", "merge_request.merge"),
    ] {
        assert_eq!(first(command), id, "{command}");
    }
}

#[test]
fn a_graphql_field_finds_its_action() {
    // The action that is the original of the duplicate.
    assert_eq!(first("mutation mergeRequestSetDraft"), "merge_request.update");
    assert_eq!(first("promoteToEpic"), "issue.promote_to_epic");
    for field in ["query { project.mergeRequests }", "project.mergeRequests", "graphql project.mergeRequests"]
    {
        assert_eq!(first(field), "merge_request.list", "{field}");
    }
}

#[test]
fn a_path_that_no_operation_has_is_read_as_words() {
    let found = find("/projects/1/nothing/like/this");
    assert_ne!(found.confidence, Confidence::High);
}

#[test]
fn a_reference_alone_asks_for_the_thing() {
    for (words, id) in [
        ("!5", "merge_request.get"),
        ("group/project!5", "merge_request.get"),
        ("group/project!5 (merged)", "merge_request.get"),
        ("group/project#45 (moved)", "issue.get"),
        ("group/project#7", "issue.get"),
    ] {
        assert_eq!(first(words), id, "{words}");
    }
    assert_eq!(first("merge !5"), "merge_request.merge");
}
