//! Calls that leave something out: the rest of a list, the group of a project, the object that is the only one.

use serde_json::{Value, json};

use crate::support::client::{Client, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Answer, Gitlab, answer};

const WIDGET: &str = "acme/widget";

fn names(object: &Value, field: &str) -> Vec<String> {
    let list = object["data"][field].as_array().unwrap_or_else(|| panic!("no {field}: {object}"));
    let name = |item: &Value| item["username"].as_str().or(item.as_str()).unwrap().to_owned();
    let mut names: Vec<String> = list.iter().map(name).collect();
    names.sort_unstable();
    names
}

fn notes(reply: &Reply) -> String {
    reply.structured["notes"].to_string()
}

/// GitLab takes the whole list of reviewers, and who is not in it is taken off.
#[test]
fn a_list_is_changed_in_part() {
    let mut client = Client::sandbox();
    let reviewers = |client: &mut Client| {
        let read =
            execute(client, "merge_request.get", json!({"fullPath": WIDGET, "iid": 8, "view": "full"}));
        names(&read.structured, "reviewers")
    };
    let before = reviewers(&mut client);
    assert_eq!(before, ["sandbox"]);
    let change = |part: Value| {
        let mut params = json!({"fullPath": WIDGET, "iid": "Rename the spring"});
        params.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        params
    };
    succeed(&mut client, "merge_request.update", change(json!({"add_reviewers": ["bob", "Alice Ambler"]})));
    assert_eq!(reviewers(&mut client), ["alice", "bob", "sandbox"]);
    let part = json!({"add_reviewers": ["@bob"], "remove_reviewers": ["Sandy Box", "carol"]});
    let reply = execute(&mut client, "merge_request.update", change(part));
    assert!(notes(&reply).contains("\\\"carol\\\" was not there: nothing to remove"), "{}", reply.text);
    assert_eq!(reviewers(&mut client), ["alice", "bob"]);
    succeed(&mut client, "merge_request.update", change(json!({"remove_reviewers": ["alice", "bob"]})));
    assert!(reviewers(&mut client).is_empty());
    let both = change(json!({"add_reviewers": ["bob"], "reviewer_ids": ["alice"]}));
    let error = refused(&execute(&mut client, "merge_request.update", both), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("exclude each other"), "{error}");
    // Oneself, blanks, and somebody named twice.
    let messy = change(json!({"add_reviewers": ["me", " ", "bob", "@bob", ""]}));
    succeed(&mut client, "merge_request.update", messy);
    assert_eq!(reviewers(&mut client), ["bob", "sandbox"]);
    succeed(&mut client, "merge_request.update", change(json!({"remove_reviewers": ["@me"]})));
    assert_eq!(reviewers(&mut client), ["bob"]);
    let both = change(json!({"add_reviewers": ["bob"], "remove_reviewers": ["@bob"]}));
    refused(&execute(&mut client, "merge_request.update", both), "invalid_params");
    let one = change(json!({"add_assignees": ["bob"], "assignee_id": 3}));
    refused(&execute(&mut client, "merge_request.update", one), "invalid_params");
    succeed(&mut client, "merge_request.update", change(json!({"remove_reviewers": ["bob"]})));
    let stranger = change(json!({"add_reviewers": ["nobody-there"]}));
    refused(&execute(&mut client, "merge_request.update", stranger), "not_found");
    assert!(reviewers(&mut client).is_empty());
}

