//! `gitlab-mcp setup` on configuration files of each client: what it adds, what it keeps, and the way back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::client::program;

const TOKEN: &str = "glpat-abcdefghij0123456789";

/// Each client with its configuration file below the home folder, a configuration of a user, and the key of the servers.
const CLIENTS: [(&str, &str, &str, &str); 11] = [
    ("vscode", ".config/Code/User/mcp.json", include_str!("configurations/vscode.json"), "servers"),
    (
        "vscode-insiders",
        ".config/Code - Insiders/User/mcp.json",
        include_str!("configurations/vscode.json"),
        "servers",
    ),
    (
        "claude-desktop",
        ".config/Claude/claude_desktop_config.json",
        include_str!("configurations/claude-desktop.json"),
        "mcpServers",
    ),
    ("claude-code", ".claude.json", include_str!("configurations/claude-code.json"), "mcpServers"),
    ("cursor", ".cursor/mcp.json", include_str!("configurations/cursor.json"), "mcpServers"),
    ("jetbrains", ".junie/mcp/mcp.json", include_str!("configurations/jetbrains.json"), "mcpServers"),
    ("zed", ".config/zed/settings.json", include_str!("configurations/zed.json"), "context_servers"),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        include_str!("configurations/windsurf.json"),
        "mcpServers",
    ),
    ("gemini-cli", ".gemini/settings.json", include_str!("configurations/gemini-cli.json"), "mcpServers"),
    ("codex", ".codex/config.toml", include_str!("configurations/codex.toml"), "mcp_servers"),
    ("opencode", ".config/opencode/opencode.json", include_str!("configurations/opencode.json"), "mcp"),
];

/// A home folder.
struct Home(TempDir);

impl Home {
    fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    /// A home folder with a configuration.
    fn with(path: &str, text: &str) -> Home {
        let home = Home::new();
        fs::create_dir_all(home.path(path).parent().unwrap()).unwrap();
        fs::write(home.path(path), text).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn load(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
        let home = self.0.path().to_str().unwrap();
        let mut variables = variables.to_vec();
        variables.push(("HOME", home));
        program(arguments, &variables).stdin(Stdio::null()).output().unwrap()
    }

    /// Standard output of a `setup` that must succeed.
    fn setup(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["setup"], arguments].concat(), &[]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    /// Standard output of a `setup` that must fail as a whole with 1.
    fn refused(&self, arguments: &[&str]) -> String {
        let output = self.run(&[&["setup"], arguments].concat(), &[]);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Every file below the home folder.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(self.0.path(), self.0.path(), &mut files);
        files.sort();
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => collect(root, &path, files),
            false => files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()),
        }
    }
}

/// The servers of a configuration, parsed by another parser than the program's: without its comments and commas.
fn servers(text: &str, key: &str) -> Value {
    if key == "mcp_servers" {
        let table: toml::Table = text.parse().unwrap();
        return serde_json::to_value(&table[key]).unwrap();
    }
    let mut plain = String::new();
    let mut characters = text.trim_start_matches('\u{feff}').chars().peekable();
    let mut is_quoted = false;
    while let Some(c) = characters.next() {
        match (is_quoted, c, characters.peek()) {
            (true, '\\', _) => {
                plain.push(c);
                plain.extend(characters.next());
                continue;
            }
            (_, '"', _) => is_quoted = !is_quoted,
            (false, '/', Some('/')) => {
                while characters.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            (false, '/', Some('*')) => {
                let mut last = ' ';
                for c in characters.by_ref().skip(1) {
                    if last == '*' && c == '/' {
                        break;
                    }
                    last = c;
                }
                continue;
            }
            _ => {}
        }
        plain.push(c);
    }
    let commas = regex_lite::Regex::new(r",(\s*[}\]])").unwrap();
    let plain = commas.replace_all(&plain, "$1");
    let whole: Value = serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}\n{text}"));
    whole[key].clone()
}

/// True if one text becomes the other by inserting only.
fn is_kept(old: &str, new: &str) -> bool {
    let mut left = new.chars();
    old.chars().all(|c| left.any(|other| other == c))
}

#[test]
fn each_client_gets_the_server_and_keeps_everything_else() {
    for (client, path, text, key) in CLIENTS {
        let home = Home::with(path, text);
        let shown = home.setup(&["--client", client, "--write"]);
        let written = home.load(path);
        let now = servers(&written, key);
        let command = &now["gitlab"]["command"];
        let command =
            command.as_str().or(command[0].as_str()).unwrap_or_else(|| panic!("{client}: {written}"));
        assert!(command.ends_with("/gitlab-mcp"), "{client}: {command}");
        for (name, server) in servers(text, key).as_object().into_iter().flatten() {
            assert_eq!(&now[name], server, "{client}");
        }
        assert!(is_kept(text, &written), "{client}:\n{written}");
        assert!(shown.contains("Written."), "{client}: {shown}");
        assert_eq!(written.contains('\r'), text.contains('\r'), "{client}");
        // The way back, to the byte, and nothing is left behind.
        home.setup(&["--client", client, "--undo", "--write"]);
        assert_eq!(home.load(path), text, "{client}");
        assert_eq!(home.files(), [path], "{client}");
    }
}

