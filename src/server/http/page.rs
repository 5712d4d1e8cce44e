//! The page that a person sees at the server's address: what this is, which GitLabs it serves, how to connect a client.
//! Neither scripts nor resources of other hosts are in it.

use axum::http::HeaderValue;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::settings::AuthMode;

/// Headers of the page.
const HEADERS: [(HeaderName, &str); 4] = [
    (CONTENT_TYPE, "text/html; charset=utf-8"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'none'",
    ),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
];

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;\
    color:#222;background:#fff;overflow-wrap:anywhere}pre{background:#f4f4f4;padding:.7rem;overflow-x:auto;border-radius:4px}\
    h2{font-size:1.1rem;margin:1.5rem 0 .3rem}\
    @media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}pre{background:#2b2b2b}}";

/// Placeholder of a token.
const TOKEN: &str = "glpat-…";

/// A GitLab that the server works on, with whether it answers if that is known.
pub(super) struct ServedInstance {
    pub url: String,
    pub is_reachable: Option<bool>,
}

/// Contents of the page.
pub(super) struct ServerPage<'a> {
    /// The URL that a client takes.
    pub endpoint: String,
    pub auth: &'a AuthMode,
    /// Empty where the page may not show them.
    pub instances: Vec<ServedInstance>,
}

impl ServerPage<'_> {
    pub(super) fn into_response(self) -> Response {
        let mut response = self.render().into_response();
        for (name, value) in HEADERS {
            response.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        response
    }

    fn render(&self) -> String {
        let endpoint = escape(&self.endpoint);
        let instances: String = self
            .instances
            .iter()
            .map(|instance| {
                let state = match instance.is_reachable {
                    Some(true) => " answers",
                    Some(false) => " does not answer",
                    None => "",
                };
                format!("<li><code>{}</code>{state}</li>", escape(&instance.url))
            })
            .collect();
        let instances = match instances.is_empty() {
            true => String::new(),
            false => format!("<h2>GitLab</h2><ul>{instances}</ul>"),
        };
        let auth = match self.auth {
            AuthMode::None => "No token is needed: the server uses its own.",
            AuthMode::Token => {
                "Each request brings a token of GitLab: a personal, group or project access token."
            }
            AuthMode::OAuth { .. } => "The client signs in at GitLab by itself (OAuth).",
        };
        let clients: String = self.clients().iter().map(ClientEntry::render).collect();
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>gitlab-mcp</title>\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{STYLE}</style></head><body>\
             <h1>gitlab-mcp {}</h1><p>An MCP server: it gives an AI client all of GitLab through two tools. \
             This page is for people; the client takes this URL:</p><pre>{endpoint}</pre><p>{auth}</p>\
             {instances}{clients}</body></html>\n",
            env!("CARGO_PKG_VERSION"),
        )
    }

    /// How each client is connected to this URL.
    fn clients(&self) -> Vec<ClientEntry> {
        let url = &self.endpoint;
        let client = |name, text| ClientEntry { name, link: None, text };
        let entries =
            |name, key: &str, server: &Value| client(name, format!("{:#}", json!({key: {"gitlab": server}})));
        let plain = |key: &str| self.entry(json!({key: url}), TOKEN, &Value::Null);
        let cursor_sign_in = json!({"auth": {"CLIENT_ID": self.application(), "scopes": ["api"]}});
        let cursor = self.entry(json!({"url": url}), "${env:GITLAB_TOKEN}", &cursor_sign_in);
        let sign_in = json!({"oauth": {"clientId": self.application()}});
        let opencode = self.entry(json!({"type": "remote", "url": url}), "{env:GITLAB_TOKEN}", &sign_in);
        let bearer = if self.wants_token() { "\nbearer_token_env_var = \"GITLAB_TOKEN\"" } else { "" };
        vec![
            client("Claude Code", self.claude_code()),
            self.vscode(&sign_in),
            ClientEntry {
                link: Some(cursor_link(&cursor)),
                ..entries("Cursor: ~/.cursor/mcp.json", "mcpServers", &cursor)
            },
            client("Codex: ~/.codex/config.toml", format!("[mcp_servers.gitlab]\nurl = \"{url}\"{bearer}")),
            entries("Gemini CLI: ~/.gemini/settings.json", "mcpServers", &plain("httpUrl")),
            entries("opencode: opencode.json", "mcp", &opencode),
            entries("Windsurf: ~/.codeium/windsurf/mcp_config.json", "mcpServers", &plain("serverUrl")),
            entries("Zed: settings.json", "context_servers", &plain("url")),
        ]
    }

    fn wants_token(&self) -> bool {
        *self.auth == AuthMode::Token
    }

    /// The application that clients sign in by.
    fn application(&self) -> Option<&str> {
        match self.auth {
            AuthMode::OAuth { applications } => applications.first().map(String::as_str),
            AuthMode::None | AuthMode::Token => None,
        }
    }

    /// An entry with the token, as the client refers to it, or with the application that it signs in by.
    fn entry(&self, mut server: Value, token: &str, sign_in: &Value) -> Value {
        if let Some(fields) = server.as_object_mut() {
            if self.wants_token() {
                fields.insert("headers".to_owned(), json!({"PRIVATE-TOKEN": token}));
            } else if let (Some(_), Value::Object(sign_in)) = (self.application(), sign_in) {
                fields.extend(sign_in.clone());
            }
        }
        server
    }

    fn claude_code(&self) -> String {
        let more = match self.application() {
            _ if self.wants_token() => format!(" --header \"PRIVATE-TOKEN: {TOKEN}\""),
            Some(id) => format!(" --client-id {id} --callback-port 8765"),
            None => String::new(),
        };
        format!("claude mcp add --transport http --scope user gitlab {}{more}", self.endpoint)
    }

    fn vscode(&self, sign_in: &Value) -> ClientEntry {
        let server =
            self.entry(json!({"type": "http", "url": self.endpoint}), "${input:gitlab-token}", sign_in);
        let input = json!({"type": "promptString", "id": "gitlab-token", "description": "GitLab token", "password": true});
        let inputs = self.wants_token().then(|| ("inputs".to_owned(), json!([input])));
        let with_inputs = |mut value: Value| {
            if let Some(fields) = value.as_object_mut() {
                fields.extend(inputs.clone());
            }
            value
        };
        let mut named = json!({"name": "gitlab"});
        if let (Some(named), Value::Object(server)) = (named.as_object_mut(), &server) {
            named.extend(server.clone());
        }
        // <https://code.visualstudio.com/api/extension-guides/ai/mcp>
        let linked = with_inputs(named).to_string();
        ClientEntry {
            name: "VS Code: .vscode/mcp.json",
            link: Some(format!("vscode:mcp/install?{}", utf8_percent_encode(&linked, NON_ALPHANUMERIC))),
            text: format!("{:#}", with_inputs(json!({"servers": {"gitlab": server}}))),
        }
    }
}

