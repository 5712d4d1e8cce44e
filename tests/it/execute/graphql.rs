//! Actions of GraphQL's over stdio on the sandbox: by the names that people say, each in one call.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, refused, succeed};

#[test]
fn a_work_item_is_changed_by_its_reference_with_people_and_labels_by_name() {
    let mut client = Client::sandbox();
    let changed = succeed(
        &mut client,
        "work_item.update",
        json!({"id": "acme/widget#3", "title": "Oil the hinges",
               "assigneesWidget": {"assigneeIds": ["alice"]},
               "labelsWidget": {"addLabelIds": ["bug"]},
               "milestoneWidget": {"milestoneId": "v1.1"}}),
    );
    assert_eq!(changed["lookups"], 1, "four names, one query: {changed}");
    assert_eq!(changed["resolved"]["id"], "acme/widget#3 -> 3");
    assert_eq!(changed["resolved"]["assigneesWidget.assigneeIds"], "alice -> 3");
    let issue = succeed(&mut client, "issue.get", json!({"target": "acme/widget#3"}));
    assert_eq!(issue["data"]["title"], "Oil the hinges");
    assert_eq!(issue["data"]["assignees"], json!(["alice"]));
    assert_eq!(issue["data"]["milestone"], "v1.1");
    assert!(issue["data"]["labels"].as_array().unwrap().contains(&json!("bug")), "{issue}");
}

#[test]
fn what_has_an_id_alone_is_said_as_anything_else() {
    let mut client = Client::sandbox();
    let page =
        succeed(&mut client, "issue.get", json!({"target": "acme/widget#3"}))["data"]["web_url"].clone();
    for said in [
        json!({"target": page}),
        json!({"id": page}),
        json!({"target": "acme/widget#3"}),
        json!({"fullPath": "acme/widget", "iid": 3}),
        json!({"id": "#3", "fullPath": "acme/widget"}),
        json!({"id": 3}),
        json!({"id": "gid://gitlab/WorkItem/3"}),
    ] {
        let mut params = said.clone();
        params["title"] = json!("Squeaks");
        let shown =
            client.call(EXECUTE, json!({"action": "work_item.update", "params": params, "dry_run": true}));
        assert!(!shown.is_error, "{said}: {}", shown.text);
        let input = &shown.structured["request"]["body"]["variables"]["input"];
        assert_eq!(*input, json!({"id": "gid://gitlab/WorkItem/3", "title": "Squeaks"}), "{said}");
    }
    let missing = execute(&mut client, "work_item.update", json!({"title": "Squeaks"}));
    assert!(missing.text.contains("`id` is missing"), "{}", missing.text);
}

#[test]
fn a_comment_goes_to_whatever_the_reference_names() {
    let mut client = Client::sandbox();
    for (said, kind) in [("acme&1", "Epic"), ("acme/widget#3", "Issue"), ("acme/widget!5", "MergeRequest")] {
        let params = json!({"noteableId": said, "body": "More oil."});
        let shown = client.call(EXECUTE, json!({"action": "note.create", "params": params, "dry_run": true}));
        let input = &shown.structured["request"]["body"]["variables"]["input"];
        let gid = input["noteableId"].as_str().unwrap_or_default();
        assert!(gid.starts_with(&format!("gid://gitlab/{kind}/")), "{said}: {}", shown.text);
    }
    let bare = execute(&mut client, "note.create", json!({"noteableId": 3, "body": "More oil."}));
    assert!(bare.text.contains("`group&7`"), "{}", bare.text);
    let noted = succeed(&mut client, "epic_note.create", json!({"target": "acme&1", "body": "More oil."}));
    assert_eq!(noted["data"]["body"], "More oil.");
}

#[test]
fn a_work_item_is_read_by_a_target_in_a_project_and_in_a_group() {
    let mut client = Client::sandbox();
    for (target, iid) in [("acme/widget#3", "3"), ("acme&1", "1")] {
        let read = client.call(
            EXECUTE,
            json!({"action": "work_item.get", "params": {"target": target}, "fields": ["iid", "title"]}),
        );
        assert!(!read.is_error, "{target}: {}", read.text);
        assert_eq!(read.structured["data"]["iid"], iid, "{target}: {}", read.structured);
    }
}

