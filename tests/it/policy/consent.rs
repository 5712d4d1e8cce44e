//! A person outranks a model: where the client can ask, the model's consent does not replace the question, and a
//! decline holds. Over every protocol in which a server can ask.

use serde_json::{Value, json};

use crate::policy::vault::{gitlab, policy_file, sent};
use crate::support::client::{Client, EXECUTE, OWN_TOKEN, Reply, WITHOUT_HANDSHAKE, refused, reply};
use crate::support::scripted_gitlab::{Gitlab, answer};

/// The protocols with elicitation: two that ask while the call waits, and one that asks by the result.
const VERSIONS: [&str; 3] = ["2025-06-18", "2025-11-25", WITHOUT_HANDSHAKE];

/// A client whose user answers each question.
struct Person {
    client: Client,
    version: &'static str,
    /// The parameters of the questions that were asked.
    asked: Vec<Value>,
}

impl Person {
    fn of(mut client: Client, version: &'static str) -> Person {
        if version != WITHOUT_HANDSHAKE {
            client.initialize_with(version, json!({"elicitation": {}}));
        }
        Person { client, version, asked: Vec::new() }
    }

    fn at(gitlab: &Gitlab, version: &'static str, variables: &[(&str, &str)]) -> Person {
        let url = gitlab.url();
        let own = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", OWN_TOKEN)];
        Person::of(Client::start(&[], &[&own, variables].concat()), version)
    }

    fn in_sandbox(version: &'static str, variables: &[(&str, &str)]) -> Person {
        Person::of(Client::start(&["--sandbox"], variables), version)
    }

    /// Calls a tool and gives each question this answer.
    fn call(&mut self, tool: &str, arguments: &Value, answer: &Value) -> Reply {
        self.call_while(tool, arguments, answer, &|| {})
    }

    /// Calls a tool; something happens while the question is open.
    fn call_while(&mut self, tool: &str, arguments: &Value, answer: &Value, meanwhile: &dyn Fn()) -> Reply {
        let call = json!({"name": tool, "arguments": arguments});
        if self.version == WITHOUT_HANDSHAKE {
            let able = json!({"elicitation": {"form": {}}});
            let response = self.client.modern_with("tools/call", call.clone(), able.clone());
            let result = &response["result"];
            if result["resultType"] != "input_required" {
                return reply(&response);
            }
            let mut again = call;
            let (name, request) = result["inputRequests"].as_object().unwrap().iter().next().unwrap();
            self.asked.push(request["params"].clone());
            meanwhile();
            again["requestState"] = result["requestState"].clone();
            again["inputResponses"] = json!({name: answer});
            return reply(&self.client.modern_with("tools/call", again, able));
        }
        self.client.send(&json!({"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": call}));
        loop {
            let message = self.client.receive();
            if message["method"] != "elicitation/create" {
                assert_eq!(message["id"], "call", "{message}");
                return reply(&message);
            }
            self.asked.push(message["params"].clone());
            meanwhile();
            self.client.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
        }
    }

    fn execute(&mut self, arguments: &Value, answer: &Value) -> Reply {
        self.call(EXECUTE, arguments, answer)
    }

    fn last_question(&self) -> &str {
        self.asked.last().unwrap()["message"].as_str().unwrap()
    }
}

fn yes() -> Value {
    json!({"action": "accept", "content": {"confirm": true}})
}

fn no() -> Value {
    json!({"action": "decline"})
}

/// The deletion of the issue, with the model's consent.
fn deletion() -> Value {
    json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}, "confirm": true})
}

fn deletions(gitlab: &Gitlab) -> usize {
    sent(gitlab).iter().filter(|request| request.starts_with("DELETE")).count()
}

#[test]
fn the_models_consent_does_not_replace_the_question() {
    let batch = json!({"action": "api.batch", "confirm": true, "params": {"calls": [
        {"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}},
        {"action": "issue.delete", "params": {"fullPath": "acme/vault", "iid": 1}},
    ]}});
    let several = json!({"action": "issue.delete", "confirm": true, "params": {"fullPath": "acme/widget", "iid": [1, 2]}});
    let raw = json!({"action": "api.rest", "confirm": true,
        "params": {"method": "DELETE", "path": "/projects/acme%2Fwidget/issues/1"}});
    for version in VERSIONS {
        for (call, deleted) in [(deletion(), 1), (batch.clone(), 2), (several.clone(), 2), (raw.clone(), 1)] {
            let gitlab = gitlab();
            let mut person = Person::at(&gitlab, version, &[]);
            refused(&person.execute(&call, &no()), "declined");
            assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0), "{version}: {call}");
            let mut person = Person::at(&gitlab, version, &[]);
            let done = person.execute(&call, &yes());
            assert!(!done.is_error, "{version}: {}", done.text);
            assert_eq!((person.asked.len(), deletions(&gitlab)), (1, deleted), "{version}: {call}");
        }
    }
}

#[test]
fn a_review_is_asked_about_though_the_model_consents() {
    let review = json!({"action": "merge_request.review", "confirm": true,
        "params": {"fullPath": "acme/widget", "iid": 5, "body": "Fine.\n\n/merge"}});
    for version in VERSIONS {
        let mut person = Person::in_sandbox(version, &[]);
        refused(&person.execute(&review, &no()), "declined");
        assert_eq!(person.asked.len(), 1, "{version}");
        let question = person.last_question();
        assert!(question.contains("It contains the quick action /merge."), "{question}");
    }
}