/// A client, and what it takes to connect it.
struct ClientEntry {
    /// With the file that the text goes into.
    name: &'static str,
    /// Opens the client with the entry filled in.
    link: Option<String>,
    /// A command, or the content of a file.
    text: String,
}

impl ClientEntry {
    fn render(&self) -> String {
        let link = self
            .link
            .as_ref()
            .map(|link| format!("<p><a href=\"{}\">Add it by one click</a></p>", escape(link)));
        format!("<h2>{}</h2>{}<pre>{}</pre>", self.name, link.unwrap_or_default(), escape(&self.text))
    }
}

/// The link by which Cursor adds a server (<https://docs.cursor.com/en/tools/developers>).
fn cursor_link(server: &Value) -> String {
    let config = STANDARD.encode(server.to_string());
    let config = utf8_percent_encode(&config, NON_ALPHANUMERIC);
    format!("cursor://anysphere.cursor-deeplink/mcp/install?name=gitlab&config={config}")
}

/// A text in HTML.
fn escape(text: &str) -> String {
    let escapes = [('&', "&amp;"), ('<', "&lt;"), ('>', "&gt;"), ('"', "&quot;"), ('\'', "&#39;")];
    // The ampersand comes first: the names of the others have one.
    escapes.into_iter().fold(text.to_owned(), |text, (mark, name)| text.replace(mark, name))
}

