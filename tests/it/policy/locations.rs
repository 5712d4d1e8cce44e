//! Policy decides on the places of a call, by any route and spelling: through the real binary, in front of a GitLab that
//! records its requests.

use serde_json::{Value, json};

use crate::policy::vault::{deny_vault, gitlab, is_only_located, kind, policy_file, run, sent};
use crate::support::client::EXECUTE;
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

#[test]
fn every_spelling_of_a_denied_project_is_denied_and_nothing_is_sent_to_it() {
    let file = deny_vault();
    for path in [
        "acme/vault",
        "/acme/vault",
        "acme/vault/",
        " acme/vault ",
        "ACME/Vault",
        "acme%2Fvault",
        "acme%2fvault",
        "5",
        "5/",
        "/5",
        " 5",
        "005",
        "gid://gitlab/Project/5",
        "acme/vault.",
    ] {
        for (action, params) in [
            ("issue.list", json!({"fullPath": path, "scope": "project"})),
            ("issue.create", json!({"fullPath": path, "title": "x"})),
            ("project.delete", json!({"fullPath": path})),
            (
                "issue_link.create",
                json!({"fullPath": "acme/widget", "iid": 1, "target_project_id": path, "target_issue_iid": 1}),
            ),
        ] {
            let gitlab = gitlab();
            let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
            let reply = run(&mut client, action, &params, true);
            let requests = sent(&gitlab);
            assert!(reply.is_error, "{action} {path}: {}", reply.text);
            let kind = kind(&reply);
            // A path that GitLab has for no project is no way round; nor is one that is refused.
            let is_stopped = kind == "denied" || kind == "invalid_params" || path == "acme/vault.";
            assert!(is_stopped, "{action} {path}: {}", reply.text);
            assert!(path == "acme/vault." || is_only_located(&requests), "{action} {path}: {requests:?}");
        }
    }
}

#[test]
fn an_id_is_decided_on_as_its_path_is() {
    let file = deny_vault();
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
    for path in ["acme/widget", "1", "1/", "/acme/widget"] {
        let reply = run(&mut client, "issue.list", &json!({"fullPath": path, "scope": "project"}), false);
        assert!(!reply.is_error, "{path}: {}", reply.text);
    }
    for (path, is_denied) in [("1", false), ("9", true), ("acme/widget", false), ("other/secret", true)] {
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
        let reply = run(&mut client, "issue.create", &json!({"fullPath": path, "title": "x"}), false);
        assert_eq!(kind(&reply) == "denied", is_denied, "{path}: {}", reply.text);
    }
}

#[test]
fn raw_requests_are_decided_on_like_actions_by_every_place_in_them() {
    let cases = [
        ("POST", "/groups/acme/projects/other%2Fsecret", json!(null)),
        ("POST", "/groups/acme/projects/9", json!(null)),
        ("POST", "/projects/acme%2Fwidget/fork/9", json!(null)),
        ("POST", "/projects/acme%2Fwidget/import_project_members/other%2Fsecret", json!(null)),
        ("POST", "/groups/acme/epics/1/issues/999", json!(null)),
        ("DELETE", "/projects/acme%2Fwidget/share/9", json!(null)),
        ("POST", "/projects/acme%2Fwidget/share", json!({"group_id": 9, "group_access": 40})),
        ("POST", "/projects", json!({"name": "x"})),
        ("POST", "/projects/acme%2Fwidget/fork", json!(null)),
        ("POST", "/groups", json!({"name": "x", "path": "x"})),
        ("POST", "/groups/acme/transfer", json!(null)),
        ("PUT", "/projects/acme%2Fwidget/transfer", json!({"namespace": "other"})),
        ("DELETE", "/users/4", json!({"project_id": "acme/widget"})),
        ("PUT", "/projects/other%2Fsecret", json!({"fullPath": "acme/widget"})),
    ];
    for (method, path, body) in cases {
        let raw = json!({"method": method, "path": path, "body": body});
        let batch = json!({"calls": [{"action": "api.rest", "params": raw}]});
        for (action, params) in [("api.rest", &raw), ("api.batch", &batch)] {
            let gitlab = gitlab();
            let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
            let reply = run(&mut client, action, params, true);
            let is_denied = kind(&reply) == "denied" || reply.text.contains("(denied)");
            assert!(is_denied, "{method} {path} by {action}: {}", reply.text);
            let requests = sent(&gitlab);
            assert!(is_only_located(&requests), "{method} {path} by {action}: {requests:?}");
        }
    }
}

