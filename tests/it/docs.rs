//! README.md, docs/ and the skill: links resolve, every command and call shown runs on the sandbox with the output shown, and
//! figures and tables are those of the program.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use regex_lite::Regex;
use serde_json::{Value, json};
use url::Url;

use crate::support::client::{Client, maintainers_program, program};

/// Info strings of fenced blocks that are not run.
const NOT_RUN: [(&str, &str); 12] = [
    ("call", "calls of docs/guides/troubleshooting.md, which troubleshooting.rs runs"),
    ("console gitlab", "commands of docs/guides/sign-in.md, which credentials/page.rs runs"),
    ("sh", "commands that build, install, need a GitLab account or take minutes"),
    ("json", "configuration of clients, and shapes of data"),
    ("toml", "configuration files"),
    ("yaml", "configuration of CI and of Kubernetes"),
    ("nginx", "configuration of a proxy"),
    ("dockerfile", "definition of a container"),
    ("text", "diagrams, patterns and log lines"),
    ("rust", "code to write"),
    ("python", "programs that use an SDK of MCP"),
    ("ts", "programs that use an SDK of MCP"),
];

/// Stands for any text in shown output.
const ELISION: &str = "…";

struct Page {
    path: PathBuf,
    text: String,
}

/// A fenced block: its info string, its text, and where it is.
struct Block {
    info: String,
    text: String,
    place: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn load_page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn collect(folder: &Path, extension: &str, pages: &mut Vec<Page>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            collect(&path, extension, pages);
        } else if path.extension().is_some_and(|found| found == extension) {
            pages.push(Page { text: fs::read_to_string(&path).unwrap(), path });
        }
    }
}

/// README.md, the pages of docs/, and the skill of the Claude Code plugin.
fn documentation() -> Vec<Page> {
    let single = ["README.md", ".release/claude-code/skills/gitlab/SKILL.md"];
    let mut pages: Vec<Page> =
        single.into_iter().map(|page| Page { path: root().join(page), text: load_page(page) }).collect();
    collect(&root().join("docs"), "md", &mut pages);
    pages.sort_by(|one, other| one.path.cmp(&other.path));
    pages
}

fn blocks(page: &Page) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (Some(_), Some("")) => blocks.extend(open.take()),
            (Some(block), _) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, Some(info)) => {
                let path = page.path.strip_prefix(root()).unwrap().display();
                let place = format!("{path}:{}", index + 1);
                open = Some(Block { info: info.to_owned(), text: String::new(), place });
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: a block without an end", page.path.display());
    blocks
}

/// The fenced blocks of a page: the info string and the text of each. Blocks of a list lose its indentation.
pub fn blocks_of(path: &str) -> Vec<(String, String)> {
    let mut text = String::new();
    let mut indentation = 0;
    for line in load_page(path).lines() {
        let content = line.trim_start();
        if content.starts_with("```") {
            indentation = line.len() - content.len();
        }
        let blanks = line.len() - content.len();
        text.push_str(&line[blanks.min(indentation)..]);
        text.push('\n');
    }
    blocks(&Page { path: root().join(path), text })
        .into_iter()
        .map(|block| (block.info, block.text))
        .collect()
}

/// The page without its fenced blocks.
fn prose(text: &str) -> String {
    text.split("```").step_by(2).collect()
}

/// The anchor of a heading, as GitLab and GitHub make it.
pub fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            other => other.is_alphanumeric().then_some(other),
        })
        .collect()
}

pub fn anchors(page: &Path) -> BTreeSet<String> {
    let text = prose(&fs::read_to_string(page).unwrap());
    text.lines().filter(|line| line.starts_with('#')).map(anchor).collect()
}

#[test]
fn the_readme_has_at_most_150_lines() {
    let lines = load_page("README.md").lines().count();
    assert!(lines <= 150, "README.md has {lines} lines");
}

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^)\s]+)\)").unwrap());