#[test]
fn assignees_and_topics_are_changed_in_part_as_well() {
    let mut client = Client::sandbox();
    let issue = json!({"fullPath": WIDGET, "iid": 3});
    let assigned = names(&succeed(&mut client, "issue.get", issue.clone()), "assignees");
    let mut params = issue.clone();
    params["add_assignees"] = json!(["erin"]);
    succeed(&mut client, "issue.update", params);
    let mut expected = assigned.clone();
    expected.push("erin".to_owned());
    expected.sort_unstable();
    assert_eq!(names(&succeed(&mut client, "issue.get", issue.clone()), "assignees"), expected);
    let params = json!({"fullPath": WIDGET, "iid": 3, "remove_assignees": ["erin"]});
    succeed(&mut client, "issue.update", params);
    assert_eq!(names(&succeed(&mut client, "issue.get", issue), "assignees"), assigned);

    succeed(&mut client, "project.update", json!({"fullPath": WIDGET, "topics": ["gears", "oil"]}));
    let params = json!({"fullPath": WIDGET, "add_topics": ["toys"], "remove_topics": ["oil"]});
    succeed(&mut client, "project.update", params);
    assert_eq!(
        names(&succeed(&mut client, "project.get", json!({"fullPath": WIDGET})), "topics"),
        ["gears", "toys"]
    );
}

/// A comment in the same call is not posted where the list may not be read.
#[test]
fn a_denied_read_of_a_list_is_known_before_anything_is_sent() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "issue.get")]);
    let params = json!({"fullPath": WIDGET, "iid": 5, "add_assignees": ["alice"], "comment": "Unsaid"});
    let error = refused(&execute(&mut client, "issue.update", params), "denied");
    assert!(error["message"].as_str().unwrap().contains("issue.get"), "{error}");
    let notes = execute(&mut client, "issue_note.list", json!({"fullPath": WIDGET, "iid": 5}));
    assert!(!notes.text.contains("Unsaid"), "{}", notes.text);
}

/// The rule sees the path in a call with a comment and in a batch, too.
#[test]
fn a_project_by_its_name_is_allowed_wherever_its_path_is() {
    let mut client = Client::sandbox_with(&[("GITLAB_ALLOWED_PATHS", WIDGET)]);
    let update = json!({"fullPath": "Widget", "iid": 5, "weight": 2, "comment": "Weighed"});
    succeed(&mut client, "issue.update", update.clone());
    let calls = json!({"calls": [{"action": "issue.update", "params": {"fullPath": "Widget", "iid": 5, "weight": 3}}]});
    let batch = execute(&mut client, "api.batch", calls);
    assert!(!batch.is_error && !batch.text.contains("denied"), "{}", batch.text);
    let mut other = Client::sandbox_with(&[("GITLAB_ALLOWED_PATHS", "acme/site")]);
    refused(&execute(&mut other, "issue.update", update), "denied");
}

/// A list that cannot be read is not replaced by what is added.
#[test]
fn a_list_that_cannot_be_read_is_left_alone() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("GET", "/merge_requests/8", answer(403, json!({"message": "403 Forbidden"})));
    // An answer without the list says nothing of who is in it.
    gitlab.json("/merge_requests/9", &json!({"id": 90, "iid": 9, "title": "x"}));
    let mut client = gitlab.client(&[]);
    for iid in [8, 9] {
        let params = json!({"fullPath": "group/project", "iid": iid, "add_reviewers": [7]});
        let reply = execute(&mut client, "merge_request.update", params);
        assert!(reply.is_error, "{}", reply.text);
    }
    assert!(!gitlab.seen().iter().any(|request| request.starts_with("PUT")), "{:?}", gitlab.seen());
}

/// Only in a list of people is `me` somebody.
#[test]
fn a_topic_called_me_stays_a_topic() {
    let mut client = Client::sandbox();
    let change = json!({"fullPath": WIDGET, "add_topics": ["me"]});
    let made = succeed(&mut client, "project.update", change);
    let project = succeed(&mut client, "project.get", json!({"fullPath": WIDGET}));
    let topics = project["data"]["topics"].as_array().unwrap();
    assert!(topics.contains(&json!("me")), "{made}");
}

/// The first page of a search need not have every project of a name.
#[test]
fn a_name_is_no_path_while_there_are_further_pages() {
    let gitlab = Gitlab::start();
    let row = json!({"id": 9, "name": "Gadget", "path": "gadget", "path_with_namespace": "acme/gadget"});
    gitlab.says("GET /api/v4/projects", [answer(200, json!([row])).header("x-next-page", "2")]);
    gitlab.json("/projects/acme%2Fgadget", &row);
    let mut client = gitlab.client(&[]);
    let params = json!({"fullPath": "Gadget", "title": "Where?"});
    let reply = execute(&mut client, "issue.create", params);
    assert!(reply.is_error, "{}", reply.text);
    assert!(!gitlab.seen().iter().any(|line| line.starts_with("POST")), "{:?}", gitlab.seen());
}