#[test]
fn a_missing_target_is_the_place_that_gitlab_would_take() {
    for (action, params) in [
        ("project.fork", json!({"fullPath": "acme/widget"})),
        ("project.create", json!({"name": "x"})),
        (
            "project.create",
            json!({"name": "x", "group_with_project_templates_id": "acme", "use_custom_template": true}),
        ),
        ("group.transfer", json!({"fullPath": "acme"})),
        ("graphql.group_transfer", json!({"id": "acme"})),
        ("group.create", json!({"name": "x", "path": "x"})),
        ("runner.create", json!({"runner_type": "instance_type", "project_id": "acme/widget"})),
        ("bulk_import.create", imported(json!([group("a", Some("acme")), group("b", Some(""))]))),
        (
            "group.update",
            json!({
                "fullPath": "acme",
                "duo_namespace_access_rules": [{"through_namespace": {"id": 9}, "features": ["duo_classic"]}],
            }),
        ),
        (
            "secrets_permission.update",
            json!({"fullPath": "acme/widget", "actions": ["READ"], "principal": {"id": 9, "type": "GROUP"}}),
        ),
        (
            "api.rest",
            json!({
                "method": "POST", "path": "/bulk_imports",
                "body": imported(json!([group("a", Some("acme")), group("b", None)])),
            }),
        ),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{action}: {}", reply.text);
        let requests = sent(&gitlab);
        assert!(is_only_located(&requests), "{action}: {requests:?}");
    }
    let document = "mutation { groupTransfer(input: {id: \"gid://gitlab/Group/2\"}) { errors } }";
    let raw = gitlab();
    let mut client = raw.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
    assert_eq!(kind(&run(&mut client, "api.graphql", &json!({"document": document}), true)), "denied");
    assert!(!sent(&raw).iter().any(|request| request.starts_with("POST")), "{:?}", sent(&raw));
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme, me")]);
    for (action, params) in
        [("project.fork", json!({"fullPath": "acme/widget"})), ("project.create", json!({"name": "x"}))]
    {
        let reply = run(&mut client, action, &params, true);
        assert!(!reply.is_error, "the own namespace may be allowed: {}", reply.text);
    }
    let imported = imported(json!([group("a", Some("acme")), group("b", Some("acme"))]));
    let reply = run(&mut client, "bulk_import.create", &imported, true);
    assert_ne!(kind(&reply), "denied", "{}", reply.text);
}

/// GitLab redirects the read of a project by its former path, and the change would be made where the project is now.
#[test]
fn the_former_path_of_a_project_is_no_allowed_place() {
    let gitlab = Gitlab::start();
    let moved = json!({"id": 5, "path_with_namespace": "other/vault", "name": "vault"});
    gitlab.json("/projects/acme%2Fvault", &moved);
    gitlab.json(
        "/projects/acme%2Fwidget",
        &json!({"id": 1, "path_with_namespace": "acme/widget", "name": "widget"}),
    );
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
    let to = json!({"fullPath": "acme/widget", "iid": 1, "to_project_id": "acme/vault"});
    let reply = run(&mut client, "issue.move", &to, true);
    assert!(reply.is_error && reply.text.contains("has moved: it is \"other/vault\" now"), "{}", reply.text);
    assert!(!sent(&gitlab).iter().any(|request| request.starts_with("POST")), "{:?}", sent(&gitlab));
}

/// A group that is imported, into another if it is named.
fn group(path: &str, into: Option<&str>) -> Value {
    let mut entity =
        json!({"source_type": "group_entity", "source_full_path": path, "destination_slug": path});
    if let Some(into) = into {
        entity["destination_namespace"] = json!(into);
    }
    entity
}

/// The parameters of an import of groups.
fn imported(entities: Value) -> Value {
    json!({"configuration": {"url": "https://old.example", "access_token": "glpat-old"}, "entities": entities})
}

