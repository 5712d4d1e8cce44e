//! Calls to an instance whose GitLab is older or newer than the catalog.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, follow, refused};
use crate::support::scripted_gitlab::{Gitlab, answer};

const NO_PARAMETER: &str = concat!("`zodiac` is not a parameter in GitLab ", env!("CATALOG_GITLAB_VERSION"));

/// A GitLab of that version, and the program in front of it.
fn instance(version: &str, variables: &[(&str, &str)]) -> (Gitlab, Client) {
    let gitlab = Gitlab::with_project();
    gitlab.json("/metadata", &json!({"version": version}));
    let client = gitlab.client(variables);
    (gitlab, client)
}

/// The requests that came, but for those that ask for the token or the version.
fn sent(gitlab: &Gitlab) -> Vec<String> {
    let own = |line: &String| !line.ends_with("/metadata") && !line.ends_with("/personal_access_tokens/self");
    gitlab.seen().into_iter().filter(own).collect()
}

fn asked_for_version(gitlab: &Gitlab) -> usize {
    gitlab.seen().iter().filter(|line| line.ends_with("/metadata")).count()
}

#[test]
fn an_action_that_an_older_instance_lacks_is_not_sent() {
    let (gitlab, mut client) = instance("17.3.0-ee", &[]);
    // GitLab has it since 17.9.
    for _ in 0..2 {
        let reply = execute(&mut client, "credentials_inventory.list_ssh_keys", json!({"fullPath": "acme"}));
        assert!(reply.is_error, "{}", reply.text);
        assert_eq!(reply.structured["error"]["kind"], "not_found");
        let text = "credentials_inventory.list_ssh_keys needs GitLab 17.9; this instance has 17.3";
        assert!(reply.text.contains(text), "{}", reply.text);
    }
    assert_eq!(sent(&gitlab), Vec::<String>::new());
    assert_eq!(asked_for_version(&gitlab), 1, "the version is asked for once");
}

#[test]
fn find_says_what_an_older_instance_lacks() {
    let (gitlab, mut client) = instance("17.3.0-ee", &[]);
    let old = client.call("gitlab_find_action", json!({"query": "issue.list", "limit": 1}));
    assert!(!old.text.contains("needs GitLab"), "{}", old.text);
    assert_eq!(asked_for_version(&gitlab), 0, "nothing depends on the version yet");
    for _ in 0..2 {
        let find = json!({"query": "credentials_inventory.list_ssh_keys", "limit": 1});
        let new = client.call("gitlab_find_action", find);
        assert_eq!(new.structured["results"][0]["since"], "17.9");
        assert!(new.text.contains("(needs GitLab 17.9; this instance has 17.3)"), "{}", new.text);
    }
    assert_eq!(asked_for_version(&gitlab), 1);
}

#[test]
fn find_does_without_the_version_of_an_instance_that_does_not_answer() {
    let gitlab = Gitlab::with_project();
    let late = answer(200, json!({"version": "17.3.0"})).after(Duration::from_secs(60));
    gitlab.says("GET /api/v4/metadata", [late]);
    let mut client = gitlab.client(&[]);
    let find = json!({"query": "credentials_inventory.list_ssh_keys", "limit": 1});
    let answer = client.call("gitlab_find_action", find);
    assert_eq!(answer.structured["results"][0]["action"], "credentials_inventory.list_ssh_keys");
    assert!(!answer.text.contains("needs GitLab"), "{}", answer.text);
}

