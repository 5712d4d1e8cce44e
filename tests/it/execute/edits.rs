//! Small edits of long texts: `edits` and `diff` in place of the whole text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};
use crate::support::scripted_gitlab::{Answer, Gitlab, Request, answer};

const DESCRIPTION: &str = "Oil runs out after a thousand turns.\n\nSeen in the workshop.";

fn dry_run(client: &mut Client, action: &str, params: Value) -> Reply {
    client.call(EXECUTE, json!({"action": action, "params": params, "dry_run": true}))
}

fn edit(old: &str, new: &str) -> Value {
    json!([{"old": old, "new": new}])
}

/// The description of issue 3 of the sandbox.
fn description(client: &mut Client) -> String {
    let params = json!({"fullPath": "acme/widget", "iid": 3});
    let issue =
        client.call(EXECUTE, json!({"action": "issue.get", "params": params, "fields": ["description"]}));
    issue.structured["data"]["description"].as_str().unwrap().to_owned()
}

fn readme(client: &mut Client, reference: &str) -> String {
    let params = json!({"fullPath": "acme/widget", "file_path": "README.md", "ref": reference});
    succeed(client, "repository_file.get_raw", params)["data"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_changes_a_part_of_a_description_and_is_not_sent_itself() {
    let mut client = Client::sandbox();
    assert_eq!(description(&mut client), DESCRIPTION);
    let edits = json!([{"old": "workshop", "new": "yard"}, {"old": "a thousand", "new": "two thousand"}]);
    let params = json!({"fullPath": "acme/widget", "iid": 3, "title": "Oil lasts", "edits": edits});
    let reply = execute(&mut client, "issue.update", params);
    let first = reply.text.lines().next().unwrap();
    assert_eq!(first, "Updated: issue acme/widget#3 \"Oil lasts\". Set: title, description.");
    // The changed lines are shown, and the rest of the text, which is as it was, is not.
    assert!(reply.text.contains("Note: `description` was edited at lines 1, 3: - \""), "{}", reply.text);
    assert!(reply.text.contains("+ \"Seen in the yard"), "{}", reply.text);
    assert!(!reply.text.contains("Seen in the workshop\n"), "{}", reply.text);
    assert!(reply.structured["data"].get("description").is_none(), "{}", reply.structured);
    assert_eq!(
        description(&mut client),
        DESCRIPTION.replace("a thousand", "two thousand").replace("workshop", "yard")
    );
}

#[test]
fn an_edit_without_old_adds_at_the_end() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 3, "edits": [{"new": "- [ ] Try it"}]});
    let reply = execute(&mut client, "issue.update", params);
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(description(&mut client), format!("{DESCRIPTION}\n- [ ] Try it"));
}

/// What an edit inserts stands in for the whole text while a call is checked. A corrected call had it as `description`,
/// and one of the action with the same effect would have replaced the text by it.
#[test]
fn a_corrected_call_has_the_edits_and_no_text_in_their_place() {
    let mut client = Client::sandbox();
    let own = json!({"fullPath": "acme/widget", "iid": 3, "edits": edit("workshop", "yard")});
    let params = own.as_object().unwrap().clone().into_iter().chain([("labls".to_owned(), json!("bug"))]);
    let reply = execute(&mut client, "issue.update", Value::Object(params.collect()));
    let error = refused(&reply, "invalid_params");
    assert!(!follow(&mut client, &error["fix"]).is_error, "{error}");
    assert_eq!(description(&mut client), DESCRIPTION.replace("workshop", "yard"));
    let half = json!({"fullPath": "acme/widget", "iid": 3, "edits": [{"old": "yard"}]});
    let reply = execute(&mut client, "issue.update", half);
    let error = refused(&reply, "invalid_params");
    assert_eq!(error["fix"]["arguments"].get("params"), None, "{error}");
}

