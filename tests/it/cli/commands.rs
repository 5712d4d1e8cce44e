//! The commands, their help and their exit codes.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::client::{Client, execute, maintainers_program, program, wait_until};
use crate::support::scripted_gitlab::{Gitlab, answer};

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    // Help is wrapped at the width of the terminal.
    let output = program(arguments, &[("COLUMNS", "400")]).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn maintainers(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = maintainers_program(arguments, &[]).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

/// Standard output of a command that must succeed.
fn output(arguments: &[&str]) -> String {
    let (code, out, err) = run(arguments);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{arguments:?}");
    out
}

#[test]
fn help_says_what_there_is() {
    insta::assert_snapshot!("help", output(&["--help"]));
    insta::assert_snapshot!("help_settings", output(&["help", "settings"]));
    for command in ["find", "execute", "doctor", "auth", "surface", "agents", "catalog", "setup"] {
        let help = output(&[command, "-h"]);
        let own = help.split("\nSettings:").next().unwrap();
        insta::assert_snapshot!(format!("help_{command}"), own);
    }
}

/// The help had 41 lines, and with all settings 311.
#[test]
fn the_help_fits_a_screen() {
    let narrow = |arguments: &[&str]| {
        let shown = program(arguments, &[("COLUMNS", "80")]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap()
    };
    let short = narrow(&["--help"]);
    assert!(short.lines().count() <= 24 && short.lines().all(|line| line.len() <= 80), "{short}");
    assert!(short.contains("gitlab-mcp help settings"), "{short}");
    for command in ["find", "execute", "serve", "auth", "setup", "catalog", "doctor", "surface", "audit"] {
        let help = narrow(&[command, "--help"]);
        assert!(help.lines().count() <= 45, "{command}: {help}");
        assert!(short.contains(&format!("\n  {command} ")), "{command}: {short}");
        assert_eq!(narrow(&["help", command]), help);
        assert_eq!(narrow(&[command, "-h"]), help);
    }
    assert_eq!((narrow(&["help"]), narrow(&["-h"])), (short.clone(), short));
    let (code, _, err) = run(&["help", "exicute"]);
    assert!(code == Some(2) && err.contains("execute"), "{err}");
    let all = output(&["help", "settings"]);
    for part in ["Policy settings:", "--allowed-paths", "GITLAB_TOKEN_COMMAND", "Exit codes:"] {
        assert!(all.contains(part), "{part}: {all}");
    }
}

#[test]
fn types_are_written_for_the_actions_that_are_named() {
    let types = output(&["catalog", "types", "--ts", "issue", "api.graphql"]);
    let line = |id: &str| {
        let start = format!("  \"{id}\": ");
        types.lines().find_map(|line| line.strip_prefix(&start)).unwrap_or_else(|| panic!("no {id}: {types}"))
    };
    assert!(line("issue.get").starts_with("{ fullPath: string; iid: number"), "{}", line("issue.get"));
    let list = line("issue.list");
    assert!(
        list.contains("state?: \"opened\" | \"closed\" | \"all\"") && list.contains("labels?: "),
        "{list}"
    );
    assert!(line("api.graphql").contains("document: string"), "{}", line("api.graphql"));
    assert!(types.contains("(read) */") && types.contains("(destructive) */"), "{types}");
    assert!(!types.contains("\"merge_request.get\"") && !types.contains("\"issue_note.create\""), "{types}");
    assert!(types.contains("export type Execute = ") && types.contains("  save_to?: string;\n"));
    // Every argument of the tool, by its schema.
    let schema = gitlab_mcp::surface::execute_schema();
    let arguments = schema["properties"].as_object().unwrap();
    for name in arguments.keys() {
        let is_required = schema["required"].as_array().unwrap().contains(&json!(name));
        let mark = if is_required { "" } else { "?" };
        assert!(types.contains(&format!("\n  {name}{mark}: ")), "{name}: {types}");
    }
    for line in [
        "action: A;",
        "params?: Actions[A] | ({ target: string } & Partial<Actions[A]>);",
        "confirm?: boolean;",
        "fields?: string[];",
        "view?: \"compact\" | \"full\";",
        "top?: number;",
    ] {
        assert!(types.contains(&format!("\n  {line}\n")), "{line}: {types}");
    }
    // All of them: braces and quotes are balanced, and each action is there once.
    let all = output(&["catalog", "types", "--ts"]);
    let count = |c: char| all.matches(c).count();
    assert_eq!((count('{'), count('(')), (count('}'), count(')')));
    let ids: Vec<&str> =
        all.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
    let unique: std::collections::BTreeSet<&&str> = ids.iter().collect();
    assert!(ids.len() > 1_000 && unique.len() == ids.len(), "{}", ids.len());
    assert_eq!(run(&["catalog", "types", "--ts", "no_such_domain"]).0, Some(1));
    assert_eq!(run(&["catalog", "types"]).0, Some(2));
}

#[test]
fn every_flag_has_help() {
    for arguments in [
        &["-h"][..],
        &["find", "-h"],
        &["execute", "-h"],
        &["doctor", "-h"],
        &["auth", "login", "-h"],
        &["auth", "status", "-h"],
        &["surface", "-h"],
        &["agents", "-h"],
        &["setup", "-h"],
        &["catalog", "list", "-h"],
    ] {
        let help = output(arguments);
        let flags = help.lines().filter(|line| line.trim_start().starts_with('-'));
        for line in flags {
            let words = line.trim_start().split_once("  ").map(|(_, words)| words.trim()).unwrap_or_default();
            assert!(!words.is_empty(), "{arguments:?}: {line}");
        }
    }
}

#[test]
fn the_version_is_the_package_s() {
    assert_eq!(output(&["--version"]), format!("gitlab-mcp {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn what_cannot_be_parsed_is_2() {
    for arguments in [
        &["bogus"][..],
        &["find"],
        &["execute"],
        &["find", "x", "--limit", "many"],
        &["find", "x", "--detail", "all"],
        &["--sandbox", "--url", "https://gitlab.com"],
        &["execute", "issue.get", "--params", "not JSON"],
        &["execute", "issue.get", "--params", "[1]"],
        &["execute", "issue.get", "--params", "@/nowhere.json"],
    ] {
        let (code, out, err) = run(arguments);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(!err.is_empty());
    }
}

#[test]
fn a_policy_that_cannot_be_used_is_2() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    let path = file.to_str().unwrap();
    for (variable, value, text, expected) in [
        ("GITLAB_DENIED_ACTIONS", "nope", "", "GITLAB_DENIED_ACTIONS: `nope`"),
        ("GITLAB_POLICY", path, "denied_actions = [\"nope\"]", "GITLAB_POLICY: `nope`"),
        ("GITLAB_POLICY", path, "denied_actions = 5", "GITLAB_POLICY: invalid policy file: "),
        (
            "GITLAB_POLICY",
            path,
            "[[rule]]\nactions = [\"isue.delete\"]\ndecision = \"deny\"",
            "nearest is `issue.delete`",
        ),
        ("GITLAB_ALLOWED_PATHS", ",", "", "GITLAB_ALLOWED_PATHS: expected "),
        ("GITLAB_DENIED_ACTIONS", " , ", "", "GITLAB_DENIED_ACTIONS: expected "),
        ("GITLAB_TOOLSETS", ",", "", "GITLAB_TOOLSETS: expected "),
        ("GITLAB_ALLOWED_PATHS", "12", "", "and no id"),
        ("GITLAB_POLICY", path, "allowed_paths = []", "an empty list limits nothing"),
        ("GITLAB_POLICY", path, "[[rule]]\npaths = []\ndecision = \"allow\"", "an empty list limits nothing"),
        ("GITLAB_POLICY", path, "[[rule]]\npaths = [\"1\"]\ndecision = \"deny\"", "and no id"),
        ("GITLAB_ALLOWED_GROUPS", "acme", "", "reads like a restriction"),
        ("GITLAB_ALLOWED_PROJECTS", "1,2", "", "GITLAB_ALLOWED_PATHS and GITLAB_READABLE_PATHS take paths"),
        ("GITLAB_DENIED_TOOLS_REGEX", "(", "", "not a valid regular expression: "),
        ("GITLAB_DENIED_TOOLS_REGEX", "^manag_milestones$", "", "the nearest is `manage_milestones`"),
        (
            "GITLAB_DENIED_TOOLS_REGEX",
            "^isue_delete$",
            "",
            "matches no tool and no action; the nearest is `issue_delete`",
        ),
        ("GITLAB_DENIED_TOOLS_REGEX", "no such thing", "", "`no such thing` matches no tool and no action"),
        (
            "GITLAB_DENIED_ACTIONS",
            "*",
            "",
            "no action is left of the catalog; `*` is denied (GITLAB_DENIED_ACTIONS)",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let output = program(&["--sandbox", "doctor"], &[(variable, value)]).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(expected), "{err}");
    }
}

#[test]
fn the_status_names_the_source_of_the_token() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "glpat-sandbox").unwrap();
    let status = |variables: &[(&str, &str)]| {
        let output = program(&["--sandbox", "auth", "status"], variables).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let by_file = status(&[("GITLAB_TOKEN_FILE", file.path().to_str().unwrap())]);
    assert!(by_file.contains("source    GITLAB_TOKEN_FILE ("), "{by_file}");
    let by_variable = status(&[("GITLAB_TOKEN", "glpat-sandbox-admin")]);
    assert!(by_variable.contains("source    GITLAB_TOKEN\nuser      root\n"), "{by_variable}");
    assert!(status(&[]).contains("source    the sandbox\nuser      sandbox\n"));
}

/// A blank flag lifted what a variable restricts, and of two names of a setting the laxer one held.
#[test]
fn a_restriction_is_not_lifted_by_a_blank_flag_or_a_second_name() {
    for (flags, variables, expected) in [
        (&["--allowed-paths", ""][..], &[("GITLAB_ALLOWED_PATHS", "acme")][..], "--allowed-paths is empty"),
        (&["--policy="], &[], "--policy is empty"),
        (
            &[],
            &[("GITLAB_READ_ONLY", "false"), ("GITLAB_READ_ONLY_MODE", "true")],
            "GITLAB_READ_ONLY and GITLAB_READ_ONLY_MODE are names of one setting",
        ),
    ] {
        let arguments = [&["--sandbox"], flags, &["doctor"]].concat();
        let output = program(&arguments, variables).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?} {variables:?}: {err}");
        assert!(err.contains(expected), "{flags:?} {variables:?}: {err}");
    }
    // Two names with one value are no contradiction.
    let both = [("GITLAB_READ_ONLY", "true"), ("GITLAB_READ_ONLY_MODE", "true")];
    let output =
        program(&["--sandbox", "execute", "issue.delete", "fullPath=acme/widget", "iid=1"], &both).output();
    assert!(String::from_utf8(output.unwrap().stdout).unwrap().contains("denied"));
}

#[test]
fn a_set_that_leaves_no_action_ends_the_start() {
    for (variables, expected) in [
        (
            &[("GITLAB_TOOLSETS", "wikis"), ("GITLAB_DENIED_ACTIONS", "*wiki*")][..],
            "no action is left of GITLAB_TOOLSETS=wikis; `*wiki*` is denied (GITLAB_DENIED_ACTIONS)",
        ),
        (
            &[("GITLAB_DOMAINS", "suggestion"), ("GITLAB_READ_ONLY", "true")],
            "no action is left of GITLAB_DOMAINS=suggestion; this server is read-only (GITLAB_READ_ONLY)",
        ),
        (
            &[("GITLAB_DOMAINS", "metrics_annotation")],
            "no action is left of GITLAB_DOMAINS=metrics_annotation",
        ),
        (
            &[("GITLAB_TOOLSETS", "issues"), ("GITLAB_DENIED_TOOLS_REGEX", ".")],
            "no action is left of GITLAB_TOOLSETS=issues; `.` is denied (GITLAB_DENIED_TOOLS_REGEX)",
        ),
    ] {
        let output = program(&["--sandbox", "doctor"], variables).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{variables:?}: {err}");
        assert!(err.contains(expected), "{variables:?}: {err}");
    }
}

#[test]
fn an_answer_that_is_an_error_is_1() {
    let (code, out, err) = run(&["--sandbox", "execute", "no.such"]);
    assert_eq!((code, err.as_str()), (Some(1), ""));
    assert!(out.starts_with("Error (unknown_action): "), "{out}");
    let (code, out, _) = run(&["--sandbox", "execute", "no.such", "--json"]);
    assert_eq!(code, Some(1));
    let structured: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(structured["error"]["kind"], "unknown_action");
}

#[test]
fn an_evaluation_fails_where_a_saved_figure_fell() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let cases = "list issues\tGET /projects/{}/issues\nlist branches\tDELETE /projects/{}/boards/{}\n";
    std::fs::write(path("mine.tsv"), cases).unwrap();
    let (_, saved, _) = maintainers(&["eval", "--cases", &path("mine.tsv"), "--figures", "--json"]);
    std::fs::write(path("saved.json"), &saved).unwrap();
    let arguments =
        |saved: &str| ["eval", "--cases", &path("mine.tsv"), "--baseline", saved].map(str::to_owned);
    let compare = |saved: &str| maintainers(&arguments(saved).each_ref().map(String::as_str));
    assert_eq!(compare(&path("saved.json")).0, Some(0));

    std::fs::write(path("better.json"), saved.replace("\"first\":0.5", "\"first\":0.6")).unwrap();
    let (code, out, err) = compare(&path("better.json"));
    assert_eq!(code, Some(1), "{out}");
    assert!(err.contains("fell by more than a point: mine: first 60.0 -> 50.0 (-10.0)"), "{err}");

    let (code, _, err) = compare(&path("none.json"));
    assert_eq!((code, err.contains("none.json cannot be read")), (Some(2), true), "{err}");
}