/// Without a filter, a list has rows that were not asked for; without `reviewer_state`, a review is published unapproved.
#[test]
fn a_call_with_a_parameter_that_the_instance_lacks_is_not_offered_without_it() {
    let (gitlab, mut client) = instance("18.1.0", &[]);
    gitlab.json("/search", &json!([]));
    // GitLab has `include_archived` since 18.9 and would ignore it.
    let params = json!({"search": "oil", "scope": "projects", "include_archived": true});
    let refused = execute(&mut client, "search.run", params);
    assert_eq!(refused.structured["error"]["kind"], "invalid_params");
    assert!(refused.text.contains("`include_archived` needs GitLab 18.9"), "{}", refused.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
    let fix = refused.structured["error"]["fix"].clone();
    assert_eq!(fix["tool"], "gitlab_find_action", "{fix}");
    let reply = client.call(fix["tool"].as_str().unwrap(), fix["arguments"].clone());
    assert!(!reply.is_error && reply.text.contains("search.run"), "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

/// GitLab answers these with another list, or with none.
#[test]
fn a_value_that_an_older_instance_lacks_is_not_sent() {
    let (gitlab, mut client) = instance("18.9.2-ee", &[]);
    gitlab.json("/todos", &json!([]));
    for (action, params, given) in [
        ("todo.list", json!({"action": "transfer_failed"}), "action: transfer_failed"),
        ("search.run", json!({"search": "oil", "scope": "work_items"}), "scope: work_items"),
        ("project.list", json!({"min_access_level": 25}), "min_access_level: security_manager"),
        (
            "project.list",
            json!({"min_access_level": "security_manager"}),
            "min_access_level: security_manager",
        ),
    ] {
        let reply = execute(&mut client, action, params);
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
        let text = format!("{action}: `{given}` needs GitLab 18.10; this instance has 18.9");
        assert!(reply.text.contains(&text), "{text}: {}", reply.text);
    }
    assert_eq!(sent(&gitlab), Vec::<String>::new());
    let known = execute(&mut client, "todo.list", json!({"action": "marked"}));
    assert!(!known.is_error, "{}", known.text);
    let (gitlab, mut client) = instance("18.10.0-ee", &[]);
    gitlab.json("/todos", &json!([]));
    let newer = execute(&mut client, "todo.list", json!({"action": "transfer_failed"}));
    assert!(!newer.is_error, "{}", newer.text);
    assert!(sent(&gitlab)[0].contains("action=transfer_failed"), "{:?}", sent(&gitlab));
}

#[test]
fn a_field_of_an_object_that_an_older_instance_lacks_is_not_sent() {
    let (gitlab, mut client) = instance("18.9.0", &[]);
    let params = json!({"fullPath": "acme", "ai_settings_attributes": {"web_search_enabled": true}});
    let reply = execute(&mut client, "group.update", params);
    assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
    let text = "`ai_settings_attributes.web_search_enabled` needs GitLab 18.10; this instance has 18.9";
    assert!(reply.text.contains(text), "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn graphql_inputs_that_an_older_instance_lacks_are_not_sent() {
    let (gitlab, mut client) = instance("18.9.0", &[]);
    let check =
        json!({"name": "x", "branchRuleId": 5, "externalUrl": "https://ci.example", "sharedSecret": "s"});
    let branch = json!({"fullPath": "acme/widget", "title": "x", "workItemTypeId": 5, "developmentWidget": {"mergeRequestIds": [5]}});
    for (action, params, given) in [
        ("branch_rule_external_status_check.create", check, "sharedSecret"),
        ("achievement.award", json!({"achievementId": 5, "userId": 6, "awardMessage": "x"}), "awardMessage"),
        ("organization.update", json!({"id": 5, "visibility": "private"}), "visibility"),
        (
            "ci_cd_settings.update",
            json!({"fullPath": "acme/widget", "scope": "project", "maxPipelinesPerMergeTrain": 5}),
            "maxPipelinesPerMergeTrain",
        ),
        ("work_item.create", branch, "developmentWidget"),
        // One of the values of a list.
        (
            "member_role.update",
            json!({"id": 5, "permissions": ["READ_CODE", "DESTROY_PACKAGE"]}),
            "permissions: DESTROY_PACKAGE",
        ),
    ] {
        let reply = client.call(EXECUTE, json!({"action": action, "params": params, "confirm": true}));
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
        let text = format!("{action}: `{given}` needs GitLab 18.10; this instance has 18.9");
        assert!(reply.text.contains(&text), "{text}: {}", reply.text);
        assert!(!reply.text.contains("experiment"), "{}", reply.text);
    }
    for action in ["work_item.list_available_quick_actions", "work_item.list_duo_workflow_links"] {
        let reply = execute(&mut client, action, json!({"fullPath": "acme/widget", "iid": 5}));
        assert!(reply.text.contains(&format!("{action} needs GitLab 18.10")), "{}", reply.text);
    }
    // Before, GitLab made the token and kept its secret.
    let token = json!({"name": "x", "granularScopes": [{"access": "USER", "permissions": ["read_user"]}]});
    let reply = client.call(
        EXECUTE,
        json!({"action": "personal_access_token.create_granular", "params": token, "confirm": true}),
    );
    assert!(reply.text.contains("create_granular needs GitLab 18.10"), "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn a_parameter_is_required_where_the_instance_has_it() {
    let model = json!({"name": "x", "model": "LLAMA3", "endpoint": "https://llm.example"});
    let call =
        |model: &Value| json!({"action": "ai_self_hosted_model.create", "params": model, "confirm": true});
    let created = json!({"data": {"aiSelfHostedModelCreate": {"errors": [], "selfHostedModel": null}}});
    let (gitlab, mut client) = instance("18.9.0", &[]);
    gitlab.says("POST /api/graphql", [answer(200, created.clone())]);
    let reply = client.call(EXECUTE, call(&model));
    assert!(!reply.is_error, "{}", reply.text);
    let with_provider =
        json!({"name": "x", "model": "LLAMA3", "provider": "API", "endpoint": "https://llm.example"});
    let reply = client.call(EXECUTE, call(&with_provider));
    assert!(reply.text.contains("`provider` needs GitLab 18.10"), "{}", reply.text);
    assert_eq!(sent(&gitlab).len(), 1, "{:?}", sent(&gitlab));
    let (gitlab, mut client) = instance("18.10.0", &[]);
    gitlab.says("POST /api/graphql", [answer(200, created.clone())]);
    let reply = client.call(EXECUTE, call(&model));
    assert!(reply.text.contains("`provider`"), "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
    assert!(!client.call(EXECUTE, call(&with_provider)).is_error);
}

#[test]
fn an_instance_that_does_not_say_its_version_gets_every_call() {
    let gitlab = Gitlab::with_project();
    gitlab.json("/manage/ssh_keys", &json!([]));
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "credentials_inventory.list_ssh_keys", json!({"fullPath": "acme"}));
    assert!(!reply.is_error, "{}", reply.text);
}

/// The answer to a path that GitLab does not have, and the one to a project that it does not show.
#[test]
fn a_missing_route_is_explained_by_another_version() {
    let explained = |version: &str, body: Value| {
        let (gitlab, mut client) = instance(version, &[]);
        gitlab.answer("GET", "/languages", answer(404, body));
        let params = json!({"fullPath": "acme/widget"});
        let failed = execute(&mut client, "project.list_languages", params);
        assert_eq!(failed.structured["error"]["kind"], "not_found", "{}", failed.text);
        failed.text.contains(&format!("GitLab {version} of this instance may not have this operation"))
    };
    let no_route = json!({"error": "404 Not Found"});
    assert!(explained("17.3", no_route.clone()));
    assert!(explained("99.0", no_route.clone()));
    assert!(!explained(env!("CATALOG_GITLAB_VERSION"), no_route));
    assert!(!explained("17.3", json!({"message": "404 Project Not Found"})));
}

/// A find waits a second for the version once, not every time.
#[test]
fn an_instance_that_does_not_answer_is_not_asked_for_its_version_again_at_once() {
    let gitlab = Gitlab::with_project();
    let late = || answer(200, json!({"version": "17.3.0"})).after(Duration::from_secs(60));
    gitlab.says("GET /api/v4/metadata", [late(), late(), late()]);
    let mut client = gitlab.client(&[]);
    for _ in 0..3 {
        let find = json!({"query": "credentials_inventory.list_ssh_keys", "limit": 1});
        let found = client.call("gitlab_find_action", find);
        assert_eq!(found.structured["results"][0]["action"], "credentials_inventory.list_ssh_keys");
    }
    assert_eq!(asked_for_version(&gitlab), 1);
}

#[test]
fn a_newer_instance_gets_what_the_catalog_does_not_know() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[]);
    gitlab.json("/issues", &json!([]));
    let params =
        json!({"fullPath": "acme/widget", "within": "project", "zodiac": "pisces", "order_by": "mood"});
    let reply = execute(&mut client, "issue.list", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert!(sent(&gitlab)[0].contains("zodiac=pisces"), "{:?}", sent(&gitlab));
    assert!(sent(&gitlab)[0].contains("order_by=mood"), "{:?}", sent(&gitlab));
    for said in [NO_PARAMETER, "`order_by: mood` is not a value", "has 99.5"] {
        assert!(reply.text.contains(said), "{said}: {}", reply.text);
    }
}

#[test]
fn a_batch_sends_a_newer_instance_what_the_catalog_does_not_know() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[]);
    gitlab.json("/issues", &json!([]));
    let params = json!({"fullPath": "acme/widget", "within": "project", "zodiac": "pisces"});
    let calls = json!([{"action": "issue.list", "params": params}]);
    let reply = execute(&mut client, "api.batch", json!({"calls": calls}));
    assert!(!reply.is_error, "{}", reply.text);
    assert!(sent(&gitlab).iter().any(|line| line.contains("zodiac=pisces")), "{:?}", sent(&gitlab));
}

#[test]
fn a_newer_instance_gets_no_other_token_user_or_method() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[]);
    for name in ["private_token", "access_token", "bearer_token", "job_token", "sudo", "_method"] {
        let params = json!({"fullPath": "acme/widget", "within": "project", name: "x"});
        let reply = execute(&mut client, "issue.list", params);
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{name}: {}", reply.text);
    }
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn a_slip_is_refused_by_a_newer_instance_too() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[]);
    for params in [
        json!({"fullPath": "acme/widget", "lables": "bug"}),
        json!({"fullPath": "acme/widget", "state": "openned"}),
    ] {
        let reply = execute(&mut client, "issue.list", params);
        assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
    }
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn an_instance_of_the_catalog_s_version_refuses_what_the_catalog_does_not_know() {
    let (gitlab, mut client) = instance(concat!(env!("CATALOG_GITLAB_VERSION"), ".2"), &[]);
    let reply = execute(&mut client, "issue.list", json!({"fullPath": "acme/widget", "zodiac": "pisces"}));
    assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

#[test]
fn where_paths_are_ruled_an_unknown_parameter_is_refused_as_it_may_name_a_place() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[("GITLAB_ALLOWED_PATHS", "acme")]);
    let params = json!({"fullPath": "acme/widget", "title": "x", "elsewhere_id": 5});
    let reply = execute(&mut client, "issue.create", params);
    assert_eq!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
    assert_eq!(sent(&gitlab), Vec::<String>::new());
}

