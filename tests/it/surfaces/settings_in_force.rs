//! Instructions, arguments and annotations of the tools under the settings in force.

use serde_json::{Value, json};

use crate::support::client::{Client, execute};

/// Combinations of settings.
const SETTINGS: [(&str, &[(&str, &str)]); 10] = [
    ("none", &[]),
    ("read-only", &[("GITLAB_READ_ONLY", "true")]),
    ("one toolset", &[("GITLAB_TOOLSETS", "ci_operations")]),
    ("a toolset, reads", &[("GITLAB_TOOLSETS", "issues"), ("GITLAB_READ_ONLY", "true")]),
    ("denied actions", &[("GITLAB_DENIED_ACTIONS", "issue.*,merge_request.merge")]),
    ("denied deletions", &[("GITLAB_DENIED_ACTIONS", "*.delete")]),
    ("no confirmation", &[("GITLAB_CONFIRM", "never")]),
    ("one domain", &[("GITLAB_DOMAINS", "label")]),
    ("toolsets surface", &[("TOOL_SURFACE", "toolset"), ("GITLAB_READ_ONLY", "true")]),
    ("families, reads", &[("TOOL_SURFACE", "meta"), ("GITLAB_READ_ONLY", "true")]),
];

/// The ids that the instructions name: `{issue, epic}.{list, get}` are four.
fn named_ids(instructions: &str) -> Vec<String> {
    let words = regex::Regex::new(r"(\{[a-z_, ]+\}|[a-z_]+)\.(\{[a-z_, ]+\}|[a-z_]+)").unwrap();
    let list = |group: &str| -> Vec<String> {
        group.trim_matches(['{', '}']).split(", ").map(str::to_owned).collect()
    };
    let Some((_, ids)) = instructions.split_once("guess alike, errors correct: ") else {
        return Vec::new();
    };
    let ids = ids.split(". ").next().unwrap();
    let named = words.captures_iter(ids).flat_map(|found| {
        let (domains, verbs) = (list(&found[1]), list(&found[2]));
        domains
            .into_iter()
            .flat_map(move |domain| verbs.clone().into_iter().map(move |verb| format!("{domain}.{verb}")))
    });
    named.collect()
}

#[test]
fn the_instructions_name_only_ids_that_may_run() {
    let mut all = 0;
    for (what, settings) in SETTINGS {
        let mut client = Client::start(&["--sandbox"], settings);
        let served = client.initialize("2025-11-25");
        let instructions = served["result"]["instructions"].as_str().unwrap().to_owned();
        println!("{what}: {} bytes", instructions.len());
        let ids = named_ids(&instructions);
        for id in &ids {
            let reply =
                client.call("gitlab_execute_action", json!({"action": id, "params": {}, "dry_run": true}));
            let kind = &reply.structured["error"]["kind"];
            assert!(
                !["denied", "unknown_action"].contains(&kind.as_str().unwrap_or_default()),
                "{what}: {id}: {}",
                reply.text
            );
        }
        let is_pair = !settings.iter().any(|(_, value)| *value == "meta");
        if what == "none" {
            assert!(ids.len() > 60 && ids.contains(&"merge_request.merge".to_owned()), "{ids:?}");
            all = ids.len();
        } else if is_pair && what != "no confirmation" {
            assert!(ids.len() < all, "{what}: {ids:?}");
        }
        let reads_only = settings.iter().any(|(name, _)| *name == "GITLAB_READ_ONLY");
        assert_eq!(instructions.contains("This server only reads"), reads_only, "{what}");
        let part = "Only these parts are on: GITLAB_TOOLSETS=ci_operations.";
        assert_eq!(instructions.contains(part), what == "one toolset", "{what}: {instructions}");
        assert_eq!(
            instructions.contains("need the user's consent"),
            !reads_only && what != "no confirmation",
            "{what}"
        );
    }
}

fn execute_tool(client: &mut Client) -> Value {
    let tools = client.request("tools/list", json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap();
    tools.iter().find(|tool| tool["name"] == "gitlab_execute_action").unwrap().clone()
}

#[test]
fn the_tool_that_executes_is_a_read_under_read_only() {
    for (settings, asks, reads) in [
        (&[][..], true, false),
        (&[("GITLAB_READ_ONLY", "true")], false, true),
        (&[("GITLAB_CONFIRM", "never")], false, false),
    ] {
        let mut client = Client::sandbox_with(settings);
        let tool = execute_tool(&mut client);
        let arguments = tool["inputSchema"]["properties"].as_object().unwrap();
        for consent in ["confirm", "confirmation_token"] {
            assert_eq!(arguments.contains_key(consent), asks, "{settings:?}: {tool}");
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], reads, "{tool}");
        assert_eq!(tool["annotations"].get("destructiveHint").is_some(), !reads, "{tool}");
        // What a client knows from elsewhere is still read.
        let call = json!({"action": "issue.get", "params": {"target": "acme/widget#3"}, "confirm": true});
        assert!(!client.call("gitlab_execute_action", call).is_error);
    }
}

#[test]
fn a_verb_or_a_noun_alone_runs_nothing() {
    let mut client = Client::sandbox();
    for name in ["list", "files", "user", "merge", "approve", "get"] {
        let reply = execute(&mut client, name, json!({"fullPath": "acme/widget"}));
        assert!(reply.is_error, "{name}: {}", reply.text);
        let candidates = reply.structured["error"]["candidates"].as_array().cloned().unwrap_or_default();
        let order = ["read", "write", "grant", "destructive"];
        let risks: Vec<_> = candidates
            .iter()
            .map(|one| order.iter().position(|risk| one["risk"] == *risk).unwrap())
            .collect();
        assert!(risks.is_sorted(), "{name}: {candidates:?}");
    }
}