/// People say `Widget`; GitLab answers 404.
#[test]
fn a_project_is_named_without_its_group() {
    let mut client = Client::sandbox();
    for name in ["Widget", "widget"] {
        let reply = execute(&mut client, "issue.get", json!({"fullPath": name, "iid": 12}));
        assert_eq!(reply.structured["data"]["iid"], 12, "{name}: {}", reply.text);
        assert!(notes(&reply).contains("is acme/widget"), "{name}: {}", reply.text);
    }
    let params = json!({"project": "Widget", "title": "By its name"});
    let made = succeed(&mut client, "issue.create", params);
    assert!(made["data"]["web_url"].as_str().unwrap().contains("/acme/widget/-/"), "{made}");
    // A name of two words, and actions that work in a group, or without a project, as well.
    for (action, params) in [
        ("label.list", json!({"fullPath": "Widget CLI"})),
        ("badge.list", json!({"fullPath": "Widget"})),
        ("snippet.create", json!({"fullPath": "widget", "title": "x", "content": "x", "file_name": "x"})),
    ] {
        let reply = execute(&mut client, action, params);
        assert!(!reply.is_error && notes(&reply).contains("is acme/"), "{action}: {}", reply.text);
    }
    // A group may be called so as well: nothing is written in the project.
    for action in ["label.create", "group.update"] {
        let params = json!({"fullPath": "Widget CLI", "name": "x", "color": "#ffffff"});
        let reply = execute(&mut client, action, params);
        assert!(reply.is_error && !reply.text.contains("widget-cli"), "{action}: {}", reply.text);
    }
    let group = execute(&mut client, "label.list", json!({"fullPath": "acme"}));
    assert!(!group.is_error && !notes(&group).contains("the project"), "{}", group.text);
    // A composite action, and a title in the project.
    let params = json!({"fullPath": "Widget", "iid": "Quieter gears"});
    let overview = execute(&mut client, "merge_request.overview", params);
    assert!(!overview.is_error && overview.text.contains("Quieter gears"), "{}", overview.text);
    let error =
        refused(&execute(&mut client, "issue.get", json!({"fullPath": "Widgt", "iid": 1})), "not_found");
    assert!(error["message"].as_str().unwrap().contains("Widgt"), "{error}");
}

/// `Widget` of two groups is neither; a rule on projects sees the path.
#[test]
fn a_name_of_several_projects_or_of_a_fenced_one_is_no_path() {
    let mut client = Client::sandbox();
    let params = json!({"name": "Widget", "namespace_id": "acme/tools"});
    succeed(&mut client, "project.create", params);
    let change = json!({"fullPath": "Widget", "title": "Which?"});
    let error = refused(&execute(&mut client, "issue.create", change), "invalid_params");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("acme/widget") && message.contains("acme/tools/widget"), "{error}");
    let listed = follow(&mut client, &error["fix"]);
    assert!(listed.text.contains("acme/tools/widget"), "{}", listed.text);

    let mut fenced = Client::sandbox_with(&[
        ("GITLAB_ALLOWED_PATHS", "acme/site"),
        ("GITLAB_READABLE_PATHS", "acme/site"),
    ]);
    let reply = execute(&mut fenced, "issue.create", json!({"fullPath": "Widget", "title": "No"}));
    assert!(reply.is_error && !reply.text.contains("acme/widget"), "{}", reply.text);
}