/// Writes with something that the catalog does not know, and that no slip of the caller's explains.
fn unknown_writes() -> [(Value, &'static str, &'static str); 2] {
    [
        (json!({"fullPath": "acme/widget", "title": "Oil", "zodiac": "pisces"}), "zodiac", NO_PARAMETER),
        (
            json!({"fullPath": "acme/widget", "title": "Oil", "issue_type": "prophecy"}),
            "issue_type",
            concat!("`issue_type: prophecy` is not a value in GitLab ", env!("CATALOG_GITLAB_VERSION")),
        ),
    ]
}

fn posted(gitlab: &Gitlab) -> Vec<Value> {
    let requests = gitlab.received().into_iter().filter(|request| request.method == "POST");
    requests.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

#[test]
fn a_write_with_what_the_catalog_does_not_know_is_asked_about_on_a_newer_instance() {
    for (params, name, note) in unknown_writes() {
        let (gitlab, mut client) = instance("99.5.0-ee", &[]);
        gitlab.says("POST /api/v4/projects/", [answer(201, json!({"iid": 7, "title": "Oil"}))]);
        let error = refused(&execute(&mut client, "issue.create", params.clone()), "needs_confirmation");
        let cause = format!("`{}", name);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&cause) && message.contains("this catalog does not know"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains(note), "{error}");
        assert_eq!(posted(&gitlab), Vec::<Value>::new());
        let reply = follow(&mut client, &error["fix"]);
        assert!(!reply.is_error, "{}", reply.text);
        let bodies = posted(&gitlab);
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        assert_eq!(bodies[0][name], params[name]);
    }
}

