//! The two ways out for what the catalog lacks, over stdio on the sandbox: decided on as what they come down to.

use serde_json::{Value, json};

use crate::support::client::{Client, EXECUTE, Reply, execute, follow, refused, succeed};

fn rest(client: &mut Client, method: &str, path: &str) -> Reply {
    execute(client, "api.rest", json!({"method": method, "path": path}))
}

fn graphql(client: &mut Client, document: &str, variables: Value) -> Reply {
    execute(client, "api.graphql", json!({"document": document, "variables": variables}))
}

fn message(error: &Value) -> &str {
    error["message"].as_str().unwrap()
}

#[test]
fn they_are_found_by_what_people_say() {
    let mut client = Client::sandbox();
    for (query, id) in [
        ("call the REST API directly", "api.rest"),
        ("raw REST request", "api.rest"),
        ("raw GraphQL query", "api.graphql"),
        ("run a GraphQL query", "api.graphql"),
    ] {
        let found = client.call("gitlab_find_action", json!({"query": query}));
        let first = found.structured["results"][0].clone();
        assert_eq!(first["action"], id, "{query}: {}", found.text);
        let reply = client.call(EXECUTE, first["example"].clone());
        assert!(!reply.is_error, "{}", reply.text);
    }
}

#[test]
fn a_list_is_read_page_by_page() {
    let mut client = Client::sandbox();
    let params = json!({
        "method": "get", "path": "/projects/acme%2Fwidget/issues?per_page=20", "query": {"labels": "bug", "state": "all"},
    });
    let named = succeed(
        &mut client,
        "issue.list",
        json!({"fullPath": "acme/widget", "labels": ["bug"], "state": "all", "per_page": 100}),
    );
    let expected: Vec<u64> = iids(&named["data"]);
    let params_of_list = json!({
        "method": "GET", "path": "projects/acme%2Fwidget/issues", "query": {"per_page": 7, "state": "all", "labels": ["bug"]},
    });
    for params in [params, params_of_list] {
        let mut reply = execute(&mut client, "api.rest", params);
        let mut seen = Vec::new();
        for _ in 0..20 {
            assert!(!reply.is_error, "{}", reply.text);
            seen.extend(iids(&reply.structured["data"]));
            match reply.structured["page"]["next"].clone() {
                Value::Null => break,
                next => reply = follow(&mut client, &next),
            }
        }
        assert_eq!(seen, expected);
    }
}

fn iids(rows: &Value) -> Vec<u64> {
    rows.as_array().unwrap().iter().map(|row| row["iid"].as_u64().unwrap()).collect()
}

#[test]
fn what_deletes_wants_confirmation_and_the_fix_works() {
    let mut client = Client::sandbox();
    let path = "/projects/acme%2Fwidget/issues/45";
    let error = refused(&rest(&mut client, "DELETE", path), "needs_confirmation");
    assert!(message(&error).contains("DELETE /projects/:id/issues/:issue_iid (issue.delete)"), "{error}");
    assert!(!rest(&mut client, "GET", path).is_error, "it is still there");
    let reply = follow(&mut client, &error["fix"]);
    assert!(!reply.is_error, "{}", reply.text);
    assert!(rest(&mut client, "GET", path).is_error, "it is gone");
}

#[test]
fn a_write_is_sent_with_its_body() {
    let mut client = Client::sandbox();
    let params = json!({
        "method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": {"title": "Direct", "labels": "bug,new"},
    });
    let created = succeed(&mut client, "api.rest", params);
    assert_eq!(created["data"]["title"], "Direct");
    assert_eq!(created["data"]["labels"], json!(["bug", "new"]));
}

