//! Actions run over stdio on the sandbox: requests, answers and refusals.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, execute, follow, refused, succeed};

#[test]
fn what_find_offers_runs_as_it_stands() {
    let mut client = Client::sandbox();
    let found = client.call("gitlab_find_action", json!({"query": "list the branches of a project"}));
    let example = found.structured["results"][0]["example"].clone();
    assert_eq!(example["action"], "branch.list", "{}", found.text);
    let reply = client.call(EXECUTE, example);
    assert!(!reply.is_error, "{}", reply.text);
    assert!(reply.text.contains("main"), "{}", reply.text);
}

#[test]
fn an_issue_is_created_changed_and_found_again() {
    let mut client = Client::sandbox();
    let created = succeed(
        &mut client,
        "issue.create",
        json!({"fullPath": "acme/widget", "title": "Squeaks | when cold", "labels": ["bug", "new"], "create_labels": true}),
    );
    let iid = created["data"]["iid"].as_u64().unwrap();
    let named = json!({"fullPath": "acme/widget", "iid": iid, "state_event": "close"});
    assert_eq!(succeed(&mut client, "issue.update", named)["data"]["state"], "closed");
    let listed = execute(
        &mut client,
        "issue.list",
        json!({"fullPath": "acme/widget", "labels": ["bug", "new"], "state": "closed"}),
    );
    let rows = listed.structured["data"].as_array().unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["labels"], json!(["bug", "new"]));
    assert_eq!(rows[0]["author"], "sandbox", "a user is its name");
    assert!(listed.text.contains("|Squeaks \\| when cold|"), "{}", listed.text);
}

#[test]
fn an_issue_link_without_a_target_project_stays_in_the_project() {
    let mut client = Client::sandbox();
    let call = json!({"fullPath": "acme/widget", "iid": 7, "target_issue_iid": 9});
    let arguments = json!({"action": "issue_link.create", "params": call, "dry_run": true});
    let shown = client.call(EXECUTE, arguments);
    assert!(!shown.is_error, "{}", shown.text);
    let request = shown.structured.to_string();
    assert_eq!(shown.structured["request"]["body"]["target_project_id"], 1, "{request}");
    assert_eq!(shown.structured["resolved"]["target_project_id"], "acme/widget -> 1", "{request}");
    assert!(!request.contains("{fullPath}"), "{request}");
    let found = client.call("gitlab_find_action", json!({"query": "issue_link.create"}));
    assert!(found.text.contains("target_project_id?"), "{}", found.text);
}

#[test]
fn resolving_a_thread_needs_no_flag_and_reopening_does() {
    let mut client = Client::sandbox();
    let thread = "6a9c1750b37d513a43987b574953fceb50b03ce7";
    let mut body = |more: Value| {
        let mut params = json!({"fullPath": "acme/widget", "iid": 12, "discussion_id": thread});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let arguments =
            json!({"action": "merge_request_discussion.resolve", "params": params, "dry_run": true});
        let shown = client.call(EXECUTE, arguments);
        assert!(!shown.is_error, "{}", shown.text);
        shown.structured.to_string()
    };
    assert!(body(json!({})).contains("\"resolved\":true"));
    assert!(body(json!({"resolved": false})).contains("\"resolved\":false"));
}

#[test]
fn pages_come_back_as_the_exact_next_call() {
    let mut client = Client::sandbox();
    let mut reply = execute(&mut client, "issue.list", json!({"fullPath": "acme/widget", "per_page": 20}));
    let mut seen = Vec::new();
    let total = reply.structured["page"]["total"].as_u64().unwrap();
    for _ in 0..10 {
        let rows = reply.structured["data"].as_array().unwrap();
        seen.extend(rows.iter().map(|row| row["iid"].as_u64().unwrap()));
        let next = reply.structured["page"]["next"].clone();
        if next.is_null() {
            break;
        }
        assert!(reply.text.contains(&next.to_string()), "the text says the same call");
        reply = follow(&mut client, &next);
    }
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((seen.len() as u64, distinct.len() as u64), (total, total));
    assert!(total > 40);
}