#[test]
fn find_answers_as_the_tool_does() {
    let arguments = ["--read-only", "find", "delete a branch", "--limit", "2"];
    let mut client = Client::connect(&["--read-only"], &[]);
    let reply = client.call("gitlab_find_action", json!({"query": "delete a branch", "limit": 2}));
    let structured: Value = serde_json::from_str(&output(&[&arguments[..], &["--json"]].concat())).unwrap();
    let ids = |found: &Value| -> Vec<Value> {
        found["results"].as_array().unwrap().iter().map(|result| result["action"].clone()).collect()
    };
    assert_eq!(ids(&structured), ids(&reply.structured));
    assert!(structured["results"][0]["schema_uri"].is_string(), "{structured}");
    // An example is a command, a hint names options, and otherwise the text is the same.
    let example = reply.structured["results"][0]["example"].to_string();
    let command = "gitlab-mcp --read-only=true execute branch.exists branch=main fullPath=acme/widget";
    let hint = "`--detail schema`, or `gitlab-mcp catalog show ID`";
    let text =
        reply.text.replace(&example, command).replace("`detail: \"schema\"`, or gitlab://tools/{id}", hint);
    assert_eq!(output(&arguments).trim_end(), text.trim_end());
}

#[test]
fn a_find_says_what_it_left_out_and_what_is_an_experiment() {
    let left_out = "Left out: branch.delete";
    let (_, out, _) = run(&["--read-only", "find", "delete a branch"]);
    assert!(out.contains("Only reads are offered (GITLAB_READ_ONLY).\nLeft out"), "{out}");
    assert!(out.contains(left_out), "{out}");
    assert!(!run(&["find", "delete a branch"]).1.contains("Left out"));

    let (_, out, _) = run(&["find", "todo.snooze"]);
    assert!(out.contains("(GitLab's experiment since 17.4)"), "{out}");
    let found: Value = serde_json::from_str(&run(&["find", "todo.snooze", "--json"]).1).unwrap();
    assert_eq!(found["results"][0]["experiment"], "17.4");
    assert!(!run(&["find", "issue.list"]).1.contains("experiment"));
}

