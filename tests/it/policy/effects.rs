//! Policy decides on the effects of a call: raised risks, effects of other actions, quick actions.

use gitlab_mcp::policy::{Consent, Policy, PolicySettings, Ruling};
use serde_json::{Value, json};

use crate::policy::vault::{gitlab, is_only_located, kind, run, sent};
use crate::support::calls::{CATALOG, build_call};
use crate::support::client::{Client, EXECUTE};
use crate::support::scripted_gitlab::answer;

#[test]
fn quick_actions_are_decided_on_like_the_actions_that_they_stand_for() {
    let note = |body: &str| json!({"fullPath": "acme/widget", "iid": 1, "body": body});
    for (settings, action, params) in [
        (("GITLAB_DENIED_ACTIONS", "merge_request.merge"), "merge_request_note.create", note("LGTM\n/merge")),
        (("GITLAB_DENIED_ACTIONS", "issue.move"), "issue_note.create", note("/move other/secret")),
        (("GITLAB_DENIED_ACTIONS", "issue.update"), "issue_note.create", note("done\n\n/close")),
        (("GITLAB_ALLOWED_PATHS", "acme"), "issue_note.create", note("/move other/secret")),
        (
            ("GITLAB_ALLOWED_PATHS", "acme"),
            "issue.create",
            json!({"fullPath": "acme/widget", "title": "x", "description": "/clone other/secret"}),
        ),
        (
            ("GITLAB_DENIED_ACTIONS", "merge_request.merge"),
            "api.rest",
            json!({"method": "POST", "path": "/projects/acme%2Fwidget/merge_requests/1/notes", "body": {"body": "/merge"}}),
        ),
        (
            ("GITLAB_DENIED_ACTIONS", "merge_request.merge"),
            "api.graphql",
            json!({"document": "mutation($n: CreateNoteInput!) { createNote(input: $n) { errors } }", "variables": {"n": {"noteableId": "gid://gitlab/MergeRequest/1", "body": "/merge"}}}),
        ),
        (("GITLAB_QUICK_ACTIONS", "refuse"), "issue_note.create", note("/estimate 1h")),
        // A command makes another kind of object than the one with the text.
        (
            ("GITLAB_DENIED_ACTIONS", "merge_request.create"),
            "issue_note.create",
            note("/create_merge_request x"),
        ),
        (("GITLAB_DENIED_ACTIONS", "epic.create"), "issue_note.create", note("/promote")),
        (("GITLAB_DENIED_ACTIONS", "epic.add_issue"), "issue_note.create", note("/epic &1")),
        (("GITLAB_DENIED_ACTIONS", "epic_issue.assign"), "issue_note.create", note("/set_parent &1")),
        (
            ("GITLAB_DENIED_ACTIONS", "merge_request.request_changes"),
            "merge_request_note.create",
            note("/submit_review requested_changes"),
        ),
        // An epic without a path is one of the group.
        (("GITLAB_ALLOWED_PATHS", "acme/widget"), "issue_note.create", note("/epic &1")),
        (("GITLAB_ALLOWED_PATHS", "acme/widget"), "issue_note.create", note("/relate #2 &1")),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[settings]);
        let reply = run(&mut client, action, &params, true);
        assert!(reply.is_error, "{settings:?} {params}: {}", reply.text);
        let requests = sent(&gitlab);
        assert!(is_only_located(&requests), "{settings:?} {params}: {requests:?}");
    }
    // A destructive command needs confirmation by any route, and so does an unknown command.
    for body in ["/merge", "please\n/frobnicate now"] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[]);
        let reply = run(&mut client, "merge_request_note.create", &note(body), false);
        assert_eq!(kind(&reply), "needs_confirmation", "{body}: {}", reply.text);
    }
    for (allowed, body) in [("acme/widget", "/relate #2"), ("acme", "/epic &1")] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_ALLOWED_PATHS", allowed)]);
        let reply = run(&mut client, "issue_note.create", &note(body), true);
        assert!(!reply.is_error, "{body}: {}", reply.text);
    }
    // A page that anybody can see shows the issue.
    let gitlab = gitlab();
    let mut client = gitlab.client(&[]);
    assert_eq!(kind(&run(&mut client, "issue_note.create", &note("/publish"), false)), "needs_confirmation");
    let mut client = gitlab.client(&[("GITLAB_QUICK_ACTIONS", "escape")]);
    let reply = run(&mut client, "issue_note.create", &note("one\n/close"), false);
    assert!(!reply.is_error, "{}", reply.text);
    let body: Value = serde_json::from_slice(&gitlab.last("POST ").body).unwrap();
    assert_eq!(body["body"], "one\n\\/close");
}