#[test]
fn every_long_text_takes_edits() {
    let mut client = Client::sandbox();
    let project = json!({"fullPath": "acme/widget"});
    let created = json!({"fullPath": "acme/widget", "iid": 1, "body": "It squeaks.\n\nStill."});
    let note = succeed(&mut client, "issue_note.create", created)["data"]["id"].clone();
    let draft = json!({"fullPath": "acme/widget", "iid": 12, "note": "It squeaks.\n\nStill."});
    let draft = succeed(&mut client, "draft_note.create", draft)["data"]["id"].clone();
    let created = json!({"fullPath": "acme", "iid": 1, "body": "It whispers.\n\nStill."});
    let of_epic = succeed(&mut client, "epic_note.create", created)["data"]["id"].clone();
    for (get, update, own, field) in [
        ("merge_request.get", "merge_request.update", json!({"iid": 5}), "description"),
        ("milestone.get", "milestone.update", json!({"milestone_id": "v1.0"}), "description"),
        ("project.get", "project.update", json!({}), "description"),
        ("wiki_page.get", "wiki_page.update", json!({"slug": "home"}), "content"),
        ("issue_note.get", "issue_note.update", json!({"iid": 1, "note_id": note}), "body"),
        ("draft_note.get", "draft_note.update", json!({"iid": 12, "draft_note_id": draft}), "note"),
        ("epic.get", "epic.update", json!({"fullPath": "acme", "iid": 1}), "description"),
        (
            "epic_note.get",
            "epic_note.update",
            json!({"fullPath": "acme", "iid": 1, "note_id": of_epic}),
            "body",
        ),
        ("release.get", "release.update", json!({"tag_name": "v1.0.0"}), "description"),
        (
            "work_item.get",
            "work_item.update",
            json!({"id": "acme/widget#3", "fullPath": null}),
            "description",
        ),
    ] {
        let mut params = project.clone();
        params.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let read = json!({"action": get, "params": params, "fields": [field]});
        let before = client.call(EXECUTE, read.clone());
        let before =
            before.structured["data"][field].as_str().unwrap_or_else(|| panic!("{get}: {}", before.text));
        let old = before.lines().next().unwrap().to_owned();
        params["edits"] = edit(&old, "Rewritten.");
        let reply = execute(&mut client, update, params);
        assert!(!reply.is_error, "{update}: {}", reply.text);
        let after = client.call(EXECUTE, read);
        assert_eq!(after.structured["data"][field], before.replacen(&old, "Rewritten.", 1), "{update}");
    }
}

