//! Answers of gitlab_find_action: order, confidence, steps, suggestions.

use std::time::Duration;

use gitlab_mcp::catalog::Catalog;
use serde_json::{Value, json};

use crate::support::client::{Client, HANG_GUARD, execute};
use crate::support::scripted_gitlab::{Gitlab, answer};

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

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
        // Scores are shown with the schemas.
        let arguments = json!({"query": format!("delete {noun}"), "detail": "schema"});
        let found = client.call("gitlab_find_action", arguments).structured;
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
fn a_prompt_of_twelve_wishes_has_twelve_steps() {
    let mut client = Client::ready();
    let found = find(
        &mut client,
        "list open issues, list merge requests, show the latest pipeline, retry the failed job, download its artifacts, \
         create a tag, publish a release, add a member to the group, create a deploy token, protect the branch, \
         add a webhook, create a milestone",
    );
    let steps = [
        "issue.list",
        "merge_request.list",
        "pipeline.get_latest",
        "job.retry",
        "job_artifact.download",
        "tag.create",
        "release.create",
        "member.add",
        "deploy_token.create",
        "protected_branch.create",
        "webhook.create",
        "milestone.create",
    ];
    assert_eq!(found["steps"], json!(steps));
}

/// 43 of 96 parameters of a new project were a number.
#[test]
fn a_sure_find_names_every_parameter() {
    let mut client = Client::ready();
    for id in ["project.create", "project.update", "group.update", "merge_request.update"] {
        let action = Catalog::embedded().unwrap().get(id).unwrap().unwrap();
        let reply = client.call("gitlab_find_action", json!({"query": id}));
        for param in &action.params {
            assert!(reply.text.contains(&param.name), "{id} {}", param.name);
        }
        assert!(reply.text.len() < 6_000, "{id}: {}", reply.text.len());
    }
    let large = client.call("gitlab_find_action", json!({"query": "instance_settings.update"}));
    assert!(large.text.len() < 6_000 && large.text.contains(" more)"), "{}", large.text.len());
}

/// Nothing else is shown of it.
#[test]
fn an_action_that_is_named_among_the_others_says_that_it_grants_access() {
    let mut client = Client::ready();
    for (query, id) in [
        ("list deploy tokens", "deploy_token.create"),
        ("list members of a project", "member.import_from_project"),
    ] {
        let reply = client.call("gitlab_find_action", json!({"query": query}));
        let others = reply.text.lines().find(|line| line.starts_with("Others: ")).unwrap_or_default();
        assert!(others.contains(&format!("{id} (grant)")), "{query}: {}", reply.text);
        let results = reply.structured["results"].as_array().unwrap();
        let row = results.iter().find(|row| row["action"] == id).unwrap();
        assert_eq!(row["risk"], "grant", "{query}");
    }
}

#[test]
fn rare_parameters_and_values_lead_to_their_actions() {
    let mut client = Client::ready();
    assert_eq!(first(&find(&mut client, "squash_commit_message")), "merge_request.merge");
    let found = find(&mut client, "created_by_me").to_string();
    assert!(found.contains("issue.list") && found.contains("merge_request.list"), "{found}");
}

/// The nearest of the common actions, as `language.toml` has them.
#[test]
fn a_query_that_shares_no_word_gets_the_common_actions() {
    let mut client = Client::ready();
    let suggested = &Catalog::embedded().unwrap().words().unwrap().language.suggested.clone();
    for query in ["book a flight", "xyzzy plugh qwfp", "pizza margherita recipe"] {
        let found = find(&mut client, query);
        assert_eq!((&found["confidence"], &found["results"]), (&json!("none"), &json!([])), "{query}");
        assert_eq!(texts(&found["suggestions"]), *suggested, "{query}");
    }
}

#[test]
fn suggestions_follow_what_is_offered() {
    let mut client = Client::connect(&[], &[("GITLAB_DENIED_ACTIONS", "issue.list")]);
    let found = find(&mut client, "xyzzy plugh qwfp");
    let suggestions = texts(&found["suggestions"]);
    assert_eq!(suggestions[..2], ["merge_request.list", "project.list"]);
    assert!(suggestions.len() == 6 && !suggestions.contains(&"issue.list"), "{suggestions:?}");
}

#[test]
fn suggestions_share_the_words_of_the_query() {
    let mut client = Client::connect(&[], &[("GITLAB_READ_ONLY", "true")]);
    for query in ["milestone.delete", "DELETE /projects/:id/milestones/:milestone_id"] {
        let found = find(&mut client, query);
        let suggestions = texts(&found["suggestions"]);
        assert!((1..=6).contains(&suggestions.len()), "{query}: {suggestions:?}");
        for id in suggestions {
            assert!(id.contains("milestone"), "{query}: {id}");
            assert_eq!(find(&mut client, id)["results"][0]["risk"], "read", "{query}: {id}");
        }
    }
}