#[test]
fn a_change_that_the_catalog_does_not_know_is_asked_about() {
    let mut client = Client::sandbox();
    for method in ["POST", "PUT", "PATCH", "DELETE"] {
        let error = refused(&rest(&mut client, method, "/projects/1/frobnicate"), "needs_confirmation");
        assert!(message(&error).contains("not in the catalog"), "{error}");
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let mut client = Client::sandbox();
    let missing = refused(&rest(&mut client, "GET", "/projects/acme%2Fnowhere/issues"), "not_found");
    assert_eq!(missing["status"], 404);
    let unknown = refused(&rest(&mut client, "GET", "/projects/1/frobnicate"), "not_found");
    assert_eq!(unknown["status"], 404);
    // The sandbox answers 501 for a path that GitLab has and it lacks.
    let lacking = refused(&rest(&mut client, "GET", "/projects/1/push_rule"), "gitlab_error");
    assert!(message(&lacking).contains("/projects/:id/push_rule"), "{lacking}");
}

#[test]
fn reads_are_read_only_and_nothing_else_is() {
    let mut client = Client::sandbox_with(&[("GITLAB_READ_ONLY", "true")]);
    assert!(!rest(&mut client, "GET", "/projects/acme%2Fwidget").is_error);
    assert!(!rest(&mut client, "HEAD", "/projects/acme%2Fwidget").is_error);
    let body = json!({"method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": {"title": "No"}});
    let denied = refused(&execute(&mut client, "api.rest", body), "denied");
    assert!(message(&denied).contains("POST /projects/:id/issues (issue.create)"), "{denied}");
    assert!(message(&denied).contains("GITLAB_READ_ONLY"), "{denied}");
    let lint =
        json!({"method": "POST", "path": "/projects/acme%2Fwidget/ci/lint", "body": {"content": "a: b"}});
    refused(&execute(&mut client, "api.rest", lint), "denied");
    let document =
        "query Q { currentUser { username } }\nfragment M on Mutation { issueUpdate(input: {}) { errors } }";
    assert!(graphql(&mut client, document, json!({})).structured["error"]["kind"] != "denied");
    for document in [
        "mutation { updateIssue(input: {projectPath: \"acme/widget\", iid: \"1\", title: \"No\"}) { errors } }",
        "mutation { query: updateIssue(input: {projectPath: \"acme/widget\", iid: \"1\"}) { errors } }",
        "fragment F on Mutation { ...G } fragment G on Mutation { updateIssue(input: {}) { errors } } mutation { ...F }",
    ] {
        let denied = refused(&graphql(&mut client, document, json!({})), "denied");
        assert!(
            message(&denied).contains("mutation updateIssue (graphql.update_issue, issue.update) is a write"),
            "{denied}"
        );
    }
    let found = client.call("gitlab_find_action", json!({"query": "api.rest"}));
    assert_eq!(found.structured["results"][0]["risk"], "read", "{}", found.text);
}

#[test]
fn a_document_answers_what_it_asks() {
    let mut client = Client::sandbox();
    let document = "# a comment\nquery($path: ID!) { here: project(fullPath: $path) { name fullPath } }";
    let reply = graphql(&mut client, document, json!({"path": "acme/widget"}));
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["data"]["here"]["fullPath"], "acme/widget");
    let error = refused(&graphql(&mut client, document, json!({"path": "acme/nowhere"})), "not_found");
    assert!(message(&error).contains("`here`"), "{error}");
}

#[test]
fn a_list_of_a_document_goes_on_by_its_variable() {
    let mut client = Client::sandbox();
    let document = "query($after: String) { project(fullPath: \"acme/widget\") { \
        all: issues(first: 20, after: $after) { nodes { iid } pageInfo { hasNextPage endCursor } } } }";
    let mut reply = graphql(&mut client, document, json!({}));
    let mut seen = Vec::new();
    for _ in 0..10 {
        assert!(!reply.is_error, "{}", reply.text);
        let nodes = reply.structured["data"]["project"]["all"]["nodes"].as_array().unwrap().clone();
        seen.extend(nodes.iter().map(|node| node["iid"].as_str().unwrap().to_owned()));
        match reply.structured["page"]["next"].clone() {
            Value::Null => break,
            next => {
                assert!(reply.text.contains(&next.to_string()), "{}", reply.text);
                reply = follow(&mut client, &next);
            }
        }
    }
    let mut distinct = seen.clone();
    distinct.sort();
    distinct.dedup();
    assert!(seen.len() > 40 && distinct.len() == seen.len(), "{} rows", seen.len());
    let fixed = document.replace(", after: $after", "").replace("($after: String)", "");
    let reply = graphql(&mut client, &fixed, json!({}));
    assert!(reply.structured["notes"].to_string().contains("$after: String"), "{}", reply.text);
}

#[test]
fn a_mutation_that_refused_says_why() {
    let mut client = Client::sandbox();
    let document =
        "mutation($input: UpdateIssueInput!) { updateIssue(input: $input) { errors issue { title } } }";
    let given = |title: &str| json!({"input": {"projectPath": "acme/widget", "iid": "1", "title": title}});
    let reply = graphql(&mut client, document, given("Anew"));
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["data"]["updateIssue"]["issue"]["title"], "Anew");
    let refused = graphql(&mut client, document, given(""));
    assert!(refused.is_error, "{}", refused.text);
}

#[test]
fn a_document_that_does_not_parse_says_the_line() {
    let mut client = Client::sandbox();
    for (document, said) in [
        ("query {\n  currentUser {\n    username\n", "line "),
        ("", "it holds no operation"),
        ("fragment F on User { username }", "it holds no operation"),
        ("subscription { issuableUpdated { id } }", "subscription"),
        ("query A { a } query B { b }", "2 operations (A, B)"),
        ("{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }", "spreads itself"),
        ("{ ...F }", "there is no fragment `F`"),
        ("type Query { a: Int }", "schema"),
    ] {
        let error = refused(&graphql(&mut client, document, json!({})), "invalid_params");
        assert!(message(&error).contains(said), "{document}: {error}");
    }
}