/// A review asks about the quick actions in its comments before it posts any of them.
#[test]
fn a_review_is_asked_about_before_its_first_comment() {
    for settings in [("GITLAB_CONFIRM", "destructive"), ("GITLAB_CONFIRM", "destructive,token")] {
        let mut client = Client::sandbox_with(&[settings]);
        let comments = json!([{"body": "Reads well to me."}, {"body": "Ship it\n/merge"}]);
        let of = json!({"fullPath": "acme/widget", "iid": 1, "per_page": 100});
        let before = run(&mut client, "merge_request_discussion.list", &of, false).text;
        let review = json!({"fullPath": "acme/widget", "iid": 1, "comments": comments});
        let asked = run(&mut client, "merge_request.review", &review, false);
        assert_eq!(kind(&asked), "needs_confirmation", "{}", asked.text);
        assert_eq!(run(&mut client, "merge_request_discussion.list", &of, false).text, before);
        let drafts =
            run(&mut client, "draft_note.list", &json!({"fullPath": "acme/widget", "iid": 1}), false);
        assert!(!drafts.text.contains("Reads well"), "{}", drafts.text);
        let fix = asked.structured["error"]["fix"]["arguments"].clone();
        let done = client.call(EXECUTE, fix);
        assert!(!done.is_error && !done.text.contains("needs_confirmation"), "{}", done.text);
        assert!(run(&mut client, "merge_request_discussion.list", &of, false).text.contains("Reads well"));
    }
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "merge_request.merge")]);
    let review =
        json!({"fullPath": "acme/widget", "iid": 1, "comments": [{"body": "Fine"}, {"body": "/merge"}]});
    assert_eq!(kind(&run(&mut client, "merge_request.review", &review, true)), "denied");
}

#[test]
fn a_review_is_published_whole_or_not_at_all() {
    for setting in ["write,token", "write"] {
        let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", setting)]);
        let of = json!({"fullPath": "acme/widget", "iid": 5});
        let review = json!({
            "fullPath": "acme/widget", "iid": 5, "verdict": "approve",
            "comments": [{"body": "Reads well to me."}, {"body": "One more."}],
        });
        let asked = run(&mut client, "merge_request.review", &review, false);
        assert_eq!(kind(&asked), "needs_confirmation", "{}", asked.text);
        // The question names what will run, in its order.
        let hit = asked.structured["error"]["would_hit"].as_array().unwrap();
        let actions: Vec<&str> = hit.iter().map(|row| row["action"].as_str().unwrap()).collect();
        let expected =
            ["draft_note.create", "draft_note.create", "draft_note.publish_all", "merge_request.approve"];
        assert_eq!(actions, expected, "{}", asked.text);
        assert!(!run(&mut client, "draft_note.list", &of, false).text.contains("Reads well"));
        let done = client.call(EXECUTE, asked.structured["error"]["fix"]["arguments"].clone());
        assert!(!done.is_error && !done.text.contains("needs_confirmation"), "{setting}: {}", done.text);
        let threads = run(&mut client, "merge_request_discussion.list", &of, false).text;
        assert!(threads.contains("Reads well to me.") && threads.contains("One more."), "{threads}");
        assert!(!run(&mut client, "draft_note.list", &of, false).text.contains("Reads well"));
        let approvals = run(&mut client, "merge_request.get_approvals", &of, false);
        assert_eq!(approvals.structured["data"]["user_has_approved"], true, "{}", approvals.text);
    }
}

#[test]
fn a_review_whose_verdict_is_denied_posts_nothing() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "merge_request.approve")]);
    let of = json!({"fullPath": "acme/widget", "iid": 5});
    let review = json!({
        "fullPath": "acme/widget", "iid": 5, "verdict": "approve", "comments": [{"body": "Reads well to me."}],
    });
    let denied = run(&mut client, "merge_request.review", &review, true);
    assert_eq!(kind(&denied), "denied", "{}", denied.text);
    for list in ["draft_note.list", "merge_request_discussion.list"] {
        assert!(!run(&mut client, list, &of, false).text.contains("Reads well"), "{list}");
    }
}