/// The network is not asked: a page that is gone is not noticed.
#[test]
fn links_to_other_sites_are_encrypted_and_none_leads_to_a_file_of_ours() {
    let ours = toml_of_package()["package"]["repository"].as_str().unwrap().to_owned();
    let mut pages = Vec::new();
    collect(root(), "md", &mut pages);
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for page in &pages {
        let text = prose(&page.text);
        for link in
            LINK.captures_iter(&text).map(|link| link[1].to_owned()).filter(|link| link.contains("://"))
        {
            checked += 1;
            let url = Url::parse(&link).ok().filter(|url| url.scheme() == "https" && url.has_host());
            if url.is_none() || link.starts_with(&ours) {
                wrong.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "not https, or better a path to the file:\n{}", wrong.join("\n"));
    assert!(checked > 5, "{checked} links");
}

fn toml_of_package() -> toml::Table {
    load_page("Cargo.toml").parse().unwrap()
}

#[test]
fn links_and_anchors_resolve() {
    let mut pages = Vec::new();
    collect(root(), "md", &mut pages);
    let (mut broken, mut checked) = (Vec::new(), 0);
    for page in &pages {
        for link in LINK.captures_iter(&prose(&page.text)) {
            let link = &link[1];
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target =
                if path.is_empty() { page.path.clone() } else { page.path.parent().unwrap().join(path) };
            let is_page = target.extension().is_some_and(|extension| extension == "md");
            if !target.exists() || (is_page && !anchor.is_empty() && !anchors(&target).contains(anchor)) {
                broken.push(format!("{}: {link}", page.path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    assert!(checked > 100, "{checked} links");
}

#[test]
fn every_page_of_docs_is_in_the_index() {
    let index = load_page("docs/README.md");
    let docs = root().join("docs");
    for page in documentation().iter().filter(|page| page.path.starts_with(&docs)) {
        let path = page.path.strip_prefix(&docs).unwrap().to_str().unwrap();
        let is_index = ["README.md", "SUMMARY.md"].contains(&path);
        assert!(is_index || index.contains(&format!("]({path})")), "docs/README.md lacks {path}");
    }
}

/// The site has the pages of SUMMARY.md alone, and its order.
#[test]
fn the_summary_of_the_site_has_every_page_once() {
    static ENTRY: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\s*(?:- )?\[[^\]]+\]\(([^)]*)\)$").unwrap());
    let docs = root().join("docs");
    let summary = load_page("docs/SUMMARY.md");
    let entries = summary.lines().filter_map(|line| Some(ENTRY.captures(line)?.get(1)?.as_str().to_owned()));
    let mut listed: Vec<String> = entries.filter(|path| !path.is_empty()).collect();
    listed.sort();
    let mut pages: Vec<String> = documentation()
        .iter()
        .filter_map(|page| page.path.strip_prefix(&docs).ok()?.to_str().map(str::to_owned))
        .filter(|path| path != "SUMMARY.md")
        .collect();
    pages.sort();
    assert_eq!(listed, pages, "docs/SUMMARY.md");
}

/// The first configuration of each client's page is the one that setup writes for a program on the PATH.
#[test]
fn pages_of_clients_show_what_setup_writes() {
    let folder = tempfile::tempdir().unwrap();
    for client in [
        "claude-code",
        "claude-desktop",
        "vscode",
        "cursor",
        "windsurf",
        "jetbrains",
        "zed",
        "gemini-cli",
        "codex",
        "opencode",
    ] {
        let home = folder.path().to_str().unwrap();
        let variables =
            [("HOME", home), ("GITLAB_URL", "https://gitlab.example.com"), ("GITLAB_TOKEN", "glpat-example")];
        let mut command = program(&["setup", "--client", client, "--dry-run"], &variables);
        let output = String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap();
        let added =
            output.lines().filter(|line| !line.starts_with("+++")).filter_map(|line| line.strip_prefix('+'));
        let written: String = added.flat_map(|line| [line, "\n"]).collect();
        let blocks = blocks_of(&format!("docs/guides/clients/{client}.md"));
        let (info, shown) = blocks.iter().find(|(info, _)| info == "json" || info == "toml").unwrap();
        let parse = |text: &str| -> Value {
            match info.as_str() {
                "toml" => json!(text.parse::<toml::Table>().unwrap()),
                _ => serde_json::from_str(text).unwrap_or_else(|error| panic!("{client}: {error}: {text}")),
            }
        };
        assert_eq!(only_the_server(parse(shown)), only_the_server(parse(&written)), "{client}");
    }
}

/// The entry of the server, with the bare name of the program and without what says nothing.
fn only_the_server(mut configuration: Value) -> Value {
    let table = configuration.as_object_mut().unwrap();
    // VS Code asks for the token, where a page and not a program writes the file.
    table.remove("inputs");
    let container = table.values_mut().next().unwrap();
    let entry = container["gitlab"].as_object_mut().unwrap();
    entry.retain(|_, value| *value != json!([]));
    let bare = |path: &str| json!(path.rsplit('/').next());
    match entry["command"].clone() {
        Value::String(path) => entry.insert("command".to_owned(), bare(&path)),
        words => entry.insert("command".to_owned(), json!([bare(words[0].as_str().unwrap())])),
    };
    let reference = entry.get_mut("env").and_then(|variables| variables.get_mut("GITLAB_TOKEN"));
    if let Some(reference) = reference.filter(|reference| **reference == "${input:gitlab-token}") {
        *reference = json!("${env:GITLAB_TOKEN}");
    }
    configuration
}

/// True if the output matches the shown text, in which `…` matches any text.
pub fn is_shown(shown: &str, output: &str) -> bool {
    let mut rest = output.trim_end();
    let mut parts = shown.trim_end().split(ELISION).peekable();
    let mut is_first = true;
    while let Some(part) = parts.next() {
        // A line that only has the elision matches any number of lines, including none.
        let part = if is_first { part } else { part.strip_prefix('\n').unwrap_or(part) };
        let is_last = parts.peek().is_none();
        let at = match (is_first, is_last) {
            (true, true) => return part == rest,
            (true, false) => rest.starts_with(part).then_some(0),
            (false, true) if part.is_empty() => return true,
            (false, true) => return rest.ends_with(part),
            (false, false) => rest.find(part),
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
        is_first = false;
    }
    true
}

/// Blocks whose output is another than the one shown.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn compare(&mut self, place: &str, shown: &str, output: &str) {
        if !is_shown(shown, output) {
            self.0.push(format!("{place} shows\n{shown}\nand the program answers\n{output}"));
        }
    }

    fn assert_none(&self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n\n"));
    }
}

#[test]
fn an_elision_stands_for_any_text() {
    for (shown, output, matches) in [
        ("one\ntwo", "one\ntwo\n", true),
        ("one\n…\nfour", "one\ntwo\nthree\nfour\n", true),
        ("one\n…\ntwo", "one\ntwo\n", true),
        ("…\ntwo", "one\ntwo\n", true),
        ("id: …, ok", "id: 5, ok", true),
        ("one\n…", "one\ntwo", true),
        ("one\n…\nfive", "one\ntwo", false),
        ("two\n…", "one\ntwo", false),
        ("one", "one\ntwo", false),
    ] {
        assert_eq!(is_shown(shown, output), matches, "{shown:?} of {output:?}");
    }
}

/// A folder with the programs under the names by which the docs call them.
fn link_programs(folder: &Path) {
    symlink(program(&[], &[]).get_program(), folder.join("gitlab-mcp")).unwrap();
    symlink(maintainers_program(&[], &[]).get_program(), folder.join("catalog_gen")).unwrap();
}

/// Runs a command line of a console block in a shell: its two outputs together.
fn run(command: &str, programs: &Path, folder: &Path) -> String {
    let is_of_the_repository = command.contains("cargo ");
    let command = command.replace("cargo run -- ", "gitlab-mcp ").replace("cargo dev ", "catalog_gen ");
    assert!(!command.contains("cargo "), "not a command of this test: {command}");
    let output = Command::new("/bin/sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", programs.display()))
        .env("HOME", folder)
        .current_dir(if is_of_the_repository { root() } else { folder })
        .stdin(Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_answer_what_is_shown() {
    let programs_folder = tempfile::tempdir().unwrap();
    link_programs(programs_folder.path());
    let (mut commands, mut differences) = (0, Differences::default());
    for block in documentation().iter().flat_map(blocks).filter(|block| block.info == "console") {
        let folder = tempfile::tempdir().unwrap();
        let mut parts = block.text.split_inclusive('\n').peekable();
        while let Some(line) = parts.next() {
            let Some(command) = line.strip_prefix("$ ") else {
                panic!("{}: a console block begins with a command", block.place);
            };
            let mut shown = String::new();
            while let Some(line) = parts.next_if(|line| !line.starts_with("$ ")) {
                shown.push_str(line);
            }
            let output = run(command.trim_end(), programs_folder.path(), folder.path());
            differences.compare(&block.place, &shown, &output);
            commands += 1;
        }
    }
    differences.assert_none();
    assert!(commands >= 5, "{commands} commands");
}

/// The tool and arguments of a call as the docs write it: a find, an execute, or any tool by its name.
fn call_of(block: &Block) -> (String, Value) {
    let call: Value = serde_json::from_str(&block.text)
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", block.place, block.text));
    if let Some(tool) = call["tool"].as_str() {
        (tool.to_owned(), call["arguments"].clone())
    } else if call.get("query").is_some() {
        ("gitlab_find_action".to_owned(), call)
    } else {
        ("gitlab_execute_action".to_owned(), call)
    }
}

#[test]
fn calls_answer_what_is_shown() {
    let (mut calls, mut differences) = (0, Differences::default());
    for page in documentation() {
        let blocks = blocks(&page);
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.info == "json call") {
            let mut client = Client::sandbox();
            let (tool, arguments) = call_of(block);
            let reply = client.call(&tool, arguments);
            match blocks.get(index + 1).filter(|next| next.info == "text answer") {
                Some(answer) => differences.compare(&answer.place, &answer.text, &reply.text),
                None if reply.is_error => differences.0.push(format!("{}: {}", block.place, reply.text)),
                None => {}
            }
            calls += 1;
        }
        for (index, block) in blocks.iter().enumerate().filter(|(_, block)| block.info == "text answer") {
            let is_after_a_call = index > 0 && blocks[index - 1].info == "json call";
            assert!(is_after_a_call, "{}: an answer without a call", block.place);
        }
    }
    differences.assert_none();
    assert!(calls >= 10, "{calls} calls");
}

/// Blocks of info string `mcp`: lines `> TOOL ARGUMENTS` or `> METHOD PARAMS`, each with its answer, in one session.
/// Settings follow in the info string: `mcp TOOL_SURFACE=meta`.
#[test]
fn sessions_answer_what_is_shown() {
    let (mut messages, mut differences) = (0, Differences::default());
    for block in documentation().iter().flat_map(blocks) {
        let mut words = block.info.split(' ');
        if words.next() != Some("mcp") {
            continue;
        }
        let settings: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap()).collect();
        let mut client = Client::sandbox_with(&settings);
        let mut lines = block.text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let Some((name, value)) = line.strip_prefix("> ").and_then(|line| line.split_once(' ')) else {
                panic!("{}: a session begins with `> NAME JSON`: {line}", block.place);
            };
            let value: Value = serde_json::from_str(value)
                .unwrap_or_else(|error| panic!("{}: {error}: {value}", block.place));
            let mut shown = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("> ")) {
                shown.push_str(line);
            }
            let method = if name.contains('/') { name } else { "tools/call" };
            let params = if name.contains('/') { value } else { json!({"name": name, "arguments": value}) };
            differences.compare(&block.place, &shown, &answer(&mut client, method, params));
            messages += 1;
        }
    }
    differences.assert_none();
    assert!(messages >= 5, "{messages} messages");
}

/// The text of an answer: of a tool, a resource, a prompt or a completion, else the error or result as JSON.
fn answer(client: &mut Client, method: &str, params: Value) -> String {
    client.send(&json!({"jsonrpc": "2.0", "id": "docs", "method": method, "params": params}));
    let answer = loop {
        let message = client.receive();
        if message["id"] == "docs" {
            break message;
        }
    };
    if let Some(message) = answer["error"]["message"].as_str() {
        return format!("error {}: {message}", answer["error"]["code"]);
    }
    let result = &answer["result"];
    ["/content/0/text", "/contents/0/text", "/messages/0/content/text"]
        .iter()
        .find_map(|pointer| result.pointer(pointer)?.as_str())
        .map_or_else(|| result.get("completion").unwrap_or(result).to_string(), str::to_owned)
}

#[test]
fn every_block_is_run_or_says_that_it_is_not() {
    for block in documentation().iter().flat_map(blocks) {
        let kind = block.info.split(' ').next().unwrap();
        let is_run = ["console", "json call", "text answer"].contains(&block.info.as_str()) || kind == "mcp";
        let is_not_run = NOT_RUN.iter().any(|(info, _)| *info == block.info);
        assert!(is_run || is_not_run, "{}: unknown info string {:?}", block.place, block.info);
    }
}

/// Without the HTML comments that mark generated figures.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("<!--");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |kept, part| kept + part.split_once("-->").map_or(part, |(_, after)| after))
}

