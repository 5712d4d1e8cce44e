use std::collections::BTreeSet;

use super::*;
use crate::catalog::{Action, Catalog};

fn present_value(value: Value, kind: ContentKind, fields: &[String]) -> Presented {
    present(GivenContent::Json(value), &Options { kind, ..options(fields) })
}

fn action(id: &str) -> Action {
    Catalog::embedded().unwrap().get(id).unwrap().unwrap()
}

fn plain(value: Value) -> Presented {
    present_value(value, ContentKind::default(), &[])
}

#[test]
fn what_is_called_a_secret_is_masked_and_named() {
    let value = json!({
        "name": "widget", "runners_token": "GR1348941abc", "deep": {"clientSecret": "s3cret", "X-Gitlab-Token": "t"},
        "list": [{"password": "hunter2"}, {"password": "x"}], "ci_job_token_scope_enabled": true,
        "token_expires_at": "2026-01-01", "max_token": 3, "empty": {"token": ""},
    });
    let shown = plain(value);
    assert_eq!(shown.data["runners_token"], "(not shown: 12 characters)");
    assert_eq!(shown.data["deep"]["clientSecret"], "(not shown: 6 characters)");
    assert_eq!(shown.data["list"][0]["password"], "(not shown: 7 characters)");
    assert_eq!(shown.data["ci_job_token_scope_enabled"], true);
    assert_eq!(
        (&shown.data["token_expires_at"], &shown.data["max_token"]),
        (&json!("2026-01-01"), &json!(3))
    );
    assert_eq!(
        shown.masked.hidden,
        ["runners_token", "deep.clientSecret", "deep.X-Gitlab-Token", "list.password"]
    );
    for secret in ["GR1348941abc", "s3cret", "hunter2"] {
        assert!(!shown.text.contains(secret) && !shown.data.to_string().contains(secret), "{}", shown.text);
    }
}

#[test]
fn what_a_list_that_is_called_secret_holds_is_masked() {
    let shown = plain(json!({"token": [{"name": "OIL", "content": "hunter2-hunter2"}, ["s3cret-s3cret"]]}));
    assert_eq!(shown.data["token"][0]["name"], "OIL");
    for secret in ["hunter2", "s3cret"] {
        assert!(!shown.text.contains(secret) && !shown.data.to_string().contains(secret), "{}", shown.text);
    }
}

#[test]
fn the_password_in_a_url_is_masked() {
    let value = json!({
        "import_url": "https://bot:hunter2@git.example.com/a.git", "url": "https://t0ken@git.example.com/b.git",
        "masked": "https://*****:*****@git.example.com/c.git", "ssh_url": "ssh://git@git.example.com:22/d.git",
        "title": "Mail a@example.com", "text": "https://example.com/@alice",
    });
    let shown = plain(value.clone());
    assert_eq!(shown.data["import_url"], "https://*****:*****@git.example.com/a.git");
    assert_eq!(shown.data["url"], "https://*****@git.example.com/b.git");
    for name in ["masked", "ssh_url", "title", "text"] {
        assert_eq!(shown.data[name], value[name]);
    }
    assert_eq!(shown.masked.hidden, ["import_url", "url"]);
    assert!(!shown.text.contains("hunter2") && !shown.text.contains("t0ken"), "{}", shown.text);
}

#[test]
fn the_value_of_a_variable_is_masked_wherever_it_is() {
    let rest = json!([{"key": "A", "value": "hunter2", "variable_type": "env_var", "protected": false}]);
    let graphql = json!({"ciVariables": [{"key": "A", "value": "hunter2", "environmentScope": "*"}]});
    for value in [rest, graphql] {
        let shown = plain(value);
        assert!(!shown.data.to_string().contains("hunter2") && shown.text.contains("A"), "{}", shown.text);
    }
    let bare = json!([{"key": "A", "value": "hunter2"}]);
    assert!(plain(bare.clone()).text.contains("hunter2"), "a key and a value may be anything");
    let variables = ContentKind::of([&action("pipeline.list_variables")], false);
    assert!(!present_value(bare, variables, &[]).text.contains("hunter2"));
}