#[test]
fn an_issue_and_a_merge_request_take_people_by_name() {
    let mut client = Client::sandbox();
    let created = succeed(
        &mut client,
        "issue.create",
        json!({"fullPath": "acme/widget", "title": "Squeaks", "assignees": ["alice"], "milestone": "v1.1",
               "labels": ["bug"]}),
    );
    assert_eq!(created["data"]["assignees"], json!(["alice"]));
    assert_eq!(created["data"]["milestone"], "v1.1");
    assert_eq!(created["data"]["labels"], json!(["bug"]));
    let url = succeed(&mut client, "merge_request.get", json!({"target": "acme/widget!5"}));
    let url = url["data"]["web_url"].as_str().unwrap().to_owned();
    let asked = succeed(&mut client, "merge_request.update", json!({"target": url, "reviewer_ids": ["bob"]}));
    assert_eq!(asked["data"]["reviewers"], json!(["bob"]));
}

/// Every row, by executing each reply's own next call.
fn all_pages(client: &mut Client, mut arguments: Value) -> (Vec<Value>, usize) {
    let mut rows = Vec::new();
    for page in 1..50 {
        let reply = client.call(EXECUTE, arguments);
        assert!(!reply.is_error, "{}", reply.text);
        rows.extend(reply.structured["data"].as_array().unwrap().iter().cloned());
        match &reply.structured["page"]["next"] {
            Value::Null => return (rows, page),
            next => arguments = next["arguments"].clone(),
        }
    }
    panic!("it never ends");
}

#[test]
fn a_list_is_read_to_its_end_by_its_own_next_calls() {
    let mut client = Client::sandbox();
    for name in ["release/*", "stable"] {
        let params = json!({"fullPath": "acme/widget", "name": name});
        let call = json!({"action": "protected_branch.create", "params": params, "confirm": true});
        assert!(!client.call(EXECUTE, call).is_error);
    }
    for (action, key) in [("work_item.list", "iid"), ("branch_rule.list", "name")] {
        let all = json!({"action": action, "params": {"target": "acme/widget", "first": 100}});
        let (whole, _) = all_pages(&mut client, all);
        let by_two = json!({"action": action, "params": {"target": "acme/widget", "first": 2}});
        let (rows, pages) = all_pages(&mut client, by_two);
        assert!(pages >= whole.len().div_ceil(2) && whole.len() > 2, "{action}");
        let names = |rows: &[Value]| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
        assert_eq!(names(&rows), names(&whole), "{action}");
    }
}

#[test]
fn fields_are_asked_of_gitlab_in_place_of_what_would_be() {
    let mut client = Client::sandbox();
    let one = json!({"target": "acme/widget", "iids": ["1"]});
    let fields = json!(["title", "author.username", "labels.nodes.title", "milestone"]);
    let listed =
        client.call(EXECUTE, json!({"action": "graphql.project_issues", "params": one, "fields": fields}));
    assert!(!listed.is_error, "{}", listed.text);
    let row = &listed.structured["data"][0];
    assert!(row["author"]["username"].is_string() && row["title"].is_string(), "{row}");
    assert!(row["labels"].as_array().unwrap().iter().all(|label| label["title"].is_string()), "{row}");
    assert_eq!(row.as_object().unwrap().len(), 4, "{row}");
    // In the other spelling of a list, and of what only some objects of an interface have.
    let fields = json!(["iid", "widgets.labels.title", "workItemType"]);
    let params = json!({"target": "acme/widget#1"});
    let read = client.call(EXECUTE, json!({"action": "work_item.get", "params": params, "fields": fields}));
    assert!(!read.is_error, "{}", read.text);
    assert_eq!(read.structured["data"]["workItemType"]["name"], "Issue", "{}", read.structured);
    assert!(read.structured["data"]["widgets"].to_string().contains("bug"), "{}", read.structured);
    // The changed object alone is in the answer.
    let params = json!({"target": "acme/widget#3", "title": "Oil"});
    let fields = json!(["title", "workItem.iid"]);
    let changed =
        client.call(EXECUTE, json!({"action": "work_item.update", "params": params, "fields": fields}));
    assert_eq!(changed.structured["data"], json!({"title": "Oil", "iid": "3"}), "{}", changed.text);
}

