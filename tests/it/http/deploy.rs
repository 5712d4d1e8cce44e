//! docs/guides/deploy.md: each step that needs nothing but the program runs as it is written, with free ports, another
//! certificate and a scripted GitLab in place of those of the guide. tests/clients/deploy checks the proxy and the
//! manifests.

use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::{HttpServer, Response, get, text, tool_call};
use crate::docs::blocks_of;
use crate::support::client::{EXECUTE, program};
use crate::support::scripted_gitlab::{Gitlab, answer};
use crate::support::tls::Authority;

/// The blocks of the guide in this language that contain a text.
fn blocks(language: &str, part: &str) -> Vec<String> {
    let blocks = blocks_of("docs/guides/deploy.md").into_iter();
    let found: Vec<String> =
        blocks.filter(|(info, text)| info == language && text.contains(part)).map(|(_, text)| text).collect();
    assert!(!found.is_empty(), "no {language} block with {part}");
    found
}

/// The arguments of a command as a shell reads them, without the program.
fn arguments(command: &str) -> Vec<String> {
    let name = command.split_whitespace().next().unwrap();
    let function = name.replace('-', "_");
    let command = command.replacen(name, &function, 1);
    let script = format!("{function}() {{ for word; do printf '%s\\0' \"$word\"; done; }}\n{command}");
    let output = Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    let words = String::from_utf8(output.stdout).unwrap();
    words.split_terminator('\0').map(str::to_owned).collect()
}

/// Starts the server by a command of the guide. The replacements make it one of this machine.
fn start(command: &str, replacements: &[(&str, &str)], variables: &[(&str, &str)]) -> HttpServer {
    let mut command = command.to_owned();
    for (shown, real) in replacements {
        assert!(command.contains(shown), "{shown} is not in {command}");
        command = command.replace(shown, real);
    }
    let arguments = arguments(&command);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    HttpServer::run(&arguments, variables)
}

/// Sends the request that a curl command of the guide sends.
fn send(command: &str, server: &HttpServer) -> Response {
    let (mut headers, mut body, mut url) = (Vec::new(), String::new(), String::new());
    let mut words = arguments(command).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-s" => {}
            "-H" => headers.push(words.next().unwrap()),
            "-d" => body = words.next().unwrap(),
            _ => url = word,
        }
    }
    assert_eq!(url, "http://127.0.0.1:8080/mcp");
    let headers: Vec<(&str, &str)> = headers.iter().map(|line| line.split_once(": ").unwrap()).collect();
    server.send(&server.request(&headers, &body))
}

#[test]
fn alone() {
    let serve = &blocks("sh", "--sandbox")[0];
    let server = start(serve, &[("127.0.0.1:8080", "127.0.0.1:0")], &[]);
    let called = send(&blocks("sh", "curl")[0], &server);
    assert_eq!(called.status, 200, "{}", called.body);
    assert!(text(&called.json()["result"]).contains("sandbox"), "{}", called.body);

    // The client's configuration names the same endpoint, and a header that the server takes.
    let configuration: Value = serde_json::from_str(&blocks("json", "\"servers\"")[0]).unwrap();
    let gitlab = &configuration["servers"]["gitlab"];
    assert_eq!(
        (gitlab["type"].as_str(), gitlab["url"].as_str()),
        (Some("http"), Some("http://127.0.0.1:8080/mcp"))
    );
    for (name, value) in gitlab["headers"].as_object().unwrap() {
        assert!(value.as_str().unwrap().starts_with("${input:"), "{value}");
        let called = server
            .post(&[(name, "glpat-sandbox")], &tool_call(EXECUTE, json!({"action": "current_user.get"})));
        assert_eq!(called.status, 200, "{}", called.body);
    }
}