#[test]
fn the_headers_of_a_webhook_are_masked_and_their_names_are_not() {
    let shown = plain(json!({"custom_headers": [{"key": "Authorization", "value": "Bearer x"}]}));
    assert_eq!(
        shown.data["custom_headers"][0],
        json!({"key": "Authorization", "value": "(not shown: 8 characters)"})
    );
}

#[test]
fn a_cursor_of_a_list_is_no_secret() {
    let cursors = json!({"next_page_token": "abc", "page_token": "abc", "continuationToken": "abc"});
    let shown = plain(cursors.clone());
    assert_eq!(shown.data, cursors);
    assert!(shown.masked.hidden.is_empty());
}

#[test]
fn a_token_is_known_by_how_it_begins() {
    let shown = plain(json!({"alias": "glpat-0123456789abcdefXYZ_", "title": "glpat-… is how tokens begin"}));
    assert_eq!(shown.data["alias"], "(not shown: 26 characters)");
    assert_eq!(shown.data["title"], "glpat-… is how tokens begin");
}

#[test]
fn whoever_asks_by_name_or_for_all_is_shown_secrets() {
    let value = json!({"key": "A", "value": "hunter2", "masked": false, "token": "other"});
    let fields = ["value".to_owned()];
    assert_eq!(
        present_value(value.clone(), ContentKind::default(), &fields).data,
        json!({"value": "hunter2"})
    );
    let other = ["key".to_owned(), "token".to_owned()];
    assert_eq!(present_value(value.clone(), ContentKind::default(), &other).data["token"], "other");
    let list = ["variables[].value".to_owned()];
    let inner = json!({"variables": [value.clone()]});
    assert!(present_value(inner.clone(), ContentKind::default(), &list).text.contains("hunter2"));
    let holder = ["variables".to_owned()];
    assert!(
        !present_value(inner, ContentKind::default(), &holder).text.contains("hunter2"),
        "it was not asked for by name"
    );
    let full =
        present(GivenContent::Json(value.clone()), &Options { full: true, unmasked: true, ..options(&[]) });
    assert_eq!(full.data, value);
}

#[test]
fn a_token_that_was_made_just_now_is_shown_and_said_to_be_the_only_time() {
    let made = ContentKind::of([&action("deploy_token.create")], true);
    let shown_once = present_value(json!({"id": 1, "token": "gldt-fresh"}), made, &[]);
    assert_eq!(shown_once.data["token"], "gldt-fresh");
    assert_eq!((shown_once.masked.made.len(), shown_once.masked.hidden.len()), (1, 0));
    // A project that is created has a runners' token as well, which can be seen again.
    let project = present_value(
        json!({"id": 1, "runners_token": "GR1"}),
        ContentKind::of([&action("project.create")], true),
        &[],
    );
    assert_eq!(project.masked.hidden, ["runners_token"]);
}

#[test]
fn a_secret_file_is_not_shown() {
    let kind = ContentKind::of([&action("secure_file.download")], false);
    let shown = present(GivenContent::Text("KEY=hunter2".into()), &Options { kind, ..options(&[]) });
    assert_eq!(shown.data, "(not shown: 11 characters)");
}

#[test]
fn a_numeric_secret_is_masked_and_the_number_of_tokens_is_not() {
    let value = json!({
        "pin": 123_456, "bot": {"password": 1234}, "ci_variables": [{"key": "PORT", "value": 5432}],
        "custom_headers": {"X-Code": 42}, "max_token": 3, "iid": 7,
    });
    let shown = plain(value);
    assert_eq!(shown.data["pin"], "(not shown: 6 characters)");
    assert_eq!(shown.data["bot"]["password"], "(not shown: 4 characters)");
    assert_eq!(shown.data["ci_variables"][0]["value"], "(not shown: 4 characters)");
    assert_eq!(shown.data["custom_headers"]["X-Code"], "(not shown: 2 characters)");
    assert_eq!((&shown.data["max_token"], &shown.data["iid"]), (&json!(3), &json!(7)));
    assert!(!shown.text.contains("123456") && !shown.text.contains("5432"), "{}", shown.text);
}

