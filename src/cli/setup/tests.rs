//! Insertions into configurations of every shape, and the folders of each system.

use std::ffi::OsString;
use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::edit::{apply, cut};
use super::launch::launch_command;
use super::{Machine, McpClient, System, jsonc, toml_table};

fn inserted(text: &str) -> String {
    let insertions = jsonc::insert(text, "servers", "new", &json!({"command": "x"})).unwrap();
    let (changed, pieces) = apply(text, &insertions);
    assert_eq!(cut(&changed, &pieces).unwrap(), text);
    assert_eq!(jsonc::members(&changed, "servers").unwrap()["new"], json!({"command": "x"}), "{changed}");
    changed
}

#[test]
fn members_are_added_in_the_style_of_the_file() {
    for (text, expected) in [
        ("", "{\n  \"servers\": {\n    \"new\": {\n      \"command\": \"x\"\n    }\n  }\n}\n"),
        ("{}", "{\n  \"servers\": {\n    \"new\": {\n      \"command\": \"x\"\n    }\n  }\n}"),
        ("{\"servers\": {\"a\": 1}}", "{\"servers\": {\"a\": 1, \"new\": {\"command\":\"x\"}}}"),
        ("{\"servers\": {\"a\": 1,}}", "{\"servers\": {\"a\": 1, \"new\": {\"command\":\"x\"},}}"),
        (
            "{\n\t\"servers\": {\n\t\t\"a\": 1\n\t}\n}",
            "{\n\t\"servers\": {\n\t\t\"a\": 1,\n\t\t\"new\": {\n\t\t\t\"command\": \"x\"\n\t\t}\n\t}\n}",
        ),
        (
            "{\n  \"servers\": {\n    \"a\": 1 // one\n    // end\n  }\n}",
            "{\n  \"servers\": {\n    \"a\": 1, // one\n    \"new\": {\n      \"command\": \"x\"\n    }\n    // end\n  }\n}",
        ),
        (
            "{\n  \"servers\": {\n    \"a\": 1, /* one */\n  }\n}",
            "{\n  \"servers\": {\n    \"a\": 1, /* one */\n    \"new\": {\n      \"command\": \"x\"\n    },\n  }\n}",
        ),
        (
            "{\n  \"servers\": {\n    // none yet\n  }\n}",
            "{\n  \"servers\": {\n    // none yet\n    \"new\": {\n      \"command\": \"x\"\n    }\n  }\n}",
        ),
    ] {
        assert_eq!(inserted(text), expected, "{text}");
    }
}

#[test]
fn a_byte_order_mark_and_line_ends_stay() {
    let changed = inserted("\u{feff}{\r\n  \"servers\": {\r\n    \"ä\": 1\r\n  }\r\n}\r\n");
    assert!(changed.starts_with("\u{feff}{"));
    assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count(), "{changed:?}");
}

#[test]
fn a_removed_member_takes_its_comma_along() {
    for (text, expected) in [
        ("{\"servers\": {\"new\": 1}}", "{\"servers\": {}}"),
        ("{\"servers\": {\"a\": 1, \"new\": 1}}", "{\"servers\": {\"a\": 1}}"),
        ("{\"servers\": {\"new\": 1, \"a\": 1}}", "{\"servers\": { \"a\": 1}}"),
        ("{\"servers\": {\"a\": 1 /* , */, \"new\": 1}}", "{\"servers\": {\"a\": 1 /* , */}}"),
        ("{\n\"servers\": {\n\"a\": 1,\n\"new\": 1,\n}}", "{\n\"servers\": {\n\"a\": 1,\n}}"),
        ("{\n\"servers\": {\n\"new\": 1,\n\"a\": 1\n}}", "{\n\"servers\": {\n\"a\": 1\n}}"),
        ("{\"other\": 1}", "{\"other\": 1}"),
    ] {
        let pieces = jsonc::member_pieces(text, "servers", "new").unwrap();
        assert_eq!(cut(text, &pieces).unwrap(), expected, "{text}");
    }
}

/// White space and comments, also with what looks like JSON inside.
fn trivia() -> impl Strategy<Value = String> {
    let part =
        prop_oneof!["[ \t]{0,2}", Just("\n".to_owned()), "/\\*[a-z,{}\" ]{0,4}\\*/", "//[a-z,{}\" ]{0,4}\n"];
    prop::collection::vec(part, 0..3).prop_map(|parts| parts.concat())
}

