//! Selection of an action's operation by its parameters, and refusals before a request is sent.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, FIND, execute, refused};
use crate::support::scripted_gitlab::Gitlab;

const WIDGET: &str = "acme/widget";

/// The request of a call that is shown and not sent.
fn request(client: &mut Client, action: &str, params: Value) -> Value {
    let reply = client.call(EXECUTE, json!({"action": action, "params": params, "dry_run": true}));
    assert!(!reply.is_error, "{action} {params}: {}", reply.text);
    reply.structured["request"].clone()
}

/// The field of the mutation in a request, and its input.
fn mutation(request: &Value) -> (String, Value) {
    let document = request["body"]["query"].as_str().unwrap_or_else(|| panic!("no document: {request}"));
    let (_, selection) = document.split_once('{').unwrap();
    let (field, _) = selection.split_once('(').unwrap();
    (field.trim().to_owned(), request["body"]["variables"]["input"].clone())
}

/// The message of an error, which says all of these.
fn says(error: &Value, parts: &[&str]) {
    let message = error["message"].as_str().unwrap();
    for part in parts {
        assert!(message.contains(part), "no {part} in: {message}");
    }
}

/// The requests that came, but for those that ask for the token or the version.
fn sent(gitlab: &Gitlab) -> Vec<String> {
    let own = |line: &String| !line.ends_with("/metadata") && !line.ends_with("/personal_access_tokens/self");
    gitlab.seen().into_iter().filter(own).collect()
}

#[test]
fn the_type_of_a_global_id_chooses_the_mutation() {
    let mut client = Gitlab::with_project().client(&[]);
    for (owner, field) in [
        ("Groups", "groupSavedReplyDestroy"),
        ("Projects", "projectSavedReplyDestroy"),
        ("Users", "savedReplyDestroy"),
    ] {
        let gid = format!("gid://gitlab/{owner}::SavedReply/3");
        let shown = request(&mut client, "saved_reply.delete", json!({"id": gid}));
        assert_eq!(mutation(&shown), (field.to_owned(), json!({"id": gid})));
    }
}

#[test]
fn a_number_that_fits_several_mutations_needs_a_scope() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "saved_reply.delete", json!({"id": 3}));
    let error = refused(&reply, "invalid_params");
    says(&error, &["`scope`", "`project`", "`group`", "`current`"]);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
    let shown = request(&mut client, "saved_reply.delete", json!({"id": 3, "scope": "group"}));
    let input = json!({"id": "gid://gitlab/Groups::SavedReply/3"});
    assert_eq!(mutation(&shown), ("groupSavedReplyDestroy".to_owned(), input));
}

#[test]
fn the_holder_that_is_given_chooses_the_mutation() {
    let mut client = Gitlab::with_project().client(&[]);
    let reply = json!({"name": "thanks", "content": "Thank you!"});
    let own = request(&mut client, "saved_reply.create", reply.clone());
    assert_eq!(mutation(&own), ("savedReplyCreate".to_owned(), reply.clone()));
    for (param, field, kind) in
        [("groupId", "groupSavedReplyCreate", "Group"), ("projectId", "projectSavedReplyCreate", "Project")]
    {
        let mut params = reply.clone();
        params[param] = json!(9);
        let shown = request(&mut client, "saved_reply.create", params.clone());
        params[param] = json!(format!("gid://gitlab/{kind}/9"));
        assert_eq!(mutation(&shown), (field.to_owned(), params));
    }
}

#[test]
fn a_list_without_a_place_is_of_the_user_s_own() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/runners", &json!([]));
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "runner.list", json!({}));
    assert!(!reply.is_error, "{}", reply.text);
    let path = sent(&gitlab)[0].split('?').next().unwrap().to_owned();
    assert_eq!((sent(&gitlab).len(), path.as_str()), (1, "GET /api/v4/runners"));
    let all = request(&mut client, "runner.list", json!({"within": "instance"}));
    assert_eq!(all["path"], "/api/v4/runners/all");
}

