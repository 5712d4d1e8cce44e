//! A token is sent to its own instance only, whatever a call says.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};

use super::{ACCOUNT_TOKEN, HOME_TOKEN, Setup, WORK_TOKEN, call};
use crate::support::client::{Client, EXECUTE, FIND};
use crate::support::scripted_gitlab::{Gitlab, answer, raw};

#[test]
fn a_redirect_to_another_root_on_the_host_carries_no_token() {
    let gitlab = Gitlab::start();
    let issue = json!({"iid": 1, "title": "x", "state": "opened"});
    let away = |root: &str| {
        answer(302, json!(null)).header("location", &format!("{root}/api/v4/projects/9/issues/1"))
    };
    gitlab.answer("GET", "/one/api/v4/projects/acme%2F[^/]*/issues/1", away("/two"));
    gitlab.answer("GET", "/one/api/v4/projects/acme%2F[^/]*/issues/2", away("/one"));
    gitlab.json("/(one|two)/api/v4/projects/9/issues/1", &issue);
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("settings.toml");
    let (one, two) = (format!("{}/one", gitlab.url()), format!("{}/two", gitlab.url()));
    let table = format!("[[instance]]\nname = \"two\"\nurl = \"{two}\"\ntoken_env = \"WORK_TOKEN\"\n");
    std::fs::write(&file, table).unwrap();
    let variables = [
        ("GITLAB_MCP_CONFIG", file.to_str().unwrap()),
        ("GITLAB_URL", one.as_str()),
        ("GITLAB_TOKEN", HOME_TOKEN),
        ("WORK_TOKEN", WORK_TOKEN),
    ];
    let mut client = Client::connect(&[], &variables);
    for (iid, root, is_sent) in [(1, "two", false), (2, "one", true)] {
        client.call(EXECUTE, call("issue.get", json!({"fullPath": "acme/widget", "iid": iid}), json!({})));
        let led = gitlab.last(&format!("GET /{root}/api/v4/projects/9/issues/1"));
        assert_eq!(led.head.contains(HOME_TOKEN), is_sent, "{root}: {}", led.head);
        assert!(!led.head.contains(WORK_TOKEN), "{root}: {}", led.head);
    }
}

/// The headers are those of a proxy before the default instance, such as the secret of an access service.
#[test]
fn extra_headers_are_for_the_default_instance_alone() {
    let setup = Setup::new();
    let mut client = setup.client(&[("GITLAB_EXTRA_HEADERS", "X-Access: sesame")]);
    for (gitlab, has_header) in [(&setup.home, true), (&setup.work, false)] {
        let target = Setup::issue_url(gitlab, "acme/widget");
        client.call(EXECUTE, call("issue.get", json!({"target": target}), json!({})));
        let read = gitlab.last("GET /api/v4/projects/acme%2Fwidget/issues/7");
        assert_eq!(read.head.contains("sesame"), has_header, "{}", read.head);
    }
    assert!(setup.work.received().iter().all(|request| !request.head.contains("sesame")));
}

/// A GitLab that an address is of.
#[derive(Clone, Copy, Debug)]
enum Place {
    Home,
    Work,
    /// A host that is not configured.
    Foreign,
}

/// A way by which an address reaches a call.
#[derive(Clone, Copy, Debug)]
enum Way {
    Target,
    OtherSpelling,
    PathIsUrl,
    ActionIsUrl,
    Batch,
    MixedBatch,
    Fetch,
    Update,
    Remote,
    RawPath,
    RawPathWithUser,
    Document,
    AllPages,
    Redirect,
    Download,
    UrlAsValue,
    Deletion,
    WholeCall,
}

const WAYS: [Way; 18] = [
    Way::Target,
    Way::OtherSpelling,
    Way::PathIsUrl,
    Way::ActionIsUrl,
    Way::Batch,
    Way::MixedBatch,
    Way::Fetch,
    Way::Update,
    Way::Remote,
    Way::RawPath,
    Way::RawPathWithUser,
    Way::Document,
    Way::AllPages,
    Way::Redirect,
    Way::Download,
    Way::UrlAsValue,
    Way::Deletion,
    Way::WholeCall,
];

fn any_place() -> impl Strategy<Value = Place> {
    prop_oneof![Just(Place::Home), Just(Place::Work), Just(Place::Foreign)]
}

/// The argument `instance`: none, a name, an address or nothing that is configured.
fn instance() -> impl Strategy<Value = Option<&'static str>> {
    prop::option::of(prop_oneof![Just("work"), Just("account"), Just("$HOME"), Just("$WORK"), Just("nobody")])
}

struct World {
    setup: Setup,
    foreign: Gitlab,
    client: Client,
}

