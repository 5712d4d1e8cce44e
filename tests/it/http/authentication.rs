//! Who may call, by the three modes, and what a caller may ask for.

use serde_json::json;

use super::{HttpServer, error_kind, text, tool_call};
use crate::support::client::{EXECUTE, program};
use crate::support::scripted_gitlab::{Gitlab, answer};

const APPLICATION: &str = "4f0e7c-application";

#[test]
fn a_server_that_would_expose_a_token_does_not_start() {
    let rows: &[(&[&str], &str)] = &[
        (&["--http", "0.0.0.0:0"], "an address that is not loopback needs GITLAB_MCP_AUTH"),
        (&["--http", "0.0.0.0:0", "--auth", "none"], "not loopback"),
        (
            &["--http", "0.0.0.0:0", "--auth", "none", "--public-url", "https://mcp.example.com"],
            "not loopback",
        ),
        (&["--http", "0.0.0.0:0", "--auth", "token"], "not loopback"),
        (&["--http", "127.0.0.1:0", "--auth", "oauth"], "GITLAB_MCP_OAUTH_APPLICATIONS"),
        (
            &["--http", "gitlab.example:0", "--auth", "token"],
            "localhost or an IP address, with a port, or unix:PATH",
        ),
        (&["--http", "unix:", "--auth", "token"], "localhost or an IP address, with a port, or unix:PATH"),
        (&["--http", "127.0.0.1:0", "--auth", "token", "--tls-cert", "Cargo.toml"], "GITLAB_MCP_TLS_KEY"),
        (
            &["--http", "127.0.0.1:0", "--auth", "token", "--allowed-origins", "example.com"],
            "origins such as",
        ),
        (
            &[
                "--http",
                "127.0.0.1:0",
                "--auth",
                "token",
                "--tls-cert",
                "Cargo.toml",
                "--tls-key",
                "Cargo.toml",
            ],
            "GITLAB_MCP_TLS_CERT",
        ),
    ];
    for (arguments, expected) in rows {
        let arguments: Vec<&str> = ["serve"].iter().chain(arguments.iter()).copied().collect();
        let ended = program(&arguments, &[]).output().unwrap();
        let error = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[test]
fn without_a_credential_the_answer_is_401() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let refused = server.post(&[], &tool_call(EXECUTE, json!({"action": "project.list"})));
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(refused.json()["error"], "unauthorized");
    assert!(gitlab.seen().is_empty());
}

#[test]
fn each_kind_of_token_is_sent_as_it_came() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_TOKEN", "glpat-of-the-process")]);
    let rows = [
        ("PRIVATE-TOKEN", "glpat-abc", "private-token: glpat-abc"),
        ("JOB-TOKEN", "job-abc", "job-token: job-abc"),
        ("Authorization", "Bearer oauth-abc", "authorization: bearer oauth-abc"),
        ("Authorization", "Bearer glpat-def", "private-token: glpat-def"),
    ];
    for (name, value, sent) in rows {
        server.execute(&[(name, value)], "project.list", json!({}));
        let request = gitlab.last("GET /api/v4/projects");
        assert!(request.head.contains(sent), "{name}: {}", request.head);
    }
    assert!(gitlab.received().iter().all(|request| !request.head.contains("of-the-process")));
}

#[test]
fn a_server_of_its_own_token_takes_no_other() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/projects", &json!([]));
    let url = gitlab.url();
    let variables =
        [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", "glpat-of-the-process"), ("GITLAB_MCP_AUTH", "none")];
    let server = HttpServer::start(&[], &variables);
    server.execute(&[], "project.list", json!({}));
    assert!(gitlab.last("GET /api/v4/projects").head.contains("private-token: glpat-of-the-process"));
    let refused = server.post(&[("PRIVATE-TOKEN", "x")], &tool_call(EXECUTE, json!({})));
    assert_eq!(refused.status, 400);
    assert!(refused.body.contains("--auth none"), "{}", refused.body);
}