/// A comment on a commit was not found in the domain of commits.
#[test]
fn a_domain_has_what_is_of_its_things() {
    let mut client = Client::sandbox();
    let found =
        client.call("gitlab_find_action", json!({"query": "comment on a commit", "domain": "commit"}));
    assert_eq!(found.structured["results"][0]["action"], "commit_comment.create", "{}", found.text);
}

#[test]
fn what_is_left_out_is_not_said_to_be_missing() {
    let mut client = Client::connect(&[], &[("GITLAB_TOOLSETS", "issues")]);
    for query in ["list pipelines", "retry a job", "pipeline.list"] {
        let reply = client.call("gitlab_find_action", json!({"query": query}));
        assert!(reply.text.starts_with("Every action for this request is denied here."), "{}", reply.text);
        let notes = reply.structured["notes"].to_string();
        assert!(notes.contains("Left out: ") && notes.contains("GITLAB_TOOLSETS=issues"), "{notes}");
        for id in texts(&reply.structured["suggestions"]) {
            let found = find(&mut client, id);
            assert_eq!(first(&found), id, "{query} suggests an omitted action");
        }
    }
    let nothing = client.call("gitlab_find_action", json!({"query": "book a flight"}));
    assert!(nothing.text.starts_with("No GitLab action fits this request."), "{}", nothing.text);
    let other = json!({"query": "list issues", "domain": "geo_site"});
    let mut client = Client::ready();
    let elsewhere = client.call("gitlab_find_action", other);
    assert!(elsewhere.text.starts_with("No action of the domain `geo_site`"), "{}", elsewhere.text);
    for id in texts(&elsewhere.structured["suggestions"]) {
        assert!(id.starts_with("geo_site."), "{id}");
    }
}

#[test]
fn every_result_names_its_domain_risk_and_the_address_of_its_schema() {
    let mut client = Client::ready();
    let arguments = json!({"query": "list branches of a project", "limit": 4, "detail": "schema"});
    let reply = client.call("gitlab_find_action", arguments);
    for result in reply.structured["results"].as_array().unwrap() {
        let id = result["action"].as_str().unwrap();
        assert_eq!(result["domain"], id.split_once('.').unwrap().0);
        assert!(result["risk"].is_string() && result["required"].is_array(), "{result}");
        let uri = result["schema_uri"].as_str().unwrap();
        assert_eq!(uri, format!("gitlab://tools/{id}"));
        let answer = client.request("resources/read", json!({"uri": uri}));
        let text = answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned();
        let read: Value = serde_json::from_str(&text).unwrap();
        assert!(read["input_schema"]["properties"].is_object(), "{text}");
    }
}

#[test]
fn detail_schema_gives_the_schema_of_every_result() {
    let mut client = Client::ready();
    let arguments = json!({"query": "list branches of a project", "limit": 4, "detail": "schema"});
    let reply = client.call("gitlab_find_action", arguments);
    let results = reply.structured["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    for result in results {
        assert!(result["input_schema"]["properties"].is_object(), "{result}");
        assert_eq!(result["example"]["action"], result["action"]);
        assert!(reply.text.contains(&result["input_schema"].to_string()), "{result}");
    }
    assert!(reply.structured.get("notes").is_none(), "{}", reply.structured["notes"]);
}

#[test]
fn schemas_beyond_the_limit_are_named_with_the_way_to_get_them() {
    let mut client = Client::connect(&[], &[("GITLAB_MAX_BYTES", "6000")]);
    let arguments = json!({"query": "list issues", "limit": 10, "detail": "schema"});
    let reply = client.call("gitlab_find_action", arguments);
    let notes = reply.structured["notes"].to_string();
    assert!(notes.contains("GITLAB_MAX_BYTES") && reply.text.contains("Schemas left out"), "{notes}");
    let (mut given, mut left_out) = (0, 0);
    for (place, result) in reply.structured["results"].as_array().unwrap().iter().enumerate() {
        let id = result["action"].as_str().unwrap();
        match result.get("input_schema") {
            Some(schema) if place > 0 => given += schema.to_string().len(),
            Some(_) => {}
            None => {
                left_out += 1;
                assert!(place > 0 && notes.contains(id), "{id}: {notes}");
                let one = json!({"query": id, "limit": 1, "detail": "schema"});
                let one = client.call("gitlab_find_action", one);
                assert!(one.structured["results"][0]["input_schema"].is_object(), "{id}");
            }
        }
    }
    assert!(left_out > 0 && given <= 6_000, "{left_out} left out, {given} bytes");
}

