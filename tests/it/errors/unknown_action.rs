//! Values of `action`: other names, near ones, several, none; REST paths and addresses of pages.

use serde_json::{Value, json};

use super::{execute_mended, mended, refused, runs};
use crate::support::client::{Client, EXECUTE, FIND, succeed};

const WIDGET: &str = "acme/widget";

#[test]
fn an_empty_request_says_what_can_be_asked() {
    let mut client = Client::sandbox();
    for query in ["", "   "] {
        let (_, found) =
            mended(&mut client, (FIND, json!({"query": query})), "invalid_params", &["`query` is empty"]);
        assert!(!found.structured["results"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_misspelt_read_runs_and_says_so() {
    let mut client = Client::sandbox();
    for (given, understood) in [
        ("isue.list", "issue.list"),
        ("merge_requst.list", "merge_request.list"),
        ("list the branches", "branch.list"),
    ] {
        let note = format!("understood `{given}` as the action `{understood}`");
        runs(&mut client, json!({"action": given, "params": {"fullPath": WIDGET}}), &[&note]);
    }
}

/// An action that does not accept the parameters is not run, however near its id.
#[test]
fn a_misspelt_read_with_other_parameters_does_not_run() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "isue.list", "params": {"fullPath": WIDGET, "wingspan": 3}});
    let error = refused(&mut client, (EXECUTE, arguments), "unknown_action", &["`isue.list`"]);
    assert_eq!(error["candidates"][0]["action"], "issue.list");
}

/// A reading verb of a domain runs its only read that takes the parameters; another verb runs nothing.
#[test]
fn the_only_read_of_a_domain_runs_by_any_reading_verb() {
    let mut client = Client::sandbox();
    for verb in ["get", "show", "fetch"] {
        let arguments = json!({"action": format!("ci_lint.{verb}"), "params": {"fullPath": WIDGET}});
        let reply = client.call(EXECUTE, arguments);
        assert_eq!(reply.structured["data"]["valid"], true, "{verb}: {}", reply.text);
        assert_eq!(reply.structured["action"], "ci_lint.check_project", "{verb}");
    }
    // Several reads of pipelines take a project alone.
    for (name, params) in [
        ("ci_lint.erase", json!({"fullPath": WIDGET})),
        ("ci_lint.get", json!({})),
        ("pipeline.fetch_all_of_them", json!({"fullPath": WIDGET})),
    ] {
        let reply = client.call(EXECUTE, json!({"action": name, "params": params}));
        assert!(reply.is_error, "{name}: {}", reply.text);
    }
}

#[test]
fn a_misspelt_write_is_mended() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "title": "Misspelt"});
    let arguments = json!({"action": "isue.create", "params": params});
    let (error, reply) =
        execute_mended(&mut client, arguments, "unknown_action", &["there is no action `isue.create`"]);
    assert_eq!(error["fix"]["arguments"]["action"], "issue.create");
    assert_eq!(reply.structured["data"]["title"], "Misspelt");
}

/// A missing parameter of an id that was guessed needs no find either.
#[test]
fn a_missing_parameter_is_answered_with_the_signature() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "label.create", "params": {"fullPath": WIDGET, "name": "urgent"}});
    let reply = client.call(EXECUTE, arguments);
    let error = &reply.structured["error"];
    assert_eq!(error["kind"], "invalid_params", "{error}");
    let signature = error["signature"].as_str().unwrap();
    assert!(signature.starts_with("label.create(fullPath, name, color, "), "{signature}");
    assert!(reply.text.contains(&format!("signature: {signature}")), "{}", reply.text);
}

#[test]
fn a_miss_carries_the_likeliest_signatures_in_both_forms() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "create a branch", "params": {"fullPath": WIDGET}});
    let reply = client.call(EXECUTE, arguments);
    let candidates = reply.structured["error"]["candidates"].as_array().unwrap().clone();
    assert!((1..=3).contains(&candidates.len()), "{candidates:?}");
    assert_eq!(candidates[0]["action"], "branch.create");
    for candidate in &candidates {
        let signature = candidate["signature"].as_str().unwrap();
        assert!(signature.starts_with(&format!("{}(", candidate["action"].as_str().unwrap())), "{signature}");
        assert!(reply.text.contains(signature), "{}", reply.text);
    }
}