#[test]
fn a_caller_narrows_what_it_may_do_and_never_widens_it() {
    let gitlab = Gitlab::with_project();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_TOOLSETS", "issues,wikis")]);
    let create = |headers: &[(&str, &str)]| {
        let headers: Vec<(&str, &str)> =
            [("PRIVATE-TOKEN", "glpat-a")].iter().chain(headers).copied().collect();
        let created = server.execute(&headers, "issue.create", json!({"fullPath": "a/b", "title": "x"}));
        error_kind(&created).to_owned()
    };
    let writes = || gitlab.seen().iter().filter(|line| line.starts_with("POST")).count();
    assert_eq!(create(&[("X-MCP-Readonly", "true")]), "denied");
    assert_eq!(create(&[("X-MCP-Toolsets", "wikis")]), "denied");
    assert_eq!(create(&[("X-MCP-Confirm", "write")]), "needs_confirmation");
    assert_eq!(writes(), 0);
    assert_eq!(create(&[("X-MCP-Readonly", "false"), ("X-MCP-Toolsets", "issues")]), "not_found");
    assert_eq!(writes(), 1);
    // The server offers issues and wikis only, whatever the caller asks for.
    let headers = [("PRIVATE-TOKEN", "glpat-a"), ("X-MCP-Toolsets", "pipelines,wikis")];
    let listed = server.execute(&headers, "pipeline.list", json!({"fullPath": "a/b"}));
    assert_eq!(error_kind(&listed), "denied", "{listed}");
    let unknown = server.post(&[("PRIVATE-TOKEN", "glpat-a"), ("X-MCP-Toolsets", "nothing")], &json!({}));
    assert_eq!(unknown.status, 400);
    assert!(unknown.body.contains("X-MCP-Toolsets") && unknown.body.contains("wikis"), "{}", unknown.body);

    assert_eq!(create(&[("X-MCP-Confirm", "destructive")]), "not_found");
    let grant = json!({"fullPath": "a/b", "user_id": 1, "access_level": 50});
    let all = HttpServer::for_callers(&gitlab.url(), &[]);
    for own in [&[][..], &[("X-MCP-Confirm", "destructive")], &[("X-MCP-Confirm", "write")]] {
        let headers: Vec<(&str, &str)> = [("PRIVATE-TOKEN", "glpat-a")].iter().chain(own).copied().collect();
        let asked = all.execute(&headers, "member.add", grant.clone());
        assert_eq!(error_kind(&asked), "needs_confirmation", "{own:?}: {asked}");
    }
    assert_eq!(writes(), 2, "{:?}", gitlab.seen());

    let bound = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_READ_ONLY", "true")]);
    let headers = [("PRIVATE-TOKEN", "glpat-a"), ("X-MCP-Readonly", "false")];
    let created = bound.execute(&headers, "issue.create", json!({"fullPath": "a/b", "title": "x"}));
    assert_eq!((error_kind(&created), writes()), ("denied", 2));
}

#[test]
fn a_hint_at_a_setting_says_whose_it_is() {
    // The connection is refused.
    let server = HttpServer::for_callers("http://127.0.0.1:9", &[]);
    let refused = server.execute(&[("PRIVATE-TOKEN", "glpat-a")], "project.list", json!({})).to_string();
    assert!(refused.contains("in GITLAB_URL"), "{refused}");
    assert_eq!(
        refused.matches("Only the administrator of this server can change its settings.").count(),
        2,
        "{refused}"
    );
}

/// The settings of a shared server are not the caller's to change.
#[test]
fn a_scope_that_a_callers_token_lacks_is_one_of_its_own_token() {
    let server = HttpServer::start(&["--auth", "token"], &[("GITLAB_URL", "sandbox")]);
    let headers = [("PRIVATE-TOKEN", "glpat-sandbox-read-api")];
    let create = json!({"fullPath": "acme/widget", "title": "x"});
    let refused = server.execute(&headers, "issue.create", create).to_string();
    assert!(refused.contains("The token that this client sends lacks it"), "{refused}");
    assert!(!refused.contains("GITLAB_TOKEN"), "{refused}");
}