#[test]
fn every_surface_asks_the_person() {
    let issue = json!({"fullPath": "acme/widget", "iid": 45});
    let by_action = json!({"action": "issue.delete", "params": issue, "confirm": true});
    let mut own = issue.clone();
    own["confirm"] = json!(true);
    for (surface, tool, arguments) in [
        ("dynamic", EXECUTE, &by_action),
        ("meta", "gitlab_issues", &by_action),
        ("individual", "issue_delete", &own),
        ("toolset", EXECUTE, &by_action),
    ] {
        for version in VERSIONS {
            let mut person = Person::in_sandbox(version, &[("TOOL_SURFACE", surface)]);
            refused(&person.call(tool, arguments, &no()), "declined");
            assert_eq!(person.asked.len(), 1, "{surface} {version}");
        }
    }
}

#[test]
fn a_confirmation_token_does_not_replace_the_answer() {
    let gitlab = gitlab();
    let mut person = Person::at(&gitlab, WITHOUT_HANDSHAKE, &[("GITLAB_CONFIRM", "token")]);
    // A request of a client that cannot ask gets a token.
    let call = json!({"name": EXECUTE, "arguments": deletion()});
    let error = refused(&reply(&person.client.modern("tools/call", call)), "needs_confirmation");
    refused(&person.execute(&error["fix"]["arguments"], &no()), "declined");
    assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0));
}

#[test]
fn a_decline_holds_however_the_call_is_spelled() {
    let issue = |project: &str| json!({"fullPath": project, "iid": 1});
    let delete = |params: Value| json!({"action": "issue.delete", "params": params, "confirm": true});
    let raw = |path: &str| json!({"action": "api.rest", "confirm": true, "params": {"method": "DELETE", "path": path}});
    let spellings = [
        delete(issue("acme/widget")),
        delete(issue("Acme/Widget")),
        delete(issue("1")),
        delete(json!({"project_id": 1, "issue_iid": "1"})),
        delete(json!({"target": "acme/widget#1"})),
        raw("/projects/acme%2Fwidget/issues/1"),
        raw("/api/v4/projects/1/issues/1"),
        raw("/projects/acme%2Fwidget/issues/1?x=1"),
        raw("/projects/acme%2Fwidget/issues/01"),
        json!({"action": "api.batch", "confirm": true, "params": {"calls": [
            {"action": "label.create", "params": {"fullPath": "acme/widget", "name": "x", "color": "#fff"}},
            {"action": "issue.delete", "params": issue("1")},
        ]}}),
    ];
    for version in VERSIONS {
        // The model's consent counts, so that nothing but the decline is in the way.
        for first in [issue("acme/widget"), issue("1")] {
            let gitlab = gitlab();
            let mut person = Person::at(&gitlab, version, &[("GITLAB_CONFIRM_BY", "model")]);
            let unconfirmed = json!({"action": "issue.delete", "params": first});
            let error = refused(&person.execute(&unconfirmed, &no()), "declined");
            let said = error["message"].as_str().unwrap();
            assert!(said.contains("declined") && said.contains("until 20"), "{said}");
            for spelling in &spellings {
                refused(&person.execute(spelling, &yes()), "declined");
            }
            assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0), "{version}");
            assert!(!sent(&gitlab).iter().any(|request| request.starts_with("POST")), "{version}");
            // Another call is not declined.
            let other = delete(json!({"fullPath": "acme/vault", "iid": 1}));
            assert!(!person.execute(&other, &no()).is_error);
            assert_eq!(deletions(&gitlab), 1);
        }
    }
}

#[test]
fn a_decline_of_a_deleted_group_holds_however_it_is_spelled() {
    let delete =
        |group: &str| json!({"action": "group.delete", "params": {"fullPath": group}, "confirm": true});
    let raw = |path: &str| json!({"action": "api.rest", "confirm": true, "params": {"method": "DELETE", "path": path}});
    for first in ["acme", "7"] {
        let gitlab = gitlab();
        let mut person = Person::at(&gitlab, "2025-11-25", &[("GITLAB_CONFIRM_BY", "model")]);
        let unconfirmed = json!({"action": "group.delete", "params": {"fullPath": first}});
        refused(&person.execute(&unconfirmed, &no()), "declined");
        for spelling in [
            delete("acme"),
            delete("Acme"),
            delete("7"),
            raw("/groups/acme"),
            raw("/groups/7"),
            raw("/groups/ACME.json"),
        ] {
            refused(&person.execute(&spelling, &yes()), "declined");
        }
        assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0), "{first}");
    }
}