#[test]
fn a_confirmed_write_sends_a_newer_instance_what_the_catalog_does_not_know() {
    for (params, name, note) in unknown_writes() {
        let (gitlab, mut client) = instance("99.5.0-ee", &[]);
        gitlab.says("POST /api/v4/projects/", [answer(201, json!({"iid": 7, "title": "Oil"}))]);
        let call = json!({"action": "issue.create", "params": params, "confirm": true});
        let reply = client.call(EXECUTE, call);
        assert!(!reply.is_error, "{}", reply.text);
        assert!(reply.text.contains(note), "{}", reply.text);
        let bodies = posted(&gitlab);
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        assert_eq!(bodies[0][name], params[name]);
    }
}

#[test]
fn a_write_that_the_catalog_knows_is_not_asked_about_on_a_newer_instance() {
    let (gitlab, mut client) = instance("99.5.0-ee", &[]);
    gitlab.says("POST /api/v4/projects/", [answer(201, json!({"iid": 7, "title": "Oil"}))]);
    let params = json!({"fullPath": "acme/widget", "title": "Oil", "issue_type": "incident"});
    let reply = execute(&mut client, "issue.create", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(posted(&gitlab), [json!({"title": "Oil", "issue_type": "incident"})]);
}

/// The refusal of a document for a field, where the field is in the document that was sent.
fn unknown_field(document: &str, name: &str) -> Value {
    let before = document.split(&format!(" {name} ")).next().unwrap();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap().chars().count() + 2;
    json!({"errors": [{
        "message": format!("Field '{name}' doesn't exist on type 'BranchRule'"),
        "locations": [{"line": line, "column": column}],
        "extensions": {"code": "undefinedField", "typeName": "BranchRule", "fieldName": name},
    }]})
}

fn document(gitlab: &Gitlab) -> String {
    let requests = gitlab.received();
    let last = requests.iter().rfind(|request| request.path == "/api/graphql").unwrap();
    serde_json::from_slice::<Value>(&last.body).unwrap()["query"].as_str().unwrap().to_owned()
}

#[test]
fn a_graphql_read_is_sent_again_without_the_fields_that_the_instance_lacks() {
    let (gitlab, mut client) = instance("18.2.0", &[]);
    let preview =
        json!({"action": "branch_rule.list", "params": {"fullPath": "acme/widget"}, "dry_run": true});
    let preview = client.call(EXECUTE, preview);
    let written = preview.structured["request"]["body"]["query"].as_str().unwrap().to_owned();
    assert!(written.contains(" isProtected "), "{written}");
    let refusal = answer(200, unknown_field(&written, "isProtected"));
    let rows = json!({"data": {"project": {"branchRules": {"nodes": [{"name": "main"}]}}}});
    gitlab.says("POST /api/graphql", [refusal, answer(200, rows)]);
    let reply = execute(&mut client, "branch_rule.list", json!({"fullPath": "acme/widget"}));
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["data"][0]["name"], "main");
    assert!(reply.text.contains("left out `isProtected`"), "{}", reply.text);
    assert!(!document(&gitlab).contains("isProtected"), "{}", document(&gitlab));
    assert!(document(&gitlab).contains("isDefault"), "{}", document(&gitlab));
}