#[test]
fn what_means_nothing_leads_to_the_finder() {
    let mut client = Client::sandbox();
    for given in ["frobnicate", "", "§§§", "drop table users"] {
        let error = refused(&mut client, (EXECUTE, json!({"action": given})), "unknown_action", &[]);
        let reply = super::follow(&mut client, &error);
        assert!(reply.structured["results"].is_array() || reply.structured["data"].is_array(), "{error}");
    }
}

#[test]
fn nothing_that_changes_is_offered_where_only_reads_run() {
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    for given in ["create a new issue", "isue.create", "remove label"] {
        let (error, _) = execute_mended(&mut client, json!({"action": given}), "unknown_action", &[]);
        for candidate in error["candidates"].as_array().into_iter().flatten() {
            assert_eq!(candidate["risk"], "read", "{given}: {candidate}");
        }
    }
}

/// A change is made by a guess neither directly nor by what a fix says.
#[test]
fn a_guess_never_deletes() {
    let mut client = Client::sandbox();
    for given in ["isue.delete", "delete the whole project", "project.delet"] {
        let params = json!({"fullPath": WIDGET, "iid": 1});
        let (_, reply) =
            execute_mended(&mut client, json!({"action": given, "params": params}), "unknown_action", &[]);
        assert!(reply.structured["results"].is_array(), "{given}: {}", reply.text);
    }
    succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 1}));
}

#[test]
fn a_name_of_several_actions_names_each() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "list_project_user"});
    let says = ["`project.list_users`", "`user.list_projects`"];
    let error = refused(&mut client, (EXECUTE, arguments), "ambiguous_alias", &says);
    assert_eq!(error["candidates"].as_array().unwrap().len(), 2);
}

#[test]
fn a_name_of_several_actions_runs_the_only_read_that_takes_the_parameters() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "list_project_user", "params": {"fullPath": WIDGET}});
    runs(&mut client, arguments, &["understood `list_project_user` as the action `project.list_users`"]);
}

/// `comment` is also a verb of creating: the finder's candidates come before the action with that verb.
#[test]
fn a_write_by_a_verb_of_its_own_is_led_to_what_the_words_mean() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme", "iid": 1, "body": "Found it."});
    let arguments = json!({"action": "epic.comment", "params": params});
    let error = refused(&mut client, (EXECUTE, arguments), "unknown_action", &["no action `epic.comment`"]);
    let ids: Vec<&str> =
        error["candidates"].as_array().unwrap().iter().map(|one| one["action"].as_str().unwrap()).collect();
    assert_eq!((ids[0], ids.last()), ("epic_note.create", Some(&"epic.create")));
    assert_eq!(error["fix"]["arguments"], json!({"action": "epic_note.create", "params": params}));
}

#[test]
fn other_servers_names_run_and_say_so() {
    let mut client = Client::sandbox();
    let one = json!({"fullPath": WIDGET, "iid": 2});
    let all = json!({"fullPath": WIDGET});
    for (given, id, params) in [
        ("merge_requests.list", "merge_request.list", &all),
        ("get_merge_requests", "merge_request.list", &all),
        ("get_issue", "issue.get", &one),
        ("mcp__gitlab__get_issue", "issue.get", &one),
        ("listIssues", "issue.list", &all),
        ("Issue-List", "issue.list", &all),
        ("mr.get", "merge_request.get", &one),
        ("branches/list", "branch.list", &all),
        ("issue.show", "issue.get", &one),
    ] {
        let note = format!("understood `{given}` as the action `{id}`");
        runs(&mut client, json!({"action": given, "params": params}), &[&note]);
    }
}

#[test]
fn a_verb_that_is_a_value_is_filled_in() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 3});
    for (given, id, value, state) in [
        ("issue.close", "issue.update", "state_event: close", "closed"),
        ("reopen_issue", "issue.update", "state_event: reopen", "opened"),
        ("close_mr", "merge_request.update", "state_event: close", "closed"),
        ("merge_request.reopen", "merge_request.update", "state_event: reopen", "opened"),
    ] {
        let note = format!("understood `{given}` as the action `{id}` with `{value}`");
        let reply = runs(&mut client, json!({"action": given, "params": params}), &[&note]);
        assert_eq!(reply["data"]["state"], state, "{given}");
    }
}