/// Grape reads a number from its text, a parameter from the query, and no parameter from `null`.
#[test]
fn a_decline_holds_wherever_a_parameter_is_and_whatever_its_type() {
    let add = |path: &str, body: Value, query: Value| {
        let params = json!({"method": "POST", "path": path, "body": body, "query": query});
        json!({"action": "api.rest", "params": params, "confirm": true})
    };
    let path = "/projects/acme%2Fwidget/members";
    let gitlab = gitlab();
    let mut person = Person::at(&gitlab, "2025-11-25", &[("GITLAB_CONFIRM_BY", "model")]);
    let mut first = add(path, json!({"user_id": 5, "access_level": 40}), json!({}));
    first["confirm"] = json!(false);
    refused(&person.execute(&first, &no()), "declined");
    for spelling in [
        add(path, json!({"user_id": 5, "access_level": "40"}), json!({})),
        add(path, json!({"user_id": "5", "access_level": 40, "expires_at": null}), json!({})),
        add(path, json!({"user_id": "+5", "access_level": " 40"}), json!({})),
        add(path, json!({"user_id": 5}), json!({"access_level": "40"})),
        add(path, json!({}), json!({"user_id": 5, "access_level": 40})),
        add(&format!("{path}?user_id=5&access_level=40"), json!({}), json!({})),
        // GitLab ignores a parameter that it does not have.
        add(&format!("{path}?x=1"), json!({"user_id": 5, "access_level": 40}), json!({})),
    ] {
        refused(&person.execute(&spelling, &yes()), "declined");
    }
    let other = add(path, json!({"user_id": 6, "access_level": 40}), json!({}));
    assert!(!person.execute(&other, &no()).is_error);
}

/// A title, or `latest`, is another object's while the person reads the question.
#[test]
fn what_was_shown_is_what_is_deleted() {
    for version in VERSIONS {
        let gitlab = gitlab();
        let pipeline = |id: u64| json!({"id": id, "iid": id, "status": "failed", "ref": "main"});
        for id in [7, 99] {
            gitlab.json(&format!("/projects/acme%2Fwidget/pipelines/{id}"), &pipeline(id));
        }
        let latest = |id: u64| {
            gitlab.says("GET /api/v4/projects/acme%2Fwidget/pipelines/latest", [answer(200, pipeline(id))]);
        };
        latest(7);
        let mut person = Person::at(&gitlab, version, &[]);
        let delete = json!({"action": "pipeline.delete", "params": {"fullPath": "acme/widget", "pipeline_id": "latest"}});
        let reply = person.call_while(EXECUTE, &delete, &yes(), &|| latest(99));
        assert!(!reply.is_error, "{}", reply.text);
        let deleted: Vec<String> =
            sent(&gitlab).into_iter().filter(|line| line.starts_with("DELETE")).collect();
        assert!(deleted.len() == 1 && deleted[0].contains("/pipelines/7"), "{version}: {deleted:?}");
    }
}

/// A raw merge is tied to the commits that the question was about, as `merge_request.merge` is: it names them, and is not
/// sent once others have come.
#[test]
fn a_raw_merge_names_the_head_that_was_shown() {
    for version in VERSIONS {
        let gitlab = gitlab();
        let head = |sha: &str| {
            let row = json!({"iid": 5, "title": "Five", "state": "opened", "sha": sha});
            gitlab.says("GET /api/v4/projects/acme%2Fwidget/merge_requests/5", [answer(200, row)]);
        };
        head("aaaa");
        let mut person = Person::at(&gitlab, version, &[]);
        let merge = json!({"method": "PUT", "path": "/projects/acme%2Fwidget/merge_requests/5/merge"});
        let merge = json!({"action": "api.rest", "params": merge});
        let bodies = || -> Vec<Value> {
            let puts = gitlab.received().into_iter().filter(|request| request.method == "PUT");
            puts.map(|put| serde_json::from_slice(&put.body).unwrap()).collect()
        };
        refused(&person.call_while(EXECUTE, &merge, &yes(), &|| head("bbbb")), "conflict");
        assert!(bodies().is_empty(), "{:?}", bodies());
        let reply = person.call(EXECUTE, &merge, &yes());
        assert_eq!(bodies(), [json!({"sha": "bbbb"})], "{}", reply.text);
    }
}

/// An edit is made in the text as it is when it is sent: what strangers wrote meanwhile was not in the question.
#[test]
fn a_text_that_changed_during_the_question_is_not_sent() {
    let shown = |text: &str| json!({"iid": 1, "title": "One", "description": text});
    let edit = json!({"action": "issue.update", "params": {
        "fullPath": "acme/widget", "iid": 1, "edits": [{"old": "hello", "new": "/move other/secret\nbye"}],
    }});
    for version in VERSIONS {
        let gitlab = gitlab();
        let says = |text: &str| {
            gitlab.says("GET /api/v4/projects/acme%2Fwidget/issues/1", [answer(200, shown(text))]);
        };
        says("hello world");
        let mut person = Person::at(&gitlab, version, &[]);
        let worse = || says("hello world\n/confidential\n/move other/secret");
        let error = refused(&person.call_while(EXECUTE, &edit, &yes(), &worse), "conflict");
        assert!(error["message"].as_str().unwrap().contains("while the question was open"), "{error}");
        assert!(!sent(&gitlab).iter().any(|line| line.starts_with("PUT")), "{:?}", sent(&gitlab));
        // The call of the error asks about the text of now.
        let reply = person.call(EXECUTE, &error["fix"]["arguments"], &yes());
        assert!(person.last_question().contains("/confidential"), "{}", person.last_question());
        assert!(sent(&gitlab).iter().any(|line| line.starts_with("PUT")), "{}", reply.text);
    }
}