#[test]
fn the_audit_names_each_callers_user_where_that_is_asked_for() {
    for (setting, named) in [("true", true), ("false", false)] {
        let gitlab = Gitlab::start();
        gitlab.json("/api/v4/projects", &json!([]));
        gitlab.says(
            "GET /api/v4/user",
            [answer(200, json!({"username": "alice"})), answer(200, json!({"username": "bob"}))],
        );
        let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_AUDIT_USER", setting)]);
        for token in ["glpat-a", "glpat-b", "glpat-a"] {
            server.execute(&[("PRIVATE-TOKEN", token)], "project.list", json!({}));
        }
        // The lines are written by a thread of their own.
        while server.log().matches(" audit caller=").count() < 3 {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let asked = gitlab.seen().iter().filter(|line| line.as_str() == "GET /api/v4/user").count();
        assert_eq!(asked, if named { 2 } else { 0 }, "each is asked for once: {:?}", gitlab.seen());
        let log = server.log();
        let users = ["alice", "bob"].map(|user| log.matches(&format!(" user={user} ")).count());
        assert_eq!(users, if named { [2, 1] } else { [0, 0] }, "{log}");
    }
}

#[test]
fn the_start_names_the_url_that_a_client_takes() {
    let server = HttpServer::start(&["--sandbox"], &[]);
    let line = format!("MCP clients connect to http://{}/mcp\n", server.address);
    assert!(server.log().starts_with(&line), "{}", server.log());
    let public = ["--sandbox", "--auth", "token", "--public-url", "https://mcp.example.com/gitlab/"];
    let log = HttpServer::start(&public, &[]).log();
    assert!(log.starts_with("MCP clients connect to https://mcp.example.com/gitlab/mcp\n"), "{log}");
}

#[test]
fn a_caller_who_leaves_itself_no_action_is_told_so() {
    let gitlab = Gitlab::with_project();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_TOOLSETS", "issues,wikis")]);
    let answer = server.post(&[("PRIVATE-TOKEN", "glpat-a"), ("X-MCP-Toolsets", "pipelines")], &json!({}));
    assert_eq!(answer.status, 400);
    for word in ["no action is left", "GITLAB_TOOLSETS=issues,wikis", "X-MCP-Toolsets: pipelines"] {
        assert!(answer.body.contains(word), "{word}: {}", answer.body);
    }
}

#[test]
fn files_of_the_machine_are_out_of_reach() {
    let gitlab = Gitlab::with_project();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret.txt"), "of the machine").unwrap();
    let path = folder.path().to_str().unwrap();
    let server = HttpServer::for_callers(&gitlab.url(), &[("GITLAB_FILES_DIR", path)]);
    let headers = [("PRIVATE-TOKEN", "glpat-a")];
    let upload = json!({"fullPath": "a/b", "file": {"path": "secret.txt"}});
    let refused = server.execute(&headers, "project_upload.create", upload);
    assert_ne!(error_kind(&refused), "(no error)", "{refused}");
    assert!(gitlab.seen().iter().all(|line| !line.starts_with("POST")), "{:?}", gitlab.seen());
    // A caller uploads what its call contains.
    gitlab.answer("POST", "/uploads", answer(201, json!({"id": 1})));
    let upload = json!({"fullPath": "a/b", "file": {"content": "of the caller", "filename": "a.txt"}});
    let done = server.execute(&headers, "project_upload.create", upload);
    assert_eq!(error_kind(&done), "(no error)", "{done}");
}

/// A GitLab whose OAuth tokens are `good`, `reader` (scope read_api) and `foreign` (another application).
fn oauth_gitlab() -> Gitlab {
    let gitlab = Gitlab::with_project();
    gitlab.json("/api/v4/projects", &json!([{"id": 1, "path_with_namespace": "a/b", "name": "found"}]));
    gitlab.answer("POST", "/projects/[^/]*/issues", answer(201, json!({"iid": 1, "title": "x"})));
    gitlab
}

fn token_info(application: &str, scopes: &[&str]) -> serde_json::Value {
    json!({"resource_owner_id": 1, "scope": scopes, "expires_in": 7200, "application": {"uid": application}, "created_at": 1})
}

#[test]
fn oauth_leads_from_401_by_the_metadata_to_a_call() {
    let gitlab = oauth_gitlab();
    let url = gitlab.url();
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_MCP_AUTH", "oauth"),
        ("GITLAB_MCP_OAUTH_APPLICATIONS", APPLICATION),
        ("GITLAB_MCP_PUBLIC_URL", "https://mcp.example.com"),
    ];
    let server = HttpServer::start(&[], &variables);
    let list = tool_call(EXECUTE, json!({"action": "project.list"}));
    let refused = server.post(&[], &list);
    assert_eq!(refused.status, 401);
    let challenge = refused.header("www-authenticate").unwrap();
    let metadata = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
    assert!(challenge.contains(&format!("resource_metadata=\"{metadata}\"")), "{challenge}");
    for path in ["/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"] {
        let document = server.get(path).json();
        assert_eq!(document["resource"], "https://mcp.example.com/mcp");
        assert_eq!(document["authorization_servers"], json!([url]));
        assert_eq!(document["scopes_supported"], json!(["api", "read_api"]));
    }

    // A token that GitLab does not know.
    gitlab.says("GET /oauth/token/info", [answer(401, json!({"error": "invalid_token"}))]);
    let unknown = server.post(&[("Authorization", "Bearer unknown")], &list);
    assert_eq!(unknown.status, 401);
    assert!(unknown.header("www-authenticate").unwrap().contains("error=\"invalid_token\""));
    // A token of another application.
    gitlab.says("GET /oauth/token/info", [answer(200, token_info("another", &["api"]))]);
    assert_eq!(server.post(&[("Authorization", "Bearer foreign")], &list).status, 401);
    // Without a scope of the API.
    gitlab.says("GET /oauth/token/info", [answer(200, token_info(APPLICATION, &["openid"]))]);
    let narrow = server.post(&[("Authorization", "Bearer narrow")], &list);
    assert_eq!(narrow.status, 403);
    assert!(narrow.header("www-authenticate").unwrap().contains("insufficient_scope"));
    assert!(
        gitlab.seen().iter().all(|line| !line.contains("/api/")),
        "nothing reached the API: {:?}",
        gitlab.seen()
    );

    // A read token reads, and a write is answered with the scope that it needs.
    gitlab.says("GET /oauth/token/info", [answer(200, token_info(APPLICATION, &["read_api"]))]);
    let reader = [("Authorization", "Bearer reader")];
    assert!(text(&server.execute(&reader, "project.list", json!({}))).contains("found"));
    let write =
        tool_call(EXECUTE, json!({"action": "issue.create", "params": {"fullPath": "a/b", "title": "x"}}));
    let refused = server.post(&reader, &write);
    assert_eq!(refused.status, 403, "{}", refused.body);
    let challenge = refused.header("www-authenticate").unwrap();
    assert!(challenge.contains("insufficient_scope") && challenge.contains("scope=\"api\""), "{challenge}");
    assert!(gitlab.seen().iter().all(|line| !line.starts_with("POST")));

    // With `api`, the write is sent, with the caller's token.
    gitlab.says("GET /oauth/token/info", [answer(200, token_info(APPLICATION, &["api"]))]);
    let written = server.post(&[("Authorization", "Bearer good")], &write);
    assert_eq!(written.status, 200, "{}", written.body);
    let sent = gitlab.last("POST ");
    assert!(sent.head.contains("authorization: bearer good"), "{sent:?}");
    // A verified token is not verified again at once.
    let verifications = || gitlab.seen().iter().filter(|line| line.contains("token/info")).count();
    let before = verifications();
    server.post(&[("Authorization", "Bearer good")], &list);
    assert_eq!(verifications(), before);
}