#[test]
fn keyset_pages_come_back_as_the_exact_next_call() {
    let mut client = Client::sandbox();
    let first = execute(
        &mut client,
        "project.list",
        json!({"pagination": "keyset", "order_by": "id", "per_page": 1, "scope": "instance"}),
    );
    assert!(!first.is_error, "{}", first.text);
    let next = first.structured["page"]["next"].clone();
    assert!(next.is_object(), "{}", first.structured);
    let second = follow(&mut client, &next);
    assert!(!second.is_error, "{}", second.text);
    assert_ne!(first.structured["data"], second.structured["data"]);
}

#[test]
fn a_page_larger_than_the_budget_is_continued_and_not_cut() {
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", "4000")]);
    let mut reply = execute(&mut client, "issue.list", json!({"fullPath": "acme/widget", "per_page": 45}));
    assert!(reply.structured["page"]["shown"].as_u64() < reply.structured["page"]["came"].as_u64());
    let mut seen = Vec::new();
    while seen.len() < 100 {
        let rows = reply.structured["data"].as_array().unwrap().clone();
        seen.extend(rows.iter().map(|row| row["iid"].as_u64().unwrap()));
        match reply.structured["page"]["next"].clone() {
            Value::Null => break,
            next => reply = follow(&mut client, &next),
        }
    }
    let expected: Vec<u64> = (1..=45).rev().collect();
    assert_eq!(seen, expected);
}

#[test]
fn a_long_text_is_read_in_stretches() {
    let mut client = Client::sandbox_with(&[("GITLAB_MAX_BYTES", "20000")]);
    let jobs =
        succeed(&mut client, "pipeline.list_jobs", json!({"fullPath": "acme/widget", "pipeline_id": 302}));
    let failed = jobs["data"].as_array().unwrap().iter().find(|job| job["name"] == "unit").unwrap();
    let named = json!({"fullPath": "acme/widget", "job_id": failed["id"]});
    let mut reply = execute(&mut client, "job.log", named);
    let mut whole = String::new();
    for _ in 0..100 {
        whole.insert_str(0, reply.structured["data"].as_str().unwrap());
        match reply.structured["omitted"]["text"]["before"].clone() {
            Value::Null => break,
            before => reply = follow(&mut client, &before),
        }
    }
    assert!(whole.len() > 80_000, "{} bytes", whole.len());
    assert!(!whole.contains('\u{1b}'), "no terminal codes");
    assert!(whole.starts_with("Running with sandbox-runner 18.9.0\n"), "{}", &whole[..100]);
    assert!(whole.ends_with("\nERROR: Job failed: exit code 101\n"), "{}", &whole[whole.len() - 100..]);
}

#[test]
fn fields_select_and_say_what_there_is_not() {
    let mut client = Client::sandbox();
    let arguments = json!({
        "action": "merge_request.get", "params": {"fullPath": "acme/widget", "iid": 5},
        "fields": ["title", "author.username", "nonsense"],
    });
    let reply = client.call(EXECUTE, arguments);
    assert_eq!(reply.structured["data"], json!({"title": "Quieter gears", "author": {"username": "alice"}}));
    assert!(reply.structured["notes"].to_string().contains("no field nonsense"), "{}", reply.structured);
}

#[test]
fn the_full_view_is_what_gitlab_sent() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 5});
    let compact = succeed(&mut client, "merge_request.get", params.clone());
    let full = client
        .call(EXECUTE, json!({"action": "merge_request.get", "params": params, "view": "full"}))
        .structured;
    assert_eq!(compact["data"]["author"], "alice");
    assert_eq!(full["data"]["author"]["username"], "alice");
    assert!(full["data"]["references"].is_object() && compact["data"]["references"].is_null());
    assert_eq!(compact["data"]["reference"], full["data"]["references"]["full"]);
    let list = succeed(&mut client, "merge_request.list", json!({"fullPath": "acme/widget"}));
    assert!(list["not_shown"].to_string().contains("\"description\""), "omitted fields are named: {list}");
}

#[test]
fn an_epics_note_is_written_by_its_iid() {
    let mut client = Client::sandbox();
    succeed(&mut client, "epic_note.create", json!({"fullPath": "acme", "iid": "&1", "body": "On it"}));
    let listed = succeed(&mut client, "epic_note.list", json!({"fullPath": "acme", "iid": 1}));
    assert!(listed["data"].to_string().contains("On it"));
}

