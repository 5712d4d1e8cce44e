//! Names of labels that are nearly those of existing ones.

use serde_json::{Value, json};

use crate::support::client::{Client, execute, succeed};
use crate::support::scripted_gitlab::{Gitlab, answer};

fn update(more: &Value) -> Value {
    let mut params = json!({"fullPath": "acme/widget", "iid": 3});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    params
}

#[test]
fn a_label_that_differs_in_case_spaces_or_hyphens_is_the_existing_one() {
    let mut client = Client::sandbox();
    let params = update(&json!({"add_labels": ["Needs-Triage", "docs"], "remove_labels": ["Bug"]}));
    let reply = execute(&mut client, "issue.update", params);
    let mut labels: Vec<&str> = reply.structured["data"]["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| label.as_str().unwrap())
        .collect();
    labels.sort_unstable();
    assert_eq!(labels, ["docs", "needs triage"], "{}", reply.text);
    let notes = &reply.structured["notes"];
    assert_eq!(notes[0], "`add_labels`: \"Needs-Triage\" is the label \"needs triage\"");
    assert_eq!(notes[1], "`remove_labels`: \"Bug\" is the label \"bug\"");
    assert_eq!(notes.as_array().unwrap().len(), 2, "{notes}");
    let names = succeed(&mut client, "label.list", json!({"fullPath": "acme/widget"}));
    let names: Vec<&Value> = names["data"].as_array().unwrap().iter().map(|label| &label["name"]).collect();
    assert!(!names.contains(&&json!("Needs-Triage")), "{names:?}");
}

#[test]
fn an_unknown_label_is_refused_with_the_near_ones_and_nothing_is_sent() {
    let mut client = Client::sandbox();
    let reply = execute(
        &mut client,
        "issue.update",
        update(&json!({"title": "T", "add_labels": ["priority::hihg"]})),
    );
    assert!(reply.is_error, "{}", reply.text);
    let error = &reply.structured["error"];
    assert_eq!(error["kind"], "invalid_params");
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .ends_with("there is no label \"priority::hihg\". Nothing was sent")
    );
    assert!(error["hint"].as_str().unwrap().contains("Did you mean \"priority::high\"?"), "{error}");
    let fix = &error["fix"]["arguments"];
    assert_eq!(fix["params"]["add_labels"], json!(["priority::high"]), "{fix}");
    let issue = succeed(&mut client, "issue.get", update(&json!({})));
    assert_ne!(issue["data"]["title"], "T");
    // The call of `fix` does what was meant.
    succeed(&mut client, "issue.update", fix["params"].clone());
    // Without a near one, the labels are listed; one that is removed and is not there is a note.
    let reply = execute(&mut client, "issue.update", update(&json!({"add_labels": ["xyzzy"]})));
    assert_eq!(reply.structured["error"]["fix"]["arguments"]["action"], "label.list", "{}", reply.text);
    let reply =
        execute(&mut client, "issue.update", update(&json!({"title": "T", "remove_labels": ["xyzzy"]})));
    assert!(reply.structured["notes"].to_string().contains("nothing to remove"), "{}", reply.text);
}

#[test]
fn a_label_is_created_where_the_call_says_so() {
    let mut client = Client::sandbox();
    let params = update(&json!({"add_labels": ["brand new"], "create_labels": true}));
    let reply = execute(&mut client, "issue.update", params.clone());
    assert!(!reply.is_error, "{}", reply.text);
    assert!(reply.structured["notes"].to_string().contains("GitLab creates the label"), "{}", reply.text);
    let names = succeed(&mut client, "label.list", json!({"fullPath": "acme/widget", "search": "brand new"}));
    assert_eq!(names["data"][0]["name"], "brand new", "{names}");
    // Creating a label is an effect of its own.
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "label.create")]);
    let reply = execute(&mut client, "issue.update", params);
    assert_eq!(reply.structured["error"]["kind"], "denied", "{}", reply.text);
    // An empty text takes all labels away, and is no label.
    let reply = execute(&mut client, "issue.update", update(&json!({"labels": ""})));
    assert!(!reply.is_error && reply.structured.get("notes").is_none(), "{}", reply.text);
}

#[test]
fn a_change_without_labels_or_with_a_hidden_list_is_sent_as_it_is() {
    let gitlab = Gitlab::with_project();
    gitlab.answer("PUT", "/issues/3", answer(200, json!({"id": 1, "iid": 3, "labels": ["Bug"]})));
    let mut client = gitlab.client(&[]);
    succeed(&mut client, "issue.update", update(&json!({"title": "T"})));
    assert!(gitlab.seen().iter().all(|line| !line.contains("/labels")), "{:?}", gitlab.seen());
    // The list is a 404.
    succeed(&mut client, "issue.update", update(&json!({"add_labels": ["Bug"]})));
    let sent = gitlab.last("PUT ");
    assert_eq!(serde_json::from_slice::<Value>(&sent.body).unwrap(), json!({"add_labels": ["Bug"]}));
    // A longer list is not read to its end, so there is no note on a name that it does not have.
    let page = answer(200, json!([{"name": "other"}])).header("x-next-page", "2");
    gitlab.answer("GET", "/labels", page);
    let reply = succeed(&mut client, "issue.update", update(&json!({"add_labels": ["Bug"]})));
    assert!(reply.get("notes").is_none(), "{reply}");
}
