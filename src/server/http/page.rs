//! The page that a person sees at the server's address: what this is, which GitLabs it serves, how to connect a client.
//! Neither scripts nor resources of other hosts are in it.

use axum::http::HeaderValue;
use axum::http::header::{
    CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, REFERRER_POLICY, X_FRAME_OPTIONS,
};
use axum::response::{IntoResponse, Response};
use serde_json::json;

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
    color:#222;background:#fff}pre{background:#f4f4f4;padding:.7rem;overflow-x:auto;border-radius:4px}\
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
        let clients: String = self
            .clients()
            .iter()
            .map(|(client, text)| format!("<h2>{client}</h2><pre>{}</pre>", escape(text)))
            .collect();
        format!(
            "<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>gitlab-mcp</title>\
             <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>{STYLE}</style></head><body>\
             <h1>gitlab-mcp {}</h1><p>An MCP server: it gives an AI client all of GitLab through two tools. \
             This page is for people; the client takes this URL:</p><pre>{endpoint}</pre><p>{auth}</p>\
             {instances}{clients}</body></html>\n",
            env!("CARGO_PKG_VERSION"),
        )
    }

    /// The command or configuration of each client for this URL.
    fn clients(&self) -> Vec<(&'static str, String)> {
        let url = &self.endpoint;
        let has_token = *self.auth == AuthMode::Token;
        let headers = || json!({"PRIVATE-TOKEN": TOKEN});
        let entry = |mut entry: serde_json::Value| {
            if has_token && let Some(entry) = entry.as_object_mut() {
                entry.insert("headers".to_owned(), headers());
            }
            entry
        };
        let servers =
            |key: &str, server: serde_json::Value| format!("{:#}", json!({key: {"gitlab": entry(server)}}));
        let header = if has_token { format!(" --header \"PRIVATE-TOKEN: {TOKEN}\"") } else { String::new() };
        let bearer = if has_token { "\nbearer_token_env_var = \"GITLAB_TOKEN\"" } else { "" };
        vec![
            ("Claude Code", format!("claude mcp add --transport http --scope user gitlab {url}{header}")),
            ("VS Code: .vscode/mcp.json", servers("servers", json!({"type": "http", "url": url}))),
            ("Cursor: ~/.cursor/mcp.json", servers("mcpServers", json!({"url": url}))),
            ("Codex: ~/.codex/config.toml", format!("[mcp_servers.gitlab]\nurl = \"{url}\"{bearer}")),
            ("Gemini CLI: ~/.gemini/settings.json", servers("mcpServers", json!({"httpUrl": url}))),
        ]
    }
}

/// A text in HTML.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
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
        for outside in ["src=", "href=", "url(", "@import"] {
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
}