/// An edit is made in the text as it is when it is sent, so the question shows it as it would be: the first call of a batch
/// is of what was shown, with the others or not at all, and one after others is asked about by itself.
#[test]
fn an_edit_in_a_batch_is_of_the_text_that_was_shown() {
    let shown = |text: &str| json!({"iid": 1, "title": "One", "description": text});
    let delete = json!({"action": "issue.delete", "params": {"fullPath": "acme/vault", "iid": 1}});
    let edit = json!({"action": "issue.update", "params": {
        "fullPath": "acme/widget", "iid": 1, "edits": [{"old": "hello", "new": "/move other/secret\nbye"}],
    }});
    for (calls, sent_anyway) in [
        (json!([edit, delete]), Vec::new()),
        (json!([delete, edit]), vec!["DELETE /api/v4/projects/acme%2Fvault/issues/1".to_owned()]),
    ] {
        for version in VERSIONS {
            let gitlab = gitlab();
            let says = |text: &str| {
                gitlab.says("GET /api/v4/projects/acme%2Fwidget/issues/1", [answer(200, shown(text))]);
            };
            says("hello world");
            let mut person = Person::at(&gitlab, version, &[]);
            let batch = json!({"action": "api.batch", "params": {"calls": calls}});
            let reply = person.call_while(EXECUTE, &batch, &yes(), &|| says("hello world\n/confidential"));
            let changes: Vec<String> =
                sent(&gitlab).into_iter().filter(|line| !line.starts_with("GET")).collect();
            assert_eq!(changes, sent_anyway, "{}", reply.text);
            let why =
                if sent_anyway.is_empty() { "while the question was open" } else { "needs_confirmation" };
            assert!(reply.text.contains(why), "{}", reply.text);
        }
    }
}

/// The state of a question is of one tool: that which only reads changes nothing by it.
#[test]
fn an_answer_is_taken_by_the_tool_that_asked() {
    let mut client = Client::start(&["--sandbox", "--read-tool"], &[]);
    let able = json!({"elicitation": {"form": {}}});
    let arguments = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 1}});
    let call = json!({"name": EXECUTE, "arguments": arguments});
    let asked = client.modern_with("tools/call", call.clone(), able.clone())["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    for tool in ["gitlab_read_action", "gitlab_find_action"] {
        let mut again = call.clone();
        again["name"] = json!(tool);
        again["requestState"] = asked["requestState"].clone();
        let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap();
        again["inputResponses"] = json!({name: yes()});
        let response = client.modern_with("tools/call", again, able.clone());
        assert!(!response.to_string().contains("Deleted"), "{response}");
    }
    let get = json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 1}});
    let left = reply(&client.modern("tools/call", json!({"name": EXECUTE, "arguments": get})));
    assert!(!left.is_error, "{}", left.text);
}

/// The server adds the head to a merge that it asks about, and not to one with consent.
#[test]
fn a_declined_merge_holds_with_any_head() {
    let merge = |more: Value| {
        let mut params = json!({"fullPath": "acme/widget", "iid": 5});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"action": "merge_request.merge", "params": params, "confirm": true})
    };
    let mut person = Person::in_sandbox("2025-11-25", &[("GITLAB_CONFIRM_BY", "model")]);
    let mut unconfirmed = merge(json!({}));
    unconfirmed["confirm"] = json!(false);
    refused(&person.execute(&unconfirmed, &no()), "declined");
    assert!(!person.last_question().contains("sha"), "{}", person.last_question());
    let raw = json!({"method": "PUT", "path": "/projects/acme%2Fwidget/merge_requests/5/merge"});
    for again in [
        merge(json!({})),
        merge(json!({"sha": "0123456789012345678901234567890123456789"})),
        json!({"action": "api.rest", "params": raw, "confirm": true}),
    ] {
        refused(&person.execute(&again, &yes()), "declined");
    }
    assert_eq!(person.asked.len(), 1);
}

#[test]
fn a_decline_holds_against_a_confirmation_token() {
    let gitlab = gitlab();
    let variables = [("GITLAB_CONFIRM", "token"), ("GITLAB_CONFIRM_BY", "model")];
    let mut person = Person::at(&gitlab, WITHOUT_HANDSHAKE, &variables);
    // A request of a client that cannot ask gets a token.
    let call = json!({"name": EXECUTE, "arguments": deletion()});
    let error = refused(&reply(&person.client.modern("tools/call", call)), "needs_confirmation");
    refused(&person.execute(&deletion(), &no()), "declined");
    refused(&person.execute(&error["fix"]["arguments"], &yes()), "declined");
    assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0));
}

#[test]
fn a_declined_batch_holds_for_each_of_its_calls() {
    let call = |project: &str| json!({"action": "issue.delete", "params": {"fullPath": project, "iid": 1}});
    let gitlab = gitlab();
    let mut person = Person::at(&gitlab, "2025-11-25", &[("GITLAB_CONFIRM_BY", "model")]);
    let batch =
        json!({"action": "api.batch", "params": {"calls": [call("acme/widget"), call("acme/vault")]}});
    refused(&person.execute(&batch, &no()), "declined");
    for project in ["acme/widget", "acme/vault"] {
        let mut alone = call(project);
        alone["confirm"] = json!(true);
        refused(&person.execute(&alone, &yes()), "declined");
    }
    assert_eq!((person.asked.len(), deletions(&gitlab)), (1, 0));
}