#[test]
fn grants_and_raised_risks_are_asked_about() {
    let commit = |extra: Value, actions: Value| {
        let mut params =
            json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "x", "actions": actions});
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        params
    };
    let update = json!([{"action": "update", "file_path": "a", "content": "b"}]);
    let delete = json!([{"action": "update", "file_path": "a", "content": "b"}, {"action": "delete", "file_path": "c"}]);
    for (action, params, asks) in [
        (
            "deploy_token.create",
            json!({"fullPath": "acme/widget", "scope": "project", "name": "x", "scopes": ["read_registry"]}),
            true,
        ),
        (
            "webhook.create",
            json!({"fullPath": "acme/widget", "scope": "project", "url": "https://x.example"}),
            true,
        ),
        ("commit.create", commit(json!({}), update.clone()), false),
        ("commit.create", commit(json!({}), delete), true),
        ("commit.create", commit(json!({"start_branch": "old", "force": true}), update), true),
        (
            "member.add",
            json!({"fullPath": "acme/widget", "scope": "project", "user_id": 3, "access_level": 30}),
            false,
        ),
        (
            "member.add",
            json!({"fullPath": "acme/widget", "scope": "project", "user_id": 3, "access_level": 40}),
            true,
        ),
        (
            "member.add",
            json!({"fullPath": "acme/widget", "scope": "project", "user_id": 3, "access_level": 50}),
            true,
        ),
        ("project.update", json!({"fullPath": "acme/widget", "visibility": "public"}), true),
        ("project.update", json!({"fullPath": "acme/widget", "description": "x"}), false),
        (
            "api.rest",
            json!({"method": "PUT", "path": "/projects/acme%2Fwidget", "body": {"visibility": "public"}}),
            true,
        ),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[]);
        let reply = run(&mut client, action, &params, false);
        assert_eq!(kind(&reply) == "needs_confirmation", asks, "{action} {params}: {}", reply.text);
    }
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_CONFIRM", "destructive")]);
    let hook = json!({"fullPath": "acme/widget", "scope": "project", "url": "https://x.example"});
    assert!(!run(&mut client, "webhook.create", &hook, false).is_error);
    let mut client = gitlab.client(&[("GITLAB_CONFIRM", "write")]);
    let issue = json!({"fullPath": "acme/widget", "title": "x"});
    assert_eq!(kind(&run(&mut client, "issue.create", &issue, false)), "needs_confirmation");
}

/// True if the default policy asks about a raw request.
fn is_asked_about(id: &str, params: &Value) -> bool {
    let action = CATALOG.get(id).unwrap().unwrap();
    let call = build_call(&action, params.as_object().unwrap().clone(), 7).unwrap().unwrap();
    let policy = Policy::new(PolicySettings::default(), &CATALOG).unwrap();
    matches!(policy.decide(call.effects(), Consent::default()), Ruling::Confirm(_))
}

/// A level that is no number may be any role: `OWNER` counts as the highest.
#[test]
fn a_role_by_its_name_is_asked_about_like_its_number() {
    for (level, asks) in [
        (json!("OWNER"), true),
        (json!("maintainer"), true),
        (json!(" 40"), true),
        (json!([30, "owner"]), true),
        (json!(50), true),
        (json!("30"), false),
        (json!(30), false),
    ] {
        let body = json!({"user_id": 3, "access_level": level});
        let request = json!({"method": "POST", "path": "/projects/acme%2Fwidget/members", "body": body});
        assert_eq!(is_asked_about("api.rest", &request), asks, "{level}");
    }
}

#[test]
fn the_default_of_a_variable_is_a_value_of_the_call() {
    let document = "mutation($actions: [CommitAction!]! = [{action: DELETE, filePath: \"a\"}]) { \
        commitCreate(input: {projectPath: \"acme/widget\", branch: \"main\", message: \"x\", actions: $actions}) \
        { errors } }";
    let update = json!([{"action": "UPDATE", "filePath": "a", "content": "b"}]);
    for (variables, asks) in [
        (json!({}), true),
        (json!({"other": update}), true),
        (json!({"actions": update}), false),
        (json!({"actions": [{"action": "DELETE", "filePath": "a"}]}), true),
    ] {
        let request = json!({"document": document, "variables": variables});
        assert_eq!(is_asked_about("api.graphql", &request), asks, "{variables}");
    }
}

#[test]
fn a_denied_action_is_denied_by_every_action_with_its_effect() {
    for (denied, action, params) in [
        (
            "issue_note.delete",
            "api.graphql",
            json!({"document": "mutation { destroyNote(input: {id: \"gid://gitlab/Note/1\"}) { errors } }"}),
        ),
        (
            "issue_note.delete",
            "issue_discussion_note.delete",
            json!({"fullPath": "acme/widget", "iid": 1, "discussion_id": "a", "note_id": 1}),
        ),
        ("issue.delete", "work_item.delete", json!({"id": 1})),
        (
            "issue.delete",
            "api.graphql",
            json!({"document": "mutation { workItemDelete(input: {id: \"gid://gitlab/WorkItem/1\"}) { errors } }"}),
        ),
        ("merge_request.merge", "merge_train.add", json!({"fullPath": "acme/widget", "iid": 1})),
        (
            "repository_file.delete",
            "commit.create",
            json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "x", "actions": [{"action": "delete", "file_path": "a"}]}),
        ),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{denied} by {action}: {}", reply.text);
        let requests = sent(&gitlab);
        assert!(is_only_located(&requests), "{requests:?}");
    }
}

