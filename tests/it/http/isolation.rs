//! Nothing of one caller is seen by another.

use std::thread;

use serde_json::{Value, json};

use super::{HttpServer, error_kind, text};
use crate::support::client::EXECUTE;
use crate::support::scripted_gitlab::{Gitlab, answer};

/// A caller with an instance of its own, whose data are marked.
struct Tenant {
    gitlab: Gitlab,
    token: &'static str,
    mark: &'static str,
    user_id: u64,
}

impl Tenant {
    fn new(token: &'static str, mark: &'static str, user_id: u64) -> Tenant {
        let gitlab = Gitlab::start();
        let users = json!([{"id": user_id, "username": "alex", "name": format!("Alex {mark}")}]);
        gitlab.json("/api/v4/users", &users);
        let project = json!({"id": user_id * 10, "path_with_namespace": "team/app", "name": mark});
        gitlab.json("/projects/team%2fapp|/projects/team%2Fapp", &project);
        let issue = |iid: u64| json!({"iid": iid, "title": format!("{mark} {iid}"), "state": "opened"});
        let page = answer(200, [issue(1), issue(2)]).header("x-next-page", "2").header("x-total", "4");
        let next = answer(200, [issue(3), issue(4)]).header("x-total", "4");
        gitlab.says("GET /api/v4/projects/team%2Fapp/issues?page=2", [next]);
        gitlab.answer("GET", "/projects/[^/]*/issues", page);
        gitlab.json("/projects/[^/]*/issues/7", &issue(7));
        let refused = answer(422, json!({"message": format!("{mark} cannot be done")}));
        gitlab.answer("POST", "/projects/[^/]*/issues", refused);
        gitlab.answer("DELETE", "/projects/[^/]*/issues/7", answer(204, json!(null)));
        Tenant { gitlab, token, mark, user_id }
    }

    fn call(&self, server: &HttpServer, action: &str, params: Value) -> Value {
        self.execute(server, json!({"action": action, "params": params}))
    }

    /// Calls execute with these arguments.
    fn execute(&self, server: &HttpServer, arguments: Value) -> Value {
        let url = self.gitlab.url();
        server.call(&[("PRIVATE-TOKEN", self.token), ("GITLAB-URL", &url)], EXECUTE, arguments)
    }

    fn deletions(&self) -> usize {
        self.gitlab.seen().iter().filter(|line| line.starts_with("DELETE")).count()
    }
}