#[test]
fn graphql_by_rest_is_corrected() {
    let mut client = Client::sandbox();
    for path in ["/graphql", "/api/graphql"] {
        let params = json!({
            "method": "POST", "path": path, "body": {"query": "{ currentUser { username } }", "variables": {}},
        });
        let error = refused(&execute(&mut client, "api.rest", params), "invalid_params");
        assert_eq!(error["fix"]["arguments"]["action"], "api.graphql");
        let reply = follow(&mut client, &error["fix"]);
        assert_eq!(reply.structured["data"]["currentUser"]["username"], "sandbox", "{}", reply.text);
    }
}

#[test]
fn a_request_that_cannot_be_is_repaired() {
    let mut client = Client::sandbox();
    let params = json!({
        "method": "GET", "path": "/projects/acme%2Fwidget/issues", "body": {"per_page": 2}, "query": {"state": "all"},
    });
    let fault = refused(&execute(&mut client, "api.rest", params), "invalid_params");
    assert_eq!(fault["fix"]["arguments"]["params"]["query"], json!({"state": "all", "per_page": 2}));
    assert_eq!(iids(&follow(&mut client, &fault["fix"]).structured["data"]).len(), 2);
    let params = json!({
        "method": "POST", "path": "/projects/acme%2Fwidget/issues", "body": {"title": "x", "_method": "DELETE"},
    });
    let fault = refused(&execute(&mut client, "api.rest", params), "invalid_params");
    assert_ne!(
        fault["fix"]["arguments"]["action"], "api.rest",
        "a call without `_method` was not asked for: {fault}"
    );
    refused(&rest(&mut client, "GET", "https://evil.example/api/v4/projects"), "invalid_params");
    refused(&execute(&mut client, "api.rest", json!({"path": "/projects"})), "invalid_params");
}

/// GitLab takes the token and the user of a request from its parameters too.
#[test]
fn a_raw_request_cannot_bring_another_token_or_user() {
    let mut client = Client::sandbox();
    for name in ["private_token", "access_token", "bearer_token", "job_token", "sudo"] {
        let params = json!({"path": format!("/projects?{name}=x&search=a"), "method": "GET"});
        let fault = refused(&execute(&mut client, "api.rest", params), "invalid_params");
        assert!(fault["message"].as_str().unwrap().contains(name), "{fault}");
        let params = json!({"path": "/projects", "method": "GET", "query": {name: "x", "search": "a"}});
        let fault = refused(&execute(&mut client, "api.rest", params), "invalid_params");
        assert_ne!(
            fault["fix"]["arguments"]["action"], "api.rest",
            "a call without it was not asked for: {fault}"
        );
        let params = json!({
            "path": "/projects/acme%2Fwidget/issues", "method": "POST", "body": {name: "x", "title": "y"},
        });
        let fault = refused(&execute(&mut client, "api.rest", params), "invalid_params");
        assert_ne!(fault["fix"]["arguments"]["action"], "api.rest", "{fault}");
    }
    // Rack reads these names as the same (`Rack::QueryParser#normalize_params`).
    for name in ["sudo[]", "[sudo]", "private_token[]", "sudo[x]", "_method[]"] {
        for call in [
            json!({"path": "/user", "method": "GET", "query": {name: "root"}}),
            json!({"path": format!("/user?{name}=root"), "method": "GET"}),
            json!({"path": "/projects/acme%2Fwidget/issues", "method": "POST", "body": {name: "x", "title": "y"}}),
        ] {
            refused(&execute(&mut client, "api.rest", call), "invalid_params");
        }
    }
    // The artifacts of a job are an endpoint that describes the token as its parameter.
    let reply = rest(&mut client, "GET", "/projects/acme%2Fwidget/jobs/1/artifacts?job_token=x");
    assert_ne!(reply.structured["error"]["kind"], "invalid_params", "{}", reply.text);
}

#[test]
fn a_dry_run_shows_what_would_be_sent() {
    let mut client = Client::sandbox();
    let params =
        json!({"query": "mutation { destroyNote(input: {id: \"gid://gitlab/Note/1\"}) { errors } }"});
    let reply = client.call(EXECUTE, json!({"action": "api.graphql", "params": params, "dry_run": true}));
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(reply.structured["request"]["path"], "/api/graphql");
    assert!(reply.structured["notes"].to_string().contains("mutation destroyNote ("), "{}", reply.text);
}