/// A change is not made if its verb has another meaning, and nothing else in the call asks for it.
#[test]
fn a_change_by_another_verb_is_shown_first() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "iid": 3, "title": "By another verb"});
    let arguments = json!({"action": "issue.modify", "params": params});
    let (_, reply) = execute_mended(&mut client, arguments, "unknown_action", &["`issue.modify`"]);
    assert_eq!(reply.structured["data"]["title"], "By another verb");
}

/// `repository.archive`, for the archive of the files, was taken for `project.archive`.
#[test]
fn a_write_of_another_domain_is_suggested_after_the_reads() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "repository.archive", "params": {"fullPath": WIDGET}});
    let error = refused(&mut client, (EXECUTE, arguments), "unknown_action", &["`repository.archive`"]);
    let candidates = error["candidates"].as_array().unwrap();
    let ids: Vec<&Value> = candidates.iter().map(|candidate| &candidate["action"]).collect();
    assert_eq!(ids[0], "repository.download_archive", "{error}");
    assert!(ids.contains(&&json!("project.archive")), "{error}");
    assert_eq!(error["fix"]["arguments"]["action"], "repository.download_archive", "{error}");
    runs(&mut client, json!({"action": "issues.lst", "params": {"fullPath": WIDGET}}), &["`issue.list`"]);
}

#[test]
fn a_rest_request_runs_with_what_its_path_holds() {
    let mut client = Client::sandbox();
    for (given, id, filled) in [
        ("GET /projects/acme%2Fwidget/issues/12", "issue.get", "iid: 12"),
        ("/projects/acme/widget/issues/12", "issue.get", "fullPath: acme/widget"),
        ("get /api/v4/projects/acme%2Fwidget", "project.get", "fullPath: acme/widget"),
        ("/projects/acme/widget/issues?state=closed&per_page=2", "issue.list", "state: closed"),
        ("groups/acme/issues", "issue.list", "within: group"),
        ("/projects/acme/widget/repository/branches", "branch.list", "acme/widget"),
    ] {
        let understood = format!("understood `{given}` as the action `{id}`");
        runs(&mut client, json!({"action": given}), &[&understood, filled]);
    }
}

#[test]
fn an_operation_by_its_documented_name_takes_its_parameters_beside() {
    let mut client = Client::sandbox();
    for given in ["GET /projects/:id/issues/:issue_iid", "GET /projects/{id}/issues/{issue_iid}"] {
        let arguments = json!({"action": given, "params": {"fullPath": WIDGET, "iid": 12}});
        runs(&mut client, arguments, &["understood"]);
    }
    let rules = json!({"action": "query project.branchRules", "params": {"fullPath": WIDGET}});
    runs(&mut client, rules, &["`branch_rule.list`"]);
    let params = json!({"fullPath": WIDGET, "title": "By its path"});
    let reply = runs(
        &mut client,
        json!({"action": "POST /projects/:id/issues", "params": params}),
        &["issue.create"],
    );
    assert_eq!(reply["data"]["title"], "By its path");
}

#[test]
fn a_write_by_its_path_is_decided_on_like_any_other() {
    let mut client = Client::sandbox();
    let given = "DELETE /projects/acme/widget/issues/4";
    let error =
        refused(&mut client, (EXECUTE, json!({"action": given})), "needs_confirmation", &["issue.delete"]);
    succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 4}));
    let fix = &error["fix"]["arguments"];
    assert_eq!((&fix["action"], &fix["confirm"]), (&json!("issue.delete"), &json!(true)));
    super::follow(&mut client, &error);
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let reply = client.call(EXECUTE, json!({"action": given, "confirm": true}));
    assert_eq!(reply.structured["error"]["kind"], "denied");
}

#[test]
fn a_path_and_a_parameter_that_disagree_are_told() {
    let mut client = Client::sandbox();
    let arguments = json!({"action": "/projects/acme/widget/issues/12", "params": {"iid": 5}});
    let says = ["`iid` is 5, but", "says 12"];
    let (_, reply) = execute_mended(&mut client, arguments, "invalid_params", &says);
    assert_eq!(reply.structured["data"]["iid"], 12);
}