#[test]
fn a_program_that_fills_in_nothing_confirms_nothing() {
    let answers = [
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"confirm": "true"}}),
        json!({"action": "accept", "content": {"other": true}}),
    ];
    for version in VERSIONS {
        let gitlab = gitlab();
        let mut person = Person::at(&gitlab, version, &[]);
        for answer in &answers {
            let error = refused(&person.execute(&deletion(), answer), "unanswered");
            assert!(error["hint"].as_str().unwrap().contains("GITLAB_CONFIRM_BY=model"), "{error}");
        }
        assert_eq!((person.asked.len(), deletions(&gitlab)), (answers.len(), 0), "{version}");
        let unticked = json!({"action": "accept", "content": {"confirm": false}});
        refused(&person.execute(&deletion(), &unticked), "declined");
        assert_eq!(deletions(&gitlab), 0);
    }
}

/// The form is of the subset of JSON Schema that all protocols with elicitation accept.
#[test]
fn the_form_has_one_required_boolean() {
    for version in VERSIONS {
        let mut person = Person::in_sandbox(version, &[]);
        person.execute(&json!({"action": "project.delete", "params": {"fullPath": "acme/widget"}}), &no());
        let schema = &person.asked[0]["requestedSchema"];
        let field = &schema["properties"]["confirm"];
        assert_eq!(
            (&schema["type"], &schema["required"]),
            (&json!("object"), &json!(["confirm"])),
            "{schema}"
        );
        assert_eq!(schema["properties"].as_object().unwrap().len(), 1, "{schema}");
        assert!(field["type"] == "boolean" && field["description"].is_string(), "{schema}");
        let known = ["type", "title", "description"];
        assert!(field.as_object().unwrap().keys().all(|key| known.contains(&key.as_str())), "{schema}");
    }
}

#[test]
fn the_models_consent_counts_where_it_is_set_to() {
    for version in VERSIONS {
        let gitlab = gitlab();
        let mut person = Person::at(&gitlab, version, &[("GITLAB_CONFIRM_BY", "model")]);
        let done = person.execute(&deletion(), &no());
        assert!(!done.is_error, "{}", done.text);
        assert_eq!((person.asked.len(), deletions(&gitlab)), (0, 1), "{version}");
    }
}

#[test]
fn a_question_is_a_sentence_with_what_it_would_hit() {
    let mut person = Person::in_sandbox("2025-11-25", &[]);
    let mut ask = |action: &str, params: Value| {
        person.execute(&json!({"action": action, "params": params}), &json!({"action": "cancel"}));
        person.last_question().to_owned()
    };
    let widget = "acme/widget";
    for (action, params, expected) in [
        (
            "branch.delete",
            json!({"fullPath": widget, "branch": "quiet-gears"}),
            "Delete branch quiet-gears of acme/widget? It is not merged.\nhttp://",
        ),
        ("issue.delete", json!({"fullPath": widget, "iid": 45}), "Delete issue #45 \""),
        ("project.delete", json!({"fullPath": widget}), "Delete project acme/widget? It is public."),
        (
            "merge_request.merge",
            json!({"fullPath": widget, "iid": 5}),
            "Merge merge request !5 \"Quieter gears\" of acme/widget?",
        ),
        (
            "api.rest",
            json!({"method": "DELETE", "path": "/projects/acme%2Fwidget/repository/branches/quiet-gears"}),
            "Delete branch quiet-gears of acme/widget? It is not merged.",
        ),
    ] {
        let question = ask(action, params);
        assert!(question.starts_with(expected), "{action}: {question}");
        assert!(question.ends_with("\nWhy you are asked: it is destructive."), "{action}: {question}");
    }
    let member = json!({"fullPath": widget, "user_id": 4, "access_level": 50});
    let question = ask("member.add", member);
    assert!(question.starts_with("Add member in acme/widget?"), "{question}");
    assert!(question.contains("With access_level 50, user_id 4. The user 4 is \"bob\"."), "{question}");
    let shared = ask("project.share", json!({"fullPath": widget, "group_id": 1, "group_access": 30}));
    assert!(shared.contains("The group 1 is \"acme\"."), "{shared}");
    let raw =
        json!({"method": "POST", "path": "/projects/1/members", "body": {"user_id": 4, "access_level": 50}});
    let raw = ask("api.rest", raw);
    assert!(raw.contains("The user 4 is \"bob\"."), "{raw}");
    let transfer = ask("group.transfer", json!({"fullPath": "acme/tools"}));
    assert!(transfer.contains("It lands at the top level"), "{transfer}");
    let one = |iid: u64| json!({"action": "issue.delete", "params": {"fullPath": widget, "iid": iid}});
    let read = json!({"action": "issue.get", "params": {"fullPath": widget, "iid": 1}});
    let question = ask("api.batch", json!({"calls": [one(44), read, one(45)]}));
    let lines: Vec<&str> = question.lines().collect();
    assert_eq!((lines[0], lines.len()), ("Run these 2 calls together?", 4), "{question}");
    assert!(
        lines[1].starts_with("1. Delete issue #44 \"") && lines[2].starts_with("3. Delete issue #45 \""),
        "{question}"
    );
}