/// `edits` of a snippet were of its description, where `old` of its file did not occur.
#[test]
fn edits_of_a_snippet_are_of_its_file() {
    let mut client = Client::sandbox();
    let place = |id: &Value, more: Value| {
        let mut params = json!({"fullPath": "acme/widget", "scope": "project", "snippet_id": id});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let create = |client: &mut Client, files: Value| {
        let params = json!({
            "fullPath": "acme/widget", "scope": "project", "title": "Turn", "description": "It turns.",
            "visibility": "private", "files": files,
        });
        succeed(client, "snippet.create", params)["data"]["id"].clone()
    };
    let file = |name: &str| json!({"file_path": name, "content": "turn left\nturn right\n"});
    let one = create(&mut client, json!([file("turn.sh")]));
    let edited = place(&one, json!({"edits": edit("turn left", "turn back")}));
    let reply = execute(&mut client, "snippet.update", edited);
    assert!(!reply.is_error, "{}", reply.text);
    let raw = execute(&mut client, "snippet.get_raw", place(&one, json!({})));
    assert!(raw.text.contains("turn back\nturn right"), "{}", raw.text);
    let shown = succeed(&mut client, "snippet.get", place(&one, json!({})));
    assert_eq!(shown["data"]["description"], "It turns.");
    assert_eq!(shown["data"]["file_name"], "turn.sh", "{shown}");
    // GitLab takes one text for a snippet of one file alone.
    let two = create(&mut client, json!([file("a.sh"), file("b.sh")]));
    let reply = execute(&mut client, "snippet.update", place(&two, json!({"edits": edit("turn left", "x")})));
    assert!(reply.is_error && reply.text.contains("'files' parameter"), "{}", reply.text);
}

#[test]
fn a_part_that_is_missing_or_not_alone_is_an_error_with_its_places() {
    let mut client = Client::sandbox();
    let params = |old: &str| json!({"fullPath": "acme/widget", "iid": 3, "edits": edit(old, "x")});
    let error = refused(&execute(&mut client, "issue.update", params("th")), "invalid_params");
    assert_eq!(
        error["message"],
        "issue.update: `old` of edit 1 occurs 2 times in description, on lines 1, 3. Nothing was changed"
    );
    assert_eq!(
        error["places"],
        json!([
            {"line": 1, "text": "1: Oil runs out after a thousand turns."},
            {"line": 3, "text": "3: Seen in the workshop."},
        ])
    );
    let error =
        refused(&execute(&mut client, "issue.update", params("Seen in a workshop")), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("does not occur in description"), "{error}");
    assert_eq!(error["most_similar"][0]["line"], 3);
    // The call that is offered shows the text.
    let text = follow(&mut client, &error["fix"]);
    assert_eq!(text.structured["data"]["description"], DESCRIPTION);
    assert_eq!(description(&mut client), DESCRIPTION, "nothing was changed");
}

#[test]
fn edits_that_cannot_be_meant_are_errors_before_anything_is_changed() {
    let mut client = Client::sandbox();
    let own = json!({"fullPath": "acme/widget", "iid": 3});
    for (given, says) in [
        (
            json!({"edits": edit("Oil", "x"), "description": "y"}),
            "`edits` and `description` exclude each other",
        ),
        (json!({"edits": edit("Oil", "x"), "diff": "@@\n-a\n"}), "`edits` and `diff` exclude each other"),
        (json!({"edits": []}), "`edits` is empty"),
        (json!({"edits": edit("", "x")}), "`old` of edit 1 is empty"),
        (json!({"edits": edit("Oil", "Oil")}), "`edits` changes nothing in description"),
        (json!({"diff": "-Oil\n+x"}), "`diff` has no hunk"),
        (json!({"diff": "@@ -1 +1 @@\n-Oil runs\n+x"}), "hunk 1 of `diff` does not occur"),
        (
            json!({"edits": [{"old": "Oil runs", "new": "x"}, {"old": "runs out", "new": "y"}]}),
            "`old` of edit 1 and `old` of edit 2 change the same characters of description",
        ),
        (json!({"edits": [{"before": "Oil", "after": "x"}]}), "edits.before"),
    ] {
        let mut params = own.clone();
        params.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
        let error = refused(&execute(&mut client, "issue.update", params), "invalid_params");
        assert!(error["message"].as_str().unwrap().contains(says), "{error}");
    }
    assert_eq!(description(&mut client), DESCRIPTION);
}

#[test]
fn a_file_is_changed_by_a_diff_or_by_edits_of_a_commit() {
    let mut client = Client::sandbox();
    let diff = "--- a/README.md\n+++ b/README.md\n@@ -3,1 +3,2 @@\n-A thing that turns.\n+A thing that turns well.\n+\n";
    let params = json!({"fullPath": "acme/widget", "file_path": "README.md", "branch": "main",
        "commit_message": "Reword", "diff": diff});
    succeed(&mut client, "repository_file.update", params);
    let reworded = readme(&mut client, "main");
    assert!(reworded.starts_with("# Widget\n\nA thing that turns well.\n\n\n![logo]"), "{reworded}");
    // A new branch has the text of the one that it starts from.
    let actions = json!([
        {"action": "update", "file_path": "README.md", "edits": edit("turns well", "spins")},
        {"action": "create", "file_path": "NEW.md", "content": "new"},
    ]);
    let params = json!({"fullPath": "acme/widget", "branch": "spin", "start_branch": "main",
        "commit_message": "Spin", "actions": actions});
    let reply = execute(&mut client, "commit.create", params);
    let note =
        "Note: `README.md` was edited at line 3: - \"A thing that turns well.\", + \"A thing that spins.\".";
    assert!(reply.text.contains(note), "{}", reply.text);
    assert_eq!(readme(&mut client, "spin"), reworded.replace("turns well", "spins"));
    assert_eq!(readme(&mut client, "main"), reworded);
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let mut client = Client::sandbox();
    let params = json!({"fullPath": "acme/widget", "iid": 3, "edits": edit("a thousand", "two thousand")});
    let reply = dry_run(&mut client, "issue.update", params);
    let shown = "-Oil runs out after a thousand turns.\n+Oil runs out after two thousand turns.";
    assert!(reply.text.contains(shown), "{}", reply.text);
    assert!(reply.structured["diff"].as_str().unwrap().contains(shown), "{}", reply.structured);
    // The diff stands for the text, which may be long.
    assert_eq!(
        reply.structured["request"]["body"]["description"],
        format!("({} bytes, by `diff`)", DESCRIPTION.len() + 2)
    );
    assert_eq!(description(&mut client), DESCRIPTION);
}

#[test]
fn policy_and_confirmation_see_the_new_text() {
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "merge_request.merge")]);
    let text = json!({"action": "merge_request.get", "params": {"fullPath": "acme/widget", "iid": 5}, "fields": ["description"]});
    let before = client.call(EXECUTE, text.clone()).structured;
    let old = before["data"]["description"].as_str().unwrap().lines().next().unwrap().to_owned();
    let with = |new: &str| json!({"fullPath": "acme/widget", "iid": 5, "edits": edit(&old, new)});
    let error = refused(&execute(&mut client, "merge_request.update", with("x\n\n/merge\n")), "denied");
    assert!(error["message"].as_str().unwrap().contains("/merge"), "{error}");
    // A diff inserts it as well.
    let diff = format!("@@ -1 +1,2 @@\n-{old}\n+{old}\n+/merge\n");
    let by_diff = json!({"fullPath": "acme/widget", "iid": 5, "diff": diff});
    refused(&execute(&mut client, "merge_request.update", by_diff), "denied");
    assert_eq!(client.call(EXECUTE, text.clone()).structured["data"], before["data"]);

    // The call offered for confirmation has the edits and not the whole text.
    let mut client = Client::sandbox_with(&[("GITLAB_CONFIRM", "token")]);
    let error =
        refused(&execute(&mut client, "merge_request.update", with("x\n\n/merge\n")), "needs_confirmation");
    assert_eq!(error["fix"]["arguments"]["params"], with("x\n\n/merge\n"));
    // Its token is for the text as it was.
    succeed(
        &mut client,
        "merge_request.update",
        json!({"fullPath": "acme/widget", "iid": 5, "description": format!("{old}\n\nMore.")}),
    );
    let late = follow(&mut client, &error["fix"]);
    refused(&late, "needs_confirmation");
}