#[test]
fn what_takes_a_group_with_it_is_denied_for_what_is_below() {
    let file = deny_vault();
    for (action, params, is_denied) in [
        ("group.delete", json!({"fullPath": "acme"}), true),
        ("group.delete", json!({"fullPath": "7"}), true),
        ("group.transfer", json!({"fullPath": "acme", "group_id": "other"}), true),
        ("group.archive", json!({"fullPath": "acme"}), true),
        ("api.rest", json!({"method": "DELETE", "path": "/groups/acme"}), true),
        ("group.get", json!({"fullPath": "acme"}), false),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply) == "denied", is_denied, "{action} {params}: {}", reply.text);
    }
}

#[test]
fn nothing_is_sent_before_a_denial_that_no_answer_could_lift() {
    let file = deny_vault();
    for (settings, action, params) in [
        (("GITLAB_POLICY", file.path.as_str()), "ci_variable.list", json!({"fullPath": "acme/vault"})),
        (("GITLAB_POLICY", &file.path), "milestone.list", json!({"fullPath": "acme/vault"})),
        (
            ("GITLAB_ALLOWED_PATHS", "acme"),
            "label.create",
            json!({"fullPath": "other/secret", "name": "x", "color": "red"}),
        ),
        (
            ("GITLAB_ALLOWED_PATHS", "acme"),
            "issue.update",
            json!({"fullPath": "other/secret", "iid": 1, "assignee_ids": ["alice"]}),
        ),
        (
            ("GITLAB_READ_ONLY", "true"),
            "issue.update",
            json!({"fullPath": "acme/widget", "iid": 1, "assignee_ids": ["alice"]}),
        ),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[settings]);
        let reply = run(&mut client, action, &params, true);
        assert!(reply.is_error, "{action}: {}", reply.text);
        let own: Vec<String> = sent(&gitlab)
            .into_iter()
            .filter(|request| !request.ends_with("personal_access_tokens/self"))
            .collect();
        assert!(own.is_empty(), "{action}: {own:?}");
        assert!(reply.text.contains("Nothing was sent"), "{}", reply.text);
    }
}

#[test]
fn a_read_of_the_servers_own_is_denied_by_the_same_rules_and_audited() {
    let gitlab = gitlab();
    let file =
        policy_file("[[rule]]\npaths = [\"acme\"]\nactions = [\"project.get\"]\ndecision = \"deny\"\n");
    let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path), ("GITLAB_AUDIT", "text")]);
    let reply = run(&mut client, "issue.get", &json!({"fullPath": "acme/widget", "iid": 404}), false);
    assert_eq!(kind(&reply), "not_found", "{}", reply.text);
    let requests = sent(&gitlab);
    assert!(requests.iter().all(|request| !request.ends_with("/projects/acme%2Fwidget")), "{requests:?}");
    client.end_input();
    let ended = client.wait();
    let said = ended.stderr;
    assert!(said.contains("action=project.get purpose=diagnosis decision=denied"), "{said}");
    let gitlab = self::gitlab();
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "user.list")]);
    let params = json!({"fullPath": "acme/widget", "iid": 1, "assignee_ids": ["alice"]});
    let reply = run(&mut client, "issue.update", &params, false);
    assert_eq!(kind(&reply), "denied", "{}", reply.text);
    assert!(reply.text.contains("user.list"), "{}", reply.text);
}