#[test]
fn with_tls() {
    let identity = Authority::new().vouch("localhost", 2040);
    let (certificate, key) =
        (identity.certificate_file.path().to_str().unwrap(), identity.key_file.path().to_str().unwrap());
    let replacements = [
        ("0.0.0.0:8443", "127.0.0.1:0"),
        ("/etc/gitlab-mcp/tls.crt", certificate),
        ("/etc/gitlab-mcp/tls.key", key),
    ];
    let gitlab = Gitlab::start().url();
    let server = start(&blocks("sh", "--tls-cert")[0], &replacements, &[("GITLAB_URL", &gitlab)]);
    let address = server.address.to_string();
    let variables = [
        ("GITLAB_MCP_HTTP", address.as_str()),
        ("GITLAB_MCP_AUTH", "token"),
        ("GITLAB_MCP_TLS_CERT", certificate),
        ("GITLAB_MCP_TLS_KEY", key),
    ];
    assert!(program(&["health"], &variables).status().unwrap().success());
}

#[test]
fn behind_a_proxy() {
    let proxy = &blocks("nginx", "proxy_pass")[0];
    let location = Regex::new(r"location ~ (\S+) \{").unwrap().captures(proxy).unwrap()[1].to_owned();
    let location = Regex::new(&location).unwrap();
    for (path, forwarded) in [
        ("/mcp", true),
        ("/.well-known/oauth-protected-resource", true),
        ("/.well-known/oauth-protected-resource/mcp", true),
        ("/metrics", false),
        ("/health", false),
        ("/mcp/../metrics", false),
    ] {
        assert_eq!(location.is_match(path), forwarded, "{path}");
    }
    // The host that the proxy passes on is accepted by the public URL, and no other is.
    let public = ["--public-url", "https://mcp.example.com"];
    let server = HttpServer::start(&[&["--sandbox", "--auth", "token"], public.as_slice()].concat(), &[]);
    let list = tool_call(EXECUTE, json!({"action": "current_user.get"}));
    let token = ("PRIVATE-TOKEN", "glpat-sandbox");
    assert_eq!(server.post(&[token, ("Host", "mcp.example.com")], &list).status, 200);
    assert_eq!(server.post(&[token, ("Host", "other.example.com")], &list).status, 403);
}

#[test]
fn in_a_container() {
    let file = &blocks("dockerfile", "ENTRYPOINT")[0];
    let find = |instruction: &str| {
        let mut lines = file.lines().filter_map(|line| line.strip_prefix(instruction));
        lines.next().map(|rest| rest.trim().to_owned())
    };
    let of = |instruction: &str| find(instruction).unwrap_or_else(|| panic!("no {instruction} in {file}"));
    let command =
        |text: &str| -> Vec<String> { serde_json::from_str(&text[text.find('[').unwrap()..]).unwrap() };
    let (mut entry, check) = (command(&of("ENTRYPOINT")), command(&of("HEALTHCHECK")));
    entry.extend(find("CMD").iter().flat_map(|arguments| command(arguments)));
    assert_eq!((entry[0].as_str(), check[0].as_str()), ("/gitlab-mcp", "/gitlab-mcp"));
    let certificates = of("COPY ca-certificates.crt");
    let environment = of("ENV");
    let variables: Vec<(&str, &str)> =
        environment.split(' ').map(|variable| variable.split_once('=').unwrap()).collect();
    assert!(variables.contains(&("SSL_CERT_FILE", certificates.as_str())), "{environment}");
    let port = of("EXPOSE");
    assert!(variables.contains(&("GITLAB_MCP_HTTP", format!("0.0.0.0:{port}").as_str())), "{environment}");

    let gitlab = Gitlab::start().url();
    let variables = [
        ("GITLAB_MCP_HTTP", "0.0.0.0:0"),
        ("GITLAB_MCP_AUTH", "token"),
        ("GITLAB_MCP_PUBLIC_URL", "https://mcp.example.com"),
        ("GITLAB_URL", &gitlab),
    ];
    assert_eq!((entry.len(), check.len()), (2, 2), "{entry:?} {check:?}");
    let server = HttpServer::run(&[&entry[1]], &variables);
    let address = format!("0.0.0.0:{}", server.address.port());
    let variables = [&[("GITLAB_MCP_HTTP", address.as_str())], &variables[1..]].concat();
    assert!(program(&[&check[1]], &variables).status().unwrap().success());
    drop(server);
    assert_eq!(program(&[&check[1]], &variables).output().unwrap().status.code(), Some(1));
}