/// GitLab executes nothing of a document that it refuses (GraphQL specification, 6.1): what was not done is done once.
#[test]
fn a_mutation_that_was_refused_for_a_field_of_its_answer_is_sent_without_it() {
    let (gitlab, mut client) = instance("18.2.0", &[]);
    let call =
        json!({"action": "saved_reply.create", "params": {"name": "a", "content": "b"}, "dry_run": true});
    let preview = client.call(EXECUTE, call);
    let written = preview.structured["request"]["body"]["query"].as_str().unwrap().to_owned();
    let done = json!({"data": {"savedReplyCreate": {"errors": [], "savedReply": {"id": "gid://gitlab/Users::SavedReply/1"}}}});
    gitlab.says("POST /api/graphql", [answer(200, unknown_field(&written, "name")), answer(200, done)]);
    let reply = execute(&mut client, "saved_reply.create", json!({"name": "a", "content": "b"}));
    assert!(!reply.is_error && reply.text.contains("left out `name`"), "{}", reply.text);
    assert_eq!(sent(&gitlab), ["POST /api/graphql", "POST /api/graphql"]);
}

#[test]
fn a_mutation_that_may_have_been_executed_is_never_sent_again() {
    let (gitlab, mut client) = instance("18.2.0", &[]);
    let call =
        json!({"action": "saved_reply.create", "params": {"name": "a", "content": "b"}, "dry_run": true});
    let preview = client.call(EXECUTE, call);
    let written = preview.structured["request"]["body"]["query"].as_str().unwrap().to_owned();
    let refused = unknown_field(&written, "name");
    let other = json!({"message": "something else", "locations": [{"line": 1, "column": 1}]});
    let with_another = json!({"errors": [refused["errors"][0], other]});
    let with_data = json!({"errors": refused["errors"], "data": {"savedReplyCreate": {"errors": []}}});
    for reply in [with_another, with_data] {
        gitlab.says("POST /api/graphql", [answer(200, reply)]);
        let before = sent(&gitlab).len();
        execute(&mut client, "saved_reply.create", json!({"name": "a", "content": "b"}));
        assert_eq!(sent(&gitlab).len(), before + 1);
    }
}

