//! What gitlab_find_action answers: order, confidence, steps, suggestions.

use serde_json::{Value, json};

use crate::client::{Client, LATEST_HANDSHAKE};

fn find(client: &mut Client, query: &str) -> Value {
    let reply = client.call("gitlab_find_action", json!({"query": query}));
    assert!(!reply.is_error, "{query}: {}", reply.text);
    reply.structured
}

fn first(found: &Value) -> &str {
    found["results"][0]["action"].as_str().unwrap_or_default()
}

#[test]
fn results_are_sorted_by_score_and_risk_is_a_label() {
    let mut client = Client::ready();
    for noun in ["branch", "release", "label", "timelog"] {
        let found = find(&mut client, &format!("delete {noun}"));
        assert_eq!(first(&found), format!("{noun}.delete"));
        assert_eq!(found["results"][0]["risk"], "destructive");
        let scores: Vec<f64> = found["results"]
            .as_array()
            .unwrap()
            .iter()
            .map(|result| result["score"].as_f64().unwrap())
            .collect();
        assert!(scores.is_sorted_by(|one, other| one >= other), "{noun}: {scores:?}");
    }
}

#[test]
fn a_verb_or_a_noun_of_gitlab_gets_results_and_an_honest_confidence() {
    let mut client = Client::ready();
    for query in ["Fork nanoGPT-fr.", "list open issues of project pizza", "updaet brnach", "lst isues"] {
        assert_eq!(find(&mut client, query)["results"].as_array().unwrap().len(), 5, "{query}");
    }
    for query in ["Fork nanoGPT-fr.", "updaet brnach", "lst isues"] {
        assert_eq!(find(&mut client, query)["confidence"], "low", "{query}");
    }
    for query in ["list issues", "create merge request", "fork project"] {
        assert_eq!(find(&mut client, query)["confidence"], "high", "{query}");
    }
    let found = find(&mut client, "sing me a lullaby");
    assert_eq!((&found["confidence"], &found["results"]), (&json!("none"), &json!([])));
}

#[test]
fn what_is_done_to_an_issue_is_not_done_to_the_label() {
    let mut client = Client::ready();
    for query in
        ["add label to issue", "remove label from issue", "set issue milestone", "ticket 7 is done, close it"]
    {
        assert_eq!(first(&find(&mut client, query)), "issue.update", "{query}");
    }
}

#[test]
fn several_actions_are_named_in_order() {
    let mut client = Client::ready();
    let found = find(&mut client, "comment and close an issue");
    assert_eq!(found["steps"], json!(["issue_note.create", "issue.update"]));
    let reply = client.call("gitlab_find_action", json!({"query": "commit a file and open a merge request"}));
    // Both `commit.create` and `repository_file.create` commit a file.
    assert!(reply.text.contains("It takes several actions, in this order: "), "{}", reply.text);
    assert!(reply.text.contains(".create, then merge_request.create"), "{}", reply.text);
    assert!(find(&mut client, "list issues").get("steps").is_none());
}

#[test]
fn rare_parameters_and_values_lead_to_their_actions() {
    let mut client = Client::ready();
    assert_eq!(first(&find(&mut client, "squash_commit_message")), "merge_request.merge");
    let found = find(&mut client, "created_by_me").to_string();
    assert!(found.contains("issue.list") && found.contains("merge_request.list"), "{found}");
}

#[test]
fn suggestions_follow_what_is_offered() {
    let mut client = Client::start(&[], &[("GITLAB_DENIED_ACTIONS", "issue.list")]);
    client.initialize(LATEST_HANDSHAKE);
    let found = find(&mut client, "xyzzy plugh qwfp");
    assert_eq!(found["suggestions"], json!(["merge_request.list", "project.list"]));
}