/// The rows of the first table below a heading, as cells without backticks.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = format!("\n{}", load_page(page));
    let below =
        text.split(&format!("\n{heading}\n")).nth(1).unwrap_or_else(|| panic!("{page}: no {heading}"));
    let below = without_comments(below);
    let lines =
        below.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells =
        |line: &str| line.trim_matches('|').split(" | ").map(|cell| cell.trim().replace('`', "")).collect();
    lines.skip(2).map(cells).collect()
}

fn number(text: &str) -> f64 {
    text.replace([',', ' '], "").parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn exit_codes_are_those_of_the_program() {
    let documented: Vec<String> = table("docs/reference/configuration.md", "## Exit codes")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    assert_eq!(documented, ["0", "1", "2", "3", "130"]);
    let code = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = program(arguments, variables);
        command.stdin(Stdio::null()).output().unwrap().status.code()
    };
    assert_eq!(code(&["find", "list issues"], &[]), Some(0));
    assert_eq!(code(&["--sandbox", "execute", "issue.get"], &[]), Some(1));
    assert_eq!(code(&["--no-such-flag"], &[]), Some(2));
    assert_eq!(code(&["find", "list issues"], &[("GITLAB_TIMEOUT", "soon")]), Some(2));
}

#[test]
fn toolsets_are_those_of_the_catalog() {
    let curation: toml::Table = load_page("catalog/curation/toolsets.toml").parse().unwrap();
    let agent_of = |toolset: &str| {
        let agents = curation["agent"].as_table().unwrap();
        let has = |agent: &toml::Value| {
            agent["toolsets"].as_array().unwrap().iter().any(|name| name.as_str() == Some(toolset))
        };
        agents.iter().find(|(_, agent)| has(agent)).unwrap().0.clone()
    };
    let toolsets = curation["toolset"].as_table().unwrap();
    let mut expected: Vec<Vec<String>> = toolsets
        .iter()
        .map(|(name, toolset)| {
            vec![name.clone(), toolset["what"].as_str().unwrap().to_owned(), agent_of(name)]
        })
        .collect();
    expected.sort();
    assert_eq!(table("docs/reference/toolsets.md", "# Toolsets"), expected);
}