#[test]
fn a_read_takes_the_only_object_an_update_the_named_and_an_error_lists_the_others() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "registry_tag.list", json!({"fullPath": WIDGET}));
    assert!(reply.text.contains("1.0.0"), "{}", reply.text);
    assert!(notes(&reply).contains("is the only container repository"), "{}", reply.text);
    let several = execute(&mut client, "environment.get", json!({"fullPath": WIDGET}));
    let error = refused(&several, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("\"production\", \"staging\""), "{error}");
    let title = execute(&mut client, "milestone.update", json!({"fullPath": WIDGET, "title": "v9"}));
    let error = refused(&title, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("\"v1.1\""), "{error}");
    // A title that a milestone has is that milestone's.
    let known = json!({"fullPath": WIDGET, "title": "v1.1", "due_date": "2026-05-01"});
    let updated = execute(&mut client, "milestone.update", known);
    assert_eq!(updated.structured["data"]["iid"], 2, "{}", updated.text);
    assert!(notes(&updated).contains("`milestone_id` is that of milestone"), "{}", updated.text);
    let url = json!({"fullPath": WIDGET, "url": "https://hooks.acme.example/widget", "push_events": false});
    let asked = execute(&mut client, "webhook.update", url);
    let error = refused(&asked, "needs_confirmation");
    assert!(error["hint"].as_str().unwrap().contains("`hook_id` is that of webhook"), "{error}");
    // A deletion takes no other object than the one it names, and a change of one takes none that two have.
    let deleted = execute(&mut client, "milestone.delete", json!({"fullPath": WIDGET, "title": "v1.1"}));
    assert!(deleted.is_error, "{}", deleted.text);
    for cron in ["0 2 * * *", "0 3 * * *"] {
        let twin = json!({"fullPath": WIDGET, "description": "Twin", "ref": "main", "cron": cron});
        succeed(&mut client, "pipeline_schedule.create", twin);
    }
    let twin = json!({"fullPath": WIDGET, "description": "Twin", "cron": "0 4 * * *"});
    let error = refused(&execute(&mut client, "pipeline_schedule.update", twin), "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("\"Twin\", \"Twin\""), "{error}");
    // A change takes nothing that it does not name.
    let change = execute(&mut client, "webhook.update", json!({"fullPath": WIDGET, "push_events": false}));
    let error = refused(&change, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("https://hooks.acme.example/widget"), "{error}");
    // One's own snippet is none of the project's.
    let snippet = execute(&mut client, "snippet.get", json!({"fullPath": WIDGET}));
    assert!(!snippet.text.contains("snippet_id` 2"), "{}", snippet.text);
    let none = execute(&mut client, "registry_tag.list", json!({"fullPath": "acme/site"}));
    let error = refused(&none, "invalid_params");
    assert!(error["hint"].as_str().unwrap().contains("There is no container repository"), "{error}");
}

#[test]
fn a_merge_request_is_its_head_for_a_read_of_the_repository() {
    let mut client = Client::sandbox();
    let gear = "src/widget/gear.rs";
    let at = |client: &mut Client, params: Value| {
        let reply = execute(client, "repository_file.get_raw", params);
        assert!(!reply.is_error, "{}", reply.text);
        (reply.text.contains("oil: true"), notes(&reply))
    };
    let (on_main, _) = at(&mut client, json!({"fullPath": WIDGET, "file_path": gear}));
    assert!(!on_main);
    for params in [
        json!({"fullPath": WIDGET, "file_path": gear, "ref": "!5"}),
        json!({"target": "acme/widget!5", "file_path": gear}),
    ] {
        let (in_merge_request, notes) = at(&mut client, params);
        assert!(in_merge_request && notes.contains("refs/merge-requests/5/head"), "{notes}");
    }
    let compared = json!({"fullPath": WIDGET, "from": "main", "to": "!5"});
    let compared = succeed(&mut client, "repository.compare", compared);
    assert_eq!(compared["data"]["commits"].as_array().map(Vec::len), Some(2), "{compared}");
    // A branch is written as it is called, and a pipeline is of no revision.
    let pipelines = execute(&mut client, "pipeline.list", json!({"fullPath": WIDGET, "ref": "!5"}));
    assert!(!notes(&pipelines).contains("refs/merge-requests"), "{}", pipelines.text);
}