#[test]
fn params_come_from_the_line_a_file_or_standard_input() {
    let params = r#"{"fullPath": "group/project", "iid": 1}"#;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(params.as_bytes()).unwrap();
    let named = format!("@{}", file.path().display());
    let execute = ["--sandbox", "execute", "issue.get", "--dry-run", "--json", "--params"];
    let direct = output(&[&execute[..], &[params]].concat());
    assert_eq!(output(&[&execute[..], &[&named]].concat()), direct);
    let mut child = program(&[&execute[..], &["-"]].concat(), &[])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(params.as_bytes()).unwrap();
    assert_eq!(String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap(), direct);
}

#[test]
fn the_catalog_is_an_object_a_line() {
    let list = output(&["catalog", "list", "--json"]);
    let mut ids = Vec::new();
    for line in list.lines() {
        let action: Value = serde_json::from_str(line).unwrap();
        let fields: Vec<&String> = action.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["action", "operations", "risk", "audience", "summary", "params", "aliases"]);
        ids.push(action["action"].as_str().unwrap().to_owned());
    }
    assert!(ids.is_sorted() && ids.contains(&"issue.list".to_owned()));
    assert_eq!(output(&["catalog", "list"]).lines().count(), ids.len());
    let stats: Value = serde_json::from_str(&output(&["catalog", "stats", "--json"])).unwrap();
    assert_eq!(stats["actions"], ids.len());
}

