//! gitlab_find_action: what it understands, and what an answer holds.

use serde_json::json;

use super::{FIND, Server, page};

#[test]
fn a_request_in_words_leads_to_the_actions_that_serve_it() {
    let mut server = Server::sandbox();
    server
        .find("Summarize the discussion in issue gitlab-org/gitlab#123.")
        .ok()
        .matches("/results/0/action", r"^issue_(note|discussion)\.")
        .contains("/results/*/action", "issue_discussion.list");
}

/// Differs: docs/internals/differences.md#ranking-without-a-language-model
#[test]
fn actions_are_ranked_by_an_index_in_the_program_without_a_call_to_a_language_model() {
    let mut server =
        Server::with(&[("HTTPS_PROXY", "http://127.0.0.1:9"), ("HTTP_PROXY", "http://127.0.0.1:9")], &[]);
    server.find("open merge requests of a project").ok().equals("/results/0/action", "merge_request.list");
}

/// Differs: docs/internals/differences.md#scores-and-confidence
#[test]
fn a_find_has_ranked_canonical_ids_each_with_a_score() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list issues", "detail": "schema"}))
        .ok()
        .equals("/results/0/action", "issue.list")
        .present("/results/*/score")
        .equals("/confidence", "high");
}

#[test]
fn with_detail_schema_every_result_has_its_input_schema() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list the issues of a project", "detail": "schema", "limit": 4}))
        .ok()
        .at_least("/results", 4.0)
        .present("/results/*/input_schema");
}

#[test]
fn each_result_has_its_domain_and_the_address_of_its_schema() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list the issues of a project", "detail": "schema"}))
        .ok()
        .equals("/results/0/domain", "issue")
        .matches("/results/0", r#""schema(_uri)?":"gitlab://tools/issue\.list""#)
        .present("/results/*/domain")
        .matches("/results/*", r#""schema(_uri)?":"gitlab://tools/[a-z0-9_.]+""#);
    server.read("gitlab://tools/issue.list").ok().present("/input_schema");
}

#[test]
fn each_result_says_whether_it_reads_writes_grants_or_destroys() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "delete a branch", "detail": "signature"}))
        .ok()
        .equals("/results/0/action", "branch.delete")
        .equals("/results/0/risk", "destructive")
        .matches("/results/*/risk", "^(read|write|grant|destructive)$");
}

#[test]
fn each_result_has_its_required_parameters() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "show one issue", "detail": "schema"}))
        .ok()
        .equals("/results/0/required", json!(["fullPath", "iid"]))
        .present("/results/*/required");
}

#[test]
fn results_have_an_example_that_runs() {
    let mut server = Server::sandbox();
    let shown = server.tool(FIND, json!({"query": "show one issue", "limit": 1})).ok();
    server.follow(&shown, "/results/0/example").ok().equals("/action", "issue.get");
    server
        .tool(FIND, json!({"query": "list the issues of a project", "detail": "schema", "limit": 4}))
        .ok()
        .present("/results/*/example");
}

#[test]
fn results_name_related_actions_such_as_the_changelog_for_a_comparison() {
    let mut server = Server::sandbox();
    server.find("issue.get").ok().contains("/results/0/related", "issue_note.list");
    server.find("repository.compare").ok().contains("/results/0/related", "changelog.generate");
}

#[test]
fn ids_their_split_words_domains_and_names_of_other_interfaces_are_found() {
    let mut server = Server::sandbox();
    server
        .find("merge_request.list")
        .ok()
        .equals("/results/0/action", "merge_request.list")
        .equals("/confidence", "high");
    server.find("list-issues").ok().equals("/results/0/action", "issue.list");
    server.find("list-merge.requests").ok().equals("/results/0/action", "merge_request.list");
    server
        .tool(FIND, json!({"query": "list", "domain": "milestone"}))
        .ok()
        .equals("/results/0/action", "milestone.list");
}

#[test]
fn names_of_parameters_lead_to_the_actions_that_have_them() {
    let mut server = Server::sandbox();
    server.find("with_merge_status_recheck").ok().contains("/results/*/action", "merge_request.list");
    server.find("squash_commit_message").ok().equals("/results/0/action", "merge_request.merge");
    server.find("environment_scope").ok().contains("/results/*/action", "ci_variable.create");
    server.find("masked_and_hidden").ok().equals("/results/0/action", "ci_variable.create");
}

#[test]
fn values_of_parameters_lead_to_the_actions_that_take_them() {
    let mut server = Server::sandbox();
    server
        .find("created_by_me")
        .ok()
        .contains("/results/*/action", "merge_request.list")
        .contains("/results/*/action", "issue.list");
}

#[test]
fn rest_paths_and_graphql_names_lead_to_their_actions() {
    let mut server = Server::sandbox();
    server.find("GET /projects/:id/issues").ok().equals("/results/0/action", "issue.list");
    server.find("mergeRequestAccept").ok().equals("/results/0/action", "merge_request.merge");
}