#[test]
fn a_batch_edits_with_values_of_earlier_answers() {
    let mut client = Client::sandbox();
    let calls = json!([
        {"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 1}},
        {"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 3,
            "edits": edit("the workshop", "$1.author.username's workshop")}},
    ]);
    let reply = succeed(&mut client, "api.batch", json!({"calls": calls}));
    assert_eq!(reply["data"][1]["status"], "ok", "{reply}");
    assert!(!description(&mut client).contains("the workshop"), "{}", description(&mut client));
    // A later call that edits is checked before the first is sent.
    let calls = json!([
        {"action": "issue.close", "params": {"fullPath": "acme/widget", "iid": 3}},
        {"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": 3, "edits": edit("a", "b"), "description": "c"}},
    ]);
    refused(&execute(&mut client, "api.batch", json!({"calls": calls})), "invalid_params");
    let params = json!({"fullPath": "acme/widget", "iid": 3});
    assert_eq!(succeed(&mut client, "issue.get", params)["data"]["state"], "opened");
}

const FILE: &str = "GET /api/v4/projects/acme%2Fwidget/repository/files/a.txt";

/// The answer with a file of that text and last commit.
fn file(text: &str, last_commit: &str) -> Answer {
    let content = STANDARD.encode(text);
    answer(
        200,
        json!({"file_path": "a.txt", "encoding": "base64", "content": content, "last_commit_id": last_commit}),
    )
}