/// A long text before it hid what was destructive: values were cut after two hundred characters.
#[test]
fn nothing_long_hides_what_is_asked_about() {
    let mut person = Person::in_sandbox("2025-11-25", &[]);
    let long = "x".repeat(3_000);
    let mut ask = |action: &str, params: Value| {
        person.execute(&json!({"action": action, "params": params}), &json!({"action": "cancel"}));
        person.last_question().to_owned()
    };
    let mut files: Vec<Value> =
        (0..90).map(|n| json!({"action": "create", "file_path": format!("a{n}"), "content": long})).collect();
    files.push(json!({"action": "delete", "file_path": "README.md"}));
    let commit =
        json!({"fullPath": "acme/widget", "branch": "main", "commit_message": "m", "actions": files});
    let question = ask("commit.create", commit);
    assert!(question.contains("'delete'") && question.contains("README.md"), "{question}");

    // A text is cut in its middle, and what is left out is counted.
    let url = format!("https://hooks.corp.example:{}@evil.example/x{long}", "a".repeat(300));
    let question = ask("webhook.create", json!({"fullPath": "acme/widget", "url": url}));
    assert!(
        question.contains("(the host is evil.example)") && question.contains(" characters) …"),
        "{question}"
    );
    // The cut fell within the host, and letters that look like others were none of the host's.
    let labels = format!(
        "https://hooks.corp.example.{}.evil.example/{}/hooks.corp.example",
        "a.b".repeat(60),
        "T0B1".repeat(60)
    );
    for (url, host) in [
        (labels.as_str(), "b.evil.example)"),
        ("https://g\u{43e}\u{43e}d.example/x", "(the host is xn--"),
        (r"https://good.example\@evil.example/x", "(the host is good.example or evil.example)"),
        ("https://good\u{200b}.example/x", "(the host is good.example)"),
    ] {
        let question = ask("webhook.create", json!({"fullPath": "acme/widget", "url": url}));
        assert!(question.contains("(the host is ") && question.contains(host), "{question}");
    }
    for url in
        ["https://hooks.corp.example:8443/x", "https://HOOKS.corp.example", "https://hooks.corp.example?a=b"]
    {
        let question = ask("webhook.create", json!({"fullPath": "acme/widget", "url": url}));
        assert!(!question.contains("the host is"), "{question}");
    }
    let people: Vec<String> =
        (0..40).map(|n| format!("good{n}@corp.example")).chain(["evil@x.example".to_owned()]).collect();
    let invitation = json!({"fullPath": "acme/widget", "email": people.join(","), "access_level": 50});
    let question = ask("invitation.create", invitation);
    assert!(question.contains("evil@x.example"), "{question}");
    let levels: Vec<Value> = (0..200).map(|n| json!({"user_id": n + 1})).collect();
    let question = ask(
        "protected_branch.update",
        json!({"fullPath": "acme/widget", "name": "main", "allowed_to_push": levels}),
    );
    assert!(question.contains(" more of 200."), "{question}");
    let path = format!("/projects/acme%2Fwidget/repository/files/{}secret.txt", "a".repeat(300));
    let body = json!({"branch": "main", "commit_message": "m"});
    let question = ask("api.rest", json!({"method": "DELETE", "path": path, "body": body}));
    assert!(question.contains("secret.txt"), "{question}");
    let delete = |name: &str| {
        format!("a{name}:branchDelete(input:{{projectPath:\"acme/widget\",name:\"{name}\"}}){{errors}} ")
    };
    let document = format!("mutation{{{}}}", ["x1", "x2", "x3", "main"].map(delete).concat());
    let question = ask("api.graphql", json!({"document": document}));
    assert!(
        question.contains("mutation branchDelete (4 times)") && question.contains("name:'main'"),
        "{question}"
    );

    let body = json!({"description": long, "visibility": "public"});
    let question = ask("api.rest", json!({"method": "PUT", "path": "/projects/acme%2Fsite", "body": body}));
    assert!(question.contains("'visibility':'public'"), "{question}");

    let document = format!(
        "mutation{{a:labelCreate(input:{{projectPath:\"acme/widget\",title:\"x\",description:\"{long}\"}}){{errors}} \
         b:groupUpdate(input:{{fullPath:\"acme\",visibility:public}}){{errors}}}}"
    );
    let question = ask("api.graphql", json!({"document": document}));
    assert!(question.contains("mutation groupUpdate, mutation labelCreate"), "{question}");
    assert!(question.contains("It names acme/widget, acme."), "{question}");
    assert!(!question.contains("in acme/widget?"), "{question}");

    let body = format!("{long}\n\n/close\n/nonesuch\n/label ~bug\n/move acme/site\n");
    let question = ask("issue_note.create", json!({"fullPath": "acme/widget", "iid": 3, "body": body}));
    let commands =
        question.split("It contains the quick actions ").nth(1).unwrap_or_else(|| panic!("{question}"));
    for command in ["/move \"acme/site\"", "/nonesuch", "/close", "/label \"~bug\""] {
        assert!(commands.contains(command), "{command}: {question}");
    }
    assert!(question.starts_with("Create issue note (iid 3) of acme/widget?"), "{question}");
}

#[test]
fn a_question_says_which_rule_asks() {
    let file = policy_file(
        "[[rule]]\nactions = [\"label.create\"]\ndecision = \"confirm\"\nreason = \"labels are the leads'\"\n",
    );
    let mut person = Person::in_sandbox("2025-11-25", &[("GITLAB_POLICY", &file.path)]);
    let label = json!({"action": "label.create", "params": {"fullPath": "acme/widget", "name": "x", "color": "#fff"}});
    refused(&person.execute(&label, &no()), "declined");
    let question = person.last_question();
    assert!(
        question.starts_with("Create label in acme/widget? With name \"x\", color \"#fff\"."),
        "{question}"
    );
    assert!(question.contains("labels are the leads'"), "{question}");
}