#[test]
fn an_older_instance_gets_the_earlier_form_of_an_operation() {
    for (version, end) in [("18.2.0", "bridges"), ("19.1.0", "bridges"), ("99.5.0", "trigger_jobs")] {
        let (gitlab, mut client) = instance(version, &[]);
        let params = json!({"fullPath": "acme/widget", "pipeline_id": 5});
        execute(&mut client, "pipeline.list_bridges", params);
        let path = format!("/api/v4/projects/acme%2Fwidget/pipelines/5/{end}");
        let requests = gitlab.received();
        let paths: Vec<&str> = requests.iter().map(|request| request.path.as_str()).collect();
        assert!(paths.iter().any(|asked| asked.starts_with(&path)), "{version}: {paths:?}");
    }
}

#[test]
fn what_is_gone_is_not_sent_to_an_instance_that_lacks_it() {
    let params = json!({"fullPath": "acme/widget"});
    let (gitlab, mut client) = instance("99.5.0", &[]);
    let reply = execute(&mut client, "product_analytics.get_project_settings", params.clone());
    let message = &reply.structured["error"]["message"];
    assert!(message.as_str().is_some_and(|said| said.contains("is gone in GitLab 19.5")), "{message}");
    assert!(!sent(&gitlab).contains(&"POST /api/graphql".to_owned()), "{:?}", sent(&gitlab));
    let (gitlab, mut client) = instance("18.9.0", &[]);
    execute(&mut client, "product_analytics.get_project_settings", params);
    assert!(sent(&gitlab).contains(&"POST /api/graphql".to_owned()), "{:?}", sent(&gitlab));
}

#[test]
fn what_is_gone_is_refused_with_its_successor() {
    let params = json!({"fullPath": "acme/widget", "principal": {"id": 5, "type": "USER"}});
    let named = "`secrets_permission.delete` has taken its place";
    for (variables, is_named) in
        [(vec![], true), (vec![("GITLAB_DENIED_ACTIONS", "secrets_permission.delete")], false)]
    {
        let (gitlab, mut client) = instance("99.5.0", &variables);
        let call = json!({"action": "graphql.secret_permission_delete", "params": params, "confirm": true});
        let reply = client.call(EXECUTE, call);
        assert!(reply.text.contains("is gone in GitLab 19.5") || !is_named, "{}", reply.text);
        assert_eq!(reply.text.contains(named), is_named, "{}", reply.text);
        assert_eq!(sent(&gitlab), Vec::<String>::new());
    }
}

/// The text that an edit works on is read by this server itself.
#[test]
fn a_read_of_our_own_does_without_the_fields_that_the_instance_lacks() {
    let (gitlab, mut client) = instance("18.2.0", &[]);
    let preview =
        json!({"action": "work_item.get", "params": {"fullPath": "acme/widget", "iid": 7}, "dry_run": true});
    let preview = client.call(EXECUTE, preview);
    let written = preview.structured["request"]["body"]["query"].as_str().unwrap().to_owned();
    let found = json!({"id": "gid://gitlab/WorkItem/7", "iid": "7", "title": "T", "description": "one two"});
    let found = json!({"data": {"workItem": found}});
    let done =
        json!({"data": {"workItemUpdate": {"errors": [], "workItem": {"id": "gid://gitlab/WorkItem/7"}}}});
    let refused = answer(200, unknown_field(&written, "confidential"));
    gitlab.says(
        "POST /api/graphql",
        [refused, answer(200, found.clone()), answer(200, found), answer(200, done)],
    );
    gitlab.json("/api/v4/projects/acme%2Fwidget/issues/7", &json!({"id": 7, "iid": 7}));
    let edits = json!([{"old": "two", "new": "three"}]);
    let params = json!({"fullPath": "acme/widget", "iid": 7, "edits": edits});
    let reply = execute(&mut client, "work_item.update", params);
    let documents: Vec<String> = gitlab
        .received()
        .iter()
        .filter(|request| request.path == "/api/graphql")
        .map(|request| String::from_utf8_lossy(&request.body).into_owned())
        .collect();
    assert!(
        documents[0].contains(" confidential ") && !documents[1].contains(" confidential "),
        "{}",
        reply.text
    );
}
