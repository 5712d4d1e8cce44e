//! Tests of GraphQL responses and their mapping.

use serde_json::json;

use super::*;
use crate::catalog::Catalog;

fn action(id: &str) -> Action {
    Catalog::embedded().unwrap().get(id).unwrap().unwrap()
}

fn answered(id: &str, body: Value) -> (Result<Reply, ToolError>, Vec<String>) {
    let action = action(id);
    let graphql = action.operations[0].graphql.as_ref().unwrap();
    let mut notes = Vec::new();
    let reply = Reply { content: Content::Json(body), ..Reply::default() };
    (unwrap_reply(reply, &action, graphql, &mut notes), notes)
}

fn data(id: &str, body: Value) -> Value {
    match answered(id, body).0.unwrap().content {
        Content::Json(value) => value,
        other => panic!("{other:?}"),
    }
}

fn error(id: &str, body: Value) -> ToolError {
    answered(id, body).0.unwrap_err()
}

#[test]
fn a_list_is_its_rows_and_where_it_goes_on() {
    let body = json!({"data": {"project": {"branchRules": {
        "nodes": [{"name": "main", "labels": {"nodes": [{"title": "a"}]}}],
        "edges": [{"cursor": "c1"}],
        "pageInfo": {"endCursor": "c1", "hasNextPage": true},
    }}}});
    assert_eq!(data("branch_rule.list", body.clone()), json!([{"name": "main", "labels": [{"title": "a"}]}]));
    let page = answered("branch_rule.list", body).0.unwrap().page;
    assert_eq!(page.next_query, Some(vec![("after".to_owned(), "c1".to_owned())]));
    assert_eq!(page.cursors, ["c1"]);
}

#[test]
fn the_last_page_has_no_next() {
    let body = json!({"data": {"project": {"branchRules": {
        "nodes": [], "pageInfo": {"endCursor": "c1", "hasNextPage": false},
    }}}});
    assert_eq!(answered("branch_rule.list", body).0.unwrap().page.next_query, None);
}

#[test]
fn errors_without_data_are_an_error() {
    let error = error("branch_rule.list", json!({"errors": [{"message": "Query has complexity of 300"}]}));
    assert_eq!(error.kind, ErrorKind::GitlabError);
    assert!(error.message.contains("complexity of 300"), "{error}");
}

#[test]
fn errors_beside_data_are_notes() {
    let body = json!({
        "data": {"project": {"branchRules": {"nodes": [{"name": "main"}]}}},
        "errors": [{"message": "a field timed out"}],
    });
    let (reply, notes) = answered("branch_rule.list", body);
    assert!(reply.is_ok());
    assert_eq!(notes, ["GitLab says: \"a field timed out\""]);
}

#[test]
fn a_mutation_that_refused_is_an_error_with_its_reasons() {
    let body = json!({"data": {"workItemCreate": {"errors": ["Title can't be blank"], "workItem": null}}});
    let error = error("work_item.create", body);
    assert_eq!(error.kind, ErrorKind::InvalidParams);
    assert!(error.message.contains("Title can't be blank"), "{error}");
    assert!(error.text().contains("nothing was changed"), "{error}");
}

/// The widgets of a work item are changed one after the other.
#[test]
fn a_mutation_that_refused_with_its_object_may_have_changed_a_part() {
    let body =
        json!({"data": {"workItemUpdate": {"errors": ["Label is unknown"], "workItem": {"title": "New"}}}});
    let error = self::error("work_item.update", body);
    assert!(error.text().contains("some may be changed"), "{}", error.text());
}

#[test]
fn a_mutation_answers_with_what_it_changed() {
    let body = json!({"data": {"workItemCreate": {"errors": [], "workItem": {"iid": "7"}}}});
    assert_eq!(data("work_item.create", body), json!({"iid": "7"}));
    let empty = json!({"data": {"branchRuleDelete": {"errors": [], "branchRule": null}}});
    assert_eq!(answered("branch_rule.delete", empty).0.unwrap().content, Content::Empty);
}