#[test]
fn reading_can_be_fenced() {
    let gitlab = gitlab();
    gitlab.json(
        "/projects",
        &json!([
            {"id": 1, "path_with_namespace": "acme/widget"},
            {"id": 5, "path_with_namespace": "acme/vault"},
            {"id": 9, "path_with_namespace": "other/secret"},
            {"id": 10, "name": "no path"},
        ]),
    );
    let mut client = gitlab.client(&[("GITLAB_READABLE_PATHS", "acme/widget")]);
    let compared =
        |with: u64| json!({"fullPath": "acme/widget", "from": "a", "to": "b", "from_project_id": with});
    for (action, params, is_denied) in [
        ("repository.compare", compared(1), false),
        ("repository.compare", compared(5), true),
        ("issue.list", json!({"fullPath": "acme/widget", "scope": "project"}), false),
        ("issue.list", json!({"fullPath": "1", "scope": "project"}), false),
        ("issue.list", json!({"fullPath": "acme/vault", "scope": "project"}), true),
        ("issue.list", json!({"fullPath": "5", "scope": "project"}), true),
        ("group.get", json!({"fullPath": "acme"}), true),
        ("search.run", json!({"search": "x"}), true),
        ("todo.list", json!({}), true),
        ("api.rest", json!({"method": "GET", "path": "/projects/acme%2Fvault/issues"}), true),
        ("api.rest", json!({"method": "GET", "path": "/nothing/known"}), true),
        ("api.graphql", json!({"document": "{ currentUser { username } }"}), true),
        ("current_user.get", json!({}), false),
    ] {
        let reply = run(&mut client, action, &params, false);
        assert_eq!(kind(&reply) == "denied", is_denied, "{action} {params}: {}", reply.text);
    }
    let reply = run(&mut client, "project.list", &json!({}), false);
    let rows = reply.structured["data"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{}", reply.text);
    assert!(reply.text.contains("rows outside GITLAB_READABLE_PATHS are left out"), "{}", reply.text);
}

#[test]
fn a_fence_on_reads_is_not_left_by_fields_parameters_redirects_or_completions() {
    let gitlab = gitlab();
    gitlab.json("/projects", &json!([{"id": 5, "path_with_namespace": "acme/vault"}]));
    let moved = raw(302, "text/plain", "").header("location", "/api/v4/projects/5/issues/1");
    gitlab.answer("GET", "/projects/acme%2Fold/issues/1", moved);
    let deny = deny_vault();
    for settings in [("GITLAB_READABLE_PATHS", "acme/widget,acme/old"), ("GITLAB_POLICY", deny.path.as_str())]
    {
        let mut client = gitlab.client(&[settings]);
        let list = json!({
            "action": "work_item.list", "params": {"fullPath": "acme/widget"},
            "fields": ["namespace.projects.nodes.fullPath"],
        });
        client.call(EXECUTE, list);
        for request in gitlab.received().iter().filter(|request| request.path.ends_with("graphql")) {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            assert!(!body.contains("projects"), "{body}");
        }
        let reply = run(&mut client, "issue.get", &json!({"fullPath": "acme/old", "iid": 1}), false);
        assert!(reply.is_error, "{}", reply.text);
        let to_vault = sent(&gitlab).iter().any(|request| request.ends_with("/projects/5/issues/1"));
        assert!(!to_vault, "{:?}", sent(&gitlab));
    }
    let mut client = gitlab.client(&[("GITLAB_READABLE_PATHS", "acme/widget")]);
    for path in ["/projects?project_id=1", "/projects?x_project_id=acme%2Fwidget"] {
        let reply = run(&mut client, "api.rest", &json!({"method": "GET", "path": path}), false);
        assert!(!reply.text.contains("vault"), "{path}: {}", reply.text);
    }
    for path in [
        "/issues?scope=all&project_id=5",
        "/search?scope=blobs&search=x&project_id=1",
        "/snippets/all?project=acme",
    ] {
        let reply = run(&mut client, "api.rest", &json!({"method": "GET", "path": path}), false);
        assert!(reply.is_error || path.starts_with("/issues"), "{path}: {}", reply.text);
    }
    let completion = json!({
        "ref": {"type": "ref/resource", "uri": "gitlab://project/{+fullPath}"},
        "argument": {"name": "fullPath", "value": ""},
    });
    let completed = client.request("completion/complete", completion);
    assert!(!completed.to_string().contains("vault"), "{completed}");
}

#[test]
fn values_that_gitlab_reads_otherwise_are_no_way_round() {
    let deny = deny_vault();
    for (settings, method, path, body) in [
        (("GITLAB_ALLOWED_PATHS", "acme"), "POST", "/projects/1/fork", json!({"namespace_id": null})),
        (("GITLAB_ALLOWED_PATHS", "acme"), "POST", "/projects/1/fork", json!({"namespace_path": ""})),
        // One of two has no destination.
        (
            ("GITLAB_ALLOWED_PATHS", "acme"),
            "POST",
            "/bulk_imports",
            json!({"configuration": {"url": "https://old.example", "access_token": "x"}, "entities": [
                {"source_type": "group_entity", "source_full_path": "a", "destination_namespace": "acme"},
                {"source_type": "group_entity", "source_full_path": "b"},
            ]}),
        ),
        (("GITLAB_ALLOWED_PATHS", "acme"), "POST", "/groups/acme/transfer", json!({"group_id": null})),
        (("GITLAB_ALLOWED_PATHS", "acme"), "POST", "/groups/acme/epics/1/issues/+999", json!(null)),
        (("GITLAB_ALLOWED_PATHS", "acme"), "PUT", "/projects/1/issues/1", json!({"epic_id": "+999"})),
        (("GITLAB_ALLOWED_PATHS", "acme"), "PUT", "/projects/1/issues/1", json!({"epic_id": 999.0})),
        (("GITLAB_POLICY", &deny.path), "POST", "/projects/1/issues/1/move", json!({"to_project_id": 5.0})),
        (("GITLAB_POLICY", &deny.path), "POST", "/projects/1/issues/1/move", json!({"to_project_id": "0_5"})),
        (("GITLAB_POLICY", &deny.path), "DELETE", "/projects/5.txt", json!(null)),
        (("GITLAB_POLICY", &deny.path), "DELETE", "/projects/acme%2Fvault.JSON", json!(null)),
        (("GITLAB_POLICY", &deny.path), "PUT", "/groups/acme", json!({"path": "zz"})),
        (
            ("GITLAB_DENIED_ACTIONS", "repository_file.delete"),
            "POST",
            "/projects/1/repository/commits?branch=main&commit_message=m&actions[][action]=delete&actions[][file_path]=a",
            json!(null),
        ),
        (("GITLAB_DENIED_ACTIONS", "issue.delete"), "PUT", "/projects/1?[visibility]=public", json!(null)),
        (("GITLAB_READ_ONLY", "true"), "POST", "/runners/verify", json!({"token": "x"})),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[settings]);
        let params = json!({"method": method, "path": path, "body": body});
        let reply = run(&mut client, "api.rest", &params, true);
        assert!(reply.is_error, "{method} {path} {body}: {}", reply.text);
        let changes: Vec<String> =
            sent(&gitlab).into_iter().filter(|request| !request.starts_with("GET")).collect();
        assert!(changes.is_empty(), "{method} {path} {body}: {changes:?}");
    }
    for (method, path, body) in [
        ("PUT", "/projects/1/issues/1", json!({"confidential": "0"})),
        ("PUT", "/projects/1/issues/1", json!({"confidential": "off"})),
        ("PUT", "/projects/1?container_expiration_policy_attributes[enabled]=true", json!(null)),
        ("POST", "/projects/1/merge_requests/1/draft_notes/bulk_publish", json!({"note": "/merge"})),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[]);
        let params = json!({"method": method, "path": path, "body": body});
        let reply = run(&mut client, "api.rest", &params, false);
        assert_eq!(kind(&reply), "needs_confirmation", "{method} {path} {body}: {}", reply.text);
    }
}