#[test]
fn an_effect_that_a_parameter_adds_is_denied_only_with_it() {
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "*.delete,branch.create")]);
    let commit = |extra: Value| {
        let mut params = json!({
            "fullPath": "acme/widget", "branch": "main", "commit_message": "x",
            "actions": [{"action": "update", "file_path": "a", "content": "b"}],
        });
        params.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        params
    };
    let gone = json!({"actions": [{"action": "delete", "file_path": "a"}]});
    for (extra, is_denied) in [(json!({}), false), (gone, true), (json!({"start_branch": "main"}), true)] {
        let reply = run(&mut client, "commit.create", &commit(extra.clone()), true);
        assert_eq!(kind(&reply) == "denied", is_denied, "{extra}: {}", reply.text);
    }
}

#[test]
fn nothing_is_offered_that_a_rule_keeps_from_running() {
    let mut client = gitlab().client(&[("GITLAB_READ_ONLY", "true")]);
    let found = client.call("gitlab_find_action", json!({"query": "deployment frobnicate"}));
    let suggested = found.structured["suggestions"].to_string();
    for id in ["deployment.create", "deployment.update", "deployment.delete"] {
        assert!(!suggested.contains(id), "{}", found.text);
    }
    let denied =
        [("GITLAB_DENIED_ACTIONS", "merge_request_discussion.create"), ("TOOL_SURFACE", "individual")];
    let mut client = gitlab().client(&denied);
    let mut names = String::new();
    let mut cursor = Value::Null;
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({"cursor": cursor}) };
        let page = client.request("tools/list", params)["result"].clone();
        names.push_str(&page["tools"].to_string());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(names.contains("\"issue_list\"") && !names.contains("merge_request_comment_on_line"));
}

/// Grape reads null and a blank text of a flag as nothing, which GitLab's columns take for off.
#[test]
fn null_and_blank_switch_a_protection_off_and_are_asked_about() {
    let group = |body: Value| json!({"method": "PUT", "path": "/groups/acme", "body": body});
    let project = |query: Value| json!({"method": "PUT", "path": "/projects/acme%2Fwidget", "query": query});
    let merges = "only_allow_merge_if_all_discussions_are_resolved";
    for params in [
        group(json!({"membership_lock": null})),
        group(json!({"share_with_group_lock": ""})),
        group(json!({"share_with_group_lock": " \t"})),
        group(json!({"ip_restriction_ranges": null})),
        group(json!({"default_branch_protection_defaults": {"code_owner_approval_required": null}})),
        group(json!({"default_branch_protection_defaults": null})),
        // The object is replaced as a whole: what it leaves out protects no longer.
        group(json!({"default_branch_protection_defaults": {}})),
        group(json!({"default_branch_protection_defaults": {"allow_force_push": false}})),
        project(json!({merges: ""})),
        project(json!({merges: "false"})),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[]), "api.rest", &params, false);
        assert_eq!(kind(&reply), "needs_confirmation", "{params}: {}", reply.text);
        assert!(sent(&gitlab).iter().all(|request| request.starts_with("GET ")), "{params}");
    }
    let gitlab = gitlab();
    let reply = run(&mut gitlab.client(&[]), "api.rest", &group(json!({"membership_lock": true})), false);
    assert!(!reply.is_error, "{}", reply.text);
    let off = "mutation { updateIssue(input: {projectPath: \"acme/widget\", iid: \"1\", confidential: null}) { errors } }";
    let reply = run(&mut gitlab.client(&[]), "api.graphql", &json!({"document": off}), false);
    assert_eq!(kind(&reply), "needs_confirmation", "{}", reply.text);
}

#[test]
fn what_opens_a_project_or_sends_data_out_is_asked_about_by_each_interface() {
    let rule = "gid://gitlab/ContainerRegistry::Protection::Rule/1";
    let package = "gid://gitlab/Packages::Protection::Rule/1";
    for (action, params) in [
        ("project.update", json!({"fullPath": "acme/widget", "repository_access_level": "enabled"})),
        ("project.update", json!({"fullPath": "acme/widget", "wiki_enabled": true})),
        ("group.update", json!({"fullPath": "acme", "wiki_access_level": "enabled"})),
        ("project.update", json!({"fullPath": "acme/widget", "import_url": "https://x.example/a.git"})),
        ("duo_settings.update", json!({"aiGatewayUrl": "https://x.example"})),
        (
            "graphql.update_container_protection_repository_rule",
            json!({"id": rule, "minimumAccessLevelForPush": "MAINTAINER"}),
        ),
        (
            "graphql.update_packages_protection_rule",
            json!({"id": package, "minimumAccessLevelForPush": "MAINTAINER"}),
        ),
        (
            "security_settings.set_secret_push_protection_in_group",
            json!({"fullPath": "acme", "secretPushProtectionEnabled": false}),
        ),
        (
            "api.rest",
            json!({"method": "PUT", "path": "/projects/acme%2Fwidget", "body": {"repository_access_level": "enabled"}}),
        ),
        (
            "api.graphql",
            json!({"document": "mutation { duoSettingsUpdate(input: {aiGatewayUrl: \"https://x.example\"}) { errors } }"}),
        ),
    ] {
        let gitlab = gitlab();
        // What a question shows is looked up.
        gitlab.json("/.*", &json!({"id": 1}));
        gitlab.answer(
            "POST",
            "/graphql",
            answer(200, json!({"data": {"duoSettings": {"aiGatewayUrl": null}}})),
        );
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        assert_eq!(kind(&reply), "needs_confirmation", "{action} {params}: {}", reply.text);
    }
    let gitlab = gitlab();
    let close = json!({"fullPath": "acme/widget", "repository_access_level": "private"});
    assert!(!run(&mut gitlab.client(&[]), "project.update", &close, false).is_error);
}