#[test]
fn a_commit_is_named_by_its_title() {
    let mut client = Client::sandbox();
    for (action, name) in [("commit.get", "sha"), ("commit.get", "commit"), ("commit.list_refs", "sha")] {
        let reply = execute(&mut client, action, json!({"fullPath": WIDGET, name: "thank everybody"}));
        assert!(!reply.is_error, "{action}: {}", reply.text);
        assert!(notes(&reply).contains("is 76f5a3ac"), "{action}: {}", reply.text);
    }
    let undo =
        |title: &str| json!({"target": WIDGET, "sha": title, "branch": "undo", "start_branch": "main"});
    let reply = execute(&mut client, "commit.revert", undo("Thank everybody"));
    assert!(!reply.is_error && reply.text.contains("Revert"), "{}", reply.text);
    let none = execute(&mut client, "commit.revert", undo("No such commit"));
    refused(&none, "not_found");
    // Two commits with one title: which of them is asked.
    let file = |n: u8| {
        json!({
            "fullPath": WIDGET, "branch": "twins", "start_branch": "main", "commit_message": "Twin commit",
            "actions": [{"action": "create", "file_path": format!("twin{n}"), "content": "x"}],
        })
    };
    succeed(&mut client, "commit.create", file(1));
    let mut second = file(2);
    second.as_object_mut().unwrap().shift_remove("start_branch");
    succeed(&mut client, "commit.create", second);
    let both = execute(&mut client, "commit.get", json!({"fullPath": WIDGET, "sha": "Twin commit"}));
    let error = refused(&both, "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("2 commits have the title"), "{error}");
}

/// The new branch was made, and then GitLab had no such commit.
#[test]
fn no_branch_is_made_for_a_commit_that_there_is_not() {
    let mut client = Client::sandbox();
    for (action, sha) in
        [("commit.revert", "0123abc"), ("commit.cherry_pick", "0123abc"), ("commit.revert", "No such one")]
    {
        let params = json!({"fullPath": WIDGET, "sha": sha, "branch": "undo", "start_branch": "main"});
        let error = refused(&execute(&mut client, action, params), "not_found");
        assert!(error["message"].as_str().unwrap().contains("Nothing was sent"), "{error}");
        let branch = execute(&mut client, "branch.get", json!({"fullPath": WIDGET, "branch": "undo"}));
        refused(&branch, "not_found");
    }
}

#[test]
fn a_milestone_shows_how_far_it_is() {
    let mut client = Client::sandbox();
    for (place, milestone) in [(WIDGET, "v1.1"), ("acme", "Spring fair")] {
        let shown = succeed(&mut client, "milestone.get", json!({"fullPath": place, "milestone": milestone}));
        let counts = &shown["data"]["issues"]["counts"];
        let in_it = json!({"fullPath": place, "milestone": milestone, "state": "opened", "fields": ["iid"], "per_page": 100});
        let open = succeed(&mut client, "issue.list", in_it)["data"].as_array().unwrap().len();
        assert_eq!(counts["opened"], open, "{shown}");
        assert!(counts["closed"].is_number() && counts["all"].is_number(), "{shown}");
    }
}

/// The projects of a group were listed without those of its subgroups, and nothing said so.
#[test]
fn a_list_of_a_groups_projects_says_that_subgroups_are_left_out() {
    let mut client = Client::sandbox();
    for (params, is_said) in [
        (json!({"fullPath": "acme"}), true),
        (json!({"fullPath": "acme", "include_subgroups": true}), false),
        (json!({}), false),
    ] {
        let reply = execute(&mut client, "project.list", params.clone());
        assert_eq!(notes(&reply).contains("include_subgroups"), is_said, "{params}: {}", reply.text);
    }
}

/// `repository.read_files` with `path` alone was refused: `files` was missing.
#[test]
fn one_file_needs_no_list() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "path": "README.md", "line_start": 3});
    let reply = execute(&mut client, "repository.read_files", params);
    assert!(!reply.is_error && reply.text.contains("A thing that turns"), "{}", reply.text);
    assert!(!reply.text.contains("# Widget"), "{}", reply.text);
}