#[test]
fn a_path_that_gitlab_has_not_leads_to_the_finder() {
    let mut client = Client::sandbox();
    for given in ["GET /projects/7/isues", "/nowhere/at/all", "GET /../admin"] {
        let error = refused(
            &mut client,
            (EXECUTE, json!({"action": given})),
            if given.contains("..") { "invalid_params" } else { "unknown_action" },
            &[given],
        );
        super::follow(&mut client, &error);
    }
}

#[test]
fn a_path_that_only_changes_something_is_not_run_without_its_method() {
    let mut client = Client::sandbox();
    let says = ["reads nothing; POST /projects/:id/fork is `project.fork`"];
    let error = refused(
        &mut client,
        (EXECUTE, json!({"action": "/projects/acme/widget/fork", "params": {"path": "by-its-path"}})),
        "unknown_action",
        &says,
    );
    assert_eq!(error["fix"]["arguments"]["params"], json!({"path": "by-its-path", "fullPath": WIDGET}));
    execute_mended(
        &mut client,
        json!({"action": "/projects/acme/widget/merge_requests/5/merge"}),
        "unknown_action",
        &["`merge_request.merge`"],
    );
}

#[test]
fn a_pasted_page_is_read() {
    let mut client = Client::sandbox();
    let issue = succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 12}));
    let url = issue["data"]["web_url"].as_str().unwrap().to_owned();
    let root = url.split("/acme/").next().unwrap();
    let pages: [(&str, &str, Value); 7] = [
        ("acme/widget/-/issues/12", "issue.get", json!("acme/widget")),
        ("acme/widget/-/merge_requests/5#note_1", "merge_request.get", json!("acme/widget")),
        ("acme/widget/-/issues?state=closed&sort=created_date", "issue.list", json!("closed")),
        ("acme/widget/-/branches", "branch.list", json!("acme/widget")),
        ("acme/widget", "project.get", json!("acme/widget")),
        ("groups/acme", "group.get", json!("acme")),
        ("groups/acme/-/epics/1", "epic.get", json!("acme")),
    ];
    for (page, id, filled) in pages {
        let given = format!("{root}/{page}");
        let understood = format!("as the action `{id}`");
        runs(&mut client, json!({"action": given}), &[&understood, filled.as_str().unwrap()]);
    }
    // A page with a form makes nothing, with any values.
    for form in ["issues/new?title=Squeaks", "merge_requests/new?title=Squeaks", "pipelines/new?ref=main"] {
        let reply = client.call(EXECUTE, json!({"action": format!("{root}/acme/widget/-/{form}")}));
        assert!(reply.structured["error"].is_object(), "{form}: {}", reply.text);
    }
    let wiki = format!("{root}/acme/widget/-/wikis/guides/oiling");
    let reply = runs(&mut client, json!({"action": wiki}), &["understood"]);
    assert_eq!(reply["action"], "wiki_page.get");
    let says = ["gitlab.elsewhere.example", "this server is for"];
    let arguments = json!({"action": "https://gitlab.elsewhere.example/acme/widget/-/issues/12"});
    execute_mended(&mut client, arguments, "invalid_params", &says);
}

/// A verb or a noun alone means as little one action as any other: nothing is offered to be run or deleted.
#[test]
fn a_word_alone_leads_to_no_call_and_to_no_deletion() {
    let mut client = Client::sandbox();
    for word in ["list", "get", "delete", "remove", "user", "merge", "files", "topic"] {
        let reply = client.call(EXECUTE, json!({"action": word, "params": {"fullPath": WIDGET}}));
        let error = &reply.structured["error"];
        assert_eq!(error["fix"]["tool"], FIND, "{word}: {error}");
        for candidate in error["candidates"].as_array().into_iter().flatten() {
            assert_ne!(candidate["risk"], "destructive", "{word}: {candidate}");
        }
    }
}

#[test]
fn release_notes_lead_to_the_changelog() {
    let mut client = Client::sandbox();
    let dry = json!({"fullPath": WIDGET, "version": "1.2.0"});
    let reply =
        client.call(EXECUTE, json!({"action": "analyze.release_notes", "params": dry, "dry_run": true}));
    assert!(reply.text.contains("/repository/changelog"), "{}", reply.text);
}
