//! Composite actions over stdio: that they are found and decided on like any other, and what each answers where an item
//! fails, is too large, or is denied.

pub mod batch;
mod denied_steps;
pub mod diagnose;
pub mod fetch_and_update;
pub mod line_comments;
pub mod overview;
pub mod read_files;
pub mod several_objects;

use gitlab_mcp::catalog::{Catalog, example};
use serde_json::{Value, json};

use crate::catalog::data::actions;
use crate::support::client::{Client, EXECUTE, Reply, execute, refused};
use crate::support::scripted_gitlab::Gitlab;

/// The items of a plan that ran.
pub fn rows(reply: &Reply) -> Vec<Value> {
    assert!(!reply.is_error, "{}", reply.text);
    reply.structured["data"].as_array().unwrap_or_else(|| panic!("{}", reply.structured)).clone()
}

/// Status of each item.
pub fn statuses(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["status"].as_str().unwrap()).collect()
}

fn find_ids(client: &mut Client, query: &str) -> Vec<String> {
    let found = client.call("gitlab_find_action", json!({"query": query, "limit": 10}));
    let results = found.structured["results"].as_array().unwrap();
    results.iter().map(|result| result["action"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn they_are_found_by_what_people_say_and_their_examples_run() {
    let mut client = Client::sandbox();
    for (query, id) in [
        ("fetch several links at once", "resource.fetch"),
        ("update several of these things at once", "resource.update"),
        ("read several files at once", "repository.read_files"),
        ("run several actions in one call", "api.batch"),
    ] {
        let found = client.call("gitlab_find_action", json!({"query": query}));
        let first = found.structured["results"][0].clone();
        assert_eq!(first["action"], id, "{query}: {}", found.text);
        let reply = client.call(EXECUTE, first["example"].clone());
        assert!(statuses(&rows(&reply)).iter().all(|status| *status == "ok"), "{}", reply.text);
    }
}

#[test]
fn a_single_thing_is_found_as_ever() {
    let mut client = Client::sandbox();
    for (query, id) in [
        ("get issue 5", "issue.get"),
        ("open merge requests of a project", "merge_request.list"),
        ("read a file", "repository_file.get"),
        ("close an issue", "issue.update"),
    ] {
        let found = find_ids(&mut client, query);
        let plan = found.iter().position(|id| {
            ["resource.fetch", "resource.update", "repository.read_files", "api.batch"].contains(&id.as_str())
        });
        let at = found.iter().position(|found| found == id).unwrap_or_else(|| panic!("{query}: {found:?}"));
        assert!(plan.is_none_or(|plan| at < plan), "{query}: {found:?}");
    }
}

#[test]
fn what_it_is_made_of_is_told() {
    let mut client = Client::sandbox();
    let found = client.call("gitlab_find_action", json!({"query": "resource.fetch", "detail": "schema"}));
    let first = &found.structured["results"][0];
    let made_of = first["operations"].as_array().unwrap();
    assert!(
        made_of.contains(&json!("issue.get")) && made_of.contains(&json!("wiki_page.get")),
        "{made_of:?}"
    );
    let kinds = &first["input_schema"]["properties"]["items"]["items"]["properties"]["itemType"]["enum"];
    assert!(kinds.as_array().unwrap().contains(&json!("merge_request")), "{first}");
}

#[test]
fn parameters_are_checked_like_those_of_any_action() {
    let mut client = Client::sandbox();
    let error = refused(
        &execute(&mut client, "resource.fetch", json!({"target": ["acme/widget#1"]})),
        "invalid_params",
    );
    assert_eq!(error["fix"]["arguments"]["params"], json!({"targets": ["acme/widget#1"]}), "{error}");
    let kind = json!({"items": [{"itemType": "isue", "fullPath": "acme/widget", "iid": 1}]});
    let error = refused(&execute(&mut client, "resource.fetch", kind), "invalid_params");
    assert!(error["message"].as_str().unwrap().contains("items.itemType"), "{error}");
    refused(&execute(&mut client, "resource.update", json!({})), "invalid_params");
    refused(&execute(&mut client, "resource.fetch", json!({})), "invalid_params");
    let many: Vec<String> = (1..=21).map(|iid| format!("acme/widget#{iid}")).collect();
    refused(&execute(&mut client, "resource.fetch", json!({"targets": many})), "invalid_params");
    let fields =
        json!({"action": "resource.fetch", "params": {"targets": ["acme/widget#1"]}, "fields": ["iid"]});
    refused(&client.call(EXECUTE, fields), "invalid_params");
}

#[test]
fn a_plan_is_withheld_with_what_it_is_made_of() {
    let mut reads = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    let update = json!({"items": [{"target": "acme/widget#1", "title": "x"}]});
    refused(&execute(&mut reads, "resource.update", update.clone()), "denied");
    assert!(!find_ids(&mut reads, "resource.update").contains(&"resource.update".to_owned()));
    assert!(find_ids(&mut reads, "fetch several links at once").contains(&"resource.fetch".to_owned()));
    for denied in ["*.update", "resource.update", "manage_resource:update", "resource.*"] {
        let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", denied)]);
        let error = refused(&execute(&mut client, "resource.update", update.clone()), "denied");
        assert!(error["message"].as_str().unwrap().contains(denied), "{error}");
    }
    let mut client = Client::sandbox_with(&[("GITLAB_DENIED_ACTIONS", "repository_file.get_raw")]);
    let read = json!({"fullPath": "acme/widget", "files": [{"path": "README.md"}]});
    refused(&execute(&mut client, "repository.read_files", read), "denied");
}

/// A rule about the plan holds for its steps.
#[test]
fn a_rule_of_a_policys_file_is_about_the_steps_of_a_plan() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    let text = "[[rule]]\nactions = [\"resource.update\"]\npaths = [\"acme/widget\"]\ndecision = \"deny\"\nreason = \"one by one\"";
    std::fs::write(&file, text).unwrap();
    let mut client = Client::sandbox_with(&[("GITLAB_POLICY", file.to_str().unwrap())]);
    let update = json!({"items": [{"target": "acme/widget#1", "title": "x"}]});
    let rows = rows(&execute(&mut client, "resource.update", update));
    assert_eq!(rows[0]["error"]["kind"], "denied", "{rows:?}");
    assert!(rows[0]["error"]["message"].as_str().unwrap().contains("one by one"), "{rows:?}");
    let alone = execute(&mut client, "issue.update", json!({"target": "acme/widget#1", "title": "x"}));
    assert!(!alone.is_error, "{}", alone.text);
}

#[test]
fn each_step_has_its_line_of_audit() {
    let mut client = Client::sandbox_with(&[("GITLAB_AUDIT", "json")]);
    execute(&mut client, "resource.fetch", json!({"targets": ["acme/widget#1", "acme/widget#4711"]}));
    let ended = client.close();
    let lines: Vec<Value> = ended.stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let lines: Vec<&Value> = lines.iter().filter_map(|line| line.get("audit")).collect();
    let of = |action: &str| lines.iter().filter(|line| line["action"] == action).collect::<Vec<_>>();
    let steps = of("issue.get");
    assert_eq!(steps.len(), 2, "{}", ended.stderr);
    assert!(
        steps.iter().all(|line| line["plan"] == "resource.fetch" && line["decision"] == "allowed"),
        "{steps:?}"
    );
    let outcomes: Vec<&str> = steps.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert!(outcomes.contains(&"ok") && outcomes.contains(&"not_found"), "{outcomes:?}");
    let whole = of("resource.fetch");
    assert_eq!((whole.len(), &whole[0]["decision"], &whole[0]["outcome"]), (1, &json!("plan"), &json!("ok")));
}

#[test]
fn arguments_of_a_single_answer_are_refused_before_anything_is_sent() {
    let gitlab = Gitlab::with_project();
    let folder = tempfile::tempdir().unwrap();
    let folder = std::fs::canonicalize(folder.path()).unwrap();
    let mut client = gitlab.client(&[("GITLAB_FILES_DIR", folder.to_str().unwrap())]);
    let catalog = Catalog::embedded().unwrap();
    let words = catalog.words().unwrap();
    let plans: Vec<_> = actions().into_iter().filter(|action| action.plan.is_some()).collect();
    assert!(plans.len() >= 9, "{}", plans.len());
    for action in plans {
        for (name, value) in [
            ("fields", json!(["id"])),
            ("lines", json!("1-2")),
            ("offset", json!(1)),
            ("save_to", json!("out.txt")),
            ("all", json!(true)),
            ("count_by", json!("id")),
            ("sum", json!("id")),
            ("top", json!(3)),
        ] {
            let example = example(&action, words);
            let arguments = json!({"action": action.id, "params": example, name: value});
            let error = refused(&client.call(EXECUTE, arguments), "invalid_params");
            let message = format!("`{name}` applies to a single answer, and {} has several", action.id);
            assert_eq!(error["message"], message);
            assert_eq!(error["fix"]["arguments"], json!({"action": action.id, "params": example}));
        }
    }
    let is_own = |request: &String| request.ends_with("/personal_access_tokens/self");
    let sent: Vec<String> = gitlab.seen().into_iter().filter(|request| !is_own(request)).collect();
    assert_eq!(sent, [""; 0], "nothing but what the token may do is asked for");
}