#[test]
fn an_action_is_shown_whole() {
    let action: Value = serde_json::from_str(&output(&["catalog", "show", "issue.list", "--json"])).unwrap();
    assert_eq!(action["action"], "issue.list");
    let shown = output(&["catalog", "show", "issue.list"]);
    assert!(shown.starts_with("issue.list(") && shown.contains("  GET /projects/:id/issues\n"));
    let (code, _, err) = run(&["catalog", "show", "no.such"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("there is no action no.such"));
}

#[test]
fn each_shell_has_a_script_that_asks_this_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = output(&["completions", shell]);
        assert!(script.contains("gitlab-mcp") && script.contains("GITLAB_MCP_COMPLETE"), "{shell}");
    }
}

/// `gitlab-mcp auth <TAB>` offered the files of the folder: a name with a hyphen broke the script of bash.
#[test]
fn a_shell_is_offered_commands_choices_and_action_ids() {
    let offered = |words: &[&str]| {
        let index = (words.len() - 1).to_string();
        let variables = [
            ("GITLAB_MCP_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", index.as_str()),
            ("_CLAP_IFS", " "),
            ("GITLAB_TIMEOUT", "soon"),
        ];
        let arguments: Vec<&str> = ["--"].iter().chain(words).copied().collect();
        let output = program(&arguments, &variables).output().unwrap();
        assert!(output.status.success(), "{words:?}");
        String::from_utf8(output.stdout).unwrap().split(' ').map(str::to_owned).collect::<Vec<String>>()
    };
    for (words, expected) in [
        (&["gitlab-mcp", "auth", "lo"][..], &["login", "logout"][..]),
        (&["gitlab-mcp", "execute", "issue.list", "--view", ""], &["compact", "full"]),
        (&["gitlab-mcp", "execute", "branch.delete_m"], &["branch.delete_merged"]),
        (&["gitlab-mcp", "catalog", "show", "branch.delete_m"], &["branch.delete_merged"]),
        (&["gitlab-mcp", "--confirm-by", ""], &["person", "model"]),
        (&["gitlab-mcp", "serve", "--read-only=f"], &["--read-only=false"]),
    ] {
        assert_eq!(offered(words), expected, "{words:?}");
    }
}