/// A size may differ by three in a hundred: words of the catalog change often, and a reader compares orders of magnitude.
/// With `INSTA_UPDATE=always` the page gets the measured sizes, as a snapshot would.
#[test]
fn surfaces_have_about_the_documented_sizes() {
    const PAGE: &str = "docs/concepts/surfaces.md";
    let is_update = std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always");
    for row in table(PAGE, "## Size in the client's context") {
        let mut settings = row[0].split(", ");
        let kind = settings.next().and_then(|kind| kind.split(' ').next()).unwrap();
        let variables: Vec<(&str, &str)> = settings.filter_map(|setting| setting.split_once('=')).collect();
        let mut command = program(&["--sandbox", "surface", "--surface", kind, "--tokens"], &variables);
        let output = String::from_utf8(command.stdin(Stdio::null()).output().unwrap().stdout).unwrap();
        let measured = ["tools ", "bytes in all ", "tokens, about "].map(|label| {
            let line = output.lines().find(|line| line.starts_with(label)).unwrap();
            number(line.split_whitespace().last().unwrap())
        });
        let is_about =
            |(measured, documented): (&f64, &String)| (measured - number(documented)).abs() / measured < 0.03;
        if measured.iter().zip(&row[1..]).all(is_about) {
            continue;
        }
        let shown = measured.map(with_commas);
        assert!(is_update, "{}: measured {shown:?}, documented as {:?}", row[0], &row[1..]);
        let (old, new) = (format!(" {} |", row[1..].join(" | ")), format!(" {} |", shown.join(" | ")));
        fs::write(root().join(PAGE), load_page(PAGE).replace(&old, &new)).unwrap();
    }
}