#[test]
fn a_path_is_asked_for_what_it_names() {
    let mut client = Client::sandbox();
    for (path, operation) in
        [("acme", "POST /groups/:id/variables"), ("acme/widget", "POST /projects/:id/variables")]
    {
        let params = json!({"fullPath": path, "key": "REGION", "value": "1"});
        let call = json!({"action": "ci_variable.create", "params": params, "dry_run": true});
        assert_eq!(client.call(EXECUTE, call).structured["operation"], operation);
    }
    let error = refused(
        &client.call(EXECUTE, json!({"action": "ci_variable.list", "params": {"fullPath": "acme/nowhere"}})),
        "not_found",
    );
    assert!(error["message"].as_str().unwrap().contains("acme/nowhere"));
}

#[test]
fn files_with_odd_names_are_reached() {
    let mut client = Client::sandbox();
    let tree = succeed(
        &mut client,
        "repository.list_tree",
        json!({"fullPath": "acme/widget", "recursive": true, "per_page": 100}),
    );
    let paths: Vec<String> = tree["data"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["type"] == "blob")
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(
        paths.iter().any(|path| path.contains(' ')) && paths.iter().any(|path| path.contains('#')),
        "{paths:?}"
    );
    assert!(paths.iter().any(|path| !path.is_ascii()), "{paths:?}");
    for path in &paths {
        let read = json!({"fullPath": "acme/widget", "file_path": format!("/{path}"), "ref": "main"});
        let reply = execute(&mut client, "repository_file.get_raw", read);
        assert!(!reply.is_error, "{path}: {}", reply.text);
        assert_eq!(reply.structured["data"]["binary"] == true, path.ends_with(".png"), "{path}");
    }
}

#[test]
fn a_file_is_uploaded() {
    let mut client = Client::sandbox();
    let file = json!({"filename": "notes.txt", "content": "hello"});
    let uploaded =
        succeed(&mut client, "project_upload.create", json!({"fullPath": "acme/widget", "file": file}));
    assert!(uploaded["data"]["markdown"].as_str().unwrap().contains("notes"), "{uploaded}");
}

#[test]
fn an_empty_answer_is_a_success() {
    let mut client = Client::sandbox();
    let arguments = json!({
        "action": "branch.delete", "params": {"fullPath": "acme/widget", "branch": "docs/été"}, "confirm": true,
    });
    let reply = client.call(EXECUTE, arguments);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["data"], Value::Null);
}

#[test]
fn an_invalid_ci_configuration_is_an_answer_and_no_error() {
    let mut client = Client::sandbox();
    let checked =
        succeed(&mut client, "ci_lint.check", json!({"fullPath": "acme/widget", "content": "job: {}"}));
    assert_eq!(checked["data"]["valid"], false);
}

#[test]
fn an_unknown_action_names_the_nearest() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "title": "By another spelling"});
    let error =
        refused(&client.call(EXECUTE, json!({"action": "isue.create", "params": params})), "unknown_action");
    assert_eq!(error["fix"]["arguments"], json!({"action": "issue.create", "params": params}));
    assert!(!follow(&mut client, &error["fix"]).is_error);
    let error = refused(&client.call(EXECUTE, json!({"action": "frobnicate"})), "unknown_action");
    assert_eq!(error["fix"]["tool"], "gitlab_find_action");
    assert!(!follow(&mut client, &error["fix"]).is_error);
}

#[test]
fn an_unknown_parameter_is_repaired_in_one_step() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "lables": ["bug"]}});
    let error = refused(&client.call(EXECUTE, arguments), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`lables`"), "{error}");
    assert_eq!(error["fix"]["arguments"]["params"], json!({"fullPath": "acme/widget", "labels": ["bug"]}));
    assert!(!follow(&mut client, &error["fix"]).is_error);
}