#[test]
fn the_version_has_the_gitlab_of_the_catalog() {
    let shown: Value = serde_json::from_str(&output(&["version", "--json"])).unwrap();
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(shown["gitlab"], "19.5");
    assert!(output(&["version"]).ends_with("catalog  GitLab 19.5\n"));
}

/// Each command had a sandbox of its own: an issue that was created was not found by the next.
#[test]
fn a_sandbox_with_a_file_goes_on_where_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sandbox.jsonl");
    let kept = ["--sandbox", "--sandbox-file", file.to_str().unwrap()];
    let execute = |words: &[&str]| output(&[&kept[..], &["execute"], words].concat());
    execute(&["issue.create", "fullPath=acme/widget", "title=Kept"]);
    execute(&[
        "repository_file.create",
        "fullPath=acme/widget",
        "branch=main",
        "file_path=kept.txt",
        "content=by REST",
        "commit_message=Add",
    ]);
    execute(&["graphql.label_create", "projectPath=acme/widget", "title=by-graphql"]);
    assert!(execute(&["issue.get", "fullPath=acme/widget", "iid=46"]).contains("Kept"));
    assert!(
        execute(&["repository_file.get_raw", "fullPath=acme/widget", "ref=main", "file_path=kept.txt"])
            .contains("by REST")
    );
    assert!(execute(&["label.list", "fullPath=acme/widget"]).contains("by-graphql"));
    // A line that was cut off when the machine stopped is left out, one that is wrong is named.
    let lines = std::fs::read_to_string(&file).unwrap();
    assert_eq!(lines.lines().count(), 3, "reads are not kept: {lines}");
    std::fs::write(&file, format!("{lines}{{\"method\":")).unwrap();
    assert!(execute(&["issue.get", "fullPath=acme/widget", "iid=46"]).contains("Kept"));
    std::fs::write(&file, "no json\n").unwrap();
    let (code, out, err) =
        run(&[&kept[..], &["execute", "issue.get", "fullPath=acme/widget", "iid=46"]].concat());
    assert_ne!(code, Some(0));
    assert!(format!("{out}{err}").contains("line 1"), "{out}{err}");
}

