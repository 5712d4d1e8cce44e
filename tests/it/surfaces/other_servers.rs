//! Flags, variables and patterns of other GitLab servers: understood, or answered with what there is here.

use serde_json::json;

use crate::surfaces::listings::{list, run, start};

#[test]
fn patterns_by_tool_and_action_deny_what_they_say() {
    let denied = "browse_milestones:burndown,manage_milestone:promote,manage_milestone:delete";
    let mut client = start("dynamic", &[("GITLAB_DENIED_ACTIONS", denied)]);
    for action in ["milestone.list_burndown_events", "milestone.promote", "milestone.delete"] {
        let reply = client.call("gitlab_execute_action", json!({"action": action, "params": {}}));
        assert_eq!(reply.structured["error"]["kind"], "denied", "{action}: {}", reply.text);
    }
    let list_all = json!({"action": "milestone.list", "params": {"fullPath": "acme/widget"}});
    assert!(!client.call("gitlab_execute_action", list_all).is_error);
    let split = [("GITLAB_DENIED_ACTIONS", denied), ("GITLAB_META_SPLIT", "cqrs")];
    let listed = json!(list(&mut start("meta", &split))).to_string();
    assert!(!listed.contains("milestone.promote\"") && listed.contains("milestone.update\""));
}

#[test]
fn a_pattern_that_means_nothing_stops_the_start_with_the_nearest() {
    for (pattern, nearest) in [
        ("manage_milestone:promot", "milestone.promote"),
        ("isue.delete", "issue.delete"),
        ("delete_isue", "issue.delete"),
    ] {
        let (code, out, err) = run(&["--sandbox", "surface"], &[("GITLAB_DENIED_ACTIONS", pattern)]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{pattern}");
        assert!(err.contains(&format!("`{pattern}` matches no action; the nearest is `{nearest}`")), "{err}");
    }
}

#[test]
fn other_spellings_of_flags_and_variables_are_understood() {
    let (code, _, err) = run(&["--gitlab-url", "sandbox", "execute", "issue.list"], &[]);
    assert_eq!((code, err.as_str()), (Some(0), ""));
    for name in ["GITLAB_API_URL", "GITLAB_BASE_URL", "GITLAB_INSTANCE_URL"] {
        let (code, _, err) = run(&["execute", "issue.list"], &[(name, "sandbox")]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
    }
    for (name, value) in [
        ("GITLAB_HOST", "gitlab.invalid"),
        ("GL_HOST", "https://gitlab.invalid"),
        ("GITLAB_API_URL", "https://gitlab.invalid/api/v4"),
    ] {
        let dry = ["execute", "issue.list", "--dry-run", "--json"];
        let (code, out, err) = run(&dry, &[(name, value), ("GITLAB_PERSONAL_ACCESS_TOKEN", "glpat-a")]);
        assert_eq!((code, err.as_str()), (Some(0), ""), "{name}");
        assert!(out.contains("issue.list"), "{name}: {out}");
    }
    for name in ["GITLAB_PERSONAL_ACCESS_TOKEN", "GITLAB_ACCESS_TOKEN", "GITLAB_API_TOKEN", "GITLAB_PAT"] {
        let variables = [(name, "glpat-a"), ("GITLAB_URL", "https://gitlab.invalid")];
        let (_, _, err) = run(&["execute", "issue.list", "--dry-run"], &variables);
        assert!(!err.contains("no token is set"), "{name}: {err}");
    }
}

#[test]
fn foreign_flags_are_answered_with_what_there_is() {
    for (arguments, expected) in [
        (&["--port=8080"][..], "--http ADDRESS"),
        (&["--transport", "sse"], "--http ADDRESS"),
        (&["--stdio"], "leave it out"),
        (&["--token", "glpat-sesame"], "GITLAB_TOKEN"),
    ] {
        let (code, out, err) = run(arguments, &[]);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(err.starts_with("gitlab-mcp: there is no flag --") && err.contains(expected), "{err}");
        assert!(err.lines().count() == 1 && !err.contains("sesame"), "{err}");
    }
    let (code, _, err) = run(&["--frobnicate"], &[]);
    assert!(code == Some(2) && err.contains("unexpected argument"), "{err}");
}

#[test]
fn foreign_variables_are_answered_with_ours() {
    for (name, ours) in [
        ("GITLAB_PROJECT_ID", "GITLAB_PROJECT "),
        ("GITLAB_ALLOWED_PROJECT_IDS", "GITLAB_ALLOWED_PATHS"),
        ("STREAMABLE_HTTP", "GITLAB_MCP_HTTP"),
    ] {
        let (code, _, err) = run(&["--sandbox", "execute", "issue.list"], &[(name, "1")]);
        assert_eq!(code, Some(0), "{err}");
        assert!(
            err.contains(&format!("{name} is not a setting of gitlab-mcp; ")) && err.contains(ours),
            "{err}"
        );
    }
}
