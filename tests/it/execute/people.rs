//! Users by their names, and the words for oneself, nobody and anybody.

use serde_json::{Value, json};

use super::names::{WIDGET, with_iid};
use crate::support::client::{Client, EXECUTE, execute, follow, refused, succeed};

#[test]
fn me_is_the_user_of_the_token_in_filters_by_username() {
    let mut client = Client::sandbox();
    let mut listed = |action: &str, filter: Value| {
        let mut params = json!({"fullPath": WIDGET});
        params.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
        let reply = execute(&mut client, action, params);
        let rows = reply.structured["data"].as_array().unwrap().iter();
        (rows.map(|row| row["iid"].clone()).collect::<Vec<_>>(), reply.text)
    };
    for (action, mine, same, id) in [
        ("merge_request.list", json!({"reviewer": "me"}), json!({"reviewer": "sandbox"}), "reviewer_id"),
        ("issue.list", json!({"assignee": ["@me"]}), json!({"assignee": "sandbox"}), "assignee_id"),
        ("issue.list", json!({"author": "Me"}), json!({"author": "sandbox"}), "author_id"),
    ] {
        let (mine, text) = listed(action, mine);
        assert!(text.contains(&format!("Resolved: {id}: me -> 2")), "{text}");
        assert!(!mine.is_empty(), "{action} by {id}");
        assert_eq!(mine, listed(action, same).0, "{action} by {id}");
    }
}

#[test]
fn members_are_direct_or_inherited_ones_by_a_flag() {
    let mut client = Client::sandbox();
    let list = |client: &mut Client, params: Value| {
        let reply = execute(client, "member.list", params);
        let rows = reply.structured["data"].as_array().unwrap();
        let names: Vec<String> =
            rows.iter().map(|row| row["username"].as_str().unwrap().to_owned()).collect();
        (names, reply.text)
    };
    let (members, text) = list(&mut client, json!({"fullPath": WIDGET}));
    assert_eq!(members, ["carol", "sandbox", "alice", "bob"]);
    assert!(!text.contains("direct members only"), "{text}");
    let (direct, _) = list(&mut client, json!({"fullPath": WIDGET, "inherited": "false"}));
    assert_eq!(direct, ["carol"]);
    let (all, _) = list(&mut client, json!({"fullPath": WIDGET, "inherited": true}));
    assert_eq!(all, members);
}

#[test]
fn members_are_listed_with_the_place_that_they_come_from() {
    let mut client = Client::sandbox();
    for action in ["member.list", "member.list_all"] {
        let rows = succeed(&mut client, action, json!({"fullPath": WIDGET}))["data"].clone();
        let from = |name: &str| {
            let row = rows.as_array().unwrap().iter().find(|row| row["username"] == name);
            row.map(|row| row["from"].clone()).unwrap_or_default()
        };
        assert_eq!((from("carol"), from("bob")), (json!("direct"), json!("acme")), "{action}: {rows}");
    }
    // GitLab answers 404: he is a member of the group.
    let params = json!({"fullPath": WIDGET, "user_id": "bob"});
    let call = json!({"action": "member.remove", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert!(error["message"].as_str().unwrap().contains("through the group \"acme\""), "{error}");
    assert!(!follow(&mut client, &error["fix"]).is_error, "{error}");
}

#[test]
fn me_is_the_user_of_the_token_and_none_takes_away() {
    let mut client = Client::sandbox();
    let me = succeed(&mut client, "current_user.get", json!({}))["data"]["username"].clone();
    let shown = |client: &mut Client| {
        let data = succeed(client, "issue.get", with_iid(3, &json!({})))["data"].clone();
        (data["assignees"].clone(), data["milestone"].clone())
    };
    // With the milestone, it is a look-up of several names, which GraphQL would answer at once.
    let set = json!({"assignees": ["me", "bob"], "milestone": "v1.1"});
    let reply = succeed(&mut client, "issue.update", with_iid(3, &set));
    assert!(reply["resolved"]["assignee_ids"].as_str().unwrap().starts_with("me -> "), "{reply}");
    assert_eq!(shown(&mut client), (json!([me, "bob"]), json!("v1.1")));
    succeed(&mut client, "issue.update", with_iid(3, &json!({"assignee": "none", "milestone": "None"})));
    let (assignees, milestone) = shown(&mut client);
    assert!(assignees.as_array().is_none_or(Vec::is_empty) && milestone.is_null(), "{assignees} {milestone}");
}

#[test]
fn a_full_name_is_that_of_the_only_member_who_has_it() {
    let mut client = Client::sandbox();
    let params = with_iid(3, &json!({"assignee_ids": ["Alice Ambler"]}));
    let reply = execute(&mut client, "issue.update", params);
    assert_eq!(reply.structured["resolved"]["assignee_ids"], "Alice Ambler -> 3", "{}", reply.text);
    // Everybody chooses a display name: who is no member is proposed by the username, and never taken.
    let params = json!({"fullPath": WIDGET, "user_id": "Erin Eaves", "access_level": "developer"});
    let call = json!({"action": "member.add", "params": params, "confirm": true});
    let error = refused(&client.call(EXECUTE, call), "not_found");
    assert_eq!(error["hint"], "Did you mean \"erin\"?", "{error}");
    // Part of a name is no name: the one that has it is proposed.
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["Barrow"]})));
    let error = refused(&reply, "not_found");
    assert_eq!(error["hint"], "Did you mean \"bob\"?", "{error}");
    assert!(follow(&mut client, &error["fix"]).text.contains("\"bob\""), "{error}");
}

#[test]
fn a_misspelled_user_is_looked_for_among_the_members() {
    let mut client = Client::sandbox();
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["alise", "bob"]})));
    let error = refused(&reply, "not_found");
    assert_eq!(error["hint"], "Did you mean \"alice\"?", "{error}");
    assert_eq!(error["fix"]["arguments"]["params"]["assignee_ids"], json!(["alice", "bob"]), "{error}");
    let reply = execute(&mut client, "issue.update", with_iid(3, &json!({"assignee_ids": ["xyzzy"]})));
    let hint = refused(&reply, "not_found")["hint"].clone();
    assert_eq!(hint, "Members: \"carol\", \"sandbox\", \"alice\", \"bob\".");
}

/// GitLab takes `none` and `any` for the id of an assignee, and looks for a user of that name otherwise: an empty list that
/// was taken for an answer.
#[test]
fn none_and_any_of_a_username_are_those_of_the_id() {
    let mut client = Client::sandbox();
    for (action, name, value, says) in [
        ("issue.list", "assignee", json!("none"), "assignee_id=none"),
        ("issue.list", "assignee_username", json!(["None"]), "assignee_id=None"),
        ("merge_request.list", "reviewer", json!("any"), "reviewer_id=any"),
    ] {
        let call =
            json!({"action": action, "params": {"fullPath": "acme/widget", name: value}, "dry_run": true});
        let shown = client.call(EXECUTE, call).text;
        assert!(shown.contains(says), "{name}: {shown}");
    }
    let call = json!({"action": "issue.list", "params": {"fullPath": "acme/widget", "assignee": "nonesuch"}, "dry_run": true});
    let shown = client.call(EXECUTE, call).text;
    assert!(shown.contains("assignee_username=nonesuch"), "{shown}");
}