#[test]
fn a_denied_action_is_denied_by_a_parameter_that_does_the_same() {
    let item = |part: Value| {
        let mut params = json!({"fullPath": "acme/widget", "title": "x", "workItemTypeId": "gid://gitlab/WorkItems::Type/1"});
        params.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        params
    };
    let id = "gid://gitlab/WorkItem/9";
    for (denied, action, params) in [
        (
            "issue_link.create",
            "work_item.create",
            item(json!({"linkedItemsWidget": {"workItemsIds": [id], "linkType": "BLOCKS"}})),
        ),
        ("epic_issue.assign", "work_item.create", item(json!({"hierarchyWidget": {"parentId": id}}))),
        (
            "issue_reaction.create",
            "work_item.update",
            json!({"id": id, "awardEmojiWidget": {"action": "ADD", "name": "thumbsup"}}),
        ),
        (
            "merge_request_discussion.resolve",
            "work_item.create",
            item(json!({"discussionsToResolve": {"noteableId": "gid://gitlab/MergeRequest/1"}})),
        ),
        (
            "discussion.toggle_resolve",
            "issue.create",
            json!({"fullPath": "acme/widget", "title": "x", "merge_request_to_resolve_discussions_of": 1}),
        ),
        (
            "discussion.toggle_resolve",
            "api.graphql",
            json!({"document": "mutation { createIssue(input: {projectPath: \"acme/widget\", title: \"x\", mergeRequestToResolveDiscussionsOf: \"gid://gitlab/MergeRequest/1\"}) { errors } }"}),
        ),
        (
            "personal_access_token.create_self",
            "personal_access_token.create_for_user",
            json!({"user_id": 3, "name": "x", "scopes": ["api"]}),
        ),
        (
            "draft_note.publish_all",
            "merge_request.approve",
            json!({"fullPath": "acme/widget", "iid": 1, "publish_review": true}),
        ),
        (
            "merge_request.request_changes",
            "draft_note.publish_all",
            json!({"fullPath": "acme/widget", "iid": 1, "reviewer_state": "requested_changes"}),
        ),
        ("epic.add_issue", "issue.update", json!({"fullPath": "acme/widget", "iid": 1, "epic_id": "acme&1"})),
        // GitLab creates a label that it does not know.
        (
            "label.create",
            "api.rest",
            json!({"method": "PUT", "path": "/projects/acme%2Fwidget/issues/1", "body": {"add_labels": "new"}}),
        ),
        (
            "label.create",
            "api.graphql",
            json!({"document": "mutation { createIssue(input: {projectPath: \"acme/widget\", title: \"x\", labels: [\"new\"]}) { errors } }"}),
        ),
    ] {
        let gitlab = gitlab();
        let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{denied} by {action}: {}", reply.text);
        assert!(is_only_located(&sent(&gitlab)), "{action}: {:?}", sent(&gitlab));
    }
    // Without the part, the action is another one.
    let gitlab = gitlab();
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "issue_link.create,issue_reaction.create")]);
    assert_ne!(kind(&run(&mut client, "work_item.create", &item(json!({})), true)), "denied");
}

/// Labels that cannot be compared with the existing ones are none that may be created, and some that are taken off create none.
#[test]
fn no_label_is_created_where_that_is_denied() {
    let gitlab = gitlab();
    gitlab.answer("GET", "/labels", answer(403, json!({"message": "403 Forbidden"})));
    let labels = |name: &str| json!({"fullPath": "acme/widget", "iid": 1, name: ["new"]});
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "label.create")]);
    assert_eq!(kind(&run(&mut client, "issue.update", &labels("add_labels"), true)), "denied");
    assert!(
        is_only_located(&sent(&gitlab)) || !sent(&gitlab).iter().any(|request| request.starts_with("PUT"))
    );
    let raw = json!({"method": "PUT", "path": "/projects/acme%2Fwidget/issues/1", "body": {"remove_labels": "new"}});
    assert_ne!(kind(&run(&mut client, "api.rest", &raw, true)), "denied");
}