#[test]
fn related_actions_lead_on_and_may_run() {
    let related = |client: &mut Client| {
        let found = find(client, "repository.compare");
        texts(&found["results"][0]["related"]).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = related(&mut Client::ready());
    assert!(
        all.contains(&"changelog.generate".to_owned()) && all.contains(&"release.create".to_owned()),
        "{all:?}"
    );
    let reads = related(&mut Client::connect(&[], &[("GITLAB_READ_ONLY", "true")]));
    assert!(
        reads.contains(&"changelog.generate".to_owned()) && !reads.contains(&"release.create".to_owned())
    );
}

/// A GitLab whose token has the scope `read_api`, and that answers after a time.
fn read_api_after(delay: Duration) -> Gitlab {
    let gitlab = Gitlab::start();
    let own = json!({"name": "t", "scopes": ["read_api"], "expires_at": null, "active": true});
    let template = answer(200, own).after(delay);
    gitlab.answer("GET", "/personal_access_tokens/self", template);
    gitlab
}

#[test]
fn the_scopes_are_known_before_the_first_find() {
    let gitlab = read_api_after(Duration::ZERO);
    let mut client = gitlab.client(&[]);
    for query in ["create an issue", "issue.create"] {
        let found = find(&mut client, query);
        for result in found["results"].as_array().unwrap() {
            assert_eq!(result["risk"], "read", "{query}: {result}");
        }
        assert!(found["notes"].to_string().contains("the token has the scopes read_api"), "{found}");
    }
    assert_eq!(gitlab.received().len(), 1, "the scopes are asked for once");
}

#[test]
fn a_find_does_not_wait_for_a_gitlab_that_does_not_answer() {
    // A find that waited for the answer would run into the hang guard.
    let gitlab = read_api_after(10 * HANG_GUARD);
    let mut client = gitlab.client(&[("GITLAB_TIMEOUT", "600")]);
    assert_eq!(first(&find(&mut client, "create an issue")), "issue.create");
    assert_eq!(first(&find(&mut client, "list issues")), "issue.list");
}

#[test]
fn a_policy_that_denies_the_request_for_the_scopes_leaves_find_as_it_is() {
    let gitlab = read_api_after(Duration::ZERO);
    let mut client = gitlab.client(&[("GITLAB_DENIED_ACTIONS", "personal_access_token.get_self")]);
    assert_eq!(first(&find(&mut client, "create an issue")), "issue.create");
    let asked = gitlab.seen().into_iter().filter(|line| line.contains("personal_access_tokens"));
    assert_eq!(asked.count(), 0);
}

#[test]
fn nonsense_leads_to_no_destructive_candidate() {
    let mut client = Client::sandbox();
    for id in ["nonsense.action", "foo.bar", "quux.frobnicate"] {
        let reply = execute(&mut client, id, json!({}));
        let error = &reply.structured["error"];
        assert_eq!(error["kind"], "unknown_action", "{id}");
        for candidate in error["candidates"].as_array().into_iter().flatten() {
            assert_ne!(candidate["risk"], "destructive", "{id}: {candidate}");
        }
    }
    let reply = execute(&mut client, "isue.delete", json!({}));
    assert!(reply.structured["error"]["candidates"].to_string().contains("issue.delete"), "{}", reply.text);
}

/// The evaluation's requests represent those of users: an answer at its defaults has a bounded size.
#[test]
fn an_answer_to_any_request_of_the_evaluation_is_small() {
    const TEXT: usize = 4_000;
    /// The structured form has the schema of a first result that is not far ahead, and the operations of each.
    const STRUCTURED: usize = 8_000;
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/eval/dev.jsonl");
    let mut client = Client::ready();
    let mut asked = 0;
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let query = case["request"].as_str().unwrap();
        let reply = client.call("gitlab_find_action", json!({"query": query}));
        assert!(!reply.is_error, "{query}: {}", reply.text);
        assert!(reply.text.len() <= TEXT, "{query}: {} bytes", reply.text.len());
        let structured = reply.structured.to_string().len();
        assert!(structured <= STRUCTURED, "{query}: {structured} bytes");
        asked += 1;
    }
    assert!(asked > 800, "{asked}");
}

/// A thread has no name that a user could give: a request about "the discussion" begins with the list.
#[test]
fn a_read_whose_id_nobody_knows_comes_after_its_list() {
    let mut client = Client::sandbox();
    for (query, action) in [
        ("Summarize the discussion in issue acme/widget#1.", "issue_discussion.list"),
        ("summarize the thread in merge request acme/widget!3", "merge_request_discussion.list"),
        ("show discussion 4f3a9bc01 of issue 12", "issue_discussion.get"),
    ] {
        assert_eq!(first(&find(&mut client, query)), action, "{query}");
    }
}