/// Calls for the sandbox went to GitLab.
#[test]
fn a_setting_of_the_sandbox_without_it_is_refused() {
    for option in ["--sandbox-file=demo.jsonl", "--sandbox-version=16.11"] {
        let (code, out, err) = run(&[option, "execute", "issue.create", "fullPath=a/b", "title=x"]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{option}: {err}");
        assert!(err.contains("is for the sandbox") && err.contains("--sandbox"), "{err}");
    }
}

#[test]
fn a_change_of_a_sandbox_that_ends_says_so() {
    let change = ["--sandbox", "execute", "issue.create", "fullPath=acme/widget", "title=Gone"];
    assert!(output(&change).contains("--sandbox-file FILE keeps"));
    assert!(
        !output(&["--sandbox", "execute", "issue.list", "fullPath=acme/widget"]).contains("--sandbox-file")
    );
}

#[test]
fn commands_of_other_programs_lead_to_ours() {
    for (command, instead) in [
        ("login", "gitlab-mcp auth login"),
        ("whoami", "gitlab-mcp auth status"),
        ("sandbox", "gitlab-mcp --sandbox"),
        ("update", "install the new version as you installed this one"),
    ] {
        let (code, _, err) = run(&[command]);
        assert_eq!(code, Some(2), "{command}");
        assert!(err.contains(instead), "{err}");
    }
}

/// `Log of job 18: {"tool":"gitlab_execute_action",…}`, and "call it again with `confirm: true`".
#[test]
fn whatever_an_answer_offers_can_be_typed() {
    for (call, command) in [
        (&["pipeline.diagnose", "fullPath=acme/widget"][..], "execute job.log fullPath=acme/widget job_id="),
        (&["issue.delete", "fullPath=acme/widget", "iid=1"], "again with `--confirm`; `--dry-run`"),
        (
            &["pipeline.get", "fullPath=acme/widget", "pipeline_id=304", "wait=1"],
            "to wait on: gitlab-mcp --sandbox execute pipeline.get fullPath=acme/widget pipeline_id=304 wait=1\n",
        ),
        (&["issue.list", "confirm=true"], "Call it with `--confirm`: parameters"),
        (&["frobnicate"], "`gitlab-mcp find` finds actions"),
        (&["issue.delete", "fullPath=acme/widget", "iids=1", "iids=2"], "again with `--confirm`"),
    ] {
        let (_, out, err) = run(&[&["--sandbox", "execute"], call].concat());
        assert!(out.contains(command), "{call:?}: {out}{err}");
        assert!(!out.contains("\"tool\":") && !out.contains("confirm: true"), "{call:?}: {out}");
    }
    let (_, out, _) =
        run(&["--sandbox", "execute", "issue.delete", "fullPath=acme/widget", "iid=1", "confirm=true"]);
    assert!(out.contains("Call it with `--confirm`") && out.contains("iid=1\n"), "{out}");
    let (_, out, _) = run(&["find", "close an issue", "--detail", "signature"]);
    assert!(out.contains("`--detail schema`") && !out.contains("gitlab://"), "{out}");
    // A text of GitLab's stays as it is.
    let text = "{\"tool\":\"gitlab_execute_action\",\"arguments\":{\"action\":\"x\"}} `confirm: true`";
    let title = format!("title={text}");
    let made = output(&["--sandbox", "execute", "issue.create", "fullPath=acme/widget", &title]);
    assert!(made.contains("`confirm: true`") && made.contains("gitlab_execute_action"), "{made}");
}

#[test]
fn an_argument_among_the_words_of_parameters_is_understood() {
    let listed = output(&["--sandbox", "execute", "issue.list", "fullPath=acme/widget", "fields=iid,title"]);
    assert!(listed.contains("|iid|") || listed.contains("|title|iid"), "{listed}");
    assert!(!listed.contains("labels") && listed.contains("as an argument next to"), "{listed}");
    let shown =
        output(&["--sandbox", "execute", "issue.delete", "fullPath=acme/widget", "iid=1", "dry_run=true"]);
    assert!(shown.contains("DELETE"), "{shown}");
}

/// A read said "of a change that was under way it is not known whether it was made".
#[cfg(unix)]
#[test]
fn only_a_change_that_is_stopped_may_have_been_made() {
    let gitlab = Gitlab::with_project();
    let running = json!({"id": 7, "iid": 1, "ref": "main", "status": "running"});
    gitlab.json("/pipelines/7", &running);
    gitlab.json("/pipelines/7/jobs", &json!([]));
    gitlab.answer("POST", "/pipelines/7/retry", answer(201, running));
    let url = gitlab.url();
    for (action, expected) in [
        ("pipeline.get", "gitlab-mcp: stopped by a signal\n"),
        (
            "pipeline.retry",
            "gitlab-mcp: stopped by a signal; the change was sent, and may have been made. Look before you run it \
             again: gitlab-mcp execute pipeline.get fullPath=acme/widget pipeline_id=7\n",
        ),
    ] {
        let of = ["execute", action, "fullPath=acme/widget", "pipeline_id=7", "wait=60"];
        let variables = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", "glpat-x")];
        let before = gitlab.seen().len();
        let child = program(&of, &variables).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        wait_until("the pipeline is waited for", || {
            let seen = gitlab.seen();
            seen.iter().skip(before).filter(|line| line.contains("/pipelines/7")).count() > 1
        });
        assert_eq!(interrupted(child), (Some(130), expected.to_owned()), "{action}");
    }
}

/// Interrupts a command as Ctrl-C does: its exit code, and what it says.
#[cfg(unix)]
fn interrupted(child: std::process::Child) -> (Option<i32>, String) {
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let ended = child.wait_with_output().unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

#[cfg(unix)]
#[test]
fn a_change_that_is_stopped_while_names_are_looked_up_was_not_made() {
    let gitlab = Gitlab::with_project();
    let slow = answer(200, json!([{"id": 3, "username": "alice"}])).after(Duration::from_secs(20));
    gitlab.says("GET /api/v4/users", [slow]);
    let url = gitlab.url();
    let of = ["execute", "issue.update", "fullPath=acme/widget", "iid=1", "assignee_ids=@alice"];
    let variables = [("GITLAB_URL", url.as_str()), ("GITLAB_TOKEN", "glpat-x")];
    let child = program(&of, &variables).stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_until("alice is looked up", || gitlab.seen().iter().any(|line| line.contains("/users")));
    let expected = "gitlab-mcp: stopped by a signal before the change was sent: nothing was changed\n";
    assert_eq!(interrupted(child), (Some(130), expected.to_owned()));
    assert!(!gitlab.seen().iter().any(|line| line.starts_with("PUT")), "{:?}", gitlab.seen());
}

#[test]
fn a_reader_that_has_enough_is_no_error() {
    let mut child =
        program(&["completions", "bash"], &[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()));
}

#[test]
fn what_needs_no_setting_minds_no_wrong_one() {
    let wrong = [("GITLAB_TIMEOUT", "soon")];
    assert!(program(&["catalog", "list"], &wrong).output().unwrap().status.success());
    assert!(program(&["completions", "fish"], &wrong).output().unwrap().status.success());
}

#[test]
fn json_is_not_cut_to_the_size_that_suits_a_model() {
    let arguments = [
        "--sandbox",
        "execute",
        "issue.list",
        "--view",
        "full",
        "--params",
        r#"{"fullPath": "acme/widget", "per_page": 100}"#,
    ];
    let rows = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = program(arguments, variables).output().unwrap();
        let structured: Value = serde_json::from_slice(&output.stdout).unwrap();
        (structured["data"].as_array().unwrap().len(), structured)
    };
    let (whole, structured) = rows(&[&arguments[..], &["--json"]].concat(), &[]);
    assert!(whole == 45 && structured.to_string().len() > 32_000, "{whole}");
    // A size that was set holds.
    let (cut, structured) = rows(&[&arguments[..], &["--json"]].concat(), &[("GITLAB_MAX_BYTES", "5000")]);
    assert!(cut < 45, "{cut}: {structured}");
}

#[test]
fn json_has_what_a_client_gets_with_rows_as_objects() {
    let arguments =
        ["--sandbox", "execute", "label.list", "--params", r#"{"fullPath": "acme/widget", "per_page": 3}"#];
    let reply =
        execute(&mut Client::sandbox(), "label.list", json!({"fullPath": "acme/widget", "per_page": 3}));
    let structured: Value = serde_json::from_str(&output(&[&arguments[..], &["--json"]].concat())).unwrap();
    // The client's form has tables, which the support turns into objects.
    assert!(structured["data"].as_array().unwrap().iter().all(Value::is_object), "{structured}");
    assert_eq!(structured["data"], reply.structured["data"]);
    assert_eq!(structured["operation"], "GET /projects/:id/labels");
    let (text, next) = reply.text.trim_end().split_once("Next: ").unwrap();
    assert!(next.starts_with('{'), "{next}");
    let command = "gitlab-mcp --sandbox execute label.list fullPath=acme/widget per_page=3 page=2";
    assert_eq!(output(&arguments).trim_end(), format!("{text}Next: {command}"));
}

#[cfg(target_os = "linux")]
#[test]
fn an_output_that_cannot_be_written_is_3() {
    let full = || Stdio::from(std::fs::File::options().write(true).open("/dev/full").unwrap());
    for arguments in [&["catalog", "list"][..], &["find", "list issues"]] {
        let output = program(arguments, &[]).stdin(Stdio::null()).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments:?}");
    }
    let output = program(&["catalog", "list"], &[]).stdout(full()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("gitlab-mcp: cannot write the answer"), "{said}");
}

/// JSON in a shell is quoted twice: words are what people type.
#[test]
fn parameters_are_words_and_a_request_needs_no_quotes() {
    let (code, out, err) = run(&["--sandbox", "find", "list", "open", "issues", "--limit", "1"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("issue.list"), "{out}");
    let words = ["--sandbox", "execute", "issue.create", "--json", "fullPath=acme/widget", "title=Two = one"];
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "From a file.\n").unwrap();
    let field = format!("description=@{}", file.path().display());
    let (code, out, err) = run(&[&words[..], &["labels=bug", "labels=docs", "-f", &field]].concat());
    assert_eq!(code, Some(0), "{out}{err}");
    let made: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(made["data"]["title"], "Two = one", "{out}");
    assert_eq!(made["data"]["labels"], json!(["bug", "docs"]), "{out}");
    let (code, _, err) = run(&["execute", "issue.create", "-f", "description=@nofile.md"]);
    assert!(code == Some(2) && err.contains("-f description: the file nofile.md cannot be read"), "{err}");
    let (code, _, err) = run(&["--sandbox", "execute", "issue.list", "acme/widget"]);
    assert!(code == Some(2) && err.contains("KEY=VALUE"), "{err}");
    let (code, _, err) = run(&["--sandbox", "execute", "issue.get", "iid=1", "--params", "{\"iid\": 2}"]);
    assert!(code == Some(2) && err.contains("iid is in --params as well"), "{err}");
}

/// A picture failed with "stream did not contain valid UTF-8".
#[test]
fn a_file_of_bytes_is_sent_where_a_parameter_takes_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        folder.path().join(name).display().to_string()
    };
    let picture = path("picture.png", b"\x89PNG\r\n\x1a\n\0\xff");
    let execute = |action: &str, words: &[&str]| {
        run(&[&["--sandbox", "execute", action, "fullPath=acme/widget"], words].concat())
    };
    let file = format!("file=@{picture}");
    for given in [&["-f", &file][..], &[&file]] {
        let (_, out, err) = execute("project_upload.create", &[given, &["--dry-run"]].concat());
        assert!(out.contains(r#""filename":"picture.png","bytes":10"#), "{out}{err}");
    }
    let large = format!("file=@{}", path("large.bin", &vec![0xfe; 3_000_000]));
    let (code, out, err) = execute("project_upload.create", &["-f", &large]);
    assert!(code == Some(0) && out.contains("large.bin"), "{out}{err}");
    // A commit takes bytes too, by their encoding.
    let content = format!("content=@{picture}");
    let commit = ["file_path=a.png", "branch=main", "commit_message=Add", "-f", &content, "--dry-run"];
    let (_, out, err) = execute("repository_file.create", &commit);
    assert!(out.contains(r#""content":"iVBORw0KGgoA/w==","encoding":"base64""#), "{out}{err}");
    let description = format!("description=@{picture}");
    let (code, _, err) = execute("issue.create", &["title=Picture", "-f", &description]);
    assert!(code == Some(2) && err.contains("is not text") && err.contains("takes any file"), "{err}");
    // The command to confirm has the file and not its content.
    let (_, out, err) = run(&["--sandbox", "execute", "project_import.create", "path=new", "-f", &file]);
    let next = format!("execute project_import.create path=new -f '{file}' --confirm");
    assert!(out.contains(&next) || out.contains(&next.replace('\'', "")), "{out}{err}");
}

#[test]
fn the_finder_is_measured_on_ones_own_requests() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cases.tsv");
    let measure = |cases: &str| {
        std::fs::write(&file, cases).unwrap();
        let ended = program(&["find", "--json", "--cases", file.to_str().unwrap()], &[]).output().unwrap();
        (
            ended.status.code(),
            String::from_utf8(ended.stdout).unwrap(),
            String::from_utf8(ended.stderr).unwrap(),
        )
    };
    let right = "# ours\nlist open issues\tissue.list\nmerge requests of a group\tGET /groups/{id}/merge_requests\nweather in Paris\t-\n";
    let (code, out, err) = measure(right);
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &report["requests"], &report["first"]),
        (Some(0), &serde_json::json!(3), &serde_json::json!(100.0)),
        "{err}"
    );
    // A request whose right action is another is a miss, with what was found.
    let (_, out, _) = measure("list open issues\tlabel.delete\n");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&report["first"], &report["misses"][0]["line"]),
        (&serde_json::json!(0.0), &serde_json::json!(1))
    );
    for (cases, fault) in [
        ("no tab\n", "line 1: expected REQUEST"),
        ("a\tfrob.nicate\n", "there is no action `frob.nicate`"),
        ("", "no case"),
    ] {
        let (code, out, err) = measure(cases);
        assert!(code == Some(2) && out.is_empty() && err.contains(fault), "{cases}: {err}");
    }
}