#[test]
fn a_scope_of_the_catalog_is_understood_next_to_gitlab_s_own() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues", &json!([]));
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "issue.list", json!({"fullPath": WIDGET, "scope": "project"}));
    assert!(!reply.is_error, "{}", reply.text);
    assert!(reply.text.contains("understood `scope` as `within`"), "{}", reply.text);
    // The scope says that it is a project, and is not sent.
    let lines = sent(&gitlab);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("GET /api/v4/projects/acme%2Fwidget/issues"), "{lines:?}");
    assert!(!lines[0].contains("scope="), "{lines:?}");
}

#[test]
fn a_scope_of_gitlab_s_is_sent() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues", &json!([]));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": WIDGET, "within": "project", "scope": "all"});
    let reply = execute(&mut client, "issue.list", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert!(!reply.text.contains("understood `scope`"), "{}", reply.text);
    let lines = sent(&gitlab);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let (path, query) = lines[0].split_once('?').unwrap();
    assert_eq!(path, "GET /api/v4/projects/acme%2Fwidget/issues");
    assert!(query.split('&').any(|pair| pair == "scope=all"), "{query}");
}

#[test]
fn a_parameter_of_another_scope_is_refused_with_its_own() {
    for (params, name, scope, accepted) in [
        (
            json!({"fullPath": "acme", "within": "group", "cursor": "abc"}),
            "cursor",
            "group",
            &["`project`"][..],
        ),
        (json!({"cursor": "abc"}), "cursor", "instance", &["`project`"]),
        (
            json!({"fullPath": WIDGET, "within": "project", "non_archived": true}),
            "non_archived",
            "project",
            &["`group`", "`instance`"],
        ),
    ] {
        let gitlab = Gitlab::with_project();
        gitlab.json("/issues", &json!([]));
        let mut client = gitlab.client(&[]);
        let error = refused(&execute(&mut client, "issue.list", params.clone()), "invalid_params");
        says(&error, &[&format!("`{name}` is not accepted for scope `{scope}`")]);
        says(&error, accepted);
        assert_eq!(sent(&gitlab), Vec::<String>::new(), "{params}");
        // No call without the filter is offered: it would answer another question.
        assert_eq!(error["fix"]["tool"], "gitlab_find_action", "{error}");
    }
}

fn add(access_level: &str) -> Value {
    json!({"fullPath": WIDGET, "scope": "project", "username": "alice", "access_level": access_level})
}

#[test]
fn a_role_is_sent_as_its_number() {
    let mut client = Gitlab::with_project().client(&[]);
    for (role, level) in [
        ("Developer", 30),
        ("developer", 30),
        ("DEVELOPER", 30),
        ("Guest", 10),
        ("Minimal access", 5),
        ("maintainer", 40),
        ("Security Manager", 25),
        ("30", 30),
    ] {
        let shown = request(&mut client, "member.add", add(role));
        assert_eq!(shown["body"]["access_level"], level, "{role}");
    }
}

#[test]
fn a_role_that_does_not_exist_is_refused_with_the_names_of_all() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    let error = refused(&execute(&mut client, "member.add", add("boss")), "invalid_params");
    let roles = [
        "minimal_access",
        "guest",
        "planner",
        "reporter",
        "security_manager",
        "developer",
        "maintainer",
        "owner",
    ];
    says(&error, &["`access_level`", "boss was given"]);
    says(&error, &roles.map(|role| format!("`{role}`")).each_ref().map(String::as_str));
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn a_misspelt_role_is_corrected_by_the_fix() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[]);
    let error = refused(&execute(&mut client, "member.add", add("develper")), "invalid_params");
    assert_eq!(error["fix"]["arguments"]["params"], add("developer"));
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn one_of_several_parameters_is_needed_before_anything_is_sent() {
    for (action, params, names) in [
        (
            "member.add",
            json!({"fullPath": WIDGET, "scope": "project", "access_level": "developer"}),
            &["`user_id`", "`username`"][..],
        ),
        (
            "issue.update",
            json!({"fullPath": WIDGET, "iid": 1}),
            &["`title`", "`description`", "`state_event`", "`labels`", "`assignee_ids`"],
        ),
    ] {
        let gitlab = Gitlab::with_project();
        let mut client = gitlab.client(&[]);
        // A consent does not stand for a parameter.
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        let error = refused(&reply, "invalid_params");
        says(&error, &["one of"]);
        says(&error, names);
        assert_eq!(sent(&gitlab), Vec::<String>::new(), "{action}");
    }
}