#[test]
fn a_time_of_another_event_is_not_suggested() {
    let mut client = Client::sandbox();
    let call = |name: &str| {
        let params = json!({"fullPath": "acme/widget", name: "2026-01-01T00:00:00Z"});
        json!({"action": "merge_request.list", "params": params})
    };
    let error = refused(&client.call(EXECUTE, call("closed_after")), "invalid_params");
    assert_eq!(error["fix"]["tool"], "gitlab_find_action", "{error}");
    let error = refused(&client.call(EXECUTE, call("craeted_after")), "invalid_params");
    assert_eq!(error["fix"]["arguments"], call("created_after"), "{error}");
}

#[test]
fn a_wrong_type_says_what_was_given_and_what_is_wanted() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": "1st"}});
    let error = refused(&client.call(EXECUTE, arguments), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`iid` is an integer; \"1st\" was given"), "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error);
}

#[test]
fn what_is_missing_is_named() {
    let mut client = Client::sandbox();
    let error = refused(
        &client.call(EXECUTE, json!({"action": "issue.get", "params": {"iid": 1}})),
        "invalid_params",
    );
    assert!(error["message"].as_str().unwrap().contains("`fullPath` is missing"), "{error}");
    let shown = follow(&mut client, &error["fix"]);
    assert_eq!(shown.structured["results"][0]["action"], "issue.get");
    assert!(shown.structured["results"][0]["input_schema"]["properties"]["fullPath"].is_object());
}

#[test]
fn a_value_that_is_no_choice_lists_the_choices() {
    let mut client = Client::sandbox();
    let arguments =
        json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "state": "openned"}});
    let error = refused(&client.call(EXECUTE, arguments), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("`opened`, `closed`, `all`"), "{error}");
    assert_eq!(error["fix"]["arguments"]["params"]["state"], "opened");
    assert!(!follow(&mut client, &error["fix"]).is_error);
}

#[test]
fn a_choice_in_the_wrong_case_is_understood_and_said() {
    let mut client = Client::sandbox();
    let listed = succeed(&mut client, "issue.list", json!({"project_id": "acme/widget", "state": "Closed"}));
    let notes = listed["notes"].to_string();
    assert!(notes.contains("`project_id` as `fullPath`") && notes.contains("as `closed`"), "{notes}");
}

#[test]
fn nothing_destructive_runs_unconfirmed() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 45});
    let error = refused(
        &client.call(EXECUTE, json!({"action": "issue.delete", "params": params})),
        "needs_confirmation",
    );
    assert!(!execute(&mut client, "issue.get", params.clone()).is_error, "it is still there");
    assert_eq!(error["fix"]["arguments"]["confirm"], true);
    let reply = follow(&mut client, &error["fix"]);
    // Deleting an issue takes an owner, which the sandbox's user is.
    assert!(!reply.is_error, "{}", reply.text);
    refused(&client.call(EXECUTE, json!({"action": "issue.get", "params": params})), "not_found");
}

#[test]
fn read_only_leaves_reads_in_execute_as_in_find() {
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let params = json!({"fullPath": "acme/widget", "title": "No"});
    for confirm in [false, true] {
        let arguments =
            json!({"action": "issue.create", "params": params, "confirm": confirm, "dry_run": confirm});
        let error = refused(&client.call(EXECUTE, arguments), "denied");
        assert!(error["message"].as_str().unwrap().contains("GITLAB_READ_ONLY"), "{error}");
    }
    let listed = succeed(&mut client, "issue.list", json!({"fullPath": "acme/widget", "search": "No"}));
    assert!(!listed["data"].to_string().contains("\"No\""));
    let found = client.call("gitlab_find_action", json!({"query": "create an issue", "limit": 50}));
    for result in found.structured["results"].as_array().unwrap() {
        assert_eq!(result["risk"], "read", "{result}");
    }
    assert!(found.text.contains("GITLAB_READ_ONLY"), "omitted actions are noted");
}