#[test]
fn items_that_need_confirmation_are_asked_about_once() {
    let created = json!({"items": [
        {"itemType": "issue", "fullPath": "acme/widget", "title": "Oil the gears"},
        {"itemType": "label", "fullPath": "acme/widget", "title": "squeaky", "color": "#00ff00"},
    ]});
    let changed = json!({"items": [
        {"itemType": "issue", "fullPath": "acme/widget", "iid": 1, "title": "Quiet gears"},
        {"itemType": "merge_request", "fullPath": "acme/widget", "iid": 5, "title": "Draft: gears"},
    ]});
    for setting in ["write", "write,token"] {
        for (action, items, called) in [
            ("resource.create", &created, ["issue.create", "label.create"]),
            ("resource.update", &changed, ["issue.update", "merge_request.update"]),
        ] {
            let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", setting)]);
            let asked = run(&mut client, action, items, false);
            assert_eq!(kind(&asked), "needs_confirmation", "{}", asked.text);
            let hit = asked.structured["error"]["would_hit"].as_array().unwrap();
            let actions: Vec<&str> = hit.iter().map(|row| row["action"].as_str().unwrap()).collect();
            assert_eq!(actions, called, "{}", asked.text);
            let message = asked.structured["error"]["message"].as_str().unwrap();
            assert!(message.contains(": it changes something. Nothing was changed"), "{message}");
            let done = client.call(EXECUTE, asked.structured["error"]["fix"]["arguments"].clone());
            let rows = done.structured["data"].as_array().unwrap();
            assert!(rows.iter().all(|row| row["status"] == "ok"), "{setting}: {}", done.text);
        }
    }
}