fn update(edits: &Value) -> Value {
    json!({"fullPath": "acme/widget", "file_path": "a.txt", "branch": "main", "commit_message": "m", "edits": edits})
}

fn sent(gitlab: &Gitlab) -> Vec<Value> {
    let is_put = |request: &Request| request.method == "PUT";
    let received = gitlab.received().into_iter().filter(is_put);
    received.map(|request| serde_json::from_slice(&request.body).unwrap()).collect()
}

#[test]
fn line_ends_and_the_commit_that_was_read_are_sent() {
    let gitlab = Gitlab::with_project();
    gitlab.says(FILE, [file("one\r\ntwo\r\nthree\r\n", "c1")]);
    gitlab.answer("PUT", "/files/a.txt", answer(200, json!({"file_path": "a.txt", "branch": "main"})));
    let mut client = gitlab.client(&[]);
    succeed(&mut client, "repository_file.update", update(&edit("one\ntwo", "1\n2")));
    let [body] = sent(&gitlab).try_into().unwrap();
    assert_eq!(body["content"], "1\r\n2\r\nthree\r\n");
    assert_eq!(body["last_commit_id"], "c1");
    assert!(body.get("edits").is_none(), "{body}");
    let read = gitlab.seen().into_iter().find(|line| line.starts_with(FILE)).unwrap();
    assert_eq!(read, format!("{FILE}?ref=main"));
}

/// Somebody commits between the read and the write.
#[test]
fn a_file_that_changed_since_it_was_read_is_a_conflict() {
    let gitlab = Gitlab::with_project();
    gitlab.says(FILE, [file("one\n", "c1"), file("one or two\n", "c2")]);
    let refusal = json!({"message": "You are attempting to update a file that has changed since you started editing it."});
    gitlab.answer("PUT", "/files/a.txt", answer(400, refusal));
    let mut client = gitlab.client(&[]);
    let error =
        refused(&execute(&mut client, "repository_file.update", update(&edit("one", "1"))), "conflict");
    assert_eq!(
        error["message"],
        "a.txt has changed since it was read: its `last_commit_id` was c1, and is c2. Nothing was changed"
    );
    assert_eq!(error["fix"]["arguments"]["params"], update(&edit("one", "1")));
    // Any other refusal stays what it is.
    gitlab.says(FILE, [file("one\n", "c1")]);
    refused(&execute(&mut client, "repository_file.update", update(&edit("one", "1"))), "invalid_params");
}

#[test]
fn a_text_that_cannot_be_read_is_not_changed() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("PUT", "/files/a.txt", answer(200, json!({"file_path": "a.txt"})));
    gitlab.says(
        FILE,
        [answer(200, json!({"encoding": "base64", "content": "/9j/4A==", "last_commit_id": "c"}))],
    );
    let mut client = gitlab.client(&[]);
    let reply = execute(&mut client, "repository_file.update", update(&edit("one", "1")));
    assert!(refused(&reply, "invalid_params")["message"].as_str().unwrap().contains("is no UTF-8 text"));
    gitlab.says(FILE, [answer(403, json!({"message": "403 Forbidden"}))]);
    let reply = execute(&mut client, "repository_file.update", update(&edit("one", "1")));
    assert!(
        refused(&reply, "forbidden")["message"]
            .as_str()
            .unwrap()
            .contains("the present text is not readable")
    );
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "repository_file.get")]);
    refused(&execute(&mut client, "repository_file.update", update(&edit("one", "1"))), "denied");
    assert_eq!(sent(&gitlab), Vec::<Value>::new());
}