#[test]
fn values_that_jobs_and_others_get_are_masked_below_the_field_that_has_them() {
    for value in [
        json!({"group": {"projects": {"nodes": [{"ciVariables": {"nodes": [{"value": "hunter2"}]}}]}}}),
        json!({"job": {"manualVariables": {"edges": [{"node": {"value": "hunter2"}}]}}}),
        json!({"pipelineSchedule": {"variables": {"nodes": [{"id": "gid://gitlab/x/1", "value": "hunter2"}]}}}),
        json!({"pipelineSchedule": {"inputs": {"nodes": [{"name": "target", "value": ["hunter2"]}]}}}),
        json!({"project": {"ciPipelineCreationInputs": [{"name": "target", "default": "hunter2"}]}}),
        json!({"destination": {"headers": {"nodes": [{"key": "Authorization", "value": "hunter2"}]}}}),
        json!({"dastSiteProfile": {"optionalVariables": [{"variable": "A", "value": "hunter2"}]}}),
        json!({"workspace": {"workspaceVariables": {"nodes": [{"key": "A", "value": "hunter2"}]}}}),
        json!({"outputs": {"password": {"value": "hunter2", "type": "string"}}}),
        json!({"outputs": {"db": {"value": {"user": "hunter2"}, "type": "map", "sensitive": true}}}),
    ] {
        let shown = plain(value.clone());
        assert!(!shown.data.to_string().contains("hunter2") && !shown.text.contains("hunter2"), "{value}");
        assert_eq!(shown.masked.hidden.len(), 1, "{value}");
    }
    let others = json!({
        "setting": {"value": "shown", "default": "shown"}, "outputs": {"url": {"value": "shown", "sensitive": false}},
        "inputs_count": {"value": 1},
    });
    assert_eq!(plain(others.clone()).masked.hidden, [""; 0], "{others}");
}

#[test]
fn an_alias_hides_no_secret_and_makes_none_of_a_key() {
    let names: FieldNames = [("v", "ciVariables"), ("v.name", "value"), ("v.k", "key"), ("made", "token")]
        .into_iter()
        .map(|(path, field)| (path.to_owned(), [field.to_owned()].into()))
        .collect();
    let present_aliased = |kind| {
        let value = json!({"v": [{"name": "hunter2", "k": "KEY"}], "made": "fresh-token"});
        present(GivenContent::Json(value), &Options { kind, full: true, names: Some(&names), ..options(&[]) })
    };
    let shown = present_aliased(ContentKind::default());
    assert_eq!(shown.data["v"][0], json!({"name": "(not shown: 7 characters)", "k": "KEY"}));
    assert_eq!(shown.data["made"], "(not shown: 11 characters)");
    let made = present_aliased(ContentKind { made: true, ..ContentKind::default() });
    assert_eq!((&made.data["made"], made.masked.made), (&json!("fresh-token"), vec!["made".to_owned()]));
}