/// A call may open a protection, send comments out, run another's pipeline file, or delete a branch later on.
#[test]
fn what_gives_access_by_a_side_door_takes_consent() {
    let widget = |more: Value| {
        let mut params = json!({"fullPath": "acme/widget"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    for (action, params) in [
        ("project.update", widget(json!({"ci_config_path": "https://elsewhere.example/ci.yml"}))),
        ("project.update", widget(json!({"ci_config_path": ".gitlab-ci.yml@other/project"}))),
        ("issue_note.create", widget(json!({"iid": 1, "body": "/add_email eve@elsewhere.example"}))),
        ("issue_note.create", widget(json!({"iid": 1, "body": "/invite_email eve@elsewhere.example"}))),
        ("issue_note.create", widget(json!({"iid": 1, "body": "/convert_to_ticket eve@elsewhere.example"}))),
        ("push_rule.update", widget(json!({"file_name_regex": ""}))),
        ("push_rule.update", widget(json!({"max_file_size": 0}))),
        ("protected_branch.create", widget(json!({"name": "*", "push_access_level": "developer"}))),
        ("protected_branch.create", widget(json!({"name": "*", "allow_force_push": true}))),
        ("protected_tag.create", widget(json!({"name": "*", "create_access_level": 30}))),
        // The most permissive of several matching rules counts: `mai*` opens `main`, which another closes.
        ("protected_branch.create", widget(json!({"name": "mai*"}))),
        ("protected_tag.create", widget(json!({"name": "v7*"}))),
        ("branch_rule.create", widget(json!({"name": "mai*"}))),
        (
            "protected_environment.create",
            widget(json!({"name": "p", "deploy_access_levels": [{"user_id": 3}]})),
        ),
        (
            "protected_environment.create",
            widget(json!({"name": "p", "deploy_access_levels": [{"access_level": 30}]})),
        ),
        // A rule with another pattern, a shorter freeze, a filter that is gone, a part of GitLab that is switched on.
        (
            "package_protection_rule.update",
            widget(json!({"package_protection_rule_id": 1, "package_name_pattern": "nothing"})),
        ),
        (
            "registry_tag_protection_rule.update",
            widget(json!({"protection_rule_id": 1, "tag_name_pattern": "nothing"})),
        ),
        ("freeze_period.update", widget(json!({"freeze_period_id": 1, "freeze_end": "1 23 * * 5"}))),
        ("audit_event_namespace_filter.delete", json!({"scope": "group", "namespaceFilterId": 1})),
        (
            "audit_event_type_filter.remove",
            json!({"scope": "group", "destinationId": 1, "eventTypeFilters": ["x"]}),
        ),
        ("feature.set", json!({"name": "x", "value": "true"})),
        ("merge_request.update", widget(json!({"iid": 1, "allow_collaboration": true}))),
        (
            "maven_virtual_registry_upstream.test",
            json!({"fullPath": "acme", "url": "https://elsewhere.example"}),
        ),
        (
            "container_virtual_registry_upstream.test_with_changes",
            json!({"id": 1, "url": "https://elsewhere.example"}),
        ),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        // An object that this GitLab does not have has no question about it; what is sent is looked at below.
        let is_asked = ["needs_confirmation", "not_found"].contains(&kind(&reply).as_str());
        assert!(is_asked, "{action} {params}: {}", reply.text);
        let reply = run(&mut gitlab.client(&[("GITLAB_READ_ONLY", "true")]), action, &params, true);
        assert!(["denied", "unknown_action"].contains(&kind(&reply).as_str()), "{action}: {}", reply.text);
        let requests = sent(&gitlab);
        assert!(
            requests.iter().all(|request| request.starts_with("GET ")),
            "{action} {params}: {requests:?}"
        );
    }
    for (denied, action, params) in [
        ("branch.delete", "merge_request.update", widget(json!({"iid": 1, "remove_source_branch": true}))),
        (
            "branch.create",
            "commit.create",
            widget(
                json!({"branch": "b", "start_sha": "main", "commit_message": "m", "actions": [{"action": "create", "file_path": "a", "content": "x"}]}),
            ),
        ),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[("GITLAB_DENIED_ACTIONS", denied)]), action, &params, true);
        assert_eq!(kind(&reply), "denied", "{action}: {}", reply.text);
    }
    let mut client = Client::sandbox();
    for (params, is_asked) in
        [(widget(json!({"file_name_regex": ""})), true), (widget(json!({"prevent_secrets": true})), false)]
    {
        let reply = run(&mut client, "push_rule.update", &params, false);
        assert_eq!(kind(&reply) == "needs_confirmation", is_asked, "{params}: {}", reply.text);
    }
    // Guards of merge trains, roles, deployments and checks; a lock asks where it is off.
    for (action, params, asks) in [
        ("ci_cd_settings.update", json!({"fullPath": "acme/widget", "mergeTrainsEnabled": false}), true),
        ("ci_cd_settings.update", json!({"fullPath": "acme/widget", "mergeTrainsEnabled": true}), false),
        ("project.update", widget(json!({"merge_trains_enabled": false})), true),
        ("project.update", widget(json!({"ci_restrict_pipeline_cancellation_role": "developer"})), true),
        ("project.update", widget(json!({"ci_restrict_pipeline_cancellation_role": "maintainer"})), false),
        ("project.update", widget(json!({"ci_forward_deployment_enabled": false})), true),
        (
            "package_settings.update",
            json!({"namespacePath": "acme", "lockMavenPackageRequestsForwarding": false}),
            true,
        ),
        (
            "package_settings.update",
            json!({"namespacePath": "acme", "lockMavenPackageRequestsForwarding": true}),
            false,
        ),
        (
            "package_settings.update",
            json!({"namespacePath": "acme", "rubygemsPackageRequestsForwarding": true}),
            true,
        ),
    ] {
        assert_eq!(is_asked_about(action, &params), asks, "{action} {params}");
    }
    // A list that a change empties is changed.
    assert!(is_asked_about("security_scan_profile.update", &json!({"id": 1, "triggers": []})));
    assert!(!is_asked_about("security_scan_profile.update", &json!({"id": 1, "name": "x"})));
    // A rule that loosens nothing is not asked about.
    let gitlab = gitlab();
    for (action, params) in [
        (
            "protected_environment.create",
            widget(json!({"name": "p", "deploy_access_levels": [{"access_level": 40}]})),
        ),
        ("merge_request.update", widget(json!({"iid": 1, "remove_source_branch": true}))),
    ] {
        let reply = run(&mut gitlab.client(&[]), action, &params, false);
        assert!(kind(&reply) != "needs_confirmation", "{action}: {}", reply.text);
    }
}

/// A read by its method makes GitLab merge, keep a file or hand out a token.
#[test]
fn a_read_that_makes_gitlab_write_is_none() {
    let widget = |more: Value| {
        let mut params = json!({"fullPath": "acme/widget"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let raw = |path: &str| json!({"method": "GET", "path": path});
    for (action, params) in [
        ("merge_request.get_merge_ref", widget(json!({"iid": 1}))),
        ("repository.get_health", widget(json!({"generate": true}))),
        ("merge_request.list", widget(json!({"with_merge_status_recheck": true}))),
        ("api.rest", raw("/projects/1/merge_requests/1/merge_ref")),
        ("api.rest", raw("/projects/1/repository/health?generate=true")),
        ("api.rest", raw("/projects/1/dependency_proxy/packages/maven/a/b/c.jar")),
        ("api.rest", raw("/packages/conan/v1/users/authenticate")),
    ] {
        let gitlab = gitlab();
        let reply = run(&mut gitlab.client(&[("GITLAB_READ_ONLY", "true")]), action, &params, true);
        assert!(
            ["denied", "unknown_action"].contains(&kind(&reply).as_str()),
            "{action} {params}: {}",
            reply.text
        );
        assert!(is_only_located(&sent(&gitlab)), "{action} {params}");
    }
    let gitlab = gitlab();
    for (action, params) in [
        ("repository.get_health", widget(json!({}))),
        ("merge_request.list", widget(json!({"with_merge_status_recheck": false}))),
    ] {
        let reply = run(&mut gitlab.client(&[("GITLAB_READ_ONLY", "true")]), action, &params, true);
        assert_ne!(kind(&reply), "denied", "{action}: {}", reply.text);
    }
}

/// A file is read by three actions, comments by two, and an issue is a work item.
#[test]
fn what_may_not_be_read_is_not_read_another_way() {
    let at = |more: Value| {
        let mut params = json!({"fullPath": "acme/widget"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let file = at(json!({"file_path": "README.md", "ref": "main"}));
    for (denied, action, params) in [
        ("repository_file.get", "repository_file.get_raw", file.clone()),
        ("repository_file.get_raw", "repository_file.get", file),
        ("repository_file.get", "repository.read_files", at(json!({"paths": ["README.md"]}))),
        ("repository_file.get", "search.run", at(json!({"scope": "blobs", "search": "gear"}))),
        ("issue.get", "work_item.get", at(json!({"iid": 3}))),
        ("issue.list", "work_item.list", at(json!({}))),
        ("issue.list", "search.run", json!({"scope": "issues", "search": "gear"})),
        ("issue_note.list", "issue_discussion.list", at(json!({"iid": 3}))),
        ("merge_request_note.list", "merge_request_discussion.list", at(json!({"iid": 5}))),
    ] {
        let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{denied}: {action}: {}", reply.text);
    }
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "epic.get")]);
    let reply = run(&mut client, "issue.get", &at(json!({"iid": 3})), false);
    assert!(!reply.is_error, "{}", reply.text);
}

/// An alias, a bulk form or a neighbouring setting did what the known one asks about.
#[test]
fn a_setting_by_another_name_takes_the_same_consent() {
    let mut client = Client::sandbox();
    let project = |name: &str, value: Value| {
        let mut params = json!({"fullPath": "acme/widget"});
        params[name] = value;
        params
    };
    let group = |name: &str, value: Value| {
        let mut params = json!({"fullPath": "acme"});
        params[name] = value;
        params
    };
    for (action, params) in [
        ("project.update", project("protect_merge_request_pipelines", json!(true))),
        ("project.update", project("merge_request_title_regex", json!(""))),
        ("project.update", project("ci_separated_caches", json!(false))),
        ("project.update", project("keep_latest_artifact", json!(false))),
        ("project.update", project("cicd_catalog_enabled", json!(false))),
        ("project.update", project("service_desk_enabled", json!(true))),
        ("group.update", group("default_branch_protection", json!(1))),
        ("group.update", group("require_sha_for_merge", json!(false))),
        ("group.update", group("step_up_auth_required_oauth_provider", json!(""))),
        (
            "ci_variable.update",
            json!({"fullPath": "acme/widget", "key": "OIL_GRADE", "environment_scope": "*"}),
        ),
        ("project_import.create", json!({"path": "x", "file": {"filename": "x.tgz", "content": "x"}})),
    ] {
        let reply = run(&mut client, action, &params, false);
        assert_eq!(kind(&reply), "needs_confirmation", "{action} {params}: {}", reply.text);
    }
    for (denied, action, params) in [
        ("branch.delete", "project.update", project("remove_source_branch_after_merge", json!(true))),
        (
            "repository_file.get",
            "blob.get_raw",
            project("sha", json!("0123456789abcdef0123456789abcdef01234567")),
        ),
        ("repository_file.get", "repository.download_archive", json!({"fullPath": "acme/widget"})),
        (
            "member.add",
            "project.share",
            json!({"fullPath": "acme/widget", "group_id": "acme/tools", "group_access": 30}),
        ),
        ("merge_request.list_diffs", "merge_request.get_raw_diffs", project("iid", json!(5))),
        (
            "pipeline.create",
            "pipeline_schedule.create",
            json!({"fullPath": "acme/widget", "description": "d", "ref": "main", "cron": "* * * * *"}),
        ),
    ] {
        let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let reply = run(&mut client, action, &params, true);
        assert_eq!(kind(&reply), "denied", "{denied}: {action}: {}", reply.text);
    }
}