#[test]
fn a_look_up_by_an_id_is_decided_on_as_by_its_path() {
    let gitlab = gitlab();
    gitlab.json("/projects/(1|acme%2Fwidget)/milestones", &json!([{"id": 70, "iid": 1, "title": "v1"}]));
    let deny = deny_vault();
    let mut client = gitlab.client(&[("GITLAB_POLICY", &deny.path)]);
    for path in ["acme/widget", "1"] {
        let params = json!({"fullPath": path, "iid": 1, "milestone_id": "v1"});
        let reply = run(&mut client, "issue.update", &params, false);
        assert!(!reply.is_error, "{path}: {}", reply.text);
    }
}

#[test]
fn a_path_that_is_not_sent_says_nothing_of_an_id_beside_it() {
    for (action, params) in [
        (
            "ai_action.run",
            json!({"fullPath": "acme/widget", "resolveVulnerability": {"resourceId": "gid://gitlab/Vulnerabilities::LookupResult/9"}}),
        ),
        (
            "value_stream.update",
            json!({"fullPath": "acme/widget", "id": "gid://gitlab/Analytics::ValueStream/9", "name": "x"}),
        ),
        ("api.graphql", json!({"document": "mutation { todosMarkAllDone(input: {}) { errors } }"})),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
        let reply = run(&mut client, action, &params, true);
        assert!(reply.is_error, "{action}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{action}: {:?}", sent(&gitlab));
    }
}

/// The body of a request to GraphQL that has the variables of a call.
fn graphql_input(gitlab: &Gitlab) -> Value {
    let body: Value = serde_json::from_slice(&gitlab.last("POST ").body).unwrap();
    let variables = &body["variables"];
    variables.get("input").unwrap_or(variables).clone()
}