impl World {
    fn new() -> World {
        let setup = Setup::new();
        let foreign = super::marked_gitlab("FOREIGNMARK");
        for (here, elsewhere) in
            [(&setup.home, [&setup.work, &foreign]), (&setup.work, [&setup.home, &foreign])]
        {
            // Links, redirects and URLs of each instance lead to the others.
            let [first, second] = elsewhere;
            let rows = json!([{"iid": 1, "web_url": Setup::issue_url(first, "acme/widget")}]);
            let link = format!("<{}/api/v4/projects/1/labels?page=2>; rel=\"next\"", first.url());
            let page = answer(200, &rows).header("link", &link).header("x-next-page", "2");
            here.says("GET /api/v4/projects/acme%2Fwidget/labels", [page, answer(200, json!([]))]);
            let to = |other: &Gitlab, path: &str| {
                answer(302, json!(null)).header("location", &format!("{}{path}", other.url()))
            };
            here.answer("GET", "/repository/commits", to(first, "/api/v4/projects/1/issues"));
            here.answer("GET", "/repository/archive.*", to(second, "/archive.tar.gz"));
            here.answer("GET", "/artifacts", to(first, "/archive.tar.gz"));
            here.answer("POST", "/api/graphql", answer(200, json!({"data": {"currentUser": {"id": "1"}}})));
        }
        for gitlab in [&setup.home, &setup.work, &foreign] {
            gitlab.answer("GET", "/archive.tar.gz", raw(200, "application/gzip", "x"));
        }
        let client = setup.client(&[]);
        World { setup, foreign, client }
    }

    fn gitlab(&self, place: Place) -> &Gitlab {
        match place {
            Place::Home => &self.setup.home,
            Place::Work => &self.setup.work,
            Place::Foreign => &self.foreign,
        }
    }

    fn arguments(&self, way: Way, at: Place, other: Place, path: &str) -> Value {
        let (base, other) = (self.gitlab(at).url(), self.gitlab(other));
        let url = Setup::issue_url(self.gitlab(at), path);
        let own = json!({"fullPath": path});
        let with = |more: Value| {
            let mut params = own.clone();
            params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            params
        };
        let (action, params) = match way {
            Way::Target => ("issue.get", json!({"target": url})),
            Way::OtherSpelling => ("issue.get", json!({"issue_url": url})),
            Way::PathIsUrl => ("project.get", json!({"fullPath": format!("{base}/{path}")})),
            Way::ActionIsUrl => (url.as_str(), json!({})),
            Way::Batch => {
                ("api.batch", json!({"calls": [{"action": "issue.get", "params": {"target": url}}]}))
            }
            Way::MixedBatch => {
                let second = Setup::issue_url(other, path);
                let calls = [&url, &second]
                    .map(|url| json!({"action": "issue.update", "params": {"target": url, "title": "x"}}));
                ("api.batch", json!({"calls": calls, "continue_on_error": true}))
            }
            Way::Fetch => {
                let items = json!([{"target": Setup::issue_url(other, path)}]);
                ("resource.fetch", json!({"targets": [url], "items": items}))
            }
            Way::Update => ("resource.update", json!({"changes": [{"target": url, "title": "x"}]})),
            Way::Remote => (
                "project.resolve",
                json!({"remote": format!("{}/{path}.git", base.replacen("//", "//oauth2:x@", 1))}),
            ),
            Way::RawPath => ("api.rest", json!({"method": "GET", "path": format!("{base}/api/v4/user")})),
            Way::RawPathWithUser => {
                let path =
                    format!("{}/api/v4/user", base.replacen("//", &format!("//{}@", other.address), 1));
                ("api.rest", json!({"method": "GET", "path": path}))
            }
            Way::Document => ("api.graphql", json!({"query": "{ currentUser { id } }"})),
            Way::AllPages => ("label.list", own),
            Way::Redirect => ("commit.list", own),
            Way::Download => ("repository.get_archive", own),
            Way::UrlAsValue => ("issue.update", with(json!({"iid": 7, "description": url}))),
            Way::Deletion => ("issue.delete", json!({"target": url})),
            Way::WholeCall => {
                ("api.rest", json!({"method": "GET", "path": format!("//{}/api/v4/user", other.address)}))
            }
        };
        call(action, params, if let Way::AllPages = way { json!({"all": true}) } else { json!({}) })
    }

    /// No request that has come has a token of another GitLab.
    fn check(&self) -> Result<(), TestCaseError> {
        for (place, allowed) in [
            (Place::Home, &[HOME_TOKEN, ACCOUNT_TOKEN][..]),
            (Place::Work, &[WORK_TOKEN][..]),
            (Place::Foreign, &[][..]),
        ] {
            for request in self.gitlab(place).received() {
                let whole =
                    format!("{}\n{}{}", request.line, request.head, String::from_utf8_lossy(&request.body));
                for token in [HOME_TOKEN, ACCOUNT_TOKEN, WORK_TOKEN] {
                    let is_there = whole.contains(token);
                    prop_assert!(!is_there || allowed.contains(&token), "{place:?} got {token}: {whole}");
                }
            }
        }
        Ok(())
    }
}