#[test]
fn a_merge_request_is_its_latest_pipeline() {
    let mut client = Client::sandbox();
    let target = json!({"target": "acme/widget!5"});
    let jobs = succeed(&mut client, "pipeline.list_jobs", target.clone());
    let by_number =
        succeed(&mut client, "pipeline.list_jobs", json!({"fullPath": WIDGET, "pipeline_id": "!5"}));
    assert_eq!(jobs["data"], by_number["data"]);
    // By its title.
    let by_title = json!({"fullPath": WIDGET, "merge_request": "Quieter gears"});
    assert_eq!(succeed(&mut client, "pipeline.list_jobs", by_title)["data"], jobs["data"]);
    let none = json!({"fullPath": WIDGET, "merge_request": "No such thing"});
    refused(&execute(&mut client, "pipeline.list_jobs", none), "not_found");
    let played = succeed(&mut client, "job.play", json!({"target": "acme/widget!5", "job_id": "deploy"}));
    assert_eq!(played["data"]["name"], "deploy", "{played}");
    // An action of issues has no pipeline.
    let wrong = execute(&mut client, "issue.get", target);
    refused(&wrong, "invalid_params");
}

/// GitLab shows `Draft: Count the turns` as a draft called "Count the turns".
#[test]
fn a_draft_is_named_without_its_mark() {
    let mut client = Client::sandbox();
    let get = |title: &str| json!({"fullPath": WIDGET, "iid": title});
    let found = succeed(&mut client, "merge_request.get", get("Count the turns"));
    assert_eq!(found["data"]["title"], "Draft: Count the turns", "{found}");
    refused(&execute(&mut client, "merge_request.get", get("the turns")), "not_found");
}

#[test]
fn a_member_by_its_name_is_not_renamed() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": WIDGET, "user_id": "Carol", "access_level": 20});
    let reply = execute(&mut client, "member.update", params);
    assert!(!reply.is_error && !reply.text.contains(", now"), "{}", reply.text);
}

#[test]
fn a_to_do_item_is_named_by_what_it_is_about() {
    let mut client = Client::sandbox();
    let done = succeed(&mut client, "todo.mark_as_done", json!({"todo_id": "Quieter gears"}));
    assert_eq!((&done["data"]["id"], &done["data"]["state"]), (&json!(1), &json!("done")), "{done}");
    // The item is no longer among those that are open.
    let again = execute(&mut client, "todo.mark_as_done", json!({"todo_id": "Quieter gears"}));
    refused(&again, "not_found");
}

#[test]
fn an_issue_of_a_group_is_named_by_its_title() {
    let mut client = Client::sandbox();
    let title = "Widget hums in B flat";
    let params = json!({"fullPath": "acme", "iid": "Widgets that whisper", "issue_id": title});
    let added = succeed(&mut client, "epic_issue.assign", params);
    assert!(added["data"]["issue"].as_str().unwrap().ends_with(title), "{added}");
    let params = json!({"fullPath": "acme", "iid": 1, "issue_id": "No such issue"});
    refused(&execute(&mut client, "epic_issue.assign", params), "not_found");
}

#[test]
fn a_thread_is_answered_and_resolved_in_one_call() {
    let mut client = Client::sandbox();
    let thread = |client: &mut Client| {
        let list = succeed(client, "merge_request_discussion.list", json!({"fullPath": WIDGET, "iid": 12}));
        let threads = list["data"].as_array().unwrap().clone();
        threads.into_iter().find(|thread| thread.to_string().contains("What happens at zero?")).unwrap()
    };
    let reply = json!({"fullPath": WIDGET, "iid": "Turn both ways", "body": "Agreed.", "resolve": true});
    succeed(&mut client, "merge_request_discussion_note.create", reply);
    let after = thread(&mut client);
    assert!(after.to_string().contains("Agreed.") && after["resolved"] == true, "{after}");
    let reopen = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": "What happens", "resolved": false});
    succeed(&mut client, "merge_request_discussion.resolve", reopen);
    let params = json!({"fullPath": WIDGET, "iid": 12, "comment": "Settled after all."});
    succeed(&mut client, "merge_request_discussion.resolve", params);
    let after = thread(&mut client);
    assert!(after.to_string().contains("Settled after all.") && after["resolved"] == true, "{after}");
    let maybe = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": "What happens", "body": "x", "resolve": "maybe"});
    refused(&execute(&mut client, "merge_request_discussion_note.create", maybe), "invalid_params");
    // `resolve: false` is a reply alone.
    let reply = json!({"fullPath": WIDGET, "iid": 12, "discussion_id": "What happens", "body": "P.S.", "resolve": false});
    let made = succeed(&mut client, "merge_request_discussion_note.create", reply);
    assert!(made.get("calls").is_none(), "{made}");
}