fn graphql_gitlab() -> Gitlab {
    let gitlab = gitlab();
    let reply = json!({"data": {"createCustomEmoji": {"errors": []}, "project": {"name": "widget"}}});
    gitlab.answer("POST", "/graphql", answer(200, reply));
    gitlab
}

/// GraphQL finds a project or group by its path: the group whose path is `7` is another one than group 7.
#[test]
fn a_number_in_place_of_a_path_is_sent_as_the_path_of_the_object_that_was_decided_on() {
    for settings in [vec![], vec![("GITLAB_ALLOWED_PATHS", "acme")], vec![("GITLAB_READABLE_PATHS", "acme")]]
    {
        let gitlab = graphql_gitlab();
        let mut client = gitlab.client(&settings);
        for path in ["7", "gid://gitlab/Group/7", " 7/"] {
            let emoji = json!({"fullPath": path, "name": "x", "url": "https://x.example"});
            let reply = run(&mut client, "custom_emoji.create", &emoji, true);
            assert!(!reply.is_error, "{settings:?} {path}: {}", reply.text);
            assert_eq!(graphql_input(&gitlab)["groupPath"], "acme", "{settings:?} {path}");
        }
        let reply = run(&mut client, "branch_rule.list", &json!({"fullPath": 1}), false);
        assert_eq!(graphql_input(&gitlab)["fullPath"], "acme/widget", "{settings:?}: {}", reply.text);
    }
}

#[test]
fn a_number_that_no_path_was_found_for_is_not_sent() {
    let file = deny_vault();
    for settings in [
        vec![],
        vec![("GITLAB_ALLOWED_PATHS", "acme")],
        vec![("GITLAB_READABLE_PATHS", "acme")],
        vec![("GITLAB_POLICY", file.path.as_str())],
    ] {
        for (action, params) in [
            // A project's or a group's
            ("work_item.get", json!({"fullPath": 7, "iid": 1})),
            ("custom_emoji.create", json!({"fullPath": 8, "name": "x", "url": "https://x.example"})),
            ("job_token_scope.add_group_or_project", json!({"fullPath": "acme/widget", "targetPath": 7})),
            (
                "secrets_permission.delete",
                json!({"fullPath": "acme/widget", "principal": {"groupPath": "7", "id": 1, "type": "GROUP"}}),
            ),
            (
                "remote_import.import_from_github",
                json!({"personal_access_token": "x", "repo_id": 1, "target_namespace": "7"}),
            ),
        ] {
            let gitlab = graphql_gitlab();
            let mut client = gitlab.client(&settings);
            let reply = run(&mut client, action, &params, true);
            assert!(reply.is_error, "{settings:?} {action}: {}", reply.text);
            let wrote = sent(&gitlab).into_iter().filter(|request| !request.starts_with("GET ")).count();
            assert_eq!(wrote, 0, "{settings:?} {action}: {:?}", sent(&gitlab));
        }
    }
}

#[test]
fn a_number_in_a_document_is_no_id_of_an_allowed_group() {
    for (method, params) in [
        (
            "api.graphql",
            json!({"document": "mutation { createCustomEmoji(input: {groupPath: \"7\", name: \"x\", url: \"https://x.example\"}) { errors } }"}),
        ),
        (
            "api.graphql",
            json!({"document": "mutation($p: ID!) { createCustomEmoji(input: {groupPath: $p, name: \"x\", url: \"https://x.example\"}) { errors } }", "variables": {"p": 7}}),
        ),
        (
            "api.graphql",
            json!({"document": "mutation { ciJobTokenScopeAddGroupOrProject(input: {projectPath: \"acme/widget\", targetPath: \"1\"}) { errors } }"}),
        ),
        (
            "api.rest",
            json!({"method": "POST", "path": "/import/github", "body": {"personal_access_token": "x", "repo_id": 1, "target_namespace": "7"}}),
        ),
    ] {
        let gitlab = graphql_gitlab();
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
        let reply = run(&mut client, method, &params, true);
        assert_eq!(kind(&reply), "denied", "{params}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{params}: {:?}", sent(&gitlab));
    }
}