#[test]
fn case_dots_underscores_and_hyphens_make_no_difference() {
    let mut server = Server::sandbox();
    server.find("MERGE REQUEST LIST").ok().equals("/results/0/action", "merge_request.list");
    server.find("list_merge-Requests").ok().equals("/results/0/action", "merge_request.list");
}

#[test]
fn stop_words_say_nothing_alone_they_find_no_action() {
    let mut server = Server::sandbox();
    server.find("please list the issues").ok().equals("/results/0/action", "issue.list");
    server.find("please").ok().equals("/confidence", "none").at_least("/suggestions", 1.0);
    server.find("please the to with").ok().equals("/confidence", "none").equals("/results", json!([]));
}

#[test]
fn mr_is_a_merge_request() {
    let mut server = Server::sandbox();
    server.find("mr").ok().matches("/results/*/action", r"^merge_request\.");
    server.find("list mrs").ok().equals("/results/0/action", "merge_request.list");
}

#[test]
fn a_secret_is_a_ci_cd_variable_or_one_of_the_secrets_manager() {
    let mut server = Server::sandbox();
    server
        .find("create secret")
        .ok()
        .contains("/results/*/action", "ci_variable.create")
        .contains("/results/*/action", "secret.create");
    server.find("list secrets").ok().contains("/results/*/action", "ci_variable.list");
}

#[test]
fn show_is_get_and_remove_is_delete() {
    let mut server = Server::sandbox();
    server.find("show pipeline").ok().equals("/results/0/action", "pipeline.get");
    server.find("remove branch").ok().equals("/results/0/action", "branch.delete");
}

#[test]
fn a_pull_request_is_a_merge_request() {
    let mut server = Server::sandbox();
    server.find("pull request list").ok().equals("/results/0/action", "merge_request.list");
    server.find("github pr").ok().contains("/results/*/action", "merge_request.list");
}

#[test]
fn a_jira_ticket_is_an_issue() {
    let mut server = Server::sandbox();
    server.find("create a ticket").ok().equals("/results/0/action", "issue.create");
    server.find("jira ticket").ok().matches("/results/0/action", r"^issue\.");
    server.find("create jira ticket").ok().equals("/results/0/action", "issue.create");
    server.find("list jira tickets").ok().equals("/results/0/action", "issue.list");
}

#[test]
fn every_id_in_an_answer_is_one_that_runs() {
    let mut server = Server::sandbox();
    server
        .find("gitlab pull request reviews")
        .ok()
        .matches("/results/*/action", r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$");
}

#[test]
fn misspelled_words_are_corrected_short_ones_and_several_at_once_too() {
    let mut server = Server::sandbox();
    server.find("list isues").ok().equals("/results/0/action", "issue.list");
    server.find("isues").ok().matches("/results/0/action", r"^issue\.");
    server.find("lst issues").ok().equals("/results/0/action", "issue.list");
    server.find("piplne list").ok().equals("/results/0/action", "pipeline.list");
    server.find("list isses").ok().equals("/results/0/action", "issue.list");
    server.find("creat isue").ok().equals("/results/0/action", "issue.create");
}

#[test]
fn two_misspelled_words_of_three_still_lead_to_the_action() {
    let mut server = Server::sandbox();
    server.find("merje requesy list").ok().equals("/results/0/action", "merge_request.list");
}

/// A destructive action found by misspelled words is labeled, of low confidence, and asks before it runs.
///
/// Differs: docs/internals/differences.md#destructive-actions-keep-their-rank
#[test]
fn a_destructive_action_found_by_misspelled_words_is_labeled_of_low_confidence_and_asks_before() {
    let mut server = Server::sandbox();
    server
        .find("dleete porject")
        .ok()
        .equals("/confidence", "low")
        .equals("/results/0/action", "project.delete")
        .equals("/results/0/risk", "destructive");
    server.execute("project.delete", json!({"fullPath": "acme/site"})).fails("needs_confirmation");
}

#[test]
fn short_terms_are_known_by_synonyms() {
    let mut server = Server::sandbox();
    server.find("list mr").ok().equals("/results/0/action", "merge_request.list");
    server.find("ls issues").ok().equals("/results/0/action", "issue.list");
    server.find("ci status").ok().matches("/results/0/action", r"^pipeline\.");
}

#[test]
fn a_long_request_with_several_parts_finds_an_action_for_each() {
    let mut server = Server::sandbox();
    server
        .find("list the discussions of a merge request, then approve the merge request and merge it")
        .ok()
        .contains("/results/*/action", "merge_request_discussion.list")
        .contains("/results/*/action", "merge_request.approve")
        .contains("/results/*/action", "merge_request.merge");
}

#[test]
fn explain_says_why_and_changes_no_order() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list the issues of a project", "explain": true}))
        .ok()
        .contains("/results/0/explain", "understood: list · issues · project")
        .equals("/results/0/action", "issue.list");
    server
        .tool(FIND, json!({"query": "list the issues of a project", "detail": "signature"}))
        .ok()
        .absent("/results/0/explain")
        .equals("/results/0/action", "issue.list");
}