/// Every call in an answer.
fn calls(value: &Value, found: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| calls(item, found)),
        Value::Object(fields) if fields.contains_key("tool") && fields.contains_key("arguments") => {
            found.push(value.clone());
        }
        Value::Object(fields) => fields.values().for_each(|field| calls(field, found)),
        _ => {}
    }
}

#[test]
fn no_call_sends_a_token_to_another_host() {
    let world = RefCell::new(World::new());
    let strategy = (
        0..WAYS.len(),
        any_place(),
        any_place(),
        instance(),
        prop_oneof![Just("acme/widget"), Just("second/app")],
    );
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&strategy, |(way, at, other, instance, path)| {
        let world = &mut *world.borrow_mut();
        let mut arguments = world.arguments(WAYS[way], at, other, path);
        if let Some(name) = instance {
            let name =
                name.replace("$HOME", &world.setup.home_name()).replace("$WORK", &world.setup.work.url());
            arguments["instance"] = json!(name);
        }
        let reply = world.client.call(EXECUTE, arguments.clone());
        // Whatever an answer offers stays with its instance, with consent too.
        let mut offered = Vec::new();
        calls(&reply.structured, &mut offered);
        for next in offered.iter().take(3) {
            let mut arguments = next["arguments"].clone();
            if next["tool"] == EXECUTE {
                arguments["confirm"] = json!(true);
            }
            if let Some(instance) = reply.structured["instance"].as_str() {
                prop_assert_eq!(&arguments["instance"], instance, "{}", next);
            }
            let tool = next["tool"].as_str().unwrap().to_owned();
            world.client.call(&tool, arguments);
        }
        for token in [HOME_TOKEN, ACCOUNT_TOKEN, WORK_TOKEN] {
            let shown = reply.text.contains(token) || reply.structured.to_string().contains(token);
            prop_assert!(!shown, "{}", reply.text);
        }
        if let Some(place) = instance.filter(|_| matches!(WAYS[way], Way::Target)) {
            let uri = format!("gitlab://project/{path}/issue/7?instance={place}");
            world.client.request("resources/read", json!({"uri": uri}));
        }
        world.client.call(FIND, json!({"query": Setup::issue_url(world.gitlab(at), path)}));
        world.check()
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    let world = world.borrow();
    assert!(
        world.foreign.seen().iter().all(|line| line.ends_with("/archive.tar.gz") || line.contains("/issues"))
    );
    // The test is one of something: both have had their own.
    assert!(world.setup.home.received().iter().any(|request| request.head.contains(HOME_TOKEN)));
    assert!(world.setup.home.received().iter().any(|request| request.head.contains(ACCOUNT_TOKEN)));
    assert!(world.setup.work.received().iter().any(|request| request.head.contains(WORK_TOKEN)));
}

#[test]
fn a_token_of_another_instance_is_masked_in_an_answer() {
    let setup = Setup::new();
    let leak = json!({"iid": 9, "title": format!("use {WORK_TOKEN} and {HOME_TOKEN}"), "state": "opened"});
    setup.home.says("GET /api/v4/projects/acme%2Fwidget/issues/9", [answer(200, &leak)]);
    let mut client = setup.client(&[]);
    let reply =
        client.call(EXECUTE, call("issue.get", json!({"fullPath": "acme/widget", "iid": 9}), json!({})));
    for shown in [&reply.text, &reply.structured.to_string()] {
        assert!(!shown.contains(WORK_TOKEN) && !shown.contains(HOME_TOKEN), "{shown}");
    }
    let read = client.request("resources/read", json!({"uri": "gitlab://project/acme/widget/issue/9"}));
    assert!(!read.to_string().contains(WORK_TOKEN), "{read}");
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("[redacted]"), "{read}");
    // Errors as well.
    let message = format!("404 {WORK_TOKEN} and {HOME_TOKEN} Not Found");
    let missing = || answer(404, json!({"message": message}));
    setup.home.says("GET /api/v4/projects/acme%2Fwidget/issues/8", [missing(), missing()]);
    let reply =
        client.call(EXECUTE, call("issue.get", json!({"fullPath": "acme/widget", "iid": 8}), json!({})));
    assert!(reply.is_error, "{}", reply.text);
    let read = client.request("resources/read", json!({"uri": "gitlab://project/acme/widget/issue/8"}));
    assert!(read.get("error").is_some(), "{read}");
    for shown in [reply.text, reply.structured.to_string(), read.to_string()] {
        assert!(shown.contains("404 [redacted] and [redacted] Not Found"), "{shown}");
        assert!(!shown.contains(WORK_TOKEN) && !shown.contains(HOME_TOKEN), "{shown}");
    }
}