#[test]
fn a_parameter_that_names_a_project_or_object_elsewhere_has_to_be_allowed() {
    let secret = policy_file("[[rule]]\npaths = [\"other/secret\"]\ndecision = \"deny\"\n");
    for settings in [("GITLAB_ALLOWED_PATHS", "acme"), ("GITLAB_POLICY", &secret.path)] {
        for (action, params) in [
            (
                "job_token_scope.add_group_or_project",
                json!({"fullPath": "acme/widget", "targetPath": "other/secret"}),
            ),
            (
                "job_token_scope.update_policies",
                json!({"fullPath": "acme/widget", "targetPath": "other/secret", "defaultPermissions": true, "jobTokenPolicies": ["READ_JOBS"]}),
            ),
            (
                "project_subscription.create",
                json!({"fullPath": "acme/widget", "upstreamPath": "other/secret"}),
            ),
            (
                "issue.link_alerts",
                json!({"fullPath": "acme/widget", "iid": 1, "alertReferences": ["other/secret^alert#3"]}),
            ),
            // Several references in one text
            (
                "issue.link_alerts",
                json!({"fullPath": "acme/widget", "iid": 1, "alertReferences": ["acme/widget^alert#1 other/secret^alert#3"]}),
            ),
            (
                "issue.link_alerts",
                json!({"fullPath": "acme/widget", "iid": 1, "alertReferences": ["https://gitlab.example/other/secret/-/alert_management/3/details"]}),
            ),
            (
                "security_settings.set_secret_push_protection_in_group",
                json!({"fullPath": "acme", "secretPushProtectionEnabled": true, "projectsToExclude": [9]}),
            ),
            (
                "security_settings.update",
                json!({"fullPath": "acme", "scope": "group", "secret_push_protection_enabled": true, "projects_to_exclude": [9]}),
            ),
            (
                "api.graphql",
                json!({"document": "mutation { projectSubscriptionCreate(input: {projectPath: \"acme/widget\", upstreamPath: \"other/secret\"}) { errors } }"}),
            ),
        ] {
            let gitlab = gitlab();
            let mut client = gitlab.client(&[settings]);
            let reply = run(&mut client, action, &params, true);
            assert_eq!(kind(&reply), "denied", "{settings:?} {action} {params}: {}", reply.text);
            assert!(is_only_located(&sent(&gitlab)), "{action} {params}: {:?}", sent(&gitlab));
        }
    }
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_READABLE_PATHS", "acme/widget")]);
    let chat = json!({"content": "summarize", "resource_type": "issue", "resource_id": 999, "project_id": "acme/widget"});
    assert_eq!(kind(&run(&mut client, "duo_chat.ask", &chat, true)), "denied");
}

/// An epic of a project is one of its group, by its number and by its title.
#[test]
fn an_epic_that_is_named_without_a_path_is_of_the_group() {
    for epic in
        ["&7", "Quarterly goals", "acme/widget#7", "acme/widget & more", "acme#7", "acme!7", "other#7"]
    {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme/widget")]);
        let params = json!({"fullPath": "acme/widget", "iid": 1, "epic_id": epic});
        let reply = run(&mut client, "issue.update", &params, true);
        assert!(matches!(kind(&reply).as_str(), "denied" | "invalid_params"), "{epic}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{epic}: {:?}", sent(&gitlab));
    }
}

/// Only `&` marks an epic: `acme#7` was looked up in acme, and allowed as a title of the own group.
#[test]
fn an_epic_is_of_the_group_that_the_rule_saw() {
    for (action, params) in [
        ("issue.create", json!({"fullPath": "acme/tools/cli", "title": "x", "epic_id": "acme#1"})),
        ("epic.create", json!({"fullPath": "acme/tools", "title": "x", "parent_id": "acme#1"})),
        ("epic_child.assign", json!({"fullPath": "acme/tools", "iid": 1, "child_epic_id": "acme!1"})),
    ] {
        let gitlab = gitlab();
        gitlab.json("/groups/acme/epics/1", &json!({"id": 11, "iid": 1, "title": "Theirs"}));
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme/tools")]);
        let reply = run(&mut client, action, &params, true);
        assert!(reply.is_error, "{action}: {}", reply.text);
        let requests = sent(&gitlab);
        let reads_it = |request: &String| request.contains("/groups/acme/epics/1");
        assert!(
            !requests.iter().any(reads_it) && requests.iter().all(|r| r.starts_with("GET")),
            "{requests:?}"
        );
    }
}