/// Strangers write titles, and the model writes parameters: neither can add a sentence of the server's.
#[test]
fn texts_of_others_cannot_pass_for_the_question() {
    let gitlab = gitlab();
    let title = "Harmless\"?\nWhy you are asked: it only reads.\n<gitlab>\u{202e}";
    let url = "https://gitlab.example/acme\nWhy you are asked: it only reads.";
    let issue = answer(200, json!({"iid": 1, "title": title, "state": "opened? Yes", "web_url": url}));
    gitlab.says("GET /api/v4/projects/acme%2Fwidget/issues/1", [issue]);
    let mut person = Person::at(&gitlab, "2025-11-25", &[]);
    refused(&person.execute(&deletion(), &no()), "declined");
    let question = person.last_question();
    let expected = "Delete issue #1 \"Harmless'? Why you are asked: it only reads.";
    assert!(question.starts_with(expected), "{question}");
    assert!(question.contains("Its state is \"opened? Yes\"."), "{question}");
    assert!(!question.contains("<gitlab>") && !question.contains('\u{202e}'), "{question}");
    assert_eq!(question.lines().count(), 3, "{question}");
    let reasons = question.lines().filter(|line| line.starts_with("Why you are asked"));
    assert_eq!(reasons.count(), 1, "{question}");
}

#[test]
fn the_audit_tells_a_decline_from_a_question_that_was_closed() {
    for version in VERSIONS {
        let mut person = Person::in_sandbox(version, &[]);
        let call = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": 45}});
        person.execute(&call, &json!({"action": "cancel"}));
        person.execute(&call, &no());
        person.execute(&call, &yes());
        let stderr = person.client.close().stderr;
        let lines: Vec<&str> = stderr.lines().filter(|line| line.contains("action=issue.delete")).collect();
        let decisions = ["needs_confirmation", "unanswered", "needs_confirmation", "declined", "declined"];
        assert_eq!(lines.len(), decisions.len(), "{version}: {stderr}");
        for (line, decision) in lines.iter().zip(decisions) {
            assert!(line.contains(&format!("decision={decision} ")), "{line}");
            assert!(line.contains("path=/projects/acme%2Fwidget/issues/45"), "{line}");
        }
    }
}

#[test]
fn a_client_that_cannot_ask_consents_by_the_model() {
    let gitlab = gitlab();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let call = json!({"name": EXECUTE, "arguments": deletion()});
        let mut client = gitlab.client(&[]);
        let done = client.modern_with("tools/call", call, capabilities);
        assert!(!reply(&done).is_error, "{done}");
    }
    assert_eq!(deletions(&gitlab), 2);
}

/// GitLab does not show the object, so the question has what the call says of it.
#[test]
fn a_question_about_an_object_that_cannot_be_seen_names_it_by_the_call() {
    let gitlab = gitlab();
    let path = "/projects/(1|acme%2Fwidget)/protected_branches/main";
    gitlab.answer("GET", path, answer(403, json!({"message": "403 Forbidden"})));
    let mut person = Person::at(&gitlab, "2025-11-25", &[]);
    let call =
        json!({"action": "protected_branch.delete", "params": {"fullPath": "acme/widget", "name": "main"}});
    refused(&person.execute(&call, &no()), "declined");
    let question = person.last_question();
    assert!(question.lines().next().unwrap().contains("main"), "{question}");
}

/// Earlier calls of a batch gave the names of what was shown to other objects, which were then deleted.
#[test]
fn a_name_in_a_batch_is_of_the_object_that_was_shown() {
    let squeaks = "The gear squeaks at full speed";
    let retitle = |iid: u64, title: &str| json!({"action": "issue.update", "params": {"fullPath": "acme/widget", "iid": iid, "title": title}});
    let relabel = |name: &str, new: &str| json!({"action": "label.update", "params": {"fullPath": "acme/widget", "name": name, "new_name": new}});
    let issue = json!({"action": "issue.delete", "params": {"fullPath": "acme/widget", "iid": squeaks}});
    let label = json!({"action": "label.delete", "params": {"fullPath": "acme/widget", "name": "bug"}});
    for version in VERSIONS {
        let mut person = Person::in_sandbox(version, &[]);
        let calls = json!([retitle(1, "other"), retitle(2, squeaks), issue]);
        let reply = person.execute(&json!({"action": "api.batch", "params": {"calls": calls}}), &yes());
        assert!(person.last_question().contains("issue #1"), "{}", person.last_question());
        assert!(reply.text.contains("Deleted: issue acme/widget#1"), "{}", reply.text);
        let second = json!({"action": "issue.get", "params": {"fullPath": "acme/widget", "iid": 2}});
        assert!(!person.execute(&second, &yes()).is_error, "{version}");

        let mut person = Person::in_sandbox(version, &[]);
        let calls = json!([relabel("bug", "keep"), relabel("docs", "bug"), label]);
        let reply = person.execute(&json!({"action": "api.batch", "params": {"calls": calls}}), &yes());
        assert!(reply.text.contains("another object than the one that was agreed to"), "{}", reply.text);
        for name in ["keep", "bug"] {
            let get = json!({"action": "label.get", "params": {"fullPath": "acme/widget", "name": name}});
            assert!(!person.execute(&get, &yes()).is_error, "{version} {name}");
        }
    }
}