/// A whole number as `1,825`.
fn with_commas(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut shown = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// `catalog_gen` writes them; where GitLab's files are missing, this test compares.
#[test]
fn figures_of_the_catalog_are_those_of_its_source() {
    let source: toml::Table = load_page("catalog/SOURCE.toml").parse().unwrap();
    let count = |table: &str, key: &str| usize::try_from(source[table][key].as_integer().unwrap()).unwrap();
    let rest = count("openapi", "operations");
    let graphql = count("graphql", "mutations") + count("graphql", "queries") + count("graphql", "fields");
    let readme = without_comments(&load_page("README.md"));
    let shown = |count: usize| with_commas(f64::from(u32::try_from(count).unwrap()));
    let statement = format!("{} REST and {} GraphQL operations", shown(rest), shown(graphql));
    assert!(readme.contains(&statement), "README.md should say {statement}");
    let ended = program(&["catalog", "stats", "--json"], &[]).output().unwrap();
    let stats: Value = serde_json::from_slice(&ended.stdout).unwrap();
    assert_eq!(stats["gitlab"], json!({"REST": rest, "GraphQL": graphql}), "the command that README names");
    let version = source["openapi"]["gitlab_version"].as_str().unwrap();
    assert!(readme.contains(&format!("GitLab {version}")), "README.md should say GitLab {version}");
    for row in table("docs/internals/catalog-format.md", "## Figures") {
        let (file, key) = row[0].split_once('.').unwrap();
        assert_eq!(row[1], shown(count(file, key)), "{}", row[0]);
    }
}

/// The arrows of layering.rs, wherever it is: modules, each with those it may import.
fn arrows() -> Vec<(String, BTreeSet<String>)> {
    static ROW: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"\(\s*"(\w+)",\s*&\[([^\]]*)\]"#).unwrap());
    let mut sources = Vec::new();
    collect(&root().join("tests/it"), "rs", &mut sources);
    let layering = sources.iter().find(|source| source.path.ends_with("layering.rs")).unwrap();
    let rows = layering.text.split("const ARROWS").nth(1).unwrap().split("\n];").next().unwrap();
    let quoted = |list: &str| list.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    ROW.captures_iter(rows).map(|row| (row[1].to_owned(), quoted(&row[2]))).collect()
}

#[test]
fn modules_are_those_whose_imports_are_tested() {
    let documented: Vec<(String, BTreeSet<String>)> = table("docs/internals/architecture.md", "## Modules")
        .into_iter()
        .map(|row| {
            let imports = row[2].split_whitespace().filter(|word| *word != "–").map(str::to_owned).collect();
            (row[0].clone(), imports)
        })
        .collect();
    assert_eq!(documented, arrows());
}