proptest! {
    /// With anything between the members: the added content can be read, the old one stays, and the way back is exact.
    #[test]
    fn insertion_is_exact_for_any_trivia(
        spaces in prop::collection::vec(trivia(), 9),
        members in 0..3_usize,
        has_trailing_comma: bool,
        has_container: bool,
    ) {
        let space = |at: usize| spaces[at].as_str();
        let mut inside = String::from(space(0));
        for member in 0..members {
            let is_last = member + 1 == members;
            let comma = if !is_last || has_trailing_comma { "," } else { "" };
            inside += &format!("\"m{member}\"{}:{}{member}{}{comma}{}", space(1), space(2), space(3), space(4));
        }
        let text = match has_container {
            true => format!("{}{{{}\"servers\"{}:{{{inside}}}{}}}{}", space(5), space(6), space(2), space(7), space(8)),
            false => format!("{}{{{inside}}}{}", space(5), space(8)),
        };
        let before = jsonc::members(&text, "servers").unwrap();
        let insertions = jsonc::insert(&text, "servers", "new", &json!({"command": "x"})).unwrap();
        let (changed, pieces) = apply(&text, &insertions);
        prop_assert_eq!(cut(&changed, &pieces).unwrap(), text.as_str());
        let mut after = jsonc::members(&changed, "servers").unwrap();
        prop_assert_eq!(after.remove("new"), Some(json!({"command": "x"})), "{}", changed);
        prop_assert_eq!(&after, &before);
        // Cut out by its own text, as after an edit, the others stay too.
        let cut_out = cut(&changed, &jsonc::member_pieces(&changed, "servers", "new").unwrap()).unwrap();
        prop_assert_eq!(jsonc::members(&cut_out, "servers").unwrap(), before, "{}", cut_out);
    }
}

#[test]
fn a_table_is_cut_out_with_the_tables_below_it() {
    let text = "[a]\nx = 1\n\n[mcp_servers.new]\ncommand = \"x\"\n\n[mcp_servers.new.env]\nA = \"1\"\n\n# Next.\n[mcp_servers.newer]\ncommand = \"y\"\n";
    let pieces = toml_table::member_pieces(text, "mcp_servers", "new").unwrap();
    let left = cut(text, &pieces).unwrap();
    assert_eq!(left, "[a]\nx = 1\n\n\n# Next.\n[mcp_servers.newer]\ncommand = \"y\"\n");
    assert!(toml_table::member_pieces(text, "mcp_servers", "none").unwrap().is_empty());
}

fn machine(system: System, variables: &[(&str, &str)]) -> Machine {
    let lookup = |name: &str| {
        variables.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value))
    };
    Machine::new(system, lookup, Vec::new()).unwrap()
}

#[test]
fn each_system_has_its_folders() {
    let file = |machine: &Machine, client| machine.place(client).file.display().to_string();
    let mac = machine(System::Mac, &[("HOME", "/Users/a")]);
    assert_eq!(file(&mac, McpClient::Vscode), "/Users/a/Library/Application Support/Code/User/mcp.json");
    assert_eq!(
        file(&mac, McpClient::ClaudeDesktop),
        "/Users/a/Library/Application Support/Claude/claude_desktop_config.json"
    );
    assert_eq!(file(&mac, McpClient::Zed), "/Users/a/.config/zed/settings.json");
    let moved =
        [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("CODEX_HOME", "/x"), ("CLAUDE_CONFIG_DIR", "/d")];
    let linux = machine(System::Linux, &moved);
    assert_eq!(file(&linux, McpClient::Vscode), "/c/Code/User/mcp.json");
    assert_eq!(file(&linux, McpClient::Codex), "/x/config.toml");
    assert_eq!(file(&linux, McpClient::ClaudeCode), "/d/.claude.json");
    assert_eq!(file(&linux, McpClient::Cursor), "/h/.cursor/mcp.json");
    // A folder that is not absolute would depend on where the program is started.
    assert!(Machine::new(System::Linux, |_| Some("relative".into()), Vec::new()).is_none());
}

#[test]
fn servers_of_other_publishers_are_not_this_one() {
    for (command, is_own) in [
        ("/usr/bin/gitlab-mcp", true),
        (r"C:\Tools\gitlab-mcp.exe", true),
        ("npx -y gitlab-mcp@0.1.0", true),
        ("npx.cmd -y gitlab-mcp", true),
        ("uvx --from gitlab-mcp-server==0.1.0 gitlab-mcp", true),
        ("npx -y @someone/gitlab-mcp", false),
        ("uvx gitlab-mcp", false),
        ("docker run -i --rm registry.example.com/someone/gitlab-mcp-server", false),
        ("node /opt/gitlab-mcp/index.js", false),
    ] {
        let mut words = command.split(' ');
        let entry = json!({"servers": {"a": {"command": words.next(), "args": words.collect::<Vec<_>>()}}});
        let known = McpClient::Vscode.servers(&entry.to_string()).unwrap();
        assert_eq!(known[0].is_gitlab_mcp(), is_own, "{command}");
    }
}

#[test]
fn a_package_runner_is_named_instead_of_its_cache() {
    let machine = machine(System::Linux, &[("HOME", "/h")]);
    let command = |path: &str| {
        let (program, arguments) = launch_command(&machine, Path::new(path));
        [&[program][..], &arguments].concat().join(" ")
    };
    assert_eq!(
        command("/h/.npm/_npx/12ab/node_modules/gitlab-mcp-linux-x64/bin/gitlab-mcp"),
        "npx -y gitlab-mcp"
    );
    assert_eq!(
        command("/h/.cache/uv/archive-v0/Ab1/bin/gitlab-mcp"),
        "uvx --from gitlab-mcp-server gitlab-mcp"
    );
    assert_eq!(command("/usr/local/bin/gitlab-mcp"), "/usr/local/bin/gitlab-mcp");
}