#[test]
fn an_oauth_token_of_no_application_is_refused() {
    let gitlab = oauth_gitlab();
    let url = gitlab.url();
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_MCP_AUTH", "oauth"),
        ("GITLAB_MCP_OAUTH_APPLICATIONS", APPLICATION),
    ];
    let server = HttpServer::start(&[], &variables);
    let list = tool_call(EXECUTE, json!({"action": "project.list"}));
    for application in
        [None, Some(json!(null)), Some(json!({})), Some(json!({"uid": null})), Some(json!({"uid": ""}))]
    {
        let mut info = token_info(APPLICATION, &["api"]);
        info.as_object_mut().unwrap().shift_remove("application");
        if let Some(application) = &application {
            info["application"] = application.clone();
        }
        gitlab.says("GET /oauth/token/info", [answer(200, info)]);
        let refused = server.post(&[("Authorization", "Bearer of-nobody")], &list);
        assert!([401, 503].contains(&refused.status), "{application:?}: {} {}", refused.status, refused.body);
        if application.is_none() {
            assert_eq!(refused.status, 401, "{}", refused.body);
            assert!(refused.header("www-authenticate").unwrap().contains("error=\"invalid_token\""));
        }
    }
    assert!(gitlab.seen().iter().all(|line| !line.contains("/api/")), "{:?}", gitlab.seen());
}

#[test]
fn an_oauth_token_is_verified_again_when_its_time_is_over() {
    let gitlab = oauth_gitlab();
    let url = gitlab.url();
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_MCP_AUTH", "oauth"),
        ("GITLAB_MCP_OAUTH_APPLICATIONS", APPLICATION),
    ];
    let server = HttpServer::start(&[], &variables);
    let list = tool_call(EXECUTE, json!({"action": "project.list"}));
    let mut info = token_info(APPLICATION, &["api"]);
    info["expires_in"] = json!(1);
    gitlab.says("GET /oauth/token/info", [answer(200, info), answer(401, json!({"error": "invalid_token"}))]);
    let bearer = [("Authorization", "Bearer good")];
    assert_eq!(server.post(&bearer, &list).status, 200);
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(server.post(&bearer, &list).status, 401, "the token was revoked meanwhile");
}