#[test]
fn a_request_without_a_match_gets_a_few_suggestions_at_most_six() {
    let mut server = Server::sandbox();
    server
        .find("book a flight")
        .ok()
        .equals("/confidence", "none")
        .equals("/results", json!([]))
        .at_least("/suggestions", 1.0)
        .at_most("/suggestions", 6.0);
}

#[test]
fn suggestions_follow_the_policy_and_an_action_that_is_left_out_is_not_said_to_be_missing() {
    let mut server = Server::with(&[("GITLAB_READ_ONLY", "true"), ("GITLAB_TOOLSETS", "issues")], &[]);
    server.find("book a flight").ok().matches("/suggestions", r#"^\["issue[a-z_]*\.(list|get)"#);
    server
        .find("list pipelines")
        .ok()
        .matches("/notes", "Left out: .*pipeline.list.*GITLAB_TOOLSETS")
        .says_not("Nothing in GitLab");
}

/// Differs: docs/internals/differences.md#five-results
#[test]
fn a_find_has_five_results_unless_limit_says_otherwise() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "merge requests", "detail": "signature"}))
        .ok()
        .at_least("/results", 5.0)
        .at_most("/results", 5.0);
    server.tool(FIND, json!({"query": "merge requests", "limit": 20})).ok().at_least("/results", 20.0);
}

/// Differs: docs/internals/differences.md#five-results
#[test]
fn a_limit_over_50_is_refused_with_the_call_that_fits() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list issues", "limit": 51}))
        .fails("invalid_params")
        .equals("/error/fix/arguments/limit", json!(50));
}

/// Differs: docs/internals/differences.md#scores-and-confidence
#[test]
fn confidence_is_calibrated_on_measured_requests() {
    let mut server = Server::sandbox();
    server.find("list issues").ok().equals("/confidence", "high");
    server.find("lst isues").ok().equals("/confidence", "low");
}

#[test]
fn a_find_takes_a_query_and_a_limit_and_answers_merge_request_list_for_open_merge_requests() {
    let mut server = Server::sandbox();
    server
        .tool(FIND, json!({"query": "list my open merge requests", "limit": 5}))
        .ok()
        .equals("/results/0/action", "merge_request.list")
        .equals("/confidence", "high")
        .at_most("/results", 5.0);
}

#[test]
fn merge_requests_are_listed_with_project_id_state_scope_and_per_page() {
    let mut server = Server::sandbox();
    server
        .execute(
            "merge_request.list",
            json!({"project_id": "acme/widget", "state": "opened", "scope": "created_by_me", "per_page": 20}),
        )
        .ok()
        .equals("/action", "merge_request.list")
        .at_most("/data", 20.0);
}

#[test]
fn an_empty_query_is_an_error_with_an_example() {
    let mut server = Server::sandbox();
    let shown = server.tool(FIND, json!({"query": ""})).fails("invalid_params");
    server.follow(&shown, "/error/fix").ok().at_least("/results", 1.0);
}

#[test]
fn a_page_of_the_documentation_lists_what_goes_wrong_in_finds_and_calls_and_what_to_do() {
    page("docs/guides/troubleshooting.md").says("gitlab_find_action");
}

/// Differs: docs/internals/differences.md#edits-of-local-files
#[test]
fn a_local_edit_finds_gitlabs_actions_marked_as_remote() {
    let mut server = Server::sandbox();
    server
        .find("edit utils.py")
        .ok()
        .equals("/results/0/action", "repository_file.update")
        .says("(write, remote)")
        .says("work on GitLab's copy");
}

/// Differs: docs/internals/differences.md#no-graph-database-of-its-own
#[test]
fn a_search_of_a_code_graph_finds_that_of_gitlab() {
    let mut server = Server::sandbox();
    server.find("query orbit's knowledge graph of the code").ok().says("orbit.");
}

/// Differs: docs/internals/differences.md#one-signature-for-everything-that-a-call-takes
#[test]
fn a_result_has_a_signature_an_example_and_related_actions() {
    let mut server = Server::sandbox();
    let found = server.find("list milestones").ok();
    found
        .equals("/results/0/action", "milestone.list")
        .present("/results/0/signature")
        .present("/results/0/example")
        .present("/results/0/related")
        .absent("/results/0/tool");
}

/// Differs: docs/internals/differences.md#one-schema-in-a-find
#[test]
fn a_sure_find_has_its_first_result_whole_and_the_schemas_of_all_on_demand() {
    let mut server = Server::sandbox();
    let sure = server.find("list issues").ok().equals("/confidence", "high");
    sure.present("/results/0/signature").absent("/results/1/signature").says("Others: ");
    let asked = json!({"query": "list issues", "detail": "schema"});
    server.tool(FIND, asked).ok().present("/results/0/input_schema").present("/results/1/input_schema");
}