#[test]
fn callers_on_two_instances_see_nothing_of_each_other() {
    let tenants = [
        Tenant::new("glpat-first-caller-secret", "FIRSTMARK", 41),
        Tenant::new("glpat-other-caller-secret", "OTHERMARK", 42),
    ];
    let [first, other] = &tenants;
    let (default, further) = (first.gitlab.url(), other.gitlab.url());
    let server = HttpServer::for_callers(
        &default,
        &[
            ("GITLAB_MCP_INSTANCES", &further),
            // The calls come faster than one caller may usually make them.
            ("GITLAB_MCP_CALLER_RATE", "10000"),
            ("GITLAB_CONFIRM", "destructive,token"),
            ("GITLAB_MCP_LOG", "debug"),
        ],
    );
    let app = |more: Value| {
        let mut params = json!({"fullPath": "team/app"});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let (server, app) = (&server, &app);
    let session = |own: &Tenant, foreign: &Tenant| {
        let mut seen = Vec::new();
        for _ in 0..12 {
            let listed = own.call(server, "issue.list", app(json!({"assignee_username": ["alex"]})));
            assert!(text(&listed).contains(own.mark), "{listed}");
            let shown = own.call(server, "project.get", app(json!({})));
            assert!(text(&shown).contains(own.mark), "{shown}");
            let created = own.call(server, "issue.create", app(json!({"title": "x", "assignees": ["alex"]})));
            assert!(text(&created).contains(own.mark), "{created}");
            let missing = own.call(server, "issue.get", app(json!({"iid": 99})));
            assert_eq!(error_kind(&missing), "not_found", "{missing}");
            let asked = own.call(server, "issue.delete", app(json!({"iid": 7})));
            assert_eq!(error_kind(&asked), "needs_confirmation", "{asked}");
            let all =
                own.execute(server, json!({"action": "issue.list", "params": app(json!({})), "all": true}));
            assert!(text(&all).contains(&format!("{} 4", own.mark)), "the second page: {all}");
            // The other caller has nothing of this confirmation; its own caller has.
            let confirmed = asked["structuredContent"]["error"]["fix"]["arguments"].clone();
            let refused = foreign.execute(server, confirmed.clone());
            assert_eq!(error_kind(&refused), "needs_confirmation", "{refused}");
            assert!(!refused.to_string().contains(own.mark), "{refused}");
            let deleted = own.execute(server, confirmed);
            assert_eq!(error_kind(&deleted), "(no error)", "{deleted}");
            seen.extend([listed, shown, created, missing, asked, all, deleted]);
        }
        for answer in seen {
            let answer = answer.to_string();
            for secret in [foreign.mark, foreign.token, own.token, &foreign.gitlab.address.to_string()] {
                assert!(!answer.contains(secret), "{secret} is in {answer}");
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| session(first, other));
        scope.spawn(|| session(other, first));
        scope.spawn(|| session(first, other));
    });
    assert_eq!((first.deletions(), other.deletions()), (24, 12), "one for each confirmation");
    for (own, foreign) in [(first, other), (other, first)] {
        let requests = own.gitlab.received();
        assert!(requests.len() > 40, "{}", requests.len());
        for request in requests {
            assert!(request.head.contains(own.token), "{}", request.line);
            assert!(!request.head.contains(foreign.token), "{}", request.line);
            let (line, body) = (request.line, String::from_utf8_lossy(&request.body).into_owned());
            assert!(
                !line.contains(&foreign.user_id.to_string()) && !body.contains(&foreign.user_id.to_string()),
                "{line} {body}"
            );
        }
    }
    let (log, metrics) = (server.log(), server.get("/metrics").body);
    for tenant in &tenants {
        for shown in [&log, &metrics] {
            assert!(!shown.contains(tenant.token) && !shown.contains(tenant.mark), "{shown}");
        }
    }
    assert!(metrics.contains("gitlab_mcp_callers 2\n"), "{metrics}");
}

#[test]
fn a_confirmation_token_is_good_for_its_caller_only() {
    let tenant = Tenant::new("glpat-first-caller-secret", "MARK", 41);
    let server = HttpServer::for_callers(&tenant.gitlab.url(), &[("GITLAB_CONFIRM", "destructive,token")]);
    let params = json!({"fullPath": "team/app", "iid": 7});
    let asked = tenant.call(&server, "issue.delete", params);
    let confirmed = asked["structuredContent"]["error"]["fix"]["arguments"].clone();
    assert!(confirmed["confirmation_token"].is_string(), "{asked}");
    // The same instance, another token.
    let refused = server.call(&[("PRIVATE-TOKEN", "glpat-other-caller-secret")], EXECUTE, confirmed.clone());
    assert_eq!((error_kind(&refused), tenant.deletions()), ("needs_confirmation", 0), "{refused}");
    let done = server.call(&[("PRIVATE-TOKEN", tenant.token)], EXECUTE, confirmed);
    assert_eq!((error_kind(&done), tenant.deletions()), ("(no error)", 1), "{done}");
}

#[test]
fn replicas_that_share_a_key_take_each_others_confirmation_tokens_of_the_same_caller() {
    let tenant = Tenant::new("glpat-first-caller-secret", "MARK", 41);
    let replica = |key: &str| {
        let variables = [("GITLAB_CONFIRM", "destructive,token"), ("GITLAB_MCP_CONFIRM_KEY", key)];
        HttpServer::for_callers(&tenant.gitlab.url(), &variables)
    };
    let (key, other_key) = ("k".repeat(32), "x".repeat(32));
    let (one, other, stranger) = (replica(&key), replica(&key), replica(&other_key));
    let asked = tenant.call(&one, "issue.delete", json!({"fullPath": "team/app", "iid": 7}));
    let confirmed = asked["structuredContent"]["error"]["fix"]["arguments"].clone();
    let send = |server: &HttpServer, headers: &[(&str, &str)]| {
        let answer = server.call(headers, EXECUTE, confirmed.clone());
        (error_kind(&answer).to_owned(), tenant.deletions())
    };
    let own = [("PRIVATE-TOKEN", tenant.token)];
    let refused = |deletions| ("needs_confirmation".to_owned(), deletions);
    assert_eq!(send(&stranger, &own), refused(0), "another key");
    assert_eq!(send(&other, &[("PRIVATE-TOKEN", "glpat-other-caller-secret")]), refused(0), "another caller");
    assert_eq!(send(&other, &own), ("(no error)".to_owned(), 1), "the other replica");
    assert_eq!(send(&other, &own), refused(1), "it was used there");
    let narrowed = [own[0], ("X-MCP-Toolsets", "issues")];
    assert_eq!(send(&other, &narrowed), refused(1), "nor by the same caller with less to do");
    assert!(!other.log().contains(&key) && !other.log().contains("kkkk"), "{}", other.log());
}

#[test]
fn look_ups_are_not_shared_by_tokens_of_one_instance() {
    let tenant = Tenant::new("glpat-first-caller-secret", "MARK", 41);
    let server = HttpServer::for_callers(&tenant.gitlab.url(), &[]);
    let create = |token: &str| {
        let params = json!({"fullPath": "team/app", "title": "x", "assignees": ["alex"]});
        server.execute(&[("PRIVATE-TOKEN", token)], "issue.create", params)
    };
    for token in ["glpat-one", "glpat-two", "glpat-one"] {
        create(token);
    }
    let look_ups = tenant.gitlab.received();
    let of = |token: &str| {
        look_ups
            .iter()
            .filter(|request| request.line.contains("/users?") && request.head.contains(token))
            .count()
    };
    assert_eq!((of("glpat-one"), of("glpat-two")), (1, 1), "each caller looks up once, with its own token");
}