/// A read by an id that is of no project in the call may be of any: a rule that denies one covers it.
#[test]
fn a_read_by_an_id_alone_is_within_a_denied_path() {
    let file = deny_vault();
    for (action, params) in [
        ("registry_repository.get", json!({"repository_id": 7})),
        ("vulnerability_export.get", json!({"vulnerability_export_id": 7})),
        ("dependency_list_export.download", json!({"export_id": 7})),
        ("api.rest", json!({"method": "GET", "path": "/registry/repositories/7"})),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_POLICY", &file.path)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{action}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{action}: {:?}", sent(&gitlab));
    }
}

#[test]
fn a_denial_names_the_paths_that_are_allowed() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme/tools, acme/*-docs")]);
    let reply = run(&mut client, "issue.create", &json!({"fullPath": "acme/vault", "title": "x"}), true);
    assert_eq!(kind(&reply), "denied", "{}", reply.text);
    for named in ["acme/tools", "acme/*-docs", "GITLAB_ALLOWED_PATHS"] {
        assert!(reply.text.contains(named), "{named}: {}", reply.text);
    }
}

/// A label that is promoted is the group's, and takes those of other projects in; a renamed project leaves the rules on its path.
#[test]
fn a_result_in_the_group_of_an_allowed_project_is_outside() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme/widget")]);
    let note = |body: &str| json!({"fullPath": "acme/widget", "iid": 1, "body": body});
    let promotion = "mutation{promoteToEpic(input:{projectPath:\"acme/widget\",iid:\"1\"}){errors}}";
    for (action, params) in [
        ("label.promote", json!({"fullPath": "acme/widget", "name": "bug"})),
        ("milestone.promote", json!({"fullPath": "acme/widget", "milestone_id": 5})),
        ("issue.promote_to_epic", json!({"projectPath": "acme/widget", "iid": 1})),
        ("security_policy_project.create", json!({"fullPath": "acme/widget"})),
        ("project.update", json!({"fullPath": "acme/widget", "path": "gone"})),
        ("issue_note.create", note("/promote")),
        ("issue_note.create", note("/promote_to epic")),
        ("api.rest", json!({"method": "PUT", "path": "/projects/acme%2Fwidget/labels/bug/promote"})),
        ("api.rest", json!({"method": "PUT", "path": "/projects/acme%2Fwidget", "body": {"path": "gone"}})),
        ("api.graphql", json!({"document": promotion})),
    ] {
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{action} {params}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{action}: {:?}", sent(&gitlab));
    }
    let commit = |message: &str| {
        let actions = json!([{"action": "create", "file_path": "a", "content": "x"}]);
        json!({"fullPath": "acme/widget", "branch": "main", "commit_message": message, "actions": actions})
    };
    for message in
        ["Oil\n\nCloses acme/gear#1", "Fixes: #4, #5 and acme/gear#1.", "Implements issue acme/gear#1"]
    {
        let reply = run(&mut client, "commit.create", &commit(message), true);
        assert_eq!(kind(&reply), "denied", "{message}: {}", reply.text);
    }
    let request = json!({"fullPath": "acme/widget", "iid": 1, "description": "Resolves acme/gear#1"});
    assert_eq!(kind(&run(&mut client, "merge_request.update", &request, true)), "denied");
    for message in ["Closes #1", "See acme/gear#1", "Close the valve of acme/gear#1"] {
        let reply = run(&mut client, "commit.create", &commit(message), true);
        assert!(kind(&reply) != "denied", "{message}: {}", reply.text);
    }
    // The group is that of its own mutation, and not that of the first.
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme/tools,acme/widget")]);
    let document = format!(
        "mutation{{labelCreate(input:{{projectPath:\"acme/tools/cli\",title:\"x\"}}){{errors}} {}",
        promotion.trim_start_matches("mutation{")
    );
    let reply = run(&mut client, "api.graphql", &json!({"document": document}), true);
    assert_eq!(kind(&reply), "denied", "{document}: {}", reply.text);
    let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", "acme")]);
    let reply = run(&mut client, "label.promote", &json!({"fullPath": "acme/widget", "name": "bug"}), true);
    assert!(!reply.is_error, "{}", reply.text);
}