#[test]
fn an_oauth_token_that_cannot_be_verified_is_not_trusted() {
    let gitlab = oauth_gitlab();
    let url = gitlab.url();
    let variables = [
        ("GITLAB_URL", url.as_str()),
        ("GITLAB_MCP_AUTH", "oauth"),
        ("GITLAB_MCP_OAUTH_APPLICATIONS", APPLICATION),
    ];
    let server = HttpServer::start(&[], &variables);
    gitlab.says("GET /oauth/token/info", [answer(502, json!({}))]);
    let refused = server
        .post(&[("Authorization", "Bearer good")], &tool_call(EXECUTE, json!({"action": "project.list"})));
    assert_eq!(refused.status, 503, "{}", refused.body);
    assert!(refused.header("retry-after").is_some());
    assert!(gitlab.seen().iter().all(|line| !line.contains("/api/")));
}

#[test]
fn a_toolset_is_active_for_its_caller_alone() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[("TOOL_SURFACE", "toolset")]);
    let tools = |token: &str| {
        let listed = server
            .post(&[("PRIVATE-TOKEN", token)], &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}))
            .json();
        (listed["result"]["tools"].to_string(), listed["result"]["_meta"]["activeToolset"].clone())
    };
    let activate = tool_call("activate_toolset", json!({"toolset_name": "issues"}));
    assert_eq!(server.post(&[("PRIVATE-TOKEN", "glpat-one")], &activate).status, 200);
    let (one, other) = (tools("glpat-one"), tools("glpat-two"));
    assert!(one.0.contains("issue_create") && one.1 == "issues", "{one:?}");
    assert!(!other.0.contains("issue_create") && other.1 == "default", "{other:?}");
}

#[test]
fn the_instructions_follow_the_headers_of_the_caller() {
    let gitlab = Gitlab::start();
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let instructions = |headers: &[(&str, &str)]| {
        let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"},
        }});
        let headers = [&[("PRIVATE-TOKEN", "glpat-one")], headers].concat();
        let answer = server.post(&headers, &initialize).json();
        answer["result"]["instructions"].as_str().unwrap().to_owned()
    };
    assert!(instructions(&[]).contains("create"));
    let reads = instructions(&[("X-MCP-Readonly", "true")]);
    assert!(!reads.contains("create") && !reads.contains("consent"), "{reads}");
    let part = instructions(&[("X-MCP-Toolsets", "wikis")]);
    assert!(part.contains("wikis") && !part.contains("merge_request"), "{part}");
}

#[test]
fn http_alone_serves_loopback_with_what_that_needs() {
    let gitlab = Gitlab::start();
    let url = gitlab.url();
    for address in ["127.0.0.1:0", "localhost:0"] {
        let server = HttpServer::run(&["serve", "--http", address, "--url", &url], &[]);
        let refused = server.post(&[], &tool_call(EXECUTE, json!({"action": "project.list"})));
        assert_eq!(refused.status, 401, "each caller brings its token");
    }
    let help = program(&["serve", "--help"], &[]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("--http [<ADDRESS>]") && help.contains("127.0.0.1:8080"), "{help}");
}

/// Whoever calls cannot set the variables of the server.
#[test]
fn hints_to_a_caller_speak_of_what_the_caller_has() {
    let gitlab = Gitlab::start();
    gitlab.says("GET /api/v4/projects", [answer(401, json!({"message": "401 Unauthorized"}))]);
    let server = HttpServer::for_callers(&gitlab.url(), &[]);
    let caller = ("PRIVATE-TOKEN", "glpat-caller");
    let refused = server.execute(&[caller], "project.list", json!({}));
    let said = text(&refused);
    assert!(said.contains("the token that this client sends") && !said.contains("GITLAB_TOKEN"), "{said}");
    let readonly = [caller, ("X-MCP-Readonly", "true")];
    let denied = server.execute(&readonly, "issue.create", json!({"fullPath": "acme/widget", "title": "x"}));
    let said = text(&denied);
    assert!(said.contains("`X-MCP-Readonly` of this client") && !said.contains("GITLAB_READ_ONLY"), "{said}");
}