const FORMER: &str = "issue.time_stats";
const CURRENT: &str = "issue.get_time_stats";

#[test]
fn a_former_id_runs_the_action_and_names_its_current_id() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/issues/1/time_stats", &json!({"time_estimate": 3600}));
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": WIDGET, "iid": 1});
    let former = execute(&mut client, FORMER, params.clone());
    assert!(!former.is_error, "{}", former.text);
    assert_eq!(former.structured["data"]["time_estimate"], 3600);
    let note = format!("understood `{FORMER}` as the action `{CURRENT}`");
    assert!(former.structured["notes"].to_string().contains(&note), "{}", former.structured);
    assert!(former.text.contains(&note), "{}", former.text);
    let current = execute(&mut client, CURRENT, params);
    assert!(!current.text.contains("understood"), "{}", current.text);
    assert_eq!(sent(&gitlab), ["GET /api/v4/projects/acme%2Fwidget/issues/1/time_stats"; 2]);
}

#[test]
fn a_deny_rule_with_either_id_denies_the_action_by_both() {
    for denied in [FORMER, CURRENT] {
        let gitlab = Gitlab::with_project();
        gitlab.json("/issues/1/time_stats", &json!({"time_estimate": 3600}));
        let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", denied)]);
        for id in [FORMER, CURRENT] {
            let reply = execute(&mut client, id, json!({"fullPath": WIDGET, "iid": 1}));
            let error = refused(&reply, "denied");
            says(&error, &[denied, "GITLAB_DENIED_ACTIONS"]);
        }
        assert_eq!(sent(&gitlab), Vec::<String>::new(), "{denied}");
        let found = client.call(FIND, json!({"query": CURRENT, "limit": 5}));
        let results = found.structured["results"].as_array().unwrap();
        assert!(results.iter().all(|result| result["action"] != CURRENT), "{denied}: {results:?}");
    }
}

/// One rule on what was an action of its own denies all of the action that it became a part of.
#[test]
fn a_deny_rule_with_the_id_of_a_part_denies_the_whole_action() {
    let gitlab = Gitlab::with_project();
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "saved_reply.delete_in_group")]);
    for owner in ["Users", "Projects", "Groups"] {
        let params = json!({"id": format!("gid://gitlab/{owner}::SavedReply/3")});
        let call = json!({"action": "saved_reply.delete", "params": params, "confirm": true});
        refused(&client.call(EXECUTE, call), "denied");
    }
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn find_names_no_alternative_that_is_denied() {
    for (action, key, alternative, phrase) in [
        ("issue.get_by_id", "usually", "issue.get", "usually `issue.get`"),
        ("feature.get_enabled", "replaced_by", "feature.list", "deprecated: use `feature.list`"),
    ] {
        let gitlab = Gitlab::with_project();
        let query = json!({"query": action, "limit": 1});
        let named = gitlab.client(&[]).call(FIND, query.clone());
        let result = &named.structured["results"][0];
        assert_eq!((&result["action"], &result[key]), (&json!(action), &json!(alternative)), "{result}");
        assert!(named.text.contains(phrase), "{}", named.text);

        let denied = gitlab.client(&[("GITLAB_DENIED_ACTIONS", alternative)]).call(FIND, query);
        let result = &denied.structured["results"][0];
        assert_eq!(result["action"], action, "{result}");
        assert!(result.get(key).is_none(), "{result}");
        assert!(!denied.text.contains(phrase), "{}", denied.text);
    }
}