#[test]
fn a_second_run_changes_nothing() {
    for (client, path, text, _) in CLIENTS {
        let home = Home::with(path, text);
        home.setup(&["--client", client, "--write"]);
        let written = home.load(path);
        let shown = home.setup(&["--client", client, "--write", "--name", "other"]);
        assert!(shown.contains("already") && !shown.contains("Written."), "{client}: {shown}");
        assert_eq!(home.load(path), written, "{client}");
        home.setup(&["--undo", "--write"]);
        let shown = home.setup(&["--client", client, "--undo", "--write"]);
        assert!(shown.contains("It does not have this server."), "{client}: {shown}");
        assert_eq!(home.load(path), text, "{client}");
    }
}

#[test]
fn a_missing_file_is_created_for_its_owner_alone_and_removed_again() {
    for (client, path, _, key) in CLIENTS {
        let home = Home::new();
        home.setup(&["--client", client, "--write"]);
        let written = home.load(path);
        assert!(servers(&written, key)["gitlab"].is_object(), "{client}: {written}");
        assert!(written.ends_with("}\n") || key == "mcp_servers", "{client}: {written:?}");
        let mode = fs::metadata(home.path(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{client}");
        let record = home.path(".local/state/gitlab-mcp/setup.json");
        assert_eq!(fs::metadata(record).unwrap().permissions().mode() & 0o777, 0o600);
        home.setup(&["--undo", "--write"]);
        assert_eq!(home.files(), Vec::<String>::new(), "{client}");
        let left: Vec<_> =
            fs::read_dir(home.0.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(
            left,
            [".local"],
            "{client}: folders that setup made are gone, but those of every program"
        );
    }
}

#[test]
fn only_clients_of_this_machine_are_changed() {
    let home = Home::new();
    assert!(home.setup(&["--write"]).starts_with("No client is on this machine."));
    for folder in [".cursor", ".config/zed"] {
        fs::create_dir_all(home.path(folder)).unwrap();
    }
    let shown = home.setup(&["--write"]);
    let expected = [".config/zed/settings.json", ".cursor/mcp.json", ".local/state/gitlab-mcp/setup.json"];
    assert_eq!(home.files(), expected, "{shown}");
}

#[test]
fn nothing_is_written_without_consent() {
    for arguments in [&["--dry-run"][..], &[]] {
        let text = "{\n  \"mcpServers\": {}\n}\n";
        let home = Home::with(".cursor/mcp.json", text);
        let shown = home.setup(arguments);
        assert!(shown.contains("+    \"gitlab\": {"), "{shown}");
        let instead = if arguments.is_empty() { "." } else { " instead of --dry-run." };
        let advice =
            format!("Nothing was written there. To write, repeat this command with --write{instead}\n");
        assert!(shown.contains(&advice), "{shown}");
        assert_eq!(home.files(), [".cursor/mcp.json"]);
        assert_eq!(home.load(".cursor/mcp.json"), text);
    }
    // To undo needs consent as well.
    let home = Home::with(".cursor/mcp.json", "{}");
    home.setup(&["--write"]);
    let written = home.load(".cursor/mcp.json");
    let shown = home.setup(&["--undo"]);
    assert!(shown.contains("To write, repeat this command with --write."), "{shown}");
    assert_eq!(home.load(".cursor/mcp.json"), written);
}

#[test]
fn a_malformed_file_is_refused_and_others_are_changed() {
    for (client, path, text, line) in [
        ("cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\" 5\n  }\n}\n", "line 3"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}", "line 1"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": []}", "\"mcpServers\" is not an object"),
        ("cursor", ".cursor/mcp.json", "[]", "the file is not an object"),
        ("cursor", ".cursor/mcp.json", "{\"mcpServers\": {}} {}", "line 1"),
        ("codex", ".codex/config.toml", "model = \"a\"\nbroken = = 1\n", "line 2"),
        ("codex", ".codex/config.toml", "mcp_servers = { a = { command = \"b\" } }\n", "on one line"),
    ] {
        let home = Home::with(path, text);
        fs::create_dir_all(home.path(".config/zed")).unwrap();
        let shown = home.refused(&["--client", client, "--client", "zed", "--write"]);
        assert!(shown.contains("Not changed: ") && shown.contains(line), "{text}: {shown}");
        assert_eq!(home.load(path), text);
        assert!(home.load(".config/zed/settings.json").contains("gitlab-mcp"));
    }
}

#[test]
fn text_that_is_not_utf_8_is_refused() {
    let home = Home::with(".cursor/mcp.json", "");
    let bytes = b"{\"name\": \"\xff\"}";
    fs::write(home.path(".cursor/mcp.json"), bytes).unwrap();
    assert!(home.refused(&["--write"]).contains("Not changed: "));
    assert_eq!(fs::read(home.path(".cursor/mcp.json")).unwrap(), bytes);
}

#[test]
fn another_server_of_the_same_name_is_kept() {
    let text =
        "{\"mcpServers\": {\"gitlab\": {\"command\": \"npx\", \"args\": [\"-y\", \"someone-elses\"]}}}";
    let home = Home::with(".cursor/mcp.json", text);
    let shown = home.refused(&["--write"]);
    assert!(shown.contains("another server is named \"gitlab\"; choose another name with --name"), "{shown}");
    assert_eq!(home.load(".cursor/mcp.json"), text);
    assert!(home.setup(&["--undo", "--write"]).contains("does not have this server"));
    assert_eq!(home.load(".cursor/mcp.json"), text);
    home.setup(&["--write", "--name", "our-gitlab"]);
    let now = servers(&home.load(".cursor/mcp.json"), "mcpServers");
    assert_eq!(now["gitlab"]["args"], json!(["-y", "someone-elses"]));
    assert!(now["our-gitlab"].is_object());
    home.setup(&["--undo", "--write"]);
    assert_eq!(home.load(".cursor/mcp.json"), text);
}

#[test]
fn an_entry_that_is_no_object_keeps_its_name() {
    for (path, text) in [
        (".cursor/mcp.json", "{\"mcpServers\": {\"gitlab\": null}}"),
        (".codex/config.toml", "[mcp_servers]\ngitlab = false\n"),
    ] {
        let home = Home::with(path, text);
        let shown = home.refused(&["--write"]);
        assert!(shown.contains("another server is named \"gitlab\""), "{shown}");
        assert_eq!(home.load(path), text);
    }
}

#[test]
fn variables_and_headers_of_other_servers_are_not_shown() {
    const SECRET: &str = "BSA-of-the-neighbor";
    let json = json!({"mcpServers": {
        "web": {"url": "https://mcp.example.com", "headers": {"Authorization": ["Bearer", SECRET]}},
        "brave": {"command": "npx", "env": {"BRAVE_API_KEY": SECRET, "BRAVE_PORT": 7117}},
    }});
    let toml = format!(
        "[mcp_servers.web]\nhttp_headers = {{ Authorization = \"{SECRET}\" }}\n\n[mcp_servers.brave]\n\
         command = \"npx\"\n[mcp_servers.brave.env]\nBRAVE_PORT = 7117\nBRAVE_API_KEY = \"\"\"\n{SECRET}\"\"\"\n"
    );
    let zed = format!(
        "{{\"context_servers\": {{\n\"b\": {{\"command\": {{\"path\": \"npx\", \"env\": {{\"BRAVE_API_KEY\": \
         \"{SECRET}\", \"BRAVE_PORT\": 7117}}}}}}}}}}"
    );
    for (path, text) in [
        (".cursor/mcp.json", format!("{json:#}")),
        (".cursor/mcp.json", format!("\u{feff}{json}")),
        (".codex/config.toml", toml),
        (".config/zed/settings.json", zed),
    ] {
        let home = Home::with(path, &text);
        let output = home.run(&["--read-only", "setup", "--write"], &[]);
        assert_eq!(output.status.code(), Some(0));
        let added = String::from_utf8(output.stdout).unwrap();
        for shown in [added, home.setup(&["--undo"])] {
            assert!(!shown.contains(SECRET) && !shown.contains("7117"), "{path}: {shown}");
            assert!(shown.contains("BRAVE_API_KEY") && shown.contains("(masked)"), "{path}: {shown}");
            assert!(shown.contains("GITLAB_READ_ONLY"), "{path}: {shown}");
            assert!(shown.contains("\"true\""), "the entry itself is shown: {shown}");
        }
        home.setup(&["--undo", "--write"]);
        assert_eq!(home.load(path), text, "masks are not written");
    }
}

#[test]
fn without_a_record_nothing_is_added() {
    let home = Home::with(".cursor/mcp.json", "{}\n");
    fs::create_dir(home.path(".local")).unwrap();
    // A link to nowhere: no folder can be created in its place, not even by root.
    symlink("/nowhere/state", home.path(".local/state")).unwrap();
    let shown = home.refused(&["--write"]);
    assert!(
        shown.contains("Not changed: ") && shown.contains("record of setup cannot be written"),
        "{shown}"
    );
    assert_eq!(home.load(".cursor/mcp.json"), "{}\n");
}

#[test]
fn a_file_that_changed_is_reported_as_written_without_a_record() {
    let home = Home::with(".cursor/mcp.json", "{}\n");
    home.setup(&["--client", "cursor", "--client", "zed", "--write"]);
    // The name is too long for a draft next to the file, even for root's.
    let record = home.path(".local/state/gitlab-mcp/setup.json");
    let long = "r".repeat(250);
    fs::rename(&record, record.with_file_name(&long)).unwrap();
    symlink(&long, &record).unwrap();
    let shown = home.setup(&["--client", "cursor", "--undo", "--write"]);
    assert!(shown.contains("  Written.\n  note: ") && !shown.contains("Not changed"), "{shown}");
    assert!(shown.contains("record of setup cannot be written"), "{shown}");
    assert_eq!(home.load(".cursor/mcp.json"), "{}\n");
}

#[test]
fn undo_after_an_edit_keeps_the_edit() {
    for (client, path, text, key) in CLIENTS {
        let home = Home::with(path, text);
        home.setup(&["--client", client, "--write"]);
        // A user's line before everything that setup wrote, so that no place in the record is right.
        let (old, new) = match key {
            "mcp_servers" => ("# Codex\n", "# Codex\n# Mine.\n"),
            _ => ("{", "{\"mine\": [1, 2],"),
        };
        let edited = home.load(path).replacen(old, new, 1);
        fs::write(home.path(path), &edited).unwrap();
        home.setup(&["--client", client, "--undo", "--write"]);
        let left = home.load(path);
        assert!(!left.contains("gitlab-mcp"), "{client}: {left}");
        assert!(left.contains(new.trim_end()), "{client}: {left}");
        let (kept, expected) = (servers(&left, key), servers(text, key));
        let is_empty = kept.as_object().is_some_and(serde_json::Map::is_empty);
        assert!(kept == expected || (is_empty && expected.is_null()), "{client}: {left}");
    }
}

/// Edits next to what setup wrote, which leave its own text as it was.
#[test]
fn undo_after_an_edit_directly_after_the_entry_leaves_a_valid_file() {
    let home = Home::with(".cursor/mcp.json", "{\"mcpServers\": {\n}}");
    home.setup(&["--write"]);
    let written = home.load(".cursor/mcp.json");
    let edited =
        written.strip_suffix("\n}}").unwrap().to_owned() + ",\n    \"mine\": {\"command\": \"m\"}\n}}";
    fs::write(home.path(".cursor/mcp.json"), &edited).unwrap();
    assert_eq!(servers(&edited, "mcpServers").as_object().unwrap().len(), 2, "{edited}");
    home.setup(&["--undo", "--write"]);
    let left: Value = serde_json::from_str(&home.load(".cursor/mcp.json")).unwrap();
    assert_eq!(left, json!({"mcpServers": {"mine": {"command": "m"}}}));

    let text = "[mcp_servers.notes]\ncommand = \"notes-mcp\"\n";
    let home = Home::with(".codex/config.toml", text);
    home.setup(&["--write"]);
    let edited = home.load(".codex/config.toml") + "startup_timeout_sec = 20\n\n[mine]\na = 1\n";
    fs::write(home.path(".codex/config.toml"), &edited).unwrap();
    home.setup(&["--undo", "--write"]);
    let left: toml::Table = home.load(".codex/config.toml").parse().unwrap();
    let expected: toml::Table = format!("{text}\n[mine]\na = 1\n").parse().unwrap();
    assert_eq!(left, expected);
}

#[test]
fn a_server_that_a_person_added_is_removed_too() {
    let text = "{\"mcpServers\": {\"a\": {}, \"gl\": {\"command\": \"/opt/gitlab-mcp\"}}}";
    let home = Home::with(".cursor/mcp.json", text);
    assert!(home.setup(&["--write"]).contains("already, as \"gl\""));
    home.setup(&["--undo", "--write"]);
    assert_eq!(home.load(".cursor/mcp.json"), "{\"mcpServers\": {\"a\": {}}}");
}

#[test]
fn permissions_and_symbolic_links_are_kept() {
    let home = Home::with("dotfiles/mcp.json", "{}\n");
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink("../dotfiles/mcp.json", home.path(".cursor/mcp.json")).unwrap();
    fs::set_permissions(home.path("dotfiles/mcp.json"), fs::Permissions::from_mode(0o640)).unwrap();
    for arguments in [&["--write"][..], &["--undo", "--write"]] {
        home.setup(arguments);
        assert!(fs::symlink_metadata(home.path(".cursor/mcp.json")).unwrap().is_symlink());
        let mode = fs::metadata(home.path("dotfiles/mcp.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
    assert_eq!(home.load("dotfiles/mcp.json"), "{}\n");
    // A link to nowhere is no missing file.
    fs::remove_file(home.path("dotfiles/mcp.json")).unwrap();
    assert!(home.refused(&["--write"]).contains("Not changed: "));
    assert!(fs::symlink_metadata(home.path(".cursor/mcp.json")).unwrap().is_symlink());
}

#[test]
fn a_token_makes_the_file_its_owners_alone() {
    let home = Home::with(".cursor/mcp.json", "{}");
    let mode = || fs::metadata(home.path(".cursor/mcp.json")).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(home.path(".cursor/mcp.json"), fs::Permissions::from_mode(0o644)).unwrap();
    let variables = [("GITLAB_TOKEN", TOKEN)];
    let arguments = ["setup", "--client", "cursor", "--write", "--token", "file"];
    let said = String::from_utf8(home.run(&arguments, &variables).stdout).unwrap();
    assert!(home.load(".cursor/mcp.json").contains(TOKEN));
    assert!(said.contains("only its owner can read it") && !said.contains(TOKEN), "{said}");
    assert_eq!(mode(), 0o600);
}

#[test]
fn a_pipe_in_place_of_a_configuration_is_refused_at_once() {
    let home = Home::with(".cursor/other", "");
    let made = std::process::Command::new("mkfifo").arg(home.path(".cursor/mcp.json")).status();
    assert!(made.unwrap().success());
    let said = home.refused(&["--client", "cursor", "--write"]);
    assert!(said.contains("it is a pipe or a device, not a file"), "{said}");
}

#[test]
fn a_diff_shows_no_terminal_codes_and_no_line_of_its_own() {
    let text = "{\n  // \u{1b}]0;title\u{7}\u{1b}[31mred\u{202e}\u{2028}  Written.\n}\n";
    let home = Home::with(".cursor/mcp.json", text);
    let said = home.setup(&["--client", "cursor", "--dry-run"]);
    assert!(said.contains("// red"), "{said}");
    assert!(!said.chars().any(|c| c == '\u{1b}' || c == '\u{7}' || c == '\u{202e}'), "{said:?}");
    assert!(!said.lines().any(|line| line.trim() == "Written."), "{said}");
}

#[test]
fn a_file_that_cannot_be_written_stays_whole() {
    let home = Home::with(".cursor/mcp.json", "{}\n");
    // A folder where the draft would be.
    fs::remove_file(home.path(".cursor/mcp.json")).unwrap();
    fs::create_dir(home.path(".cursor/mcp.json")).unwrap();
    assert!(home.refused(&["--write"]).contains("Not changed: "));
    assert!(home.path(".cursor/mcp.json").is_dir());
    assert_eq!(home.files(), Vec::<String>::new(), "no draft is left");
}

#[test]
fn the_token_is_in_no_file_unless_told() {
    for (client, path, text, key) in CLIENTS {
        let home = Home::with(path, text);
        let variables = [("GITLAB_TOKEN", TOKEN)];
        let output = home.run(&["setup", "--client", client, "--write"], &variables);
        let shown = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(0), "{shown}");
        for file in home.files() {
            assert!(!home.load(&file).contains(TOKEN), "{client}: {file}");
        }
        // By reference, in the client's own words, where it has any.
        let entry = servers(&home.load(path), key)["gitlab"].to_string();
        let reference = match client {
            "vscode" | "vscode-insiders" | "cursor" | "windsurf" => Some("\"${env:GITLAB_TOKEN}\""),
            "claude-code" => Some("\"${GITLAB_TOKEN:-}\""),
            "gemini-cli" => Some("\"$GITLAB_TOKEN\""),
            "opencode" => Some("\"{env:GITLAB_TOKEN}\""),
            "codex" => Some("\"env_vars\":[\"GITLAB_TOKEN\"]"),
            _ => None,
        };
        match reference {
            Some(reference) => assert!(entry.contains(reference), "{client}: {entry}"),
            None => assert!(!entry.contains("TOKEN"), "{client}: {entry}"),
        }
        home.setup(&["--client", client, "--undo", "--write"]);
        // Told, the token is in the configuration, and in nothing else.
        let output = home.run(&["setup", "--client", client, "--write", "--token", "file"], &variables);
        let shown = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(!shown.contains(TOKEN) && shown.contains("masked"), "{client}: {shown}");
        let holders: Vec<String> =
            home.files().into_iter().filter(|file| home.load(file).contains(TOKEN)).collect();
        assert_eq!(holders, [path], "{client}");
        // The token of a configuration is not shown by the way back either.
        let shown = home.setup(&["--client", client, "--undo", "--write"]);
        assert!(!shown.contains(TOKEN), "{client}: {shown}");
        assert_eq!(home.load(path), text, "{client}");
    }
    let home = Home::new();
    let output = home.run(&["setup", "--client", "zed", "--token", "file"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("GITLAB_TOKEN is not set"));
}

#[test]
fn settings_go_with_the_server() {
    let home = Home::with(".codex/config.toml", "");
    let arguments =
        ["--read-only", "--max-bytes", "20000", "setup", "--client", "codex", "--client", "opencode"];
    let variables = [("GITLAB_URL", "https://gitlab.example.com")];
    let output = home.run(&[&arguments[..], &["--write"]].concat(), &variables);
    assert_eq!(output.status.code(), Some(0));
    let expected = json!({
        "GITLAB_URL": "https://gitlab.example.com",
        "GITLAB_READ_ONLY": "true",
        "GITLAB_MAX_BYTES": "20000",
    });
    let codex = servers(&home.load(".codex/config.toml"), "mcp_servers");
    assert_eq!(codex["gitlab"]["env"], expected);
    let opencode = servers(&home.load(".config/opencode/opencode.json"), "mcp");
    assert_eq!(opencode["gitlab"]["environment"], expected);
    // A setting that the server would refuse is refused here.
    let output = home.run(&["--max-bytes", "few", "setup", "--client", "zed", "--write"], &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!home.path(".config/zed").exists());
}

#[test]
fn settings_of_the_environment_go_along_and_secrets_do_not() {
    let home = Home::new();
    let variables = [
        ("GITLAB_READ_ONLY_MODE", "true"),
        ("GITLAB_ALLOWED_PATHS", "acme/tools"),
        ("GITLAB_TOKEN", TOKEN),
        ("GITLAB_EXTRA_HEADERS", "X-Secret: s3cret"),
        ("GITLAB_MCP_HTTP", "127.0.0.1:8080"),
        ("GITLAB_MCP_AUTH", "token"),
    ];
    let output = home.run(&["setup", "--client", "cursor", "--write"], &variables);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let entry = servers(&home.load(".cursor/mcp.json"), "mcpServers")["gitlab"]["env"].clone();
    let expected = json!({
        "GITLAB_ALLOWED_PATHS": "acme/tools",
        "GITLAB_READ_ONLY": "true",
        "GITLAB_TOKEN": "${env:GITLAB_TOKEN}",
    });
    assert_eq!(entry, expected);
    // A misspelt restriction is no setting that could go along.
    let output = home.run(&["setup", "--client", "zed", "--write"], &[("GITLAB_READONLY", "true")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("GITLAB_READ_ONLY"));
}

#[test]
fn paths_are_written_as_absolute_ones() {
    let home = Home::new();
    let folder = home.path("settings");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("token"), TOKEN).unwrap();
    let mut command = program(
        &["--token-file", "token", "setup", "--client", "cursor", "--write"],
        &[("HOME", home.path("").to_str().unwrap())],
    );
    let output = command.current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    let entry = servers(&home.load(".cursor/mcp.json"), "mcpServers")["gitlab"]["env"].clone();
    assert_eq!(entry["GITLAB_TOKEN_FILE"], folder.join("token").to_str().unwrap());
    assert!(!text.contains("No token is in these files"), "{text}");
}

#[test]
fn a_changed_setting_is_shown_and_the_others_stay() {
    for (client, path, text, key) in CLIENTS {
        let home = Home::with(path, text);
        home.setup(&["--client", client, "--write"]);
        let run = |arguments: &[&str]| {
            let output = home.run(arguments, &[]);
            (output.status.code(), String::from_utf8(output.stdout).unwrap())
        };
        let (code, _) = run(&["--max-bytes", "20000", "setup", "--client", client, "--write"]);
        assert_eq!(code, Some(0), "{client}");
        let (code, shown) = run(&["--read-only", "setup", "--client", client, "--write"]);
        assert_eq!(code, Some(0), "{client}: {shown}");
        assert!(shown.contains("GITLAB_READ_ONLY") && shown.contains("\n+"), "{client}: {shown}");
        let entry = &servers(&home.load(path), key)["gitlab"];
        let variables = entry.get("env").or(entry.get("environment")).unwrap();
        assert_eq!(variables["GITLAB_READ_ONLY"], "true", "{client}: {entry}");
        assert_eq!(variables["GITLAB_MAX_BYTES"], "20000", "{client}: {entry}");
        assert!(is_kept(text, &home.load(path)), "{client}");
        home.setup(&["--client", client, "--undo", "--write"]);
        assert_eq!(home.load(path), text, "{client}");
    }
}

/// "set GITLAB_TOKEN and run this again" left the entry as it was, and a changed setting took the token of Codex away.
#[test]
fn a_second_run_adds_the_token_and_keeps_the_clients_own_members() {
    let variables = [("GITLAB_TOKEN", TOKEN)];
    for (client, path, text, key) in CLIENTS {
        let home = Home::with(path, text);
        home.setup(&["--client", client, "--write"]);
        let without = servers(&home.load(path), key)["gitlab"].clone();
        home.run(&["setup", "--client", client, "--write"], &variables);
        let with = servers(&home.load(path), key)["gitlab"].clone();
        let has_references = !["claude-desktop", "jetbrains", "zed"].contains(&client);
        assert_eq!(with != without, has_references, "{client}: {with}");
        assert_eq!(with.to_string().contains("GITLAB_TOKEN"), has_references, "{client}: {with}");
        let again = home.run(&["setup", "--client", client, "--write"], &variables);
        assert!(String::from_utf8(again.stdout).unwrap().contains("unchanged"), "{client}");
        // A member that a person added.
        let added = match path.ends_with(".toml") {
            true => home.load(path).replace("[mcp_servers.gitlab]", "[mcp_servers.gitlab]\ntimeout = 60"),
            false => {
                let (before, after) = home
                    .load(path)
                    .rsplit_once("\"gitlab\": {")
                    .map(|(a, b)| (a.to_owned(), b.to_owned()))
                    .unwrap();
                format!("{before}\"gitlab\": {{\n\"timeout\": 60,{after}")
            }
        };
        fs::write(home.path(path), added).unwrap();
        home.run(&["--read-only", "setup", "--client", client, "--write"], &[]);
        let now = servers(&home.load(path), key)["gitlab"].clone();
        assert_eq!(now["timeout"], 60, "{client}: {now}");
        assert!(now.to_string().contains("GITLAB_READ_ONLY"), "{client}: {now}");
        assert_eq!(now.to_string().contains("GITLAB_TOKEN"), has_references, "{client}: {now}");
    }
}

/// An entry with an OAuth token was given a second token beside it.
#[test]
fn an_entry_that_has_a_token_of_any_kind_gets_no_other() {
    for setting in
        ["GITLAB_OAUTH_TOKEN", "GITLAB_JOB_TOKEN", "GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_TOKEN_FILE"]
    {
        let home = Home::new();
        let command = program(&[], &[]).get_program().to_str().unwrap().to_owned();
        let entry =
            json!({"mcpServers": {"gitlab": {"command": command, "args": [], "env": {setting: "x"}}}});
        fs::create_dir_all(home.path(".cursor")).unwrap();
        fs::write(home.path(".cursor/mcp.json"), entry.to_string()).unwrap();
        home.run(&["setup", "--client", "cursor", "--write"], &[("GITLAB_TOKEN", TOKEN)]);
        let now = servers(&home.load(".cursor/mcp.json"), "mcpServers")["gitlab"].clone();
        assert_eq!(now["env"]["GITLAB_TOKEN"], Value::Null, "{setting}: {now}");
        assert_eq!(now["env"][setting], "x", "{now}");
    }
}

/// An entry that starts this program by a link of another name was taken for another server.
#[test]
fn a_link_of_another_name_is_this_program() {
    let home = Home::new();
    let link = home.path("gl");
    symlink(program(&[], &[]).get_program(), &link).unwrap();
    let entry = json!({"mcpServers": {"gl": {"command": link, "args": []}}});
    fs::create_dir_all(home.path(".cursor")).unwrap();
    fs::write(home.path(".cursor/mcp.json"), entry.to_string()).unwrap();
    let shown = home.setup(&["--client", "cursor", "--write"]);
    assert!(shown.contains("It has this server already, as \"gl\""), "{shown}");
}

#[test]
fn a_token_of_any_form_is_masked_on_the_way_back() {
    let token = "corp-AbCdEfGhIjKl";
    for (client, path, text, _) in CLIENTS {
        let home = Home::with(path, text);
        home.run(&["setup", "--client", client, "--write", "--token", "file"], &[("GITLAB_TOKEN", token)]);
        assert!(home.load(path).contains(token), "{client}");
        let shown = home.setup(&["--client", client, "--undo"]);
        assert!(shown.contains("GITLAB_TOKEN") && !shown.contains(token), "{client}: {shown}");
    }
}

/// The written command and settings start a server that answers.
#[test]
fn the_written_command_starts_the_server() {
    let home = Home::new();
    let output = home.run(&["--sandbox", "setup", "--client", "cursor", "--write"], &[]);
    assert_eq!(output.status.code(), Some(0));
    // The sandbox needs no token.
    assert!(!String::from_utf8(output.stdout).unwrap().contains("auth login"));
    let server = servers(&home.load(".cursor/mcp.json"), "mcpServers")["gitlab"].clone();
    let mut command = std::process::Command::new(server["command"].as_str().unwrap());
    command.env_clear().args(["execute", "current_user.get"]);
    for (name, value) in server["env"].as_object().unwrap() {
        command.env(name, value.as_str().unwrap());
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("sandbox"));
}

#[test]
fn the_name_on_the_search_path_is_written_in_place_of_what_it_links_to() {
    let home = Home::new();
    let programs = tempfile::tempdir().unwrap();
    let link = programs.path().join("gitlab-mcp");
    symlink(program(&[], &[]).get_program(), &link).unwrap();
    let search_path = format!("/nowhere:{}", programs.path().display());
    let output = home.run(&["setup", "--client", "cursor", "--write"], &[("PATH", &search_path)]);
    assert_eq!(output.status.code(), Some(0));
    let server = servers(&home.load(".cursor/mcp.json"), "mcpServers")["gitlab"].clone();
    assert_eq!(server["command"], link.to_str().unwrap());
}

fn doctor(home: &Home, variables: &[(&str, &str)]) -> (Option<i32>, Vec<Value>) {
    let output = home.run(&["--sandbox", "doctor", "--json"], variables);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    (output.status.code(), checks.iter().filter(|check| check["check"] == "client").cloned().collect())
}

#[test]
fn doctor_says_which_clients_have_the_server() {
    let home = Home::with(".config/zed/settings.json", "{}");
    fs::create_dir(home.path(".cursor")).unwrap();
    let (code, clients) = doctor(&home, &[]);
    assert_eq!((code, clients.len()), (Some(0), 2), "{clients:?}");
    let says = |client: &Value| client["says"].as_str().unwrap().to_owned();
    assert_eq!(says(&clients[0]), "Cursor does not have this server: gitlab-mcp setup --client cursor");
    let variables = [("GITLAB_TOKEN", TOKEN)];
    home.run(&["--read-only", "setup", "--client", "cursor", "--write"], &variables);
    home.run(&["setup", "--client", "zed", "--write", "--token", "file"], &variables);
    let (code, clients) = doctor(&home, &[]);
    assert_eq!(code, Some(0));
    let cursor = says(&clients[0]);
    assert!(cursor.contains("this program, GITLAB_READ_ONLY, GITLAB_TOKEN by reference"), "{cursor}");
    assert!(says(&clients[1]).ends_with("this program, GITLAB_TOKEN in the file"), "{clients:?}");
    assert!(!clients.iter().any(|client| says(client).contains(TOKEN)));
}

/// The line of Codex lacked "GITLAB_TOKEN by reference".
#[test]
fn doctor_knows_which_variables_codex_passes_on() {
    let home = Home::with(".codex/config.toml", "");
    home.run(&["setup", "--client", "codex", "--write"], &[("GITLAB_TOKEN", TOKEN)]);
    let set = [("GITLAB_TOKEN", TOKEN), ("GITLAB_MAX_BYTES", "20000")];
    let (code, clients) = doctor(&home, &set[..1]);
    assert_eq!(code, Some(0), "{clients:?}");
    assert!(clients[0]["says"].as_str().unwrap().ends_with("GITLAB_TOKEN by reference"), "{clients:?}");
    let (code, clients) = doctor(&home, &set);
    assert_eq!(code, Some(1), "{clients:?}");
    assert!(
        clients[0]["says"].as_str().unwrap().contains("does not pass on GITLAB_MAX_BYTES"),
        "{clients:?}"
    );
    let table = home.load(".codex/config.toml") + "env = { GITLAB_MAX_BYTES = \"20000\" }\n";
    fs::write(home.path(".codex/config.toml"), table.replace("[\"GITLAB_TOKEN\"]", "[]")).unwrap();
    let (_, clients) = doctor(&home, &set);
    let mend = clients[0]["mend"].as_str().unwrap();
    assert!(mend.contains(r#"env_vars = ["GITLAB_TOKEN"] to [mcp_servers.gitlab]"#), "{clients:?}");
}

#[test]
fn doctor_warns_of_a_binary_that_is_gone_or_another() {
    let other = tempfile::tempdir().unwrap();
    let path = other.path().join("gitlab-mcp");
    fs::write(&path, "#!/bin/sh\n").unwrap();
    for (command, warning) in
        [("/gone/gitlab-mcp", "is not on this machine"), (path.to_str().unwrap(), "another program")]
    {
        let text = json!({"mcpServers": {"gl": {"command": command}}}).to_string();
        let home = Home::with(".cursor/mcp.json", &text);
        let (code, clients) = doctor(&home, &[]);
        assert_eq!(code, Some(1));
        assert_eq!(clients[0]["state"], "warning");
        assert!(clients[0]["says"].as_str().unwrap().contains(warning), "{clients:?}");
        assert!(clients[0]["mend"].as_str().unwrap().contains("--undo --client cursor"));
    }
    let home = Home::with(".cursor/mcp.json", "{");
    assert_eq!(doctor(&home, &[]).1[0]["state"], "warning");
    let through = json!({"mcpServers": {"gl": {"command": "uvx", "args": ["--from", "gitlab-mcp-server", "gitlab-mcp"]}}});
    let home = Home::with(".cursor/mcp.json", &through.to_string());
    let (code, clients) = doctor(&home, &[]);
    assert_eq!(code, Some(0));
    assert!(clients[0]["says"].as_str().unwrap().contains("through uvx, no settings"), "{clients:?}");
}