#[test]
fn a_field_that_there_is_not_names_the_nearest() {
    let mut client = Client::sandbox();
    let wrong = client.call(
        EXECUTE,
        json!({"action": "work_item.list", "params": {"target": "acme/widget", "first": 1},
               "fields": ["title", "autor.username"]}),
    );
    assert!(wrong.is_error, "{}", wrong.text);
    let error = &wrong.structured["error"];
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("`autor` of `autor.username` is no field of WorkItem"), "{message}");
    assert_eq!(error["fix"]["arguments"]["fields"], json!(["title", "author.username"]));
    let fixed = client.call(EXECUTE, error["fix"]["arguments"].clone());
    assert!(fixed.structured["data"][0]["author"]["username"].is_string(), "{}", fixed.text);
    let leaf = client.call(
        EXECUTE,
        json!({"action": "work_item.get", "params": {"target": "acme/widget#1"}, "fields": ["title.text"]}),
    );
    assert_eq!(leaf.structured["error"]["fix"]["arguments"]["fields"], json!(["title"]), "{}", leaf.text);
}

#[test]
fn several_names_are_looked_up_in_one_request_and_a_single_one_in_one() {
    let mut client = Client::sandbox();
    let create = |assignees: Value, milestone: &str| json!({"fullPath": "acme/widget", "title": "Squeaks", "assignee_ids": assignees, "milestone_id": milestone});
    let created = succeed(&mut client, "issue.create", create(json!(["alice", "@Bob"]), "Spring fair"));
    assert_eq!(created["lookups"], 1, "{created}");
    assert_eq!(created["data"]["assignees"], json!(["alice", "bob"]));
    assert_eq!(created["data"]["milestone"], "Spring fair", "of the group above");
    let again = succeed(&mut client, "issue.create", create(json!(["alice"]), "Spring fair"));
    assert_eq!(again["lookups"], 0, "remembered: {again}");
    let single = succeed(&mut client, "issue.create", create(json!(["carol"]), "Spring fair"));
    assert_eq!(single["lookups"], 1, "{single}");
    // A name that the GraphQL answer lacks is looked up by itself, with the usual error.
    let missed = execute(&mut client, "issue.create", create(json!(["alice", "nobody-here"]), "v2.0"));
    assert!(missed.text.contains("`assignee_ids`: no user `nobody-here`"), "{}", missed.text);
    let mixed = succeed(&mut client, "issue.create", create(json!(["sandbox"]), "%1"));
    assert_eq!(mixed["resolved"]["milestone_id"], "%1 -> 1", "a number is an iid: {mixed}");
}

/// Replies of users, projects and groups have ids of their own types, which say the scope.
#[test]
fn a_global_id_chooses_the_operation_of_its_type() {
    let mut client = Client::sandbox();
    let mut asked = |action: &str, params: Value| {
        let call = json!({"action": action, "params": params, "dry_run": true});
        client.call(EXECUTE, call)
    };
    let group = json!({"id": "gid://gitlab/Groups::SavedReply/1"});
    let deleted = asked("saved_reply.delete", group.clone());
    assert!(deleted.text.contains("groupSavedReplyDestroy"), "{}", deleted.text);
    let own = asked("saved_reply.get", json!({"id": "gid://gitlab/Users::SavedReply/1"}));
    assert!(own.text.contains("currentUser{savedReply"), "{}", own.text);
    // Without the group there is no path to it, and the user's own reply of that number is another one.
    let error = refused(&asked("saved_reply.get", group), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`fullPath` is missing"), "{error}");
    let error = refused(&asked("saved_reply.delete", json!({"id": 1})), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`scope` is needed"), "{error}");
}