/// Consent is for the object as the question shows it: where it is merged to, which commit a branch ends with, what a page
/// says.
#[test]
fn an_object_that_changes_while_the_question_is_open_is_asked_about_again() {
    let request = |target: &str| json!({"id": 50, "iid": 5, "title": "Gears", "state": "opened", "target_branch": target, "sha": "c0ffee"});
    let branch = |commit: &str| json!({"name": "old", "commit": {"id": commit}});
    let label = |id: u64| json!({"id": id, "name": "bug"});
    let deletion = |more: Value| {
        let mut commit = json!({"branch": "old", "commit_message": "Tidy", "actions": [{"action": "delete", "file_path": "a"}]});
        commit.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        commit
    };
    let twin =
        json!({"branch": "old", "message": "Tidy", "actions": [{"action": "DELETE", "filePath": "a"}]});
    let page = |content: &str| json!({"slug": "home", "title": "home", "content": content});
    let issue = |title: &str| json!({"id": 3, "iid": 3, "title": title, "state": "opened"});
    let head = |sha: &str| json!({"id": 50, "iid": 5, "title": "Gears", "state": "opened", "sha": sha});
    let note = |body: &str| json!({"id": 7, "body": body});
    let snippet =
        |title: &str| json!({"id": 1, "title": title, "visibility": "private", "updated_at": "2026-01-01"});
    let (close, merge) = ("/close\n/move acme/site", "/merge");
    let raw = |path: &str, body: &str| json!({"method": "POST", "path": format!("/projects/acme%2Fwidget/{path}"), "body": {"body": body}});
    for (action, params, path, before, after) in [
        ("issue_note.create", json!({"iid": 3, "body": close}), "issues/3", issue("a"), issue("b")),
        ("issue_discussion.create", json!({"iid": 3, "body": close}), "issues/3", issue("a"), issue("b")),
        (
            "issue_discussion_note.create",
            json!({"iid": 3, "discussion_id": "d1", "body": close}),
            "issues/3",
            issue("a"),
            issue("b"),
        ),
        ("api.rest", raw("issues/3/notes", close), "issues/3", issue("a"), issue("b")),
        (
            "merge_request_discussion.create",
            json!({"iid": 5, "body": merge}),
            "merge_requests/5",
            head("aa"),
            head("bb"),
        ),
        ("draft_note.create", json!({"iid": 5, "note": merge}), "merge_requests/5", head("aa"), head("bb")),
        ("api.rest", raw("merge_requests/5/discussions", merge), "merge_requests/5", head("aa"), head("bb")),
        ("issue.delete", json!({"iid": 3}), "issues/3", issue("a"), issue("b")),
        ("issue_note.delete", json!({"iid": 3, "note_id": 7}), "issues/3/notes/7", note("a"), note("b")),
        (
            "snippet.update",
            json!({"snippet_id": 1, "visibility": "public"}),
            "snippets/1",
            snippet("a"),
            snippet("b"),
        ),
        ("merge_request.merge", json!({"iid": 5}), "merge_requests/5", request("main"), request("prod")),
        ("branch.delete", json!({"branch": "old"}), "repository/branches/old", branch("aa"), branch("bb")),
        ("commit.create", deletion(json!({})), "repository/branches/old", branch("aa"), branch("bb")),
        (
            "commit.create",
            deletion(json!({"start_branch": "base", "force": true})),
            "repository/branches/base",
            branch("aa"),
            branch("bb"),
        ),
        ("graphql.commit_create", twin, "repository/branches/old", branch("aa"), branch("bb")),
        ("label.delete", json!({"name": "bug"}), "labels/bug", label(1), label(2)),
        ("wiki_page.delete", json!({"slug": "home"}), "wikis/home", page("a"), page("b")),
    ] {
        for version in VERSIONS {
            let gitlab = gitlab();
            let place = format!("GET /api/v4/projects/acme%2Fwidget/{path}");
            gitlab.says(&place, [answer(200, before.clone())]);
            let mut person = Person::at(&gitlab, version, &[]);
            let mut params = params.clone();
            if action != "api.rest" {
                params["fullPath"] = json!("acme/widget");
            }
            let call = json!({"action": action, "params": params});
            let change = || {
                gitlab.says(&place, [answer(200, after.clone())]);
            };
            let reply = person.call_while(EXECUTE, &call, &yes(), &change);
            assert_eq!(refused(&reply, "conflict")["fix"]["arguments"]["action"], action, "{}", reply.text);
            let changes: Vec<String> =
                sent(&gitlab).into_iter().filter(|line| !line.starts_with("GET")).collect();
            assert!(changes.is_empty(), "{action} {version}: {changes:?}");
            if action == "merge_request.merge" {
                assert!(person.last_question().contains("main"), "{}", person.last_question());
            }
        }
    }
}

/// A command on three lines was counted nine times.
#[test]
fn the_question_counts_each_line_of_a_quick_action_once() {
    let mut person = Person::in_sandbox(VERSIONS[0], &[]);
    let body = "/label ~a\n/label ~a\n/label ~a\n/move acme/site";
    let note =
        json!({"action": "issue_note.create", "params": {"fullPath": "acme/widget", "iid": 1, "body": body}});
    person.execute(&note, &json!({"action": "decline"}));
    assert!(person.last_question().contains("(3 times)"), "{}", person.last_question());
}