#[test]
fn the_secret_part_of_a_url_is_masked() {
    let value = json!({
        "webhook": "https://chat.example.com/hooks/s3cret", "slack": "https://hooks.slack.com/services/T0/B0/s3cret",
        "teams": "https://acme.webhook.office.com/webhookb2/s3cret", "feed": "/acme/widget.atom?feed_token=s3cret&page=2#top",
        "signed": "https://storage.example.com/a?X-Amz-Signature=s3cret", "padded": "https://ci.example.com/run?token=s3cret==",
    });
    let shown = plain(value);
    assert_eq!(shown.data["webhook"], "(not shown: 37 characters)");
    assert_eq!(shown.data["slack"], "https://hooks.slack.com/(not shown: 21 characters)");
    assert_eq!(shown.data["teams"], "https://acme.webhook.office.com/(not shown: 16 characters)");
    assert_eq!(shown.data["feed"], "/acme/widget.atom?feed_token=*****&page=2#top");
    assert_eq!(shown.data["signed"], "https://storage.example.com/a?X-Amz-Signature=*****");
    assert_eq!(shown.data["padded"], "https://ci.example.com/run?token=*****");
    let plain_urls = json!({
        "url": "https://example.com/hooks.slack.com/x?page_token=a&q=b", "description": "see https://hooks.slack.com/ for more",
        "docs": "https://hooks.slack.com/", "next": "/x?page=2&token=*****", "title": "what?token=x",
    });
    assert_eq!(plain(plain_urls.clone()).masked.hidden, [""; 0], "{plain_urls}");
}

/// Fields of GraphQL that are called like secrets and hold none, with the reason.
const PUBLIC: &[(&str, &str)] = &[
    ("createSecrets", "true if the user may create one"),
    ("credentialsCleared", "true if credentials were removed"),
    ("crossProjectPushForJobTokenAllowed", "a setting"),
    ("deleteSecrets", "true if the user may delete one"),
    ("preventSecrets", "a setting"),
    ("secretPushProtectionAvailable", "a setting"),
    ("secretPushProtectionEnforced", "a setting"),
    ("signingTokenPresent", "true if there is one"),
    ("tokenPresent", "true if there is one"),
    ("tokenRotationDeadline", "a date"),
    ("updateSecrets", "true if the user may update one"),
    ("customWebhookTemplate", "the form of a payload"),
    ("gpgKeyUserEmail", "of a public key"),
    ("gpgKeyUserName", "of a public key"),
    ("jiraProjectKey", "names a project"),
    ("jobTokenPolicies", "names of permissions"),
    ("key", "the name of a variable, a header or a project; or a public key"),
    ("keyFingerprintSha256", "of a public key"),
    ("keywords", "words"),
    ("passwordField", "names a field of a form"),
    ("publicKey", "is public"),
    ("pushRepositoryForJobTokenAllowed", "a setting"),
    ("resourceAccessTokenEvents", "a setting"),
    ("secretDetection", "a setting"),
    ("subjectKeyIdentifier", "of a public certificate"),
    ("trackingKey", "is in the pages that are measured"),
];

#[test]
fn every_field_of_graphql_that_is_called_like_a_secret_is_masked_or_named_as_public() {
    let types = include_str!("../../../catalog/types.txt");
    let fields: BTreeSet<&str> = types
        .lines()
        .filter(|line| !line.starts_with('#'))
        .flat_map(|line| line.split(' ').skip(1))
        .filter(|field| !field.contains(':'))
        .collect();
    let words = ["token", "secret", "password", "passphrase", "credential", "webhook", "key", "emailaddress"];
    let settings =
        ["enabled", "at", "count", "id", "url", "path", "role", "limit", "type", "scopes", "restriction"];
    let mut public = BTreeSet::new();
    for field in fields {
        let lower = field.to_lowercase();
        let is_setting = settings.iter().any(|ending| lower.ends_with(ending))
            || ["can", "has", "is"].iter().any(|start| lower.starts_with(start));
        if is_setting || !words.iter().any(|word| lower.contains(word)) {
            continue;
        }
        let hidden = plain(json!({field: "x-y"})).masked.hidden;
        if PUBLIC.iter().any(|(name, _)| *name == field) {
            assert!(hidden.is_empty(), "{field} is masked");
            public.insert(field);
        } else {
            assert_eq!(hidden, [field], "{field} is shown");
        }
    }
    let unused: Vec<&str> =
        PUBLIC.iter().map(|(name, _)| *name).filter(|name| !public.contains(name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