#[cfg(test)]
mod tests {
    use percent_encoding::percent_decode_str;

    use super::*;

    fn page(auth: &AuthMode) -> String {
        let instances = vec![
            ServedInstance { url: "https://gitlab.example.com/".to_owned(), is_reachable: Some(false) },
            ServedInstance { url: "https://x/\"><script>".to_owned(), is_reachable: None },
        ];
        ServerPage { endpoint: "https://mcp.example.com/mcp".to_owned(), auth, instances }.render()
    }

    #[test]
    fn the_page_has_the_url_the_instances_and_no_script() {
        let page = page(&AuthMode::Token);
        assert!(page.contains(
            "claude mcp add --transport http --scope user gitlab https://mcp.example.com/mcp --header"
        ));
        assert!(page.contains("https://gitlab.example.com/</code> does not answer"));
        assert!(!page.contains("<script"), "{page}");
        for outside in ["src=", "href=\"http", "url(", "@import"] {
            assert!(!page.contains(outside), "{outside}");
        }
    }

    #[test]
    fn a_token_is_asked_for_only_where_each_request_brings_one() {
        let oauth = AuthMode::OAuth { applications: Vec::new() };
        for auth in [&AuthMode::None, &oauth] {
            assert!(!page(auth).contains(TOKEN) && !page(auth).contains("bearer_token"), "{auth:?}");
        }
        assert!(page(&AuthMode::Token).contains("bearer_token_env_var"));
    }

    #[test]
    fn a_client_that_signs_in_is_told_the_application() {
        let page = page(&AuthMode::OAuth { applications: vec!["9c0ffee".to_owned()] });
        assert!(page.contains("--client-id 9c0ffee --callback-port 8765"));
        assert!(page.contains("&quot;clientId&quot;: &quot;9c0ffee&quot;"));
        assert!(page.contains("&quot;CLIENT_ID&quot;: &quot;9c0ffee&quot;"));
    }

    /// The links hold what the files do, and a token neither: VS Code asks for it, Cursor takes it from the environment.
    #[test]
    fn a_link_adds_the_entry_that_the_page_shows() {
        let endpoint = "https://mcp.example.com/mcp".to_owned();
        let page = ServerPage { endpoint, auth: &AuthMode::Token, instances: Vec::new() };
        let clients = page.clients();
        let link = |name: &str| {
            let client = clients.iter().find(|client| client.name.starts_with(name)).unwrap();
            client.link.clone().unwrap()
        };
        let vscode = link("VS Code");
        let query = vscode.strip_prefix("vscode:mcp/install?").unwrap();
        let entry: Value = serde_json::from_str(&percent_decode_str(query).decode_utf8().unwrap()).unwrap();
        assert_eq!(entry["url"], "https://mcp.example.com/mcp");
        assert_eq!(entry["headers"]["PRIVATE-TOKEN"], "${input:gitlab-token}");
        assert_eq!(entry["inputs"][0]["id"], "gitlab-token");
        let cursor = link("Cursor");
        let config = cursor.split_once("config=").unwrap().1;
        let config = STANDARD.decode(percent_decode_str(config).decode_utf8().unwrap().as_bytes()).unwrap();
        let entry: Value = serde_json::from_slice(&config).unwrap();
        assert_eq!(entry["headers"]["PRIVATE-TOKEN"], "${env:GITLAB_TOKEN}");
    }
}