#[test]
fn the_weight_of_a_work_item_is_changed_by_its_plain_name() {
    let mut client = Client::sandbox();
    let params = json!({"id": "acme/widget#3", "weight": 5, "due_date": "2027-01-15"});
    succeed(&mut client, "work_item.update", params);
    let issue = succeed(&mut client, "issue.get", json!({"fullPath": WIDGET, "iid": 3}));
    assert_eq!((&issue["data"]["weight"], &issue["data"]["due_date"]), (&json!(5), &json!("2027-01-15")));
}

/// `labels=~bug` and `labels=BUG` read as if no issue had the label.
#[test]
fn an_empty_list_names_a_filter_that_names_nothing() {
    let mut client = Client::sandbox();
    let mut text = |place: &str, filter: Value| {
        let mut params = json!({"fullPath": place});
        params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        execute(&mut client, "issue.list", params).text
    };
    for (filter, note) in [
        (json!({"labels": "~bug"}), "`labels`: there is no label \"~bug\", only \"bug\""),
        (json!({"labels": "BUG"}), "`labels`: there is no label \"BUG\", only \"bug\""),
        (json!({"labels": ["bug", "nosuch"]}), "`labels`: there is no label \"nosuch\""),
        (json!({"milestone": "%v1.0"}), "`milestone`: there is no milestone \"%v1.0\", only \"v1.0\""),
        (json!({"author_username": "nosuch"}), "`author_username`: there is no user \"nosuch\""),
        (json!({"labels": "bgu"}), "`labels`: there is no label \"bgu\"; \"bug\" is similar"),
        (json!({"assignee_username": "alcie"}), "there is no user \"alcie\"; \"alice\" is similar"),
        (
            json!({"author_username": "Alice Ambler"}),
            "there is no user \"Alice Ambler\"; \"alice\" is called so",
        ),
    ] {
        let text = text("acme/widget", filter.clone());
        assert!(text.contains(note), "{filter}: {text}");
    }
    // The list of a group has issues with labels of its projects, which are not the group's.
    for (place, filter) in [
        ("acme/widget", json!({"labels": "None", "search": "nosuchword"})),
        ("acme/widget", json!({"labels": "bug", "search": "nosuchword"})),
        ("acme", json!({"labels": "nosuch"})),
    ] {
        let text = text(place, filter.clone());
        assert!(text.contains("Nothing found") && !text.contains("there is no"), "{filter}: {text}");
    }
}

/// Where GitLab shows the first page of the labels alone, a name may be on another.
#[test]
fn a_filter_is_not_called_unknown_by_a_part_of_the_names() {
    let note = |labels: Answer| {
        let gitlab = Gitlab::with_project();
        gitlab.answer("GET", "/issues", answer(200, json!([])));
        gitlab.answer("GET", "/labels", labels);
        execute(&mut gitlab.client(&[]), "issue.list", json!({"fullPath": WIDGET, "labels": "gear"})).text
    };
    let named = || answer(200, json!([{"id": 1, "name": "gearbox"}]));
    assert!(note(named()).contains("there is no label \"gear\""));
    let part = note(named().header("x-next-page", "2"));
    assert!(part.contains("Nothing found") && !part.contains("there is no label"), "{part}");
    let denied = note(answer(403, json!({"message": "403 Forbidden"})));
    assert!(denied.contains("Nothing found") && !denied.contains("there is no label"), "{denied}");
}