#[test]
fn in_kubernetes() {
    let manifests = &blocks("yaml", "kind: Deployment")[0];
    let captures = |pattern: &str| -> Vec<(String, String)> {
        let pattern = Regex::new(pattern).unwrap();
        pattern.captures_iter(manifests).map(|found| (found[1].to_owned(), found[2].to_owned())).collect()
    };
    let variables = captures(r#"- \{name: (GITLAB\w+), value: "?([^"}]+)"?\}"#);
    let ports = captures(r"\{name: (\w+), containerPort: (\d+)\}");
    let port =
        |name: &str| ports.iter().find(|(known, _)| known == name).map(|(_, port)| port.as_str()).unwrap();
    let value =
        |name: &str| variables.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!(value("GITLAB_MCP_HTTP").unwrap(), format!("0.0.0.0:{}", port("http")));
    assert_eq!(value("GITLAB_MCP_METRICS").unwrap(), format!("0.0.0.0:{}", port("metrics")));
    assert!(manifests.contains(&format!("prometheus.io/port: \"{}\"", port("metrics"))), "{manifests}");

    let gitlab = Gitlab::start();
    let url = gitlab.url();
    let variables: Vec<(&str, &str)> = variables
        .iter()
        .map(|(name, value)| match name.as_str() {
            "GITLAB_URL" => (name.as_str(), url.as_str()),
            "GITLAB_MCP_HTTP" | "GITLAB_MCP_METRICS" => (name.as_str(), "127.0.0.1:0"),
            _ => (name.as_str(), value.as_str()),
        })
        .collect();
    let server = HttpServer::run(&["serve"], &variables);
    let probes = captures(r"httpGet: \{path: (\S+), port: (\w+)\}");
    assert!(!probes.is_empty(), "{manifests}");
    for (path, port) in probes {
        let address = if port == "metrics" { server.metrics_address() } else { server.address };
        assert_eq!(get(address, &path).status, 200, "{path} at {port}");
    }
    assert_eq!(get(server.metrics_address(), "/metrics").status, 200);
}

#[test]
fn with_metrics_apart() {
    let serve = &blocks("sh", "--metrics")[0];
    let replacements = [("0.0.0.0:8080", "127.0.0.1:0"), ("127.0.0.1:9090", "127.0.0.1:0")];
    let gitlab = Gitlab::start().url();
    let server = start(serve, &replacements, &[("GITLAB_URL", &gitlab)]);
    let statuses = ["/health", "/metrics"]
        .map(|path| (server.get(path).status, get(server.metrics_address(), path).status));
    assert_eq!(statuses, [(200, 200), (404, 200)]);
}

#[test]
fn with_oauth() {
    let gitlab = Gitlab::start();
    gitlab.json("/api/v4/user", &json!({"id": 1, "username": "sandra"}));
    let info = json!({"scope": ["api"], "expires_in": 7200, "application": {"uid": "APPLICATION_ID"}});
    gitlab.says("GET /oauth/token/info", [answer(200, info)]);
    let url = gitlab.url();
    let serve = &blocks("sh", "--auth oauth")[0];
    let server = start(serve, &[("127.0.0.1:8080", "127.0.0.1:0")], &[("GITLAB_URL", &url)]);
    let call = tool_call(EXECUTE, json!({"action": "current_user.get"}));
    let refused = server.post(&[], &call);
    let metadata = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().contains(metadata));
    assert_eq!(
        server.get("/.well-known/oauth-protected-resource").json()["resource"],
        "https://mcp.example.com/mcp"
    );
    let called = server.post(&[("Authorization", "Bearer oauth-token")], &call);
    assert!(text(&called.json()["result"]).contains("sandra"), "{}", called.body);
}