#[test]
fn a_root_that_is_null_is_not_found() {
    let error = error("branch_rule.list", json!({"data": {"project": null}}));
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.message.contains("`project`"), "{error}");
}

#[test]
fn what_may_not_be_seen_is_not_found() {
    let message = "The resource that you are attempting to access does not exist or you don't have permission to perform this action";
    let body = json!({"data": {"branchRuleDelete": null}, "errors": [{"message": message}]});
    assert_eq!(error("branch_rule.delete", body).kind, ErrorKind::NotFound);
}

#[test]
fn a_mutation_that_failed_in_its_execution_may_have_been_made() {
    let message = json!({"message": "Internal server error", "path": ["workItemCreate"]});
    for data in [json!({"workItemCreate": null}), json!(null)] {
        let error = error("work_item.create", json!({"data": data, "errors": [message]}));
        assert_eq!(error.details["applied"], "unknown", "{error}");
        assert!(error.hint.unwrap().contains("may have been made"));
    }
    let validation = json!({"message": "Field is missing", "path": ["mutation", "workItemCreate"]});
    for body in [
        json!({"errors": [validation]}),
        json!({"data": null, "errors": [{"message": "Query has complexity of 300"}]}),
    ] {
        assert!(!error("work_item.create", body).details.contains_key("applied"));
    }
    let read = json!({"data": {"project": null}, "errors": [{"message": "failed", "path": ["project"]}]});
    assert!(!error("branch_rule.list", read).details.contains_key("applied"));
}

#[test]
fn a_cut_message_ends_with_a_whole_word() {
    let token = "glpat-own-token-0123";
    let message = format!("{} {token}", "x ".repeat(146));
    let error = error("branch_rule.list", json!({"errors": [{"message": message}]}));
    assert!(!error.message.contains("glpat"), "{error}");
}

#[test]
fn an_experiment_that_the_instance_lacks_names_its_version() {
    let message = "Field 'workItemCreate' doesn't exist on type 'Mutation'";
    let error = error("work_item.create", json!({"errors": [{"message": message}]}));
    assert_eq!(error.kind, ErrorKind::GitlabError);
    assert!(error.hint.unwrap().contains("introduced in GitLab 15.1"));
}

#[test]
fn an_argument_that_the_instance_does_not_take_is_named() {
    let refused = json!({"message": "Field 'branchRules' doesn't accept argument 'search'"});
    let missing = json!({"message": "Field 'isDefault' doesn't exist on type 'BranchRule'"});
    let error = error("branch_rule.list", json!({"errors": [missing, refused]}));
    assert!(error.hint.unwrap().ends_with("It does not take `search`: leave that out."));
}

#[test]
fn a_variable_of_the_wrong_kind_is_a_parameter_of_the_wrong_kind() {
    let body =
        json!({"errors": [{"message": "Variable $input of type X was provided invalid value for id"}]});
    assert_eq!(error("work_item.create", body).kind, ErrorKind::InvalidParams);
}

#[test]
fn a_mutation_that_is_answered_without_an_object_may_have_been_executed() {
    let action = action("todo.mark_as_done_bulk");
    let graphql = action.operations[0].graphql.as_ref().unwrap();
    let lost = |content: Content| {
        let reply = Reply { content, status: 304, ..Reply::default() };
        unwrap_reply(reply, &action, graphql, &mut Vec::new()).unwrap_err()
    };
    let fault = json!({"errors": [{"message": "Internal server error"}]});
    for content in
        [Content::Empty, Content::Json(Value::Null), Content::Json(json!({})), Content::Json(fault)]
    {
        assert_eq!(lost(content.clone()).details["applied"], "unknown", "{content:?}");
    }
    // A document that is not valid was not executed.
    let refused =
        json!({"errors": [{"message": "Variable $ids is wrong", "locations": [{"line": 1, "column": 2}]}]});
    assert!(!lost(Content::Json(refused)).details.contains_key("applied"));
}