#[test]
fn safe_mode_and_dry_run_show_the_request_and_send_nothing() {
    let params = json!({"fullPath": "acme/widget", "title": "Shown"});
    for (variables, dry_run) in [(vec![("GITLAB_SAFE_MODE", "true")], false), (vec![], true)] {
        let mut client = Client::sandbox_with(&variables);
        let reply =
            client.call(EXECUTE, json!({"action": "issue.create", "params": params, "dry_run": dry_run}));
        assert!(!reply.is_error, "{}", reply.text);
        let request = &reply.structured["request"];
        assert_eq!(request["method"], "POST");
        assert_eq!(request["path"], "/api/v4/projects/acme%2Fwidget/issues");
        assert_eq!(request["body"], json!({"title": "Shown"}));
        let listed =
            succeed(&mut client, "issue.list", json!({"fullPath": "acme/widget", "search": "Shown"}));
        assert_eq!(listed["data"], json!([]), "nothing was sent");
    }
}

#[test]
fn a_refused_token_says_so_and_is_not_shown() {
    let token = "glpat-sandbox-expired";
    let mut client = Client::sandbox_with(&[("GITLAB_TOKEN", token)]);
    let error = refused(
        &client.call(
            EXECUTE,
            json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "scope": "project"}}),
        ),
        "unauthorized",
    );
    assert!(error["hint"].as_str().unwrap().contains("expired"), "{error}");
    let ended = client.close();
    assert!(!error.to_string().contains(token) && !ended.stderr.contains(token));
}

#[test]
fn a_scope_that_is_missing_is_named() {
    let mut client = Client::sandbox_with(&[("GITLAB_TOKEN", "glpat-sandbox-read-api")]);
    let arguments = json!({"action": "issue.create", "params": {"fullPath": "acme/widget", "title": "No"}});
    let error = refused(&client.call(EXECUTE, arguments), "forbidden");
    assert!(error["hint"].as_str().unwrap().contains("api"), "{error}");
}

#[test]
fn what_is_not_there_may_be_hidden_and_both_are_said() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 4711}});
    let error = refused(&client.call(EXECUTE, arguments), "not_found");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("does not exist") && hint.contains("may not read"), "{hint}");
}

#[test]
fn what_the_sandbox_lacks_is_said_honestly() {
    let mut client = Client::sandbox();
    let error = refused(
        &client.call(
            EXECUTE,
            json!({"action": "push_rule.get", "params": {"fullPath": "acme/widget", "scope": "project"}}),
        ),
        "gitlab_error",
    );
    assert!(error["message"].as_str().unwrap().contains("sandbox does not have"), "{error}");
}

#[test]
fn a_configured_project_is_the_default() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/widget")]);
    let shown = succeed(&mut client, "issue.get", json!({"iid": 1}));
    assert_eq!(shown["data"]["iid"], 1);
    assert!(shown["notes"].to_string().contains("acme/widget"), "{shown}");
}

#[test]
fn a_project_that_is_named_by_another_spelling_is_no_default() {
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "sandbox/playground")]);
    for name in ["projectId", "FullPath", "project-id", "projectPath", "fullpath", "project"] {
        let shown = succeed(&mut client, "issue.get", json!({name: "acme/widget", "iid": 1}));
        assert!(shown["data"]["web_url"].as_str().unwrap().contains("acme/widget"), "{name}: {shown}");
        assert!(!shown["notes"].to_string().contains("configured project"), "{name}: {shown}");
    }
    let mut client = Client::sandbox_with(&[("GITLAB_PROJECT", "acme/widget")]);
    let shown = succeed(&mut client, "issue.get", json!({"target": "#1"}));
    assert!(shown["notes"].to_string().contains("configured project"), "{shown}");
}

#[test]
fn many_requests_at_a_time_are_all_answered() {
    let mut client = Client::sandbox();
    let count = 100;
    for id in 0..count {
        let params = json!({"fullPath": "acme/widget", "iid": id % 40 + 1});
        client.send(&json!({
            "jsonrpc": "2.0", "id": format!("many-{id}"), "method": "tools/call",
            "params": {"name": EXECUTE, "arguments": {"action": "issue.get", "params": params}},
        }));
    }
    let mut answered: Vec<String> = (0..count)
        .map(|_| {
            let answer = client.receive();
            assert_ne!(answer["result"]["isError"], true, "{answer}");
            answer["id"].as_str().unwrap().to_owned()
        })
        .collect();
    answered.sort();
    answered.dedup();
    assert_eq!(answered.len(), count);
}
